r"""Comparison of structures: ``\{1, 2\}`` equals ``2, 1``, but ``(1, 2)`` does not equal ``(2, 1)``.

The rules are the same in this process, in which the leaves are exact quotients of polynomials, and in the worker, in
which they are sympy expressions. An algebra returns None if it cannot decide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

from rewardkit.rewards.math_equal.notation import is_name, words_of_name
from rewardkit.rewards.math_equal.structure import (
    ALL,
    BRACKETS,
    BUILDER,
    CASES,
    CHAIN,
    COMMON,
    LEAF,
    LIST,
    MATRIX,
    ORDER,
    RATIO,
    SET,
    UNION,
    WITHOUT,
    Node,
)

Verdict = bool | None
_REAL_SETS = frozenset((UNION, WITHOUT, COMMON, BUILDER, ALL, "<", "\\le", "\\ne"))
_INEQUALITIES = frozenset(("<", "\\le", "\\ne"))


class Leaves(ABC):
    """An algebra's comparisons between expressions. A method returns None if the algebra cannot decide."""

    @abstractmethod
    def same(self, gold: str, answer: str) -> Verdict:
        """Return whether two expressions are equal."""

    @abstractmethod
    def same_equation(self, gold: Node, answer: Node) -> Verdict:
        """Return whether two equations have the same solutions."""

    @abstractmethod
    def same_inequality(self, gold: Node, answer: Node) -> Verdict:
        """Return whether two inequalities have the same solutions."""

    @abstractmethod
    def same_numbers(self, gold: Node, answer: Node) -> Verdict:
        """Return whether two structures describe the same set of real numbers."""

    @abstractmethod
    def proportional(self, gold: Sequence[str], answer: Sequence[str]) -> Verdict:
        """Return whether two ratios, given by their terms, are equal."""


