"""Smells: constructions in a reward's code that fail on some inputs. Each suggests which inputs to try."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from rewardkit.check.mutants.sites import Site, called, calls_re, number
from rewardkit.check.reading.places import places
from rewardkit.tree.reward import Reward

_STRIPPING = frozenset(("strip", "lstrip", "rstrip"))
_SHORTEST_CUT, _LONGEST_CUT = 50, 20_000
"""The range of lengths that count as cuts. Arbitrary: a longer cut is only a safeguard, since few completions are
that long."""


@dataclass(frozen=True)
class Smells:
    """Patterns in a reward's code that may go wrong.

    Attributes:
        cuts: lengths to which the code cuts texts, as in ``text[-300:]``.
        stripped: sets of letters that the code strips, as in ``text.lstrip("answer: ")``.
        makes_patterns: whether the code builds a regular expression from a variable without escaping it.
        removes_articles: whether a pattern contains "a", "an", and "the".
        counts_messages: whether the code computes the length of a value that it also reads as messages.
    """

    cuts: tuple[int, ...] = ()
    stripped: tuple[str, ...] = ()
    makes_patterns: bool = False
    removes_articles: bool = False
    counts_messages: bool = False


def smells(reward: Reward) -> Smells:
    """Find smells in the code of a reward's functions. Without source, none are found."""
    statements = [site for site in places(reward) if not site.parents]
    nodes = [(node, site) for site in statements for node in ast.walk(site.node)]
    escaped = any(called(node) == "escape" for node, _ in nodes)
    texts = [text for node, _ in nodes for text in _texts(node)]
    return Smells(
        cuts=tuple(dict.fromkeys(cut for node, site in nodes for cut in _cuts(node, site))),
        stripped=tuple(dict.fromkeys(text for node, _ in nodes for text in _stripped(node))),
        makes_patterns=not escaped and any(_makes_a_pattern(node) for node, _ in nodes),
        removes_articles=any("a|an|the" in text.replace("(", "|") for text in texts),
        counts_messages=_counts_messages([node for node, _ in nodes]),
    )


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _cuts(node: ast.AST, site: Site) -> Iterator[int]:
    """Yield the lengths in slices such as ``text[-300:]`` and ``text[:300]``. Names are looked up in the module."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return
    for bound in (node.slice.lower, node.slice.upper):
        size = number(bound) if bound is not None else None
        if size is None and bound is not None:
            size = _named(bound, site)
        if size is not None and _SHORTEST_CUT <= abs(size) <= _LONGEST_CUT:
            yield abs(int(size))


def _named(node: ast.AST, site: Site) -> float | None:
    """Return the value of a numeric module constant, given ``NAME`` or ``-NAME`` (the sign is ignored), or None."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if not isinstance(node, ast.Name):
        return None
    for statement in site.source.tree.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == node.id for target in statement.targets
        ):
            return number(statement.value)
    return None


def _stripped(node: ast.AST) -> Iterator[str]:
    if called(node) in _STRIPPING and isinstance(node, ast.Call) and node.args:
        yield from (text for text in _texts(node.args[0]) if sum(letter.isalpha() for letter in set(text)) > 2)


def _makes_a_pattern(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not calls_re(node) or not node.args:
        return False
    first = node.args[0]
    return isinstance(first, (ast.JoinedStr, ast.BinOp)) or (isinstance(first, ast.Name) and first.id.islower())


def _counts_messages(nodes: list[ast.AST]) -> bool:
    """Return whether the code computes the length of a variable that it also reads as ``completion[-1]["content"]``."""
    message_names: set[str] = set()
    measured_names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Subscript) and next(_texts(node.slice), "") == "content":
            inner = node.value
            if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
                message_names.add(inner.value.id)
        if isinstance(node, (ast.BinOp, ast.Compare)):
            len_calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and called(call) == "len"]
            measured_names |= {name.id for call in len_calls for name in call.args if isinstance(name, ast.Name)}
    return bool(message_names & measured_names)
