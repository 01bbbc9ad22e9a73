"""Gold cells with tests: their formats, and how outputs are compared."""

from __future__ import annotations

import base64
import json
import marshal
import pickle
import zlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.sandbox import cases
from rewardkit.rewards.sandbox.cases import EXACT, Printed, Rule, lines, read_tests

PAIR = {"input": "2\n", "output": "4\n"}
ASSERT = "assert f(1) == 2"


def shown(tests: cases.Tests) -> list[str]:
    return [step.shown for step in tests.script.steps]


def called(tests: cases.Tests) -> list[Any]:
    return [marshal.loads(step.call) for step in tests.script.steps]


# --- What a program prints -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        [PAIR],
        PAIR,
        [{"input": ["2", ""], "output": ["4"]}],
        [{"input": "2\n", "output": 4}],
        ({**PAIR, "output": "4", "testtype": "stdin"},),
        {"inputs": ["2\n"], "outputs": ["4\n"]},
        {"inputs": ["2\n"], "outputs": ["4\n"], "fn_name": None},
        {"input_output": json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]}), "difficulty": "easy"},
        {"language": "python", "test_cases": [{**PAIR, "type": "stdin_stdout", "fn_name": None}]},
        {"verification_info": {"language": "python", "test_cases": [PAIR]}},
        {"answer": {"test_cases": [PAIR]}, "type": "code_verifiable"},
        {"reward_model": {"style": "rule", "ground_truth": json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]})}},
        {"public_tests": {"input": ["2\n"], "output": ["4\n"]}, "private_tests": {"input": [], "output": []}},
        {"public_tests": [], "private_tests": [], "generated_tests": [PAIR]},
        {"input": ["2\n"], "output": ["4\n"]},
        {"public_test_cases": json.dumps([{**PAIR, "testtype": "stdin"}]), "metadata": "{}"},
        json.dumps(json.dumps([PAIR])),
    ],
)
def test_pairs(cell: Any) -> None:
    for form in (cell, json.dumps(cell), f" {json.dumps(cell, indent=1)}\n", repr(cell)):
        (test,) = read_tests(form).printed
        assert (test.given, test.expected) == (b"2\n", (b"4",))
        assert read_tests(form).script.steps == ()


def rule_of(cell: Any, tolerance: float | None = None) -> Rule:
    return read_tests(cell, tolerance).printed[0].rule


LIVE = rule_of([{**PAIR, "testtype": "stdin"}])
OPEN_R1 = rule_of({"test_cases": [{**PAIR, "type": "stdin_stdout"}]})
APPS = rule_of({"inputs": [""], "outputs": ["4"]})
CONTESTS = rule_of({"public_tests": [PAIR]})
TOLERANT = rule_of([PAIR], 1e-6)


@pytest.mark.parametrize(
    ("expected", "output", "accepted"),
    [
        ("4\n", "4", "exact live r1 apps contests tolerant"),
        ("1\n2\n", "1 \t\r\n2\n\n \n", "exact live r1 apps contests tolerant"),
        ("1\n2", " 1\n2", "live r1 apps contests tolerant"),
        ("1\n2", "\n1\n2", "live r1 apps contests"),
        ("1\n2", "1\n\n2", "apps contests"),
        ("1\n2", "1 2", "contests"),
        ("YES", "yes", "contests"),
        ("7", "7.0", "live apps contests tolerant"),
        ("0.5 1", "0.50 1.0", "live apps contests tolerant"),
        ("0.333333", "0.3333333333", "apps contests tolerant"),
        ("0.1", "0.10000000000000000001", "apps contests tolerant"),
        ("1000.5", "1000.5004", "tolerant apps"),
        ("x = 0.333333", "x = 0.3333333333", "contests tolerant"),
        ("x 1.0", "x 1", "contests tolerant"),
        ("x y", "x  y", "contests tolerant"),
        ("0.333333", "0.34", ""),
        ("1000000", "1000001", ""),
        ("10000000000000000000", "10000000000000000001", ""),
        ("1000000", "1000001.0", ""),
        ("4503599627370497.5", "nan", ""),
        ("nan", "nan", "exact live r1 apps contests tolerant"),
        ("1e400", "1e401", ""),
        ("1e400", "inf", ""),
        ("1" + "0" * 400, "1e400", "live apps contests tolerant"),
        ("9" * 9_000, "9" * 8_999 + "8", ""),
        ("inf", "1e999", ""),
        ("1", "True", ""),
        ("1", "1_0", ""),
        ("1", "\uff11", ""),
        ("1", "1 1", ""),
        ("1 2", "2 1", ""),
        ("", "0", ""),
        ("1e-9", "0", "contests tolerant apps"),
    ],
)
def test_the_rules_of_data_sets(expected: str, output: str, accepted: str) -> None:
    rules = {"exact": EXACT, "live": LIVE, "r1": OPEN_R1, "apps": APPS, "contests": CONTESTS, "tolerant": TOLERANT}
    found = {
        name
        for name, rule in rules.items()
        if not Printed(b"", rule.lines(expected.encode()), rule).problem(output.encode())
    }
    assert found == set(accepted.split())


