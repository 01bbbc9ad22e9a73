"""What was selected: how many completions of how many prompts, their scores, and why other prompts have none.

``selection.text()`` begins "355 pairs (best-worst, gap 0.5) from 355 of 1,319 prompts".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from rewardkit.replay.selection.rules import Rule
from rewardkit.replay.selection.scored import Index

UNSCORED = "no completion has a score"
LOW = "all scores are too low"
SINGLE = "only one completion has a score"
EQUAL = "all scores are equal"
NARROW = "the scores differ too little"
ALIKE = "the completions are the same text"


@final
@dataclass(frozen=True)
class Selection:
    """Completions or pairs that a rule chose.

    Attributes:
        rule: the rule.
        index: what it chose from.
        number: of completions, or of pairs.
        prompts: how many prompts have some.
        means: "kept", or "chosen" and "rejected" -> their mean score.
        without: reason -> how many prompts have none.
    """

    rule: Rule
    index: Index
    number: int
    prompts: int
    means: Mapping[str, float]
    without: Mapping[str, int]

    def text(self) -> str:
        """Return a few lines for the terminal."""
        scores = self.index.scores
        scored = scores[~np.isnan(scores)]
        means = {"all": float(scored.mean()) if len(scored) else np.nan, **self.means}
        shown = [f"{name} {mean:.4g}" for name, mean in means.items() if not np.isnan(mean)]
        said = [f"mean score: {', '.join(shown)}"] if shown else []
        if len(scored) < len(scores):
            said.append(f"{len(scores) - len(scored):,} of {len(scores):,} completions have no score")
        none = {reason: count for reason, count in self.without.items() if count}
        if none:
            count = sum(none.values())
            said.append("1 prompt has none:" if count == 1 else f"{count:,} prompts have none:")
            said += [f"  {reason}: {count:,}" for reason, count in sorted(none.items(), key=lambda one: -one[1])]
        prompts = f"{self.prompts:,} of {self.index.prompts:,} prompts"
        return "\n".join([f"{self._number()} ({self.rule}) from {prompts}", *said])

    def _number(self) -> str:
        one = self.rule.unit
        return f"{self.number:,} {one if self.number == 1 else f'{one}s'}"
