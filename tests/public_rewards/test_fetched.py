"""Reward functions of five public repositories, as they are there: equal scores, what the check finds, a training.

Clone the repositories to ``$REWARDKIT_PUBLIC/<owner>+<name>``; the tests of one that is missing are skipped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import check_reward
from tests.public_rewards.fetched import SCRIPTS, Absent, Script
from tests.public_rewards.lists import batch_of
from tests.public_rewards.test_checks import LENGTHY, kind_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # theirs
FOLDER = "REWARDKIT_PUBLIC"


@pytest.fixture(params=SCRIPTS, ids=lambda make: make.__name__)
def script(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Script]:
    clone = Path(os.environ.get(FOLDER, "nowhere"), SCRIPTS[request.param])
    if not clone.is_dir():
        names = ", ".join(dict.fromkeys(SCRIPTS.values()))
        pytest.skip(f"set {FOLDER} to a folder with clones: {names}")
    monkeypatch.chdir(tmp_path)  # some write files
    monkeypatch.setenv("EXPERIMENT_NAME", "qwen")
    before = set(sys.modules)
    yield request.param(clone, tmp_path)
    for name in set(sys.modules) - before:
        file = str(vars(sys.modules[name]).get("__file__"))
        if isinstance(sys.modules[name], Absent) or file.startswith((str(clone), str(tmp_path))):
            del sys.modules[name]


def test_scores_are_equal(script: Script) -> None:
    through = rk.to_trl(script.rewards)
    for texts in (script.good, script.bad, ["", *script.good[1:]]):
        batch = batch_of(script.rows, texts)
        assert [function(**batch) for function in through] == [function(**batch) for function in script.functions]


def test_faults_are_found(script: Script) -> None:
    given: dict[str, Any] = {"examples": script.rows, "good": script.good, "bad": script.bad, "budget": 400.0}
    report = check_reward(script.rewards, without=LENGTHY, **given)
    assert report.complete, report
    assert script.faults <= {kind_of(finding) for finding in report.findings}, report


def test_the_training_is_the_same(script: Script, tmp_path: Path) -> None:
    """A model that writes the completions is trained with the functions and through rewardkit, with images if any."""
    from datasets import Dataset, Image

    from tests.adapters.trl import tiny

    rows = Dataset.from_list(script.rows * 4)
    images = [row["image_path"][0] for row in script.rows * 4 if "image_path" in row]
    if images:
        rows = rows.add_column("image", images).cast_column("image", Image())

    def logged(functions: list[Any]) -> list[list[float]]:
        given = {"train_dataset": rows, **tiny.writer_of(script.good + script.bad, sees=bool(images))}
        trainer = tiny.trainer(tmp_path / "out", functions, given=given, max_steps=2, max_completion_length=1)
        trainer.train()
        lines = [line for line in trainer.state.log_history if "loss" in line]
        return [[line[key] for key in ("reward", "reward_std", "loss", "grad_norm")] for line in lines]

    steps = logged(script.functions)
    assert len(steps) == 2
    assert all(norm > 0 for *_, norm in steps)
    assert logged(list(rk.to_trl(script.rewards))) == steps
