"""``rewardkit check``: its output, its reports and its exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rewardkit.cli.main import main

REWARDS = """
import rewardkit as rk

EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
BAD = ["<answer>41</answer>", "<answer>8</answer>"]

def naive(completions, answer, **kwargs):
    return [float(gold in text) for text, gold in zip(completions, answer)]

sound = rk.number("answer", extract=rk.extract.tag("answer"))
"""
QUICK = ["--laws", "total,gold_above_perturbed_gold,gate_dominance"]

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def rewards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "checked_rewards.py"
    path.write_text(REWARDS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "checked_rewards", raising=False)
    return str(path)


def test_a_sound_reward_exits_with_0(rewards: str, capsys: Captured) -> None:
    assert main(["check", f"{rewards}:sound", *QUICK]) == 0
    said = capsys.readouterr()
    assert "sound: 2 held" in said.out
    assert said.err == "checking sound ...\n"


def test_a_broken_reward_exits_with_1_and_shows_the_failing_call(rewards: str, capsys: Captured) -> None:
    assert main(["check", f"{rewards}:naive", *QUICK, "--seed", "3"]) == 1
    out = capsys.readouterr().out
    assert "BROKEN    gold_above_perturbed_gold" in out
    assert "rk.score(reward, [" in out
    assert "seed 3" in out


def test_without_a_name_all_public_rewards_are_checked(rewards: str, capsys: Captured) -> None:
    assert main(["check", rewards, *QUICK]) == 1
    said = capsys.readouterr()
    assert said.err == "checking naive (1 of 2) ...\nchecking sound (2 of 2) ...\n"
    assert [line.split()[0] for line in said.out.splitlines()[-2:]] == ["naive", "sound"]


@pytest.mark.slow
def test_all_laws_and_exploits_run_by_default(rewards: str, capsys: Captured) -> None:
    assert main(["check", f"{rewards}:sound", "--without", "time_linear,search", "--budget", "30"]) == 0
    out = capsys.readouterr().out
    assert "exploits" in out
    assert "time_linear" not in out
    assert main(["check", f"{rewards}:sound", "--no-exploits", "--without", "time_linear"]) == 0
    assert "exploits" not in capsys.readouterr().out


def test_reports_are_written(rewards: str, tmp_path: Path, capsys: Captured) -> None:
    data = tmp_path / "data.jsonl"
    rows = [
        {"prompt": "6*7?", "answer": "42", "completion": "<answer>42</answer>", "right": "yes"},
        {"prompt": "6*7?", "answer": "42", "completion": "<answer>421</answer>", "right": "no"},
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report, page = tmp_path / "new" / "report.json", tmp_path / "report.html"
    arguments = ["--data", str(data), "--label", "right", "--json", str(report), "--html", str(page), *QUICK]
    assert main(["check", f"{rewards}:sound", *arguments]) == 0
    assert "Agreement with the labels" in capsys.readouterr().out
    (found,) = json.loads(report.read_text())["rewards"]
    assert found["title"] == "sound"
    assert found["calibration"]["good"] == 1
    assert found["signal"]["groups"] == 1
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_examples_come_from_a_file(rewards: str, tmp_path: Path, capsys: Captured) -> None:
    examples = tmp_path / "examples.jsonl"
    examples.write_text('{"answer": "42", "good": ["<answer>41</answer>"]}\n')
    laws = ["--laws", "gold_gets_the_maximum"]
    assert main(["check", f"{rewards}:sound", "--examples", str(examples), *laws]) == 1
    assert "<answer>41</answer>" in capsys.readouterr().out


def test_exploits_are_saved_and_tried_again(rewards: str, tmp_path: Path, capsys: Captured) -> None:
    kept = tmp_path / "exploits.jsonl"
    arguments = ["check", f"{rewards}:naive", "--regressions", str(kept), "--laws"]
    assert main([*arguments, "exploits"]) == 1
    assert kept.read_text()
    capsys.readouterr()
    assert main([*arguments, "regressions"]) == 1
    assert "a known exploit still works" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module:reward"], "there is no module 'no_such_module'"),
        (["{rewards}:nive"], "Did you mean 'naive'"),
        (["{rewards}", "--laws", "totl"], "Did you mean 'total'"),
        (["{rewards}", "--without", "totl"], "Did you mean 'total'"),
        (["{rewards}", "--data", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["{rewards}", "--examples", "rewards.txt"], "a .jsonl, .json, .csv, or .parquet file"),
        (["{rewards}:sound", "--json", "{rewards}/report.json", *QUICK], "cannot be written"),
    ],
)
def test_misuse_exits_with_2_and_explains_the_fix(
    rewards: str, capsys: Captured, arguments: list[str], message: str
) -> None:
    assert main(["check", *(argument.format(rewards=rewards) for argument in arguments)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


@pytest.mark.parametrize("arguments", [[], ["a.py", "--budget", "0"], ["a.py", "--budget", "nan"], ["a.py", "--sed"]])
def test_the_command_line_itself_is_checked(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", *arguments])
    assert stopped.value.code == 2


def test_a_function_that_reads_the_row_needs_examples(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "reads_a_row.py"
    path.write_text("def service(prompt, completion, example):\n    return float(example['target']) / 10\n")
    assert main(["check", f"{path}:service"]) == 2
    assert "service may read the prompt or any column, but has no examples" in capsys.readouterr().err


def test_a_fast_check_finds_the_ordinary_faults_and_need_not_finish(rewards: str, capsys: Captured) -> None:
    assert main(["check", f"{rewards}:naive", "--fast"]) == 1
    assert "BROKEN    gold_above_perturbed_gold" in capsys.readouterr().out
    assert main(["check", f"{rewards}:sound", "--fast", "--budget", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "time_linear" not in out
    assert "search" not in out
