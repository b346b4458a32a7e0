"""Did you mean: the nearest of the names that exist."""

import difflib
from collections.abc import Iterable


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that `word` was most likely meant to be, or None where none is near."""
    names = list(names)
    found = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    folded = {name.replace("_", "").replace("-", "").lower(): name for name in names}
    return folded.get(word.replace("_", "").replace("-", "").lower())


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """` Did you mean X?` with a space before it, or nothing."""
    name = nearest(word, names)
    return f" Did you mean {name}?" if name else ""


def listing(names: Iterable[str], limit: int = 20) -> str:
    """Names separated by commas; where there are more than `limit`, it says how many more."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
