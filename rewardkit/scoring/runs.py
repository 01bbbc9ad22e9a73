"""Rows of a recorded run: the completions of consecutive steps, with the columns of their prompts."""

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
"""Completions fetched at once, unless a step has more."""


@final
@dataclass(frozen=True)
class RunRows(Part):
    """The training completions of consecutive steps, in order.

    Attributes:
        address: of the run.
        first, last: the steps.
        columns: of the rows.
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
    """Return the number of training completions of each step, and the columns of all rows.

    Args:
        since: the first step; None: all.

    Raises:
        DataError: there is no run.
    """
    _opened.cache_clear()  # the run may have grown
    run = _opened(address)
    counts: list[tuple[int, int]] = run.sql(
        "select step, count(*) from scores where training and step >= coalesce(?, step) group by step order by step",
        [since],
    ).fetchall()
    names: set[str] = set()
    for (cells,) in run.sql("select distinct cast(json_keys(columns) as varchar[]) from prompts").fetchall():
        names.update(cells or ())
    others = sorted(names - {*KEYS, "prompt", "completion", "recorded"})
    return counts, (*KEYS, "prompt", *others, "completion", "recorded")


def run_parts(address: str, counts: Sequence[tuple[int, int]], columns: tuple[str, ...]) -> Iterator[RunRows]:
    """Yield spans of steps with few enough completions to fit in memory."""
    first, held = None, 0
    for position, (step, count) in enumerate(counts):
        first = step if first is None else first
        held += count
        last = position + 1 == len(counts)
        if last or held + counts[position + 1][1] > _ROWS:
            yield RunRows(address, first, step, columns, held)
            first, held = None, 0


@functools.lru_cache(maxsize=1)
def _opened(address: str) -> Run:
    from rewardkit.record.run import open_run

    try:
        return open_run(address)
    except RunError as error:
        raise DataError(str(error)) from None


def _rows(run: Run, first: int, last: int, columns: Sequence[str]) -> list[Row]:
    found = run.sql(
        "select s.step, s.attempt, s.rank, s.part, s.row, s.group, s.prompt_id, p.prompt, p.messages, p.columns, "
        "c.completion, c.messages, s.total from scores s join completions c using (attempt, rank, part, row) "
        "left join prompts p on p.prompt_id = s.prompt_id where s.training and s.step between ? and ? "
        "order by s.step, s.attempt, s.rank, s.part, s.row",
        [first, last],
    ).fetchall()
    rows: list[Row] = []
    for *keys, prompt, asked, cells, completion, said, total in found:
        row: Row = {
            **json.loads(cells or "{}"),
            **dict(zip(KEYS, keys, strict=True)),
            "prompt": prompt if asked is None else json.loads(asked),
            "completion": completion if said is None else json.loads(said),
            "recorded": total,
        }
        rows.append({name: row.get(name) for name in columns})
    return rows
