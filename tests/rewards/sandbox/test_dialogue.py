"""Test code and programs in two processes: right programs pass, whatever the test does; no other program does."""

from __future__ import annotations

import math
import unittest
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.code import code_tests
from rewardkit.rewards.sandbox.isolation import chosen


@pytest.fixture(autouse=True, scope="module")
def sandbox() -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))


def scored(program: str, tests: Any, **options: Any) -> tuple[float, str]:
    table = rk.score(code_tests("tests", **options), [f"```python\n{program}\n```"], tests=[tests])
    return table.total[0], table.notes["code_tests"][0]


def function(test: str, name: str = "test_it") -> str:
    body = test.replace("\n", "\n    ")
    return f"def {name}():\n    {body}\n\n"


# --- Right programs ----------------------------------------------------------------------------------------

STACK = """
class Empty(Exception):
    def __init__(self, size):
        super().__init__(f"empty at {size}")
        self.size = size
class Stack:
    def __init__(self, items=()):
        self.items = list(items)
    def push(self, item):
        self.items.append(item)
        return self
    def pop(self):
        if not self.items:
            raise Empty(0)
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, item): return item in self.items
    def __add__(self, other): return Stack(self.items + list(other))
    def __getitem__(self, place): return self.items[place]
    def __enter__(self): return self
    def __exit__(self, *error): self.items.clear()
    def __repr__(self): return f"Stack({self.items})"
    def __iadd__(self, other):
        self.items += other
        return self
    def __reversed__(self): return reversed(self.items)
def stack(): return Stack()
"""

USES = [
    "s = Stack()\ns.push(1).push(2)\nassert s.items == [1, 2]\nassert len(s) == 2 and 2 in s and 3 not in s",
    "s = Stack([1])\ns.items = [5]\nassert s.pop() == 5\nassert not s.items\nassert not s",
    "s = Stack([1]) + Stack([2])\nassert list(s) == [1, 2] and s[0] == 1\nassert repr(s) == 'Stack([1, 2])'",
    "s = Stack([1])\nt = s + [4]\nassert t.items == [1, 4]\nassert t is not s and s is s\nassert isinstance(t, Stack)",
    "with Stack([1]) as s:\n    assert len(s) == 1\nassert len(s) == 0",
    "import copy\ns = Stack([1])\nt = copy.deepcopy(s)\nt.push(2)\nassert (s.items, t.items) == ([1], [1, 2])",
    "try:\n    Stack().pop()\nexcept Empty as error:\n    assert (error.size, str(error)) == (0, 'empty at 0')",
    "stacks = [Stack([n]) for n in range(3)]\nassert [s.pop() for s in stacks] == [0, 1, 2] and stacks[0] in stacks",
    "s = Stack()\nfor n in range(100):\n    s.push(n)\nfor n in reversed(range(100)):\n    assert s.pop() == n",
    "s = stack()\nassert len(s) == 0 and not s\ns.push(1).push(2)\nassert len(s) == 2 and s and [*s] == [1, 2]",
    "s, t = Stack(), Stack()\ns.next = t\nassert s.push(1) is s and s.next is t and s is not t and s.next is not s",
    "s = Stack()\ns += [1]\ns += [2]\nassert s.items == [1, 2]\nassert [*reversed(s)] == [2, 1]",
    "assert hasattr(Stack(), 'push') and not hasattr(Stack(), 'peek')\nassert getattr(Stack(), 'peek', None) is None",
]


@pytest.mark.parametrize("test", USES)
def test_objects_of_the_program(test: str) -> None:
    assert scored(STACK, "from solution import *\n\n" + function(test)) == (1.0, "")


