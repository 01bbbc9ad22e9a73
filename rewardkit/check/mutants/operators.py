"""Operators: the ordinary bugs of reward functions and of programs, each as a change of one place.

An operator takes a `Site` and yields other texts for it. Its name is what a report shows, its docstring says what goes
wrong. `OF_REWARDS` has those for reward functions by name, `OF_SOLUTIONS` those for solutions of coding tasks.
"""

from __future__ import annotations

from rewardkit.check.mutants.faults_of_batches import OF_BATCHES
from rewardkit.check.mutants.faults_of_patterns import OF_PATTERNS
from rewardkit.check.mutants.faults_of_programs import OF_PROGRAMS
from rewardkit.check.mutants.faults_of_texts import OF_TEXTS, first_for_last, lost_cleaning, shifted_index
from rewardkit.check.mutants.faults_of_values import (
    OF_VALUES,
    lost_absolute_value,
    lost_condition,
    lost_guard,
    lost_term,
    shifted_boundary,
    wrong_aggregation,
)
from rewardkit.check.mutants.sites import Operator


def _named(*operators: Operator) -> dict[str, Operator]:
    return {one.__name__: one for one in operators}


OF_REWARDS: dict[str, Operator] = _named(*OF_PATTERNS, *OF_TEXTS, *OF_VALUES, *OF_BATCHES)
OF_SOLUTIONS: dict[str, Operator] = _named(
    *OF_PROGRAMS, shifted_boundary, first_for_last, shifted_index, lost_cleaning, lost_condition, lost_guard, lost_term,
    lost_absolute_value, wrong_aggregation,
)  # fmt: skip
ALL: dict[str, Operator] = OF_REWARDS | OF_SOLUTIONS
