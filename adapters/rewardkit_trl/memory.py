"""Memory: what schedules that follow performance have seen, kept in the trainer's own state.

A checkpoint holds that state, so a resumed run goes on where it was, without any callback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.core.errors import warn
from rewardkit.core.progress import states
from rewardkit.core.progress.schedule import PerformanceSchedule

KEY = "rewardkit"
"""Where it stands among the states of callbacks in ``trainer_state.json``."""


class Memory:
    """The states of `followers`, and the means of the last training batch."""

    def __init__(self, followers: Sequence[PerformanceSchedule]) -> None:
        self._followers = followers
        self._owner: Any = None
        self.states: states.States = states.initial(followers)
        self.means: Mapping[str, float] = {}

    def recall(self, trainer_state: Any) -> None:
        """Reads what the trainer's state holds, where it is another one than last time: a new run, or a resumed one."""
        if self._owner is trainer_state:
            return
        self._owner = trainer_state
        self.means = {}
        known = _saved(trainer_state).get(KEY, {})
        self.states = states.restored(states.initial(self._followers), known)
        lost = [follower for follower in self._followers if follower.describe() not in known]
        if lost and getattr(trainer_state, "global_step", 0) > 0:
            warn(
                f"this run goes on from step {trainer_state.global_step}, but its checkpoint knows nothing of "
                f"{lost[0]!r}: it starts anew. Was the schedule changed, or the checkpoint written by another reward?"
            )

    def learn(self, trainer_state: Any, means: Mapping[str, float], followed: Mapping[str, float]) -> None:
        """Takes in a training batch, and leaves what is known now where the next checkpoint saves it.

        Args:
            means: of all components, as user functions read them.
            followed: means of those that schedules follow, and of their squares.
        """
        self.means = means
        if self._followers:
            self.states = states.advanced(self.states, followed)
            saved_in(trainer_state).update(states.saved(self.states))

    def follow(self, followers: Sequence[PerformanceSchedule], trainer_state: Any) -> None:
        """From now on the states of `followers`: those that are known go on, the others begin."""
        before = states.saved(self.states)
        self._followers = followers
        self.states = states.restored(states.initial(followers), before)
        if self._owner is trainer_state is not None:  # otherwise `recall` reads what that one holds
            kept = saved_in(trainer_state)
            for gone in before.keys() - states.saved(self.states).keys():
                kept.pop(gone, None)
            if followers:
                kept.update(states.saved(self.states))


def saved_in(trainer_state: Any) -> dict[str, Any]:
    """What of ours the next checkpoint saves; a mapping that nobody saves where the trainer has no such place."""
    kept: dict[str, Any] = _saved(trainer_state).setdefault(KEY, {})
    return kept


def _saved(trainer_state: Any) -> dict[str, Any]:
    saved = getattr(trainer_state, "stateful_callbacks", None)
    return saved if isinstance(saved, dict) else {}
