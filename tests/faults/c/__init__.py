"""Set c: 40 reward functions with one fault each, 40 sound ones."""

from tests.faults.case import Case

from . import faulty_1, faulty_2, faulty_3, sound_1, sound_2, sound_3


def faulty() -> list[Case]:
    return [*faulty_1.cases(), *faulty_2.cases(), *faulty_3.cases()]


def sound() -> list[Case]:
    return [*sound_1.cases(), *sound_2.cases(), *sound_3.cases()]
