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


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name in "kmnpqr"])
def test_repaired_functions_pay_the_right_completions(name: str) -> None:
    cases = importlib.import_module(f"tests.faults.{name}")
    assert {*cases.REPAIRED} == {case.name for case in cases.faulty()}
    for case in cases.faulty():
        for row, right, wrong in zip(case.examples, case.good, case.bad, strict=True):
            columns = {"prompts" if column == "prompt" else column: [cell, cell] for column, cell in row.items()}
            better, worse = cases.REPAIRED[case.name](completions=[right, wrong], **columns)
            assert better > worse, case.name
