"""slime's own reward hub, rollout and advantages with `rk.to_slime`: the same totals, and failed rows are left out."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

import rewardkit as rk
from rewardkit.online.special_tokens import SpecialTokens
from tests.trainers.reward import SPECIAL, agrees, expected, rows
from tests.trainers.stubs import stub

stub("megatron", "pylatexenc", "ray", "requests", "sglang", "sglang_router", "tensorboard", "urllib3", "wandb")

import ray  # noqa: E402

ray.remote = lambda *classes, **_: classes[0] if classes else lambda one: one

from slime.backends.megatron_utils import cp_utils  # noqa: E402
from slime.observability import logging_utils, rollout_metrics  # noqa: E402
from slime.ray.rollout import RolloutManager  # noqa: E402
from slime.rollout.filter_hub.base_types import call_dynamic_filter  # noqa: E402
from slime.rollout.rm_hub import async_rm, batched_async_rm  # noqa: E402
from slime.rollout.sample_hooks import set_current_rollout_id  # noqa: E402
from slime.rollout.sglang_rollout import GenerateState, generate_and_rm, generate_and_rm_group  # noqa: E402
from slime.utils.misc import SingletonMeta, load_function  # noqa: E402
from slime.utils.types import Sample  # noqa: E402

_FILE = """
import rewardkit as rk
from tests.trainers.reward import SPECIAL, reward


@rk.reward
def simple(completion: str) -> float:
    if completion == "down":
        raise rk.RewardFailure("the judge is down")
    return float(completion == "right")


rewards = rk.to_slime({reward}, special_tokens=SPECIAL, {options})
score, normalize, keep_group = rewards.score, rewards.normalize, rewards.keep_group
step, log, log_eval = rewards.step, rewards.log, rewards.log_eval


async def generate(args, sample, sampling_params):
    sample.response = sample.metadata["writes"]
    sample.tokens, sample.response_length = [1, 2], 1
    sample.status = type(sample.status).COMPLETED
    return sample
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Write the user's module, as slime imports it."""

    def written(reward: str = "simple", options: str = "") -> None:
        (tmp_path / "my_rewards.py").write_text(_FILE.format(reward=reward, options=options))

    monkeypatch.syspath_prepend(tmp_path)
    yield written
    sys.modules.pop("my_rewards", None)
    load_function.cache_clear()


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the state of slime's rollout by one without an engine."""
    own = SimpleNamespace(aborted=False, semaphore=asyncio.Semaphore(1_000), dp_rank_context=contextlib.nullcontext)
    monkeypatch.setitem(SingletonMeta._instances, GenerateState, own)


def settings(**given: Any) -> Namespace:
    own = {
        "advantage_estimator": "grpo",
        "custom_convert_samples_to_train_data_path": None,
        "custom_eval_rollout_log_function_path": "my_rewards.log_eval",
        "custom_generate_function_path": "my_rewards.generate",
        "custom_reward_post_process_path": "my_rewards.normalize",
        "custom_rm_path": "my_rewards.score",
        "custom_rollout_log_function_path": "my_rewards.log",
        "dynamic_sampling_filter_path": None,
        "eval_reward_key": None,
        "group_rm": False,
        "grpo_std_normalization": True,
        "load_debug_rollout_data": None,
        "log_passrate": False,
        "log_reward_category": None,
        "mask_offpolicy_in_partial_rollout": False,
        "n_samples_per_eval_prompt": 1,
        "n_samples_per_prompt": 4,
        "num_rollout": 100,
        "partial_rollout": False,
        "reward_key": None,
        "rewards_normalization": True,
        "rollout_batch_size": 2,
        "rollout_num_gpus": None,
        "rollout_sample_hook_path": ["my_rewards.step"],
        "rollout_top_p": 1.0,
        "sglang_enable_deterministic_inference": False,
        "sglang_speculative_algorithm": None,
        "use_tensorboard": False,
        "use_wandb": False,
        "wandb_always_use_train_step": False,
    }
    return Namespace(**{**own, **given})


