"""Names of classes for their numbers, where a data set keeps them beside its rows as `datasets` does."""

import json
from typing import Any


def names_in_metadata(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """The names of each column's classes that a Parquet file written by `datasets` holds; {} in any other file."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError):
        return {}
    found = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        while isinstance(feature, list | dict) and "names" not in feature:
            feature = feature[0] if isinstance(feature, list) and feature else _inner(feature)
        if isinstance(feature, dict) and isinstance(feature.get("names"), list):
            found[column] = feature["names"]
    return found


def names_in_features(features: dict[str, Any]) -> dict[str, list[str]]:
    """The names of each column's classes, in the features of a loaded data set."""
    found = {}
    for column, feature in features.items():
        while feature is not None and not hasattr(feature, "names"):
            feature = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
        if feature is not None and isinstance(feature.names, list):
            found[column] = feature.names
    return found


def named(value: Any, names: list[str] | None) -> Any:
    """The name for the number of a class, also in lists; None for -1, which stands for no label."""
    if names is None:
        return value
    if isinstance(value, list):
        return [named(each, names) for each in value]
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    return names[value] if 0 <= value < len(names) else None


def _inner(feature: Any) -> Any:
    return feature.get("feature") if isinstance(feature, dict) else None
