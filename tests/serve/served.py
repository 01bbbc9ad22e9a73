"""Rewards that servers of tests serve, and a server as a real process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import rewardkit as rk


@rk.reward
def acts(completion: str, answer: str = "") -> float | None:
    """Do what the completion says."""
    if completion == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if completion == "hang":
        time.sleep(1_000)
    if completion == "regex":  # for years, and no other thread runs meanwhile
        re.match(r"(a+)+b", "a" * 60)
    if completion.startswith("sleep "):
        time.sleep(float(completion.split()[1]))
    if completion == "raise":
        raise ValueError("a bug")
    if completion == "fail":
        raise rk.RewardFailure("the judge is down")
    if completion == "skip":
        return None
    return float(completion == answer)


@rk.reward
def short(completion: str) -> rk.Score:
    return rk.Score(1.0 / (1.0 + len(completion)), note=f"{len(completion)} characters")


reward = 0.75 * acts + 0.25 * short
grouped = rk.rank_in_group(short) + acts
scheduled = rk.schedules.linear(0.0, 1.0, start=0.0, end=1.0) * acts + short
running = rk.normalize(acts, by="running")
golds = rk.number("answer") + short
bad = [reward]


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    process: subprocess.Popen[str]

    def post(self, path: str, content: Any, **headers: str) -> tuple[int, Any]:
        """Return the status and the JSON of an answer."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self._answer(urllib.request.Request(self.url + path, body, headers))

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return self._answer(urllib.request.Request(self.url + path, headers=headers))

    def score(self, *completions: Any, **more: Any) -> list[dict[str, Any]]:
        """Return the scores of completions whose answer is 42."""
        rows = [{"completion": one, "columns": {"answer": "42"}} for one in completions]
        status, said = self.post("/score", {"rows": rows, **more})
        assert status == 200, said
        found: list[dict[str, Any]] = said["rows"]
        return found

    @staticmethod
    def _answer(request: urllib.request.Request) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                status, body = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode()


@contextmanager
def serving(
    name: str = "reward", *options: str, file: str = __file__, port: int = 0, **environment: str
) -> Iterator[Served]:
    """Serve one of the rewards above, or of another file, in a process of its own."""
    command = [sys.executable, "-m", "rewardkit.cli.main", "serve", f"{file}:{name}", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--workers", "2", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("serving on "):
            raise RuntimeError(process.communicate()[1])
        yield Served(line.split()[2].rstrip(","), process)
    finally:
        process.kill()
        process.communicate()