def manager(args: Namespace) -> Any:
    own = RolloutManager.__new__(RolloutManager)
    own.args = args
    own.custom_convert_samples_to_train_data_func = None
    path = args.custom_reward_post_process_path
    own.custom_reward_post_process_func = load_function(path) if path else None
    return own


def group(*writes: str, index: int = 0) -> list[Sample]:
    return [
        Sample(prompt="q", group_index=index, index=4 * index + place, metadata={"writes": text})
        for place, text in enumerate(writes)
    ]


async def scored(args: Namespace, *groups: list[Sample]) -> list[Sample]:
    found = await asyncio.gather(*[generate_and_rm_group(args, one, {}) for one in groups])
    return [sample for one in found for sample in one]


def test_totals_are_those_of_score(module: Any) -> None:
    module("reward", "limits=rk.Limits(max_failure_rate=1.0)")
    given = rows()
    args = settings()
    samples = [
        Sample(prompt="q", response=text + SPECIAL[1], label=gold, group_index=place // 4, index=place)
        for place, (text, gold) in enumerate(given)
    ]

    async def both() -> list[float]:
        one = await asyncio.gather(*[async_rm(args, sample) for sample in samples[:5_000]])
        return [*one, *await batched_async_rm(args, samples[5_000:])]

    found = asyncio.run(both())
    assert all(isinstance(number, float) for number in found)
    totals = [None if sample.remove_sample else number for sample, number in zip(samples, found, strict=True)]
    clean = SpecialTokens.of(SPECIAL)
    right = expected([(clean.removed(text), gold) for text, gold in given])
    wrong = [place for place, (total, want) in enumerate(zip(totals, right, strict=True)) if not agrees(total, want)]
    assert wrong == [], [(given[place], totals[place], right[place]) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    for sample, number in zip(samples, found, strict=True):
        sample.reward = number
    raw, trained = manager(args)._post_process_rewards(samples)
    assert torch.tensor([raw, trained]).isfinite().all()


def test_without_failed_rows_advantages_are_those_of_slime(module: Any) -> None:
    module()
    args = settings(rollout_batch_size=250)
    draw = torch.Generator().manual_seed(0)
    numbers = torch.rand(1_000, generator=draw).tolist()
    samples = [Sample(reward=number, group_index=place // 4) for place, number in enumerate(numbers)]
    for own in (args, settings(rollout_batch_size=250, grpo_std_normalization=False)):
        raw, trained = manager(own)._post_process_rewards(samples)
        own.custom_reward_post_process_path = None
        right = manager(own)._post_process_rewards(samples)
        assert raw == right[0]
        assert torch.allclose(torch.tensor(trained), torch.tensor(right[1]), atol=1e-5)


def test_a_failed_row_is_left_out(module: Any, state: None) -> None:
    module()
    args = settings()
    samples = asyncio.run(
        scored(args, group("right", "down", "wrong", "wrong"), group("right", "wrong", "wrong", "wrong", index=1))
    )
    data = manager(args)._convert_samples_to_train_data(samples)
    advantages = [round(value, 3) for value in data["rewards"]]
    assert advantages == [1.155, 0.0, -0.577, -0.577, 1.5, -0.5, -0.5, -0.5]
    assert data["loss_masks"] == [[1], [0], [1], [1], [1], [1], [1], [1]]
    assert data["raw_reward"] == [1.0, pytest.approx(1 / 3), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_a_masked_rollout_has_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cp_utils, "mpu", MagicMock(get_context_parallel_world_size=lambda: 1))
    masks = [torch.zeros(3), torch.zeros(2)]
    mean = cp_utils.get_sum_of_sample_mean([4, 3], [3, 2], masks, torch.zeros(2))
    assert mean(torch.ones(5)).item() == 0.0


def test_without_normalize_a_failed_row_ends_the_rollout(module: Any, state: None) -> None:
    module()
    args = settings(custom_reward_post_process_path=None)
    with pytest.raises(rk.RewardFailure, match=r"the judge is down.*--custom-reward-post-process-path my_rewards"):
        asyncio.run(scored(args, group("right", "down", "wrong", "wrong")))


def test_groups_with_failed_rows_can_be_dropped(module: Any, state: None) -> None:
    module()
    for last, keep in (("down", False), ("wrong", True)):
        samples = asyncio.run(scored(settings(), group("right", "wrong", "wrong", last)))
        output = call_dynamic_filter(load_function("my_rewards.keep_group"), settings(), samples)
        assert (output.keep, output.reason) == (keep, None if keep else "unscored")


def test_groups_are_compared_and_schedules_follow_the_rollout(module: Any, state: None) -> None:
    module("rk.diversity() * rk.schedules.linear(0.0, 1.0)")
    texts = ["one thing", "one thing", "something else entirely", "and another"]
    right = rk.score(rk.diversity(), texts, num_generations=4).total
    for rollout, weight in ((0, 0.0), (50, 0.5), (100, 1.0)):
        set_current_rollout_id(rollout)
        samples = asyncio.run(scored(settings(group_rm=True), group(*texts)))
        assert [sample.reward for sample in samples] == pytest.approx((weight * right).tolist())
    with pytest.raises(rk.RewardDefinitionError, match="--group-rm"):
        asyncio.run(scored(settings(), group(*texts)))


def test_terms_and_components_are_logged(module: Any, state: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module("rk.gate(when=simple, then=rk.length.between(1, 9).named('short'))")
    found: list[dict[str, float]] = []
    monkeypatch.setattr(logging_utils, "log", lambda args, metrics, step_key: found.append(metrics))
    args = settings()
    samples = asyncio.run(scored(args, group("right", "down", "wrong", "wrong")))
    rollout_metrics.log_rollout_data(3, args, samples, {}, 1.0)
    ours, theirs = found
    assert ours == {
        "rollout/reward/short": pytest.approx(1 / 3),
        "rollout/reward/components/simple": pytest.approx(1 / 3),
        "rollout/reward/components/short": 1.0,
        "rollout/reward/unscored": 0.25,
        "rollout/step": 3,
    }
    assert theirs["rollout/step"] == 3


def test_evaluation_is_without_failed_rows(module: Any, state: None, monkeypatch: pytest.MonkeyPatch) -> None:
    module()
    found: list[dict[str, float]] = []
    monkeypatch.setattr(logging_utils, "log", lambda args, metrics, step_key: found.append(metrics))
    args = settings()
    samples = [Sample(prompt="q", index=0, metadata={"writes": text}) for text in ("right", "down")]

    async def evaluated() -> list[Sample]:
        return await asyncio.gather(*[generate_and_rm(args, sample, {}, evaluation=True) for sample in samples])

    done = asyncio.run(evaluated())
    data = {"gsm8k": {"rewards": [one.reward for one in done], "truncated": [False, False], "samples": done}}
    rollout_metrics.log_eval_rollout_data(3, args, data)
    assert found[0]["eval/gsm8k/reward/unscored"] == 0.5
    assert found[1]["eval/gsm8k"] == 1.0
    args.custom_eval_rollout_log_function_path = None
    samples = [Sample(prompt="q", index=0, metadata={"writes": "down"})]
    with pytest.raises(rk.RewardFailure, match="--custom-eval-rollout-log-function-path"):
        asyncio.run(evaluated())


def test_a_dictionary_is_read_with_its_key(module: Any, state: None) -> None:
    module()
    args = settings(reward_key="score", eval_reward_key="components/simple")
    samples = asyncio.run(scored(args, group("right", "down", "wrong", "wrong")))
    _, advantages = manager(args)._post_process_rewards(samples)
    assert [round(value, 3) for value in advantages] == [1.155, 0.0, -0.577, -0.577]
    assert samples[0].reward == {"score": 1.0, "simple": 1.0, "components/simple": 1.0}


def test_a_deadline_leaves_rows_out(module: Any, state: None) -> None:
    module("rk.reward(lambda completion: __import__('time').sleep(0.5) or 1.0, name='slow')", "deadline=0.05")
    samples = asyncio.run(scored(settings(), group("a", "b", "c", "d")))
    assert [sample.remove_sample for sample in samples] == [True] * 4
