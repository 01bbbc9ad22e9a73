"""The engine: ``rewardkit score --engine ray``. Parts of the data go through Ray Data, each to an actor that scores it.

Ray Data starts and restarts the actors, gives each of them one part after another, and keeps the checkpoint. The table
of parts is its data set, so a billion rows are some thousand small rows to Ray.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.errors import DataError, RewardKitError
from rewardkit.replay.report import ReplayReport
from rewardkit_ray.cluster import Cluster
from rewardkit_ray.folder import Folder
from rewardkit_ray.pools import Pools, actors_left, sizes_of
from rewardkit_ray.reports import Progress, Reports, watched
from rewardkit_ray.scoring import Job, Scoring


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
