"""What a review says: of each reward that a change touches, and of the change as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rewardkit.replay.differences.differences import Differences
from rewardkit.review.look import Found

State = Literal["same", "changed", "added", "removed", "failed"]


@dataclass(frozen=True)
class Reviewed:
    """What a change does to one reward.

    Attributes:
        name: ``path.py:name`` in the working tree.
        state: ``"failed"`` if the new reward cannot be scored; ``why`` says so.
        sample: the differences on the sample; None without one.
        made: the differences on completions made for the reward.
        broken: laws that only the new reward breaks.
        still: those that both break.
        notes: what limits the comparison.
    """

    name: str
    state: State
    why: str = ""
    sample: Differences | None = None
    made: Differences | None = None
    broken: tuple[Found, ...] = ()
    still: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def compared(self) -> list[Differences]:
        return [one for one in (self.sample, self.made) if one is not None]


@dataclass(frozen=True)
class Review:
    """The review of a change.

    Attributes:
        rewards: all that it touches.
        notes: what else in it may matter.
    """

    rewards: tuple[Reviewed, ...]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Reviewed]:
        """The rewards that there is something to say about."""
        return [one for one in self.rewards if one.state != "same"]
