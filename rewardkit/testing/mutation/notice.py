"""Who notices a bug? Ask the given right and wrong completions about each mutant of their reward.

A mutant is noticed if a right completion no longer earns more than the wrong ones of its example, or cannot be scored.
If it is not, the shortest of many completions whose score it changes is shown: add that one, and the bug is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from rewardkit.core.batch.score import Outcome
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.testing.bound_reward import BoundReward
from rewardkit.testing.check import subject_of
from rewardkit.testing.isolation import Lost, Note, can_isolate, isolated
from rewardkit.testing.judgment import judged
from rewardkit.testing.laws.golds import perturbed
from rewardkit.testing.laws.writing import dresses
from rewardkit.testing.mutation.mutants import Mutant
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import given, sweep
from rewardkit.testing.trials import Seen, Trial, seen_in, text_of

Fate = Literal["noticed", "missed", "unchanged"]
PATIENCE = 2.0
"""Seconds that one completion may take; a mutant that takes longer hangs."""
_LIMIT = 20.0
"""Seconds for one mutant."""
_WRONG = 40
"""Wrong answers put into the place of a right one."""
_ROWS = 16
"""Completions sent at a time."""


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant.

    Attributes:
        mutant: the bug.
        fate: ``"noticed"`` by the given completions, ``"missed"`` by them although it changes scores, or
            ``"unchanged"``: no score that was tried is another one, so it may be no bug at all.
        said: what happened to the completion that shows it; "" if none does.
        shown: that completion.
        before, after: what the original and the mutant said of it; `after` is None if the mutant hung or died.
        flips: whether some completion is right for one of them and wrong for the other.
    """

    mutant: Mutant
    fate: Fate
    said: str = ""
    shown: Trial | None = None
    before: Seen | None = None
    after: Seen | None = None
    flips: bool = False


@dataclass(frozen=True)
class Noticed:
    """What became of the mutants of a reward; a report when printed.

    Attributes:
        name: of the reward.
        verdicts: one per mutant.
        completions: how many completions each was tried on.
        given: how many of these are the user's own.
    """

    name: str
    verdicts: tuple[Verdict, ...]
    completions: int
    given: int

    def of(self, fate: Fate) -> list[Verdict]:
        """Return the verdicts with this fate."""
        return [one for one in self.verdicts if one.fate == fate]

    def __str__(self) -> str:
        missed, noticed = self.of("missed"), self.of("noticed")
        changing = len(missed) + len(noticed)
        head = [
            f"{self.name}: {len(self.verdicts)} mutants, each with one ordinary bug; {changing} change a score of "
            f"{self.completions} completions.",
        ]
        if changing:
            share = len(noticed) / changing
            head.append(
                f"The {self.given} given right and wrong completions notice {len(noticed)} of {changing} ({share:.0%})."
            )
        if missed:
            head.append("Not noticed; add the completion to the right or the wrong ones, and it will be:")
        return "\n".join([*head, *(line for one in missed for line in _lines(one))])


def noticed(
    bound: BoundReward, mutants: Sequence[Mutant], told: Callable[[int], None] = lambda number: None
) -> Noticed:
    """Try each mutant on the given completions and on many others, and say who noticed it.

    Args:
        bound: the original, by the name of its variable, with its right and wrong completions.
        mutants: of its module.
        told: called with the number of each mutant that starts.

    Raises:
        RewardDefinitionError: there are no right or no wrong completions, so nothing could be noticed, or the system
            cannot run mutants in processes of their own.
    """
    if not can_isolate():
        raise RewardDefinitionError("mutants run in forked processes, which this system does not have")
    asked = {name: bound.options[name] for name in ("good", "bad", "seed") if name in bound.options}
    asked["examples"] = bound.options["examples"]
    subject = subject_of(bound.reward, **asked)
    own = given(subject)
    if not any(one.good for one in subject.examples) or not any(one.bad for one in subject.examples):
        raise RewardDefinitionError(
            f"{bound.name}: nothing can notice a bug without right and wrong completions, GOOD and BAD"
        )
    pool = _pool(subject)
    before = _scores(subject, pool, own)
    middle = _middle(subject, before[: len(own)], own)
    verdicts = []
    for number, mutant in enumerate(mutants):
        told(number)
        after, lost = _tried(mutant, bound.name, asked, pool, own)
        verdicts.append(_verdict(mutant, subject, [*pool, *own, *own], own, before, after, lost, middle))
    return Noticed(bound.name, tuple(verdicts), len(pool), len(own))


def _pool(subject: Subject) -> list[Trial]:
    """Return completions of all kinds: broken ones, right ones in other clothes, and wrong answers in their place."""
    found = list(sweep(subject))
    for right in judged(subject):
        found += [right.trial(dress.text) for dress in dresses(subject, right) if not dress.unreachable]
        found += [right.trial(text) for text, _ in islice(perturbed(subject, right), _WRONG)] if right.judges else []
    return list({(repr(trial.completion), trial.example): trial for trial in found}.values())


def _scores(subject: Subject, pool: Sequence[Trial], own: Sequence[Trial]) -> list[Seen]:
    """Score the pool, and the given completions in one batch, in two orders."""
    return [seen for part in _parts(subject, pool, own) for seen in part]


