r"""Text to number: ``NumberText(thousands=True).read("$12{,}000$") == Decimal(12000)``.

One number and nothing else: ASCII decimal or scientific notation, in any dress that does not change its value
(``$42$``, ``\(42\)``, ``**42**``, ``\text{42}``, ``42.``). What else may stand there is said explicitly: thousands
separators, a percent sign, units.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal

from rewardkit.core.errors import shorten

MAX_CHARACTERS = 400
_EXACT = Context(prec=2 * MAX_CHARACTERS)
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_NUMBER = re.compile(r"([+-]?)(\d+(?:,\d+)*)?(\.\d*)?(?:[eE]([+-]?\d{1,3}))?(%?)", re.ASCII)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+", re.ASCII)
_DRESS = (("**", "**"), ("`", "`"), ("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))
_COMMAND = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}")
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}(?:\\!)?|,\\!)(?=\d)", re.ASCII)
_TIMES_TEN = re.compile(r"(?<=\d)\s*(?:\\times|\\cdot|×|\*)\s*10\s*\^\s*(?:\{([+-]?\d+)\}|([+-]?\d+))", re.ASCII)


@dataclass(frozen=True)
class NumberText:
    """Reads one number; ``1,000``, ``45%`` and units only where they are allowed.

    Attributes:
        thousands: commas may separate thousands.
        percent: a percent sign divides by 100.
        units: text that may stand before or after the number, and what it multiplies by; longest first.
    """

    thousands: bool = False
    percent: bool = False
    units: tuple[tuple[str, Decimal], ...] = ()

    def read(self, text: str) -> Decimal | str:
        """The number, or why there is none."""
        text = text.strip().removesuffix(".")
        if len(text) > MAX_CHARACTERS:
            return f"longer than {MAX_CHARACTERS} characters"
        if _PLAIN.fullmatch(text):
            return Decimal(text)
        bare, factor = self._without_unit(_undressed(text))
        sign, whole, fraction, exponent, percent = self._parts(bare)
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
        # Division by 100 would round to the 28 digits of Python's decimal context.
        number = Decimal(f"{sign}{whole}{fraction}e{int(exponent or 0) - (2 if percent else 0)}")
        return number if factor == 1 else _EXACT.multiply(number, factor)

    def _without_unit(self, text: str) -> tuple[str, Decimal]:
        for unit, factor in self.units:
            if text.endswith(unit):
                return text[: -len(unit)].rstrip(" ~\\"), factor
            sign = text[:1] if text[:1] in "+-" else ""
            if text.startswith(unit, len(sign)):
                return sign + text[len(sign) + len(unit) :].lstrip(), factor
        return text, Decimal(1)

    def _parts(self, text: str) -> tuple[str, str, str, str, str]:
        match = _NUMBER.fullmatch(text)
        if match is None:
            return "", "", "", "", ""
        sign, whole, fraction, exponent, percent = match.groups(default="")
        return sign, whole, fraction, exponent, percent


def _undressed(text: str) -> str:
    """`text` without what makes it look nice and changes no value."""
    for left, right in _DRESS:
        if text.startswith(left) and text.endswith(right) and len(text) > len(left) + len(right):
            text = text[len(left) : -len(right)].strip()
    text = text.replace("\u2212", "-")  # the minus sign of typography
    if "\\" in text or "{" in text:
        text = _COMMAND.sub(r" \1", text).replace("\\%", "%").replace("\\$", "$").strip()
        text = _LATEX_COMMA.sub(",", text)
    if "^" in text:
        text = _TIMES_TEN.sub(lambda match: f"e{match[1] or match[2]}", text, count=1)
    return text.removesuffix(".")
