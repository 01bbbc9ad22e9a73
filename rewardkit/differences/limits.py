"""Limits: how much may change before a comparison counts as failed.

``Limit.parsed("2%").exceeded(30, 1000)`` is True: 3 % is more than 2 %.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rewardkit.differences.differences import Differences


@dataclass(frozen=True)
class Limit:
    """A number, or a share of all.

    Attributes:
        value: a number of completions or groups; a share from 0 to 1 if `relative`.
        text: as the user wrote it.
    """

    value: float
    relative: bool
    text: str

    @classmethod
    def parsed(cls, text: str) -> Limit:
        """Read ``"2%"`` as a share, ``"20"`` as a number.

        Raises:
            ValueError: it is neither.
        """
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
        if found is None or (not found[2] and "." in found[1]):
            raise ValueError(f"write a number or a share, as in 20 or 2%; got {text!r}")
        share = found[2] == "%"
        return cls(float(found[1]) / (100.0 if share else 1.0), share, text.strip())

    def exceeded(self, count: int, of: int) -> bool:
        """Whether `count` of `of` is more than allowed."""
        return (count / of if of else 0.0) > self.value + 1e-12 if self.relative else count > self.value

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Limits:
    """How much may change; None: any number.

    Attributes:
        changed: completions that get another total.
        flips: completions whose advantage flips its sign, of those in groups.
        silenced: groups that newly have no signal.
        failures: completions that only the new reward cannot score.
    """

    changed: Limit | None = None
    flips: Limit | None = None
    silenced: Limit | None = None
    failures: Limit | None = None

    def exceeded(self, found: Differences) -> list[str]:
        """Return a sentence for each limit that is exceeded, and one for known exploits that are paid again."""
        known, size = found.gradients, len(found)
        changed, failing = int(found.changed.sum()), int(found.failing.sum())
        flips, compared = (0, 0) if known is None else (known.flips, known.compared)
        silenced, groups = (0, 0) if known is None else (known.silenced, known.count)
        measured = (
            (self.changed, changed, size, "completions get another total", "--max-changed"),
            (self.flips, flips, compared, "advantages flip their sign", "--max-flips"),
            (self.silenced, silenced, groups, "groups fall silent", "--max-silenced"),
            (self.failures, failing, size, "completions can no longer be scored", "--max-new-failures"),
        )
        said = [
            f"{count:,} of {of:,} {what}, more than {option} {limit}"
            for limit, count, of, what, option in measured
            if limit is not None and limit.exceeded(count, of)
        ]
        if newly := len(found.exploits.newly_paid):
            said.append(f"{newly:,} known exploits are paid that the old reward does not pay")
        return said
