r"""Refuse dangerous input before parsing it: ``refusal("9^{9^{9^{9}}}")`` is "has a tower of powers".

Computer algebra would try to evaluate such input, however long that takes. The worker's time and memory limits stop
it, too, but a killed worker costs seconds; this check costs microseconds.
"""

from __future__ import annotations

import re
from math import prod

MAX_CHARACTERS = 500
MAX_DEPTH = 12
MAX_DIGITS = 100
MAX_EXPONENT = 1_000
TOO_HIGH = f"has a power of more than {MAX_EXPONENT:,}"
TOWER = "has a tower of powers"
MAX_POWERS_OF_POWERS = 10_000
MAX_FACTORIAL = 100

_LONG_NUMBER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
_TOWER = re.compile(r"\^\{[^{}]*\}\s*\^|\^\{[^{}A-Za-z]*\^|\^\{[^{}]*\^\{[^{}]*\^|\^\s*[^{\\\s]")
_SMALL_TOWER = re.compile(r"(?<=\^\{)\s*([0-9]{1,4})\s*\^\s*\{\s*([0-9]{1,3})\s*\}\s*(?=\})")
_EXPONENT = re.compile(r"\^\s*\{([^{}^]*)")
_POWER_OF_GROUP = re.compile(r"[)}\]|]\s*\^\s*\{\s*([0-9]{1,4})\s*\}")
_NUMBER = re.compile(r"[0-9]+")
_FACTORIAL = re.compile(r"([0-9]*)\s*!")
_BEFORE_FACTORIAL = re.compile(r"(?:[A-Za-z0-9]|[A-Za-z][^A-Za-z]{0,9}\))\s*$")
# An answer may leave these unevaluated only if the gold answer does.
_UNFINISHED = re.compile(
    r"\\(?:begin\{vmatrix\}|(?:sum|prod|coprod|i*nt|oint|lim|limsup|liminf|[dt]?binom|choose|det|gcd|lcm|max|min|sup|inf"
    r"|p?mod|lfloor|lceil|partial|nabla|approx|sim|cong|propto|div|arg|Re|Im)(?![A-Za-z])"
    r"|text\s*\{\s*(?:gcd|lcm|mod|rank|tr|trace|arg|Re|Im)\s*\})|!"
)

_OF_LETTERS = re.compile(
    r"\\binom\{[^{}]*[A-Za-z][^{}]*\}\{[^{}]*\}|(?:(?<![A-Za-z0-9])[A-Za-z]|\([^()]*[A-Za-z][^()]*\))\s*!"
)
"""What counts things of which there are n has no value that could be written out."""

_COUNTING = ("!", "\\binom")
"""Factorials and binomials are written with each other."""


def refusal(cleaned: str, gold: str | None = None) -> str | None:
    """Return why a cleaned text must not be parsed; None if it may be.

    Args:
        gold: for an answer, the gold answer: the answer may leave unevaluated what the gold answer does.
    """
    if len(cleaned) > MAX_CHARACTERS:
        return f"is longer than {MAX_CHARACTERS} characters"
    if not (cleaned.isascii() and cleaned.isprintable()):
        return "has characters that are not mathematics"
    if _depth(cleaned) > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if _LONG_NUMBER.search(cleaned):
        return f"has a number of more than {MAX_DIGITS} digits"
    cleaned = _without_small_towers(cleaned)
    if _TOWER.search(cleaned):
        return TOWER
    exponents = _NUMBER.findall(" ".join(_EXPONENT.findall(cleaned)))
    if any(int(exponent) > MAX_EXPONENT for exponent in exponents):
        return TOO_HIGH
    if prod(max(1, int(power)) for power in _POWER_OF_GROUP.findall(cleaned)) > MAX_POWERS_OF_POWERS:
        return "has powers of powers"
    if any(not _small_factorial(cleaned, match) for match in _FACTORIAL.finditer(cleaned)):
        return f"has a factorial of a number that may be above {MAX_FACTORIAL}"
    if gold is not None:
        for unfinished in _UNFINISHED.findall(_OF_LETTERS.sub("", cleaned)):
            counted = unfinished in _COUNTING and any(sign in gold for sign in _COUNTING)
            if unfinished not in gold and not counted:
                return f"has {unfinished}, which still has to be evaluated"
    return None


def _without_small_towers(text: str) -> str:
    """Return `text` with the value of a small power in an exponent: ``2^{8}`` for ``2^{2^{3}}``."""
    for _ in range(MAX_DEPTH if "^" in text else 0):
        smaller = _SMALL_TOWER.sub(_evaluated, text)
        if smaller == text:
            break
        text = smaller
    return text


def _evaluated(match: re.Match[str]) -> str:
    base, exponent = int(match[1]), int(match[2])
    small = base < 2 or exponent * base.bit_length() <= MAX_EXPONENT.bit_length() + base.bit_length()
    return str(base**exponent) if small and base**exponent <= MAX_EXPONENT else match[0]


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in text:
        if bracket in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _small_factorial(text: str, match: re.Match[str]) -> bool:
    """Return whether it is the factorial of a small number, a variable, or brackets like ``(n - 1)``."""
    if match[1]:
        return int(match[1]) <= MAX_FACTORIAL
    return bool(_BEFORE_FACTORIAL.search(text[max(0, match.start() - 12) : match.start()]))
