"""Suites: tests of programs in the usual forms of columns."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.programs.suites import Case, suite_in


@pytest.mark.parametrize(
    ("column", "cases", "function"),
    [
        (["assert add(1, 2) == 3"], [Case("1, 2", "3")], "add"),
        ("assert f(1) == 2\nassert f(2) == 3", [Case("1", "2"), Case("2", "3")], "f"),
        ('[{"input": "2", "output": "4"}]', [Case("2", "4")], ""),
        ({"inputs": ["2"], "outputs": ["4"]}, [Case("2", "4")], ""),
    ],
)
def test_tests_are_read_in_their_usual_forms(column: object, cases: list[Case], function: str) -> None:
    suite = suite_in("Look:\n```python\nprint(1)\n```", {"prompt": "?", "tests": column})
    assert suite is not None
    assert list(suite.cases) == cases
    assert suite.function == function
    assert suite.running("x") == "Look:\n```python\nx\n```"
    assert suite_in("I cannot.", {"tests": column}) is None


ADD = "```python\ndef add(a, b):\n    return a + b\n```"
TWO = "```python\ndef helper(x):\n    return x\n\ndef add(a, b):\n    return helper(a) + b\n```"


@pytest.mark.parametrize("pairs", [[[[1, 2], 3], [["a", "b"], "ab"]], [((1, 2), 3), (("a", "b"), "ab")]])
@pytest.mark.parametrize("written", [lambda pairs: pairs, json.dumps], ids=["list", "json"])
def test_pairs_of_arguments_and_values(pairs: Any, written: Any) -> None:
    for text, columns in ((ADD, {}), (TWO, {"entry_point": "add"})):
        suite = suite_in(text, {"prompt": "?", "tests": written(pairs), **columns})
        assert suite is not None
        assert suite.cases == (Case("1, 2", "3"), Case("'a', 'b'", "'ab'"))
        assert (suite.function, suite.differing) == ("add", True)
        assert "def add(*args, **kwargs):\n    return 3" in suite.giving("3")


def test_pairs_whose_function_is_unknown() -> None:
    assert suite_in(TWO, {"tests": [[[1, 2], 3]]}) is None
    assert suite_in("```python\nprint(3)\n```", {"tests": [[[1, 2], 3]]}) is None


@given(st.lists(st.tuples(st.lists(st.integers() | st.text(max_size=9), max_size=3), st.booleans() | st.none())))
def test_pairs_are_written_as_python_reads_them(pairs: list[tuple[list[Any], Any]]) -> None:
    suite = suite_in(ADD, {"tests": pairs})
    cases = () if suite is None else suite.cases
    read = [(list(ast.literal_eval(f"[{case.given}]")), ast.literal_eval(case.expected)) for case in cases]
    assert read == pairs


def test_assertions_of_truth() -> None:
    suite = suite_in(ADD, {"tests": ["assert add(1, 2)", "assert not add(0, 0)", "assert add('==', '') == '=='"]})
    assert suite is not None
    assert suite.cases == (Case("1, 2", "True"), Case("0, 0", "False"), Case("'==', ''", "'=='"))


@pytest.mark.parametrize(
    ("column", "stdin"), [({"input": 0, "output": 0}, "0"), ({"input": None, "output": 0}, ""), ({"output": 0}, "")]
)
def test_an_input_that_is_zero(column: dict[str, Any], stdin: str) -> None:
    suite = suite_in("print(0)", {"tests": [column]})
    assert suite is not None
    assert suite.cases == (Case(stdin, "0"),)


NO_TESTS: list[Any] = [None, "", [], {}, 3, float("nan"), "[", "[" * 100_000, "1" * 5_000, ["x == 1"], [None]]
NO_PAIRS: list[Any] = [[[1, 2]], [["ab", 1]], [[[1]]], [{"output": None}], {"inputs": None, "outputs": None}]


@pytest.mark.parametrize("column", [*NO_TESTS, *NO_PAIRS, {"inputs": [], "outputs": []}])
def test_columns_without_tests(column: Any) -> None:
    assert suite_in(ADD, {"tests": column}) is None
