"""Facts about the completions of a batch besides their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, final

from rewardkit.batch.trajectory import IsError, Trajectory

if TYPE_CHECKING:
    from rewardkit.batch.transcripts import CallRecord


class BoolRow(Protocol):
    """A flag for each row."""

    def __getitem__(self, row: int, /) -> bool:
        """Return the flag of one row."""


@final
@dataclass(frozen=True)
class RolloutInfo:
    """Facts about n completions besides their messages; empty by default.

    Attributes:
        cut: n flags, True where the completion ran into the token limit; None if unknown.
        is_error: tells whether the text of a tool's result is an error; see `Trajectory.of`.
        environments: n live environments after the rollout; None without environments.
        records: the calls that a recorded environment saw, for each row; None where none recorded.
        broken: row -> the reason why its environment broke: such a row fails in every component.
        trajectories: n trajectories that were read before.
        runs_calls: the trainer reads the calls of the policy and runs them, so calls that remain in a text do not
            count.
    """

    cut: BoolRow | None = None
    is_error: IsError | None = None
    environments: Sequence[Any] | None = None
    records: Sequence[Sequence[CallRecord] | None] | None = None
    broken: Mapping[int, str] = field(default_factory=dict)
    trajectories: Sequence[Trajectory] | None = None
    runs_calls: bool = False

    @property
    def by_row(self) -> bool:
        """Whether rows with equal messages may have different trajectories."""
        return any(fact is not None for fact in (self.cut, self.records, self.trajectories))

    def taken(self, rows: Sequence[int]) -> RolloutInfo:
        """Return the facts about some of the rows."""

        def of(values: Any) -> Any:
            return None if values is None else [values[row] for row in rows]

        return replace(
            self,
            cut=of(self.cut),
            environments=of(self.environments),
            records=of(self.records),
            broken={position: self.broken[row] for position, row in enumerate(rows) if row in self.broken},
            trajectories=of(self.trajectories),
        )

    def read(self, row: int, completion: Any) -> Trajectory:
        """Return the trajectory of one row."""
        if self.trajectories is not None:
            return self.trajectories[row]
        records = None if self.records is None else self.records[row]
        from rewardkit.batch.transcripts import read  # large, and few rewards read trajectories

        return read(
            completion,
            cut=self.cut is not None and self.cut[row],
            is_error=self.is_error,
            records=records,
            runs_calls=self.runs_calls or self.environments is not None,
        )


UNKNOWN = RolloutInfo()
