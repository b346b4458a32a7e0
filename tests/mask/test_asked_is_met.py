"""Settings drawn at random: the share that is asked for is the share that is reached, in every tenth of an example.

Bounds are five standard errors of what is summed up, estimated from the examples themselves, and nothing else: no
tolerance hides a systematic error. With `at_least_one` an example takes max(budget, its shortest atom) on average,
evenly where its budget is at least its mean atom; shorter examples prefer short atoms, wherever they stand.
"""

import numpy as np
import pytest

from tests.mask.strategies import KINDS, atoms_of, budgets_of, make
from tests.mask.synthetic import IGNORE, examples, per_example

NUMBER = 4000  # examples of a drawing


def drawing(number):
    """A kind of mask with settings, and examples, of one random generator."""
    random = np.random.default_rng([7, number])
    kind = list(KINDS)[number % len(KINDS)]
    budget = str(random.choice(budgets_of(kind)))
    ratio = float(random.choice([0.02, 0.05, 0.15, 0.3, 0.45]))
    options = {"budget": budget, "ratio": ratio, "at_least_one": bool(random.random() < 0.5)}
    if kind.startswith("span"):
        options |= {"p": float(random.choice([0.05, 0.2, 0.6])), "max_words": int(random.choice([3, 10, 40]))}
    if kind == "ngram":
        options |= {"max_ngram": int(random.choice([2, 5, 8])), "favor": str(random.choice(["short", "uniform"]))}
    if random.random() < 0.3:
        options["copies"] = 3
    shortest = int(random.choice([1, 5, 20]))
    lengths = random.integers(shortest, shortest + int(random.choice([2, 30, 150])), NUMBER)
    pieces = float(random.choice([0.3, 0.7, 1.0]))  # share of tokens that begin a word
    batch = examples(lengths, seed=number, pairs=bool(random.random() < 0.5), word_start_share=pieces)
    return kind, options, batch


def expected_counts(mask, batch, *, ratio, budget, at_least_one):
    """What each example should have selected on average, by ptcli/mask/budget.py, and whether evenly."""
    sizes = per_example(batch.maskable, batch)
    asked = np.rint(ratio * sizes) if budget == "fixed" else ratio * sizes
    if not at_least_one:
        return asked, np.ones(len(sizes), bool)
    atoms = atoms_of(mask, batch)
    shortest = np.full(len(asked), len(batch.tokens))
    np.minimum.at(shortest, atoms[:, 1], atoms[:, 0])
    mean = sizes / np.bincount(atoms[:, 1], minlength=len(sizes))
    if budget != "stochastic_round":
        return np.maximum(asked, shortest), asked >= mean
    low = np.floor(asked)
    expected = (1 - asked + low) * np.maximum(low, shortest) + (asked - low) * np.maximum(low + 1, shortest)
    return expected, low >= mean


@pytest.mark.parametrize("number", range(66))
def test_the_share_is_the_one_asked_for_everywhere(number):
    kind, options, batch = drawing(number)
    if kind == "ngram permuted":  # two budgets, each with a token of its own
        options["at_least_one"] = False
    mask = make(kind, **options)
    selected = mask(batch, seed=number, epoch=0).labels != IGNORE
    sizes = per_example(batch.maskable, batch)
    settings = {"budget": options["budget"], "at_least_one": mask.at_least_one}
    expected, is_even = expected_counts(mask, batch, ratio=options["ratio"], **settings)
    counts = per_example(selected, batch)
    off = counts - expected
    assert abs(off.sum()) <= 5 * np.sqrt((off**2).sum()) + 1e-6, (kind, options, counts.sum(), expected.sum())
    assert not mask.at_least_one or counts.min() >= 1

    owner = np.repeat(np.arange(len(sizes)), np.diff(batch.offsets))[batch.maskable]
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chance = (expected / sizes)[owner]
    for tenth in range(10):
        inside = is_even[owner] & ((place * 10 + 5) // sizes[owner] == tenth)
        here = np.bincount(owner[inside], selected[batch.maskable][inside], minlength=len(sizes))
        asked = np.bincount(owner[inside], chance[inside], minlength=len(sizes))
        bound = 5 * np.sqrt(((here - asked) ** 2).sum()) + 1e-6
        assert abs((here - asked).sum()) <= bound, (kind, options, tenth, here.sum(), asked.sum())
