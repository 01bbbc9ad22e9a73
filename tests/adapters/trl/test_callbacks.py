"""The trainer callbacks alone; test_training.py tests them in a real run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import rewardkit as rk
from tests.adapters.trl.stand_ins import call, polite, short, without_trainer

pytestmark = without_trainer
OTHERS = [print]

transformers = pytest.importorskip("transformers")


def test_is_a_callback_that_the_trainer_takes() -> None:
    functions = rk.to_trl(short)
    assert isinstance(functions.callback(), transformers.TrainerCallback)
    assert isinstance((functions + OTHERS).callback(), transformers.TrainerCallback)


def test_the_state_of_a_call_takes_precedence_over_the_callback() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite)
    functions.callback().on_train_begin(None, SimpleNamespace(global_step=0, max_steps=10), None)
    state = SimpleNamespace(global_step=10, max_steps=10)
    assert call(functions, [""], trainer_state=state)["short"].tolist() == [1.0]


def test_the_callback_can_be_made_before_or_after_the_list_grows() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite)
    callback = functions.callback()
    grown = functions + OTHERS
    callback.on_step_begin(None, SimpleNamespace(global_step=5, max_steps=10), None)
    assert call(grown[:2], [""])["short"].tolist() == [0.5]
