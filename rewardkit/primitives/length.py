"""Length: ``rk.overlong_penalty(100, 20)`` gives -0.5 to a completion of 90 tokens, half way into the buffer.

Tokens are those of ``completion_ids`` (including the end-of-sequence token, as TRL passes them). Words and characters
are counted in the whole completion, thinking included, unless `extract` selects a part. A run of white space counts as
one character; invisible characters do not count. If an extractor finds nothing, the length is 0; if it gives up because
the text is longer than 200,000 characters, the length is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import TOLERANCE, Bounds, number as checked_number
from rewardkit.core.text.extraction import as_extractor, whole
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.visibility import shown as shown_text
from rewardkit.core.tree.conversion import RewardLike, reward_of
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps

Unit = Literal["tokens", "words", "characters"]


@dataclass(frozen=True)
class Length:
    """Count the tokens of a completion, or the words or characters of its text."""

    unit: Unit

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float:
        """Return the length of `measured`, which an extractor may have found in `completion`."""
        if measured is None:
            return math.inf if len(completion) > MAX_CHARACTERS else 0
        if not isinstance(measured, str):
            return len(measured)
        if self.unit == "words":
            return len(shown_text(measured, marks=False).split())
        words = shown_text(measured).split()
        return sum(map(len, words)) + max(0, len(words) - 1)


def _measured(name: str, unit: Unit, extract: Extractor | Any) -> tuple[Length, tuple[Parameter, ...]]:
    """Return the counter and the parameters it reads."""
    if unit not in get_args(Unit):
        raise RewardDefinitionError(f"{name}: unit must be one of {', '.join(get_args(Unit))}, got {shorten(unit)}")
    if unit == "tokens":
        if extract is not None:
            raise RewardDefinitionError(
                f'{name}: extract= finds text, not tokens; pass unit="words" or unit="characters" with it'
            )
        return Length(unit), (Parameter("measured", "completion_ids"),)
    if extract is None:
        return Length(unit), (Parameter("measured", "completion"),)
    view = as_extractor(extract, whole())
    # The completion shows whether an extractor that returned None found nothing or gave up on a long text.
    return Length(unit), (Parameter("measured", "completion", view=view), Parameter("completion", "completion"))


def _short(value: float) -> float:
    """Return `value` as an int if it is whole: 2 instead of 2.0."""
    return int(value) if value.is_integer() else value


@dataclass(frozen=True)
class LengthBetween:
    """1.0 between two lengths, falling to 0.0 over a margin outside them."""

    length: Length
    low: float
    high: float
    margin: float

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float | Score:
        length = self.length(measured, completion)
        if length == math.inf:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        outside = max(self.low - length, length - self.high)
        if outside <= 0:
            return 1.0
        credit = max(0.0, 1.0 - outside / self.margin) if self.margin else 0.0
        return Score(credit, f"{length:,} {self.length.unit}, expected {self.low:,g} to {self.high:,g}")


def length_between(
    low: float,
    high: float,
    *,
    unit: Unit = "tokens",
    margin: float = 0.0,
    extract: Extractor | Any = None,
) -> Reward:
    """Score 1.0 if the length is between `low` and `high`; outside them 0.0, or less and less over a margin.

    ``rk.length_between(2, 4, unit="words")`` gives 1.0 to ``It is 42.``

    Args:
        low: the shortest length that scores 1.0, 0 or more.
        high: the longest length that scores 1.0, `low` or more; ``math.inf`` for no limit.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        margin: the distance from `low` or `high`, in the unit, at which the score reaches 0.0.
        extract: counts the words or characters of the text it finds instead of the whole completion.

    Raises:
        RewardDefinitionError: `low` above `high`, a negative number, an unknown unit.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    top = math.inf if high == math.inf else checked_number(high, "length_between: high")
    bottom = checked_number(low, "length_between: low")
    if not 0.0 <= bottom <= top:
        raise RewardDefinitionError(
            f"length_between: low and high must satisfy 0 <= low <= high, got low {bottom:g} and high {top:g}"
        )
    slope = checked_number(margin, "length_between: margin")
    if slope < 0.0:
        raise RewardDefinitionError(f"length_between: margin must be a distance of 0 or more, got {slope:g}")
    length, measured = _measured("length_between", unit, extract)
    options = {
        "unit": (unit, "tokens"),
        "margin": (_short(slope), 0),
        "extract": (extract and measured[0].view, None),
    }
    shown = expression("length_between", _short(bottom), _short(top), **options)
    return primitive(LengthBetween(length, bottom, top, slope), "length_between", shown, *measured)


