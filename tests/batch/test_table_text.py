"""Tables as text: cells cannot control the screen, and columns are aligned."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.table_text import render_text, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("é 中", "é 中"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\u200b\ufeff", r"\u200b\ufeff"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
    ],
)
def test_invisible_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())))
def test_nothing_invisible_is_left(text: str) -> None:
    categories = {unicodedata.category(character) for character in visible(text)}
    assert not categories & {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def test_columns_are_aligned_and_long_cells_cut() -> None:
    shown = render_text(["", "completion", "total"], [["0", "a" * 100, "1"], ["1", "b", "0.25"]], left=3).splitlines()
    assert shown[1].endswith("     1")
    assert shown[2].endswith("  0.25")
    assert "a" * 41 + "..." in shown[1]
    assert shown[3] == "... and 3 more rows"
