r"""Read a number from text: ``NumberText(thousands=True).read("$12{,}000$") == Decimal(12000)``.

The text must be one number in ASCII decimal or scientific notation, with any markup that does not change its value
(``$42$``, ``\(42\)``, ``**42**``, ``\text{42}``, ``(42)``, ``42.``) and with or without a currency (``$42``, ``42 €``).
``3½``, ``3/5``, ``\frac{3}{5}``, and ``42 million`` are also numbers, but ``84/2`` is not, because it still has to be
divided. A percent sign and other units must be allowed explicitly. ``(1,000)`` is read as a pair, never as a thousand.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from rewardkit.errors import shorten
from rewardkit.text.visibility import beyond_ascii, has_visible_character, replaced, shown

MAX_CHARACTERS = 400
"""The maximum length of a text that is read as a number. Arbitrary: answers are shorter, and `int` and `Fraction`
take time quadratic in the number of digits."""
_EXACT = Context(prec=2 * MAX_CHARACTERS)
# A text for which units= may be missing, to give a hint: "42 apples" and "about 42".
_WITH_UNIT = re.compile(r"[+-]?[^\W\d]{0,20}[$\u20ac\xa3\xa5]?\s?\d[\d.,]{0,30}\s?[^\W\d]{0,20}")
# Most answers are plain numbers: they are read without a search for markup.
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)

Exact = Decimal | Fraction
"""An exact number. The two types compare exactly with each other. Most numbers are read as decimals, which is much
faster."""


def value_pattern(grouped: str) -> str:
    """Return the ``re.VERBOSE`` pattern for an unsigned number. `value_of` reads its matches.

    Args:
        grouped: the pattern for an integer with separators between groups of digits.
    """
    return rf"""(?:
        (?:(?P<whole>[0-9]+)\s*)? \\frac \{{\s*(?P<top>[+-]?\s*[0-9]+)\s*\}} \{{\s*(?P<bottom>[+-]?\s*[0-9]+)\s*\}}
      | (?:(?P<whole_>[0-9]+)\s+)? (?P<top_>-?[0-9]+)\s*/\s*(?P<bottom_>[0-9]+)
      | (?P<before>[0-9]*)\.(?P<after>[0-9]*)\\overline\{{(?P<period>[0-9]+)\}}
      | (?P<decimal>(?:{grouped}|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)
        (?:e(?P<e>[+-]?[0-9]{{1,3}})(?![0-9])|\s*(?:\\times|\\cdot|\*)\s*10\s*\^\{{\s*(?P<power>[+-]?[0-9]{{1,3}})\s*\}})?
    )"""


def value_of(match: re.Match[str]) -> Fraction | None:
    """Return the value of a `value_pattern` match, or None for ``1/0`` and for ``2 3/2``, which is not a number."""
    if top := match["top"] or match["top_"]:
        bottom = int((match["bottom"] or match["bottom_"]).replace(" ", ""))
        if bottom == 0:
            return None
        fraction = Fraction(int(top.replace(" ", "")), bottom)
        integer = match["whole"] or match["whole_"]
        if not integer:
            return fraction
        return int(integer) + fraction if 0 < fraction < 1 else None
    if period := match["period"]:
        before, after = match["before"] or "0", match["after"]
        repeated = Fraction(int(period), 10 ** len(after) * (10 ** len(period) - 1))
        return Fraction(f"{before}.{after or 0}") + repeated
    digits = match["decimal"].replace(",", "").replace(" ", "")
    exponent = int(match["e"] or match["power"] or 0)
    digits = digits.removesuffix(".")
    value = Fraction(int(digits)) if digits.isdecimal() else Fraction(Decimal(digits))  # twice as fast as from text
    return value * Fraction(10) ** exponent if exponent else value


def number_text(number: Exact) -> str:
    """Return a number as a decimal without an exponent if that is exact, else as a fraction: ``0.5``, but ``1/3``."""
    value = Fraction(number)
    decimal = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(decimal, "f") if Fraction(decimal) == value else str(value)


# Commas between thousands or, as in India, between thousands, lakhs and crores. "0,125" does not match, as it is a
# decimal fraction in most of Europe.
_NUMBER = re.compile(
    value_pattern(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?![0-9,])"),
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
# "1,000" and "1,00,000", but also "1,2,3", for an error message about the commas.
_WITH_COMMAS = re.compile(r"\d+(?:,\d+)+(?:\.\d*)?(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
# Apostrophes or spaces between thousands, as in Switzerland and France: "1'000", "1 000"; not "12 3456" or "1 000,5",
# whose comma may be a decimal comma.
_OTHER_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:['\u2019]\d{3})+|(?:[ \xa0\u2009\u202f]\d{3})+)(?![\d,'\u2019])")
_GROUP_MARK = re.compile(r"['\u2019 \xa0\u2009\u202f]")
_OTHER_DIGITS = re.compile(r"\d+")
_ARABIC_MARKS = {"٫": ".", "٬": ","}
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Words for powers of ten, and their exponents."""
# A scale word at the end, after a number or its closing mark: "3 million" and "3½ billion".
_SCALE = re.compile(rf"(?<=[\d.½¼¾*$ ])\s*({'|'.join(SCALES)})\Z", re.IGNORECASE)
_VULGAR = re.compile(r"\A(\d*) ?([½¼¾⅕⅖⅗⅘⅛⅜⅝⅞])\Z", re.ASCII)
"""The fraction characters that have a finite decimal expansion, unlike ⅓."""
_SIGNS = "$€£₤¥₹₽₩₪₫₺₦₱"
_CURRENCIES = frozenset(_SIGNS)
CURRENCY_CODES = "USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|NZD|HKD|SGD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|BRL|MXN|ZAR|KRW"
# A currency before a number: "US$ 5", "EUR 5", "Rs. 5"; codes count only before a digit, so that "EUR" alone does not.
CURRENCY = rf"(?:(?:US|CA|A|NZ|HK|S|R|C)?\$|[{_SIGNS[1:]}]|(?:{CURRENCY_CODES}|R[Ms]\.?)(?: |\\,)?(?=\d))"
_CURRENCY_BEFORE = re.compile(CURRENCY)
# A currency after a number: "42 €", "42 USD", "42元".
_CURRENCY_AFTER = re.compile(rf"\s?(?:[{_SIGNS}元円]|{CURRENCY_CODES})\Z")
# A LaTeX fraction: "\frac{3}{5}" and "\frac35"; not "\frac351", which is \frac{3}{5} times 1.
_FRACTION_COMMAND = re.compile(
    r"\s?\\[dtc]?frac\s?(?:\{\s?(-?\d{1,30})\s?\}|(\d))\s?(?:\{\s?(\d{1,30})\s?\}|(\d))(?!\s?\d)", re.ASCII
)
# Symbols between digits: "1", a zero-width space and "2" are neither 12 nor 1 and 2.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[^\w\s!-~]{1,20}(?=\d)")
_WIDE = dict(zip("０１２３４５６７８９．％＋－٪⁄∕", "0123456789.%+-%//", strict=True))
_DRESS = (
    ("(", ")"), ("**", "**"), ("*", "*"), ("`", "`"), ("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"),
    ("{", "}"), ("(", ")"),
)  # fmt: skip
# Commands that only change the font: "\text{42}".
_COMMAND = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|mathit|mbox|boldsymbol)\{([^{}]*)\}")
# Commands without braces, which only set the size or the font.
_STYLE = re.compile(r"\\(?:displaystyle|textstyle|bf|rm|it|bfseries)(?![A-Za-z])")
# "1{,}000" and "1,\!000": the braces keep LaTeX from adding a space after the comma.
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}(?:\\!)?|,\\!|\\,)(?=\d)", re.ASCII)
# LaTeX spaces of any width.
_LATEX_SPACE = re.compile(r"\\[,;:!> ]|\\q?quad(?![A-Za-z])|~")
# A power of ten: "4 \times 10^{3}", "4 x 10^3", "4×10³"; not "4 x 10", which has no exponent.
_TIMES_TEN = re.compile(
    r"(?<=\d)\s*(?:\\times|\\cdot|[×·⋅*x])\s*10\s*(?:\^\s*(?:\{\s*([+-]?\d+)\s*\}|([+-]?\d+))|([⁻⁰¹²³⁴-⁹]+))(?!\s?\d)",
    re.ASCII,
)
_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_NAME = re.compile(
    r"\A(?:[A-Za-z]{1,2}|\\(?:(?:var)?(?:epsilon|theta|phi|rho|sigma)|alpha|beta|[gG]amma|[dD]elta|zeta|eta|Theta|"
    r"iota|kappa|[lL]ambda|mu|nu|[xX]i|Sigma|tau|[uU]psilon|Phi|chi|[pP]si|[oO]mega|ell))"
    r"(?:_(?:[A-Za-z0-9]+|\{[A-Za-z0-9]+\}))?\s*=(?!=)\s*"
)
"""A variable before its value: x = 42, AB_1 = 42, \\theta = 42. In 6*7 = 42 and 2x = 42, it does not match."""


