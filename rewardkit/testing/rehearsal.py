"""Rehearsal: what goes wrong when the calls of the right completions really run.

A wrong name in a script, or a bug in a tool, makes right completions fail; the laws would blame the reward.
"""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.core.batch.trajectory import Trajectory
from rewardkit.core.errors import near_miss, shorten_line
from rewardkit.testing.subject import Subject

_MOST = 3
"""Calls that are told."""


def failing_calls(subject: Subject) -> Iterator[str]:
    """Yield a remark for each call of a right completion that is no tool of the environment or fails in it."""
    if not subject.stage.real or subject.lost:
        return
    known = sorted(subject.stage.names())
    told: set[str] = set()
    for number, example in enumerate(subject.examples):
        for completion in example.good:
            played, _ = subject.stage.played(completion, example.shown)
            if isinstance(played, str):
                continue
            for call in Trajectory.of(played).calls:
                if call.ok is not False or call.name in told or len(told) == _MOST:
                    continue
                told.add(call.name)
                said = call.result.error if call.result is not None else None
                yield f"good, example {number}: {_problem(call.name, said, known)}"


def _problem(name: str, error: str | None, known: list[str]) -> str:
    if name not in known:
        return f"there is no tool {name!r}, only {', '.join(known) or 'none'}.{near_miss(name, known)}"
    return (
        f"the call of {name!r} fails: {shorten_line(error or '', 120)}. Fix the completion or the tool, unless "
        "the failure is meant"
    )
