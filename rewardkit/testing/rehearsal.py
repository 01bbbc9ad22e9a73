"""Rehearsal: what goes wrong when the calls of the right completions really run.

A wrong name in a script, or a bug in a tool, makes right completions fail; the laws would blame the reward.
"""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.core.batch.trajectory import Trajectory
from rewardkit.core.errors import near_miss, shorten_line
from rewardkit.testing.isolation import Lost, Note, can_isolate, isolated
from rewardkit.testing.subject import Subject

_MOST = 3
"""Tools that are reported."""


def failing_calls(subject: Subject, seconds: float, *, isolate: bool = True) -> Iterator[str]:
    """Yield a remark for each tool that a right completion calls in vain: it does not exist, or fails.

    Args:
        subject: the reward under test, with its environment or tools.
        seconds: the time limit, where the calls are isolated.
        isolate: run the calls in a child process, since a tool may hang or end the process; without forks, run none.
    """
    if not subject.stage.real or subject.lost or (isolate and not can_isolate()):
        return
    if not isolate:
        yield from _failing(subject)
        return
    for said in isolated(lambda send: send(list(_failing(subject))), Note(), seconds, seconds):
        if isinstance(said, list):
            yield from said
        elif isinstance(said, Lost):
            yield f"good: while the calls of the right completions ran, a tool {said.reason}"


def _failing(subject: Subject) -> Iterator[str]:
    known = sorted(subject.stage.names())
    seen: set[str] = set()
    for number, example in enumerate(subject.examples):
        for completion in example.good:
            try:
                played, _ = subject.stage.played(completion, example.shown)
            except Exception as error:
                why = shorten_line(f"{type(error).__name__}: {error}", 120)
                yield f"good, example {number}: its calls cannot run: {why}"
                return
            for call in () if isinstance(played, str) else Trajectory.of(played).calls:
                if call.ok is not False or call.name in seen or len(seen) == _MOST:
                    continue
                seen.add(call.name)
                said = call.result.error if call.result is not None else None
                yield f"good, example {number}: {_problem(call.name, said, known)}"


def _problem(name: str, error: str | None, known: list[str]) -> str:
    if name not in known:
        return f"there is no tool {name!r}, only {', '.join(known) or 'none'}.{near_miss(name, known)}"
    return (
        f"the call of {name!r} fails: {shorten_line(error or '', 120)}. Fix the completion or the tool, unless "
        "the failure is meant"
    )
