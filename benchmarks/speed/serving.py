"""Benchmark the reward server: what it costs, how it answers under load, what is lost when processes are killed.

``python benchmarks/speed/serving.py`` runs all three parts, about six minutes; ``--parts overhead`` runs one. The load
generator has a core of its own where there are two. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import rewardkit as rk
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.serve.worker import OFFERS

FILE = Path(__file__).resolve()
_BATCH = 64
_PER_REQUEST = 10
_LOAD = 0.7


@rk.reward
def overlap(completion: str, answer: str) -> float:
    """The share of the words of the answer that occur: half of what a short rule-based reward costs."""
    words = set(completion.split())
    wanted = answer.split()
    return sum(word in words for word in wanted) / max(1, len(wanted))


reward = 0.6 * rk.number("answer") + 0.2 * overlap + 0.2 * rk.length.between(0, 400, unit="words")


def rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows of about 1,200 characters, all different."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    made = []
    for place in range(count):
        answer = str(draw.randrange(1000))
        text = f"{place} {' '.join(draw.choices(words, k=170))} so the answer is {draw.choice([answer, '7'])}"
        made.append({"completion": text, "columns": {"answer": answer}})
    return made


def expected(given: Sequence[dict[str, Any]]) -> list[float]:
    """Return the totals of ``rk.score``."""
    table = rk.score(reward, [row["completion"] for row in given], answer=[row["columns"]["answer"] for row in given])
    totals: list[float] = table.total.tolist()
    return totals


class Server:
    """`rewardkit serve` in a process of its own."""

    def __init__(self, workers: int, port: int = 0, cores: set[int] | None = None) -> None:
        command = [sys.executable, "-m", "rewardkit.cli.main", "serve", f"{FILE}:reward", "--no-access-log"]
        self.process = subprocess.Popen(
            [*command, "--port", str(port), "--workers", str(workers)],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            raise SystemExit(f"the server did not start: {line}")
        self.port = int(found[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def workers(self) -> list[int]:
        try:
            listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return list(map(int, listed.split()))

    def cpu(self) -> float:
        """Return the CPU seconds of the server and its workers."""
        ticks = 0
        for process in (self.process.pid, *self.workers()):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextmanager
def served(workers: int, cores: set[int] | None = None) -> Iterator[Server]:
    server = Server(workers, cores=cores)
    try:
        yield server
    finally:
        server.stop()


class Connection:
    """One client: a connection that stays open, as little work as possible."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> Any:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        head = f"POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        writer.write(head + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer.lower())
        assert length is not None
        content = await reader.readexactly(int(length[1]))
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{answer[:60]!r} {content[:200]!r}")
        return content

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


def overhead(count: int) -> dict[str, Any]:
    """CPU of the server and its workers against scoring the same batches of 64 in this process."""
    given = rows(count)
    bodies = [json.dumps({"rows": given[at : at + _BATCH]}).encode() for at in range(0, count, _BATCH)]
    batches = [
        [Row(row["completion"], columns=row["columns"]) for row in given[at : at + _BATCH]]
        for at in range(0, count, _BATCH)
    ]
    here = RowScorer(reward, OFFERS)
    ratios, added = [], []
    with served(1) as server:

        async def post(own: Sequence[bytes]) -> list[bytes]:
            connection = Connection(server.port)
            return [await connection.post(body) for body in own]

        asyncio.run(post(bodies[:20]))
        for batch in batches[:20]:
            here.score(batch)
        for _ in range(5):
            began = server.cpu()
            answers = asyncio.run(post(bodies))
            there = server.cpu() - began
            began = time.process_time()
            for batch in batches:
                here.score(batch)
            local = time.process_time() - began
            ratios.append(there / local)
            added.append(1e6 * (there - local) / count)
    totals = [row["total"] for answer in answers for row in json.loads(answer)["rows"]]
    return {
        "completions": count,
        "equal totals": totals == expected(given),
        "added CPU, us a completion (median of 5)": round(float(np.median(added)), 1),
        "CPU, times in-process": round(float(np.median(ratios)), 2),
        "in-process, us a completion": round(1e6 * local / count, 1),
    }


def load(clients: int, count: int) -> dict[str, Any]:
    """Latency of a lone client, and of many at 70 % of the capacity; arrivals are random (Poisson)."""
    given = rows(count, seed=1)
    wanted = expected(given)
    bodies = [json.dumps({"rows": given[at : at + _PER_REQUEST]}).encode() for at in range(0, count, _PER_REQUEST)]
    del given
    gc.collect()
    gc.freeze()  # the generator must not stop to look for garbage
    cores = sorted(os.sched_getaffinity(0))
    apart = len(cores) > 1
    if apart:
        os.sched_setaffinity(0, {cores[0]})
    try:
        with served(1, cores={cores[-1]} if apart else None) as server:
            return asyncio.run(_load(server.port, clients, bodies, wanted))
    finally:
        os.sched_setaffinity(0, set(cores))


