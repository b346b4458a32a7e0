"""ptcli finetune on two ranks, as a user starts it: one run with the figures of one device."""

import json
import signal
import sys

import pytest

from tests.command.reviews import SETTINGS, pretrained, reviews
from tests.launch.commands import PTCLI, TORCHRUN, Commands
from tests.launch.test_launcher import signal_to, summary
from tests.waiting import finish, until_gone, until_line

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
TWO = "trainer.devices=2"


class FineTunings(Commands):
    """Fine-tunings of a small model without dropout, of 41 rows in steps of 8."""

    name = "finetune"

    def __init__(self, folder, base, rows):
        super().__init__(folder)
        self.words = [f"checkpoint={base}", "task=classification", f"task.path={rows}", f"run.dir={self.runs}"]
        self.words += [*SETTINGS, "task.head.dropout=0", "trainer.device=cpu", "budget.epochs=2"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return pretrained(tmp_path_factory.mktemp("base"), "model.dropout=0", "model.attention_dropout=0")


@pytest.fixture
def commands(base, tmp_path):
    return FineTunings(tmp_path, base, reviews(tmp_path / "rows", train=41))


def figures(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    names = ("step", "train/loss", "train/grad_norm", "train/tokens", "eval/accuracy")
    return [[line.get(name) for name in names] for line in lines]


@pytest.mark.distributed
def test_two_devices_are_one_run_with_the_figures_of_one_device(commands):
    words = ["log.every=1", "batch.micro_size=3"]
    code, printed = commands.run(PTCLI, *words, TWO, "run.name=two")
    assert code == 0, printed
    assert printed.count("model: ") == printed.count("train: 41 rows") == printed.count("the model is in") == 1
    assert "2 x CPU (ddp)" in printed
    assert sorted(path.name for path in commands.runs.iterdir()) == ["two"]  # nothing is left of the ranks
    assert commands.run_here(*words, "run.name=one") == 0
    one, two = commands.runs / "one", commands.runs / "two"
    for ours, theirs in zip(figures(two), figures(one), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-3)
    assert summary(two)["scores"] == summary(one)["scores"]
    labels = [json.loads((run / "model" / "labels.json").read_text()) for run in (one, two)]
    assert labels[0]["labels"] == labels[1]["labels"] == ["bad", "good"]
    code, printed = commands.run(PTCLI, *words, TWO, "run.name=one", "budget.epochs=3")
    assert code == 0, printed
    assert "going on from step 11" in printed  # devices do not make another run


@pytest.mark.distributed
def test_a_signal_to_one_rank_makes_a_checkpoint_and_143(commands):
    process = commands.start(PTCLI, TWO, "budget.epochs=20000", "run.name=stopped", "eval.every=0")
    until_line(process, "step 5 ")
    ranks = [commands.rank(number) for number in range(2)]
    signal_to(ranks[1], signal.SIGTERM)
    code, printed = finish(process)
    assert code == 143, printed
    assert printed.count("Stopped at step") == 1
    step = summary(commands.runs / "stopped")["step"]
    assert (commands.runs / "stopped" / "checkpoints" / "latest").read_text().strip() == f"step-{step:08d}"
    until_gone(ranks)


@pytest.mark.distributed
def test_torchrun_trains_folds_with_one_group(commands):
    words = ["folds=2", "run.name=folds", "budget.epochs=1", "task/adversarial=fgm"]
    code, printed = commands.run([*TORCHRUN, "-m", "ptcli"], *words)
    assert code == 0, printed
    assert printed.count("2 x CPU (ddp)") == 2  # of each fold, once
    run = commands.runs / "folds"
    assert len((run / "out_of_fold.csv").read_text().splitlines()) == 42
    assert set(summary(run)["scores"]) == {"out_of_fold", "validation"}
    assert summary(run / "fold-1")["step"] == summary(run / "fold-2")["step"] == 3


@pytest.mark.distributed
@pytest.mark.slow
@pytest.mark.parametrize("command", [PTCLI, [*TORCHRUN, "-m", "ptcli"]], ids=["launched", "torchrun"])
def test_a_pretraining_and_its_fine_tuning_have_the_same_ranks(command, tmp_path):
    commands, rows = Commands(tmp_path), reviews(tmp_path / "rows")
    words = ["task=classification", f"task.path={rows}", "finetune.epochs=1", "finetune.batch_size=8"]
    words += ["budget.steps=2", "eval.every=0", "run.name=both", TWO]
    code, printed = commands.run(command, *words)
    assert code == 0, printed
    assert printed.count("2 x CPU (ddp)") == 2
    assert summary(commands.runs / "both" / "classification")["step"] == 5
    code, printed = commands.run(command, *words, "run.name=odd", "finetune.batch_size=9")
    assert code in (1, 2)
    assert "batch.size=9 rows cannot be divided among 2 devices" in printed
    assert not (commands.runs / "odd").exists()  # told before anything is trained


@pytest.mark.distributed
def test_rows_that_cannot_be_read_are_told_once_and_leave_no_folder(commands):
    code, printed = commands.run(PTCLI, TWO, "task.label=nowhere", "run.name=none")
    assert code == 1
    assert printed.count("have no label") == 1, printed
    assert not (commands.runs / "none").exists()
