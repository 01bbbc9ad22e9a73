r"""Families of solutions: ``\frac{\pi}{4} + \frac{k\pi}{2}`` is ``\frac{\pi}{4} + n\pi, \frac{3\pi}{4} + n\pi``.

A family has one parameter, an integer, and is linear in it. Two lists of families are equal if they have the same
residues modulo a common period. ``x \equiv 2, 3 \pmod 4`` is such a list, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

from rewardkit.rewards.math_equal.closed_form import (
    Formula,
    difference,
    formula,
    quotient,
    rational,
    split_by,
    variables,
)
from rewardkit.rewards.math_equal.structure import LEAF, LIST, SET, Node, parse

PARAMETERS = frozenset("klmnpt")
MAX_RESIDUES = 64

_VARIABLE = re.compile(r"(?:[A-Za-z]|\\(?:theta|alpha|beta|gamma|varphi|omega|phi))(?:_\{[A-Za-z0-9]+\})?")
_CONGRUENT = re.compile(
    r"(?:(?P<name>[A-Za-z])\s*)?\\equiv\s*(?P<residues>.+?)\s*[,(]*\s*(?:\\pmod|\\mod|\\text\s*\{\s*mod\s*\})\s*\{?\s*(?P<modulus>[0-9]{1,6})\s*\}?\)*"
)
_CONGRUENT_IN_WORDS = re.compile(
    r"(?:\\text\s*\{\s*)?(?P<name>)[A-Za-z ]*congruent to\s*\}?(?P<residues>[-0-9, andor]{1,60})(?:\\text\s*\{\s*)?"
    r"(?:modulo|mod)\s*\}?\s*(?P<modulus>[0-9]{1,6})\s*\}?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Family:
    """All numbers ``offset + k * period``, and the variable that they are the values of, if one is named."""

    offset: Formula
    period: Formula
    name: str = ""


def families(text: str, letters: str, *, is_stated: bool) -> list[Family] | None:
    r"""Return the families that a text lists; None if it is no list of families.

    Args:
        letters: the parameters that the text declares.
        is_stated: whether it is said that the parameter is an integer. Without that, only several multiples of pi or
            degrees are families, since a single one may be a formula: the angles of a polygon add up to ``(n - 2)\pi``.
    """
    congruent = _CONGRUENT.fullmatch(text) or _CONGRUENT_IN_WORDS.fullmatch(text)
    if congruent:
        residues = [formula(part.text) for part in _parts(parse(congruent["residues"])) if part.kind == LEAF]
        period = formula(congruent["modulus"])
        if period is None or not all(residues):
            return None
        return [Family(residue, period, congruent["name"] or "") for residue in residues if residue]
    found = []
    listed = _parts(parse(text))
    names = {part.parts[0].text for part in listed if part.kind == "="}
    if (not is_stated and len(listed) < 2) or len(names) > 1 or not all(map(_VARIABLE.fullmatch, names)):
        return None  # the parameter of x = 2t, y = 3t is the same in both
    for part in listed:
        value = part.parts[1] if part.kind == "=" else part
        read = formula(value.text) if value.kind == LEAF else None
        family = _family(read, letters, is_stated=is_stated) if read else None
        if family is None:
            return None
        found.append(replace(family, name=part.parts[0].text if part.kind == "=" else ""))
    return found


def _parts(node: Node) -> tuple[Node, ...]:
    if node.kind == "=" and node.parts[1].kind == LIST:
        return tuple(Node("=", (node.parts[0], part)) for part in node.parts[1].parts)
    return node.parts if node.kind in (LIST, SET) else (node,)


def _family(value: Formula, letters: str, *, is_stated: bool) -> Family | None:
    free = variables(value) - {"°"}
    if len(free) != 1 or not free <= (set(letters) or PARAMETERS):
        return None
    parts = split_by(value, free.pop())
    if parts is None:
        return None
    period, offset = parts
    if not is_stated and not any(letter in ("\\pi", "°") for monomial in period.above for letter, _ in monomial):
        return None
    return Family(offset, period)


def are_least(found: list[Family]) -> bool:
    """Return whether all offsets are from zero up to the period: then a parameter may as well start at 0."""
    pairs = [(rational(family.offset), rational(family.period)) for family in found]
    return all(offset is not None and period is not None and 0 <= offset < period for offset, period in pairs)


def same_families(gold: list[Family], answer: list[Family]) -> bool | None:
    """Return whether two lists of families have the same members; None if they have no common period."""
    if gold[0].name and answer[0].name and gold[0].name != answer[0].name:
        return False
    base = gold[0].period
    lengths = [rational(quotient(family.period, base)) for family in (*gold, *answer)]
    if any(length is None or length == 0 for length in lengths):
        return None
    steps = [abs(length) for length in lengths if length]
    shared = Fraction(lcm(*(step.numerator for step in steps)), gcd(*(step.denominator for step in steps)))
    sizes = [int(shared / step) for step in steps]
    if sum(sizes) > MAX_RESIDUES:
        return None
    members = [
        _members(family, base, step, size) for family, step, size in zip((*gold, *answer), steps, sizes, strict=True)
    ]
    ours = [member for row in members[: len(gold)] for member in row]
    theirs = [member for row in members[len(gold) :] for member in row]
    return all(_meets(one, theirs, base, shared) for one in ours) and all(
        _meets(one, ours, base, shared) for one in theirs
    )


def _members(family: Family, base: Formula, step: Fraction, size: int) -> list[tuple[Formula, Fraction]]:
    return [(family.offset, step * index) for index in range(size)]


def _meets(
    one: tuple[Formula, Fraction], others: list[tuple[Formula, Fraction]], base: Formula, shared: Fraction
) -> bool:
    """Return whether a member equals one of the others, modulo the shared period."""
    for other in others:
        gap = difference(one[0], other[0])
        turns = rational(quotient(gap, base)) if gap else None
        if turns is not None and ((turns + one[1] - other[1]) / shared).denominator == 1:
            return True
    return False
