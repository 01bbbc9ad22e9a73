"""The engine, which scores parts of the data in one or more processes and combines the results in order.

Each process reads the parts that it scores and encodes the rows for the output. The main process sends only a part's
location, and the worker process returns only the sums over the part's rows.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from rewardkit.scoring.columns import Columns
from rewardkit.scoring.output import Output
from rewardkit.scoring.parts import Chunk, Part, first_apart, regrouped, whole_groups
from rewardkit.scoring.processes import Workers, one_reward, score_in_process
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved
from rewardkit.scoring.writers import Writer, writer_of
from rewardkit.tree.evaluation.scorer import Scorer

_FIRST_ROWS = 512
"""The number of rows that are scored first, to estimate how long the remaining rows will take: the default batch
size."""

Tick = Callable[[int], None]


@final
@dataclass(frozen=True)
class Job:
    """The settings that a process needs to score parts.

    Attributes:
        target: the reward's name.
        there, sources, apart, data: as in `Columns`.
        batch: the number of completions to score at once.
        writer: the writer for the rows, or None if only the report is needed.
        folder: the folder in which other processes save encoded parts.
    """

    target: str
    there: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    apart: tuple[str, ...]
    data: str
    batch: int
    writer: Writer | None = None
    folder: Path | None = None

    def __call__(self, item: tuple[int, Part]) -> tuple[ReplayReport, Any, Any]:
        """Score a part in a worker process; return the part's report, file, and description for the output."""
        number, part = item
        columns = _columns(self.target, self.there, self.sources, self.apart, self.data)
        report, data, about = self.scored(columns, part)
        if self.folder is None:
            return report, None, about
        path = self.folder / f"part-{number:08}"
        path.write_bytes(data)
        return report, path, about

    def scored(
        self,
        columns: Columns,
        part: Part,
        score: Callable[[Scorer, Work], Scores] = score,
        tick: Tick | None = None,
    ) -> tuple[ReplayReport, Any, Any]:
        """Score a part in this process; return the part's report, bytes, and description for the output."""
        report = ReplayReport()
        names = columns.needed if self.writer is None else None

        def scored() -> Iterator[tuple[Chunk, Scores]]:
            for chunk, scores in columns.scores(part.chunks(self.batch, names), self.batch, score):
                report.add(scores, columns.keys(chunk))
                yield chunk, scores
                if tick is not None:
                    tick(report.rows)

        if self.writer is None:
            for _ in scored():
                pass
            return report, None, None
        return report, *self.writer.encoded(scored())


def score_saved(
    target: str,
    saved: Saved,
    columns: Columns,
    out: Path | None = None,
    *,
    workers: Workers | None = None,
    batch: int = 512,
    resume: bool = False,
    options: Mapping[str, Any] | None = None,
    tick: Tick | None = None,
) -> ReplayReport:
    """Score saved completions and write them with their scores.

    Args:
        target: the reward, as ``path.py:name`` or ``module:name``, which other processes load.
        saved: the completions.
        columns: the columns that the reward reads.
        out: the path for a .jsonl, .csv, or .parquet file, which appears when it is complete.
        workers: the worker processes. By default, one per core if there are at least a few seconds of work.
        batch: the number of completions to score at once.
        resume: whether to continue the output of an interrupted command.
        options: options that, like the data and the reward, must be unchanged to resume.
        tick: called with the number of rows scored so far.

    Raises:
        DataError: the output cannot be written, or cannot be resumed because something has changed.
        RunStopped: every other row would also fail, for example, because of an invalid key or an exhausted quota.
    """
    job = Job(target, tuple(saved.columns), tuple(columns.sources.items()), saved.apart, saved.name, batch)
    parts = _parts(saved, columns, batch)
    with workers or Workers(None) as shared:
        if out is None:
            report = ReplayReport()
            for part_report, _, _ in _score_parts(job, columns, parts, shared, saved.size, report, tick):
                report.extend(part_report)
            return report
        components = columns.scorer.components
        writer = writer_of(out, saved, components)
        about = {
            "data": [saved.name, saved.size, f"{saved.digest:08x}"],
            "reward": [columns.reward.fingerprint, components],
            **dict(options or {}),
            "batch": batch,
            "columns": dict(columns.sources),
        }
        with Output.opened(out, writer, about, resume=resume) as output:
            job = Job(**{**job.__dict__, "writer": writer, "folder": output.folder})
            left = (part for number, part in enumerate(parts) if number >= output.parts)
            for part_report, data, notes in _score_parts(job, columns, left, shared, saved.size, output.report, tick):
                output.append(data, notes, part_report)
            output.finish()
            return output.report


def _parts(saved: Saved, columns: Columns, batch: int) -> Iterator[Part]:
    """Return the parts of `saved`, split only between rows where the reward allows it."""
    parts: Iterable[Part] = first_apart(saved.parts(), _FIRST_ROWS)
    if columns.compares:  # recurring prompts are detected only within a part, so a part must not be too small
        return whole_groups(regrouped(parts, _FIRST_ROWS), columns.common)
    return regrouped(parts, batch) if columns.sees_batches else iter(parts)


def _score_parts(
    job: Job,
    columns: Columns,
    parts: Iterator[Part],
    workers: Workers,
    size: int,
    report: ReplayReport,
    tick: Tick | None,
) -> Iterator[tuple[ReplayReport, Any, Any]]:
    """Yield each part's result. Parts are scored in this process, and also in others when that is worthwhile."""
    show = tick or _ignore
    show(report.rows)
    if columns.waits:
        workers.processes = 1
    while not workers.worthwhile(0):
        part = next(parts, None)
        if part is None:
            return
        started, before = time.perf_counter(), report.rows
        yield job.scored(columns, part, tick=lambda rows: show(before + rows))  # noqa: B023
        workers.worthwhile((time.perf_counter() - started) / part.rows * (size - before - part.rows))

    def rescue(item: tuple[int, Part]) -> tuple[ReplayReport, Any, Any]:
        return job.scored(columns, item[1], score=lambda _, work: score_in_process(job.target, work))

    for result in workers.elsewhere(job, enumerate(parts), rescue):
        yield result
        show(report.rows)


def _ignore(rows: int) -> None:
    """Do nothing: the default callback."""


# A command has one target and one dataset; tests have a few.
@functools.lru_cache(maxsize=4)
def _columns(
    target: str,
    data_columns: tuple[str, ...],
    sources: tuple[tuple[str, str], ...],
    group_columns: tuple[str, ...],
    data: str,
) -> Columns:
    return Columns.of(one_reward(target), data_columns, dict(sources), group_columns=group_columns, data=data)
