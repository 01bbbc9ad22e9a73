"""``rewardkit diff --base``: what it says of changes in a repository, for whom, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import main
from tests.differences.repositories import ANSWERS, FILES, REWARD, SAMPLE, committed, git, written

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.slow


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    committed(folder, FILES)
    monkeypatch.chdir(folder)
    return folder


def review(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the command; return its exit code, its JSON and its comment."""
    files = [folder.parent / "review.json", folder.parent / "review.md"]
    for file in files:
        file.unlink(missing_ok=True)
    base = () if "--github" in arguments else ("--base", "HEAD")
    code = main(["diff", *base, *arguments, "--json", str(files[0]), "--markdown", str(files[1])])
    found: dict[str, Any] = json.loads(files[0].read_text(encoding="utf-8"))
    return code, found, files[1].read_text(encoding="utf-8")


def test_a_changed_module_that_the_reward_uses_is_noticed(repository: Path, capsys: Captured) -> None:
    written(repository, {"rewards/answers.py": ANSWERS.replace("rpartition", "partition")})
    code, found, comment = review(repository)
    [one] = found["rewards"]
    assert code == 0
    assert (one["name"], one["state"]) == ("rewards/right.py:right", "changed")
    assert one["sample"]["changed"] == 0  # "#### 42 #### 0" is wrong either way
    assert one["made"]["changed"] > 0
    assert "rewards/right.py:right" in comment
    assert "get a different total" in capsys.readouterr().out


def test_another_way_to_write_the_same_is_no_change(repository: Path) -> None:
    other = REWARD.replace("said = last(completion)\n", "found = last(completion)\n").replace("said ==", "found ==")
    written(repository, {"rewards/right.py": other, "README.md": "A note.\n"})
    code, found, comment = review(repository)
    assert (code, comment) == (0, "")
    assert [one["state"] for one in found["rewards"]] == ["same"]
    assert found["rewards"][0]["sample"]["completions"] == 10


def test_a_part_of_a_composed_reward_is_reviewed_with_it(repository: Path) -> None:
    composed = REWARD + '\nform = rk.contains(all="####")\nreward = 0.2 * form + rk.gate(when=form, then=right)\n'
    committed(repository, {"rewards/right.py": composed})
    written(repository, {"rewards/right.py": composed.replace("0.0", "0.1")})
    [one] = review(repository)[1]["rewards"]
    assert (one["name"], one["state"]) == ("rewards/right.py:reward", "changed")
    written(repository, {"rewards/right.py": composed.replace("reward = ", "reward = 1.0 * right  # ")})
    found = {one["name"]: one["state"] for one in review(repository)[1]["rewards"]}
    assert found == {"rewards/right.py:reward": "changed", "rewards/right.py:form": "same"}


def test_a_change_elsewhere_touches_no_reward(repository: Path) -> None:
    written(repository, {"notes.py": "x = 1\n"})
    git(repository, "add", "--all")
    assert review(repository) == (0, {"schema": 1, "changed": 0, "rewards": [], "notes": [], "exceeded": []}, "")


def test_limits_and_newly_broken_laws_set_the_exit_code(repository: Path) -> None:
    written(repository, {"rewards/right.py": REWARD.replace("said == answer", "answer in completion")})
    code, found, comment = review(repository, "--max-changed", "5%")
    [one] = found["rewards"]
    assert code == 1
    assert found["exceeded"]
    assert "exploits" in {law["law"] for law in one["broken"]}
    assert "check" in comment
    assert review(repository, "--no-check", "--max-changed", "90%")[0] == 0


def test_a_reward_that_cannot_be_imported_fails(repository: Path) -> None:
    written(repository, {"rewards/right.py": REWARD.replace("from answers", "from answer")})
    code, found, comment = review(repository)
    assert code == 2
    assert found["rewards"][0]["state"] == "failed"
    assert "answer" in comment


def test_a_reward_that_hangs_is_ended(repository: Path) -> None:
    written(repository, {"rewards/right.py": REWARD.replace("said = last", "while True: pass\n    said = last")})
    code, found, _ = review(repository, "--no-check", "--only-sample", "--timeout", "5")
    assert code == 2
    assert "too long" in found["rewards"][0]["why"]


