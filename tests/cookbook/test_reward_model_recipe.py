"""The recipe with a reward model: alone it is fooled by kind words, behind rules it is not."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

RECIPE = Path(__file__).parents[2] / "cookbook" / "reward_model_and_rules.py"


def test_rules_say_what_a_model_must_not_be_paid_for(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(RECIPE))["main"]([])
    _, *rows = capsys.readouterr().out.splitlines()
    alone, paid = zip(*([float(number) for number in row.split()[:2]] for row in rows), strict=True)
    assert max(alone) == alone[3]  # five times the same kind words
    assert max(paid) == paid[0]
    assert paid[3] < 0.7
    assert paid[2] == paid[4] == 0.1  # no number, or nothing but it