@dataclass(frozen=True)
class NumberText:
    """A reader for one number. It accepts ``1,000``, ``45%``, and units other than currencies only if they are allowed.

    Attributes:
        thousands: True if commas may separate thousands.
        percent: True if a percent sign is allowed. It divides the number by 100.
        units: (text, factor) for each unit that may come before or after the number, the longest text first.
    """

    thousands: bool = True
    percent: bool = False
    units: tuple[tuple[str, Fraction], ...] = ()

    def read(self, text: str) -> Exact | str:
        """Return the number in `text`, or a message that explains why there is none."""
        text = text.strip().removesuffix(".")
        if len(text) > MAX_CHARACTERS:
            return f"longer than {MAX_CHARACTERS} characters"
        if _PLAIN.fullmatch(text):
            return Decimal(text)
        sign, bare, factor, percent = self._divided(self._regrouped(plain_digits(text)))
        if "frac" in bare:
            bare = _FRACTION_COMMAND.sub(r" \1\2/\3\4", bare).strip()
        elif not bare.isascii():
            bare = _VULGAR.sub(_quotient, bare).strip()
        match = _NUMBER.fullmatch(bare)
        if "," in bare and _WITH_COMMAS.fullmatch(bare):
            if not self.thousands:
                return f"{shorten(text, 60)} has thousands separators. Allow them with thousands=True"
            if match is None:
                return f"{shorten(text, 60)} has commas that do not separate thousands"
        value = value_of(match) if match else None
        is_quotient = match is not None and match["decimal"] is None
        if value is None or (is_quotient and percent):
            hint = ". Allow a unit with units=[...]" if _WITH_UNIT.fullmatch(_without_latex(text)) else ""
            return f"{shorten(text, 60)} is not a number{hint}"
        if is_quotient and value.denominator == 1:
            return f"{shorten(text, 60)} must still be divided"
        if percent and not self.percent:
            return f"{shorten(text, 60)} is a percentage. Allow it with percent=True"
        if factor != 1 or percent:
            value *= factor / 100 if percent else factor
        return -value if sign == "-" else value

    def _divided(self, text: str) -> tuple[str, str, Fraction, bool]:
        """Return (sign, number, unit factor, whether it is a percentage), all without markup."""
        sign, bare = _signed(_NAME.sub("", _undressed(_without_latex(text)), count=1))
        if bare.endswith("%"):
            return *_joined(sign, bare[:-1].rstrip(" \\")), Fraction(1), True
        factor = Fraction(1)
        for unit, unit_factor in self.units:
            if bare.endswith(unit):
                sign, bare, factor = *_joined(sign, bare[: -len(unit)].rstrip(" ~\\")), unit_factor
                break
            if bare.startswith(unit):
                sign, bare, factor = *_joined(sign, bare[len(unit) :].lstrip()), unit_factor
                break
        if not any(unit in _CURRENCIES for unit, _ in self.units):  # else only listed currencies count
            if currency := _CURRENCY_BEFORE.match(bare):
                sign, bare = _joined(sign, bare[currency.end() :].lstrip())
            elif currency := _CURRENCY_AFTER.search(bare):
                sign, bare = _joined(sign, bare[: currency.start()])
        if scale := _SCALE.search(bare):
            sign, bare = _joined(sign, bare[: scale.start()].rstrip())
            factor *= 10 ** SCALES[scale[1].lower()]
        return sign, bare, factor, False

    def _regrouped(self, text: str) -> str:
        """Return `text` with commas instead of apostrophes or spaces between thousands, if separators are allowed."""
        if not self.thousands:
            return text
        return _OTHER_GROUPS.sub(lambda match: _GROUP_MARK.sub(",", match[0]), text)


