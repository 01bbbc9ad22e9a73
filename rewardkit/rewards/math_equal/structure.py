r"""A parser for an answer's structure: ``parse(r"\{1, 2\}")`` is a set of two leaves, ``parse("x > 3")`` an inequality.

The leaves are expressions, which an algebra compares. `comparison` compares the other nodes. Parsing never fails: text
without structure becomes a leaf.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

from rewardkit.rewards.math_equal.notation import is_name, split_at, wrapped

MAX_PARTS = 32
"""The maximum number of parts in a node. The limit is arbitrary, but all pairs of parts are compared. A longer list
stays a leaf."""
MAX_SIGNS = 4
"""The maximum number of ± signs in a tuple. The limit is arbitrary: each sign doubles the number of tuples, so four
signs create 16."""

LEAF, LIST, SET, TUPLE, MATRIX = "leaf", "list", "set", "()", "matrix"
UNION, WITHOUT, COMMON, ALL, BUILDER = "union", "without", "common", "R", "builder"
RATIO, ORDER, CHAIN, CASES = "ratio", "order", "chain", "cases"
BRACKETS = frozenset(("()", "[]", "(]", "[)"))
RELATIONS = frozenset(("=", "<", "\\le", "\\ne"))

# "and" and "or", in \text or not, but not the "or" in "order".
_CONNECTIVE = r"(?:\\text\s*\{\s*(?:and|or)\s*\}|(?:and|or)(?![A-Za-z]))"
_WORD = r"\\text\s*\{\s*,?\s*(?:and|or)\s*,?\s*\}|(?<![\\A-Za-z])(?:and|or)(?![A-Za-z])|\\(?:vee|wedge)(?![a-z])"
# "1, 2", "1 and 2", "1, or 2", "p \vee q".
_JOINED = re.compile(rf"[,;]\s*{_CONNECTIVE}?|{_WORD}")
# The same, but the comma in "1,234" does not separate.
_JOINED_LOOSELY = re.compile(rf"(?:(?<![0-9])[,;]|[,;](?![0-9]))\s*{_CONNECTIVE}?|{_WORD}")
# "p \vee q" is a logical formula, while "x = 1 \vee x = 2" is a list.
_LOGIC = re.compile(r"\\(?:vee|wedge)(?![a-z])")
# "1,234" is one number, but "1, 234" and "1,23" are two numbers.
_TIGHT_THOUSANDS = re.compile(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
# Not with a leading zero: "0,125" may be a decimal fraction or a pair.
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_COMMA = re.compile("[,;]")
_SEMICOLON = re.compile(";")
# A relation sign; not the equality sign in ":=" or "!=".
_SIGN = re.compile(r"(?<![:!])=|<|>|\\(?:le|ge|ne|in)(?![A-Za-z])")
_FLIPPED = {">": "<", "\\ge": "\\le"}
_CUP = re.compile(r"\\cup(?![A-Za-z])")
_CAP = re.compile(r"\\cap(?![A-Za-z])")
# "\setminus", and "-" before braces: "[0, 1] - \{0\}" removes a point.
_MINUS = re.compile(r"\\setminus(?![A-Za-z])|(?<=[)\]}])\s*-(?=\s*\\\{)")
# "3:4", "3 \text{ to } 4" and "3 to 4" are ratios.
_COLON = re.compile(r":|\\text\s*\{\s*to\s*\}|(?<=[0-9]) to (?=[0-9])")
# "such that", as a bar or a colon.
_BAR = re.compile(r"[|:]")
_LETTER = re.compile(r"[A-Za-z]|\\[a-z]+")
# "x", "\alpha", "a_{1}", "f(x)".
_NAME = re.compile(r"(?:[A-Za-z]|\\[a-z]+)(?:_\{[A-Za-z0-9]+\})?(?:\([A-Za-z]\))?")
# The variable of a set, optionally with its domain, as in "\{x \in \mathbb{R} \mid x > 3\}".
_VARIABLE = re.compile(r"([A-Za-z]|\\[a-z]+)(?:\s*\\in\s*\\mathbb\{R\})?")
# An innermost environment. An array may have a column specification.
_ENVIRONMENT = re.compile(r"\\begin\{([a-z]+)\}(?:\{[lcr|]*\})?((?:(?!\\begin|\\end).)*)\\end\{\1\}", re.DOTALL)
_MATRICES = frozenset(("matrix", "pmatrix", "bmatrix"))
_SYSTEMS = frozenset(("cases", "array", "aligned", "align", "gathered"))


@dataclass(frozen=True)
class Node:
    r"""A node in the structure of an answer.

    Attributes:
        kind: a constant from this module, brackets, or a relation.
        parts: the child nodes.
        text: a leaf's expression, an interval's variable, a list's connective ("and", "or", ",", or "pm"), the number
            of columns in a matrix, or the signs in a chain of inequalities.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    text: str = ""

    def leaves(self) -> list[str]:
        """Return the expressions in all leaves of this node."""
        return [self.text] if self.kind == LEAF else [leaf for part in self.parts for leaf in part.leaves()]


