"""The tester: what test code uses of pytest and unittest, and what a note says of a test that fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.code import code_tests
from rewardkit.rewards.sandbox.cases import read_tests
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.tester import approx


@pytest.fixture(autouse=True, scope="module")
def sandbox() -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))


RIGHT = """
class Negative(ValueError): pass
def half(x):
    if x < 0: raise Negative(f"{x} is negative")
    return x / 2
"""
WRONG = "def half(x):\n    return x\nclass Negative(ValueError): pass"


def scored(program: str, tests: Any, **options: Any) -> tuple[float, str]:
    table = rk.score(code_tests("tests", **options), [f"```python\n{program}\n```"], tests=[tests])
    return table.total[0], table.notes["code_tests"][0]


PYTEST = {
    "raises": """
def test_it():
    with pytest.raises(ValueError, match="is neg") as caught:
        half(-2)
    assert str(caught.value) == "-2 is negative"
    assert isinstance(caught.value, Negative)
""",
    "raises the program's own class": """
from solution import Negative
def test_it():
    with pytest.raises((KeyError, Negative)):
        half(-1)
    pytest.raises(Negative, half, -1)
""",
    "approx": """
def test_it():
    assert half(0.2 + 0.4) == pytest.approx(0.3)
    assert [half(1), half(3)] == pytest.approx([0.5, 1.5])
    assert {"a": half(1)} == pytest.approx({"a": 0.5}, abs=1e-9)
    assert half(1) != pytest.approx(0.6)
""",
    "parametrize": """
@pytest.mark.parametrize("x, expected", [(1, 0.5), pytest.param(4, 2, id="four")])
@pytest.mark.parametrize("sign", [1])
def test_it(x, expected, sign):
    assert half(sign * x) == expected
""",
    "parametrize one name with pairs": """
@pytest.mark.parametrize("pair", [(1, 0.5), (4, 2)])
def test_it(pair):
    assert half(pair[0]) == pair[1]
""",
    "fixtures": """
ended = []
@pytest.fixture
def one():
    yield 1
    ended.append(1)
@pytest.fixture()
def two(one):
    return one + 1
@pytest.fixture(autouse=True)
def before():
    ended.append(0)
def test_it(two, one):
    assert half(two) == one and ended == [0]
""",
    "a class": """
class TestHalf:
    def setup_method(self):
        self.x = 4
    @pytest.fixture
    def y(self):
        return self.x
    def helper(self):
        return half(self.x)
    def test_it(self, y):
        assert self.helper() == 2 and y == 4
    def test_other(self):
        assert half(self.x + 2) == 3
""",
    "capsys and monkeypatch": """
import math
def test_it(capsys, monkeypatch):
    monkeypatch.setattr(math, "pi", 3)
    print(half(math.pi))
    assert capsys.readouterr().out == "1.5\\n"
""",
    "unittest": """
import unittest
class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.two = 2
    def setUp(self):
        self.x = 4
    def test_base(self):
        self.assertEqual(half(self.x), self.two)
class HalfCase(Base):
    def test_raises(self):
        with self.assertRaises(Negative):
            half(-1)
        self.assertRaisesRegex(ValueError, "is negative", half, -1)
    def test_parts(self):
        for x in (1, 2):
            with self.subTest(x=x):
                self.assertAlmostEqual(half(x), x / 2)
    @unittest.skip("no")
    def test_skipped(self):
        self.fail()
if __name__ == "__main__":
    unittest.main()
""",
    "a script": """
def check(candidate):
    for x in range(5):
        assert candidate(x) == x / 2
check(half)
""",
    "lines": """
x = half(4)
assert x == 2
x = half(6)
assert x == 3
for y in (1, 2):
    assert half(y) == y / 2
""",
    "another module": """
import solution as s
def test_it():
    assert s.half(2) == 1 and not hasattr(s, "double")
    from solution import half as h
    assert h(4) == 2
""",
    "async": """
import asyncio
@pytest.mark.asyncio
async def test_it():
    await asyncio.sleep(0)
    assert half(2) == 1
""",
    "skipped": """
@pytest.mark.skip(reason="no")
def test_skipped():
    assert False
def test_it():
    assert half(2) == 1
""",
    "annotations of the future": """from __future__ import annotations
def test_it(x: Unknown = 2):
    assert half(x) == 1
