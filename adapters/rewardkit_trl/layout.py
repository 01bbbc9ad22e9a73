"""The columns that a trainer gets, and the weights with which their plain sum is the total.

``"terms"``: one column per term, each with weight 1. ``"components"``: one column of raw scores per component. For a
pure weighted sum the weights are those of the sum; any other tree gets a column ``total`` of weight 1, and its
components have weight 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

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


class _Plan(NamedTuple):
    names: tuple[str, ...]
    weights: tuple[float, ...]
    schedules: tuple[tuple[str, tuple[Weight, ...]], ...] = ()
    separable: bool = False


@dataclass(frozen=True)
class Layout:
    """The columns of one list of reward functions.

    Attributes:
        columns: which kind of columns.
        names: the names of the columns, which are also the names of the callables.
        weights: the weights that the trainer must hold for them, at the start of training.
        schedules: the scheduled weights of ``"components"`` by name; they change during training.
        separable: True if each column can be normalized separately without losing its weight (GDPO).
        scheduled: True if anything in the tree depends on training progress.
        follows: True if a schedule depends on how well the policy does.
        together: what must be scored in one batch, even if it is spread over several processes.
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
    def of(cls, reward: Reward, columns: Columns) -> Layout:
        """Return the layout of `reward`.

        Raises:
            RewardDefinitionError: `reward` has no term, `columns` is unknown, or a component is called ``total`` and
                the total needs a column of its own.
        """
        scorer = Scorer(reward)
        if not scorer.terms:
            raise RewardDefinitionError(f"{reward!r} has no term, so nothing in it would train. Add a reward to it")
        if columns not in get_args(Columns):
            raise RewardDefinitionError(f'columns must be "terms" or "components", got {shorten(columns)}')
        plan = _terms(scorer) if columns == "terms" else _components(scorer)
        nodes = [node for node, _, _ in walk(reward)]
        follows = any(node.facts.followers for node in nodes)
        return cls(
            columns,
            *plan,
            scheduled=follows or any(node.facts.schedules or _reads_progress(node) for node in nodes),
            follows=follows,
            together=max((node.facts.together for node in nodes), key=get_args(Scope).index),
        )

    def values(self, table: ScoreTable, name: str) -> Floats:
        """Return one column, (n,): NaN where it abstained or the row is unscorable.

        Raises:
            RewardFailure: a value is too large for the float32 of the trainer.
        """
        if self.columns == "terms":
            values = table.terms[name]
        elif name == TOTAL and TOTAL not in table.components:
            values = table.total
        else:
            values = np.where(np.isnan(table.total), np.nan, table.components[name].values)
        if np.any(np.abs(values) > _LARGEST):
            raise RewardFailure(
                f"{name!r} scored {np.nanmax(np.abs(values)):g}, which is too large for the trainer's float32. "
                "Scale it down, or use .clip(low, high)"
            )
        return values

    def addends(
        self, table: ScoreTable, batch: Batch, progress: Progress | None, *, normalizes_each: bool
    ) -> Mapping[str, Floats]:
        """Return what the trainer adds up, by name: the terms, or (GDPO) its columns, each normalized."""
        if not normalizes_each:
            return table.terms
        weights = {**dict(zip(self.names, self.weights, strict=True)), **self.weights_at(progress)}
        columns = [self.values(table, name) for name in weights]
        parts = signal.normalized(columns, list(weights.values()), batch.groups)
        return dict(zip(weights, parts, strict=True))

    def weights_at(self, progress: Progress | None) -> dict[str, float]:
        """Return the current weights by name; empty if none is scheduled."""
        return {name: float(sum(weight_now(part, progress) for part in parts)) for name, parts in self.schedules}


def _terms(scorer: Scorer) -> _Plan:
    names = tuple(scorer.terms)
    return _Plan(names, (1.0,) * len(names), separable=len(names) == 1 or not _scales(scorer.reward))


def _components(scorer: Scorer) -> _Plan:
    components = tuple(scorer.components)
    found = _pure_weights(scorer)
    if found is None:
        if TOTAL in components:
            raise RewardDefinitionError(
                f'a component is called {TOTAL!r}, but columns="components" needs that name for the column of the '
                f'total. Rename the component: reward.named("...")'
            )
        return _Plan((TOTAL, *components), (1.0,) + (0.0,) * len(components))
    weights = {name: found.get(name, ()) for name in components}
    start = Progress(0, 1)
    initial = tuple(sum(weight_now(part, start) for part in parts) for parts in weights.values())
    moving = any(isinstance(part, Schedule) for parts in weights.values() for part in parts)
    return _Plan(components, initial, tuple(weights.items()) if moving else (), separable=True)


def _pure_weights(scorer: Scorer) -> dict[str, tuple[Weight, ...]] | None:
    """Return the weights of each term of a pure weighted sum; None if weights differ by row (gates, means, routes)."""
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
    """Return True if a term is more or less than the plain value of its reward."""
    facts = node.facts
    return (
        facts.average or any(weight != 1.0 for weight in facts.weights or ()) or any(map(_scales, facts.addends or ()))
    )


def _reads_progress(node: Reward) -> bool:
    return node.facts.binding is not None and node.facts.binding.follows_progress
