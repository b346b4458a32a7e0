from html.parser import HTMLParser

from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.report.page import page
from tests.report.drawn import examples_of, masked_at, rows_of
from tests.report.test_statistics import counted


class Reader(HTMLParser):
    """Collects tags with their classes, and text."""

    void = ("meta", "link", "br")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts, self.classes = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.classes += (dict(attrs).get("class") or "").split()
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(text="[CLS] un-believ-able cats sleep [SEP]", title="ptcli view", names=("mine",)):
    examples, tokens = examples_of(text)
    masked = masked_at(examples, {1: MASKED, 2: MASKED, 4: RANDOM, 5: KEPT}, shown={1: 0, 2: 0, 4: 3}, units=[1, 4, 5])
    rows = rows_of(examples, tokens, dict.fromkeys(names, masked))
    statistics = {name: counted(examples, masked) for name in names}
    told = "".join(
        page(rows, statistics, title=title, notes=["a note"], columns=(), mask_token="[MASK]", max_length=16)
    )
    reader = Reader()
    reader.feed(told)
    assert not reader.open
    return told, reader


def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere():
    told, reader = read()
    assert not {"script", "img", "link", "iframe"} & set(reader.tags)
    assert "http" not in told and "url(" not in told and "@import" not in told
    assert {"masked", "random", "kept", "special", "piece"} <= set(reader.classes)
    text = "".join(reader.texts)
    assert "row 1" in text and "6 of 16" not in text and "7 of 16 positions" in text


def test_everything_from_outside_is_escaped():
    evil = "<script>alert(1)</script>&\"'\x1b"
    told, reader = read(f"[CLS] {evil}-b-c cats <b> [SEP]", title=evil, names=(evil,))
    assert "script" not in reader.tags and "b" not in reader.tags
    assert "\x1b" not in told
    assert "".join(reader.texts).count("<script>alert(1)</script>") >= 3


def test_masks_stand_side_by_side():
    _, reader = read(names=("token", "span"))
    assert reader.classes.count("mask") == 2
    assert [text for text in reader.texts if text in ("token", "span")][:2] == ["token", "span"]
