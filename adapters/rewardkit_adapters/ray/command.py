"""The implementation of ``rewardkit score --engine ray``: split the data into parts, and score them on the cluster."""

from __future__ import annotations

import hashlib
import json
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import tee
from typing import TYPE_CHECKING, Any, TypeVar, final
from uuid import uuid4

from rewardkit.errors import DataError, RewardKitError
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.files import Row
from rewardkit.scoring.parts import Chunk, Joined, Part, continued, regrouped
from rewardkit.scoring.processes import Workers, in_progress, score_here, score_in_process
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import saved
from rewardkit.scoring.writers import Tables, schema_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import bindings
from rewardkit_adapters.ray.cluster import Cluster, Load, connected
from rewardkit_adapters.ray.folder import Folder
from rewardkit_adapters.ray.pools import Pools, actors_left, sizes_of
from rewardkit_adapters.ray.reports import Progress, Reports, show_progress

if TYPE_CHECKING:
    import pyarrow


# Scoring on the cluster: each actor takes one part after another, and writes the rows with their scores.


# The rows of one part. Groups are never split between parts: a group belongs to the part in which it begins.


def rows_of(parts: Sequence[Part], number: int, common: Sequence[str]) -> Part:
    """Return the rows in the groups that begin in part `number`.

    Args:
        parts: all parts, none of which is empty.
        common: the columns that identify a group, or an empty sequence if there are no groups.
    """
    part = parts[number]
    if not common:
        return part
    start = continued(parts[number - 1], part, common) if number else 0
    if start == part.rows:  # the whole part continues an earlier group
        return part.sub(0, 0)
    pieces = [part.sub(start, part.rows)]
    for next_part in parts[number + 1 :]:
        continuation = continued(pieces[-1], next_part, common)
        if continuation:
            pieces.append(next_part.sub(0, continuation))
        if continuation < next_part.rows:
            break
    return Joined(tuple(pieces))


def grouped(parts: Sequence[Part], rows: int) -> list[Part]:
    """Combine `parts` into fewer parts with the same rows. All parts but the last have at least `rows` rows."""
    groups: list[Part] = []
    pending: list[Part] = []
    for part in parts:
        pending.append(part)
        if sum(member.rows for member in pending) >= rows:
            groups.append(Joined(tuple(pending)))
            pending = []
    return groups + ([Joined(tuple(pending))] if pending else [])


