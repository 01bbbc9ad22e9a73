"""Fallbacks: one scale per group."""

from __future__ import annotations

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer


def fails_on_x(completion: str) -> float:
    if "x" in completion:
        raise rk.RewardFailure("down")
    return 1.0


judge = rk.reward(name="judge")(fails_on_x)


calls: list[str] = []


@rk.reward(deterministic=False)
def similarity(completion: str) -> float:
    calls.append(completion)
    return 0.25


def opens(mark: str) -> rk.Reward:
    return rk.reward(name=f"opens_{mark}")(lambda completion: float(mark in completion))


def test_a_failure_switches_its_whole_group_and_no_other() -> None:
    calls.clear()
    table = rk.score(rk.fallback(judge, similarity), ["a", "x", "b", "c"], prompts=["p", "p", "q", "q"])
    assert table.total.tolist() == [0.25, 0.25, 1.0, 1.0]
    assert calls == ["a", "x"]
    assert table.terms["judge"].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert table.terms["similarity"].tolist() == [0.25, 0.25, 0.0, 0.0]
    assert table.outcomes["similarity"].tolist() == ["scored", "scored", "skipped", "skipped"]


def test_where_both_fail_the_row_failed() -> None:
    down = rk.reward(name="down")(fails_on_x)
    assert np.isnan(rk.score(rk.fallback(judge, down), ["x"]).total).all()


def test_a_bug_is_not_a_failure() -> None:
    @rk.reward
    def buggy(completion: str) -> float:
        raise ValueError("bug")

    table = Scorer(rk.fallback(buggy, similarity)).score(rk.Batch(["a"]), strict=False)
    assert table.total.tolist() == [0.0]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_terms_agree_with_the_total_where_two_gates_open_parts_of_one_group(order: tuple[int, int]) -> None:
    shared = rk.fallback(judge, similarity)
    gates = [rk.gate(opens("1"), shared), rk.gate(opens("2"), shared)]
    table = rk.score(gates[order[0]] + gates[order[1]], ["1x", "12", "2", "2"], prompts=["p"] * 4)
    sums = np.nansum(np.array(list(table.terms.values())), axis=0)
    np.testing.assert_allclose(sums, table.total)


def test_the_note_of_the_judge_that_failed_does_not_stand_beside_a_score() -> None:
    table = rk.score(rk.fallback(judge, similarity).named("quality"), ["x", "a"], prompts=["p", "q"])
    assert table.notes["quality"] == ["", ""]
    assert table.notes["judge"] == ["down", ""]
    assert table.parts["quality"]["second"].tolist() == [1.0, 0.0]


def test_fallbacks_nest() -> None:
    down = rk.reward(name="down")(fails_on_x)
    assert rk.score(rk.fallback(judge, rk.fallback(down, similarity)), ["x"]).total.tolist() == [0.25]
