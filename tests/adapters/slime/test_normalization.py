"""normalize and log: samples without a score are in no mean, and nothing is NaN."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest
import torch

import rewardkit as rk
from rewardkit_adapters import slime as logs
from rewardkit_adapters.slime import add_note
from tests.adapters.slime.samples import Sample, Status, bound, settings


def samples(*groups: Sequence[float | None]) -> list[Sample]:
    """Return scored samples; None has failed."""
    made = []
    for index, group in enumerate(groups):
        for reward in group:
            sample = Sample("", group_index=index, reward=0.0 if reward is None else reward)
            unscored = "the judge is down" if reward is None else ""
            add_note(sample, numbers={} if reward is None else {"same": reward}, unscored=unscored)
            made.append(sample)
    return made


def normalized(given: list[Sample], **options: Any) -> tuple[list[float], list[float]]:
    raw, trained = rk.to_slime(rk.exact("answer")).normalize(settings(**options), given)
    return raw, [round(value, 3) for value in trained]


def test_a_failed_sample_is_left_out() -> None:
    given = samples([1.0, None, 0.0, 0.0])
    raw, trained = normalized(given)
    assert trained == [1.155, 0.0, -0.577, -0.577]
    assert raw == [1.0, pytest.approx(1 / 3), 0.0, 0.0]
    assert [sample.remove_sample for sample in given] == [False, True, False, False]


def test_without_dividing() -> None:
    given = samples([1.0, None, 0.0, 0.0])
    assert normalized(given, grpo_std_normalization=False)[1] == [0.667, 0.0, -0.333, -0.333]
    baseline = normalized(given, advantage_estimator="reinforce_plus_plus_baseline")[1]
    assert baseline == [0.667, 0.0, -0.333, -0.333]


@pytest.mark.parametrize(
    "options", [{"rewards_normalization": False}, {"advantage_estimator": "ppo"}], ids=["off", "ppo"]
)
def test_without_normalization_rewards_stay_as_they_are(options: dict[str, Any]) -> None:
    raw, trained = normalized(samples([0.5, None, 0.25, 0.75], [None] * 4), **options)
    assert trained == [0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.5, 0.5] == raw


def test_one_survivor_and_none_teach_nothing() -> None:
    given = samples([1.0, None, None, None], [None] * 4, [0.0, 1.0, 1.0, 1.0])
    raw, trained = normalized(given)
    assert trained == [0.0] * 8 + [-1.5, 0.5, 0.5, 0.5]
    assert raw == [1.0] * 4 + [0.8] * 4 + [0.0, 1.0, 1.0, 1.0]
    assert normalized(samples([None] * 4)) == ([0.0] * 4, [0.0] * 4)


def test_groups_of_any_size_and_order_are_normalized_by_themselves() -> None:
    given = samples([1.0, 1.0, 1.0], [0.0, 0.0], [1.0, 0.0, 0.5, None])
    order = list(range(len(given)))
    random.Random(0).shuffle(order)
    _, trained = normalized([given[place] for place in order])
    assert [trained[order.index(place)] for place in range(9)] == [0.0] * 5 + [1.0, -1.0, 0.0, 0.0]


def test_without_group_numbers_groups_follow_each_other() -> None:
    given = samples([1.0, 0.0, 0.0, 0.0], [1.0, None, 0.0, 0.0])
    for sample in given:
        sample.group_index = None
    assert normalized(given)[1] == [1.5, -0.5, -0.5, -0.5, 1.155, 0.0, -0.577, -0.577]
    with pytest.raises(rk.RewardFailure, match="cannot form groups of 4: 7 samples have no group_index"):
        normalized(given[:7])


def test_rewards_of_equal_samples_are_exactly_zero_apart() -> None:
    _, trained = rk.to_slime(rk.exact("answer")).normalize(settings(), samples([0.1] * 3, [0.7] * 7))
    assert max(map(abs, trained)) < 1e-9


def test_numbers_are_those_of_torch() -> None:
    draw = random.Random(0)
    rewards = [[draw.random() for _ in range(4)] for _ in range(100)]
    _, trained = rk.to_slime(rk.exact("answer")).normalize(settings(), samples(*rewards))
    table = torch.tensor(rewards, dtype=torch.float64)
    centered = table - table.mean(-1, keepdim=True)
    right = centered / (table.std(-1, keepdim=True) + 1e-6)
    assert torch.allclose(torch.tensor(trained, dtype=torch.float64).reshape(100, 4), right, atol=1e-12)


def test_a_reward_key_is_read() -> None:
    given = samples([1.0, None, 0.0, 0.0])
    for sample in given:
        sample.reward = {"score": sample.reward, "same": 7.0}
    assert normalized(given, reward_key="score")[1] == [1.155, 0.0, -0.577, -0.577]


def test_an_aborted_sample_is_left_out_and_another_without_a_reward_ends_the_run() -> None:
    given = samples([1.0, 0.0, 0.0, 0.0])
    given[1].reward, given[1].status = None, Status.ABORTED
    assert normalized(given)[1] == [1.155, 0.0, -0.577, -0.577]
    assert given[1].remove_sample
    for reward in (None, math.nan, "1"):
        given[1].reward, given[1].status = reward, Status.COMPLETED
        with pytest.raises(rk.RewardFailure, match=r"has the reward .*, which is not a number"):
            normalized(given)


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, float]]:
    """What slime logs."""
    found: list[dict[str, float]] = []
    entries: dict[str, dict[str, Any]] = {
        "slime": {},
        "slime.observability": {},
        "slime.observability.logging_utils": {"log": lambda args, metrics, step_key: found.append(metrics)},
        "slime.observability.metric_utils": {"compute_rollout_step": lambda args, rollout_id: rollout_id},
    }
    for name, attributes in entries.items():
        module = ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    return found


def test_means_are_logged_without_failed_samples(logged: list[dict[str, float]]) -> None:
    rewards = rk.to_slime(rk.exact("answer"))
    assert rewards.log(7, settings(), samples([1.0, None, 0.0, 0.5]), {}, 1.0) is False
    assert logged == [{"rollout/reward/same": 0.5, "rollout/reward/unscored": 0.25, "rollout/step": 7}]


def results(*rewards: float | None) -> dict[str, Any]:
    given = samples(list(rewards))
    return {"rewards": [one.reward for one in given], "truncated": [False for _ in given], "samples": given}


def test_evaluation_is_without_failed_samples(logged: list[dict[str, float]], caplog: pytest.LogCaptureFixture) -> None:
    rewards = rk.to_slime(rk.exact("answer"))
    data = {"gsm8k": results(1.0, None, 0.0, 0.5), "math": results(None, None), "full": results(1.0, 0.0)}
    assert rewards.log_eval(7, settings(), data, None) is False
    assert data["gsm8k"]["rewards"] == [1.0, 0.0, 0.5]
    assert [len(values) for values in data["gsm8k"].values()] == [3, 3, 3]
    assert list(data) == ["gsm8k", "full"]
    assert logged == [
        {
            "eval/gsm8k/reward/same": 0.5,
            "eval/gsm8k/reward/unscored": 0.25,
            "eval/math/reward/unscored": 1.0,
            "eval/full/reward/same": 0.5,
            "eval/full/reward/unscored": 0.0,
            "eval/step": 7,
        }
    ]
    assert "no completion in the evaluation of 'math' has a score" in caplog.text


def test_pass_rates_are_without_whole_prompts(logged: list[dict[str, float]]) -> None:
    data = {"gsm8k": results(1.0, None, 0.0, 0.5)}
    rk.to_slime(rk.exact("answer")).log_eval(7, settings(log_passrate=True), data, None)
    assert data["gsm8k"]["rewards"] == [0.0, 0.5]


def test_data_without_samples_is_not_touched(logged: list[dict[str, float]]) -> None:
    data: dict[str, Any] = {"gsm8k": {"rewards": [1.0]}}
    logs.log_evaluation(settings(), 7, data)
    assert data == {"gsm8k": {"rewards": [1.0]}}


def test_the_module_has_all_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    bound(monkeypatch, rk.exact("answer"))
    assert callable(sys.modules["slime_rewards"].keep_group)
