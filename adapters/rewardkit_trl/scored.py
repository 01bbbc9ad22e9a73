"""Scored: a batch with everything that is known of it once it is scored, on this process and on all together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Floats, Numbers
from rewardkit.core.batch.score import Measured
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import BindingError
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.store.capture import Capture
from rewardkit.store.records import Line
from rewardkit_trl.advantages import Spread
from rewardkit_trl.layout import Layout
from rewardkit_trl.shared_tables import TrainerCall
from rewardkit_trl.tally import Tally
from rewardkit_trl.trainer import Trainer


@dataclass(frozen=True)
class Prepared:
    """A call of the trainer, with what has to be known before it is scored.

    Attributes:
        state: the trainer's own, if there is one.
        progress: where training stands; None where nobody knows.
        strict: a bug of a reward function raises.
    """

    call: TrainerCall
    trainer: Trainer
    state: Any
    progress: Progress | None
    strict: bool


@dataclass(frozen=True)
class Scored:
    """A batch of n completions.

    Attributes:
        table: its scores.
        tally: what it adds up to, over all processes.
        addends: the names of what the trainer adds up.
        totals: (n,) the sums of that.
        spread: the totals among those of their groups; None where groups are cut in two or nobody asks.
        groups: (n,) the group of each row.
        cut: whether a group ends in another batch.
        processes: among how many the rows are shared out.
        seconds: that scoring took.
        lines: what the reward functions said meanwhile, if it is recorded.
    """

    table: ScoreTable
    tally: Tally
    addends: tuple[str, ...]
    totals: Floats
    spread: Spread | None
    groups: Numbers
    cut: bool
    processes: int
    seconds: float
    lines: tuple[Line, ...] = ()

    def part(self, start: int, stop: int, *, main: bool) -> Scored:
        """The rows from `start` up to `stop`; what was said of no row is the main process's."""
        own = [
            line if line.row is None else replace(line, row=line.row - start)
            for line in self.lines
            if (main if line.row is None else start <= line.row < stop)
        ]
        return replace(
            self,
            table=self.table.part(start, stop),
            totals=self.totals[start:stop],
            spread=None if self.spread is None else self.spread.part(start, stop),
            groups=self.groups[start:stop],
            lines=tuple(own),
        )


Keep = Callable[[Batch, Scored, Trainer], None]


def score(scorer: Scorer, layout: Layout, prepared: Prepared, *, recorded: bool, keep: Keep) -> Scored:
    """Scores the rows of this process, and adds up those of all processes.

    Args:
        recorded: what reward functions say is heard.
        keep: is given what this process has scored, before all of it is put together.

    Raises:
        BindingError: the reward compares completions that are not all here, or a column is missing.
    """
    call, trainer = prepared.call, prepared.trainer
    generations, own = trainer.num_generations, len(call.completions)
    split = layout.together == "group" and generations and own % generations  # a group ends elsewhere
    if trainer.processes > 1 and (split or layout.together == "batch"):
        everything, start = trainer.of_all_processes(call)
        # By one process for all: a judge asked twice may answer twice.
        whole: Scored = trainer.on_main(
            lambda: _scored(scorer, layout, replace(prepared, call=everything), recorded, keep, processes=1)
        )
        return whole.part(start, start + own, main=trainer.is_main)
    if split:
        raise BindingError(
            f"this reward compares the {generations} completions of a prompt, but this process got {own}, a part "
            "of a group: make per_device_train_batch_size a multiple of num_generations"
        )
    scored = _scored(scorer, layout, prepared, recorded, keep, processes=trainer.processes)
    if trainer.processes == 1:
        return scored
    table = scored.table
    if scorer.measures:
        table = replace(table, measures=_joined(trainer.of_each_process(table.measures)))
    return replace(scored, table=table, tally=scored.tally.summed(trainer.summed_over_ranks))


def _scored(
    scorer: Scorer, layout: Layout, prepared: Prepared, recorded: bool, keep: Keep, *, processes: int
) -> Scored:
    """The rows of a call: this process's, or those of all processes."""
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
    )
    started = time.perf_counter()
    with Capture() if recorded else nullcontext() as capture:
        # A process that raised by itself would leave the others waiting for it.
        table = scorer.score(batch, strict=prepared.strict, stops=not trainer.known)
    seconds = time.perf_counter() - started
    addends = layout.addends(table, batch, progress, normalizes_each=trainer.normalizes_each)
    totals = np.where(np.isnan(table.total), np.nan, np.nansum(list(addends.values()), axis=0))
    cut = generations is not None and len(batch) % generations != 0
    followed = [follower.component for follower in scorer.followers]
    tally = Tally.of(table, addends, None if cut else batch.groups, trainer.scale, followed, totals)
    spread = None if cut or not recorded else Spread.of(totals, batch.groups)
    lines = () if capture is None else tuple(capture.lines)
    scored = Scored(table, tally, tuple(addends), totals, spread, batch.groups, cut, processes, seconds, lines)
    keep(batch, scored, trainer)
    return scored


def _joined(measures: Sequence[Mapping[str, Measured]]) -> dict[str, Measured]:
    """What the processes measured, as one."""
    joined: dict[str, Measured] = {}
    for name, found in chain.from_iterable(own.items() for own in measures):
        joined[name] = joined[name] + found if name in joined else found
    return joined
