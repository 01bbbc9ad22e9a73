"""Faults of solutions of coding tasks: another operator, a number off by one, a step left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rewardkit.check.mutants.nodes import called, grouped, number
from rewardkit.check.mutants.sites import Operator, Site

_OTHER_OPERATOR: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_OTHER_COMPARISON: dict[type[ast.cmpop], str] = {
    ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OF_LISTS, _OF_NUMBERS = ("sorted", "reversed", "set"), ("abs", "round", "int")


def other_operator(site: Site) -> Iterator[str]:
    """Two numbers are added instead of subtracted, multiplied instead of divided."""
    node = site.node
    if isinstance(node, ast.BinOp) and type(node.op) in _OTHER_OPERATOR:
        yield grouped(f"{site.of(node.left)} {_OTHER_OPERATOR[type(node.op)]} {site.of(node.right)}")


def other_comparison(site: Site) -> Iterator[str]:
    """A comparison is the wrong way around."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = _OTHER_COMPARISON[type(node.ops[0])]
        yield grouped(f"{site.of(node.left)} {sign} {site.of(node.comparators[0])}")


def nudged_number(site: Site) -> Iterator[str]:
    """A number is one too large or too small."""
    value = number(site.node)
    if value is not None and value == int(value) and not isinstance(site.parent, ast.UnaryOp):
        yield grouped(str(int(value) + 1))
        yield grouped(str(int(value) - 1))


def nothing_returned(site: Site) -> Iterator[str]:
    """A result is not returned."""
    if isinstance(site.node, ast.Return) and site.node.value is not None:
        yield "return None"


def lost_step(site: Site) -> Iterator[str]:
    """A step is left out: a call whose result is not used, or a function such as ``sorted``."""
    node = site.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called(node.value) != "print":
        yield "pass"
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Name):
        inside = site.of(node.args[0])
        if node.func.id in _OF_LISTS:
            yield f"list({inside})"
        if node.func.id in _OF_NUMBERS:
            yield grouped(inside)


def lost_case(site: Site) -> Iterator[str]:
    """A loop ends early, or a case is never reached."""
    node = site.node
    if isinstance(node, ast.Continue):
        yield "break"
    if isinstance(node, ast.Break):
        yield "continue"
    if isinstance(site.parent, ast.If) and site.parent.test is node:
        yield "False"


OF_PROGRAMS: tuple[Operator, ...] = (
    other_operator, other_comparison, nudged_number, nothing_returned, lost_step, lost_case,
)  # fmt: skip
