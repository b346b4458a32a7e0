"""Classes that got a new name since a release: configurations that were saved before name them as they were then."""

from collections.abc import Mapping
from typing import Any

MOVED: dict[str, str] = {
    "ptcli.trainer.loop.Trainer": "ptcli.trainer.trainer.Trainer",
    "ptcli.task.mixing.temperature.Temperature": "ptcli.task.multi.Temperature",
    "ptcli.task.pooling.attention.AttentionPooling": "ptcli.task.pooling.AttentionPooling",
    "ptcli.task.pooling.cls.ClassificationToken": "ptcli.task.pooling.ClassificationToken",
    "ptcli.task.pooling.last.LastToken": "ptcli.task.pooling.LastToken",
    "ptcli.task.pooling.max.MaxPooling": "ptcli.task.pooling.MaxPooling",
    "ptcli.task.pooling.mean.MeanPooling": "ptcli.task.pooling.MeanPooling",
    "ptcli.task.pooling.pooler.PooledToken": "ptcli.task.pooling.PooledToken",
}
"""Old name -> the name of today. Of several old ones, the first that a class had comes first."""

FIRST: Mapping[str, str] = {new: old for old, new in reversed(MOVED.items())}
"""The name of today -> the first of its old ones, which fingerprints are made from: a move leaves them as they are."""


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A copy of plain values in which every `_target_` is called by its other name, where it has one."""
    if isinstance(node, list):
        return [renamed(item, names) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: names.get(value, value) if key == "_target_" and isinstance(value, str) else renamed(value, names)
        for key, value in node.items()
    }
