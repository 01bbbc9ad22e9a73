"""Compare `rewardkit check` with falsepass, rewardlint and rewardprobe on the same faulty and sound reward functions.

    python benchmarks/check/rivals/rivals.py                                   # the cases of tests/check, 20 minutes
    python benchmarks/check/rivals/rivals.py --package tests.faults.a --package tests.faults.b --out FOLDER
    python benchmarks/check/rivals/rivals.py --peers FOLDER                    # environments FOLDER/falsepass and so on

Every tool runs in an environment of its own and scores texts with the same scorer, which counts the calls of the reward
(`scorer.py`). Our check is compared with its whole budget and at the number of calls that each tool made. What
is in the folder of ``--out`` already is not run again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rivals_comparison import OURS, Line, alerts_of, missed, read, table, unfounded

PARTS = Path(__file__).resolve().parent
ROOT = PARTS.parents[2]
KINDS = ("faulty", "sound")
CASES = (
    *("numpy==2.4.6", "pydantic==2.14.4", "jiter==0.19.0", "jsonschema-rs==0.60.3", "google-re2==1.1.20251105"),
    *("math-verify==0.9.0", "latex2sympy2-extended==1.11.0", "antlr4-python3-runtime==4.13.2", "sympy==1.14.0"),
    *("py3langid==0.4.0", "sacrebleu==2.6.0", "syllapy==0.8.0", "regex==2026.11.19", "RapidFuzz==3.14.6"),
    "cloudpickle==3.1.2",
)
"""What the reward functions of the cases import."""


@dataclass(frozen=True)
class Rival:
    """A tool, its pinned version, and its environment."""

    name: str
    version: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def install(self) -> None:
        """Create the environment, unless it is there."""
        if self.python.exists():
            return
        print(f"installing {self.name} {self.version} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(self.folder)], check=True)
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{self.name}=={self.version}", *CASES], check=True)


VERSIONS = {"falsepass": "0.11.0", "rewardlint": "0.1.0", "rewardprobe": "0.1.0"}


def rivals(peers: Path | None) -> list[Rival]:
    """Return the tools, in environments next to this repository's own or in the folder of ``--peers``."""
    return [
        Rival(name, version, peers / name if peers else ROOT / f".venv-{name}-check")
        for name, version in VERSIONS.items()
    ]


@dataclass(frozen=True)
class Job:
    """A tool that checks the cases of one kind of one package; its lines go to a file."""

    tool: str
    python: Path
    package: str
    kind: str
    arguments: tuple[str, ...]
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / f"{self.tool}.{self.package}.{self.kind}.jsonl"

    def run(self) -> list[Line]:
        """Return what the tool says; it is asked only if its file is not there."""
        if not self.file.exists():
            part = self.file.with_suffix(".part")
            command = [str(self.python), str(PARTS / f"with_{self.tool}.py"), self.package, self.kind, *self.arguments]
            paths = os.pathsep.join(map(str, (ROOT, PARTS)))
            variables = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
            with part.open("w", encoding="utf-8") as output:
                subprocess.run(command, env=variables, stdout=output, cwd=ROOT, check=True)
            part.rename(self.file)
        return read(self.file, self.package, self.kind)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", help="has faulty() and sound(); default: tests.check.bench")
    parser.add_argument("--path", action="append", default=[], help="folder to import a package from; repeatable")
    parser.add_argument("--peers", type=Path, help="has an environment per tool; default: they are created")
    parser.add_argument("--budget", default="40", help="seconds of our check per case (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (default: %(default)d)")
    parser.add_argument("--out", type=Path, help="keep what the tools say here, one line of JSON per case")
    options = parser.parse_args()
    paths = [word for path in options.path for word in ("--path", str(Path(path).resolve()))]
    tools = rivals(options.peers)
    for rival in tools:
        rival.install()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = [
            Job(tool, python, package, kind, (*paths, *more), folder)
            for tool, python, more in (
                (OURS, Path(sys.executable), ("--budget", options.budget)),
                *((rival.name, rival.python, ()) for rival in tools),
            )
            for package in options.package or ["tests.check.bench"]
            for kind in KINDS
        ]
        said: dict[str, list[Line]] = {}
        with ThreadPoolExecutor(options.workers) as pool:
            for job, lines in zip(jobs, pool.map(Job.run, jobs), strict=True):
                said.setdefault(job.tool, []).extend(lines)
    print("\n".join(table(said)))
    for title, cases in (
        ("A real defect that the tool finds and our check does not", missed(said)),
        ("Our check says nothing, and what the tool says is not known to be real", unfounded(said)),
    ):
        print(f"\n{title} (! marks what makes the tool's command fail):")
        for tool, line in cases:
            print(f"{tool}: {line.package}: {line.name}")
            print("\n".join(f"  {alert}" for alert in alerts_of(line)))


if __name__ == "__main__":
    main()
