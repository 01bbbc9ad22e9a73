"""The page about SkyRL with its own packages: the totals of `rk.score`, and a failed completion masks its group."""

from __future__ import annotations

import asyncio
import math
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import typing_extensions

import rewardkit as rk
from tests.trainers.pages import load
from tests.trainers.reward import agrees, expected, rows
from tests.trainers.stubs import stub

typing.TypedDict = typing_extensions.TypedDict  # which pydantic needs before Python 3.12
stub("cloudpathlib", "pybase64", "ray", "torchdata", "wandb")

import skyrl_gym  # noqa: E402
from skyrl.backends.skyrl_train.utils.ppo_utils import compute_grpo_outcome_advantage  # noqa: E402
from skyrl.train.config import GeneratorConfig, SkyRLGymConfig  # noqa: E402
from skyrl.train.generators.base import TrajectoryID  # noqa: E402
from skyrl.train.utils.trainer_utils import validate_generator_output  # noqa: E402

ROW = {"reward_spec": {"ground_truth": "4"}}


class Letters:
    """A tokenizer whose tokens are characters."""

    eos_token, eos_token_id = "\x03", 3

    def apply_chat_template(self, messages: list[Any], tokenize: bool = True, **_: Any) -> Any:
        if messages and isinstance(messages[0], list):
            return [self.apply_chat_template(one, tokenize) for one in messages]
        text = "".join(message["content"] for message in messages)
        return self.encode(text) if tokenize else text

    def encode(self, text: str, **_: Any) -> list[int]:
        return [ord(letter) for letter in text]


class Engine:
    """Says for each prompt, which is a number, the text with this number."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    async def generate(self, asked: dict[str, Any], model: str | None = None) -> dict[str, Any]:
        said = [self._texts[int("".join(map(chr, ids)))] for ids in asked["prompt_token_ids"]]
        return {
            "responses": said,
            "response_ids": [[*map(ord, text), Letters.eos_token_id] for text in said],
            "response_logprobs": [[-0.1] * (len(text) + 1) for text in said],
            "stop_reasons": ["stop"] * len(said),
        }

    async def finish_session(self, number: str) -> None:
        pass


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    modules = load("skyrl", tmp_path, monkeypatch)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    if "rewardkit" not in skyrl_gym.envs.registration.registry:
        skyrl_gym.register(id="rewardkit", entry_point="my_env:RewardEnv")
    return modules


def test_totals_are_those_of_score(page: dict[str, ModuleType]) -> None:
    given = rows()
    found: list[float | None] = []
    for text, gold in given:
        environment = skyrl_gym.make("rewardkit", env_config={}, extras={"reward_spec": {"ground_truth": gold}})
        try:
            found.append(environment.step(text)["reward"])
        except rk.RewardFailure:
            found.append(None)
    totals = expected(given)
    wrong = [place for place, (own, total) in enumerate(zip(found, totals, strict=True)) if not agrees(own, total)]
    assert wrong == [], [(given[place], found[place]) for place in wrong[:3]]
    assert 100 < found.count(None) < 2_000


def generated(page: dict[str, ModuleType], texts: list[str], groups: list[str], name: str, **settings: Any) -> Any:
    """Return what a generator gives to the trainer."""
    config = GeneratorConfig(max_input_length=512, **settings)
    kind = getattr(page["my_generator"], name)
    generator = kind(config, SkyRLGymConfig(max_env_workers=2), Engine(texts), Letters())
    count = len(texts)
    return asyncio.run(
        generator.generate(
            {
                "prompts": [[{"role": "user", "content": str(place)}] for place in range(count)],
                "env_classes": ["rewardkit"] * count,
                "env_extras": [dict(ROW) for _ in texts],
                "sampling_params": None,
                "trajectory_ids": [TrajectoryID(group, place) for place, group in enumerate(groups)],
            },
            disable_tqdm=True,
        )
    )


def advantages(rewards: list[Any], groups: list[str], *, by_std: bool = True) -> list[float]:
    sums = [math.fsum(reward) if isinstance(reward, list) else reward for reward in rewards]
    scores = torch.tensor(sums, dtype=torch.float64)[:, None]
    found, _ = compute_grpo_outcome_advantage(scores, torch.ones_like(scores), np.array(groups), 1e-6, by_std)
    return [round(one, 3) for one in found[:, 0].tolist()]


def test_the_group_of_a_failed_completion_is_masked(page: dict[str, ModuleType]) -> None:
    texts = ["It is 4", "x" * 32, "It is 5", "So it is 6", "4", "5"]
    groups = ["a"] * 4 + ["b"] * 2
    totals = [*rk.score(page["my_rewards"].reward, texts, answer=["4"] * 6).total]
    assert [math.isnan(total) for total in totals] == [False, True, *[False] * 4]
    for settings in ({}, {"step_wise_trajectories": True}):
        output = generated(page, texts, groups, "MaskingGenerator", **settings)
        validate_generator_output(len(texts), output, step_wise=bool(settings))
        assert [max(mask) for mask in output["loss_masks"]] == [0, 0, 0, 0, 1, 1]
        assert [sum(reward) for reward in output["rewards"]] == [0.0] * 4 + totals[4:]
        assert advantages(output["rewards"], groups) == [0.0] * 4 + [0.707, -0.707]
        assert [one["failed"] for one in output["env_metrics"]] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
        assert output["rollout_metrics"]["environment/failed"] == pytest.approx(1 / 6)
        assert {f"environment/{name}" for name in rk.Scorer(page["my_rewards"].reward).terms} <= set(
            output["rollout_metrics"]
        )


def test_without_the_generator_a_failed_completion_ends_the_run(page: dict[str, ModuleType]) -> None:
    for settings in ({}, {"batched": True}):
        with pytest.raises(rk.RewardFailure, match=r"no score.*the judge is down"):
            generated(page, ["4", "x" * 32], ["a"] * 2, "SkyRLGymGenerator", **settings)
    with pytest.raises(rk.RewardFailure):  # which has no metrics by row
        generated(page, ["4", "x" * 32], ["a"] * 2, "MaskingGenerator", batched=True)


def test_what_a_failed_row_would_be_otherwise() -> None:
    group = ["a"] * 4
    assert advantages([1.0, 0.0, 0.0, 0.0], group) == [1.5, -0.5, -0.5, -0.5]  # 0 punishes
    assert advantages([1.0, 1 / 3, 0.0, 0.0], group) == [1.414, 0.0, -0.707, -0.707]
    assert advantages([1.0, 1 / 3, 0.0, 0.0], group, by_std=False) == [0.667, 0.0, -0.333, -0.333]
    assert all(map(math.isnan, advantages([1.0, math.nan, 0.0, 0.0], group)))
    assert advantages([0.0] * 4, group) == [0.0] * 4  # masked


def test_a_bug_counts_as_an_error(page: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(completion: str, answer: str) -> float:
        return 1.0 / (len(completion) - 1)

    monkeypatch.setattr(page["my_env"], "SCORER", rk.Scorer(rk.reward(broken)))
    environment = skyrl_gym.make("rewardkit", env_config={}, extras=ROW)
    assert environment.step("4")["reward"] == 0.0
    assert environment.get_metrics() == {"broken": 0.0, "failed": 0.0, "errors": 1}
