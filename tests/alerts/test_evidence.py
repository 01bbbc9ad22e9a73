"""The strength of alerts: ramps and their minimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.alerts.evidence import ramp, weakest

NUMBERS = st.floats(-1e9, 1e9)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3.0, 0.0), (4.0, 0.0), (6.0, 0.5), (8.0, 1.0), (np.inf, 1.0), (-np.inf, 0.0), (np.nan, 0.0)],
)
def test_a_ramp(value: float, expected: float) -> None:
    assert ramp(value, 4.0, 8.0) == expected


@given(NUMBERS, NUMBERS, NUMBERS)
def test_more_is_never_weaker(value: float, more: float, other: float) -> None:
    low, high = sorted([value, more])
    assert weakest(ramp(low, 4.0, 8.0), ramp(other, 0.0, 1.0)) <= weakest(ramp(high, 4.0, 8.0), ramp(other, 0.0, 1.0))
