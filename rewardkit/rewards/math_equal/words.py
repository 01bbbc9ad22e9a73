r"""Answers in words: ``\text{(C)}`` is ``c``, ``the derivative`` is ``derivative``, ``3:30 pm`` is ``15:30``."""

from __future__ import annotations

import re

from rewardkit.rewards.math_equal.grammar import is_product
from rewardkit.rewards.math_equal.notation import compact

MAX_WORDS = 4
"""The most words of a gold answer that is not in ``\\text{}``. Sentences can be said in too many ways."""

MISSING = frozenset(("nan", "nat", "null", "<na>", "n/a"))

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_CHOICE = re.compile(r"\(?\s*([A-Za-z])\s*[.)]?\s*\)?")
_OPTIONS = frozenset("ABCDEFGHIJ")
_LONG_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}")
_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=[a-z]{2})")
_LISTED = re.compile(r"\s*(?:,\s*and\b|,|\band\b)\s*")
_BASED = re.compile(r"(-?[0-9A-Za-z]+)_\{([0-9]+)\}")
_CLOCK = re.compile(
    r"(?:\\text\s*\{\s*)?([01]?[0-9]|2[0-4]):([0-5][0-9])(?::([0-5][0-9]))?\s*(?:\}|\\text\s*\{)?\s*(?:([ap])\.?\s*m\.?)?\s*\}?",
    re.IGNORECASE,
)
_NOTATION = re.compile(
    r"\\(?:forall|exists|to|Rightarrow|Leftrightarrow|wedge|vee|neg|equiv|perp|parallel|angle|triangle|sim|cong|subset|"
    r"subseteq|mathbb|circ|sum|prod|int|lim|mapsto|leftrightarrow|vec|begin|frac\{d)(?![A-Za-z])|[A-Za-z]'|[A-Z]{2}|:"
)
_DENIAL = re.compile(
    r"\b(?:not|isn|aren|doesn|never|neither|nor|no|cannot|wrong|incorrect|false|untrue|except|excluding|without|unless|"
    r"too (?:many|few|much|little|big|small|large|high|low)|versus|vs|alternatively|o)\b"
    r"|(?<=[\d})])\s*\\text\s*\{\s*[a-z]+(?:ed|ly|[ai]ble)\s*\}",
    re.IGNORECASE,
)
"""What takes an answer back, or names another one. A single word like "rejected" or "allegedly" counts nothing."""

_SAME = (
    ("\\infty", "infinitely many", "infinite"), ("\\emptyset", "no solution", "no solutions", "none"),
    ("does not exist", "dne"),
)  # fmt: skip
_SYNONYMS = {word: group for group in _SAME for word in group} | {"true": ("t", "T"), "false": ("f", "F")}


def spelled(cleaned: str) -> str:
    """Return words in one spelling."""
    text = _TEXT.sub(r"\1", cleaned).strip(' ."`*')
    if choice := _CHOICE.fullmatch(text):
        return choice[1]
    words = " ".join(text.casefold().split())
    return _LISTED.sub(", ", _ARTICLE.sub("", words))


def plain(cleaned: str) -> str:
    """Return a text without ``\\text{}`` and without spaces that mean nothing: ``300 K`` for ``300\\text{ K}``."""
    return compact(" ".join(_TEXT.sub(r" \1 ", cleaned).split()))


def spellings(cleaned: str) -> tuple[tuple[str, ...], bool]:
    """Return the accepted spellings of an answer in words, and whether it can only be words."""
    if (based := _BASED.fullmatch(cleaned)) and _is_in_base(based[1], int(based[2])):
        return (cleaned.casefold(), based[1].casefold()), True
    said = spelled(cleaned)
    if said.upper() in _OPTIONS and (said.isupper() or "(" in cleaned):
        return (said.lower(), said.upper()), True  # the letter of an option; c alone is a variable, and not C
    if cleaned in _SYNONYMS and cleaned.startswith("\\"):
        return _SYNONYMS[cleaned], False
    if "\\text" in cleaned and not _TEXT.sub("", cleaned).strip(" .()"):
        return (said, *_SYNONYMS.get(said, ())), True
    if _CHOICE.fullmatch(cleaned):
        return (said,), True
    if is_prose(cleaned):
        return (said, *_SYNONYMS.get(said, ())), True
    return (), False


def _is_in_base(digits: str, base: int) -> bool:
    """Return whether it is a number in that base, such as ``1011_2``; ``a_1`` is a name."""
    digits = digits.removeprefix("-")
    return 1 < base <= 36 and any(map(str.isdigit, digits)) and all(int(digit, 36) < base for digit in digits)


def is_prose(cleaned: str) -> bool:
    """Return whether a text is words rather than a formula: ``line segment``, not ``xyz``."""
    bare = _TEXT.sub(" ", _COMMAND.sub(" ", cleaned.replace("\\text", "\\text ")))
    words = _LONG_WORD.findall(bare)
    return any(not is_product(word) for word in words) and not re.search(r"[=<>^_\\+]|\d", cleaned)


def denials(cleaned: str) -> set[str]:
    """Return the words with which a text denies something."""
    return {word.lower() for word in _DENIAL.findall(cleaned)}


def as_written_only(cleaned: str) -> bool:
    """Return whether a text has notation that only means something as a whole: ``p \\to q``, ``\\angle ABC``."""
    return _NOTATION.search(cleaned) is not None


def clock(cleaned: str) -> tuple[int, int, int, str] | None:
    """Return a time of day as hours, minutes, seconds and "a" or "p" or ""; None for other texts."""
    match = _CLOCK.fullmatch(cleaned)
    if match is None:
        return None
    hours, half = int(match[1]), (match[4] or "").lower()
    if half and hours > 12:
        return None
    return hours, int(match[2]), int(match[3] or 0), half


def same_clock(gold: tuple[int, int, int, str], answer: tuple[int, int, int, str]) -> bool:
    """Return whether two times are the same; a.m. or p.m. may be missing."""
    if gold[3] and answer[3]:
        return gold == answer
    if not (gold[3] or answer[3]):
        return gold == answer
    return gold[:3] == answer[:3] or _full(gold) == _full(answer)


def _full(time: tuple[int, int, int, str]) -> tuple[int, int, int]:
    hours = time[0] % 12 + 12 * (time[3] == "p") if time[3] else time[0]
    return hours, time[1], time[2]
