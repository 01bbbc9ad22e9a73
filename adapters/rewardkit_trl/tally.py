"""Tally: what one batch adds up to. Tallies of several processes add up to that of the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.analysis import signal
from rewardkit.core import states
from rewardkit.core.outcome import ABSTAINED, SKIPPED, Floats, ScoreTable
from rewardkit_trl.breaker import Breaker


@dataclass(frozen=True)
class Tally:
    """Sums over the rows of a batch.

    Attributes:
        rows: (2,) all of them, and the unscorable ones.
        faults: (components, 4) as `Breaker.counts` gives them.
        absent: (components, 2) abstained and skipped rows.
        sums: (components, 3) scored rows, the sum of their scores, that of their squares.
        gates: (gates, 2) rows that reached a gate, and that it let through.
        contributions: (terms,) sums of the terms.
        caused: (addends,) what each addend causes of the variance within groups.
        variance: (1,) all of that variance.
    """

    rows: Floats
    faults: Floats
    absent: Floats
    sums: Floats
    gates: Floats
    contributions: Floats
    caused: Floats
    variance: Floats

    @classmethod
    def of(
        cls, table: ScoreTable, addends: Mapping[str, Floats], groups: NDArray[np.int64] | None, scale: signal.Scale
    ) -> Tally:
        """The tally of `table`.

        Args:
            addends: name -> (n,) what the trainer adds up.
            groups: (n,) the group of each row; None where groups are cut in two, so that nothing can be said of them.
            scale: what the trainer divides advantages by.
        """
        unscorable = np.isnan(table.total)
        codes = [column.codes for column in table.components.values()]
        caused, variance = np.zeros(len(addends)), 0.0
        if groups is not None:
            caused, variance = signal.causes(list(addends.values()), groups, scale=scale)
        return cls(
            rows=np.array([len(table), unscorable.sum()], dtype=np.float64),
            faults=np.array(Breaker.counts(table), dtype=np.float64),
            absent=np.array(
                [[(own == code).sum() for code in (ABSTAINED, SKIPPED)] for own in codes], dtype=np.float64
            ),
            sums=np.array(states.sums(table.components, table.components)),
            gates=np.array(list(table.passed.values()), dtype=np.float64).reshape(-1, 2),
            contributions=np.array([np.nansum(values[~unscorable]) for values in table.terms.values()]),
            caused=caused,
            variance=np.array([variance]),
        )

    def summed(self, over_ranks: Callable[[Floats], Floats]) -> Tally:
        """The tally of all processes, by one sum over all numbers at once."""
        arrays: tuple[Floats, ...] = astuple(self)
        flat = over_ranks(np.concatenate([array.ravel() for array in arrays]))
        pieces = np.split(flat, np.cumsum([array.size for array in arrays])[:-1])
        return Tally(*(piece.reshape(array.shape) for piece, array in zip(pieces, arrays, strict=True)))
