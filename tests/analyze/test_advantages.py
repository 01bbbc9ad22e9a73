"""Advantages from totals equal those that GRPOTrainer computes in torch; test_recording.py tests real runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.analyze.advantages import GroupStats, Way, moments_of
from rewardkit.batch.column import Floats

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

SIZE = 4
batches = st.integers(1, 4).flatmap(
    lambda groups: st.lists(
        st.one_of(st.floats(-10.0, 10.0, width=32), st.just(float("nan"))),
        min_size=groups * SIZE,
        max_size=groups * SIZE,
    )
)


def by_trl(totals: Floats, way: Way) -> Floats:
    """The lines of GRPOTrainer that follow the sum, in float64."""
    from trl.trainer.utils import nanstd

    rewards: Any = torch.tensor(totals, dtype=torch.float64)
    means = torch.nanmean(rewards.view(-1, SIZE), dim=1).repeat_interleave(SIZE)
    deviations = nanstd(rewards.view(-1, SIZE), dim=1).repeat_interleave(SIZE)
    if way in ("batch", "each"):
        deviations = nanstd(rewards).expand_as(rewards)
    if way == "each":
        means = torch.nanmean(rewards)
    found = rewards - means if way == "none" else (rewards - means) / (deviations + 1e-4)
    return np.asarray(torch.nan_to_num(found, nan=0.0))


@pytest.mark.parametrize("way", ["group", "batch", "none", "each"])
@given(batch=batches)
def test_advantages_equal_those_of_trl(way: Way, batch: list[float]) -> None:
    totals = np.array(batch)
    spread = GroupStats.of(totals, np.arange(len(batch)) // SIZE)
    found = spread.advantages(way, moments_of(totals))
    np.testing.assert_allclose(found, by_trl(totals, way), rtol=1e-6, atol=1e-5)


@given(batch=batches)
def test_a_part_has_the_advantages_of_the_whole(batch: list[float]) -> None:
    totals = np.array(batch)
    spread, moments = GroupStats.of(totals, np.arange(len(batch)) // SIZE), moments_of(totals)
    part = spread.part(1, 3).advantages("group", moments)
    np.testing.assert_array_equal(part, spread.advantages("group", moments)[1:3])


@given(batch=batches)
def test_moments_of_two_processes_add_up(batch: list[float]) -> None:
    totals = np.array(batch)
    both = moments_of(totals[:SIZE]) + moments_of(totals[SIZE:])
    np.testing.assert_allclose(both, moments_of(totals), rtol=1e-9, atol=1e-9)
