"""Plan: which schedules a tree follows, and what will probably not work."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from tests.counting import counted


def leaf(name: str, value: float | None = 0.5) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value

    return rk.reward(name=name)(function)


A, B = leaf("a", 0.5), leaf("b", 0.25)


def test_traps_name_a_useless_schedule_an_unpaid_condition_and_a_paid_failure() -> None:
    assert "cancels it" in Scorer((A + B) * rk.schedules.linear(0, 1)).traps()[0]
    assert "is not rewarded itself" in Scorer(rk.gate(A, B)).traps()[0]
    assert "failing may score higher than passing" in Scorer(0.1 * A + rk.gate(A, B, otherwise=0.5)).traps()[0]
    assert Scorer(0.1 * A + rk.gate(A, B)).traps() == []
    assert Scorer(B + rk.monitor(rk.gate(A, B))).traps() == []


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="the object to score must be a reward"):
        Scorer("tags")


REACHED = rk.schedules.when_reached("part", level=0.5, window=1)


def test_followers_are_found_everywhere_in_the_tree_each_once() -> None:
    part, _ = counted("part")
    other, _ = counted("other")
    tracking = rk.schedules.track("other")
    tree = (
        REACHED * part
        + rk.gate(part, other * REACHED, threshold=tracking)
        + rk.mean({other: 1.0 - tracking, part: 1.0})
        + rk.mean({part.clip(): 0.5 * REACHED + 0.5}, kind="geometric")
        + rk.curriculum([rk.Stage("a", part, until=REACHED), rk.Stage("b", other)])
        + rk.normalize(other, "running")
    )
    followed = [follower.component for follower in Scorer(tree).followers]
    assert sorted(followed) == ["other", "other", "part"]
    assert Scorer(part + other).followers == []


def test_a_schedule_that_follows_an_unknown_component_names_the_components() -> None:
    part, _ = counted("parts")
    with pytest.raises(
        rk.RewardDefinitionError, match=r"not a component of the reward\. Components: parts\. Did you mean"
    ):
        Scorer(REACHED * part)


@pytest.mark.parametrize(
    "schedule", [rk.schedules.when_reached("part", level=90.0), rk.schedules.track("part", 50.0, 100.0)]
)
def test_a_level_that_is_never_reached_is_refused(schedule: rk.schedules.Schedule) -> None:
    part, _ = counted("part")
    with pytest.raises(rk.RewardDefinitionError, match=r"the highest score of 'part' is 1"):
        rk.Scorer(schedule * part)
