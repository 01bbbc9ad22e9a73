"""Law: a property that every reward must have, with the reason why a training run needs it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rewardkit.check.completion.lines import DECIDING, deciding_line
from rewardkit.check.findings import Finding
from rewardkit.check.reward_under_test.sensitivity import shrunk
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Seen, Trial, text_of, with_text

Check = Callable[[Subject], Iterator[Finding]]

OVER = "out of time"
"""Why a law was not finished."""


class Skip(Exception):
    """The law does not apply to this reward; the message says why."""


NO_GOOD = "no right completions were given"
"""Why a law that starts from right completions was skipped."""


class Unfinished(Exception):
    """The law may apply, but its check was cut short; the message says why. Findings made before that count.

    Attributes:
        reached: how many kinds of completions were tried; the law goes on from there if time is left at the end.
        count: of how many.
    """

    def __init__(self, reason: str, reached: int = 0, count: int = 0) -> None:
        super().__init__(reason)
        self.reached = reached
        self.count = count


@dataclass(frozen=True)
class Law:
    """A law that `check_reward` checks.

    Attributes:
        name: its name in reports and in ``check_reward(laws=[...])``.
        check: yields a `Finding` for each way in which a subject breaks the law; raises `Skip` if it does not apply.
    """

    name: str
    check: Check

    @property
    def why(self) -> str:
        """Why a training run needs the law."""
        text = inspect.getdoc(self.check) or ""
        return " ".join(text.split("\n\n")[0].split())

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return inspect.getdoc(self.check) or ""

    def __repr__(self) -> str:
        return f"laws.{self.name}"


def law(check: Check) -> Law:
    """Make a law of a function, with the function's name."""
    return Law(check.__name__, check)


def finding(
    law_name: str,
    subject: Subject,
    trial: Trial,
    seen: Seen | None,
    why: str,
    *,
    component: str = "total",
    **more: Any,
) -> Finding:
    """Make a `Finding` about one trial."""
    example = subject.examples[trial.example]
    stage, completion = subject.stage, trial.completion
    if stage.real:  # what its calls really gave
        completion, _ = stage.played(completion, {**example.shown, **(trial.columns or {})})
    return Finding(
        law=law_name,
        component=component,
        completion=completion,
        environment=stage.name,
        columns={**example.shown, **(trial.columns or {})},
        score=None if seen is None else seen.score,
        why=why,
        note="" if seen is None else seen.note,
        trace="" if seen is None else seen.trace,
        own=None if seen is None or component not in seen.components else seen.components[component],
        line=deciding_line(subject, trial, seen) if law_name in DECIDING else "",
        **more,
    )


def about_good(subject: Subject) -> str:
    """Return a hint about missing right completions for a reward that seems to pay nothing, if any are missing."""
    good = [example.good for example in subject.examples]
    if not any(good):
        return "; no right completion was given, so perhaps none was tried: give one per example (good=, GOOD)"
    if len(good) > 1 and len(good[0]) != len(good) and all(one == good[0] for one in good):
        count = f"{len(good[0])} completion{'' if len(good[0]) == 1 else 's'}"
        return f"; good= has {count} for {len(good)} examples, and all count as right for each: pass one per example"
    return ""


def shortest(
    subject: Subject, trial: Trial, shows: Callable[[Seen], bool], *, keep: str = "", seconds: float = 2.0
) -> tuple[Trial, Seen]:
    """Return the trial with the shortest text found that still `shows` the fault, and its score."""
    if isinstance(trial.completion, list) and len(trial.completion) != 1:
        return trial, subject.see([trial])[0]

    def still(text: str) -> bool:
        return shows(subject.see([_with(trial, text)])[0])

    text = text_of(trial.completion)
    best = shrunk(text, still, seconds=min(seconds, max(0.2, subject.left / 4)), keep=keep) if text else text
    small = trial if best == text else _with(trial, best)
    return small, subject.see([small])[0]


def _with(trial: Trial, text: str) -> Trial:
    return Trial(with_text(trial.completion, text), trial.example, trial.columns)
