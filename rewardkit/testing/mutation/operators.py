"""Operators: the ordinary bugs of reward functions, each as a change of one place.

An operator takes a `Site` and yields other texts for it. Its name is what a report shows, its docstring says what goes
wrong. `ALL` has every operator by name.
"""

from __future__ import annotations

from rewardkit.testing.mutation.faults_of_batches import OF_BATCHES
from rewardkit.testing.mutation.faults_of_patterns import OF_PATTERNS
from rewardkit.testing.mutation.faults_of_texts import OF_TEXTS
from rewardkit.testing.mutation.faults_of_values import OF_VALUES
from rewardkit.testing.mutation.sites import Operator

ALL: dict[str, Operator] = {one.__name__: one for one in (*OF_PATTERNS, *OF_TEXTS, *OF_VALUES, *OF_BATCHES)}
