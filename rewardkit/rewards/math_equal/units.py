r"""Parsing and comparison of units after a number: ``unit_of(r"\text{ m s}^{-2}")`` is ``meter/second^2``.

Units are often omitted, so they are not required. However, 5 m is not 5 cm, 5 N m is not 5 N cm, and 5 goats are not 5
cows. A unit's canonical form is a product of names with powers, with negative powers last. Words that are not a unit
become a single name that starts with a question mark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from rewardkit.rewards.math_equal.grammar import LETTERS
from rewardkit.text.visibility import replaced

_PREFIXES = {
    "": "", "kilo": "k", "mega": "M", "giga": "G", "hecto": "h", "deci": "d", "centi": "c", "milli": "m", "micro": "µ",
    "nano": "n", "pico": "p",
}  # fmt: skip
_METRIC = {
    "meter": "m", "gram": "g", "second": "s", "liter": "L", "newton": "N", "joule": "J", "watt": "W", "volt": "V",
    "ampere": "A", "pascal": "Pa", "hertz": "Hz", "coulomb": "C", "farad": "F", "ohm": "Ω", "tesla": "T", "henry": "H",
    "mole": "mol", "electronvolt": "eV", "calorie": "cal", "watthour": "Wh", "bar": "bar", "kelvin": "K",
}  # fmt: skip
_OTHERS = """
inch in inches|foot ft feet|yard yd|mile mi|pound lb lbs|ounce oz|gallon gal|tonne ton|minute min|hour h hr|day|week
month|year yr|dollar usd buck|cent|euro eur €|yen ¥|yuan rmb|rupee ₹
pound-sterling £|degree deg|radian rad|atmosphere atm|hectare ha|acre
person persons people|child children|man men|woman women
celsius centigrade|fahrenheit|kilometer/hour kmh kph|mile/hour mph|kilogram kilo|ampere amp|second sec
"""
_SYMBOLS = {
    symbol + base: prefix + name
    for name, base in _METRIC.items()
    for prefix, symbol in _PREFIXES.items()
    if symbol + base not in ("pm", "PM")  # "5 pm" is a time
}
_SYMBOLS |= {symbol.replace("µ", "u").replace("L", "l"): name for symbol, name in _SYMBOLS.items()}
_NAMES = {prefix + name: prefix + name for name in _METRIC for prefix in _PREFIXES}
_NAMES |= {name[:-2] + "re": name for name in _NAMES if name.endswith(("meter", "liter"))}
_NAMES |= {
    alias: aliases.split()[0]
    for aliases in _OTHERS.replace("\n", "|").split("|")
    for alias in aliases.split()
}  # fmt: skip
_LETTERS = frozenset("NJWAVΩmgshlL")
"""One-letter unit symbols that do not require ``\\text``. Others are common variables, or powers of ten (K, M, B,
T)."""

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
tens pair pairs couple couples trio permille ppm ppb ppt bp bps basis grand thou mio mrd mil mill mille milliard
tausend tausende hundert dutzend millón millones cento mila cien ciento docena
promille prozent tsd mln mld tys juta ribu nghin trieu elfu duizend tusen tusind tuhat bin milyon fois veces volte vezes
carre hoch hundredweight myriad myriads googol cuadrado cubo quadrat quadrato quadrado
then if when because since but so though although which that was were are has have nor only just actually wait
"""
_CHANGING = frozenset(_VALUES.split()) | {letter.strip("\\").lower() for letter in LETTERS}
"""Words after a number that may change it or name another number, in English and the languages of most benchmarks."""

_LEADING = frozenset((
    "maximum", "minimum", "max", "more", "less", "fewer", "short", "off", "down", "up", "loss", "profit", "deficit",
    "debt", "backward", "reversed", "ago", "bc", "ad", "bce", "under", "over", "milli", "order", "power", "exponent",
    "decimal", "zero", "digit", "west", "south", "north", "east",
))  # fmt: skip
"""Words that change a number if they come directly after it, as in "5 short"."""

_MILLIONS = re.compile(r"(?<![a-z])[a-z]{1,5}ill?i(?:on|ar)")
"""Words for millions, larger numbers, and their fractions in many languages: trillionths, Millionen, miliardi."""

_PROPERTIES = frozenset(("odd", "even", "prime", "composite", "positive", "negative", "integer", "integers", "real"))
"""Words for properties of numbers. Unlike units, they cannot be omitted."""

