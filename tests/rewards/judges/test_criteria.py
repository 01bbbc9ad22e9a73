"""Several questions in one request, one component each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import rewardkit as rk
from tests.rewards.judges.server import JudgeServer, endpoint, says, verdict

BOTH = {"clarity": "Is it clear?", "truth": "Is it true?"}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(verdict({"reason": "so", "clarity": 5, "truth": 10})) as running:
        yield running


def judge(server: JudgeServer, **options: Any) -> rk.Reward:
    return rk.judge("Look at this.", model=endpoint(server.base_url, options), **options)


def test_one_request_serves_all_criteria(server: JudgeServer) -> None:
    table = rk.score(judge(server, criteria=BOTH), ["a", "b", "a"])
    assert len(server.requests) == 2
    assert table["clarity"].tolist() == [0.5] * 3
    assert table["truth"].tolist() == [1.0] * 3
    assert table["judge"].tolist() == table.total.tolist() == [0.75] * 3
    assert table.terms.keys() == {"clarity", "truth"}
    assert (table.notes["judge"], table.notes["truth"]) == (["so"] * 3, [""] * 3)


def test_weights_and_scales_of_their_own(server: JudgeServer) -> None:
    criteria = [rk.Criterion("clarity", "Clear?", weight=0.2), rk.Criterion("truth", "True?", weight=2, scale=(0, 20))]
    table = rk.score(judge(server, criteria=criteria), ["a"])
    assert table.total[0] == pytest.approx(0.2 * 0.5 + 2 * 0.5)
    assert "number from 0 (worst) to 20 (best)" in server.requests[0].text


def test_a_weight_may_move_with_training(server: JudgeServer) -> None:
    criteria = [
        rk.Criterion("clarity", "?", weight=rk.schedules.linear(1.0, 0.0)),
        rk.Criterion("truth", "?", weight=1),
    ]
    tree = judge(server, criteria=criteria)
    totals = [rk.score(tree, ["a"], progress=rk.Progress(step, 10)).total[0] for step in (0, 10)]
    assert totals == [1.5, 1.0]


def test_a_failure_fails_all_criteria(server: JudgeServer) -> None:
    server.answer = says("no")
    table = rk.score(judge(server, criteria=BOTH), ["a"])
    assert {name: table.outcomes[name][0] for name in table.components} == dict.fromkeys(
        ("judge", "clarity", "truth"), "failed"
    )
    assert rk.score(judge(server, criteria=BOTH, on_failure=0.5), ["a"]).total.tolist() == [0.5]


def test_criteria_work_in_a_larger_tree(server: JudgeServer) -> None:
    tree = rk.gate(rk.tags("answer"), 0.5 * judge(server, criteria=BOTH) + 0.5 * rk.exact("answer"))
    table = rk.score(tree, ["<answer>4</answer>", "4"], answer=["4", "4"])
    assert table.total.tolist() == [0.875, 0.0]
    assert len(server.requests) == 1


def test_a_checklist_gives_partial_credit(server: JudgeServer) -> None:
    server.answer = verdict({"reason": "so", "item_1": True, "item_2": False, "item_3": True, "item_4": True})
    items = ["Does it greet?", "Does it name {braces}?", "Is it short?", "Is it kind?"]
    table = rk.score(judge(server, checklist=items), ["a"])
    assert table.total.tolist() == [0.75]
    assert table.parts["judge"]["Does it name {braces}?"].tolist() == [0.0]


def test_examples_of_several_answers(server: JudgeServer) -> None:
    rk.score(judge(server, criteria=BOTH, examples=[("x", {"clarity": 1, "truth": 2}, "y")]), ["a"])
    assert '{"reason": "y", "clarity": 1, "truth": 2}' in server.requests[0].text
    with pytest.raises(rk.RewardDefinitionError, match="truth is missing"):
        judge(server, criteria=BOTH, examples=[("x", {"clarity": 1}, "y")])
    judge(server, checklist=["Is it?"], examples=[("x", {"Is it?": True}, "y")])
    with pytest.raises(rk.RewardDefinitionError, match="item_1 is missing"):
        judge(server, checklist=["Is it?"], examples=[("x", {"Is it": True}, "y")])


@pytest.mark.parametrize(
    "criteria",
    [{}, [], "clarity", {"a": ""}, {"": "b"}, {"reason": "b"}, ["a"], [rk.Criterion("a", "b"), rk.Criterion("a", "c")]],
)
def test_invalid_criteria(server: JudgeServer, criteria: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        judge(server, criteria=criteria)


def test_one_criterion_is_enough(server: JudgeServer) -> None:
    server.answer = verdict({"reason": "so", "clarity": 5})
    assert rk.score(judge(server, criteria={"clarity": "Is it clear?"}), ["a"]).total.tolist() == [0.5]
