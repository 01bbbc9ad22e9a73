"""A reward whose slow functions run in pools scores as it does alone, and calls nothing more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import DataError
from rewardkit_adapters.ray.pools import Pools, actors_left, sizes_of
from tests.adapters.ray.pool import Actor
from tests.rewards.judges.server import JudgeServer, verdict

FORM = rk.tags("answer")
MATHS = rk.math_equal("answer")


def same(one: ScoreTable, other: ScoreTable) -> None:
    """Check that two tables are equal bit for bit."""
    assert list(one.components) == list(other.components)
    assert one.total.tobytes() == other.total.tobytes()
    for name, column in one.components.items():
        assert column.scored.tobytes() == other.components[name].scored.tobytes()
        assert column.codes.tobytes() == other.components[name].codes.tobytes()
        assert dict(column.notes) == dict(other.components[name].notes)


def pooled(reward: rk.Reward, **kinds: int) -> tuple[rk.Reward, dict[str, list[Actor]]]:
    actors = {name: [Actor(reward) for _ in range(count)] for name, count in kinds.items()}
    return Pools(actors).sending(reward), actors


@given(st.lists(st.sampled_from(["<answer>2</answer>", "<answer>x+1</answer>", "<answer>1+x</answer>", "2", ""])))
def test_a_pooled_tree_scores_as_alone(texts: list[str]) -> None:
    reward = rk.gate(when=FORM, then=0.5 * MATHS + 0.5 * rk.length.between(1, 30, unit="characters"))
    sent, _ = pooled(reward, mathematics=2)
    golds = ["x+1"] * len(texts)
    same(rk.score(reward, texts, answer=golds), rk.score(sent, texts, answer=golds))


def test_a_closed_gate_sends_nothing() -> None:
    sent, actors = pooled(rk.gate(when=FORM, then=MATHS), mathematics=1)
    rk.score(sent, ["no tags"] * 8, answer=["2"] * 8)
    assert actors["mathematics"][0].messages == []


def test_equal_rows_are_sent_once() -> None:
    sent, actors = pooled(MATHS, mathematics=1)
    table = rk.score(sent, ["<answer>x+1</answer>"] * 50, answer=["1+x"] * 50)
    assert actors["mathematics"][0].messages == [(0, 1)]
    assert table.total.tolist() == [1.0] * 50


def test_only_the_functions_with_a_pool_move() -> None:
    @rk.reward
    async def theirs(completion: str) -> float:
        return 0.5

    sent, actors = pooled(0.5 * theirs + 0.5 * MATHS, mathematics=1)
    rk.score(sent, ["<answer>2</answer>"], answer=["2"])
    assert actors["mathematics"][0].messages == [(1, 1)]


def test_programs_are_tested_in_their_pool() -> None:
    reward = rk.code_runs()
    sent, actors = pooled(reward, sandboxes=2)
    texts = [f"```python\nprint({number})\n```" for number in range(6)] + ["```python\n1/0\n```"]
    same(rk.score(reward, texts), rk.score(sent, texts))
    assert sum(count for actor in actors["sandboxes"] for _, count in actor.messages) == 7
    assert {count for actor in actors["sandboxes"] for _, count in actor.messages} == {1}, "one program at a time"


def test_judges_are_asked_in_their_pool_and_only_where_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with JudgeServer(verdict(8)) as server:
        judge = rk.judge(rubric="Is it polite?", model=rk.Endpoint("m", server.base_url))
        reward = rk.gate(when=FORM, then=judge)
        sent, actors = pooled(reward, judges=1)
        texts = [f"<answer>{number}</answer>" if number % 2 else str(number) for number in range(20)]
        table = rk.score(sent, texts)
        assert len(server.requests) == 10
    assert np.array_equal(table.total, [0.0, 0.8] * 10)
    assert sum(count for _, count in actors["judges"][0].messages) == 10


def test_a_failure_in_a_pool_is_a_failure_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with JudgeServer(verdict(800)) as server:  # not a valid verdict
        judge = rk.judge(rubric="Is it polite?", model=rk.Endpoint("m", server.base_url), name="polite")
        sent, _ = pooled(judge, judges=1)
        table = rk.score(sent, ["a", "b"])
    assert [str(one) for one in table.outcomes["polite"]] == ["failed", "failed"]


def test_a_pool_that_is_gone_fails_its_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, actors = pooled(0.5 * MATHS + 0.5 * FORM, mathematics=1)

    def dies(place: int, calls: Any) -> list[Any]:
        raise ConnectionError("the node is gone")

    monkeypatch.setattr(actors["mathematics"][0], "answer", dies)
    table = rk.score(sent, ["<answer>x+1</answer>"], answer=["1+x"])
    assert [str(one) for one in table.outcomes["math_equal"]] == ["failed"]
    assert [str(one) for one in table.outcomes["tags"]] == ["scored"]


def test_sizes_share_the_cores() -> None:
    code = rk.code_runs()
    judge = rk.judge(rubric="Is it polite?", model=rk.Endpoint("m", "http://localhost:1/v1"))
    assert sizes_of(FORM, cpus=8, gpus=0) == {}
    assert sizes_of(MATHS, cpus=8, gpus=0) == {"mathematics": 4}
    assert sizes_of(0.5 * MATHS + 0.5 * code, cpus=9, gpus=0) == {"mathematics": 3, "sandboxes": 3}
    assert sizes_of(judge, cpus=8, gpus=0) == {"judges": 1}
    assert sizes_of(MATHS, cpus=8, gpus=0, pool_sizes={"mathematics": 7}) == {"mathematics": 7}
    assert actors_left(8, {"mathematics": 4, "judges": 1}) == 4
    assert actors_left(2, {"mathematics": 2}) == 1


@pytest.mark.parametrize("asked", [{"sandboxes": 2}, {"judge": 1}, {"": 1}])
def test_a_pool_that_is_not_needed_is_an_error(asked: dict[str, int]) -> None:
    with pytest.raises(DataError, match="mathematics"):
        sizes_of(MATHS, cpus=8, gpus=0, pool_sizes=asked)


def test_the_limits_of_an_endpoint_need_one_actor() -> None:
    judge = rk.judge(rubric="Is it polite?", model=rk.Endpoint("m", "http://localhost:1/v1"))
    with pytest.raises(DataError, match="one actor"):
        sizes_of(judge, cpus=8, gpus=0, pool_sizes={"judges": 2})