_ROW_GROUP = 16_384
"""The number of rows in a row group in an output file. The number is arbitrary. Small groups make a large file slow to
read, but large groups need more memory."""
_AT_ONCE = 8
"""The number of batches in progress if the reward waits for something, such as a judge. The number is arbitrary, but
low because each batch keeps its rows in memory."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@final
@dataclass(frozen=True)
class Job:
    """The settings for every actor.

    Attributes:
        load: a function that loads the reward in the actor.
        parts: the parts of the data, in order.
        schema: the columns in the data.
        sources: rewardkit's column name -> the column in the data.
        apart: the columns that distinguish groups with the same prompt.
        batch: the number of completions to score at once.
        out: the output folder.
        run: the identifier of this run. If an actor crashed in an earlier run, this does not affect how this run scores
            the part.
    """

    load: Load
    parts: Sequence[Part]
    schema: Any
    sources: Mapping[str, str]
    apart: tuple[str, ...]
    batch: int
    out: Folder
    run: str


@final
class Scoring:
    """An actor for scoring parts."""

    def __init__(self, job: Job, pools: Pools) -> None:
        reward = job.load()
        self._job = job
        self._scorer = Scorer(pools.sending(reward))
        self._columns = Columns.of(reward, job.schema.names, job.sources, group_columns=job.apart)
        waits = any(binding.waits for _, binding in bindings(reward))
        self._threads = ThreadPoolExecutor(_AT_ONCE) if waits else None

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        """Score the parts listed in `batch`, and return `batch` with a column of their reports."""
        import pyarrow as pa

        reports = [pickle.dumps(self._scored(number)) for number in batch["part"].to_pylist()]
        return batch.append_column("report", pa.array(reports, pa.binary()))

    def _scored(self, number: int) -> ReplayReport:
        """Score one part and write its file.

        If an actor crashed while scoring a part, the part is scored in a separate process. If a row crashes this
        process, only this row loses its score.
        """
        import pyarrow as pa
        import pyarrow.parquet as parquet

        job, report = self._job, ReplayReport()
        columns = self._columns
        part = rows_of(job.parts, number, columns.common if columns.compares else ())
        batches = columns.batches(part.chunks(job.batch), job.batch) if part.rows else iter(())
        tables, pending = Tables.of(job.schema, self._scorer.components), []
        with job.out.part(number) as file, parquet.ParquetWriter(file, tables.schema, compression="zstd") as writer:
            scored = self._here if job.out.first_try(number, job.run) else self._elsewhere
            for chunk, scores in scored(batches):
                pending.append(tables.table(chunk, scores))
                report.add(scores, columns.keys(chunk))
                if (rows := sum(map(len, pending))) >= _ROW_GROUP:
                    writer.write_table(pa.concat_tables(pending), row_group_size=rows)
                    pending = []
            if pending:
                writer.write_table(pa.concat_tables(pending))
        return report

    def _here(self, batches: Iterable[tuple[Chunk, Work]]) -> Iterator[tuple[Chunk, Scores]]:
        return in_order(self._threads, lambda batch: (batch[0], score(self._scorer, batch[1])), batches)

    def _elsewhere(self, batches: Iterable[tuple[Chunk, Work]]) -> Iterator[tuple[Chunk, Scores]]:
        target, (first, second) = self._job.load.here, tee(batches)
        works = (work for _, work in second)
        with Workers(1) as workers:
            scored = workers.elsewhere(partial(score_here, target), works, partial(score_in_process, target))
            yield from ((chunk, scores) for (chunk, _), scores in zip(first, scored, strict=True))


def in_order(
    threads: ThreadPoolExecutor | None, function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Iterator[_Result]:
    """Yield the results in order. With threads, a few items are processed concurrently."""
    if threads is None:
        yield from map(function, items)
        return
    for _, future in in_progress(lambda item: threads.submit(function, item), items, _AT_ONCE):
        yield future.result()


# The engine behind ``rewardkit score --engine ray``. Ray Data passes each part of the data to an actor that scores it.


def score_on(
    cluster: Cluster,
    job: Job,
    agreed: Mapping[str, Any],
    pool_sizes: Mapping[str, int] | None,
    show: Callable[[Progress], None],
) -> ReplayReport:
    """Score all parts in `job`, and return the report for all rows.

    Args:
        agreed: the settings that must match an earlier run in the same folder.
        pool_sizes: pool -> the number of actors in the pool. Pools without an entry share the cores.
        show: a function that is called with the progress every few seconds.

    Raises:
        DataError: the output folder contains other scores, or the cluster does not have enough resources for the pools.
        RunStopped: every other row would also fail.
    """
    reports = Reports(job.out, len(job.parts))
    if reports.missing():
        sizes = sizes_of(cluster.reward, cluster.cpus, cluster.gpus, pool_sizes)
        pools = Pools.start(job.load, sizes, cluster.share, gpus=cluster.gpus > 0)
        job.out.write_plan(_plan(agreed, len(job.parts), dict.fromkeys(reports.lost(), job.run)))
        with _context(job.out), show_progress(reports, show):
            _run(job, pools, actors_left(cluster.cpus, sizes), cluster.share)
    if missing := reports.missing():
        raise DataError(f"{len(missing)} parts are missing in {job.out.address}. Run again with --resume")
    return reports.joined()


def _plan(agreed: Mapping[str, Any], size: int, again: Mapping[int, str]) -> Any:
    """Return the table of parts. The id of a part depends on everything that its scores depend on.

    Args:
        again: part -> suffix, for parts that must be scored although their ids are in the checkpoint. The suffix turns
            each id into a new id.
    """
    import pyarrow as pa

    numbers = range(size)
    content = [json.dumps([agreed, number, again.get(number)], sort_keys=True) for number in numbers]
    ids = [hashlib.sha256(text.encode()).hexdigest() for text in content]
    return pa.table({"id": ids, "part": numbers})


def _run(job: Job, pools: Pools, actors: int, share: float) -> None:
    import ray

    parts = ray.data.read_parquet(job.out.plan, filesystem=job.out.arrow, num_cpus=0)
    scored = parts.repartition(target_num_rows_per_block=1).map_batches(
        Scoring,
        batch_size=1,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=2),
        fn_constructor_args=(job, pools),
        num_cpus=share,
    )
    try:
        scored.write_parquet(job.out.done, filesystem=job.out.arrow, ray_remote_args={"num_cpus": 0})
    except ray.exceptions.RayError as error:
        raise _cause(error) from None


def _cause(error: BaseException) -> BaseException:
    """Return the RewardKitError that a part raised, or `error` itself if its causes include no RewardKitError."""
    current: BaseException | None = error
    while current is not None:
        cause = getattr(current, "cause", None)
        if isinstance(cause, RewardKitError):
            return cause
        current = cause if isinstance(cause, BaseException) else current.__cause__
    return error


@contextmanager
def _context(out: Folder) -> Iterator[None]:
    """Set Ray Data's context options for one run, and restore them at the end."""
    from ray.data import DataContext
    from ray.data.checkpoint import CheckpointConfig

    context = DataContext.get_current()
    before = (context.checkpoint_config, context.enable_progress_bars, context.raise_original_map_exception)
    context.checkpoint_config = CheckpointConfig(
        "id", out.checkpoint, delete_checkpoint_on_success=False, override_filesystem=out.arrow
    )
    context.enable_progress_bars = False
    context.raise_original_map_exception = True
    try:
        yield
    finally:
        context.checkpoint_config, context.enable_progress_bars, context.raise_original_map_exception = before


