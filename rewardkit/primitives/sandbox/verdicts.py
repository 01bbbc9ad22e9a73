"""Run the tests of a program and describe each failure: ``[*printed(...)]`` is ``["", "printed '7', not '8'"]``.

A verdict depends only on values and bytes that the program had to find: expected results never enter the sandbox in
which it runs, and its own reports of success do not count.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import cache, lru_cache
from pathlib import Path

from rewardkit.core.errors import shorten
from rewardkit.primitives.sandbox.assertions import Assertion
from rewardkit.primitives.sandbox.cases import Printed
from rewardkit.primitives.sandbox.isolation import Isolation
from rewardkit.primitives.sandbox.limits import Limits
from rewardkit.primitives.sandbox.runs import Job, Run, Trial, runs

NOT_TRIED = "skipped after earlier failures"

_ALL_BYTES = 10_000_000
"""The limit of the answers to all assertions together, which are kept in memory."""

_TOO_MUCH = f"the answers to all assertions take more than {_ALL_BYTES:,} bytes"

_KEPT_VERDICTS = 1_024
_KEPT_BYTES = 10_000
_CHECK_LIMITS = Limits(timeout=5.0, memory=512)
_MODULES = ("json",)


def printed(program: str, tests: Sequence[Printed], limits: Limits, isolation: Isolation) -> Generator[str, None, None]:
    """Yield the problem with the output of `program` for each test; empty if it is as expected."""
    job = Job(program, tuple(Trial(test.given) for test in tests), limits, isolation.packages)
    with closing(runs(job, isolation.command)) as results:
        for test in tests:
            run = next(results, None)
            yield NOT_TRIED if run is None else run.problem or test.problem(run.output)


def asserted(
    program: str, tests: Sequence[Assertion], limits: Limits, isolation: Isolation
) -> Generator[str, None, None]:
    """Yield the problem with the values of `program` for each assertion; empty if it holds."""
    answers = _answers(program, tests, limits, isolation)
    reports = tuple(answer.output if answer.finished and not answer.problem else None for answer in answers)
    small = sum(len(report or b"") for report in reports) <= _KEPT_BYTES
    verdicts = (_kept_verdicts if small else _verdicts)(tuple(tests), reports, isolation)
    for answer, verdict in zip(answers, verdicts, strict=True):
        yield answer.problem or (verdict if answer.finished else "ended before it had answered")


def _answers(program: str, tests: Sequence[Assertion], limits: Limits, isolation: Isolation) -> list[Run]:
    """Return the program's answers to the calls, as `values.encode` writes them."""
    trials = tuple(Trial(epilogue=_QUESTION.format(values=_values(), test=test)) for test in tests)
    answers, size = [], 0
    with closing(runs(Job(program, trials, limits, isolation.packages, _MODULES), isolation.command)) as results:
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
    job = Job(program, tuple(trials), _CHECK_LIMITS, isolation.packages, _MODULES)
    with closing(runs(job, isolation.command)) as results:
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
    return "" if verdict == "holds" else f"{test.calls[0][:80]} is {computed[:80].strip()}: {shorten(test.shown, 120)}"


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
