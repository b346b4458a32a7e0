"""From which score on a question is better left without an answer."""

import numpy as np


def best_threshold(scores: np.ndarray, answered: np.ndarray, unanswered: np.ndarray) -> tuple[float, float]:
    """The threshold with the best mean over N questions, and that mean, as SQuAD 2.0's script searches them
    (Rajpurkar et al. 2018, arXiv:1806.03822): a question is left without an answer where its score lies above.

    Args:
        scores: of no answer, float64 (N,); infinite where a question is left without one in any case.
        answered: what each question is worth with its answer, (N,).
        unanswered: what it is worth without, (N,).

    Of equal means the lowest threshold counts. One below all scores, which answers nothing, lies 1 below the lowest.
    The script goes through questions of one score one by one; here they are answered together, as a threshold does it.
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    gains = np.concatenate(([0.0], np.cumsum((answered - unanswered)[order])))  # of answering the first so many
    ends = np.append(np.flatnonzero(ordered[1:] > ordered[:-1]) + 1, len(ordered))  # behind the last of equal scores
    ends = ends[np.isfinite(ordered[ends - 1])]
    if not len(ends):
        return 0.0, float(unanswered.mean()) if len(unanswered) else 0.0
    places = np.concatenate(([0], ends))
    best = int(np.argmax(np.round(gains[places], 9)))
    threshold = ordered[places[best] - 1] if best else ordered[0] - 1
    return float(threshold), float((unanswered.sum() + gains[places[best]]) / len(scores))
