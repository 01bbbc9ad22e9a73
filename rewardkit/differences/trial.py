"""A trial: another reward scores the completions of a recorded run, and tells its scores while it works.

``done_elsewhere([Trial("new.py:reward", place, "runs/x", folder)])`` writes `TriedPart` objects to `folder`, again and
again; ``read_parts(folder, 0)`` reads those that are there.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rewardkit.batch.column import Floats, Numbers
from rewardkit.differences.targets import Location
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.sources import recorded_since
from rewardkit.tree.evaluation.omission import without
from rewardkit.workers.random_state import preserved_rng

KEYS = ("attempt", "rank", "part", "row")
_BATCH = 512
"""As `rewardkit score` has by default."""
_SECONDS = 0.5
"""Between two writes: often enough for a page that shows them as they come."""
_NICENESS = 10
"""The niceness of the process: the page that shows the results comes first. Any number above 0: half of what a user may
give up."""


@dataclass(frozen=True)
class TriedPart:
    """The scores of some completions.

    Attributes:
        keys: (n, 4) attempt, rank, part and row of each completion.
        totals: (n,) NaN if it could not be scored.
        errors: row of this part -> why it could not be scored.
        omitted: components that were left out of the reward, in all parts the same.
        scheduled: whether the reward has schedules, which have their end value here.
    """

    keys: Numbers
    totals: Floats
    errors: Mapping[int, str] = field(default_factory=dict)
    omitted: tuple[str, ...] = ()
    scheduled: bool = False


@dataclass(frozen=True)
class Trial:
    """Score the training completions of a run: a `Task` for a separate process.

    Attributes:
        name: the name of the reward, as the user wrote it.
        place: the place from which the process loads it.
        run: the folder of the run, absolute.
        folder: the folder for the parts.
        leave_out: components to leave out, see `without`.
        since: the first step; None: all.
    """

    name: str
    place: Location
    run_folder: str
    folder: str
    leave_out: tuple[str, ...] = ()
    since: int | None = None

    def run(self) -> int:
        """Load the reward and score; return the number of completions.

        Raises:
            BindingError: the reward reads a column that the run does not have.
            DataError: the run has no completions.
            RunStopped: every row would fail.
        """
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        reward, _, omitted = without(self.place.source.load(), self.leave_out)
        saved = recorded_since(self.run_folder, self.since)
        columns = Columns.of_saved(reward, saved)
        scheduled = columns.scorer.scheduled
        pending: list[TriedPart] = []
        written, last = 0, time.monotonic()
        with preserved_rng(seed=0):
            for chunk, scores in columns.scores(saved.chunks(_BATCH), _BATCH):
                keys = np.array([chunk.column(name) for name in KEYS], dtype=np.int64).T
                why = {row: "; ".join(reasons) for row, reasons in scores.errors.items()}
                pending.append(TriedPart(keys, scores.total, why, omitted, scheduled))
                if time.monotonic() - last > _SECONDS:
                    written, pending, last = self._write(written, pending), [], time.monotonic()
        self._write(written, pending)
        return saved.size

    def _write(self, number: int, parts: list[TriedPart]) -> int:
        """Write some parts as one file; return the number of the next one."""
        path = _file(Path(self.folder), number)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(pickle.dumps(parts))
        draft.replace(path)
        return number + 1


def read_parts(folder: Path, number: int) -> Iterator[list[TriedPart]]:
    """Yield the parts in each file from `number` on, as far as they are written."""
    while (path := _file(folder, number)).is_file():
        yield pickle.loads(path.read_bytes())
        number += 1


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.parts"
