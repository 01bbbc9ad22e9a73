"""Numbers: ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` where "answer" is 100."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Literal, get_args

from rewardkit.core.algebra import Reward
from rewardkit.core.comparison import against_gold
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.extraction import Answer, Extractor, TextExtractor
from rewardkit.core.number_text import NumberText
from rewardkit.core.outcome import Score
from rewardkit.core.progress import number as checked_number

Credit = Literal["binary", "linear", "exponential"]
Steps = tuple[tuple[float, float], ...]

# A sign may stand before a currency (-$5); an ellipsis (...5) is no decimal point.
_LAST = re.compile(
    r"([+\-\u2212]?)(?:\\?[$\u20ac\xa3\xa5])?((?:\d[\d,]*(?:\.\d+)?|(?<!\.)\.\d+)(?:[eE][+-]?\d+)?%?)", re.ASCII
)
_DIGIT = re.compile(r"\d", re.ASCII)
_ROUNDING = 1e-9
_NEARLY = 1.0 - 1e-6
"""A wrong number never comes nearer to 1, because gates open at their threshold less 1e-9."""


@dataclass(frozen=True)
class FinalNumber(TextExtractor):
    """The answer where one is marked (tag, box, ``####``), else the last number of the visible text."""

    def find(self, answer: str) -> str | None:
        found = Answer().find(answer)
        if found is None or not (found is answer or self._is_heading(answer, found)):
            return found
        last = deque(_LAST.finditer(answer, answer.rfind("####") + 1), maxlen=1)
        return "".join(last[0].groups()).rstrip(",") if last else None

    def _is_heading(self, answer: str, found: str) -> bool:
        """Whether the last ``####`` of `answer` opens a heading ("#### Result"), which marks no answer."""
        marked = "<answer>" in answer or "</answer>" in answer or "\\boxed{" in answer
        return not marked and not _DIGIT.search(found)

    def __repr__(self) -> str:
        return "final_number()"


@dataclass(frozen=True)
class GoldNumber:
    """A gold cell as a number: int, float, Decimal or text, run through the gold's own extractor."""

    text: NumberText
    extract: Extractor | None

    def __call__(self, value: object) -> Decimal:
        if isinstance(value, Decimal):
            value = str(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            value = repr(value)
        if not isinstance(value, str):
            raise ValueError(f"no number: {shorten(value)}")
        found = self.extract(value) if self.extract else value
        if found is None:
            raise ValueError(f"no gold answer is found in {shorten(value)}")
        result = self.text.read(found)
        if isinstance(result, str):
            raise ValueError(result)
        if not math.isfinite(float(result)):
            raise ValueError(f"{shorten(value)} is too large")
        return result


@dataclass(frozen=True)
class Number:
    """How near a number is to the gold one."""

    text: NumberText
    tolerance: float
    relative: float
    credit: Credit | Steps
    scale: float | None

    def __call__(self, answer: str | None, gold: Decimal) -> float | Score:
        if answer is None:
            return Score(0.0, "no number found")
        value = self.text.read(answer)
        if isinstance(value, str):
            return Score(0.0, value)
        if value == gold:
            return 1.0
        distance = abs(float(value) - float(gold))
        size = abs(float(gold)) or 1.0
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


def number(
    column: str,
    *,
    tolerance: float = 0.0,
    relative: float = 0.0,
    credit: Credit | Mapping[float, float] = "binary",
    scale: float | None = None,
    thousands: bool = False,
    percent: bool = False,
    units: Iterable[str] | Mapping[str, float] = (),
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    r"""1.0 where the number in the completion equals the gold one within a tolerance; partial credit on request.

    ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` where the column "answer" is 100.

    With the distance *d* from the gold *g*, *a* = max(`tolerance`, `relative` * abs(g)) and the excess
    *e* = (d - a) / `scale`: 1.0 for d <= a, beyond that 0.0 (``"binary"``), max(0, 1 - e) (``"linear"``), exp(-e)
    (``"exponential"``), or by steps: ``{0.01: 0.8, 0.1: 0.5}`` gives 0.8 for e <= 0.01 and 0.5 for e <= 0.1. Equality
    is exact, in decimal arithmetic; a number beyond the tolerance never earns more than 1 - 1e-6.

    Args:
        column: the gold number's column: int, float, or text.
        tolerance: absolute distance that still counts as right, in the unit of the number.
        relative: the same as a share of the gold, 0.0 and up.
        credit: beyond the tolerance.
        scale: the distance at which linear credit ends, in the unit of the number; by default abs(g), or 1 for g = 0.
        thousands: allow ``1,000``, on both sides.
        percent: allow ``45%``, which is 0.45, on both sides.
        units: allow one of these before or after the number, on both sides: ``["$", "apples"]``; or with what they
            multiply by: ``{"m": 1, "km": 1000}``. A number without a unit stays as it is.
        extract: finds the number. By default the marked answer (``<answer>``, ``\boxed{}``, ``####``), which must be
            nothing but a number (in LaTeX or Markdown dress, if it likes), else the last number of the visible text.
        gold: finds the number in the gold cell, such as ``rk.extract.after("####")`` for raw GSM8K.

    Raises:
        RewardDefinitionError: a negative or infinite tolerance, an unknown credit, steps that do not fall.
        CoercionError: while scoring: a gold cell without a number.
    """
    for name, value in (("tolerance", tolerance), ("relative", relative), ("scale", 1.0 if scale is None else scale)):
        if checked_number(value, f"number: {name}") < 0.0 or (name == "scale" and value == 0.0):
            raise RewardDefinitionError(f"number: {name} must be positive, got {value}")
    text = NumberText(bool(thousands), bool(percent), _units(units))
    function = Number(text, float(tolerance), float(relative), _credit(credit), None if scale is None else float(scale))
    return against_gold(
        function,
        "number",
        column,
        Decimal,
        partial(GoldNumber, text),
        extract=extract,
        gold=gold,
        default=FinalNumber(),
        tolerance=(tolerance, 0.0),
        relative=(relative, 0.0),
        credit=(credit, "binary"),
        scale=(scale, None),
        thousands=(thousands, False),
        percent=(percent, False),
        units=(units, ()),
    )


def _credit(credit: Credit | Mapping[float, float]) -> Credit | Steps:
    if isinstance(credit, str) and credit in get_args(Credit):
        return credit
    if not isinstance(credit, Mapping) or not credit:
        names = ", ".join(get_args(Credit))
        raise RewardDefinitionError(f"number: credit is {names} or steps, {{0.1: 0.5}}, not {shorten(credit)}")
    steps = tuple(sorted((checked_number(up_to, "number: a step"), float(value)) for up_to, value in credit.items()))
    values = [value for _, value in steps]
    if steps[0][0] < 0.0 or not values[0] < 1.0 or values[-1] < 0.0 or values != sorted(values, reverse=True):
        raise RewardDefinitionError(
            f"number: the steps of credit go from an excess of 0 or more to less and less credit below 1, as in "
            f"{{0.01: 0.8, 0.1: 0.5}}; got {shorten(dict(credit))}"
        )
    return steps


def _units(units: Iterable[str] | Mapping[str, float]) -> tuple[tuple[str, Decimal], ...]:
    if isinstance(units, str):
        raise RewardDefinitionError(f"number: units is a list, such as [{units!r}]")
    factors = dict(units) if isinstance(units, Mapping) else dict.fromkeys(units, 1.0)
    for unit, factor in factors.items():
        if not isinstance(unit, str) or not unit.strip() or checked_number(factor, f"number: unit {unit!r}") <= 0.0:
            raise RewardDefinitionError(f"number: a unit is text with a positive factor, got {shorten({unit: factor})}")
    longest_first = sorted(factors.items(), key=lambda item: (-len(item[0]), item[0]))
    return tuple((unit.strip(), Decimal(repr(float(factor)))) for unit, factor in longest_first)