@pytest.mark.parametrize(
    ("program", "test"),
    [
        ("def f(g, x):\n    return [g(item) for item in x]", "assert f(lambda x: x + 1, [1, 2]) == [2, 3]"),
        ("def f(g):\n    return lambda x: g(g(x))", "assert f(lambda x: 2 * x)(3) == 12"),
        (
            "def memo(g):\n    known = {}\n    def inner(x):\n        if x not in known: known[x] = g(x)\n"
            "        return known[x]\n    return inner",
            "calls = []\n@memo\ndef square(x):\n    calls.append(x)\n    return x * x\n"
            "assert [square(3), square(3)] == [9, 9] and calls == [3]",
        ),
        ("def f(kind, x):\n    return kind(x)", "assert f(int, '3') == 3\nassert f(sorted, [2, 1]) == [1, 2]"),
        ("import itertools\ndef f(n):\n    yield from itertools.count(n)", "g = f(3)\nassert next(g) + next(g) == 7"),
        ("def f(n):\n    yield from range(n)", "assert 2 in f(3)\nassert sum(f(4)) == 6\nassert 5 not in f(3)"),
        ("def f(x):\n    x.sort()", "x = [3, 1, 2]\nassert f(x) is None\nassert x == [1, 2, 3]"),
        ("def f(x):\n    x[0][0] = 9\n    x.append([7])", "x = [[1], [2]]\nf(x)\nassert x == [[9], [2], [7]]"),
        ("def f(x, *, key):\n    x[key] = 1", "x = {}\nf(x, key='a')\nassert x == {'a': 1}"),
        ("def f(name, self):\n    return name + self", "assert f(name='a', self='b') == 'ab'"),
        ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f():\n    return P(1, 2)",
         "assert f() == (1, 2) and f().x == 1 and f()[1] == 2 and isinstance(f(), tuple)\nx, y = f()\nassert y == 2"),
        ("class D(dict):\n    def double(self):\n        return {k: 2 * v for k, v in self.items()}\nf = D",
         "d = f(a=1)\nassert d == {'a': 1} and d['a'] == 1 and len(d) == 1 and [*d.items()] == [('a', 1)]\n"
         "d['b'] = 2\nassert d.double() == {'a': 2, 'b': 4} and d.get('b') == 2 and 'b' in d"),
        ("from collections import *\nP = namedtuple('P', 'count')\ndef f():\n    return P(7)", "assert f().count == 7"),
        ("from collections import Counter as f", "assert f('a')['b'] == 0 and f('a').most_common(1) == [('a', 1)]"),
        ("def f(x):\n    return x.values()", "assert [*f({'a': 1})] == [1] and len(f({})) == 0"),
        ("def f(x):\n    return x.items()", "assert f({'a': 1}) == {('a', 1)} and set(f({'a': 1})) == {('a', 1)}"),
        ("def f(x):\n    return x.keys()", "assert f({'a': 1}) == {'a'}\nassert list(f({'b': 1})) == ['b']"),
        ("from datetime import *\ndef f(d):\n    return d + timedelta(days=1)",
         "from datetime import date, timedelta\nassert f(date(2024, 2, 28)) == date(2024, 2, 29)"),
        ("def f(x):\n    print('got', x)\n    return x",
         "import contextlib, io\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    f(3)\n"
         "assert out.getvalue() == 'got 3\\n'"),
        ("def f():\n    return int(input('n? ')) + int(input())",
         "from unittest.mock import patch\nwith patch('builtins.input', side_effect=['1', '2']):\n    assert f() == 3"),
        ("async def f(x):\n    return x + 1",
         "import asyncio\nasync def main():\n    return await f(1)\nassert asyncio.run(main()) == 2"),
        ("def f(x):\n    if x < 0: raise ValueError('negative')\n    return x",
         "try:\n    f(-1)\nexcept ValueError as error:\n    assert str(error) == 'negative' == error.args[0]\n"
         "else:\n    assert False"),
        ("def f(n):\n    return 1 if n < 1 else n * f(n - 1)",
         "import math\nfor n in range(20):\n    assert f(n) == math.factorial(n)"),
        ("def f(x):\n    return x == float('inf')", "assert f(float('inf')) is True"),
    ],
)  # fmt: skip
def test_what_tests_do(program: str, test: str) -> None:
    assert scored(program, "from solution import *\n\n" + function(test)) == (1.0, "")


