"""The rows of a recorded run: the completions in consecutive steps, with the columns of their prompts."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from rewardkit.errors import DataError, RunError
from rewardkit.scoring.files import Row
from rewardkit.scoring.parts import Chunk, Listed, Part

if TYPE_CHECKING:
    from rewardkit.record.run import Run

KEYS = ("step", "attempt", "rank", "part", "row", "group", "prompt_id")
KINDS: Mapping[str, type] = {**dict.fromkeys(KEYS, int), "prompt_id": str, "recorded": float}

Until = tuple[tuple[tuple[int, int], int], ...]
"""For each process that wrote a run, its (attempt, rank) and its last batch to read. A run may grow while several
processes read it. With the same `Until`, all of them read the same rows."""

_ROWS = 4096
"""The number of completions fetched at once, unless a single step has more. The number is arbitrary; they must fit in
memory."""


@final
@dataclass(frozen=True)
class RunRows(Part):
    """The training completions in consecutive steps, in order.

    Attributes:
        address: the run's address.
        until: the last batch for each attempt and rank; later batches are excluded.
        first, last: the first and last step, both inclusive.
        columns: the rows' columns.
        rows: the number of rows.
        skip: the number of rows at the start that do not belong to the part.
    """

    address: str
    until: Until
    first: int
    last: int
    columns: tuple[str, ...]
    rows: int
    skip: int = 0

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        rows = _rows(opened_until(self.address, self.until), self.first, self.last, self.columns)[
            self.skip : self.skip + self.rows
        ]
        for start in range(0, len(rows), most):
            yield Listed(rows[start : start + most])

    def sub(self, start: int, stop: int) -> RunRows:
        return replace(self, skip=self.skip + start, rows=stop - start)


def open_recorded(
    address: str, since: int | None = None, until: Until | None = None
) -> tuple[Until, list[tuple[int, int]], tuple[str, ...]]:
    """Return the last batches, (step, number of training completions) for each step, and the columns in all rows.

    Args:
        since: the first step, or None for all steps.
        until: the last batches to read, or None for all recorded batches.

    Raises:
        DataError: `address` does not contain a run.
    """
    from rewardkit.record.queries import example_columns, extent_of, training_counts

    if until is None:
        until = tuple(sorted(extent_of(_opened(address)).batches.items()))
    run = opened_until(address, until)
    example_names = [name for name in example_columns(run) if name not in {*KEYS, "prompt", "completion", "recorded"}]
    return until, training_counts(run, since), (*KEYS, "prompt", *example_names, "completion", "recorded")


def run_parts(
    address: str, until: Until, counts: Sequence[tuple[int, int]], columns: tuple[str, ...]
) -> Iterator[RunRows]:
    """Yield ranges of steps whose completions fit in memory."""
    first, pending_rows = None, 0
    for position, (step, count) in enumerate(counts):
        first = step if first is None else first
        pending_rows += count
        last = position + 1 == len(counts)
        if last or pending_rows + counts[position + 1][1] > _ROWS:
            yield RunRows(address, until, first, step, columns, pending_rows)
            first, pending_rows = None, 0


@functools.lru_cache(maxsize=1)
def opened_until(address: str, until: Until) -> Run:
    """Return the run without batches after `until`.

    Raises:
        DataError: `address` does not contain a run.
    """
    return _opened(address, dict(until))


def _opened(address: str, until: Mapping[tuple[int, int], int] | None = None) -> Run:
    from rewardkit.record.parts import Files
    from rewardkit.record.run import Run

    try:
        return Run(Files.at(address), until)
    except RunError as error:
        raise DataError(str(error)) from None


def _rows(run: Run, first: int, last: int, columns: Sequence[str]) -> list[Row]:
    from rewardkit.record.queries import text_or_messages, training_rows

    rows: list[Row] = []
    for record in training_rows(run, first, last):
        row: Row = {
            **json.loads(record["columns"] or "{}"),
            **{name: record[name] for name in KEYS},
            **{name: text_or_messages(record, name) for name in ("prompt", "completion")},
            "recorded": record["total"],
        }
        rows.append({name: row.get(name) for name in columns})
    return rows
