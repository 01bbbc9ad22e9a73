"""What reward functions log outside of a trainer is collected; a trainer gets it as it expects it."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk


@rk.reward
def each(completion: str, log_metric: Any, log_extra: Any) -> float:
    log_metric("length", len(completion))
    if completion:
        log_extra("first", completion[0])
    return 1.0


@rk.reward(scope="group")
def grouped(completion: list[str], log_metric: Any, log_extra: Any, trainer_state: Any) -> list[float]:
    log_metric("size", len(completion))
    log_extra("place", list(range(len(completion))))
    return [trainer_state.global_step / trainer_state.max_steps] * len(completion)


def test_a_function_of_one_completion_logs_for_every_row() -> None:
    table = rk.score(each, ["ab", "ab", "", "c"])  # equal rows are not scored once: the mean is over rows
    assert table.metrics == {"length": 5 / 4}
    assert table.extras == {"first": ["a", "a", None, "c"]}


def test_rows_that_were_not_scored_have_no_value() -> None:
    open_ = rk.contains(start="a")
    assert rk.score(rk.gate(when=open_, then=each), ["b", "ab"]).extras == {"first": [None, "a"]}


def test_a_function_of_a_group_logs_a_list() -> None:
    progress = rk.Progress(1, 4)
    table = rk.score(grouped, ["a", "b", "c"], prompts=["p", "p", "q"], progress=progress)
    assert table.total.tolist() == [0.25] * 3
    assert table.metrics == {"size": 1.5}
    assert table.extras == {"place": [0, 1, 0]}


def test_a_wrong_number_of_values_is_a_bug_of_the_function() -> None:
    @rk.reward(scope="batch")
    def short(completion: list[str], log_extra: Any) -> list[float]:
        log_extra("too short", [1])
        return [1.0] * len(completion)

    with pytest.raises(rk.errors.RewardBug, match="got 1 values for 2 completions"):
        rk.score(short, ["a", "b"])


def test_an_async_function_logs_for_its_row() -> None:
    @rk.reward
    async def later(completion: str, log_extra: Any) -> float:
        log_extra("said", completion)
        return 1.0

    assert rk.score(later, ["a", "b"]).extras == {"said": ["a", "b"]}


def test_a_trainer_gets_what_is_logged() -> None:
    metrics: list[Any] = []
    extras: list[Any] = []
    (function,) = rk.to_trl(each, logs=False)
    log = {"log_metric": lambda *said: metrics.append(said), "log_extra": lambda *said: extras.append(said)}
    assert function(completions=["ab", ""], prompts=["", ""], **log) == [1.0, 1.0]
    assert metrics == [("length", 2), ("length", 0)]
    assert extras == [("first", ["a", None])]


def test_a_worker_process_cannot_log() -> None:
    def slow(completion: str, log_metric: Any) -> float:
        return 1.0

    with pytest.raises(rk.RewardDefinitionError, match="timeout="):
        rk.reward(timeout=1.0)(slow)


@pytest.mark.parametrize("name", ["trainer_state", "log_metric", "log_extra"])
def test_what_a_trainer_passes_is_no_column(name: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=r"progress=rk\.Progress"):
        rk.score(each, ["a"], **{name: ["x"]})  # type: ignore[arg-type]
