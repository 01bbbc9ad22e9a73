"""``rewardkit diff``: what it prints and writes, its exit codes, and every way to name a reward."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.cli.main import main

REWARDS = """
import rewardkit as rk

print("imported")

@rk.reward
def exact(completion: str, answer: str) -> float:
    return float(completion == answer)

@rk.reward
def contains(completion: str, answer: str) -> float:
    return float(answer in completion)

@rk.reward
def picky(completion: str, answer: str) -> float:
    return float(completion == answer) / (completion != "41")
"""
ROWS = [
    {"question": "6*7?", "reply": reply, "answer": "42"} for reply in ("42", "The answer is 42", "41", "I do not know")
]
COLUMNS = ["--on", "rows.jsonl", "--columns", "prompt=question", "--completion", "reply"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rewards.py").write_text(REWARDS, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_reports_are_written_and_a_limit_decides(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["diff", "rewards.py:exact", "rewards.py:contains", *COLUMNS]
    files = ["--json", "out/a.json", "--html", "a.html", "--markdown", "a.md"]
    assert main([*command, *files, "--max-flips", "30%", "--max-new-failures", "0"]) == 0
    said = capfd.readouterr().out
    assert said.startswith("1 of 4 completions get a different total, and 1 (25.0%) flip")
    assert "rows.jsonl\nsize  4 completions, 1 group\n" in said
    assert json.loads(Path("out/a.json").read_text(encoding="utf-8"))["groups"]["flips"] == 1
    assert "The answer is 42" in Path("a.html").read_text(encoding="utf-8")
    assert "The answer is 42" in Path("a.md").read_text(encoding="utf-8")
    assert main([*command, "--json", "--max-flips", "0"]) == 1
    values = json.loads(capfd.readouterr().out)
    assert len(values["exceeded"]) == 1
    assert values["data"] == "rows.jsonl"


def test_nothing_is_said_if_nothing_changes(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["diff", "rewards.py:exact", "rewards:exact", *COLUMNS, "--markdown", "a.md", "--max-changed", "0"]
    assert main(command) == 0
    assert Path("a.md").read_text(encoding="utf-8") == ""
    assert capfd.readouterr().out.startswith("No completion's score changes.")


@pytest.mark.slow
def test_new_failures_can_be_limited(capfd: pytest.CaptureFixture[str]) -> None:
    command = ["diff", "rewards.py:exact", "rewards.py:picky", *COLUMNS]
    assert main([*command, "--max-new-failures", "0"]) == 1
    assert "ZeroDivisionError" in capfd.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["rewards.py:exact", "rewards.py:nothing", *COLUMNS], marks=pytest.mark.slow),
        pytest.param(["rewards.py:exact", "missing.py:exact", *COLUMNS], marks=pytest.mark.slow),
        pytest.param(["rewards.py:exact", "rewards.py", *COLUMNS], marks=pytest.mark.slow),
        ["rewards.py:exact", "rewards.py:exact", "--on", "missing.jsonl"],
        ["rewards.py:exact", "rewards.py:exact", "--on", "rows.jsonl"],
        pytest.param(["rewards.py:exact", "rewards.py:exact", *COLUMNS, "--without", "exakt"], marks=pytest.mark.slow),
    ],
)
def test_what_cannot_run_is_two(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *arguments]) == 2
    captured = capfd.readouterr()
    assert "rewardkit diff:" in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


@pytest.fixture
def run(folder: Path) -> str:
    """A recorded run of 4 completions, scored by `exact`, with two updates."""
    pytest.importorskip("pyarrow")
    from rewardkit.online.versions import version_of
    from rewardkit.record.recorder import Recorder
    from rewardkit.record.records import Record
    from rewardkit_adapters.live.mailbox import Answer, Mailbox
    from rewardkit_adapters.live.sources import collect_sources

    @rk.reward
    def exact(completion: str, answer: str) -> float:
        return float(completion == answer)

    @rk.reward
    def monitored(completion: str) -> float:
        return float(len(completion) < 5)

    scorer = rk.Scorer(exact + 0.1 * monitored)
    completions, asked, columns = [row["reply"] for row in ROWS], ["6*7?"] * 4, {"answer": ["42"] * 4}
    table = scorer.score(rk.Batch(completions, prompts=asked, columns=columns))
    recorder = Recorder(str(folder / "runs" / "x"), attempt=1, rank=0)
    groups = np.zeros(4, dtype=np.int64)
    recorder.record(
        Record(
            table,
            version_of(scorer),
            step=1,
            prompts=asked,
            completions=completions,
            columns=columns,
            groups=groups,
        )
    )
    recorder.close()
    mailbox = Mailbox(folder / "runs" / "x")
    for update, name in ((1, "contains"), (2, "")):
        if name:
            mailbox.send("reward", target=f"rewards.py:{name}", code=collect_sources(f"rewards.py:{name}"))
        else:
            mailbox.send("numbers", numbers={"weights": {"exact": 2.0}})
        mailbox.put_answer(Answer(update, "applied", step=1, before=update - 1))
    return "runs/x"


@pytest.mark.slow
def test_a_run_stands_for_the_scores_that_it_recorded(run: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", run, "rewards.py:contains", "--on", run, "--json"]) == 0
    values = json.loads(capfd.readouterr().out)
    names = {(one["before"], one["after"]): one["state"] for one in values["components"]}
    assert names == {(None, "contains"): "added", ("exact", None): "removed", ("monitored", None): "removed"}
    assert values["total"]["means"] == pytest.approx([0.25 + 0.1 * 0.5, 0.5])
    assert main(["diff", run, "rewards.py:contains", "--on", "rows.jsonl"]) == 2
    assert f"--on {run}" in capfd.readouterr().err


@pytest.mark.slow
def test_what_is_left_out_is_subtracted_from_recorded_totals(run: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", run, "rewards.py:exact", "--on", run, "--without", "monitored", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["same"]


@pytest.mark.slow
def test_a_version_of_a_run_is_made_from_its_code(run: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("rewards.py").write_text(REWARDS.replace("answer in completion", "False"), encoding="utf-8")
    assert main(["diff", f"{run}@1", "rewards.py:contains", *COLUMNS, "--json"]) == 0
    values = json.loads(capfd.readouterr().out)
    assert values["total"]["means"] == [0.5, 0.0]
    assert main(["diff", f"{run}@7", "rewards.py:contains", *COLUMNS]) == 2
    assert "0, 1, 2" in capfd.readouterr().err


@pytest.mark.slow
def test_the_reward_that_a_training_started_with_is_in_its_record(run: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("rewards.py").write_text(REWARDS.replace("==", "!="), encoding="utf-8")
    assert main(["diff", f"{run}@0", f"{run}@1", *COLUMNS, "--json"]) == 0
    values = json.loads(capfd.readouterr().out)
    names = {(one["before"], one["after"]): one["state"] for one in values["components"]}
    assert names == {(None, "contains"): "added", ("exact", None): "removed", ("monitored", None): "removed"}
    [packed] = Path(run, "versions").glob("*.pickle")
    packed.write_bytes(b"damaged")
    assert main(["diff", f"{run}@0", f"{run}@1", *COLUMNS]) == 2
    assert "version 0" in capfd.readouterr().err
    packed.unlink()
    assert main(["diff", f"{run}@0", f"{run}@1", *COLUMNS]) == 2
    assert f"{run} to compare with the recorded scores\n" in capfd.readouterr().err
