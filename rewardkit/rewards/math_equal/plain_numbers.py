r"""Exact comparison of plain numbers: ``read(r"12{,}000 \text{ feet}").value == 12000``.

Plain numbers are integers, decimals, fractions, mixed numbers, ``0.\overline{3}``, and powers of ten. They may have
thousands separators, a percent sign, a currency or a unit, and a name before an equality sign. Most answers are plain
numbers and do not need computer algebra.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from rewardkit.rewards.math_equal.units import differ, unit_of
from rewardkit.text.numbers import SCALES, value_of, value_pattern

MAX_DIGITS = 400
"""The maximum number of characters in a number. The limit is arbitrary: answers are shorter, and arithmetic with
fractions takes time quadratic in the number of digits."""

# "1,000", and with spaces "1 000" and "0 125". A comma after a leading zero may be a decimal comma.
_GROUPED = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?:[ ][0-9]{3})+(?![0-9])"
# "45 percent", "45 per cent", "45 pct".
_PERCENT = r"percent(?:age)?|per\ cent|pct"
# A sign, a currency, the number, a percent sign, and everything after it as the unit.
_NUMBER = re.compile(
    rf"""
    (?P<sign>[+-]?)\s*(?P<currency>(?:\\\$|[€£¥₹]|Rs(?![A-Za-z])|\\text\s*\{{\s*(?:Rs|[€£¥₹])\s*\}}))?\s*
    {value_pattern(_GROUPED)}
    \s*?(?P<percent>\s*(?:\\%|\\text\s*\{{\s*(?:{_PERCENT}|\\%)\s*\}}|(?:{_PERCENT})\b))?
    (?P<unit>.*)""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
# Most answers have this form, so it is tried first.
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
# "10^{6}" is "1e6". An exponent of three digits is enough for any quantity.
_POWER_OF_TEN = re.compile(r"([+-]?)\s*10\s*\^\{\s*([+-]?[0-9]{1,3})\s*\}(.*)", re.ASCII)
# A number in brackets. It has no comma, because (1,234) is a pair.
_WRAPPED = re.compile(r"([+-]?)\s*(?:\(([^(),]*)\)|\{([^,]*)\}|\\\{([^{},]*)\\\})(\s*\^\{\\circ\}|\s*\\%)?")
_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
# "15th" and "15^{\text{th}}" are 15.
_ORDINAL = re.compile(r"\s?(?:\^\s*\{\s*)?(?:\\text\s*\{\s*)?(st|nd|rd|th)(?![a-z])\}{0,2}", re.IGNORECASE)
# "5 million" and "5 \text{ million dollars}".
_MAGNITUDE = re.compile(rf"\s*(\\text\s*\{{)?\s*({'|'.join(SCALES)})(?![a-z])\s*(?:}}\s*)?")
_DEGREES = re.compile(
    r"([+-]?)\s*([0-9]{1,9})\s*\^\{\\circ\}\s*([0-9]{1,2}(?:\.[0-9]{1,9})?)\s*'(?!')(?:\s*([0-9]{1,2}(?:\.[0-9]{1,9})?)\s*'')?"
)
"""An angle in degrees, minutes, and seconds."""


@dataclass(frozen=True)
class Numeral:
    """A number as written.

    Attributes:
        value: the number without the percent sign: 50 for ``50%``.
        percent: whether the number has a percent sign.
        unit: the unit or currency; "" if there is none.
        divided: whether a whole number is written as a fraction: ``12/4``.
    """

    value: Fraction
    percent: bool = False
    unit: str = ""
    divided: bool = False

    def equals(self, other: Numeral) -> bool:
        """Return whether two numbers are equal.

        A percent sign means a hundredth. Like a unit, it may be omitted, but only for 1% or more.
        """
        units = {self.unit, other.unit}
        counted = "" in units and _COUNTED.search(self.unit + other.unit)  # "5 real solutions" equals "5"
        if differ(self.unit, other.unit) and not counted:
            return False
        if self.percent == other.percent:
            return self.value == other.value
        if self.unit or other.unit:
            return False
        share, plain = (self, other) if self.percent else (other, self)
        return share.value / 100 == plain.value or (share.value == plain.value and abs(plain.value) >= 1)


