"""Routes: ``rk.route({"math": accuracy, "code": tests}, by="task")`` scores each sample by its own task's reward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column, Numbers, Rows, Share
from rewardkit.core.errors import BindingError, RewardDefinitionError, RewardFailure, near_miss, shorten
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward


@final
@dataclass(frozen=True)
class Route(Reward):
    """Chooses a reward per row by a column's value; the others are neither evaluated nor bound to their columns."""

    branches: tuple[tuple[Any, Reward], ...]
    by: str
    default: Reward | None = None
    label: str = ""

    @cached_property
    def facts(self) -> Facts:
        rewards = tuple(reward for _, reward in self.branches)
        keys = tuple(str(key) for key, _ in self.branches)
        if self.default is not None:
            rewards, keys = (*rewards, self.default), (*keys, "default")
        limits = [reward.bounds for reward in rewards]
        return Facts(
            name=self.label or f"route_by_{self.by}",
            bounds=(min(low for low, _ in limits), max(high for _, high in limits)),
            children=rewards,
            prefixes=keys,
            generic=not self.label,
            logged=bool(self.label),
            addends=rewards,
            columns=(self.by,),
            choose=self._branch,
            wants="any",
            renamed=lambda name: replace(self, label=name),
        )

    def _branch(self, batch: Batch, rows: Rows) -> Numbers:
        """(n,) which of its children each row chooses; -1 for none, and outside of `rows`."""
        if self.by not in batch.columns:
            raise BindingError(
                f"route by {self.by!r}: the data has no such column. Columns: {', '.join(batch.columns) or 'none'}."
                + near_miss(self.by, batch.columns)
            )
        positions = {key: position for position, (key, _) in enumerate(self.branches)}
        otherwise = -1 if self.default is None else len(self.branches)
        chosen = np.full(batch.size, -1)
        for row in np.flatnonzero(rows).tolist():
            key = batch.columns[self.by][row]
            try:
                chosen[row] = positions.get(key, otherwise)
            except TypeError:  # a list, say: no key of a mapping
                chosen[row] = otherwise
        return chosen

    def _chosen(self, batch: Batch, rows: Rows) -> list[tuple[Reward, Rows]]:
        """Each branch with the rows that are its own."""
        chosen = self._branch(batch, rows)
        for row in np.flatnonzero(rows & (chosen < 0))[:1].tolist():
            key, known = batch.columns[self.by][row], [key for key, _ in self.branches]
            raise RewardFailure(
                f"route by {self.by!r}: row {row} has {shorten(key)}, which is none of "
                f"{', '.join(map(shorten, known))}.{_hint(key, known)}"
            )
        return [(reward, chosen == position) for position, reward in enumerate(self.children)]

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        chosen = self._chosen(evaluation.batch, rows)
        for reward, own in chosen:
            evaluation.unrouted(reward, rows & ~own)
        columns: list[Column] = yield chosen
        result = Column.empty(len(rows))
        for column, (_, own) in zip(columns, chosen, strict=True):
            result.fill(own, column)
        result.shares = tuple(Share(1.0, own) for _, own in chosen)
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        keys = [key for key, _ in self.branches]
        default = children[-1] if self.default is not None else None
        return replace(self, branches=tuple(zip(keys, children, strict=False)), default=default)

    def __repr__(self) -> str:
        branches = ", ".join(f"{key!r}: {reward!r}" for key, reward in self.branches)
        default = f", default={self.default!r}" if self.default is not None else ""
        return f"route({{{branches}}}, by={self.by!r}{default})" + f".named({self.label!r})" * bool(self.label)


def _hint(key: Any, known: Iterable[Any]) -> str:
    """What to do about a cell without a branch."""
    alike = next((other for other in known if str(other) == str(key)), None)
    if alike is not None:
        return f" The cell is a {type(key).__name__}, the key a {type(alike).__name__}: write the key as the cell"
    return f"{near_miss(str(key), map(str, known))} Add a branch for it, or a default="


def route(branches: Mapping[Any, Reward], by: str, default: Reward | None = None) -> Reward:
    """The reward of each sample's own kind: ``rk.route({"math": a, "code": b}, by="task")``.

    Only the chosen branch is evaluated, and only its columns are read: cells of other tasks may be None. The other
    branches abstain, so that each one's mean is its own.

    Args:
        branches: value of the column -> reward.
        by: the dataset column that chooses.
        default: for values without a branch; without it they are an error.

    Raises:
        RewardDefinitionError: no branches, or `by` is no column name.
        RewardFailure: while scoring: a value without a branch.
    """
    if not isinstance(branches, Mapping) or not branches:
        raise RewardDefinitionError(f"route needs a mapping of values to rewards, got {shorten(branches)}")
    if not isinstance(by, str) or not by:
        raise RewardDefinitionError(f"route: by= is the name of a column, got {shorten(by)}")
    return Route(
        tuple((key, as_reward(reward, f"route: the branch {key!r}")) for key, reward in branches.items()),
        by,
        None if default is None else as_reward(default, "route: default"),
    )
