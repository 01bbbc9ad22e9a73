r"""Normalize LaTeX notation: ``clean(r"$\dfrac12$.")`` is ``\frac{1}{2}``; and split equations into their sides."""

from __future__ import annotations

import re

_SPACES = (
    "\\,", "\\;", "\\:", "\\ ", "~", "\\quad", "\\qquad", "\\thinspace", "\u00a0", "\u2009", "\u202f", "\n", "\t",
)  # fmt: skip
_NOTHING = (
    "\\!", "\\left", "\\right", "\\big", "\\Big", "\\bigl", "\\bigr", "\\Bigl", "\\Bigr", "\\displaystyle",
    "\\textstyle", "\\limits", "\\(", "\\)", "\\[", "\\]", "$", "**", "\\mathbf", "\\boldsymbol", "\\bm",
)  # fmt: skip
_TEXTS = ("\\textbf", "\\textit", "\\textrm", "\\textnormal", "\\textsf", "\\mathrm", "\\mathit", "\\mbox", "\\hbox")
_OTHERS = {
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\leq": "\\le", "\\geq": "\\ge", "\\neq": "\\ne",
    "\\leqslant": "\\le", "\\geqslant": "\\ge", "<=": "\\le ", ">=": "\\ge ", "!=": "\\ne ",
    "\\lbrace": "\\{", "\\rbrace": "\\}", "{,}": ",", "\u2212": "-", "\u00d7": "\\times ", "\u00b7": "\\cdot ",
    "\u22c5": "\\cdot ", "\u00f7": "\\div ", "\u03c0": "\\pi ", "\u221e": "\\infty ", "\u2264": "\\le ",
    "\u2265": "\\ge ", "\u2260": "\\ne ", "\u2248": "\\approx ", "\u00b1": "\\pm ", "\u222a": "\\cup ",
    "\u2229": "\\cap ", "\u2205": "\\emptyset ", "\\varnothing": "\\emptyset", "\u00b0": "^{\\circ}",
    "\u00b2": "^{2}", "\u00b3": "^{3}", "\\degree": "^{\\circ}", "\\degrees": "^{\\circ}",
    "\u00bd": "\\frac{1}{2}", "\u00bc": "\\frac{1}{4}", "\u00be": "\\frac{3}{4}", "\u221a": "\\sqrt ",
    "\\bar": "\\overline",
    "\\i": "i", "\\operatorname": "\\text", "%": "\\%",
}  # fmt: skip
_REPLACED = dict.fromkeys(_SPACES, " ") | dict.fromkeys(_NOTHING, "") | dict.fromkeys(_TEXTS, "\\text") | _OTHERS
# A command, or a character sequence that acts as one.
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|!\s*|.)|\{,\}|[<>!]=|\*\*|[^\x21-\x7e]|[$~%]", re.DOTALL)
_BRACES_LEFT_OUT = (
    (re.compile(r"\\frac\s*([0-9])\s*([0-9A-Za-z])"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\frac\s*([0-9])\s*\{"), r"\\frac{\1}{"),
    (re.compile(r"\\frac\s*(\{[^{}]*\})\s*([0-9])"), r"\\frac\1{\2}"),
    (re.compile(r"\\frac\s*(\{[^{}]*\})\s*\{"), r"\\frac\1{"),
    (re.compile(r"\\sqrt\s*([0-9]|[A-Za-z](?![A-Za-z]))"), r"\\sqrt{\1}"),
    (re.compile(r"\^\s*\\circ(?![A-Za-z])"), r"^{\\circ}"),
    # People write 2^10 for 2^{10}.
    (re.compile(r"([\^_])\s*([0-9]+|[A-Za-z])"), r"\1{\2}"),
)
_MEANINGLESS_SPACE = re.compile(r"(?<![0-9A-Za-z.]) +| +(?![0-9A-Za-z.])")
_EQUALS = re.compile(r"(?<![<>!:])=")
_POINT = re.compile(r"\(\s*[A-Za-z](?:\s*,\s*[A-Za-z])*\s*\)")
_OPERATORS = re.compile(r"[-+*/<>,;:!]")
_GROUPS = re.compile(r"\\text\s*\{[^{}0-9]*\}|[_^]\{[^{}]*\}|\([^()]*\)|\\[A-Za-z]+")


def clean(text: str) -> str:
    r"""Return `text` in one notation, without purely visual commands. Takes linear time."""
    text = _COMMAND.sub(_replacement, text)
    text = " ".join(text.split()).rstrip(" .,;")
    for pattern, replacement in _BRACES_LEFT_OUT:
        text = pattern.sub(replacement, text)
    return text


def _replacement(match: re.Match[str]) -> str:
    return "" if match[0].startswith("\\!") else _REPLACED.get(match[0], match[0])


def compact(cleaned: str) -> str:
    """Remove spaces without meaning, so that ``x + 1`` becomes ``x+1`` but ``1 2`` does not become ``12``."""
    return _MEANINGLESS_SPACE.sub("", cleaned)


def sides(cleaned: str) -> list[str]:
    """Split at the equality signs, the value last: ``sides("x = 2 + 3 = 5")`` is ``["x", "2 + 3", "5"]``."""
    parts = [side.strip() for side in _EQUALS.split(cleaned)]
    return parts[::-1] if len(parts) == 2 and is_name(parts[1]) and not is_name(parts[0]) else parts


def is_about(side: str) -> bool:
    """Return whether a side of an equation names the value, without numbers: ``x``, ``f(3)``, ``AB + BC``."""
    if _POINT.fullmatch(side):
        return True
    bare = _GROUPS.sub(" ", side)
    if any(character.isdigit() for character in bare):
        return False
    letters = {character for character in bare if character.isalpha()}
    return bool(letters - {"e", "i"}) or (len(side) == 1 and bool(letters)) or side.startswith("\\text")


_PRODUCT = re.compile(r"[a-z]{2}")
"""Of variables: two small letters are a product, while two capitals name a segment."""


def is_name(side: str) -> bool:
    r"""Whether it is one name for a value: ``x``, ``f(3)``, ``a_1``, ``\text{Area}``; not ``x + y`` or ``xy``."""
    return (
        is_about(side)
        and "^" not in side
        and not _PRODUCT.fullmatch(side)
        and not _OPERATORS.search(_GROUPS.sub(" ", side))
    )


def outer_brackets(cleaned: str) -> str:
    r"""Return the kind of brackets around a list: ``()`` for ``(1, 2)``, ``\{\}`` for ``\{1, 2\}``, else ""."""
    text = cleaned.replace("\\{", "\x01").replace("\\}", "\x02")
    if len(text) < 2 or text[0] not in "([\x01" or text[-1] not in ")]\x02":
        return ""
    depth = comma = 0
    for position, character in enumerate(text):
        depth += (character in "([\x01{") - (character in ")]\x02}")
        if depth == 0 and position < len(text) - 1:
            return ""
        comma += character == "," and depth == 1
    return (text[0] + text[-1]).replace("\x01", "\\{").replace("\x02", "\\}") if comma else ""
