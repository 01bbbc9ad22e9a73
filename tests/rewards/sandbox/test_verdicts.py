"""Verdicts: whatever a program does, only the right output and the right values score."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.code import code_tests
from rewardkit.rewards.sandbox import verdicts as judging
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.runs import Job

DOUBLES = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]
ADDS = ["assert add(1, 2) == 3", "assert add(40, 2) == 42"]


@pytest.fixture(autouse=True, scope="module")
def sandbox() -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))


def scored(reward: rk.Reward, completions: list[str], tests: Any) -> tuple[list[float], list[str]]:
    table = rk.score(reward, completions, tests=[tests] * len(completions))
    return table.total.tolist(), table.notes["code_tests"]


FUNCTION = "def add(*numbers):\n    return 0\n"
EVERYTHING = "class Everything:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"

FORGERIES = {
    "nothing": "pass",
    "exit": "import sys\nsys.exit(0)",
    "hard exit": "import os\nos._exit(0)",
    "SystemExit": "raise SystemExit",
    "exit when called": "import os\ndef add(*numbers):\n    os._exit(0)",
    "exit at the end": FUNCTION + "import atexit, os\natexit.register(os._exit, 0)",
    "AssertionError": FUNCTION + "import builtins\nbuiltins.AssertionError = type('Quiet', (BaseException,), {})",
    "equal to everything": EVERYTHING + "def add(*numbers):\n    return Everything()",
    "int equal to everything": EVERYTHING + "class Number(Everything, int): pass\ndef add(*numbers): return Number(7)",
    "text equal to everything": EVERYTHING + "class Text(Everything, str): pass\ndef add(*numbers): return Text('7')",
    "dict equal to everything": EVERYTHING + "class Map(Everything, dict): pass\ndef add(*numbers): return Map()",
    "nan": "def add(*numbers):\n    return float('nan')",
    "infinity": "def add(*numbers):\n    return float('inf')",
    "true": "def add(*numbers):\n    return True",
    "type equal to everything": "class Meta(type):\n    def __eq__(self, other): return True\n"
    "    __hash__ = type.__hash__\nclass Any(metaclass=Meta): pass\ndef add(*numbers):\n    return Any",
    "encode": FUNCTION + "import json\njson.dumps = lambda value: '[3]'",
    "encode as passed": FUNCTION + "import json\njson.dumps = lambda value: 'holds'",
    "report holds": FUNCTION + "import os\nos.write(3, b'holds\\n')\nos._exit(0)",
    "report true": FUNCTION + "import os\nos.write(3, b'[true]')\nos.write(4, b'+')\nos._exit(0)",
    "report code": FUNCTION + "import os\nos.write(3, b'[[\"int\", \"print(1)\"]]')\nos.write(4, b'+')\nos._exit(0)",
    "report depth": FUNCTION + "import os\nos.write(3, b'[' * 10**6)\nos.write(4, b'+')\nos._exit(0)",
    "report names": FUNCTION + "import os\nos.write(3, b'[[\"__class__\", 1]]')\nos.write(4, b'+')\nos._exit(0)",
    "frames on every descriptor": "import os, struct\nfor fd in range(256):\n    try:\n"
    "        os.write(fd, struct.pack('<II??', 0, 2, True, True) + b'4\\n')\n    except OSError: pass",
    "ready": "import os\nfor fd in range(256):\n    try: os.write(fd, b'ready')\n    except OSError: pass",
    "builtins": FUNCTION + "import builtins\n"
    "for name in ('eval', 'exec', 'compile', 'isinstance', 'hex', 'type', 'map'):\n"
    "    setattr(builtins, name, lambda *a, **k: True)",
    "import": FUNCTION + "import builtins\nbuiltins.__import__ = lambda *a, **k: None",
    "print": "import builtins\nbuiltins.print = lambda *a, **k: None",
    "modules": FUNCTION + "import sys\nsys.modules.clear()",
    "json module": FUNCTION + "import sys, types\nfake = types.ModuleType('json')\nfake.dumps = lambda v: '[true]'\n"
    "sys.modules['json'] = fake",
    "trace": FUNCTION + "import sys\nsys.settrace(lambda *a: sys.exit(0))\nsys.setprofile(lambda *a: None)",
    "frames": FUNCTION + "import sys\nframe = sys._getframe()\nwhile frame:\n"
    "    if 'job' in frame.f_locals: print(frame.f_locals['job']['trials'])\n    frame = frame.f_back",
    "collector": FUNCTION + "import gc\n"
    "for item in gc.get_objects():\n    if isinstance(item, dict) and 'trials' in item: print(item)",
    "supervisor's names": FUNCTION + "import sys\nscope = sys._getframe(1).f_globals\n"
    "scope['_end'] = scope['_say'] = lambda *a: None\nscope['_collected'] = lambda *a: b'4'",
    "go on as the supervisor": "import os\nos._exit = lambda code: None\n"
    "os.fork = lambda: 1\nos.wait4 = lambda *a: (1, 0, 0)",
    "raise through": "class Quiet(BaseException):\n    def __str__(self): raise Quiet\nraise Quiet",
    "unraisable": FUNCTION + "import sys\nsys.excepthook = sys.unraisablehook = lambda *a: None\nraise ValueError",
    "own process": "print(open('/proc/self/cmdline').read())\nprint(open('/proc/self/environ').read())",
    "parent's memory": "import os\nprint(open(f'/proc/{os.getppid()}/mem', 'rb').read(10))",
    "job": "import os\nos.lseek(0, 0, 0)\nprint(os.read(0, 10**6))\n"
    "for fd in range(3, 99):\n    try: print(os.read(fd, 99))\n    except OSError: pass",
    "tests on disk": "import os\nfor folder, _, names in os.walk('/'):\n    for name in names:\n"
    "        if 'test_code' in name or name.endswith('.jsonl'): print(open(os.path.join(folder, name)).read())",
    "environment": "import os\nprint(*os.environ.values(), sep='\\n')",
    "kill all": "import os\nos.kill(-1, 9)",
    "kill the parent": "import os\nos.kill(os.getppid(), 9)",
    "stop the parent": "import os\nos.kill(os.getppid(), 19)",
    "fork bomb": "import os\nwhile True: os.fork()",
    "threads": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()",
    "memory bomb": "x = []\nwhile True: x.append(' ' * 10**7)",
    "loop": "while True: pass",
    "sleep": "import time\ntime.sleep(10**6)",
    "infinite output": "while True: print(4)",
    "no stdout": "import os, sys\nos.close(1)\nsys.stdout = None",
    "stdout elsewhere": "import os\nos.dup2(0, 1)\nprint(4)",
    "big file": "f = open('/tmp/x', 'wb')\nwhile True: f.write(b'x' * 10**6)",
    "links": "import os\nos.symlink('/', 'x')\nprint(os.listdir('x/root'))",
    "network": "import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:80').read())",
    "beyond the input": "while True: input()",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\nf = lambda: f()\nf()",
    "deep recursion in C": "import sys\nsys.setrecursionlimit(10**9)\nx = []\n"
    "for _ in range(10**6): x = [x]\nprint(x)\nrepr(x)",
    "a crash": "import ctypes\nctypes.string_at(1)",
    "deep source": "x = " + "(" * 50_000 + ")" * 50_000,
    "long source": "x = " + "-" * 150_000 + "1",
    "every line": "print(*range(1000), sep='\\n')",
    "first line": "print(4)\nprint(6)",
    "every answer": "print('4 6')",
    "carriage returns": "print('5\\r4', end='')",
    "backspaces": "print('5\\b4')",
    "other digits": "print('\\uff14')\nprint('\\u0664')",
    "invisible": "print('4\\u200b')",
    "other line ends": "print('4\\u2028')",
    "escapes": "print('\\x1b[2K4')",
    "expected": "print('expected output')",
    "echo": "print(input())",
    "surrogates": "print('\\ud800')",
    "encoding": "# -*- coding: rot13 -*-\ncevag(4)",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_score_zero(name: str) -> None:
    program = FORGERIES[name]
    for tests in (DOUBLES, ADDS):
        values, notes = scored(code_tests("tests", timeout=0.3), [program], tests)
        assert values == [0.0]
        assert notes[0].isprintable()
        assert len(notes[0]) < 2_000


def test_lines_beyond_the_first_count() -> None:
    tests = [{"input": "", "output": "1\n2\n3\n"}]
    programs = ["print(1)", "print(1, 2, 3)", "print(1)\nprint(2)\nprint(3)\nprint(4)", "for n in 1, 2, 3: print(n)"]
    assert scored(code_tests("tests"), programs, tests)[0] == [0.0, 0.0, 0.0, 1.0]


def test_a_value_equal_to_everything_is_judged_by_what_it_is() -> None:
    number = EVERYTHING + "class Number(Everything, int): pass\ndef add(a, b): return Number(3)"
    assert scored(code_tests("tests"), [number], ADDS)[0] == [0.5]


def test_truth_is_that_of_the_value() -> None:
    program = "class Truth(list):\n    def __bool__(self): return True\ndef f(x): return Truth()"
    assert scored(code_tests("tests"), [program], ["assert f(1)", "assert f(1) == []"])[0] == [0.5]


@pytest.mark.parametrize(
    "tests",
    [
        [{"input": "1", "output": "secretvalue"}],
        ["assert add(1, 2) == 'secretvalue'", "assert 'secretvalue' in add(1, 2)"],
        {"fn_name": "add", "inputs": [[1, 2]], "outputs": ["secretvalue"]},
        "SECRET = 'secretvalue'\nclass TestAdd:\n    def test_it(self):\n        assert add(1, 2) == SECRET",
        "class Known:\n    value = 'secretvalue'\ndef test_it():\n    assert add(1, 2) == Known.value",
        {"test": "def check(f):\n    assert f(1, 2) == 'secretvalue'", "entry_point": "add"},
    ],
)
def test_what_is_expected_never_enters_the_sandbox(tests: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "def add(a, b): return ''"
    sent: list[bytes] = []

    def watch(function: Any) -> Any:
        def watched(*arguments: Any) -> Any:
            sent.extend(item.encoded() for item in arguments if isinstance(item, Job))
            return function(*arguments)

        return watched

    for name in ("runs", "dialogues"):
        monkeypatch.setattr(judging, name, watch(getattr(judging, name)))
    assert scored(code_tests("tests"), [program], tests)[0] == [0.0]
    to_program = [job for job in sent if program.encode() in job]
    assert len(to_program) == 1
    assert b"secretvalue" not in to_program[0]
    assert all(b"secretvalue" in job for job in sent if job not in to_program)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("def f(): return 'x' * 1_000_000", 1.0),
        ("def f(): return 'x' * 999_999 + 'y'", 0.0),
        ("def f(): return ['x' * 1_000_000] * 10", 0.0),
        ("def f(): return (lambda x: x.append(x) or x)([])", 0.0),
        ("def f():\n    x = []\n    for _ in range(900): x = [x]\n    return x", 0.0),
        ("def f(): return 10 ** 10 ** 6", 0.0),
        ("from decimal import Decimal\ndef f(): return Decimal('1e999999')", 0.0),
    ],
)
def test_answers_of_any_size_are_judged(program: str, value: float) -> None:
    tests = ["assert f() == 'x' * 1_000_000"]
    assert scored(code_tests("tests"), [program], tests)[0] == [value]


def test_a_check_that_an_answer_makes_explode_does_not_hold() -> None:
    programs = ["def f(): return 3", "def f(): return 10**9", "def f(): return 'x'"]
    assert scored(code_tests("tests"), programs, ["assert len('x' * f()) == 3"])[0] == [1.0, 0.0, 0.0]
