"""Canaries are judged in the right batches, and only differences beyond the tolerance count as drift."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.judges.canaries import Canaries, Canary

KNOWN = Canaries([Canary("4", score=10), Canary("5", score=0, prompt="2 + 2?", columns={"answer": "4"})], interval=3)


def test_they_are_asked_in_every_nth_batch() -> None:
    assert [bool(KNOWN.due(batch)) for batch in range(7)] == [True, False, False, True, False, False, True]
    assert KNOWN.due(3) == KNOWN.canaries


def test_a_judge_that_does_not_drift() -> None:
    drift = KNOWN.drift([9.5, 0.5])
    assert (drift.mean, drift.most, drift.off, drift.warning) == (0.0, 0.5, 0.0, "")


def test_a_judge_that_has_become_kinder() -> None:
    drift = KNOWN.drift([10, 8])
    assert (drift.mean, drift.most, drift.off) == (4.0, 8.0, 0.5)
    assert "1 of 2 canaries" in drift.warning
    assert "'5' was 0, now 8" in drift.warning


def test_a_judge_that_says_nothing() -> None:
    drift = KNOWN.drift([None, None])
    assert math.isnan(drift.mean)
    assert drift.off == 1.0
    assert "no verdict" in drift.warning


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=8), st.floats(0, 10), st.floats(-20, 20))
def test_a_shift_is_found_in_full(scores: list[float], tolerance: float, shift: float) -> None:
    known = Canaries([Canary("c", score) for score in scores], tolerance=tolerance)
    drift = known.drift([score + shift for score in scores])
    assert drift.mean == pytest.approx(shift, abs=1e-9)
    assert drift.most == pytest.approx(abs(shift), abs=1e-9)
    assert bool(drift.warning) == (drift.off > 0)
    if abs(abs(shift) - tolerance) > 1e-9:
        assert drift.off == float(abs(shift) > tolerance)


def test_they_are_values() -> None:
    assert pickle.loads(pickle.dumps(KNOWN)) == KNOWN
    assert hash(KNOWN) == hash(pickle.loads(pickle.dumps(KNOWN)))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Canary("4", score=math.nan), "finite"),
        (lambda: Canary("4", score="ten"), "finite"),  # type: ignore[arg-type]
        (lambda: Canary("4", score=1, columns={"answer": []}), "columns"),
        (lambda: Canaries([]), "at least one row"),
        (lambda: Canaries(["4"]), "list of rows"),  # type: ignore[list-item]
        (lambda: Canaries([Canary("4", 1)], interval=0), "interval"),
        (lambda: Canaries([Canary("4", 1)], tolerance=math.nan), "tolerance"),
    ],
)
def test_invalid_canaries(made: Any, said: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=said):
        made()
