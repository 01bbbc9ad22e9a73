"""Tally: what one batch adds up to. Tallies of several processes add up to that of the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.analysis import signal
from rewardkit.core.batch.column import Floats, sums
from rewardkit.core.batch.score import ABSTAINED, SCORED, SKIPPED
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.progress import states
from rewardkit.core.progress.schedule import PerformanceSchedule
from rewardkit_trl.advantages import moments_of
from rewardkit_trl.breaker import Breaker


@dataclass(frozen=True)
class Tally:
    """Sums over the rows of a batch.

    Attributes:
        rows: (2,) all of them, and the unscorable ones.
        faults: (components, 4) as `Breaker.counts` gives them.
        stops: (1,) processes in which the run has to stop.
        absent: (components, 2) abstained and skipped rows.
        sums: (components, 2) scored rows, and the sum of their scores.
        followed: (followed, 3) of what schedules follow, as `column.sums` gives them.
        weights: (terms, 2) rows that a term reached, and the sum of its weights there.
        gates: (gates, 2) rows that reached a gate, and that it let through.
        contributions: (terms,) sums of the terms.
        caused: (addends,) what each addend causes of the variance within groups.
        variance: (1,) all of that variance.
        moments: (3,) number, sum and sum of squares of the totals that were scored.
    """

    rows: Floats
    faults: Floats
    stops: Floats
    absent: Floats
    sums: Floats
    followed: Floats
    weights: Floats
    gates: Floats
    contributions: Floats
    caused: Floats
    variance: Floats
    moments: Floats

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        addends: Mapping[str, Floats],
        groups: NDArray[np.int64] | None,
        scale: signal.Scale,
        followed: Sequence[str] = (),
        totals: Floats | None = None,
    ) -> Tally:
        """The tally of `table`.

        Args:
            addends: name -> (n,) what the trainer adds up.
            groups: (n,) the group of each row; None where groups are cut in two, so that nothing can be said of them.
            scale: what the trainer divides advantages by.
            followed: names of the components that schedules follow.
            totals: (n,) the sums of the addends, where they are not those of the terms.
        """
        unscorable = np.isnan(table.total)
        columns = [(column.values, column.codes) for column in table.components.values()]
        caused, variance = np.zeros(len(addends)), 0.0
        if groups is not None:
            caused, variance = signal.causes(list(addends.values()), groups, scale=scale)
        return cls(
            rows=np.array([len(table), unscorable.sum()], dtype=np.float64),
            faults=np.array(Breaker.counts(table), dtype=np.float64),
            stops=np.array([float(table.stop is not None)]),
            absent=np.array(
                [[(own == code).sum() for code in (ABSTAINED, SKIPPED)] for _, own in columns], dtype=np.float64
            ),
            sums=np.array([[(own == SCORED).sum(), values[own == SCORED].sum()] for values, own in columns]),
            followed=np.array(sums(table.components, followed)).reshape(-1, 3),
            weights=np.array([[rows, rows * table.weights.get(name, 0.0)] for name, rows in table.reached.items()]),
            gates=np.array([[rows.sum() for rows in gate] for gate in table.passed.values()], dtype=np.float64).reshape(
                -1, 2
            ),
            contributions=np.array([np.nansum(values[~unscorable]) for values in table.terms.values()]),
            caused=caused,
            variance=np.array([variance]),
            moments=moments_of(table.total if totals is None else totals),
        )

    def means(self, table: ScoreTable) -> dict[str, float]:
        """The mean of each component that somebody scored."""
        return {
            name: float(total / count)
            for name, (count, total) in zip(table.components, self.sums, strict=True)
            if count
        }

    def followed_means(self, followers: Sequence[PerformanceSchedule]) -> dict[str, float]:
        """What schedules follow: means, and those of the squares."""
        return states.means([follower.component for follower in followers], self.followed.tolist())

    def summed(self, over_ranks: Callable[[Floats], Floats]) -> Tally:
        """The tally of all processes, by one sum over all numbers at once."""
        arrays: tuple[Floats, ...] = astuple(self)
        flat = over_ranks(np.concatenate([array.ravel() for array in arrays]))
        pieces = np.split(flat, np.cumsum([array.size for array in arrays])[:-1])
        return Tally(*(piece.reshape(array.shape) for piece, array in zip(pieces, arrays, strict=True)))