@given(st.binary(), st.binary(), st.sampled_from([EXACT, LIVE, OPEN_R1, APPS, CONTESTS, TOLERANT]))
def test_every_rule_accepts_what_is_expected_and_never_raises(output: bytes, expected: bytes, rule: Rule) -> None:
    test = Printed(b"", rule.lines(expected), rule)
    assert test.problem(expected) == ""
    assert isinstance(test.problem(output), str)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-2e-6, 2e-6))
def test_a_tolerance_is_relative_or_absolute(number: float, share: float) -> None:
    rule = rule_of([PAIR], 1e-6)
    other = number * (1 + share)
    near = abs(other - number) <= max(1e-6, 1e-6 * abs(number)) and abs(other) != float("inf")
    assert rule.same(repr(other).encode(), repr(number).encode()) == near


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (b"1", "printed '1', not 2 lines"),
        (b"", "printed nothing, not 2 lines"),
        (b"1\n2\n3", "printed 3 lines, not 2 lines"),
        (b" 1\n2", "printed ' 1' in line 1, not '1'"),
        (b"1\n2.0", "printed '2.0' in line 2, not '2'"),
        ("1\n２".encode(), "printed '２' in line 2, not '2'"),
        (b"1\n2\xa0", "printed '2\ufffd' in line 2, not '2'"),
        ("1\u20282".encode(), r"printed '1\u20282', not 2 lines"),
        (b"1\n\xff", "printed '\ufffd' in line 2, not '2'"),
    ],
)
def test_what_differs(output: bytes, problem: str) -> None:
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


