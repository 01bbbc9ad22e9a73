"""Benchmark `rewardkit score`: CPU time of a row, speed-up of a second process, memory, for JSON lines and Parquet.

``python benchmarks/speed/scoring.py --rows 200000 --large 2000000`` writes rows of 900 characters to a temporary
folder and scores them with two cheap components. CPU time is that of all processes of the command, start-up included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as parquet

_REWARD = """import rewardkit as rk
reward = 0.8 * rk.number("answer") + 0.2 * rk.length.between(1, 2000, unit="characters").named("short")
"""
_BLOCK = 10_000
_ENDINGS = (".jsonl", ".parquet")


@dataclass(frozen=True)
class Cost:
    """What a command cost.

    Attributes:
        cpu, wall: seconds.
        memory: the most megabytes of all processes together, shared pages counted once.
    """

    cpu: float
    wall: float
    memory: float


def blocks(count: int, seed: int = 0) -> Iterator[list[dict[str, object]]]:
    """Yield rows of about 900 characters, half of them with a right answer."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    for start in range(0, count, _BLOCK):
        rows: list[dict[str, object]] = []
        for row in range(start, min(start + _BLOCK, count)):
            first, second = draw.randrange(1000), row % 97
            said = f"<think>{' '.join(draw.choices(words, k=115))}</think>"
            answer = first + second * (draw.random() < 0.5)
            asked = f"What is {first} plus {second}?"
            rows.append({"prompt": asked, "completion": f"{said}<answer>{answer}</answer>"})
            rows[-1] |= {"answer": str(first + second), "id": row}
        yield rows


def write(folder: Path, count: int) -> list[Path]:
    """Write the same rows as JSON lines and as Parquet."""
    lines, table = (folder / f"rows{ending}" for ending in _ENDINGS)
    writer = None
    with lines.open("w") as file:
        for rows in blocks(count):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            batch = pa.Table.from_pylist(rows)
            writer = writer or parquet.ParquetWriter(table, batch.schema, compression="zstd")
            writer.write_table(batch)
    if writer is not None:
        writer.close()
    return [lines, table]


def score(data: Path, processes: int) -> Cost:
    """Score a file in a process of its own, and check that all rows are there."""
    reward, out = data.with_name("reward.py"), data.with_name(f"scored{data.suffix}")
    reward.write_text(_REWARD)
    given = ["score", data, "--reward", f"{reward}:reward", "--out", out, "--processes", processes]
    code = "import sys; from rewardkit.cli.main import main\nif __name__ == '__main__': sys.exit(main())"
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    running = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, given)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    most = [0.0]
    watch = threading.Thread(target=_watch, args=(running, most))
    watch.start()
    if running.wait() != 0:
        raise SystemExit(f"the command failed: {given}")
    watch.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.perf_counter() - started, most[0])


def _watch(running: subprocess.Popen[bytes], most: list[float]) -> None:
    while running.poll() is None:
        most[0] = max(most[0], sum(map(_megabytes, _family(running.pid))))
        time.sleep(0.3)


def _family(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [pid, *(one for child in found.stdout.split() for one in _family(int(child)))]


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def main() -> None:
    """Run the benchmark and print its figures."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--large", type=int, default=0, help="also this many rows, in one process and in two")
    given = options.parse_args()
    for count in filter(None, (given.rows, given.large)):
        with TemporaryDirectory() as folder:
            for data in write(Path(folder), count):
                costs = [score(data, processes) for processes in (1, 2)]
                for processes, cost in enumerate(costs, start=1):
                    each = f"{1e6 * cost.cpu / count:5.1f} us CPU a row, {cost.wall:6.1f} s wall, {cost.memory:4.0f} MB"
                    said = f"{count:>9,} rows {data.suffix:<8} {processes} processes: {each}"
                    print(f"{said} (load {os.getloadavg()[0]:.1f})", flush=True)
                faster = costs[0].wall / costs[1].wall
                print(f"          two processes are {faster:.2f} times as fast as one", flush=True)


if __name__ == "__main__":
    main()
