"""Tables of several batches, joined into one: ``joined([first, second]).total`` has the rows of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import Measured
from rewardkit.core.batch.table import ScoreTable


def joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Join at least one table of the same reward; weights are averaged over the rows that they count in.

    What functions logged for a whole batch is averaged over the rows, too; what they logged for each completion is left
    out.
    """
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    starts = list(itertools.accumulate((len(table) for table in tables), initial=0))
    return replace(
        first,
        completions=[text for table in tables for text in table.completions],
        components={name: _joined([table.components[name] for table in tables], starts) for name in first.components},
        terms={name: np.concatenate([table.terms[name] for table in tables]) for name in first.terms},
        total=np.concatenate([table.total for table in tables]),
        weights={name: _averaged(tables, name) for name in _names(table.weights for table in tables)},
        reached={
            name: sum(table.reached.get(name, 0) for table in tables)
            for name in _names(table.reached for table in tables)
        },
        passed={name: _passed(tables, name) for name in _names(table.passed for table in tables)},
        gauges=tables[-1].gauges,
        measures={
            name: _summed([table.measures[name] for table in tables if name in table.measures])
            for name in _names(table.measures for table in tables)
        },
        timings=_sums([table.timings for table in tables]),
        faults=tuple(
            replace(fault, row=fault.row + start)
            for table, start in zip(tables, starts, strict=False)
            for fault in table.faults
        ),
        metrics={name: _mean(tables, name) for name in _names(table.metrics for table in tables)},
        extras={},
    )


def _joined(columns: Sequence[Column], starts: Sequence[int]) -> Column:
    names = _names(column.parts for column in columns)
    placed = list(zip(columns, starts, strict=False))
    return Column(
        np.concatenate([column.values for column in columns]),
        np.concatenate([column.codes for column in columns]),
        {start + row: note for column, start in placed for row, note in column.notes.items()},
        {
            name: np.concatenate([column.parts.get(name, np.full(len(column.values), np.nan)) for column in columns])
            for name in names
        },
        turns={start + row: turns for column, start in placed for row, turns in column.turns.items()},
    )


def _names(found: Iterable[Iterable[str]]) -> dict[str, None]:
    """Return the names that occur; rows that could not be scored lack some."""
    return dict.fromkeys(name for names in found for name in names)


def _passed(tables: Sequence[ScoreTable], name: str) -> tuple[Rows, Rows]:
    found = []
    for table in tables:
        nowhere = np.zeros(len(table), dtype=np.bool_)
        found.append(table.passed.get(name, (nowhere, nowhere)))
    return np.concatenate([reached for reached, _ in found]), np.concatenate([passed for _, passed in found])


def _averaged(tables: Sequence[ScoreTable], name: str) -> float:
    counts = [table.reached.get(name, 0) for table in tables]
    weights = [table.weights.get(name, 0.0) for table in tables]
    total = sum(counts)
    return sum(count * weight for count, weight in zip(counts, weights, strict=True)) / total if total else max(weights)


def _summed(found: Sequence[Measured]) -> Measured:
    total = found[0]
    for one in found[1:]:
        total = total + one
    return total


def _sums(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(one.get(name, 0.0) for one in found) for name in _names(found)}


def _mean(tables: Sequence[ScoreTable], name: str) -> float:
    found = [(table.metrics[name], len(table)) for table in tables if name in table.metrics]
    return float(np.average([mean for mean, _ in found], weights=[rows for _, rows in found]))