""",
}


@pytest.mark.parametrize("name", PYTEST)
def test_what_test_code_uses(name: str) -> None:
    tests = "import pytest\n" + PYTEST[name] if "future" not in name else PYTEST[name]
    assert scored(RIGHT, tests) == (1.0, "")
    value, note = scored(WRONG, tests)
    assert value < 1.0
    assert note


def test_each_test_counts() -> None:
    tests = "def test_a(): assert f(1) == 1\ndef test_b(): assert f(2) == 2\nclass TestC:\n    def test_d(self): f(3)"
    assert scored("def f(x): return 1", tests)[0] == pytest.approx(2 / 3)
    assert scored("def f(x): return 1", tests, credit="binary")[0] == 0.0


@pytest.mark.parametrize(
    ("program", "test", "note"),
    [
        ("def f(x): return 3", "assert f(1) == 2", "f(1) is 3: 'assert f(1) == 2'"),
        ("def f(x): return None", "assert f(1) < 2", "f(1) is None: TypeError: '<' not supported"),
        ("def f(x):\n    return 1 / 0", "assert f(1) == 2", "ZeroDivisionError: division by zero (line 2)"),
        ("def g(x): return 2", "assert f(1) == 2", "NameError: name 'f' is not defined"),
        ("def g(x): return 2", "from solution import f\nassert f(1) == 2", "ImportError: cannot import name 'f'"),
        ("def f(x): return object()", "assert f(1) == 2", "f(1) is of type object: 'assert f(1) == 2'"),
        ("def f(x): return 3", "assert f(x=1) == 2, 'two'", "f(x=1) is 3: AssertionError: two: \"assert f(x=1) == 2"),
        ("def f(x): return 2", "import pytest\nwith pytest.raises(IOError):\n    f(-1)", "f(-1) is 2: AssertionError"),
        ("class S:\n    def f(self, x): return 3", "assert S().f('a' * 200) == 2", "S().f('aaaa"),
        ("def f(x):\n    while True: pass", "assert f(1) == 2", "took more than 0.5 s"),
        ("import os\ndef f(x): os._exit(0)", "assert f(1) == 2", "ended before it answered"),
        ("import os\ndef f(x): os._exit(3)", "assert f(1) == 2", "ended with exit code 3"),
        ("def f(x): return 10**9", "assert 'x' * f(1) == ''", "f(1) is 1000000000: MemoryError"),
        ("def f(x): raise SystemExit(0)", "f(1)\nassert True", "SystemExit: 0"),
        ("raise SystemExit(0)", "assert f(1) == 2", "ended by SystemExit"),
        ("x = ", "assert f(1) == 2", "SyntaxError"),
    ],
)  # fmt: skip
def test_notes(program: str, test: str, note: str) -> None:
    body = test.replace("\n", "\n    ")
    value, found = scored(program, f"def test_it():\n    {body}", timeout=0.5)
    assert value == 0.0
    assert found.startswith(f"passed 0 of 1; test 1: {note}") or "did not end within" in found
    assert found.isprintable()


@pytest.mark.slow
def test_test_code_that_never_ends_is_ended() -> None:
    tests = "def test_a():\n    x = f(1)\n    while x: pass\ndef test_b():\n    assert f(1)"
    value, note = scored("def f(x): return True", tests)
    assert value == 0.5
    assert note.startswith("passed 1 of 2; test 1: test_a cannot be checked: the test code ")


def test_a_tolerance_holds_for_the_equalities_of_assertions() -> None:
    program = "def f(x): return x + 0.2"
    for tests in (
        ["assert f(0.1) == 0.3"],
        "def test_f():\n    assert [f(0.1)] == [0.3] and f(1) == 1.2",
        {"test": "def check(c):\n    assert 0.3 == c(0.1)", "entry_point": "f"},
    ):
        assert scored(program, tests)[0] == 0.0
        assert scored(program, tests, tolerance=1e-6) == (1.0, "")
        assert scored("def f(x): return x + 0.21", tests, tolerance=1e-6)[0] == 0.0


numbers = st.floats() | st.integers() | st.booleans()


@given(numbers | st.lists(numbers, max_size=3), numbers | st.lists(numbers, max_size=3))
def test_approx_is_that_of_pytest(value: Any, expected: Any) -> None:
    if isinstance(value, list) != isinstance(expected, list):
        return
    assert (value == approx(expected)) == (value == pytest.approx(expected))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("x = 1", "no tests"),
        ("def helper():\n    assert f(1) == 2", "no tests"),
        ("def test_f():\n    assert 1 == 1", "calls the program"),
        ("assert f(1) == 2\nassert True", "calls the program"),
        ("def test_f():\n    assert f(3) == INF", "'INF' is not defined. Define it"),
        ("from solution import f, INF\ndef test_f():\n    assert f(3) == INF", "'INF' is not defined"),
        ("import solution\ndef test_f():\n    assert solution.f(3) == solution.INF", "is not defined"),
        ("class T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(3), INF)", "'INF' is not defined"),
        ("assert np.allclose(f(2), 0.5)", "'np' is not defined. Import it"),
        ("from numpy import *\nassert close(f(2), 0.5)", "Import each name"),
        ("assert eval(f(1)) == 2", "may run code that the program returns"),
        ("import pickle\nassert pickle.loads(f(1)) == 2", "may run code that the program returns"),
        ("from pickle import loads as read\nassert read(f(1)) == 2", "may run code that the program returns"),
        ("assert [*map(eval, [f(1)])] == [2]", "may run code that the program returns"),
        ("import builtins\nrun = builtins.exec\nrun(f(1))\nassert f(1) == 2", "may run code that the program returns"),
        ("from solution import retry\n@retry(3)\ndef test_f():\n    assert retry(2)", "'test_f' has a decorator"),
        ("class TestF:\n    @retry(3)\n    def test_f(self):\n        assert retry(2)", "'test_f' has a decorator"),
        ("assert f(" + "(" * 5_000 + ")" * 5_000 + ")", "not valid Python"),
        ("assert f(1)\n# " + "x" * 2_000_000, "characters"),
    ],
)
def test_test_code_that_cannot_be_kept_apart_is_refused(source: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_tests(source)


PASSING = "import os; os.write(4, b'+'); os._exit(0)"


@pytest.mark.parametrize(
    "running",
    [
        "import builtins\ndef test_f():\n    getattr(builtins, 'ex' + 'ec')(f(1))\n    assert False",
        "import cProfile\ndef test_f():\n    cProfile.run(f(1))\n    assert False",
        "import pickle as p\ndef test_f():\n    assert p.loads(f(2)) == 3",
        "import io, pickle\ndef test_f():\n    assert pickle.Unpickler(io.BytesIO(f(2))).load() == 3",
    ],
)
def test_test_code_does_not_run_what_the_program_returns(running: str) -> None:
    pickled = f"class E:\n    def __reduce__(self): return exec, ({PASSING!r},)\n"
    program = f"import pickle\n{pickled}def f(x): return {PASSING!r} if x == 1 else pickle.dumps(E())"
    assert scored(program, f"from solution import f\n{running}")[0] == 0.0


def test_what_test_code_itself_compiles_runs() -> None:
    tests = """
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple, Optional
import ast, pickle, timeit
@dataclass
class Node:
    value: int
    next: Optional['Node'] = None
