from collections.abc import Iterator

import pytest
import torch

from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Feed, Phase
from ptcli.trainer.state import TrainingState
from tests.trainer.test_loop import StopAt, StopError, metrics
from tests.trainer.toy import Recorder, ToyLoader, train


class Numbered:
    """Steps that say which loader and place they are from."""

    def __init__(self, name: str):
        self.name, self.is_open = name, 0

    def steps(self, position, first_step) -> Iterator[tuple[str, int, int]]:
        row = position["row"] if position else 0
        self.is_open += 1
        try:
            while True:
                yield self.name, row, first_step
                row, first_step = row + 1, first_step + 1
        finally:
            self.is_open -= 1

    def begin_anew(self, position):
        return {"epoch": position["epoch"] + 1, "row": 0}, float(position["epoch"] + 1)

    def examples(self, position):
        return f"{self.name} {position}"


def feed_of(*phases: tuple[str, float, str]):
    """A feed of phases (name, until, rows), and its loaders by name."""
    loaders = {name: Numbered(name) for name, *_ in phases}
    said: list[str] = []
    parts = [
        Phase(lambda name=name: loaders[name], until=until, rows=rows, text=f"to {name}")
        for name, until, rows in phases
    ]
    return Feed(parts, say=said.append), loaders, said


def taken(feed: Feed, state: TrainingState, shares) -> list[tuple[str, int, int]]:
    """The steps at these shares of the budget; each moves the state on by a row."""
    found = []
    for share in shares:
        step = feed.next(state, share)
        state.position = {"epoch": (state.position or {"epoch": 0})["epoch"], "row": step[1] + 1}
        state.step += 1
        found.append(step)
    return found


def test_phases_change_at_their_shares_and_other_rows_begin_anew():
    feed, loaders, said = feed_of(("a", 0.3, "short"), ("b", 0.5, "short"), ("c", 1.0, "long"))
    state = TrainingState()
    steps = taken(feed, state, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    # b has the rows of a and goes on at their place; c has others and begins with the next epoch's first
    assert steps == [("a", 0, 0), ("a", 1, 1), ("a", 2, 2), ("b", 3, 3), ("b", 4, 4), ("c", 0, 5), ("c", 1, 6)]
    assert (state.phase, state.position) == (2, {"epoch": 1, "row": 2})
    assert said == ["phase 2 of 3 from step 4: to b", "phase 3 of 3 from step 6: to c"]
    assert [loader.is_open for loader in loaders.values()] == [0, 0, 1]
    feed.close()
    assert loaders["c"].is_open == 0


def test_passes_over_the_data_are_counted_on():
    feed, _, _ = feed_of(("a", 0.5, "short"), ("b", 1.0, "long"))
    state = TrainingState(epoch=2.25, position={"epoch": 2, "row": 4})
    feed.next(state, 0.5)  # begins epoch 3 while 2.25 passes are done
    assert state.passes_before == pytest.approx(2.25 - 3)


def test_a_feed_goes_on_in_the_phase_of_its_state_and_steps_over_phases():
    feed, _, said = feed_of(("a", 0.2, "x"), ("b", 0.3, "y"), ("c", 1.0, "x"))
    state = TrainingState(phase=1, position={"epoch": 0, "row": 7}, step=7)
    assert taken(feed, state, [0.25]) == [("b", 7, 7)]
    assert said == []
    state = TrainingState(phase=0, position={"epoch": 0, "row": 7}, step=7)
    feed.close()
    assert taken(feed, state, [0.9]) == [("c", 7, 7)]  # the rows of a: nothing begins anew
    assert feed.examples({"row": 1}) == "c {'row': 1}"


class Measured(ToyLoader):
    """The toy's loader, asked for its phase through the ratio that it measures."""

    def __init__(self, ratio, **settings):
        super().__init__(**settings)
        self.ratio = ratio

    def steps(self, position, first_step):
        for step in super().steps(position, first_step):
            step.measured["mask_ratio_asked"] = self.ratio
            yield step

    def begin_anew(self, position):
        return {"rows": position["rows"] + 1000}, (position["rows"] + 1000) / 40


def phases():
    return [
        Phase(lambda: Measured(0.1), until=0.35, rows="a"),
        Phase(lambda: Measured(0.2, size=4), until=0.7, rows="b", rate=0.5),
        Phase(lambda: Measured(0.3, size=12), rows="b"),
    ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phased")
    return folder, train(folder, loader=phases(), log_every=1, evaluate=None)


def test_a_run_follows_its_phases(undisturbed):
    folder, run = undisturbed
    lines = metrics(folder)
    assert [line["train/mask_ratio_asked"] for line in lines] == [0.1] * 7 + [0.2] * 7 + [0.3] * 6
    tokens = [line["train/tokens"] for line in lines]
    assert [b - a for a, b in zip([0, *tokens], tokens, strict=False)] == [48] * 7 + [24] * 7 + [72] * 6
    rates = [line["train/learning_rate"] for line in lines]
    whole = [3e-2 * min((n + 1) / 2, (20 - n) / 18) for n in range(20)]
    assert rates == pytest.approx([rate * (0.5 if 7 <= n < 14 else 1) for n, rate in enumerate(whole)])
    epochs = [line["train/epoch"] for line in lines]  # 40 rows are a pass: it goes on rising, without a jump
    assert epochs == pytest.approx([sum([8] * min(n, 7) + [4] * min(max(n - 7, 0), 7) + [12] * max(n - 14, 0)) / 40
                                    for n in range(1, 21)])  # fmt: skip
    assert run.state.phase == 2


@pytest.mark.parametrize("stops", [(3,), (7,), (8,), (9, 14), (15, 15)])
def test_a_stop_in_any_phase_changes_nothing(tmp_path, undisturbed, stops):
    for stop in stops:
        with pytest.raises(StopError):
            train(tmp_path, loader=phases(), log_every=1, evaluate=None, save_every=1, sinks=[StopAt(stop)])
    run = train(tmp_path, loader=phases(), log_every=1, evaluate=None, save_every=1)
    folder, reference = undisturbed
    for name, tensor in reference.step.state_dict().items():
        assert torch.equal(run.step.state_dict()[name], tensor), name
    assert metrics(tmp_path) == metrics(folder)
    assert run.state.position == reference.state.position


def test_a_budget_of_tokens_changes_phases_too(tmp_path):
    recorder = Recorder()
    train(tmp_path, loader=phases(), budget=Budget(tokens=480), log_every=1, evaluate=None, sinks=[recorder])
    asked = [line["train/mask_ratio_asked"] for line in recorder.lines]
    # 48 tokens a step until 168 (four steps end at 192), 24 until 336 (six steps), then 72
    assert asked == [0.1] * 4 + [0.2] * 6 + [0.3] * 2
