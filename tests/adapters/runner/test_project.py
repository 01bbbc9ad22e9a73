"""``rewardkit init``: the project that it writes passes its tests and trains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.errors import RewardKitError
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.preflight import preflight
from rewardkit_adapters.runner.project import write_project
from rewardkit_adapters.runner.rewards import reward_of

pytest.importorskip("datasets")

from rewardkit_adapters.runner.data import training_and_held_out

FILES = ["README.md", "data.jsonl", "reward.py", "run.yaml", "test_reward.py"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Other tests have projects with a module `reward` of their own.
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "reward", raising=False)
    write_project(tmp_path / "orders")
    return tmp_path / "orders"


def test_it_writes_the_same_files_every_time(tmp_path: Path) -> None:
    first, second = tmp_path / "new" / "folder", tmp_path / "empty"
    second.mkdir()
    assert write_project(first) == write_project(second) == FILES
    assert sorted(path.name for path in first.iterdir()) == FILES
    for name in FILES:
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RewardKitError, match=r"is not empty \(notes\.txt\)"):
        write_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(RewardKitError, match=r"cannot write to .*(Not a directory|File exists)"):
        write_project(tmp_path / "notes.txt")
    with pytest.raises(RewardKitError, match=r"no task 'order'\. Did you mean 'orders'"):
        write_project(tmp_path / "new", task="order")


@pytest.mark.slow  # it checks the laws
def test_its_tests_pass(project: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    assert "warning" not in done.stdout


def test_the_preflight_finds_no_errors(project: Path) -> None:
    config = read(project / "run.yaml", ["preflight.laws=false"])
    training, held_out = training_and_held_out(config)
    assert held_out is not None
    assert (len(training), len(held_out)) == (192, 64)
    assert training.column_names == ["text", "order", "prompt"]
    found = preflight(config, reward=reward_of(config), training=training, held_out=held_out)
    assert found.ok
    assert [one for one in found.findings if one.kind == "warning"] == []


@pytest.mark.slow
def test_it_trains(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rewardkit.cli.main import main

    sets = [
        f"--set={text}" for text in ("model.warm_up_steps=2", "grpo.max_steps=2", "eval.prompts=2", "preflight=false")
    ]
    assert main(["train", str(project / "run.yaml"), *sets]) == 0
    assert "2 held-out completions" in " ".join(capsys.readouterr().out.split())
    assert (project / "runs" / "orders" / "model" / "config.json").is_file()
    again = read(project / "runs" / "orders" / "run.yaml")
    assert again.reward_target() == f"{project}/reward.py:reward"
