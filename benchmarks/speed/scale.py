"""Benchmark scoring at scale: what each kind of component costs per completion, and what Ray adds.

``python benchmarks/speed/scale.py`` runs both parts, some minutes; ``--parts kinds`` runs one. ``--data DIR`` is a
folder with hardverify_math/cases.jsonl, for formulas that people and models really wrote. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as parquet

import rewardkit as rk
from benchmarks.speed.judge_server import Endpoint
from rewardkit.scoring.datasets import TableScorer

FILE = Path(__file__).resolve()
_BASE_URL = os.environ.get("SCALE_JUDGE", "http://127.0.0.1:1/v1")

cheap = rk.weighted_sum(
    [
        rk.tags("think", "answer"),
        rk.number("answer"),
        rk.exact("answer"),
        rk.length.between(1, 400, unit="words"),
        rk.repetition_penalty(unit="words"),
    ]
)
mathematics = rk.math_equal("answer")
sandbox = rk.code_tests("tests")
judge = rk.judge(rubric="Is it clear?", model=rk.Endpoint("m", _BASE_URL, key="SCALE_KEY", concurrency=512))


class Took(NamedTuple):
    """CPU and wall seconds for one completion."""

    cpu: float
    wall: float


def texts(count: int, seed: int = 0) -> list[str]:
    """Return different completions of about 1,200 characters."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    return [
        f"<think>{seed} {place} {' '.join(draw.choices(words, k=165))}</think><answer>{draw.randrange(20)}</answer>"
        for place in range(count)
    ]


def numbers(count: int, seed: int = 0) -> pa.Table:
    return pa.table({"completion": texts(count, seed), "answer": [str(place % 20) for place in range(count)]})


def formulas(data: Path) -> pa.Table:
    """Return the pairs of HardVerify-Math: right answers in other forms, and wrong ones."""
    cases = [json.loads(line) for line in (data / "hardverify_math" / "cases.jsonl").read_text().splitlines()]
    rows = [(f"\\boxed{{{case[name]}}}", case["ground_truth"]) for case in cases for name in ("fn_output", "tn_output")]
    return pa.table({"completion": [text for text, _ in rows], "answer": [gold for _, gold in rows]})


def programs(count: int, seed: int = 0) -> pa.Table:
    """Return programs with three tests each, half of which fail one."""
    tests = json.dumps([{"input": f"{n} {n + 1}", "output": str(2 * n + 1)} for n in (1, 20, 300)])
    wrong = ("", " if a < 300 else 0")
    code = "```python\n# {}\na, b = map(int, input().split())\nprint(a + b{})\n```"
    rows = [code.format(f"{seed} {place}", wrong[place % 2]) for place in range(count)]
    return pa.table({"completion": rows, "tests": [tests] * count})


def adopt() -> None:
    """Make what the sandboxes leave behind children of this process, so that their time is counted."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def spent(alone: bool) -> float:
    """Return the CPU seconds of this process and, unless `alone`, of its children."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    processes = [psutil.Process()]
    if not alone:
        processes += processes[0].children(recursive=True)
    return sum(sum(process.cpu_times()[:4]) for process in processes)


def took(reward: rk.Reward, tables: Sequence[pa.Table], alone: bool = False) -> Took:
    """Return what a completion costs: the median of scoring each of `tables` but the first, which warms up."""
    scorer = TableScorer(reward)
    scorer.scores(tables[0])
    found = []
    for table in tables[1:]:
        before, started = spent(alone), time.perf_counter()
        scorer.scores(table)
        found.append(((spent(alone) - before) / len(table), (time.perf_counter() - started) / len(table)))
    return Took(*(statistics.median(one) for one in zip(*found, strict=True)))


def kinds(data: Path | None) -> None:
    """Print what each kind of component costs."""
    adopt()
    rows: dict[str, Callable[[], Took]] = {
        "five cheap components, 1.2k characters": lambda: took(cheap, [numbers(4096, seed) for seed in range(6)]),
        "math_equal, plain numbers": lambda: took(mathematics, [numbers(4096, seed) for seed in range(6)]),
        "code_tests, three tests": lambda: took(sandbox, [programs(64, seed) for seed in range(4)]),
        "judge": lambda: took(judge, [numbers(1024, seed) for seed in range(4)], alone=True),
    }
    if data is not None:
        found = formulas(data)
        half = len(found) // 2
        rows["math_equal, formulas"] = lambda: took(mathematics, [found.slice(0, half), found.slice(half)])
    print(f"{'kind':40} {'CPU us':>10} {'wall us':>10} {'a core-hour':>14}")
    for name, measured in rows.items():
        cpu, wall = measured()
        print(f"{name:40} {cpu * 1e6:10,.0f} {wall * 1e6:10,.0f} {3600 / cpu:14,.0f}", flush=True)


def ray(count: int) -> None:
    """Print the time of the command with one process and with Ray, over the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.parquet"
        with parquet.ParquetWriter(data, numbers(1).schema) as writer:
            for seed in range(count // 20_000):
                writer.write_table(numbers(20_000, seed))
        for name, options in {
            "one process": ["--processes", "1", "--out", f"{folder}/one.parquet"],
            "Ray": ["--engine", "ray", "--out", f"{folder}/ray"],
        }.items():
            before, started = psutil.cpu_times(), time.perf_counter()
            command = [sys.executable, "-m", "rewardkit.cli.main", "score", str(data), "--reward", f"{FILE}:cheap"]
            ran = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
            wall = time.perf_counter() - started
            cpu = sum(psutil.cpu_times()[:3]) - sum(before[:3])
            print(
                f"{name:12} {count:,} rows: {wall:.1f} s, {count / wall:,.0f} a second; CPU of the machine {cpu:.1f} s"
            )
            print("   ", ran.stdout.splitlines()[0] if ran.returncode == 0 else ran.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=["kinds", "ray"], default=["kinds", "ray"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int, default=400_000)
    options: Any = parser.parse_args(arguments)
    if "kinds" in options.parts:
        if "SCALE_JUDGE" not in os.environ:
            with Endpoint() as endpoint:  # loaded again with its address
                environment = {**os.environ, "SCALE_JUDGE": endpoint.base_url, "SCALE_KEY": "sk"}
                given = ["--data", str(options.data)] if options.data else []
                subprocess.run([sys.executable, str(FILE), "--parts", "kinds", *given], env=environment, check=True)
        else:
            kinds(options.data)
    if "ray" in options.parts:
        ray(options.rows)


if __name__ == "__main__":
    main()
