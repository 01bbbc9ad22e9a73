"""Two runs, or two windows of one run, over the prompts that both have.

``TwoRuns.of((left, Window()), (right, Window())).paired("answer").won`` counts the prompts on which `right` is better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rewardkit.analysis.paired import Paired, Pairing, pair, paired, prompt_means
from rewardkit.viewer.prompts import Prompts
from rewardkit.viewer.scores import Floats, Integers, Scores
from rewardkit.viewer.tried import NEW
from rewardkit.viewer.watcher import Watched
from rewardkit.viewer.windows import Window

TOTAL = ""
"""The name of the total; a component may be called "total"."""
TRIED = "/new"
"""The name of the total of the reward that is tried, which scores both runs."""
TIE = 0.01
"""The largest difference that counts as equal, as a share of the range of the scores."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of the runs, as it was when the comparison was made.

    Attributes:
        rows: (k,) the completions in the window.
        means: by name, (prompts of the run,), as far as they were asked for.
    """

    watched: Watched
    window: Window
    scores: Scores
    prompts: Prompts
    rows: Integers
    means: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, watched: Watched, window: Window) -> Side:
        scores = watched.scores
        return cls(watched, window, scores, watched.prompts, np.flatnonzero(window.rows(scores)))

    def values(self, name: str) -> Floats:
        """Return (n,) the totals, a component, or the totals of the reward that is tried, of all completions."""
        if name == TRIED:
            return self.scores.tried[NEW]
        return self.scores.total if name == TOTAL else self.scores.components[name]

    def means_of(self, name: str) -> Floats:
        """Return the mean of each prompt in the window."""
        if name not in self.means:
            prompts = self.scores.prompt[self.rows]
            self.means[name] = prompt_means(prompts, self.values(name)[self.rows], len(self.scores.prompt_ids))
        return self.means[name]

    def unscored(self, name: str) -> float:
        """Return the share of the completions in the window without a score, 0 to 1."""
        return float(np.isnan(self.values(name)[self.rows]).mean()) if len(self.rows) else 0.0

    @cached_property
    def counts(self) -> Integers:
        """The number of completions of each prompt in the window."""
        return np.bincount(self.scores.prompt[self.rows], minlength=len(self.scores.prompt_ids)).astype(np.int64)

    @cached_property
    def rewards(self) -> frozenset[str]:
        """The versions of the reward that scored the window."""
        return frozenset(self.scores.versions[code] for code in np.unique(self.scores.version[self.rows]).tolist())

    def best_first(self, name: str, prompt: int) -> list[int]:
        """Return the completions of a prompt in the window, the best one first; those without a score last."""
        rows = self.rows[self.scores.prompt[self.rows] == prompt]
        values = self.values(name)[rows]
        found: list[int] = rows[np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")].tolist()
        return found


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Both sides, and the prompts that they have in common.

    Attributes:
        pairing: of all prompts.
        seen: (p,) the pairs with completions in both windows, as places in `pairing`.
    """

    left: Side
    right: Side
    pairing: Pairing
    seen: Integers
    _paired: dict[tuple[str, float], Paired] = field(default_factory=dict)

    @classmethod
    def of(cls, left: tuple[Watched, Window], right: tuple[Watched, Window]) -> TwoRuns:
        one, other = Side.of(*left), Side.of(*right)
        prompts = one.prompts, other.prompts
        found = pair(prompts[0].ids, prompts[0].texts, prompts[1].ids, prompts[1].texts)
        both = (one.counts[found.left] > 0) & (other.counts[found.right] > 0)
        return cls(one, other, found, np.flatnonzero(both))

    def is_like(self, other: TwoRuns) -> bool:
        """Whether the other comparison is of the same completions, maybe with other results of a trial."""
        pairs = ((self.left, other.left), (self.right, other.right))
        return all(one.scores.total is two.scores.total and one.window == two.window for one, two in pairs)

    @property
    def absent(self) -> int:
        """The number of common prompts that have no completion in one of the windows."""
        return len(self.pairing.left) - len(self.seen)

    @property
    def same_reward(self) -> bool:
        """Whether the same versions of the reward scored both windows, so that totals mean the same."""
        return self.left.rewards == self.right.rewards

    @cached_property
    def names(self) -> list[str]:
        """The total, that of the reward that is tried, and the components that both runs have."""
        sides = self.left.scores, self.right.scores
        both = [name for name in self.left.watched.components if all(name in side.components for side in sides)]
        return [TOTAL, *([TRIED] if all(NEW in side.tried for side in sides) else []), *both]

    def only(self, side: Side) -> list[str]:
        """Return the components that only this side has."""
        return [name for name in side.watched.components if name in side.scores.components and name not in self.names]

    def means(self, name: str) -> tuple[Floats, Floats]:
        """Return (seen,) the means of both sides."""
        left, right = self.pairing.left[self.seen], self.pairing.right[self.seen]
        return self.left.means_of(name)[left], self.right.means_of(name)[right]

    def paired(self, name: str, tie: float = TIE) -> Paired:
        """Compare the seen prompts; differences up to `tie` times the range of the scores count as equal."""
        if (name, tie) not in self._paired:
            self._paired[name, tie] = paired(*self.means(name), tie * self._span(name))
        return self._paired[name, tie]

    def _span(self, name: str) -> float:
        values = np.concatenate([side.values(name)[side.rows] for side in (self.left, self.right)])
        known = values[np.isfinite(values)]
        return float(known.max() - known.min()) if len(known) else 0.0
