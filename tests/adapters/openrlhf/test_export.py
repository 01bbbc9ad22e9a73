"""``rewardkit export --to openrlhf``: the file works as it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import main
from rewardkit.tree.loading import load_module

_REWARD = 'import rewardkit as rk\n\nright = rk.exact("answer")\n'


def test_the_file_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_openrlhf_reward.py").write_text(_REWARD)
    target = f"{tmp_path / 'my_openrlhf_reward.py'}:right"
    assert main(["export", target, "--to", "openrlhf", "--out", str(tmp_path)]) == 0
    path = tmp_path / "rewards_openrlhf.py"
    said = capsys.readouterr().out
    assert f"--reward.remote_url {path}" in said
    assert "dynamic_filtering=True" in said
    module: Any = load_module(str(path))
    assert module.reward_func(["2+2=4"], ["2+2="], ["4"])["rewards"] == 1.0
