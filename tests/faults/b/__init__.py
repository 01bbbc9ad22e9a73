"""Set b: faults that were reported or fixed in public repositories, and sound designs of the same kinds."""

from . import faulty_1, faulty_2, faulty_3, sound_1, sound_2, sound_3


def faulty():
    return [*faulty_1.CASES, *faulty_2.CASES, *faulty_3.CASES]


def sound():
    return [*sound_1.CASES, *sound_2.CASES, *sound_3.CASES]
