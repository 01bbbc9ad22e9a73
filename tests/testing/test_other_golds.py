"""Other golds: values of the kind that the examples show, and none where that is not certain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.testing.other_golds import other_golds


def made(value: Any, written: str, *known: Any) -> list[Any]:
    return [gold.value for gold in other_golds(value, written, known or (value,))]


@given(st.integers(0, 10**6))
def test_numbers_keep_their_type_and_their_sign(number: int) -> None:
    for value in (number, str(number)):
        for gold in other_golds(value, str(number), [value]):
            assert type(gold.value) is type(value)
            assert str(gold.value) == gold.written
            assert int(gold.value) >= 0
            assert gold.value != value
            assert len(gold.written) <= max(2, len(str(number)))


def test_negative_numbers_only_where_an_example_is_negative() -> None:
    assert min(made(42, "42")) == 0
    assert min(made(42, "42", 42, -7)) == -10


@pytest.mark.parametrize(
    ("value", "written", "known", "others"),
    [
        ("B", "B", ("B", "C"), ["A", "C"]),
        ("yes", "yes", ("yes",), ["no"]),
        ("No", "No", ("No",), ["Yes"]),
        ("TRUE", "TRUE", ("TRUE",), ["FALSE"]),
        ("Danube", "Danube", ("Danube",), []),
        ("1/2", "1/2", ("1/2",), []),
        ("#### 42", "42", ("#### 42",), []),
        (3.5, "3.5", (3.5,), []),
        (True, "True", (True,), []),
    ],
)
def test_values_of_other_kinds(value: Any, written: str, known: tuple[Any, ...], others: list[Any]) -> None:
    assert made(value, written, *known) == others


def test_documents_have_one_other_value_each() -> None:
    order = {"item": "lamp", "count": 3, "paid": True, "sizes": [1, 2]}
    for value in (order, json.dumps(order)):
        changed = made(value, json.dumps(order))
        plain = [json.loads(one) if isinstance(one, str) else one for one in changed]
        assert {**order, "count": 0} in plain
        assert {**order, "paid": False} in plain
        assert order not in plain
        assert all(type(one) is type(value) for one in changed)
    assert made(order, '{"item": "desk"}') == []
    assert made(order, "no document") == []
