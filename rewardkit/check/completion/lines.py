"""Lines: where a reward decides. The line of its source at which two completions part.

``parting(subject, paid, unpaid)`` runs the reward on both and compares the lines of the user's code that each executes.
The last one before they differ is where the decision fell. It is a hint where to look, never a reason to blame.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rewardkit.check.reading.places import file_of
from rewardkit.check.reward_under_test.reward_under_test import OutOfTime, RewardUnderTest
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of

DECIDING = (
    "gold_gets_the_maximum", "gold_above_perturbed_gold", "separates_good_from_bad", "right_however_written",
    "exploits", "regressions", "search",
)  # fmt: skip
"""Laws whose findings are completions that earn too much or too little."""
_LONGEST = 2_000
"""Characters of a completion: tracing a reward slows it down. Any limit."""
_MOST = 20_000
"""Lines that are compared. Any limit: a loop over a long text runs the same lines again."""

_Place = tuple[str, int]


def deciding_line(subject: RewardUnderTest, trial: Trial, score: TrialResult | None) -> str:
    """Return the line at which a completion parts from one of its example with another score; "" if none is known.

    That is a wrong completion for one that is paid, and a right one for one that is not.
    """
    if score is None or not score.scored or subject.lost or len(text_of(trial.completion)) > _LONGEST:
        return ""
    example = subject.examples[trial.example]
    try:
        for completion in (*example.good, *example.bad, subject.formed("")):
            other = Trial(completion, trial.example, trial.columns)
            other_score = subject.see([other])[0]
            if other_score.scored and abs(other_score.value - score.value) > EQUAL:
                return parting(subject, trial, other)
    except OutOfTime:
        pass  # the finding is worth more than its line
    return ""


def parting(subject: RewardUnderTest, trial: Trial, other: Trial) -> str:
    """Return ``rewards.py:9: if match is None:``, the last line that both execute before they part; "" if none is."""
    if not _files(subject):
        return ""
    first, second = executed(subject, trial), executed(subject, other)
    for number, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return _shown(first[number - 1]) if number else ""
    return ""


def _files(subject: RewardUnderTest) -> frozenset[str]:
    """Return the files of the user's functions."""
    files: frozenset[str] = subject.remembered(
        "files", lambda: frozenset(filter(None, (file_of(binding.original) for _, binding in subject.bindings)))
    )
    return files


def executed(subject: RewardUnderTest, trial: Trial) -> list[_Place]:
    """Return the lines of the user's functions that scoring a completion executes, in order."""
    lines: list[_Place] = []
    with _traced(_files(subject), lines):
        subject.see([trial], fresh=True)
    if subject.stage.environment is None:
        return lines
    played = subject.remembered("lines of the environment", lambda: _lines_of(subject.stage.environment))
    return [line for line in lines if line not in played]


def _lines_of(environment: Any) -> frozenset[_Place]:
    """Return the lines of an environment: they run when it plays, and decide nothing."""
    try:
        lines, first = inspect.getsourcelines(environment)
        file = inspect.getsourcefile(environment) or ""
    except (OSError, TypeError):
        return frozenset()
    return frozenset((file, number) for number in range(first, first + len(lines)))


@contextmanager
def _traced(files: frozenset[str], lines: list[_Place]) -> Iterator[None]:
    """Inside the block, note each line of these files that this thread executes."""

    def of_call(frame: FrameType, event: str, argument: Any) -> Any:
        return of_line if frame.f_code.co_filename in files else None

    def of_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and len(lines) < _MOST:
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        return of_line

    before = sys.gettrace()
    sys.settrace(of_call)
    try:
        yield
    finally:
        sys.settrace(before)


def _shown(line: _Place) -> str:
    name, number = line
    return f"{Path(name).name}:{number}: {linecache.getline(name, number).strip()}"