def _quotient(match: re.Match[str]) -> str:
    """Return the quotient for a match of `_VULGAR`: ``3 1/2`` for ``3½``."""
    value = Fraction(unicodedata.numeric(match[2])).limit_denominator(10)
    return f"{match[1]} {value}"


def plain_digits(text: str) -> str:
    """Return `text` without invisible characters, and with ASCII digits instead of those of other scripts.

    Between digits, invisible characters become "_", so that the digits are read neither as one number nor as two.
    """
    if text.isascii():
        return text
    text = replaced(shown(_BETWEEN_DIGITS.sub(_marked_if_hidden, text)), _WIDE)
    if any(character.isdecimal() for character in beyond_ascii(text)):
        text = _OTHER_DIGITS.sub(_in_ascii, replaced(text, _ARABIC_MARKS))
    return text


def _in_ascii(match: re.Match[str]) -> str:
    """Return digits of one script (১২, ٤٢, ๑๒) as ASCII digits. If scripts are mixed, "_" makes them unreadable."""
    zeros = {ord(digit) - unicodedata.decimal(digit) for digit in match[0]}
    return "".join(str(unicodedata.decimal(digit)) for digit in match[0]) if len(zeros) == 1 else "_".join(match[0])


def _marked_if_hidden(match: re.Match[str]) -> str:
    return match[0] if has_visible_character(match[0]) else "_"


