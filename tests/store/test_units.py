"""Named units go from characters to tokens and lie in the store, where the words choice makes them."""

import re

import numpy as np
import pytest

from ptcli.store import batches, blocks
from ptcli.store.prepare import prepare
from ptcli.store.store import Store
from ptcli.tokenizer.wordpiece import WordPiece
from ptcli.words.unicode import Unicode
from tests.store.test_prepare import Given, files_of

TEXT = "Ann went to New York. The York of old is not New York City, said Ann. Over. "
NAMES = re.compile("New York(?: City)?|Ann")


class Named(Unicode):
    """Names are units: of type 0 those of one word, of type 1 the others."""

    makes_units = True
    unit_types = ("short", "long")

    def units(self, document):
        found = [(m.start(), m.end(), int(" " in m[0])) for m in NAMES.finditer(document.text)]
        return np.array(found, np.int32).reshape(-1, 3)

    def identity(self):
        return {"words": "named"}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return WordPiece(vocab_size=60).build(Given([TEXT]), cache=tmp_path_factory.mktemp("tokenizer"))


def names_in(store):
    tokenizer, found = store.tokenizer(), []
    for shard in store.shards:
        first, length, kind = shard.units
        assert (np.diff(first) > 0).all()
        for at, size, number in zip(first, length, kind, strict=True):
            found.append((tokenizer.decode(shard.tokens[at : at + size]), int(number)))
    return found


@pytest.mark.parametrize("block", [50_000, 30])
@pytest.mark.parametrize("largest_shard", [1, 10_000])
def test_units_are_read_back_from_the_store(tokenizer, tmp_path, monkeypatch, block, largest_shard):
    monkeypatch.setattr(blocks, "BLOCK", block)
    monkeypatch.setattr(batches, "BATCH", 200)
    texts = [TEXT * 3, "\x00", "Nothing here.", TEXT]
    store = prepare(Given(texts), Named(), tokenizer, folder=tmp_path, largest_shard=largest_shard)
    one = [("ann", 0), ("new york", 1), ("new york city", 1), ("ann", 0)]
    assert names_in(store) == one * 4
    assert store.manifest["unit_types"] == ["short", "long"]
    assert store.manifest["counts"]["units"] == 16
    assert store.manifest["counts"]["cut_units"] == 0
    other = prepare(Given(texts), Named(), tokenizer, folder=tmp_path / "other", largest_shard=largest_shard, workers=2)
    assert files_of(other) == files_of(store)


def test_a_unit_that_two_blocks_share_is_left_out_and_counted(tokenizer, tmp_path, monkeypatch):
    """Long text that shows no end of a sentence is cut anywhere."""
    monkeypatch.setattr(blocks, "sentence_spans", lambda text, language: [(0, 16), (16, len(text))])
    monkeypatch.setattr(blocks, "BLOCK", 16)
    store = prepare(Given([TEXT]), Named(), tokenizer, folder=tmp_path)
    assert names_in(store) == [("ann", 0), ("new york city", 1), ("ann", 0)]
    assert store.manifest["counts"]["cut_units"] == 1
    assert any("1 named units begin or end inside" in remark for remark in store.manifest["remarks"])


def test_a_store_without_units_has_no_files_of_them(tokenizer, tmp_path):
    store = prepare(Given([TEXT]), Unicode(), tokenizer, folder=tmp_path)
    assert store.shards[0].units is None
    assert not list(store.folder.rglob("unit_*"))


def test_a_damaged_file_of_units_is_found(tokenizer, tmp_path):
    store = prepare(Given([TEXT]), Named(), tokenizer, folder=tmp_path)
    (store.folder / "shard-00000" / "unit_type.npy").unlink()
    with pytest.raises(Exception, match=r"unit_type\.npy .*is absent"):
        Store.open(store.folder)
