"""Comparison of two runs: the same numbers at the same steps.

``rk.compare_runs("runs/x", "runs/y").df()`` has a row per step and number: step, name, left, right.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rewardkit.store.run import Run, open_run

if TYPE_CHECKING:
    import duckdb
    import pyarrow

_NUMBERS = ("total", "length", "characters", "turns", "calls", "repeated_calls", "tool_errors")


def compare_runs(
    left: Run | str | os.PathLike[str], right: Run | str | os.PathLike[str], *, training: bool = True
) -> duckdb.DuckDBPyRelation:
    """Compare the means of two runs per step: total, components, terms, length, characters, turns and tool calls.

    ``rk.compare_runs("runs/x", "runs/y").filter("name = 'total'").df()``.

    Args:
        training: compare training batches; False compares evaluations.

    Returns:
        A relation with the columns step, name, left, right (null if a run has no value), and left_rows, right_rows:
        the number of rows behind each mean.
    """
    import duckdb

    connection = duckdb.connect()
    for side, run in (("of_left", left), ("of_right", right)):
        opened = run if isinstance(run, Run) else open_run(run)
        connection.register(side, _means(opened, training))
    return connection.sql(
        """select step, name, of_left.mean as "left", of_right.mean as "right",
                  of_left.count as left_rows, of_right.count as right_rows
           from of_left full join of_right using (step, name) order by name, step"""
    )


def _means(run: Run, training: bool) -> pyarrow.Table:
    """Return the columns step, name, mean, count."""
    numbers = [name for name in run.scores().columns if _is_number(name)]
    kind = "training" if training else "not training"
    each = " union all ".join(
        f"select step, {_text(name)} as name, avg({_name(name)}) as mean, count({_name(name)}) as count "
        f"from scores where {kind} group by step"
        for name in numbers
    )
    found: pyarrow.Table = run.sql(f"select * from ({each}) where count > 0").to_arrow_table()
    return found


def _is_number(column: str) -> bool:
    return column in _NUMBERS or column.startswith(("components/", "terms/"))


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(column: str) -> str:
    return "'" + column.replace("'", "''") + "'"
