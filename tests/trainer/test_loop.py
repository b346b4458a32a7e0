import functools
import json
import math
from pathlib import Path

import pytest
import torch
import yaml
from hydra.utils import instantiate
from safetensors.torch import load_file

from ptcli.errors import CheckpointError, ConfigError
from ptcli.logger.logger import TIMING_FIELDS, Sink
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget
from ptcli.trainer.checkpoint import Checkpoints
from ptcli.trainer.nonfinite import NotFiniteError
from ptcli.trainer.trainer import Trainer
from ptcli.trainer.weights import load_weights
from tests.trainer.toy import Recorder, ToyLoader, ToyModel, ToyObjective, TrainingStep, train


def metrics(folder):
    """The lines of metrics.jsonl without what the clock decides."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in TIMING_FIELDS} for line in lines]


def weights(run):
    return {name: tensor.detach().clone() for name, tensor in run.step.state_dict().items()}


class StopError(Exception):
    """The process goes, as by a kill, after a given step."""


class StopAt(Sink):
    def __init__(self, step):
        self.step = step

    def progress(self, *, step, share, seconds):
        if step == self.step:
            raise StopError


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder, train(folder)


def assert_equal(folder, run, undisturbed):
    reference_folder, reference = undisturbed
    for name, tensor in reference.step.state_dict().items():
        assert torch.equal(run.step.state_dict()[name], tensor), name
    for a, b in zip(reference.step.parameters(), run.step.parameters(), strict=True):
        for entry, value in reference.optimizer.state[a].items():
            assert torch.equal(run.optimizer.state[b][entry], value), entry
    assert metrics(folder) == metrics(reference_folder)
    assert (run.state.step, run.state.tokens, run.state.position) == (20, 20 * 48, {"rows": 160})
    assert (run.state.best, run.state.best_step) == (reference.state.best, reference.state.best_step)


def test_it_learns_and_logs_each_line_once(undisturbed):
    folder, run = undisturbed
    lines = metrics(folder)
    training = [line for line in lines if "train/loss" in line]
    evaluations = [line for line in lines if "eval/masked_lm_loss" in line]
    assert [line["step"] for line in training] == [3, 6, 9, 12, 15, 18, 20]
    assert [line["step"] for line in evaluations] == [5, 10, 15, 20]
    assert evaluations[-1]["eval/masked_lm_loss"] < evaluations[0]["eval/masked_lm_loss"]
    assert set(training[0]) >= {
        "train/masked_lm_loss",
        "train/masked_lm_accuracy",
        "train/pair_loss",
        "train/mask_ratio",
        "train/mask_ratio_asked",
        "train/learning_rate",
        "train/grad_norm",
        "train/epoch",
    }
    assert training[0]["train/mask_ratio_asked"] == pytest.approx(0.4)
    assert training[0]["train/learning_rate"] == pytest.approx(3e-2 * 1.0)
    assert training[-1]["train/learning_rate"] == pytest.approx(3e-2 / 18)
    assert training[-1]["train/epoch"] == 4.0
    assert Checkpoints(folder / "checkpoints").steps() == [16, 20]
    assert (folder / "checkpoints/latest").read_text() == "step-00000020\n"
    with RunFolder(folder) as again:
        summary = again.summary()
    assert summary["status"] == "finished"
    assert summary["step"] == 20
    assert summary["best"]["value"] == run.state.best
    assert summary["metrics"]["train/loss"] == training[-1]["train/loss"]


@pytest.mark.parametrize("stop", [1, 4, 5, 7, 12, 20])
def test_a_stop_at_any_step_changes_nothing(tmp_path, undisturbed, stop):
    with pytest.raises(StopError):
        train(tmp_path, sinks=[StopAt(stop)])
    loader = ToyLoader()
    run = train(tmp_path, loader=loader)
    assert loader.first_steps == [stop - 1 - (stop - 1) % 4]  # the last checkpoint before
    assert_equal(tmp_path, run, undisturbed)


def test_three_stops_one_of_them_without_a_step_between(tmp_path, undisturbed):
    for stop in (7, 5, 11, 13):
        with pytest.raises(StopError):
            train(tmp_path, sinks=[StopAt(stop)])
    assert_equal(tmp_path, train(tmp_path), undisturbed)


def test_a_stop_in_an_evaluation_repeats_it(tmp_path, undisturbed):
    def fail():
        raise StopError

    with pytest.raises(StopError):
        train(tmp_path, evaluate=fail)
    assert_equal(tmp_path, train(tmp_path), undisturbed)


def test_a_finished_run_is_left_as_it_is_and_a_larger_budget_goes_on(tmp_path, undisturbed):
    train(tmp_path)
    before = metrics(tmp_path)
    assert train(tmp_path).state.step == 20
    assert metrics(tmp_path) == before
    recorder = Recorder()
    assert train(tmp_path, steps=24, sinks=[recorder]).state.step == 24
    assert any("budget was 20 steps and is now 24 steps" in text for text in recorder.said)
    assert [line["step"] for line in metrics(tmp_path)][-1] == 24


def test_dropout_depends_on_seed_step_and_micro_batch(tmp_path):
    first = train(tmp_path / "a", steps=2, evaluate=None)
    same = train(tmp_path / "b", steps=2, evaluate=None)
    other = train(tmp_path / "c", steps=2, evaluate=None, seed=2)
    assert all(torch.equal(x, y) for x, y in zip(weights(first).values(), weights(same).values(), strict=True))
    assert not all(torch.equal(x, y) for x, y in zip(weights(first).values(), weights(other).values(), strict=True))


def test_means_of_a_log_line_are_over_all_its_steps(tmp_path):
    every, pooled = Recorder(), Recorder()
    train(tmp_path / "a", steps=6, log_every=1, evaluate=None, sinks=[every])
    train(tmp_path / "b", steps=6, log_every=6, evaluate=None, sinks=[pooled])
    counts = [next(iter(ToyLoader().steps({"rows": 8 * n}, n))).counts["labels"] for n in range(6)]
    lines = every.lines
    expected = sum(c * line["train/masked_lm_loss"] for c, line in zip(counts, lines, strict=True)) / sum(counts)
    assert pooled.lines[0]["train/masked_lm_loss"] == pytest.approx(expected)
    assert pooled.lines[0]["train/mask_ratio"] == pytest.approx(sum(counts) / (6 * 48))
    assert pooled.lines[0]["train/grad_norm"] == pytest.approx(sum(line["train/grad_norm"] for line in lines) / 6)
    assert every.shares == pytest.approx([n / 6 for n in range(1, 7)])


def test_a_loss_that_is_not_finite_ends_the_run_and_is_not_saved(tmp_path):
    with pytest.raises(NotFiniteError, match=r"not finite at step 7 \(last checkpoint: step 4\)"):
        train(tmp_path, loader=ToyLoader(poisoned=7))
    assert Checkpoints(tmp_path / "checkpoints").steps() == [4]
    assert json.loads((tmp_path / "summary.json").read_text())["status"] == "failed"
    assert train(tmp_path).state.step == 20  # the fault removed, it goes on
    assert json.loads((tmp_path / "summary.json").read_text())["error"] is None


def test_the_best_checkpoint_stays(tmp_path):
    values, recorder = iter([3.0, 1.0, 2.0, float("nan"), 2.5]), Recorder()
    run = train(
        tmp_path,
        evaluate=lambda: {"eval/masked_lm_loss": next(values)},
        eval_every=4,
        left_plateau=lambda m: m["eval/masked_lm_loss"] < 1.5,
        sinks=[recorder],
    )
    assert (run.state.best, run.state.best_step) == (1.0, 8)
    assert Checkpoints(tmp_path / "checkpoints").steps() == [8, 16, 20]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["plateau"] is True  # the last evaluation says so
    assert summary["left_plateau_at"] == 8
    assert [text.split(":")[0] for text in recorder.said[:-1]] == ["the plateau is left at step 8"]
    assert "the plateau is not left" in recorder.said[-1]


def test_another_identity_is_refused(tmp_path):
    with pytest.raises(StopError):
        train(tmp_path, sinks=[StopAt(7)], identity={"data": "a", "tokenizer": "t"})
    with pytest.raises(CheckpointError, match="another data"):
        train(tmp_path, identity={"data": "b", "tokenizer": "t"})
    assert train(tmp_path, identity={"data": "a", "tokenizer": "t"}).state.step == 20


def test_a_loader_that_fails_is_reported_as_it_is_and_ended(tmp_path):
    ended = []

    class Failing(ToyLoader):
        def steps(self, position, first_step):
            try:
                for number, step in enumerate(super().steps(position, first_step)):
                    if number == 5:
                        raise ValueError("row 41 is broken")
                    yield step
            finally:
                ended.append(True)

    with pytest.raises(ValueError, match="row 41"):
        train(tmp_path, loader=Failing())
    assert ended == [True]
    assert "row 41" in json.loads((tmp_path / "summary.json").read_text())["error"]


def test_budgets_in_other_units(tmp_path):
    assert train(tmp_path / "tokens", budget=Budget(tokens=48 * 10)).state.step == 10
    assert train(tmp_path / "epochs", budget=Budget(epochs=2), eval_every=0.5).state.step == 10
    recorder = Recorder()
    state = train(tmp_path / "minutes", budget=Budget(minutes=0.01), log_every=1, sinks=[recorder], evaluate=None).state
    assert 0.6 <= state.seconds < 3
    rates = [line["train/learning_rate"] for line in recorder.lines]
    assert 0 < rates[0] < 3e-2
    assert rates[-1] < 3e-2 * 0.2
    assert max(rates) > 3e-2 * 0.8


def test_what_is_refused_before_anything_is_done(tmp_path):
    for settings in (
        {"device": "gpu"},
        {"precision": "fp8"},
        {"clip": -1.0},
        {"clip": math.nan},
        {"accumulate": 0},
        {"threads": 0},
    ):
        with pytest.raises(ConfigError, match=next(iter(settings))):
            Trainer(**settings)
    for options in ({"log_every": 1.5}, {"save_every": -1}, {"keep": 0}):
        with pytest.raises(ConfigError):
            train(tmp_path, **options)
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match=r"trainer\.device=cpu"):
            Trainer(device="cuda")


def test_the_size_of_a_micro_batch():
    assert Trainer(device="cpu").micro_size(32, None) == 32
    assert Trainer(device="cpu").micro_size(32, 8) == 8
    assert Trainer(device="cpu").micro_size(32, 64) == 32
    assert Trainer(device="cpu", accumulate=4).micro_size(32, None) == 8
    assert Trainer(device="cpu", accumulate=4).micro_size(30, None) == 8
    assert Trainer(device="cpu", accumulate=4).micro_size(32, 8) == 8
    for accumulate, size, micro in ((4, 32, 16), (33, 32, None), (6, 8, None)):
        with pytest.raises(ConfigError):
            Trainer(device="cpu", accumulate=accumulate).micro_size(size, micro)


def test_the_yaml_builds_it_and_the_exported_model_loads(tmp_path):
    text = (Path(__file__).parents[2] / "conf/trainer/default.yaml").read_text(encoding="utf-8")
    trainer = instantiate(yaml.safe_load(text))
    assert trainer.clip == 1.0
    assert "CPU" in trainer.describe() or torch.cuda.is_available()
    folder = tmp_path / "run"
    run = train(folder, steps=3, export=True)
    assert {p.name for p in (folder / "model").iterdir()} == {"model.safetensors", "config.yaml", "tokenizer"}
    model = ToyModel()
    step = TrainingStep(model, ToyObjective(model))
    load_weights(step, folder / "model")
    assert all(torch.equal(a, b) for a, b in zip(step.parameters(), run.step.parameters(), strict=True))


@pytest.mark.slow
def test_compiled_it_trains_the_same_and_saves_the_same_names(tmp_path, undisturbed, monkeypatch):
    # the whole of torch.compile but its code generator, which takes long
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    trainer = Trainer(device="cpu", precision="fp32", compile=True)
    assert_equal(tmp_path, train(tmp_path, trainer=trainer), undisturbed)
    names = [load_file(f / "checkpoints/step-00000020/model.safetensors").keys() for f in (tmp_path, undisturbed[0])]
    assert names[0] == names[1]


def test_bf16_trains_and_keeps_weights_in_fp32(tmp_path):
    trainer, plain = Trainer(device="cpu", precision="bf16"), Trainer(device="cpu", precision="fp32")
    for each, dtype in ((trainer, torch.bfloat16), (plain, torch.float32)):
        with each.autocast():
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype
    run = train(tmp_path, trainer=trainer)
    assert all(p.dtype == torch.float32 for p in run.step.parameters())
    lines = metrics(tmp_path)
    assert lines[-1]["eval/masked_lm_loss"] < lines[1]["eval/masked_lm_loss"]
    assert "bf16" in json.loads((tmp_path / "summary.json").read_text())["device"]
