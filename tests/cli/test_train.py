"""``rewardkit train`` and ``rewardkit init``: what the command line itself prints and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewardkit.cli.main import main
from rewardkit_adapters.runner import config_file as yaml_text

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert main(["init", str(tmp_path / "orders")]) == 0
    return tmp_path / "orders"


def test_init_prints_the_next_commands(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", str(tmp_path / "my orders")]) == 0
    said = capsys.readouterr().out
    assert f"cd '{tmp_path}/my orders'" in said
    assert "rewardkit train run.yaml" in said
    assert "pip install" not in said  # everything is installed
    assert "rewardkit update 'runs/my orders' --set weights.is_json=0.1" in said
    monkeypatch.setattr("rewardkit.cli.init.find_spec", lambda module: None)
    assert main(["init", str(tmp_path / "other")]) == 0
    first, *_ = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert first.startswith("  pip install ")
    assert first.endswith("[train,view]' pytest") or first.endswith("[train,view] pytest")
    assert main(["init", str(tmp_path / "my orders")]) == 2
    assert "is not empty (README.md, data.jsonl, reward.py, run.yaml, test_reward.py)" in capsys.readouterr().err


def test_the_whole_configuration_is_printed(project: Path, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["train", str(project / "run.yaml"), "--set", "grpo.max_steps=7", "--print-config"]) == 0
    printed = yaml_text.parsed(capsys.readouterr().out, "printed")[0]
    assert printed["grpo"]["max_steps"] == 7
    assert printed["grpo"]["learning_rate"] == 3e-4
    assert printed["model"]["name"] == "tiny"
    assert printed["preflight"] == {"laws": True, "rows": "all", "budget": 30.0}


def test_options_override_settings(project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    capsys.readouterr()
    monkeypatch.chdir(project.parent)
    options = ["--output", "no: [way", "--processes", "2", "--preflight", "off", "--set", "processes=4", "--resume"]
    assert main(["train", "orders/run.yaml", *options, "--print-config"]) == 0
    printed = yaml_text.parsed(capsys.readouterr().out, "printed")[0]
    assert printed["output"] == str(project.parent / "no: [way")
    assert printed["processes"] == 2
    assert printed["preflight"] is None
    assert printed["resume"] is True
    capsys.readouterr()
    assert main(["train", "orders/run.yaml", "--set", "preflight=false", "--preflight", "on", "--print-config"]) == 0
    assert yaml_text.parsed(capsys.readouterr().out, "printed")[0]["preflight"]["laws"] is True
    assert main(["train", "orders/run.yaml", "--resume", "orders", "--print-config"]) == 0
    assert yaml_text.parsed(capsys.readouterr().out, "printed")[0]["resume"] == str(project)


def test_the_schema_is_printed_without_a_file(capsys: Captured) -> None:
    assert main(["train", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "rewardkit train"


def test_mistakes_are_reported_before_anything_runs(project: Path, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["train"]) == 2
    assert "rewardkit train run.yaml" in capsys.readouterr().err
    assert main(["train", str(project / "run.yaml"), "--set", "grpo.max_stepz=7"]) == 2
    said = capsys.readouterr().err
    assert "--set grpo.max_stepz=7: grpo.max_stepz: GRPOConfig has no such field. Did you mean 'max_steps'" in said
    assert "Traceback" not in said


@pytest.mark.slow  # torch loads
def test_the_preflight_alone(project: Path, capsys: Captured) -> None:
    capsys.readouterr()
    arguments = ["train", str(project / "run.yaml"), "--preflight", "only", "--set", "preflight.laws=false"]
    assert main(arguments) == 0
    assert "64 completions at once" in capsys.readouterr().out
    assert main([*arguments, "--set", "grpo.num_generations=7"]) == 2
    assert "num_generations" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["train", "a.yaml", "--processes", "0"], ["train", "a.yaml", "--sed"], ["init"]])
def test_the_command_line_itself_is_checked(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