# "42 in total" and "5 ordered pairs" are 42 and 5: these words say what was counted and are not a unit. In "5 total
# pages", the unit is pages.
_REMARK = re.compile(r"(?<![^ ])(?:in total|total|altogether|in all|ordered pairs?)(?![^ ])", re.IGNORECASE)

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
# "{km}", "{\text{km}}" or "{h^2}".
_UNITS = r"\{((?:\\text\s*\{)?[A-Za-z ]+\}?(?:\^\{?\d\}?)?)\}"
# "\frac{km}{h}" is km/h. With other digits, it would be a number.
_FRACTION = re.compile(rf"\\frac\s*{_UNITS}\s*{_UNITS}")
_MAGNITUDE = re.compile(r"\s*\\text\s*\{\s*[KMBT]\s*\}")
"""A single K, M, B, or T, which means a power of ten. Kelvin must be spelled out unless the gold answer also has K."""

_FACTOR = re.compile(r"\}\s*[A-Za-z]")
"""A letter after a unit in text, which is a variable: ``5 \\text{ cm}x``."""

# A single letter anywhere, or a text of two letters, may be variables: "5 x", "5 ab".
_SHORT_WORD = re.compile(r"(?<![a-z])[a-z](?![a-z])|\A[a-z]{2}\Z", re.IGNORECASE)
# "^{\circ}C" is a temperature, while "^{\circ}" alone is an angle.
_TEMPERATURE = re.compile(r"\^\{\\circ\}\s*([CF])(?![A-Za-z])|℃|℉")
_SPELLED = {
    "\\mu ": "µ", "\\mu": "µ", "μ": "µ", "\\Omega": "Ω", "\\cdot": "·", "\\%": "", "\\$": "usd", ".": "", "²": "^2",
    "³": "^3",
}  # fmt: skip
# "cm", "cm^2", "s^{-1}": units have powers up to 3.
_WORD = r"[A-Za-zµΩ€£¥₹]+(?:\s?\^\{?\s?-?[1-3]\s?\}?)?"
# "km/h", "m s^{-1}", "square feet": units joined by spaces, signs or parentheses.
_WORDS = re.compile(rf"{_WORD}(?:[ /·*-]+\(?{_WORD}\)?)*")
# "km/h" and "miles per hour".
_DIVIDER = re.compile(r"\s*/\s*| per ")
# A unit and its power.
_PART = re.compile(r"([A-Za-zµΩ€£¥₹]+)(?:\s?\^\{?\s?(-?[1-3])\s?\}?)?")
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}


def unit_of(text: str) -> str | None:
    r"""Return the unit in `text`: "" if it is empty, ``?apples`` for other words, None for more than a unit."""
    if not text or text.isspace():
        return ""
    if "".join(text.split()) == "^{\\circ}":
        return "degree"
    spelled = "\\text" in text
    text = _FRACTION.sub(r"\1/\2", text)
    words = _REMARK.sub("", _TEMPERATURE.sub(_temperature, _TEXT.sub(r"\1", text)))
    if not words.strip():
        return ""
    if _MAGNITUDE.fullmatch(text) or (_FACTOR.search(text) and "{\\circ}" not in text):
        return None
    words = replaced(words, _SPELLED).strip()
    lower = words.lower()
    if not _WORDS.fullmatch(words) or not _CHANGING.isdisjoint(
        re.split(r"[ /^*·-]+", lower.replace("squared", "").replace("cubed", ""))
    ):
        return None
    if lower.startswith(("squared", "cubed", "per ")) or _MILLIONS.search(lower):
        return None
    unit = _canonical(words)
    if spelled:
        return unit
    # Letters next to a number are variables: 5ab, 5 x. Known units are allowed there, and longer words after a space.
    joined = not text[0].isspace()
    if "?" in unit and (joined or _SHORT_WORD.search(words)):
        return None
    is_letter = len(words) == 1 and words.isascii() and (joined or (words.isalpha() and words not in _LETTERS))
    return None if is_letter else unit


def _temperature(match: re.Match[str]) -> str:
    return " celsius" if match[1] == "C" or match[0] == "℃" else " fahrenheit"


# Arbitrary: the size only bounds memory.
@lru_cache(maxsize=4_096)
def _canonical(words: str) -> str:
    powers: Counter[str] = Counter()
    for position, part in enumerate(_DIVIDER.split(words)):
        for name, power in _product(part.strip("() ")).items():
            powers[name] += -power if position else power
    above = [_powered(name, power) for name, power in sorted(powers.items()) if power > 0]
    below = [_powered(name, -power) for name, power in sorted(powers.items()) if power < 0]
    return "/".join(["*".join(above), *below])


