"""The state of schedules that depend on performance, stored in the trainer's state.

The trainer saves its state in checkpoints, so a resumed run can continue without a callback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.errors import warn
from rewardkit.progress import states
from rewardkit.progress.schedule import PerformanceSchedule

KEY = "rewardkit"
"""The key for rewardkit's state in ``stateful_callbacks`` in ``trainer_state.json``."""


class Memory:
    """The states of the schedules `followers`, and the component means for the last training batch."""

    def __init__(self, followers: Sequence[PerformanceSchedule]) -> None:
        self._followers = followers
        self._owner: Any = None
        self.states: states.States = states.initial(followers)
        self.means: Mapping[str, float] = {}

    def recall(self, trainer_state: Any) -> None:
        """Load the states from `trainer_state`, unless it is the same object as in the last call."""
        if self._owner is trainer_state:
            return
        self._owner = trainer_state
        self.means = {}
        saved_states = _saved(trainer_state).get(KEY, {})
        self.states = states.restored(states.initial(self._followers), saved_states)
        missing = [follower for follower in self._followers if follower.describe() not in saved_states]
        if missing and getattr(trainer_state, "global_step", 0) > 0:
            warn(
                f"this run resumes at step {trainer_state.global_step}, but its checkpoint has no state for "
                f"{missing[0]!r}, so the schedule starts again from the beginning. The checkpoint was saved with "
                "another reward or another schedule"
            )

    def learn(self, trainer_state: Any, means: Mapping[str, float], sums: Sequence[Sequence[float]]) -> None:
        """Update the states with one training batch, and store them for the next checkpoint.

        Args:
            means: the mean of each component, which reward functions read as ``progress.means``.
            sums: the sums of the components that schedules follow, as `column.sums` returns them.
        """
        self.means = means
        if self._followers:
            component_means = states.means([follower.component for follower in self._followers], sums)
            self.states = states.advanced(self.states, component_means)
            saved_in(trainer_state).update(states.saved(self.states))

    def follow(self, followers: Sequence[PerformanceSchedule], trainer_state: Any) -> None:
        """Switch to the schedules `followers`. Known schedules keep their states."""
        saved_states = states.saved(self.states)
        self._followers = followers
        self.states = states.restored(states.initial(followers), saved_states)
        if self._owner is trainer_state is not None:  # otherwise `recall` loads it later
            checkpoint = saved_in(trainer_state)
            for key in saved_states.keys() - states.saved(self.states).keys():
                checkpoint.pop(key, None)
            if followers:
                checkpoint.update(states.saved(self.states))


def saved_in(trainer_state: Any) -> dict[str, Any]:
    """Return rewardkit's part of the next checkpoint. It is not saved if the trainer cannot store it."""
    checkpoint: dict[str, Any] = _saved(trainer_state).setdefault(KEY, {})
    return checkpoint


def _saved(trainer_state: Any) -> dict[str, Any]:
    saved = getattr(trainer_state, "stateful_callbacks", None)
    return saved if isinstance(saved, dict) else {}
