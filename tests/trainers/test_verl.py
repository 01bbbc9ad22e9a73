"""verl's own reward workers, agent loops, replay buffer, advantages and metrics with `rk.to_verl`, in both forms."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
import transfer_queue
from omegaconf import OmegaConf

import rewardkit as rk
from rewardkit.errors import RewardDefinitionError
from tests.trainers.reward import agrees, expected, rows
from tests.trainers.verl_rollouts import (
    FUNCTION,
    Loops,
    OldLoops,
    Queue,
    RewardWorker,
    buffer,
    configuration,
    handle,
    queue,
    sample,
    worker_of,
)

from verl import DataProto  # isort: skip
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage, compute_grpo_outcome_advantage  # isort: skip
from verl.trainer.ppo.metric_utils import process_validation_metrics  # isort: skip

__all__ = ["queue"]

MANAGER = {"source": "importlib", "name": "Manager", "module": {"path": "pkg://my_rewards"}}
FORMS = pytest.mark.parametrize("form", [FUNCTION, MANAGER], ids=["function", "manager"])
RATE_LIMITED = {"source": "register", "name": "rate_limited"}

_TABLE = """
import rewardkit as rk
from tests.trainers.reward import reward

compute_score = rk.to_verl(reward, gold="answer", limits=rk.Limits(max_failure_rate=1.0))
Manager = rk.to_verl(reward, gold="answer", limits=rk.Limits(max_failure_rate=1.0), manager=True)
"""
_JUDGED = """
import rewardkit as rk

@rk.reward
def judged(completion: str, answer: str) -> float:
    if "down" in completion:
        raise rk.RewardFailure("the judge is down")
    if "key" in completion:
        raise rk.RunStopped("wrong key")
    return float(completion == answer)

