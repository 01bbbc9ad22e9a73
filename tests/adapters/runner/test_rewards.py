"""The reward that a configuration names, wherever that configuration lies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit_adapters.runner.config_file import printed, read
from rewardkit_adapters.runner.data import training_and_held_out
from rewardkit_adapters.runner.rewards import reward_of
from tests.adapters.runner.projects import REWARD, config


def test_a_module_is_found_from_the_configuration_that_a_run_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_run.py").write_text(f"{REWARD}\ndef keep(row):\n    return True\n")
    dataset = {"path": "data.jsonl", "filter": "beside_the_run:keep"}
    run = config(tmp_path, reward="beside_the_run:reward", dataset=dataset)
    left = tmp_path / "out" / "run.yaml"
    left.parent.mkdir()
    left.write_text(printed(run.anchored()), encoding="utf-8")
    monkeypatch.chdir("/")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    again = read(left)
    assert reward_of(again).name == reward_of(run).name
    assert len(training_and_held_out(again)[0]) == 20
