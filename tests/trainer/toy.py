"""A toy model, objective and loader, for the trainer's tests: two loss parts, tied weights, dropout, unequal counts."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

from ptcli.logger.jsonl import Jsonl
from ptcli.logger.logger import Logger, Sink
from ptcli.objective.loss import Loss
from ptcli.optimizer.adamw import AdamW
from ptcli.run.folder import RunFolder
from ptcli.schedule.linear import Linear
from ptcli.trainer.budget import Budget
from ptcli.trainer.feed import Phase
from ptcli.trainer.seeds import seed_everything
from ptcli.trainer.step import TrainingStep
from ptcli.trainer.trainer import Trainer
from ptcli.trainer.training import Every, Training
from ptcli.trainer.weights import save_model

VOCABULARY, HIDDEN, LENGTH = 17, 8, 6


class ToyModel(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, HIDDEN)
        self.shared = nn.Linear(HIDDEN, HIDDEN)
        self.blocks = nn.ModuleList([self.shared, self.shared])  # one layer under two names
        self.norm = nn.LayerNorm(HIDDEN)
        self.dropout = dropout

    def forward(self, batch):
        hidden = self.tokens(batch["input_ids"])
        for block in self.blocks:
            hidden = hidden + F.dropout(torch.tanh(block(hidden)), self.dropout, self.training)
        return self.norm(hidden + hidden.mean(1, keepdim=True))


class ToyObjective(nn.Module):
    denominators = {"masked_lm": "labels", "pair": "pair_labels"}  # noqa: RUF012

    def __init__(self, model):
        super().__init__()
        self.decoder = nn.Linear(HIDDEN, VOCABULARY)
        self.decoder.weight = model.tokens.weight
        self.pair = nn.Linear(HIDDEN, 2)

    def forward(self, model, batch):
        hidden = model(batch)
        at = batch["label_positions"]
        logits = self.decoder(hidden.reshape(-1, HIDDEN)[at])
        labels = batch["labels"].reshape(-1)[at]
        pair_at = batch["pair_positions"]
        pair_logits = self.pair(hidden.reshape(-1, HIDDEN)[pair_at])
        pair_labels = batch["pair_labels"].reshape(-1)[pair_at]
        return Loss(
            sums={
                "masked_lm": F.cross_entropy(logits, labels, reduction="sum"),
                "pair": F.cross_entropy(pair_logits, pair_labels, reduction="sum"),
            },
            counts={"masked_lm": torch.tensor(len(labels)), "pair": torch.tensor(len(pair_labels))},
            correct={"masked_lm": (logits.argmax(-1) == labels).sum()},
            weights={"pair": 0.5},
        )


@dataclass
class Step:
    micro_batches: list
    counts: dict
    position: dict
    measured: dict


def rows(generator, count):
    """A batch of `count` rows with unequal numbers of scored positions."""
    ids = torch.randint(0, VOCABULARY, (count, LENGTH), generator=generator)
    scored = torch.rand(count, LENGTH, generator=generator) < torch.linspace(0.05, 0.9, count)[:, None]
    pair = torch.full((count, LENGTH), -100)
    pair[:, 0] = torch.where(torch.arange(count) % 3 > 0, torch.arange(count) % 2, -100)
    return {"input_ids": ids, "labels": torch.where(scored, ids, -100), "pair_labels": pair}


def cut(batch, size):
    """Micro-batches of `size` rows, with the positions that are scored."""
    parts = []
    for first in range(0, len(batch["input_ids"]), size):
        part = {name: tensor[first : first + size] for name, tensor in batch.items()}
        part["label_positions"] = (part["labels"].reshape(-1) >= 0).nonzero()[:, 0]
        part["pair_positions"] = (part["pair_labels"].reshape(-1) >= 0).nonzero()[:, 0]
        parts.append(part)
    return parts


def counts_of(batch):
    return {
        "labels": int((batch["labels"] >= 0).sum()),
        "pair_labels": int((batch["pair_labels"] >= 0).sum()),
        "tokens": batch["input_ids"].numel(),
        "maskable": batch["input_ids"].numel(),
        "positions": batch["input_ids"].numel(),
    }


class ToyLoader:
    """Step number n is a function of the rows read before it, as the real loader's."""

    def __init__(self, *, size=8, micro_size=3, poisoned=None):
        self.size, self.micro_size, self.poisoned = size, micro_size, poisoned
        self.first_steps = []

    def steps(self, position, first_step):
        self.first_steps.append(first_step)
        done = position["rows"] if position else 0
        while True:
            batch = rows(torch.Generator().manual_seed(done + 1), self.size)
            counts = counts_of(batch)
            measured = {"mask_ratio": counts["labels"] / counts["maskable"], "mask_ratio_asked": 0.4}
            measured["epoch"] = (done + self.size) / 40
            parts = cut(batch, self.micro_size)
            done += self.size
            if self.poisoned is not None and done == self.poisoned * self.size:
                counts["labels"] = float("nan")  # what the loss is divided by
            yield Step(parts, counts, {"rows": done}, measured)


