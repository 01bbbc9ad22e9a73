"""Length of correct answers: ``rk.shortest_correct(rk.number("answer"))`` gives 1.0 to the shortest correct completion.

The rewards here ask another one which completions are correct, so brevity never pays for being wrong. Lengths are
counted as in ``rewardkit.primitives.length``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import TOLERANCE, Bounds, number as checked_number
from rewardkit.core.tree.conversion import RewardLike, reward_of
from rewardkit.core.tree.leaf import expression
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps
from rewardkit.primitives.lengths.measures import Unit, completion_length, reachable, short_number


@final
@dataclass(frozen=True)
class CosineLength(Reward):
    """Credit for correct and wrong completions by their length; see `cosine_length`."""

    correct: Reward
    length: Reward
    max_length: float
    right: Bounds
    wrong: Bounds
    threshold: float
    call: str = field(compare=False)

    @cached_property
    def facts(self) -> Facts:
        ends = (*self.right, *self.wrong)
        return Facts(
            name="cosine_length", bounds=(min(ends), max(ends)), children=(self.correct, self.length), generic=True
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        correct, length = children
        return replace(self, correct=correct, length=length)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        correct, length = yield [(self.correct, rows), (self.length, rows)]
        # Beyond the longest length the value stays constant: the cosine would rise again.
        ways = np.minimum(length.values / self.max_length, 1.0)
        factor = np.array([0.5 * (1.0 + math.cos(way * math.pi)) for way in ways.tolist()])
        is_right = np.greater_equal(correct.values, self.threshold - TOLERANCE)  # False where NaN
        longest, shortest = (np.where(is_right, self.right[end], self.wrong[end]) for end in (0, 1))
        return Column.combined([(correct, True)], longest + (shortest - longest) * factor, rows)

    def __repr__(self) -> str:
        return self.call


def cosine_length(
    correct: RewardLike,
    max_length: int,
    *,
    right: tuple[float, float] = (0.5, 1.0),
    wrong: tuple[float, float] = (-0.5, -1.0),
    threshold: float = 1.0,
    unit: Unit = "tokens",
) -> Reward:
    """Reward correct completions more the shorter they are, and wrong ones more the longer they are.

    ``rk.cosine_length(rk.number("answer"), 100)`` gives 0.75 to a correct answer of 50 tokens and -0.75 to a wrong one.

    With *a* and *b* the values of the longest and the shortest completion, and *t* = min(length / max_length, 1), the
    score is a + (b - a) * (1 + cos(pi * t)) / 2. Source: Yeo et al. 2025, Demystifying Long Chain-of-Thought Reasoning
    (arXiv:2502.03373), appendix C.1; the same numbers as TRL's ``get_cosine_scaled_reward`` if `correct` agrees with
    TRL's check of the answer.

    Args:
        correct: the reward that says whether the answer is correct. If it abstains or fails, so does this one.
        max_length: the length from which the value no longer changes; positive.
        right: the values of a correct completion at `max_length` and at length 0.
        wrong: the values of a wrong completion at `max_length` and at length 0.
        threshold: the value of `correct` from which an answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.

    Raises:
        RewardDefinitionError: a length that is not positive, values that are not numbers, or a threshold that `correct`
            cannot reach.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    checked = reward_of(correct, "cosine_length: correct")
    longest = checked_number(max_length, "cosine_length: max_length")
    if longest <= 0.0:
        raise RewardDefinitionError(f"cosine_length: max_length must be above 0, got {max_length}")
    for name, pair in (("right", right), ("wrong", wrong)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise RewardDefinitionError(
                f"cosine_length: {name} must be a pair (value at max_length, value at 0), got {shorten(pair)}"
            )
    long_right, short_right, long_wrong, short_wrong = (
        checked_number(value, "cosine_length: a value") for value in (*right, *wrong)
    )
    ends = (long_right, short_right), (long_wrong, short_wrong)
    from_here = reachable("cosine_length", threshold, checked)
    length = completion_length("cosine_length", unit)
    options = {"unit": (unit, "tokens")}
    call = expression(
        "cosine_length",
        checked,
        short_number(longest),
        right=(ends[0], (0.5, 1.0)),
        wrong=(ends[1], (-0.5, -1.0)),
        threshold=(from_here, 1.0),
        **options,
    )
    return CosineLength(checked, length, longest, *ends, from_here, call)


@final
@dataclass(frozen=True)
class ShortestCorrect(Reward):
    """Credit for the correct completions of a group by their relative length; see `shortest_correct`."""

    correct: Reward
    length: Reward
    low: float
    threshold: float
    call: str = field(compare=False)

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name="shortest_correct",
            bounds=(0.0, 1.0),
            children=(self.correct, self.length),
            generic=True,
            sees="group",
            together="group",
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        correct, length = children
        return replace(self, correct=correct, length=length)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        correct, length = yield [(self.correct, rows), (self.length, rows)]
        is_right = rows & np.greater_equal(correct.values, self.threshold - TOLERANCE)  # False where NaN
        values = np.zeros(len(rows))
        for members in evaluation.batch.members(is_right):
            lengths = length.values[members]
            shortest, longest = lengths.min(), lengths.max()
            excess = (lengths - shortest) / (longest - shortest) if longest > shortest else np.zeros(len(members))
            values[members] = 1.0 - (1.0 - self.low) * excess
        return Column.combined([(correct, True)], values, rows)

    def __repr__(self) -> str:
        return self.call


def shortest_correct(correct: RewardLike, *, low: float = 0.5, threshold: float = 1.0, unit: Unit = "tokens") -> Reward:
    """Score the shortest correct completion of a prompt 1.0, the longest correct one `low`, and wrong ones 0.0.

    Suppose three of four completions are correct and have 20, 30 and 40 tokens: they get 1.0, 0.75 and 0.5, and the
    wrong one 0.0, so brevity never pays for being wrong. Lengths are compared within the group only, so hard prompts
    may have long answers. Follows the length reward of Kimi k1.5 (arXiv:2501.12599, section 2.3.3), which also counts
    the lengths of wrong completions.

    Args:
        correct: the reward that says whether the answer is correct. If it abstains or fails, so does this one.
        low: the value of the longest correct completion, from 0.0 to 1.0.
        threshold: the value of `correct` from which an answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.

    Raises:
        RewardDefinitionError: `low` outside 0 to 1, or a threshold that `correct` cannot reach.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``; or a process got only part
            of a group and cannot gather the rest.
    """
    checked = reward_of(correct, "shortest_correct: correct")
    lowest = checked_number(low, "shortest_correct: low")
    if not 0.0 <= lowest <= 1.0:
        raise RewardDefinitionError(f"shortest_correct: low must be between 0.0 and 1.0, got {lowest:g}")
    from_here = reachable("shortest_correct", threshold, checked)
    length = completion_length("shortest_correct", unit)
    options = {"unit": (unit, "tokens")}
    call = expression("shortest_correct", checked, low=(lowest, 0.5), threshold=(from_here, 1.0), **options)
    return ShortestCorrect(checked, length, lowest, from_here, call)


@final
@dataclass(frozen=True)
class KimiLength(Reward):
    """Credit and penalty by the length relative to the group; see `kimi_length`."""

    correct: Reward
    length: Reward
    threshold: float
    call: str = field(compare=False)

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name="kimi_length",
            bounds=(-0.5, 0.5),
            children=(self.correct, self.length),
            generic=True,
            sees="group",
            together="group",
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        correct, length = children
        return replace(self, correct=correct, length=length)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        correct, length = yield [(self.correct, rows), (self.length, rows)]
        is_right = np.greater_equal(correct.values, self.threshold - TOLERANCE)  # False where NaN
        values = np.zeros(len(rows))
        for members in evaluation.batch.members(rows & ~np.isnan(correct.values)):
            lengths = length.values[members]
            shortest, longest = lengths.min(), lengths.max()
            if longest > shortest:
                relative = 0.5 - (lengths - shortest) / (longest - shortest)
                values[members] = np.where(is_right[members], relative, np.minimum(0.0, relative))
        return Column.combined([(correct, True)], values, rows)

    def __repr__(self) -> str:
        return self.call


def kimi_length(correct: RewardLike, *, threshold: float = 1.0, unit: Unit = "tokens") -> Reward:
    """Reward short and penalize long completions relative to their group: the length reward of Kimi k1.5. Add it.

    If a group has completions of 20, 30 and 40 tokens, correct ones get 0.5, 0.0 and -0.5, wrong ones 0.0, 0.0 and
    -0.5: a wrong one is never paid for being short.

    With *l* = 0.5 - (length - shortest) / (longest - shortest), a correct completion gets *l* and a wrong one the
    smaller of *l* and 0; all get 0 if they have the same length. Source: Kimi k1.5 (arXiv:2501.12599, section 2.3.3),
    which adds it to the reward for the answer with a small weight, and only after the first part of the training.

    open-r1's ``len_reward`` gives the same numbers to one group with ``unit="characters"`` and the same check of the
    answer. It also compares completions of different prompts if a batch has several, counts invisible characters and
    every space, and takes answers as correct if it cannot read the gold answer, where `correct` abstains or raises.

    Args:
        correct: the reward that says whether the answer is correct. If it abstains or fails, so does this one, and the
            completion's length does not count.
        threshold: the value of `correct` from which an answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.

    Raises:
        RewardDefinitionError: a threshold that `correct` cannot reach, an unknown unit.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``; or a process got only part
            of a group and cannot gather the rest.
    """
    checked = reward_of(correct, "kimi_length: correct")
    from_here = reachable("kimi_length", threshold, checked)
    length = completion_length("kimi_length", unit)
    call = expression("kimi_length", checked, threshold=(from_here, 1.0), unit=(unit, "tokens"))
    return KimiLength(checked, length, from_here, call)
