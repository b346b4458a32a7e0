"""Which rank's end is told, and as what."""

import json

import pytest
from omegaconf import OmegaConf

from ptcli.config.identity import fingerprint
from ptcli.errors import DataError, PtcliError
from ptcli.launch.launcher import RankFailedError, _code_or_error

LOST = {"kind": "RuntimeError", "message": "gloo: closed", "is_told": False, "is_consequence": True, "traceback": "t0"}
OWN = {"kind": "ValueError", "message": "no", "is_told": False, "is_consequence": False, "traceback": "t1"}
TOLD = {"kind": "DataError", "message": "no text", "is_told": True, "is_consequence": False, "traceback": "t2"}


def end(folder, exit_codes, stories):
    for rank, story in stories.items():
        (folder / f"failure-{rank}.json").write_text(json.dumps(story))
    return _code_or_error(folder, exit_codes, 3)


@pytest.mark.parametrize(
    ("exit_codes", "stories", "kind", "message"),
    [
        ({0: 1, 1: 1}, {0: LOST, 1: OWN}, RankFailedError, "rank 1 of 3 failed: ValueError: no\nIts traceback: "),
        ({0: 1, 1: -9}, {0: LOST}, RankFailedError, "rank 1 of 3 was ended by SIGKILL, which is what happens when mem"),
        ({0: -9, 1: 1}, {1: OWN}, RankFailedError, "rank 1 of 3 failed"),  # killed because it did not end in time
        ({0: 1, 2: -11}, {0: LOST}, RankFailedError, "rank 2 of 3 was ended by SIGSEGV. Checkpoints are whole"),
        ({0: 1, 1: 1}, {0: LOST, 1: LOST}, RankFailedError, "rank 0 of 3 failed: RuntimeError: gloo"),
        ({0: 1, 1: 1}, {0: TOLD, 1: TOLD}, DataError, "no text"),
        ({1: 1, 0: -15}, {1: TOLD}, DataError, "rank 1 of 3: no text"),
        ({2: 5}, {}, RankFailedError, "rank 2 of 3 ended with exit code 5"),
    ],
)
def test_the_rank_that_failed_first_is_named(tmp_path, exit_codes, stories, kind, message):
    with pytest.raises(PtcliError) as error:
        end(tmp_path, exit_codes, stories)
    assert type(error.value) is kind
    assert str(error.value).startswith(message)
    traces = [path.read_text() for path in tmp_path.glob("rank-*-traceback.txt")]
    assert traces == ([] if "traceback" not in str(error.value) else [traces[0]])


@pytest.mark.parametrize(("signal", "code"), [(-15, 143), (-2, 130)])
def test_a_signal_that_comes_before_training_is_no_failure(tmp_path, signal, code):
    assert end(tmp_path, {0: signal, 1: signal}, {}) == code


def test_devices_do_not_make_another_run():
    here = OmegaConf.create({"seed": 1, "trainer": {"devices": 1, "strategy": "auto", "clip": 1.0}})
    there = OmegaConf.create({"seed": 1, "trainer": {"devices": 8, "strategy": "fsdp", "clip": 1.0}})
    assert fingerprint(here) == fingerprint(there)
    there.trainer.clip = 2.0
    assert fingerprint(here) != fingerprint(there)
