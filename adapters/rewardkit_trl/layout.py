"""Layout: which columns a trainer gets, and with which weights their plain sum is the total.

``"terms"``: one column per term, weight 1 each. ``"components"``: one raw column per component; a pure weighted sum has
its weights beside it, any other tree gets a column ``total`` of weight 1 and components of weight 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rewardkit.analysis import signal
from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Floats
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import RewardDefinitionError, RewardFailure, shorten
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import Schedule, Weight, multiplied, weight_now
from rewardkit.core.tree.parameters import Scope
from rewardkit.core.tree.reward import Reward, walk

Columns = Literal["terms", "components"]

TOTAL = "total"
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Layout:
    """The columns of one list.

    Attributes:
        names: of the columns, and of the callables.
        weights: that the trainer must hold for them.
        schedules: the scheduled weights of ``"components"`` by name, moved while training.
        separable: whether each column may be normalized by itself without losing its weight.
        scheduled: whether anything in the tree depends on progress.
        follows: whether a part of that is the performance of the policy.
        together: what has to be scored in one batch, whichever process it came from.
    """

    columns: Columns
    names: tuple[str, ...]
    weights: tuple[float, ...]
    schedules: tuple[tuple[str, tuple[Weight, ...]], ...]
    separable: bool
    scheduled: bool
    follows: bool
    together: Scope

    @classmethod
    def of(cls, reward: Reward, columns: str) -> Layout:
        scorer = Scorer(reward)
        nodes = [node for node, _, _ in walk(reward)]
        follows = any(node.facts.followers for node in nodes)
        scheduled = follows or any(node.facts.schedules or _reads_progress(node) for node in nodes)
        together = max((node.facts.together for node in nodes), key=get_args(Scope).index)
        if not scorer.terms:
            raise RewardDefinitionError(f"{reward!r} has no term: nothing in it would train")
        if columns == "terms":
            names = tuple(scorer.terms)
            separable = len(names) == 1 or not _scales(reward)
            return cls("terms", names, (1.0,) * len(names), (), separable, scheduled, follows, together)
        if columns != "components":
            raise RewardDefinitionError(f'columns is "terms" or "components", got {shorten(columns)}')
        weights = _pure_weights(scorer)
        components = tuple(scorer.components)
        if weights is None:
            if TOTAL in components:
                raise RewardDefinitionError(
                    f"a component is called {TOTAL!r}, the name of the sum's own column: rename it"
                )
            names = (TOTAL, *components)
            return cls("components", names, (1.0,) + (0.0,) * len(components), (), False, scheduled, follows, together)
        start = Progress(0, 1)
        initial = tuple(sum(weight_now(part, start) for part in weights.get(name, ())) for name in components)
        moving = (
            tuple((name, tuple(weights.get(name, ()))) for name in components)
            if any(isinstance(part, Schedule) for parts in weights.values() for part in parts)
            else ()
        )
        return cls("components", components, initial, moving, True, scheduled, follows, together)

    def values(self, table: ScoreTable, name: str) -> Floats:
        """(n,) one column; NaN where it abstains or the row is unscorable."""
        if self.columns == "terms":
            values = table.terms[name]
        elif name == TOTAL and TOTAL not in table.components:
            values = table.total
        else:
            values = np.where(np.isnan(table.total), np.nan, table.components[name].values)
        if np.any(np.abs(values) > _LARGEST):
            raise RewardFailure(
                f"{name!r} gives {np.nanmax(np.abs(values)):g}, which the trainer's float32 cannot hold"
            )
        return values

    def addends(
        self, table: ScoreTable, batch: Batch, progress: Progress | None, *, normalizes_each: bool
    ) -> Mapping[str, Floats]:
        """What the trainer adds up before it looks at differences: the terms, or its own columns normalized each."""
        if not normalizes_each:
            return table.terms
        weights = {**dict(zip(self.names, self.weights, strict=True)), **self.weights_at(progress)}
        columns = [self.values(table, name) for name in weights]
        parts = signal.normalized(columns, list(weights.values()), batch.groups)
        return dict(zip(weights, parts, strict=True))

    def weights_at(self, progress: Progress | None) -> dict[str, float]:
        """The scheduled weights of this moment; empty where none moves."""
        return {name: float(sum(weight_now(part, progress) for part in parts)) for name, parts in self.schedules}


def _pure_weights(scorer: Scorer) -> dict[str, tuple[Weight, ...]] | None:
    """The weights of each term of a pure weighted sum; None where a weight differs by row (gates, means, routes)."""
    names = {node: name for name, node in scorer.names.terms}
    weights: dict[str, tuple[Weight, ...]] = {}
    for weight, node in _summands(scorer.reward, 1.0):
        if node.facts.addends is not None and node.facts.addends != ():
            return None
        if node in names:
            weights[names[node]] = (*weights.get(names[node], ()), weight)
    return weights


def _summands(reward: Reward, weight: Weight) -> Iterator[tuple[Weight, Reward]]:
    facts = reward.facts
    if facts.weights is None or facts.average:
        yield weight, reward
        return
    for inner, child in zip(facts.weights, facts.addends or (), strict=True):
        yield from _summands(child, multiplied(weight, inner))


def _scales(node: Reward) -> bool:
    """Whether an additive share of its value is more or less than that of a reward by itself."""
    facts = node.facts
    return (
        facts.average or any(weight != 1.0 for weight in facts.weights or ()) or any(map(_scales, facts.addends or ()))
    )


def _reads_progress(node: Reward) -> bool:
    return node.facts.binding is not None and node.facts.binding.reads("progress")
