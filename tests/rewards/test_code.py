"""Programs: their scores, and which failures are not scores."""

from __future__ import annotations

import base64
import json
import pickle
import time
import zlib
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import SandboxFailure
from rewardkit.rewards import code as module
from rewardkit.rewards.code import Program, code_runs, code_tests
from rewardkit.rewards.sandbox import isolation
from rewardkit.rewards.sandbox.cases import read_tests
from rewardkit.rewards.sandbox.isolation import chosen


@pytest.fixture(autouse=True, scope="session")
def sandbox() -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))


def scored(reward: rk.Reward, completions: list[str], tests: Any) -> tuple[list[float], list[str]]:
    table = rk.score(reward, completions, tests=[tests] * len(completions))
    (name,) = table.components
    return table.total.tolist(), table.notes[name]


DOUBLES = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]
ADDS = ["assert add(1, 2) == 3", "assert add(40, 2) == 42"]


# --- Credit --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "partial", "note"),
    [
        ("print(int(input()) * 2)", 1.0, ""),
        ("print(4)", 0.5, "passed 1 of 2; test 2: printed '4', not '6'"),
        ("print(5)", 0.0, "passed 0 of 2; test 1: printed '5', not '4'; test 2: printed '5', not '6'"),
        ("n = int(input())\nprint(n * 2 if n < 3 else 1 / 0)", 0.5, "passed 1 of 2; test 2: ZeroDivisionError"),
        ("print(", 0.0, "passed 0 of 2; test 1: SyntaxError: '(' was never closed (line 1); test 2: skipped"),
    ],
)
def test_credit_for_what_is_printed(program: str, partial: float, note: str) -> None:
    values, notes = scored(code_tests("tests"), [program], DOUBLES)
    assert values == [partial]
    assert notes[0].startswith(note)
    assert bool(notes[0]) is bool(note)
    values, notes = scored(code_tests("tests", credit="binary"), [program], json.dumps(DOUBLES))
    assert values == [float(partial == 1.0)]
    assert bool(notes[0]) is bool(note)


@pytest.mark.parametrize(
    ("program", "value", "note"),
    [
        ("def add(a, b):\n    return a + b", 1.0, ""),
        ("def add(a, b):\n    print('adding')\n    return sum((a, b))", 1.0, ""),
        ("add = lambda *numbers: sum(numbers)\nif __name__ == '__main__':\n    print(add(*input()))", 1.0, ""),
        ("class Add:\n    def __call__(self, a, b):\n        return float(a + b)\nadd = Add()", 1.0, ""),
        ("def add(a, b):\n    return 3", 0.5, "passed 1 of 2; test 2: add(40, 2) is 3: 'assert add(40, 2) == 42'"),
        ("def add(a, b):\n    pass", 0.0, "passed 0 of 2; test 1: add(1, 2) is None: 'assert add(1, 2) == 3'"),
        ("def plus(a, b):\n    return a + b", 0.0, "passed 0 of 2; test 1: NameError: name 'add' is not defined"),
        (
            "def add(a, b):\n    return object()",
            0.0,
            "passed 0 of 2; test 1: add(1, 2) is of type object: 'assert add(1, 2) == 3'",
        ),
        ("def add(a, b):\n    while True: pass", 0.0, "passed 0 of 2; test 1: "),  # it took too much time
    ],
)
def test_credit_for_what_is_computed(program: str, value: float, note: str) -> None:
    values, notes = scored(code_tests("tests", timeout=0.5), [program], ADDS)
    assert values == [value]
    assert notes[0].startswith(note)
    assert bool(notes[0]) is bool(note)


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("def f(n):\n    yield from range(n)", ["assert list(f(3)) == [0, 1, 2]"]),
        ("import math\ndef f(r):\n    return math.pi * r", ["assert math.isclose(f(1), 3.14159, rel_tol=1e-4)"]),
        (
            "def f(r):\n    return 3.14159 * r",
            {"setup": "import math", "asserts": ["assert abs(f(1) - math.pi) < 0.01"]},
        ),
        ("from collections import Counter\ndef f(x):\n    return Counter(x)", ["assert f('aab') == {'a': 2, 'b': 1}"]),
        (
            "def f(x):\n    return {1, 2}, [None], -0.5, 'é', b'x', 1j",
            ["assert f(0)==({2, 1}, [None], -0.5, 'é', b'x', 1j)"],
        ),
        ("def f(n):\n    return n * f(n - 1) if n else 1", ["assert f(900) % 900 == 0", "assert f(5) == 120"]),
        ("def sum(a, b):\n    return a + b", ["assert sum(10, 5) == 15"]),
        (
            "def f(x):\n    return x > 1",
            ["assert f(2)", "assert not f(1)", "assert f(2) is True", "assert f(1) != f(2)"],
        ),
        (
            "class Node:\n    def __init__(self, x):\n        self.x, self.left = x, None\n"
            "def height(n):\n    return 1 + height(n.left) if n else 0",
            {"setup": "root = Node(1)\nroot.left = Node(2)", "asserts": ["assert (height(root)) == 2"]},
        ),
        ("class Solution:\n    def add(self, a, b):\n        return a + b", ["assert Solution().add(1, 2) == 3"]),
        ("def add(a, b):\n    return (a + b,)", {"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]}),
        (
            "class Solution:\n    def add(self, a, b):\n        return a + b",
            {"fn_name": "add", "inputs": [[1, 2], [2, 2]], "outputs": [[3], [4]]},
        ),
        ("def f():\n    return [[1, (2,)]]", "assert f() == [[1, (2,)]]\nassert len(f()) == 1"),
    ],
)
def test_what_tests_look_like(program: str, tests: Any) -> None:
    assert scored(code_tests("tests"), [f"```python\n{program}\n```"], tests) == ([1.0], [""])


