"""TrainerState: the attributes of the trainer's own state, made from a Progress."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import TrainerState


def test_it_has_the_attributes_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    known = {field.name for field in dataclasses.fields(transformers.TrainerState)}
    assert known <= {field.name for field in dataclasses.fields(TrainerState)}


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_it_stands_where_the_progress_stands(step: int, max_steps: int) -> None:
    progress = rk.Progress(step, max_steps)
    state = TrainerState.of(progress)
    assert (state.global_step, state.max_steps, state.epoch) == (step, max_steps, progress.fraction)
    assert state.num_train_epochs == 1
    assert state.is_world_process_zero
    assert state.log_history == []


def test_epochs_are_those_of_the_progress() -> None:
    state = TrainerState.of(rk.Progress(50, 100, epoch=1.5))
    assert (state.epoch, state.num_train_epochs) == (1.5, 3)
    assert TrainerState.of(rk.Progress(0, 100)).num_train_epochs == 1


def test_without_progress_it_stands_at_the_end() -> None:
    state = TrainerState.of(None)
    assert state.global_step == state.max_steps > 100_000  # also for functions that wait for a step of their own
