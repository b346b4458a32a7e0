import numpy as np
import pytest

from ptcli.report.answers import confusion, reliability
from ptcli.report.page import figures_page
from ptcli.report.terminal import console_for, draw_figures


def test_a_confusion_matrix_counts_each_row_once():
    figure = confusion(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "a"], labels=["a", "b", "c"])
    assert figure.columns == ("a", "b", "c")
    counts = {name: [cell.text for cell in cells] for name, cells in figure.entries}
    assert counts == {"a (2)": ["1", "1", "0"], "b (3)": ["1", "2", "0"], "c (0)": ["0", "0", "0"]}


def test_of_many_labels_the_most_frequent_confusions_are_listed_and_the_rest_counted():
    labels = [str(number) for number in range(30)]
    true = labels * 3
    answered = [labels[0]] * 30 + labels * 2
    figure = confusion(true, answered, labels=labels)
    assert "30 labels, the 20 most frequent of 29" in figure.title
    assert figure.entries[0] == ("1 answered as 0", [("1 of 3", pytest.approx(1 / 3))])


def test_reliability_is_exact_on_a_small_case():
    confidence, right = np.array([0.55, 0.55, 0.95, 1.0]), np.array([True, False, True, True])
    figure = reliability(confidence, right)
    assert [cells[0].text for _, cells in figure.entries] == ["50.0% of 2", "100.0% of 2"]
    expected = 0.5 * 0.05 + 0.5 * 0.025
    assert f"calibration error {expected:.3f}" in figure.title


def test_both_are_drawn_and_escaped(capsys):
    figure = confusion(["<b>", "c"], ["c", "c"], labels=["<b>", "c"])
    console_for().print(draw_figures([figure], width=60))
    assert "<b> (1)" in capsys.readouterr().out
    page = "".join(figures_page([figure], title="t", notes=["a < b"]))
    assert "<b> (1)" not in page
    assert "&lt;b&gt; (1)" in page
    assert "a &lt; b" in page
