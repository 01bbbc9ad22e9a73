"""Compare rewardkit with plain code, TRL, verifiers and eval-protocol: five reward components on 512 completions.

``python benchmarks/speed/rubric.py [--quick] [--peers] [--out FILE]``. ``benchmarks/README.md`` explains what it
measures and how to read the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.peers import environments  # noqa: E402
from benchmarks.speed import (  # noqa: E402
    rubric_floor,
    rubric_rewardkit,
    rubric_trl,
)
from benchmarks.speed.rubric_import import BASE, REWARDKIT, USED_BASE, USED_REWARDKIT, measure_import, median_ratio  # noqa: E402
from benchmarks.speed.rubric_measurement import Times, measure_all, ratio  # noqa: E402
from benchmarks.speed.rubric_rewardkit import CALLED, IN_LOOP  # noqa: E402
from benchmarks.speed.rubric_trl import FAST, PREPARED, VALIDATE  # noqa: E402
from benchmarks.speed.rubric_workload import DUPLICATES, GENERATIONS, PROMPTS, SIZES  # noqa: E402

DISTRIBUTIONS = ("rewardkit-sdk", "trl", "torch", "numpy", "pydantic", "jiter", "jsonschema_rs", "jsonschema")


@dataclass(frozen=True)
class Row:
    """One contestant: microseconds per completion, and the ratios to the floor and to rewardkit."""

    name: str
    microseconds: dict[str, float]
    over_floor: dict[str, float]
    over_rewardkit: dict[str, float]


@dataclass(frozen=True)
class Target:
    """A figure that rewardkit should reach, and the measured one (the worse of the sizes)."""

    what: str
    limit: float
    measured: float
    at_least: bool = False

    @property
    def passed(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def rows_of(times: dict[str, dict[str, Times]], over_floor: dict[str, float] | None = None) -> list[Row]:
    """Return the rows of one process. `over_floor` has rewardkit's ratios if it did not run in that process."""
    rows = []
    for name in next(iter(times.values())):
        runs = {size: run for size, run in times.items() if name in run}
        medians = {size: statistics.median(run[name]) for size, run in runs.items()}
        floors = {size: ratio(run[name], run["floor"]) for size, run in runs.items()}
        rewardkits = {
            size: floors[size] / over_floor[size] if over_floor else ratio(run[name], run[CALLED])
            for size, run in runs.items()
        }
        rows.append(Row(name, medians, floors, rewardkits))
    return rows


def with_peers(rows: list[Row], rounds: int, empty_rounds: int) -> tuple[list[Row], list[str]]:
    """Run the peers; return `rows` with theirs added, and their versions."""
    over_floor = next(row.over_floor for row in rows if row.name == CALLED)
    rows, versions = list(rows), []
    for peer in environments.PEERS:
        environments.install(peer)
        print(f"running {peer.requirement} ...", file=sys.stderr)
        report = environments.run(peer, rounds, empty_rounds)
        versions.append(report["version"])
        rows += [row for row in rows_of(report["times"], over_floor) if row.name != "floor"]
    return rows, versions


def targets_of(times: dict[str, dict[str, Times]], imports: dict[str, list[float]]) -> list[Target]:
    """Return the design's targets with the measured figures."""

    def faster(than: str) -> float:
        return min(ratio(times[size][than], times[size][IN_LOOP]) for size in SIZES)

    over_floor = {size: ratio(times[size][CALLED], times[size]["floor"]) for size in SIZES}
    empty = statistics.median(times["empty"][CALLED])
    return [
        Target("times the hand-fused floor, 1.2k", 2.0, over_floor["1.2k"]),
        Target("times the hand-fused floor, 8.2k", 1.6, over_floor["8.2k"]),
        Target(f"times faster than {FAST}", 1.7, faster(FAST), at_least=True),
        Target(f"times faster than {VALIDATE}", 15.0, faster(VALIDATE), at_least=True),
        Target(f"times faster than {PREPARED}", 15.0, faster(PREPARED), at_least=True),
        Target("us per completion for five empty rewards", 1.5, empty),
        Target(f"times the import of {BASE}", 1.3, median_ratio(imports, REWARDKIT, BASE)),
        Target(f"times the import of {USED_BASE}", 1.3, median_ratio(imports, USED_REWARDKIT, USED_BASE)),
    ]


def print_tables(rows: list[Row], imports: dict[str, list[float]], targets: list[Target]) -> None:
    columns = [*SIZES, "empty"]
    print(f"\n{'':<30}{'us per completion':^27}{'times the floor':^27}{'times rewardkit':^27}")
    print(f"{'contestant':<30}" + "".join(f"{column:>9}" for column in columns * 3))
    for row in rows:
        figures = [row.microseconds, row.over_floor, row.over_rewardkit]
        print(
            f"{row.name:<30}" + "".join(f"{_short(figure.get(column)):>9}" for figure in figures for column in columns)
        )
    print("\nimport, CPU milliseconds")
    for name, times in imports.items():
        print(f"  {name:<28}{statistics.median(times):>9.0f}")
    print("\ntargets for rewardkit (the worse size counts)")
    for target in targets:
        sign = ">=" if target.at_least else "<="
        verdict = "PASS" if target.passed else "MISS"
        print(f"  {verdict}  {target.measured:8.2f} {target.what} ({sign} {target.limit})")


def _short(figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:.2f}" if figure < 100 else f"{figure:.0f}"


def _version(distribution: str) -> str:
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return f"{distribution} (not installed as a distribution)"


def main() -> None:
    """Measure, print the tables, and write the figures to the file given by `--out`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 9, for a quick look")
    parser.add_argument("--peers", action="store_true", help="also verifiers and eval-protocol, each in its own venv")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    arguments = parser.parse_args()
    rounds, empty_rounds, import_rounds = (3, 9, 5) if arguments.quick else (9, 31, 21)

    contestants = [rubric_floor.FLOOR, *rubric_rewardkit.contestants(), *rubric_trl.contestants()]
    empty = [rubric_floor.EMPTY_FLOOR, *rubric_rewardkit.empty_contestants(), *rubric_trl.empty_contestants()]
    times = measure_all(contestants, empty, rounds, empty_rounds)
    rows = rows_of(times)
    versions = [_version(distribution) for distribution in DISTRIBUTIONS]
    if arguments.peers:
        rows, peer_versions = with_peers(rows, rounds, empty_rounds)
        versions += peer_versions
    imports = measure_import(import_rounds)
    targets = targets_of(times, imports)

    print(f"{PROMPTS * GENERATIONS} completions, {DUPLICATES:.0%} duplicates, {rounds} rounds")
    print(", ".join([f"Python {platform.python_version()}", *versions]))
    print_tables(rows, imports, targets)
    if arguments.out:
        figures: dict[str, Any] = {
            "machine": {
                "processor": _processor(),
                "cores": os.cpu_count(),
                "python": platform.python_version(),
            },
            "versions": versions,
            "rounds": rounds,
            "rows": [asdict(row) for row in rows],
            "import_milliseconds": {name: statistics.median(values) for name, values in imports.items()},
            "targets": [{**asdict(target), "passed": target.passed} for target in targets],
        }
        arguments.out.write_text(json.dumps(figures, indent=2) + "\n")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


if __name__ == "__main__":
    main()