def compare(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    """Return whether two structures are equal; None if the algebra cannot decide."""
    kinds = {gold.kind, answer.kind}
    if kinds == {LEAF}:
        return leaves.same(gold.text, answer.text)
    if kinds <= {LIST, SET, LEAF} and LEAF in kinds:
        if SET in kinds and gold.kind != SET:
            return None
        return _same_members(gold, _items(gold), _items(answer), leaves)
    if _is_region(gold) or _is_region(answer):
        return _same_region(gold, answer, leaves)
    if kinds <= {LIST, SET}:
        return _same_list(gold, answer, leaves)
    if ORDER in kinds and kinds & (BRACKETS | {UNION, LIST}):
        return leaves.same_numbers(gold, answer)
    if LIST in kinds and kinds & BRACKETS:
        return _list_and_brackets(gold, answer, leaves)
    if RATIO in kinds:
        return _same_ratio(gold, answer, leaves)
    if kinds == {"="}:
        return _same_equation(gold, answer, leaves)
    if kinds == {CASES} and _are_pairs(gold, answer):
        return _same_items(gold.parts, answer.parts, leaves)
    if MATRIX in kinds and "()" in kinds and {gold.text, answer.text} <= {"1", ""}:
        return _in_order(gold, answer, leaves)  # a column vector equals a tuple
    if len(kinds) > 1 or gold.kind == CHAIN:
        return False
    if gold.kind in (MATRIX, ORDER) and gold.text != answer.text:
        return False
    if gold.text and answer.text and gold.text != answer.text:
        return False  # different variables
    return _in_order(gold, answer, leaves)


def _are_pairs(gold: Node, answer: Node) -> bool:
    return all(part.kind == CASES for node in (gold, answer) for part in node.parts)


def _is_region(node: Node) -> bool:
    """Return whether `node` is a set of numbers that has more than one notation: ``x > 3``, ``(1, 2) \\cup (3, 4)``."""
    return node.kind in _REAL_SETS or (
        node.kind == LIST and any(part.kind in _INEQUALITIES or _is_interval(part) for part in node.parts)
    )


def _kinds(*nodes: Node) -> set[str]:
    return {part.kind for node in nodes for part in node.parts}


def _is_interval(node: Node) -> bool:
    return node.kind in BRACKETS and bool(node.text)


def _same_region(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    if gold.kind == answer.kind == LIST and gold.text != answer.text and "," not in (gold.text, answer.text):
        return False  # one joins inequalities with "and", the other with "or"
    if {gold.kind, answer.kind} <= _INEQUALITIES:
        verdict = leaves.same_inequality(gold, answer)
        if verdict is not None:
            return verdict
    if (
        gold.kind == answer.kind == UNION
        and LEAF not in _kinds(gold, answer)
        and _same_items(gold.parts, answer.parts, leaves)
    ):
        return True
    if gold.kind == answer.kind == LIST and "," in (gold.text, answer.text):
        return _same_items(gold.parts, answer.parts, leaves)
    if gold.kind == UNION and answer.kind == LIST and answer.text == ",":
        answer = Node(LIST, answer.parts, "or")  # x < -2, x > 2
    if LEAF in (gold.kind, answer.kind) or (LIST in (gold.kind, answer.kind) and "," in (gold.text, answer.text)):
        return False
    return leaves.same_numbers(gold, answer)


def _items(node: Node) -> tuple[Node, ...]:
    return (node,) if node.kind == LEAF else node.parts


def _same_list(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    names, other_names = _names(gold), _names(answer)
    values, other_values = _values(gold, names), _values(answer, other_names)
    if len(set(names)) <= 1 and len(set(other_names)) <= 1:  # no names, or the same one: x = 1, x = 2
        if names and other_names and names[0] != other_names[0]:
            return False
        return _same_members(gold, values, other_values, leaves)
    if names and other_names:
        return _same_named(
            list(zip(names, values, strict=True)), list(zip(other_names, other_values, strict=True)), leaves
        )
    if (names and answer.kind == SET) or (other_names and gold.kind == SET):
        # "x = 1 or x = 2" equals the set {1, 2}.
        several = len(set(names or other_names)) > 1 or "or" not in (gold.text, answer.text)
        return False if several else _same_items(values, other_values, leaves)
    if not (names or other_names):
        return _same_members(gold, gold.parts, answer.parts, leaves)
    values, other_values = _in_usual_order(names, values), _in_usual_order(other_names, other_values)
    if len(values) != len(other_values):
        return False
    return _all(
        compare(gold_value, answer_value, leaves) for gold_value, answer_value in zip(values, other_values, strict=True)
    )


def _names(node: Node) -> list[str]:
    """Return the names in a list of equations, x and y for ``x = 1, y = 2``; an empty list if a part has no name."""
    names = [
        words_of_name(part.parts[0].text) or part.parts[0].text
        for part in node.parts
        if part.kind == "=" and part.parts[0].kind == LEAF and is_name(part.parts[0].text)
    ]
    return names if len(names) == len(node.parts) else []


def _values(node: Node, names: list[str]) -> tuple[Node, ...]:
    return tuple(part.parts[1] for part in node.parts) if names else node.parts


def _in_usual_order(names: list[str], values: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the values in the order in which they would be listed without names.

    The order is alphabetical for consecutive letters such as x, y, z. It stays unchanged for other names, such as w, d,
    a.
    """
    codes = sorted(ord(name) for name in names if len(name) == 1)
    if not codes or len(codes) < len(names) or codes != list(range(codes[0], codes[0] + len(codes))):
        return values
    return tuple(value for _, value in sorted(zip(names, values, strict=True), key=lambda pair: pair[0]))


def _same_named(gold: list[tuple[str, Node]], answer: list[tuple[str, Node]], leaves: Leaves) -> Verdict:
    names = {name for name, _ in gold}
    if names != {name for name, _ in answer}:
        return False
    grouped = (
        [[value for item_name, value in named if item_name == name] for named in (gold, answer)] for name in names
    )
    return _all(_same_items(values, other_values, leaves) for values, other_values in grouped)


def _list_and_brackets(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    listed, brackets = (gold, answer) if gold.kind == LIST else (answer, gold)
    if brackets.kind != "()" or brackets.text or listed.text == "or" or len(listed.parts) != len(brackets.parts):
        return False
    names = _names(listed)
    if names and len(set(names)) < len(names):
        return False
    values = _in_usual_order(names, _values(listed, names))
    return _all(compare(value, other, leaves) for value, other in zip(values, brackets.parts, strict=True))


def _same_ratio(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    if gold.kind != RATIO or any(part.kind != LEAF for node in (gold, answer) for part in node.parts):
        return False
    if answer.kind == LEAF:  # 1:2 also equals one half
        return leaves.proportional([part.text for part in gold.parts], [answer.text, "1"])
    if answer.kind != RATIO:
        return False
    return leaves.proportional([part.text for part in gold.parts], [part.text for part in answer.parts])


def _same_equation(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    if all(part.kind == LEAF for node in (gold, answer) for part in node.parts):
        return leaves.same_equation(gold, answer)
    return _in_order(gold, answer, leaves)


def _in_order(gold: Node, answer: Node, leaves: Leaves) -> Verdict:
    if len(gold.parts) != len(answer.parts):
        return False
    return _all(
        compare(gold_part, answer_part, leaves) for gold_part, answer_part in zip(gold.parts, answer.parts, strict=True)
    )


def _same_members(gold: Node, values: Sequence[Node], other_values: Sequence[Node], leaves: Leaves) -> Verdict:
    """Compare lists without regard to order. If the gold list repeats a value, as in ``-1, 3, 3``, counts matter."""
    if gold.kind != LIST or len(set(values)) == len(values):
        return _same_items(values, other_values, leaves)
    if len(values) != len(other_values):
        return False
    counts = []
    for value in values:
        verdicts, other_verdicts = (
            [compare(value, item, leaves) for item in items] for items in (values, other_values)
        )
        counts.append(
            None if None in (*verdicts, *other_verdicts) else verdicts.count(True) == other_verdicts.count(True)
        )
    return _all(counts)


def _same_items(gold: Sequence[Node], answer: Sequence[Node], leaves: Leaves) -> Verdict:
    """Compare without regard to order or counts, but if `gold` repeats an item, the answer must not have more items."""
    if len(set(gold)) < len(gold) < len(answer):
        return False

    def equals(left: Node, right: Node) -> Verdict:
        return False if {left.kind, right.kind} == {SET, LEAF} else compare(left, right, leaves)

    missing = [_any(equals(gold_item, answer_item) for answer_item in answer) for gold_item in gold]
    if False in missing:
        return False
    return _all([*missing, *(_any(equals(gold_item, answer_item) for gold_item in gold) for answer_item in answer)])


def _any(verdicts: Iterable[Verdict]) -> Verdict:
    undecided = False
    for verdict in verdicts:
        if verdict:
            return True
        undecided |= verdict is None
    return None if undecided else False


def _all(verdicts: Iterable[Verdict]) -> Verdict:
    undecided = False
    for verdict in verdicts:
        if verdict is False:
            return False
        undecided |= verdict is None
    return None if undecided else True


def count(node: Node, arithmetic: Callable[[str], int]) -> int:
    """Return the number of unevaluated arithmetic operations in the leaves.

    An equation that does not name a value, such as ``x^2 + y^2 = 5^2``, counts as 0.
    """
    if node.kind == LEAF:
        return arithmetic(node.text)
    if node.kind == "=" and not any(part.kind == LEAF and is_name(part.text) for part in node.parts):
        return 0
    return sum(count(part, arithmetic) for part in node.parts)
