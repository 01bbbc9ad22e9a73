"""Install the wheel and the sdist as a user would, and use them with every supported Python and several TRLs.

``python .ci/matrix.py`` builds the sdist and, from it, the wheel, and checks both with twine. Then it makes one clean
environment after another and runs `smoke.py` there: import, score, check, a two-step training. It skips a Python that
this machine does not have. It installs with uv if it is on the path, else with pip. The version of torch is that of
constraints.txt, so that an index with CPU builds is used. Everything else is the newest that fits.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
TRLS = ("1.14", "1.16")
WORK = ROOT / ".venv-matrix"


@dataclass(frozen=True)
class Case:
    """One environment: a Python, and a TRL or none."""

    python: str
    trl: str | None
    from_sdist: bool = False

    @property
    def label(self) -> str:
        return f"{self.trl or 'none'}{' (from the sdist)' if self.from_sdist else ''}"


class Failed(Exception):
    """A command failed; the message has the end of its output."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="X.Y", help=f"default: {' '.join(PYTHONS)}")
    parser.add_argument("--trl", nargs="*", default=TRLS, metavar="X.Y", help=f"default: {' '.join(TRLS)}")
    options = parser.parse_args(arguments)
    shutil.rmtree(WORK, ignore_errors=True)
    wheel, sdist = build(WORK / "dist")
    return try_out(wheel, sdist, _cases(options.python, options.trl))


def try_out(wheel: Path, sdist: Path, cases: Iterable[Case]) -> int:
    """Use the packages in an environment for each case, and print a table; return 1 if any failed."""
    uv = shutil.which("uv")
    started = time.monotonic()
    print(f"{wheel.name} and {sdist.name}, installed with {'uv' if uv else 'pip'}\n", flush=True)
    print("| Python | TRL | result | seconds | installed |\n|---|---|---|---|---|", flush=True)
    failures = []
    for case in cases:
        python = _interpreter(case.python)
        if python is None:
            print(f"| {case.python} | {case.label} | skipped: not on this machine | | |", flush=True)
            continue
        began = time.monotonic()
        installed, failure = _tried(case, python, sdist if case.from_sdist else wheel, uv)
        needed = _needed_python(case, failure)
        if failure and not needed:
            failures.append(f"Python {case.python}, TRL {case.label}: {failure}")
        result = f"skipped: this TRL needs Python {needed}" if needed else "FAILED" if failure else "ok"
        print(f"| {case.python} | {case.label} | {result} | {time.monotonic() - began:.0f} | {installed} |", flush=True)
    print(f"\n{len(failures)} failed, {time.monotonic() - started:.0f} s")
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    if not failures:
        shutil.rmtree(WORK)
    return 1 if failures else 0


def _cases(pythons: Sequence[str], trls: Sequence[str]) -> Iterator[Case]:
    for python in pythons:
        yield Case(python, None)
        for trl in trls:
            yield Case(python, trl)
    yield Case(pythons[-1], None, from_sdist=True)


def _interpreter(version: str) -> Path | None:
    """Return an executable of this version of Python: on the path, or of pyenv; None if there is none."""
    found = shutil.which(f"python{version}")
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in [*([Path(found)] if found else []), *pyenv]:
        asked = subprocess.run([path, "--version"], capture_output=True, text=True)  # a shim of pyenv may refuse
        if asked.returncode == 0 and asked.stdout.split()[-1].startswith(f"{version}."):
            return path
    return None


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist into `folder`, and the wheel from the sdist; check how the package index will show them."""
    builder = WORK / "builder" / "bin" / "python"
    run([sys.executable, "-m", "venv", WORK / "builder"])
    run([builder, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", "build", "twine"])
    run([builder, "-m", "build", "--outdir", folder, ROOT])
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run([builder, "-m", "twine", "check", "--strict", wheel, sdist])
    return wheel, sdist


def _tried(case: Case, python: Path, package: Path, uv: str | None) -> tuple[str, str]:
    """Return what is installed, and why it failed (`""`: it did not)."""
    folder = WORK / f"{case.python}-{case.trl or 'core'}"
    own = folder / "bin" / "python"
    wanted = [f"rewardkit-sdk{'[train]' if case.trl else ''} @ {package.as_uri()}"]
    if case.trl:
        torch = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
        wanted += [f"trl=={case.trl}.*", torch]
    installed = ""
    try:
        if uv:
            run([uv, "venv", "--quiet", "--python", python, folder])
            run([uv, "pip", "install", "--quiet", "--python", own, *wanted])
        else:
            run([python, "-m", "venv", folder])
            run([own, "-m", "pip", "install", "--quiet", *wanted])
        said = run([own, "-I", ROOT / ".ci" / "smoke.py", "train" if case.trl else "core"])
        installed = next(line for line in said.splitlines() if line.startswith("installed: ")).partition(": ")[2]
    except Failed as failure:
        return installed, str(failure)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return installed, ""


def _needed_python(case: Case, failure: str) -> str:
    """Return the versions of Python that this TRL needs, if the installer says that this one is not among them."""
    if case.trl is None:
        return ""
    trl = re.escape(case.trl)
    found = re.search(rf"trl=={trl}\S* depends on Python(\S+)|\b{trl}\.\d+ Requires-Python ([^\s;]+)", failure)
    return (found[1] or found[2]).rstrip(",") if found else ""


def run(command: Sequence[object]) -> str:
    """Run a command outside of the repository and without its paths; return its standard output."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = {**kept, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    words = list(map(str, command))
    WORK.mkdir(exist_ok=True)
    done = subprocess.run(words, cwd=WORK, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(words)}\n{(done.stdout + done.stderr)[-4_000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
