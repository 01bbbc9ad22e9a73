"""States of schedules, kept outside of them, and the means that move them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.column import Column, sums
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, SKIPPED
from rewardkit.progress import states as kept
from rewardkit.progress.schedule import SQUARES, PerformanceSchedule
from rewardkit.schedules import track, when_reached


def follower(schedule: rk.schedules.Schedule) -> PerformanceSchedule:
    assert isinstance(schedule, PerformanceSchedule)
    return schedule


TAGS, FORM = follower(when_reached("tags", 0.5, 2)), follower(track("form"))


def column(values: list[float], codes: list[int] | None = None) -> Column:
    return Column(np.array(values), np.array(codes or [SCORED] * len(values), dtype=np.int8))


def test_a_batch_moves_each_state_by_its_own_component() -> None:
    states = kept.advanced(kept.initial([TAGS, FORM]), {"tags": 1.0})
    assert states[TAGS]["recent"] == [1.0]
    assert states[FORM] == FORM.init()
    again = kept.advanced(states, {"tags": 0.5, "form": 0.25})
    assert [schedule(rk.Progress(2, 10, states=again)) for schedule in (TAGS, FORM)] == [1.0, pytest.approx(0.25)]
    assert states[TAGS]["recent"] == [1.0]


def test_states_are_saved_as_json_by_the_description_of_their_schedule() -> None:
    states = kept.advanced(kept.initial([TAGS, FORM]), {"tags": 1.0, "form": 0.25})
    saved = json.loads(json.dumps(kept.saved(states)))
    assert kept.restored(kept.initial([FORM, TAGS]), saved) == states
    other = follower(when_reached("tags", 0.5, 2, patience=2))
    changed = kept.restored(kept.initial([other, FORM]), saved)
    assert changed == {other: other.init(), FORM: states[FORM]}
    assert kept.restored(states, {}) == states


def test_sums_count_scored_and_errored_rows_but_not_failed_ones() -> None:
    codes = [SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED, SCORED]
    columns = {"tags": column([0.5, np.nan, 0.3, 0.0, np.nan, -2.0], codes), "none": column([np.nan], [SKIPPED])}
    assert sums(columns, ["none", "tags"]) == [[0.0, 0.0, 0.0], [3.0, -1.5, 4.25]]
    assert kept.means(["none", "tags"], [[0.0, 0.0, 0.0], [2.0, -1.5, 4.25]]) == {
        "tags": -0.75,
        "tags" + SQUARES: 2.125,
    }
    json.dumps(sums(columns, columns))


numbers = st.floats(-100, 100)


@given(st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=4))
def test_means_over_ranks_are_those_of_all_rows(ranks: list[list[float]]) -> None:
    summed = np.sum([sums({"a": column(rank)}, ["a"]) for rank in ranks], axis=0).tolist()
    together = [value for rank in ranks for value in rank]
    found = kept.means(["a"], summed)
    if not together:
        assert found == {}
        return
    assert found["a"] == pytest.approx(np.mean(together), abs=1e-9)
    assert found["a" + SQUARES] == pytest.approx(np.mean(np.square(together)), abs=1e-9)
