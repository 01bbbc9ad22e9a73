"""``rewardkit radar``: what it prints and writes, its exit codes, and its judges."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from rewardkit.cli.main import main
from tests.page.recorded import gamed, ordinary
from tests.page.test_rescoring import recorded
from tests.rewards.judges.server import JudgeServer, verdict

REWARDS = """
import os

import rewardkit as rk

print("imported")
os.write(1, b"imported")

@rk.reward
def anywhere(completion: str, answer: str) -> float:
    return float(answer in completion.split())

@rk.reward
def lists(completion: str) -> float:
    return float(len(completion.split()) < 3)
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    gamed(folder / "gamed")
    recorded(folder / "unwatched", 40)
    ordinary(folder / "short", steps=3)
    return folder


@pytest.fixture(autouse=True)
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "radar_rewards.py").write_text(REWARDS, encoding="utf-8")
    (tmp_path / "runs").symlink_to(runs)
    monkeypatch.chdir(tmp_path)


def test_a_strong_alert_is_the_exit_code_only_if_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["radar", "runs/gamed"]) == 0
    assert "foreign, steps" in capsys.readouterr().out
    assert main(["radar", "runs/gamed", "--above", "0.8"]) == 1
    assert main(["radar", "runs/unwatched", "--above", "1"]) == 0


def test_json_is_printed_or_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["radar", "runs/gamed", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["alerts"][0]["kind"] == "foreign"
    assert main(["radar", "runs/gamed", "--json", "out/alerts.json", "--show", "0"]) == 0
    assert "foreign, steps" in capsys.readouterr().out
    assert json.loads(Path("out/alerts.json").read_text(encoding="utf-8")) == values


def test_a_reward_scores_a_sample_again(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--reward", "radar_rewards.py:anywhere", "--trust", "--json", "--above", "0.8"]
    assert main(["radar", "runs/unwatched", *options]) == 1
    printed = capfd.readouterr()
    assert "foreign" in [alert["kind"] for alert in json.loads(printed.out)["alerts"]]
    assert "imported" not in printed.out


PURE = """
import rewardkit as rk

@rk.reward(pure=True)
def anywhere(completion: str, answer: str) -> float:
    return float(answer in completion.split())
"""


def test_a_pure_reward_is_called_without_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pure_rewards.py").write_text(PURE, encoding="utf-8")
    assert main(["radar", "runs/unwatched", "--reward", "pure_rewards.py:anywhere", "--above", "0.8"]) == 1


def test_without_a_terminal_the_error_says_what_would_be_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["radar", "runs/unwatched", "--reward", "radar_rewards.py:anywhere"]) == 2
    error = capsys.readouterr().err
    assert all(words in error for words in ("--trust", "anywhere (", "radar_rewards.py:9", "960", "3,840"))


@pytest.mark.parametrize(("answer", "code"), [("y\n", 1), ("n\n", 2), ("\n", 2)])
def test_a_person_at_a_terminal_is_asked(answer: str, code: int) -> None:
    person, terminal = os.openpty()
    os.write(person, answer.encode())
    with (
        os.fdopen(person, "rb"),
        os.fdopen(os.dup(terminal)) as stdin,
        os.fdopen(terminal, "w") as stderr,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "stderr", stderr)
        assert main(["radar", "runs/unwatched", "--reward", "radar_rewards.py:anywhere", "--above", "0.8"]) == code


def test_a_model_judges_the_alerts(capsys: pytest.CaptureFixture[str]) -> None:
    with JudgeServer(verdict(0, "it hedges")) as server:
        options = ["--judge", "m", "--base-url", server.base_url, "--task", "Say one number."]
        assert main(["radar", "runs/gamed", *options]) == 0
        assert "Say one number." in server.requests[0].text
    said = capsys.readouterr().out
    assert re.search("judge +does not do the task: it hedges", said)
    assert re.search("judge +0 of 8 completions do the task, 8 do not, 0 undecided", said)


def test_the_key_is_read_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("LOCAL_KEY", "local")
    with JudgeServer(verdict(2)) as server:
        options = ["--judge", "m", "--base-url", server.base_url, "--key", "LOCAL_KEY"]
        assert main(["radar", "runs/gamed", *options]) == 0
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer local"}


def test_a_judge_of_your_own_comes_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--reward", "radar_rewards.py:anywhere", "--trust", "--judge", "radar_rewards.py:lists", "--json"]
    assert main(["radar", "runs/unwatched", *options]) == 0
    opinions = [alert["second_opinion"] for alert in json.loads(capsys.readouterr().out)["alerts"]]
    assert opinions
    assert not any(opinion["undecided"] for opinion in opinions)


def test_a_short_run_is_an_error_after_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["radar", "runs/short", "--above", "0.8"]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("runs/short: 3 steps")
    assert "3 training steps" in printed.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["runs/none"], "not a recorded run"),
        (["runs"], "gamed"),
        (["runs/gamed", "--reward", "radar_rewards.py:nothing"], "nothing"),
        (["runs/gamed", "--reward", "radar_rewards.py:anywhere"], "--trust"),
        (["runs/gamed", "--reward", "radar_rewards.py:anywhere", "--trust"], "answer"),
        (["runs/gamed", "--base-url", "http://localhost"], "--judge"),
        (["runs/gamed", "--judge", "m", "--base-url", "localhost"], "base_url"),
        (["runs/gamed", "--judge", "radar_rewards.py:lists", "--task", "x"], "--task"),
    ],
)
def test_what_cannot_run_says_why(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["radar", *arguments]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["x", "--above", "0"], ["x", "--above", "2"], ["x", "--show", "-1"]])
def test_impossible_options_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["radar", *arguments])
    assert ended.value.code == 2
