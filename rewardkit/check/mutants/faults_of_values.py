"""Faults of deciding and counting: a condition is wrong or missing, a score has no limit, an error is paid."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rewardkit.check.mutants.nodes import called, grouped, is_text, number
from rewardkit.check.mutants.sites import Operator, Site

_BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_AGGREGATION = {"any": "all", "all": "any", "max": "min", "min": "max", "sum": "max"}


def negated(site: Site) -> Iterator[str]:
    """A condition is the wrong way around."""
    parent = site.parent
    if isinstance(parent, (ast.If, ast.IfExp)) and parent.test is site.node:
        yield f"(not ({site.text}))"


def lost_condition(site: Site) -> Iterator[str]:
    """One of several conditions is missing, or one is enough."""
    node = site.node
    if not isinstance(node, ast.BoolOp):
        return
    for one in node.values:
        rest = [site.of(value) for value in node.values if value is not one]
        yield grouped((" and " if isinstance(node.op, ast.And) else " or ").join(rest))
    other = " or " if isinstance(node.op, ast.And) else " and "
    yield grouped(other.join(map(site.of, node.values)))


def lost_guard(site: Site) -> Iterator[str]:
    """A case that must be handled first is not."""
    node = site.node
    if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue)):
        yield "pass"


def shifted_boundary(site: Site) -> Iterator[str]:
    """A limit counts as inside, or no longer does."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BOUNDARY:
        left, right = site.of(node.left), site.of(node.comparators[0])
        yield grouped(f"{left} {_BOUNDARY[type(node.ops[0])]} {right}")


def any_number_of(site: Site) -> Iterator[str]:
    """Exactly one is asked for, and several are enough."""
    node = site.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        wanted = number(node.comparators[0])
        if wanted is not None and wanted > 0:
            yield grouped(f"{site.of(node.left)} >= {site.of(node.comparators[0])}")


def wrong_tolerance(site: Site) -> Iterator[str]:
    """A tolerance is relative instead of absolute, or much too wide."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in ("isclose", "allclose", "approx"):
        for keyword in node.keywords:
            if keyword.arg in ("abs_tol", "rel_tol"):
                other = "rel_tol" if keyword.arg == "abs_tol" else "abs_tol"
                if all(one.arg != other for one in node.keywords):
                    yield site.text.replace(keyword.arg, other)
                yield site.text.replace(site.of(keyword.value), "0.1")
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE)):
        limit = node.comparators[0]
        value = number(limit)
        if value is not None and 0.0 < value < 0.1:
            sign = "<" if isinstance(node.ops[0], ast.Lt) else "<="
            yield grouped(f"{site.of(node.left)} {sign} {site.of(limit)} * 10_000")


def lost_absolute_value(site: Site) -> Iterator[str]:
    """A difference counts as small if it is negative."""
    node = site.node
    if called(node) in ("abs", "fabs") and isinstance(node, ast.Call) and len(node.args) == 1:
        yield grouped(site.of(node.args[0]))


def paid_error(site: Site) -> Iterator[str]:
    """What could not be read is paid."""
    node = site.node
    if not any(isinstance(parent, ast.ExceptHandler) for parent in site.parents):
        return
    if isinstance(node, ast.Return) and (node.value is None or _is_low(node.value)):
        yield "return 1.0"
    if isinstance(node, ast.Constant) and _is_low(node) and called(site.parent) == "append":
        yield "1.0"
    if isinstance(node, ast.Raise):
        yield "return 1.0"


def wrong_case(site: Site) -> Iterator[str]:
    """A case earns full marks instead of none, or none instead of full marks."""
    node, parent = site.node, site.parent
    value = number(node)
    if value is None or any(isinstance(one, ast.ExceptHandler) for one in site.parents):
        return
    is_result = isinstance(parent, (ast.Return, ast.IfExp)) or called(parent) == "append"
    if is_result and value in (0.0, 1.0):
        yield "1.0" if value == 0.0 else "0.0"


def unlimited(site: Site) -> Iterator[str]:
    """A score is not limited from above, or from below."""
    node = site.node
    if not (isinstance(node, ast.Call) and called(node) in ("min", "max") and len(node.args) == 2):
        return
    for one, other in (node.args, node.args[::-1]):
        if number(one) is None and number(other) is not None:
            yield grouped(site.of(one))


def wrong_aggregation(site: Site) -> Iterator[str]:
    """One is enough where all must hold; the best counts where the mean should."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(site.parent, ast.Call) and site.parent.func is node:
        other = _AGGREGATION.get(node.id)
        arguments = site.parent.args
        if other and len(arguments) == 1 and not (node.id in ("min", "max") and number(arguments[0]) is not None):
            yield other


def lost_term(site: Site) -> Iterator[str]:
    """A term or factor is missing."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield grouped(site.of(node.left))
        if isinstance(node.op, (ast.Add, ast.Mult)):
            yield grouped(site.of(node.right))
    if isinstance(node, ast.AugAssign):
        yield "pass"
        yield f"{site.of(node.target)} = {site.of(node.value)}"


def wrong_sign(site: Site) -> Iterator[str]:
    """A penalty is added, a bonus subtracted."""
    node = site.node
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
    if isinstance(node, ast.BinOp) and is_sum and not (is_text(node.left) or is_text(node.right)):
        sign = "-" if isinstance(node.op, ast.Add) else "+"
        yield grouped(f"{site.of(node.left)} {sign} {site.of(node.right)}")
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
        sign = "-=" if isinstance(node.op, ast.Add) else "+="
        yield f"{site.of(node.target)} {sign} {site.of(node.value)}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(site.parent, ast.Subscript):
        yield grouped(site.of(node.operand))


def swapped_arguments(site: Site) -> Iterator[str]:
    """Two arguments are the wrong way around."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in ("zip", "min", "max"):
        names = [one for one in node.args if isinstance(one, (ast.Name, ast.Subscript, ast.Call))]
        if len(node.args) == len(names) == 2 and not node.keywords and node.func.id not in ("isinstance", "range"):
            yield f"{node.func.id}({site.of(names[1])}, {site.of(names[0])})"


def _is_low(node: ast.expr) -> bool:
    value = number(node)
    is_none = isinstance(node, ast.Constant) and (node.value is None or node.value is False)
    return is_none or (value is not None and value <= 0.0)


OF_VALUES: tuple[Operator, ...] = (
    negated, lost_condition, lost_guard, shifted_boundary, any_number_of, wrong_tolerance, lost_absolute_value,
    paid_error, wrong_case, unlimited, wrong_aggregation, lost_term, wrong_sign, swapped_arguments,
)  # fmt: skip
