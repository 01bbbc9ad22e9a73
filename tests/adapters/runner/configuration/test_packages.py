"""The packages of a reward: in the file, and checked before anything of the user is imported."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.config import RunConfig, require
from rewardkit_adapters.runner.config_file import printed, read
from rewardkit_adapters.runner.plan import Plan
from rewardkit_adapters.runner.rewards import reward_of

REWARD = """
import package_that_no_one_has

def reward(prompt, completion, example):
    return 1.0

def keep(row):
    return True
"""


def project(folder: Path, packages: Any, **changes: Any) -> RunConfig:
    (folder / "reward.py").write_text(REWARD)
    (folder / "data.jsonl").write_text(json.dumps({"prompt": "Write."}) + "\n")
    given = {"model": "tiny", "dataset": "data.jsonl", **changes}
    given["reward"] = {"path": "reward.py:reward", "packages": packages}
    (folder / "run.yaml").write_text(json.dumps(given))
    return read(folder / "run.yaml")


def test_what_is_installed_passes() -> None:
    require(["numpy", "NumPy>=1.0", f"pydantic=={version('pydantic')}", "nothing; python_version < '3'"])


@pytest.mark.parametrize("load", [reward_of, lambda config: Plan.of(config, None)])
def test_what_is_missing_is_named_before_anything_is_imported(load: Any, tmp_path: Path) -> None:
    config = project(
        tmp_path,
        ["package-that-no-one-has>=2,<3", "numpy", "pydantic<1"],
        dataset={"path": "data.jsonl", "filter": "reward.py:keep"},
    )
    with pytest.raises(ConfigError) as raised:
        load(config)
    said = str(raised.value)
    assert "package-that-no-one-has>=2,<3 (not installed)" in said
    assert f"pydantic<1 ({version('pydantic')} is installed)" in said
    assert said.endswith("pip install 'package-that-no-one-has>=2,<3' 'pydantic<1'")


def test_a_package_that_pip_cannot_read_is_a_fault_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"reward\.packages: .*'not a package'"):
        project(tmp_path, ["numpy", "not a package"])


def test_the_short_form_stays_short(tmp_path: Path) -> None:
    config = project(tmp_path, "numpy")
    assert config.reward.packages == ["numpy"]
    short = config.model_copy(update={"reward": config.reward.model_copy(update={"packages": []})})
    assert "reward: reward.py:reward\n" in printed(short)
    for one in (config, short):
        (tmp_path / "again.yaml").write_text(printed(one))
        assert read(tmp_path / "again.yaml").reward == one.reward
