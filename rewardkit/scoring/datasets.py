"""Score a dataset in its own format: ``rk.score_dataset(dataset, reward)`` returns it with score columns.

The dataset can be from Hugging Face or Ray, or a table from pandas, polars, or Arrow. Each library is imported only
when you pass one of its objects.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

from rewardkit.errors import DataError, near_miss, shorten
from rewardkit.record.cells import as_json
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.conversations import COLUMNS
from rewardkit.scoring.parts import Chunk, Tabular, split_table, splits, values_of
from rewardkit.scoring.writers import Tables, arrays, arrow, check_names, renamed, results, results_schema, split_schema
from rewardkit.tree.conversion import RewardLike, tree_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward
from rewardkit.workers.pickled_by_value import packed

if TYPE_CHECKING:
    import pyarrow


# TableScorer: takes an Arrow table and returns the same rows with their scores. Every engine uses it.


@final
@dataclass(frozen=True)
class TableScorer:
    """A scorer for Arrow tables. It can be pickled if the reward can be pickled.

    Attributes:
        reward: the reward; `rewardkit.scoring.processes.one_reward` loads a reward by name.
        sources: our name -> the column in the table.
        apart: columns, such as the step, that separate groups with the same prompt.
        batch: the number of completions to score at once.
        conversations: whether the rows contain conversations to split; None to decide based on each table's first row.
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
        """Return the columns that the reward reads in a table with the columns `names`; ``.needed`` lists them.

        Raises:
            DataError: the completion column or a column in `sources` is missing.
            BindingError: the table lacks a column that the reward reads.
        """
        return Columns.of(self.reward, names, self.sources, group_columns=self.apart)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """Return the table with our columns added; a column with a conflicting name becomes ``input/<name>``.

        Conversations are split into the columns ``prompt`` and ``completion``, as JSON. If the reward compares the
        completions for each prompt, each group must be complete in this table and its rows must be adjacent.

        Raises:
            DataError: two columns have the same name, the completions for a prompt are not adjacent, or as in
                `columns`.
            BindingError: as in `columns`.
            RunStopped: every other row would also fail, for example, because of an invalid key or an exhausted quota.
        """
        import pyarrow as pa

        chunk, schema = self._read(table)
        columns = [*arrays(chunk, schema), *self._scored(chunk).columns]
        return pa.Table.from_arrays(columns, schema=Tables.of(schema, self.components).schema)

    def scores(self, table: pyarrow.Table) -> pyarrow.Table:
        """Return only our columns.

        Columns that the reward does not read can be missing. The errors are the same as for calling the scorer.
        """
        return self._scored(self._read(table)[0])

    def _read(self, table: pyarrow.Table) -> tuple[Chunk, pyarrow.Schema]:
        """Return the table's rows and the schema for writing them."""
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
        batches = [results(scores) for _, scores in columns.scores(parts, self.batch)]
        return pa.Table.from_batches(
            [pa.RecordBatch.from_arrays(result_columns, schema=schema) for result_columns in batches]
        )


_GROUP = "rewardkit/group"
_BLOCKS = 4
"""The number of blocks per core for a Ray dataset whose rows were grouped by prompt. The number is arbitrary. It is
above one so that no core has to wait for a large block at the end."""
_ROWS = 4096
"""The number of rows in a Ray dataset that an actor scores at a time. The number is arbitrary, but large enough that
the cost of distributing rows is small."""


def score_dataset(
    dataset: Any, reward: RewardLike | Sequence[Any], *, columns: Mapping[str, str] | None = None, **options: Any
) -> Any:
    """Return `dataset` with its completions' scores in new columns, the same columns that ``rewardkit score`` writes.

    ::

        table = pandas.DataFrame({"completion": ["<answer>42</answer>", "dunno"], "answer": ["42", "7"]})
        rk.score_dataset(table, rk.number("answer"))["total"]      # 1.0, 0.0

    The new columns are ``total``, ``components/<name>``, ``outcomes`` (of components that were not scored, as JSON),
    ``notes`` (as JSON), and ``error``. A row that cannot be scored has only an ``error`` and does not affect other
    rows. If one of your columns has one of these names, it is renamed ``input/<name>``.

    A Ray dataset is scored when it is consumed. A pool of actors, each using one core, scores it. If the reward
    compares the completions for each prompt, the rows are first grouped by prompt, which changes their order. In all
    other tables, the completions for each prompt must be adjacent.

    Args:
        dataset: a Hugging Face `Dataset`, `DatasetDict`, or `IterableDataset`; a ``ray.data.Dataset``; a pandas or
            polars data frame; or an Arrow table.
        reward: the reward, as in ``rk.score``.
        columns: rewardkit's column name -> your column name, if they differ:
            ``{"completion": "text", "answer": "solution"}``.
        options: for a Ray dataset, arguments for ``map_batches``, such as ``num_cpus=0.5`` or ``compute=`` with the
            pool size.

    Raises:
        DataError: the completion column is missing, two columns have the same name, or the completions for a prompt are
            not adjacent.
        BindingError: the dataset lacks a column that the reward reads.
        RunStopped: every row would fail, for example, because of an invalid key or an exhausted quota.
    """
    scorer = TableScorer(tree_of(reward, "a reward to score with"), dict(columns or {}))
    kind = _kind(dataset)
    if options and kind != "ray":
        raise TypeError(f"score_dataset accepts {', '.join(options)} only for a Ray dataset")
    scored = _WAYS.get(kind)
    if scored is None:
        raise DataError(
            "score_dataset expects a Hugging Face or Ray dataset, a pandas or polars data frame, or an Arrow table, "
            f"got {shorten(dataset)} ({type(dataset).__name__}). For lists, use rk.score(reward, completions)"
        )
    return scored(dataset, scorer, **options)


