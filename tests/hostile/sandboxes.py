"""Programs only run in a sandbox. Without one, their tests are skipped and say how to get one."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.primitives.sandbox.isolation import chosen


def skip_without_sandbox(reward: rk.Reward) -> None:
    if reward.name.startswith("code_"):
        try:
            chosen(packages=False, unsafe=False)
        except rk.RewardFailure as error:
            pytest.skip(str(error))
