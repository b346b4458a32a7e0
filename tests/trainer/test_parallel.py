"""Several CPU ranks against one process: the same gradients, the same runs, from any number of ranks to any other."""

import json
import signal

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from ptcli.errors import ConfigError
from ptcli.trainer.parallel import Single, choose_strategy, lone_layers, recompute_activations
from ptcli.trainer.ranks import Ranks
from ptcli.trainer.trainer import Trainer
from tests.model.build import encoder
from tests.trainer import rank_work
from tests.trainer.rank_work import SHARINGS, finish, real_step, result, start, three_steps
from tests.trainer.toy import ToyModel
from tests.waiting import until_line


def closeness(found, wanted):
    assert found.keys() == wanted.keys()
    return max(float((found[name] - wanted[name]).abs().max()) for name in wanted)


@pytest.mark.distributed
@pytest.mark.parametrize("ranks", [2, 3])
def test_three_steps_leave_the_weights_and_gradients_of_one_process(ranks, tmp_path):
    """DDP and FSDP, layers with weights of their own and shared ones, a pair head, unequal numbers of micro-batches."""
    processes = start(tmp_path, "equal", ranks=ranks)
    alone = {sharing: three_steps(Single(real_step(sharing), ranks=Ranks()), micro=12) for sharing in SHARINGS}
    accumulated, _ = three_steps(Single(real_step("none"), ranks=Ranks()), micro=3)
    assert closeness(accumulated, alone["none"][0]) < 1e-9
    assert finish(processes) == [0] * ranks
    for sharing, (tensors, losses) in alone.items():
        assert any(name.startswith("gradient/objective.pair_head") for name in tensors)
        assert min(float(t.abs().max()) for name, t in tensors.items() if name.startswith("gradient/")) > 0
        for strategy in ("ddp", "fsdp"):
            assert closeness(load_file(tmp_path / f"{strategy}-{sharing}.safetensors"), tensors) < 1e-9
            assert result(tmp_path, "equal")[f"{strategy}-{sharing}"] == pytest.approx(losses, abs=1e-9)


@pytest.mark.distributed
def test_a_run_of_two_ranks_is_that_of_one_process(tmp_path):
    folder = tmp_path / "two"
    processes = start(folder, "agree", "train", ranks=2)
    loader = rank_work.SharedLoader(Ranks())
    alone = rank_work.fit(tmp_path, strategy="auto", steps=10, loader=loader, average=0.9)
    assert finish(processes) == [0, 0]
    _ranks_agreed([result(folder, "agree", rank) for rank in range(2)])
    for strategy in ("ddp", "fsdp"):
        told = [result(folder, "train", rank)[strategy] for rank in range(2)]
        for step, ids in enumerate(loader.ids[:10]):
            assert [one for rank in told for one in rank["ids"][step]] == ids  # each row by one rank
        assert closeness(load_file(folder / f"{strategy}.safetensors"), alone.weights) < 2e-5
        states = [rank["state"] for rank in told]
        for name in ("step", "tokens", "epoch", "position", "best", "best_step", "seconds"):
            assert states[0][name] == states[1][name]
        assert states[0]["best"] == pytest.approx(alone.state.best, abs=1e-4)
        assert states[0]["tokens"] == alone.state.tokens
        _same_lines(folder / strategy / "run", tmp_path / "run")
        exported = load_file(folder / strategy / "run" / "model" / "model.safetensors")
        assert closeness(exported, load_file(tmp_path / "run" / "model" / "model.safetensors")) < 2e-5


@pytest.mark.distributed
@pytest.mark.slow
def test_every_model_has_the_gradients_of_one_process(tmp_path):
    """No parameter is without a loss, which DDP would wait for; FSDP gathers what a model runs more than once."""
    assert finish(start(tmp_path, "every_model", ranks=2)) == [0, 0]
    for rank in range(2):
        told = result(tmp_path, "every_model", rank)
        assert len(told) == 4 * len(rank_work.presets())
        assert {name: apart for name, apart in told.items() if not isinstance(apart, float) or apart > 1e-9} == {}


@pytest.mark.distributed
@pytest.mark.slow
def test_optimizers_that_take_parts_of_weights(tmp_path):
    assert finish(start(tmp_path, "sharded_optimizers", ranks=2)) == [0, 0]
    for name, share in result(tmp_path, "sharded_optimizers").items():
        # Muon makes matrices orthogonal in bfloat16, which another order of summing changes by some hundredths
        assert share < (0.1 if name == "muon" else 1e-7), name


def _ranks_agreed(told):
    dropout = [one.pop("dropout") for one in told]
    assert dropout[0] != dropout[1]
    assert told[0] == told[1]
    assert told[0] == {
        "counts": {"labels": 30, "maskable": 200, "positions": 600, "tokens": 400},
        "measured": {"mask_ratio": pytest.approx(0.15), "mask_ratio_asked": 0.15, "epoch": 1.5},
        "stop": 15,  # of rank 1
        "seconds": 100.0,  # of rank 0
        "most": 2,
        "told": {"a": [1, None, 0.1]},
    }


