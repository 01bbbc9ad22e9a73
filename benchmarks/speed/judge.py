"""Compare ``rk.judge`` with raw aiohttp, the plain openai client and verifiers: wall time, CPU time, lost samples.

There are 512 calls, 64 at a time, to a server on loopback in its own process, which answers after 100 +- 30 ms. The
ideal is the time that waiting alone takes: 512 x 100 ms / 64 = 0.8 s. After that come the failures: 10 % of the answers
are 429 or 500; the endpoint is down for a whole batch; the whole batch is in the cache.

    python benchmarks/speed/judge.py --peers --out FILE    # also verifiers, in its own environment
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rewardkit as rk
from benchmarks.peers.environments import Peer, install, run_json
from benchmarks.speed.judge_server import MEAN, Endpoint

CALLS, AT_ONCE = 512, 64
IDEAL = CALLS * MEAN / AT_ONCE
DEADLINE, BATCH_DEADLINE = 5.0, 20.0
RUBRIC = "Is the answer to {prompt} clear and complete?"
VERIFIERS = Peer("verifiers==0.4.0", ".venv-verifiers", "verifiers_judge.py")


@dataclass(frozen=True)
class Took:
    """Wall and CPU seconds for one batch."""

    wall: float
    cpu: float


def completions(turn: int) -> list[str]:
    """Return answers of about 400 characters, different in each turn."""
    return [f"Answer {turn}.{number}: " + "the sum of both is what was asked for; " * 10 for number in range(CALLS)]


def timed(work: Callable[[], Any]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def together(ask: Callable[[str], Awaitable[Any]], texts: Sequence[str]) -> Any:
    """Call `ask` for each of `texts`, at most AT_ONCE at a time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(text: str) -> Any:
        async with turns:
            return await ask(text)

    return asyncio.gather(*map(one, texts))


def body(text: str) -> dict[str, Any]:
    return {"model": "judge", "messages": [{"role": "user", "content": f"{RUBRIC}\n\n{text}"}], "temperature": 0.0}


def raw_aiohttp(base_url: str, texts: Sequence[str]) -> None:
    import aiohttp

    async def every() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

            async def ask(text: str) -> str:
                async with session.post(f"{base_url}/chat/completions", json=body(text)) as reply:
                    return str((await reply.json())["choices"][0]["message"]["content"])

            await together(ask, texts)

    asyncio.run(every())


def plain_openai(base_url: str, texts: Sequence[str], transport: Callable[[], Any] = lambda: None) -> None:
    import openai

    async def every() -> None:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none", http_client=transport()) as client:

            async def ask(text: str) -> str:
                done = await client.chat.completions.create(**body(text))
                return str(done.choices[0].message.content)

            await together(ask, texts)

    asyncio.run(every())


def openai_over_aiohttp(base_url: str, texts: Sequence[str]) -> None:
    import openai

    plain_openai(base_url, texts, openai.DefaultAioHttpClient)


def judge(base_url: str, **options: Any) -> rk.Reward:
    return rk.judge(RUBRIC, model=rk.Endpoint("judge", base_url, concurrency=AT_ONCE, **options))


def scored(reward: rk.Reward, texts: Sequence[str]) -> rk.ScoreTable:
    return rk.score(reward, texts, prompts=["What is asked?"] * len(texts))


def ours(base_url: str, texts: Sequence[str]) -> None:
    table = scored(judge(base_url), texts)
    assert np.isfinite(table.total).all()


CONTESTANTS: dict[str, Callable[[str, Sequence[str]], None]] = {
    "raw aiohttp": raw_aiohttp,
    "openai, its default client": plain_openai,
    "openai, its aiohttp client": openai_over_aiohttp,
    "**rewardkit**": ours,
}


