"""Per-turn rewards, which score each turn in a trajectory (or the state after it) and reduce the scores to one.

``rk.per_turn(polite, reduce="lowest")`` is the score of the worst turn. The result includes each turn's share; the
shares add up to the score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, Score
from rewardkit.batch.trajectory import Trajectory
from rewardkit.batch.transcripts import pieces
from rewardkit.errors import CoercionError, RewardDefinitionError, near_miss, shorten
from rewardkit.progress.bounds import Bounds, number
from rewardkit.tree.algebra import derived
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import ENVIRONMENT, WHOLE_BATCH, Parameter
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps, SubBatch, bindings, walk

Reduce = Literal["progress", "lowest", "last", "mean", "sum"]
ScoreOf = Literal["turns", "prefixes"]

_NO_TURN = "no turn"


@final
@dataclass(frozen=True)
class Reduction:
    """A function that reduces the turns' values to one number.

    Attributes:
        reduce: the function's name.
        discount: for ``"progress"``, the factor per turn.
        turns: for ``"sum"``, the maximum number of turns that count; otherwise, 0.
    """

    reduce: Reduce
    discount: float = 1.0
    turns: int = 0

    def shares(self, values: Sequence[float | None], before: float = 0.0) -> list[float] | None:
        """Return each turn's share of the reduced number, or None if no turn has a value.

        Args:
            values: each turn's value, or None if the reward abstained for the turn.
            before: for ``"progress"``, the value before the first turn.
        """
        turn_values = [(turn, value) for turn, value in enumerate(values) if value is not None]
        if not turn_values:
            return None
        shares = [0.0] * len(values)
        if self.reduce == "progress":
            # discount**t * v_t - discount**s * v_s, where s is the last turn before t that has a value.
            previous = before
            for turn, value in turn_values:
                now = self.discount ** (turn + 1) * value
                shares[turn], previous = now - previous, now
        elif self.reduce == "lowest":
            turn, value = min(turn_values, key=lambda pair: pair[1])
            shares[turn] = value
        elif self.reduce == "last":
            turn, value = turn_values[-1]
            shares[turn] = value
        else:
            for turn, value in turn_values[: self.turns or None] if self.reduce == "sum" else turn_values:
                shares[turn] = value if self.reduce == "sum" else value / len(turn_values)
        return shares

    def bounds(self, low: float, high: float) -> Bounds:
        """Return the bounds of the reduced number (0 if there are no turns) for values from `low` to `high`."""
        least, most = min(low, 0.0), max(high, 0.0)
        if self.reduce == "progress":
            return least - most, most - least
        return (self.turns * least, self.turns * most) if self.reduce == "sum" else (least, most)

    def traps(self, low: float) -> tuple[str, ...]:
        """Return warnings about settings that probably do not work as intended, for values of at least `low`."""
        if self.reduce not in ("mean", "sum") or low < 0.0:
            return ()
        more = "raises the mean" if self.reduce == "mean" else "adds to the sum"
        return (
            f'per_turn(reduce="{self.reduce}"): each easy turn {more}, so a policy gains from additional '
            'turns. Use "progress" (over states), "last" or "lowest", or values that are at most 0',
        )


@final
@dataclass(frozen=True)
class PerTurn(Reward):
    """A reward that scores each turn or each prefix of a trajectory with another reward."""

    reward: Reward
    reduction: Reduction
    score_of: ScoreOf

    @cached_property
    def facts(self) -> NodeSpec:
        low, high = self.reward.bounds
        return NodeSpec(
            name=derived(self.reward, "per_turn"),
            bounds=self.reduction.bounds(low, high),
            children=(self.reward,),
            generic=True,
            pieces=True,
            traps=self.reduction.traps(low),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        batch = evaluation.batch
        owners, counts, sub = self._pieces(batch, np.flatnonzero(rows).tolist())
        piece_column, faults = (yield SubBatch(self.reward, sub)) if len(sub) else (Column.empty(0), [])
        column, start = Column.empty(batch.size), 0
        for row, count in counts.items():
            self._fill(column, row, piece_column, range(start, start + count))
            start += count
        first = {owners[fault.row]: fault for fault in reversed(faults)}
        label = evaluation.label(self)
        evaluation.faulted([replace(fault, component=label, row=row) for row, fault in first.items()])
        return column

    @property
    def _leads(self) -> int:
        """The number of scores before the first turn: 1 if the empty prefix is also scored; otherwise, 0."""
        return int(self.reduction.reduce == "progress")

    def _pieces(self, batch: Batch, rows: Sequence[int]) -> tuple[list[int], dict[int, int], Batch]:
        """Return each piece's row, the number of pieces per row, and a batch of the pieces (turns or prefixes)."""
        owners: list[int] = []
        counts: dict[int, int] = {}
        completions: list[Any] = []
        trajectories: list[Trajectory] = []
        for row in rows:
            full_trajectory = batch.trajectory(row)
            if not full_trajectory.turns:
                counts[row] = 0
                continue
            parts = pieces(batch.completions[row], full_trajectory, prefixes=self.score_of == "prefixes")
            row_pieces = [([], full_trajectory.upto(0)), *parts] if self._leads else parts
            counts[row] = len(row_pieces)
            owners += [row] * len(row_pieces)
            completions += [messages for messages, _ in row_pieces]
            trajectories += [trajectory for _, trajectory in row_pieces]
        broken = batch.rollouts.broken
        return (
            owners,
            counts,
            Batch(
                completions,
                prompts=None if batch.prompts is None else [batch.prompts[row] for row in owners],
                columns={name: [values[row] for row in owners] for name, values in batch.columns.items()},
                progress=batch.progress,
                context={name: batch.context[name] for name in ("trainer_state",) if name in batch.context},
                rollouts=RolloutInfo(
                    trajectories=trajectories,
                    broken={position: broken[row] for position, row in enumerate(owners) if row in broken},
                ),
            ),
        )

    def _fill(self, column: Column, row: int, piece_column: Column, positions: range) -> None:
        """Write the score for `row` to `column`. The row's pieces are at `positions` in `piece_column`."""
        if not positions:
            column.values[row], column.codes[row], column.notes[row] = 0.0, SCORED, _NO_TURN
            return
        failed_position = next(
            (
                position
                for position in positions
                if piece_column.codes[position] == FAILED and np.isnan(piece_column.values[position])
            ),
            None,
        )
        if failed_position is not None:
            column.codes[row], column.notes[row] = FAILED, piece_column.notes.get(failed_position, "")
            return
        values = [
            None if np.isnan(piece_column.values[position]) else float(piece_column.values[position])
            for position in positions
        ]
        before = values.pop(0) if self._leads else None
        turns = positions[self._leads :]
        shares = self.reduction.shares(values, before or 0.0)
        if shares is None:
            column.codes[row] = ABSTAINED
            return
        column.values[row], column.turns[row] = math.fsum(shares), shares
        column.codes[row] = (
            ERRORED if any(piece_column.codes[position] == ERRORED for position in positions) else SCORED
        )
        worst = min(
            (position for position in turns if position in piece_column.notes),
            key=lambda position: piece_column.values[position],
            default=None,
        )
        if worst is not None:
            column.notes[row] = f"turn {turns.index(worst) + 1}: {piece_column.notes[worst]}"

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        return PerTurn(reward, self.reduction, self.score_of)

    def __repr__(self) -> str:
        return expression("per_turn", self.reward, **_options(self.reduction, self.score_of, self._leads))


