"""What `ptcli check` counts, measures and refuses."""

import re

import pytest
import torch

from ptcli.batch.made_up import made_up_batch
from ptcli.cli import main
from ptcli.command import check
from ptcli.config.compose import compose
from ptcli.trainer.estimate import fixed_bytes, measure
from tests.command.toy import settings


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Calls `ptcli check` on a toy run; name -> line of its table."""
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "240")

    def call(*words):
        assert main(["check", *settings(tmp_path), *words]) == 0
        lines = capsys.readouterr().out.splitlines()
        return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines if "  " in line.strip()}

    call.folder = tmp_path
    return call


def test_a_few_steps_give_speed_time_and_activations(told):
    lines = told()
    assert re.match(r"[\d,]+ tokens a second \(10 steps of 128 made-up tokens; a step of 4 rows", lines["speed"])
    assert lines["time"].endswith("seconds")
    assert lines["activations"].endswith("MiB for a micro-batch of 4 full rows, attention among them")
    assert "at most 512 tokens" in lines["budget"]
    assert "not prepared yet" in lines["text"]
    assert not (told.folder / "runs").exists()
    lines = told("measure=false")
    assert lines["speed"] == "not measured (measure=false)"
    assert "time" not in lines
    assert "activations" not in lines


def test_an_optimizer_that_needs_numbers_is_counted_by_the_steps(told):
    words = ["optimizer=adafactor", "tokenizer.vocab_size=20000"]
    sizes = {measured: told(*words, f"measure={measured}")["optimizer"] for measured in ("true", "false")}
    assert "if it has two moments" in sizes["false"]
    assert int(sizes["true"].split()[0]) < int(sizes["false"].split()[0]) / 4


def test_text_that_is_prepared_is_counted(told):
    words = [word for word in settings(told.folder) if not word.startswith("run.dir")]
    assert main(["prepare", *words]) == 0
    lines = told("measure=false", "budget.steps=null", "budget.epochs=3")
    tokens, rows = (int(re.match(r"[\d,]+", lines[name])[0].replace(",", "")) for name in ("text", "rows"))
    assert f"3.00 epochs of {rows / 4:,.1f} steps" in lines["budget"]
    assert f"{3 * rows / 4:,.0f} steps" in lines["budget"]
    assert rows * 32 * 0.5 < tokens < rows * 32


def test_a_run_that_is_there_is_named(told):
    assert told("measure=false")["run"].endswith("(new)")
    assert main(["pretrain", *settings(told.folder)]) == 0
    assert told("measure=false")["run"].endswith("(finished at step 4)")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["schedule.warmup=100"], "longer than budget.steps=4"),
        (["resume=must"], "no checkpoint to go on from"),
        (["trainer.device=cuda"], "trainer.device=cuda"),
        (["logger=wandb", "logger.wandb.mode=online"], "no key"),
        (["max_length=600"], "positions"),
    ],
)
def test_what_the_run_would_be_refused_for_is_refused(tmp_path, monkeypatch, capsys, words, says):
    if torch.cuda.is_available() and "trainer.device=cuda" in words:
        pytest.skip("there is a GPU")
    monkeypatch.setenv("NETRC", str(tmp_path / "absent"))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    assert main(["check", *settings(tmp_path), *words, "measure=false"]) == 2
    assert says in capsys.readouterr().err


def test_another_configuration_in_the_same_folder_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    assert main(["pretrain", *settings(tmp_path), "run.name=mine"]) == 0
    assert main(["check", *settings(tmp_path), "run.name=mine", "seed=2", "measure=false"]) == 2
    assert "another configuration" in capsys.readouterr().err


def test_no_room_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    monkeypatch.setattr("ptcli.trainer.estimate.memory_of", lambda device: (10, 20))
    assert main(["check", *settings(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "do not fit into the memory" in told.out.replace("\n", " ").replace("  ", " ") or "not measured" in told.out
    assert "checkpoints take" in told.err
    assert "weights, gradients and optimizer take" in told.err


def test_phases_count_by_their_shares():
    config = compose("pretrain", ["recipe=bert"]).config
    assert check._shares(config) == [(0.9, 256, 128), (pytest.approx(0.1), 256, 512)]


@pytest.mark.parametrize(("choice", "moments"), [("adamw", 2), ("lamb", 2), ("stable_adamw", 2), ("schedule_free", 2)])
def test_the_optimizers_state_is_counted_without_numbers(choice, moments):
    from ptcli.assembly.model import check_parts
    from ptcli.assembly.parts import part

    config = compose("pretrain", [f"optimizer={choice}", "model/size=tiny"]).config
    step = check_parts(config, vocab_size=100)
    fixed = fixed_bytes(step, part(config, "optimizer", module=step), averages=True, parts=2)
    assert fixed.optimizer == pytest.approx(moments * fixed.weights, rel=0.001)
    assert fixed.total == (2 * fixed.weights + fixed.optimizer + fixed.weights) // 2
    assert fixed.checkpoint == 2 * fixed.weights + fixed.optimizer


def test_activations_are_what_the_backward_pass_needs():
    """Two linear layers keep their inputs, and the second one its weight, which is a parameter and does not count."""
    layer = torch.nn.Sequential(torch.nn.Linear(64, 8, bias=False), torch.nn.Linear(8, 4, bias=False))

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, batch, counts):
            return self.layer(batch["x"]).sum(), None

    from contextlib import nullcontext

    found = measure(
        Step(), torch.optim.SGD(layer.parameters()), {"x": torch.ones(10, 64)}, {"tokens": 10}, autocast=nullcontext
    )
    assert found.activation_bytes == 10 * (64 + 8) * 4
    assert found.steps == 10


def test_the_made_up_batch_is_a_batch():
    batch, counts = made_up_batch(3, 20, vocab_size=50, ratio=0.15, pairs=True)
    assert (batch["labels"] != -100).sum() == counts["labels"] == len(batch["label_positions"]) == 9
    assert torch.equal(
        batch["labels"].flatten()[batch["label_positions"]], batch["input_ids"].flatten()[batch["label_positions"]]
    )
    assert batch["pair_labels"].flatten()[batch["pair_positions"]].tolist() == [0, 0, 0]
    assert batch["token_type_ids"].sum() == 30
