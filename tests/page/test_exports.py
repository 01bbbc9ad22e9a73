"""CSV without formulas."""

from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given, strategies as st

from rewardkit.page.exports import csv_of, file_name


def test_numbers_stay_numbers() -> None:
    assert csv_of(["step", "total"], [[1, -0.5], [2, math.nan], [3, None]]) == "step,total\n1,-0.5\n2,\n3,\n"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", '=HYPERLINK("http://x")', "|calc"])
def test_formulas_are_text(cell: str) -> None:
    (header,) = csv.reader(io.StringIO(csv_of([cell], [])))
    assert header[0].startswith("'")


@given(st.text(st.characters(exclude_categories=())))
def test_every_cell_stays_one_cell(text: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_of(["name"], [[text]]))))
    assert rows[0] == ["name"]
    assert sum(len(row) for row in rows[1:]) <= 1


def test_file_names_are_plain() -> None:
    assert file_name("../../etc/passwd", "total") == "etc-passwd-total"
    assert file_name("", "..") == "rewardkit"
