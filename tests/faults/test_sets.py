"""The sets of tests/faults are what they say: forty faults that can be shown, and forty sound functions."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SETS = sorted(path.parent.name for path in Path(__file__).parent.glob("?/__init__.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_each_fault_is_proved(name: str) -> None:
    cases = importlib.import_module(f"tests.faults.{name}")
    faulty, sound = cases.faulty(), cases.sound()
    assert (len(faulty), len(sound)) == (40, 40)
    assert len({case.name for case in (*faulty, *sound)}) == 80
    assert not any(case.fault for case in sound)
    for case in faulty:
        assert case.fault, case.name
        assert len(case.good) == len(case.bad) == len(case.examples), case.name
        case.proof()
