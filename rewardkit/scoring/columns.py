"""The columns that a reward reads, and their names in the data; they turn chunks of rows into work for a `Scorer`.

``Columns.of(reward, ["text", "answer"], {"completion": "text"}).work(chunk)`` contains only completions and answers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.batch.batch import RESERVED, Batch, Numbers
from rewardkit.batch.equality import equality, number_equal_rows
from rewardkit.errors import DataError, near_miss
from rewardkit.scoring.parts import Chunk
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward, bindings, walk

_STOPS = ("stop_reason", "finish_reason")
_CUT = ("length", "max_tokens", "model_length", "max_output_tokens")
"""The values in `_STOPS` columns with which OpenAI, Anthropic, and inspect_ai mark a completion that reached the token
limit."""


@dataclass(frozen=True)
class Columns:
    """A dataset's columns, mapped for one reward.

    Attributes:
        reward: the reward.
        there: the column names in the data.
        sources: our name -> the column in the data.
        apart: columns, such as the step, that separate groups with the same prompt.
        data: the data's name in error messages.
    """

    reward: Reward
    there: Collection[str]
    sources: Mapping[str, str]
    apart: tuple[str, ...] = ()
    data: str = "the data"

    @classmethod
    def of(
        cls,
        reward: Reward,
        data_columns: Collection[str],
        sources: Mapping[str, str] | None = None,
        *,
        group_columns: tuple[str, ...] = (),
        data: str = "the data",
    ) -> Columns:
        """Check that the data has the columns that the reward reads.

        Raises:
            DataError: the completion column or a column in `sources` is missing.
            BindingError: the data lacks a column that the reward reads.
        """
        columns = cls(reward, data_columns, dict(sources or {}), group_columns, data)
        for name, source in columns.sources.items():
            if source not in data_columns:
                raise columns._missing(source, f"to use as {name!r}")
        if columns.column("completion") is None:
            raise columns._missing("completion", "name the column of the completions with --completion")
        columns._check()
        return columns

    @classmethod
    def of_saved(cls, reward: Reward, saved: Saved, sources: Mapping[str, str] | None = None) -> Columns:
        """Check that saved completions have the columns that the reward reads; raise the same errors as `of`."""
        return cls.of(reward, saved.columns, sources, group_columns=saved.apart, data=saved.name)

    @functools.cached_property
    def scorer(self) -> Scorer:
        """The compiled reward."""
        return Scorer(self.reward)

    def column(self, name: str) -> str | None:
        """Return the column in the data for `name`, or None."""
        source = self.sources.get(name, name)
        return source if source in self.there else None

    @functools.cached_property
    def names(self) -> list[str]:
        """The columns passed to the reward: those that it names, or all that are not used under another name."""
        named, takes_all = asked_for(self.reward)
        used_sources = set(self.sources.values())
        candidates = [*self.sources, *(name for name in self.there if name not in used_sources)]
        return [name for name in dict.fromkeys(candidates) if name not in RESERVED and (takes_all or name in named)]

    @functools.cached_property
    def needed(self) -> list[str]:
        """The data columns that must be read, in the order of the data."""
        read_names = ("completion", "prompt", "completion_ids", *_STOPS, *self.names)
        needed = {self.column(name) for name in read_names} | set(self.apart)
        return [name for name in self.there if name in needed]

    @functools.cached_property
    def compares(self) -> bool:
        """Whether the reward compares the completions for a prompt."""
        return any(node.facts.together == "group" for node, _, _ in walk(self.reward))

    @functools.cached_property
    def sees_batches(self) -> bool:
        """Whether the reward uses all completions in a batch together."""
        return any(binding.scope == "batch" and not binding.foreign for _, binding in bindings(self.reward))

    @functools.cached_property
    def waits(self) -> bool:
        """Whether the reward waits for services (judges, sandboxes, models), which one process can call in parallel."""
        return any(binding.waits for _, binding in bindings(self.reward))

    @functools.cached_property
    def common(self) -> list[str]:
        """The columns that identify a group."""
        named, _ = asked_for(self.reward)
        common_names = [name for name in ("prompt", *sorted(named)) if self.column(name) is not None]
        return [*(self.sources.get(name, name) for name in common_names), *self.apart]

    def keys(self, chunk: Chunk) -> list[Any]:
        """Return n values that are equal for completions of the same prompt; empty if there are no prompts."""
        if self.column("prompt") is None:
            return []
        return list(zip(*(chunk.column(name) for name in self.common), strict=True))

    def batches(self, chunks: Iterable[Chunk], most: int) -> Iterator[tuple[Chunk, Work]]:
        """Yield all rows in batches of about `most` rows; if the reward compares completions, groups are not split.

        Args:
            chunks: consecutive rows; each chunk except the last has `most` rows.
            most: the number of completions to score at once.
        """
        if not self.compares:
            for chunk in chunks:
                yield chunk, self.work(chunk)
            return
        pending: Chunk | None = None
        for chunk in chunks:
            pending = chunk if pending is None else pending.followed_by(chunk)
            sizes = self._sizes(pending)
            if len(sizes) > 1:  # the last group may continue
                complete_rows = sum(sizes[:-1])
                yield pending.part(0, complete_rows), self.work(pending.part(0, complete_rows), sizes[:-1])
                pending = pending.part(complete_rows)
        if pending is not None:
            yield pending, self.work(pending, self._sizes(pending))

    def scores(
        self, chunks: Iterable[Chunk], most: int, score: Callable[[Scorer, Work], Scores] = score
    ) -> Iterator[tuple[Chunk, Scores]]:
        """Yield all rows with their scores, batch by batch (see `batches`).

        A row that cannot be scored does not affect the others.

        Args:
            score: the function that scores the rows of a batch.

        Raises:
            RunStopped: every other row would also fail, for example, because of an invalid key or an exhausted quota.
        """
        for chunk, work in self.batches(chunks, most):
            yield chunk, score(self.scorer, work)

    def work(self, chunk: Chunk, sizes: tuple[int, ...] | None = None) -> Work:
        """Return the input for a `Scorer` for the rows in `chunk`; `sizes` are the sizes of their groups."""

        def values(name: str) -> list[Any] | None:
            source = self.column(name)
            return None if source is None else chunk.column(source)

        ids = values("completion_ids")
        return Work(
            values("completion") or [],
            values("prompt"),
            None if ids is None or any(row_ids is None for row_ids in ids) else ids,
            {name: values(name) or [] for name in self.names},
            sizes,
            cut_of(values),
        )

    def _check(self) -> None:
        nothing: dict[str, list[Any]] = {name: [] for name in self.names}
        named, _ = asked_for(self.reward)
        if any(name not in nothing for name in named):  # the error lists all columns
            nothing |= {name: [] for name in self.there if name not in RESERVED}
        has_ids = self.column("completion_ids") is not None
        prompts: list[Any] | None = None if self.column("prompt") is None else []
        self.scorer.check(Batch([], prompts=prompts, completion_ids=[] if has_ids else None, columns=nothing))
        if self.compares and not self.common:
            raise DataError(
                f"the reward compares the completions for each prompt, but {self.data} has no column 'prompt'. Name "
                "the column with --columns prompt=COLUMN"
            )

    def _sizes(self, chunk: Chunk) -> tuple[int, ...]:
        """Return the size of each group of consecutive rows."""
        starts = np.zeros(len(chunk) + 1, dtype=np.bool_)
        starts[[0, -1]] = True
        rows = number_equal_rows([equality(chunk.column(name)) for name in self.common], len(chunk))
        starts[1:-1] = np.diff(rows) != 0
        sizes = np.diff(np.flatnonzero(starts))
        self._check_apart(rows[starts[:-1]], sizes)
        return tuple(sizes.tolist())

    def _check_apart(self, prompts: Numbers, sizes: Numbers) -> None:
        """Raise a DataError if a prompt with a single completion recurs. A whole group may recur in a later epoch."""
        _, inverse, counts = np.unique(prompts, return_inverse=True, return_counts=True)
        alone = (sizes == 1) & (counts[inverse] > 1)
        alone[-1:] = False  # the last group may continue
        if alone.any():
            raise DataError(
                f"the reward compares the completions for each prompt, but in {self.data} they are not next to each "
                f"other ({int(alone.sum())} of {len(sizes)} groups in the first rows have one completion, and their "
                "prompts appear again later). Sort the rows by prompt"
            )

    def _missing(self, name: str, purpose: str) -> DataError:
        available = ", ".join(self.there)
        return DataError(
            f"{self.data} has no column {name!r} ({purpose}). Columns: {available}.{near_miss(name, self.there)}"
        )


def cut_of(values: Callable[[str], list[Any] | None]) -> list[bool] | None:
    """Return whether each completion reached the token limit, or None if the data does not contain it.

    Args:
        values: returns the values in a column, or None if there is no such column.
    """
    stops = next((stop_values for name in _STOPS if (stop_values := values(name)) is not None), None)
    return None if stops is None else [stop in _CUT for stop in stops]


def asked_for(reward: Reward) -> tuple[set[str], bool]:
    """Return the columns that `reward` names, and whether it receives all columns."""
    named: set[str] = set()
    takes_all = False
    for node, _, _ in walk(reward):
        binding = node.facts.binding
        named.update(node.facts.columns)
        if binding is not None and binding.foreign:
            named.update(getattr(binding.function, "columns", ()))
        takes_all |= binding is not None and (binding.foreign or binding.reads("example"))
    return named, takes_all
