"""Work beside a training takes at most its share of the time; the first piece of work is free."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from rewardkit.online import radar as allowance
from rewardkit.online.radar import OverheadBudget


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(allowance, "time", made)
    return made


@given(
    st.floats(0.001, 1.0),
    st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 10.0)), min_size=1, max_size=60),
)
def test_what_is_spent_stays_below_the_share(share: float, batches: list[tuple[float, float]]) -> None:
    costs: list[float] = []
    clock, spent = Clock(), 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allowance, "time", clock)
        allowed = OverheadBudget(share)
        begun = clock.now
        for pause, cost in batches:
            clock.now += pause
            if allowed.suffices:
                if len(costs) > 1:  # the last piece of work may cost more than the one before
                    assert spent <= share * (clock.now - begun) + 1e-6
                with allowed.spent():
                    clock.now += cost
                costs.append(cost)
                spent += cost if len(costs) > 1 else 0.0


def test_it_works_at_once_and_then_as_often_as_its_share_allows(clock: Clock) -> None:
    allowed, worked = OverheadBudget(0.01), []
    for batch in range(1, 402):
        clock.now += 1.0
        if allowed.suffices:
            worked.append(batch)
            with allowed.spent():
                clock.now += 1.0
    assert worked[:2] == [1, 2]
    assert 3 <= len(worked) <= 2 + 400 // 98
    assert min(after - before for before, after in pairwise(worked[1:])) > 98


def test_a_long_pause_does_not_lead_to_a_rush(clock: Clock) -> None:
    allowed = OverheadBudget(0.01)
    for _ in range(2):
        assert allowed.suffices
        with allowed.spent():
            clock.now += 1.0
    clock.now += 1e9
    rush = 0
    while allowed.suffices:
        rush += 1
        with allowed.spent():
            clock.now += 1.0
    assert rush == 3
