"""Rows and statistics as lines for a terminal, a pipe or a text file; what colours say, signs say too."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from ptcli.batch.contract import Column
from ptcli.report.figures import Figure, figures_of
from ptcli.report.rows import ShownExample, ShownRow, joins, printable, unit_goes_on
from ptcli.report.statistics import Statistics

STYLES = {
    "masked": "bold white on blue",
    "random": "black on yellow",
    "kept": "black on green",
    "permuted": "black on magenta",
}
_SPECIAL, _WORDS = "dim", "dim"
_SIGNS = {"masked": "_", "kept": "="}  # repeated under the token; other kinds show what is read in its place


def legend(mask_token: str, *, permuted: bool = False) -> Text:
    """What the signs under the text mean; `permuted`: tokens are shown in each other's places too."""
    return Text.assemble(
        "under the text: ",
        ("___", STYLES["masked"]),
        f" shown as {mask_token}, ",
        ("word", STYLES["random"]),
        " shown as this random token, ",
        ("===", STYLES["kept"]),
        " kept and scored",
        *((", ", ("~word", STYLES["permuted"]), " shown as this token of the example") if permuted else ()),
        ". Signs that touch are one unit; ",
        ("·", _WORDS),
        " joins the tokens of a word.",
    )


def draw_row(row: ShownRow, *, width: int, max_length: int) -> Iterator[Text]:
    """The lines of one row, none wider than `width` cells unless one token alone is."""
    number = f", {len(row.examples)} examples" if len(row.examples) > 1 else ""
    yield Text(f"row {row.number}: {row.num_tokens} of {max_length} positions{number}", style="bold")
    for place, example in enumerate(row.examples, start=1):
        words = [f"example {place} of {len(row.examples)}"] if len(row.examples) > 1 else []
        words += [f"{name}: {label}" for name, label in example.labels.items()]
        if words:
            yield Text(_ruled(", ".join(words), width))
        yield from _draw_example(example, width)


def draw_statistics(statistics: Mapping[str, Statistics], *, columns: Sequence[Column], width: int) -> Group:
    """Tables and small plots, a column for each mask."""
    return draw_figures(figures_of(statistics, columns=columns), width=width)


def draw_figures(figures: Iterable[Figure], *, width: int) -> Group:
    """Figures one below the other, each with its title."""
    parts: list[RenderableType] = []
    for figure in figures:
        parts += [Text(""), *_draw_figure(figure, width)]
    return Group(*parts)


def _draw_example(example: ShownExample, width: int) -> Iterator[Text]:
    names = list(example.masks)
    gutter = max([3, *(cell_len(name) + 2 for name in names)]) if len(names) > 1 else 3
    for line in _lines(example, width - gutter):
        lead = chr(ord("A") + example.segments[line[0]]) if len(set(example.segments)) > 1 else ""
        yield _padded(lead, gutter) + _text_line(example, line)
        for name in names:
            drawn = _mask_line(example, name, line)
            if len(names) > 1:
                yield _padded(name, gutter) + drawn
            elif drawn.plain:
                yield _padded("", gutter) + drawn


def _lines(example: ShownExample, room: int) -> Iterator[list[int]]:
    """The places of the tokens of each line: words stay whole where they fit, a segment begins a line."""
    line: list[int] = []
    used = 0
    for word in _words(example):
        new_segment = bool(line) and example.segments[word[0]] != example.segments[line[-1]]
        needed = 1 + sum(_cell_width(example, place) + 1 for place in word)
        if line and (new_segment or (used + needed > room and needed <= room)):
            yield line
            line, used = [], 0
        for place in word:
            needed = 1 + _cell_width(example, place)
            if line and used + needed > room:
                yield line
                line, used = [], 0
            line.append(place)
            used += needed
    if line:
        yield line


def _words(example: ShownExample) -> Iterator[list[int]]:
    word: list[int] = []
    for place in range(len(example.ids)):
        if word and not joins(example, place):
            yield word
            word = []
        word.append(place)
    if word:
        yield word


