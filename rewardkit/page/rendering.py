r"""Markdown, mathematics, and JSON as a tree of elements: ``rendered("**6** or $x^2$")``.

A model wrote the text, so it is converted only to text and elements from a fixed list, never to HTML. No resources are
loaded, links cannot be followed, and no content is hidden: the addresses of links and images and the labels of code
blocks are also shown.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from rewardkit.page.escapes import escape

# LaTeX as MathML, which browsers display by themselves: ``formula("x^2")`` is ``("math", ..., [...])``.


Node = str | tuple[str, Mapping[str, str], "list[Node]"]
"""A text or an element (its tag, attributes, and children)."""

LONGEST_FORMULA = 4_000
"""The maximum length of a formula in characters. The limit is arbitrary: the converter is slow."""
# Arbitrary limits that keep the browser fast: deeper or larger formulas are shown as source.
_DEEPEST_FORMULA = 40
_MOST = 4_000
_ELEMENTS = re.compile(
    "math|mrow|mi|mn|mo|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mmultiscripts|"
    "mprescripts|mtable|mtr|mtd|mstyle|menclose|none"  # and not mphantom and mpadded, which can hide text
)
# The allowed MathML attributes and values, which only lay out a formula: no URLs, no scripts, no size that could cover
# the page.
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
# Names of commands and environments, and the space between lines: they are not shown, so their letters do not count.
_COMMANDS = re.compile(
    r"\\(?:begin|end)\s*\{[a-z]{1,20}\*?\}(?:\{[lcr| ]{1,20}\})?|\\\\\[-?[\d.]{1,5}[a-z]{2}\]|\\[a-zA-Z]{1,30}"
)
# A macro could display text that differs from the source, or expand forever.
_MACROS = re.compile(r"\\(?:(?:re)?newcommand|providecommand|def|gdef|edef|let|newenvironment|DeclareMathOperator)\b")


# Arbitrary size: enough for the formulas of the completions that a user steps through.
@lru_cache(maxsize=2_048)
def formula(latex: str, *, block: bool = False) -> Node | None:
    """Return a formula as a MathML element, or None if it cannot be converted.

    Args:
        latex: LaTeX without delimiters.
        block: whether to display the formula on a separate line.
    """
    if len(latex) > LONGEST_FORMULA or _MACROS.search(latex):
        return None
    try:
        element = convert_to_element(latex, display="block" if block else "inline")
        node = _node(element, _DEEPEST_FORMULA, iter(range(_MOST)))
    except Exception:  # the converter raises many types of errors, IndexError and RecursionError among them
        return None
    # The converter drops unknown commands, and a model must not be able to hide a word in that way.
    visible_text = html.unescape("".join(element.itertext()))
    return node if visible_text.strip() and _letters(visible_text) >= _letters(_COMMANDS.sub("", latex)) else None


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _node(element: Any, depth: int, budget: Any) -> Node:
    """Return an element with its children as a node; raise ValueError if it is too deep, too large, or unknown."""
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


LONGEST = 50_000
"""The maximum length of a text to render in characters. The limit is arbitrary and keeps the browser fast."""
_NODES = 20_000
"""The maximum number of elements in a text. The limit is arbitrary and keeps the browser fast."""
_FORMULAS = 400
"""The maximum number of formulas to render in a text; additional formulas are shown as source. The limit is
arbitrary."""
_DEEPEST = 40
"""The maximum nesting depth of blocks. It is less than 50, the depth at which the parser starts to drop blocks."""
_PLAIN = frozenset(
    ["p", "ul", "ol", "li", "blockquote", "strong", "em", "s", "table", "thead", "tbody", "tr", "th", "td", "hr", "br"]
)
_DELIMITERS = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))
"""The opening and closing delimiters of formulas, and whether the formula is displayed on a separate line."""
_ENVIRONMENTS = tuple(
    f"\\begin{{{name}{star}}}" for name in ("equation", "align", "gather", "aligned", "cases") for star in ("", "*")
)


def rendered(text: str) -> list[Node]:
    """Return an escaped text as a tree. A text that is too long or too complex becomes one block of plain text."""
    document = pretty_json(text)
    if document is not None:
        return [_preformatted(document, "json")]
    if len(text) > LONGEST:
        return [_remark("Too long to render, so shown as plain text:"), _preformatted(text)]
    try:
        return _Tree().build(_parser().parse(text))
    except (_TooLarge, RecursionError):
        return [_remark("Too complex to render, so shown as plain text:"), _preformatted(text)]


def pretty_json(text: str) -> str | None:
    """Return a JSON object or array, indented on several lines, or None if the text is neither."""
    stripped = text.strip()
    if not stripped or stripped[0] + stripped[-1] not in ("{}", "[]"):
        return None
    try:
        return json.dumps(json.loads(stripped), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return None


def _remark(text: str) -> Node:
    return "div", {"class": "soft"}, [text]


def _preformatted(text: str, kind: str = "") -> Node:
    return "pre", {"class": f"text {kind}".strip(), "tabindex": "0", "dir": "ltr"}, [escape(text)]


class _TooLarge(Exception):
    """The tree has too many nodes."""


class _Tree:
    """A builder that turns the Markdown parser's tokens into a tree."""

    def __init__(self) -> None:
        self._nodes = 0
        self._formulas = 0

    def build(self, tokens: Iterable[Token]) -> list[Node]:
        root: list[Node] = []
        open_: list[tuple[Token, list[Node]]] = []
        inside = root
        for token in tokens:
            self._nodes += 1
            if self._nodes > _NODES or token.level >= _DEEPEST:
                raise _TooLarge
            if token.nesting > 0:
                open_.append((token, inside))
                inside = []
            elif token.nesting < 0:
                opened, outside = open_.pop()
                outside.extend(self._element(opened, inside))
                inside = outside
            else:
                inside.extend(self._leaf(token))
        return root

    def _element(self, token: Token, children: list[Node]) -> list[Node]:
        if token.hidden:  # a paragraph in a tight list
            return children
        if token.type == "link_open":
            return self._link(_address(token, "href"), children)
        if token.type == "heading_open":  # must not act as a heading of the page
            return [("div", {"class": f"heading {token.tag}"}, children)]
        if token.tag not in _PLAIN:
            return children
        start = token.attrs.get("start")
        # Markdown allows nine digits.
        attributes = {"start": str(start)} if isinstance(start, int) and abs(start) < 1_000_000_000 else {}
        if token.attrs.get("style") == "text-align:right":
            attributes["class"] = "right"
        return [(token.tag, attributes, children)]

    def _link(self, address: str, children: list[Node]) -> list[Node]:
        label: Node = ("span", {"class": "link"}, children)
        return [label] if children == [address] else [label, ("span", {"class": "soft"}, [f" ({address})"])]

    def _leaf(self, token: Token) -> list[Node]:
        if token.type == "inline":
            return self.build(token.children or ())
        if token.type == "text":
            return [token.content] if token.content else []
        if token.type in ("softbreak", "hardbreak"):
            return [("br", {}, [])]
        if token.type == "hr":
            return [("hr", {}, [])]
        if token.type == "code_inline":
            return [("code", {}, [token.content])]
        if token.type in ("fence", "code_block"):
            document = pretty_json(token.content)
            label = [_remark(token.info.strip())] if token.info.strip() else []
            return [*label, _preformatted((document or token.content).rstrip("\n"), "json" if document else "")]
        if token.type == "image":
            return [("span", {"class": "soft"}, [f"image: {token.content} ({_address(token, 'src')})"])]
        if token.type == "math":
            return [self._mathematics(token)]
        return [token.content] if token.content else []

    def _mathematics(self, token: Token) -> Node:
        self._formulas += 1
        element = formula(token.content, block=token.block) if self._formulas <= _FORMULAS else None
        if element is None:
            return "code", {"class": "unreadable"}, [f"{token.markup}{token.content}{token.info}"]
        self._nodes += _size(element)
        return ("div", {"class": "formula"}, [element]) if token.block else element


