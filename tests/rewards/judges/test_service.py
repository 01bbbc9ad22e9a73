"""Nothing is asked twice, what is spent stays spent, and a failure is never a score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.service import Conversation, Service
from rewardkit.rewards.judges.shield import NONCE
from rewardkit.rewards.judges.verdicts import Scale
from tests.rewards.judges.server import JudgeServer, endpoint, says, unauthorized, verdict

apsw = pytest.importorskip("apsw")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(verdict(7, "clear")) as running:
        yield running


def judge(server: JudgeServer, **options: Any) -> rk.Reward:
    return rk.judge("Good?", model=endpoint(server.base_url, options), **options)


def test_a_cache_answers_repeated_requests(server: JudgeServer, tmp_path: Path) -> None:
    kept = judge(server, cache=str(tmp_path / "judged.sqlite"))
    first = rk.score(kept, ["a", "b"])
    assert (first.measured["judge_calls/judge"], first.measured["judge_cache_hit_rate/judge"]) == (2.0, 0.0)
    second = rk.score(kept, ["a", "b", "c"])
    assert second.measured["judge_calls/judge"] == 1.0
    assert second.measured["judge_cache_hit_rate/judge"] == pytest.approx(2 / 3)
    assert second.total.tolist() == [0.7] * 3
    assert second.notes["judge"] == ["clear"] * 3


def test_anything_that_changes_a_verdict_is_asked_again(server: JudgeServer, tmp_path: Path) -> None:
    cache = str(tmp_path / "judged.sqlite")
    others: list[dict[str, Any]] = [
        {},
        {"scale": (0, 20)},
        {"temperature": 0.5},
        {"max_tokens": 99},
        {"options": {"seed": 1}},
        {"checklist": ["Is it?"]},
        {"examples": [("x", 3, "y")]},
        {"structured": False},
    ]
    for count, options in enumerate(others, 1):
        if "checklist" in options:
            server.answer = verdict({"reason": "", "item_1": True})
        rk.score(judge(server, cache=cache, **options), ["a"])
        server.answer = verdict(7)
        assert len(server.requests) == count
    for options in ({"concurrency": 2}, {"deadline": 9.0}, {"name": "other"}):
        rk.score(judge(server, cache=cache, **options), ["a"])
    assert len(server.requests) == len(others)


def test_a_replay_makes_no_calls(server: JudgeServer, tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    rk.score(judge(server, cache=path), ["a"])
    server.down()
    table = rk.score(judge(server, cache=rk.Cache(path, replay=True)), ["a", "b"])
    assert table.outcomes["judge"].tolist() == ["scored", "failed"]
    assert table.notes["judge"][1].startswith("replay: ")
    assert table.measured["judge_calls/judge"] == 0.0


def test_an_invalid_verdict_is_not_saved(server: JudgeServer, tmp_path: Path) -> None:
    server.answer = says("no")
    kept = judge(server, cache=str(tmp_path / "judged.sqlite"))
    assert rk.score(kept, ["a"]).outcomes["judge"].tolist() == ["failed"]
    server.answer = verdict(7)
    assert rk.score(kept, ["a"]).total.tolist() == [0.7]
    assert len(server.requests) == 3


def test_a_saved_verdict_that_is_no_longer_valid_is_asked_once(server: JudgeServer, tmp_path: Path) -> None:
    kept = judge(server, cache=str(tmp_path / "judged.sqlite"))
    rk.score(kept, ["a"])
    other = apsw.Connection(str(tmp_path / "judged.sqlite"))
    other.execute("UPDATE verdicts_1 SET text = CAST('seven' AS BLOB)")
    other.close()
    for _ in range(2):
        assert rk.score(kept, ["a"]).total.tolist() == [0.7]
    assert len(server.requests) == 2


def test_a_spent_budget_stops_the_run_or_fails_the_sample(server: JudgeServer) -> None:
    with pytest.raises(rk.RewardFailure, match="is spent: 2 of 2 calls"):
        rk.score(judge(server, budget=rk.Budget(calls=2)), ["a", "b", "c"])
    assert len(server.requests) <= 2
    skipping = judge(server, budget=rk.Budget(calls=2, on_exhausted="skip"), concurrency=1)
    table = rk.score(skipping, ["a", "b", "c"])
    assert sorted(table.outcomes["judge"]) == ["failed", "scored", "scored"]
    assert table.measured["judge_failures_budget/judge"] == 1.0


def test_a_fallback_takes_over_when_the_budget_is_spent(server: JudgeServer) -> None:
    tree = rk.fallback(judge(server, budget=rk.Budget(calls=1, on_exhausted="fall_back")), rk.exact("answer"))
    table = rk.score(tree, ["a", "b"], prompts=["p", "p"], answer=["a", "a"])
    assert table.total.tolist() == [1.0, 0.0]


def test_costs_are_logged(server: JudgeServer) -> None:
    budget = rk.Budget(money=100, prices={"m": (1e6, 1e6)})
    measured = rk.score(judge(server, budget=budget), ["a"]).measured
    assert measured["judge_cost/judge"] == measured["judge_tokens/judge"] > 0


def test_a_price_is_needed_where_money_is_limited(server: JudgeServer) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="does not contain 'm'"):
        judge(server, budget=rk.Budget(money=1, prices={"n": (1, 1)}))


def test_a_wrong_key_stops_a_judge_with_a_budget_too(server: JudgeServer) -> None:
    server.answer = unauthorized()
    with pytest.raises(rk.RewardFailure, match="stops the run"):
        rk.score(judge(server, budget=rk.Budget(calls=5, on_exhausted="skip")), ["a"])


def test_the_nonce_is_in_the_request_and_not_in_the_key(server: JudgeServer) -> None:
    service = Service(rk.Endpoint("m", server.base_url))
    asked = Conversation((("user", f"<completion-{NONCE}>"),), Scale(0, 10))
    assert asked.key(service) == asked.key(Service(rk.Endpoint("m", "http://elsewhere", deadline=3.0)))
    assert asked.key(service) != asked.key(Service(rk.Endpoint("n", server.base_url)))
    assert asked.sent("1234") == [{"role": "user", "content": "<completion-1234>"}]