def _options(reduction: Reduction, score_of: ScoreOf, leads: int) -> dict[str, tuple[object, object]]:
    return {
        "reduce": (reduction.reduce, None),
        "score_of": (score_of, "prefixes" if leads else "turns"),
        "discount": (reduction.discount, 1.0),
        "turns": (reduction.turns, 0),
    }


@final
@dataclass(frozen=True)
class OfColumn:
    """A reward function that reduces a column's values (one per turn) to one number."""

    column: str
    reduction: Reduction

    def __call__(self, trajectory: Trajectory, values: list[float | None]) -> float | Score | None:
        turns = len(trajectory.turns)
        if len(values) != turns:
            raise CoercionError(
                f"the column {self.column!r} has {len(values)} numbers for {turns} turns: {shorten(values)}. "
                "Store one number for each assistant message, or None if the message has no value"
            )
        if not turns:
            return Score(0.0, _NO_TURN)
        shares = self.reduction.shares(values)
        return None if shares is None else Score(math.fsum(shares), turns=shares)


def per_turn(
    reward: RewardLike | str,
    *,
    reduce: Reduce,
    score_of: ScoreOf | None = None,
    discount: float = 1.0,
    turns: int | None = None,
    bounds: Bounds = (-math.inf, math.inf),
) -> Reward:
    """Return a reward that scores each turn in a trajectory, or the state after it, and reduces the scores to one.

    ``rk.per_turn(solved, reduce="progress")`` scores the state after each turn and returns the difference between the
    last state and the first. ``rk.score(...).turns["solved_per_turn"]`` contains each turn's share.

    The result for each `reduce`, with its value for the scores 0.2, 0.6, and 1.0:

    ============== ====================================== ====== =====================================
    reduce         result                                 value  share of turn t
    ============== ====================================== ====== =====================================
    ``"progress"`` discount^T * v_T - v_0                 1.0    discount^t * v_t - discount^(t-1) * v_(t-1)
    ``"lowest"``   min v_t                                0.2    all for the lowest turn, the first if several
    ``"last"``     v_T                                    1.0    all for the last turn
    ``"mean"``     mean of v_t. Easy turns raise it       0.6    v_t / T
    ``"sum"``      sum of v_t. Extra turns raise it       1.8    v_t
    ============== ====================================== ====== =====================================

    If a trainer accepts one number per completion, ``"progress"`` with discount 1 has the same effect as ``"last"``,
    because all completions for a prompt start from the same state. However, ``"progress"`` also provides the shares.
    Shares are not advantages: normalizing them turn by turn is biased if the policy decides when to stop
    (verl-project/verl#7244).

    The source for ``"progress"`` is potential-based shaping (Ng, Harada, and Russell, 1999).

    Args:
        reward: a reward that scores one turn or one state, or the name of a column with a list of numbers, one per
            turn.
        reduce: the method of reducing the values to one number. There is no default, because each option rewards
            different behavior.
        score_of: ``"turns"`` scores each turn separately, with its text, calls, and results. ``"prefixes"`` scores the
            trajectory up to each turn. For ``"progress"``, this is the default and the only choice.
        discount: for ``"progress"``, the factor per turn, greater than 0 and at most 1.
        turns: for ``"sum"``, the maximum number of turns that count.
        bounds: for a column, the lowest and the highest result.

    Raises:
        RewardDefinitionError: an option is invalid, or the reward needs more than the messages of a turn or prefix:
            token ids, the live environment, or other completions.
        CoercionError: during scoring, if a column does not have one number for each turn.
    """
    reduction = _reduction(reduce, discount, turns)
    where = score_of if score_of is not None else "prefixes" if reduce == "progress" else "turns"
    if where not in get_args(ScoreOf):
        raise RewardDefinitionError(f'per_turn: score_of must be "turns" or "prefixes", got {shorten(score_of)}')
    if reduce == "progress" and where == "turns":
        raise RewardDefinitionError(
            'per_turn: "progress" scores the difference between two states, so it needs prefixes. Remove '
            'score_of="turns"'
        )
    if isinstance(reward, str):
        leads = int(reduce == "progress")
        call_text = expression("per_turn", reward, **_options(reduction, where, leads))
        values = Parameter("values", reward, annotation=list[float | None])
        function = OfColumn(reward, reduction)
        return primitive(
            function,
            "per_turn",
            call_text,
            Parameter("trajectory", "trajectory"),
            values,
            bounds=bounds,
            may_abstain=True,
        )
    item = reward_of(reward, "per_turn")
    if obstacle := _obstacle(item):
        raise RewardDefinitionError(f"per_turn: {shorten(item)} cannot score single turns: {obstacle}")
    return PerTurn(item, reduction, where)


