"""The sums over one batch. The tallies from all processes add up to the tally for the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.analyze import signal
from rewardkit.analyze.advantages import moments_of
from rewardkit.batch.column import Floats, sums
from rewardkit.batch.score import ABSTAINED, SCORED, SKIPPED
from rewardkit.batch.table import ScoreTable
from rewardkit.online.faults import fault_counts
from rewardkit.record.trajectories import Trajectories

TRAJECTORY = ("turns", "calls", "errors", "unfinished", "pending", "malformed_calls", "broken")
"""The trajectory metrics that are summed."""


@dataclass(frozen=True)
class Tally:
    """The sums over the rows in a batch.

    Attributes:
        rows: (2,) the number of rows, and the number of unscorable rows.
        faults: (components, 6) the numbers of rows that were evaluated, failed, errored, failed without harm, have an
            unreadable gold answer, and have a readable gold answer (`fault_counts`).
        parts: (1,) the number of score parts, whose names may differ between processes.
        stops: (1,) the number of processes in which a reward stopped the run.
        absent: (components, 2) the numbers of abstained and skipped rows.
        sums: (components, 2) the number of scored rows, and the sum of these rows' scores.
        followed: (followed, 3) the sums of the components that schedules follow, as `column.sums` returns them.
        weights: (terms, 2) the number of rows to which a term applies, and the sum of the term's weights over these
            rows.
        gates: (gates, 2) the number of rows that reached a gate, and the number of rows that passed the gate.
        contributions: (terms,) the sums of the terms.
        caused: (addends,) the variance within groups that each addend causes.
        variance: (1,) the variance within groups.
        moments: (3,) the number, the sum, and the sum of squares of the scored totals.
        trajectories: (9,) the number of batches with more than plain messages, the number of trajectories, and the sums
            of the trajectory metrics in the order of `TRAJECTORY`.
    """

    rows: Floats
    faults: Floats
    parts: Floats
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
    trajectories: Floats

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        addends: Mapping[str, Floats],
        groups: NDArray[np.int64] | None,
        scale: signal.Scale,
        followed: Sequence[str] = (),
        totals: Floats | None = None,
        trajectories: Trajectories | None = None,
    ) -> Tally:
        """Return the tally of `table`.

        Args:
            addends: name -> (n,) the columns that the trainer adds up.
            groups: (n,) the group of each row, or None if groups are incomplete and the variance within groups is
                unknown.
            scale: the divisor of the trainer's advantages.
            followed: the components that schedules follow.
            totals: (n,) the sums of the addends, if they differ from the totals in the table.
            trajectories: the rows' trajectories, or None for plain-text completions.
        """
        unscorable = np.isnan(table.total)
        columns = table.components.values()
        counts = np.array([column.counts() for column in columns], dtype=np.float64)
        scored = [column.values if column.complete else column.values[column.codes == SCORED] for column in columns]
        terms = np.array(list(table.terms.values()))
        if unscorable.any():
            terms = terms[:, ~unscorable]
        caused, variance = np.zeros(len(addends)), 0.0
        if groups is not None:
            caused, variance = signal.causes(list(addends.values()), groups, scale=scale)
        return cls(
            rows=np.array([len(table), unscorable.sum()], dtype=np.float64),
            faults=fault_counts(table),
            parts=np.array([float(sum(len(column.parts) for column in table.components.values()))]),
            stops=np.array([float(table.stop is not None)]),
            absent=counts[:, (ABSTAINED, SKIPPED)],
            sums=np.array([[len(values), np.add.reduce(values)] for values in scored]),
            followed=np.array(sums(table.components, followed)).reshape(-1, 3),
            weights=np.array([[rows, rows * table.weights.get(name, 0.0)] for name, rows in table.reached.items()]),
            gates=np.array([[rows.sum() for rows in gate] for gate in table.passed.values()], dtype=np.float64).reshape(
                -1, 2
            ),
            contributions=np.where(np.isnan(terms), 0.0, terms).sum(axis=1),
            caused=caused,
            variance=np.array([variance]),
            moments=moments_of(table.total if totals is None else totals),
            trajectories=np.zeros(2 + len(TRAJECTORY)) if trajectories is None else _of_trajectories(trajectories),
        )

    def means(self, table: ScoreTable) -> dict[str, float]:
        """Return the mean of each component with at least one scored row."""
        return {
            name: float(total / count)
            for name, (count, total) in zip(table.components, self.sums, strict=True)
            if count
        }

    def summed(self, over_ranks: Callable[[Floats], Floats]) -> Tally:
        """Return the tally for all processes. A single call to `over_ranks` sums all numbers."""
        arrays: tuple[Floats, ...] = astuple(self)
        flat = over_ranks(np.concatenate([array.ravel() for array in arrays]))
        pieces = np.split(flat, np.cumsum([array.size for array in arrays])[:-1])
        return Tally(*(piece.reshape(array.shape) for piece, array in zip(pieces, arrays, strict=True)))


def _of_trajectories(trajectories: Trajectories) -> Floats:
    sums = (
        trajectories.turns.sum(),
        trajectories.calls.sum(),
        trajectories.errors.sum(),
        sum(stop != "answered" for stop in trajectories.stops),
        trajectories.stops.count("pending"),
        trajectories.malformed.sum(),
        sum(map(bool, trajectories.broken)),
    )
    return np.array([not trajectories.plain, len(trajectories.turns), *sums], dtype=np.float64)
