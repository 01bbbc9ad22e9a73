"""``rewardkit export --to slime``: the file works as it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import main
from rewardkit.tree.loading import load_module

_REWARD = 'import rewardkit as rk\n\nright = rk.exact("answer")\n'
_FUNCTIONS = ("score", "normalize", "keep_group", "step", "log", "log_eval")


def test_the_module_has_what_the_settings_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_slime_reward.py").write_text(_REWARD)
    target = f"{tmp_path / 'my_slime_reward.py'}:right"
    assert main(["export", target, "--to", "slime", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "PYTHONPATH" in said
    module: Any = load_module(str(tmp_path / "rewards_slime.py"))
    for name in _FUNCTIONS:
        assert callable(getattr(module, name))
        assert name == "keep_group" or f"rewards_slime.{name}\n" in said
