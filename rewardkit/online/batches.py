"""Rows as batches for the scorer. A row that cannot be scored does not affect the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column
from rewardkit.core.batch.rollouts import Rollouts
from rewardkit.core.batch.score import FAILED, SKIPPED, Fault, Outcome
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import BindingError, CoercionError, RewardBug, RewardFailure, RunStopped, shorten
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row

Places = Sequence[int]


class Scored(NamedTuple):
    """The scores of the rows at `places`; `final` if another try would find the same: a column is missing."""

    places: Places
    table: ScoreTable
    final: bool = False


def batch_of(rows: Sequence[Row], progress: Progress | None, num_generations: int | None = None) -> Batch:
    """Return rows with the same columns as a batch.

    Raises:
        BindingError: their columns differ.
    """
    for row in rows:
        if row.columns.keys() != rows[0].columns.keys():
            raise BindingError(
                f"rows that are scored together must have the same columns: one has {_names(rows[0])}, another one "
                f"{_names(row)}"
            )
    cut = [bool(row.cut) for row in rows] if any(row.cut is not None for row in rows) else None
    return Batch(
        [row.completion for row in rows],
        prompts=_listed([row.prompt for row in rows]),
        completion_ids=_listed([row.completion_ids for row in rows]),
        columns={name: [row.columns[name] for row in rows] for name in rows[0].columns},
        progress=progress,
        num_generations=num_generations,
        rollouts=Rollouts(cut=cut, runs_calls=any(row.runs_calls for row in rows)),
    )


def _names(row: Row) -> str:
    return ", ".join(sorted(row.columns)) or "none"


def _listed(values: list[Any]) -> list[Any] | None:
    return None if all(value is None for value in values) else [[] if value is None else value for value in values]


def kinds(rows: Sequence[Row]) -> list[Places]:
    """Return the places of rows that fit into one batch: with the same columns, all with a prompt or none."""
    found: dict[Any, list[int]] = {}
    for place, row in enumerate(rows):
        absent = row.prompt is None, row.completion_ids is None, row.cut is None
        kind = (frozenset(row.columns), *absent, row.runs_calls)
        found.setdefault(kind, []).append(place)
    return list(found.values())


def tables(
    scorer: Scorer,
    rows: Sequence[Row],
    places: Places,
    progress: Progress | None,
    *,
    bugs_stop: bool = False,
    cells_stop: bool = False,
) -> Iterator[Scored]:
    """Yield the scores of the rows at `places`, which fit into one batch; a row that cannot be scored has failed.

    Args:
        bugs_stop: raise if a reward without a lowest score has a bug.
        cells_stop: raise if a cell does not fit.

    Raises:
        RunStopped: every other row would fail, too: a wrong key, a quota that is used up.
        RewardBug: with `bugs_stop`.
        CoercionError: with `cells_stop`.
    """
    try:
        batch = batch_of([rows[place] for place in places], progress)
        yield Scored(places, scorer.score(batch, strict=False, on_unparsable_gold="fail"))
        return
    except (BindingError, CoercionError, RewardFailure) as error:
        if isinstance(error, RunStopped):
            raise
        if (bugs_stop and isinstance(error, RewardBug)) or (cells_stop and isinstance(error, CoercionError)):
            raise
        if len(places) == 1:
            final = not isinstance(error, RewardFailure)
            yield Scored(places, failed(scorer, rows[places[0]], error), final)
            return
    middle = len(places) // 2
    for half in (places[:middle], places[middle:]):
        yield from tables(scorer, rows, half, progress, bugs_stop=bugs_stop, cells_stop=cells_stop)


def failed(scorer: Scorer, row: Row, error: Exception) -> ScoreTable:
    """Return the scores of one row that could not be scored: the component that raised has failed, or all of them if
    that is not known."""
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
