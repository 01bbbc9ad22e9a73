"""The bench: faulty rewards whose fault must be found, and sound ones that must not be blamed.

`benchmarks/harness.py` runs all laws on all of them and counts; here the faulty ones stop at the first finding, and the
sound ones leave out what takes long: the measurements and the search.
"""

from __future__ import annotations

import pytest

from rewardkit.testing import Declarations, check_reward
from tests.check.bench import Case, faulty, sound

pytestmark = pytest.mark.slow

SHORT = 200
"""Characters that the shortest counterexample of a fault may have."""
LONG_BY_NATURE = {
    "overflowing_logistic",  # of the length
    "decode_error_is_not_all",  # nesting without end, or 5,000 digits
    "padding_is_detail",  # pays length
    "penalty_subtracted",  # pays repetition
    "catastrophic_sentences",  # the catalog, which runs before the laws of growth, hangs it with a long text
    "pairwise_difflib",
    "blanks_backtrack",  # many blanks: `time_linear` comes first, and fail_fast ends the check there
}
HANGS = {"answer_evaluated", "catastrophic_sentences"}
"""They are waited for twice, and hang for 2 s as they hang for 8."""
UNSEEN: set[str] = set()
"""Faults that no law sees yet."""
LENGTHY = ("time_linear", "memory_bounded", "search")


@pytest.mark.parametrize("case", faulty(), ids=lambda case: case.name)
def test_a_fault_is_found(case: Case) -> None:
    report = check_reward(
        case.reward,
        examples=case.examples,
        good=case.good,
        bad=case.bad,
        budget=90,
        declarations=Declarations(seconds_per_completion=2.0) if case.name in HANGS else None,
        fail_fast=True,
    )
    assert bool(report.findings) == (case.name not in UNSEEN), case.defect
    sizes = [len(str(one.completion)) for one in report.findings]
    assert min(sizes, default=0) <= SHORT or case.name in LONG_BY_NATURE, report


@pytest.mark.parametrize("case", sound(), ids=lambda case: case.name)
def test_a_sound_reward_is_not_blamed(case: Case) -> None:
    report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad, budget=30, without=LENGTHY)
    assert not report.findings, report


def test_there_are_enough_of_both() -> None:
    assert len(faulty()) >= 40
    assert len(sound()) >= 25
    assert len(UNSEEN) <= 0.05 * len(faulty())