# "5 real solutions" and "5 integers" count things. "odd" alone is a property, which must not be omitted.
_COUNTED = re.compile(r"integer\Z|\?(?:real|prime|odd|even|positive|negative|integer) \w+")
# "5 \pmod{7}", "x \equiv 5 (mod 7)".
_REMAINDER = re.compile(
    r"(?:[a-z]\s?\\equiv\s?)?([0-9]{1,9})\s?(?:\\pmod|\((?:\\text\s?\{|\\)?\s?mod\s?\}?)\s?\{?\s?([0-9]{1,9})\s?\}?\s?\)?"
)


def remainder(cleaned: str) -> str:
    r"""Return a remainder without the modulus if it is less than the modulus: ``5`` for ``5 \pmod{7}``."""
    match = _REMAINDER.fullmatch(cleaned)
    return match[1] if match and int(match[1]) < int(match[2]) else cleaned


def read(cleaned: str) -> Numeral | None:
    """Parse cleaned text as a plain number; return None if it is not one or must be evaluated first."""
    if _PLAIN.fullmatch(cleaned) and len(cleaned) <= MAX_DIGITS:
        return Numeral(Fraction(cleaned))
    if text := _TEXT.fullmatch(cleaned):
        cleaned = text[1].strip()
    if wrapped := _WRAPPED.fullmatch(cleaned):
        sign, *insides, after = wrapped.groups(default="")
        cleaned = sign + max(insides, key=len).strip() + after
        if cleaned.startswith(("--", "-+", "+-", "++")):
            cleaned = ("-" if cleaned[0] != cleaned[1] else "") + cleaned[2:]
    if power := _POWER_OF_TEN.fullmatch(cleaned):
        cleaned = f"{power[1]}1e{power[2]}{power[3]}"
    if angle := _DEGREES.fullmatch(cleaned):
        return _angle(*angle.groups(default="0"))
    match = _NUMBER.fullmatch(cleaned)
    if match is None or len(match.group()) - len(match["unit"]) > MAX_DIGITS:
        return None
    after, factor = _without_words(match)
    unit = unit_of(after)
    value = value_of(match)
    if unit is None or value is None or (unit and match["percent"]):
        return None
    value = value * factor if factor > 1 else value
    if match["currency"]:
        currency = _CURRENCIES[match["currency"].removeprefix("\\text").strip("{} ")]
        unit = f"?{currency} {unit[1:]}" if unit.startswith("?") else unit or currency
    divided = bool(match["top"] or match["top_"]) and value.denominator == 1
    return Numeral(-value if match["sign"] == "-" else value, bool(match["percent"]), unit, divided)


_CURRENCIES = {"\\$": "dollar", "€": "euro", "£": "pound-sterling", "¥": "yen", "₹": "rupee", "Rs": "rupee"}


def _without_words(match: re.Match[str]) -> tuple[str, int]:
    """Return the unit without an ordinal suffix (15th) or a word for a power of ten (million), and the power."""
    after = match["unit"]
    ordinal = _ORDINAL.match(after)
    if ordinal and (match["decimal"] or "").isdigit() and not match["percent"]:
        return after[ordinal.end() :], 1
    magnitude = _MAGNITUDE.match(after)
    if magnitude is None or match["percent"] or (after[:1] == match["unit"][:1] != " " and not magnitude[1]):
        return after, 1
    rest = after[magnitude.end() :]
    if magnitude[1] and "}" not in magnitude[0]:
        rest = "\\text{" + rest  # 5 \text{ million dollars}
    return rest, 10 ** SCALES[magnitude[2]]


def _angle(sign: str, degrees: str, minutes: str, seconds: str) -> Numeral | None:
    parts = Fraction(minutes), Fraction(seconds)
    # There are 60 minutes in a degree and 60 seconds in a minute.
    if max(parts) >= 60:
        return None
    value = int(degrees) + parts[0] / 60 + parts[1] / 3600
    return Numeral(-value if sign == "-" else value, unit="degree")
