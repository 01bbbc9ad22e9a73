"""Survivors: wrong programs that the tests of an example accept.

The right program is broken in one place at a time. What the reward refuses is certainly wrong; what it accepts is run
on fresh inputs and is wrong if it gives other outputs than the right program does. Each such input is a missing test.

The idea to measure the tests of coding tasks by mutating their solutions is gameability's (Empyrean Intelligence).
"""

from __future__ import annotations

import ast
import math
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.primitives.sandbox.cases import lines
from rewardkit.testing.mutation.mutants import Mutant, mutants
from rewardkit.testing.mutation.operators import OF_SOLUTIONS
from rewardkit.testing.programs.fresh_inputs import fresh_inputs
from rewardkit.testing.programs.outputs import outputs
from rewardkit.testing.programs.suites import Suite

_INPUTS = 16
"""Fresh inputs for each example."""
_NO_VALUE = object()


@dataclass(frozen=True)
class Survivor:
    """A wrong program that passes all tests.

    Attributes:
        mutant: the right program with one fault.
        given: an input that no test has: standard input, or the source of the arguments.
        expected: what the right program gives for it.
        found: what the wrong one gives; None if it fails.
    """

    mutant: Mutant
    given: str
    expected: str
    found: str | None

    def missing_test(self, suite: Suite) -> str:
        """Return the test that would reject it, in the form that the column has."""
        if suite.function:
            return f"assert {suite.function}({self.given}) == {self.expected}"
        return str({"input": self.given, "output": self.expected})


@dataclass(frozen=True)
class Survival:
    """How many wrong programs the tests of one example accept.

    Attributes:
        wrong: the number of wrong programs tried.
        survivors: those that pass.
    """

    wrong: int
    survivors: tuple[Survivor, ...]


def survival(
    suite: Suite,
    pays: Callable[[str], bool],
    *,
    most: int = 24,
    seed: int = 0,
    over: Callable[[], bool] = lambda: False,
) -> Survival | None:
    """Try wrong programs on the tests of an example; None if nothing can be said about them.

    Args:
        suite: the right program and its tests.
        pays: whether the reward pays a completion like the right one.
        most: wrong programs, drawn at random.
        seed: the same seed draws the same programs and inputs.
        over: whether the time is over.

    Raises:
        RewardFailure: no sandbox works here.
    """
    program = textwrap.dedent(suite.span.of(suite.text))
    try:
        made = mutants(program, operators=list(OF_SOLUTIONS))
    except RewardDefinitionError:
        return None  # not Python
    known = _known(program, suite, seed) if made else []
    if not known:
        return None
    chosen = sorted(random.Random(seed).sample(made, min(most, len(made))), key=lambda one: one.line)
    wrong, survivors = 0, []
    for mutant in chosen:
        if over():
            break
        if not pays(suite.running(mutant.source)):
            wrong += 1
            continue
        said = outputs(mutant.source, suite, [given for given, _ in known])
        for (given, expected), found in zip(known, said, strict=True):
            if not _equal(expected, found):
                wrong += 1
                survivors.append(Survivor(mutant, given, expected, found))
                break
    return Survival(wrong, tuple(survivors)) if wrong else None


def _known(program: str, suite: Suite, seed: int) -> list[tuple[str, str]]:
    """Return fresh inputs with what the right program gives for them, each time, in a form that a test can have."""
    inputs = fresh_inputs(suite, _INPUTS, seed)
    if not inputs:
        return []
    first, again = (outputs(program, suite, inputs) for _ in range(2))
    return [
        (given, said)
        for given, said, other in zip(inputs, first, again, strict=True)
        if said is not None and _equal(said, other) and (not suite.function or _value(said) is not _NO_VALUE)
    ]


def _equal(one: str, other: str | None) -> bool:
    """Whether two outputs are equal as tests compare them: as values, or without white space at line ends."""
    if other is None:
        return False
    values = _value(one), _value(other)
    if _NO_VALUE not in values:
        return bool(values[0] == values[1]) or _near(*values)
    return lines(one.encode()) == lines(other.encode())


def _near(one: Any, other: Any) -> bool:
    """Whether two numbers differ only by rounding."""
    return isinstance(one, (int, float)) and isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=1e-9)


def _value(said: str) -> Any:
    """Return the value that an output spells, or `_NO_VALUE`."""
    try:
        return ast.literal_eval(said)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
