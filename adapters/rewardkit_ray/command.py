"""``rewardkit score --engine ray``, as a function: open the data, cut it into parts, score them on the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from uuid import uuid4

from rewardkit.data.files import Row
from rewardkit.replay.columns import Columns
from rewardkit.replay.outputs import schema_of
from rewardkit.replay.parts.part import regrouped
from rewardkit.replay.report import ReplayReport
from rewardkit.replay.sources import saved
from rewardkit_ray.cluster import connected
from rewardkit_ray.engine import Settings, score_on
from rewardkit_ray.folder import Folder
from rewardkit_ray.groups import grouped
from rewardkit_ray.reports import Progress
from rewardkit_ray.scoring import Job

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
