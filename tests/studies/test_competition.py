"""The job of a competition, end to end, on rows made of real pairs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[2] / "studies" / "competition.py"


@pytest.mark.slow
@pytest.mark.data
def test_raw_rows_become_answers_in_order_and_an_auc(data, tmp_path):
    pairs = data / "tasks" / "zh" / "pawsx" / "dev_2k.tsv"
    few = ["--size", "tiny", "--epochs", "1", "--fine-tuning-epochs", "1", "--seeds", "2", "3"]
    done = subprocess.run(
        [sys.executable, STUDY, "--folder", tmp_path, "--pairs", pairs, *few],
        capture_output=True,
        text=True,
        env={**os.environ, "PTCLI_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    rows, pretrained, random = done.stdout.splitlines()
    assert rows == "400 rows to predict, 41.0% of them with label 1"
    assert pretrained.startswith("pretrained: AUC 0.") and random.startswith("random_weights: AUC 0.")
    ids = (tmp_path / "rows" / "test.tsv").read_text(encoding="utf-8")
    assert set(ids) <= set("0123456789 \t\n"), "the rows to predict hold numbers alone, and no label"
    answers = (tmp_path / "pretrained.txt").read_text(encoding="utf-8").splitlines()
    assert len(answers) == len(ids.splitlines()) == 400 and all(0 <= float(answer) <= 1 for answer in answers)
