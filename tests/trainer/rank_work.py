"""Started by tests once for every rank: works through tasks with the others and leaves what came out in a folder.

Arguments: FOLDER TASK... Each rank writes `TASK-RANK.json`; rank 0 also tensors, `NAME.safetensors`.
"""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import torch
from safetensors.torch import save_file

from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger, Sink
from ptcli.objective.masked_lm import MaskedLM
from ptcli.optimizer.adamw import AdamW
from ptcli.run.folder import RunFolder
from ptcli.schedule.linear import Linear
from ptcli.trainer.agreement import Agreement
from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Phase
from ptcli.trainer.gradient import Gradient
from ptcli.trainer.parallel import Replicated, Sharded, Single, recompute_activations
from ptcli.trainer.ranks import Ranks, current, join, leave
from ptcli.trainer.seeds import seed_everything, seed_micro_batch
from ptcli.trainer.sharded import whole
from ptcli.trainer.signals import Interrupted
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.trainer import Trainer
from ptcli.trainer.training import Every, Training
from ptcli.trainer.weights import named_tensors, save_model
from tests import waiting
from tests.model.build import CONF, NO_PAIR, PAIR, compose_model, encoder, random_rows, scored
from tests.trainer.toy import Step, ToyModel, ToyObjective, counts_of, cut, rows

STEPS, ROWS = 3, 12
SMALL = ["num_layers=2", "hidden_size=32", "num_heads=4", "intermediate_size=48", "dropout=0", "attention_dropout=0"]
SMALL = [f"model.{word}" for word in SMALL]
SHARINGS = ("none", "all", "attention")


