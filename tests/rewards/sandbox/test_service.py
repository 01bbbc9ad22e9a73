"""Sandboxes behind HTTP: the scores of a local sandbox, and failures that are not scores."""

from __future__ import annotations

import json
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.code import code_runs, code_tests
from rewardkit.rewards.sandbox import isolation, requests, service
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.runs import Job
from rewardkit.rewards.sandbox.service import AT_ONCE, OUTPUT_BYTES
from tests.rewards.sandbox.fusion import Fusion, honest, running
from tests.rewards.sandbox.test_verdicts import ADDS, DOUBLES, FORGERIES

Outcome = rk.Outcome


@pytest.fixture
def fusion() -> Iterator[Fusion]:
    with running() as made:
        yield made


def scored(reward: rk.Reward, completions: list[str], tests: Any) -> tuple[list[float], list[str]]:
    table = rk.score(reward, completions, tests=[tests] * len(completions))
    (name,) = table.components
    assert not any(outcome.name == "FAILED" for outcome in table.outcomes[name])
    return table.total.tolist(), table.notes[name]


# --- Scores ----------------------------------------------------------------------------------------------

PROGRAMS = [
    "print(int(input()) * 2)",
    "print(4)",
    "print(",
    "import sys\nsys.stdout.buffer.write(b'\\xff\\x00')",
    "x = [0] * 10**9",
    "while True: pass",
    "from __future__ import annotations\nif __name__ == '__main__':\n    print(int(input()) * 2)\n    exit()",
    "raise ValueError('\\x1b[2K')",
    "print({'a', 'b', 'c', 'd'})",
    "def add(a, b):\n    print('adding')\n    return a + b",
    "def add(a, b):\n    return 3",
    "def add(a, b):\n    return object()",
    "x = '\ud800'",
    "x = '\0'",
]


@pytest.mark.slow
@pytest.mark.parametrize("tests", [DOUBLES, ADDS])
def test_scores_and_notes_are_those_of_a_local_sandbox(tests: Any, fusion: Fusion) -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))
    here = scored(code_tests("tests", timeout=0.5), PROGRAMS, tests)
    there = scored(code_tests("tests", timeout=0.5, sandbox=fusion.url), PROGRAMS, tests)
    assert there[0] == here[0]
    for program, note, other in zip(PROGRAMS, there[1], here[1], strict=True):
        # A local test sees an object of the program; a service reports values alone.
        note = note.replace(f"{OUTPUT_BYTES:,}", "4,000,000")
        # On a busy machine, the limit on the clock may be met first.
        note, other = (text.replace("did not end within 2 s", "took more than 0.5 s") for text in (note, other))
        assert "object()" in program or note == other


@pytest.mark.slow
def test_forgeries_score_zero_or_fail(fusion: Fusion) -> None:
    for tests in (DOUBLES, ADDS):
        reward = code_tests("tests", timeout=0.3, sandbox=fusion.url)
        table = rk.score(reward, [*FORGERIES.values()], tests=[tests] * len(FORGERIES))
        failed = [name for name, total in zip(FORGERIES, table.total, strict=True) if total != 0.0]
        assert failed == []


def test_code_runs(fusion: Fusion) -> None:
    table = rk.score(code_runs(sandbox=fusion.url), ["print(1)", "print(x)", "no program here, only ```\n```"])
    assert table.total.tolist() == [1.0, 0.0, 0.0]
    assert table.notes["code_runs"][1] == "NameError: name 'x' is not defined (line 1)"
    tests = [{"input": "5", "output": ""}]
    assert scored(code_runs("tests", sandbox=fusion.url), ["assert input() == '5'"], tests)[0] == [1.0]


