"""The columns for a trainer, and the weights with which their sum equals the total.

With ``"terms"``, there is one column per term, each with weight 1. With ``"components"``, there is one column of raw
scores per component. For a plain weighted sum, the columns have the weights of the sum. Any other tree gets a column
``total`` with weight 1, and its components have weight 0.

The trainer may weight the items in a list itself (``GRPOConfig(reward_weights=[1, 2])``). Such weights are not part of
the scored tree, so the columns contain raw values, as with plain TRL functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rewardkit.analyze import signal
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import number
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Schedule, Weight, multiplied, weight_now
from rewardkit.tree.algebra import summands, weighted_sum_of
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.names import terms_of
from rewardkit.tree.parameters import Scope
from rewardkit.tree.reward import Reward
from rewardkit.tree.trl_function import is_model

Columns = Literal["terms", "components"]

TOTAL = "total"


class _Plan(NamedTuple):
    names: tuple[str, ...]
    weights: tuple[float, ...]
    schedules: tuple[tuple[str, tuple[Weight, ...]], ...] = ()
    separable: bool = False


@dataclass(frozen=True)
class RewardColumns:
    """The columns for one list of reward functions.

    Attributes:
        columns: the kind of columns.
        items: the rewards in the list.
        names: the names of the columns, which are also the names of the functions.
        weights: the weights that the trainer must use for the columns at the start of training.
        schedules: the scheduled weights for ``"components"`` by name. They change during training.
        separable: whether each column can be normalized separately without losing its weight (GDPO).
        owners: for each column, the index of the item that produces it, or None if several items or no items produce
            it.
        scheduled: whether anything in the tree depends on training progress.
        follows: whether a schedule depends on the policy's performance.
        together: the kind of rows that must be scored in one batch, even if they are distributed over several
            processes.
        raw: whether only the trainer has the weights, so that they are not part of the scored tree.
        given: whether the user passed the weights to `to_trl`, so that the trainer must use the same weights.
    """

    columns: Columns
    items: tuple[Reward, ...]
    names: tuple[str, ...]
    weights: tuple[float, ...]
    schedules: tuple[tuple[str, tuple[Weight, ...]], ...]
    separable: bool
    owners: tuple[int | None, ...]
    scheduled: bool
    follows: bool
    together: Scope
    raw: bool = False
    given: bool = False

    @classmethod
    def of(cls, reward: Reward, columns: Columns, *, raw: bool = False) -> RewardColumns:
        """Return the layout for one reward.

        Args:
            raw: whether the trainer applies the weights if the reward is a plain sum.

        Raises:
            RewardDefinitionError: as in `listed`.
        """
        parts = summands(reward) if raw else ()
        weights = [weight for weight, _ in parts if isinstance(weight, float)]
        if parts and len(weights) == len(parts):
            return cls.listed([part for _, part in parts], columns, weights)
        return cls.listed([reward], columns)

    @classmethod
    def listed(cls, items: Sequence[Reward], columns: Columns, weights: Sequence[float] | None = None) -> RewardColumns:
        """Return the layout for a list of rewards. `weights` has one weight per reward, or is None if all are 1.

        Raises:
            RewardDefinitionError: there are no terms, `columns` is unknown, or a component is named ``total`` but the
                total needs a separate column.
        """
        plain = cls._plain(tuple(items), columns)
        if weights is None:
            return plain
        if plain._free:
            column_weights = tuple(weights[owner] for owner in plain.owners if owner is not None)
            return replace(plain, weights=column_weights, raw=True, given=True)
        return replace(cls._plain((weighted_sum_of(list(zip(weights, items, strict=True))),), columns), given=True)

    @classmethod
    def _plain(cls, items: tuple[Reward, ...], columns: Columns) -> RewardColumns:
        scorer = Scorer(_sum(items))
        if not scorer.terms:
            raise RewardDefinitionError(
                f"{scorer.reward!r} has no term, so there is nothing to train on. Add a reward to it"
            )
        if columns not in get_args(Columns):
            raise RewardDefinitionError(f'outputs must be "terms" or "components", got {shorten(columns)}')
        plan = _terms(scorer) if columns == "terms" else _components(scorer)
        return cls(
            columns,
            items,
            *plan,
            owners=_owners(scorer, items, plan.names),
            scheduled=scorer.scheduled,
            follows=bool(scorer.followers),
            together=scorer.together,
        )

    @property
    def _free(self) -> bool:
        """Whether the tree is a plain sum of the columns, so that the trainer may weight them."""
        return None not in self.owners and set(self.weights) == {1.0} and not self.schedules

    @cached_property
    def honors(self) -> bool:
        """Whether the trainer may use arbitrary weights, because each item in the list produces one column."""
        if self.given or len(set(self.owners)) < len(self.owners):
            return False
        return self.raw or self._free

    @cached_property
    def weighs(self) -> bool:
        """Whether the trainer must multiply the columns by weights, because they are not the terms of the total."""
        return self.columns == "components" or set(self.weights) != {1.0}

    @property
    def held(self) -> dict[str, float] | None:
        """The column weights by name if only the trainer has them, or None otherwise."""
        return dict(zip(self.names, self.weights, strict=True)) if self.raw else None

    def holding(self, weights: Sequence[float]) -> RewardColumns:
        """Return this layout with the trainer's weights."""
        return replace(self, weights=tuple(weights), raw=True)

    @cached_property
    def scored(self) -> Reward:
        """The reward that is scored, whose columns are passed to the trainer."""
        return _sum(self.items)

    @cached_property
    def reward(self) -> Reward:
        """The reward that is trained, with the trainer's weights."""
        if not self.raw or set(self.weights) == {1.0}:
            return self.scored
        weights_by_owner = dict(zip(self.owners, self.weights, strict=True))
        return weighted_sum_of([(weights_by_owner.get(index, 1.0), item) for index, item in enumerate(self.items)])

    def of_table(self, table: ScoreTable) -> dict[str, Floats]:
        """Return the columns by name, each with shape (n,), with NaN if a column abstained or the row is unscorable."""
        if self.columns == "terms":
            return {name: table.terms[name] for name in self.names}
        absent = np.isnan(table.total)
        return {
            name: np.where(absent, np.nan, table.components[name].values) if name in table.components else table.total
            for name in self.names
        }

    def weighted(self, table: ScoreTable) -> ScoreTable:
        """Return the scores with the trainer's weights applied to the terms and the total."""
        if not self.raw or set(self.weights) == {1.0}:
            return table
        factors = dict(zip(self.names, self.weights, strict=True))
        with np.errstate(over="ignore"):  # `require_float32` reports the overflow
            terms = {name: factors[name] * values for name, values in table.terms.items()}
        return replace(
            table,
            terms=terms,
            total=np.where(np.isnan(table.total), np.nan, np.nansum(list(terms.values()), axis=0)),
            weights={name: factors[name] * weight for name, weight in table.weights.items()},
        )

    def addends(
        self,
        columns: Mapping[str, Floats],
        table: ScoreTable,
        batch: Batch,
        progress: Progress | None,
        *,
        normalizes_each: bool,
    ) -> Mapping[str, Floats]:
        """Return the values that the trainer adds up, by name. These are the terms, or the normalized columns for GDPO.

        Args:
            columns: the columns from `of_table`.
            table: the scores with the trainer's weights.
        """
        if not normalizes_each:
            return table.terms
        weights = {**dict(zip(self.names, self.weights, strict=True)), **self.weights_at(progress)}
        parts = signal.normalized([columns[name] for name in weights], list(weights.values()), batch.groups)
        return dict(zip(weights, parts, strict=True))

    def weights_at(self, progress: Progress | None) -> dict[str, float]:
        """Return the current weights by name, or an empty mapping if no weight is scheduled."""
        return {name: float(sum(weight_now(part, progress) for part in parts)) for name, parts in self.schedules}


