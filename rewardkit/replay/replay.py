"""Replay: score saved completions batch by batch, in order, in several processes.

``for chunk, scores in replay(Replayed.of("reward.py:reward", saved("data.parquet"))): ...`` keeps a few batches in
memory. An exception, an unreadable cell, or even the death of a process affects only the row that caused it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import RESERVED, Batch, Numbers, alike, equality
from rewardkit.core.errors import DataError, near_miss
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import Reward, bindings, walk
from rewardkit.data.samples import asked_for
from rewardkit.replay.processes import Pool, cores, one_reward
from rewardkit.replay.scores import Scores, Work, score
from rewardkit.replay.sources import Chunk, Saved

_WORTHWHILE = 4.0
"""Without `processes=`, more processes are started if this many seconds of work are left."""

_STOPS = ("stop_reason", "finish_reason")
_CUT = ("length", "max_tokens", "model_length", "max_output_tokens")
"""What OpenAI, Anthropic and inspect_ai write in these columns where a completion ran into the token limit."""


@dataclass(frozen=True)
class Replayed:
    """A reward and the saved completions to score.

    Attributes:
        target: ``path.py:name`` or ``module:name``, which other processes load.
        saved: the completions.
        sources: our name -> the column of the data.
        reward: the loaded reward.
    """

    target: str
    saved: Saved
    sources: Mapping[str, str]
    reward: Reward

    @classmethod
    def of(cls, target: str, saved: Saved, sources: Mapping[str, str] | None = None) -> Replayed:
        """Load the reward, and check that the data has the columns that it reads.

        Raises:
            RewardDefinitionError: there is no such reward.
            DataError: there is no column of completions, or a column in `sources` is missing.
            BindingError: the reward reads a column that the data does not have.
        """
        chosen = dict(sources or {})
        for name, theirs in chosen.items():
            if theirs not in saved.kinds:
                raise _missing(saved, theirs, f"to use as {name!r}")
        if chosen.get("completion", "completion") not in saved.kinds:
            raise _missing(saved, "completion", "name the column of the completions with --completion")
        found = cls(target, saved, chosen, one_reward(target))
        found.check()
        return found

    def column(self, name: str) -> str | None:
        """Return the column of the data for `name`, or None."""
        theirs = self.sources.get(name, name)
        return theirs if theirs in self.saved.kinds else None

    @property
    def names(self) -> list[str]:
        """The columns passed to the reward: those that it names, or all that are not used under another name."""
        named, takes_all = asked_for(self.reward)
        taken = set(self.sources.values())
        known = [*self.sources, *(name for name in self.saved.columns if name not in taken)]
        return [name for name in dict.fromkeys(known) if name not in RESERVED and (takes_all or name in named)]

    def check(self) -> None:
        nothing: dict[str, list[Any]] = {name: [] for name in self.names}
        named, _ = asked_for(self.reward)
        if any(name not in nothing for name in named):  # the error lists all columns
            nothing |= {name: [] for name in self.saved.columns if name not in RESERVED}
        has_ids = self.column("completion_ids") is not None
        prompts: list[Any] | None = None if self.column("prompt") is None else []
        Scorer(self.reward).check(Batch([], prompts=prompts, completion_ids=[] if has_ids else None, columns=nothing))
        if self.compares and not self._common:
            raise DataError(
                f"the reward compares the completions of a prompt, but {self.saved.name} has no column 'prompt'. "
                "Name the column with --columns prompt=COLUMN."
            )

    @property
    def compares(self) -> bool:
        """Whether the completions of a prompt are scored together."""
        return any(node.facts.together == "group" for node, _, _ in walk(self.reward))

    @property
    def sees_batches(self) -> bool:
        """Whether the reward sees all completions of a batch."""
        return any(binding.scope == "batch" and not binding.foreign for _, binding in bindings(self.reward))

    @property
    def waits(self) -> bool:
        """Whether the reward waits for services (judges, sandboxes, models), which one process can call in parallel."""
        return any(binding.waits for _, binding in bindings(self.reward))

    @functools.cached_property
    def _common(self) -> list[str]:
        """The columns in which completions of one group agree."""
        named, _ = asked_for(self.reward)
        ours = [name for name in ("prompt", *sorted(named)) if self.column(name) is not None]
        return [*(self.sources.get(name, name) for name in ours), *self.saved.apart]

    def batches(self, most: int) -> Iterator[tuple[Chunk, Work]]:
        """Yield all rows, about `most` at a time; if the reward compares, groups stay whole."""
        if not self.compares:
            for chunk in self.saved.chunks(most):
                yield chunk, self._work(chunk)
            return
        held: Chunk | None = None
        for chunk in self.saved.chunks(most):
            held = chunk if held is None else held.followed_by(chunk)
            sizes = self._sizes(held)
            if len(sizes) > 1:  # the last group may continue
                whole = sum(sizes[:-1])
                yield held.part(0, whole), self._work(held.part(0, whole), sizes[:-1])
                held = held.part(whole)
        if held is not None:
            yield held, self._work(held, self._sizes(held))

    def _sizes(self, chunk: Chunk) -> tuple[int, ...]:
        """Return the sizes of the runs of rows that belong to one group."""
        starts = np.zeros(len(chunk) + 1, dtype=np.bool_)
        starts[[0, -1]] = True
        numbers = []
        for name in self._common:
            numbers.append(equality(chunk.column(name)))
        rows = alike(numbers, len(chunk))
        starts[1:-1] = np.diff(rows) != 0
        sizes = np.diff(np.flatnonzero(starts))
        self._check_apart(rows[starts[:-1]], sizes)
        return tuple(sizes.tolist())

    def _check_apart(self, prompts: Numbers, sizes: Numbers) -> None:
        """Raise a DataError if a prompt with a single completion comes again: a whole group may, in another epoch."""
        _, inverse, counts = np.unique(prompts, return_inverse=True, return_counts=True)
        alone = (sizes == 1) & (counts[inverse] > 1)
        alone[-1:] = False  # the last group may continue
        if alone.any():
            raise DataError(
                f"the reward compares the completions of a prompt, but in {self.saved.name} they are not next to each "
                f"other ({int(alone.sum())} of {len(sizes)} groups in the first rows have one completion, and their "
                "prompt comes again later). Sort the rows by prompt"
            )

    def _work(self, chunk: Chunk, sizes: tuple[int, ...] | None = None) -> Work:
        def values(name: str) -> list[Any] | None:
            theirs = self.column(name)
            return None if theirs is None else chunk.column(theirs)

        ids = values("completion_ids")
        stops = next((found for name in _STOPS if (found := values(name)) is not None), None)
        return Work(
            values("completion") or [],
            values("prompt"),
            None if ids is None or any(one is None for one in ids) else ids,
            {name: values(name) or [] for name in self.names},
            sizes,
            None if stops is None else [stop in _CUT for stop in stops],
        )


def replay(
    replayed: Replayed,
    *,
    processes: int | None = None,
    batch: int = 512,
    told: Callable[[int], None] | None = None,
) -> Iterator[tuple[Chunk, Scores]]:
    """Yield all rows with their scores, in order, a batch at a time.

    Args:
        replayed: the reward and the completions.
        processes: number of processes; by default all cores if there are some seconds of work, else one. A reward
            that waits for judges or sandboxes uses one process, which sends many requests at once.
        batch: completions scored at once.
        told: called with the number of processes, once it is known.

    Raises:
        RunStopped: every other row would fail, too: a wrong key, a quota that is used up.
    """
    scorer = Scorer(replayed.reward)
    batches = replayed.batches(batch)
    tell = told or _ignore
    if processes is None or processes < 2 or replayed.waits:
        chosen, done = (1 if replayed.waits else processes), 0
        for chunk, work in batches:
            started = time.perf_counter()
            yield chunk, score(scorer, work)
            done += len(chunk)
            if chosen is None:
                left = (replayed.saved.size - done) * (time.perf_counter() - started) / max(len(chunk), 1)
                chosen = cores() if left > _WORTHWHILE else 1
                if chosen > 1:
                    break
        tell(chosen or 1)
        processes = chosen or 1
    if processes > 1:
        tell(processes)
        with Pool(replayed.target, processes) as pool:
            yield from pool.results(batches)


def _missing(saved: Saved, name: str, what: str) -> DataError:
    there = ", ".join(saved.columns)
    return DataError(f"{saved.name} has no column {name!r} ({what}). Columns: {there}.{near_miss(name, saved.columns)}")


def _ignore(processes: int) -> None:
    """Do nothing: the default callback."""
