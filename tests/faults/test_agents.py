"""The sets of tests/faults/agents are what they say: an exploit earns as much as the right trajectory."""

from __future__ import annotations

import pytest

from benchmarks.check import agents as run

SETS = ("first", "second")


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_each_fault_is_paid_and_each_wrong_trajectory_is_not(name: str) -> None:
    faulty, sound = run.entries(name)
    assert (len(faulty), len(sound)) == (10, 10)
    for entry in (*faulty, *sound):
        for example, (right, wrong) in enumerate(zip(entry["good"], entry["bad"], strict=True)):
            best = run.value(entry, right, example)
            assert all(run.value(entry, one, example) < best for one in wrong), entry["name"]
    for entry in faulty:
        assert entry["fault"]
        assert run.value(entry, entry["exploit"](), 0) >= run.value(entry, entry["good"][0], 0), entry["name"]


@pytest.mark.slow
def test_the_runner_says_what_is_found() -> None:
    faulty, _ = run.entries("first")
    entry = next(one for one in faulty if one["name"] == "thorough_research")
    assert any(line.startswith("calls_are_not_paid") for line in run.findings(entry, 40.0))