def _reduction(reduce: Reduce, discount: float, turns: int | None) -> Reduction:
    if reduce not in get_args(Reduce):
        words = ", ".join(f'"{word}"' for word in get_args(Reduce))
        hint = near_miss(str(reduce), get_args(Reduce))
        raise RewardDefinitionError(f"per_turn: reduce must be one of {words}, got {shorten(reduce)}.{hint}")
    factor = number(discount, "per_turn: discount")
    if not 0.0 < factor <= 1.0:
        raise RewardDefinitionError(f"per_turn: discount must be greater than 0 and at most 1, got {factor:g}")
    if factor != 1.0 and reduce != "progress":
        raise RewardDefinitionError(f'per_turn: discount={factor:g} applies only to reduce="progress". Remove it')
    if (reduce == "sum") != (turns is not None):
        raise RewardDefinitionError(
            'per_turn: reduce="sum" needs turns=, the maximum number of turns that count, so that the sum has a bound'
            if reduce == "sum"
            else f'per_turn: turns= applies only to reduce="sum", not to "{reduce}". Drop it'
        )
    if turns is not None and (type(turns) is not int or turns < 1):
        raise RewardDefinitionError(f"per_turn: turns must be a whole number of at least 1, got {shorten(turns)}")
    return Reduction(reduce, factor, turns or 0)


def _obstacle(reward: Reward) -> str:
    """Return the reason why `reward` cannot score part of the messages, or an empty string if it can."""
    if any(node.facts.sees != "sample" for node, _, _ in walk(reward)):
        return "it compares completions with each other"
    for node, binding in bindings(reward):
        if binding.foreign or binding.reads(WHOLE_BATCH):
            return f"{node.name!r} receives the whole batch. Write it as a function of one completion"
        if binding.reads(ENVIRONMENT):
            return f"{node.name!r} reads the environment, which is known only after the last turn"
        if binding.reads("completion_ids"):
            return f"{node.name!r} reads token ids, which are not known for single turns. Count words or characters"
    return ""
