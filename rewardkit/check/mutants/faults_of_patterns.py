"""Faults of regular expressions: a flag is missing, a search finds too much, a pattern is greedy or never ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rewardkit.check.mutants.nodes import called, is_text
from rewardkit.check.mutants.sites import Operator, Site

_FLAGS = frozenset(("DOTALL", "S", "MULTILINE", "M", "IGNORECASE", "I"))
_FUNCTIONS = frozenset(("compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"))
_LOOKS_LIKE_A_PATTERN = re.compile(r"\\[dswbDSWAZ]|\.[*+]|\(\?|\[\^|[\])][*+?]")
_INLINE_FLAGS = re.compile(r"\(\?[ims]+\)")
_LAZY = re.compile(r"(?<=[*+}?])\?(?=[^?]|\Z)")
_SIGN = re.compile(r"(?:\[(?:\\?-\\?\+|\\?\+\\?-|\\?-)\]|(?<![\[\\])\\?-)\?")
_ANCHOR = re.compile(r"\\[bAZ]|(?<![\[\\])\^|(?<!\\)\$")
_SEPARATOR_IN_CLASS = re.compile(r"(?<=\[)([^\[\]]*)([,.])([^\[\]]*)(?=\])")
_REPEATED = re.compile(r"\\[dsw][*+]|\.[*+]\??")


def dropped_flag(site: Site) -> Iterator[str]:
    """A flag is missing: without re.DOTALL, "." does not match a line break."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _is_flag(node.left):
        yield site.of(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _is_flag(node.right):
        yield site.of(node.left)
    if _is_flag(node) and isinstance(site.parent, (ast.Call, ast.keyword)):
        yield "0"
    if _is_pattern(site) and _INLINE_FLAGS.search(site.text):
        yield _INLINE_FLAGS.sub("", site.text)


def searched(site: Site) -> Iterator[str]:
    """A match anywhere is enough where the whole text, or its beginning, must match."""
    node, parent = site.node, site.parent
    if not (isinstance(node, ast.Attribute) and isinstance(parent, ast.Call) and parent.func is node):
        return
    if node.attr in ("fullmatch", "match"):
        yield site.text[: -len(node.attr)] + "search"


def greedy(site: Site) -> Iterator[str]:
    """A pattern takes as much as possible, and so everything between the first mark and the last."""
    if _is_pattern(site):
        yield from _each(_LAZY, site.text, "")


def lost_sign_in_pattern(site: Site) -> Iterator[str]:
    """A pattern for numbers does not read the minus sign."""
    if _is_pattern(site):
        yield from _each(_SIGN, site.text, "")


def lost_anchor(site: Site) -> Iterator[str]:
    """A pattern matches in the middle of a text or word."""
    if _is_pattern(site):
        yield from _each(_ANCHOR, site.text, "")


def lost_separator(site: Site) -> Iterator[str]:
    """A pattern for numbers does not know the comma between thousands, or the decimal point."""
    if _is_pattern(site):
        yield from _each(_SEPARATOR_IN_CLASS, site.text, r"\1\3")
        yield from _each(re.compile(r"\(\?:\\\.\\d[*+]\)\?|\(\\\.\\d[*+]\)\?"), site.text, "")


def endless_pattern(site: Site) -> Iterator[str]:
    """A repetition is repeated, so that some texts take exponential time."""
    if _is_pattern(site):
        yield from _each(_REPEATED, site.text, r"(?:\g<0>)+x?")


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _FLAGS and isinstance(node.value, ast.Name)


def _is_pattern(site: Site) -> bool:
    if not is_text(site.node):
        return False
    parent = site.parent
    if called(parent) in _FUNCTIONS and isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        owner = parent.func.value
        return isinstance(owner, ast.Name) and owner.id in ("re", "regex") and parent.args[:1] == [site.node]
    return isinstance(parent, (ast.Assign, ast.List, ast.Tuple)) and bool(_LOOKS_LIKE_A_PATTERN.search(site.text))


def _each(pattern: re.Pattern[str], text: str, new: str) -> Iterator[str]:
    """Yield the text with each occurrence replaced, one at a time."""
    for match in pattern.finditer(text):
        yield text[: match.start()] + match.expand(new) + text[match.end() :]


OF_PATTERNS: tuple[Operator, ...] = (
    dropped_flag, searched, greedy, lost_sign_in_pattern, lost_anchor, lost_separator, endless_pattern,
)  # fmt: skip
