"""Set r: 40 reward functions with one fault each, their repaired forms, and 40 sound functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.faults.case import Case

from . import faulty_1, faulty_2, faulty_3, faulty_4, sound_1, sound_2, sound_3, sound_4

REPAIRED: dict[str, Callable[..., Any]] = {
    **faulty_1.REPAIRED,
    **faulty_2.REPAIRED,
    **faulty_3.REPAIRED,
    **faulty_4.REPAIRED,
}


def faulty() -> list[Case]:
    return [*faulty_1.CASES, *faulty_2.CASES, *faulty_3.CASES, *faulty_4.CASES]


def sound() -> list[Case]:
    return [*sound_1.CASES, *sound_2.CASES, *sound_3.CASES, *sound_4.CASES]
