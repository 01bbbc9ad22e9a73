"""Count how many faults `check_reward` finds and how often it flags a sound reward, with all laws on all test cases.

``python benchmarks/check/harness.py`` checks the faulty and the sound rewards of tests/check in two processes. Use
``--package`` for another set of cases (a package with ``faulty()`` and ``sound()``), such as one that was not looked at
while the laws were written.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHORT = 200
"""The most characters a counterexample should have."""
_CHILD = """
import importlib, json, sys
sys.path[:0] = sys.argv[4:]
package, kind, names = sys.argv[1], sys.argv[2], set(json.loads(sys.argv[3]))
module = importlib.import_module(package)
cases = getattr(module, kind)()
if not names:
    print(json.dumps([case.name for case in cases]))
    sys.exit()
from rewardkit.testing import check_reward
for case in cases:
    if case.name in names:
        try:
            report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad)
        except Exception as error:
            print(f"{case.name} cannot be checked: {type(error).__name__}: {error}", file=sys.stderr)
            print(json.dumps([case.name, [], 0.0]), flush=True)
            continue
        found = [(one.law, one.family, one.why, len(str(one.completion))) for one in report.findings]
        print(json.dumps([case.name, found, report.seconds]), flush=True)
"""


@dataclass(frozen=True)
class Checked:
    """One case: its findings, and how long the check took."""

    name: str
    findings: list[tuple[str, str, str, int]]
    seconds: float

    @property
    def short(self) -> bool:
        return any(size <= SHORT for *_, size in self.findings)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="tests.check.bench", help="has faulty() and sound(); default: %(default)s")
    parser.add_argument("--path", action="append", default=[], help="folder to import the package from; repeatable")
    parser.add_argument("--quiet", action="store_true", help="print only the counts, for cases that should stay unseen")
    options = parser.parse_args(arguments)
    faulty = _checked(options.package, "faulty", options.path)
    sound = _checked(options.package, "sound", options.path)
    found = [one for one in faulty if one.findings]
    flagged = [one for one in sound if one.findings]
    every = [*faulty, *sound]
    print(f"faults found            {len(found)} of {len(faulty)} ({len(found) / len(faulty):.0%})")
    print(f"  with a short example  {sum(one.short for one in found)} (at most {SHORT} characters)")
    print(f"sound ones flagged      {len(flagged)} of {len(sound)}")
    print(
        f"seconds per check       {sum(one.seconds for one in every) / len(every):.1f}, at most "
        f"{max(one.seconds for one in every):.1f}"
    )
    if not options.quiet:
        for one in faulty:
            if not one.findings:
                print(f"not found: {one.name}")
        for one in flagged:
            print(f"flagged: {one.name}: {one.findings[0]}")
        for one in found:
            print(f"found: {one.name}: {one.findings[0]}")


def _checked(package: str, kind: str, paths: list[str]) -> list[Checked]:
    (names,) = _child(package, kind, [], paths)
    parts = [names[start::4] for start in range(4)]
    with ThreadPoolExecutor(2) as pool:
        rows = [row for rows in pool.map(lambda part: _child(package, kind, part, paths), parts) for row in rows]
    return [Checked(name, [tuple(one) for one in found], seconds) for name, found, seconds in rows]


def _child(package: str, kind: str, names: list[str], paths: list[str]) -> list[Any]:
    command = [sys.executable, "-c", _CHILD, package, kind, json.dumps(names), str(ROOT), *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


if __name__ == "__main__":
    main()
