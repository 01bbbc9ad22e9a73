"""Entries come back from JSON as they were, with tuples and keys that are ints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit_adapters.reasoning_gym import entry_text, options_of, plain, read_entry, restore_value

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.text(max_size=3) | st.integers() | st.sampled_from(["$tuple", "$pairs"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(values)
def test_every_value_comes_back(value: Any) -> None:
    again = restore_value(json.loads(json.dumps(plain(value))))
    assert again == value
    assert repr(again) == repr(value)


def test_an_entry() -> None:
    entry = {"question": "6 * 7?", "answer": "42", "metadata": {"range": (1, 9), "of": {1: "a"}}}
    found = read_entry(entry_text("products", {"size": (1, 2)}, entry))
    assert found.task == "products"
    assert found.content == {"answer": "42", "metadata": {"range": (1, 9), "of": {1: "a"}}}
    assert options_of(found) == {"size": (1, 2)}
    assert hash(found) == hash(read_entry(entry_text("products", {"size": (1, 2)}, entry)))


@pytest.mark.parametrize(
    "cell", [None, 5, "", "x", "[]", "{}", '{"task": "gcd"}', '{"task": 5, "options": {}, "entry": {}}', "[" * 10_000]
)
def test_what_is_no_entry(cell: object) -> None:
    with pytest.raises(ValueError, match="Create the rows"):
        read_entry(cell)


def test_what_json_cannot_hold() -> None:
    with pytest.raises(TypeError, match="set"):
        entry_text("gcd", {}, {"answer": "1", "metadata": {"numbers": {1, 2}}})