def test_a_batch_overlaps_and_keeps_its_order() -> None:
    programs = [f"print(int(input()) * {factor})" for factor in range(8)]
    assert scored(code_tests("tests"), programs, DOUBLES)[0] == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    waiting = module.CodeTests(module._room("", 2.0, 256, False, False), "partial")("print(4)", read_tests(DOUBLES))
    assert isinstance(waiting, Future)
    assert waiting.result() == rk.Score(0.5, "passed 1 of 2; test 2: printed '4', not '6'")


def test_a_neighbor_keeps_its_score() -> None:
    programs = ["print(int(input()) * 2)", "while True: print('x' * 10**5)", "x = [0] * 10**9", "print(4)"] * 2
    assert scored(code_tests("tests", timeout=0.5), programs, DOUBLES)[0] == [1.0, 0.0, 0.0, 0.5] * 2


ROWS = {
    "LiveCodeBench, functions": (
        "class Solution:\n    def pair(self, x: List[int], t: int) -> List[int]:\n"
        "        return next([i, j] for j in range(len(x)) for i in range(j) if x[i] + x[j] == t)",
        {
            "public_test_cases": '[{"input": "[3, 8, 10]\\n11", "output": "[0, 1]", "testtype": "functional"}]',
            "private_test_cases": base64.b64encode(
                zlib.compress(pickle.dumps('[{"input": "[1, 1]\\n2", "output": "[0, 1]", "testtype": "functional"}]'))
            ).decode(),
            "metadata": '{"func_name": "pair"}',
        },
    ),
    "LiveCodeBench, programs": (
        "n = int(stdin.readline())\nprint(gcd(n, 6), Counter('aab')['a'])\nexit()",
        [{"input": "4", "output": "2.0  2", "testtype": "stdin"}],
    ),
    "APPS": ("import sys\nprint(1 / int(sys.stdin.read()))", {"inputs": ["3\n"], "outputs": ["0.333333\n\n"]}),
    "TACO": (
        "def f(d): return {k: v + 1 for k, v in d.items()}",
        {"fn_name": "f", "inputs": [[{"1": 1}]], "outputs": [{"1": 2}]},
    ),
    "open-r1": (
        "print(sum(map(int, input().split())))",
        {
            "language": "python",
            "test_cases": [{"fn_name": None, "type": "stdin_stdout", "input": "3 4\n", "output": "7\n"}],
        },
    ),
    "KodCode": (
        "def add(a, b): return a + b",
        "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3",
    ),
    "CodeContests": ("print('yes', 0.1 + 0.2)", {"public_tests": {"input": [""], "output": ["YES 0.3"]}}),
    "HumanEval": (
        "def f(xs):\n    return poly(xs, 2)",
        {
            "prompt": "def poly(xs, x):\n    return sum(c * x ** i for i, c in enumerate(xs))\n\n"
            "def f(xs):\n    'Return P(2).'\n",
            "test": "METADATA = {}\n\ndef check(candidate):\n    for n in range(5):\n"
            "        assert candidate([n, 1]) == poly([n, 1], 2)",
            "entry_point": "f",
        },
    ),
    "MBPP": (
        "def f(x): return math.sqrt(x)",
        {
            "test_setup_code": "import math",
            "test_list": ["assert f(4) == 2"],
            "challenge_test_list": ["assert f(9) == 3"],
        },
    ),
    "LeetCode": (
        "class Solution:\n    def reverse(self, head: Optional[ListNode]) -> Optional[ListNode]:\n        last = None\n"
        "        while head: head.next, last, head = last, head, head.next\n        return last",
        {
            "functional": "def check(candidate):\n"
            "    assert is_same_list(candidate(head=list_node([1, 2])), list_node([2, 1]))\n\ncheck(Solution().reverse)"
        },
    ),
    "unittest": (
        "class Pile(list): pass",
        "class T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(len(Pile()), 0)",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_data_sets(name: str) -> None:
    program, row = ROWS[name]
    for cell in (row, json.dumps(row)):
        assert scored(code_tests("tests"), [f"```python\n{program}\n```"], cell) == ([1.0], [""])
    values, notes = scored(code_tests("tests"), ["```python\nprint(5)\n```"], row)
    assert values == [0.0]
    assert notes[0]


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("class Solution:\n    def f(self, x): return x + 1", 1.0),
        ("class Solution:\n    def f(self, x): return self.g(x)\n    def g(self, x): return x + 1", 1.0),
        ("class Solution:\n    def _h(self, x): return 0\n    def f(self, x): return x + 1", 1.0),
        ("class Solution:\n    def g(self): return 0\n    def f(self, x): return x + 1", 1.0),
        ("class Node: pass\nclass Solution:\n    @staticmethod\n    def f(x): return x + 1", 1.0),
        ("import math\ndef g(x): return x\ndef f(x): return g(x) + 1", 1.0),
        ("def f(x):\n    return f(x - 1) + 1 if x else 1", 1.0),
        ("def f(x, y): return x + 1", 0.0),
        ("class Solution:\n    def f(self, x): return x", 0.0),
        ("f = 5", 0.0),
    ],
)
def test_a_function_without_a_name(program: str, value: float) -> None:
    tests = [{"input": "1", "output": "2", "testtype": "functional"}]
    assert scored(code_tests("tests"), [program], tests)[0] == [value]


