"""Does composition help learning? Train a tiny model on three tasks with GRPO, with several compositions as rewards.

``python benchmarks/learning/learning.py`` runs the missing trainings (each in its own process, two at a time) and
then prints a report; ``--report`` only prints the report. Results are lines of JSON in ``runs/learning/``, so it can
be resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from benchmarks.learning.registry import EXPERIMENTS, REPORTED  # noqa: E402

STEPS = 80
SEEDS = range(5)
RECORDS = "results.jsonl"
Key = tuple[str, str, int, int]


def read(out: Path) -> list[dict[str, Any]]:
    """Return the records of the finished trainings."""
    file = out / RECORDS
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def key_of(record: dict[str, Any]) -> Key:
    return record["task"], record["arm"], record["seed"], record["steps"]


def launch(task: str, arm: str, seed: int, steps: int, out: Path) -> dict[str, Any] | None:
    """Run one training in its own process and return its record, or print the error and return None if it fails."""
    command = [sys.executable, str(ROOT / "benchmarks" / "learning" / "run.py"), task, arm, str(seed)]
    done = subprocess.run(
        [*command, "--steps", str(steps), "--out", str(out)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{task}, {arm}, seed {seed} failed:\n{done.stderr[-2000:]}", file=sys.stderr, flush=True)
        return None
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


def train_missing(wanted: Iterable[Key], out: Path, jobs: int) -> None:
    """Run the missing warm starts, which several arms share, then the trainings, `jobs` at a time."""
    done = {key_of(record) for record in read(out)}
    missing = [key for key in wanted if key not in done]
    out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()

    def warm(key: Key) -> None:
        launch(key[0], "warm", key[2], 0, out)

    def train(key: Key) -> None:
        record = launch(*key, out)
        if record is None:
            return
        with (out / RECORDS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        minutes = (time.perf_counter() - started) / 60
        scores = ", ".join(f"{name} {value:.3f}" for name, value in record["after"].items())
        print(f"{minutes:5.1f} min  {key[0]}, {key[1]}, seed {key[2]}: {scores}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        shared = {(EXPERIMENTS[key[0]].task.key, key[2]): key for key in missing}
        cold = [key for (name, seed), key in shared.items() if not (out / "warm" / f"{name}-{seed}").exists()]
        list(pool.map(warm, cold))
        list(pool.map(train, missing))


def report(out: Path, tasks: Sequence[str], steps: int, seeds: Sequence[int], figure: Path | None) -> None:
    """Print a table per task, and draw the figure if `figure` is given."""
    from benchmarks.learning.report import report_on

    records = [record for record in read(out) if record["steps"] == steps and record["seed"] in seeds]
    for task in tasks:
        print(f"\n{report_on(records, task)}")
    if figure is not None:
        from benchmarks.learning.figure import draw

        draw(records, tasks, figure)
        print(f"\nfigure: {figure}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", nargs="+", default=list(REPORTED), choices=list(EXPERIMENTS), metavar="TASK")
    parser.add_argument("--arms", nargs="+", metavar="ARM", help="default: all arms of each task")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), metavar="SEED")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--jobs", type=int, default=2, help="trainings to run at a time, each on one thread")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "learning")
    parser.add_argument("--report", action="store_true", help="train nothing, report what is recorded")
    parser.add_argument("--figure", type=Path, help="also draw the results to this PNG file")
    options = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    wanted = [
        (task, arm, seed, options.steps)
        for seed in options.seeds
        for task in options.tasks
        for arm in EXPERIMENTS[task].arms()
        if options.arms is None or arm in options.arms
    ]
    if not options.report:
        train_missing(wanted, options.out.resolve(), options.jobs)
    report(options.out, options.tasks, options.steps, options.seeds, options.figure)


if __name__ == "__main__":
    main()
