"""Fresh inputs stay inside the domain that the tests show."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.programs.suites import Suite, suite_in
from rewardkit.check.programs.survivors import fresh_inputs

PROGRAM = "```python\nprint(1)\n```"


def suite_of(*arguments: tuple[Any, ...]) -> Suite:
    """Return a suite whose tests call a function with these arguments."""
    tests = [f"assert f({', '.join(map(repr, row))}) == 0" for row in arguments]
    suite = suite_in(PROGRAM, {"tests": tests})
    assert suite is not None
    return suite


def read(source: str) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ast.literal_eval(f"({source},)")
    return value


def lines(*inputs: str) -> list[str]:
    suite = suite_in(PROGRAM, {"tests": [{"input": one, "output": "1"} for one in inputs]})
    assert suite is not None
    return fresh_inputs(suite, 12, seed=0)


@given(st.lists(st.tuples(st.integers(0, 50), st.lists(st.integers(1, 9), min_size=1)), min_size=2, max_size=5))
def test_arguments_have_the_types_and_the_least_values_of_the_tests(rows: list[tuple[int, list[int]]]) -> None:
    suite = suite_of(*rows)
    made = fresh_inputs(suite, 10, seed=1)
    assert made == fresh_inputs(suite, 10, seed=1)
    assert {one.strip() for one in made}.isdisjoint(case.given for case in suite.cases)
    for source in made:
        number, items = read(source)
        assert number >= min(row[0] for row in rows)
        assert all(item >= min(min(row[1]) for row in rows) for item in items)
        assert min(len(row[1]) for row in rows) - 9 <= len(items) <= max(len(row[1]) for row in rows) + 1


def test_sorted_lists_stay_sorted_and_distinct_ones_distinct() -> None:
    made = fresh_inputs(suite_of(([1, 4, 9],), ([2, 3, 8, 20],)), 20, seed=0)
    assert len(made) > 10
    for source in made:
        (items,) = read(source)
        assert items == sorted(set(items))


def test_an_argument_that_is_the_length_of_another_stays_so() -> None:
    made = fresh_inputs(suite_of(([3, 1, 2], 3), ([5, 4], 2)), 20, seed=0)
    assert len(made) > 10
    assert all(len(items) == size for items, size in map(read, made))


@pytest.mark.parametrize(
    ("rows", "letters"),
    [([("abc",), ("cab",)], "abc"), ([("()()",), ("(())",)], "()"), ([("one two",), ("two",)], "enotw ")],
)
def test_texts_have_the_letters_of_the_tests(rows: list[tuple[str]], letters: str) -> None:
    for source in fresh_inputs(suite_of(*rows), 10, seed=0):
        assert set(read(source)[0]) <= set(letters)


def test_values_of_every_kind_are_varied() -> None:
    rows = [(True, 1.5, {"a": 1}, (1, "x"), None), (False, 2.5, {"a": 7}, (4, "y"), None)]
    made = [read(source) for source in fresh_inputs(suite_of(*rows), 30, seed=0)]
    assert len(made) > 10
    assert all([type(item) for item in row] == [bool, float, dict, tuple, type(None)] for row in made)


def test_arguments_of_several_types_are_varied_within_each() -> None:
    made = [read(source) for source in fresh_inputs(suite_of((2, "ab"), (3, 7), ([1, "x"], [2])), 20, seed=0)]
    assert len(made) > 5
    assert all(type(row[0]) in (int, list) and type(row[1]) in (int, str, list) for row in made)


def test_standard_input_keeps_its_counts_and_its_shape() -> None:
    made = lines("3\n10 20 30\n", "2\n7 8\n")
    assert len(made) > 5
    for one in made:
        count, items = one.strip().split("\n")
        assert len(items.split()) == int(count)
    assert all(one.split()[0].isalpha() for one in lines("push 3\n", "pull 4\n"))


def test_there_is_nothing_like_an_expression_or_an_empty_input() -> None:
    called = suite_in(PROGRAM, {"tests": ["assert f(open('a')) == 1"]})
    assert called is not None
    assert fresh_inputs(called, 5, seed=0) == []
    assert lines("", "") == []
    assert json.dumps(lines("a")) != ""