def test_what_judges_of_contests_allow() -> None:
    for program, tests in (
        ("print(open('/dev/stdin').read())", [{"input": "4", "output": "4"}]),
        ("import sys\nsys.stdin = open('/dev/stdin')\nprint(input())", [{"input": "4", "output": "4"}]),
        ("from pathlib import Path\nprint(Path('/dev/stdin').read_text())", [{"input": "4", "output": "4"}]),
        ("print(int('7' * 9_000))", [{"input": "", "output": "7" * 9_000}]),
        (
            "def f(n):\n    return n and f(n - 1) + 1\nprint(f(9_000))",
            [{"input": "", "output": "9000", "testtype": "stdin"}],
        ),
    ):
        assert scored(code_tests("tests"), [program], tests) == ([1.0], [""])
        assert rk.score(code_runs("tests"), [program], tests=[tests]).total.tolist() == [1.0]


def test_a_tolerance_is_for_numbers_alone() -> None:
    tests = {"fn_name": "f", "inputs": [[0]], "outputs": [[0.3, [2], "0.3", True]]}
    reward = code_tests("tests", tolerance=1e-6)
    for value, right in (
        ("(0.1 + 0.2, [2.0], '0.3', True)", 1.0),
        ("[0.30000000001, [1.99999999], '0.3', True]", 1.0),
        ("[0.3, [2], '0.30000000001', True]", 0.0),
        ("[0.3, [2], '0.3', 1]", 0.0),
        ("[0.301, [2], '0.3', True]", 0.0),
        ("[float('nan'), [2], '0.3', True]", 0.0),
        ("[0.3, [2, 2], '0.3', True]", 0.0),
        ("[10 ** 400, [2], '0.3', True]", 0.0),
    ):
        assert scored(reward, [f"def f(x): return {value}"], tests)[0] == [right], value


