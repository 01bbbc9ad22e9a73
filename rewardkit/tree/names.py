"""Names: the components, terms, and gates in a tree, and the name of each.

Equal nodes count as one node. Names must be unique. Two different rewards with the same name get their route keys as
prefixes (``math.accuracy``). If two ready rewards are of the same kind, the second is named after the argument that
differs: after ``number("answer")``, ``number("price")`` is ``number_price``. Generated names get a number
(``product_2``). Any other duplicate name is an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from rewardkit.errors import RewardDefinitionError
from rewardkit.tree.reward import Reward, walk

Path = tuple[str, ...]

_WORD = re.compile(r"\w+")
_LONGEST = 30
"""The maximum number of characters of an argument that becomes part of a name. The limit is arbitrary: names are the
headings of columns and curves."""


@dataclass(frozen=True)
class Names:
    """Names with their nodes, in tree order."""

    components: Sequence[tuple[str, Reward]]
    terms: Sequence[tuple[str, Reward]]
    gates: Sequence[tuple[str, Reward]]
    gauged: Sequence[tuple[str, Reward]]

    @classmethod
    def of(cls, root: Reward) -> Names:
        """Name the nodes in a tree; raise RewardDefinitionError if two different rewards have the same name."""
        terms = list(dict.fromkeys(terms_of(root)))
        is_term = set(terms)
        paths: dict[Reward, list[Path]] = {}
        components: dict[Reward, None] = {}
        gates: dict[Reward, None] = {}
        gauged: dict[Reward, None] = {}
        for node, path, parent in walk(root, pieces=False):
            facts = node.facts
            logged = facts.logged and (parent is None or parent.facts.stands_for is None)
            if logged:
                components[node] = None
            if facts.condition is not None:
                gates[node] = None
            if facts.gauges:
                gauged[node] = None
            if logged or node in is_term or node in gates or node in gauged:
                paths.setdefault(node, []).append(path)
        names = _unique(paths)
        return cls(
            [(names[node], node) for node in components],
            [(names[node], node) for node in terms],
            [(names[node], node) for node in gates],
            [(names[node], node) for node in gauged],
        )


def terms_of(root: Reward) -> Iterator[Reward]:
    """Yield the rewards that are the additive terms of `root`, from left to right, with repetitions."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.facts.addends is None:
            yield node
        else:
            stack += reversed(node.facts.addends)


def _unique(paths: dict[Reward, list[Path]]) -> dict[Reward, str]:
    """Return a name for each node, based on its own name and the route keys above it."""
    named: dict[str, list[Reward]] = {}
    for node in paths:
        named.setdefault(node.name or "sum", []).append(node)
    result: dict[Reward, str] = {}
    owners: dict[str, Reward] = {}
    for node in sorted(paths, key=_rank):
        name = node.name or "sum"
        node_paths = set(paths[node])
        if len(named[name]) > 1 and len(node_paths) == 1:
            name = ".".join((*node_paths.pop(), name))
        if node.facts.call:
            name = _derived(name, node, owners)
        if node.facts.generic or node.facts.call:
            name = _free(name, owners)
        if name in owners:
            raise RewardDefinitionError(
                f"two different rewards have the name {name!r}: {owners[name]!r} and {node!r}. "
                f'Rename one of them: {_plain(node)}.named("another name")'
            )
        owners[name] = node
        result[node] = name
    return result


def _plain(node: Reward) -> str:
    """Return the code that turns a plain function, which lacks ``.named``, into a reward; "" for any other reward."""
    binding = node.facts.binding
    return f"rk.{node!r}" if binding is not None and binding.plain else ""


def _rank(node: Reward) -> int:
    """Return the priority of a node's name: user-defined names, then names of ready rewards, then generated names."""
    return 2 if node.facts.generic else 1 if node.facts.call else 0


def _derived(name: str, node: Reward, owners: dict[str, Reward]) -> str:
    """Return `name`, followed by the arguments that distinguish `node` from other nodes with the same name."""
    while name in owners:
        label = difference(node.facts.call, owners[name].facts.call)
        if not label or name.endswith(f"_{label}"):
            break
        name = f"{name}_{label}"
    return name


def difference(call: str, other: str) -> str:
    """Return the first argument that differs, as part of a name: ``difference("a('x')", "a('y')")`` is "x"."""
    call_arguments, other_arguments = _arguments(call), _arguments(other)
    for key, text in call_arguments.items():
        word = "_".join(_WORD.findall(text))
        if text != other_arguments.get(key) and 0 < len(word) <= _LONGEST:
            return word if isinstance(key, int) else f"{key}_{word}"
    return next((f"without_{key}" for key in other_arguments if isinstance(key, str) and key not in call_arguments), "")


def _arguments(call: str) -> dict[int | str, str]:
    """Return a call's arguments by position or name, or an empty dict if the call is not valid Python."""
    try:
        parsed = ast.parse(call, mode="eval").body
    except (SyntaxError, ValueError):
        return {}
    if not isinstance(parsed, ast.Call):
        return {}
    positional: dict[int | str, str] = {index: ast.unparse(argument) for index, argument in enumerate(parsed.args)}
    return positional | {keyword.arg: ast.unparse(keyword.value) for keyword in parsed.keywords if keyword.arg}


def _free(name: str, used_names: Container[str]) -> str:
    """Return `name`, with a number appended if it is already used."""
    return next(free for free in chain([name], (f"{name}_{number}" for number in count(2))) if free not in used_names)