def _cell_width(example: ShownExample, place: int) -> int:
    shown = [_under(mask.kinds[place], mask.shown[place]) for mask in example.masks.values()]
    return max(1, *(cell_len(printable(text)) for text in (example.texts[place], *shown)))


def _under(kind: str, shown: str) -> str:
    return {"random": shown, "permuted": f"~{shown}"}.get(kind, "")


def _text_line(example: ShownExample, line: list[int]) -> Text:
    text = Text()
    only = next(iter(example.masks.values())) if len(example.masks) == 1 else None
    for place in line:
        joined = joins(example, place)
        if joined or place != line[0]:
            text.append("·" if joined else " ", style=_WORDS)
        kind = only.kinds[place] if only else ""
        style = STYLES.get(kind, _SPECIAL if example.special[place] else "")
        token = printable(example.texts[place])
        text.append(token, style=style)
        text.append(" " * (_cell_width(example, place) - cell_len(token)))
    text.rstrip()
    return text


def _mask_line(example: ShownExample, name: str, line: list[int]) -> Text:
    mask, text = example.masks[name], Text()
    for place in line:
        kind, style = mask.kinds[place], STYLES.get(mask.kinds[place], "")
        goes_on = unit_goes_on(mask, place)
        if joins(example, place) or place != line[0]:
            sign = _SIGNS.get(kind, "-") if goes_on else " "
            text.append(sign, style=style if goes_on else "")
        width = _cell_width(example, place)
        if kind and kind not in _SIGNS:
            token = printable(_under(kind, mask.shown[place]))
            text.append(token, style=style)
            text.append(" " * (width - cell_len(token)))
        else:
            own = max(1, cell_len(printable(example.texts[place])))
            text.append(_SIGNS.get(kind, " ") * own, style=style)
            text.append(" " * (width - own))
    text.rstrip()
    return text


def _padded(name: str, width: int) -> Text:
    return Text.assemble((name, "cyan"), " " * (width - cell_len(name)))


def _ruled(words: str, width: int) -> str:
    return f"-- {words} " + "-" * max(0, min(width, 100) - cell_len(words) - 4)


def _draw_figure(figure: Figure, width: int) -> Iterator[Text]:
    """A title, then a line for each entry: its name, and for each mask a figure with or without a bar."""
    yield from (Text(part, style="bold") for part in textwrap.wrap(figure.title, max(width, 10)))
    names = figure.columns
    first = max([cell_len(name) for name, _ in figure.entries] + [0]) + 2
    widest = max([cell_len(cell.text) for _, cells in figure.entries for cell in cells] + [cell_len(n) for n in names])
    room = max((min(width, 100) - first) // max(len(names), 1) - 2, 0)
    bar = max(room - widest - 1, 0) if figure.largest else 0
    column = max(widest + (bar + 1 if bar else 0), 1) + 2
    heading = " " * first + "".join(name + " " * (column - cell_len(name)) for name in names)
    if len(names) > 1 and cell_len(heading.rstrip()) <= width:
        yield Text(heading.rstrip(), "cyan")
    for name, cells in figure.entries:
        line = Text(name + " " * (first - cell_len(name)))
        for cell in cells:
            drawn = cell.text.rjust(widest) if figure.largest else cell.text
            length = round(bar * cell.share / figure.largest) if figure.largest else 0
            line.append(drawn + " ")
            line.append("#" * length, style="blue")
            line.append(" " * max(column - cell_len(drawn) - 1 - length, 0))
        line.rstrip()
        if line.cell_len <= width:
            yield line
        else:  # a narrow terminal: one below the other
            yield Text(name)
            yield from (Text(f"  {mask}: {cell.text}") for mask, cell in zip(names, cells, strict=True))


def console_for(file: object | None = None) -> Console:
    """A console that keeps NO_COLOR and pipes; into `file` it writes plain text, 100 cells wide."""
    if file is None:
        return Console(highlight=False, soft_wrap=True)
    return Console(file=file, highlight=False, soft_wrap=True, no_color=True, width=100)  # type: ignore[arg-type]
