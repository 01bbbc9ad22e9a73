"""Lines: the source line of a reward at which the execution diverges for two completions.

``parting(subject, paid, unpaid)`` runs the reward on both completions and compares the executed lines of the user's
code. At the last common line, the reward decided the score. This line is a hint, not proof of a fault.
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
from rewardkit.tree.fingerprints import NO_SOURCE

DECIDING = (
    "gold_gets_the_maximum", "gold_above_perturbed_gold", "separates_good_from_bad", "right_however_written",
    "exploits", "regressions", "search",
)  # fmt: skip
"""Laws whose findings are completions that score too high or too low."""
_LONGEST = 2_000
"""The maximum length of a completion to trace, in characters. Arbitrary: tracing slows a reward down."""
_MOST = 20_000
"""The maximum number of executed lines to compare. Arbitrary: a loop over a long text repeats the same lines."""

_LIBRARIES = frozenset(("site-packages", "dist-packages", "rewardkit_adapters"))
"""Folders whose functions the author of the reward did not write, so their lines explain nothing."""

_Place = tuple[str, int]


def deciding_line(subject: RewardUnderTest, trial: Trial, score: TrialResult | None) -> str:
    """Return the source line at which the reward decides a completion's score, or "" if unknown.

    This is the last line before the execution diverges from that for another completion of the example with a different
    score: an incorrect completion if this one scores high, or a correct completion if it scores low.
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
        pass  # report the finding without its line
    return ""


def parting(subject: RewardUnderTest, trial: Trial, other: Trial) -> str:
    """Return the last line executed for both completions before they diverge, or "" if there is none.

    The line is written as ``rewards.py:9: if match is None:``.
    """
    if not _files(subject):
        return ""
    first, second = executed(subject, trial), executed(subject, other)
    for number, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return _shown(first[number - 1]) if number else ""
    return ""


def _files(subject: RewardUnderTest) -> frozenset[str]:
    """Return the source files of the user's functions."""
    files: frozenset[str] = subject.remembered(
        "files",
        lambda: frozenset(
            file
            for _, binding in subject.bindings
            if (file := file_of(binding.original)) and _LIBRARIES.isdisjoint(Path(file).parts)
        ),
    )
    return files


def executed(subject: RewardUnderTest, trial: Trial) -> list[_Place]:
    """Return, in order, the lines of the user's functions that are executed to score a completion."""
    lines: list[_Place] = []
    with _traced(_files(subject), lines):
        subject.see([trial], fresh=True)
    if subject.stage.environment is None:
        return lines
    played = subject.remembered("lines of the environment", lambda: _lines_of(subject.stage.environment))
    return [line for line in lines if line not in played]


def _lines_of(environment: Any) -> frozenset[_Place]:
    """Return an environment's source lines, which are executed when completions are played, but decide nothing."""
    try:
        lines, first = inspect.getsourcelines(environment)
        file = inspect.getsourcefile(environment) or ""
    except NO_SOURCE:
        return frozenset()
    return frozenset((file, number) for number in range(first, first + len(lines)))


@contextmanager
def _traced(files: frozenset[str], lines: list[_Place]) -> Iterator[None]:
    """Inside the ``with`` block, append each line of `files` that this thread executes to `lines`."""

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
