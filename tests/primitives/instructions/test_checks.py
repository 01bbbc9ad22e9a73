"""Every instruction tells a text that follows it from one that does not."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.primitives.instructions.bound import FAMILIES
from rewardkit.primitives.instructions.registry import CHECKS
from tests.primitives.instructions.cases import CASES


def test_all_instructions_of_the_data_sets_are_known() -> None:
    assert FAMILIES
    assert len(CHECKS) == 25 + 58 + 29
    assert CHECKS.keys() == CASES.keys()


@pytest.mark.parametrize("identifier", CASES)
def test_right_and_wrong(identifier: str) -> None:
    case = CASES[identifier]
    reward = rk.instruction(identifier, **case.arguments)
    table = rk.score(reward, [case.right, case.wrong])
    assert table.total.tolist() == [1.0, 0.0], list(table.notes)