NODES = """
class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next
def chain(values):
    head = None
    for value in reversed(values):
        head = Node(value, head)
    return head
def values(node):
    found = []
    while node:
        found.append(node.value)
        node = node.next
    return found
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "own", ["", "class Node:\n    def __init__(self, value, next=None): self.value, self.next = value, next\n"]
)
def test_objects_of_the_set_up_code_are_copied(own: str) -> None:
    program = (
        own
        + "def f(head):\n    last = None\n"
        + "    while head: head.next, last, head = last, head, head.next\n    return last"
    )
    tests = {"setup": NODES, "asserts": ["assert values(f(chain([1, 2, 3]))) == [3, 2, 1]", "assert f(None) is None"]}
    assert scored(program, tests) == (1.0, "")
    assert scored(own + "def f(head):\n    return Node(3, head.next)", tests)[0] == 0.0
    long = {"setup": NODES, "asserts": ["assert values(f(chain(range(20_000)))) == list(reversed(range(20_000)))"]}
    assert scored(program, long) == (1.0, "")


def test_objects_of_the_set_up_code_are_changed_in_place() -> None:
    tests = {"setup": NODES, "asserts": ["n = chain([1, 2])\nf(n)\nassert values(n) == [5, 2, 7]"]}
    assert scored("def f(n):\n    n.value = 5\n    n.next.next = Node(7)", tests) == (1.0, "")


def test_a_program_may_use_what_the_test_provides() -> None:
    tests = {"setup": "import math\ndef twice(x): return 2 * x", "asserts": ["assert f(1) == 2"]}
    assert scored("def f(x): return twice(math.floor(x))", tests) == (1.0, "")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=9)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(values)
def test_values_come_back_as_they_were(value: Any) -> None:
    test = f"inf = float('inf')\nassert f({value!r}) == {value!r}\nassert type(f({value!r})) is type({value!r})"
    assert scored("def f(x): return x", function(test)) == (1.0, "")


# --- Programs that would be paid for nothing -----------------------------------------------------------------

EVIL = """
class Evil:
    def __init__(self, *a): pass
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return lambda *a: self
"""
_NAMES = "eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv mod rmod pow neg pos contains getitem"
for _name in f"{_NAMES} call round".split():
    EVIL += f"    def __{_name}__(self, *a): return {'True' if _name in 'eq ne lt le gt ge contains' else 'self'}\n"
EVIL += """
    def __abs__(self): return 0
    def __float__(self): return 0.0
    def __int__(self): return 0
    def __index__(self): return 0
    def __hash__(self): return 0
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __str__(self): return ''
"""

TAKEN_OVER = """
import gc, sys
def f(*a): return 0
def take(peer):
    {body}
def look(frame, event, arg):
    peer = frame.f_locals.get('self')
    if type(peer).__name__ == 'Answering': take(peer)