# --- Failures that are not scores ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell", ["", "[]", [], "x", 5, [{"input": "1"}], ["f(1) == 2"], ["assert 1"], {"asserts": []}, {"a": 1}]
)
def test_bad_tests_are_coercion_errors(cell: Any) -> None:
    for reward in (code_tests("tests"), code_runs("tests")):
        with pytest.raises(rk.errors.CoercionError, match=r"reward 'code_(tests|runs)'.*column 'tests', row 1"):
            rk.score(reward, ["print(4)"] * 2, tests=[DOUBLES, cell])


def test_set_up_code_finds_what_it_imports() -> None:
    tests = {"setup": "import numpy as np", "asserts": ["assert np.allclose(f(1), 0.5)"]}
    program = "def f(x): return x / 2"
    assert scored(code_tests("tests", packages=True, memory=1024), [program], tests) == ([1.0], [""])
    with pytest.raises(rk.errors.CoercionError, match=r"imports numpy.*packages=True"):
        scored(code_tests("tests"), [program], tests)
    with pytest.raises(rk.errors.CoercionError, match="imports nosuchthing, which is not installed"):
        scored(code_tests("tests", packages=True), [program], {**tests, "setup": "import nosuchthing as np"})


def test_a_row_without_tests_abstains() -> None:
    assert rk.score(code_tests("tests"), ["a"], tests=[None]).outcomes["code_tests"].tolist() == ["abstained"]


@pytest.mark.parametrize("reward", [code_tests("tests"), code_runs("tests")])
def test_a_sandbox_that_does_not_launch_is_a_failure(reward: rk.Reward, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: bool) -> None:
        raise SandboxFailure("no sandbox works here")

    monkeypatch.setattr(module, "chosen", refuse)
    table = rk.score(reward, ["print(4)", ""], tests=[DOUBLES] * 2)
    (name,) = table.components
    assert table.outcomes[name].tolist() == ["failed", "scored"]
    assert table.notes[name] == ["no sandbox works here", "no program found"]


def test_a_sandbox_that_breaks_later_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "chosen", lambda **_: isolation.Isolation("broken", ("false",)))
    for tests in (DOUBLES, ADDS):
        table = rk.score(code_tests("tests"), ["print(4)"], tests=[tests])
        assert table.outcomes["code_tests"].tolist() == ["failed"]


def test_unsafe_is_said_and_works() -> None:
    reward = code_tests("tests", unsafe=True)
    assert repr(reward) == "code_tests('tests', unsafe=True)"
    assert scored(reward, ["print(int(input()) * 2)", "import os\nos.fork()"], DOUBLES)[0] == [1.0, 0.0]


# --- Running -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "value", "note"),
    [
        ("print('hello')", 1.0, ""),
        ("```python\nx = 1\n```", 1.0, ""),
        ("import sys\nsys.exit(0)", 1.0, ""),
        ("", 0.0, "no program found"),
        ("# nothing\n\n   # to see", 0.0, "no program found"),
        ("<think>print(1)</think>", 0.0, "no program found"),
        ("I would add them up.", 0.0, "SyntaxError"),
        ("print(hello)", 0.0, "NameError: name 'hello' is not defined (line 1)"),
        ("import sys\nsys.exit(1)", 0.0, "ended by SystemExit: 1"),
        ("import os\nos._exit(0)", 0.0, "ended early"),
        ("while True: pass", 0.0, "took more than 0.5 s"),
        ("import atexit, os\natexit.register(os._exit, 1)", 0.0, "ended with exit code 1"),
    ],
)
def test_code_runs(program: str, value: float, note: str) -> None:
    table = rk.score(code_runs(timeout=0.5), [program])
    assert table.total.tolist() == [value]
    assert table.notes["code_runs"][0].startswith(note)
    assert bool(table.notes["code_runs"][0]) is bool(note)