def start(
    folder: Path, *tasks: str, ranks: int, stdout: bool = False, module: str = "tests.trainer.rank_work"
) -> list[subprocess.Popen]:
    """The ranks, at work. `module`: that is started, where it is not this one."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(port),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [
        subprocess.Popen(
            [sys.executable, "-m", module, str(folder), *tasks],
            env=environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE if stdout else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]


def finish(processes: list[subprocess.Popen]) -> list[int]:
    """Their exit codes; none is left."""
    ended = waiting.finish_all(processes)
    codes = [code for code, _, _ in ended]
    if any(codes):
        print("\n".join(error for _, _, error in ended))
    return codes


def result(folder: Path, task: str, rank: int = 0):
    return json.loads((folder / f"{task}-{rank}.json").read_text())


# what the ranks do --------------------------------------------------------------------------------------------------


def real_step(sharing: str) -> TrainingStep:
    from ptcli.model.sharing.attention_only import AttentionSharing
    from ptcli.model.sharing.groups import GroupSharing
    from ptcli.model.sharing.none import NoSharing

    chosen = {"none": NoSharing(), "all": GroupSharing(num_groups=1), "attention": AttentionSharing()}[sharing]
    model = encoder(num_layers=3, sharing=chosen)
    return TrainingStep(model, MaskedLM(model=model, pair=PAIR)).double()


def batch_of(number: int, *, types: bool) -> dict[str, torch.Tensor]:
    """The rows of one optimiser step; they are of unequal length, so that ranks have unequal numbers of labels."""
    lengths = [[4 + (7 * (row + number)) % 19, 3 + row % 5] for row in range(ROWS)]
    return scored(random_rows(lengths, seed=number, length=30, types=types), every=3 + number)


def batch_counts(batch) -> dict[str, int]:
    return {"labels": len(batch["label_positions"]), "pair_labels": len(batch["pair_positions"]), "tokens": 1}


def part_of(batch, first: int, last: int):
    part = {key: batch[key][first:last] for key in batch if not key.endswith("positions")}
    part["label_positions"] = (part["labels"] >= 0).flatten().nonzero().flatten()
    part["pair_positions"] = (part["pair_labels"] >= 0).flatten().nonzero().flatten()
    return part


def _adamw(module):
    return AdamW(module, learning_rate=1e-2)


def three_steps(strategy: Single, *, micro: int, make_optimizer=_adamw, types=True):
    """Weights and gradients by name after three steps, and the loss of each step."""
    with patch("torch.Tensor.float", lambda tensor: tensor):  # or the logits would be rounded to float32
        return _three_steps(strategy, make_optimizer(strategy.trained), micro=micro, types=types)


def _three_steps(strategy: Single, optimizer: torch.optim.Optimizer, *, micro: int, types: bool):
    ranks = strategy.ranks
    gradient = Gradient(
        strategy, compile=False, device=torch.device("cpu"), autocast=torch.enable_grad, clip=0.5, seed=1
    )
    agreement, share, losses = Agreement(ranks), ROWS // ranks.size, []
    for number in range(STEPS):
        batch = batch_of(number, types=types)
        first = ranks.rank * share
        bounds = range(first, first + share, micro)
        parts = [part_of(batch, at, min(at + micro, first + share)) for at in bounds]
        own = {name: sum(batch_counts(part)[name] for part in parts) for name in ("labels", "pair_labels", "tokens")}
        data = agreement.on(Step(parts, own, {}, {}), seconds=0.0, stop=None)
        _, total = gradient(data, number=number, add_loss=lambda loss: None, most=agreement.most)
        losses.append(sum(row[0] for row in ranks.gather([float(total)])))
        optimizer.step()
    tensors = {name: whole(p.detach()).clone() for name, p in strategy.trained.named_parameters()}
    tensors |= {f"gradient/{name}": whole(p.grad).clone() for name, p in strategy.trained.named_parameters()}
    return tensors, losses


def strategy_of(name: str, step: TrainingStep, ranks: Ranks) -> Single:
    if name == "fsdp":
        return Sharded(step, ranks=ranks, layers=step.model.layers(), compute_type=None)
    return (Replicated if name == "ddp" else Single)(step, ranks=ranks)


def equal(ranks: Ranks, folder: Path):
    """Three steps by each strategy and each way of sharing; rank 0 goes in more micro-batches than the others."""
    told = {}
    for name in ("ddp", "fsdp"):
        for sharing in SHARINGS:
            step = real_step(sharing)
            if sharing == "none":
                recompute_activations(step.model.layers())
            tensors, losses = three_steps(strategy_of(name, step, ranks), micro=2 if ranks.is_first else 4)
            told[f"{name}-{sharing}"] = losses
            if ranks.is_first:
                save_file(tensors, folder / f"{name}-{sharing}.safetensors")
    return told


def agree(ranks: Ranks, folder: Path):
    agreement = Agreement(ranks)
    own = {"labels": 10 * (ranks.rank + 1), "maskable": 100, "positions": 300, "tokens": 200}
    measured = {"mask_ratio": own["labels"] / 100, "mask_ratio_asked": 0.15, "epoch": 1.5}
    data = Step([None] * (ranks.rank + 1), own, {}, measured)
    stop = signal.SIGTERM if ranks.rank == ranks.size - 1 else None
    agreed = agreement.on(data, seconds=100.0 + ranks.rank, stop=stop)
    seed_micro_batch(1, step=5, micro=0, rank=ranks.rank)
    return {
        "counts": agreed.counts,
        "measured": agreed.measured,
        "stop": agreement.stop,
        "seconds": agreement.seconds,
        "most": agreement.most,
        "dropout": torch.rand(1).item(),
        "told": ranks.from_first(lambda: {"a": [1, None, 0.1]}),
    }


def optimizers() -> dict[str, type[torch.optim.Optimizer]]:
    """The optimizers beside AdamW that take parts, by the name of their choice."""
    from ptcli.optimizer.lamb import Lamb
    from ptcli.optimizer.muon import Muon
    from ptcli.optimizer.schedule_free import ScheduleFree
    from ptcli.optimizer.stable_adamw import StableAdamW

    return {
        "lamb": Lamb,
        "muon": Muon,
        "schedule_free": ScheduleFree,
        "stable_adamw": StableAdamW,
    }


def sharded_optimizers(ranks: Ranks, folder: Path):
    """Three steps of each optimizer over parts of weights: how far from those of one process, as a share of the way."""
    told = {}
    for name, make in optimizers().items():
        before = {name: tensor.detach().clone() for name, tensor in real_step("none").named_parameters()}
        alone, _ = three_steps(Single(real_step("none"), ranks=Ranks()), micro=ROWS, make_optimizer=make)
        found, _ = three_steps(strategy_of("fsdp", real_step("none"), ranks), micro=4, make_optimizer=make)
        way = max(float((alone[key] - before[key]).norm()) for key in before)
        told[name] = max(float((alone[key] - found[key]).norm()) for key in before) / way
    return told


def presets() -> list[str]:
    """Every choice of a model that is not a group of parts."""
    return sorted(path.stem for path in (CONF / "model").glob("*.yaml"))


def every_model(ranks: Ranks, folder: Path):
    """Three steps of every model: how far ranks and one process are apart, or what was raised."""
    from hydra.utils import instantiate

    told = {}
    for name, pair in itertools.product(presets(), (NO_PAIR, PAIR)):
        own = folder / f"conf-{ranks.rank}"
        own.mkdir(exist_ok=True)
        config = compose_model(own, f"model={name}", *SMALL, *(["model.embedding_size=16"] if name == "albert" else []))

        def make(config=config, pair=pair) -> TrainingStep:
            seed_everything(1)
            model = instantiate(config.model, vocab_size=61, _convert_="all")
            objective = instantiate(config.objective, model=model, pair=pair, _convert_="all")
            return TrainingStep(model, objective).double()

        types = config.model.type_vocab_size > 1
        alone, _ = three_steps(Single(make(), ranks=Ranks()), micro=ROWS, types=types)
        for strategy in ("ddp", "fsdp"):
            try:
                found, _ = three_steps(strategy_of(strategy, make(), ranks), micro=4, types=types)
                apart: float | str = max(float((found[key] - alone[key]).abs().max()) for key in alone)
            except Exception as error:
                apart = repr(error)
            told[f"{name} {strategy} {pair.num_labels}"] = apart
    return told


class SharedLoader:
    """The toy's rows, of which each rank is given its part."""

    def __init__(self, ranks: Ranks, *, size: int = 12, pause: float = 0.0):
        self.ranks, self.size, self.pause = ranks, size, pause
        self.ids: list[list[int]] = []

    def steps(self, position, first_step):
        done = position["rows"] if position else 0
        share = self.size // self.ranks.size
        while True:
            time.sleep(self.pause)
            batch = rows(torch.Generator().manual_seed(done + 1), self.size)
            first = self.ranks.rank * share
            own = {name: tensor[first : first + share] for name, tensor in batch.items()}
            done += self.size
            self.ids.append(own["input_ids"][:, 0].tolist())
            yield Step(cut(own, 3), counts_of(own), {"rows": done}, {"mask_ratio": 0.4, "epoch": done / 40})


