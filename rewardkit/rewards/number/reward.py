"""Numbers: ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` if "answer" is 100."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, get_args

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import number as checked_number
from rewardkit.rewards.number.final import FinalNumber
from rewardkit.text.extractors import Extractor
from rewardkit.text.numbers import Exact, NumberText
from rewardkit.tree.gold import AcceptedGolds, against_gold, best
from rewardkit.tree.parameters import OnUnparsableGold
from rewardkit.tree.reward import Reward

Credit = Literal["binary", "linear", "exponential"]
Steps = tuple[tuple[float, float], ...]

# Digits and signs: a unit such as "%5" could be read as part of a number.
_PART_OF_A_NUMBER = re.compile(r"[\d%+\-\u2212\u2013]")
# The relative slack of bounds, because of rounding in binary fractions: 0.1 + 0.2 is within 0.3.
_ROUNDING = 1e-9
_NEARLY = 1.0 - 1e-6
"""The highest score for an incorrect number. It is below 1 - 1e-9, the score at which a gate with threshold 1.0
opens."""


@dataclass(frozen=True)
class GoldNumber:
    """A reader for gold cells with a number: int, float, Decimal, or text (after the gold extractor)."""

    text: NumberText
    extract: Extractor | None

    def __call__(self, value: object) -> Exact:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = repr(value)
        elif not isinstance(value, str) and isinstance(value, (Decimal, Fraction)):  # a check that is slow for text
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"not a number: {shorten(value)}")
        extracted = self.extract(value) if self.extract else value
        if extracted is None:
            raise ValueError(f"no gold answer found in {shorten(value)}")
        result = self.text.read(extracted)
        if isinstance(result, str):
            raise ValueError(result)
        if math.isinf(_as_float(result)):
            raise ValueError(f"{shorten(value)} is too large")
        return result


@dataclass(frozen=True)
class Number:
    """A comparison of the number in the answer with the gold number."""

    text: NumberText
    tolerance: float
    relative: float
    credit: Credit | Steps
    scale: float | None

    def __call__(self, answer: str | None, gold: tuple[Exact, ...]) -> float | Score:
        return best(self._compare, answer, gold)

    def _compare(self, answer: str | None, gold: Exact) -> float | Score:
        if answer is None:
            return Score(0.0, "no number found")
        value = self.text.read(answer)
        if isinstance(value, str):
            return Score(0.0, value)
        if value == gold:
            return 1.0
        right = float(gold)
        distance = abs(_as_float(value) - right)
        size = abs(right) or 1.0
        allowed = max(self.tolerance, self.relative * size)
        if allowed > 0.0 and distance <= allowed * (1.0 + _ROUNDING):
            return 1.0
        excess = (distance - allowed) / (self.scale or size)
        return Score(min(_NEARLY, self._credit(excess)), f"{shorten(answer, 40)} is off by {distance:.4g}")

    def _credit(self, excess: float) -> float:
        if self.credit == "binary":
            return 0.0
        if self.credit == "linear":
            return max(0.0, 1.0 - excess)
        if self.credit == "exponential":
            return math.exp(-excess)
        return next((credit for bound, credit in self.credit if excess <= float(bound) * (1.0 + _ROUNDING)), 0.0)


def _as_float(number: Exact) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def number(
    column: str,
    *,
    tolerance: float = 0.0,
    relative: float = 0.0,
    credit: Credit | Mapping[float, float] = "binary",
    scale: float | None = None,
    thousands: bool = True,
    percent: bool = False,
    units: Iterable[str] | Mapping[str, float] = (),
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    on_unparsable_gold: OnUnparsableGold | None = None,
) -> Reward:
    r"""Score 1.0 if the number in the completion is within a tolerance of the gold number. Partial credit is optional.

    ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` if the column "answer" is 100.

    Let *d* be the distance from the gold number *g*, *a* = max(`tolerance`, `relative` * abs(g)), and *e* = (d - a) /
    `scale`. The score is 1.0 if d <= a. Otherwise, it is 0.0 (``"binary"``), max(0, 1 - e) (``"linear"``), exp(-e)
    (``"exponential"``), or follows steps: ``{0.01: 0.8, 0.1: 0.5}`` gives 0.8 if e <= 0.01 and 0.5 if e <= 0.1. The
    comparison is exact (decimal arithmetic). A number beyond the tolerance never scores more than 1 - 1e-6.

    Args:
        column: the column with the gold number: int, float, text, or a list of accepted numbers.
        tolerance: the absolute distance that still counts as correct, in the number's unit.
        relative: the tolerance as a fraction of the gold number, at least 0.0. The larger of the two tolerances
            applies.
        credit: the credit for numbers beyond the tolerance (see above).
        scale: the distance beyond the tolerance at which linear credit reaches 0, in the number's unit. The default is
            abs(g), or 1 if g = 0.
        thousands: if True, read ``1,000`` as one thousand in both the answer and the gold cell. If False, reject it.
        percent: if True, accept ``45%`` as 0.45 in both the answer and the gold cell.
        units: the units that are accepted before or after the number, in both the answer and the gold cell: a list such
            as ``["$", "apples"]``, or units with their factors: ``{"m": 1, "km": 1000}``. A number without a unit is
            used unchanged.
        extract: finds the number. The default is the marked answer (``<answer>``, ``\boxed{}``, ``####``), which must
            contain only a number (LaTeX or Markdown formatting is fine), else the last number that the visible text
            claims: numbers that are negated, doubted, asked for, retracted, or mentioned in an aside ("in 6 weeks") are
            skipped. No number is found if there are alternatives ("41 or 42") or if the number is part of something
            else (a root, ``42K``, ``40-42``, "half of 42"). See docs/answers.md.
        gold: finds the number in the gold cell, such as ``rk.extract.after("####")`` for raw GSM8K.
        on_unparsable_gold: the effect of an unreadable gold cell: ``"raise"`` raises a CoercionError. With ``"fail"``,
            the row has no score, and ``rk.fallback`` uses the next reward. The default is ``"fail"`` during training
            and ``"raise"`` otherwise.

    Raises:
        RewardDefinitionError: a tolerance is negative or infinite, the credit is unknown, the steps do not decrease, or
            a unit could be part of a number.
        CoercionError: while scoring: a gold cell has no number.
    """
    for name, value in (("tolerance", tolerance), ("relative", relative)):
        if checked_number(value, f"number: {name}") < 0.0:
            raise RewardDefinitionError(f"number: {name} must be 0 or more, got {value}")
    if scale is not None and checked_number(scale, "number: scale") <= 0.0:
        raise RewardDefinitionError(f"number: scale must be greater than 0, got {scale}")
    for name, flag in (("thousands", thousands), ("percent", percent)):
        if not isinstance(flag, bool):
            raise RewardDefinitionError(f"number: {name} must be True or False, got {shorten(flag)}")
    text = NumberText(thousands, percent, _units(units))
    function = Number(text, float(tolerance), float(relative), _credit(credit), None if scale is None else float(scale))
    return against_gold(
        function,
        "number",
        column,
        tuple[Any, ...],
        lambda where: AcceptedGolds(GoldNumber(text, where)),
        extract=extract,
        gold=gold,
        default=FinalNumber(text),
        on_unparsable_gold=on_unparsable_gold,
        tolerance=(tolerance, 0.0),
        relative=(relative, 0.0),
        credit=(credit, "binary"),
        scale=(scale, None),
        thousands=(thousands, True),
        percent=(percent, False),
        units=(units, ()),
    )


def _credit(credit: Credit | Mapping[float, float]) -> Credit | Steps:
    if isinstance(credit, str) and credit in get_args(Credit):
        return credit
    if not isinstance(credit, Mapping) or not credit:
        names = ", ".join(get_args(Credit))
        raise RewardDefinitionError(
            f"number: credit must be one of {names}, or steps such as {{0.1: 0.5}}, got {shorten(credit)}"
        )
    steps = tuple(
        sorted(
            (checked_number(up_to, "number: a step"), checked_number(value, "number: the credit of a step"))
            for up_to, value in credit.items()
        )
    )
    values = [value for _, value in steps]
    if steps[0][0] < 0.0 or not values[0] < 1.0 or values[-1] < 0.0 or values != sorted(values, reverse=True):
        raise RewardDefinitionError(
            "number: credit steps must map an error beyond the tolerance (0 or more) to a credit below 1. The credit "
            f"must fall as the error grows, as in {{0.01: 0.8, 0.1: 0.5}}, got {shorten(dict(credit))}"
        )
    return steps


def _units(units: Iterable[str] | Mapping[str, float]) -> tuple[tuple[str, Fraction], ...]:
    if isinstance(units, str) or not isinstance(units, Iterable):
        raise RewardDefinitionError(f"number: units must be a list such as ['km', '$'], got {shorten(units)}")
    pairs = list(units.items()) if isinstance(units, Mapping) else [(unit, 1.0) for unit in units]
    factors: dict[str, Fraction] = {}
    for unit, factor in pairs:
        if not isinstance(unit, str) or not unit.strip() or checked_number(factor, f"number: unit {unit!r}") <= 0.0:
            raise RewardDefinitionError(
                f"number: a unit must be non-empty text with a positive factor, got {shorten((unit, factor))}"
            )
        name = unit.strip()
        if name in factors:
            raise RewardDefinitionError(f"number: the unit {name!r} is listed twice. Remove one")
        if _PART_OF_A_NUMBER.match(name[0]) or _PART_OF_A_NUMBER.match(name[-1]):
            raise RewardDefinitionError(
                f"number: a unit must not start or end with a digit, a sign, or %, got {unit!r}. Pass percent=True for "
                "45%"
            )
        factors[name] = Fraction(repr(float(factor)))
    return tuple(sorted(factors.items(), key=lambda item: (-len(item[0]), item[0])))
