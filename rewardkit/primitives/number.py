"""Numbers: ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` where "answer" is 100."""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from rewardkit.core.algebra import Reward
from rewardkit.core.binding import Parameter
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.extraction import Answer, Extractor, TextExtractor, Whole, as_extractor
from rewardkit.core.leaf import expression, primitive
from rewardkit.core.outcome import Score
from rewardkit.core.progress import number as checked_number

Credit = Literal["binary", "linear", "exponential"]

_MAX_CHARACTERS = 400
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_NUMBER = re.compile(r"([+-]?)(\d+(?:,\d+)*)?(\.\d*)?(?:[eE]([+-]?\d{1,3}))?(%?)", re.ASCII)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+", re.ASCII)
# A sign may stand before a currency (-$5); an ellipsis (...5) is no decimal point.
_LAST = re.compile(
    r"([+\-\u2212]?)(?:\\?[$\u20ac\xa3\xa5])?((?:\d[\d,]*(?:\.\d+)?|(?<!\.)\.\d+)(?:[eE][+-]?\d+)?%?)", re.ASCII
)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class NumberText:
    """Reads one number: ASCII decimal or scientific; ``1,000`` and ``45%`` only where they are allowed."""

    thousands: bool
    percent: bool

    def read(self, text: str) -> Decimal | str:
        """The number, or why there is none."""
        text = text.strip().removesuffix(".")
        if len(text) > _MAX_CHARACTERS:
            return f"longer than {_MAX_CHARACTERS} characters"
        if _PLAIN.fullmatch(text):
            return Decimal(text)
        if not text.isascii():
            text = text.replace("\u2212", "-")  # the minus sign of typography
        match = _NUMBER.fullmatch(text)
        sign, whole, fraction, exponent, percent = match.groups(default="") if match else ("",) * 5
        if not whole and len(fraction) < 2:
            return f"{shorten(text, 60)} is not a number"
        if "," in whole:
            if not self.thousands:
                return f"{shorten(text, 60)} has thousands separators; allow them with thousands=True"
            if not _GROUPED.fullmatch(whole):
                return f"{shorten(text, 60)} has commas that do not separate thousands"
            whole = whole.replace(",", "")
        if percent and not self.percent:
            return f"{shorten(text, 60)} is a percentage; allow it with percent=True"
        if not percent:
            return Decimal(f"{sign}{whole}{fraction}e{exponent}" if exponent else f"{sign}{whole}{fraction}")
        # Division by 100 would round to the 28 digits of Python's decimal context.
        return Decimal(f"{sign}{whole}{fraction}e{int(exponent or 0) - 2}")


@dataclass(frozen=True)
class FinalNumber(TextExtractor):
    """The answer where one is marked (tag, box, ``####``), else the last number of the visible text."""

    def find(self, answer: str) -> str | None:
        found = Answer().find(answer)
        if found is not answer:
            return found
        last = deque(_LAST.finditer(answer), maxlen=1)
        return "".join(last[0].groups()).rstrip(",") if last else None

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
    credit: Credit

    def __call__(self, answer: str | None, gold: Decimal) -> float | Score:
        if answer is None:
            return Score(0.0, "no number found")
        value = self.text.read(answer)
        if isinstance(value, str):
            return Score(0.0, value)
        if value == gold:
            return 1.0
        distance = abs(float(value) - float(gold))
        scale = abs(float(gold)) or 1.0
        allowed = max(self.tolerance, self.relative * scale)
        if allowed > 0.0 and distance <= allowed * (1.0 + _ROUNDING):
            return 1.0
        note = f"{shorten(answer, 40)} is off by {distance:.4g}"
        if self.credit == "binary":
            return Score(0.0, note)
        excess = (distance - allowed) / scale
        return Score(max(0.0, 1.0 - excess) if self.credit == "linear" else math.exp(-excess), note)


def number(
    column: str,
    *,
    tolerance: float = 0.0,
    relative: float = 0.0,
    credit: Credit = "binary",
    thousands: bool = False,
    percent: bool = False,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    r"""1.0 where the number in the completion equals the gold one within a tolerance; partial credit on request.

    ``rk.number("answer", credit="linear")`` gives 0.9 to ``<answer>90</answer>`` where the column "answer" is 100.

    With the distance *d* from the gold *g*, *a* = max(`tolerance`, `relative` * abs(g)) and the excess
    *e* = (d - a) / abs(g) (g = 0 counts as 1): 1.0 for d <= a, beyond that 0.0 (``"binary"``), max(0, 1 - e)
    (``"linear"``) or exp(-e) (``"exponential"``). Equality is exact, in decimal arithmetic.

    Args:
        column: the gold number's column: int, float, or text.
        tolerance: absolute distance that still counts as right, in the unit of the number.
        relative: the same as a share of the gold, 0.0 and up.
        credit: beyond the tolerance.
        thousands: allow ``1,000``, on both sides.
        percent: allow ``45%``, which is 0.45, on both sides.
        extract: finds the number. By default the marked answer (``<answer>``, ``\boxed{}``, ``####``), which must be
            nothing but a number, else the last number of the visible text.
        gold: finds the number in the gold cell, such as ``rk.extract.after("####")`` for raw GSM8K.

    Raises:
        RewardDefinitionError: a negative or infinite tolerance, an unknown credit.
        CoercionError: while scoring: a gold cell without a number.
    """
    for name, value in (("tolerance", tolerance), ("relative", relative)):
        if checked_number(value, f"number: {name}") < 0.0:
            raise RewardDefinitionError(f"number: {name} is negative: {value}")
    if credit not in get_args(Credit):
        raise RewardDefinitionError(f"number: credit is one of {', '.join(get_args(Credit))}, got {shorten(credit)}")
    text = NumberText(bool(thousands), bool(percent))
    where = as_extractor(extract, FinalNumber())
    gold_where = None if gold is None else as_extractor(gold, Whole())
    shown = expression(
        "number",
        column,
        tolerance=(tolerance, 0.0),
        relative=(relative, 0.0),
        credit=(credit, "binary"),
        thousands=(thousands, False),
        percent=(percent, False),
        extract=(extract and where, None),
        gold=(gold_where, None),
    )
    return primitive(
        Number(text, float(tolerance), float(relative), credit),
        "number",
        shown,
        Parameter("answer", "completion", view=where),
        Parameter("gold", column, annotation=Annotated[Decimal, BeforeValidator(GoldNumber(text, gold_where))]),
    )
