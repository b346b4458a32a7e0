import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from ptcli.mask.baselines import (
    no_context_loss,
    no_context_losses,
    unigram_loss,
    unigram_losses,
    unigram_probabilities,
)
from ptcli.mask.examples import Examples
from ptcli.mask.token import TokenMask
from ptcli.tokenizer.vocabulary import Layout, Vocabulary
from tests.mask.synthetic import IGNORE, MASK, one_body, vocabulary

REPLACE = (0.8, 0.1, 0.1)


def zipf(size: int) -> np.ndarray:
    counts = (1e6 / np.arange(1, size + 1)).astype(np.int64)
    counts[vocabulary(size=size).special] = 0
    return counts


def masked_text(counts, replace, copies=3000):
    """Independent tokens with the frequencies `counts`, masked: no neighbour tells anything here."""
    batch = one_body([1] * 100, copies=copies)
    tokens = batch.tokens.copy()
    tokens[batch.maskable] = np.random.default_rng(0).choice(len(counts), batch.maskable.sum(), p=counts / counts.sum())
    batch = Examples(tokens, batch.offsets, batch.maskable, batch.word_starts, batch.keys)
    masked = TokenMask(vocabulary=vocabulary(size=len(counts)), replace=replace, ratio=0.5)(batch, seed=0, epoch=0)
    return masked.input_ids, masked.labels


def test_probabilities_are_smoothed_over_ordinary_ids_only():
    counts = np.zeros(200, np.int64)
    counts[[0, MASK]] = 99, 1000
    probabilities = unigram_probabilities(counts, vocabulary=vocabulary())
    assert probabilities.sum() == pytest.approx(1)
    assert probabilities[MASK] == 0
    assert probabilities[0] / probabilities[1] == pytest.approx(100)


def test_unigram_loss_is_the_entropy_of_the_text():
    counts = zipf(200)
    _, labels = masked_text(counts, REPLACE)
    p = counts[counts > 0] / counts.sum()
    entropy = -(p * np.log(p)).sum()
    assert unigram_loss(labels, counts=counts, vocabulary=vocabulary()) == pytest.approx(entropy, abs=0.01)
    assert unigram_losses(np.array([0, 0]), counts=counts, vocabulary=vocabulary()).shape == (2,)


@pytest.mark.parametrize("replace", [REPLACE, (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.2, 0.5, 0.3), (0.5, 0, 0.5)])
def test_no_predictor_without_context_does_better(replace):
    """The best table P(label | shown), fitted to these very positions, is better by its over-fitting only."""
    counts = zipf(40)
    vocab = vocabulary(size=40)
    shown, labels = masked_text(counts, replace, copies=20_000)
    loss = no_context_loss(shown, labels, counts=counts, replace=replace, vocabulary=vocab)
    scored = labels != IGNORE
    table = np.zeros((40, 40))
    np.add.at(table, (shown[scored], labels[scored]), 1)
    fitted = table / np.maximum(table.sum(1, keepdims=True), 1)
    best = -np.log(fitted[shown[scored], labels[scored]]).mean()
    cells = (table > 0).sum()
    assert best <= loss + 1e-6
    assert loss - best < 2 * cells / scored.sum() + 1e-4
    assert loss <= unigram_loss(labels, counts=counts, vocabulary=vocab) + 1e-3


def test_at_the_mask_token_it_is_the_unigram_loss():
    counts, labels = zipf(200), np.array([0, 5, 150])
    assert np.allclose(
        no_context_losses(np.full(3, MASK), labels, counts=counts, replace=REPLACE, vocabulary=vocabulary()),
        unigram_losses(labels, counts=counts, vocabulary=vocabulary()),
    )


def test_sums_over_batches_are_the_whole():
    counts = zipf(200)
    shown, labels = masked_text(counts, REPLACE, copies=100)
    scored = labels != IGNORE
    losses = no_context_losses(shown[scored], labels[scored], counts=counts, replace=REPLACE, vocabulary=vocabulary())
    whole = no_context_loss(shown, labels, counts=counts, replace=REPLACE, vocabulary=vocabulary())
    assert losses.mean() == pytest.approx(whole)
    grid = no_context_loss(
        shown.reshape(100, -1), labels.reshape(100, -1), counts=counts, replace=REPLACE, vocabulary=vocabulary()
    )
    assert grid == pytest.approx(whole)


def test_without_scored_positions_there_is_no_loss():
    nothing = np.full(5, IGNORE)
    assert math.isnan(unigram_loss(nothing, counts=zipf(200), vocabulary=vocabulary()))
    assert math.isnan(no_context_loss(nothing, nothing, counts=zipf(200), replace=REPLACE, vocabulary=vocabulary()))


@pytest.mark.data
def test_nine_novels_have_the_known_baselines():
    """Unigram 5.98 and context-free 5.49 nats for WordPiece of 1,024 ids and 80/10/10."""
    tokenizers = pytest.importorskip("tokenizers")
    folder = Path(os.environ.get("PTCLI_DATA", "/nowhere")) / "corpora" / "en" / "gutenberg"
    if not folder.is_dir():
        pytest.skip("set PTCLI_DATA to the folder of the real corpora")
    lines = [
        line
        for path in sorted(folder.rglob("*.txt"))
        for line in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace"))
    ]
    tokenizer = tokenizers.BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(lines, vocab_size=1024, show_progress=False)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    special = np.zeros(tokenizer.get_vocab_size(), bool)
    special[[tokenizer.token_to_id(name) for name in specials]] = True
    ids = np.concatenate([e.ids for e in tokenizer.encode_batch(lines, add_special_tokens=False)]).astype(np.int32)
    mask_id = tokenizer.token_to_id("[MASK]")
    vocab = Vocabulary(len(special), 0, mask_id, None, None, None, special, Layout((), (), ()))
    counts = np.bincount(ids, minlength=len(special))
    ids = ids[: len(ids) // 64 * 64]
    batch = Examples(
        tokens=ids,
        offsets=np.arange(0, len(ids) + 1, 64),
        maskable=~special[ids],
        word_starts=np.ones(len(ids), bool),
        keys=np.arange(len(ids) // 64, dtype=np.uint64),
    )
    masked = TokenMask(vocabulary=vocab)(batch, seed=0, epoch=0)
    unigram = unigram_loss(masked.labels, counts=counts, vocabulary=vocab)
    no_context = no_context_loss(masked.input_ids, masked.labels, counts=counts, replace=REPLACE, vocabulary=vocab)
    assert unigram == pytest.approx(5.98, abs=0.03)
    assert no_context == pytest.approx(5.49, abs=0.03)