sys.setprofile(look)
"""

PROGRAMS = {
    "an object": EVIL + "f = lambda *a: Evil()",
    "a class": EVIL + "f = Evil",
    "a number that is everything": EVIL + "class N(Evil, int): pass\nf = lambda *a: N(7)",
    "a text that is everything": EVIL + "class N(Evil, str): pass\nf = lambda *a: N('7')",
    "a list that is everything": EVIL + "class N(Evil, list): pass\nf = lambda *a: N()",
    "the argument, emptied": "def f(x=(), *a):\n    try: x.clear()\n    except AttributeError: pass\n    return x",
    "nothing, and the argument emptied": "def f(x=(), *a):\n    try: x.clear()\n    except AttributeError: pass",
    **{
        f"raises {kind}": f"import unittest, asyncio, json\nclass Own(Exception): pass\ndef f(*a): raise {kind}"
        for kind in (
            *("StopIteration", "StopAsyncIteration", "SystemExit(0)", "KeyboardInterrupt", "GeneratorExit", "Own"),
            *("AssertionError", "unittest.SkipTest('x')", "unittest.case._ShouldStop", "IndexError", "AttributeError"),
        )
    },
    "leaves": "import os\ndef f(*a): os._exit(0)",
    "leaves and says that it is well": "import os\ndef f(*a):\n    os.write(4, b'+')\n    os._exit(0)",
    "closes": "import os\ndef f(*a):\n    os.write(4, b'+')\n    os.closerange(0, 99)",
    "the builtins": "f = eval",
    "other builtins": "f = print",
    "other names": TAKEN_OVER.format(
        body="peer._names = lambda names: {n: [] for n in [*names, 'abs', 'sorted', 'all', '_equal', 'math']}"
    ) + "abs = sorted = all = _equal = math = lambda *a, **k: True",
    "names of exceptions": TAKEN_OVER.format(
        body="peer._names = lambda names: {n: [['builtins', 'int']] for n in names}"
    ),
    "answers in advance": "import os\ndef f(*a): return 0\n"
    "os.write(3, b'{\"value\": [true, []], \"printed\": \"\"}\\n' * 999)",
    "messages that are none": "import os\ndef f(*a): return 0\n"
    "os.write(3, b'[]\\n5\\nnull\\n{}\\n\"x\"\\n{\"call\": 0}\\n' * 99)",
    "no message": "import os\ndef f(*a): return 0\nos.write(3, b'x' * 99)",
    "too much": "import os\ndef f(*a):\n    while True: os.write(3, b'x' * 9999)",
    "deep messages": "import os\ndef f(*a): os.write(3, b'[' * 10**6 + b'\\n')",
    "calls back what is not there": TAKEN_OVER.format(
        body="peer._answer = lambda m: peer.send(call=-1, given=[[[], {}], []])"
    ),
    "changes what it did not get": TAKEN_OVER.format(
        body="one = [['list', ['list', ['int', '0x1']]], []]\n    "
        "peer._answer = lambda m: peer.send(value=[None, []], changed=one, printed='')"
    ),
}  # fmt: skip

HEAD = "import math, pytest, unittest\nfrom solution import f\n\n"
EXPECTATIONS = [
    "assert f(2) == 3.5",
    "assert 3.5 == f(2)",
    "assert not f(2) != 3.5",
    "assert abs(f(2) - 3.5) < 0.1",
    "assert abs(3.5 - f(2)) < 0.1",
    "assert 3 < f(2) < 4",
    "assert f(2) in (3.5, 4.5)",
    "assert 'abc' in f(2) and len(f(2)) == 3",
    "assert [f(2)] == [3.5] and {f(2)} == {3.5}",
    "assert round(f(2), 1) == 3.5",
    "assert math.isclose(f(2), 3.5)",
    "assert f([3, 1, 2]) == [1, 2, 3]",
    "x = [3, 1, 2]\nassert f(x) == sorted(x)",
    "x = [3, 1, 2]\ny = f(x)\nassert y == sorted(x)",
    "assert sorted(f([3, 1])) == [1, 3]",
    "assert all(map(lambda n: f(n) == 2.5 * n, [1, 2, 3]))",
    "assert list(map(f, [1, 2])) == [2.5, 5.0]",
    "assert sum(f(n) == 2.5 * n for n in [1, 2, 3]) == 3",
    "for n in [1, 2, 3]:\n    assert f(n) == 2.5 * n",
    "assert max(f(2), 1) == 3.5",
    "assert str(f(2)) == '3.5'",
    "assert f'{f(2)}' == '3.5'",
    "assert isinstance(f(2), float) and f(2) > 3",
    "assert 2 * f(2) == 7.0 and f(2) + 1 == 4.5",
    "assert f(2).hex() == (3.5).hex()",
    "with pytest.raises(ZeroDivisionError):\n    f(0)",
    "assert f(2) == pytest.approx(3.5)",
    "assert pytest.approx(3.5) == f(2)",
    "unittest.TestCase().assertAlmostEqual(f(2), 3.5)",
    "unittest.TestCase().assertEqual(f(2), 3.5)",
    "assert not any(f(n) != 2.5 * n for n in (1, 2))",
]


def test_these_programs_can_take_over_their_end() -> None:
    program = TAKEN_OVER.format(body="globals()['f'] = lambda x: 3.5")
    assert scored(program, function("assert f(2) == 3.5")) == (1.0, "")


@pytest.mark.slow
def test_right_programs_pass_what_they_should() -> None:
    """What Python itself says of each expectation is what the tester says."""
    for source in (
        "f = lambda x: 3.5",
        "f = lambda x: 2.5 * x",
        "f = sorted",
        "f = lambda x: 'abc'",
        "f = lambda x: 1 / x",
    ):
        expected = []
        for test in EXPECTATIONS:
            scope: dict[str, Any] = {"math": math, "pytest": pytest, "unittest": unittest}
            try:
                exec(f"{source}\n{test}", scope)
                expected.append(True)
            except BaseException:
                expected.append(False)
        tests = HEAD + "".join(function(test, f"test_{number}") for number, test in enumerate(EXPECTATIONS))
        assert any(expected)
        assert scored(source, tests)[0] == pytest.approx(sum(expected) / len(expected)), source


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_only_right_values_pass(name: str) -> None:
    tests = HEAD + "".join(function(test, f"test_{number}") for number, test in enumerate(EXPECTATIONS))
    table = rk.score(code_tests("tests", timeout=1.0), [f"```python\n{PROGRAMS[name]}\n```"], tests=[tests])
    assert table.outcomes["code_tests"].tolist() == ["scored"]
    assert table.total.tolist() == [0.0], table.notes


NONE = """
class Zero:
    def __sub__(self, other): return self
    __rsub__ = __add__ = __mul__ = __sub__
    __abs__ = __float__ = lambda self: 0.0
    __eq__ = __lt__ = __gt__ = lambda *_: True
    __hash__ = object.__hash__
