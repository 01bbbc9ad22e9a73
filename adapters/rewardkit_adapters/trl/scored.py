"""A scored batch: the scores from this process, and their sums over all processes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rewardkit.analyze.advantages import GroupStats
from rewardkit.analyze.permuted_golds import ForeignScores
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers, add_by_name
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import BindingError
from rewardkit.progress.progress import Progress
from rewardkit.record.capture import Capture
from rewardkit.record.records import Line
from rewardkit.record.trajectories import Trajectories
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit_adapters.trl.calls import PLAIN, Episodes, TrainerCall, gathered
from rewardkit_adapters.trl.layout import RewardColumns
from rewardkit_adapters.trl.tally import Tally
from rewardkit_adapters.trl.trainer import Trainer


@dataclass(frozen=True)
class Prepared:
    """A trainer call with everything needed to score it.

    Attributes:
        state: the trainer's TrainerState, or None if unknown.
        progress: the training progress, or None if unknown.
        strict: whether a bug in a reward function raises an exception.
        episodes: the settings for reading completions.
    """

    call: TrainerCall
    trainer: Trainer
    state: Any
    progress: Progress | None
    strict: bool
    episodes: Episodes = PLAIN


@dataclass(frozen=True)
class Scored:
    """A scored batch of n completions.

    Attributes:
        table: the scores, with the trainer's weights.
        columns: name -> (n,) the columns for the trainer.
        tally: the sums over all processes.
        addends: the names of the columns that the trainer adds up.
        totals: (n,) the sums of these columns.
        parts: ``<component>/<part>`` -> the number of rows with the part, and the sum of the part.
        spread: the totals relative to their groups, or None if groups are incomplete or nothing is recorded.
        groups: (n,) the group of each row.
        cut: whether a group continues in another batch.
        processes: the number of processes over which the rows are distributed.
        seconds: the scoring time.
        lines: the lines that reward functions printed or logged, if the batch is recorded.
        durations: component -> the duration of each call in seconds, if the batch is recorded.
        trajectories: the trajectory metrics, or None for plain-text completions.
        tools: tool -> the number of calls to the tool.
        foreign: (n,) totals with the gold answers for other prompts, for the rows that the radar scored, or None if the
            radar did not score any rows.
    """

    table: ScoreTable
    columns: Mapping[str, Floats]
    tally: Tally
    addends: tuple[str, ...]
    totals: Floats
    parts: Mapping[str, tuple[float, float]]
    spread: GroupStats | None
    groups: Numbers
    cut: bool
    processes: int
    seconds: float
    lines: tuple[Line, ...] = ()
    durations: Mapping[str, Sequence[float]] = field(default_factory=dict)
    trajectories: Trajectories | None = None
    tools: Mapping[str, int] = field(default_factory=dict)
    foreign: ForeignScores | None = None

    def part(self, start: int, stop: int, *, main: bool) -> Scored:
        """Return the rows from `start` to `stop` (exclusive). Only the main process gets lines without a row."""
        lines = [line for line in self.lines if main and line.row is None]
        lines += [
            replace(line, row=line.row - start)
            for line in self.lines
            if line.row is not None and start <= line.row < stop
        ]
        return replace(
            self,
            table=self.table.part(start, stop),
            columns={name: values[start:stop] for name, values in self.columns.items()},
            totals=self.totals[start:stop],
            spread=None if self.spread is None else self.spread.part(start, stop),
            groups=self.groups[start:stop],
            lines=tuple(lines),
            durations=self.durations if main else {},
            trajectories=None if self.trajectories is None else self.trajectories.part(start, stop),
            foreign=None if self.foreign is None else ForeignScores(*(column[start:stop] for column in self.foreign)),
        )


class Result(NamedTuple):
    """The result of `score`.

    Attributes:
        scored: the scores.
        batch: the rows that this process scored, or None if the main process scored them.
        rows: the slice of `scored` with this process's rows, or None if all rows are from this process.
    """

    scored: Scored
    batch: Batch | None
    rows: slice | None = None


def score(scorer: Scorer, layout: RewardColumns, prepared: Prepared, *, recorded: bool) -> Result:
    """Score this process's rows, and sum the tallies from all processes.

    If a group continues in another process, the main process scores the rows from all processes.

    Args:
        recorded: whether to capture reward functions' output and log lines.

    Raises:
        BindingError: a column is missing, or the reward compares completions that are not all in this process.
    """
    call, trainer = prepared.call, prepared.trainer
    generations, size = trainer.num_generations, len(call.completions)
    split = layout.together == "group" and generations and size % generations
    if trainer.processes > 1 and (split or layout.together == "batch"):
        all_rows, start = gathered(call, trainer)
        batches: list[Batch] = []

        def compute() -> Scored:
            scored, batch = _score_call(scorer, layout, replace(prepared, call=all_rows), recorded, processes=1)
            batches.append(batch)
            return scored

        # One process scores for all, because a judge that is asked twice may give two answers.
        scored = trainer.on_main(compute)
        return Result(scored, batches[0] if batches else None, slice(start, start + size))
    if split:
        raise BindingError(
            f"this reward compares the {generations} completions for each prompt, but this process received {size}, "
            "which is only part of a group: make per_device_train_batch_size a multiple of num_generations"
        )
    scored, batch = _score_call(scorer, layout, prepared, recorded, processes=trainer.processes)
    if trainer.processes == 1:
        return Result(scored, batch)
    table, tally = scored.table, scored.tally.summed(trainer.summed_over_ranks)
    if scorer.measures:
        table = replace(table, measures=add_by_name(trainer.of_each_process(table.measures)))
    parts = add_by_name(trainer.of_each_process(scored.parts), _add_parts) if tally.parts.any() else scored.parts
    tools = add_by_name(trainer.of_each_process(scored.tools)) if tally.trajectories[0] else scored.tools
    return Result(replace(scored, table=table, tally=tally, parts=parts, tools=tools), batch)


def _score_call(
    scorer: Scorer, layout: RewardColumns, prepared: Prepared, recorded: bool, *, processes: int
) -> tuple[Scored, Batch]:
    """Score all rows in the call, and return the scores and the batch."""
    call, trainer, progress = prepared.call, prepared.trainer, prepared.progress
    generations = trainer.num_generations
    batch = Batch(
        call.completions,
        prompts=call.prompts,
        completion_ids=call.completion_ids,
        columns=call.columns,
        progress=progress,
        num_generations=generations,
        context=call.context,
        rollouts=prepared.episodes.rollouts(call, trainer),
    )
    capture = Capture() if recorded else None
    started = time.perf_counter()
    with capture or nullcontext():
        # With a trainer, a single process must not stop the run: the others would wait for it forever.
        scores = scorer.score(batch, strict=prepared.strict, stops=not trainer.known, on_unparsable_gold="fail")
    seconds = time.perf_counter() - started
    columns, table = layout.of_table(scores), layout.weighted(scores)
    addends = layout.addends(columns, table, batch, progress, normalizes_each=trainer.normalizes_each)
    totals = _total_of(list(addends.values()), table.total)
    cut = generations is not None and batch.size % generations != 0
    followed = [follower.component for follower in scorer.followers]
    trajectories = Trajectories.of(batch)
    tally = Tally.of(table, addends, None if cut else batch.groups, trainer.scale, followed, totals, trajectories)
    scored = Scored(
        table=table,
        columns=columns,
        tally=tally,
        addends=tuple(addends),
        totals=totals,
        parts=_parts(table),
        spread=None if cut or not recorded else GroupStats.of(totals, batch.groups),
        groups=batch.groups,
        cut=cut,
        processes=processes,
        seconds=seconds,
        lines=() if capture is None else tuple(capture.lines),
        durations={} if capture is None else capture.durations,
        trajectories=trajectories,
        tools={} if trajectories is None else add_by_name(trajectories.tools),
    )
    return scored, batch


def _total_of(addends: Sequence[Floats], total: Floats) -> Floats:
    """Return the sums of the trainer's addends, shape (n,), with NaN for rows whose `total` is NaN."""
    addend_rows = np.array(addends)
    absent = np.isnan(addend_rows)
    if absent.any():
        return np.where(np.isnan(total), np.nan, np.where(absent, 0.0, addend_rows).sum(axis=0))
    totals: Floats = addend_rows.sum(axis=0)
    return totals


def _parts(table: ScoreTable) -> dict[str, tuple[float, float]]:
    parts: dict[str, tuple[float, float]] = {}
    for name, column in table.components.items():
        for part, values in column.parts.items():
            finite = values[np.isfinite(values)]
            parts[f"{name}/{part}"] = float(len(finite)), float(finite.sum())
    return parts


def _add_parts(part: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return part[0] + other[0], part[1] + other[1]
