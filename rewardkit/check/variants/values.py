r"""Values: the exact value of a number in a text, in notations such as ``1 1/2``, ``\frac{3}{2}``, and ``1½``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

# "\frac{3}{5}", with a sign before it unless a number comes before the sign.
_LATEX = re.compile(r"((?<![\w)}])[-+\u2212])?\\[dt]?frac\s*\{\s*(-?\d{1,9})\s*\}\s*\{\s*(\d{1,9})\s*\}")
# "1 1/2", "3/4", "1,234.5" and "50%"; not the parts of "1.2.3" or "v2".
_WRITTEN = re.compile(
    r"(?<![\w./])[-+\u2212]?(?:(?P<whole>\d{1,9})\s+)?(?P<over>\d{1,9})\s?/\s?(?P<under>\d{1,9})(?![\w/]|\.\d)"
    r"|(?<![\w./])[-+\u2212]?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,18}(?:\.\d{1,18})?)(?P<percent>\s?%)?(?![\w]|\.\d)"
)
_LONGEST = 10_000
"""The maximum number of characters to read. Arbitrary: a text is read for each pair that is compared, and answers
are short."""


def values_in(text: str) -> Iterator[Fraction]:
    """Yield the numbers in a text. A number with a percent sign is also yielded divided by 100."""
    for match in _WRITTEN.finditer(_plain(text[:_LONGEST])):
        sign = -1 if match.group()[0] in "-\u2212" else 1
        if match["over"]:
            if int(match["under"]):
                yield sign * (int(match["whole"] or 0) + Fraction(int(match["over"]), int(match["under"])))
            continue
        number = sign * Fraction(match["number"].replace(",", ""))
        yield number
        if match["percent"]:
            yield number / 100


def value_of(text: str) -> Fraction | None:
    """Return the value of a text that is a number, or None for other texts."""
    plain = _plain(text[:_LONGEST]).strip().strip("$").strip()
    match = _WRITTEN.fullmatch(plain)
    return next(values_in(plain), None) if match is not None and not match["percent"] else None


def _plain(text: str) -> str:
    """Return `text` with its LaTeX fractions, fraction characters, and LaTeX commas in plain notation."""
    text = "".join(map(_character, text)).replace("{,}", ",").replace("\u2044", "/")
    return _LATEX.sub(r" \1\2/\3 ", text)


def _character(character: str) -> str:
    if character.isascii():
        return character
    numerator, slash, denominator = unicodedata.normalize("NFKC", character).partition("\u2044")
    is_fraction = slash and numerator.isdigit() and denominator.isdigit()
    return f"\\frac{{{numerator}}}{{{denominator}}}" if is_fraction else character
