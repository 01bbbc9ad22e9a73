"""The GitHub Action, as a runner runs it: its steps in a shallow clone of a pull request, against a local server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.differences.repositories import FILES, REWARD, committed, git
from tests.differences.test_github import GitHub, github as github

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
HOOKS: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


class Runner:
    """A job of GitHub Actions for the pull request of a clone."""

    def __init__(self, clone: Path, github: GitHub, **inputs: str) -> None:
        self.clone, self.temporary, self.inputs = clone, clone.parent, inputs
        self.outputs: dict[str, str] = {}
        self.printed = ""
        event = {"pull_request": {"number": 7, "base": {"sha": git(clone, "rev-parse", "HEAD")}}}
        (self.temporary / "event.json").write_text(json.dumps(event))
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_EVENT_PATH": str(self.temporary / "event.json"),
            "GITHUB_REPOSITORY": "ada/rewards",
            "GITHUB_API_URL": github.address,
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
            "RUNNER_TEMP": str(self.temporary),
        }

    def step(self, name: str) -> int:
        """Run a step and return its exit code."""
        step = next(one for one in STEPS if one["name"] == name)
        output = self.temporary / f"{name}.output"
        output.touch()
        values = {key: self._value(text) for key, text in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.clone,
            env={**self.environment, **values, "GITHUB_OUTPUT": str(output)},
            capture_output=True,
            text=True,
        )
        self.printed += done.stdout + done.stderr
        self.outputs |= dict(line.partition("=")[::2] for line in output.read_text().splitlines())
        return done.returncode

    def _value(self, text: str) -> str:
        known = {"github.action_path": str(ROOT), "github.token": "token"}
        known |= {f"inputs.{name}": str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        known |= {f"inputs.{name}": value for name, value in self.inputs.items()}
        known |= {f"steps.review.outputs.{name}": value for name, value in self.outputs.items()}
        for _ in range(2):  # the default of an input is an expression, too
            text = re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], text)
        return text


def pull_request(folder: Path, files: dict[str, str]) -> Path:
    """Return the clone that actions/checkout makes: the newest merge commit, and nothing before it."""
    origin = folder / "origin"
    committed(origin, FILES)
    git(origin, "checkout", "--quiet", "-b", "work")
    committed(origin, files)
    git(origin, "checkout", "--quiet", "main")
    committed(origin, {"later.txt": "on main"})
    git(origin, "merge", "--quiet", "--no-ff", "--message", "merge", "work")
    git(folder, "clone", "--quiet", "--depth=1", f"file://{origin}", "clone")
    return folder / "clone"


@pytest.mark.slow
@needs_bash
def test_a_changed_reward_gets_a_comment_that_follows_it(tmp_path: Path, github: GitHub) -> None:
    clone = pull_request(tmp_path, {"rewards/right.py": REWARD.replace("0.0", "0.1")})
    runner = Runner(clone, github, rewards="rewards/right.py:right\n", sample="rewards/right.sample.jsonl")
    assert [runner.step(name) for name in ("Install", "Review", "Comment")] == [0, 0, 0], runner.printed
    assert runner.outputs["changed"] == "true"
    assert "rewards/right.py:right" in github.comments[0]["body"]
    assert "rewards/right.py:right" in (tmp_path / "summary.md").read_text()
    # The pull request takes the change back.
    committed(clone, {"rewards/right.py": REWARD})
    git(clone, "fetch", "--quiet", "--unshallow")
    git(clone, "reset", "--quiet", "--soft", "HEAD~2")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "as before")
    runner.environment["GITHUB_EVENT_PATH"] = str(tmp_path / "later.json")
    event = {"pull_request": {"number": 7, "base": {"sha": git(clone, "rev-parse", "HEAD~1")}}}
    (tmp_path / "later.json").write_text(json.dumps(event))
    assert [runner.step(name) for name in ("Review", "Comment")] == [0, 0], runner.printed
    assert runner.outputs["changed"] == "false"
    assert len(github.comments) == 1
    assert "as before" in github.comments[0]["body"]


@pytest.mark.slow
@needs_bash
def test_options_fail_the_job_and_the_comment_is_written(tmp_path: Path, github: GitHub) -> None:
    clone = pull_request(tmp_path, {"rewards/right.py": REWARD.replace("said ==", "said !=")})
    runner = Runner(clone, github, options="--max-flips 2% --no-check")
    assert runner.step("Review") == 1
    assert runner.step("Comment") == 0
    assert "flip the sign" in github.comments[0]["body"]


@pytest.mark.slow
@needs_bash
def test_a_reward_does_not_see_the_token(tmp_path: Path, github: GitHub) -> None:
    curious = REWARD.replace("import rewardkit", "import os\n\nimport rewardkit").replace(
        "0.0", "0.1 if 'GITHUB_TOKEN' in os.environ else 0.0"
    )
    clone = pull_request(tmp_path, {"rewards/right.py": curious})
    runner = Runner(clone, github)
    assert runner.step("Review") == 0
    assert runner.outputs["changed"] == "false"


def test_the_steps_take_inputs_from_variables_alone() -> None:
    """An expression in a script would run what an input says."""
    for step in STEPS:
        assert "${{" not in step["run"], step["name"]
        assert step["shell"] == "bash"
    assert "GITHUB_TOKEN" not in next(one for one in STEPS if one.get("id") == "review")["env"]


def test_inputs_and_outputs_are_those_that_the_steps_use() -> None:
    said = json.dumps(STEPS)
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in said, name
    for one in ACTION["outputs"].values():
        assert re.fullmatch(r"\$\{\{ steps\.review\.outputs\.(changed|report) \}\}", one["value"])


def test_the_hook_runs_the_command_once_for_all_files() -> None:
    [hook] = HOOKS
    assert hook["entry"].split()[:2] == ["rewardkit", "diff"]
    assert not hook["pass_filenames"]
    for path in ("rewards/math.py", "rewards/math.sample.jsonl", "requirements.txt"):
        assert re.search(hook["files"], path)
    assert not re.search(hook["files"], "README.md")
