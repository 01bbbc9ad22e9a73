"""Runs a child process with a time limit, and returns its lines or the case at which it got stuck."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

SECONDS_PER_CASE = 60.0
"""Seconds for a case that may take 2 s on an idle machine; a hang never ends."""


def lines_of(kind: str, name: str, cases: Sequence[str]) -> list[dict[str, Any]]:
    """Return one line per case, and the lines before the first case."""
    with tempfile.TemporaryFile() as problems:
        command = [sys.executable, "-m", "tests.hostile.child", kind, name]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=problems)
        try:
            lines = [json.loads(line) for line in _said(child).splitlines()]
        finally:
            child.kill()
            child.communicate()
        problems.seek(0)
        done = [line["case"] for line in lines if "case" in line]
        stuck = next((case for case in cases if case not in done), None)
        problem = problems.read().decode(errors="replace")[-2_000:]
        assert stuck is None, f"{name} did not get over {stuck!r}: {problem}"
    return lines


def _said(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    said = b""
    last = time.monotonic()
    while time.monotonic() - last < SECONDS_PER_CASE:
        if select.select([child.stdout], [], [], 1.0)[0]:
            piece = os.read(child.stdout.fileno(), 1 << 16)
            if not piece:
                return said
            said, last = said + piece, time.monotonic()
    return said
