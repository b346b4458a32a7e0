import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from ptcli.mask.examples import KEPT, MASKED, PERMUTED, RANDOM
from ptcli.report.rows import is_permuted
from ptcli.report.statistics import Statistics
from ptcli.report.terminal import draw_row, draw_statistics, legend
from tests.report.drawn import PAIRS, examples_of, masked_at, rows_of
from tests.report.test_statistics import counted


def drawn(row, width=80):
    return [line.plain for line in draw_row(row, width=width, max_length=16)]


def example_row(text="[CLS] un-believ-able cats sleep [SEP]", name="mine", **more):
    examples, names = examples_of(text)
    masked = masked_at(examples, {1: MASKED, 2: MASKED, 4: RANDOM, 5: KEPT}, shown={1: 0, 2: 0, 4: 3}, units=[1, 4, 5])
    (row,) = rows_of(examples, names, {name: masked, **dict.fromkeys(more, masked)})
    return row


def test_signs_stand_under_the_text_and_units_are_joined():
    assert drawn(example_row())[1:] == [
        "   [CLS] un·believ·able cats   sleep [SEP]",
        "         _________      believ =====",
    ]


def test_wide_characters_align():
    _, text, signs = drawn(example_row("[CLS] 自-然-语 言 处 [SEP]"))
    assert text == "   [CLS] 自·然·语 言 处 [SEP]"
    assert signs == "         _____    然 =="
    assert cell_len(text[: text.index("言")]) == cell_len(signs[: signs.index("然")])


@pytest.mark.parametrize("width", [20, 32, 60])
def test_no_line_is_wider_than_the_terminal_and_no_token_is_lost(width):
    text = "[CLS] " + " ".join(["un-believ-able cats sleep 自-然"] * 6) + " [SEP]"
    examples, names = examples_of(text)
    masked = masked_at(examples, {1: MASKED, 2: MASKED}, shown={1: 0, 2: 0}, units=[1])
    (row,) = rows_of(examples, names, {"mine": masked})
    lines = drawn(row, width)[1:]
    assert max(map(cell_len, lines)) <= width
    told = " ".join(line.strip() for line in lines if "_" not in line)
    assert told.replace(" ", "").replace("·", "") == text.replace(" ", "").replace("-", "")


def test_several_masks_stand_under_one_text():
    lines = drawn(example_row(name="token", span=None))
    assert [line.split(" ")[0] for line in lines[2:]] == ["token", "span"]
    assert len({line.index("_") for line in lines[2:]}) == 1


def test_borders_of_packed_examples_and_pair_labels_are_told():
    examples, names = examples_of("[CLS] a [SEP] b [SEP]", "[CLS] c [SEP]")
    masked = masked_at(examples, {}, shown={}, units=[])
    segments = np.array([0, 0, 0, 1, 1, 0, 0, 0], np.uint8)
    (row,) = rows_of(examples, names, {"m": masked}, rows=[0, 0], segments=segments, pair_labels=np.array([1, 0]))
    lines = drawn(row)
    assert lines[0] == "row 1: 8 of 16 positions, 2 examples"
    assert lines[1].startswith("-- example 1 of 2, pair: swapped ---")
    assert lines[2:4] == ["A  [CLS] a [SEP]", "B  b [SEP]"]
    assert lines[4].startswith("-- example 2 of 2, pair: in_order")


def test_escape_codes_in_the_text_do_not_reach_the_terminal():
    assert not any("\x1b" in line for line in drawn(example_row("[CLS] \x1b[31mun-b-c cats \x07x [SEP]")))


def printed(renderable, **settings):
    file = io.StringIO()
    Console(file=file, highlight=False, **settings).print(renderable)
    return file.getvalue()


@pytest.mark.parametrize("width", [30, 80])
def test_statistics_fit_the_width_and_bars_are_shares(width):
    examples, _ = examples_of("[CLS] un-believ-able cats sleep [SEP]")
    masked = masked_at(examples, {1: MASKED, 2: MASKED, 5: KEPT}, shown={}, units=[1, 5])
    statistics = {"mine": counted(examples, masked)}
    five = draw_statistics({f"mask {n}": statistics["mine"] for n in range(5)}, columns=(), width=width)
    assert max(map(len, printed(five, width=200).splitlines())) <= width
    text = printed(draw_statistics(statistics, columns=(), width=width), width=width)
    assert max(map(len, text.splitlines())) <= width
    bars = {line.split()[0]: line.count("#") for line in text.split("by tokens")[1].splitlines() if line[:1].isdigit()}
    assert bars["1"] == bars["2"]
    assert ("kept" in text) and ("asked 80%" in text)
    assert "\x1b" not in text


def test_an_empty_count_is_drawn_without_dividing_by_zero():
    assert "0 examples" in printed(draw_statistics({"m": Statistics()}, columns=(PAIRS,), width=80), width=80)


def test_only_what_is_selected_is_coloured_and_no_color_is_kept():
    lines = list(draw_row(example_row(), width=80, max_length=16))[1:]
    told = printed(lines[0], width=80, force_terminal=True, color_system="standard", no_color=False)
    styled = [part.split("\x1b[0m")[0] for part in told.split("m", 1)[1].split("\x1b[1;37;44m")[1:]]
    assert styled == ["un", "believ"]
    assert "\x1b[30;43mcats" in told and "\x1b[30;42msleep" in told and "\x1b[36m" not in told
    assert "4m" not in printed(lines[1], width=80, force_terminal=True, color_system="standard", no_color=True)


def test_permuted_tokens_are_told_from_random_ones():
    examples, names = examples_of("[CLS] cats dogs sleep [SEP]")
    masked = masked_at(examples, {1: PERMUTED, 2: PERMUTED, 3: RANDOM}, shown={1: 3, 2: 2, 3: 1}, units=[1, 2, 3])
    (row,) = rows_of(examples, names, {"mine": masked})
    assert drawn(row)[1:] == ["   [CLS] cats  dogs  sleep [SEP]", "         ~dogs ~cats [CLS]"]
    assert "~word" in legend("[MASK]", permuted=is_permuted([row])).plain
    assert "~word" not in legend("[MASK]").plain
