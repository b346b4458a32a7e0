"""Which entities a sentence's tags name: the rule of the CoNLL evaluation (Tjong Kim Sang and De Meulder 2003)."""

from collections.abc import Sequence

Entity = tuple[str, int, int]
"""Type, first word, last word."""

_PREFIXES = frozenset("BIESLU")


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence's tags, in order. Tags are `O`, or a mark and a type, `B-person`; bare marks too.

    IOB1, IOB2, IOBES and BILOU are read by one rule: an entity begins at B, S and U, where the type changes, and after
    O, E, L, S or U; it ends before the next begins, before O, and at E, L, S and U. So an I-person after O begins one.
    """
    found: list[Entity] = []
    begin, name, is_open = 0, "", False
    for place, tag in enumerate(tags):
        mark, own = _parts(tag)
        if is_open and (mark in "OBSU" or own != name):
            found.append((name, begin, place - 1))
            is_open = False
        if mark == "O":
            continue
        if not is_open:
            begin, name, is_open = place, own, True
        if mark in "ELSU":
            found.append((name, begin, place))
            is_open = False
    if is_open:
        found.append((name, begin, len(tags) - 1))
    return found


def repaired(tags: Sequence[str]) -> list[str]:
    """IOB2 tags in which each I- that continues nothing is a B-; other tags stay."""
    mended: list[str] = []
    previous = "O"
    for tag in tags:
        mark, name = _parts(tag)
        continues = _parts(previous)[0] in ("B", "I") and _parts(previous)[1] == name
        mended.append(f"B{tag[1:]}" if mark == "I" and not continues else tag)
        previous = mended[-1]
    return mended


def have_entities(labels: Sequence[str]) -> bool:
    """True where the labels mark entities: `O` and marks with types, as against parts of speech."""
    return any(_is_marked(label) for label in labels) and all(label == "O" or _is_marked(label) for label in labels)


def _is_marked(label: str) -> bool:
    mark, dash, name = label.partition("-")
    return mark in _PREFIXES and (not dash or bool(name))


def _parts(tag: str) -> tuple[str, str]:
    mark, _, name = tag.partition("-")
    return (mark, name) if mark in _PREFIXES else ("O", "")
