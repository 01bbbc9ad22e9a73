"""Programs: ``rk.code_tests("tests")`` gives 1.0 to ``print(int(input()) * 2)`` for input 2 and output 4.

With ``tests=['[{"input": "2", "output": "4"}]']``, a completion that prints 5 scores 0.0.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import PlainValidator

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import number as checked_number
from rewardkit.rewards.sandbox import verdicts
from rewardkit.rewards.sandbox.assertions import assertions
from rewardkit.rewards.sandbox.cases import Tests, read_tests
from rewardkit.rewards.sandbox.comparison import comparison
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.limits import USUAL, Limits
from rewardkit.rewards.sandbox.requests import address
from rewardkit.rewards.sandbox.runs import Trial
from rewardkit.rewards.sandbox.scripts import names_of
from rewardkit.rewards.sandbox.service import AT_ONCE, OUTPUT_BYTES, Service
from rewardkit.rewards.sandbox.verdicts import Place
from rewardkit.text.extraction import as_extractor, whole
from rewardkit.text.extractors import ANSWER, Extractor, TextExtractor
from rewardkit.text.marks import fenced_blocks
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

_Result = TypeVar("_Result")

Credit = Literal["partial", "binary"]

# "python", "py", "python3.11", and "ipython" as in notebooks.
_PYTHON = re.compile(r"i?py(?:thon)?[\d.]*")
# The interpreter and a few imports need tens of megabytes. Ten minutes is arbitrary; it catches mistyped numbers.
_LEAST_MEMORY, _MOST_SECONDS = 64, 600.0
# Arbitrary number: a note is one line.
_SHOWN_PROBLEMS = 2


@dataclass(frozen=True)
class Program(TextExtractor):
    """An extractor for the last fenced Python block, the last block without a language, or text without fences."""

    def find(self, answer: str) -> str | None:
        if "<answer>" in answer or "</answer>" in answer:
            answer = ANSWER.find(answer) or ""
        blocks = fenced_blocks(answer)
        if blocks or "```" in answer:
            labeled = [body for language, body in blocks if _PYTHON.fullmatch(language) and _has_code(body)]
            bodies = labeled or [body for language, body in blocks if not language]
            answer = bodies[-1] if bodies else ""
        return textwrap.dedent(answer) if _has_code(answer) else None

    def __repr__(self) -> str:
        return "program()"


def _has_code(text: str) -> bool:
    return any(line and not line.startswith("#") for line in map(str.strip, text.split("\n")))


@dataclass(frozen=True)
class Room:
    """The settings for running programs: limits and isolation."""

    limits: Limits
    packages: bool
    unsafe: bool
    service: Service | None = None

    def place(self) -> Place:
        """Return the environment in which programs run; raise RewardFailure if no sandbox works."""
        return self.service or chosen(packages=self.packages, unsafe=self.unsafe)

    def submit(self, function: Callable[..., _Result], *arguments: Any) -> Future[_Result]:
        """Call `function` in the sandbox thread pool, by default with one thread per core, and return the future."""
        return _pool(os.getpid(), AT_ONCE if self.service else None).submit(function, *arguments)


@cache
def _pool(process: int, threads: int | None) -> ThreadPoolExecutor:
    """Return this process's thread pool. There is one per process because threads do not survive a fork."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ThreadPoolExecutor(max_workers=threads or cores, thread_name_prefix="rewardkit-sandbox")


@dataclass(frozen=True)
class GoldTests:
    """A reader for gold cells with tests. It rejects tests that cannot be checked in the configured sandbox."""

    packages: bool
    extract: Extractor | None
    remote: bool = False
    tolerance: float | None = None

    def __call__(self, cell: object) -> Tests:
        if self.extract and isinstance(cell, str):
            cell = self.extract(cell)
        tests = read_tests(cell, self.tolerance)
        if self.remote:
            return _checked_here(tests)
        for module in names_of(tests.script).modules if tests.script.steps else ():
            if not self.packages:
                raise ValueError(f"the test code imports {module}, which needs packages=True")
            if find_spec(module) is None:
                raise ValueError(f"the test code imports {module}, which is not installed. Install it")
        return tests


def _checked_here(tests: Tests) -> Tests:
    """Return `tests`; reject tests that an HTTP sandbox cannot run, or that cannot be checked without running code."""
    for number, test in enumerate(tests.printed, 1):
        size = sum(map(len, test.expected)) + len(test.expected)
        if size > OUTPUT_BYTES:
            raise ValueError(
                f"test {number} expects {size:,} bytes of output, but the limit in a service is {OUTPUT_BYTES:,}"
            )
    for assertion in assertions(tests.script):
        comparison(assertion, tests.tolerance)
    return tests


