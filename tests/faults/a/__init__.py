"""Set a: forty reward functions with one fault each, forty sound ones."""

from __future__ import annotations

from tests.faults.case import Case

from . import faulty_1, faulty_2, faulty_3, faulty_4, sound_1, sound_2, sound_3, sound_4


def faulty() -> list[Case]:
    return [*faulty_1.cases(), *faulty_2.cases(), *faulty_3.cases(), *faulty_4.cases()]


def sound() -> list[Case]:
    return [*sound_1.cases(), *sound_2.cases(), *sound_3.cases(), *sound_4.cases()]
