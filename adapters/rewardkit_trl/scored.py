"""Scored: a batch with all that is known of it once it is scored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rewardkit.core.batch import Numbers
from rewardkit.core.outcome import ScoreTable
from rewardkit.store.records import Line
from rewardkit_trl.advantages import Spread
from rewardkit_trl.tally import Tally


@dataclass(frozen=True)
class Scored:
    """A batch of n completions.

    Attributes:
        table: its scores.
        tally: what it adds up to.
        addends: the names of what the trainer adds up.
        spread: the sums of that among those of their groups; None where groups are cut in two or nobody asks.
        groups: (n,) the group of each row.
        seconds: that scoring took.
        lines: what the reward functions said meanwhile, if it is recorded.
    """

    table: ScoreTable
    tally: Tally
    addends: tuple[str, ...]
    spread: Spread | None
    groups: Numbers
    seconds: float
    lines: tuple[Line, ...] = ()

    def part(self, start: int, stop: int, *, main: bool) -> Scored:
        """The rows from `start` up to `stop`; what was said of no row is the main process's."""
        own = [
            line if line.row is None else replace(line, row=line.row - start)
            for line in self.lines
            if (main if line.row is None else start <= line.row < stop)
        ]
        return replace(
            self,
            table=self.table.part(start, stop),
            spread=None if self.spread is None else self.spread.part(start, stop),
            groups=self.groups[start:stop],
            lines=tuple(own),
        )
