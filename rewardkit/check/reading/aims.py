"""Aims: texts and cells that a reward's code looks for, each with a line number.

For example, ``if "final answer" in text`` proposes ``"final answer"``, ``len(text) > 200`` proposes texts of 199, 200,
and 201 characters, ``re.match(r"\\d+ km", text)`` proposes texts that match, and ``if level == "easy"`` proposes a row
with that level.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from rewardkit.check.mutants.sites import Site, called, calls_re, number, operator_of
from rewardkit.check.reading.places import places
from rewardkit.tree.reward import Reward
from rewardkit.workers.random_state import preserved_rng

# Variables: which column each variable in the code of a reward comes from.


_UNCHANGED = ("lower", "strip", "casefold", "upper")
_STEPS = 6
"""The number of assignments to follow back from a variable. Arbitrary: circular assignments have no end."""


def column_of(node: ast.AST, site: Site) -> str:
    """Return the column that an expression may read, or "".

    A variable of unknown origin counts as a column of that name.
    """
    name = _named(node)
    sources = _variables(site.functions[-1]) if site.functions else {}
    for _ in range(_STEPS):
        if name not in sources or sources[name] == name:
            break
        name = sources[name]
    return name


# Arbitrary size: enough for the functions of a reward.
@lru_cache(maxsize=64)
def _variables(function: ast.AST) -> dict[str, str]:
    """Map each variable in a function to its source: a parameter, a column in ``kwargs``, or another variable."""
    sources: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            sources.update(_items(node.target, node.iter))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            sources.setdefault(node.targets[0].id, _named(node.value))
    return {name: source for name, source in sources.items() if source}


def _items(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield a (variable, source) pair for each target of a loop."""
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and isinstance(target, ast.Tuple):
        if source.func.id == "enumerate" and len(target.elts) == 2 and source.args:
            yield from _items(target.elts[1], source.args[0])
        elif source.func.id == "zip" and len(source.args) == len(target.elts):
            for part, argument in zip(target.elts, source.args, strict=True):
                yield from _items(part, argument)
    elif isinstance(target, ast.Name):
        yield target.id, _named(source)


def _named(node: ast.AST) -> str:
    """Return the name that an expression reads.

    The name is "level" for ``level``, ``level[i].strip()``, ``kwargs["level"][i]``, and ``kwargs.get("level")``, and ""
    for other expressions.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _UNCHANGED:
            return _named(node.func.value)
        if node.func.attr == "get" and node.args:
            return _key(node.args[0])
    if isinstance(node, ast.Subscript):
        return _key(node.slice) or _named(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _key(node: ast.AST) -> str:
    text = node.value if isinstance(node, ast.Constant) else None
    return text if isinstance(text, str) and re.fullmatch(r"\w+", text) else ""


# Matching: short texts that match a regular expression. ``matching([r"(?i)\bas an ai\b"])`` contains ``"as an ai"``.


_EACH = 3
"""The maximum number of texts per pattern. Arbitrary: more texts would not reach other places in the code."""


def matching(patterns: Iterable[str], seed: int = 0) -> list[str]:
    """Return up to three texts per pattern, or none if Hypothesis is missing or cannot read the pattern."""
    return [text for pattern in patterns for text in drawn(partial(_of_pattern, pattern), _EACH, seed)]


def _of_pattern(pattern: str) -> Any:
    from rewardkit.check.variants.strategies.texts import pattern_texts

    return pattern_texts(re.compile(pattern))


def drawn(make: Callable[[], Any], most: int, seed: int = 0) -> list[str]:
    """Return up to `most` texts from the strategy that `make` returns, or none if Hypothesis is missing or fails."""
    texts: list[str] = []
    try:
        with preserved_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _collect(make(), most, seed, texts)
    except Exception:  # Hypothesis cannot generate texts
        return []
    return list(dict.fromkeys(texts))


def _collect(strategy: Any, most: int, seed: int, texts: list[str]) -> None:
    from hypothesis import HealthCheck, Phase, given, seed as seeded, settings

    @seeded(seed)
    @settings(
        max_examples=most,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(strategy)
    def collect(text: str) -> None:
        # Arbitrary: long matches are mostly repetitions of short ones.
        if len(text) <= 200:
            texts.append(text)

    collect()


_SEARCHING = frozenset(("startswith", "endswith", "count", "find", "rfind", "index", "split", "rsplit", "partition"))
_EQUALITY = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_LONGEST_TEXT = 80
"""The maximum length of a constant to try. Arbitrary: longer constants are messages, not values to compare an answer
with."""
_LONGEST = 3_000
"""The largest length in the code to generate texts for, in characters or words. Arbitrary: it limits the time for
scoring them."""
# The most aims in all, and the most texts per place. Arbitrary: these limit the time of a law.
_MOST = 60
_MOST_OF_A_PLACE = 8


@dataclass(frozen=True)
class Aim:
    """Texts or cells to try, suggested by one place in the code.

    Attributes:
        line: the line number of the place, starting at 1.
        texts: the texts that the code looks for.
        columns: the cells that the code looks for, by column.
    """

    line: int
    texts: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)


def aims(reward: Reward) -> list[Aim]:
    """Return the distinct aims suggested by the code of a reward's functions."""
    unique_aims: dict[tuple[Any, ...], Aim] = {}
    for site in places(reward):
        texts = tuple(dict.fromkeys(_texts(site)))[:_MOST_OF_A_PLACE]
        for columns in _cells(site):
            unique_aims.setdefault(("", repr(columns)), Aim(_line(site), columns=columns))
        if texts:
            unique_aims.setdefault(texts, Aim(_line(site), texts))
    return list(unique_aims.values())[:_MOST]


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
        if calls_re(node):
            yield from matching(_constant(node.args[0]))
        elif called(node) in _SEARCHING:
            for text in _constant(node.args[0]):
                yield from (text, f"{text} " * 3)


def _written(node: ast.AST | None) -> Iterator[str]:
    """Yield the texts in a string literal, or in a list, tuple, or set of string literals."""
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
    """Yield texts as long as the number that a length is compared with, plus or minus 1 character, word, or line."""
    size = number(other)
    if called(side) != "len" or size is None or not 1 <= size <= _LONGEST:
        return
    for count in (int(size) - 1, int(size), int(size) + 1):
        yield from ("a" * count, "word " * count, "word\n" * count)


def _cells(site: Site) -> Iterator[dict[str, Any]]:
    """Yield the cells that a comparison looks for: ``{"level": "easy"}`` for ``if level == "easy"``."""
    node = site.node
    if not isinstance(node, ast.Compare) or operator_of(node) not in _EQUALITY:
        return
    name, values = column_of(node.left, site), node.comparators[0]
    items = values.elts if isinstance(values, (ast.List, ast.Tuple, ast.Set)) else [values]
    for item in items[:_MOST_OF_A_PLACE] if name else ():
        if isinstance(item, ast.Constant) and isinstance(item.value, (str, int, bool)):
            yield {name: item.value}