def _sum(items: tuple[Reward, ...]) -> Reward:
    return items[0] if len(items) == 1 else weighted_sum_of([(1.0, item) for item in items])


def _owners(scorer: Scorer, items: tuple[Reward, ...], names: Sequence[str]) -> tuple[int | None, ...]:
    terms = dict(scorer.names.terms)
    term_sets = [set(terms_of(item)) for item in items]
    candidates = [[index for index, nodes in enumerate(term_sets) if terms.get(name) in nodes] for name in names]
    return tuple(indices[0] if len(indices) == 1 else None for indices in candidates)


def _terms(scorer: Scorer) -> _Plan:
    names = tuple(scorer.terms)
    return _Plan(names, (1.0,) * len(names), separable=len(names) == 1 or not _scales(scorer.reward))


def _components(scorer: Scorer) -> _Plan:
    components = tuple(scorer.components)
    pure_weights = _pure_weights(scorer)
    if pure_weights is None:
        if TOTAL in components:
            raise RewardDefinitionError(
                f'a component is called {TOTAL!r}, but outputs="components" needs that name for the '
                'column with the total. Rename the component: reward.named("...")'
            )
        return _Plan((TOTAL, *components), (1.0,) + (0.0,) * len(components))
    weights = {name: pure_weights.get(name, ()) for name in components}
    start = Progress(0, 1)
    initial = tuple(sum(weight_now(part, start) for part in parts) for parts in weights.values())
    is_scheduled = any(isinstance(part, Schedule) for parts in weights.values() for part in parts)
    return _Plan(components, initial, tuple(weights.items()) if is_scheduled else (), separable=True)


