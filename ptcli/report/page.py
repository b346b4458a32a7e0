"""Rows and statistics as one HTML page that needs no other file; everything from the text is escaped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from ptcli.batch.contract import Column
from ptcli.report.figures import Figure, figures_of
from ptcli.report.rows import ShownExample, ShownRow, is_permuted, joins, printable, unit_goes_on
from ptcli.report.statistics import Statistics

_STYLE = """
:root { --ink: #1d2430; --paper: #ffffff; --soft: #667085; --line: #d5dae3; --card: #f7f8fa;
  --masked: #2454b8; --random: #f3c14b; --kept: #9bd3a5; --permuted: #d3a5e0; --bar: #7d9ee0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --paper: #14171d; --soft: #98a2b3; --line: #343b48;
  --card: #1c2029; --masked: #5b8af0; --random: #c99a2e; --kept: #4f9960; --permuted: #9a66ab; --bar: #4c6fb5; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 1.5rem; max-width: 88rem; }
h1 { font-size: 1.1rem; font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.6rem 0 .5rem; } h2 small, .caption { color: var(--soft); font-weight: normal; }
h3 { font-size: .9rem; margin: 0 0 .3rem; color: var(--soft); }
.masks { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: .8rem; }
.mask { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; }
.example + .example { border-top: 2px dashed var(--line); margin-top: .6rem; padding-top: .6rem; }
.caption { font-size: .85rem; }
p.segment { margin: .2rem 0; line-height: 2; overflow-wrap: anywhere; }
p.segment > b { color: var(--soft); margin-right: .4rem; }
.t { border-bottom: 1px solid var(--line); padding: .08em 0; }
.piece { border-left: 1px dotted var(--soft); }
.special { color: var(--soft); font-size: .8em; border-bottom: 0; }
.masked, .random, .kept, .permuted { padding: .08em 0; border-bottom: 1px solid transparent; }
.masked { background: var(--masked); color: #fff; } .random { background: var(--random); color: #1d2430; }
.kept { background: var(--kept); color: #10301a; } .permuted { background: var(--permuted); color: #2c1333; }
s { opacity: .65; } ins { text-decoration: none; font-weight: 600; }
.legend span { padding: .1em .4em; margin-right: .3em; border-radius: 3px; }
table { border-collapse: collapse; margin: .3rem 0; } th { text-align: left; font-weight: 600; }
td, th { padding: .1rem 1.2rem .1rem 0; vertical-align: top; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: inline-block; height: .7em; background: var(--bar); margin-left: .5em; }
.figures section { overflow-x: auto; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 0 2rem; }
"""
_BAR = 15.0  # em that the longest bars of all columns take together
_REPLACED = ("random", "permuted")


_PERMUTED = '<span class="permuted"><s>word</s> <ins>shown as this token of the example</ins></span>'


def page(
    rows: Iterable[ShownRow],
    statistics: Mapping[str, Statistics],
    *,
    title: str,
    notes: Sequence[str],
    columns: Sequence[Column],
    mask_token: str,
    max_length: int,
) -> Iterator[str]:
    """The page in parts. `title`: the command; `notes`: sentences below it."""
    yield _head(title)
    yield "".join(f'<div class="caption">{_safe(note)}</div>\n' for note in notes)
    rows = list(rows)
    yield _legend(mask_token, permuted=is_permuted(rows))
    for row in rows:
        yield _row(row, max_length)
    yield '<div class="figures">\n'
    yield from (_figure(figure) for figure in figures_of(statistics, columns=columns))
    yield "</div>\n</body></html>\n"


def figures_page(figures: Iterable[Figure], *, title: str, notes: Sequence[str]) -> Iterator[str]:
    """A page of figures alone, in parts."""
    yield _head(title)
    yield "".join(f'<div class="caption">{_safe(note)}</div>\n' for note in notes)
    yield '<div class="figures">\n'
    yield from (_figure(figure) for figure in figures)
    yield "</div>\n</body></html>\n"


def _head(title: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_safe(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{_safe(title)}</h1>\n"
    )


def _legend(mask_token: str, *, permuted: bool) -> str:
    return (
        f'<p class="legend"><span class="masked">shown as {_safe(mask_token)}</span>'
        '<span class="random"><s>word</s> <ins>shown as this random token</ins></span>'
        '<span class="kept">kept and scored</span>'
        f"{_PERMUTED if permuted else ''}"
        " A line under the text is a word, a dotted stroke divides its "
        "tokens; colour without a gap is one unit.</p>\n"
    )


def _row(row: ShownRow, max_length: int) -> str:
    number = f", {len(row.examples)} examples" if len(row.examples) > 1 else ""
    names = list(row.examples[0].masks)
    masks = []
    for name in names:
        drawn = "".join(_example(example, name, place, len(row.examples)) for place, example in enumerate(row.examples))
        heading = f"<h3>{_safe(name)}</h3>" if len(names) > 1 else ""
        masks.append(f'<div class="mask">{heading}{drawn}</div>')
    return (
        f"<section><h2>row {row.number} <small>{row.num_tokens} of {max_length} positions{number}</small></h2>"
        f'<div class="masks">{"".join(masks)}</div></section>\n'
    )


def _example(example: ShownExample, name: str, place: int, number: int) -> str:
    words = [f"example {place + 1} of {number}"] if number > 1 else []
    words += [f"{name}: {label}" for name, label in example.labels.items()]
    caption = f'<div class="caption">{_safe(", ".join(words))}</div>' if words else ""
    return f'<div class="example">{caption}{"".join(_segments(example, name))}</div>'


def _segments(example: ShownExample, name: str) -> Iterator[str]:
    first = 0
    for place in range(1, len(example.ids) + 1):
        if place == len(example.ids) or example.segments[place] != example.segments[first]:
            letter = f"<b>{chr(ord('A') + example.segments[first])}</b>" if len(set(example.segments)) > 1 else ""
            yield f'<p class="segment">{letter}{"".join(_tokens(example, name, first, place))}</p>'
            first = place


def _tokens(example: ShownExample, name: str, first: int, last: int) -> Iterator[str]:
    mask = example.masks[name]
    for place in range(first, last):
        kind, joined = mask.kinds[place], joins(example, place)
        if place > first and not joined:
            yield f'<span class="{kind}"> </span>' if unit_goes_on(mask, place) else " "
        names = ["t", *(["special"] if example.special[place] else []), *([kind] if kind else [])]
        names += ["piece"] if joined else []
        text = _safe(example.texts[place])
        drawn = f"<s>{text}</s> <ins>{_safe(mask.shown[place])}</ins>" if kind in _REPLACED else text
        told = f' title="shown: {_safe(mask.shown[place])}"' if kind else ""
        yield f'<span class="{" ".join(names)}"{told}>{drawn}</span>'


def _figure(figure: Figure) -> str:
    headings = "".join(f"<th>{_safe(name)}</th>" for name in figure.columns) if len(figure.columns) > 1 else ""
    head = f"<tr><th></th>{headings}</tr>" if headings else ""
    body = []
    for name, cells in figure.entries:
        share = 1 / (figure.largest * len(cells)) if figure.largest else 0.0
        drawn = "".join(f"<td>{_safe(cell.text)}{_bar(cell.share * share)}</td>" for cell in cells)
        body.append(f"<tr><td>{_safe(name)}</td>{drawn}</tr>")
    return f"<section><h2>{_safe(figure.title)}</h2><table>{head}{''.join(body)}</table></section>\n"


def _bar(share: float) -> str:
    return f'<span class="bar" style="width:{_BAR * share:.2f}em"></span>' if share else ""


def _safe(text: str) -> str:
    return escape(printable(text))
