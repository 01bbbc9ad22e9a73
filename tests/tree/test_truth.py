"""A reward is neither true nor false: `and`, `or`, `not` and `if` do not combine rewards."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

FORM, RIGHT = rk.tags("answer"), rk.number("answer")


@pytest.mark.parametrize(
    "combine",
    [
        lambda: FORM and RIGHT,
        lambda: FORM or RIGHT,
        lambda: not FORM,
        lambda: RIGHT if FORM else FORM,
        lambda: (0.5 * FORM) and RIGHT,
        lambda: bool(rk.gate(when=FORM, then=RIGHT)),
        lambda: operator.truth(FORM.named("form")),
        lambda: all([FORM, RIGHT]),
        lambda: list(filter(None, [FORM])),
    ],
)
def test_the_error_names_what_to_write(combine: Callable[[], Any]) -> None:
    with pytest.raises(rk.errors.RewardTypeError) as raised:
        combine()
    for name in ("rk.gate", "rk.minimum", "rk.maximum", "*"):
        assert name in str(raised.value)


def test_what_does_not_ask_for_truth_works() -> None:
    assert rk.tags("answer") == FORM
    assert FORM != RIGHT
    assert FORM in [RIGHT, FORM]
    assert [RIGHT, FORM].index(FORM) == 1
    assert {FORM: 1}[rk.tags("answer")] == 1
    assert np.array([FORM, RIGHT], dtype=object)[0] is FORM
    assert dataclasses.replace(FORM) == FORM
    assert sum([FORM, RIGHT]) == FORM + RIGHT
    assert (None if FORM is None else 1) == 1