def _signed(text: str) -> tuple[str, str]:
    """Return (sign, `text` without the sign and markup): ``("-", "42")`` for ``-$42$``."""
    return (text[0], _undressed(text[1:].lstrip())) if text[:1] in ("+", "-") else ("", text)


def _joined(sign: str, text: str) -> tuple[str, str]:
    """Return (sign, text) without the markup left behind by a unit (``**18** dollars``), which may contain the sign."""
    inner, bare = ("", _undressed(text)) if sign else _signed(_undressed(text))
    return sign or inner, bare


def _undressed(text: str) -> str:
    """Return `text` without any surrounding markup that does not change the value."""
    for left, right in _DRESS:
        while text.startswith(left) and text.endswith(right) and len(text) > len(left) + len(right):
            if left == "(" and "," in text:
                return text  # (1,000) is a pair
            text = text[len(left) : -len(right)].strip()
    return text.removesuffix(".")


def _without_latex(text: str) -> str:
    """Return `text` in plain notation: ``1{,}000\\,\\text{km}`` is ``1,000 km``, ``4 \\times 10^{3}`` is ``4e3``."""
    text = text.replace("\u2212", "-").replace("\u2013", "-").replace("\xa0", " ")  # typographic minus signs
    if "\\" in text or "{" in text:
        text = _LATEX_COMMA.sub(",", text)
        text = _STYLE.sub(" ", _LATEX_SPACE.sub(" ", _COMMAND.sub(r" \1", text)))
        text = text.replace("\\%", "%").replace("\\$", "$").strip()
    if "10" in text:
        text = _TIMES_TEN.sub(_exponent, text, count=1)
    return text


def _exponent(match: re.Match[str]) -> str:
    return "e" + (match[1] or match[2] or match[3].translate(_SUPERSCRIPT))
