"""Runs that stop and resume: the state of schedules is in the checkpoint, and the curves continue."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.logs import steady
from tests.adapters.trl import tiny
from tests.adapters.trl.interrupted import REWARD, SAVED, STEPS, main
from tests.adapters.trl.test_training import early, echo, generations

REACHED = rk.schedules.when_reached("early", level=0.2, window=2)


def run(mode: str, out: Path) -> int:
    script = Path(__file__).with_name("interrupted.py")
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "adapters")])}
    done = subprocess.run(
        [sys.executable, str(script), mode, str(out)], env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.slow
def test_a_killed_run_resumes_as_if_nothing_had_happened(tmp_path: Path) -> None:
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    main("straight", straight)
    assert run("killed", broken) == -signal.SIGKILL
    assert [path.name for path in broken.glob("checkpoint-*")] == [f"checkpoint-{SAVED}"]
    assert run("resumed", broken) == 0
    expected = json.loads((straight / "straight.json").read_text())
    joined = json.loads((broken / "resumed.json").read_text())
    assert len(expected) == len(joined) == STEPS
    moving = {"stage/curriculum", "weights/early", "weights/echo", "weights/echo_normalized", "reward"}
    assert moving <= expected[0].keys()
    for before, after in zip(expected, joined, strict=True):
        for name, value in steady(before).items():
            assert after[name] == pytest.approx(value, abs=1e-6), (before["step"], name)
    stages = [entry["stage/curriculum"] for entry in joined]
    assert stages[0] == 1.0
    assert 1.0 < stages[SAVED] < 2.0  # it is killed between two stages
    assert stages[-1] == 2.0


def states(checkpoint: Path) -> dict[str, Any]:
    saved: dict[str, Any] = json.loads((checkpoint / "trainer_state.json").read_text())["stateful_callbacks"][
        "rewardkit"
    ]
    return saved


def test_a_checkpoint_holds_the_state_of_schedules(tmp_path: Path) -> None:
    functions = rk.to_trl(REACHED * echo + early)
    trainer = tiny.trainer(tmp_path, functions, max_steps=4, save_strategy="steps", save_steps=2)
    trainer.train()
    means = [entry["components/early"] for entry in generations(trainer)]
    (state,) = states(tmp_path / "checkpoint-2").values()
    assert state["recent"] == pytest.approx(means[:2])
    assert state["reached"] == (sum(means[:2]) / 2 >= 0.2)


@pytest.mark.slow
def test_the_same_trainer_starts_again_and_resumes(tmp_path: Path) -> None:
    trainer = tiny.trainer(
        tmp_path, rk.to_trl(REACHED * echo + early), max_steps=4, save_strategy="steps", save_steps=3
    )
    weights = []
    for checkpoint in (None, None, str(tmp_path / "checkpoint-3")):
        trainer.train(resume_from_checkpoint=checkpoint)
        weights.append([entry["weights/echo"] for entry in generations(trainer)])
    assert weights == [[0.0, 0.0, 1.0, 1.0]] * 3


@pytest.mark.slow
def test_a_checkpoint_of_another_reward_gives_a_warning(tmp_path: Path) -> None:
    tiny.trainer(tmp_path, rk.to_trl(echo + early), max_steps=2, save_strategy="steps", save_steps=2).train()
    trainer = tiny.trainer(tmp_path, rk.to_trl(REACHED * echo + early), max_steps=4)
    with pytest.warns(
        rk.errors.RewardKitWarning, match=r"at step 2, but its checkpoint has no state for when_reached\('early'"
    ):
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    assert generations(trainer)[-2]["weights/echo"] == 0.0


@pytest.mark.slow
def test_evaluation_changes_no_state(tmp_path: Path) -> None:
    functions = rk.to_trl(REACHED * echo + early)
    trainer = tiny.trainer(
        tmp_path, functions, eval_rows=8, max_steps=4, eval_strategy="steps", eval_steps=1, num_generations_eval=4
    )
    memory = functions._evaluators[0].memory
    trainer.train()
    means = [entry["components/early"] for entry in generations(trainer)]
    (state,) = memory.states.values()
    assert state["recent"] == pytest.approx(means[-2:])
    before = memory.states
    trainer.evaluate()
    assert memory.states == before
    evaluations = generations(trainer, "eval_")
    assert [entry["eval_weights/echo"] for entry in evaluations] == [1.0] * len(evaluations)


@pytest.mark.parametrize("columns", ["terms", "components"])
def test_weights_in_the_log_are_the_schedules_by_hand(tmp_path: Path, columns: Any) -> None:
    schedules = rk.schedules
    reward = early * schedules.join({0.0: 1.0, 0.5: schedules.linear(1.0, 0.0)}) + echo * (
        0.5 * schedules.polynomial(0.0, 1.0)
    )
    functions = rk.to_trl(reward, outputs=columns)
    trainer = tiny.trainer(tmp_path, functions, max_steps=8, reward_weights=functions.reward_weights)
    trainer.train()
    entries = generations(trainer)
    assert [entry["weights/early"] for entry in entries] == [1.0, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5, 0.25]
    by_hand = [0.5 * (1.0 - (1.0 - step / 8) ** 2) for step in range(8)]
    assert [entry["weights/echo"] for entry in entries] == pytest.approx(by_hand)
    planned = reward.weights_over_training(8)
    for name in ("early", "echo"):
        assert [entry[f"weights/{name}"] for entry in entries] == pytest.approx(planned[name][:8].tolist())


def test_the_log_of_an_adaptive_run_can_be_replayed(tmp_path: Path) -> None:
    trainer = tiny.trainer(tmp_path, rk.to_trl(REWARD), max_steps=8, learning_rate=1e-2)
    trainer.train()
    entries = generations(trainer)
    means = {name: [entry[f"components/{name}"] for entry in entries] for name in ("early", "echo")}
    planned = REWARD.weights_over_training(8, means=means)
    for name in ("early", "echo"):
        assert [entry[f"weights/{name}"] for entry in entries] == pytest.approx(planned[name][:8].tolist())


@pytest.mark.slow
def test_several_trainers_may_take_turns_with_one_list(tmp_path: Path) -> None:
    reward = early * rk.schedules.linear(0.0, 1.0) + echo * REACHED
    functions = rk.to_trl(reward, outputs="components")
    options: dict[str, Any] = {"max_steps": 4, "reward_weights": functions.reward_weights, "eval_rows": 4}
    first, second = (tiny.trainer(tmp_path / name, functions, **options) for name in ("first", "second"))
    first.train()
    second.train()
    first.evaluate()
    first.train()
    weights = [[entry["weights/early"] for entry in generations(trainer)] for trainer in (first, second)]
    assert weights == [[0.0, 0.25, 0.5, 0.75]] * 2


@pytest.mark.slow
def test_a_function_reads_the_means_of_the_last_batch_of_its_own_run(tmp_path: Path) -> None:
    seen: list[dict[str, float]] = []

    @rk.reward
    def reads(completion: str, progress: rk.Progress) -> float:
        seen.append(dict(progress.means))
        return 0.0

    functions = rk.to_trl(reads + early + rk.normalize(echo, by="running"))
    for name in ("first", "second"):
        seen.clear()
        trainer = tiny.trainer(tmp_path / name, functions, max_steps=2)
        trainer.train()
        assert seen[0] == {}
        logged = generations(trainer)[0]
        assert seen[-1] == pytest.approx(
            {name: logged[f"components/{name}"] for name in ("reads", "early", "echo_normalized", "echo")}
        )
