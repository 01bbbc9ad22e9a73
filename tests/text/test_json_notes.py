"""Notes on JSON values: short, by path, and safe to show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.json_text import Violations, path_text, printable, value_text


def test_three_violations_are_shown_and_the_rest_counted() -> None:
    violations = Violations()
    assert violations.note() == ""
    for name in "abcde":
        assert violations.wants_words is (name < "d")
        violations.add((name,), "missing")
    assert violations.note() == "a: missing; b: missing; c: missing; and 2 more"
    violations.counted_all = False
    assert violations.note().endswith("and at least 2 more")
    violations = Violations()
    violations.add((), "wrong")
    assert violations.note() == "wrong"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("lines", 2, "qty"), "lines[2].qty"),
        ((0, "a b", "c"), '[0]["a b"].c'),
        (("a\n",), '["a\\u000a"]'),
        (tuple("abcdefghij"), "a.b.c.d.(...).g.h.i.j"),
        (("k" * 41,), f'["{"k" * 40}"... (41 characters)]'),
    ],
)
def test_paths(path: tuple[str | int, ...], text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("31", '"31"'),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1.5, "1.5"),
        ([1, 2], "array of 2"),
        ({"a": 1}, "object of 1"),
        ([0] * 12_345, "array of 12,345"),
        ("x" * 50, f'"{"x" * 40}"... (50 characters)'),
        (10**300, "integer of about 300 digits"),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert value_text(value) == text


@given(st.text(st.characters()) | st.sampled_from(["\x1b]52;c;x\x07", "\u202eabc", "\ud800", "\x00" * 500]))
def test_nothing_unprintable_is_left(text: str) -> None:
    assert printable(text).isprintable()
    assert value_text(text).isprintable()
    assert path_text((text, 1, text)).isprintable()
    assert len(printable(text)) <= 123 * 8
