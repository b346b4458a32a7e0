import numpy as np
import pytest

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.task.extractive_qa import ExtractiveQA
from ptcli.task.rows import Answer, Row
from tests.task.words import examples, letters

CONTEXT = "the cat sat on the mat"


def row(answer: str | None = "sat", question: str = "who", context: str = CONTEXT, label=True):
    answers = () if answer is None else (Answer(answer, context.index(answer)),)
    return Row(index=0, texts=(question, context), label=answers if label else None, source="rows:0")


def encode(rows, max_length=32, layout="bert", **settings):
    return ExtractiveQA(**settings).encode(rows, tokenizer=letters(layout), max_length=max_length)


def test_an_answer_is_a_span_of_the_examples_tokens():
    encoded = encode([row("sat on")])
    assert examples(encoded) == ["[CLS] who [SEP] the cat sat on the mat [SEP]"]
    assert encoded.span_starts is not None and encoded.span_ends is not None and encoded.context is not None
    assert (encoded.span_starts.tolist(), encoded.span_ends.tolist()) == ([5], [6])
    assert encoded.context.tolist() == [True, False, False, *[True] * 6, False]
    assert encoded.starts is not None and encoded.ends is not None
    assert encoded.starts.tolist() == [-1, -1, -1, 0, 4, 8, 12, 15, 19, -1]
    assert encoded.ends.tolist() == [-1, -1, -1, 3, 7, 11, 14, 18, 22, -1]
    assert encoded.segments.tolist() == [0, 0, 0, *[1] * 7]


def test_an_answer_within_a_word_is_the_pieces_that_hold_it():
    encoded = encode([row("ow", context="the big cows")])
    assert examples(encoded) == ["[CLS] who [SEP] the b ##i ##g c ##o ##w ##s [SEP]"]
    assert encoded.span_starts is not None and encoded.span_ends is not None
    assert (encoded.span_starts[0], encoded.span_ends[0]) == (8, 9)


def test_a_long_context_becomes_windows_that_overlap():
    encoded = encode([row("the mat")], max_length=7, stride=2)
    assert examples(encoded) == [
        "[CLS] who [SEP] the cat sat [SEP]",
        "[CLS] who [SEP] sat on the [SEP]",
        "[CLS] who [SEP] the mat [SEP]",
    ]
    assert encoded.span_starts is not None and encoded.span_ends is not None
    assert encoded.span_starts.tolist() == [0, 0, 3]
    assert encoded.span_ends.tolist() == [0, 0, 4]
    assert encoded.row_of_example.tolist() == [0, 0, 0]
    assert "1 contexts are longer than max_length=7" in encoded.remarks[0]


def test_a_stride_longer_than_a_window_leaves_nothing_out():
    encoded = encode([row("the mat")], max_length=7, stride=128)
    assert examples(encoded) == ["[CLS] who [SEP] the cat sat [SEP]", "[CLS] who [SEP] on the mat [SEP]"]


def test_an_answer_in_no_window_is_counted():
    encoded = encode([row("cat sat on")], max_length=6, stride=2)
    assert encoded.span_starts is not None and not encoded.span_starts.any()
    assert any("1 answers lie whole in no window" in remark for remark in encoded.remarks)


def test_no_answer_is_the_classification_token_and_no_label_is_ignored():
    encoded = encode([row(None), row(label=False)])
    assert encoded.span_starts is not None
    assert encoded.span_starts.tolist() == [0, IGNORE_INDEX]
    last = encode([row(None)], layout="xlnet")
    assert last.span_starts is not None and last.context is not None
    assert last.span_starts.tolist() == [len(last.tokens) - 1]
    assert last.context[last.classification_places].all()


def test_long_questions_are_cut_and_counted():
    encoded = encode([row(question="who the cat")], max_query_length=2)
    assert examples(encoded)[0].startswith("[CLS] who the [SEP] the")
    assert encoded.num_truncated == 1
    with pytest.raises(ConfigError, match="max_length=4 leaves no room"):
        encode([row()], max_length=4)


def test_an_answer_that_is_only_compared_with_is_not_learnt():
    given = Row(index=0, texts=("who", CONTEXT), label=(Answer("dog", -1),))
    encoded = encode([given])
    assert encoded.span_starts is not None and encoded.span_starts.tolist() == [IGNORE_INDEX]


