"""Metrics of classes, numbers and order equal definitions and references; what is undefined is said."""

import numpy as np
import pytest
import sklearn.metrics

from ptcli.errors import ConfigError, DataError
from ptcli.task.metrics import classification, multi_label, multiple_choice, ranking, regression
from ptcli.task.metrics.score import Score, chosen, doubts, measure
from tests.task.judged_rows import classes, rows_of

LABELS = ("no", "yes")


def outcomes(truth, probabilities):
    return classification.outcomes_of(classes(*probabilities), rows_of(*truth), labels=LABELS)


def some(number=200, seed=0):
    """Truth and probabilities that know something of it, with many equal scores."""
    draw = np.random.default_rng(seed)
    truth = draw.random(number) < 0.3
    return truth, np.round(np.clip(0.3 * truth + draw.random(number) * 0.7, 0, 1), 1)


def test_two_classes_by_hand():
    found = outcomes(["yes", "yes", "no", "no", "yes"], [0.9, 0.4, 0.6, 0.1, 0.8])
    values = {name: metric(found) for name, metric in classification.METRICS.items()}
    assert values["accuracy"] == pytest.approx(3 / 5)
    assert values["precision"] == pytest.approx(2 / 3)
    assert values["recall"] == pytest.approx(2 / 3)
    assert values["f1"] == pytest.approx(2 / 3)
    assert values["f1_macro"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert values["f1_micro"] == values["accuracy"]
    assert values["matthews"] == pytest.approx((2 * 1 - 1 * 1) / 6)
    assert values["roc_auc"] == pytest.approx(5 / 6)  # of six pairs, .4 above .6 fails
    assert values["average_precision"] == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert values["cross_entropy"] == pytest.approx(-np.log([0.9, 0.4, 0.4, 0.9, 0.8]).mean())


def test_the_area_is_the_chance_of_a_right_order():
    truth, scores = some()
    above = np.sign(scores[truth][:, None] - scores[~truth][None, :])
    names = np.where(truth, "yes", "no")
    area = classification.roc_auc(outcomes(names, scores))
    assert area == pytest.approx((above.mean() + 1) / 2)
    assert area == pytest.approx(sklearn.metrics.roc_auc_score(truth, scores))
    assert classification.roc_auc(outcomes(names, scores**3)) == pytest.approx(area)
    assert classification.roc_auc(outcomes(np.where(truth, "no", "yes"), scores)) == pytest.approx(1 - area)
    assert classification.roc_auc(outcomes(names, np.full(len(truth), 0.7))) == 0.5


@pytest.mark.parametrize("num_classes", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_values_equal_scikit_learns(num_classes, seed):
    draw = np.random.default_rng(seed)
    labels = tuple("abcdef"[:num_classes])
    truth = draw.integers(0, num_classes - (seed == 3 and num_classes > 2), 60)  # in one case a class is absent
    probabilities = draw.dirichlet(np.ones(num_classes), 60).round(2)
    found = classification.ClassOutcomes(truth=truth, probabilities=probabilities, labels=labels)
    predicted = probabilities.argmax(axis=1)
    values = {name: score.value for name, score in measure(found, classification.METRICS).items()}
    assert values["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(truth, predicted))
    assert values["f1_macro"] == pytest.approx(sklearn.metrics.f1_score(truth, predicted, average="macro"))
    assert values["f1_micro"] == pytest.approx(sklearn.metrics.f1_score(truth, predicted, average="micro"))
    assert values["matthews"] == pytest.approx(sklearn.metrics.matthews_corrcoef(truth, predicted))
    areas = [sklearn.metrics.roc_auc_score(truth == c, probabilities[:, c]) for c in np.unique(truth)]
    assert values["roc_auc"] == pytest.approx(areas[1] if num_classes == 2 else np.mean(areas))
    if num_classes == 2:
        assert values["f1"] == pytest.approx(sklearn.metrics.f1_score(truth, predicted))
        assert values["precision"] == pytest.approx(sklearn.metrics.precision_score(truth, predicted))
        assert values["recall"] == pytest.approx(sklearn.metrics.recall_score(truth, predicted))


@pytest.mark.parametrize("seed", range(3))
def test_values_of_several_labels_equal_scikit_learns(seed):
    draw = np.random.default_rng(seed)
    truth, probabilities = draw.random((50, 4)) < 0.4, draw.random((50, 4)).round(2)
    predicted = probabilities >= 0.5
    found = multi_label.MultiLabelOutcomes(truth=truth, predicted=predicted, probabilities=probabilities)
    values = {name: score.value for name, score in measure(found, multi_label.METRICS).items()}
    assert values["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(truth, predicted))
    for average in ("micro", "macro"):
        expected = sklearn.metrics.f1_score(truth, predicted, average=average)
        assert values[f"f1_{average}"] == pytest.approx(expected)
    assert values["roc_auc"] == pytest.approx(sklearn.metrics.roc_auc_score(truth, probabilities))
    expected = sklearn.metrics.average_precision_score(truth, probabilities)
    assert values["average_precision"] == pytest.approx(expected)


def test_three_classes():
    labels = ("a", "b", "c")
    rows = rows_of("a", "b", "c", "c")
    predictions = [
        {"probabilities": dict(zip(labels, p, strict=True))}
        for p in ([0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.2, 0.1, 0.7])
    ]
    found = classification.outcomes_of(predictions, rows, labels=labels)
    scores = measure(found, classification.METRICS)
    assert scores["accuracy"].value == 0.75
    assert scores["f1_macro"].value == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert scores["roc_auc"].value == 1.0
    assert scores["f1"].value is None
    assert "f1_macro" in scores["f1"].remark


def test_one_class_and_constant_predictions_are_said():
    scores = measure(outcomes(["no"] * 4, [0.1, 0.2, 0.3, 0.4]), classification.METRICS, resamples=10)
    assert scores["accuracy"].value == 1.0
    for name in ("matthews", "roc_auc"):
        assert scores[name].value is None
        assert scores[name].remark == "all 4 rows are 'no'"
    for name in ("f1", "precision", "recall", "average_precision"):
        assert scores[name].value is None
        assert "'yes'" in scores[name].remark
    constant = measure(outcomes(["no", "yes"], [0.2, 0.3]), classification.METRICS)
    assert constant["matthews"].value == 0.0
    assert constant["matthews"].remark == "all 2 rows are predicted to be 'no'"
    assert constant["f1"].value == 0.0
    assert constant["roc_auc"].remark == ""
    same = measure(outcomes(["no", "yes"], [0.2, 0.2]), classification.METRICS)
    assert same["roc_auc"].value == 0.5
    assert same["roc_auc"].remark == "all 2 rows get the same probabilities"


def test_rows_without_a_label_do_not_count():
    scores = measure(outcomes(["no", None, "yes"], [0.1, 0.9, 0.9]), classification.METRICS)
    assert scores["accuracy"].value == 1.0
    nothing = measure(outcomes([None], [0.1]), classification.METRICS, resamples=5)
    assert {(s.value, s.remark) for s in nothing.values()} == {(None, "no row has a label")}


def test_unknown_labels_and_missing_predictions_are_refused():
    with pytest.raises(DataError, match=r"rows\.tsv:2: the label 'maybe'"):
        outcomes(["no", "maybe"], [0.1, 0.2])
    with pytest.raises(DataError, match="1 predictions for 2 rows"):
        classification.outcomes_of(classes(0.1), rows_of("no", "yes"), labels=LABELS)


def test_unknown_metrics_are_refused_with_the_choices():
    with pytest.raises(ConfigError, match=r"'acuracy'.*accuracy, f1"):
        chosen(classification.METRICS, ["acuracy"])
    assert list(chosen(classification.METRICS, ["f1", "accuracy"])) == ["f1", "accuracy"]


def test_the_interval_covers_what_a_binomial_interval_covers():
    draw = np.random.default_rng(3)
    hits = draw.random(400) < 0.8
    found = outcomes(["yes"] * 400, np.where(hits, 0.9, 0.1))
    score = measure(found, {"accuracy": classification.accuracy}, resamples=1000)["accuracy"]
    width = 2 * 1.96 * np.sqrt(hits.mean() * (1 - hits.mean()) / 400)
    assert score.low < hits.mean() < score.high
    assert score.high - score.low == pytest.approx(width, rel=0.12)
    assert score == measure(found, {"accuracy": classification.accuracy}, resamples=1000)["accuracy"]


def test_groups_are_drawn_whole():
    """A group of one row and a group of nine: samples of two groups hold two, ten or eighteen rows."""
    found = outcomes(["yes"] * 10, [0.9] * 10)
    groups = np.array([7] + [3] * 9)
    score = measure(found, {"rows": len}, groups=groups, resamples=200, level=1.0)["rows"]
    assert (score.value, score.low, score.high) == (10, 2, 18)


def test_copies_are_no_evidence():
    """Ten copies of each row, drawn together, make no narrower interval than one."""
    hits = np.random.default_rng(3).random(40) < 0.7
    groups = np.repeat(np.arange(40), 10)
    metrics = {"accuracy": classification.accuracy}
    single = measure(outcomes(["yes"] * 40, np.where(hits, 0.9, 0.1)), metrics, resamples=400)["accuracy"]
    many = outcomes(["yes"] * 400, np.repeat(np.where(hits, 0.9, 0.1), 10))
    together = measure(many, metrics, groups=groups, resamples=400)["accuracy"]
    apart = measure(many, metrics, resamples=400)["accuracy"]
    assert together.high - together.low == pytest.approx(single.high - single.low, rel=0.1)
    assert apart.high - apart.low < 0.5 * (together.high - together.low)


def test_undefined_samples_are_counted():
    score = measure(outcomes(["no", "yes"], [0.1, 0.9]), {"roc_auc": classification.roc_auc}, resamples=100)["roc_auc"]
    assert (score.value, score.low, score.high) == (1.0, 1.0, 1.0)
    assert "of 100 bootstrap samples" in score.remark


def test_a_single_row_has_no_interval():
    score = measure(outcomes(["yes"], [0.9]), {"accuracy": classification.accuracy}, resamples=100)["accuracy"]
    assert (score.value, score.low) == (1.0, None)


def values(truth, predicted):
    return regression.outcomes_of([{"value": v} for v in predicted], rows_of(*truth))


def test_numbers_by_hand():
    found = values([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 40.0])
    assert regression.spearman(found) == pytest.approx(0.8)  # 1 - 6 * (1 + 1) / (4 * 15)
    x, y = np.array([1.0, 2, 3, 4]) - 2.5, np.array([1.0, 3, 2, 40]) - 11.5
    assert regression.pearson(found) == pytest.approx(x @ y / np.sqrt(x @ x * (y @ y)))
    assert regression.mean_squared_error(found) == pytest.approx((0 + 1 + 1 + 36**2) / 4)
    assert regression.mean_absolute_error(found) == pytest.approx(38 / 4)
    assert regression.pearson_spearman(found) == pytest.approx(
        (regression.pearson(found) + regression.spearman(found)) / 2
    )


def test_equal_numbers_share_their_rank():
    assert regression.spearman(values([1, 1, 2], [5, 5, 6])) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("truth", "predicted", "said"),
    [
        ([1.0, 2.0], [3.0, 3.0 + 1e-8], "are predicted to be 3"),
        ([2.0, 2.0], [1.0, 3.0], "are labelled 2"),
        ([1.0, 2.0], [1.0, float("nan")], "no finite number"),
    ],
)
def test_correlations_of_a_constant_are_undefined(truth, predicted, said):
    scores = measure(values(truth, predicted), regression.METRICS)
    for name in ("pearson", "spearman", "pearson_spearman"):
        assert scores[name].value is None
        assert said in scores[name].remark


def test_several_labels():
    labels = ("a", "b", "c")
    predictions = [
        {"labels": ["a"], "probabilities": {"a": 0.9, "b": 0.2, "c": 0.1}},
        {"labels": ["a", "b"], "probabilities": {"a": 0.7, "b": 0.8, "c": 0.1}},
        {"labels": [], "probabilities": {"a": 0.1, "b": 0.1, "c": 0.1}},
    ]
    found = multi_label.outcomes_of(predictions, rows_of(("a",), ("b",), ()), labels=labels)
    scores = {name: score.value for name, score in measure(found, multi_label.METRICS).items()}
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["f1_micro"] == pytest.approx(4 / 5)
    assert scores["f1_macro"] == pytest.approx((2 / 3 + 1) / 2)  # c does not occur
    assert scores["roc_auc"] == 1.0
    assert scores["average_precision"] == 1.0
    empty = multi_label.outcomes_of(predictions[2:], rows_of(()), labels=labels)
    assert measure(empty, multi_label.METRICS)["f1_micro"].value is None
    with pytest.raises(DataError, match="'d' is none"):
        multi_label.outcomes_of(predictions[:1], rows_of(("d",)), labels=labels)


def test_choices():
    predictions = [{"choice": 1, "probabilities": [0.2, 0.8]}, {"choice": 1, "probabilities": [0.4, 0.6]}]
    scores = measure(multiple_choice.outcomes_of(predictions, rows_of(1, 0)), multiple_choice.METRICS)
    assert scores["accuracy"].value == 0.5
    assert scores["cross_entropy"].value == pytest.approx(-np.log([0.8, 0.4]).mean())
    assert "choice 1" in scores["accuracy"].remark


def ranked(*queries):
    """Each query is a list of (relevance, score)."""
    labels = [relevance for query in queries for relevance, _ in query]
    groups = [f"q{number}" for number, query in enumerate(queries) for _ in query]
    predictions = [{"score": score} for query in queries for _, score in query]
    return ranking.outcomes_of(predictions, rows_of(*labels, groups=groups))


def test_order_by_hand():
    found = ranked([(0, 0.9), (1, 0.8), (1, 0.1), (0, 0.2)], [(1, 0.5), (0, 0.4)])
    assert ranking.reciprocal_rank(found) == pytest.approx((1 / 2 + 1) / 2)
    assert ranking.first_is_relevant(found) == 0.5
    assert ranking.mean_average_precision(found) == pytest.approx(((1 / 2 + 2 / 4) / 2 + 1) / 2)


def test_gain_equals_scikit_learn():
    draw = np.random.default_rng(5)
    relevance, scores = draw.integers(0, 4, (6, 9)), draw.random((6, 9))
    queries = [list(zip(r.tolist(), s.tolist(), strict=True)) for r, s in zip(relevance, scores, strict=True)]
    expected = sklearn.metrics.ndcg_score(relevance, scores)
    assert ranking.discounted_gain(ranked(*queries)) == pytest.approx(expected)


def test_equal_scores_earn_nothing():
    found = ranked([(1, 0.5), (0, 0.5), (0, 0.5)])
    assert ranking.reciprocal_rank(found) == pytest.approx(1 / 3)
    assert "score the same" in found.remark_on("reciprocal_rank")


def test_queries_without_a_relevant_candidate_are_said():
    found = ranked([(0, 0.9), (0, 0.1)], [(1, 0.5), (0, 0.6)])
    assert ranking.reciprocal_rank(found) == 0.5
    assert "1 of 2 queries" in found.remark_on("reciprocal_rank")
    scores = measure(ranked([(0, 0.9)]), ranking.METRICS)
    assert scores["reciprocal_rank"].remark == "no query has a relevant candidate"


def test_a_remark_on_several_metrics_is_told_once():
    scores = {"f1": Score(0.0, remark="no entity"), "accuracy": Score(0.9), "recall": Score(0.0, remark="no entity")}
    assert doubts(scores) == ["f1, recall: no entity"]
