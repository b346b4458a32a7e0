"""What a fine-tuned model gets wrong, and whether it knows: a confusion matrix and a reliability plot, as figures."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ptcli.report.figures import Cell, Figure

_MOST_LABELS = 12  # of a matrix; more labels make a list of what is confused
_MOST_CONFUSIONS = 20
_BINS = 10


def confusion(true: Sequence[str], answered: Sequence[str], *, labels: Sequence[str]) -> Figure:
    """How often each label was answered where each was true; for many labels, which are taken for which most often.

    `true`, `answered`: a label for each row.
    """
    pairs = Counter(zip(true, answered, strict=True))
    rows = Counter(true)
    if len(labels) <= _MOST_LABELS:
        entries = [(f"{one} ({rows[one]:,})", [Cell(f"{pairs[one, other]:,}") for other in labels]) for one in labels]
        return Figure("confusion: true label (rows), answered label (columns)", tuple(labels), entries)
    wrong = [(pair, number) for pair, number in pairs.most_common() if pair[0] != pair[1]]
    shown = wrong[:_MOST_CONFUSIONS]
    entries = [
        (f"{one} answered as {other}", [Cell(f"{n:,} of {rows[one]:,}", n / rows[one])]) for (one, other), n in shown
    ]
    title = f"confusions of {len(labels)} labels, the {len(shown)} most frequent of {len(wrong):,}"
    return Figure(title, ("rows",), entries, largest=1.0)


def reliability(confidence: np.ndarray, right: np.ndarray) -> Figure:
    """Of the answers given with a probability of 0.8 to 0.9, is 0.8 to 0.9 right? Ten bins, and the mean distance.

    Expected calibration error: Guo et al. 2017 (arXiv:1706.04599). `confidence`: the answer's probability, in [0, 1],
    (N,); `right`: whether it was right, (N,).
    """
    places = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
    entries, distance = [], 0.0
    for place in range(_BINS):
        here = places == place
        if number := int(here.sum()):
            share, mean = float(right[here].mean()), float(confidence[here].mean())
            distance += number / len(places) * abs(share - mean)
            cells = [Cell(f"{share:.1%} of {number:,}", share)]
            entries.append((f"said {mean:.1%} ({place / _BINS:.1f} to {(place + 1) / _BINS:.1f})", cells))
    title = f"reliability: how many answers are right, by their probability (calibration error {distance:.3f})"
    return Figure(title, ("right",), entries, largest=1.0)
