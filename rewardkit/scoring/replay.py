"""Replay: score saved completions batch by batch, in order, in several processes.

``for chunk, scores in replay(Replayed.of("reward.py:reward", saved("data.parquet"))): ...`` keeps a few batches in
memory. An exception, an unreadable cell, or even the death of a process affects only the row that caused it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rewardkit.scoring.chunks import Chunk
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.processes import Pool, cores, one_reward
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward

_WORTHWHILE = 4.0
"""Without `processes=`, more processes are started if this many seconds of work are left."""


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
        found = cls(target, saved, dict(sources or {}), one_reward(target))
        found.check()
        return found

    @functools.cached_property
    def columns(self) -> Columns:
        """The columns of the data that the reward reads."""
        saved = self.saved
        return Columns.of(self.reward, saved.columns, self.sources, apart=saved.apart, data=saved.name)

    def check(self) -> None:
        """Raise a DataError or a BindingError if the data lacks what the reward reads."""
        self.columns  # noqa: B018

    @property
    def names(self) -> list[str]:
        """The columns passed to the reward."""
        return self.columns.names

    @property
    def sees_batches(self) -> bool:
        """Whether the reward sees all completions of a batch."""
        return self.columns.sees_batches

    def batches(self, most: int) -> Iterator[tuple[Chunk, Work]]:
        """Yield all rows, about `most` at a time; if the reward compares, groups stay whole."""
        return self.columns.batches(self.saved.chunks(most), most)


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
    if processes is None or processes < 2 or replayed.columns.waits:
        chosen, done = (1 if replayed.columns.waits else processes), 0
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


def _ignore(processes: int) -> None:
    """Do nothing: the default callback."""
