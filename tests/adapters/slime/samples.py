"""Samples and settings as slime has them, and a module with the functions of a reward, as slime imports it."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any

import pytest

import rewardkit as rk
from rewardkit_adapters.slime import SlimeRewards


class Status(Enum):
    COMPLETED = "completed"
    TRUNCATED = "truncated"
    ABORTED = "aborted"


@dataclass
class Sample:
    response: str = ""
    label: str | None = "4"
    group_index: int | None = 0
    index: int | None = None
    prompt: Any = "2+2="
    tokens: list[int] = field(default_factory=lambda: [1, 2, 3])
    response_length: int = 1
    reward: Any = None
    remove_sample: bool = False
    status: Status = Status.COMPLETED
    metadata: dict[str, Any] | None = field(default_factory=dict)

    def get_reward_value(self, args: Any) -> Any:
        return self.reward if not args.reward_key else self.reward[args.reward_key]


def settings(**given: Any) -> Namespace:
    own = {
        "advantage_estimator": "grpo",
        "custom_convert_samples_to_train_data_path": None,
        "custom_eval_rollout_log_function_path": "slime_rewards.log_eval",
        "custom_reward_post_process_path": "slime_rewards.normalize",
        "eval_reward_key": None,
        "group_rm": False,
        "grpo_std_normalization": True,
        "log_passrate": False,
        "n_samples_per_eval_prompt": 2,
        "n_samples_per_prompt": 4,
        "num_rollout": 100,
        "reward_key": None,
        "rewards_normalization": True,
    }
    return Namespace(**{**own, **given})


def bound(monkeypatch: pytest.MonkeyPatch, reward: Any, **options: Any) -> SlimeRewards:
    """Return the functions of a reward, which the module ``slime_rewards`` has, too."""
    rewards = rk.to_slime(reward, **options)
    module = ModuleType("slime_rewards")
    for name in ("score", "normalize", "keep_group", "step", "log", "log_eval"):
        setattr(module, name, getattr(rewards, name))
    monkeypatch.setitem(sys.modules, "slime_rewards", module)
    return rewards
