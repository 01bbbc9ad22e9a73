"""Routes: ``rk.route({"math": accuracy, "code": tests}, by="task")`` scores each row with the reward for its task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Numbers, Rows, Share
from rewardkit.errors import BindingError, RewardDefinitionError, RewardFailure, near_miss, shorten
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps


@final
@dataclass(frozen=True)
class Route(Reward):
    """A reward that scores each row with the branch for the row's column value. Other branches are not evaluated."""

    branches: tuple[tuple[Any, Reward], ...]
    by: str
    default: Reward | None = None
    label: str = ""

    @cached_property
    def facts(self) -> NodeSpec:
        rewards = tuple(reward for _, reward in self.branches)
        keys = tuple(str(key) for key, _ in self.branches)
        if self.default is not None:
            rewards, keys = (*rewards, self.default), (*keys, "default")
        limits = [reward.bounds for reward in rewards]
        return NodeSpec(
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
            with_columns=lambda columns: replace(self, by=columns.get(self.by, self.by)),
        )

    def _branch(self, batch: Batch, rows: Rows) -> Numbers:
        """Return the index of each row's branch (n,); -1 for rows without a branch and rows that are not in `rows`."""
        if self.by not in batch.columns:
            raise BindingError(
                f"route by {self.by!r}: the data has no such column. Its columns: {', '.join(batch.columns) or 'none'}."
                + near_miss(self.by, batch.columns)
            )
        positions = {key: position for position, (key, _) in enumerate(self.branches)}
        otherwise = -1 if self.default is None else len(self.branches)
        indices = np.full(batch.size, -1)
        for row in np.flatnonzero(rows).tolist():
            key = batch.columns[self.by][row]
            try:
                indices[row] = positions.get(key, otherwise)
            except TypeError:  # a list, for example, cannot be a key
                indices[row] = otherwise
        return indices

    def _chosen(self, batch: Batch, rows: Rows) -> list[tuple[Reward, Rows]]:
        """Return each branch with the rows that it scores."""
        indices = self._branch(batch, rows)
        for row in np.flatnonzero(rows & (indices < 0))[:1].tolist():
            key, branch_keys = batch.columns[self.by][row], [key for key, _ in self.branches]
            raise RewardFailure(
                f"route by {self.by!r}: row {row} has {shorten(key)}, which is not one of "
                f"{', '.join(map(shorten, branch_keys))}.{_hint(key, branch_keys)}"
            )
        return [(reward, indices == position) for position, reward in enumerate(self.children)]

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        requests = self._chosen(evaluation.batch, rows)
        for reward, branch_rows in requests:
            evaluation.unrouted(reward, rows & ~branch_rows)
        columns: list[Column] = yield requests
        result = Column.empty(len(rows))
        for column, (_, branch_rows) in zip(columns, requests, strict=True):
            result.fill(branch_rows, column)
        result.shares = tuple(Share(1.0, branch_rows) for _, branch_rows in requests)
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        keys = [key for key, _ in self.branches]
        default = children[-1] if self.default is not None else None
        return replace(self, branches=tuple(zip(keys, children, strict=False)), default=default)

    def __repr__(self) -> str:
        branches = ", ".join(f"{key!r}: {reward!r}" for key, reward in self.branches)
        default = f", default={self.default!r}" if self.default is not None else ""
        return f"route({{{branches}}}, by={self.by!r}{default})" + f".named({self.label!r})" * bool(self.label)


def _hint(key: Any, branch_keys: Iterable[Any]) -> str:
    """Return advice for the error about a cell whose value has no branch."""
    same = next((other for other in branch_keys if str(other) == str(key)), None)
    if same is not None:
        types = type(key).__name__, type(same).__name__
        return f" The cell has the type {types[0]}, but the key has the type {types[1]}. Write the key as {key!r}"
    return f"{near_miss(str(key), map(str, branch_keys))} Add a branch for it, or pass default="


def route(branches: Mapping[Any, RewardLike], by: str, default: RewardLike | None = None) -> Reward:
    """Return a reward that selects another reward based on a column: ``rk.route({"math": a, "code": b}, by="task")``.

    Only the selected branch is evaluated, and only its columns are read, so cells for other tasks can be None. The
    other branches abstain, so each branch's mean covers only the branch's own rows.

    Args:
        branches: column value -> reward.
        by: the name of the dataset column that selects the branch.
        default: the reward for values without a branch. If there is no default, these values cause an error.

    Raises:
        RewardDefinitionError: there are no branches, or `by` is not a column name.
        RewardTypeError: a branch is not a reward.
        BindingError: during scoring, if the data lacks the column `by`.
        RewardFailure: during scoring, if there is no branch for a value.
    """
    if not isinstance(branches, Mapping) or not branches:
        raise RewardDefinitionError(
            f'route needs a mapping of values to rewards, such as {{"math": reward}}, got {shorten(branches)}'
        )
    if not isinstance(by, str) or not by:
        raise RewardDefinitionError(f"route: by= must be the name of a column, got {shorten(by)}")
    return Route(
        tuple((key, reward_of(reward, f"route: the branch {key!r}")) for key, reward in branches.items()),
        by,
        None if default is None else reward_of(default, "route: default"),
    )
