"""Documents: equal values have equal numbers, and paths have no positions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.json_match import LEAF, Document, Part, Rules, steps_of

PLAIN = Rules(frozenset(), ignore_case=False, ordered=False)


def number(value: Any, beside: Document, rules: Rules = PLAIN) -> int:
    return Document.of(value, rules, gold=beside).root.number


def equal(first: Any, second: Any, rules: Rules = PLAIN) -> bool:
    document = Document.of(first, rules)
    return number(second, document, rules) == document.root.number


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (0.0, -0.0, True),
        (10**20, 1e20, True),
        (2**53 + 1, float(2**53), False),
        (1, "1", False),
        ("true", True, False),
        (None, "null", False),
        ({}, [], False),
        ({}, None, False),
        ("", None, False),
        ("a\n b", " a  b ", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("a", "A", False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"A": 1}, False),
        ([1, 2], [2, 1], True),
        ([1, 1, 2], [1, 2, 2], False),
        ([[1], [2, 3]], [[3, 2], [1]], True),
        ({"a": [1]}, {"a": 1}, False),
        ([["a", 1]], [{"a": 1}], False),
    ],
)
def test_equality(first: Any, second: Any, same: bool) -> None:
    assert equal(first, second) is equal(second, first) is same


def test_rules() -> None:
    ordered = Rules(frozenset(), ignore_case=True, ordered=True)
    assert not equal([1, 2], [2, 1], ordered)
    assert equal("STRASSE", "straße", ordered)
    ignoring = Rules(frozenset({("lines", None, "id")}), ignore_case=False, ordered=False)
    assert equal({"id": 1, "lines": [{"id": 1, "a": 2}]}, {"id": 1, "lines": [{"a": 2}]}, ignoring)
    assert equal({"lines": [{"id": 1}]}, {"lines": [{}]}, ignoring)
    assert not equal({"id": 1}, {}, ignoring)


def test_leaves_and_worth() -> None:
    document = Document.of({"lines": [{"sku": "a"}, {"sku": ""}], "note": None, "tags": [], "no": 0}, PLAIN)
    assert document.leaves == {("lines", None, "sku"): 2, ("note",): 1, ("tags",): 1, ("no",): 1}
    assert document.root.worth == 2 * LEAF + 3
    assert document.paths() >= {(), ("lines",), ("lines", None), ("lines", None, "sku"), ("no",)}


def test_keys_that_the_gold_has_nowhere_can_be_left_out() -> None:
    gold = Document.of({"lines": [{"sku": "a"}, {"qty": 1}]}, PLAIN)
    answer = Document.of(
        {"lines": [{"sku": "a", "b": 1}, {"qty": 1, "sku": 2}], "c": {}}, PLAIN, gold=gold, extra=False
    )
    assert answer.leaves == {("lines", None, "sku"): 2, ("lines", None, "qty"): 1}


def parts(part: Part) -> list[Part]:
    below = part.value.values() if isinstance(part.value, dict) else part.value if isinstance(part.value, list) else ()
    return [part, *(one for inner in below for one in parts(inner))]


@given(st.recursive(st.integers(0, 2) | st.sampled_from(["", "a"]), lambda inner: st.lists(inner, max_size=3)))
def test_parts_have_one_number_exactly_when_they_are_equal(value: Any) -> None:
    def canonical(part: Part) -> str:
        if isinstance(part.value, list):
            return f"[{','.join(sorted(map(canonical, part.value)))}]"
        return json.dumps(part.value)

    found = parts(Document.of(value, PLAIN).root)
    assert len({part.number for part in found}) == len({canonical(part) for part in found})
    assert len({(part.number, canonical(part)) for part in found}) == len({part.number for part in found})


def test_paths_as_they_are_written() -> None:
    assert steps_of("note") == ("note",)
    assert steps_of("lines[].sku") == ("lines", None, "sku")
    assert steps_of("[][].a b.c") == (None, None, "a b", "c")
    for bad in ("", ".a", "a.", "a..b", "a[0]", "a[", "a]", 5, None, ("a",)):
        with pytest.raises(RewardDefinitionError, match="json_match: ignore"):
            steps_of(bad)
