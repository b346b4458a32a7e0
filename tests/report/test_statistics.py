import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.mask.span import SpanMask
from ptcli.report.figures import figures_of
from ptcli.report.statistics import Statistics
from tests.mask import synthetic
from tests.report.drawn import PAIRS, examples_of, masked_at


def counted(examples, masked, **changes):
    statistics = Statistics([0.8, 0.1, 0.1])
    number = len(examples.offsets) - 1
    given = {"added": {}, "num_rows": number, "ratio_asked": 0.5, **changes}
    statistics.add(examples, masked, **given)
    return statistics


def test_counts_by_hand():
    examples, _ = examples_of("[CLS] un-believ-able cats sleep [SEP]", "[CLS] dogs bark [SEP]")
    kinds = {2: MASKED, 3: MASKED, 4: MASKED, 8: RANDOM, 9: KEPT}
    masked = masked_at(examples, kinds, shown={}, units=[1, 4, 5, 8, 9])
    found = counted(examples, masked, added={PAIRS: np.array([1, -100])}, num_rows=1)
    assert (found.examples, found.rows, found.tokens, found.maskable, found.selected) == (2, 1, 11, 7, 5)
    assert found.ratio == pytest.approx(5 / 7)
    assert found.ratio_asked == pytest.approx(0.5)
    assert [found.kind_share(kind) for kind in (MASKED, RANDOM, KEPT)] == pytest.approx([0.6, 0.2, 0.2])
    assert found.unit_tokens == {2: 1, 1: 3}  # two of the three pieces of a word were taken
    assert found.unit_words == {1: 4}
    assert (found.words, found.whole_words) == (4, 3)
    assert found.labels["pair_labels"] == {1: 1}
    assert found.as_dict((PAIRS,))["pair_labels"] == {"in_order": 0, "swapped": 1}


def test_a_unit_of_several_words_counts_its_words():
    examples, _ = examples_of("[CLS] un-believ-able cats sleep [SEP]")
    masked = masked_at(examples, dict.fromkeys((3, 4, 5), MASKED), shown={}, units=[1])
    assert counted(examples, masked).unit_words == {3: 1}
    assert counted(examples, masked).unit_tokens == {3: 1}


def test_tenths_are_of_the_body_and_hold_all_of_it():
    examples, _ = examples_of("[CLS] " + " ".join("abcdefghijklmnopqrst") + " [SEP]")
    masked = masked_at(examples, {1: MASKED, 2: MASKED, 20: MASKED}, shown={}, units=[1, 2, 20])
    found = counted(examples, masked)
    assert found.maskable_by_tenth.tolist() == [2] * 10
    assert found.by_tenth.tolist() == [1.0, *[0.0] * 8, 0.5]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ratio=st.sampled_from([0.05, 0.15, 0.4, 0.8]), cut=st.integers(1, 39))
def test_batches_add_up(seed, ratio, cut):
    mask = SpanMask(ratio=ratio, vocabulary=synthetic.vocabulary())
    examples = synthetic.examples(np.random.default_rng(seed).integers(1, 60, 40), seed=seed)
    masked = mask(examples, seed=seed, epoch=0)
    whole = counted(examples, masked)
    at = examples.offsets[cut]
    parts = Statistics([0.8, 0.1, 0.1])
    for first, last, tokens in ((0, cut, slice(0, at)), (cut, 40, slice(at, None))):
        part = type(examples)(
            examples.tokens[tokens],
            examples.offsets[first : last + 1] - examples.offsets[first],
            examples.maskable[tokens],
            examples.word_starts[tokens],
            examples.keys[first:last],
        )
        shown = type(masked)(*(getattr(masked, name)[tokens] for name in ("input_ids", "labels", "kinds", "units")))
        parts.add(part, shown, added={}, num_rows=last - first, ratio_asked=0.5)
    assert parts.as_dict(()) == whole.as_dict(())
    assert whole.unit_tokens.total() == whole.unit_words.total()
    assert sum(k * n for k, n in whole.unit_tokens.items()) == whole.selected == whole.selected_by_tenth.sum()
    assert whole.maskable == whole.maskable_by_tenth.sum()


def test_without_a_mask_there_is_nothing_to_plot():
    examples, _ = examples_of("[CLS] dogs bark [SEP]")
    statistics = counted(examples, masked_at(examples, {}, shown={}, units=[]), ratio_asked=0.0)
    figures = figures_of({"none": statistics})
    assert [name for name, _ in figures[0].entries] == ["ratio asked for", "ratio measured"]
    assert len(figures) == 1
