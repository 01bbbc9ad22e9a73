"""Score: one result with its explanation."""

from __future__ import annotations

import pickle

import pytest

import rewardkit as rk


def test_a_score_is_frozen_and_pickles() -> None:
    score = rk.Score(0.5, note="why", parts={"a": 1.0})
    assert pickle.loads(pickle.dumps(score)) == score
    with pytest.raises(AttributeError):
        score.value = 1.0  # type: ignore[misc]
