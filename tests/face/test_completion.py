"""What an editor or a notebook offers behind ``reward.``: few names, all of them for users."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.tree.reward import walk
from tests.frozen.compositions import COMPOSITIONS
from tests.hostile.rewards import REWARDS

MOST = 15
FOR_ALL = {"bounds", "children", "clip", "facts", "fingerprint", "name", "named", "with_columns"} | {
    "plot_schedules",
    "weights_over_training",
}
MAKERS = {**COMPOSITIONS, **{f"primitive {name}": case.make for name, case in REWARDS.items()}}


def offered(reward: object) -> set[str]:
    return {name for name in dir(reward) if not name.startswith("_")}


def test_every_reward_offers_the_same_names() -> None:
    assert offered(rk.Reward) == FOR_ALL


@pytest.mark.parametrize("name", MAKERS)
def test_a_reward_offers_its_own_fields_beside_them(name: str) -> None:
    for node, _, _ in walk(MAKERS[name]()):
        assert offered(node) >= FOR_ALL
        assert len(offered(node)) <= MOST, sorted(offered(node))
