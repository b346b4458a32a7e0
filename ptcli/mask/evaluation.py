"""The fixed mask that every run is evaluated under."""

from dataclasses import replace

import numpy as np

from ptcli.mask.examples import Examples, Masked
from ptcli.mask.token import TokenMask


class EvaluationMask(TokenMask):
    """Tokens one by one, but only those that are words by themselves: a task that every strategy trains for.

    A model trained on whole words or spans has never seen a word masked in part. Asked to, it is sure that what follows
    a whole piece begins a word, and its loss exceeds the unigram loss however much it has learnt: after 2,400 steps of
    spans at a vocabulary of 1,024, 8.9 nats at inner pieces and 3.7 at words of one piece (docs/evaluation.md). Where
    no words are known every token is one.
    """

    def __call__(self, examples: Examples, *, seed: int, epoch: int, step: int | None = 0) -> Masked:
        """`ratio` of the tokens of each example that are whole words is selected, and no other."""
        return super().__call__(
            replace(examples, maskable=examples.maskable & _are_words(examples)), seed=seed, epoch=epoch, step=step
        )


def _are_words(examples: Examples) -> np.ndarray:
    ends = np.append(examples.word_starts[1:] | ~examples.maskable[1:], np.ones(min(1, len(examples.tokens)), bool))
    return examples.word_starts & ends