def _pure_weights(scorer: Scorer) -> dict[str, tuple[Weight, ...]] | None:
    """Return each term's weights in a plain weighted sum, or None if weights differ by row (gates, means, routes)."""
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
    """Return whether a term is a multiple or an average rather than the plain value of its reward."""
    facts = node.facts
    return (
        facts.average or any(weight != 1.0 for weight in facts.weights or ()) or any(map(_scales, facts.addends or ()))
    )


def layout_of(reward: Any, columns: Columns = "terms", weights: Sequence[float] | None = None) -> RewardColumns:
    """Return the layout for the argument of `to_trl`.

    Raises:
        RewardDefinitionError: as in `RewardColumns.listed`; also if the number of weights differs from the number of
            items, or a weight is not finite.
        RewardTypeError: as in `checked_tree`; also if a weight is not a number.
    """
    checked_tree(reward)
    rewards = list(reward) if isinstance(reward, (list, tuple)) else [reward]
    items = [tree_of(item, "an item of to_trl") for item in rewards]
    if weights is None:
        return RewardColumns.listed(items, columns)
    item_weights = list(weights)
    if len(item_weights) != len(items):
        layout, suggestion = RewardColumns.listed(items, columns), None
        if len(item_weights) == len(layout.names):  # one weight per column, although a reward gives several columns
            from rewardkit_adapters.trl.checks import weighted_expression

            suggestion = weighted_expression(layout, dict(zip(layout.names, item_weights, strict=True)))
        alternative = "" if suggestion is None else f", or write the weights into the reward: rk.to_trl({suggestion})"
        raise RewardDefinitionError(
            f"to_trl: there are {len(item_weights)} weights for {len(items)} reward{'s' * (len(items) != 1)}. Pass one "
            f"weight for each reward{alternative}"
        )
    for weight, item in zip(item_weights, rewards, strict=True):
        if isinstance(weight, Schedule):
            raise RewardTypeError(
                f"to_trl: weights= must be numbers, got the schedule {weight!r}. Multiply the reward by the "
                f"schedule instead, and give {shorten(item)} the weight 1"
            )
    return RewardColumns.listed(items, columns, [number(weight, "to_trl: a weight") for weight in item_weights])


def successor(reward: Any, weights: Mapping[str, float] | None) -> Reward:
    """Return the tree for a reward that replaces another one. `weights` are the trainer's weights for the old columns.

    A list keeps these weights, as it keeps the weights in a GRPOConfig. Any other reward has its own weights.

    Raises:
        RewardDefinitionError: a list has different columns, whose weights are unknown.
        RewardTypeError: as in `checked_tree`.
    """
    tree = checked_tree(reward)
    if weights is None or not isinstance(reward, (list, tuple)) or set(weights.values()) == {1.0}:
        return tree
    layout = layout_of(reward)
    if not layout.honors or set(layout.names) != set(weights):
        columns = ", ".join(f"{weight!r} * rk.from_trl({name})" for name, weight in weights.items())
        raise RewardDefinitionError(
            f"the trainer weights the columns of its current list, {dict(weights)}, but this list has the columns "
            f"{list(layout.names)}. Write the weights into the reward: rk.weighted_sum([{columns}])"
        )
    return layout.holding([weights[name] for name in layout.names]).reward


def checked_tree(reward: Any) -> Reward:
    """Return the tree for the argument of `to_trl`: a reward, a plain function, or a list of these.

    Raises:
        RewardTypeError: the argument is a reward model, a `to_trl` result, or another unsupported object.
    """
    if hasattr(reward, "_evaluators"):
        raise RewardTypeError("rk.to_trl already returned this list. Join lists with +: rk.to_trl(a) + rk.to_trl(b)")
    for item in reward if isinstance(reward, (list, tuple)) else [reward]:
        if hasattr(item, "evaluator"):
            raise RewardTypeError(
                "rk.to_trl already returned this function. To add rewards, join its list with others: list_a + list_b"
            )
        if isinstance(item, str) or is_model(item):
            raise RewardTypeError(
                "to_trl does not accept reward models. Add the model to the list: rk.to_trl(reward) + "
                f"[{shorten(item)}]"
            )
    return tree_of(reward, "to_trl")