@dataclass(frozen=True)
class CodeTests:
    """The fraction of tests that a program passes."""

    room: Room
    credit: Credit
    waits: ClassVar[bool] = True
    pool: ClassVar[str] = "sandboxes"

    def __call__(self, program: str | None, tests: Tests) -> Score | Future[float | Score]:
        if program is None:
            return Score(0.0, "no program found")
        return self.room.submit(self._score, program, tests)

    def _score(self, program: str, tests: Tests) -> float | Score:
        total = len(tests.printed) + len(tests.script.steps)
        passed_count, problem_notes = 0, []
        with closing(verdicts.problems(program, tests, self.room.limits, self.room.place())) as problems:
            for number, problem in enumerate(problems, 1):
                passed_count += not problem
                if problem:
                    problem_notes.append(f"test {number}: {problem}")
                    if self.credit == "binary":
                        break
        if not problem_notes:
            return 1.0
        more = len(problem_notes) - _SHOWN_PROBLEMS
        note = "; ".join(problem_notes[:_SHOWN_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
        if self.credit == "binary":
            return Score(0.0, note)
        return Score(passed_count / total, f"passed {passed_count} of {total}; {note}")


@dataclass(frozen=True)
class CodeRuns:
    """A check that a program runs to completion."""

    room: Room
    waits: ClassVar[bool] = True
    pool: ClassVar[str] = "sandboxes"

    def __call__(self, program: str | None, tests: Tests | None = None) -> Score | Future[float | Score]:
        if program is None:
            return Score(0.0, "no program found")
        return self.room.submit(self._score, program, tests or Tests())

    def _score(self, program: str, tests: Tests) -> float | Score:
        stdin = tests.printed[0].given if tests.printed else b""
        job = verdicts.prepared(program, (Trial(stdin),), self.room.limits, tests)
        with closing(verdicts.launched(job, self.room.place())) as results:
            run = next(results)
        if run.problem or not run.finished:
            return Score(0.0, run.problem or "ended early")
        return 1.0


def code_tests(
    column: str,
    *,
    credit: Credit = "partial",
    timeout: float = 2.0,
    memory: int = 256,
    packages: bool = False,
    sandbox: str | None = None,
    unsafe: bool = False,
    tolerance: float | None = None,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    """Score the fraction of tests that the program in the completion passes.

    ``rk.code_tests("tests")`` gives 0.5 to ``print(4)`` if "tests" is
    ``[{"input": "2", "output": "4"}, {"input": "3", "output": "6"}]``.

    The program runs in a sandbox: bubblewrap or, if you are root, Linux namespaces. It must produce output or values,
    but it never sees the expected ones, so only correct results score. See ``docs/code.md``.

    Args:
        column: the column with the tests, in the format of LiveCodeBench, APPS, TACO, open-r1, CodeContests, KodCode,
            HumanEval, MBPP, or others: a list (or JSON text) of ``{"input": ..., "output": ...}``, ``{"inputs": [...],
            "outputs": [...]}`` with or without "fn_name", a list of assertions such as ``"assert add(1, 2) == 3"``,
            ``{"setup": ..., "asserts": [...]}``, pytest functions, unittest classes, or ``check(candidate)`` with
            "entry_point". Outputs are compared line by line, without white space at line ends. If the format identifies
            a dataset, the dataset's own comparison rule applies.
        credit: ``"partial"``: passed tests / all tests; ``"binary"``: 1.0 if all tests pass, else 0.0.
        timeout: seconds of CPU time per test. A program that waits instead of computing is terminated after twice this
            time plus one second. After two timeouts, the remaining tests are skipped and count as failed.
        memory: megabytes of address space, at least 64. The interpreter itself needs about 20 megabytes.
        packages: if True, programs can import packages installed on this machine (such as numpy), not only the standard
            library.
        sandbox: the address of a SandboxFusion service, such as ``"http://localhost:8080"``, for machines that cannot
            run programs themselves. Programs can import the service's packages, and ``packages`` does not apply.
        unsafe: if True, programs run without a sandbox, with only time and memory limits.
        tolerance: the allowed difference between numbers and the expected numbers, absolute or relative, at least 0 and
            less than 1, such as 1e-6. It applies to a program's output or result, and to ``==`` in assertions. There is
            no relative tolerance if an integer is expected. None uses the dataset's own comparison rule or, if there is
            none, exact comparison.
        extract: finds the program: by default, the last fenced Python block, else the last fenced block without a
            language, else the whole visible text if there is no fence.
        gold: finds the tests in a gold cell that is text, such as ``rk.extract.fenced("json")``.

    Returns:
        A reward in [0, 1]. It is expensive, so it is not evaluated while its weight is zero everywhere. If the sandbox
        cannot be started, the outcome is ``failed``, never a score of 0.

    Raises:
        RewardDefinitionError: the credit is unknown, or a limit or the tolerance is out of range.
        CoercionError: while scoring: a gold cell has no tests, has an unknown format, or has tests that cannot be
            checked.
    """
    if credit not in get_args(Credit):
        raise RewardDefinitionError(
            f"code_tests: credit must be one of {', '.join(get_args(Credit))}, got {shorten(credit)}"
        )
    if tolerance is not None and not 0.0 <= checked_number(tolerance, "code_tests: tolerance") < 1.0:
        raise RewardDefinitionError(f"code_tests: tolerance must be at least 0 and less than 1, got {tolerance}")
    room = _room("code_tests", timeout, memory, packages, unsafe, sandbox)
    where = as_extractor(extract, Program())
    gold_where = None if gold is None else as_extractor(gold, whole())
    call_text = expression(
        "code_tests",
        column,
        credit=(credit, "partial"),
        **_shown(room),
        tolerance=(tolerance, None),
        extract=(extract and where, None),
        gold=(gold_where, None),
    )
    return primitive(
        CodeTests(room, credit),
        "code_tests",
        call_text,
        Parameter("program", "completion", view=where),
        _gold("code_tests", column, room, gold_where, None if tolerance is None else float(tolerance)),
        expensive=True,
    )


def code_runs(
    column: str | None = None,
    *,
    timeout: float = 2.0,
    memory: int = 256,
    packages: bool = False,
    sandbox: str | None = None,
    unsafe: bool = False,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    """Score 1.0 if the program in the completion runs and exits cleanly, else 0.0. Use it as a gate's condition.

    ``rk.code_runs()`` gives 1.0 to ``print("hello")`` and 0.0 to ``print(hello)``. An empty program gets 0.0, but a
    program that does nothing gets 1.0, so do not train on this reward alone.

    Args:
        column: the column with the tests, as in ``code_tests``. The first test provides the program's input, and its
            setup code runs before the program. None means no input.
        timeout: seconds of CPU time.
        memory: megabytes of address space, at least 64.
        packages: if True, programs can import packages installed on this machine.
        sandbox: the address of a SandboxFusion service, such as ``"http://localhost:8080"``, for machines that cannot
            run programs themselves. Programs can import the service's packages, and ``packages`` does not apply.
        unsafe: if True, programs run without a sandbox, with only time and memory limits.
        extract: finds the program, as in ``code_tests``.
        gold: finds the tests in a gold cell that is text.

    Raises:
        RewardDefinitionError: a limit is out of range.
    """
    room = _room("code_runs", timeout, memory, packages, unsafe, sandbox)
    where = as_extractor(extract, Program())
    gold_where = None if gold is None else as_extractor(gold, whole())
    columns = () if column is None else (column,)
    call_text = expression(
        "code_runs", *columns, **_shown(room), extract=(extract and where, None), gold=(gold_where, None)
    )
    parameters = [Parameter("program", "completion", view=where)]
    parameters += [_gold("code_runs", name, room, gold_where) for name in columns]
    return primitive(CodeRuns(room), "code_runs", call_text, *parameters, expensive=True)


def _gold(name: str, column: str, room: Room, extract: Extractor | None, tolerance: float | None = None) -> Parameter:
    if not isinstance(column, str) or not column.strip():
        raise RewardDefinitionError(f"{name}: pass the name of the column with the tests, got {shorten(column)}")
    reader = GoldTests(room.packages, extract, room.service is not None, tolerance)
    return Parameter("tests", column, annotation=Annotated[Tests, PlainValidator(reader)])


def _room(name: str, timeout: float, memory: int, packages: bool, unsafe: bool, sandbox: str | None = None) -> Room:
    if not 0.0 < checked_number(timeout, f"{name}: timeout") <= _MOST_SECONDS:
        raise RewardDefinitionError(
            f"{name}: timeout must be greater than 0 and at most {_MOST_SECONDS:g} s, got {timeout}"
        )
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < _LEAST_MEMORY:
        raise RewardDefinitionError(
            f"{name}: memory (in MB) must be an int of at least {_LEAST_MEMORY}, got {shorten(memory)}"
        )
    if sandbox is not None and (packages or unsafe):
        raise RewardDefinitionError(
            f"{name}: {'packages' if packages else 'unsafe'}=True does not apply to programs that run in a service. "
            "Remove this option"
        )
    service = None if sandbox is None else Service(address(sandbox, name))
    return Room(Limits(float(timeout), memory), bool(packages), bool(unsafe), service)


def _shown(room: Room) -> dict[str, tuple[object, object]]:
    return {
        "timeout": (room.limits.timeout, USUAL.timeout),
        "memory": (room.limits.memory, USUAL.memory),
        "packages": (room.packages, False),
        "sandbox": (room.service and room.service.url, None),
        "unsafe": (room.unsafe, False),
    }
