"""Panels: one score from several judges, and their disagreement."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from tests.rewards.judges.server import JudgeServer, says, verdict


@rk.reward
def first(completion: str) -> float:
    return float(completion.split()[0])


@rk.reward
def second(completion: str) -> float:
    return float(completion.split()[1])


@rk.reward
def third(completion: str) -> float:
    if "down" in completion:
        raise rk.RewardFailure("down")
    return float(completion.split()[2])


@given(st.lists(st.tuples(*[st.floats(0, 1).map(lambda value: round(value, 3))] * 3), min_size=1, max_size=5))
def test_mean_median_and_disagreement(votes: list[tuple[float, float, float]]) -> None:
    texts = [" ".join(map(str, row)) for row in votes]
    mean = rk.score(rk.judge_panel([first, second, third]), texts)
    median = rk.score(rk.judge_panel([first, second, third], combine="median"), texts)
    assert mean.total == pytest.approx([sum(row) / 3 for row in votes])
    assert median.total == pytest.approx([sorted(row)[1] for row in votes])
    apart = [max(row) - min(row) for row in votes]
    assert mean.parts["panel"]["disagreement"] == pytest.approx(apart)
    assert mean.measured["judge_disagreement/panel"] == pytest.approx(sum(apart) / len(apart))
    assert mean.measured["judge_disagreement_max/panel"] == pytest.approx(max(apart))


def test_the_note_says_how_each_voted() -> None:
    table = rk.score(rk.judge_panel([first, second]), ["0.8 0.3"])
    assert table.notes["panel"] == ["first: 0.8, second: 0.3 (disagreement 0.5)"]


def test_where_one_failed_the_panel_fails() -> None:
    table = rk.score(rk.judge_panel([first, third]), ["0.8 0.3 0.1", "0.8 0.3 down"])
    assert table.outcomes["panel"].tolist() == ["scored", "failed"]
    assert table.notes["panel"][1] == "first: 0.8, third: no score"


def test_judges_of_two_models() -> None:
    with JudgeServer(verdict(lambda request: 10 if request.body["model"] == "kind" else 4)) as server:
        judges = [rk.judge("Good?", model=rk.Endpoint(name, server.base_url), name=name) for name in ("kind", "strict")]
        panel = rk.judge_panel(judges)
        assert rk.score(panel, ["a"]).total.tolist() == [0.7]
        assert pickle.loads(pickle.dumps(panel)) == panel
        server.answer = says("no")
        assert rk.score(panel, ["b"]).outcomes["panel"].tolist() == ["failed"]


def test_invalid_panels_are_an_error() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="at least two judges"):
        rk.judge_panel([first])
    with pytest.raises(rk.RewardDefinitionError, match="'mean' or 'median'"):
        rk.judge_panel([first, second], combine="max")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a judge must be a reward"):
        rk.judge_panel([first, "second"])  # type: ignore[list-item]