async def _load(port: int, clients: int, bodies: Sequence[bytes], wanted: Sequence[float]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    lone = Connection(port)
    for body in bodies[:50]:
        await lone.post(body)
    alone = []
    for body in bodies[:1000]:
        began = loop.time()
        await lone.post(body)
        alone.append(loop.time() - began)
    connections = [Connection(port) for _ in range(clients)]
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for connection in connections:
        free.put_nowait(connection)

    async def one(body: bytes, due: float, kept: list[tuple[float, Any]], place: int) -> None:
        connection = await free.get()
        kept[place] = (0.0, await connection.post(body))
        kept[place] = (loop.time() - due, kept[place][1])
        free.put_nowait(connection)

    # What it can do: as many requests as there are clients, all the time.
    part = bodies[: len(bodies) // 4]
    kept: list[tuple[float, Any]] = [(0.0, None)] * len(part)
    began = loop.time()
    await asyncio.gather(*[one(body, began, kept, place) for place, body in enumerate(part)])
    capacity = len(part) / (loop.time() - began)
    draw = random.Random(0)
    kept = [(0.0, None)] * len(bodies)
    due, tasks = loop.time(), []
    for place, body in enumerate(bodies):
        due += draw.expovariate(_LOAD * capacity)
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        tasks.append(asyncio.create_task(one(body, due, kept, place)))
    await asyncio.gather(*tasks)
    for connection in (lone, *connections):
        connection.close()
    totals = [row["total"] for _, content in kept for row in json.loads(content)["rows"]]
    seconds = np.array([seconds for seconds, _ in kept])
    first, many = np.percentile(alone, 99), np.percentile(seconds, 99)
    return {
        "clients": clients,
        "completions": len(totals),
        "lost, doubled or wrong": sum(own != total for own, total in zip(totals, wanted, strict=True)),
        "capacity, completions a second": round(capacity * _PER_REQUEST),
        "lone client, ms (median, p99)": [round(1e3 * float(np.median(alone)), 2), round(1e3 * float(first), 2)],
        "at 70 % load, ms (median, p99)": [round(1e3 * float(np.median(seconds)), 2), round(1e3 * float(many), 2)],
        "p99, times the lone client's": round(float(many / first), 1),
    }


def kills(times: int) -> dict[str, Any]:
    """Kill workers and the server, half and half, while rk.remote scores; a supervisor starts the server again."""
    given = rows(400 * times, seed=2)
    wanted = expected(given)
    server = Server(2)
    port, done, killed = server.port, threading.Event(), {"worker": 0, "server": 0}
    draw = random.Random(0)

    def supervise() -> None:
        nonlocal server
        while not done.is_set():
            time.sleep(draw.uniform(0.3, 0.9))
            if sum(killed.values()) >= times:
                continue
            victims = server.workers()
            if draw.random() < 0.5 and victims:
                killed["worker"] += 1
                os.kill(draw.choice(victims), signal.SIGKILL)
            else:
                killed["server"] += 1
                server.process.kill()
                server.process.wait()
                server = Server(2, port)

    remote = rk.remote(server.url, deadline=60)
    supervisor = threading.Thread(target=supervise)
    supervisor.start()
    totals: list[float] = []
    at = 0
    try:
        while sum(killed.values()) < times or at < len(given):
            part = given[at % len(given) : at % len(given) + 256]
            table = rk.score(
                remote, [row["completion"] for row in part], answer=[row["columns"]["answer"] for row in part]
            )
            if at < len(given):
                totals += table.total.tolist()
            at += len(part)
            time.sleep(0.02)
    finally:
        done.set()
        supervisor.join()
        server.stop()
    failed = int(np.isnan(totals).sum())
    wrong = sum(not np.isnan(own) and own != total for own, total in zip(totals, wanted, strict=True))
    return {
        "killed": killed,
        "completions": len(totals),
        "scored": len(totals) - failed - wrong,
        "failed": failed,
        "lost, doubled or wrong": wrong + len(wanted) - len(totals),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--parts", nargs="+", choices=("overhead", "load", "kills"), default=["overhead", "load", "kills"]
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    options = parser.parse_args()
    share = 10 if options.quick else 1
    for part in options.parts:
        began = time.perf_counter()
        found = {
            "overhead": lambda: overhead(12_800 // share),
            "load": lambda: load(1_000, 100_000 // share),
            "kills": lambda: kills(50 // share),
        }[part]()
        print(f"\n{part} ({time.perf_counter() - began:.0f} s)")
        for name, value in found.items():
            print(f"  {name}: {value}")


if __name__ == "__main__":
    main()
