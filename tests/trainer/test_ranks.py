"""What ranks tell one another, without processes: both sides of a store in one."""

import signal
import threading
import time

import pytest
from torch.distributed import HashStore

from ptcli.trainer import ranks as module
from ptcli.trainer.agreement import Agreement
from ptcli.trainer.ranks import RankLostError, Ranks
from ptcli.trainer.signals import Interrupted, StopSignals
from tests.trainer.toy import Step
from tests.waiting import HANG, end_of, give_a_chance


@pytest.fixture
def pair():
    store = HashStore()
    return Ranks(rank=0, size=2, store=store), Ranks(rank=1, size=2, store=store)


def nothing():
    raise AssertionError("rank 1 makes nothing")


def test_one_process_agrees_with_itself():
    alone, data = Ranks(), Step([{}], {"tokens": 3}, {}, {"epoch": 0.5})
    agreement = Agreement(alone)
    assert agreement.on(data, seconds=1.0, stop=None) is data
    assert (agreement.stop, agreement.seconds, agreement.most) == (None, 1.0, 1)
    assert alone.is_first
    assert alone.sums({"a": 1.5}) == {"a": 1.5}
    assert alone.from_first(lambda: "made") == "made"
    with alone.together({"any": "job"}):
        assert not alone.is_busy


def test_the_others_hear_what_rank_0_makes_in_order(pair):
    first, second = pair
    made = [{"loss": 0.1, "none": None}, [1, "二"], None]
    assert [first.from_first(lambda value=value: value) for value in made] == made
    assert [second.from_first(nothing) for _ in made] == made


def test_the_others_wait(pair):
    first, second = pair
    heard = []
    thread = threading.Thread(target=lambda: heard.append(second.from_first(nothing)))
    thread.start()
    give_a_chance()
    assert heard == []
    first.from_first(lambda: "late")
    end_of(thread)
    assert heard == ["late"]


def test_a_signal_to_another_rank_is_raised_where_rank_0_works(pair):
    first, second = pair
    with StopSignals() as stop:
        theirs = StopSignals()
        theirs.requested = int(signal.SIGTERM)
        heard = []
        thread = threading.Thread(target=lambda: heard.append(second.from_first(nothing, stop=theirs)))
        thread.start()
        made = first.from_first(lambda: [stop.unless_stopped(lambda: time.sleep(HANG)), stop.requested], stop=stop)
        end_of(thread)
    assert made == [None, signal.SIGTERM]
    assert heard == [made]


def test_a_rank_0_that_does_not_answer_a_signal_is_lost(pair, monkeypatch):
    monkeypatch.setattr(module, "_ANSWER", 0.1)
    stop = StopSignals()
    stop.requested = int(signal.SIGINT)
    with pytest.raises(RankLostError, match="rank 0 has not answered rank 1"):
        pair[1].from_first(nothing, stop=stop)


def test_an_error_leaves_the_others_at_work_and_a_signal_does_not(pair):
    first, second = pair
    with pytest.raises(Interrupted), first.together({"number": 1}):
        raise Interrupted("stopped", exit_code=143)
    assert not first.is_busy
    with pytest.raises(ZeroDivisionError), first.together({"number": 2}):
        raise ZeroDivisionError
    assert first.is_busy
    with pytest.raises(SystemExit, match="nothing more can be done"), first.together({"number": 3}):
        pass
    assert [second.from_first(nothing)["number"] for _ in range(2)] == [1, 2]