def parse(cleaned: str) -> Node:
    """Parse cleaned text into a tree of nodes."""
    groups = split_at(cleaned, _SEMICOLON)
    if 1 < len(groups) <= MAX_PARTS and any(len(split_at(group, _JOINED)) > 1 for group in groups):
        return Node(LIST, tuple(map(parse, groups)), ",")  # x = 1, y = 2; x = 3, y = 4
    texts = items(cleaned)
    if not 1 < len(texts) <= MAX_PARTS:
        return _statement(cleaned)
    # "or" as a word: "x = 1 or x = 2", not "for".
    joined = "or" if re.search(r"(?<![a-z])or(?![a-z])|\\vee", cleaned) else "and" if "and" in cleaned else ","
    parts = [_statement(text) for text in texts]
    if _LOGIC.search(cleaned) and any(part.kind == LEAF for part in parts):
        return _leaf(cleaned)  # p \wedge q
    first = parts[0]
    if first.kind == "=" and is_name(texts[0].partition("=")[0].strip()) and all(p.kind == LEAF for p in parts[1:]):
        parts = [first, *(Node("=", (first.parts[0], part)) for part in parts[1:])]  # x = 1, 2
    return _listed(parts, joined)


def items(cleaned: str) -> list[str]:
    """Split a list without brackets into items. Text that is not a list is the only item."""
    if _THOUSANDS.fullmatch(cleaned):
        return [cleaned]
    if _TIGHT_THOUSANDS.search(cleaned) and re.search(r",\s|and|or|;", cleaned):
        return split_at(cleaned, _JOINED_LOOSELY)  # 1,234, 5,678
    return split_at(cleaned, _JOINED)


def _listed(parts: list[Node], joined: str) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if part.kind == LIST and part.text == "pm" else [part])
    return Node(LIST, tuple(flat), joined)


def _statement(text: str) -> Node:
    signs = [match[0] for match in _SIGN.finditer(text)]
    texts = split_at(text, _SIGN) if signs else [text]
    # Arbitrary: in answers, chains of relations have two or three signs.
    if len(texts) == 1 or len(texts) - 1 != len(signs) or len(texts) > 8:
        return _expression(text)
    if signs == ["\\in"]:
        return _belongs(texts[0], _expression(texts[1]))
    if set(signs) == {"="}:
        if len(texts) > 2:
            return Node(CHAIN, tuple(map(_expression, texts)))
        return _equation(texts[0], texts[1])
    if "\\in" in signs or "\\ne" in signs[1:] or ("=" in signs):
        return Node(LEAF, text=text)
    flips = {sign in _FLIPPED for sign in signs}
    signs = [_FLIPPED.get(sign, sign) for sign in signs]
    if len(flips) > 1:
        return Node(LEAF, text=text)
    if flips == {True}:
        texts, signs = texts[::-1], signs[::-1]
    if len(signs) == 1:
        return Node(signs[0], tuple(map(_expression, texts)))
    if len(signs) == 2 and _NAME.fullmatch(texts[1]):
        brackets = ("(" if signs[0] == "<" else "[") + (")" if signs[1] == "<" else "]")
        return Node(brackets, (_leaf(texts[0]), _leaf(texts[2])), texts[1])
    return Node(ORDER, tuple(map(_expression, texts)), " ".join(signs))


def _belongs(element: str, belongs: Node) -> Node:
    if not _LETTER.fullmatch(element):
        return Node(LEAF, text=f"{element} \\in ?")
    if belongs.kind == SET and belongs.parts:
        return Node(LIST, tuple(Node("=", (_leaf(element), part)) for part in belongs.parts), "or")
    if belongs.kind in BRACKETS and len(belongs.parts) == 2:
        return Node(belongs.kind, belongs.parts, element)
    return Node(BUILDER, (belongs,), element)


def _equation(left: str, right: str) -> Node:
    """Return an equation as a node; ``(x, y) = (1, 2)`` becomes a list of two equations."""
    if is_name(right) and not is_name(left):
        left, right = right, left
    names, values = wrapped(left), wrapped(right)
    if names[0] == values[0] == "()":
        named, valued = split_at(names[1], _COMMA), split_at(values[1], _COMMA)
        if 1 < len(named) == len(valued):
            return Node(LIST, tuple(Node("=", (_leaf(n), _leaf(v))) for n, v in zip(named, valued, strict=True)), ",")
    return Node("=", (_expression(left), _expression(right)))


