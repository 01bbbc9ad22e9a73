"""Tests of a program, with a description of each failure: ``[*printed(...)]`` is ``["", "printed '7', not '8'"]``.

A verdict depends only on values and bytes that the program had to compute. Expected results are never sent to the
program's sandbox, and the program's own reports of success do not count.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

from rewardkit.errors import shorten
from rewardkit.rewards.sandbox import scripts
from rewardkit.rewards.sandbox.assertions import Assertion, assertions
from rewardkit.rewards.sandbox.cases import PRELUDE_MODULES, Tests
from rewardkit.rewards.sandbox.comparison import comparison, read_answers
from rewardkit.rewards.sandbox.isolation import Isolation
from rewardkit.rewards.sandbox.limits import Limits
from rewardkit.rewards.sandbox.runs import Job, Run, Trial, compiled, dialogues, runs, source
from rewardkit.rewards.sandbox.service import TIMED_OUT, Service

NOT_TRIED = "skipped after earlier failures"

_ALL_BYTES = 10_000_000
"""The maximum total size of the answers to all assertions, which are kept in memory. The limit is arbitrary: the
answers from correct programs take kilobytes."""

_TOO_MUCH = f"the answers to all assertions exceed {_ALL_BYTES:,} bytes"

# Arbitrary, but more than for programs: the tester holds the values of all assertions, and its own imports.
_TESTER = Limits(timeout=5.0, memory=512)
_MODULES = ("json", "copy")

Place: TypeAlias = Isolation | Service
"""A sandbox for programs, either local or behind HTTP."""


def launched(job: Job, sandbox: Place) -> Generator[Run, None, None]:
    """Yield the trials' results, as `runs` does. Close the generator to stop early."""
    if isinstance(sandbox, Service):
        return sandbox.runs(job)
    return runs(replace(job, path=sandbox.packages), sandbox.command)


def problems(program: str, tests: Tests, limits: Limits, sandbox: Place) -> Generator[str, None, None]:
    """Yield a description of the problem for each test; "" if `program` passes."""
    yield from _printed(program, tests, limits, sandbox)
    if isinstance(sandbox, Service):
        yield from _compared(program, tests, limits, sandbox)
    else:
        yield from _asked(program, tests, limits, sandbox)


def prepared(program: str, trials: tuple[Trial, ...], limits: Limits, tests: Tests) -> Job:
    """Return a job that runs a program after the code that the tests need before it."""
    return Job(program, trials, limits, setup=tests.before, modules=PRELUDE_MODULES if tests.prelude else ())


def _printed(program: str, tests: Tests, limits: Limits, sandbox: Place) -> Generator[str, None, None]:
    if not tests.printed:
        return
    job = prepared(program, tuple(Trial(test.given) for test in tests.printed), limits, tests)
    with closing(launched(job, sandbox)) as results:
        for test in tests.printed:
            run = next(results, None)
            yield NOT_TRIED if run is None else run.problem or test.problem(run.output)


def _asked(program: str, tests: Tests, limits: Limits, sandbox: Isolation) -> Generator[str, None, None]:
    """Run test code in a second sandbox, which requests values from the program; yield the problem for each test."""
    script = tests.script
    if not script.steps:
        return
    shared = scripts.shared_code(script, tests.tolerance)
    answers = prepared(program, (Trial(epilogue=_ANSWER),) * len(script.steps), limits, tests)
    modules = (*answers.modules, *_MODULES)
    library = tuple(map(compiled, ("values", "dialogue")))
    job = replace(answers, path=sandbox.packages, modules=modules, library=library, shared=shared["classes"])
    steps = tuple(Trial(scripts.step_code(step, shared), _TEST) for step in script.steps)
    library = (*library, compiled("tester"))
    tester = Job("", steps, _TESTER, sandbox.packages, _MODULES, library=library, shared=shared)
    with closing(dialogues(job, tester, sandbox.command)) as results:
        for step in script.steps:
            run, verdict = next(results, (None, None))
            if run is None or verdict is None:
                yield NOT_TRIED
            elif run.problem or not run.finished:
                yield run.problem or "ended before it answered"
            elif verdict.problem.startswith(TIMED_OUT) or not (verdict.problem or verdict.finished):
                yield f"{step.shown[:80]} cannot be checked: the test code {verdict.problem or 'ended'}"
            elif verdict.problem:
                yield verdict.problem
            else:
                yield ""


_ANSWER = "Answering(heard, out, program, tuple(shared)).serve()"
_TEST = "run(heard, out, said, shared, open(0, 'rb').read())"


# --- In a service ----------------------------------------------------------------------------------------------


def _compared(program: str, tests: Tests, limits: Limits, sandbox: Service) -> Generator[str, None, None]:
    """Request all values from the program at once, compare them here, and yield the problem for each test."""
    split = assertions(tests.script)
    for test, run in zip(split, _answers(program, split, tests, limits, sandbox), strict=True):
        if run.problem or not run.finished:
            yield run.problem or "ended before it answered"
            continue
        try:
            values = read_answers(run.output)
            yield "" if comparison(test, tests.tolerance)(values) else _failed(test, values)
        except ValueError as error:
            yield f"{test.calls[0][:80]} cannot be checked ({error})"


def _answers(
    program: str, split: Sequence[Assertion], tests: Tests, limits: Limits, sandbox: Service
) -> Generator[Run, None, None]:
    """Yield the program's answers to the calls in each test, as encoded by `values.encode`."""
    trials = tuple(Trial(epilogue=_QUESTION.format(values=source("values"), test=test)) for test in split)
    job = prepared(program, trials, limits, tests)
    # Import the modules in advance: if one is missing there, that is not the program's fault.
    modules = (*job.modules, *_MODULES, *(scripts.names_of(tests.script).modules if split else ()))
    size = 0
    with closing(launched(replace(job, modules=modules), sandbox)) as results:
        for _ in split:
            run = next(results, Run(b"", NOT_TRIED))
            size += len(run.output)
            yield run if size <= _ALL_BYTES else Run(b"", _TOO_MUCH)


def _failed(test: Assertion, values: Sequence[object]) -> str:
    return f"{test.calls[0][:80]} is {repr(values[0])[:80]}: {shorten(test.shown, 120)}"


# --- Code in sandboxes -------------------------------------------------------------------------------------------


# This code runs in the program's process. Whatever the program does to it, it can only report other values.
_QUESTION = """{values}
import json
import os

exec(compile({test.setup!r}, "<setup>", "exec"), program)
report = json.dumps([encode(eval(call, program)) for call in {test.calls!r}]).encode()
while report:
    report = report[os.write(out, report) :]
"""