class Of(Zero):
    def __init__(self, x, y=0): self.x = x
    @property
    def area(self): return self
    def f(self, x): return self
class Short(list):
    def __len__(self): return 2
class Bare:
    def __len__(self): return 2
    def __iter__(self): return iter(())
class Once:
    size = 2
    def __len__(self):
        size, self.size = self.size, 0
        return size
    __iter__ = None
class Late(Bare):
    open = False
    def __len__(self):
        if not self.open:
            self.open = True
            raise TypeError
        return 2
class Empty(dict):
    def __len__(self): return 2
    def keys(self): return {}.keys()
    def items(self): return ()
"""
NEAR = "assert len(r) == 2 and all(abs(a - b) < 0.1 for a, b in zip(r, [3.5, 4.5]))"


@pytest.mark.parametrize(
    ("program", "test"),
    [
        *((f"f = lambda x: {kind}()", f"r = f(1)\n{NEAR}") for kind in ("Short", "Bare", "Once", "Late")),
        ("f = lambda x: Late()", "r = f(1)\nassert all(a == b for a, b in zip(r, [3.5])) and len(r) == 2"),
        ("f = lambda x: Once()", "r = f(1)\nassert len(r) == 2\nfor n in range(len(r)):\n    assert r[n] == n + 3.5"),
        ("f = lambda x: Short()", "assert f(1) == pytest.approx([3.5, 4.5])"),
        ("f = lambda x: Empty()", "r = f(1)\nassert len(r) == 2\nfor k, v in r.items():\n    assert v == 3.5"),
        ("f = lambda x: Empty()", "r = f(1)\nassert len(r) == 2\nfor k in r.keys():\n    assert r[k] == 3.5"),
        ("f = lambda x: Zero()", "assert abs(f(3) - f(1) - 3.5) < 0.1"),
        ("f = lambda x: Zero()", "assert f(3) > f(1)"),
        ("", "c = Of(3)\nassert c.x == 3\nassert abs(c.area - 28.27) < 0.1"),
        ("", "c = Of(3)\nassert c.x == 3 and c.f(1) == pytest.approx(3.5)"),
        ("", "v, w = Of(1), Of(2)\nassert v.x == 1 and w.x == 2\nassert abs(v * w - 3.5) < 0.1"),
        ("", "v, w = Of(1), Of(2)\nassert v.x == 1 and w.x == 2\nassert v * w == pytest.approx(3.5)"),
        (
            "def f(x):\n    kinds = [k for k in globals().values() if hasattr(k, 'expected')]\n"
            "    return kinds[0]().expected(x) if kinds else 0",
            "class Right:\n    def expected(self, x): return 3.5\n\n" + function("assert f(2) == Right().expected(2)"),
        ),
    ],
)
def test_a_value_is_the_same_each_time_the_test_looks_at_it(program: str, test: str) -> None:
    test = test if "def test_it" in test else function(test)
    value, note = scored(f"{NONE}\n{program}", f"import pytest\nfrom solution import *\n\n{test}")
    assert value == 0.0, test
    assert note


@pytest.mark.parametrize(
    ("program", "test"),
    [
        ("f = lambda x: Short((x, x + 1))", "r = f(3.5)\nassert list(r) == [3.5, 4.5] and r == [3.5, 4.5]"),
        ("f = lambda x: [3.5, 4.5]", f"r = f(1)\n{NEAR}"),
    ],
)
def test_a_right_value_passes_whatever_its_class_is(program: str, test: str) -> None:
    assert scored(f"{NONE}\n{program}", f"from solution import *\n\n{function(test)}") == (1.0, "")


@pytest.mark.parametrize(
    "test",
    [
        "assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)",
        "assert [Vector(1, 2)] == [Vector(1, 2)]",
        "v = Vector(1, 2)\nassert v.half() == Vector(0.5, 1)",
        "class Pair(Vector):\n    pass\nassert Pair(1, 2).x == 1",
        "assert Vector(iter([1]), 2).x == 1",
    ],
)
def test_what_cannot_be_kept_apart_scores_low_with_a_note(test: str) -> None:
    program = (
        "class Vector:\n    def __init__(self, x, y): self.x, self.y = x, y\n    def __eq__(self, other): return True\n"
    )
    program += "    def __add__(self, other): return self\n    def half(self): return self"
    value, note = scored(program, "from solution import Vector\n\n" + function(test))
    assert value == 0.0
    assert "TypeError" in note


CATCHING = """
class catch:
    def __init__(self, *kinds): self.kinds = kinds or (BaseException,)
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): return kind is not None and issubclass(kind, self.kinds)
    def fail(self): raise KeyError(1)
    value = 0
