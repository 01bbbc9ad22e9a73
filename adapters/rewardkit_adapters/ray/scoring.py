"""Scoring on the cluster: an actor takes one part after another, and writes its rows with their scores.

Rows never pass through Ray: an actor reads its part from the data and writes it to the output, a few batches in memory.
What Ray gets back is the report of the part.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, final

from rewardkit.scoring.chunks import Chunk
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.outputs import arrays, renamed, results, results_schema
from rewardkit.scoring.parts.part import Joined, Part, continued
from rewardkit.scoring.processes import Pool
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import bindings
from rewardkit_adapters.ray.cluster import Load
from rewardkit_adapters.ray.folder import Folder
from rewardkit_adapters.ray.pools import Pools

if TYPE_CHECKING:
    import pyarrow


# The rows of one part: groups stay whole where parts meet, and a group belongs to the part in which it begins.


def rows_of(parts: Sequence[Part], number: int, common: Sequence[str]) -> Part:
    """Return the rows of the groups that begin in part `number`.

    Args:
        parts: all parts, none of them empty.
        common: the columns in which the rows of a group agree; none if there are no groups.
    """
    part = parts[number]
    if not common:
        return part
    start = continued(parts[number - 1], part, common) if number else 0
    if start == part.rows:  # all of it continues an earlier group
        return part.sub(0, 0)
    pieces = [part.sub(start, part.rows)]
    for later in parts[number + 1 :]:
        more = continued(pieces[-1], later, common)
        if more:
            pieces.append(later.sub(0, more))
        if more < later.rows:
            break
    return Joined(tuple(pieces))


def grouped(parts: Sequence[Part], rows: int) -> list[Part]:
    """Return the same rows in fewer parts, each with about `rows` of them."""
    found: list[Part] = []
    held: list[Part] = []
    for part in parts:
        held.append(part)
        if sum(one.rows for one in held) >= rows:
            found.append(Joined(tuple(held)))
            held = []
    return found + ([Joined(tuple(held))] if held else [])


_ROW_GROUP = 16_384
_AT_ONCE = 8
"""Batches in progress of a reward that waits for something."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@final
@dataclass(frozen=True)
class Job:
    """What every actor knows.

    Attributes:
        load: loads the reward.
        parts: the parts of the data, in order.
        schema: the columns of the data.
        sources: our name -> the column of the data.
        apart: columns that separate groups with the same prompt.
        batch: completions scored at once.
        out: where the scores go.
        run: identifies this run; what died in an earlier one was not the fault of its rows.
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
    """An actor that scores parts."""

    def __init__(self, job: Job, pools: Pools) -> None:
        reward = job.load()
        self._job = job
        self._scorer = Scorer(pools.sending(reward))
        self._columns = Columns.of(reward, job.schema.names, job.sources, apart=job.apart)
        waits = any(binding.waits for _, binding in bindings(reward))
        self._threads = ThreadPoolExecutor(_AT_ONCE) if waits else None

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        """Score the parts that `batch` names; return it with their reports."""
        import pyarrow as pa

        reports = [pickle.dumps(self._scored(number)) for number in batch["part"].to_pylist()]
        return batch.append_column("report", pa.array(reports, pa.binary()))

    def _scored(self, number: int) -> ReplayReport:
        """Score one part and write it.

        A part whose actor died is scored in a process of its own, so that a row that kills it loses only its own score.
        """
        job, report = self._job, ReplayReport()
        columns = self._columns
        part = rows_of(job.parts, number, columns.common if columns.compares else ())
        batches = columns.batches(part.chunks(job.batch), job.batch) if part.rows else iter(())
        with job.out.part(number) as file, _Writer(file, job.schema, self._scorer.components) as writer:
            if job.out.first_try(number, job.run):
                scored = in_order(self._threads, self._pair, batches)
                for chunk, scores in scored:
                    writer.add(chunk, scores)
                    report.add(scores)
            else:
                with Pool(job.load.here, 1) as pool:
                    for chunk, scores in pool.results(batches):
                        writer.add(chunk, scores)
                        report.add(scores)
        return report

    def _pair(self, batch: tuple[Chunk, Work]) -> tuple[Chunk, Scores]:
        chunk, work = batch
        return chunk, score(self._scorer, work)


def in_order(
    threads: ThreadPoolExecutor | None, function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Iterator[_Result]:
    """Yield the results in order; with threads, a few items are in progress at a time."""
    if threads is None:
        yield from map(function, items)
        return
    waiting: deque[Future[_Result]] = deque()
    for item in items:
        waiting.append(threads.submit(partial(function, item)))
        if len(waiting) > _AT_ONCE:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@final
class _Writer:
    """Writes rows with their scores as Parquet, some batches in a row group."""

    def __init__(self, file: Any, schema: pyarrow.Schema, components: Sequence[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        names = renamed(schema.names, components)
        fields = [*(one.with_name(names[one.name]) for one in schema), *results_schema(components)]
        self._theirs, self._schema = schema, pa.schema(fields)
        self._file = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._held: list[Any] = []
        self._rows = 0

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._file.close()

    def add(self, chunk: Chunk, scores: Scores) -> None:
        import pyarrow as pa

        columns = [*arrays(chunk, self._theirs), *results(scores)]
        self._held.append(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows += len(chunk)
        if self._rows >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._held:
            self._file.write_table(pa.concat_tables(self._held), row_group_size=self._rows)
        self._held, self._rows = [], 0
