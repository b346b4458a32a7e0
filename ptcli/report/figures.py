"""What is said about masks, as titled lists of figures: the same for the terminal and for the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ptcli.batch.contract import Column
from ptcli.mask.examples import KEPT, MASKED, PERMUTED, RANDOM
from ptcli.report.statistics import Statistics

_LONGEST = 10  # lengths above it share one line


class Cell(NamedTuple):
    """One figure; `share` is how long its bar is, in the unit of the figure's `largest`."""

    text: str
    share: float = 0.0


class Figure(NamedTuple):
    """Entries (name, a cell for each column). With `largest` above 0 bars are drawn, that one fills the room."""

    title: str
    columns: tuple[str, ...]
    entries: list[tuple[str, list[Cell]]]
    largest: float = 0.0


def figures_of(statistics: Mapping[str, Statistics], *, columns: Sequence[Column] = ()) -> list[Figure]:
    """The figures of some masks on the same examples. What does not occur is left out. `columns`: that parts add."""
    masks, all_of = tuple(statistics), list(statistics.values())
    one = all_of[0]
    figures = [_shares(masks, all_of)]
    if any(s.selected for s in all_of):
        counters = [s.unit_words for s in all_of], [s.unit_tokens for s in all_of]
        words = _lengths("selected units by words (a word in part counts as one)", masks, counters[0])
        if any(s.mean_words for s in all_of):
            laws = [Cell("" if s.mean_words is None else f"{s.mean_words:.2f}") for s in all_of]
            words.entries.append(("mean of the law", laws))
        figures += [
            words,
            _lengths("selected units by tokens", masks, counters[1]),
            _tenths(masks, all_of),
        ]
    for column in columns:
        counts = one.as_dict((column,))[column.name]
        if not (column.names or any(counts.values())):
            continue
        total = sum(counts.values()) if len(counts) > 1 else one.tokens
        shares = [(name, [Cell(f"{n / max(total, 1):.1%} ({n:,})")]) for name, n in counts.items()]
        figures.append(Figure(column.name.replace("_", " "), ("all",), shares))
    return figures


def _shares(columns: tuple[str, ...], all_of: list[Statistics]) -> Figure:
    one = all_of[0]
    title = (
        f"measured over {one.examples:,} examples in {one.rows:,} rows: {one.tokens:,} tokens, of them "
        f"{one.maskable:,} that may be masked"
    )
    entries = [
        ("ratio asked for", [Cell(f"{s.ratio_asked:.2%}") for s in all_of]),
        ("ratio measured", [Cell(f"{s.ratio:.2%}") for s in all_of]),
    ]
    if any(s.selected for s in all_of):
        entries += [
            _replaced("of these masked", all_of, 0, MASKED),
            _replaced("of these random", all_of, 1, RANDOM, PERMUTED),
            _replaced("of these kept", all_of, 2, KEPT),
        ]
        if any(s.kinds[PERMUTED] for s in all_of):
            entries.append(("random as permuted", [Cell(f"{s.kind_share(PERMUTED):.1%}") for s in all_of]))
        whole = [Cell(f"{s.whole_words / max(s.words, 1):.1%}") for s in all_of]
        entries.append(("hit words selected whole", whole))
    return Figure(title, columns, entries)


def _replaced(name: str, all_of: list[Statistics], place: int, *kinds: int) -> tuple[str, list[Cell]]:
    """The share of selected tokens that are of `kinds`, beside the one that was asked for."""
    asked = ["" if s.replace is None else f" (asked {s.replace[place]:.0%})" for s in all_of]
    shares = [f"{sum(s.kind_share(kind) for kind in kinds):.1%}" for s in all_of]
    if len(set(asked)) == 1:
        return name + asked[0], [Cell(share) for share in shares]
    return name, [Cell(share + told) for share, told in zip(shares, asked, strict=True)]


def _lengths(title: str, columns: tuple[str, ...], counters: list[Counter[int]]) -> Figure:
    longest = min(max(max(counter, default=1) for counter in counters), _LONGEST)
    means = [sum(k * n for k, n in c.items()) / max(c.total(), 1) for c in counters]
    entries, largest = [], 0.0
    for length in range(1, longest + 1):
        shares = [counter[length] / max(counter.total(), 1) for counter in counters]
        entries.append((str(length), [Cell(f"{share:.1%}", share) for share in shares]))
        largest = max(largest, *shares)
    if any(max(counter, default=1) > _LONGEST for counter in counters):
        shares = [sum(n for k, n in c.items() if k > _LONGEST) / max(c.total(), 1) for c in counters]
        entries.append((f"over {_LONGEST}", [Cell(f"{share:.1%}", share) for share in shares]))
        largest = max(largest, *shares)
    entries.append(("mean", [Cell(f"{mean:.2f}") for mean in means]))
    return Figure(title, columns, entries, largest)


def _tenths(columns: tuple[str, ...], all_of: list[Statistics]) -> Figure:
    shares = [s.by_tenth for s in all_of]
    entries = [(f"tenth {t + 1}", [Cell(f"{s[t]:.1%}", float(s[t])) for s in shares]) for t in range(len(shares[0]))]
    largest = max(float(s.max()) for s in shares)
    return Figure("ratio by place in the example, from its beginning to its end", columns, entries, largest)
