"""What `ptcli evaluate` prints beyond the metrics of training: intervals, characters, kinds of positions."""

import re

import pytest

from ptcli.cli import main
from tests.command.toy import metrics, run_folder, settings


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluate")
    patch = pytest.MonkeyPatch()
    patch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    patch.setenv("COLUMNS", "160")
    assert main(["pretrain", *settings(folder, "mask=span", "mask.ratio=0.4", "eval.tokens=1000")]) == 0
    yield run_folder(folder)
    patch.undo()


def printed(capsys, *words):
    assert main(["evaluate", *words, "trainer.precision=fp32", "eval.max_length=32"]) == 0
    return capsys.readouterr().out


def figures(text, name):
    line = next(line for line in text.splitlines() if line.startswith(name + " "))
    return [float(figure.replace(",", "")) for figure in re.findall(r"\d[\d,]*\.?\d*", line.removeprefix(name))]


def test_means_lie_in_their_intervals_and_characters_are_fewer_nats(run, capsys):
    text = printed(capsys, f"checkpoint={run}", "eval.tokens=null")
    for name in ("eval/masked_lm_loss", "eval/own_mask_loss", "eval/own_mask_loss_per_character"):
        value, low, high = figures(text, name)[:3]
        assert low <= value <= high
        assert low < high
    assert figures(text, "eval/own_mask_loss_per_character")[0] < figures(text, "eval/own_mask_loss")[0]
    number = re.search(r"over (\d+) documents", text)
    assert number and 2 <= int(number[1]) <= 120


def test_kinds_of_positions_share_out_all_of_them(run, capsys):
    text = printed(capsys, f"checkpoint={run}", "eval.tokens=1000").split("by kind")[1]
    for names in (
        ("masked", "random", "kept"),
        ("first piece", "later piece"),
        ("unit of 1", "unit of 2", "unit of 3 to 4", "unit of 5 or more"),
    ):
        told = [figures(text, name) for name in names if f"\n{name} " in text]
        assert sum(row[1] for row in told) == pytest.approx(100, abs=0.3)
        assert len({sum(row[0] for row in told)}) == 1


def test_training_logs_what_evaluate_prints(run, capsys):
    logged = {name: value for line in metrics(run) for name, value in line.items()}
    text = printed(capsys, f"checkpoint={run}", "eval.tokens=1000")
    assert figures(text, "eval/own_mask_loss_per_character")[0] == pytest.approx(
        logged["eval/own_mask_loss_per_character"], abs=2e-4
    )
    by_kind = text.split("by kind")[1]
    assert figures(by_kind, "first piece")[2] == pytest.approx(logged["eval/own_mask/first_piece_loss"], abs=2e-4)
    assert "eval/own_mask/unit_of_1_accuracy" in logged


def test_one_document_has_no_interval(run, tmp_path, capsys):
    (tmp_path / "one.txt").write_text("The old house. A dog ran to the river. The rain fell.\n")
    text = printed(capsys, f"checkpoint={run}", f"corpus.path={tmp_path / 'one.txt'}")
    assert "one document" in text
