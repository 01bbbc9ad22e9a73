"""Marks: fences, boxes and hashes, and text that only looks like them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.core.text.marks import boxes, fenced_blocks, last_box


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("\\boxed{42}", "42"),
        ("\\boxed {42}", "42"),
        ("\\\\boxed{\\\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\\\boxed{41} \\boxed{42}", "42"),
        ("\\\\\\boxed{42}", "42"),
        ("\\boxed{41} and \\boxed{42}", "42"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{\\boxed{42}}", "42"),
        ("\\boxed 42", "42"),
        ("\\boxed{\\phantom{400}} = x, so \\boxed{4}", "4"),
        ("The form is \\boxed{answer}: \\boxed{42}.", "42"),
        ("\\boxed{42}, as \\boxed{?} asks", "42"),
        ("\\boxed{ \\boxed{42} }", "42"),
        ("\\boxed{x \\ne \\boxed{42}}", "x \\ne \\boxed{42}"),
        ("\\boxed{\\boxed{41} 42}", "\\boxed{41} 42"),
        ("\\boxed{\\boxed{41} \\boxed{42}}", "\\boxed{41} \\boxed{42}"),
        ("$\\boxed{42}$. I put it in \\boxed{}.", "42"),
        ("$\\boxed{42}$. I put it in \\boxed{...}.", "42"),
        ("\\boxed{42} \\boxed{4", None),
        ("\\boxed{42", None),
        ("\\boxed{}", None),
        ("42", None),
        ("\\boxed{a\\}b}", "a\\}b"),
        ("x = -\\boxed{42}", "-42"),
        ("5-\\boxed{42}", "42"),
        ("- \\boxed{42}", "42"),
        ("\\boxed{" + "{}" * 9 + "}", "{}" * 9),
    ],
)
def test_last_box(text: str, content: str | None) -> None:
    assert last_box(text) == content


def test_fenced_blocks_of_both_kinds() -> None:
    assert fenced_blocks("~~~a\n```\n~~~\n```B\n~~~\n```") == [("a", "```"), ("b", "~~~")]


@given(st.text(alphabet="\\boxed{} .4#\n~`", max_size=80))
def test_any_text_is_read(text: str) -> None:
    last_box(text)
    boxes(text)
    fenced_blocks(text)
    box = f"{text.replace('{', '').replace('}', '')}\\\\ \\boxed{{7}}"
    assert "\\boxed" in text or last_box(box) == "7"


def test_fenced_blocks_in_order() -> None:
    assert fenced_blocks("x\n```a\n1\n```\n  ```b\n2\n  ```") == [("a", "1"), ("b", "2")]