@pytest.mark.parametrize(
    "tests",
    [
        [{"input": "1", "output": "secretvalue"}],
        ["assert add(1, 2) == 'secretvalue'", "assert 'secretvalue' in add(1, 2)"],
        {"fn_name": "add", "inputs": [[1, 2]], "outputs": ["secretvalue"]},
        {"setup": "import math", "asserts": ["assert math.isclose(add(1, 2), 1357.2468)"]},
    ],
)
def test_what_is_expected_never_leaves(tests: Any, fusion: Fusion, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Job] = []
    real = service._script

    def script(job: Job) -> str:
        sent.append(job)
        return real(job)

    monkeypatch.setattr(service, "_script", script)
    assert scored(code_tests("tests", sandbox=fusion.url), ["def add(a, b): return ''"], tests)[0] == [0.0]
    assert len(sent) == 2
    for job in sent:
        assert "secretvalue" not in repr(job.described())
        assert "1357.2468" not in repr(job.described())


def test_the_request_is_that_of_the_protocol(fusion: Fusion) -> None:
    assert scored(code_tests("tests", sandbox=fusion.url), ["print(int(input()) * 2)"], DOUBLES)[0] == [1.0]
    assert len(fusion.requests) == 2  # one that sees if the service works; one for all tests
    for request in fusion.requests:
        assert request["language"] == "python"
        assert request["run_timeout"] > 0
        assert isinstance(request["code"], str)
        assert set(request) <= {
            *("code", "language", "stdin", "files", "fetch_files"),
            *("compile_timeout", "run_timeout", "memory_limit_MB"),
        }


@pytest.mark.slow
def test_much_output_takes_several_requests(fusion: Fusion) -> None:
    """A service passes on only so much: it would stop a program that writes more, without saying why."""
    program = "import random, sys\nrandom.seed(int(input()))\nprint(*(random.random() for _ in range(2_500)))"
    outputs = []
    for seed in range(6):
        scope: dict[str, Any] = {}
        exec(f"import random\nrandom.seed({seed})\nout = ' '.join(str(random.random()) for _ in range(2_500))", scope)
        outputs.append(scope["out"])
    tests = [{"input": str(seed), "output": output} for seed, output in enumerate(outputs)]
    assert scored(code_tests("tests", sandbox=fusion.url), [program], tests) == ([1.0], [""])
    assert len(fusion.requests) > 3


@pytest.mark.slow
def test_many_tests_and_two_timeouts(fusion: Fusion) -> None:
    tests = [{"input": str(number), "output": str(number)} for number in range(40)]
    program = "n = int(input())\nwhile n > 30: pass\nprint(n)"
    values, notes = scored(code_tests("tests", sandbox=fusion.url, timeout=0.3), [program], tests)
    assert values == [31 / 40]
    assert "took more than 0.3 s" in notes[0]
    assert "skipped" not in notes[0]  # two problems are shown, and both are timeouts
    values, _ = scored(
        code_tests("tests", sandbox=fusion.url, timeout=20.0), ["print(input())"], tests
    )  # 1 per request
    assert values == [1.0]


@pytest.mark.parametrize(
    ("program", "wrong", "tests"),
    [
        (
            "def f(x): return x + 0.2",
            "def f(x): return 0.31",
            {"fn_name": "f", "inputs": [[0.1]], "outputs": [0.3]},
        ),
        ("print(stdin.read(), 1 / 3)", "print(4, 0.34)", {"inputs": ["4"], "outputs": ["4 0.333333"]}),
        (
            "def f(x: List[int]): return sum(x) + .0",
            "def f(x): return x",
            {"setup": "from typing import *", "asserts": ["assert f([1]) == 1.0000001"]},
        ),
        (
            "def f(x): return 2",
            "def f(x): return 3",
            {"test": "def check(c):\n    assert c(1) == 2\n    assert c(2) < 3", "entry_point": "f"},
        ),
        (
            "def f(x): return 2",
            "def f(x): return 3",
            "from solution import *\n\ndef test_f():\n    assert f(1) == 2",
        ),
        ("class N: v = 2", "class N: v = 3", {"setup": "n = N()", "asserts": ["assert n.v + 1 == 3"]}),
    ],
)
def test_other_formats(program: str, wrong: str, tests: Any, fusion: Fusion) -> None:
    reward = code_tests("tests", tolerance=1e-6, sandbox=fusion.url)
    fences = [f"```python\n{source}\n```" for source in (program, wrong)]
    assert scored(reward, fences, tests)[0] == [1.0, 0.0]


