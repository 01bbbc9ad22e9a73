"""Repetition: the same numbers as TRL, for every way of counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.batch.score import Outcome
from rewardkit.rewards.repetition import distinct_ngrams
from rewardkit.tree.evaluation.scorer import Scorer


def value(reward: rk.Reward, completion: str = "", ids: Any = None) -> float:
    return float(rk.score(reward, [completion], completion_ids=None if ids is None else [ids]).total[0])


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**62), max_size=300), st.integers(1, 7))
def test_counts_are_those_of_a_set(ids: list[int], size: int) -> None:
    runs = {tuple(ids[start : start + size]) for start in range(len(ids) - size + 1)}
    if len(ids) >= size:
        assert distinct_ngrams(ids, size) == len(runs)
        assert distinct_ngrams([identity - 2**61 for identity in ids], size) == len(runs)
        assert distinct_ngrams(list(map(str, ids)), size) == len(runs)


@given(st.lists(st.integers(0, 9), max_size=200), st.integers(1, 5), st.floats(-3, 0))
def test_the_penalty_is_trls(ids: list[int], size: int, penalty: float) -> None:
    rewards = pytest.importorskip("trl.rewards")
    theirs = rewards.get_repetition_penalty_reward(size, penalty)([ids])[0]
    assert value(rk.repetition_penalty(ngram=size, max_penalty=penalty), "", ids) == theirs


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=200), min_size=1, max_size=60).map(lambda ids: ids * 3),
    st.sampled_from([0, 2**20, 2**40, -(2**40)]),
    st.integers(1, 5),
)
def test_completions_together_are_scored_as_each_alone(batch: list[list[int]], more: int, size: int) -> None:
    reward = rk.repetition_penalty(ngram=size)
    batch = [[token + more * (row % 2) for token in ids] for row, ids in enumerate(batch)]
    together = rk.score(reward, [""] * len(batch), completion_ids=batch).total
    assert together.tolist() == [value(reward, "", ids) for ids in batch]


def test_an_id_that_is_too_large_is_an_error_of_its_own_row() -> None:
    batch = Batch([""] * 3, completion_ids=[[1] * 100, [2**64] * 100, list(range(100))])
    column = Scorer(rk.repetition_penalty()).score(batch, strict=False).components["repetition_penalty"]
    assert column.values.tolist() == [pytest.approx(-97 / 98), -1.0, 0.0]
    assert [list(Outcome)[code] for code in column.codes] == [Outcome.SCORED, Outcome.ERRORED, Outcome.SCORED]


@pytest.mark.parametrize(
    ("completion", "penalty"),
    [("very very very", -0.5), ("Very very VERY", -0.5), ("a b c", 0.0), ("", 0.0), ("a", 0.0)],
)
def test_words(completion: str, penalty: float) -> None:
    assert value(rk.repetition_penalty(ngram=2, unit="words"), completion) == penalty


def test_words_are_what_a_reader_sees() -> None:
    grown = " ".join(f"spam{chr(0x200B) * size}" for size in range(50))
    assert value(rk.repetition_penalty(ngram=2, unit="words"), grown) == pytest.approx(-48 / 49)
    assert value(rk.repetition_penalty(ngram=2, unit="words"), "答案" * 50) == pytest.approx(-97 / 99)
    assert value(rk.repetition_penalty(ngram=2, unit="words"), "六乘七是四十二") == 0.0


def test_long_texts_arrays_and_thinking() -> None:
    assert value(rk.repetition_penalty(unit="words"), "a " * 90_000) == pytest.approx(-1.0, abs=1e-4)
    assert value(rk.repetition_penalty(unit="words"), "a " * 150_000) == -1.0
    assert value(rk.repetition_penalty(ngram=1), "", np.array([5] * 100)) == pytest.approx(-0.99)
    assert value(rk.repetition_penalty(unit="words"), "<think>a a a a a a</think>b") < 0.0
    assert value(rk.repetition_penalty(unit="words", extract=rk.extract.whole()), "<think>a a a a a a</think>b") == 0.0


@pytest.mark.parametrize(
    "options",
    [{"ngram": 0}, {"ngram": 1.5}, {"ngram": True}, {"max_penalty": 0.5}, {"unit": "lines"}, {"extract": len}],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="repetition_penalty"):
        rk.repetition_penalty(**options)
