"""The rollouts that NeMo Gym publishes with its resources servers, as requests to ``/verify``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_OLD_TASKS = {"structured_outputs": "45f090fb3"}
"""Servers whose tasks were replaced after their rollouts were published -> the commit that has them."""


def published(checkout: Path, server: str) -> list[tuple[dict[str, Any], float]]:
    """Return (request, published reward) for each rollout of a server: its task, and the response."""
    folder = checkout / "resources_servers" / server / "data"
    rollouts = _lines((folder / "example_rollouts.jsonl").read_text(encoding="utf-8"))
    tasks = {_asked(task): task for task in _tasks(checkout, server)}
    fields = {name for task in tasks.values() for name in task}
    found = []
    for rollout in rollouts:
        request = {
            **{name: cell for name, cell in rollout.items() if name in fields},
            **tasks.get(_asked(rollout), {}),
            "response": rollout["response"],
        }
        found.append((request, rollout["reward"]))
    return found


def _tasks(checkout: Path, server: str) -> list[dict[str, Any]]:
    path = f"resources_servers/{server}/data/example.jsonl"
    if server not in _OLD_TASKS:
        return _lines((checkout / path).read_text(encoding="utf-8"))
    show = ["git", "-C", str(checkout), "show", f"{_OLD_TASKS[server]}:{path}"]
    return _lines(subprocess.run(show, check=True, capture_output=True, text=True).stdout)


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _asked(task: Mapping[str, Any]) -> str:
    """Return the texts of the request, by which a rollout finds its task."""
    given = task["responses_create_params"]["input"]
    if isinstance(given, str):
        return given
    contents = [item.get("content") for item in given if "role" in item]
    return "\n".join(text if isinstance(text, str) else json.dumps(text, sort_keys=True) for text in contents)
