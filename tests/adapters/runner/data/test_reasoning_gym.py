"""Rows of a task of reasoning-gym, as run.yaml asks for them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit_adapters.runner.config import DatasetConfig
from rewardkit_adapters.runner.data import rows_of


def test_the_extra_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    with pytest.raises(rk.errors.ConfigError, match=r"pip install .*\[reasoning-gym\]"):
        rows_of(DatasetConfig(reasoning_gym="gcd"), tmp_path, 0)


def test_there_are_no_splits(tmp_path: Path) -> None:
    config = DatasetConfig(reasoning_gym="gcd").model_copy(update={"split": "test"})
    with pytest.raises(rk.errors.ConfigError, match="hold_out"):
        rows_of(config, tmp_path, 0)


@pytest.mark.slow
def test_rows_and_templates(tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    config = DatasetConfig(reasoning_gym="gcd", size=6, prompt="{question}!", options={"max_numbers": 2}, sample=4)
    rows = rows_of(config, tmp_path, 0).dataset
    assert len(rows) == 4
    assert all(row["prompt"] == f"{row['question']}!" for row in rows)
    answers = [f"<answer>{answer}</answer>" for answer in rows["answer"]]
    assert rk.score(rk.from_reasoning_gym("gcd"), answers, metadata=list(rows["metadata"])).total.tolist() == [1.0] * 4
    for wrong in (DatasetConfig(reasoning_gym="gcdd"), DatasetConfig(reasoning_gym="gcd", options={"number": 3})):
        with pytest.raises(rk.errors.ConfigError, match=r"dataset\.reasoning_gym: "):
            rows_of(wrong, tmp_path, 0)
