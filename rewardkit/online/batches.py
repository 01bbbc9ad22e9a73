"""Grouping of rows into batches for the scorer. A row that cannot be scored does not affect the other rows."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import FAILED, SKIPPED, Fault, Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import (
    BindingError,
    CoercionError,
    RewardBug,
    RewardDefinitionError,
    RewardFailure,
    RunStopped,
    shorten,
)
from rewardkit.online.rows import Row, failed_rows
from rewardkit.progress.progress import Progress
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.workers.backoff import Backoff

Places = Sequence[int]


class Scored(NamedTuple):
    """The scores for the rows at `places`.

    `final` is True if a retry would fail the same way, for example, because a column is missing.
    """

    places: Places
    table: ScoreTable
    final: bool = False


def batch_of(rows: Sequence[Row], progress: Progress | None, num_generations: int | None = None) -> Batch:
    """Return a batch with rows that have the same columns.

    Raises:
        BindingError: the rows' columns differ.
    """
    for row in rows:
        if row.columns.keys() != rows[0].columns.keys():
            raise BindingError(
                f"rows that are scored together must have the same columns, but one row has {_names(rows[0])}, "
                f"and another row has {_names(row)}"
            )
    cut = [bool(row.cut) for row in rows] if any(row.cut is not None for row in rows) else None
    return Batch(
        [row.completion for row in rows],
        prompts=_listed([row.prompt for row in rows]),
        completion_ids=_listed([row.completion_ids for row in rows]),
        columns={name: [row.columns[name] for row in rows] for name in rows[0].columns},
        progress=progress,
        num_generations=num_generations,
        rollouts=RolloutInfo(cut=cut, runs_calls=any(row.runs_calls for row in rows)),
    )


def _names(row: Row) -> str:
    return ", ".join(sorted(row.columns)) or "none"


def _listed(values: list[Any]) -> list[Any] | None:
    return None if all(value is None for value in values) else [[] if value is None else value for value in values]


def kinds(rows: Sequence[Row]) -> list[Places]:
    """Group the positions of rows that fit into one batch: the same columns, and either all or none with a prompt."""
    positions_by_kind: dict[Any, list[int]] = {}
    for position, row in enumerate(rows):
        absent = row.prompt is None, row.completion_ids is None, row.cut is None
        kind = (frozenset(row.columns), *absent, row.runs_calls)
        positions_by_kind.setdefault(kind, []).append(position)
    return list(positions_by_kind.values())


def tables(
    scorer: Scorer,
    rows: Sequence[Row],
    positions: Places,
    progress: Progress | None,
    *,
    bugs_stop: bool = False,
    cells_stop: bool = False,
) -> Iterator[Scored]:
    """Yield the scores for the rows at `positions`, which fit into one batch. A row that cannot be scored has failed.

    Args:
        bugs_stop: whether to raise an exception if a reward without a lowest score has a bug.
        cells_stop: whether to raise an exception if a cell cannot be converted.

    Raises:
        RunStopped: every other row would also fail, for example, because of an invalid key or an exhausted quota.
        RewardBug: `bugs_stop` is True and a reward without a lowest score has a bug.
        CoercionError: `cells_stop` is True and a cell cannot be converted.
    """
    try:
        batch = batch_of([rows[position] for position in positions], progress)
        yield Scored(positions, scorer.score(batch, strict=False, on_unparsable_gold="fail"))
        return
    except (BindingError, CoercionError, RewardBug, RewardFailure) as error:
        if isinstance(error, RunStopped):
            raise
        if (bugs_stop and isinstance(error, RewardBug)) or (cells_stop and isinstance(error, CoercionError)):
            raise
        if len(positions) == 1:
            final = not isinstance(error, (RewardBug, RewardFailure))
            yield Scored(positions, failed(scorer, rows[positions[0]], error), final)
            return
    middle = len(positions) // 2
    for half in (positions[:middle], positions[middle:]):
        yield from tables(scorer, rows, half, progress, bugs_stop=bugs_stop, cells_stop=cells_stop)


def failed(scorer: Scorer, row: Row, error: Exception) -> ScoreTable:
    """Return the table for a row that raised `error`, with the component that the error names (or all) as failed."""
    component = getattr(error, "component", "")
    blamed = component if component in scorer.components else ""
    absent = np.full(1, np.nan)
    text = row.completion if isinstance(row.completion, str) else shorten(row.completion)
    return ScoreTable(
        completions=[text],
        components={name: Column.empty(1, FAILED if blamed in ("", name) else SKIPPED) for name in scorer.components},
        terms=dict.fromkeys(scorer.terms, absent),
        total=absent,
        faults=(Fault(blamed, 0, Outcome.FAILED, str(error)),),
    )


# Patience: failed rows are scored again until they have a score or the time is up.


_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0
"""The first and the longest pause between retries, in seconds. Each pause is about twice as long as the previous pause.
The values are arbitrary."""


def check_patience(seconds: float) -> None:
    """Raise RewardDefinitionError if `seconds` is not a valid patience: a finite number, 0 or more."""
    if not 0 <= seconds < math.inf:
        raise RewardDefinitionError(f"patience= must be a number of seconds, 0 or more, got {seconds!r}")


class RunExit(BaseException):
    """An exception that ends a training run whose trainer catches every `Exception` and continues without the score."""


def score_with_retries(
    score: Callable[[Places], Iterator[Scored]],
    positions: Places,
    seconds: float,
    waiting: Callable[[ScoreTable], None],
) -> Iterator[Scored]:
    """Yield the scores for the rows at `positions`; retry rows that failed.

    Args:
        score: a function that scores the rows at given positions.
        seconds: the time limit for retrying failed rows. With 0.0, every row is scored only once.
        waiting: a function that is called with the failed rows' table before the rows are retried.
    """
    backoff = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE, seconds)
    while len(positions):
        last = not backoff.left
        again: list[int] = []
        for scored in score(positions):
            for part, failed in [(scored, False)] if last or scored.final else _parts(scored):
                if failed:
                    waiting(part.table)
                    again += part.places
                else:
                    yield part
        positions = again
        if again:
            time.sleep(backoff.pause())


def _parts(scored: Scored) -> Iterator[tuple[Scored, bool]]:
    """Split `scored` into sequences of failed rows and of other rows; yield each sequence and whether it failed."""
    failed = failed_rows(scored.table)
    for run_failed, run in itertools.groupby(range(len(failed)), key=lambda row: bool(failed[row])):
        rows = list(run)
        start, stop = rows[0], rows[-1] + 1
        is_uniform = stop - start == len(failed)
        part = scored if is_uniform else Scored(scored.places[start:stop], scored.table.part(start, stop))
        yield part, run_failed
