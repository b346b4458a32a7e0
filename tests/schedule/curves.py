"""A schedule's factors over a whole run, by updates and by shares of another budget."""

from pathlib import Path

import yaml
from hydra.utils import instantiate

CONF = Path(__file__).parents[2] / "conf" / "schedule"


def factors(schedule, total):
    return [schedule(step=t, total_steps=total, before=t / total, after=(t + 1) / total) for t in range(total)]


def by_share(schedule, total):
    return [schedule(step=t, total_steps=None, before=t / total, after=(t + 1) / total) for t in range(total)]


def from_yaml(name, **changes):
    settings = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    return instantiate(settings, **changes)
