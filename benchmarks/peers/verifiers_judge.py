"""verifiers 0.4: its own ReferenceJudge on one trace per completion, with limited concurrency.

It opens a client for every call (``verifiers/v1/judge.py``); ``cli/replay.py`` limits how many rollouts run at a time
in the same way. ``benchmarks/speed/judge.py --peers`` runs this script in its own environment.
"""
# mypy: disable-error-code="import-not-found,misc,no-any-return"

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from importlib.metadata import version

import verifiers.v1 as vf
from verifiers.v1.judges.reference import ReferenceJudge, ReferenceJudgeConfig

from benchmarks.peers.report import MARK


class Data(vf.TaskData):
    answer: str


def traces(turn: int, count: int) -> list[tuple[Data, vf.Trace]]:
    agent = vf.AgentInfo(config=vf.AgentConfig())
    made = []
    for number in range(count):
        data = Data(prompt="What is asked?", answer="both")
        text = f"Answer {turn}.{number}: " + "the sum of both is what was asked for; " * 10
        nodes = [
            vf.MessageNode(message=vf.UserMessage(content="What is asked?")),
            vf.MessageNode(parent=0, message=vf.AssistantMessage(content=text), sampled=True),
        ]
        made.append((data, vf.Trace(task=vf.TraceTask(type="Task", data=data), agent=agent, nodes=nodes)))
    return made


class Lenient(ReferenceJudge):
    """Accepts any reply as a verdict, because the server answers in rewardkit's format."""

    def parse(self, response: vf.JudgeResponse[float]) -> float:
        return float(bool(response.text))


async def judged(judge: ReferenceJudge, batch: list[tuple[Data, vf.Trace]], at_once: int) -> None:
    turns = asyncio.Semaphore(at_once)

    async def one(data: Data, trace: vf.Trace) -> float:
        async with turns:
            return await judge.score(data, trace)

    assert len(await asyncio.gather(*(one(*each) for each in batch))) == len(batch)


def main() -> None:
    base_url, count, at_once, rounds = sys.argv[1], *map(int, sys.argv[2:])
    os.environ.setdefault("OPENAI_API_KEY", "none")
    config = ReferenceJudgeConfig(base_url=base_url, api_key_var="OPENAI_API_KEY", model="judge")
    times = []
    for turn in range(rounds):
        batch = traces(turn, count)
        wall, cpu = time.perf_counter(), time.process_time()
        asyncio.run(judged(Lenient(config), batch, at_once))
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    print(MARK + json.dumps({"version": f"verifiers {version('verifiers')}, ReferenceJudge", "times": times}))


if __name__ == "__main__":
    main()
