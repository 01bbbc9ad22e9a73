r"""Units after a number: ``unit_of(r"\text{ square feet}")`` is ``foot^2``.

Units are often omitted, so a unit is not required; but 5 m is not 5 cm.
"""

from __future__ import annotations

import re

UNKNOWN = "?"
"""Words that are not units in the table, such as apples. They match any unit."""

_NAMES = """
millimeter mm millimetre|centimeter cm centimetre|decimeter dm decimetre|meter m metre|kilometer km kilometre
inch in inches|foot ft feet|yard yd|mile mi|milligram mg|gram g|kilogram kg kilo|tonne ton|pound lb lbs|ounce oz
milliliter ml millilitre|liter l litre|gallon gal|millisecond ms|second s sec|minute min|hour h hr|day|week|month
year yr|dollar usd buck|cent|euro eur €|yen ¥|degree deg|radian rad|kilometer/hour kmh kph|mile/hour mph
"""
_CANONICAL = {
    alias: aliases.split()[0]
    for aliases in _NAMES.replace("\n", "|").split("|")
    if aliases
    for alias in aliases.split()
}
_VALUES = """
and or to not no minus plus times divided over half halves third thirds quarter quarters hundred hundreds thousand
thousands million millions billion billions trillion trillions dozen dozens factorial pi sqrt root mod modulo base
negative infinity point than except if unless between either e i k zero one two three four five six seven eight nine
ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety percent approximately about maybe perhaps
roughly nearly almost around circa ca ish possibly probably at most least so below above beyond hex hexadecimal binary
octal decimal nicht kein keine pas nunca environ etwa
lakh lakhs crore crores bn mn score gross fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths
tenth tenths hundredth hundredths thousandth thousandths millionth millionths billionth billionths
fold double twice triple inverse reciprocal squared cubed wrong false incorrect lower upper bound is
then if when because since but so though although which that was were are has have nor only just actually wait
"""
_CHANGING = frozenset(_VALUES.split())
"""Words after a number that may change it, or name another number."""

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_MAGNITUDE = re.compile(r"\s*\\text\s*\{\s*[KMBT]\s*\}")
"""K and M mean thousands and millions; kelvin must be spelled out, or be in the gold answer, too."""

_FACTOR = re.compile(r"\}\s*[A-Za-z]")
"""A letter after a unit in text is a variable: ``5 \\text{ cm}x``."""

_SHORT_WORD = re.compile(r"(?<![a-z])[a-z](?![a-z])|\A[a-z]{2}\Z")
_POWER = re.compile(r"\^\{?([23])\}?")
_WORDS = re.compile(r"[€£¥]|[a-z]+(?:\^[23])?(?:[ /-]+[a-z]+(?:\^[23])?)*")


def unit_of(text: str) -> str | None:
    r"""Return the unit in `text`: "" if empty, `UNKNOWN` for other words, None if it is more than a unit."""
    if not text or text.isspace():
        return ""
    if "".join(text.split()) == "^{\\circ}":
        return "degree"
    spelled = "\\text" in text
    if _MAGNITUDE.fullmatch(text) or _FACTOR.search(text):
        return None
    words = _POWER.sub(r"^\1", _TEXT.sub(r"\1", text)).lower().replace(".", "").replace("\\%", "")
    words = words.strip()
    if not _WORDS.fullmatch(words) or not _CHANGING.isdisjoint(re.split(r"[ /^-]+", words)):
        return None
    if words.startswith(("squared", "cubed")):
        return None
    unit = _canonical(words)
    # Adjacent letters are variables: 5ab, 5 x. A known unit may be written that way, and so may a word after a space.
    if not spelled and unit == UNKNOWN and (not text[0].isspace() or _SHORT_WORD.search(words)):
        return None
    return None if not spelled and words.isalpha() and len(words) == 1 and not text[0].isspace() else unit


def _canonical(words: str) -> str:
    power = ""
    for phrase, exponent in (("square ", "^2"), ("sq ", "^2"), ("cubic ", "^3"), ("cu ", "^3")):
        if words.startswith(phrase):
            words, power = words[len(phrase) :], exponent
    for phrase, exponent in ((" squared", "^2"), (" cubed", "^3"), ("^2", "^2"), ("^3", "^3")):
        if words.endswith(phrase):
            words, power = words[: -len(phrase)], exponent
    parts = [_CANONICAL.get(part) or _CANONICAL.get(part.removesuffix("s")) for part in re.split(r" per |/", words)]
    return "/".join(part for part in parts if part) + power if all(parts) else UNKNOWN


def differ(one: str, other: str, formulas: str = "") -> bool:
    """Return whether both units are known and different; multiples of pi without a unit are not degrees."""
    if "\\pi" in formulas and {one, other} == {"", "degree"}:
        return True
    return one != other and not {one, other} & {"", UNKNOWN}


_LAST_UNIT = re.compile(r"(?:\s*\\text\s*\{[^{}]*\}(?:\^\{[23]\})?|\s*\^\{\\circ\})$")
_TRIGONOMETRIC = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![A-Za-z])")


def without_unit(cleaned: str) -> tuple[str, str]:
    r"""Split a formula from a spelled-out unit: ``2\pi`` and ``centimeter`` for ``2\pi \text{ cm}``."""
    last = _LAST_UNIT.search(cleaned)
    if last and "circ" in last[0] and _TRIGONOMETRIC.search(cleaned):
        return cleaned, ""  # the degrees are the angle's
    unit = unit_of(last[0]) if last and last.start() else None
    return (cleaned[: last.start()].rstrip(), unit) if last and unit else (cleaned, "")
