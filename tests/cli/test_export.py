"""``rewardkit export`` from the command line: the file works as it is written, and nothing of the user is replaced."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.export import ADAPTERS
from rewardkit.cli.main import main
from rewardkit.tree.loading import load_module
from tests.adapters.verl import stand_in

_REWARD = """
import rewardkit as rk

right = rk.exact("solution")
asks = rk.reward(lambda completion, prompt: 1.0)
compares = rk.rank_in_group(right)
"""


def exported(tmp_path: Path, reward: str, *options: str, to: str = "verl", file: str = "cli_rewards.py") -> int:
    path = tmp_path / file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_REWARD)
    return main(["export", f"{path}:{reward}", "--to", to, "--out", str(tmp_path / "out"), *options])


def test_the_file_and_the_settings_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported(tmp_path, "right") == 0
    path = tmp_path / "out" / "rewards_verl.py"
    said = capsys.readouterr()
    assert said.out.startswith(f"wrote {path}\n\nreward.custom_reward_function.path={path}\n")
    assert "reward.reward_manager.name=naive" in said.out
    assert "A completion that cannot be scored raises" in said.out
    assert "verl is not installed here" in said.err
    module: Any = load_module(str(path))
    found = asyncio.run(module.compute_score(solution_str="4", ground_truth="4"))
    assert found == {"score": 1.0, "exact": 1.0, "components/exact": 1.0}


def test_a_reward_that_reads_the_prompt_becomes_a_manager(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.install(monkeypatch)
    assert exported(tmp_path, "asks", file="prompted.py") == 0
    assert "reward.reward_manager.source=importlib" in capsys.readouterr().out
    module: Any = load_module(str(tmp_path / "out" / "rewards_verl.py"))
    manager = module.Manager(stand_in.CONFIG, stand_in.Tokenizer(), None)
    assert stand_in.run_single(manager, stand_in.Sample("4"))["reward_score"] == 1.0


def test_files_of_the_user_are_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported(tmp_path, "right", file="kept.py") == 0
    assert exported(tmp_path, "right", file="kept.py") == 0
    path = tmp_path / "out" / "rewards_verl.py"
    path.write_text("mine = 1\n")
    assert exported(tmp_path, "right", file="kept.py") == 2
    assert f"{path} exists and differs. Add --force to replace it" in capsys.readouterr().err
    assert path.read_text() == "mine = 1\n"
    assert exported(tmp_path, "right", "--force", file="kept.py") == 0
    assert "compute_score" in path.read_text()


def test_the_reward_itself_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out" / "rewards_verl.py"
    assert exported(tmp_path, "right", "--force", file="out/rewards_verl.py") == 2
    assert f"{path} defines the reward and would be replaced. Choose another --out" in capsys.readouterr().err
    assert path.read_text() == _REWARD


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        ("wrong", "has no 'wrong'"),
        ("compares", "verl: 'exact_rank' compares completions, but completions arrive one at a time"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(
    reward: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, reward, file="refused.py") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_one_reward_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "several.py").write_text(_REWARD)
    assert main(["export", str(tmp_path / "several.py"), "--to", "verl", "--out", str(tmp_path)]) == 2
    assert "Name one: " in capsys.readouterr().err
    (tmp_path / "single.py").write_text("import rewardkit as rk\nonly = rk.exact('answer')\n")
    assert main(["export", str(tmp_path / "single.py"), "--to", "verl", "--out", str(tmp_path)]) == 0
    assert "from single import only as reward" in (tmp_path / "rewards_verl.py").read_text()


def test_a_file_in_a_package_is_imported_from_it(tmp_path: Path) -> None:
    folder = tmp_path / "my_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text("ANSWER = 'answer'\n")
    (folder / "own.py").write_text("import rewardkit as rk\nfrom .parts import ANSWER\nright = rk.exact(ANSWER)\n")
    out = tmp_path / "out"
    assert main(["export", f"{folder / 'own.py'}:right", "--to", "verl", "--out", str(out)]) == 0
    code = "import rewards_verl; print(rewards_verl.reward)"
    run = subprocess.run([sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True)
    assert "exact" in run.stdout


def test_trainers_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "rewards.py:reward", "--to", "unknown"])
    said = capsys.readouterr().err
    assert all(trainer in said for trainer in ADAPTERS)