def _powered(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


def _product(part: str) -> dict[str, int]:
    """Return a map from units to powers for a product of units. Words that are not units become a single name."""
    powers: Counter[str] = Counter()
    following, name = 1, ""
    for word, exponent in _PART.findall(part):
        if word.lower() in ("square", "sq", "cubic", "cu"):
            following = _POWERS[word.lower()]
        elif word.lower() in ("squared", "cubed") and powers:
            powers[name] *= _POWERS[word.lower()]
        elif word == "ms" and exponent[:1] == "-":  # "m s^{-1}" without the space
            powers["meter"] += 1
            powers["second"] += int(exponent)
        elif name := _known(word):
            powers[name] += int(exponent or following)
            following = 1
        else:
            power = re.search(r"\^\{?\s?(-?[1-3])", part)
            words = " ".join(
                _known(other) or _singular(other.lower())
                for other, _ in _PART.findall(part)
                if other.lower() not in _POWERS
            )
            return {f"?{words}": int(power[1]) if power else following}
    return dict(powers)


def _known(word: str) -> str:
    return _SYMBOLS.get(word) or _NAMES.get(word.lower()) or _NAMES.get(word.lower().removesuffix("s"), "")


def _singular(word: str) -> str:
    return (
        re.sub(r"ies$", "y", word)
        # The singular of "pies" and "ties" does not end in "y".
        if len(word) > 4 and word.endswith("ies")
        else re.sub(r"(?<=..x|.ch|.sh|.ss)es$|(?<=..[^s])s$", "", word)
    )


def differ(left: str, right: str, formulas: str = "") -> bool:
    """Return whether two units are given and different. Multiples of pi without a unit also differ from degrees."""
    if "\\pi" in formulas and {left, right} == {"", "degree"}:
        return True
    # Names of units, and the signs and powers between them.
    first, second = (re.findall(r"[a-zA-Zµ-]+|[/^0-9]+", unit) for unit in (left, right))
    if _changing(first) != _changing(second):
        return True
    if first == second or not first or not second:
        return False
    powers = [[part for part in parts if part[0] == "^"] for parts in (first, second)]
    if any(
        parts[0] == "unit" and len(parts) == 1 + len(exponents)
        for parts, exponents in zip((first, second), powers, strict=True)
    ):
        return powers[0] != powers[1]  # "5 square units" names only a power
    if "?" not in left + right:
        return True
    short, long = sorted((first, second), key=len)
    is_named = any(_known(word) for word in long)
    return long[: len(short)] != short and (is_named or long[-len(short) :] != short)


def _changing(parts: list[str]) -> set[str]:
    return set(parts) & _PROPERTIES | set(parts[:1]) & _LEADING


def clash(units: Iterable[str], other_units: Iterable[str]) -> bool:
    """Return whether two relations have different units: ``n \\ge 3 \\text{ odd}`` and ``n \\ge 3 \\text{ even}``."""
    return differ("*".join(filter(None, units)), "*".join(filter(None, other_units)))


# "\text{ cm}^{2}", "\text{m}/\text{s}" or "^{\circ}" at the end of a formula.
_LAST_UNIT = re.compile(
    r"(?:\s*(?:\\mu\s*)?\\text\s*\{[^{}]*\}(?:\^\{-?[1-3]\})?(?:\s*(?:[-/]|\\cdot)?\s*\\text\s*\{[^{}]*\}(?:\^\{-?[1-3]\})?){0,3}|\s*\^\{\\circ\}(?:\s*[CF])?)$"
)
# In "\sin 30^{\circ}", the degrees belong to the angle, not to the value.
_TRIGONOMETRIC = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![A-Za-z])")


def without_unit(cleaned: str) -> tuple[str, str]:
    r"""Split a text into the formula and its unit: ``2\pi`` and ``centimeter`` for ``2\pi \text{ cm}``."""
    last = _LAST_UNIT.search(cleaned)
    if last and "circ" in last[0] and _TRIGONOMETRIC.search(cleaned):
        return cleaned, ""  # the degrees belong to the angle
    unit = unit_of(last[0]) if last and last.start() else None
    return (cleaned[: last.start()].rstrip(), unit) if last and unit else (cleaned, "")