def _same_lines(ours, theirs):
    """One set of lines, with the figures of all ranks."""
    names = ("loss", "masked_lm_accuracy", "grad_norm", "mask_ratio", "tokens", "epoch", "learning_rate")
    texts = [(folder / "metrics.jsonl").read_text().splitlines() for folder in (ours, theirs)]
    assert len(texts[0]) == len(texts[1]) > 4
    for one, other in zip(*([json.loads(line) for line in text] for text in texts), strict=True):
        assert one.keys() == other.keys()
        for name in ("eval/masked_lm_loss", *(f"train/{name}" for name in names)):
            assert one.get(name) == pytest.approx(other.get(name), abs=1e-4)


@pytest.mark.distributed
def test_another_number_of_ranks_goes_on_with_the_same_rows(tmp_path):
    loader = rank_work.SharedLoader(Ranks())
    straight = rank_work.fit(tmp_path / "straight", strategy="auto", steps=12, loader=loader)
    for strategy in ("ddp", "fsdp"):
        rank_work.fit(tmp_path / strategy, strategy="auto", steps=12, leave_after=4)
    for ranks, before in ((2, 4), (3, 8)):
        assert finish(start(tmp_path, "go_on", ranks=ranks)) == [0] * ranks
        for strategy in ("ddp", "fsdp"):
            told = [result(tmp_path, "go_on", rank)[strategy] for rank in range(ranks)]
            assert {one["before"] for one in told} == {before}
            for step in range(4):
                assert [row for one in told for row in one["ids"][step]] == loader.ids[before + step]
    for strategy in ("ddp", "fsdp"):
        assert closeness(load_file(tmp_path / f"{strategy}-3.safetensors"), straight.weights) < 2e-5


@pytest.mark.distributed
def test_a_signal_to_one_rank_stops_all_after_the_same_step(tmp_path):
    processes = start(tmp_path, "stopped", ranks=2, stdout=True)
    until_line(processes[0], "step 3")
    processes[1].send_signal(signal.SIGTERM)
    assert finish(processes) == [0, 0]
    told = [result(tmp_path, "stopped", rank) for rank in range(2)]
    assert told[0]["code"] == told[1]["code"] == 143
    assert told[0]["text"] == told[1]["text"]
    saved = (tmp_path / "run" / "checkpoints" / "latest").read_text().strip()
    assert f"step {int(saved[5:])}," in told[0]["text"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["status"] == "interrupted"


@pytest.mark.distributed
def test_a_signal_to_another_rank_breaks_off_an_evaluation(tmp_path):
    processes = start(tmp_path, "stopped_while_evaluating", ranks=2, stdout=True)
    until_line(processes[0], "evaluating")
    processes[1].send_signal(signal.SIGINT)
    assert finish(processes) == [0, 0]
    assert [result(tmp_path, "stopped_while_evaluating", rank)["code"] for rank in range(2)] == [130, 130]
    assert list((tmp_path / "run" / "checkpoints").glob("step-*"))


@pytest.mark.parametrize(
    ("strategy", "devices", "found"), [("auto", 1, "single"), ("auto", 4, "ddp"), ("fsdp", 2, "fsdp")]
)
def test_the_strategy_follows_from_the_number_of_devices(strategy, devices, found):
    assert choose_strategy(strategy, devices=devices) == found


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategy": "single", "devices": 2}, "trainer.strategy=single trains on one device, not on 2"),
        ({"strategy": "ddp"}, "needs more than one device. Type trainer.devices=2"),
        ({"strategy": "horovod"}, "choose one of auto, single, ddp, fsdp"),
        ({"devices": 0}, "trainer.devices=0: a number of devices"),
        ({"devices": "many"}, "trainer.devices=many: a number of devices"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Trainer(device="cpu", precision="fp32", **settings)


def test_rows_are_divided_among_devices():
    trainer = Trainer(device="cpu", devices=3)
    assert trainer.micro_size(12, None) == 4
    assert trainer.micro_size(12, 2) == 2
    assert Trainer(device="cpu", devices=2, accumulate=3).micro_size(12, None) == 2
    assert trainer.group_size(12, None) == 12  # rows are grouped as on one device
    with pytest.raises(ConfigError, match=r"batch.size=32 rows cannot be divided among 3 devices. Use batch.size=30"):
        trainer.micro_size(32, None)


def test_a_layer_that_is_shared_is_no_layer_of_its_own():
    first, second, third = encoder(num_layers=3).layers()
    assert lone_layers([first, second, third]) == [first, second, third]
    assert lone_layers([first, second, first]) == [second]
    second.attention = first.attention
    assert lone_layers([first, second, third]) == [third]
    assert lone_layers(list(ToyModel().blocks)) == []


def test_recomputed_activations_change_no_gradient():
    found = []
    for recomputes in (False, True):
        step = real_step("all")
        if recomputes:
            recompute_activations(step.model.layers())
        tensors, _ = three_steps(Single(step, ranks=Ranks()), micro=12)
        found.append(tensors)
    assert closeness(*found) < 1e-12


def test_recomputed_activations_are_not_kept():
    """A layer's inner activations are computed twice."""

    class Counting(nn.Module):
        calls = 0

        def forward(self, hidden):
            Counting.calls += 1
            return torch.tanh(hidden)

    layer = nn.Sequential(nn.Linear(4, 4), Counting())
    recompute_activations([layer, layer])
    layer(layer(torch.ones(2, 4, requires_grad=True))).sum().backward()
    assert Counting.calls == 4
