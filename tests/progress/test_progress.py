"""Progress: how far training is."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.progress.progress import Progress

RISE, FALL = rk.schedules.linear(0.0, 1.0), rk.schedules.linear(2.0, 0.0)


def test_fraction_is_the_share_of_training_done() -> None:
    assert rk.Progress(20, 100).fraction == 0.2
    assert rk.Progress(200, 100).fraction == 1.0
    assert rk.Progress(0, 1).fraction == 0.0


@pytest.mark.parametrize(("step", "max_steps"), [(-1, 10), (0, 0), (1, -1)])
def test_impossible_progress_is_refused(step: int, max_steps: int) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="max_steps"):
        rk.Progress(step, max_steps)


def test_progress_holds_read_only_copies_and_pickles() -> None:
    means = {"a": 0.5}
    progress = rk.Progress(1, 10, means=means, states={RISE: 3})
    means["a"] = 1.0
    assert progress.means == {"a": 0.5}
    with pytest.raises(TypeError):
        progress.means["a"] = 1.0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(progress)) == progress
    assert isinstance(hash(progress), int)


def test_a_part_of_training_counts_from_its_start() -> None:
    state = {RISE: 1}
    part = Progress(30, 100, means={"a": 0.5}, states=state).within(20, 60)
    assert (part.step, part.max_steps, part.fraction) == (10, 40, 0.25)
    assert (part.means, part.states, part.training) == ({"a": 0.5}, state, True)
    assert Progress(10, 100).within(20, 60) == Progress(0, 40)
    assert Progress(90, 100).within(20, 60).fraction == 1.0
    assert Progress(5, 10).within(5, 5) == Progress(0, 1)


def test_epochs_are_one_pass_unless_they_are_known() -> None:
    assert rk.Progress(25, 100).epoch == 0.25
    assert rk.Progress(25, 100, epoch=0.75).epoch == 0.75
    assert pickle.loads(pickle.dumps(rk.Progress(25, 100, epoch=0.75))).epoch == 0.75
    assert rk.Progress(30, 100, epoch=1.2).within(20, 60).epoch == 1.2


@pytest.mark.parametrize("epoch", [-1.0, float("inf"), "1"])
def test_an_impossible_epoch_is_refused(epoch: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="epoch"):
        rk.Progress(1, 2, epoch=epoch)