@dataclass(frozen=True)
class OverlongPenalty:
    """0.0 up to a length, then falling to -1.0 over a buffer."""

    length: Length
    max_length: float
    buffer: float

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float:
        length = self.length(measured, completion)
        free = self.max_length - self.buffer
        if length <= free:
            return 0.0
        return (free - length) / self.buffer if length <= self.max_length else -1.0


def overlong_penalty(max_length: int, buffer: int, *, unit: Unit = "tokens", extract: Extractor | Any = None) -> Reward:
    """Penalize completions that are too long, from 0.0 down to -1.0: DAPO's soft overlong punishment. Add it.

    ``rk.overlong_penalty(100, 20)`` gives 0.0 to up to 80 tokens, -0.5 to 90 tokens, -1.0 to 100 tokens and more.

    Source: Yu et al. 2025, DAPO (arXiv:2503.14476), equation 13; the same numbers as TRL's
    ``get_soft_overlong_punishment(max_completion_len, soft_punish_cache)``.

    Args:
        max_length: the length at which the penalty reaches -1.0; positive.
        buffer: the penalty grows over this many units before `max_length`; 0 to `max_length`.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        extract: counts the words or characters of the text it finds instead of the whole completion.

    Raises:
        RewardDefinitionError: a length that is not positive, or a buffer above it.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    longest, ramp = (checked_number(value, "overlong_penalty") for value in (max_length, buffer))
    if longest <= 0.0 or not 0.0 <= ramp <= longest:
        raise RewardDefinitionError(
            "overlong_penalty: max_length and buffer must satisfy 0 < max_length and 0 <= buffer <= max_length, got "
            f"buffer {buffer} and max_length {max_length}"
        )
    length, measured = _measured("overlong_penalty", unit, extract)
    options = {"unit": (unit, "tokens"), "extract": (extract and measured[0].view, None)}
    shown = expression("overlong_penalty", _short(longest), _short(ramp), **options)
    function = OverlongPenalty(length, longest, ramp)
    return primitive(function, "overlong_penalty", shown, *measured, bounds=(-1.0, 0.0))


def _length(name: str, unit: Unit) -> Reward:
    """The length as a component named by its unit, so that all rewards that measure in one unit share it."""
    measure, measured = _measured(name, unit, None)
    return primitive(measure, f"completion_{unit}", f"completion_{unit}()", *measured, bounds=(0.0, math.inf))


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
    from_here = _reachable("shortest_correct", threshold, checked)
    length = _length("shortest_correct", unit)
    options = {"unit": (unit, "tokens")}
    call = expression("shortest_correct", checked, low=(lowest, 0.5), threshold=(from_here, 1.0), **options)
    return ShortestCorrect(checked, length, lowest, from_here, call)


def _reachable(name: str, threshold: float, correct: Reward) -> float:
    """Return `threshold` as a number after checking that `correct` can reach it."""
    checked = checked_number(threshold, f"{name}: threshold")
    if checked > correct.bounds[1]:
        raise RewardDefinitionError(
            f"{name}: the highest score of {correct.name} is {correct.bounds[1]:g}, so it never reaches "
            f"threshold={checked:g}; pass a lower threshold"
        )
    return checked


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
    from_here = _reachable("cosine_length", threshold, checked)
    length = _length("cosine_length", unit)
    options = {"unit": (unit, "tokens")}
    call = expression(
        "cosine_length",
        checked,
        _short(longest),
        right=(ends[0], (0.5, 1.0)),
        wrong=(ends[1], (-0.5, -1.0)),
        threshold=(from_here, 1.0),
        **options,
    )
    return CosineLength(checked, length, longest, *ends, from_here, call)
