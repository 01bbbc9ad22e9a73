"""Faults of reading texts: the wrong one of several, a part for the whole, marks and spaces that stay."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rewardkit.check.mutants.nodes import called, grouped, is_text, number
from rewardkit.check.mutants.sites import Operator, Site

_CLEANING = frozenset((
    "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "replace", "removeprefix", "removesuffix", "title",
    "splitlines",
))  # fmt: skip
_FROM_THE_OTHER_END = {
    "rfind": "find", "rindex": "index", "rsplit": "split", "rpartition": "partition", "find": "rfind",
    "index": "rindex", "partition": "rpartition", "startswith": "endswith", "endswith": "startswith",
}  # fmt: skip


def first_for_last(site: Site) -> Iterator[str]:
    """The first of several is taken for the last one, or the other way around."""
    node = site.node
    if isinstance(node, ast.Subscript):
        place = number(node.slice)
        if place in (-1.0, 0.0):
            yield f"{site.of(node.value)}[{'0' if place else '-1'}]"
    if isinstance(node, ast.Attribute) and isinstance(site.parent, ast.Call) and site.parent.func is node:
        other = _FROM_THE_OTHER_END.get(node.attr)
        if other:
            yield site.text[: -len(node.attr)] + other


def shifted_index(site: Site) -> Iterator[str]:
    """An index or the number of a group is off by one."""
    node = site.node
    if isinstance(node, ast.Subscript):
        place = number(node.slice)
        if place is not None and place >= 0:
            yield f"{site.of(node.value)}[{int(place) + 1}]"
    if called(node) == "group" and isinstance(node, ast.Call) and len(node.args) == 1:
        place = number(node.args[0])
        if place is not None:
            yield f"{site.of(node.func)}({0 if place else 1})"


def contained(site: Site) -> Iterator[str]:
    """It is enough that the answer occurs in the text, or the text in the answer."""
    node = site.node
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)):
        return
    left, right = node.left, node.comparators[0]
    if any(
        number(side) is not None or called(side) in ("len", "count", "float", "int", "abs") for side in (left, right)
    ):
        return
    yield grouped(f"{site.of(right)} in {site.of(left)}")
    yield grouped(f"{site.of(left)} in {site.of(right)}")


def lost_cleaning(site: Site) -> Iterator[str]:
    """White space, case, units or marks are not removed before the comparison."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CLEANING:
        yield site.of(node.func.value)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("sub", "subn") and len(node.args) >= 2:
        yield site.of(node.args[-1 if len(node.args) < 3 else 2])


def lost_split(site: Site) -> Iterator[str]:
    """What comes before a mark, such as the thinking, is not removed."""
    node = site.node
    if isinstance(node, ast.Subscript) and called(node.value) in ("split", "rsplit", "partition", "rpartition"):
        assert isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Attribute):
            yield site.of(node.value.func.value)


def half_a_mark(site: Site) -> Iterator[str]:
    """A tag is looked for without its brackets, or only its opening one."""
    node = site.node
    if not is_text(node) or not isinstance(node, ast.Constant) or not isinstance(site.parent, (ast.Call, ast.Compare)):
        return
    text = node.value
    if isinstance(text, str) and text.startswith("</") and text.endswith(">") and "\\" not in text:
        yield repr(text.replace("</", "<"))
        yield repr(text.strip("</>"))


def evaluated(site: Site) -> Iterator[str]:
    """The completion is run as a program."""
    node = site.node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "int")):
        return
    if len(node.args) == 1 and not is_text(node.args[0]):
        yield f"{node.func.id}(eval(str({site.of(node.args[0])})))"


OF_TEXTS: tuple[Operator, ...] = (
    first_for_last, shifted_index, contained, lost_cleaning, lost_split, half_a_mark, evaluated,
)  # fmt: skip