class Pair(NamedTuple):
    x: int
    y: int
def test_f():
    Point = namedtuple('Point', 'x y')
    timeit.timeit(lambda: f(1), number=2)
    assert Point(f(1), 3) == Pair(2, 3) and Node(f(1)).value == eval('1 + 1') == ast.literal_eval(str(f(1)))
    assert pickle.Unpickler(__import__('io').BytesIO(pickle.dumps([f(1)]))).load() == [2]
"""
    assert scored("def f(x): return x + 1", tests) == (1.0, "")


@pytest.mark.parametrize(
    "test",
    [
        "assert np.allclose(f(1), [1.5, 2.5])",
        "assert np.isclose([[1.5], [2.5]], f(1)).all()",
        "assert (f(1) == np.array([1.5, 2.5])).all()",
        "assert not np.any(np.abs(np.array([[1.5]]) - f(1)) > 0.1)",
    ],
)
def test_an_empty_array_is_not_close_to_others(test: str) -> None:
    head = "import numpy as np\nfrom solution import f\ndef test_f():\n    "
    program = "import numpy as np\ndef f(x): return np.zeros((0, 1))"
    value, note = scored(program, head + test, packages=True, memory=2048)
    assert value == 0.0
    assert "an empty array is compared" in note
    right = "assert np.allclose(f([]), []) and (f([]) == 5).all() and np.allclose(f([1]), 2) and f([]).size == 0"
    program = "import numpy as np\ndef f(x): return np.array(x) + 1"
    assert scored(program, head + right, packages=True, memory=2048) == (1.0, "")


def test_modules_that_a_test_uses_are_imported() -> None:
    assert scored("def f(r): return 3 * r", ["assert f(1) < math.pi"]) == (1.0, "")
    assert scored("def bisect(x, y): return 1", ["assert bisect([1], 1) == 1"]) == (1.0, "")


@pytest.mark.slow
def test_many_assertions_take_linear_time() -> None:
    tests = [f"assert f({number}) == {number}" for number in range(300)]
    assert scored("def f(x): return x", tests) == (1.0, "")
