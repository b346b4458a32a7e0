"""The page of models says what the code says, errors aside, and every error in it is small."""

import re
from pathlib import Path

from writers.models import fixed_rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"


def test_the_fixed_columns_are_up_to_date():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if re.match(r"\| (?!model )\w+ \|", line)]
    found = [" | ".join(line.split(" | ")[:3]) + " |" for line in rows]
    assert found == [row.fixed() for row in fixed_rows()], "run: make docs"


def test_no_error_is_large():
    for figure in re.findall(r"\d+e[+-]\d+", PAGE.read_text(encoding="utf-8")):
        assert float(figure) < 1e-5