def _parts(subject: Subject, pool: Sequence[Trial], own: Sequence[Trial]) -> Iterator[list[Seen]]:
    for start in range(0, len(pool), _ROWS):
        yield subject.see(pool[start : start + _ROWS])
    for batch in (own, own[::-1]):
        found = _in_one_batch(subject, batch)
        yield found if batch is own else found[::-1]


def _in_one_batch(subject: Subject, trials: Sequence[Trial]) -> list[Seen]:
    try:
        table = subject.table(trials)
    except Exception as error:
        return [Seen(math.nan, Outcome.ERRORED, f"raised {type(error).__name__}: {shorten(str(error))}")] * len(trials)
    return [seen_in(table, row) for row in range(len(trials))]


def _tried(
    mutant: Mutant,
    variable: str,
    asked: Mapping[str, Any],
    pool: Sequence[Trial],
    own: Sequence[Trial],
) -> tuple[list[Seen], Lost | str]:
    """Return what a mutant says of the completions, and why it says no more."""
    note = Note()

    def work(send: Callable[[Any], None]) -> None:
        try:
            subject = subject_of(mutant.load(variable), **asked)
        except BaseException as error:
            send(f"cannot be loaded: {type(error).__name__}: {shorten(str(error))}")
            return
        subject.watch(note.write)
        for part in _parts(subject, pool, own):
            send([Seen(one.value, one.outcome, one.reason) for one in part])

    found: list[Seen] = []
    for said in isolated(work, note, PATIENCE, _LIMIT):
        if isinstance(said, (str, Lost)):
            return found, said
        found += said
    return found, ""


def _middle(subject: Subject, seen: Sequence[Seen], own: Sequence[Trial]) -> float:
    """Return the score between the right and the wrong completions."""
    right = [one.value for trial, one in zip(own, seen, strict=True) if _is_good(subject, trial) and one.scored]
    wrong = [one.value for trial, one in zip(own, seen, strict=True) if not _is_good(subject, trial) and one.scored]
    return (min(right, default=1.0) + max(wrong, default=0.0)) / 2


def _is_good(subject: Subject, trial: Trial) -> bool:
    return any(trial.completion == one for one in subject.examples[trial.example].good)


def _verdict(
    mutant: Mutant,
    subject: Subject,
    trials: Sequence[Trial],
    own: Sequence[Trial],
    before: Sequence[Seen],
    after: Sequence[Seen],
    lost: Lost | str,
    middle: float,
) -> Verdict:
    if isinstance(lost, str) and lost:
        return Verdict(mutant, "noticed", lost, flips=True)
    if isinstance(lost, Lost):
        shown = lost.trials[0] if lost.trials else trials[min(len(after), len(trials) - 1)]
        fate: Fate = "noticed" if any(shown == one for one in own) else "missed"
        return Verdict(mutant, fate, lost.reason, shown, flips=True)
    changed = [number for number, (one, other) in enumerate(zip(before, after, strict=True)) if not one.same(other)]
    if not changed:
        return Verdict(mutant, "unchanged")
    flips = any((before[number].value > middle) != (after[number].value > middle) for number in changed)
    size = len(own)
    views = (range(size), range(len(trials) - 2 * size, len(trials) - size), range(len(trials) - size, len(trials)))
    seen = any(
        _tells(subject, own, [before[number] for number in view], [after[number] for number in view]) for view in views
    )
    number = min(
        changed, key=lambda one: (-round(_gap(before[one], after[one]), 2), len(text_of(trials[one].completion)))
    )
    return Verdict(
        mutant, "noticed" if seen else "missed", "", trials[number], before[number], after[number], flips=flips
    )


def _tells(subject: Subject, own: Sequence[Trial], before: Sequence[Seen], after: Sequence[Seen]) -> bool:
    """Return whether the given completions show the bug: a right one does not earn more than the wrong ones."""
    if any(one.scored and not other.scored for one, other in zip(before, after, strict=True)):
        return True
    for number, example in enumerate(subject.examples):
        rows = [row for row, trial in enumerate(own) if trial.example == number]
        right = [row for row in rows if _is_good(subject, own[row])]
        wrong = [row for row in rows if row not in right]
        told_apart = _least(before, right) > _most(before, wrong)
        if told_apart and not _least(after, right) > _most(after, wrong):
            return True
        if not wrong and any(after[row].value < before[row].value for row in right):
            return True
        if not example.good and any(after[row].value > before[row].value for row in wrong):
            return True
    return False


def _least(seen: Sequence[Seen], rows: Sequence[int]) -> float:
    return min((seen[row].value for row in rows), default=math.inf)


def _most(seen: Sequence[Seen], rows: Sequence[int]) -> float:
    return max((seen[row].value for row in rows), default=-math.inf)


def _gap(one: Seen, other: Seen) -> float:
    gap = abs(one.value - other.value)
    return 1.0 if math.isnan(gap) else gap


def _lines(one: Verdict) -> Iterator[str]:
    yield f"  {one.mutant}"
    if one.shown is None:
        return
    where = f" (example {one.shown.example})" if one.shown.example else ""
    said = one.said or f"earns {_score(one.after)}, not {_score(one.before)}"
    yield f"      {shorten(text_of(one.shown.completion), 70)}{where} {said}"


def _score(seen: Seen | None) -> str:
    if seen is None:
        return "?"
    return f"{seen.value:g}" if seen.scored else f"nothing: {shorten(seen.reason, 60)}"