def test_code_runs_with_the_input_of_the_first_test() -> None:
    assert rk.score(code_runs("tests"), ["print(int(input()))"], tests=[DOUBLES]).total.tolist() == [1.0]
    assert rk.score(code_runs("tests"), ["def add(a, b): 0"], tests=[ADDS]).total.tolist() == [1.0]
    assert rk.score(code_runs(), ["print(int(input()))"]).total.tolist() == [0.0]


def test_a_gate_spares_what_it_closes() -> None:
    reward = rk.gate(when=code_runs("tests"), then=code_tests("tests"))
    table = rk.score(reward, ["print(4)", "print(four)"], tests=[DOUBLES] * 2)
    assert table.total.tolist() == [0.5, 0.0]
    assert table.outcomes["code_tests"].tolist() == ["scored", "skipped"]


# --- Finding the program -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("completion", "program"),
    [
        ("print(1)", "print(1)"),
        ("So:\n```python\nprint(1)\n```\nDone.", "print(1)"),
        ("```py\nprint(1)\n```", "print(1)"),
        ("```Python3\nprint(1)\n```", "print(1)"),
        ("```\nprint(1)\n```", "print(1)"),
        ("```python\nprint(1)\n```\n```python\nprint(2)\n```", "print(2)"),
        ("```python\nprint(1)\n```\nIt prints:\n```\n1\n```", "print(1)"),
        ("~~~python\nprint(1)\n~~~", "print(1)"),
        ("~~~\nprint(1)\n~~~", "print(1)"),
        ("print('~~~')", "print('~~~')"),
        ("```python title='a'\nprint(1)\n```", "print(1)"),
        ("```python3.11\nprint(1)\n```", "print(1)"),
        ("```pytb\nprint(1)\n```", None),
        (
            '```python\ndef f():\n    """\n    ```\n    x\n    ```\n    """\n```',
            'def f():\n    """\n    ```\n    x\n    ```\n    """',
        ),
        (
            "2. So:\n\n        ```python\n        if 1:\n            print(1)\n        ```\n\nDone.",
            "if 1:\n    print(1)",
        ),
        ("- ```python\n  print(1)\n  ```", "print(1)"),
        ("```bash\nls\n```", None),
        ("```python\nprint(1)", None),
        ("```python\nprint(1)\n```\n```python\n", "print(1)"),
        ("<think>```python\nprint(1)\n```</think>", None),
        ("<think>```python\nprint(1)\n```</think>```python\nprint(2)\n```", "print(2)"),
        ("<answer>print(1)</answer>", "print(1)"),
        ("<answer>\n```python\nprint(1)\n```\n</answer>", "print(1)"),
        ("<answer>1</answer><answer>2</answer>", None),
        ("1. As a list:\n   ```python\n   if 1:\n       print(1)\n   ```", "if 1:\n    print(1)"),
        ("```python\n# todo\n```", None),
        ("", None),
        (" \n", None),
        ("x" * 200_001, None),
    ],
)
def test_the_program_in_a_completion(completion: str, program: str | None) -> None:
    assert Program()(completion) == program


def test_another_extractor() -> None:
    reward = code_tests("tests", extract=rk.extract.tag("code"))
    assert scored(reward, ["<code>print(int(input()) * 2)</code>", "print(int(input()) * 2)"], DOUBLES)[0] == [1.0, 0.0]


@given(st.text() | st.text("`python\n <answer>/#x"))
def test_finding_a_program_never_raises(completion: str) -> None:
    found = Program()(completion)
    assert found is None or found.strip()