# --- Tests that cannot be checked here --------------------------------------------------------------------


@pytest.mark.parametrize(
    "tests",
    [
        ["assert eval(str(f(1)) + '1') == 11"],
        {"setup": "def close(a, b): return abs(a - b) < 1", "asserts": ["assert close(f(1), 2)"]},
        [{"input": "", "output": "x" * (OUTPUT_BYTES + 1)}],
        "def test_f():\n    for x in (1, 2):\n        assert f(x) == x",
        "class T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(1), 2)",
        [{"input": "1", "output": "2", "testtype": "functional"}],
    ],
)
def test_tests_that_need_code_or_much_output_are_refused(tests: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"column 'tests', row 0"):
        rk.score(code_tests("tests", sandbox="http://localhost:1"), ["print(1)"], tests=[tests])


def test_set_up_code_that_imports_what_the_service_lacks_is_a_failure(fusion: Fusion) -> None:
    tests = {"setup": "import no_such_package", "asserts": ["assert f(1) == 2"]}
    table = rk.score(code_tests("tests", sandbox=fusion.url), ["def f(x): return 2"], tests=[tests])
    assert table.outcomes["code_tests"][0] == Outcome.FAILED
    assert "no_such_package" in table.notes["code_tests"][0]


# --- Failures that are not scores --------------------------------------------------------------------------


def result(**changes: Any) -> bytes:
    run = {"status": "Finished", "return_code": 0, "stdout": "", "stderr": "", "execution_time": 0.1}
    return json.dumps({"status": "Success", "message": "", "run_result": {**run, **changes}}).encode()


CUT = json.loads(honest({"language": "python", "code": "print('cmVhZHk=')"})[1])

