"""Patience: rows that have failed are scored again until they have a score or the time is over.

For trainers that can neither leave out a row without a score nor go on without it. ``RowScorer.score(rows,
patience=300.0)`` waits up to five minutes for a judge to come back; only the last try of a row is counted and recorded.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator

from rewardkit.core.batch.table import ScoreTable
from rewardkit.online.batches import Places, Scored
from rewardkit.online.rows import failed_rows

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0
"""Seconds between two tries; each pause is twice as long as the one before."""


class RunExit(BaseException):
    """Ends a training whose trainer catches every `Exception` of a reward and goes on without the score."""


def patient(
    score: Callable[[Places], Iterator[Scored]],
    places: Places,
    seconds: float,
    waiting: Callable[[ScoreTable], None],
) -> Iterator[Scored]:
    """Yield the scores of the rows at `places`; rows that have failed are scored again.

    Args:
        score: scores the rows at some places.
        seconds: after which failed rows are not scored again; 0.0 scores every row once.
        waiting: is called with failed rows before they are scored again.
    """
    end, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while len(places):
        last = time.monotonic() >= end
        again: list[int] = []
        for found in score(places):
            for part, failed in [(found, False)] if last or found.final else _parts(found):
                if failed:
                    waiting(part.table)
                    again += part.places
                else:
                    yield part
        places = again
        if again:
            left = max(0.0, end - time.monotonic())
            time.sleep(min(pause * random.uniform(0.75, 1.25), left))  # so that threads do not ask all at once
            pause = min(2 * pause, _LONGEST_PAUSE)


def _parts(found: Scored) -> Iterator[tuple[Scored, bool]]:
    """Yield runs of rows that have failed, and of rows that have not."""
    failed = failed_rows(found.table)
    for kind, run in itertools.groupby(range(len(failed)), key=lambda row: bool(failed[row])):
        rows = list(run)
        start, stop = rows[0], rows[-1] + 1
        whole = stop - start == len(failed)
        part = found if whole else Scored(found.places[start:stop], found.table.part(start, stop))
        yield part, kind