# --- Calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "calls"),
    [
        (
            {"fn_name": "add", "inputs": [[1, 2], [[]]], "outputs": [3, [[]]]},
            [("add", [1, 2], [3]), ("add", [[]], [[[]]])],
        ),
        (
            {"fn_name": "add", "inputs": [[1, 2], [[]]], "outputs": [[3], [[]]]},
            [("add", [1, 2], [[3], 3]), ("add", [[]], [[[]], []])],
        ),
        ({"fn_name": "f", "inputs": [[{"1": 2}]], "outputs": [{"-3": 4}]}, [("f", [{1: 2}], [{-3: 4}])]),
        ({"fn_name": "f", "inputs": [[{"a": 2}]], "outputs": [[1, 2]]}, [("f", [{"a": 2}], [[1, 2]])]),
        ({"fn_name": "Solution.f", "inputs": [[]], "outputs": [1]}, [("f", [], [1])]),
        (
            [{"input": '[3, 8]\n"x"\n', "output": "[0]", "testtype": "functional"}],
            [(None, [[3, 8], "x"], [[0]])],
        ),
        (
            {
                "public_test_cases": [{"input": "1", "output": "true", "testtype": "functional"}],
                "private_test_cases": "[]",
                "metadata": '{"func_name": "f"}',
            },
            [("f", [1], [True])],
        ),
        (
            [{"input": "1\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "f"}}],
            [("f", [1, 2], [3])],
        ),
        ({"inputs": ["1\n[2]"], "outputs": ["null"], "fn_name": "f"}, [("f", [1, [2]], [None])]),
        (
            {"test_cases": [{"type": "function_call", "fn_name": "f", "input": [1], "output": [2]}]},
            [("f", [1], [[2], 2])],
        ),
    ],
)  # fmt: skip
def test_calls(cell: Any, calls: list[Any]) -> None:
    for form in (cell, json.dumps(cell)):
        tests = read_tests(form)
        assert called(tests) == calls
        assert tests.prelude
        assert tests.printed == ()


def test_both_kinds_in_one_cell() -> None:
    tests = read_tests([{**PAIR, "testtype": "stdin"}, {"input": "1", "output": "2", "testtype": "functional"}])
    assert len(tests.printed) == len(tests.script.steps) == 1


def test_numbers_with_many_digits() -> None:
    tests = read_tests('[{"input": "1", "output": "%s", "testtype": "functional"}]' % ("7" * 6_000))
    assert called(tests)[0][2] == [int("7" * 4_000) * 10**2_000 + int("7" * 2_000)]


# --- LiveCodeBench's private tests ------------------------------------------------------------------------------


def encoded(value: Any, protocol: int = 4) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_private_tests_are_read_without_unpickling(protocol: int) -> None:
    text = json.dumps([{"input": "é" * 500, "output": "4", "testtype": "stdin"}])
    row = {"public_test_cases": "[]", "private_test_cases": encoded(text, protocol)}
    for cell in (row, row["private_test_cases"], json.dumps(row)):
        assert [test.given for test in read_tests(cell).printed] == [("é" * 500).encode()]
    plain = base64.b64encode(zlib.compress(text.encode())).decode()
    assert read_tests(plain).printed[0].expected == (b"4",)


class Runs:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('unpickled')",))


@pytest.mark.parametrize("value", [Runs(), ["a"], {"input": 1}, ("a", "b"), 5, b"[]"])
def test_other_pickles_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a pickle of more than one string"):
        read_tests(encoded(value))


def test_encoded_cells_that_are_broken_or_a_bomb_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    good = encoded("[]")
    for cell in (good[:-8], good[:4] + "AAAA" + good[8:], "eJ", "eJ" + "A" * 50):
        with pytest.raises(ValueError, match=r"."):
            read_tests(cell)
    monkeypatch.setattr("rewardkit.rewards.sandbox.cases._MOST_DECODED", 1_000)
    with pytest.raises(ValueError, match="1,000 bytes"):
        read_tests(encoded("x" * 2_000))


# --- Test code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        [ASSERT, "assert f(math.pi)"],
        {"setup": "import math", "asserts": [ASSERT, "assert f(math.pi)"]},
        {"test_setup_code": "", "test_imports": ["import math"], "test_list": [ASSERT, "assert f(math.pi)"]},
        {"test_list": [ASSERT], "challenge_test_list": ["assert f(math.pi)"], "code": "def f(x): ..."},
        {"ground_truth": [ASSERT, "assert f(math.pi)"]},
    ],
)
def test_assertions(cell: Any) -> None:
    for form in (cell, json.dumps(cell), repr(cell)):
        assert shown(read_tests(form)) == [ASSERT, "assert f(math.pi)"]


@pytest.mark.parametrize("key", ["test", "test_code", "functional"])
def test_code_under_the_names_of_data_sets(key: str) -> None:
    code = "def test_f():\n    assert f(1) == 2"
    assert shown(read_tests({key: code, "question": "Double."})) == ["test_f"]
    assert shown(read_tests({"tests": {key: code}})) == ["test_f"]
    assert shown(read_tests(code)) == ["test_f"]


def test_the_prompt_of_human_eval_brings_its_helpers() -> None:
    row = {
        "prompt": 'import math\n\ndef half(x):\n    return x / 2\n\ndef f(x):\n    """Return x."""\n',
        "test": "def check(candidate):\n    assert half(candidate(4)) == 2",
        "entry_point": "f",
    }
    tests = read_tests(row)
    assert shown(tests) == ["check(f)"]
    assert "def half" in tests.before
    assert "def f" not in tests.before
    with pytest.raises(ValueError, match=r"'half' is not defined in the test\. Add 'prompt'"):
        read_tests({**row, "prompt": "Write a function that returns x."})
    with pytest.raises(ValueError, match="'entry_point'"):
        read_tests({"test": row["test"]})


