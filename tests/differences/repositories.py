"""A git repository to change and review."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, by their paths."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def committed(folder: Path, files: Mapping[str, str], message: str = "change") -> str:
    """Write and commit files; return the commit. The first call makes the repository."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    written(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the text of a .jsonl file."""
    return "".join(json.dumps(row) + "\n" for row in rows)


REWARD = '''"""The answer, behind the last ####."""

import rewardkit as rk

from answers import last


@rk.reward
def right(completion: str, answer: str) -> float:
    """1.0 for the right answer."""
    said = last(completion)
    return 1.0 if said == answer else 0.0
'''
ANSWERS = '''"""Reading answers."""


def last(text: str) -> str:
    """Return what follows the last mark."""
    return text.rpartition("####")[2].strip()
'''
SAMPLE = lines(
    [
        {"prompt": prompt, "answer": answer, "completion": completion}
        for prompt, answer in (("6*7?", "42"), ("3+4?", "7"))
        for completion in (f"#### {answer}", f"I add.\n#### {answer}", "#### 1", f"#### {answer} #### 0", "no idea")
    ]
)
FILES = {"rewards/right.py": REWARD, "rewards/answers.py": ANSWERS, "rewards/right.sample.jsonl": SAMPLE}
"""A reward with a module that it uses, and its sample."""