def fit(
    folder: Path,
    *,
    strategy: str,
    steps: int,
    loader: SharedLoader | None = None,
    evaluate=None,
    leave_after=None,
    **settings,
):
    """Train the toy with what ranks there are, in folder/run; (the whole step, its state)."""
    seed_everything(1)
    trainer = Trainer(device="cpu", precision="fp32", strategy=strategy, devices=current().size, **settings)
    model = ToyModel(dropout=0.0)
    step = TrainingStep(model, ToyObjective(model))
    spread = trainer.distribute(step, layers=list(model.blocks))
    tokenizer = folder / "tokenizer"
    tokenizer.mkdir(parents=True, exist_ok=True)
    run, is_first = RunFolder(folder / "run"), trainer.ranks.is_first

    def measure():
        step.eval()
        batch = cut(rows(torch.Generator().manual_seed(0), 16), 16)[0]
        with torch.inference_mode():
            _, loss = step(batch, counts_of(batch))
        return {"eval/masked_lm_loss": float(loss.sums["masked_lm"] / loss.counts["masked_lm"])}

    if is_first:
        run.__enter__()
    try:
        with Logger([Jsonl(), Tell()] if is_first else []) as logger:
            logger.start(folder=run.path, name="toy")
            fed = loader or SharedLoader(trainer.ranks)
            training = Training(
                step=step,
                optimizer=AdamW(spread.trained, learning_rate=3e-2),
                schedule=Linear(warmup=0.1),
                phases=[Phase(lambda: fed)],
                budget=Budget(steps=steps),
                seed=1,
                strategy=spread,
                evaluate=evaluate or measure,
                best_metric="eval/masked_lm_loss",
                export=lambda: save_model(run.model, step, config={}, tokenizer_folder=tokenizer),
            )
            every = Every(log=3, evaluate=5, save=4)
            state = trainer.fit(training, run, logger, every=every, leave_after=leave_after)
    finally:
        if is_first:
            run.__exit__()
    with spread.whole():
        weights = {name: tensor.detach().clone() for name, tensor in named_tensors(step)[0].items()}
    return SimpleNamespace(weights=weights, state=state)


class Tell(Sink):
    """Lets a test know how far the run is."""

    def progress(self, *, step, share, seconds):
        print(f"step {step}", flush=True)


def train(ranks: Ranks, folder: Path):
    """Whole runs with evaluation, checkpoints and export, by strategy."""
    told = {}
    for name in ("ddp", "fsdp"):
        loader = SharedLoader(ranks)
        done = fit(folder / name, strategy=name, steps=10, loader=loader, average=0.9)
        told[name] = {"ids": loader.ids[:10], "state": done.state.to_dict()}
        if ranks.is_first:
            save_file(done.weights, folder / f"{name}.safetensors")
    return told


def go_on(ranks: Ranks, folder: Path):
    """Go on with a run of 12 steps that another number of ranks began, four steps far."""
    told = {}
    for name in ("ddp", "fsdp"):
        loader = SharedLoader(ranks)
        before = int((folder / name / "run" / "checkpoints" / "latest").read_text().strip()[5:])
        done = fit(folder / name, strategy=name, steps=12, loader=loader, leave_after=before + 4)
        told[name] = {"ids": loader.ids[:4], "before": before}
        if ranks.is_first:
            save_file(done.weights, folder / f"{name}-{ranks.size}.safetensors")
    return told


def stopped(ranks: Ranks, folder: Path):
    """A run that a signal to one rank stops in the middle of a step."""
    try:
        fit(folder, strategy="ddp", steps=10_000, loader=SharedLoader(ranks, pause=0.02))
    except Interrupted as stop:
        return {"code": stop.exit_code, "text": str(stop)}
    return None


def stopped_while_evaluating(ranks: Ranks, folder: Path):
    """A run that a signal to another rank than the one that evaluates stops."""

    def evaluate():
        print("evaluating", flush=True)
        time.sleep(waiting.HANG)
        return {}

    try:
        fit(folder, strategy="ddp", steps=10_000, evaluate=evaluate)
    except Interrupted as stop:
        return {"code": stop.exit_code, "text": str(stop)}
    return None


if __name__ == "__main__":
    where, *tasks = sys.argv[1:]
    here = join()
    for task in tasks:
        told = globals()[task](here, Path(where))
        (Path(where) / f"{task}-{here.rank}.json").write_text(json.dumps(told))
    leave()
    os._exit(0)  # as ptcli does: threads of communication may abort when they are taken down
