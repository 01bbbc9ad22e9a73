"""Measure what it costs to record a run and to read it, compared with JSON lines and SQLite with the same content.

``python benchmarks/speed/recording.py`` prints three tables: the share of a training step that recording takes; the
CPU time and bytes per completion of each format; and the time of three queries (a curve, one prompt, the best
completions).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.generated_run import Plan, records, write
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import Record
from rewardkit.record.run import Run, open_run

_ROUNDS = 15
_ALONE = "select attempt, rank, part, row, prompt_id, total from scores order by total desc nulls last limit 20"
_INDEXES = ("scores (step)", "completions (prompt_id)", "scores (total)", "completions (attempt, rank, part, row)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--completions", type=int, default=512)
    parser.add_argument("--step-seconds", type=float, default=1.0, help="length of the simulated training step")
    options = parser.parse_args()
    plan = Plan(options.steps, options.completions)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        training(Path(folder), plan, options.step_seconds)
        formats(Path(folder), plan)
        queries(Path(folder), plan)


def training(folder: Path, plan: Plan, seconds: float) -> None:
    """Record during a training loop that mostly waits for its device, as real trainings do."""
    batches = list(records(Plan(40, plan.completions)))
    bare = [_step(seconds) for _ in batches]
    calls, steps = [], []
    with Recorder(folder / "training", compact_every=20) as recorder:
        for record in batches:
            began = time.perf_counter()
            recorder.record(record)
            calls.append(time.perf_counter() - began)
            steps.append(calls[-1] + _step(seconds))
        recorder.flush()
        dropped = recorder.dropped
    print(f"\n{plan.completions} completions per step, {statistics.median(bare):.2f} s per step\n")
    print("| | median | worst |\n|---|---|---|")
    print(f"| `Recorder.record`, ms | {1e3 * statistics.median(calls):.2f} | {1e3 * max(calls):.2f} |")
    share = [100 * call / step for call, step in zip(calls, steps, strict=True)]
    print(f"| share of the step, % | {statistics.median(share):.3f} | {max(share):.3f} |")
    print(f"| dropped batches | {dropped} | |")
    shutil.rmtree(folder / "training")


def _step(seconds: float) -> float:
    """Wait as a trainer waits for its device; the CPU is free in the meantime."""
    began = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - began


def formats(folder: Path, plan: Plan) -> None:
    """Write the same run in each format."""
    batches = plan.steps * plan.completions
    print("\n| | CPU seconds | completions per second | bytes per completion |\n|---|---|---|---|")
    writers: dict[str, Callable[[Path], None]] = {
        "generating only": lambda path: _exhaust(records(plan)),
        "rewardkit": lambda path: write(str(path), plan),
        "rewardkit, parts only": lambda path: write(str(path), plan, compact_every=0),
        "JSON lines": lambda path: _json_lines(path, records(plan)),
        "SQLite, indexed": lambda path: _sqlite(path, records(plan)),
    }
    alone = 0.0
    for name, writer in writers.items():
        path = folder / name
        began = time.process_time()
        writer(path)
        seconds = time.process_time() - began - alone
        if not path.exists():
            alone = seconds
            print(f"| {name} | {seconds:.1f} | {batches / seconds:,.0f} | |")
        else:
            print(f"| {name} | {seconds:.1f} | {batches / seconds:,.0f} | {_bytes(path) / batches:,.0f} |")


def queries(folder: Path, plan: Plan) -> None:
    """Run the same three queries on each format and print medians of warm calls."""
    print("\n| ms | open | curve | one prompt | best 20 |\n|---|---|---|---|---|")
    for name in ("rewardkit", "rewardkit, parts only"):
        began = time.perf_counter()
        run = open_run(folder / name)
        opened = time.perf_counter() - began
        times = [_median(lambda ask=ask, run=run: ask(run)) for ask in (_curve, _prompt, _best)]  # type: ignore[misc]
        print(f"| {name} | {1e3 * opened:.0f} | " + " | ".join(f"{1e3 * one:.1f}" for one in times) + " |")
    database = sqlite3.connect(folder / "SQLite, indexed")
    prompt = database.execute("select prompt_id from scores limit 1").fetchone()[0]
    asked = (
        "select step, avg(total), avg(tags), avg(answer), avg(judge), avg(brevity), avg(held_out) "
        "from scores group by step",
        f"select * from completions where prompt_id = '{prompt}'",
        "select total, completion from (select * from scores order by total desc limit 20) "
        "join completions using (attempt, rank, part, row)",
    )
    times = [_median(lambda query=query: database.execute(query).fetchall()) for query in asked]  # type: ignore[misc]
    print("| SQLite, indexed | | " + " | ".join(f"{1e3 * one:.1f}" for one in times) + " |")


def _curve(run: Run) -> None:
    means = ", ".join(f'avg("components/{name}")' for name in run.components)
    run.sql(f"select step, avg(total), {means} from scores where training group by step order by step")


def _prompt(run: Run) -> None:
    run.completions(_first_prompt(run)).to_arrow_table()


def _best(run: Run) -> None:
    run.sql(f"select total, completion from ({_ALONE}) join completions using (attempt, rank, part, row, prompt_id)")


_PROMPTS: dict[int, str] = {}


def _first_prompt(run: Run) -> str:
    if id(run) not in _PROMPTS:
        _PROMPTS[id(run)] = run.sql("select prompt_id from scores limit 1").fetchall()[0][0]
    return _PROMPTS[id(run)]


def _median(ask: Callable[[], Any]) -> float:
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    return statistics.median(times[2:])


def _rows(record: Record, part: int) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    table = record.table
    for row, text in enumerate(table.completions):
        key = {"attempt": 1, "rank": 0, "part": part, "row": row, "step": record.step}
        prompt = str(record.prompts[row] if record.prompts else "")
        advantage = float(record.advantages[row]) if record.advantages is not None else None
        scores = {name: _known(column.values[row]) for name, column in table.components.items()}
        terms = {f"term_{name}": float(values[row]) for name, values in table.terms.items()}
        more = {"prompt_id": prompt, "total": float(table.total[row]), "advantage": advantage}
        yield {**key, **more, **scores, **terms}, {**key, "prompt_id": prompt, "completion": text}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _json_lines(path: Path, batches: Iterable[Record]) -> None:
    with path.open("w", encoding="utf-8") as opened:
        for part, record in enumerate(batches):
            opened.writelines(json.dumps({**scores, **texts}) + "\n" for scores, texts in _rows(record, part))


def _sqlite(path: Path, batches: Iterable[Record]) -> None:
    database = sqlite3.connect(path)
    for part, record in enumerate(batches):
        scores, texts = zip(*_rows(record, part), strict=True)
        for name, found in (("scores", scores), ("completions", texts)):
            if part == 0:
                database.execute(f"create table {name} ({', '.join(found[0])})")
            _insert(database, name, [tuple(row.values()) for row in found])
        database.commit()
    for index, columns in enumerate(_INDEXES):
        database.execute(f"create index index_{index} on {columns}")
    database.commit()
    database.close()


def _insert(database: sqlite3.Connection, name: str, found: Sequence[tuple[Any, ...]]) -> None:
    database.executemany(f"insert into {name} values ({', '.join('?' * len(found[0]))})", found)


def _exhaust(batches: Iterable[Record]) -> None:
    for _ in batches:
        pass


def _bytes(path: Path) -> int:
    return sum(one.stat().st_size for one in ([path] if path.is_file() else path.rglob("*")) if one.is_file())


if __name__ == "__main__":
    main()