def test_renamed_files_and_rewards_are_compared(repository: Path) -> None:
    git(repository, "mv", "rewards/right.py", "rewards/exact.py")
    git(repository, "mv", "rewards/right.sample.jsonl", "rewards/exact.sample.jsonl")
    written(repository, {"rewards/exact.py": REWARD.replace("def right", "def exact")})
    code, found, _ = review(repository)
    assert code == 0
    assert [(one["name"], one["state"]) for one in found["rewards"]] == [("rewards/exact.py:exact", "same")]


def test_new_and_removed_rewards_are_said(repository: Path) -> None:
    second = "\n\n@rk.reward\ndef short(completion: str) -> float:\n    return float(len(completion) < 9)\n"
    written(repository, {"rewards/right.py": REWARD + second})
    states = {one["name"]: one["state"] for one in review(repository)[1]["rewards"]}
    assert states == {"rewards/right.py:right": "same", "rewards/right.py:short": "added"}
    committed(repository, {})
    written(repository, {"rewards/right.py": REWARD})
    states = {one["name"]: one["state"] for one in review(repository)[1]["rewards"]}
    assert states == {"rewards/right.py:right": "same", "rewards/right.py:short": "removed"}


def test_a_changed_sample_and_changed_packages_are_said(repository: Path) -> None:
    changed = {"rewards/right.sample.jsonl": SAMPLE + SAMPLE, "requirements.txt": "rewardkit-sdk==0.2\n"}
    written(repository, {**changed, "rewards/right.py": REWARD.replace("0.0", "0.1")})
    git(repository, "add", "--all")
    _, found, comment = review(repository)
    assert len(found["notes"]) == 2
    assert "requirements.txt" in comment
    assert found["rewards"][0]["sample"]["completions"] == 20


def test_hostile_completions_are_no_markup_and_no_commands(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    hostile = "````\n::error::pwned @ada <img src=x> ````\n::set-output name=x::y"
    row = {"prompt": "@bob?", "answer": "42", "completion": f"{hostile}\n#### 42"}
    committed(repository, {"rewards/right.sample.jsonl": json.dumps(row) + "\n"})
    loud = REWARD.replace("    said =", "    print('::error::printed')\n    said =").replace("1.0 if", "0.5 if")
    written(repository, {"rewards/right.py": loud})
    event = repository.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 1, "base": {"sha": git(repository, "rev-parse", "HEAD")}}}))
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "RUNNER_TEMP")
    for name in names:
        monkeypatch.setenv(name, str(repository.parent / ("" if name == "RUNNER_TEMP" else name)))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    monkeypatch.setenv("GITHUB_REPOSITORY", "ada/rewards")
    _, _, comment = review(repository, "--github", "--no-check")
    said = capfd.readouterr()
    start, *lines, end = said.out.splitlines()
    assert start.startswith("::stop-commands::")
    assert end == f"::{start.removeprefix('::stop-commands::')}::"
    assert not any(line.startswith("::") for line in lines)
    outside = _outside_of_blocks(comment)
    assert "@ada" not in outside
    assert "@bob" not in outside
    assert "<img" not in outside
    assert (repository.parent / "GITHUB_STEP_SUMMARY").read_text() == f"{comment}\n"
    assert (repository.parent / "GITHUB_OUTPUT").read_text().splitlines()[0] == "changed=true"


def _outside_of_blocks(text: str) -> str:
    """Return the lines of a Markdown text that are in no fenced block."""
    kept, fence = [], ""
    for line in text.splitlines():
        ticks = len(line) - len(line.lstrip("`"))
        if not fence and ticks >= 3:
            fence = "`" * ticks
        elif fence and line.strip("`") == "" and ticks >= len(fence):
            fence = ""
        elif not fence:
            kept.append(line)
    assert not fence
    return "\n".join(kept)


def test_named_files_outside_of_the_repository_are_refused(repository: Path, capsys: Captured) -> None:
    written(repository.parent, {"other.py": REWARD})
    assert main(["diff", "--base", "HEAD", "../other.py:right"]) == 2
    assert "not in the repository" in capsys.readouterr().err
