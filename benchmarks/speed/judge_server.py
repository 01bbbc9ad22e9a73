"""The judge's endpoint in its own process: it answers after 100 +- 30 ms and takes commands on standard input.

``with Endpoint() as endpoint: ...`` starts it; after ``endpoint.tell("faulty")``, one answer in ten is a 429 or
a 500.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEAN, SPREAD = 0.1, 0.03
FAULTY = 0.1


class Endpoint:
    """A handle on the server's process."""

    def __enter__(self) -> Endpoint:
        command = [sys.executable, str(Path(__file__).resolve())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.base_url = self._answer()
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.communicate()

    def tell(self, command: str) -> str:
        """Send ``usual``, ``faulty``, ``down``, ``up`` or ``count`` (requests since the last ``count``)."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def serve() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.rewards.judges.server import JudgeServer, failure, limited, slowly, sometimes, verdict

    usual = verdict(lambda request: {"reason": "It is clear and complete.", "score": len(request.content) % 11})
    broken = sometimes(0.5, limited(), failure(500))
    answers = {"usual": slowly(usual, MEAN, SPREAD), "faulty": slowly(sometimes(FAULTY, broken, usual), MEAN, SPREAD)}
    with JudgeServer(answers["usual"]) as server:
        print(server.base_url, flush=True)
        for line in sys.stdin:
            command = line.strip()
            answer = command
            if command in answers:
                server.answer = answers[command]
            elif command == "count":
                answer = str(len(server.requests))
                server.requests.clear()
            else:
                {"down": server.down, "up": server.up}[command]()
            print(answer, flush=True)


if __name__ == "__main__":
    serve()
