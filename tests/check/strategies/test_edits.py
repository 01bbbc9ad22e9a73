"""Edits: texts are as far from the gold answer as they claim."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings, strategies as st
from rapidfuzz.distance import Levenshtein

from rewardkit.check.variants.strategies import edit_distance, edits
from rewardkit.errors import RewardDefinitionError

quick = settings(database=None, suppress_health_check=[HealthCheck.filter_too_much])


@quick
@given(st.data(), st.sampled_from(["42", "", "-3.25", "The answer is Paris.", "1212", "x" * 500]))
def test_characters(data: st.DataObject, gold: str) -> None:
    text, distance = data.draw(edits(gold))
    assert Levenshtein.distance(text, gold) == distance
    assert 1 <= distance <= 5


@quick
@given(st.data(), st.sampled_from(["42", "1,234.50", "3", "121212"]))
def test_digits_leave_all_else(data: st.DataObject, gold: str) -> None:
    text, distance = data.draw(edits(gold, unit="digits"))
    assert Levenshtein.distance(text, gold) == distance
    assert [one for one in text if not one.isdigit()] == [one for one in gold if not one.isdigit()]


@quick
@given(st.data(), st.sampled_from(["a\nb\nc", "one line", "a\n\na"]), st.integers(1, 3))
def test_lines(data: st.DataObject, gold: str, wanted: int) -> None:
    text, distance = data.draw(edits(gold, distance=wanted, unit="lines"))
    assert edit_distance(text.split("\n"), gold.split("\n")) == distance == wanted


@quick
@given(st.data(), st.sampled_from(["red, green, blue", "1;2;3"]), st.integers(1, 3))
def test_items(data: st.DataObject, gold: str, wanted: int) -> None:
    joint = ", " if ", " in gold else ";"
    text, distance = data.draw(edits(gold, distance=wanted, unit="items"))
    assert distance == wanted
    assert edit_distance([one for one in text.split(joint) if one], gold.split(joint)) == wanted


@quick
@given(edits(["red", "green"], distance=1, unit="items"))
def test_a_list_stays_json(pair: tuple[str, int]) -> None:
    assert pair[0].startswith("[")
    assert pair[0].endswith("]")


@quick
@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_the_distance_is_levenshteins(one: str, other: str) -> None:
    assert edit_distance(one, other) == Levenshtein.distance(one, other)


def test_the_smallest_edit_is_a_small_one() -> None:
    assert len(find(edits("42", distance=1), lambda _: True)[0]) in (1, 2, 3)


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ("42", {"distance": 0}, "at least 1"),
        ("42", {"distance": 3, "unit": "digits"}, "from 1 to 2"),
        ("Paris", {"unit": "digits"}, "has no digits"),
        ("42", {"unit": "bytes"}, "bytes"),
    ],
)
def test_impossible_arguments_are_errors(gold: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RewardDefinitionError, match=message):
        edits(gold, **options)
