"""Rewards at git revisions: each has its own files and modules, and the repository stays as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.differences.revisions import checked_out
from rewardkit.differences.targets import Target, target_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

REWARD = """
from pathlib import Path

import rewardkit as rk
from helper import VALUE

@rk.reward
def reward(completion: str) -> float:
    return VALUE if len(completion) > int(Path(__file__).with_name("least.txt").read_text()) else 0.0
"""
HELPER = "VALUE = {value}\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A repository with `rewards/` in it; the function commits files."""
    root = tmp_path / "a repository"
    (root / "rewards").mkdir(parents=True)
    monkeypatch.chdir(root)

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)

    def commit(**files: str) -> None:
        for name, text in files.items():
            (root / "rewards" / name.replace("_", ".")).write_text(text, encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", "a change")

    git("init", "-q", ".")
    (root / ".gitattributes").write_text("*.txt export-ignore\n", encoding="utf-8")
    rows = [{"prompt": "p", "completion": "x" * length} for length in range(4)]
    (root / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    commit(reward_py=REWARD, helper_py=HELPER.format(value=1.0), least_txt="1")
    return commit


def test_each_revision_has_its_own_modules_and_files(
    repository: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # Python itself caches what it imports from the working tree
    repository(helper_py=HELPER.format(value=0.5))
    repository(least_txt="2")
    found = rk.diff("HEAD~2:rewards/reward.py:reward", "HEAD~1:rewards/reward.py:reward", "rows.jsonl")
    assert found.before.total.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert found.after.total.tolist() == [0.0, 0.0, 0.5, 0.5]
    Path("rewards/helper.py").write_text(HELPER.format(value=0.25), encoding="utf-8")
    dirty = rk.diff("HEAD:rewards/reward.py", "rewards/reward.py:reward", "rows.jsonl")
    assert dirty.before.total.tolist() == [0.0, 0.0, 0.0, 0.5]
    assert dirty.after.total.tolist() == [0.0, 0.0, 0.0, 0.25]
    said = subprocess.run(["git", "status", "--short"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["M", "rewards/helper.py"]


def test_paths_are_relative_to_the_working_directory_or_the_top(
    repository: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(helper_py=HELPER.format(value=0.5))
    monkeypatch.chdir("rewards")
    for name in ("HEAD~1:reward.py:reward", "HEAD~1:rewards/reward.py:reward"):
        found = rk.diff(name, "reward.py:reward", "../rows.jsonl")
        assert found.before.total.tolist() == [0.0, 0.0, 1.0, 1.0]
        assert found.after.total.tolist() == [0.0, 0.0, 0.5, 0.5]


def test_the_files_of_a_revision_are_there_and_then_gone(repository: Callable[..., None]) -> None:
    repository(helper_py=HELPER.format(value=0.5))
    with checked_out("HEAD~1", Path.cwd()) as tree:
        assert (tree.folder / "rewards" / "helper.py").read_text(encoding="utf-8") == HELPER.format(value=1.0)
        assert (tree.folder / "rewards" / "least.txt").is_file()
        place = tree.folder
    assert not place.exists()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("nowhere:rewards/reward.py:reward", "no git revision"),
        ("--help:rewards/reward.py:reward", "no git revision"),
        ("HEAD:reward.py:reward", "HEAD:rewards/reward.py"),
        ("HEAD:other.py:reward", "has no file other.py"),
    ],
)
def test_what_git_does_not_have_is_named(repository: Callable[..., None], name: str, error: str) -> None:
    with pytest.raises(rk.RewardKitError, match=error):
        rk.diff(name, "rewards/reward.py:reward", "rows.jsonl")


def test_outside_of_a_repository_it_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rk.errors.DataError, match="git"):
        rk.diff("HEAD:reward.py:reward", "HEAD:reward.py:reward", [{"completion": "a"}])


@pytest.mark.parametrize(
    ("text", "revision", "name"),
    [
        ("reward.py:reward", "", "reward.py:reward"),
        ("my.rewards:reward", "", "my.rewards:reward"),
        ("reward.py", "", "reward.py"),
        ("C:\\rewards\\reward.py:reward", "", "C:\\rewards\\reward.py:reward"),
        ("HEAD~1:reward.py:reward", "HEAD~1", "reward.py:reward"),
        ("HEAD@{1}:a/reward.py:reward", "HEAD@{1}", "a/reward.py:reward"),
        ("main:reward.py", "main", "reward.py"),
        ("v1.0:my.rewards:reward", "v1.0", "my.rewards:reward"),
        ("feature/x:a/b.py:task.reward", "feature/x", "a/b.py:task.reward"),
    ],
)
def test_names_of_rewards(text: str, revision: str, name: str) -> None:
    found = target_of(text)
    assert found == Target(revision, name)
    assert str(found) == text
