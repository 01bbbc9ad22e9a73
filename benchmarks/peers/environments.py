"""Install each peer in its own virtual environment with plain pip, and run its scripts there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.report import MARK

ROOT = Path(__file__).resolve().parents[2]
COMPONENT_LIBRARIES = ("jiter==0.19.0", "jsonschema-rs==0.60.3")
"""The libraries of the plain components, which are the same for every contestant."""


@dataclass(frozen=True)
class Peer:
    """A framework to compare with: the tested distribution, its environment, and the script that runs in it."""

    requirement: str
    environment: str
    script: str

    @property
    def python(self) -> Path:
        return ROOT / self.environment / "bin" / "python"


PEERS = (
    Peer("verifiers==0.4.0", ".venv-verifiers", "verifiers_task.py"),
    Peer("verifiers==0.3.1", ".venv-verifiers-rubric", "verifiers_rubric.py"),
    Peer("eval-protocol==0.3.33", ".venv-eval-protocol", "eval_protocol_rubric.py"),
)


def install(peer: Peer, also: Sequence[str] = ()) -> None:
    """Create the environment and install the pinned versions, unless they are already there.

    Args:
        peer: the peer to install.
        also: more packages, pinned.
    """
    if not peer.python.exists():
        print(f"creating {peer.environment} for {peer.requirement} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(peer.python.parent.parent)], check=True)
    packages = [peer.requirement, *COMPONENT_LIBRARIES, *also]
    installed = subprocess.run([str(peer.python), "-c", _VERSIONS, *packages], capture_output=True, check=False)
    if installed.returncode:
        subprocess.run([str(peer.python), "-m", "pip", "install", "--quiet", *packages], check=True)


_VERSIONS = (
    "import sys; from importlib.metadata import version; "
    "sys.exit(any(version(name) != pinned for name, pinned in (word.split('==') for word in sys.argv[1:])))"
)


def run(peer: Peer, rounds: int, empty_rounds: int) -> dict[str, Any]:
    """Return the peer's report: its version, and its times and the floor's in the same process.

    Raises:
        RuntimeError: the script failed; the message has its error output.
    """
    return run_json(peer, ["--rounds", str(rounds), "--empty-rounds", str(empty_rounds)])


def run_json(peer: Peer, arguments: Sequence[str]) -> dict[str, Any]:
    """Run the peer's script with `arguments` and return its report.

    Raises:
        RuntimeError: the script failed; the message has its error output.
    """
    done = subprocess.run(
        [str(peer.python), str(Path(__file__).with_name(peer.script)), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        raise RuntimeError(f"{peer.requirement} failed:\n{done.stderr[-4_000:]}")
    report: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return report
