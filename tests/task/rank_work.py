"""Started by a test once for every rank: three steps of every kind of task. Arguments: FOLDER.

Each rank writes `kinds-RANK.json`; rank 0 also tensors, `STRATEGY-KIND.safetensors`.
"""

import json
import os
import sys
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import torch
from safetensors.torch import save_file

from ptcli.optimizer.adamw import AdamW
from ptcli.task.adversarial.fgm import FastGradient
from ptcli.task.adversarial.smart import SmoothnessRegulariser
from ptcli.trainer.agreement import Agreement
from ptcli.trainer.gradient import Gradient
from ptcli.trainer.parallel import Replicated, Sharded, Single
from ptcli.trainer.ranks import Ranks, join, leave
from ptcli.trainer.sharded import whole
from tests.model.build import encoder
from tests.task.batches import step_of
from tests.task.test_every_kind import KINDS, loader
from tests.task.words import letters

STEPS, SHARE = 4, 3
"""Of a rank's rows; the third step of twenty rows crosses the end of an epoch."""
HELPS = {
    "fgm": {"adversarial": FastGradient()},
    "smart": {"adversarial": SmoothnessRegulariser()},
    "r_drop": {"r_drop": 1.0},
}


def some_steps(
    name: str, *, strategy: str, ranks: Ranks, micro_size: int, dropout: float = 0.0, **changes
) -> dict[str, torch.Tensor]:
    """Weights and gradients after the steps, of what rows this rank has."""
    task, rows = KINDS[name]
    labels = task.collect_labels({"train": rows})
    encoded = [task.encode(some, tokenizer=letters(), max_length=16, labels=labels) for some in task.versions(rows)]
    model = encoder(vocab_size=letters().vocabulary.size, dropout=dropout)
    step = step_of(task.target, model=model, num_labels=len(labels) or 1, apart=task.apart, **changes).double()
    if strategy == "fsdp":
        spread: Single = Sharded(step, ranks=ranks, layers=model.layers(), compute_type=None)
    else:
        spread = (Replicated if strategy == "ddp" else Single)(step, ranks=ranks)
    feed = loader(
        encoded, batch_size=2 * SHARE, micro_size=micro_size, rank=ranks.rank, ranks=ranks.size, group_size=2
    ).steps()
    with patch("torch.Tensor.float", torch.Tensor.double):  # or losses would be rounded to float32
        optimizer = AdamW(spread.trained, learning_rate=1e-2)
        gradient = Gradient(
            spread, compile=False, device=torch.device("cpu"), autocast=torch.enable_grad, clip=0.5, seed=1
        )
        agreement = Agreement(ranks)
        for number, data in enumerate(islice(feed, STEPS)):
            agreed = agreement.on(data, seconds=0.0, stop=None)
            gradient(agreed, number=number, add_loss=lambda loss: None, most=agreement.most)
            optimizer.step()
    tensors = {key: whole(p.detach()).clone() for key, p in spread.trained.named_parameters()}
    gradients = {key: p.grad for key, p in spread.trained.named_parameters() if p.grad is not None}
    return tensors | {f"gradient/{key}": whole(gradient).clone() for key, gradient in gradients.items()}


def work(ranks: Ranks, folder: Path) -> dict[str, list[float]]:
    """Every kind by each strategy, then every help; of these the sums of all weights, which ranks must share."""
    micro_size = 2 if ranks.is_first else SHARE  # rank 0 goes in more micro-batches
    for name in KINDS:
        for strategy in ("ddp", "fsdp"):
            tensors = some_steps(name, strategy=strategy, ranks=ranks, micro_size=micro_size)
            if ranks.is_first:
                save_file(tensors, folder / f"{strategy}-{name}.safetensors")
    sums = {}
    for name, changes in HELPS.items():
        tensors = some_steps("pair", strategy="ddp", ranks=ranks, micro_size=micro_size, dropout=0.1, **changes)
        sums[name] = [float(tensor.sum()) for tensor in tensors.values()]
    return sums


if __name__ == "__main__":
    where, here = Path(sys.argv[1]), join()
    told = work(here, where)
    (where / f"kinds-{here.rank}.json").write_text(json.dumps(told))
    leave()
    os._exit(0)  # as ptcli does: threads of communication may abort when they are taken down
