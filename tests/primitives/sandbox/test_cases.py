"""Gold cells with tests: their formats, and how outputs are compared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.primitives.sandbox.cases import Printed, lines, read_tests

PAIR = {"input": "2\n", "output": "4\n"}
ASSERT = "assert f(1) == 2"


@pytest.mark.parametrize(
    "cell",
    [
        [PAIR],
        ({**PAIR, "output": "4", "testtype": "stdin"},),
        [{"input": ["2", ""], "output": ["4"]}],
        [{"input": "2\n", "output": 4}],
        {"inputs": ["2\n"], "outputs": ["4\n"]},
    ],
)
def test_pairs(cell: Any) -> None:
    for form in (cell, json.dumps(cell), f" {json.dumps(cell, indent=1)}\n", repr(cell)):
        assert read_tests(form).printed == (Printed(b"2\n", (b"4",)),)
        assert read_tests(form).asserted == ()


@pytest.mark.parametrize(
    "cell",
    [
        [ASSERT, "assert f(math.pi)"],
        {"setup": "import math", "asserts": [ASSERT, "assert f(math.pi)"]},
        {"test_setup_code": "", "test_imports": ["import math"], "test_list": [ASSERT, "assert f(math.pi)"]},
    ],
)
def test_assertions(cell: Any) -> None:
    for form in (cell, json.dumps(cell), repr(cell)):
        tests = read_tests(form).asserted
        assert [test.shown for test in tests] == [ASSERT, "assert f(math.pi)"]
        assert tests[1].calls == ("f(math.pi)",)


def test_lines_of_python() -> None:
    tests = read_tests("import math\nassert f(1) == 2\n\nassert f(2) == math.pi\n").asserted
    assert [test.check for test in tests] == ["assert answer_0 == 2", "assert answer_0 == math.pi"]
    assert {test.setup for test in tests} == {"import math"}


def test_calls_by_name() -> None:
    tests = read_tests({"fn_name": "add", "inputs": [[1, 2], [[]]], "outputs": [3, [[]]]}).asserted
    assert [test.shown for test in tests] == ["add(*[1, 2]) == 3", "add(*[[]]) == [[]]"]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("", "neither JSON nor assertions"),
        ("[]", "non-empty list of tests"),
        ([], "non-empty list of tests"),
        ("null", "non-empty list of tests"),
        (5, "non-empty list of tests"),
        ("{}", "'inputs' and 'outputs'"),
        ("five", "neither JSON nor assertions"),
        ("five !", "neither JSON nor assertions"),
        ("[" * 10_000, "neither JSON nor assertions"),
        ([PAIR, ASSERT], "test 2 must be"),
        ([{"input": "2"}], "test 1 must be"),
        ([PAIR, {"input": "2", "output": None}], "test 2 must have text, got None"),
        ([{"input": "2", "output": 0.5}], "must have text"),
        ([{"input": "2", "output": True}], "must have text"),
        ([{"input": "2", "output": "\ud800"}], "surrogates"),
        ([{"input": "2", "output": "x" * 4_000_001}], "4,000,000"),
        (["f(1) == 2"], "one assertion"),
        (["assert 1 == 1"], "calls the program"),
        ({"asserts": []}, "asserts: expected"),
        ({"asserts": [5]}, "source must be text"),
        ({"setup": 5, "asserts": [ASSERT]}, "source must be text"),
        ({"setup": "import", "asserts": [ASSERT]}, "not valid Python"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "1 inputs and 2 outputs"),
        ({"inputs": [], "outputs": []}, "inputs: expected"),
        ({"inputs": [[1]], "outputs": [1]}, "must have text"),
        ({"fn_name": "f", "inputs": ["1"], "outputs": [1]}, "lists of arguments"),
        ({"fn_name": "f(", "inputs": [[1]], "outputs": [1]}, "name of a function"),
        ("for x in [1]:\n    assert f(x) == 2\nassert f(1) == 2", "neither JSON nor assertions"),
    ],
)
def test_cells_without_tests_are_refused(cell: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_tests(cell)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (b"1\n2\n", ""),
        (b"1 \t\r\n2\n\n \n", ""),
        (b"1", "printed '1', not 2 lines"),
        (b"", "printed nothing, not 2 lines"),
        (b"1\n2\n3", "printed 3 lines, not 2 lines"),
        (b"\n1\n2", "printed 3 lines, not 2 lines"),
        (b"1\n\n2", "printed 3 lines, not 2 lines"),
        (b"1 2", "printed '1 2', not 2 lines"),
        (b" 1\n2", "printed ' 1' in line 1, not '1'"),
        (b"1\n2.0", "printed '2.0' in line 2, not '2'"),
        ("1\n２".encode(), "printed '２' in line 2, not '2'"),
        (b"1\n2\xa0", "printed '2\ufffd' in line 2, not '2'"),
        ("1\u20282".encode(), r"printed '1\u20282', not 2 lines"),
        (b"1\n\xff", "printed '\ufffd' in line 2, not '2'"),
    ],
)
def test_outputs_are_equal_but_for_white_space_at_line_ends(output: bytes, problem: str) -> None:
    assert Printed(b"", lines(b"1\n2\n")).problem(output) == problem


@given(st.binary(), st.binary())
def test_only_equal_lines_are_equal(output: bytes, expected: bytes) -> None:
    problem = Printed(b"", lines(expected)).problem(output)
    assert (problem == "") is (lines(output) == lines(expected))


@given(st.lists(st.text(st.characters(exclude_characters="\n \t\r\v\f", exclude_categories=["Cs"]))))
def test_white_space_at_line_ends_is_all_that_is_forgiven(words: list[str]) -> None:
    plain, padded = "\n".join(words).encode(), "".join(f"{word} \t\r\n" for word in words).encode()
    assert lines(plain) == lines(padded)
    assert b"\n".join(lines(plain)) == plain.rstrip(b"\n")
