"""``rewardkit generate``: a model's completions in a file, and everything that reads this file."""

from __future__ import annotations

import io
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import torch
from rich.console import Console

from rewardkit.cli.main import main
from rewardkit.errors import ConfigError, DataError
from rewardkit.scoring.output import partial_folder
from rewardkit.testing import estimate_signal
from rewardkit.tree.loading import load
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.generate import generate
from tests.adapters.runner.projects import config, project, started, trained

pytestmark = pytest.mark.slow  # the tiny model is built and loaded


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def silent() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_samples_can_be_scored_checked_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = project(tmp_path), tmp_path / "samples.jsonl"
    (tmp_path / "reward.py").rename(tmp_path / "later.py")  # the reward is not needed yet
    assert main(["generate", str(path), "--prompts", "6", "--generations", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    (tmp_path / "later.py").rename(tmp_path / "reward.py")
    rows = rows_of(out)
    assert [row["generation"] for row in rows] == [0, 1, 2] * 6
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in rows[::3] for _ in range(3)]
    assert len({row["prompt"] for row in rows}) == 6
    assert len({row["completion"] for row in rows}) > 6
    assert isinstance(rows[0]["order"], str)  # as in training: an object is JSON text
    assert {row["finish_reason"] for row in rows} <= {"length", "stop"}
    assert all((len(row["completion_ids"]) == 6) >= (row["finish_reason"] == "length") for row in rows)
    cut = sum(row["finish_reason"] == "length" for row in rows) / 18
    assert f"{cut:.1%} reached max_completion_length (6 tokens)" in printed
    assert "sampled at temperature 1, as in training" in printed

    # The printed commands work.
    score, check = (line.split()[1:] for line in printed.splitlines() if line.startswith("  rewardkit "))
    target = f"{tmp_path}/reward.py:reward"
    assert score == ["score", str(out), "--reward", score[-1]]
    scored = tmp_path / "scored.jsonl"
    assert main([*score[:-1], target, "--out", str(scored)]) == 0
    printed = capsys.readouterr().out
    assert main([check[0], target, *check[2:], "--laws", "finite"]) == 0
    assert "18 completions, 6 prompts with 3 samples each" in capsys.readouterr().out
    reward = load(target)[0].reward
    share = estimate_signal(reward, out).silent
    assert estimate_signal(reward, scored).silent == share
    assert f"Groups without variance: {share * 6:.0f} of 6" in printed


def test_an_interrupted_command_continues_with_the_same_completions(tmp_path: Path) -> None:
    class Interrupting(io.StringIO):
        interrupted = False

        def write(self, text: str) -> int:
            if "generating 2/4" in text and not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt
            return super().write(text)

    run = config(tmp_path)
    straight = generate(run, prompts=8, generations=4, out=tmp_path / "straight.jsonl", console=silent())
    out, shown = tmp_path / "samples.jsonl", Interrupting()
    with pytest.raises(KeyboardInterrupt):
        generate(run, prompts=8, generations=4, out=out, console=Console(file=shown, width=200))
    assert "16 of 32 completions are saved. Run the command again to continue" in shown.getvalue()
    assert not out.exists()
    hotter = config(tmp_path, grpo={"temperature": 2.0})
    with pytest.raises(DataError, match=r"temperature \(was 1.0, is 2.0\).*Delete the folder .* --out"):
        generate(hotter, prompts=8, generations=4, out=out, console=silent())
    with pytest.raises(DataError, match=r"prompts \(was"):
        generate(run, prompts=9, generations=4, out=out, console=silent())
    console = silent()
    assert generate(run, prompts=8, generations=4, out=out, console=console) == out
    assert isinstance(console.file, io.StringIO)
    assert "Continuing after 16 of 32 completions" in console.file.getvalue()
    assert out.read_bytes() == straight.read_bytes()
    assert not partial_folder(out).exists()
    with pytest.raises(ConfigError, match="already exists"):
        generate(run, prompts=8, generations=4, out=out, console=silent())


def test_a_killed_command_continues_with_the_same_completions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    path, out = project(tmp_path), tmp_path / "samples.jsonl"
    arguments = ["generate", str(path), "--prompts", "20", "--generations", "60", "--out"]
    killed = started(*arguments, str(out))
    while not (manifest := partial_folder(out) / "manifest.json").exists() and killed.poll() is None:
        time.sleep(0.01)
    assert manifest.exists()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert main([*arguments, str(out)]) == 0
    assert "Continuing after " in capsys.readouterr().out
    assert main([*arguments, str(tmp_path / "straight.jsonl")]) == 0
    assert out.read_bytes() == (tmp_path / "straight.jsonl").read_bytes()
    assert len(rows_of(out)) == 20 * 60


def test_checkpoints_settings_and_greedy_decoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trained(config(tmp_path))
    arguments = ["generate", "run.yaml", "--prompts", "3"]
    for checkpoint in ("start", "2", "last"):
        assert main([*arguments, "--checkpoint", checkpoint]) == 0
    files = {name: rows_of(tmp_path / f"samples-{name}.jsonl") for name in ("start", "checkpoint-2", "checkpoint-4")}
    assert {len(rows) for rows in files.values()} == {3 * 4}  # grpo.num_generations
    assert len({json.dumps([row["completion"] for row in rows]) for rows in files.values()}) == 3
    assert len({json.dumps([row["prompt"] for row in rows]) for rows in files.values()}) == 1

    other = ["--set", "seed=8", "--set", "grpo.max_completion_length=3", "--out", "other.jsonl"]
    assert main([*arguments, *other]) == 0
    rows = rows_of(tmp_path / "other.jsonl")
    assert max(len(row["completion_ids"]) for row in rows) == 3
    assert [row["prompt"] for row in rows] != [row["prompt"] for row in files["start"]]

    # Greedy completions for held-out prompts are those of an evaluation.
    assert main([*arguments, "--greedy", "--split", "eval", "--checkpoint", "2", "--out", "greedy.jsonl"]) == 0
    assert main(["train", "run.yaml", "--evaluate", "2", "--prompts", "3", "--out", "evaluated.json"]) == 0
    evaluated = json.loads((tmp_path / "evaluated.json").read_text())["rows"]
    rows = rows_of(tmp_path / "greedy.jsonl")
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in evaluated]
    assert [[row["completion"]] for row in rows] == [row["checkpoint-2"]["completions"] for row in evaluated]


