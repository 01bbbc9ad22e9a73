"""Suites: tests of programs in the usual forms of columns."""

from __future__ import annotations

import pytest

from rewardkit.testing.programs.suites import Case, suite_in


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