reward = judged + 0.0 * rk.number("answer").named("number")
compute_score = rk.to_verl(reward, gold="answer", limits=rk.Limits(max_failure_rate=0.2))
Manager = rk.to_verl(reward, gold="answer", limits=rk.Limits(max_failure_rate=0.2), manager=True)
"""


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "my_rewards", raising=False)


@FORMS
def test_totals_are_those_of_score(form: Mapping[str, Any], tmp_path: Path) -> None:
    given = rows()

    async def scored() -> list[Any]:
        own = worker_of(configuration(tmp_path, _TABLE, form))
        return await asyncio.gather(*[own.compute_score(sample(*row)) for row in given], return_exceptions=True)

    found = asyncio.run(scored())
    totals = [None if isinstance(one, Exception) else one["reward_score"] for one in found]
    wrong = [
        place for place, (own, total) in enumerate(zip(totals, expected(given), strict=True)) if not agrees(own, total)
    ]
    assert wrong == [], [(given[place], totals[place], found[place]) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    keys = {frozenset(one["reward_extra_info"]) for one in found if not isinstance(one, Exception)}
    assert len(keys) == 1


def rolled_out(config: Any, completions: Mapping[str, list[str]], gold: str = "4", **options: Any) -> None:
    """Roll out prompts, all at once."""

    async def run() -> None:
        loops = Loops(config, [handle(worker_of(config))], completions)
        await asyncio.gather(*[loops.prompt(uid, gold, **options) for uid in completions])

    asyncio.run(run())


@FORMS
def test_a_failed_sample_is_left_out_and_the_others_are_trained_on(
    form: Mapping[str, Any], tmp_path: Path, queue: Queue
) -> None:
    rolled_out(configuration(tmp_path, _JUDGED, form), {"u": ["4", "down", "5", "6"]})
    assert queue.trajectories() == ["u_0_0", "u_2_0", "u_3_0"]
    assert queue.tags["train"]["u"]["status"] == "failure"
    batch, _ = buffer().sample(1, "train", 1)
    assert batch.keys == ["u_0_0", "u_2_0", "u_3_0"]
    scores = torch.stack([queue.fields[key]["rm_scores"] for key in batch.keys])
    mask = torch.ones_like(scores)
    uids = np.array([key.split("_")[0] for key in batch.keys], dtype=object)
    advantages, _ = compute_grpo_outcome_advantage(scores, mask, uids)
    assert advantages[:, 0].tolist() == pytest.approx([1.155, -0.577, -0.577], abs=1e-3)
    advantages, _ = compute_grpo_outcome_advantage(scores, mask, uids, norm_adv_by_std_in_grpo=False)
    assert advantages[:, 0].tolist() == pytest.approx([0.667, -0.333, -0.333], abs=1e-3)


def test_the_only_survivor_of_a_group_gets_its_raw_reward(tmp_path: Path, queue: Queue) -> None:
    rolled_out(configuration(tmp_path, _JUDGED), {"u": ["4", "down", "down", "down"]})
    scores = torch.stack([queue.fields[key]["rm_scores"] for key in queue.trajectories()])
    advantages, _ = compute_grpo_outcome_advantage(scores, torch.ones_like(scores), np.array(["u"], dtype=object))
    assert advantages.tolist() == [[pytest.approx(1.0)]]


def test_a_batch_without_scores_ends_the_synchronous_run(tmp_path: Path, queue: Queue) -> None:
    rolled_out(configuration(tmp_path, _JUDGED), {"u": ["down"] * 4})
    with pytest.raises(RuntimeError, match="no materializable trajectories"):
        buffer().sample(1, "train", 1)


@FORMS
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("completions", "said"),
    [
        (["4", "4", "key", "5"], "reward 'judged' stops the run: wrong key"),
        (["4", "4", "down", "5"], "reward 'judged' failed on .* more than 20%: this run trains on noise"),
    ],
    ids=["stopped", "breaker"],
)
def test_a_run_that_must_stop_ends_in_the_trainer(
    form: Mapping[str, Any],
    asynchronous: bool,
    completions: list[str],
    said: str,
    tmp_path: Path,
    queue: Queue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr("transfer_queue.kv_put", queue.kv_put)
    rolled_out(configuration(tmp_path, _JUDGED, form), {f"u{number}": completions for number in range(640)})
    with pytest.raises(ValueError, match=f"Unknown status: rewardkit ends this run: {said}"):
        buffer(asynchronous=asynchronous, refill=lambda count: None).sample(1, "train", 1)


def test_without_a_stop_the_asynchronous_modes_replace_failed_groups_for_ever(tmp_path: Path, queue: Queue) -> None:
    rolled_out(configuration(tmp_path, _JUDGED), {"u": ["down"] * 4})
    refills = 0

    def refill(count: int) -> None:
        nonlocal refills
        refills += count
        if refills == 5:
            raise TimeoutError
        queue.kv_put(f"v{refills}", "train", {"is_prompt": True, "status": "failure", "global_steps": 1})

    with pytest.raises(TimeoutError):
        buffer(asynchronous=True, refill=refill).sample(1, "train", 1)


def test_the_reward_manager_that_makes_zeros_is_refused(
    tmp_path: Path, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    rolled_out(configuration(tmp_path, _JUDGED, RATE_LIMITED), {"u": ["4", "5", "6", "7"]})
    assert queue.trajectories() == []
    assert "rate_limited scores 0.0 if a reward fails" in caplog.text


def test_arguments_in_the_configuration_are_refused(
    tmp_path: Path, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    config = configuration(tmp_path, _JUDGED)
    config.reward.custom_reward_function.reward_kwargs = {"bonus": 2}
    rolled_out(config, {"u": ["4"] * 4})
    assert queue.trajectories() == []
    assert "but reward_kwargs has bonus" in caplog.text


def test_the_manager_gets_prompt_ids_columns_and_the_step(tmp_path: Path, queue: Queue) -> None:
    file = """
import rewardkit as rk