def _address(token: Token, name: str) -> str:
    """Return the URL of a link or an image, followed by the title."""
    return " ".join(str(token.attrs[attribute]) for attribute in (name, "title") if token.attrs.get(attribute))


def _size(node: Node) -> int:
    return 1 if isinstance(node, str) else 1 + sum(map(_size, node[2]))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 50})
    parser.enable(["table", "strikethrough"]).disable("reference")  # reference definitions would disappear
    # Links cannot be followed, so every URL may be shown as it was written.
    parser.validateLink = _any_link  # type: ignore[method-assign]
    parser.normalizeLink = _same_link  # type: ignore[method-assign]
    parser.inline.ruler.before("escape", "math", _inline_mathematics)
    parser.block.ruler.before(
        "fence", "math", _block_mathematics, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    return parser


def _any_link(url: str) -> bool:
    return True


def _same_link(url: str) -> str:
    return url


def _inline_mathematics(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] not in "$\\":
        return False
    for begin, end, block in _DELIMITERS:
        if not source.startswith(begin, start):
            continue
        inner = start + len(begin)
        close = source.find(end, inner, min(inner + LONGEST_FORMULA, state.posMax))
        content = source[inner:close]
        if (
            close < 0
            or not content.strip()
            or (begin == "$" and not _is_mathematics(content, source[close + 1 : close + 2]))
        ):
            return False
        if not silent:
            _token(state.push("math", "", 0), content, begin, end, block)
        state.pos = close + len(end)
        return True
    return False


def _is_mathematics(content: str, following: str) -> bool:
    """Return whether the text between two dollar signs is a formula and not text between two prices."""
    return not (content[0].isspace() or content[-1].isspace() or following.isdigit() or "\n\n" in content)


def _block_mathematics(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a formula that starts at the beginning of a line and ends at the end of a line, whatever it contains."""
    start = state.bMarks[first] + state.tShift[first]
    line = state.src[start : state.eMarks[first]]
    begin, end = next(
        ((opening, other) for opening, other, block in _DELIMITERS if block and line.startswith(opening)), ("", "")
    )
    if not begin:
        opened = next((opening for opening in _ENVIRONMENTS if line.startswith(opening)), "")
        if not opened:
            return False
        end = opened.replace("begin", "end")
    inner = start + len(begin)
    close = state.src.find(end, inner, min(inner + LONGEST_FORMULA, state.eMarks[last - 1]))
    following = next((number for number in range(first, last) if state.eMarks[number] >= close + len(end)), last)
    if close < 0 or following >= last or state.src[close + len(end) : state.eMarks[following]].strip():
        return False
    if not silent:
        content = state.src[inner : close if begin else close + len(end)]
        _token(state.push("math", "", 0), content, begin, end if begin else "", True)
        state.line = following + 1
    return True


def _token(token: Any, content: str, begin: str, end: str, block: bool) -> None:
    token.content, token.markup, token.info, token.block = content, begin, end, block