def _kind(dataset: Any) -> str:
    """Return the name of a dataset's library; for Hugging Face datasets, the class name."""
    for base in type(dataset).__mro__:
        library = base.__module__.partition(".")[0]
        if library == "datasets":
            return base.__name__
        if (library, base.__name__) in _TABLES:
            return library
    return ""


_TABLES = {("ray", "Dataset"), ("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}


def _of_arrow(table: Any, scorer: TableScorer) -> Any:
    import pyarrow as pa

    scores, names = _scores(table, scorer), renamed(table.column_names, scorer.components)
    named = table.rename_columns([names[name] for name in table.column_names])
    return pa.Table.from_arrays([*named.columns, *scores.columns], names=[*named.column_names, *scores.column_names])


def _of_pandas(frame: Any, scorer: TableScorer) -> Any:
    import pandas

    arrow("scoring a data frame")
    import pyarrow as pa

    columns = list(map(str, frame.columns))
    check_names(columns, "the data frame")
    needed = frame[[name for name in frame.columns if str(name) in _needed(columns, scorer)]]
    try:
        table = pa.Table.from_pandas(needed, preserve_index=False)
    except pa.ArrowException as error:
        raise DataError(
            f"a column in the data frame has values of several types: {error}. Convert the column to one type"
        ) from None
    scores = scorer.scores(table).to_pandas()
    named = frame.rename(columns=renamed(columns, scorer.components))
    return pandas.concat([named, scores.set_index(frame.index)], axis=1)


def _of_polars(frame: Any, scorer: TableScorer) -> Any:
    import polars

    scores = polars.from_arrow(_scores(frame, scorer))
    return frame.rename(renamed(frame.columns, scorer.components)).hstack(scores)


def _scores(table: Any, scorer: TableScorer) -> Any:
    """Return our columns for an Arrow or polars table."""
    arrow("scoring a data frame")
    names = list(getattr(table, "column_names", None) or table.columns)
    check_names(names, "the table")
    needed = table.select(_needed(names, scorer))
    return scorer.scores(needed if hasattr(needed, "column_names") else needed.to_arrow())


def _needed(names: Sequence[str], scorer: TableScorer) -> Sequence[str]:
    """Return the columns to read; if the completions are in conversations, these are all columns."""
    completion = scorer.sources.get("completion", "completion")
    if completion in names:
        return scorer.columns(names).needed
    if not {*COLUMNS, "output"} & {*names}:
        available = ", ".join(names)
        raise DataError(
            f"there is no completion column {completion!r}. Pass columns={{'completion': '<your column>'}}. Columns: "
            f"{available}.{near_miss(completion, names)}"
        )
    return names


def _of_dataset(dataset: Any, scorer: TableScorer) -> Any:
    names = dataset.column_names
    scores = scorer.scores(dataset.select_columns(_needed(names, scorer)).with_format("arrow")[:])
    other = {old: new for old, new in renamed(names, scorer.components).items() if old != new}
    dataset = dataset.rename_columns(other) if other else dataset
    for name in scores.column_names:
        dataset = dataset.add_column(name, scores[name].combine_chunks())
    return dataset


def _of_splits(splits: Any, scorer: TableScorer) -> Any:
    return type(splits)({name: _of_dataset(each, scorer) for name, each in splits.items()})


def _of_stream(stream: Any, scorer: TableScorer) -> Any:
    if scorer.scorer.together == "group":
        raise DataError(
            "the reward compares the completions for each prompt, but an IterableDataset is scored in pieces. Load it "
            "as a Dataset: datasets.Dataset.from_generator(lambda: iter(dataset))"
        )
    return stream.with_format("arrow").map(lambda table: _of_arrow(table, scorer), batched=True).with_format(None)


def _of_ray(dataset: Any, scorer: TableScorer, **options: Any) -> Any:
    import ray
    from ray.data import ActorPoolStrategy

    compares = scorer.scorer.together == "group"
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    if compares:
        common = tuple(scorer.columns(dataset.schema().names).common)
        numbered = dataset.map_batches(_numbered, batch_format="pyarrow", fn_args=(common,))
        dataset = numbered.repartition(_BLOCKS * cores, keys=[_GROUP], sort=True)
    options = {"compute": ActorPoolStrategy(min_size=1, max_size=cores), "num_cpus": 1, **options}
    size = None if compares else _ROWS
    return dataset.map_batches(
        _Actor,
        batch_size=size,
        batch_format="pyarrow",
        fn_constructor_args=(packed(replace(scorer)),),  # includes functions from a script or notebook
        **options,
    )


def _numbered(table: Any, common: Sequence[str]) -> Any:
    """Return the table with an added column that has the same value in all rows of a group."""
    import pyarrow as pa

    cells = zip(*(values_of(table[name]) for name in common), strict=True)
    keys = [hashlib.sha256(as_json(row).encode(errors="surrogatepass")).hexdigest() for row in cells]
    return table.append_column(_GROUP, pa.array(keys, pa.string()))


@final
class _Actor:
    """A Ray actor that scores the blocks in a dataset."""

    def __init__(self, scorer: bytes) -> None:
        self._scorer: TableScorer = pickle.loads(scorer)

    def __call__(self, table: Any) -> Any:
        names = [name for name in table.column_names if name != _GROUP]
        return _of_arrow(table.select(names), self._scorer)


_WAYS = {
    "pyarrow": _of_arrow,
    "pandas": _of_pandas,
    "polars": _of_polars,
    "Dataset": _of_dataset,
    "DatasetDict": _of_splits,
    "IterableDataset": _of_stream,
    "ray": _of_ray,
}
