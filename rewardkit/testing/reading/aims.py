"""Aims: texts and cells that the code of a reward looks for, each with its line.

``if "final answer" in text`` proposes ``"final answer"``, ``len(text) > 200`` texts of 199, 200 and 201 characters,
``re.match(r"\\d+ km", text)`` texts that match, ``if level == "easy"`` a row with that level.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewardkit.core.tree.reward import Reward
from rewardkit.testing.mutation.nodes import called, number
from rewardkit.testing.mutation.sites import Site
from rewardkit.testing.reading.matching import matching
from rewardkit.testing.reading.places import places
from rewardkit.testing.reading.variables import column_of

_SEARCHING = frozenset(("startswith", "endswith", "count", "find", "rfind", "index", "split", "rsplit", "partition"))
_PATTERNS = frozenset(("compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"))
_EQUALITY = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_LONGEST_TEXT = 80
_LONGEST = 3_000
"""Characters or words of a text that has a length in the code."""
_MOST = 60
_MOST_OF_A_PLACE = 8


@dataclass(frozen=True)
class Aim:
    """What one place in the code proposes to try.

    Attributes:
        line: of the place, from 1.
        texts: that it looks for.
        columns: cells that it looks for, by column.
    """

    line: int
    texts: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)


def aims(reward: Reward) -> list[Aim]:
    """Return what the code of a reward's functions proposes to try, without repetitions."""
    found: dict[tuple[Any, ...], Aim] = {}
    for site in places(reward):
        texts = tuple(dict.fromkeys(_texts(site)))[:_MOST_OF_A_PLACE]
        for columns in _cells(site):
            found.setdefault(("", repr(columns)), Aim(_line(site), columns=columns))
        if texts:
            found.setdefault(texts, Aim(_line(site), texts))
    return list(found.values())[:_MOST]


def _line(site: Site) -> int:
    return int(getattr(site.node, "lineno", 0))


def _texts(site: Site) -> Iterator[str]:
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        for side, other in (sides, sides[::-1]):
            yield from _written(side)
            yield from _of_that_size(side, other)
    elif isinstance(node, ast.Dict):
        yield from (text for key in node.keys for text in _written(key))
    elif isinstance(node, ast.Call) and node.args:
        if called(node) in _PATTERNS and isinstance(node.func, ast.Attribute) and _is_re(node.func.value):
            yield from matching(_constant(node.args[0]))
        elif called(node) in _SEARCHING:
            for text in _constant(node.args[0]):
                yield from (text, f"{text} " * 3)


def _is_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("re", "regex")


def _written(node: ast.AST | None) -> Iterator[str]:
    """Yield the texts that are written out in a constant, or in a list, tuple or set of them."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from _constant(item)
    elif node is not None:
        yield from _constant(node)


def _constant(node: ast.AST) -> Iterator[str]:
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(text, str) and text.strip() and len(text) <= _LONGEST_TEXT:
        yield text


def _of_that_size(side: ast.AST, other: ast.AST) -> Iterator[str]:
    """Yield texts with as many characters, words or lines as a length is compared with, one fewer and one more."""
    size = number(other)
    if called(side) != "len" or size is None or not 1 <= size <= _LONGEST:
        return
    for count in (int(size) - 1, int(size), int(size) + 1):
        yield from ("a" * count, "word " * count, "word\n" * count)


def _cells(site: Site) -> Iterator[dict[str, Any]]:
    """Yield the cells that a place compares with: ``{"level": "easy"}`` for ``if level == "easy"``."""
    node = site.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _EQUALITY):
        return
    name, values = column_of(node.left, site), node.comparators[0]
    items = values.elts if isinstance(values, (ast.List, ast.Tuple, ast.Set)) else [values]
    for item in items[:_MOST_OF_A_PLACE] if name else ():
        if isinstance(item, ast.Constant) and isinstance(item.value, (str, int, bool)):
            yield {name: item.value}
