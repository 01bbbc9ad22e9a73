"""rewardkit: the five components as one weighted sum through ``rk.to_trl``, called as TRL calls them.

There are two contestants: each callable called in turn, to compare with the floor; and the same callables in TRL's own
loop, to compare with TRL's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

import rewardkit as rk
from benchmarks.speed.rubric_measurement import Columns, Contestant
from benchmarks.speed.rubric_trl import Call, calculate_rewards, make_trainer, prepare_call
from benchmarks.speed.rubric_workload import COMPONENTS, SCHEMA, WEIGHTS, Workload

CALLED = "rewardkit"
IN_LOOP = "rewardkit in TRL's loop"

Columned = Sequence[Sequence[float | None]]
Prepared = tuple[Sequence[Callable[..., Any]], dict[str, Any]]


def make_reward(lengths: tuple[int, int]) -> rk.Reward:
    """Return the weighted sum of the five components."""
    low, high = lengths

    @rk.reward
    def length(completion: str) -> float:
        return float(low <= len(completion) <= high)

    closeness = rk.number("total", credit="linear", extract=rk.extract.json("total"))
    return (
        WEIGHTS["tags"] * rk.tags("think", "answer").named("tags")
        + WEIGHTS["json_valid"] * rk.json_schema({}).named("json_valid")
        + WEIGHTS["schema"] * rk.json_schema(SCHEMA, credit="partial").named("schema")
        + WEIGHTS["closeness"] * closeness.named("closeness")
        + WEIGHTS["length"] * length
    )


def make_empty_reward(lengths: tuple[int, int]) -> rk.Reward:
    """Return the weighted sum of five rewards that do nothing."""

    @rk.reward
    def first(completion: str) -> float:
        return 1.0

    @rk.reward
    def second(completion: str) -> float:
        return 1.0

    @rk.reward
    def third(completion: str) -> float:
        return 1.0

    @rk.reward
    def fourth(completion: str) -> float:
        return 1.0

    @rk.reward
    def fifth(completion: str) -> float:
        return 1.0

    return 0.2 * first + 0.2 * second + 0.2 * third + 0.2 * fourth + 0.2 * fifth


def contestants() -> list[Contestant]:
    """Return the five components, called directly and in TRL's loop."""
    return [
        _called(make_reward, _columns),
        _in_loop(make_reward, lambda rewards: _columns(rewards.T.tolist())),
    ]


def empty_contestants() -> list[Contestant]:
    """Return five rewards that do nothing, called directly and in TRL's loop."""
    return [_called(make_empty_reward, None), _in_loop(make_empty_reward, None)]


class _Trainers:
    """Makes one trainer per length range, because a training script creates its trainer only once."""

    def __init__(self, make: Callable[[tuple[int, int]], rk.Reward]) -> None:
        self._make = make
        self._made: dict[tuple[int, int], Any] = {}

    def __call__(self, workload: Workload) -> Any:
        if workload.lengths not in self._made:
            functions = rk.to_trl(self._make(workload.lengths))
            self._made[workload.lengths] = make_trainer(functions, [1.0] * len(functions))
        return self._made[workload.lengths]


def _called(make: Callable[[tuple[int, int]], rk.Reward], columns: Callable[[Columned], Columns] | None) -> Contestant:
    trainers = _Trainers(make)

    def prepare(workload: Workload) -> Prepared:
        trainer = trainers(workload)
        keywords = {
            "prompts": workload.prompts,
            "completions": workload.completions,
            "completion_ids": workload.completion_ids(),
            "total": workload.totals,
            "trainer_state": trainer.state,
            "log_extra": trainer._log_completion_extra,
            "log_metric": trainer._log_metric,
        }
        return trainer.reward_funcs, keywords

    def score(prepared: Prepared) -> Columned:
        functions, keywords = prepared
        returned = [function(**keywords) for function in functions]
        keywords["log_metric"].__self__._pending_metrics.clear()
        return returned

    return Contestant(CALLED, prepare, score, columns)


def _in_loop(
    make: Callable[[tuple[int, int]], rk.Reward], columns: Callable[[torch.Tensor], Columns] | None
) -> Contestant:
    trainers = _Trainers(make)

    def prepare(workload: Workload) -> Call:
        return prepare_call(trainers(workload), workload)

    return Contestant(IN_LOOP, prepare, calculate_rewards, columns)


def _columns(terms: Columned) -> Columns:
    """Return the raw components: the terms that TRL adds up, divided by their weights."""
    return {
        name: [float("nan") if value is None else value / WEIGHTS[name] for value in values]
        for name, values in zip(COMPONENTS, terms, strict=True)
    }
