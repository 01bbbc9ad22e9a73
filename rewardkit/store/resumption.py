"""Superseded rows of resumed trainings: the condition ``superseded(cursor)["scores"]`` is true for them.

The rows of an attempt are superseded from the first step that a later attempt trains. An evaluation after step 3 is
recorded at step 3, where a training that resumes from there begins: it stays, unless the later attempt also evaluates
there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rewardkit.store.schema import COLUMNS

if TYPE_CHECKING:
    import duckdb

_OF_TRAINING = "row(attempt, rank, part) not in (select row(attempt, rank, part) from parts.evaluations)"
"""The condition for tables without the column ``training``."""


def superseded(cursor: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    """Return table -> condition for its superseded rows; empty if there are none."""
    found = cursor.execute(
        """select attempt, first, first + (count(*) filter (not training and step = first) = 0)::int
           from everything.scores join (
               select attempt, min(step) as first from everything.scores where training group by attempt
           ) using (attempt) group by attempt, first order by attempt desc"""
    ).fetchall()
    conditions = []
    trained = evaluated = math.inf
    for attempt, first, after in found:
        if trained < math.inf:
            conditions.append(f"attempt = {attempt} and (step >= {evaluated} or step >= {trained} and {{training}})")
        trained, evaluated = min(trained, first), min(evaluated, after)
    if not conditions:
        return {}
    evaluations = "select distinct attempt, rank, part from everything.scores where not training"
    cursor.execute(f"create or replace table parts.evaluations as {evaluations}")
    return {
        table: " or ".join(conditions).format(training="training" if "training" in columns else _OF_TRAINING)
        for table, columns in COLUMNS.items()
        if "attempt" in columns
    }
