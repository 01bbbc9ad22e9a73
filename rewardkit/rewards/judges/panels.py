"""Panels: ``rk.judge_panel([strict, lenient], combine="median")`` combines the scores of several judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from rewardkit.batch.column import Column, Floats, Rows
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps, as_reward, checked_name

Combine = Literal["mean", "median"]

_COMBINED: dict[str, Callable[..., Any]] = {"mean": np.nanmean, "median": np.nanmedian}


@dataclass(frozen=True, slots=True)
class _Disagreement:
    """The difference between the highest and the lowest score in each row."""

    distances: tuple[float, ...]

    def __add__(self, other: _Disagreement) -> _Disagreement:
        return _Disagreement(self.distances + other.distances)

    def numbers(self) -> dict[str, float]:
        if not self.distances:
            return {}
        return {"judge_disagreement": float(np.mean(self.distances)), "judge_disagreement_max": max(self.distances)}


@final
@dataclass(frozen=True)
class Panel(Reward):
    """A reward that is the mean or the median of several judges' scores."""

    judges: tuple[Reward, ...]
    combine: Combine
    label: str

    @cached_property
    def facts(self) -> NodeSpec:
        limits = [judge.bounds for judge in self.judges]
        bounds = min(low for low, _ in limits), max(high for _, high in limits)
        return NodeSpec(name=self.label, bounds=bounds, children=self.judges, measures=True)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Panel(children, self.combine, self.label)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[Column] = yield [(judge, rows) for judge in self.judges]
        votes = np.stack([column.values for column in columns])
        voted = rows & ~np.isnan(votes).all(axis=0)
        values: Floats = np.full(len(rows), np.nan)
        values[voted] = _COMBINED[self.combine](votes[:, voted], axis=0)
        result = Column.combined([(column, True) for column in columns], values, rows)
        scored = np.flatnonzero(result.contributing)
        distances = np.full(len(rows), np.nan)
        if len(scored):
            distances[scored] = np.nanmax(votes[:, scored], axis=0) - np.nanmin(votes[:, scored], axis=0)
        result.parts["disagreement"] = distances
        result.notes.update((row, self._note(columns, row, distances[row])) for row in np.flatnonzero(rows).tolist())
        evaluation.measured(self, _Disagreement(tuple(distances[scored].tolist())))
        return result

    def _note(self, columns: Sequence[Column], row: int, distance: float) -> str:
        votes = []
        for number, (judge, column) in enumerate(zip(self.judges, columns, strict=True), 1):
            value = column.values[row]
            vote = "no score" if np.isnan(value) else f"{value:.2g}"
            votes.append(f"{judge.name or f'judge {number}'}: {vote}")
        spread = "" if np.isnan(distance) else f" (disagreement {distance:.2g})"
        return ", ".join(votes) + spread

    def __repr__(self) -> str:
        return f"judge_panel([{', '.join(map(repr, self.judges))}], combine={self.combine!r})"


def judge_panel(judges: Sequence[Reward], *, combine: Combine = "mean", name: str = "panel") -> Reward:
    """Return a reward that is the mean or the median of several judges' scores. If one judge fails, the panel fails.

    ::

        rk.judge_panel([rk.judge(rubric, model="a", name="a"), rk.judge(rubric, model="b", name="b")])

    Each score has the part ``disagreement``, the highest judge's score minus the lowest. The mean of this part is
    logged as ``judge_disagreement/<name>``. If the disagreement grows, the policy may be exploiting a preference that
    only one judge has.

    Args:
        judges: two or more rewards with different names.
        combine: ``"mean"`` or ``"median"``. With three judges, a single judge cannot change the median by much.
        name: the name of the component.

    Raises:
        RewardDefinitionError: there are fewer than two judges, or `combine` is unknown.
        RewardTypeError: a judge is not a reward.
    """
    if combine not in _COMBINED:
        raise RewardDefinitionError(f"judge_panel: combine must be 'mean' or 'median', got {shorten(combine)}")
    listed = tuple(as_reward(judge, "judge_panel: a judge") for judge in judges)
    if len(listed) < 2:
        raise RewardDefinitionError(f"judge_panel needs at least two judges, got {len(listed)}")
    return Panel(listed, combine, checked_name(name))
