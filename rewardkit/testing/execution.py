"""Execution: run law by law in a forked child. If the child is lost, that is a finding, and a new child continues."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any

from rewardkit.core.errors import RewardKitError
from rewardkit.testing.findings import Finding, LawOutcome, LawResult
from rewardkit.testing.isolation import Lost, Note, can_isolate, isolated
from rewardkit.testing.laws import Law, Skip, Unfinished
from rewardkit.testing.laws.base import OVER, finding
from rewardkit.testing.laws.batches import settle
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Trial, text_of, with_text

Told = Callable[[str, int, int], None]
"""Called with the name of the law that starts, its number, and the number of laws."""

_SHOWN = 200
"""If a reward hangs on a completion with more characters, a shorter one is tried."""


def run_laws(
    subject: Subject, laws: Sequence[Law], *, patience: float = 8.0, isolate: bool = True, told: Told | None = None
) -> Generator[LawResult, None, None]:
    """Yield the result of each law as it arrives."""
    run = _isolated if isolate and can_isolate() else _here
    return run(subject, laws, patience, told or _ignore)


def _ignore(law: str, number: int, count: int) -> None:
    """Do nothing: the default callback."""


def _here(subject: Subject, laws: Sequence[Law], patience: float, told: Told) -> Generator[LawResult, None, None]:
    """Run the laws in this process."""
    settle(subject)
    for number, law in enumerate(laws):
        told(law.name, number, len(laws))
        yield run_law(law, subject)


def run_law(law: Law, subject: Subject) -> LawResult:
    """Return the result of one law, run in this process."""
    before, started = subject.tries, time.monotonic()
    found: list[Finding] = []
    asides: list[Finding] = []
    otherwise: LawOutcome = "held"
    reason = ""
    try:
        if subject.left <= 0:
            raise Unfinished(OVER)
        for one in law.check(subject):
            said = one if one.matters else replace(one, matters=law.why)
            (asides if one.unreachable else found).append(said)
    except Skip as skip:
        otherwise, reason = "skipped", str(skip)
    except Unfinished as unfinished:
        otherwise, reason = "unfinished", str(unfinished)
    except RewardKitError:
        raise
    except Exception as error:  # a bug of the law, not of the reward
        place = traceback.extract_tb(error.__traceback__)[-1]
        otherwise = "unfinished"
        reason = f"the law itself failed ({type(error).__name__}: {error}, {place.name}:{place.lineno})"
    tries, seconds = subject.tries - before, time.monotonic() - started
    outcome: LawOutcome = "broken" if found else otherwise
    return LawResult(law.name, outcome, tries, tuple(found), reason, seconds, law.why, tuple(asides))


def _isolated(subject: Subject, laws: Sequence[Law], patience: float, told: Told) -> Generator[LawResult, None, None]:
    note = Note()
    subject.watch(note.write)
    patience *= 8.0 if any(binding.expensive for _, binding in subject.bindings) else 1.0
    done, settles = 0, True
    while done < len(laws):
        for said in isolated(_work(subject, laws[done:], settles), note, patience, subject.left):
            if isinstance(said, str):
                told(said, done, len(laws))
            elif isinstance(said, LawResult):
                yield said
                done += 1
            elif isinstance(said, RewardKitError):
                raise said
            elif isinstance(said, Lost):
                settles = False
                if done < len(laws):
                    yield _lost(subject, laws[done], said, patience)
                    done += 1
        note.write(None)


def _work(subject: Subject, laws: Sequence[Law], settles: bool) -> Callable[[Callable[[Any], None]], None]:
    """Return the child's work: send the name of each law, then its result."""

    def work(send: Callable[[Any], None]) -> None:
        # Otherwise Hypothesis writes files into the working directory.
        os.environ.setdefault(
            "HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "rewardkit-hypothesis")
        )
        try:
            if settles:
                settle(subject)
            for law in laws:
                send(law.name)
                send(run_law(law, subject))
        except RewardKitError as error:
            send(error)

    return work


def _lost(subject: Subject, law: Law, lost: Lost, patience: float) -> LawResult:
    """Return the result of a law whose child was lost."""
    trial, reason = _culprit(subject, lost, patience)
    if trial is None:
        return LawResult(law.name, "unfinished", reason=reason, why=law.why)
    subject.avoid(lost.trials)
    hangs = "took" in reason
    matters = (
        "A policy finds the completion that takes minutes to score, and every process of the run waits for it."
        if hangs
        else "A completion that ends the process ends the run, and everything unsaved is lost."
    )
    found = finding("time_linear" if hangs else "total", subject, trial, None, f"scoring {reason}", matters=matters)
    return LawResult(law.name, "broken", findings=(found,), why=law.why)


def _culprit(subject: Subject, lost: Lost, patience: float) -> tuple[Trial | None, str]:
    """Return the completion on which the reward is lost, shortened in a few tries, and the reason."""
    if not lost.trials:
        return None, lost.reason
    for trial in sorted(lost.trials, key=lambda one: len(repr(one.completion))):
        again = _alone(subject, trial, patience)
        if again is None:
            continue
        text = text_of(trial.completion)
        if len(text) > _SHOWN:
            for shorter in (text[:_SHOWN], text[-_SHOWN:]):
                small = replace(trial, completion=with_text(trial.completion, shorter))
                if _alone(subject, small, patience) is not None:
                    return small, again.reason
        return trial, again.reason
    return None, f"scoring {len(lost.trials)} completions at once {lost.reason}, but none of them did alone"


def _alone(subject: Subject, trial: Trial, patience: float) -> Lost | None:
    """Score one completion in a child; return how the child was lost, or None."""
    note = Note()

    def work(send: Callable[[Any], None]) -> None:
        subject.watch(note.write)
        subject.see([trial], fresh=True)

    for said in isolated(work, note, patience, patience):
        if isinstance(said, Lost) and said.trials:
            return said
    return None