def each(function, items):
    for item in items:
        try: function(item)
        except BaseException: pass
"""


@pytest.mark.parametrize(
    "test",
    [
        "with catch() as c:\n    assert c.value == 1",
        "with catch() as c:\n    assert 5 / c.value == 1",
        "with catch() as c:\n    c.fail()\n    assert c.value == 1",
        "with catch():\n    with catch() as c:\n        unittest.TestCase().assertEqual(c.value, 1)",
        "def check(x):\n    assert x == 2\neach(check, [1])",
    ],
)
def test_the_program_cannot_catch_what_fails(test: str) -> None:
    assert scored(CATCHING, function(test))[0] == 0.0


def test_the_program_may_catch_what_the_test_raises() -> None:
    test = """
class Own(Exception): pass
def fail(): raise ValueError("x")
with catch(ValueError):
    raise ValueError("x")
with catch(ValueError):
    fail()
with catch():
    raise Own
with pytest.raises(KeyError), catch(ValueError):
    raise KeyError(1)
items = []
def check(x):
    items.append(x)
    raise ValueError(x)
each(check, [1, 2])
assert items == [1, 2]
"""
    assert scored(CATCHING, "import pytest\n" + function(test)) == (1.0, "")


def test_a_function_of_the_test_does_not_tell_what_it_knows() -> None:
    program = "def f(g):\n    return getattr(g, '__globals__', {}).get('SECRET', 0)"
    assert scored(program, "SECRET = 42\ndef test_it():\n    assert f(lambda: SECRET) == SECRET")[0] == 0.0


def test_what_the_program_prints_is_its_own_only_in_its_test() -> None:
    program = "def f():\n    print('x')"
    tests = "def test_a(capsys):\n f()\n assert capsys.readouterr().out == 'x\\n'\ndef test_b(): assert f() is None"
    assert scored(program, tests) == (1.0, "")
