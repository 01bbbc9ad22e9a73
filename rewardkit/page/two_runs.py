"""Comparison of two runs, or two windows of one run, over the prompts that they have in common.

``TwoRuns.of((left, Window()), (right, Window())).paired("answer").won`` is the number of prompts on which `right` is
better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rewardkit.analyze.paired import Paired, Pairing, pair, paired, prompt_means
from rewardkit.page.escapes import one_line
from rewardkit.page.prompts import Prompts
from rewardkit.page.scores import Floats, Integers, Rows, Scores
from rewardkit.page.trials import NEW
from rewardkit.page.watcher import Watched
from rewardkit.report.values import percent

# Windows: the completions of a run that represent each prompt when two runs are compared.


# "601" or "601-650"; at most twelve digits, so that numbers fit into 64 bits.
_STEPS = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")
KINDS = {"last": "Newest {visit}", "first": "First {visit}", "all": "All steps", "steps": "Steps …"}
EVALUATIONS = {"eval": "Newest evaluation", "eval-first": "First evaluation"}


@dataclass(frozen=True)
class Window:
    """A selection of a run's completions.

    Attributes:
        kind: a key of `KINDS` or `EVALUATIONS`.
        first, last: the first and last step, for the kind ``"steps"``.
    """

    kind: str = "last"
    first: int = 0
    last: int = 0

    @classmethod
    def parse(cls, text: str) -> Window:
        """Parse ``"last"``, ``"eval"``, ``"200-400"``, or ``"200"``; for anything else, return the default."""
        match = _STEPS.fullmatch(text.strip())
        if match is not None:
            first, last = int(match[1]), int(match[2] or match[1])
            return cls("steps", min(first, last), max(first, last))
        return cls(text) if text in {*KINDS, *EVALUATIONS} - {"steps"} else cls()

    def __str__(self) -> str:
        return f"{self.first}-{self.last}" if self.kind == "steps" else self.kind

    def rows(self, scores: Scores) -> Rows:
        """Return which completions (n,) are in the window. A run without training has only evaluations."""
        training = scores.training
        if self.kind in EVALUATIONS or not training.any():
            return _visited(scores, ~training, newest=self.kind != "eval-first" and self.kind != "first", steps=True)
        if self.kind == "steps":
            return training & (scores.step >= self.first) & (scores.step <= self.last)
        if self.kind == "all":
            return training
        return _visited(scores, training, newest=self.kind == "last")


def kinds_of(scores: Scores) -> dict[str, str]:
    """Return the window kinds that are possible for a run, with their titles."""
    kinds = KINDS if scores.training.any() else {}
    evaluations = EVALUATIONS if not scores.training.all() else {}
    return {kind: title.format(visit=scores.visit_word) for kind, title in {**kinds, **evaluations}.items()}


def _visited(scores: Scores, among: Rows, *, newest: bool, steps: bool = False) -> Rows:
    """Return which completions (n,) in `among` belong to their prompt's newest (or first) visit."""
    rows = np.flatnonzero(among)
    visits = (scores.step if steps else scores.visit)[rows]
    prompts = scores.prompt[rows]
    chosen = np.full(len(scores.prompt_ids), -1 if newest else np.iinfo(np.int64).max)
    (np.maximum if newest else np.minimum).at(chosen, prompts, visits)
    is_visited = np.zeros(len(scores), dtype=np.bool_)
    is_visited[rows[visits == chosen[prompts]]] = True
    return is_visited