def measure(endpoint: Endpoint, rounds: int) -> dict[str, list[Took]]:
    """Time the contestants in turns; the first round is not counted."""
    took: dict[str, list[Took]] = {name: [] for name in CONTESTANTS}
    names = list(CONTESTANTS)
    for turn in range(rounds + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            texts = completions(turn)
            once = timed(lambda name=name, texts=texts: CONTESTANTS[name](endpoint.base_url, texts))  # type: ignore[misc]
            if turn:
                took[name].append(once)
    return took


def faulty(endpoint: Endpoint) -> dict[str, float]:
    """Score a batch while one answer in ten is a 429 or a 500."""
    endpoint.tell("faulty")
    endpoint.tell("count")
    texts = completions(1_000)
    tables: list[rk.ScoreTable] = []
    took = timed(lambda: tables.append(scored(judge(endpoint.base_url), texts)))
    endpoint.tell("usual")
    lost = int(np.isnan(tables[0].total).sum())
    return {"lost": lost, "requests": float(endpoint.tell("count")), "wall": took.wall}


def down(endpoint: Endpoint) -> dict[str, float]:
    """Score a batch while the endpoint is down, then more batches until one is complete again."""
    reward = judge(endpoint.base_url, deadline=DEADLINE, batch_deadline=BATCH_DEADLINE)
    endpoint.tell("down")
    tables: list[rk.ScoreTable] = []
    took = timed(lambda: tables.append(scored(reward, completions(2_000))))
    endpoint.tell("up")
    failed = int(np.isnan(tables[0].total).sum())
    back = time.perf_counter()
    batches = 0
    while np.isnan(scored(reward, completions(2_001 + batches)).total).any():
        batches += 1
        time.sleep(0.5)
    return {
        "failed": failed,
        "zeros": int((tables[0].total == 0).sum()),
        "wall": took.wall,
        "until complete again": time.perf_counter() - back,
        "batches lost after it": batches,
    }


def cached(endpoint: Endpoint) -> dict[str, float]:
    """Score the same batch twice."""
    with tempfile.TemporaryDirectory() as folder:
        reward = rk.judge(
            RUBRIC,
            model=rk.Endpoint("judge", endpoint.base_url, concurrency=AT_ONCE),
            cache=str(Path(folder) / "judged.sqlite"),
        )
        first = timed(lambda: scored(reward, completions(3_000)))
        endpoint.tell("count")
        second = timed(lambda: scored(reward, completions(3_000)))
    return {"first": first.wall, "second": second.wall, "requests": float(endpoint.tell("count"))}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="also verifiers, in its own environment")
    parser.add_argument("--out", type=Path, help="write the figures to this file as JSON")
    options = parser.parse_args(arguments)
    logging.getLogger("rewardkit").setLevel(logging.ERROR)
    with Endpoint() as endpoint:
        took = measure(endpoint, options.rounds)
        if options.peers:
            install(VERIFIERS)
            report = run_json(VERIFIERS, [endpoint.base_url, str(CALLS), str(AT_ONCE), str(min(3, options.rounds))])
            took[report["version"]] = [Took(*pair) for pair in report["times"]]
        hazards = {"faulty": faulty(endpoint), "down": down(endpoint), "cached": cached(endpoint)}
    rows = {
        name: {
            "wall": statistics.median(once.wall for once in each),
            "cpu": statistics.median(once.cpu for once in each) / CALLS,
        }
        for name, each in took.items()
    }
    _print(rows, hazards)
    if options.out:
        options.out.write_text(json.dumps({"times": rows, "hazards": hazards}, indent=1))


def _print(rows: dict[str, dict[str, float]], hazards: dict[str, dict[str, float]]) -> None:
    print(f"{CALLS} calls, {AT_ONCE} at a time; the ideal is {IDEAL:.2f} s\n")
    print("| contestant | wall, s | x ideal | CPU per call, ms |\n|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | {row['wall']:.2f} | {row['wall'] / IDEAL:.2f} | {row['cpu'] * 1e3:.2f} |")
    print()
    for name, found in hazards.items():
        print(f"{name}: {', '.join(f'{what} {number:.4g}' for what, number in found.items())}")
    ratio = rows["**rewardkit**"]["wall"] / IDEAL
    away = hazards["down"]
    all_failed = away["failed"] == CALLS and not away["zeros"]
    in_time = away["wall"] <= BATCH_DEADLINE
    verdicts = {
        f"at most 1.6 times the ideal: {ratio:.2f}": ratio <= 1.6,
        f"no sample lost to 10 % of 429 and 500: {hazards['faulty']['lost']:g}": not hazards["faulty"]["lost"],
        f"down: all samples failed, none scored 0: {away['failed']:g}, {away['zeros']:g}": all_failed,
        f"down: within the batch's deadline of {BATCH_DEADLINE:g} s: {away['wall']:.1f}": in_time,
        f"cached batch sends no requests: {hazards['cached']['requests']:g}": not hazards["cached"]["requests"],
    }
    print()
    for verdict, met in verdicts.items():
        print(f"{'PASS' if met else 'MISS'} {verdict}")


if __name__ == "__main__":
    main()
