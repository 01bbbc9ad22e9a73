"""The recipe with tools: its data, its teacher, its preflight, and short trainings of the tiny model."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.data import training_and_held_out
from rewardkit_adapters.runner.preflight import preflight
from rewardkit_adapters.runner.rewards import environment_of, reward_of

RECIPE = Path(__file__).parents[2] / "cookbook" / "drawers"


@pytest.fixture(autouse=True)
def _beside_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RECIPE))
    for name in ("environment", "reward", "model", "compare"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def recipe(name: str) -> dict[str, Any]:
    return runpy.run_path(str(RECIPE / f"{name}.py"))


def test_the_prompt_is_that_of_the_demonstrations() -> None:
    training, _ = training_and_held_out(read(RECIPE / "run.yaml"))
    asked = recipe("environment")["PROMPT"]
    assert training["prompt"][:] == [
        [{"role": "user", "content": asked.format(color=one)}] for one in training["color"]
    ]


def test_the_preflight_finds_nothing_to_blame(tmp_path: Path) -> None:
    config = read(RECIPE / "run.yaml", ["preflight.laws=false", f"output={tmp_path / 'run'}"])
    training, held_out = training_and_held_out(config)
    found = preflight(config, reward=reward_of(config), training=training, held_out=held_out)
    assert [(finding.kind, finding.what) for finding in found.findings if finding.kind != "fact"] == []
    assert "environment Drawers: its tools are open" in found.text()
    assert environment_of(config).__name__ == "Drawers"


def test_the_teacher_is_sloppy() -> None:
    """It opens about one and a half drawers, and its answers are right more often than not."""
    names = recipe("model")
    shown = names["demonstrations"](2_000, seed=3)
    calls = [sum(message["role"] == "tool" for message in one) for one in shown]
    assert 1.4 < sum(calls) / len(calls) < 1.8
    assert shown == names["demonstrations"](2_000, seed=3) != names["demonstrations"](2_000, seed=4)


def test_turns_are_written_as_the_chat_template_writes_them() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    names = recipe("model")
    shown = next(one for one in names["demonstrations"](100, seed=0) if len(one) > 4)
    *_, (before, turn) = names["turns"](shown)
    [written], _ = render_jinja_template([shown], chat_template=names["CHAT_TEMPLATE"])
    assert written == f"{before}{turn}<end>"
    assert len(names["turns"](shown)) == (len(shown)) // 2


def trained(out: Path, *arguments: str) -> str:
    short = ["--steps", "2", "--warm-up", "30", "--seed", "5", "--out", str(out)]
    command = [sys.executable, str(RECIPE / "train.py"), *short, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_short_trainings_are_recorded_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = trained(tmp_path, "--reward", "naive")
    assert "law calls_are_not_paid" in printed
    assert re.search(r"\| naive-5 \| \d\.\d\d to \d\.\d\d \| ", printed)
    printed = trained(tmp_path)
    assert "law calls_are_not_paid" not in printed
    runs = [tmp_path / "naive-5", tmp_path / "matched-5"]
    scores = rk.open_run(runs[1]).scores().df()
    assert len(scores) == 2 * 64
    assert set(scores.stop) <= {"answered", "cut", "pending", "silent"}
    assert scores.calls.sum() == scores[scores.tools == "open"].calls.sum() > 0
    conversations = [json.loads(text) for (text,) in rk.open_run(runs[1]).completions().project("messages").fetchall()]
    roles = {message["role"] for one in conversations for message in one}
    assert roles == {"assistant", "tool"}
    recipe("compare")["main"]([*map(str, runs), "--plot", str(tmp_path / "plot.png")])
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert (tmp_path / "plot.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["train", "compare"])
def test_it_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        recipe(name)["main"](["--help"])
    assert "cookbook/drawers" in capsys.readouterr().out
