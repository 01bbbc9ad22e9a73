"""Skip tests that run programs if no sandbox works here; the reason says how to install one."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.rewards.sandbox.isolation import chosen


def skip_without_sandbox(reward: rk.Reward) -> None:
    if reward.name.startswith("code_"):
        try:
            chosen(packages=False, unsafe=False)
        except rk.RewardFailure as error:
            pytest.skip(str(error))
