"""Hostile completions over every primitive: no crash, no hang, no score that is not earned, neighbours keep theirs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.rewards import REWARDS
from tests.hostile.texts import TEXTS

ROOT = Path(__file__).parents[2]
SECONDS_PER_TEXT = 60.0
"""What a loaded machine may take where 2 s are allowed: a hang takes for ever."""

GROWTH = 256 * 1024
"""Kilobytes that one text may add to the process."""


def lines_of(name: str) -> list[dict[str, Any]]:
    """What the child says of each text, until its end or until it says nothing for too long."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile.child", name],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    said = b""
    try:
        last = time.monotonic()
        while time.monotonic() - last < SECONDS_PER_TEXT:
            if select.select([child.stdout], [], [], 1.0)[0]:
                piece = os.read(child.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                said, last = said + piece, time.monotonic()
    finally:
        child.kill()
        problem = child.stderr.read().decode()[-2_000:]
        child.communicate()
    lines = [json.loads(line) for line in said.splitlines()]
    done = list(TEXTS)[: len(lines) - 1]
    stuck = next((text for text in TEXTS if text not in done), None)
    assert stuck is None, f"{name} did not get over {stuck!r}: {problem}"
    return lines


@pytest.mark.parametrize("name", REWARDS)
def test_hostile_texts(name: str) -> None:
    case = REWARDS[name]
    first, *lines = lines_of(name)
    right, wrong = first["honest"]
    assert right > wrong
    low, high = case.make().bounds
    for line in lines:
        most = case.exceptions.get(line["text"], high if case.most is None else case.most)
        assert low <= line["score"] <= most + 1e-9, line
        assert line["neighbours"] == [right, wrong], line
        assert line["grown"] <= GROWTH, line


def test_there_are_enough_of_them() -> None:
    assert len(TEXTS) * len(REWARDS) > 2_000
