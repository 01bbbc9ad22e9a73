"""Run the shortest proof of each fault that benchmarks/check/AUDIT.md lists, each package in its own environment.

    python benchmarks/check/audit/repros.py                       # every package that needs no checkout
    python benchmarks/check/audit/repros.py --checkouts FOLDER    # also those that are run from a clone in FOLDER

One line per repro: the package, the repro, and ``confirmed`` if the fault is there, ``gone`` if it is not. The
environments are those of `audit.py`. A repro is a function in repros_of/PACKAGE.py that asserts what the fault earns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

AUDIT = Path(__file__).resolve().parent

from audit import MARK, PACKAGES, ROOT, Package, install  # noqa: E402

LIMIT = 60.0
"""Seconds that one repro may take; those that show a hang end by themselves."""


def repros(module: ModuleType) -> list[Callable[[], None]]:
    """Return the repros of a module, in its order: its functions that take nothing and whose names are public."""
    made = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
    return [one for one in made if callable(one) and not isinstance(one, type) and not one.__name__.startswith("_")]


def verdict(repro: Callable[[], None], said: Callable[[str], None]) -> None:
    """Say whether a fault is there."""
    try:
        repro()
    except AssertionError as error:
        said(f"gone: {error}"[:300])
    except BaseException as error:
        said(f"failed: {type(error).__name__}: {error}"[:300])
    else:
        said("confirmed")


def inside(package: str, only: str) -> None:
    """Run the repros of a package in this environment, each in a process of its own."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    fork = multiprocessing.get_context("fork")
    for repro in repros(importlib.import_module(f"repros_of.{package}")):
        if only not in repro.__name__:
            continue
        mine, its = fork.Pipe()
        running = fork.Process(target=verdict, args=(repro, its.send))
        running.start()
        outcome = mine.recv() if mine.poll(LIMIT) else f"failed: not done after {LIMIT:g} s"
        running.kill()
        running.join()
        found = {"name": repro.__name__, "outcome": outcome, "fault": (repro.__doc__ or "").strip()}
        print(f"\n{MARK}{json.dumps(found)}", flush=True)  # on a line of its own, whatever the package printed


def outcomes(package: Package, checkouts: Path | None, only: str) -> Iterator[dict[str, str]]:
    """Yield the name, the outcome and the fault of each repro of a package."""
    install(package)
    path = os.pathsep.join(str(folder) for folder in (ROOT, ROOT / "adapters", AUDIT))
    variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    variables["AUDIT_CHECKOUTS"] = str(checkouts.resolve() if checkouts else "")
    variables["PYTHONWARNINGS"] = "ignore"
    command = [str(package.python), __file__, "--inside", package.name, "--only", only]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, errors="replace")
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            yield json.loads(line.removeprefix(MARK))
    if done.returncode:
        print(f"{' '.join(command)} failed; the lines above say why", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", choices=[one.name for one in PACKAGES], help="default: all")
    parser.add_argument("--checkouts", type=Path, help="has clones of the packages that are not on the index")
    parser.add_argument("--only", default="", help="only repros whose name contains this")
    parser.add_argument("--inside", help=argparse.SUPPRESS)  # one package, in this environment
    options = parser.parse_args()
    if options.inside:
        return inside(options.inside, options.only)
    count = confirmed = 0
    for package in PACKAGES:
        if options.packages and package.name not in options.packages:
            continue
        if not (AUDIT / "repros_of" / f"{package.name}.py").exists():
            continue
        if package.checkout and options.checkouts is None:
            print(f"left out: {package.name} (clone {package.checkout} into a folder and pass --checkouts)")
            continue
        for one in outcomes(package, options.checkouts, options.only):
            count += 1
            confirmed += one["outcome"] == "confirmed"
            print(f"{package.name} {one['name']}: {one['outcome']}", flush=True)
    print(f"{confirmed} of {count} confirmed")


if __name__ == "__main__":
    main()