def test_conversations_nested_columns_and_columns_with_our_names(tmp_path: Path) -> None:
    path = project(
        tmp_path,
        dataset={"path": "data.jsonl", "messages": [{"role": "user", "content": "{question}"}]},
        eval=None,
    )
    given = [
        {
            "question": f"send Mia {number} toys",
            "tests": [{"input": [number], "output": {"sum": number}}],
            "limits": [number, 2],
            "completion": "an old completion",
            "generation": "old",
        }
        for number in range(5)
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    (tmp_path / "reward.py").write_text(
        "import rewardkit as rk\n\n"
        "@rk.reward\n"
        "def reward(completion: str, tests: list[dict], limits: list[int]) -> float:\n"
        "    return float(tests[0]['output']['sum'] == limits[0]) / (1 + len(completion))\n"
    )
    out = generate(read(path), generations=2, out=tmp_path / "samples.jsonl", console=silent())
    rows = rows_of(out)
    assert len(rows) == 10
    for row, source in zip(rows, (row for row in given for _ in range(2)), strict=True):
        assert row["prompt"] == [{"role": "user", "content": source["question"]}]
        assert [message["role"] for message in row["completion"]] == ["assistant"]
        assert json.loads(row["tests"]) == source["tests"]
        assert row["limits"] == source["limits"]
        assert (row["input/completion"], row["input/generation"]) == ("an old completion", "old")
    scored = tmp_path / "scored.jsonl"
    assert main(["score", str(out), "--reward", f"{tmp_path}/reward.py:reward", "--out", str(scored)]) == 0
    assert all(row["total"] > 0 for row in rows_of(scored))


def test_errors_come_before_the_model_is_loaded(tmp_path: Path) -> None:
    run = config(tmp_path, eval=None)
    with pytest.raises(ConfigError, match=r"Use \.jsonl"):
        generate(run, out=tmp_path / "samples.csv")
    with pytest.raises(ConfigError, match="there is no folder"):
        generate(run, out=tmp_path / "nowhere" / "samples.jsonl")
    with pytest.raises(ConfigError, match="drop --generations or --greedy"):
        generate(run, greedy=True, generations=2)
    with pytest.raises(ConfigError, match="no held-out prompts"):
        generate(run, split="eval", out=tmp_path / "samples.jsonl")
    with pytest.raises(ConfigError, match="no complete checkpoint"):
        generate(run, checkpoint="last")
    with pytest.raises(ConfigError, match="a run with an environment cannot be sampled"):
        generate(config(tmp_path, eval=None, model="org/model", environment="reward.py:Shop"))
    assert not (tmp_path / "out").exists()


def test_the_file_does_not_have_to_name_a_reward(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"prompt": "x"}\n')
    path = tmp_path / "run.yaml"
    path.write_text("model: tiny\ndataset: data.jsonl\n")
    assert read(path, needs_reward=False).reward.path == "reward.py:reward"
    with pytest.raises(ConfigError, match="reward"):
        read(path)
