"""Laws of nearness: an answer nearer to the gold answer earns no less, on either side of it."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise, permutations, product
from typing import Any

from rewardkit.check.completion.anatomy import Anatomy, Span, as_number, replaced
from rewardkit.check.findings import Turn
from rewardkit.check.laws.base import Variant, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial

# Arithmetic: the expression in a right completion of a countdown task, and others of the same numbers.


_EXPRESSION = re.compile(r"[\d\s+\-*/()×÷x]+")
_OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_NODES: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_MOST_NUMBERS = 5
_MOST = 4_000


@dataclass(frozen=True)
class Expression:
    """An expression with its place in a completion.

    Attributes:
        text: of the completion.
        span: of the expression.
        numbers: that it uses.
        value: of the expression.
        target: the column with its value.
    """

    text: str
    span: Span
    numbers: tuple[int, ...]
    value: Fraction
    target: str

    def saying(self, expression: str) -> str:
        """Return the completion with another expression."""
        return replaced(self.text, [(self.span, expression)])

    def others(self) -> Iterator[tuple[str, Fraction]]:
        """Yield other expressions of the same numbers, with their values."""
        orders = permutations(self.numbers)
        signs = list(product("+-*/", repeat=len(self.numbers) - 1))
        for order, chosen in islice(((order, chosen) for order in orders for chosen in signs), _MOST):
            made, value = str(order[0]), Fraction(order[0])
            try:
                for sign, number in zip(chosen, order[1:], strict=True):
                    made, value = f"({made} {sign} {number})", _OPERATORS[sign](value, Fraction(number))
            except ZeroDivisionError:
                continue
            yield made[1:-1], value


def expression_in(anatomy: Anatomy, columns: Mapping[str, Any]) -> Expression | None:
    """Return the expression that a right completion marks as its answer; None if its value is in no column."""
    if not anatomy.marked:
        return None
    body = anatomy.region.of(anatomy.text)
    written = body.split("=")[0]
    if not _EXPRESSION.fullmatch(written) or not re.search(r"\d\s*[-+*/×÷x]\s*[\d(]", written):
        return None
    value = _value(written.replace("×", "*").replace("x", "*").replace("÷", "/").strip())
    if value is None:
        return None
    numbers = tuple(map(int, re.findall(r"\d+", written)))
    if not 2 <= len(numbers) <= _MOST_NUMBERS:
        return None
    target = next((name for name, cell in columns.items() if _is_number(cell) and Fraction(cell) == value), "")
    if not target or not any(_numbers(cell) == sorted(numbers) for cell in columns.values()):
        return None
    start = anatomy.region.start + len(written) - len(written.lstrip())
    return Expression(anatomy.text, Span(start, start + len(written.strip())), numbers, value, target)


def _is_number(cell: Any) -> bool:
    return type(cell) is int or (isinstance(cell, float) and math.isfinite(cell))


def _numbers(cell: Any) -> Sequence[Any]:
    is_list = isinstance(cell, (list, tuple)) and all(map(_is_number, cell))
    return sorted(cell) if is_list else []


def _value(written: str) -> Fraction | None:
    try:
        return _of(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _of(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _NODES:
        return _NODES[type(node.op)](_of(node.left), _of(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    raise ValueError("no arithmetic")


_FAR = Fraction(1, 20)
"""How far a value must be from the target to be certainly another one."""
_STEPS = tuple(map(Decimal, ("0.4", "0.9", "1", "2")))
_DISTANCES = frozenset(("abs", "fabs", "isclose"))
"""What a reward calls that measures how far an answer is from the gold answer."""
_GRADES = 4
"""Different scores on the way to the gold answer that show partial credit."""
_SHARES = tuple(map(Decimal, ("0.001", "0.01", "0.04")))


@law(
    advice="Make each step toward the right answer earn more",
    skip="no chains: pass chains=[...]",
)
def improves_along_chains(subject: Subject) -> Iterator[Variant]:
    """Partial credit leads a policy uphill; if a better completion earns less, it leads downhill.

    This law checks the declared chains, and answers closer and closer to a gold answer that is a number, if it is
    annotated as one, or if they are seen to earn more and more.
    """
    chains = [([Trial(one, number) for one in chain], "declared better") for number, chain in subject.promises.chains]
    for trials, reason in (*chains, *_closer(subject)):
        for before, after in pairwise(trials):
            why = f"is {reason} than a completion that earns {{base}}, but earns {{score}}"
            yield Variant(after, why, "no less", before, slack=1e-6)


def _closer(subject: Subject) -> Iterator[tuple[list[Trial], str]]:
    """Yield numbers that approach a gold answer, from either side, if the reward measures how near they are."""
    for right in judged(subject):
        number = as_number(right.anatomy.value)
        declared = _numeric(subject, right.anatomy.column)
        if number is None or number == 0 or not right.judges or not (declared or subject.mined.names & _DISTANCES):
            continue
        for sign in (1, -1):
            factors = (10, 5, 3, 2, 1.5, 1.25, 1.1) if sign == 1 else (0, 0.25, 0.5, 0.75, 0.9)
            whole = number == number.to_integral_value()
            answers = [float(number) * factor for factor in factors]
            texts = [str(round(answer)) if whole and abs(number) >= 20 else f"{answer:.6g}" for answer in answers]
            if len(set(texts)) == len(texts):
                trials = [right.trial(right.anatomy.saying(text)) for text in [*texts, right.anatomy.gold]]
                if declared or len({round(seen.value, 9) for seen in subject.see(trials)}) >= _GRADES:
                    yield trials, "closer to the gold answer"


def _numeric(subject: Subject, column: str) -> bool:
    return any(
        parameter.source == column and parameter.annotation in (float, int)
        for _, binding in subject.bindings
        for parameter in binding.parameters
    )


@law(
    advice="Take the distance as an absolute value: abs(said - gold)",
    skip="no gold answer is a number that the reward was seen to judge",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def errors_on_both_sides(subject: Subject, right: Judged) -> Iterator[Variant | None]:
    """If 42.9 counts as 42 and 41.1 does not, digits are cut off, or a sign is lost: the policy learns to err upward.

    Numbers as far above the gold answer as below it earn the same, where one of them is paid in full.
    """
    gold = right.anatomy.gold
    number = as_number(gold)
    # The column must have the very number that the completion has: an estimate has errors of its own.
    if number is None or not right.judges or as_number(right.anatomy.value) != number or abs(number) < 1:
        return
    yield None
    for step in (*_STEPS, *(abs(number) * share for share in _SHARES)):
        if step * 2 >= abs(number):
            continue
        texts = [format((number + error).normalize(), "f") for error in (step, -step)]
        trials = [right.trial(right.anatomy.saying(text)) for text in texts]
        scores = subject.see(trials)
        paid = [right.paid(score) for score in scores]
        if all(score.scored for score in scores) and paid[0] != paid[1]:
            high, low = (0, 1) if paid[0] else (1, 0)
            why = (
                f"for the gold answer {gold}, {texts[high]} earns {{score}} and {texts[low]}, which is as near, "
                f"{scores[low].value:.6g}"
            )
            yield Variant(trials[high], why)


@law(
    advice="Compare the value exactly, with fractions.Fraction or a tolerance of 1e-6",
    skip="no right completion is an expression of numbers whose value is in a column",
    applies=needs_good,
    per=judged,
)
def expressions_are_exact(subject: Subject, right: Judged) -> Iterator[Variant]:
    """In a countdown task, 23.5 is not 23, and the target itself is no way to make it.

    The numbers of a right expression are combined to values near the target, and to fractions, with the whole number
    below or above as the target.
    """
    written = expression_in(right.anatomy, subject.examples[right.example].columns) if right.judges else None
    for expression, target in _near_misses(written) if written is not None else ():
        assert written is not None
        completion = right.trial(written.saying(expression)).completion
        why = f"{expression} earns {{score}} for the target {target}"
        yield Variant(Trial(completion, right.example, {written.target: target}), why)


def _near_misses(right: Expression) -> Iterator[tuple[str, int]]:
    """Yield expressions of the same numbers, each with a target that it misses."""
    target = int(right.value)
    if target not in right.numbers:
        yield str(target), target
    others = list(right.others())
    near = [(abs(value - target), made) for made, value in others if _FAR <= abs(value - target) < 1]
    yield from ((made, target) for _, made in sorted(near)[:3])
    broken = [(made, value) for made, value in others if value > 1 and _FAR < value % 1 < 1 - _FAR]
    for made, value in broken[:3]:
        yield from ((made, whole) for whole in (math.floor(value), math.ceil(value)))
