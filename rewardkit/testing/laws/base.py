"""Law: something that every reward must hold to, with the reason why a training run needs it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rewardkit.testing.findings import Finding
from rewardkit.testing.shrinker import shrunk
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Seen, Trial, text_of, with_text

Check = Callable[[Subject], Iterator[Finding]]

OVER = "the time was over: raise budget="


class Skip(Exception):
    """The law does not apply to this reward; the message says why."""


class Unfinished(Exception):
    """The law may apply, but was not looked at to its end; the message says why. What it found before counts."""


@dataclass(frozen=True)
class Law:
    """A law that `check_reward` holds a reward to.

    Attributes:
        name: how it is called in reports and in ``check_reward(laws=[...])``.
        check: yields a `Finding` for each way in which a subject breaks it; raises `Skip` where it does not apply.
    """

    name: str
    check: Check

    @property
    def why(self) -> str:
        """Why a training run needs it."""
        said = inspect.getdoc(self.check) or ""
        return " ".join(said.split("\n\n")[0].split())

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return inspect.getdoc(self.check) or ""

    def __repr__(self) -> str:
        return f"laws.{self.name}"


def law(check: Check) -> Law:
    """The law that a function checks, named like the function."""
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
    """A `Finding` about one trial."""
    example = subject.examples[trial.example]
    return Finding(
        law=law_name,
        component=component,
        completion=trial.completion,
        columns={**example.shown, **(trial.columns or {})},
        score=None if seen is None else seen.score,
        why=why,
        note="" if seen is None else seen.note,
        trace="" if seen is None else seen.trace,
        **more,
    )


def about_good(subject: Subject) -> str:
    """What may be missing where a reward looks as if nothing right were paid; empty where nothing is."""
    told = [example.good for example in subject.examples]
    if not any(told):
        return "; no right completion was given, and perhaps none was tried: good=[...], one per example"
    if len(told) > 1 and len(told[0]) != len(told) and all(one == told[0] for one in told):
        several = f"are {len(told[0])} completions" if len(told[0]) > 1 else "is 1 completion"
        return f"; good {several} for {len(told)} examples, taken for right in each of them: give one per example"
    return ""


def shortest(
    subject: Subject, trial: Trial, shows: Callable[[Seen], bool], *, keep: str = "", seconds: float = 2.0
) -> tuple[Trial, Seen]:
    """The trial with the shortest text found for which what is seen still `shows` it."""
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