# --- Laws ----------------------------------------------------------------------------------------------

SNIPPETS = """
print(input())
import sys
sys.exit()
1 / 0
def add(a, b):
    return a + b
    return 3
print(4)
x = input()
if x:
print(int(input()) * 2)
    print(6)
import os
os._exit(0)
"""
snippets = st.sampled_from(SNIPPETS.strip().split("\n"))


@pytest.mark.slow
@given(st.text(max_size=50) | st.lists(snippets, max_size=5).map("\n".join))
def test_any_text_is_scored_within_bounds(completion: str) -> None:
    for tests in (DOUBLES, ADDS):
        reward = code_tests("tests", timeout=0.5)
        table = rk.score(reward, [completion, completion + " "], tests=[tests] * 2)
        assert set(table.outcomes["code_tests"].tolist()) == {"scored"}
        assert set(table.total.tolist()) <= {0.0, 0.5, 1.0}
        binary = rk.score(code_tests("tests", timeout=0.5, credit="binary"), [completion], tests=[tests])
        assert binary.total[0] == float(table.total[0] == 1.0)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=4))
def test_printing_what_is_expected_earns_everything(outputs: list[str]) -> None:
    tests = [{"input": str(number), "output": output} for number, output in enumerate(outputs)]
    program = f"print({outputs!r}[int(input())])"
    assert scored(code_tests("tests"), [program], tests) == ([1.0], [""])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(values, values)
def test_assertions_hold_where_python_says_so(value: Any, expected: Any) -> None:
    program = f"def f():\n    return {value!r}"
    tests = [f"assert f() == {expected!r}", f"assert f() == {value!r}"]
    assert scored(code_tests("tests"), [program], tests)[0] == [1.0 if value == expected else 0.5]


# --- Options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"credit": "all"}, "credit .*partial, binary"),
        ({"timeout": 0}, "code_tests: timeout"),
        ({"timeout": -1.0}, "code_tests: timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": "2"}, "timeout"),
        ({"memory": 10}, "memory .* at least 64"),
        ({"memory": 256.0}, "memory .*got"),
        ({"memory": True}, "memory .*got"),
        ({"extract": 5}, "extract="),
        ({"tolerance": -1e-6}, "tolerance must be at least 0"),
        ({"tolerance": 1.0}, "tolerance must be at least 0"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tolerance": "1e-6"}, "tolerance"),
    ],
)
def test_options_are_checked_when_it_is_made(options: dict[str, Any], why: str) -> None:
    with pytest.raises(rk.RewardKitError, match=why):
        code_tests("tests", **options)


def test_rewards_are_values() -> None:
    for made, again in [(code_tests("tests", memory=512), code_tests("tests", memory=512)), (code_runs(), code_runs())]:
        assert made == again
        assert hash(made) == hash(again)
        assert pickle.loads(pickle.dumps(made)) == made
        assert made.facts.binding is not None
        assert made.facts.binding.expensive
    assert repr(code_tests("tests", memory=512, packages=True)) == "code_tests('tests', memory=512, packages=True)"
    assert repr(code_runs("tests")) == "code_runs('tests')"
    assert code_tests("tests") != code_tests("tests", timeout=3.0)
    assert repr(code_tests("tests", tolerance=1e-6)) == "code_tests('tests', tolerance=1e-06)"


@pytest.mark.slow
def test_many_short_programs_do_not_wait_for_one_long_one() -> None:
    started = time.monotonic()
    programs = ["import time\ntime.sleep(60)", *(f"print(int(input()) * 2 + {number})" for number in range(4))]
    values, _ = scored(code_tests("tests", timeout=0.5), programs, DOUBLES)
    assert values == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert time.monotonic() - started < 60


def test_programs_that_end_by_exit_and_answers_that_end_in_a_comment() -> None:
    ends = "```python\nprint(int(input()) * 2)\nexit()\n```"
    commented = "```python\nprint(int(input()) * 2)\n```\nUsage:\n```python\n# python double.py\n```"
    assert scored(code_tests("tests"), [ends, commented], DOUBLES)[0] == [1.0, 1.0]