_MOST_ROWS = 50_000
"""The maximum number of rows in a part, which corresponds to a few seconds of work and a file of a few megabytes. The
limit is arbitrary. With larger parts, more work is lost if a machine fails, but smaller parts result in more files."""
_EACH = 8
"""The minimum number of parts per core. The number is arbitrary. With several parts per core, all cores finish at about
the same time."""


def score_data(
    data: str | Sequence[str],
    target: str,
    out: str,
    *,
    sources: Mapping[str, str] | None = None,
    limit: int | None = None,
    batch: int = 512,
    address: str | None = None,
    pools: Mapping[str, int] | None = None,
    resume: bool = False,
    rows: Callable[[], Iterator[Row]] | None = None,
    show: Callable[[Progress], None] = lambda progress: None,
) -> tuple[str, ReplayReport, float]:
    """Score saved completions with Ray. Return the name of the data, the report, and the duration in seconds.

    Args:
        data: the data, as for ``rewardkit score``.
        target: ``path.py:name`` or ``module:name``.
        out: the output folder, as a path or a URL.
        sources: rewardkit's column name -> the column in the data.
        limit: the number of rows to score, starting with the first row; None for all rows.
        batch: the number of completions to score at once.
        address: the address of a cluster, or None for this machine.
        pools: pool -> the number of actors in the pool.
        resume: whether to continue an earlier run.
        rows: a function that yields the rows in `data`, for a file that only this function can read.
        show: a function that is called with the progress every few seconds.

    Raises:
        DataError: there are no completions, or `out` contains other scores.
        BindingError: the reward reads a column that the data does not have.
        MissingExtraError: Ray is not installed.
        RewardDefinitionError: there is no such reward.
        RunStopped: every row would fail, for example because of an invalid API key or an exhausted quota.
    """
    chosen = dict(sources or {})
    with connected(address, target) as cluster:
        saved_data = saved(data, limit=limit, completion=chosen.get("completion"), rows=rows, mapped=cluster.mapped)
        reward = cluster.reward
        columns = Columns.of(reward, saved_data.columns, chosen, group_columns=saved_data.apart, data=saved_data.name)
        folder = Folder.of(out)
        agreed = {
            "data": f"{saved_data.size} completions, checksum {saved_data.digest:08x}",
            "reward": reward.fingerprint,
            "columns": dict(sorted(chosen.items())),
            "batch": batch if columns.sees_batches else "any",
        }
        size = folder.prepare(agreed, resume, min(_MOST_ROWS, -(-saved_data.size // (_EACH * cluster.cpus))))
        data_parts = regrouped(saved_data.parts(), batch) if columns.sees_batches else saved_data.parts()
        parts = grouped([part for part in data_parts if part.rows], size)
        schema = saved_data.schema or schema_of(saved_data.kinds)
        job = Job(cluster.load, parts, schema, chosen, saved_data.apart, batch, folder, uuid4().hex)
        started = time.perf_counter()
        report = score_on(cluster, job, agreed, pools, show)
    return saved_data.name, report, time.perf_counter() - started