def _leaf(text: str) -> Node:
    return Node(LEAF, text=text)


def _expression(text: str) -> Node:
    for kind, separator in ((UNION, _CUP), (COMMON, _CAP), (WITHOUT, _MINUS)):
        parts = split_at(text, separator)
        if 1 < len(parts) <= MAX_PARTS and all(parts):
            return Node(kind, tuple(map(_expression, parts)))
    if text in ("\\mathbb{R}", "(-\\infty, \\infty)"):
        return Node(ALL)
    if text in ("\\emptyset", "\\{\\}", "\\{ \\}"):
        return Node(SET)
    if environment := _ENVIRONMENT.fullmatch(text):
        return _environment(text, environment[1], environment[2])
    ratio = split_at(text, _COLON)
    if 1 < len(ratio) <= MAX_PARTS:
        return Node(RATIO, tuple(map(_expression, ratio)), text)
    kind, inside = wrapped(text)
    if kind in ("()", "[]") and (environment := _ENVIRONMENT.fullmatch(inside)) and environment[1] != "cases":
        return _environment(text, "matrix", environment[2])
    if kind:
        return _bracketed(text, kind, inside)
    return _signed(text)


def _signed(text: str) -> Node:
    if "\\pm" not in text and "\\mp" not in text:
        return _leaf(text)
    upper = text.replace("\\pm", "+").replace("\\mp", "-")
    lower = text.replace("\\pm", "-").replace("\\mp", "+")
    if text.count("\\pm") > 1 and "\\mp" not in text:  # \pm a \pm b may be two numbers or four
        return _leaf(text)
    return Node(LIST, (_leaf(upper), _leaf(lower)), "pm")


def _bracketed(text: str, kind: str, inside: str) -> Node:
    texts = split_at(inside, _COMMA)
    if kind in ("\\{\\}", "{}"):
        if kind == "\\{\\}" and len(split_at(inside, _BAR)) == 2 and (built := _built(inside)):
            return built
        if len(texts) > MAX_PARTS or (kind == "{}" and len(texts) == 1):
            return _expression(inside) if kind == "{}" and len(texts) == 1 else _leaf(text)
        listed = _listed([_statement(item) for item in texts], ",")
        return listed if kind == "{}" else Node(SET, listed.parts)  # LaTeX does not print plain braces
    if len(texts) == 1 or kind not in BRACKETS:
        return _statement(inside) if kind == "()" and len(split_at(inside, _SIGN)) > 1 else _signed(text)
    if len(texts) > MAX_PARTS or (len(texts) > 2 and kind in ("(]", "[)")):
        return _leaf(text)
    parts = [_expression(item) for item in texts]
    choices = [part.parts if part.kind == LIST and part.text == "pm" else (part,) for part in parts]
    signs = sum(len(choice) > 1 for choice in choices)
    if signs == 0:
        return Node(kind, tuple(parts))
    if signs > MAX_SIGNS:
        return _leaf(text)
    if "\\mp" in text:  # all upper signs together, or all lower signs
        return Node(LIST, tuple(Node(kind, tuple(c[min(row, len(c) - 1)] for c in choices)) for row in (0, 1)), "pm")
    return Node(LIST, tuple(Node(kind, chosen) for chosen in product(*choices)), "pm")


def _built(inside: str) -> Node | None:
    variable, condition = split_at(inside, _BAR)
    match = _VARIABLE.fullmatch(variable)
    return Node(BUILDER, (parse(condition),), match[1]) if match else None


def _environment(text: str, name: str, body: str) -> Node:
    rows = [[cell.strip() for cell in row.split("&")] for row in body.strip().removesuffix("\\\\").split("\\\\")]
    if name in _MATRICES and len({len(row) for row in rows}) == 1 and len(rows) * len(rows[0]) <= MAX_PARTS:
        return Node(MATRIX, tuple(_leaf(cell) for row in rows for cell in row), str(len(rows[0])))
    if name in _SYSTEMS and len(rows) <= MAX_PARTS:
        if {len(row) for row in rows} == {2} and name == "cases":
            cells = [(_expression(value.rstrip(", ")), _statement(_condition(when))) for value, when in rows]
            return Node(CASES, tuple(Node(CASES, pair) for pair in cells))
        if len(rows) > 1:
            return _listed([_statement("".join(row).rstrip(", ")) for row in rows], ",")
    return _leaf(text)


def _condition(text: str) -> str:
    # "\text{if } x > 0": the word before the condition of a case.
    return re.sub(r"\\text\s*\{\s*(?:if|when|for)\s*\}|\A\s*(?:if|when)\s", "", text).strip()
