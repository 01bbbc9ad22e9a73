"""A trial: another reward scores the completions of a recorded run. Its scores can be read while it is running.

``done_elsewhere([Trial("new.py:reward", place, "runs/x", folder)])`` keeps writing `TriedPart` objects to `folder`.
``read_parts(folder, 0)`` reads the objects written so far.
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
from rewardkit.tree.evaluation.omission import omit_components
from rewardkit.workers.random_state import preserved_rng

KEYS = ("attempt", "rank", "part", "row")
_BATCH = 512
"""The number of completions per batch, the same as the default of `rewardkit score`."""
_SECONDS = 0.5
"""The number of seconds between two writes. Arbitrary: often enough for a page that shows scores as they arrive."""
_NICENESS = 10
"""The niceness of the process, so that the page that shows the results takes precedence. Arbitrary: about half the
range above 0."""


@dataclass(frozen=True)
class TriedPart:
    """The scores of some of the completions.

    Attributes:
        keys: (n, 4) attempt, rank, part, and row of each completion.
        totals: (n,) the totals, with NaN for a completion that could not be scored.
        errors: row of this part -> why the row could not be scored.
        omitted: the components that were excluded from the reward, the same in all parts.
        scheduled: whether the reward has schedules, for which the end values are used.
    """

    keys: Numbers
    totals: Floats
    errors: Mapping[int, str] = field(default_factory=dict)
    omitted: tuple[str, ...] = ()
    scheduled: bool = False


@dataclass(frozen=True)
class Trial:
    """A `Task` that scores the training completions of a run in a separate process.

    Attributes:
        name: the reward's name, as the user wrote it.
        place: the location from which the process loads the reward.
        run_folder: the absolute path of the run's folder.
        folder: the folder for the parts.
        leave_out: components to exclude, see `without`.
        since: the first step to score, or None for all steps.
    """

    name: str
    place: Location
    run_folder: str
    folder: str
    leave_out: tuple[str, ...] = ()
    since: int | None = None

    def run(self) -> int:
        """Load the reward, score the completions, and return the number of completions.

        Raises:
            BindingError: the reward reads a column that the run does not have.
            DataError: the run has no completions.
            RunStopped: every row would fail.
        """
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        reward, _, omitted = omit_components(self.place.source.load(), self.leave_out)
        saved = recorded_since(self.run_folder, self.since)
        columns = Columns.of_saved(reward, saved)
        scheduled = columns.scorer.scheduled
        pending: list[TriedPart] = []
        written, last = 0, time.monotonic()
        with preserved_rng(seed=0):
            for chunk, scores in columns.scores(saved.chunks(_BATCH), _BATCH):
                keys = np.array([chunk.column(name) for name in KEYS], dtype=np.int64).T
                errors = {row: "; ".join(reasons) for row, reasons in scores.errors.items()}
                pending.append(TriedPart(keys, scores.total, errors, omitted, scheduled))
                if time.monotonic() - last > _SECONDS:
                    written, pending, last = self._write(written, pending), [], time.monotonic()
        self._write(written, pending)
        return saved.size

    def _write(self, number: int, parts: list[TriedPart]) -> int:
        """Write parts to a file with the given number, and return the number of the next file."""
        path = _file(Path(self.folder), number)
        draft = path.with_suffix(".tmp")
        draft.write_bytes(pickle.dumps(parts))
        draft.replace(path)
        return number + 1


def read_parts(folder: Path, number: int) -> Iterator[list[TriedPart]]:
    """Yield the parts in all files so far, starting with file `number`."""
    while (path := _file(folder, number)).is_file():
        yield pickle.loads(path.read_bytes())
        number += 1


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.parts"
