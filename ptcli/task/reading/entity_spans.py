"""Entities given as places in a text, as CLUENER 2020 gives them (arXiv:2001.04351), as tags of its characters."""

from collections.abc import Mapping
from typing import Any

from ptcli.task.reading.bad_rows import UnusableError


def tags_of_spans(text: str, entities: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """A BIO tag for each character. `entities`: by type, by text, the [first, last] characters where it stands.

    Raises UnusableError where a place lies outside the text or two entities share a character.
    """
    tags = ["O"] * len(text)
    for name, mentions in entities.items():
        for mention, places in mentions.items():
            for first, last in places:
                if not 0 <= first <= last < len(text):
                    raise UnusableError(f"has the {name} {mention} at characters {first} to {last} of {len(text)}")
                if any(tag != "O" for tag in tags[first : last + 1]):
                    raise UnusableError(f"has the {name} {mention} within another entity")
                tags[first : last + 1] = [f"B-{name}"] + [f"I-{name}"] * (last - first)
    return tuple(tags)
