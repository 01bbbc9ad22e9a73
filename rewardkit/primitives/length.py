"""Length: ``rk.overlong_penalty(100, 20)`` gives -0.5 to a completion of 90 tokens, half way into the buffer.

Tokens are those of ``completion_ids`` (with the end-of-sequence token, as TRL hands them over). Words and characters
are those of the whole completion, thinking included, where `extract` names no part of it; runs of white space count as
one character, and what shows nothing does not count at all.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.core.algebra import Reward, Scoring, as_reward
from rewardkit.core.binding import Parameter
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.extraction import Extractor, as_extractor, whole
from rewardkit.core.leaf import expression, primitive
from rewardkit.core.outcome import Column, Rows, Score
from rewardkit.core.progress import Bounds, number as checked_number

Unit = Literal["tokens", "words", "characters"]


@dataclass(frozen=True)
class Length:
    """Counts the tokens of a completion, or the words or characters of its text."""

    unit: Unit

    def __call__(self, measured: Sequence[int] | str | None) -> int:
        if measured is None:
            return 0
        if not isinstance(measured, str):
            return len(measured)
        words = _shown(measured).split()
        return len(words) if self.unit == "words" else sum(map(len, words)) + max(0, len(words) - 1)


def _shown(text: str) -> str:
    if text.isascii():
        return text
    return "".join(character for character in text if unicodedata.category(character) not in ("Cf", "Cc", "Cn", "Co"))


def _measured(name: str, unit: Unit, extract: Extractor | Any) -> tuple[Length, Parameter]:
    """What counts and what is counted."""
    if unit not in get_args(Unit):
        raise RewardDefinitionError(f"{name}: unit is one of {', '.join(get_args(Unit))}, got {shorten(unit)}")
    if unit == "tokens":
        if extract is not None:
            raise RewardDefinitionError(f'{name}: extract= finds text; count it with unit="words" or "characters"')
        return Length(unit), Parameter("measured", "completion_ids")
    view = None if extract is None else as_extractor(extract, whole())
    return Length(unit), Parameter("measured", "completion", view=view)


@dataclass(frozen=True)
class LengthBetween:
    """1.0 within two lengths, falling to 0.0 over a margin outside of them."""

    length: Length
    low: float
    high: float
    margin: float

    def __call__(self, measured: Sequence[int] | str | None) -> float | Score:
        length = self.length(measured)
        outside = max(self.low - length, length - self.high)
        if outside <= 0:
            return 1.0
        credit = max(0.0, 1.0 - outside / self.margin) if self.margin else 0.0
        return Score(credit, f"{length:,} {self.length.unit}, wanted {self.low:,g} to {self.high:,g}")


def length_between(
    low: float,
    high: float,
    *,
    unit: Unit = "tokens",
    margin: float = 0.0,
    extract: Extractor | Any = None,
) -> Reward:
    """1.0 where the length is at least `low` and at most `high`; outside 0.0, or falling over a margin.

    ``rk.length_between(2, 4, unit="words")`` gives 1.0 to ``It is 42.``

    Args:
        low: the shortest length that is right, 0 and up.
        high: the longest one, `low` and up; ``math.inf`` for none.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        margin: the distance from `low` or `high`, in the unit, at which the credit has fallen to 0.0.
        extract: counts what it finds (as words or characters) in place of the whole completion.

    Raises:
        RewardDefinitionError: `low` above `high`, a negative number, an unknown unit.
        BindingError: while scoring: tokens are to be counted and there are no ``completion_ids``.
    """
    top = high if high == math.inf else checked_number(high, "length_between: high")
    if not 0.0 <= checked_number(low, "length_between: low") <= top:
        raise RewardDefinitionError(f"length_between: 0 <= low <= high is wanted, got {low:g} and {high:g}")
    if checked_number(margin, "length_between: margin") < 0.0:
        raise RewardDefinitionError(f"length_between: margin is a distance from 0 up, got {margin:g}")
    length, measured = _measured("length_between", unit, extract)
    options = {"unit": (unit, "tokens"), "margin": (margin, 0.0), "extract": (extract and measured.view, None)}
    shown = expression("length_between", low, high, **options)
    return primitive(LengthBetween(length, low, high, margin), "length_between", shown, measured)


@dataclass(frozen=True)
class OverlongPenalty:
    """0.0 up to a length, then falling to -1.0 over a buffer."""

    length: Length
    max_length: float
    buffer: float

    def __call__(self, measured: Sequence[int] | str | None) -> float:
        length = self.length(measured)
        free = self.max_length - self.buffer
        if length <= free:
            return 0.0
        return (free - length) / self.buffer if length <= self.max_length else -1.0


def overlong_penalty(max_length: int, buffer: int, *, unit: Unit = "tokens", extract: Extractor | Any = None) -> Reward:
    """A penalty from 0.0 to -1.0 on completions that get too long: DAPO's soft overlong punishment. Add it.

    ``rk.overlong_penalty(100, 20)`` gives 0.0 up to 80 tokens, -0.5 to 90, -1.0 to 100 and more.

    Source: Yu et al. 2025, DAPO (arXiv:2503.14476), equation 13; the same numbers as TRL's
    ``get_soft_overlong_punishment(max_completion_len, soft_punish_cache)``.

    Args:
        max_length: from here on the penalty is whole; positive.
        buffer: over so many units before it the penalty grows, 0 to `max_length`.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        extract: counts what it finds (as words or characters) in place of the whole completion.

    Raises:
        RewardDefinitionError: a length that is not positive, or a buffer outside of it.
        BindingError: while scoring: tokens are to be counted and there are no ``completion_ids``.
    """
    longest, ramp = (checked_number(value, "overlong_penalty") for value in (max_length, buffer))
    if longest <= 0.0 or not 0.0 <= ramp <= longest:
        raise RewardDefinitionError(
            f"overlong_penalty: 0 <= buffer <= max_length is wanted, got buffer {buffer} and max_length {max_length}"
        )
    length, measured = _measured("overlong_penalty", unit, extract)
    options = {"unit": (unit, "tokens"), "extract": (extract and measured.view, None)}
    shown = expression("overlong_penalty", max_length, buffer, **options)
    function = OverlongPenalty(length, max_length, buffer)
    return primitive(function, "overlong_penalty", shown, measured, bounds=(-1.0, 0.0))


@dataclass(frozen=True)
class CosineFactor:
    """From 1.0 at length 0 down to 0.0 at the longest, along half a cosine."""

    length: Length
    max_length: float

    def __call__(self, measured: Sequence[int] | str | None) -> float:
        # Beyond the longest it stays there: the cosine would climb again.
        return 0.5 * (1.0 + math.cos(min(self.length(measured) / self.max_length, 1.0) * math.pi))


@final
@dataclass(frozen=True)
class CosineLength(Reward):
    """The credit of a right or wrong completion, between two values by its length."""

    correct: Reward
    factor: Reward
    right: Bounds
    wrong: Bounds
    threshold: float
    call: str

    @property
    def name(self) -> str:
        return "cosine_length"

    @property
    def generic(self) -> bool:
        return True

    @property
    def children(self) -> tuple[Reward, ...]:
        return (self.correct, self.factor)

    @property
    def bounds(self) -> Bounds:
        ends = (*self.right, *self.wrong)
        return min(ends), max(ends)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        correct, factor = await scoring.columns([(self.correct, rows), (self.factor, rows)])
        is_right = np.greater_equal(correct.values, self.threshold - 1e-9)  # False where NaN
        longest, shortest = (np.where(is_right, self.right[end], self.wrong[end]) for end in (0, 1))
        return Column.combined([(correct, True)], longest + (shortest - longest) * factor.values, rows)

    def __repr__(self) -> str:
        return self.call


def cosine_length(
    correct: Reward,
    max_length: int,
    *,
    right: tuple[float, float] = (0.5, 1.0),
    wrong: tuple[float, float] = (-0.5, -1.0),
    threshold: float = 1.0,
    unit: Unit = "tokens",
) -> Reward:
    """Pays right completions more the shorter they are, and wrong ones more the longer they thought about it.

    ``rk.cosine_length(rk.number("answer"), 100)`` gives 0.75 to a right answer of 50 tokens and -0.75 to a wrong one.

    With the values *a* and *b* of the longest and the shortest completion, and *t* = min(length / max_length, 1):
    a + (b - a) * (1 + cos(pi * t)) / 2. Source: Yeo et al. 2025, Demystifying Long Chain-of-Thought Reasoning
    (arXiv:2502.03373), appendix C.1; the same numbers as TRL's ``get_cosine_scaled_reward`` where `correct` agrees with
    its check of the answer.

    Args:
        correct: the reward that says whether the answer is right. Where it abstains or fails, so does this one.
        max_length: the length at which the value no longer changes; positive.
        right: the values of a right completion at `max_length` and at length 0.
        wrong: the same of a wrong one.
        threshold: from here on `correct` counts as right.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.

    Raises:
        RewardDefinitionError: a length that is not positive, values that are no numbers.
        BindingError: while scoring: tokens are to be counted and there are no ``completion_ids``.
    """
    checked = as_reward(correct, "cosine_length: correct")
    if checked_number(max_length, "cosine_length: max_length") <= 0.0:
        raise RewardDefinitionError(f"cosine_length: max_length must be positive, got {max_length}")
    for name, pair in (("right", right), ("wrong", wrong)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise RewardDefinitionError(
                f"cosine_length: {name} is (value at max_length, value at 0), got {shorten(pair)}"
            )
    long_right, short_right, long_wrong, short_wrong = (
        checked_number(value, "cosine_length: a value") for value in (*right, *wrong)
    )
    length, measured = _measured("cosine_length", unit, None)
    options = {"unit": (unit, "tokens")}
    factor = primitive(
        CosineFactor(length, max_length), "shortness", expression("shortness", max_length, **options), measured
    )
    call = expression(
        "cosine_length",
        checked,
        max_length,
        right=(right, (0.5, 1.0)),
        wrong=(wrong, (-0.5, -1.0)),
        threshold=(threshold, 1.0),
        **options,
    )
    ends = (long_right, short_right), (long_wrong, short_wrong)
    return CosineLength(checked, factor, *ends, checked_number(threshold, "cosine_length: threshold"), call)
