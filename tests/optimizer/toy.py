"""A trained whole with layers, one of them shared, a tied head, a norm behind the layers; and gradients for it."""

from pathlib import Path

import torch
import yaml
from hydra.utils import instantiate
from torch import nn
from torch.nn import functional as F

CONF = Path(__file__).parents[2] / "conf" / "optimizer"
PARTS = sorted(
    path.stem for path in CONF.glob("*.yaml") if "_target_" in yaml.safe_load(path.read_text(encoding="utf-8"))
)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.dense = nn.Linear(size, size)
        self.reach = nn.Embedding(3, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, hidden):
        return self.norm(hidden + torch.tanh(self.dense(hidden)) + self.reach.weight.mean(0))


class Model(nn.Module):
    """Layers first, second, first, third: the first is shared."""

    def __init__(self, vocabulary=11, size=6):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, size)
        self.first, self.second, self.third = Layer(size), Layer(size), Layer(size)
        self.final_norm = nn.LayerNorm(size)

    def layers(self):
        return [self.first, self.second, self.first, self.third]

    def forward(self, ids):
        hidden = self.tokens(ids)
        for layer in self.layers():
            hidden = layer(hidden)
        return self.final_norm(hidden)


class Whole(nn.Module):
    """As a TrainingStep: `model` and `objective`."""

    def __init__(self):
        super().__init__()
        self.model = Model()
        self.objective = nn.Linear(6, 11)
        self.objective.weight = self.model.tokens.weight

    def loss(self, number):
        ids = torch.randint(0, 11, (16,), generator=torch.Generator().manual_seed(number))
        return F.cross_entropy(self.objective(self.model(ids)), (ids * 3 + 1) % 11)


def whole(seed=0):
    torch.manual_seed(seed)
    return Whole()


def settings_of(name):
    """What conf/optimizer/<name>.yaml says."""
    files = ("_settings", name)
    shared, own = (yaml.safe_load((CONF / f"{file}.yaml").read_text(encoding="utf-8")) for file in files)
    settings = (shared if own.pop("defaults", None) else {}) | own
    settings.pop("defaults", None)
    return settings


def build(name, module, **changes):
    """The optimizer of conf/optimizer/<name>.yaml."""
    return instantiate(settings_of(name), _convert_="all", _partial_=True)(module=module, **changes)


def take_steps(module, optimizer, numbers, factor=1.0):
    losses = []
    for group in optimizer.param_groups:
        group.setdefault("initial_lr", group["lr"])
    for number in numbers:
        optimizer.zero_grad()
        loss = module.loss(number)
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def one_matrix(values, *, bias=None):
    """A module of one matrix (and perhaps a vector), in double precision."""
    module = nn.Module()
    module.weight = nn.Parameter(torch.tensor(values, dtype=torch.float64))
    if bias is not None:
        module.bias = nn.Parameter(torch.tensor(bias, dtype=torch.float64))
    return module
