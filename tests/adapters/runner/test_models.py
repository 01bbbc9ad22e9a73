"""What a trainer and an evaluation are given to load."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit_adapters.runner.models import model_of, start_of
from tests.adapters.runner.projects import config


def test_a_checkpoint_is_asked_in_its_own_tokens(tmp_path: Path) -> None:
    run = config(tmp_path)
    tokenizer = model_of(run).tokenizer
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(start_of(run), checkpoint)
    tokenizer.add_tokens(["<plan>"])
    tokenizer.save_pretrained(checkpoint)
    assert model_of(run, checkpoint=checkpoint).tokenizer.tokenize("<plan>") == ["<plan>"]
    assert model_of(run).tokenizer.tokenize("<plan>") != ["<plan>"]
