"""What can be reached without a model: the losses that every masked language model is held against.

Both know only how often each token occurs in training. `unigram` does not even look at the input; `no_context` looks at
the one token that is shown at the scored position, and is the best that any predictor can do without its neighbours.
All losses are in nats; arrays of losses can be summed over batches.
"""

import math
from collections.abc import Sequence

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.tokenizer.vocabulary import Vocabulary


def unigram_probabilities(counts: np.ndarray, *, vocabulary: Vocabulary) -> np.ndarray:
    """Training frequencies of the ordinary ids with one added to each count, float64 (V,); 0 at all other ids."""
    smoothed = np.where(vocabulary.special, 0.0, np.asarray(counts, np.float64) + 1.0)
    return smoothed / smoothed.sum()


def unigram_losses(labels: np.ndarray, *, counts: np.ndarray, vocabulary: Vocabulary) -> np.ndarray:
    """-log p(label) of each label, float64 (N,), always guessing the training frequencies.

    `labels` are ordinary ids, without IGNORE_INDEX; `counts` are the training counts of all ids, (V,).
    """
    return -np.log(_probabilities_of(labels, unigram_probabilities(counts, vocabulary=vocabulary)))


def no_context_losses(
    input_ids: np.ndarray,
    labels: np.ndarray,
    *,
    counts: np.ndarray,
    replace: Sequence[float],
    vocabulary: Vocabulary,
    unrelated: np.ndarray | None = None,
) -> np.ndarray:
    """-log p(label | the token shown there) of each scored position, float64 (N,).

    At the mask token this is the unigram loss. Where another token x is shown, either it was kept, with chance
    keep * p(x), and is the label, or it was drawn at random, with chance random * `unrelated`[x], and tells nothing.
    `replace` holds the shares [mask, random, keep] that the positions were made with; `unrelated` float64 (V,) sums to
    1, and None is the same chance for all ordinary ids.
    """
    if unrelated is None:
        unrelated = ~vocabulary.special / np.count_nonzero(~vocabulary.special)
    probabilities = unigram_probabilities(counts, vocabulary=vocabulary)
    of_label = _probabilities_of(labels, probabilities)
    shown = np.asarray(input_ids)
    _, random_share, keep_share = replace
    kept = keep_share * probabilities[shown]
    drawn = random_share * unrelated[shown]
    unmasked = (shown != vocabulary.mask_token_id) & (kept + drawn > 0)
    posterior = np.divide(
        kept * (shown == labels) + drawn * of_label, kept + drawn, out=of_label.copy(), where=unmasked
    )
    with np.errstate(divide="ignore"):  # infinite where `replace` rules out what is seen
        return -np.log(posterior)


def unigram_loss(labels: np.ndarray, *, counts: np.ndarray, vocabulary: Vocabulary) -> float:
    """Mean of `unigram_losses` over the scored ones of `labels` (of any shape, IGNORE_INDEX elsewhere); nan without."""
    scored = np.asarray(labels)[np.asarray(labels) != IGNORE_INDEX]
    return _mean(unigram_losses(scored, counts=counts, vocabulary=vocabulary))


def no_context_loss(
    input_ids: np.ndarray,
    labels: np.ndarray,
    *,
    counts: np.ndarray,
    replace: Sequence[float],
    vocabulary: Vocabulary,
) -> float:
    """Mean of `no_context_losses` over the scored positions of two arrays of one shape; nan without any."""
    scored = np.asarray(labels) != IGNORE_INDEX
    losses = no_context_losses(
        np.asarray(input_ids)[scored],
        np.asarray(labels)[scored],
        counts=counts,
        replace=replace,
        vocabulary=vocabulary,
    )
    return _mean(losses)


def _probabilities_of(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    of_label = probabilities[labels]
    assert (of_label > 0).all(), "a label is never a special id"
    return of_label


def _mean(losses: np.ndarray) -> float:
    return float(losses.mean()) if losses.size else math.nan
