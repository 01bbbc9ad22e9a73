"""GDPO in real runs: every component is normalized separately, with weights that change during training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import gdpo_advantages, gdpo_parts, shares, watched
from tests.adapters.trl.test_training import Recorder, counted, early, echo, generations, judged

GDPO: dict[str, Any] = {"multi_objective_aggregation": "normalize_then_sum", "max_steps": 6}


@dataclass(frozen=True)
class Case:
    """A reward and its weights by hand, from the share of training done and the means of all earlier batches."""

    reward: rk.Reward
    weights: Callable[[float, list[dict[str, float]]], dict[str, float]]


def moved(means: list[dict[str, float]]) -> float:
    """``when_reached("early", level=0.4, window=2, over=3)`` after batches with these means."""
    reached, way = False, 0
    for batch in range(len(means)):
        reached = reached or (batch > 0 and (means[batch - 1]["early"] + means[batch]["early"]) / 2 >= 0.4)
        way = min(max(way + (1 if reached else -1), 0), 3)
    return way / 3


REACHED = rk.schedules.when_reached("early", level=0.4, window=2, over=3)
# No two weights are ever equal: equal and opposite parts would cancel, and leave shares of next to nothing.
CASES = {
    "linear": Case(
        rk.schedules.linear(0.0, 1.0) * early + 0.45 * echo + 2.0 * counted,
        lambda way, means: {"early": way, "echo": 0.45, "counted": 2.0},
    ),
    "stages": Case(
        rk.curriculum([rk.Stage("form", early, until=0.5), rk.Stage("rest", echo + 0.25 * early)]) + 0.5 * counted,
        lambda way, means: {"early": 1.0 if way < 0.5 else 0.25, "echo": float(way >= 0.5), "counted": 0.5},
    ),
    "fading": Case(
        rk.curriculum([rk.Stage("form", early, until=2, over=3), rk.Stage("rest", 3.0 * echo)]) + 0.8 * counted,
        lambda way, means: {
            "early": 1.0 - min(max(6 * way - 2, 0.0) / 3, 1.0),
            "echo": 3.0 * min(max(6 * way - 2, 0.0) / 3, 1.0),
            "counted": 0.8,
        },
    ),
    "reached": Case(
        rk.curriculum([rk.Stage("form", early, until=REACHED), rk.Stage("rest", 2.0 * echo)]) + 0.6 * REACHED * counted,
        lambda way, means: {
            "early": 1.0 - moved(means),
            "echo": 2.0 * moved(means),
            "counted": 0.6 * moved(means),
        },
    ),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "groups of four": {},
    "groups of two": {"num_generations": 2},
    "a generation for two accumulated batches": {"gradient_accumulation_steps": 2, "steps_per_generation": 2},
    "a generation for two steps": {"steps_per_generation": 2},
    "two generations a step": {"gradient_accumulation_steps": 2, "steps_per_generation": 1},
}


def means_of(table: Any, names: list[str]) -> dict[str, float]:
    return {name: float(np.nanmean(table[name])) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "setting"),
    [*((name, "groups of four") for name in CASES), *(("reached", setting) for setting in list(SETTINGS)[1:])],
)
def test_weights_move_what_the_trainer_holds_and_advantages_follow(tmp_path: Path, name: str, setting: str) -> None:
    case, options = CASES[name], SETTINGS[setting]
    recorder = Recorder()
    functions = rk.to_trl(case.reward + recorder.reward(), outputs="components")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights, **(GDPO | options))
    seen = watched(trainer)
    trainer.train()
    tables = recorder.tables(case.reward)
    assert len(seen) == len(tables) >= 3
    size, entries = options.get("num_generations", 4), generations(trainer)
    each = len(tables) // len(entries)  # generation batches behind one entry of the log
    means: list[dict[str, float]] = []
    logged: list[dict[str, float]] = []
    for batch, table in enumerate(tables):
        progress = recorder.batches[batch]["others"]["progress"]
        weights = case.weights(progress.step / progress.max_steps, means)
        assert seen[batch].held == pytest.approx({**weights, "recorder": 0.0})
        columns = {name: table[name] for name in weights}
        parts = gdpo_parts(columns, weights, size)
        np.testing.assert_allclose(seen[batch].advantages, gdpo_advantages(parts), atol=2e-3)
        means.append(means_of(table, ["early"]))
        logged.append(shares(parts, size, scale="batch"))
    for number, entry in enumerate(entries):
        several = logged[each * number : each * (number + 1)]
        held = {name: entry[f"advantage_share/{name}"] for name in several[0]}
        assert sum(held.values()) == pytest.approx(1.0, abs=1e-5)
        expected = {name: np.mean([one[name] for one in several]) for name in held}
        assert held == pytest.approx(expected, abs=1e-5)
        assert entry["advantage_share/recorder"] == 0.0


def test_the_shares_are_those_of_the_advantages_themselves(tmp_path: Path) -> None:
    """Advantages are a linear function of the parts, so that regressing on them finds the same decomposition."""
    reward = 0.7 * early + 0.2 * echo + counted
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights, **GDPO)
    seen = watched(trainer)
    trainer.train()
    for generation, table, entry in zip(seen, recorder.tables(reward), generations(trainer), strict=True):
        weights = {name: generation.held[name] for name in ("early", "echo", "counted")}
        parts = gdpo_parts({name: table[name] for name in weights}, weights, 4)
        found = {
            name: np.nan_to_num(part) @ generation.advantages / (generation.advantages @ generation.advantages)
            for name, part in parts.items()
        }
        scale = sum(found.values())  # one over the deviation over the batch
        for name, share in found.items():
            assert entry[f"advantage_share/{name}"] == pytest.approx(share / scale, abs=1e-3)


@pytest.mark.slow
def test_a_reward_that_reached_its_level_is_reached_in_the_weights_of_evaluation(tmp_path: Path) -> None:
    reward = rk.schedules.when_reached("early", level=1.0, window=50) * echo + rk.schedules.linear(0.0, 0.5) * early
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components")
    options: dict[str, Any] = {"eval_rows": 4, "eval_strategy": "steps", "eval_steps": 2}
    trainer = tiny.trainer(
        tmp_path, functions, reward_weights=functions.reward_weights, **(GDPO | options | {"max_steps": 4})
    )
    seen = watched(trainer)
    trainer.train()
    held = [(generation.training, generation.held["echo"], generation.held["early"]) for generation in seen]
    training = [(True, 0.0, 0.125 * step) for step in range(4)]
    evaluation = [(False, 1.0, 0.5)] * 2
    assert held == [*training[:2], *evaluation, *training[2:], *evaluation]


def test_a_sample_that_cannot_be_scored_is_left_out_of_every_normalization(tmp_path: Path) -> None:
    reward = 0.5 * judged + 2.0 * early + rk.schedules.linear(0.0, 1.0) * echo
    recorder = Recorder()
    functions = rk.to_trl(reward + recorder.reward(), outputs="components", limits=rk.Limits(max_failure_rate=1.0))
    trainer = tiny.trainer(tmp_path, functions, reward_weights=functions.reward_weights, **GDPO)
    seen = watched(trainer)
    trainer.train()
    left_out = 0
    for generation, table, batch in zip(seen, recorder.tables(reward), recorder.batches, strict=True):
        progress = batch["others"]["progress"]
        lost = np.isnan(table.total)
        weights = {"judged": 0.5, "early": 2.0, "echo": progress.step / progress.max_steps}
        columns = {name: np.where(lost, np.nan, table[name]) for name in weights}
        np.testing.assert_allclose(generation.advantages, gdpo_advantages(gdpo_parts(columns, weights, 4)), atol=2e-3)
        assert (generation.advantages[lost] == 0.0).all()
        left_out += int(lost.sum())
    assert 0 < left_out < 8 * len(seen)
