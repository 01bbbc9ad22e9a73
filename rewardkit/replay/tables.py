"""Scored tables: an Arrow table in, the same rows with their scores out; every engine scores with this.

``TableScorer(reward)(table)`` has the columns of `table` and ``total``, ``components/<name>``, and texts: ``outcomes``
(of components that were not scored), ``notes``, ``error``. A row that cannot be scored has only an ``error``.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import Reward
from rewardkit.replay.chunks import Chunk, Tabular, split_table, splits
from rewardkit.replay.columns import Columns
from rewardkit.replay.outputs import arrays, check_names, renamed, results, results_schema, split_schema
from rewardkit.replay.scores import score

if TYPE_CHECKING:
    import pyarrow


@final
@dataclass(frozen=True)
class TableScorer:
    """Scores Arrow tables. It can be pickled if the reward can.

    Attributes:
        reward: the reward; `rewardkit.replay.processes.one_reward` loads one by name.
        sources: our name -> the column of the table.
        apart: columns that separate groups with the same prompt, such as the step.
        batch: completions scored at once.
        conversations: whether the rows hold conversations to split; None to look at the first row of each table.
    """

    reward: Reward
    sources: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    batch: int = 512
    conversations: bool | None = None

    @functools.cached_property
    def scorer(self) -> Scorer:
        """The compiled reward."""
        return Scorer(self.reward)

    @property
    def components(self) -> list[str]:
        """The names of the components."""
        return self.scorer.components

    def columns(self, names: Collection[str]) -> Columns:
        """Return the columns that the reward reads, of a table with columns of these names; ``.needed`` lists them.

        Raises:
            DataError: there is no column of completions, or a column in `sources` is missing.
            BindingError: the reward reads a column that the table does not have.
        """
        return Columns.of(self.reward, names, self.sources, apart=self.apart)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """Return the table with our columns; a column with the name of one of ours becomes ``input/<name>``.

        Conversations are split into the columns ``prompt`` and ``completion``, as JSON. If the reward compares the
        completions of a prompt, the rows of each group must be next to each other, and all be in this table.

        Raises:
            DataError: two columns have the same name, the completions of a prompt are apart, or as `columns`.
            BindingError: as `columns`.
            RunStopped: every other row would fail, too: a wrong key, a quota that is used up.
        """
        import pyarrow as pa

        chunk, schema = self._read(table)
        names = renamed(schema.names, self.components)
        fields = [one.with_name(names[one.name]) for one in schema]
        said = self._scored(chunk)
        return pa.Table.from_arrays([*arrays(chunk, schema), *said.columns], schema=pa.schema([*fields, *said.schema]))

    def scores(self, table: pyarrow.Table) -> pyarrow.Table:
        """Return our columns alone; raise what a call raises. Columns that the reward does not read may be absent."""
        return self._scored(self._read(table)[0])

    def _read(self, table: pyarrow.Table) -> tuple[Chunk, pyarrow.Schema]:
        """Return the rows, and the schema in which they are written."""
        table = table.replace_schema_metadata(None)
        check_names(table.column_names, "the table")
        completion = self.sources.get("completion")
        if not (splits(table, completion) if self.conversations is None else self.conversations):
            return Tabular(table), table.schema
        chunk = split_table(table, completion)
        return chunk, split_schema(table.schema, chunk.names)

    def _scored(self, chunk: Chunk) -> pyarrow.Table:
        import pyarrow as pa

        schema = results_schema(self.components)
        if not len(chunk):
            return schema.empty_table()
        columns = self.columns(chunk.names)
        parts = (chunk.part(start, start + self.batch) for start in range(0, len(chunk), self.batch))
        said = [results(score(self.scorer, work)) for _, work in columns.batches(parts, self.batch)]
        return pa.Table.from_batches([pa.RecordBatch.from_arrays(one, schema=schema) for one in said])
