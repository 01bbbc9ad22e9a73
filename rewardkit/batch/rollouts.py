"""Information about a batch's completions that their messages do not contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, final

from rewardkit.batch.trajectory import IsError, Trajectory

if TYPE_CHECKING:
    from rewardkit.batch.transcripts import CallRecord


class BoolRow(Protocol):
    """A sequence that contains a flag for each row."""

    def __getitem__(self, row: int, /) -> bool:
        """Return a row's flag."""


@final
@dataclass(frozen=True)
class RolloutInfo:
    """Information about n completions that their messages do not contain; empty by default.

    Attributes:
        cut: n flags (True if the completion reached the token limit), or None if unknown.
        is_error: the function that decides whether a tool result's text is an error; see `Trajectory.of`.
        environments: n live environments after their rollouts, or None if there are none.
        records: for each row, the calls that its environment recorded; None for rows without a recording environment.
        broken: row -> the reason why the row's environment broke. These rows fail in every component.
        trajectories: n trajectories that have already been parsed; None to parse the messages.
        runs_calls: whether the trainer parses and runs the policy's calls; if so, calls that remain in the text do not
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
        """Whether rows that have equal messages may have different trajectories."""
        return any(fact is not None for fact in (self.cut, self.records, self.trajectories))

    def taken(self, rows: Sequence[int]) -> RolloutInfo:
        """Return the information about the given rows."""

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
        """Return a row's trajectory."""
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