def test_right_outputs_give_the_answer_back_over_all_layouts_and_windows():
    for layout in ("bert", "roberta", "xlnet", "gpt"):
        rows = [row("on the"), row("mat", context="  the\u00a0 cat \n mat"), row("cat")]
        task = ExtractiveQA(stride=2)
        encoded = task.encode(rows, tokenizer=letters(layout), max_length=12)
        start, end = np.full(len(encoded.tokens), -9.0), np.full(len(encoded.tokens), -9.0)
        assert encoded.span_starts is not None and encoded.span_ends is not None
        start[encoded.offsets[:-1] + encoded.span_starts] = 9
        end[encoded.offsets[:-1] + encoded.span_ends] = 9
        predictions = task.decode({"start_logits": start, "end_logits": end}, encoded, rows)
        assert [prediction["answer"] for prediction in predictions] == ["on the", "mat", "cat"]
        assert task.score(predictions, rows)["exact_match"].value == 1


def test_questions_on_one_context_are_of_one_group():
    task = ExtractiveQA()
    assert task.group_of(row(question="who")) == task.group_of(row(question="where"))


@pytest.mark.parametrize("key", ["stride", "max_query_length", "longest_answer"])
def test_settings_out_of_range_are_refused(key, tmp_path):
    with pytest.raises(ConfigError, match=rf"task\.{key}=0 must be at least 1"):
        ExtractiveQA(path=str(tmp_path), **{key: 0}).check()


def settled(scores, answers, truths, **settings):
    """A task that has chosen its threshold by questions whose best span is `answers` and whose scores are these."""
    task = ExtractiveQA(no_answer=True, **settings)

    def decode(outputs, encoded, rows, *, threshold=0.0):
        return [
            {"answer": "" if score is None or score > threshold else answer, "no_answer_score": score}
            for answer, score in zip(answers, scores, strict=True)
        ]

    task._decode = decode  # type: ignore[method-assign]
    rows = [
        Row(index=i, texts=("who", "the cat sat"), label=tuple(Answer(text, 0) for text in texts), source=str(i))
        for i, texts in enumerate(truths)
    ]
    lines = task.settle({}, None, rows)  # type: ignore[arg-type]
    return task, lines, decode, rows


def test_the_threshold_that_is_best_on_validation_rows_is_chosen():
    """As SQuAD 2.0's script does it: checked against all thresholds that there are."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        scores = np.round(generator.normal(size=12), 1).tolist()
        scores[0] = None  # a question without a token of context
        answers = [("cat", "the cat sat", "sat")[n] for n in generator.integers(3, size=12)]
        truths = [((), ("cat",), ("cat sat", "sat"))[n] for n in generator.integers(3, size=12)]
        for metric in ("exact_match", "f1"):
            task, lines, decode, rows = settled(scores, answers, truths, best_metric=metric)
            found = task.settled["threshold"]
            values = {
                threshold: task.score(decode(None, None, rows, threshold=threshold), rows)[metric].value
                for threshold in (found, -9, *scores[1:])
            }
            assert values[found] == pytest.approx(max(values.values()))
            (told,) = [line for line in lines if "kept as" in line]
            assert told.startswith(f"{metric} is best")
            assert f"{values[found]:.4f}, at 0 " in told


def test_a_threshold_that_is_typed_is_kept():
    assert settled([1.0], ["cat"], [("cat",)], threshold=0.5)[:2][1] == []
    with pytest.raises(ConfigError, match=r"task\.threshold=1\.0 decides between an answer and none"):
        ExtractiveQA(threshold=1.0).check()
    with pytest.raises(ConfigError, match="decides"):
        ExtractiveQA(threshold=1.0, path="nowhere").check()


def test_questions_of_a_group_are_drawn_together():
    """Intervals: four passages of equal questions say no more than four questions."""
    rows = [
        Row(index=i, texts=("who", "the cat"), label=(Answer("cat", 4),), group=str(i % 4), source=str(i))
        for i in range(40)
    ]
    answers = [{"answer": "cat" if i % 4 < 2 else ""} for i in range(40)]
    together = ExtractiveQA(group="passage").score(answers, rows, resamples=300)["f1"]
    apart = ExtractiveQA().score(answers, rows, resamples=300)["f1"]
    assert together.value == apart.value == 0.5
    assert (together.low, together.high) == (0.0, 1.0)
    assert apart.low > 0.3 and apart.high < 0.7