class Recorder(Sink):
    """Keeps what it is told."""

    def __init__(self):
        self.lines, self.said, self.shares, self.results = [], [], [], []

    def log(self, step, metrics):
        self.lines.append({"step": step, **metrics})

    def say(self, text):
        self.said.append(text)

    def progress(self, *, step, share, seconds):
        self.shares.append(share)

    def summary(self, values):
        self.results.append(dict(values))


def train(
    folder: Path,
    *,
    steps=20,
    budget=None,
    loader=None,
    evaluate="default",
    sinks=(),
    export=False,
    trainer=None,
    make_optimizer=None,
    **options,
):
    """Train the toy in a run folder; (the training step, the final state)."""
    seed_everything(1)
    trainer = trainer or Trainer(device="cpu", precision="fp32")
    model = ToyModel()
    step = TrainingStep(model, ToyObjective(model))
    trainer.place(step)
    optimizer = make_optimizer(step) if make_optimizer else AdamW(step, learning_rate=3e-2)

    def measure():
        step.eval()
        batch = cut(rows(torch.Generator().manual_seed(0), 16), 16)[0]
        with torch.inference_mode(), trainer.autocast():
            _, loss = step(batch, counts_of(batch))
        return {"eval/masked_lm_loss": float(loss.sums["masked_lm"] / loss.counts["masked_lm"])}

    tokenizer = folder.parent / "tokenizer"
    tokenizer.mkdir(parents=True, exist_ok=True)
    (tokenizer / "tokenizer.json").write_text("{}")
    with RunFolder(folder) as run, Logger([Jsonl(), *sinks]) as logger:
        logger.start(folder=folder, name="toy")
        own = loader or ToyLoader()
        often = {"log_every": 3, "eval_every": 5, "save_every": 4, "keep": 2, "log_norms": False}
        often |= {name: options.pop(name) for name in list(options) if name in often}
        leave_after = options.pop("leave_after", None)
        training = Training(
            step=step,
            optimizer=optimizer,
            schedule=Linear(warmup=0.1),
            phases=own if isinstance(own, list) else [Phase(lambda: own)],
            budget=budget or Budget(steps=steps),
            evaluate=measure if evaluate == "default" else evaluate,
            export=(lambda: save_model(run.model, step, config={"run": {"name": "红楼梦"}}, tokenizer_folder=tokenizer))
            if export
            else None,
            **({"seed": 1, "best_metric": "eval/masked_lm_loss"} | options),
        )
        every = Every(
            log=often["log_every"],
            evaluate=often["eval_every"],
            save=often["save_every"],
            keep=often["keep"],
            norms=often["log_norms"],
        )
        state = trainer.fit(training, run, logger, every=every, leave_after=leave_after)
    return SimpleNamespace(step=step, state=state, optimizer=optimizer)
