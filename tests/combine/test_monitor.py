"""Monitors are logged and never trained on."""

from __future__ import annotations

import numpy as np

import rewardkit as rk


@rk.reward
def watched(completion: str) -> float:
    if completion == "down":
        raise rk.RewardFailure("down")
    return 0.25


@rk.reward
def paid(completion: str) -> float:
    return 0.5


def test_a_monitor_is_a_component_without_a_term_and_its_failures_fail_nothing() -> None:
    table = rk.score(paid + rk.monitor(watched), ["a", "down"])
    assert table.total.tolist() == [0.5, 0.5]
    assert list(table.terms) == ["paid"]
    assert table.outcomes["watched"].tolist() == ["scored", "failed"]


def test_a_monitor_alone_trains_on_nothing() -> None:
    table = rk.score(rk.monitor(watched), ["a"])
    assert np.isnan(table.total).all()
    assert table.terms == {}
    assert table["watched"].tolist() == [0.25]


def test_a_monitored_reward_may_be_paid_elsewhere_and_be_named() -> None:
    table = rk.score(watched + rk.monitor(paid.named("style")), ["a"])
    assert table.total.tolist() == [0.25]
    assert list(table.components) == ["watched", "style"]
    assert rk.monitor(paid).named("style") == rk.monitor(paid.named("style"))
