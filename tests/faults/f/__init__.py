"""Reward functions: forty with one fault each, forty sound ones."""

from tests.faults.case import Case

from . import faulty_1, faulty_2, faulty_3, sound_1, sound_2, sound_3


def faulty() -> list[Case]:
    return [*faulty_1.CASES, *faulty_2.CASES, *faulty_3.CASES]


def sound() -> list[Case]:
    return [*sound_1.CASES, *sound_2.CASES, *sound_3.CASES]
