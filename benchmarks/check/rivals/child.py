"""Check each case in a child process of its own, and print a line of JSON for each."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from scorer import CannotCheck, Scorer

Finding = dict[str, Any]
Say = Callable[[Finding], None]
Check = Callable[[Scorer, Say], dict[str, Any]]
"""Says what a tool finds in a case, and returns more that the line tells: how the tool was driven, for one.

With ``only``, the kind of findings that count: the tool takes the others back.
"""

SECONDS = 60.0
MEMORY = 6 << 30
LONGEST = 600
"""Longer completions are cut in the output."""


def finding(probe: str, kind: str, completion: str, score: float | None, *, gate: bool, detail: str = "") -> Finding:
    """Return a finding as it is printed.

    Args:
        probe: the name of the tool's test.
        kind: ``"accepts wrong"``, ``"rejects right"``, ``"crash"``, ...
        completion: what was scored.
        score: the score; None if there is none.
        gate: whether it makes the tool's own command fail.
        detail: what the tool says.
    """
    if len(completion) > LONGEST:
        completion = f"{completion[: LONGEST // 2]} … [{len(completion)} characters] … {completion[-LONGEST // 4 :]}"
    shown = score if score is None or math.isfinite(score) else str(score)
    return {
        "probe": probe,
        "kind": kind,
        "completion": completion,
        "score": shown,
        "gate": gate,
        "detail": detail[:200],
    }


def main(check: Check) -> None:
    """Check the cases of the package on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("kind", choices=["faulty", "sound"])
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], help="name of a case; repeatable")
    options = parser.parse_args()
    sys.path[:0] = options.path
    for case in getattr(importlib.import_module(options.package), options.kind)():
        if not options.only or case.name in options.only:
            print(json.dumps(_checked(case, check)), flush=True)


def _checked(case: Any, check: Check) -> dict[str, Any]:
    """Check a case; a reward that hangs costs a minute, not the run."""
    context = multiprocessing.get_context("fork")
    calls = context.Value("q", 0, lock=False)
    here, there = context.Pipe(duplex=False)
    started = time.monotonic()
    child = context.Process(target=_child, args=(case, check, calls, there))
    child.start()
    there.close()
    findings: list[Finding] = []
    more: dict[str, Any] = {"stopped": f"it took more than {SECONDS:g} s"}
    while (left := started + SECONDS - time.monotonic()) > 0 and here.poll(left):
        try:
            said = here.recv()
        except EOFError:
            more = {"stopped": "its process died"}
            break
        if "end" in said:
            more = said["end"]
            break
        findings.append(said)
    seconds = round(time.monotonic() - started, 2)
    assert child.pid is not None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.join()
    kept = more.pop("only", None)
    findings = [one for one in findings if kept in (None, one["kind"])]
    return {"name": case.name, "calls": calls.value, "findings": _shortest(findings), "seconds": seconds, **more}


def _child(case: Any, check: Check, calls: Any, pipe: Any) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            pipe.send({"end": check(Scorer(case, calls), pipe.send)})
        except CannotCheck as reason:
            pipe.send({"end": {"not_checked": str(reason)}})
        except BaseException as error:
            pipe.send({"end": {"not_checked": f"{type(error).__name__}: {error}"[:300]}})


def _shortest(findings: list[Finding]) -> list[Finding]:
    """Keep the shortest completion of each probe and kind; one that fails the gate comes first."""
    kept: dict[tuple[str, str], Finding] = {}
    for one in sorted(findings, key=lambda each: (not each["gate"], len(each["completion"]))):
        kept.setdefault((one["probe"], one["kind"]), one)
    return list(kept.values())
