"""No known hack scores higher than it should, and no honest completion scores lower."""

from __future__ import annotations

import pytest

import rewardkit as rk
from tests.hostile.hacks import HACKS, HONEST, Hack
from tests.hostile.sandboxes import skip_without_sandbox


def score_of(case: Hack) -> float:
    columns = {name: [value] for name, value in case.columns.items()}
    reward = case.make()
    skip_without_sandbox(reward)
    return float(rk.Scorer(reward).score(rk.Batch([case.completion], columns=columns)).total[0])


@pytest.mark.parametrize("case", HACKS, ids=lambda case: case.name)
def test_a_hack_earns_nothing(case: Hack) -> None:
    assert score_of(case) <= case.most + 1e-9


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_an_honest_completion_keeps_full_marks(case: Hack) -> None:
    assert score_of(case) == case.most


def test_there_are_enough_of_them() -> None:
    assert len(HACKS) >= 60
    assert len({case.name for case in HACKS}) == len(HACKS)
