"""``rewardkit score --engine ray``, as a function: open the data, cut it into parts, score them on the cluster."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final
from uuid import uuid4

from rewardkit.errors import DataError, RewardKitError
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.files import Row
from rewardkit.scoring.outputs import schema_of
from rewardkit.scoring.parts.part import regrouped
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.sources import saved
from rewardkit_adapters.ray.cluster import Cluster, connected
from rewardkit_adapters.ray.folder import Folder
from rewardkit_adapters.ray.pools import Pools, actors_left, sizes_of
from rewardkit_adapters.ray.reports import Progress, Reports, watched
from rewardkit_adapters.ray.scoring import Job, Scoring, grouped

# The engine: ``rewardkit score --engine ray``. Parts of the data go through Ray Data, each to an actor that scores
# it.


@final
@dataclass(frozen=True)
class Settings:
    """How to score on the cluster.

    Attributes:
        pools: pool -> the number of its actors; the others share the cores.
    """

    pools: Mapping[str, int] | None = None


def score_on(
    cluster: Cluster, job: Job, agreed: Mapping[str, Any], settings: Settings, show: Callable[[Progress], None]
) -> ReplayReport:
    """Score all parts of `job`; return the report of all rows.

    Args:
        agreed: what an earlier run in the same folder must agree on.
        show: called with the progress every few seconds.

    Raises:
        DataError: the output folder has other scores, or the cluster has no room for the pools.
        RunStopped: every other row would fail, too.
    """
    reports = Reports(job.out, len(job.parts))
    if reports.missing():
        sizes = sizes_of(cluster.reward, cluster.cpus, cluster.gpus, settings.pools)
        pools = Pools.start(job.load, sizes, cluster.share, gpus=cluster.gpus > 0)
        job.out.write_plan(_plan(agreed, len(job.parts), dict.fromkeys(reports.lost(), job.run)))
        with _context(job.out), watched(reports, show):
            _run(job, pools, actors_left(cluster.cpus, sizes), cluster.share)
    if missing := reports.missing():
        raise DataError(f"{len(missing)} parts are missing in {job.out.address}. Run again with --resume")
    return reports.joined()


def _plan(agreed: Mapping[str, Any], size: int, again: Mapping[int, str]) -> Any:
    """Return the table of parts; the id of a part depends on everything that its scores depend on.

    Args:
        again: parts to score although the checkpoint has their ids, and what makes the ids new.
    """
    import pyarrow as pa

    numbers = range(size)
    content = [json.dumps([agreed, number, again.get(number)], sort_keys=True) for number in numbers]
    ids = [hashlib.sha256(one.encode()).hexdigest() for one in content]
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
    """Return the error that a part raised, if it is one of ours."""
    found: BaseException | None = error
    while found is not None:
        cause = getattr(found, "cause", None)
        if isinstance(cause, RewardKitError):
            return cause
        found = cause if isinstance(cause, BaseException) else found.__cause__
    return error


@contextmanager
def _context(out: Folder) -> Iterator[None]:
    """Set what Ray Data reads from its context, for one run."""
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
"""Rows of a part: some seconds of work, and a file of some megabytes."""
_EACH = 8
"""The least number of parts for each core, so that all end at about the same time."""


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
    """Score saved completions with Ray; return the name of the data, the report and the seconds.

    Args:
        data: what ``rewardkit score`` takes.
        target: ``path.py:name`` or ``module:name``.
        out: a folder or its address.
        sources: our name -> the column of the data.
        limit: score only the first rows.
        batch: completions scored at once.
        address: of a cluster; None for this machine.
        pools: pool -> the number of its actors.
        resume: continue what an earlier run began.
        rows: yields the rows of `data`, for a file that only this function can read.
        show: called with the progress every few seconds.

    Raises:
        DataError: there are no completions, or `out` has other scores.
        BindingError: the reward reads a column that the data does not have.
        MissingExtraError: Ray is not installed.
        RewardDefinitionError: there is no such reward.
        RunStopped: every row would fail: a wrong key, a quota that is used up.
    """
    chosen = dict(sources or {})
    with connected(address, target) as cluster:
        found = saved(data, limit=limit, completion=chosen.get("completion"), rows=rows, mapped=cluster.mapped)
        reward = cluster.reward
        columns = Columns.of(reward, found.columns, chosen, apart=found.apart, data=found.name)
        folder = Folder.of(out)
        agreed = {
            "data": f"{found.size} completions, checksum {found.digest:08x}",
            "reward": reward.fingerprint,
            "columns": dict(sorted(chosen.items())),
            "batch": batch if columns.sees_batches else "any",
        }
        size = folder.prepare(agreed, resume, min(_MOST_ROWS, -(-found.size // (_EACH * cluster.cpus))))
        cut = regrouped(found.parts(), batch) if columns.sees_batches else found.parts()
        parts = grouped([part for part in cut if part.rows], size)
        schema = found.schema or schema_of(found.kinds)
        job = Job(cluster.load, parts, schema, chosen, found.apart, batch, folder, uuid4().hex)
        started = time.perf_counter()
        report = score_on(cluster, job, agreed, Settings(pools), show)
    return found.name, report, time.perf_counter() - started
