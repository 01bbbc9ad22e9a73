"""Assertions are split for a service, so that the program never sees the expected values."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.sandbox.assertions import assertions, split
from rewardkit.rewards.sandbox.cases import read_tests


@pytest.mark.parametrize(
    ("source", "calls", "check"),
    [
        ("assert add(1, 2) == 3", ["add(1, 2)"], "assert answer_0 == 3"),
        ("assert 3 == add(1, 2)", ["add(1, 2)"], "assert 3 == answer_0"),
        ('assert (f(1))==("x") ', ["f(1)"], "assert answer_0 == 'x'"),
        ("assert f(1)", ["f(1)"], "assert answer_0"),
        ("assert not f(1)", ["f(1)"], "assert not answer_0"),
        ("assert f(1) is None", ["f(1)"], "assert answer_0 is None"),
        ("assert f(1) == 2 and f(3) == 4", ["f(1)", "f(3)"], "assert answer_0 == 2 and answer_1 == 4"),
        ("assert set(f(1)) == {1}", ["set(f(1))"], "assert answer_0 == {1}"),
        ("assert list(map(f, [1])) == [2]", ["f"], "assert list(map(answer_0, [1])) == [2]"),
        ("assert abs(f(2) - 3.5) < 0.1", ["f(2)"], "assert abs(answer_0 - 3.5) < 0.1"),
        ("assert round(f(2), 1) == 3.5", ["f(2)"], "assert round(answer_0, 1) == 3.5"),
        ("assert f(1)[0].name == 'x'", ["f(1)[0].name"], "assert answer_0 == 'x'"),
        ("assert Solution().f(g(1)) == 2", ["Solution().f(g(1))"], "assert answer_0 == 2"),
        ("assert f(1) == g(2)", ["f(1)", "g(2)"], "assert answer_0 == answer_1"),
        ("assert isinstance(f(1), Node)", ["isinstance(f(1), Node)"], "assert answer_0"),
        ("assert isinstance(f(1), int)", ["f(1)"], "assert isinstance(answer_0, int)"),
        ("assert all(x > 1 for x in f(3))", ["f(3)"], "assert all((x > 1 for x in answer_0))"),
        ("assert f(1) == 2, f'not {f(1)}'", ["f(1)"], "assert answer_0 == 2"),
        # The task's function may have the name of a built-in.
        ("assert sum(10, 15) == 6", ["sum(10, 15)"], "assert answer_0 == 6"),
        ("assert not all([1])", ["all([1])"], "assert not answer_0"),
    ],
)
def test_split(source: str, calls: list[str], check: str) -> None:
    found = split(source)
    assert list(found.calls) == calls
    assert found.check == check
    assert found.shown == source.strip()


def test_modules_that_a_test_looks_into_are_not_the_programs() -> None:
    found = split("assert math.isclose(f(2), 0.5)")
    assert found.calls == ("f(2)",)
    assert found.ground == "import math"
    assert split("assert bisect([1], 1) == 1").calls == ("bisect([1], 1)",)


@pytest.mark.parametrize(
    "setup", ["from math import isclose", "from math import *", "def isclose(a, b): return a == b"]
)
def test_what_the_setup_defines_is_not_the_programs(setup: str) -> None:
    found = split("assert isclose(f(2), 0.5)", setup)
    assert found.calls == ("f(2)",)
    assert found.check == "assert isclose(answer_0, 0.5)"


def test_setup_that_needs_the_program_stays_with_it() -> None:
    setup = "import math\nroot = Node(1)\nroot.left = Node(2)\nsize = math.floor(3.5)"
    found = split("assert height(root) == size", setup)
    assert found.calls == ("height(root)",)
    assert found.ground == "import math\nsize = math.floor(3.5)"
    assert found.setup == "root = Node(1)\nroot.left = Node(2)"
    assert found.check == "assert answer_0 == size"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("f(1) == 2", "one assertion"),
        ("for x in [1]: assert f(x)", "one assertion"),
        ("", "one assertion"),
        ("assert f(1 == 2", "not valid Python"),
        ("assert True", "calls the program"),
        ("assert 1 == 1", "calls the program"),
        ("assert all(f(x) == y for x, y in [(1, 2)])", "one assertion per case"),
        ("assert (lambda x: f(x))(1) == 2", "one assertion per case"),
        ("assert f(" + "(" * 5_000 + ")" * 5_000 + ")", "not valid Python"),
        ("assert f(" + "-" * 90_000 + "1)", "not valid Python"),
        ("assert f('" + "x" * 2_000_000 + "')", "characters"),
    ],
)
def test_assertions_that_cannot_be_split_are_refused(source: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        split(source)


secrets = st.integers(10**6, 10**9) | st.text("abcdefgh", min_size=8, max_size=12)
forms = st.sampled_from(
    [
        "assert f(1) == {0!r}",
        "assert {0!r} == f(1)",
        "assert sorted(f([1])) == [{0!r}]",
        "assert f(1) in ({0!r}, {0!r})",
        "assert f(1) != {0!r} and not g(2) == {0!r}",
        "assert f(1)[0] is not {0!r}",
        "assert {{f(1): {0!r}}} == {{1: {0!r}}}",
        "assert len(f(1)) == len({0!r})",
        "assert (f(1), {0!r}) == (2, 3)",
        "assert max(f(1), {0!r}) == {0!r}",
        "assert f(1) if {0!r} else g(2)",
    ]
)


@given(secrets, forms)
def test_the_program_is_never_asked_with_what_is_expected(secret: Any, form: str) -> None:
    found = split(form.format(secret))
    assert all(repr(secret) not in call for call in found.calls)
    assert repr(secret) in found.check
    ast.parse(found.check)


def test_several_assertions_are_one_test() -> None:
    found = split("assert f(1) == 2\nassert not f(2) and g(3)")
    assert found.calls == ("f(1)", "f(2)", "g(3)")
    assert found.check == "assert answer_0 == 2\nassert not answer_1 and answer_2"


@pytest.mark.parametrize(
    ("cell", "calls", "check"),
    [
        ("x = 2\nassert f(1) == x", ["f(1)"], "assert answer_0 == x"),
        (
            {
                "test": "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2)",
                "entry_point": "f",
            },
            ["f(1)", "f(2)"],
            "assert answer_0 == 2\nassert answer_1",
        ),
        (
            {
                "test": "def check(c):\n    'x'\n    import math\n    assert c(1) == math.pi",
                "entry_point": "Solution().f",
            },
            ["Solution().f(1)"],
            "assert answer_0 == math.pi",
        ),
        ("from solution import f\n\ndef test_f():\n    assert f(1) == 2", ["f(1)"], "assert answer_0 == 2"),
        (
            {"fn_name": "f", "inputs": [[1]], "outputs": [[2]]},
            ["(Solution().f if 'Solution' in globals() else f)(*[1])"],
            "assert _any_equal(answer_0, [[2], 2])",
        ),
    ],
)
def test_tests_of_other_formats(cell: Any, calls: list[str], check: str) -> None:
    (found,) = assertions(read_tests(cell).script)
    assert list(found.calls) == calls
    assert found.check == check


@pytest.mark.parametrize(
    "cell",
    [
        "def test_f(x):\n    assert f(x) == 2",
        "def test_f():\n    for x in (1, 2):\n        assert f(x) == 2",
        "from solution import f as g\ndef test_f():\n    assert g(1) == 2",
        "class TestF:\n    def test_f(self):\n        assert f(1) == 2",
        "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_f(x):\n    assert f(x) == 2",
        "def test_f():\n    x = f(1)\n    assert x == 2",
        "def check(c):\n    assert c(1) == 2\ncheck(f)",
        "import solution\ndef test_f():\n    assert solution.f(1) == 2",
        "async def test_f():\n    assert f(1) == 2",
        ["for x in (1, 2):\n    assert f(x) == 2"],
        [{"input": "1", "output": "2", "testtype": "functional"}],
    ],
)
def test_what_a_service_cannot_be_asked_is_refused(cell: Any) -> None:
    with pytest.raises(ValueError, match="in a service"):
        assertions(read_tests(cell).script)


def test_a_helper_of_the_test_is_not_the_programs() -> None:
    (found,) = assertions(
        read_tests("def close(a, b):\n    return a == b\n\ndef test_f():\n    assert close(f(1), 2)").script
    )
    assert found.calls == ("f(1)",)
    assert "def close" in found.ground
