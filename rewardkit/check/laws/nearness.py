"""Laws of nearness: an answer nearer to the gold answer earns no less, on either side of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from rewardkit.check.completion.anatomy import as_number
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.laws.golds import needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.arithmetic import Expression, expression_in

_FAR = Fraction(1, 20)
"""How far a value must be from the target to be certainly another one."""
_STEPS = tuple(map(Decimal, ("0.4", "0.9", "1", "2")))
_DISTANCES = frozenset(("abs", "fabs", "isclose"))
"""What a reward calls that measures how far an answer is from the gold answer."""
_GRADES = 4
"""Different scores on the way to the gold answer that show partial credit."""
_SHARES = tuple(map(Decimal, ("0.001", "0.01", "0.04")))


@law
def improves_along_chains(subject: Subject) -> Iterator[Finding]:
    """Partial credit leads a policy uphill; if a better completion earns less, it leads downhill.

    This law checks the declared chains, and answers closer and closer to a gold answer that is a number, if it is
    annotated as one, or if they are seen to earn more and more.
    """
    chains = [([Trial(one, number) for one in chain], "declared better") for number, chain in subject.promises.chains]
    chains += list(_closer(subject))
    if not chains:
        raise Skip("no chains: pass chains=[...]")
    for trials, reason in chains:
        seen = subject.see(trials)
        for before, after, trial in zip(seen, seen[1:], trials[1:], strict=False):
            if before.scored and after.scored and after.value < before.value - 1e-6:
                why = f"is {reason} than a completion that earns {before.value:.6g}, but earns {after.value:.6g}"
                yield finding("improves_along_chains", subject, trial, after, why)
                return


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


@law
def errors_on_both_sides(subject: Subject) -> Iterator[Finding]:
    """If 42.9 counts as 42 and 41.1 does not, digits are cut off, or a sign is lost: the policy learns to err upward.

    Numbers as far above the gold answer as below it earn the same, where one of them is paid in full.
    """
    needs_good(subject)
    looked = False
    for right in judged(subject):
        number = as_number(right.anatomy.gold)
        if number is None or not right.judges or not _means_the_same(number, right):
            continue
        looked = True
        for step in (*_STEPS, *(abs(number) * share for share in _SHARES)):
            if step * 2 >= abs(number):
                continue
            trials = [right.trial(right.anatomy.saying(_written(number + one))) for one in (step, -step)]
            above, below = subject.see(trials)
            if above.scored and below.scored and right.paid(above) != right.paid(below):
                paid, other = (0, 1) if right.paid(above) else (1, 0)
                if covered(subject, right, trials[paid]):
                    continue
                texts = [_written(number + one) for one in (step, -step)]
                seen = (above, below)[paid]
                why = (
                    f"for the gold answer {right.anatomy.gold}, {texts[paid]} earns {seen.value:.6g} and "
                    f"{texts[other]}, which is as near, {(above, below)[other].value:.6g}"
                )
                yield finding("errors_on_both_sides", subject, trials[paid], seen, why)
                return
    if not looked:
        raise Skip("no gold answer is a number that the reward was seen to judge")


def _means_the_same(number: Decimal, right: Judged) -> bool:
    """Whether the column has the very number that the completion has: an estimate has errors of its own."""
    return as_number(right.anatomy.value) == number and abs(number) >= 1


def _written(number: Decimal) -> str:
    return format(number.normalize(), "f")


@law
def expressions_are_exact(subject: Subject) -> Iterator[Finding]:
    """In a countdown task, 23.5 is not 23, and the target itself is no way to make it.

    The numbers of a right expression are combined to values near the target, and to fractions, with the whole number
    below or above as the target.
    """
    needs_good(subject)
    looked = False
    for right in (one for one in judged(subject) if one.judges):
        columns = subject.examples[right.example].columns
        found = expression_in(right.anatomy, columns)
        for expression, target in _near_misses(found) if found is not None else ():
            assert found is not None
            looked = True
            trial = Trial(right.trial(found.saying(expression)).completion, right.example, {found.target: target})
            (seen,) = subject.see([trial])
            if right.paid(seen) and not covered(subject, right, trial):
                why = f"{expression} earns {seen.value:.6g} for the target {target}"
                yield finding("expressions_are_exact", subject, trial, seen, why)
                return
    if not looked:
        raise Skip("no right completion is an expression of numbers whose value is in a column")


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


ALL = (improves_along_chains, errors_on_both_sides, expressions_are_exact)