def test_the_style_of_leetcode_brings_what_leetcode_provides() -> None:
    tests = read_tests(
        {"functional": "def check(candidate):\n    assert candidate(list_node([1]))\ncheck(Solution().f)"}
    )
    assert tests.prelude
    assert "class ListNode" in tests.before
    assert "ListNode" not in read_tests("from solution import *\ndef test_f():\n    assert f(ListNode(1))").before


# --- What is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("", "no tests"),
        ("[]", "non-empty list of tests"),
        ([], "non-empty list of tests"),
        ("null", "non-empty list of tests"),
        (5, "non-empty list of tests"),
        ("five", "no tests"),
        ("five !", "not valid Python"),
        ("[" * 10_000, "neither JSON nor a Python literal"),
        ('[{"input": "2" "output": "4"}]', "neither JSON nor a Python literal"),
        ([PAIR, ASSERT], "test 2 must be"),
        ([{"input": "2"}], "test 1 must be"),
        ([PAIR, {"input": "2", "output": None}], "test 2 must contain text, got None"),
        ([{"input": "2", "output": 0.5}], "must contain text"),
        ([{"input": "2", "output": True}], "must contain text"),
        ([{"input": "2", "output": "\ud800"}], "surrogates"),
        ([{"input": "2", "output": "x" * 4_000_001}], "4,000,000"),
        ([{**PAIR, "testtype": "interactive"}], "test 1 has the unknown type 'interactive'"),
        ([{**PAIR, "type": 5}], "unknown type"),
        ({"language": "cpp", "test_cases": [PAIR]}, "programs in 'cpp'"),
        (["f(1) == 2"], "must be an assertion"),
        (["assert 1 == 1"], "calls the program"),
        ({"asserts": []}, "asserts: expected"),
        ({"asserts": [5]}, "source must be text"),
        ({"setup": 5, "asserts": [ASSERT]}, "source must be text"),
        ({"setup": "import", "asserts": [ASSERT]}, "not valid Python"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "1 inputs and 2 outputs"),
        ({"inputs": [], "outputs": []}, "non-empty"),
        ({"inputs": [[1]], "outputs": [1]}, "must contain text"),
        ({"fn_name": "f", "inputs": [5], "outputs": [1]}, "lists of arguments"),
        ({"fn_name": "f", "inputs": ["x"], "outputs": ["1"]}, "JSON value in each line"),
        ({"fn_name": "f(", "inputs": [[1]], "outputs": [1]}, "name of a function"),
        ({"fn_name": "f", "inputs": [], "outputs": []}, "non-empty"),
        ([{"input": "1", "output": "1e400", "testtype": "functional"}], "1e400' is too large"),
        ({"public_tests": {"input": [], "output": []}}, "non-empty"),
        ({"public_test_cases": "[]", "private_test_cases": "[]"}, "non-empty"),
    ],
)
def test_cells_without_tests_are_refused(cell: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_tests(cell)


@pytest.mark.parametrize(
    ("cell", "nearest"),
    [
        ({}, "unknown format"),
        ({"stdin": "1", "stdout": "2"}, "unknown format"),
        ({"Inputs": ["1"], "Outputs": ["2"]}, "'inputs' and 'outputs'"),
        ({"public_test_case": [], "private_test_case": []}, "'public_test_cases' and 'private_test_cases'"),
        ({"public_test": [], "private_test": []}, "'public_tests' and 'private_tests'"),
        ({"test_setup": "", "tests_list": [ASSERT]}, "'test_setup_code' and 'test_list'"),
        ({"setup": "", "assertions": [ASSERT]}, "'setup' and 'asserts'"),
        ({"entrypoint": "f", "testing": "x"}, "'test' and 'entry_point'"),
        ({5: 1, None: 2}, "unknown format"),
    ],
)
def test_an_unknown_format_names_the_nearest(cell: Any, nearest: str) -> None:
    with pytest.raises(ValueError, match=nearest):
        read_tests(cell)
