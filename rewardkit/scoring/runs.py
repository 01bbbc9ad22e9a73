"""The rows of a recorded run: the completions of consecutive steps, with the columns of their prompts."""

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

_ROWS = 4096
"""The completions fetched at once, unless a single step has more. Arbitrary: they must fit in memory."""


@final
@dataclass(frozen=True)
class RunRows(Part):
    """The training completions of consecutive steps, in order.

    Attributes:
        address: the address of the run.
        first, last: the first and last step, both included.
        columns: the columns of the rows.
        rows: the number of rows.
        skip: the number of rows at the start that do not belong to the part.
    """

    address: str
    first: int
    last: int
    columns: tuple[str, ...]
    rows: int
    skip: int = 0

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        rows = _rows(_opened(self.address), self.first, self.last, self.columns)[self.skip : self.skip + self.rows]
        for start in range(0, len(rows), most):
            yield Listed(rows[start : start + most])

    def sub(self, start: int, stop: int) -> RunRows:
        return replace(self, skip=self.skip + start, rows=stop - start)


def open_recorded(address: str, since: int | None = None) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Return (step, number of training completions) for each step, and the columns of all rows.

    Args:
        since: the first step; None for all steps.

    Raises:
        DataError: there is no run at `address`.
    """
    from rewardkit.record.queries import example_columns, training_counts

    _opened.cache_clear()  # the run may have grown
    run = _opened(address)
    example_names = [name for name in example_columns(run) if name not in {*KEYS, "prompt", "completion", "recorded"}]
    return training_counts(run, since), (*KEYS, "prompt", *example_names, "completion", "recorded")


def run_parts(address: str, counts: Sequence[tuple[int, int]], columns: tuple[str, ...]) -> Iterator[RunRows]:
    """Yield ranges of steps with few enough completions to fit in memory."""
    first, pending_rows = None, 0
    for position, (step, count) in enumerate(counts):
        first = step if first is None else first
        pending_rows += count
        last = position + 1 == len(counts)
        if last or pending_rows + counts[position + 1][1] > _ROWS:
            yield RunRows(address, first, step, columns, pending_rows)
            first, pending_rows = None, 0


@functools.lru_cache(maxsize=1)
def _opened(address: str) -> Run:
    from rewardkit.record.run import open_run

    try:
        return open_run(address)
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
