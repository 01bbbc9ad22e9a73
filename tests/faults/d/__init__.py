"""Forty reward functions with one fault each and forty sound ones."""

from __future__ import annotations

from tests.faults.case import Case


def faulty() -> list[Case]:
    from . import faulty_1, faulty_2, faulty_3, faulty_4

    return [*faulty_1.CASES, *faulty_2.CASES, *faulty_3.CASES, *faulty_4.CASES]


def sound() -> list[Case]:
    from . import sound_1, sound_2, sound_3, sound_4

    return [*sound_1.CASES, *sound_2.CASES, *sound_3.CASES, *sound_4.CASES]
