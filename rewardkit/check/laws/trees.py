"""Laws of compositions: gates, schedules, and properties that the author declares."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal

import numpy as np

from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, finding, law
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import Trial, text_of, with_text
from rewardkit.errors import RewardKitError
from rewardkit.progress.bounds import TOLERANCE
from rewardkit.progress.progress import Progress
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward

# Every twentieth of a run, so that a schedule that ends at 0.3 or 0.75 is checked before and after its end.
_STEPS = 20


def _within(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] - TOLERANCE <= value <= bounds[1] + TOLERANCE


def nodes(reward: Reward) -> Iterator[Reward]:
    """Yield all nodes of a tree."""
    yield reward
    for child in reward.children:
        yield from nodes(child)


@law(advice="Set the gate's otherwise= to at most the lowest score behind the gate", every=True)
def gate_dominance(subject: RewardUnderTest) -> Iterator[Finding]:
    """If failing a gate scores higher than passing it, the policy learns to fail.

    For every gate in the tree, no completion that fails the gate may get a higher score from it than one that passes.
    """
    gates = [node for node in dict.fromkeys(nodes(subject.reward)) if node.facts.threshold is not None]
    if not gates:
        raise Skip("the reward has no gate with a threshold")
    trials = [trial for trial, score in score_sweep(subject) if score.scored][: subject.affordable(250)]
    for gate in gates:
        try:
            table = Scorer(gate).score(subject.batch(trials), strict=False)
        except RewardKitError:
            continue
        total = table.total
        _, passes = table.passed[gate.name]
        scored = ~np.isnan(total)
        if not (scored & passes).any() or not (scored & ~passes).any():
            continue
        for number in range(len(subject.examples)):
            rows = scored & np.array([trial.example == number for trial in trials])
            if not (rows & passes).any() or not (rows & ~passes).any():
                continue
            worst = np.where(rows & passes, total, math.inf)
            best = np.where(rows & ~passes, total, -math.inf)
            # Sums in a different order may differ in their last digits.
            if best.max() > worst.min() + 1e-6:
                failing, passing = trials[int(best.argmax())], trials[int(worst.argmin())]
                message = (
                    f"failing the gate {gate!r} scores {best.max():.6g}, more than a completion that passes it: "
                    f"{text_of(passing.completion)[:60]!r} scores {worst.min():.6g}"
                )
                yield finding(subject, failing, subject.see([failing])[0], message[:500])
                break


@law(advice="Limit the schedule: .clip(low, high)")
def schedule_bounds(subject: RewardUnderTest) -> Iterator[Finding]:
    """If a weight leaves its bounds halfway through training, this is noticed too late.

    At every 5% of the training, the total must be finite and within the tree's bounds.
    """
    if not any(node.facts.schedules for node in nodes(subject.reward)):
        raise Skip("the reward has no schedule")
    # Arbitrary limit: each completion is scored at every step.
    trials = (given(subject) or [trial for trial, _ in score_sweep(subject)])[:12]
    for step in range(_STEPS + 1):
        # 50 training steps for each. Arbitrary: no position is lost by rounding.
        progress = Progress(step * 50, _STEPS * 50)
        for schedule in dict.fromkeys(schedule for node in nodes(subject.reward) for schedule in node.facts.schedules):
            weight = schedule(progress)
            if not math.isfinite(weight) or not _within(weight, schedule.bounds):
                message = f"the schedule {schedule!r} gives {weight!r} at {progress.fraction:.0%} of training"
                yield finding(subject, trials[0], None, message)
        table = subject.table(trials, progress)
        for trial, value in zip(trials, table.total.tolist(), strict=True):
            if not math.isnan(value) and not _within(value, subject.bounds):
                message = f"scores {value:.6g} at {progress.fraction:.0%} of training, outside {subject.bounds}"
                yield finding(subject, trial, None, message)


def _declared(change: str) -> Callable[[RewardUnderTest], None]:
    """Return a function that raises `Skip` unless the author declares that `change` does not matter."""

    def applies(subject: RewardUnderTest) -> None:
        if change not in subject.declarations.invariant_to:
            raise Skip(f'the property is not declared: pass declarations=Declarations(invariant_to=["{change}"])')

    return applies


def _edited(trial: Trial, edits: Mapping[str, Callable[[str], str]]) -> Iterator[Variant]:
    """Yield a variant of a completion for each edit. No edit may change the score."""
    for edit, change in edits.items():
        text = change(text_of(trial.completion))
        other = Trial(with_text(trial.completion, text), trial.example)
        yield Variant(other, f"scores {{score}} with {edit}, but {{base}} without it", "same", trial)


@law(
    advice="Normalize the whitespace before you compare: ' '.join(text.split())",
    applies=_declared("whitespace"),
    per=given,
)
def whitespace_indifferent(subject: RewardUnderTest, trial: Trial) -> Iterator[Variant]:
    """If whitespace changes the score although it means nothing, the policy learns to write whitespace.

    Declare it with ``invariant_to=["whitespace"]``.
    """
    edits = {
        "a line break at the end": lambda text: f"{text}\n",
        "spaces around it": lambda text: f"  {text}  ",
        "two spaces for one": lambda text: text.replace(" ", "  "),
        "Windows line breaks": lambda text: text.replace("\n", "\r\n"),
    }
    return _edited(trial, edits)


@law(
    advice="Normalize both sides before you compare: unicodedata.normalize('NFKC', text)",
    applies=_declared("unicode"),
    per=given,
)
def unicode_indifferent(subject: RewardUnderTest, trial: Trial) -> Iterator[Variant]:
    """A text looks the same in another Unicode normalization form, so a different score is noise.

    Declare it with ``invariant_to=["unicode"]``.
    """
    forms: tuple[Literal["NFC", "NFD", "NFKC"], ...] = ("NFC", "NFD", "NFKC")
    return _edited(trial, {form: partial(unicodedata.normalize, form) for form in forms})


@law(advice="Compare text.casefold() on both sides", applies=_declared("case"), per=given)
def case_indifferent(subject: RewardUnderTest, trial: Trial) -> Iterator[Variant]:
    """If case changes the score although it means nothing, the policy learns to write capital letters.

    Declare it with ``invariant_to=["case"]``.
    """
    return _edited(trial, {"upper case": str.upper, "lower case": str.lower})
