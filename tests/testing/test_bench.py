"""The bench: faulty rewards in which a fault has to be found, and sound ones that must not be blamed.

`benchmarks/harness.py` runs all laws on all of them and counts; here the faulty ones stop at the first finding, and the
sound ones leave out what takes long: the measurements and the search.
"""

from __future__ import annotations

import pytest

from rewardkit.testing import check_reward
from tests.testing.bench import Case, all_faulty, all_sound

SHORT = 200
"""Characters that a counterexample may have."""
LONG_BY_NATURE = {"overflowing_logistic"}
UNSEEN: set[str] = set()
"""Faults that no law sees yet."""
LENGTHY = ("time_linear", "memory_bounded", "search")


@pytest.mark.parametrize("case", all_faulty(), ids=lambda case: case.name)
def test_a_fault_is_found(case: Case) -> None:
    report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad, budget=30, fail_fast=True)
    assert report.ok == (case.name in UNSEEN), case.defect


@pytest.mark.parametrize("case", all_sound(), ids=lambda case: case.name)
def test_a_sound_reward_is_not_blamed(case: Case) -> None:
    report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad, budget=30, without=LENGTHY)
    assert report.ok, report


def test_there_are_enough_of_both() -> None:
    assert len(all_faulty()) >= 40
    assert len(all_sound()) >= 25
    assert len(UNSEEN) <= 0.05 * len(all_faulty())
