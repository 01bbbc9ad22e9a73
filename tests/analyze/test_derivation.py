"""The steps to an advantage end at TRL's number, and the recorded advantages tell which steps they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from rewardkit.analyze.advantages import WAYS, Derivation, Way, derive
from rewardkit.analyze.signal import EPSILON
from rewardkit.batch.column import Floats

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

SIZE = 4
numbers = st.one_of(st.integers(-8, 8).map(lambda whole: whole / 4), st.just(float("nan")))
WEIGHTS = (0.5, 2.0)


@st.composite
def batches(draw: st.DrawFn) -> Floats:
    """(n, 2) the scores of two components of whole groups."""
    rows = draw(st.integers(1, 4)) * SIZE
    return np.array(draw(st.lists(st.tuples(numbers, numbers), min_size=rows, max_size=rows)))


def by_trl(scores: Floats, way: Way) -> Floats:
    """The lines of GRPOTrainer after the calls of the reward functions, in float64."""
    from trl.trainer.utils import nanstd

    rewards: Any = torch.tensor(scores, dtype=torch.float64)
    weights = torch.tensor(WEIGHTS, dtype=torch.float64)
    unscorable = torch.isnan(rewards).all(dim=1)
    if way == "each":
        grouped = rewards.view(-1, SIZE, 2)
        centered = grouped - torch.nanmean(grouped, dim=1, keepdim=True)
        rewards = (centered / (nanstd(grouped, dim=1, keepdim=True) + 1e-4)).view(-1, 2)
    totals = (rewards * weights).nansum(dim=1)
    totals[unscorable] = torch.nan
    grouped = totals.view(-1, SIZE)
    means = torch.nanmean(grouped, dim=1).repeat_interleave(SIZE)
    deviations = nanstd(grouped, dim=1).repeat_interleave(SIZE)
    if way in ("batch", "each"):
        deviations = nanstd(totals).expand_as(totals)
    if way == "each":
        means = torch.nanmean(totals)
    found = totals - means if way == "none" else (totals - means) / (deviations + 1e-4)
    return np.asarray(torch.nan_to_num(found, nan=0.0))


def recorded(scores: Floats) -> dict[str, Any]:
    """What the record has of these scores."""
    terms = {f"c{place}": scores[:, place] * weight for place, weight in enumerate(WEIGHTS)}
    totals = np.where(np.isnan(scores).all(axis=1), np.nan, np.nansum(list(terms.values()), axis=0))
    return {
        "totals": totals,
        "terms": terms,
        "groups": np.arange(len(scores)) // SIZE,
        "components": {f"c{place}": scores[:, place] for place in range(2)},
    }


@pytest.mark.parametrize("way", WAYS)
@given(scores=batches())
def test_the_steps_end_at_the_advantage_of_trl(way: Way, scores: Floats) -> None:
    found = Derivation.of(way, **recorded(scores))
    scorable = ~np.isnan(found.values)
    summed = np.nansum(list(found.addends.values()), axis=0)
    np.testing.assert_allclose(found.values[scorable], summed[scorable], atol=1e-12)
    divisor = 1.0 if found.deviations is None else found.deviations + EPSILON
    steps = np.nan_to_num((found.values - found.means) / divisor, nan=0.0)
    np.testing.assert_allclose(steps, found.advantages, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.advantages, by_trl(scores, way), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
@given(scores=batches())
def test_recorded_advantages_tell_the_way(way: Way, scores: Floats) -> None:
    given = recorded(scores)
    advantages = by_trl(scores, way).astype(np.float32).astype(np.float64)
    found = derive(advantages, **given)
    assert found is not None
    assert found.agrees(advantages)
    others = [other for other in WAYS if Derivation.of(other, **given).agrees(advantages)]
    assert found.way == others[0]
    assert way in others


@pytest.mark.parametrize("way", WAYS)
@given(scores=batches(), off=st.floats(0.05, 5.0), row=st.integers(0, SIZE - 1))
def test_other_advantages_have_no_derivation(way: Way, scores: Floats, off: float, row: int) -> None:
    given = recorded(scores)
    advantages = by_trl(scores, way)
    advantages[row] += off
    assume(not any(Derivation.of(other, **given).agrees(advantages) for other in WAYS))
    assert derive(advantages, **given) is None


def test_a_column_of_gdpo_has_its_weight_and_spread() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 0.5], [1.0, 0.5], [0.0, 1.0]])
    column = Derivation.of("each", **recorded(scores)).columns["c1"]
    assert column.weight == 2.0
    assert column.spread.means[0] == 0.5
    np.testing.assert_allclose(column.addends[0], 2.0 * (0.0 - 0.5) / (column.spread.deviations[0] + EPSILON))


def test_infinite_totals_have_no_derivation() -> None:
    scores = np.array([[np.inf, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])
    assert derive(np.ones(SIZE), **recorded(scores)) is None


def test_without_recorded_advantages_there_is_no_derivation() -> None:
    scores = np.ones((SIZE, 2))
    assert derive(np.full(SIZE, np.nan), **recorded(scores)) is None