@rk.reward(bounds=(0, 100))
def seen(completion: str, prompt: str, completion_ids: list[int], level: int, index: int, num_turns: int,
         progress: rk.Progress) -> float:
    assert prompt.strip().endswith("6 * 7?"), prompt
    assert completion_ids == [ord(letter) for letter in completion]
    assert (level, index, num_turns) == (7, 3, 2)
    return float(progress.step * 10 + progress.max_steps / 10)

@rk.reward
def one(completion: str) -> float:
    return 1.0

Manager = rk.to_verl(seen + rk.schedules.linear(0.0, 1.0, end=0.5) * one, manager=True)
"""
    rolled_out(configuration(tmp_path, file, MANAGER), {"u": ["4"] * 4}, step=3, level=7)
    # Two of ten steps are done: the schedule is at 0.2 of 0.5.
    assert [queue.fields[key]["rm_scores"].sum().item() for key in queue.trajectories()] == [
        pytest.approx(21.0 + 0.4)
    ] * 4


def test_the_old_trainer_hands_over_the_version_of_the_weights(tmp_path: Path) -> None:
    file = """
import rewardkit as rk

@rk.reward(bounds=(0, 100))
def step(completion: str, progress: rk.Progress) -> float:
    return float(progress.step)

Manager = rk.to_verl(step, manager=True)
"""

    async def scored(**fields: Any) -> Any:
        own = worker_of(configuration(tmp_path, file, MANAGER, use_v1=False))
        return await own.compute_score(sample("4", "4", **fields))

    assert asyncio.run(scored(tool_extra_fields={"min_global_steps": 6}))["reward_score"] == 6.0
    with pytest.raises(BaseException, match="does not pass the step"):
        asyncio.run(scored())


def test_the_old_trainer_ends_at_the_first_sample_without_a_score(tmp_path: Path) -> None:
    async def scored() -> None:
        config = configuration(tmp_path, _JUDGED, use_v1=False)
        loops = OldLoops(config, [handle(worker_of(config))], {"u": ["4", "down", "5", "6"]})
        batch = DataProto.concat([sample("", "4", uid="u", session_id=number) for number in range(4)])
        await loops.generate_sequences(batch)

    with pytest.raises(rk.RewardFailure, match="the judge is down"):
        asyncio.run(scored())


def test_a_manager_that_a_reward_model_would_replace_is_refused(tmp_path: Path) -> None:
    config = configuration(tmp_path, _JUDGED, MANAGER)
    config.reward.reward_model.enable = True

    async def made() -> Any:
        return worker_of(config)

    with pytest.raises(RewardDefinitionError, match="never calls this reward manager"):
        asyncio.run(made())


def test_components_are_in_the_validation_metrics(tmp_path: Path, queue: Queue, caplog: Any) -> None:
    caplog.set_level(logging.CRITICAL)
    texts = {f"u{number}": [text] for number, text in enumerate(["4", "down", "5", "no"])}
    rolled_out(configuration(tmp_path, _JUDGED), texts, step=0, validate=True)
    keys = queue.trajectories("val")
    assert len(keys) == 3
    infos = [queue.fields[key]["extra_fields"]["reward_extra_info"] for key in keys]
    assert {tuple(info) for info in infos} == {("score", "judged", "number", "components/judged", "components/number")}
    found = process_validation_metrics(
        ["made"] * 3,
        [key.split("_")[0] for key in keys],
        {name: [info[name] for info in infos] for name in infos[0]},
        expected_acc_counts={("made", uid): 1 for uid in texts},
    )
    assert found["made"]["components/judged"]["mean@1"] == pytest.approx(1 / 3)
    assert found["made"]["score"]["mean@1"] == pytest.approx(1 / 3)
    assert "acc" not in found["made"]


def test_a_term_called_acc_does_not_make_failures_zeros(tmp_path: Path, queue: Queue) -> None:
    file = _JUDGED.replace("reward = judged", 'reward = judged.named("acc")')
    texts = {f"u{number}": [text] for number, text in enumerate(["4", "down"])}
    rolled_out(configuration(tmp_path, file), texts, step=0, validate=True)
    [key] = queue.trajectories("val")
    assert "terms/acc" in queue.fields[key]["extra_fields"]["reward_extra_info"]
    assert "acc" not in queue.fields[key]["extra_fields"]["reward_extra_info"]


def test_processes_of_ray_end_the_run_and_record_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _JUDGED.replace(
        "limits=rk.Limits(max_failure_rate=0.2))",
        f"limits=rk.Limits(max_failure_rate=0.2), record={str(tmp_path / 'run')!r})",
    )
    config = configuration(tmp_path, file)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 2**20)
    try:
        transfer_queue.init()
        workers = [ray.remote(RewardWorker).remote(config, None) for _ in range(2)]
        texts = {f"u{number}": ["4", "down", "5", f"{number}"] for number in range(10)}

        async def run(completions: Mapping[str, list[str]]) -> None:
            loops = Loops(config, workers, completions)
            await asyncio.gather(*[loops.prompt(uid, "4") for uid in completions])

        asyncio.run(run(texts))
        batch, _ = buffer().sample(1, "train", 10)
        assert len(batch.keys) == 30
        with pytest.raises(ValueError, match="empty list as keys"):  # a validation without a score
            transfer_queue.kv_batch_get(keys=[], partition_id="val")
        asyncio.run(run({"v": ["4", "4", "key", "4"]}))
        with pytest.raises(ValueError, match="rewardkit ends this run: reward 'judged' stops the run: wrong key"):
            buffer(asynchronous=True).sample(1, "train", 2)
        for _ in range(60):  # rows are written a few seconds after they came, because Ray kills its processes
            time.sleep(0.5)
            scores = rk.open_run(tmp_path / "run").scores().df()
            if len(scores) >= 40:
                break
    finally:
        transfer_queue.close()
        ray.shutdown()
    assert 40 <= len(scores) <= 43  # the sample that stopped the run has no scores, nor have those that came with it
    assert scores["attempt"].unique().tolist() == [1]
    assert sorted(scores["rank"].unique()) == [0, 1]


def test_an_abstained_term_is_nan_in_gdpo() -> None:
    tensors = {"prompts": torch.ones(4, 1), "attention_mask": torch.ones(4, 2, dtype=torch.long)}
    advantages, _ = compute_gdpo_outcome_advantage(
        torch.zeros(4, 1),
        torch.ones(4, 1),
        np.array(["u"] * 4, dtype=object),
        config=OmegaConf.create({"gdpo_reward_keys": ["judged"]}),
        non_tensor_batch={"judged": np.array([1.0, None, 0.0, 0.0], dtype=object)},
        batch=tensors,
    )
    assert advantages.isnan().all()


def test_the_remote_manager_takes_no_asynchronous_function(tmp_path: Path) -> None:
    async def made() -> Any:
        return worker_of(configuration(tmp_path, _JUDGED, {"source": "register", "name": "remote"}))

    with pytest.raises(AssertionError, match="Async reward score is not supported"):
        asyncio.run(made())


def test_a_validation_without_a_score_has_no_keys(tmp_path: Path, queue: Queue) -> None:
    rolled_out(configuration(tmp_path, _JUDGED), {"u": ["down"]}, step=0, validate=True)
    batch, _ = buffer().sample(0, "val", 1)
    assert batch.keys == []


def test_a_manager_can_be_named_by_the_path_of_its_file(tmp_path: Path, queue: Queue) -> None:
    by_path = {**MANAGER, "module": {"path": str(tmp_path / "my_rewards.py")}}
    rolled_out(configuration(tmp_path, _JUDGED, by_path), {"u": ["4", "5", "6", "7"]})
    assert len(queue.trajectories()) == 4