BROKEN = {
    "server error": (500, b"oops"),
    "busy": (429, b""),
    "gateway": (504, b"<html>"),
    "refused": (422, b'{"detail": "no"}'),
    "gone": (404, b""),
    "redirect": (307, b""),
    "empty": (200, b""),
    "not JSON": (200, b"<html>"),
    "deep": (200, b"[" * 100_000),
    "a list": (200, b"[]"),
    "null": (200, b"null"),
    "another object": (200, b'{"score": 1}'),
    "service failed": (200, b'{"status": "SandboxError", "message": "no python", "run_result": null}'),
    "no result": (200, b'{"status": "Success", "message": "", "run_result": null}'),
    "timeout": (200, result(status="TimeLimitExceeded", return_code=None)),
    "exit code": (200, result(return_code=1, stderr="Traceback\nNameError: os")),
    "nothing printed": (200, result()),
    "no output": (200, result(stdout=None)),
    "words": (200, result(stdout="hello\n")),
    "cut": (200, json.dumps(CUT).encode()),
    "decoding": (200, result(stdout="[DecodeError] 'utf-8' codec can't decode byte")),
    "large": (200, result(stdout="x" * 5_000_000)),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("later", [False, True])
def test_a_service_that_misbehaves_is_a_failure(
    name: str, later: bool, fusion: Fusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.01)
    reward = code_tests("tests", sandbox=fusion.url)
    if later:
        assert scored(reward, ["print(4)"], DOUBLES)[0] == [0.5]
    fusion.answer = lambda request: BROKEN[name]
    for each in (reward, code_runs("tests", sandbox=fusion.url)):
        table = rk.score(each, ["print(4)"], tests=[DOUBLES])
        assert table.outcomes[each.name][0] == Outcome.FAILED
        assert table.notes[each.name][0].isprintable()


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    table = rk.score(code_runs(sandbox=f"http://127.0.0.1:{port}"), ["print(1)"] * 50)
    assert set(table.outcomes["code_runs"]) == {Outcome.FAILED}
    assert f"127.0.0.1:{port}" in table.notes["code_runs"][0]


@pytest.mark.slow
def test_a_service_that_hangs(fusion: Fusion, monkeypatch: pytest.MonkeyPatch) -> None:
    reward = code_runs(sandbox=fusion.url)
    assert rk.score(reward, ["print(1)"]).total.tolist() == [1.0]
    monkeypatch.setattr(service, "_START_SECONDS", 0.0)
    monkeypatch.setattr(service, "_QUEUE_SECONDS", -4.5)
    ended = threading.Event()
    fusion.answer = lambda request: (200 if ended.wait(60) else 500, b"")
    try:
        table = rk.score(reward, ["print(1)"] * 3)
    finally:
        ended.set()
    assert set(table.outcomes["code_runs"]) == {Outcome.FAILED}
    assert "took too long" in table.notes["code_runs"][0]


@pytest.mark.slow
def test_an_outage_makes_no_storm_of_requests(fusion: Fusion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.01)
    reward = code_runs(sandbox=fusion.url)
    assert rk.score(reward, ["print(1)"]).total.tolist() == [1.0]
    fusion.requests.clear()
    fusion.answer = lambda request: (503, b"")
    table = rk.score(reward, [f"print({number})" for number in range(200)])
    assert set(table.outcomes["code_runs"]) == {Outcome.FAILED}
    assert len(fusion.requests) <= 3 * AT_ONCE
    fusion.answer = honest
    monkeypatch.setattr(requests, "_PAUSE", 0.0)
    requests._health.cache_clear()
    assert rk.score(reward, ["print(1)"]).total.tolist() == [1.0]


@pytest.mark.slow
def test_one_outage_is_tried_again(fusion: Fusion) -> None:
    failures = iter([(503, b"")])
    fusion.answer = lambda request: next(failures, None) or honest(request)
    assert rk.score(code_runs(sandbox=fusion.url), ["print(1)"]).total.tolist() == [1.0]


@pytest.mark.slow
def test_requests_at_a_time(fusion: Fusion) -> None:
    reward = code_runs(sandbox=fusion.url)
    assert rk.score(reward, ["print(1)"]).total.tolist() == [1.0]
    answer = honest(fusion.requests[-1])

    def slow(request: dict[str, Any]) -> tuple[int, bytes]:
        time.sleep(0.05)
        return answer

    fusion.answer = slow
    assert rk.score(reward, [f"print({number})" for number in range(100)]).total.sum() == 100.0
    assert 1 < fusion.most_at_once <= AT_ONCE


# --- Options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        *({"sandbox": given} for given in ("", "localhost:8080", "ftp://a", "http://", "http://a b", 5, "http://a:x")),
        *({"sandbox": given} for given in ("http://a?b=c", "http://user:secret@host", "http://a#b", "http://a:99999")),
        {"sandbox": "http://localhost", "packages": True},
        {"sandbox": "http://localhost", "unsafe": True},
    ],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError) as raised:
        code_tests("tests", **options)
    assert "secret" not in str(raised.value)
    with pytest.raises(rk.RewardDefinitionError):
        code_runs(**options)


@pytest.mark.parametrize("given", ["http://host:8080", "http://host:8080/", "http://host:8080/run_code"])
def test_addresses(given: str) -> None:
    reward = code_tests("tests", sandbox=given)
    assert reward == code_tests("tests", sandbox="http://host:8080")
    assert repr(reward) == "code_tests('tests', sandbox='http://host:8080/run_code')"
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert "faas/run_code" in repr(code_tests("tests", sandbox="https://host/faas/"))


def test_the_error_without_a_sandbox_names_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    isolation._working.cache_clear()
    try:
        with pytest.raises(rk.RewardFailure, match="sandbox='http"):
            chosen(packages=False, unsafe=False)
    finally:
        isolation._working.cache_clear()
