"""Failed rows are scored again for a while; only their last try counts."""

from __future__ import annotations

import time

import pytest

import rewardkit as rk
from rewardkit.online import batches as patience
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs


class Judge:
    """Is down for the first calls of a text that begins with "down"."""

    def __init__(self, tries: int) -> None:
        self.tries = tries
        self.calls: list[str] = []

    def __call__(self, completion: str) -> float:
        self.calls.append(completion)
        if completion.startswith("down") and self.calls.count(completion) < self.tries:
            raise rk.RewardFailure("the judge is down")
        return 1.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(patience, "_LONGEST_PAUSE", 0.02)


def scorer(judge: Judge) -> RowScorer:
    def judged(completion: str) -> float:
        return judge(completion)

    return RowScorer(rk.reward(judged), TrainerInputs("any"))


def test_failed_rows_are_scored_again_and_keep_their_places() -> None:
    judge = Judge(tries=3)
    texts = ["a", "down 1", "b", "c", "down 2", "down 3"]
    scores = scorer(judge).score([Row(text) for text in texts], patience=5.0)
    assert [score.total for score in scores] == [1.0] * 6
    assert {text: judge.calls.count(text) for text in texts} == {
        "a": 1, "b": 1, "c": 1, "down 1": 3, "down 2": 3, "down 3": 3
    }  # fmt: skip


def test_without_patience_rows_are_scored_once() -> None:
    judge = Judge(tries=3)
    assert [score.total for score in scorer(judge).score([Row("down"), Row("a")])] == [None, 1.0]
    assert judge.calls == ["down", "a"]


def test_the_last_try_is_at_the_end_of_the_time() -> None:
    judge = Judge(tries=1_000_000)
    started = time.monotonic()
    [score] = scorer(judge).score([Row("down")], patience=0.15)
    assert 0.15 <= time.monotonic() - started < 2.0
    assert score.total is None
    assert score.why == "judged: the judge is down"
    assert len(judge.calls) > 3


def test_only_the_last_try_counts_and_is_recorded(tmp_path: object) -> None:
    own = RowScorer(
        _patient_reward(), TrainerInputs("any"), record=f"{tmp_path}/run", limits=rk.Limits(max_failure_rate=0.0)
    )
    for row in range(1_300):
        assert own.score([Row(f"down {row}")], patience=5.0)[0].scored
    own.flush()
    assert rk.open_run(f"{tmp_path}/run").scores().df().total.tolist() == [1.0] * 1_300


def _patient_reward() -> rk.Reward:
    seen: set[str] = set()

    def judged(completion: str) -> float:
        if completion not in seen and not completion.endswith("00"):
            return 1.0
        if completion not in seen:
            seen.add(completion)
            raise rk.RewardFailure("down")
        return 1.0

    return rk.reward(judged)


def test_rows_that_would_fail_again_are_not_scored_again() -> None:
    @rk.reward
    def right(completion: str, answer: str) -> float:
        return float(completion == answer)

    [missing] = RowScorer(right, TrainerInputs("any")).score([Row("a")], patience=60.0)
    assert "answer" in missing.why


def test_a_row_that_abstained_is_not_scored_again() -> None:
    calls = []

    @rk.reward
    def nothing(completion: str) -> float | None:
        calls.append(completion)
        return None

    [score] = RowScorer(nothing, TrainerInputs("any")).score([Row("a")], patience=60.0)
    assert score.total is None
    assert calls == ["a"]


def test_a_run_that_stops_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(tries=1_000_000)
    own = scorer(judge)
    stop = rk.RewardFailure("stopped by another thread")

    def stops(seconds: float) -> None:
        own._stopped = stop

    monkeypatch.setattr(time, "sleep", stops)
    with pytest.raises(rk.RewardFailure, match="another thread"):
        own.score([Row("down")], patience=60.0)


def test_an_exit_is_no_exception() -> None:
    assert not issubclass(patience.RunExit, Exception)