TOTAL = ""
"""The name that stands for the total. It is empty because a component may be called "total"."""
TRIED = "/new"
"""The name that stands for the total from the reward on trial, which scores both sides."""
TIE = 0.01
"""The largest difference that is treated as equal, as a share of the range of scores. The value is arbitrary: such a
small difference is not informative."""


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison: a run's state at the time of the comparison.

    Attributes:
        rows: (k,) the completions in the window.
        means: a cache of prompt means by name, (number of prompts in the run,) each.
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
        """Return all completions' values (n,): a component, the total, or the total from the reward on trial."""
        if name == TRIED:
            return self.scores.tried[NEW]
        return self.scores.total if name == TOTAL else self.scores.components[name]

    def means_of(self, name: str) -> Floats:
        """Return each prompt's mean over its completions in the window."""
        if name not in self.means:
            prompts = self.scores.prompt[self.rows]
            self.means[name] = prompt_means(prompts, self.values(name)[self.rows], len(self.scores.prompt_ids))
        return self.means[name]

    def unscored(self, name: str) -> float:
        """Return the share (0 to 1) of the completions in the window that do not have a score."""
        return float(np.isnan(self.values(name)[self.rows]).mean()) if len(self.rows) else 0.0

    @cached_property
    def counts(self) -> Integers:
        """The number of each prompt's completions in the window."""
        return np.bincount(self.scores.prompt[self.rows], minlength=len(self.scores.prompt_ids)).astype(np.int64)

    @cached_property
    def rewards(self) -> frozenset[str]:
        """The reward versions that scored the window."""
        return frozenset(self.scores.versions[code] for code in np.unique(self.scores.version[self.rows]).tolist())

    def best_first(self, name: str, prompt: int) -> list[int]:
        """Return a prompt's completions in the window, best first. Completions without a score come last."""
        rows = self.rows[self.scores.prompt[self.rows] == prompt]
        values = self.values(name)[rows]
        ordered_rows: list[int] = rows[np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")].tolist()
        return ordered_rows


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Two sides to compare, with the prompts that they have in common.

    Attributes:
        pairing: the pairing of all prompts.
        seen: (p,) the pairs with completions in both windows, as indices into `pairing`.
    """

    left: Side
    right: Side
    pairing: Pairing
    seen: Integers
    _paired: dict[tuple[str, float], Paired] = field(default_factory=dict)

    @classmethod
    def of(cls, left: tuple[Watched, Window], right: tuple[Watched, Window]) -> TwoRuns:
        left_side, other = Side.of(*left), Side.of(*right)
        prompts = left_side.prompts, other.prompts
        pairing = pair(prompts[0].ids, prompts[0].texts, prompts[1].ids, prompts[1].texts)
        has_completions = (left_side.counts[pairing.left] > 0) & (other.counts[pairing.right] > 0)
        return cls(left_side, other, pairing, np.flatnonzero(has_completions))

    def is_like(self, other: TwoRuns) -> bool:
        """Return whether `other` compares the same completions, possibly with different trial results."""
        pairs = ((self.left, other.left), (self.right, other.right))
        return all(side.scores.total is two.scores.total and side.window == two.window for side, two in pairs)

    @property
    def absent(self) -> int:
        """The number of common prompts that do not have a completion in one of the windows."""
        return len(self.pairing.left) - len(self.seen)

    @property
    def same_reward(self) -> bool:
        """Whether the same reward versions scored both windows, so that totals are comparable."""
        return self.left.rewards == self.right.rewards

    @cached_property
    def names(self) -> list[str]:
        """The total, the total from the reward on trial, and the components that both runs have."""
        sides = self.left.scores, self.right.scores
        shared_names = [name for name in self.left.watched.components if all(name in side.components for side in sides)]
        return [TOTAL, *([TRIED] if all(NEW in side.tried for side in sides) else []), *shared_names]

    def only(self, side: Side) -> list[str]:
        """Return the components in `side` that the other side does not have."""
        return [name for name in side.watched.components if name in side.scores.components and name not in self.names]

    def means(self, name: str) -> tuple[Floats, Floats]:
        """Return each prompt's means on the left and on the right, (p,) each."""
        left, right = self.pairing.left[self.seen], self.pairing.right[self.seen]
        return self.left.means_of(name)[left], self.right.means_of(name)[right]

    def paired(self, name: str, tie: float = TIE) -> Paired:
        """Compare the prompts in `seen`. Differences up to `tie` times the range of scores are treated as equal."""
        if (name, tie) not in self._paired:
            self._paired[name, tie] = paired(*self.means(name), tie * self._span(name))
        return self._paired[name, tie]

    def _span(self, name: str) -> float:
        values = np.concatenate([side.values(name)[side.rows] for side in (self.left, self.right)])
        finite = values[np.isfinite(values)]
        return float(finite.max() - finite.min()) if len(finite) else 0.0


# Describe a comparison in words: ``verdict_of(paired, "second")`` is one or two sentences.


SIDES = "the left side", "the right side"
"""The sides' names if both are from the same run."""
_UNLIKELY = 0.05
"""The usual significance level, the same as for the 95% interval."""
_NOT_SAME = (
    "Different versions of the reward scored the two sides, so their totals are not comparable. Below, "
    "choose a component that both sides have, or "
)
_TRY = "try one reward on both: rewardkit view --reward."
_TRIED = "New total, which the same reward gave to both."


def verdict_of(pairs: Paired, name: str) -> str:
    """Describe on how many prompts the right side (the run `name`) is better, and whether this may be due to chance."""
    if not pairs.count:
        return "No prompt has a score on both sides."
    subject = name.capitalize() if name in SIDES else name
    summary = (
        f"{subject} is better on {pairs.won:,} of {prompts(pairs.count)}, worse on {pairs.lost:,}, equal on "
        f"{pairs.equal:,}. The mean difference is {pairs.mean:+.3f}"
    )
    if pairs.interval is None:
        return f"{summary}. With so few prompts, this may be chance."
    low, high = pairs.interval
    uneven, test = pairs.chance < _UNLIKELY, chance_text(pairs.chance)
    judged = {
        (True, True): "this is unlikely to be chance",
        (True, False): f"the mean is unlikely to be chance, but the wins may be (sign test {test})",
        (False, True): f"the mean may be chance, but the wins and losses are unlikely to be (sign test {test})",
        (False, False): "this may be chance",
    }[pairs.clear, uneven]
    return f"{summary} (95%: {low:+.3f} to {high:+.3f}): {judged}."


def chance_text(chance: float) -> str:
    """Format the p-value of a sign test."""
    return "< 0.001" if chance < 0.001 else f"{chance:.3f}"


def notices_of(two: TwoRuns, name: str, sides: tuple[str, str]) -> list[str]:
    """Return a comparison's limitations, in sentences."""
    pairing = two.pairing
    notices = [_NOT_SAME + (_TRIED if TRIED in two.names else _TRY)] if name == TOTAL and not two.same_reward else []
    if pairing.by_text:
        verb = "is" if pairing.by_text == 1 else "are"
        notices.append(f"{prompts(pairing.by_text)} {verb} paired by the text, because the columns differ.")
    omissions = [
        f"{prompts(count)} only in {one_line(side, 60)}"
        for count, side in zip((pairing.only_left, pairing.only_right), sides, strict=True)
        if count
    ]
    if two.absent:
        omissions.append(f"{prompts(two.absent)} without completions in one of the two windows")
    unscored = two.paired(name).unscored
    if unscored:
        omissions.append(f"{prompts(unscored)} without a score on one side")
    if omissions:
        twice = f" (of {pairing.ambiguous:,} of them, the text occurs several times)" if pairing.ambiguous else ""
        notices.append(f"Not compared: {', '.join(omissions)}{twice}.")
    shares = [side.unscored(name) for side in (two.left, two.right)]
    if max(shares) > 0.0:
        notices.append(
            f"Means are over the completions with a score: {percent(shares[0])} in {one_line(sides[0], 60)} and "
            f"{percent(shares[1])} in {one_line(sides[1], 60)} have no score, for example behind a closed gate."
        )
    for side, side_name in zip((two.left, two.right), sides, strict=True):
        if only := two.only(side):
            notices.append(f"Components only in {one_line(side_name, 60)}: {one_line(', '.join(only), 200)}.")
    return notices


def prompts(count: int) -> str:
    """Format a number of prompts: ``"1 prompt"``, ``"1,024 prompts"``."""
    return f"{count:,} prompt{'' if count == 1 else 's'}"
