"""LaTeX as MathML, which browsers display by themselves: ``formula("x^2")`` is ``("math", ..., [...])``.

A model writes the LaTeX, so only elements and attributes that display something pass, sizes are limited, and what
cannot be converted, or defines macros (which can grow without end), stays text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from latex2mathml.converter import convert_to_element

from rewardkit.viewer.escapes import escape

Node = str | tuple[str, Mapping[str, str], "list[Node]"]
"""A text, or an element: its tag, its attributes, its children."""

LONGEST = 4_000
"""The most characters of a formula."""
_DEEPEST = 40
_MOST = 4_000
_ELEMENTS = re.compile(
    "math|mrow|mi|mn|mo|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts|"
    "mprescripts|mtable|mtr|mtd|mstyle|menclose|none"  # and not mphantom and mpadded, which can hide text
)
_ATTRIBUTES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for names, pattern in (
        ("display", "block|inline"),
        ("stretchy fence separator accent accentunder displaystyle movablelimits symmetric", "true|false"),
        ("mathvariant notation columnalign rowalign", "[a-z -]{1,40}"),
        ("scriptlevel", r"[+-]?\d"),
        (
            "width height depth lspace rspace minsize maxsize linethickness",
            r"-?0?\.\d{1,4}em|\d{1,2}(\.\d{1,4})?(em|ex|px|pt)?",
        ),
    )
    for name in names.split()
}
_COMMANDS = re.compile(
    r"\\(?:begin|end)\s*\{[a-z]{1,20}\*?\}(?:\{[lcr| ]{1,20}\})?|\\\\\[-?[\d.]{1,5}[a-z]{2}\]|\\[a-zA-Z]{1,30}"
)
_MACROS = re.compile(r"\\(?:(?:re)?newcommand|providecommand|def|gdef|edef|let|newenvironment|DeclareMathOperator)\b")


@lru_cache(maxsize=2_048)
def formula(latex: str, *, block: bool = False) -> Node | None:
    """Return a formula as a MathML element; None if it cannot be converted.

    Args:
        latex: LaTeX without delimiters.
        block: display it on a line of its own.
    """
    if len(latex) > LONGEST or _MACROS.search(latex):
        return None
    try:
        element = convert_to_element(latex, display="block" if block else "inline")
        node = _node(element, _DEEPEST, iter(range(_MOST)))
    except Exception:  # the converter raises many types of errors, IndexError and RecursionError among them
        return None
    # The converter drops what it does not understand, and a model must not be able to hide a word in that way.
    shown = html.unescape("".join(element.itertext()))
    return node if shown.strip() and _letters(shown) >= _letters(_COMMANDS.sub("", latex)) else None


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _node(element: Any, depth: int, budget: Any) -> Node:
    """Return an element with its children; raise ValueError if it is too deep, too large or not known."""
    if not depth or next(budget, None) is None or not _ELEMENTS.fullmatch(element.tag):
        raise ValueError(element.tag)
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _ATTRIBUTES[name].fullmatch(value)
    }
    text = html.unescape(element.text or "")
    children: list[Node] = [escape(text)] if text else []
    return element.tag, attributes, children + [_node(child, depth - 1, budget) for child in element]
