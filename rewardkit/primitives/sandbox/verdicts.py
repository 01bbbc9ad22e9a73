"""Run the tests of a program and describe each failure: ``[*printed(...)]`` is ``["", "printed '7', not '8'"]``.

A verdict depends only on values and bytes that the program had to find: expected results never enter the sandbox in
which it runs, and its own reports of success do not count.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from rewardkit.core.errors import shorten
from rewardkit.primitives.sandbox.assertions import Assertion, foreign_modules
from rewardkit.primitives.sandbox.cases import Printed
from rewardkit.primitives.sandbox.comparison import comparison, read_answers
from rewardkit.primitives.sandbox.isolation import Isolation
from rewardkit.primitives.sandbox.limits import Limits
from rewardkit.primitives.sandbox.runs import Job, Run, Trial, runs
from rewardkit.primitives.sandbox.service import Service

NOT_TRIED = "skipped after earlier failures"

_ALL_BYTES = 10_000_000
"""The limit of the answers to all assertions together, which are kept in memory."""

_TOO_MUCH = f"the answers to all assertions take more than {_ALL_BYTES:,} bytes"

_KEPT_VERDICTS = 1_024
_KEPT_BYTES = 10_000
_CHECK_LIMITS = Limits(timeout=5.0, memory=512)
_MODULES = ("json",)


Place: TypeAlias = Isolation | Service
"""Where programs run."""


def launched(job: Job, place: Place) -> Generator[Run, None, None]:
    """Yield the results of the trials; see `runs`. Close it to end early."""
    if isinstance(place, Service):
        return place.runs(job)
    return runs(replace(job, path=place.packages), place.command)


def printed(program: str, tests: Sequence[Printed], limits: Limits, place: Place) -> Generator[str, None, None]:
    """Yield the problem with the output of `program` for each test; empty if it is as expected."""
    job = Job(program, tuple(Trial(test.given) for test in tests), limits)
    with closing(launched(job, place)) as results:
        for test in tests:
            run = next(results, None)
            yield NOT_TRIED if run is None else run.problem or test.problem(run.output)


def asserted(program: str, tests: Sequence[Assertion], limits: Limits, place: Place) -> Generator[str, None, None]:
    """Yield the problem with the values of `program` for each assertion; empty if it holds."""
    answers = _answers(program, tests, limits, place)
    reports = tuple(answer.output if answer.finished and not answer.problem else None for answer in answers)
    small = sum(len(report or b"") for report in reports) <= _KEPT_BYTES
    if isinstance(place, Service):
        verdicts = [*map(_compared, tests, reports)]
    else:
        verdicts = (_kept_verdicts if small else _verdicts)(tuple(tests), reports, place)
    for answer, verdict in zip(answers, verdicts, strict=True):
        yield answer.problem or (verdict if answer.finished else "ended before it had answered")


def _answers(program: str, tests: Sequence[Assertion], limits: Limits, place: Place) -> list[Run]:
    """Return the program's answers to the calls, as `values.encode` writes them."""
    trials = tuple(Trial(epilogue=_QUESTION.format(values=_values(), test=test)) for test in tests)
    modules: tuple[str, ...] = _MODULES
    if isinstance(place, Service):  # if one is missing there, that is not the program's fault
        modules += tuple(sorted({module for test in tests for module in foreign_modules(test.setup)}))
    answers, size = [], 0
    with closing(launched(Job(program, trials, limits, modules=modules), place)) as results:
        for run in results:
            size += len(run.output)
            answers.append(run if size <= _ALL_BYTES else Run(b"", _TOO_MUCH))
    return answers + [Run(b"", NOT_TRIED)] * (len(tests) - len(answers))


def _verdicts(tests: tuple[Assertion, ...], reports: tuple[bytes | None, ...], isolation: Isolation) -> list[str]:
    """Return the problem with each answer, checked in a sandbox that the program never entered."""
    checks = [(test.ground, test.check) for test in tests]
    program = _CHECK.format(values=_values(), checks=checks)
    trials = [Trial(b"%d\n%s" % (number, report)) for number, report in enumerate(reports) if report is not None]
    if not trials:
        return [""] * len(tests)
    job = Job(program, tuple(trials), _CHECK_LIMITS, modules=_MODULES)
    with closing(launched(job, isolation)) as results:
        return [
            "" if report is None else _verdict(test, next(results, None))
            for test, report in zip(tests, reports, strict=True)
        ]


_kept_verdicts = lru_cache(_KEPT_VERDICTS)(_verdicts)
"""Cached: the correct answers of a group are all the same."""


def _verdict(test: Assertion, run: Run | None) -> str:
    if run is None or run.problem:
        return f"{test.calls[0][:80]} cannot be checked ({run.problem if run else NOT_TRIED})"
    verdict, _, computed = run.output.decode(errors="replace").partition("\n")
    return "" if verdict == "holds" else _failed(test, computed)


def _failed(test: Assertion, computed: str) -> str:
    return f"{test.calls[0][:80]} is {computed[:80].strip()}: {shorten(test.shown, 120)}"


def _compared(test: Assertion, report: bytes | None) -> str:
    """Return the problem with an answer that came from a service, checked here without running code."""
    if report is None:
        return ""
    try:
        answers = read_answers(report)
        return "" if comparison(test)(answers) else _failed(test, repr(answers[0])[:200])
    except ValueError as error:
        return f"{test.calls[0][:80]} cannot be checked ({error})"


@cache
def _values() -> str:
    """Return the source of `values`: code in a sandbox cannot import it."""
    return Path(__file__).with_name("values.py").read_text(encoding="utf-8")


# Runs in the program's process; whatever the program does to these lines, it can only report other values.
_QUESTION = """{values}
import json
import os

exec(compile({test.setup!r}, "<setup>", "exec"), program)
report = json.dumps([encode(eval(call, program)) for call in {test.calls!r}]).encode()
while report:
    report = report[os.write(out, report) :]
"""

# Its input is the number of a check, and answers as reported by the lines above.
_CHECK = """{values}
import json
import sys

ground, check = {checks!r}[int(sys.stdin.readline())]
scope = {{}}
exec(ground, scope)
answers = [decode(answer) for answer in json.load(sys.stdin)]
scope.update((f"answer_{{number}}", answer) for number, answer in enumerate(answers))
try:
    exec(check, scope)
except Exception:
    print("fails")
    print(repr(answers[0])[:200])
else:
    print("holds")
"""
