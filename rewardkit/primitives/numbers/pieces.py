r"""Cut a text into the pieces that hold digits: ``x_{10} = \sqrt{4} - 5`` has ``\sqrt{4}`` and ``- 5``.

Text that contains digits but is not a number (an index, a root, a fraction) is one piece, so that no part of it is
taken for the answer. A piece is read as a number by ``NumberText``, which refuses everything else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rewardkit.core.text.numbers import CURRENCY, CURRENCY_CODES

# 1,000 and 1{,}000, 1 000 and 1'000, 3.14, .5, 1e9, 0x2a, 3.14.15: one token, unless it starts inside a word.
_DIGITS = rf"""(?:(?:(?<![A-Za-z0-9])|(?<=\b(?:{CURRENCY_CODES})))(?<![0-9][.,])"""
_DIGITS += r"""(?:0[xXbBoO]\w+|[0-9]{1,3}(?:[\ \xa0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)|(?<![\w.])\.[0-9]+)
    (?:(?:[.,'\u2019_]|\{,\}(?:\\!)?|,\\!|\\[,;:!])[0-9]+)*(?:[eE][+-]?[0-9]+)?"""
# A hyphen after a word or a bracket is not a sign (COVID-19), but for scripts without spaces between words; a detached
# one is a sign only after "=" or "is". No number is read with a dash of another kind.
_SIGN = r"""(?:(?:(?<![\w)\]}\-])|(?<=[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]))
    [+\-\u2212\u2012-\u2015]
    |(?:(?<=[=:({$\u2248])|(?<=[=:({\u2248]\ )|(?<=\bis\ )|(?<=\*\*))[\-\u2212\u2013]\ )"""
# Sub- and superscripts: x^2, a_{10}.
_RAISED = r"(?:\{[^{}]*\}|[+\-\u2212\u2013]?\w+|\\[A-Za-z]+)?"
_SCRIPT = rf"(?:\^|(?<=[\w)\]}}])_(?=[\w{{])){_RAISED}"
# The same after a number, which makes it a power or a numeral in another base; 90^\circ stays 90. Fractions (3½) and
# marks over digits belong to the number, too.
_POWER = (
    rf"(?:\ ?(?:\^(?!\{{?\\circ)|_(?=[\w{{])){_RAISED}"
    r"|[\u2070\xb9\xb2\xb3\u207b\u2074-\u2079\u2080-\u2089\xbc-\xbe\u2150-\u215e\u0300-\u036f\u20d0-\u20ff]+)"
)
_OPERATOR = r"(?:\ ?(?:[/+\xd7\xf7\xb7\u22c5]|\\(?:times|cdot|div)(?![A-Za-z]))\ ?|\ [*x]\ |\*\*?|:)"
# Other signs of a longer expression: x/2 and √2 before the number; $5!$ (but not "It is 5!"), 2\pi and 3\sqrt{x}.
_LEFT = r"(?:(?<=[\w)}\]])/|(?<=[\w)}\]]\ )/\ |(?<=[0-9)}\]])[*\xd7\xb7\u22c5]|\\(?:times|cdot|div)\ ?|\u221a\ ?\(?)"
_RIGHT = r"(?:!(?![=\s]|\Z)|\ ?(?:[\xd7\u221a\u03c0]|\\(?:times|cdot|div|pi|sqrt|[dtc]?frac)(?![A-Za-z])))"
_FUNCTION = rf"""(?:(?:{_SIGN}?\$?{_SIGN}?(?:(?<![\w.,])[0-9]{{1,9}}\ ?)?)\\[dtc]?frac(?![A-Za-z])\ ?[0-9]{{0,2}}
    |\\(?:[dt]?binom|sqrt|exp|max|min|gcd|lcm|overline|bar|dot|lfloor|lceil|[pb]?mod
    |arc(?:sin|cos|tan)|sinh|cosh|tanh|cot|sec|csc|lg|det|dim|sum|prod|int)(?![A-Za-z])\ ?[0-9]{{0,2}}
    |\b(?:sqrt|log|ln)(?=\()
    |\\(?:log|ln|sin|cos|tan)(?![A-Za-z])(?:_(?:\w|\{{[^{{}}]*\}}))?\ ?[0-9.]*)"""
# exp(42), print(42), f(2): what a function is called with; 2(21) is a product. [1] behind a word cites something.
_CALL = r"(?<=[A-Za-z0-9)])\([\ (]*[^()\n]{0,80}\)"
_CITATION = r"""(?:(?<=\])\([^()\s]*\)|(?:(?<=[\w.,;)\]%"'*])|(?<=[\w.,;)\]%"'*]\ ))
    \[\^?[0-9]{1,3}(?:\ ?[,;\u2013-]\ ?[0-9]{1,3})*\](?!\())"""
_OTHER_DIGITS = r"(?:(?![0-9])[\d\u2460-\u249b\u2776-\u2793])+"
_LONE_FRACTION = r"[\xbc-\xbe\u2150-\u215e](?![\w/])"
# -$5, -**5**: a currency sign or emphasis between the sign and the number.
_OPENING = rf"(?:\\?{CURRENCY.replace(' ', '[ ]')}|\*\*|\\\()"
# **45**%, $45\%$, 5\text{ km}: what may close before the percent sign or the unit.
_CLOSING = r"(?:\*\*?|\$\$?|\\\)|`)?(?:[\ \t\xa0~]|\\[,;:!\ ]){0,3}(?:\\(?:text|textbf|mathrm|mbox)\{\ ?)?"
_SCALED = r"(?:hundred|thousand|million|billion|trillion)(?![A-Za-z])"
# The first characters of all of these, so that skipping the text in between is cheap.
_FIRST = "0123456789.\\\\^_+\\-\u2212\u2013/*\xd7\xb7\u22c5\u221a$\u20ac\xa3\xa5(\\["
_ARGUMENT = re.compile(r"[0-9]?(?:\[[^\[\]{}]*\]|\([^()]*\))?\ ?(?=\{)|[0-9]?(?:\([^()]*\))?")
_BRACE = re.compile(r"\\.|[{}]")
_HAS_DIGIT = re.compile(r"\d")
_PARTS = ("left", "sign", "before", "number", "right", "percent", "unit", "scaled")
_GROUPS = len(_PARTS) + 3
_NAME = re.compile(r"[A-Za-z0-9_.]{0,20}\Z")


class Piece(NamedTuple):
    """A piece at ``text[start:end]``, and the text by which ``NumberText`` reads it.

    `kind` is "number" for a number with what belongs to it, "call" for ``exp(42)`` and ``\\sqrt{2}``, or "citation".
    """

    start: int
    end: int
    found: str
    kind: str


@lru_cache(64)
def pattern_of(units: tuple[str, ...], plain: bool) -> re.Pattern[str]:
    """Return the pattern of pieces, with `units`; `plain` if the text is ASCII, in which fewer things are searched."""
    behind = [re.escape(unit) + (r"(?![\w^]|\}\^)" if unit[-1].isalpha() else "") for unit in units]
    before = [(r"(?<!\w)" if unit[0].isalpha() else "") + re.escape(unit) for unit in units]
    first = _FIRST + re.escape("".join(sorted({unit[0] for unit in units})))
    other = "" if plain else rf"|(?P<other>{_SIGN}?(?:{_OTHER_DIGITS}|{_LONE_FRACTION}))"
    more = "" if plain else r"|(?![0-9])\d|[\u2460-\u249b\u2776-\u2793\xbc-\xbe\u2150-\u215e]"
    return re.compile(
        rf"""(?=[{first}]|sqrt|log|ln{more})(?:
        (?P<function>{_FUNCTION})|(?P<call>{_CALL})|(?P<citation>{_CITATION}){other}|{_SCRIPT}
        |(?P<left>{_LEFT})?(?P<sign>{_SIGN})?(?:\\?(?P<before>{"|".join(before) or "(?!)"})\ ?|{_OPENING}\ ?)?
        (?P<number>{_SIGN}\({_DIGITS}(?:\ ?/\ ?[0-9]+)?\)
        |{_SIGN}?(?<![\w.,])[0-9]{{1,9}}\ [0-9]{{1,4}}\ ?/\ ?[0-9]{{1,4}}(?![\w/^])
        |{_SIGN}?{_DIGITS}{_POWER}?(?:{_OPERATOR}[+-]?\\?\$?{_DIGITS}{_POWER}?)*)
        (?P<right>{_RIGHT})?(?:{_CLOSING}(?:(?P<percent>\\?%|(?:per\ ?cent|pct)(?![a-z]))
        |(?P<unit>{"|".join(behind) or "(?!)"})
        |(?P<scaled>{_SCALED}(?:\ (?:{"|".join(behind) or "(?!)"}))?)))?)""",
        re.VERBOSE,
    )


def pieces_in(text: str, start: int, end: int, pattern: re.Pattern[str]) -> list[Piece]:
    """Return the pieces of ``text[start:end]``, which is a line, from left to right."""
    found = []
    while match := pattern.search(text, start, end):
        # A function without a digit is skipped with its arguments, which are searched once only.
        stop = _end_of_arguments(text, match.end(), end) if match["function"] else match.end()
        if piece := _piece(text, match, stop):
            found.append(piece)
        # A root or π after a number belongs to it, but is also read by itself.
        start = max(match.start("right") if match["right"] else stop, match.start() + 1)
    return found


def _piece(text: str, match: re.Match[str], stop: int) -> Piece | None:
    start = match.start()
    if match["function"]:
        whole = text[start:stop]
        return Piece(start, stop, whole, "call") if _HAS_DIGIT.search(whole) else None
    if match["call"]:
        if not _HAS_DIGIT.search(match[0]):
            return None
        name = _NAME.search(text, max(0, start - 20), start)
        start = name.start() if name else start
        return Piece(start, stop, text[start:stop], "call")
    if match["citation"]:
        return Piece(start, stop, match[0], "citation")
    if match.re.groups > _GROUPS and match["other"]:
        return Piece(start, stop, match[0], "number")
    left, sign, before, number, right, percent, unit, scaled = match.group(*_PARTS)
    if not number:
        return None
    # A $ before the number is not a currency if another $ closes the formula, or if a unit follows.
    if unit or (before == "$" == text[stop : stop + 1]):
        before = ""
    tail = "%" if percent else f" {unit or scaled}" if unit or scaled else ""
    return Piece(start, stop, f"{left or ''}{sign or ''}{before or ''}{number}{right or ''}{tail}", "number")


def _end_of_arguments(text: str, position: int, end: int) -> int:
    """Return where the arguments {...}{...} that start at `position` end: at the end of the line if not closed."""
    while argument := _ARGUMENT.match(text, position, end):
        position = argument.end()
        if text[position : position + 1] != "{" or position >= end:
            break
        depth = 0
        for brace in _BRACE.finditer(text, position, end):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                position = brace.end()
                break
        else:
            return end
    return position
