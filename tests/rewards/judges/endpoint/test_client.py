"""One endpoint per event loop and access, with its limits; test_hazards.py tests its failures."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.endpoint.access import Access
from rewardkit.rewards.judges.endpoint.client import EndpointClient
from rewardkit.rewards.judges.service import endpoint_of
from tests.rewards.judges.server import JudgeServer, Reply, Request, verdict


def body(text: str = "hi") -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def test_judges_with_the_same_access_share_an_endpoint() -> None:
    async def run() -> None:
        one, same, other = [await endpoint_of(Access("http://127.0.0.1:9/v1", concurrency=n)) for n in (2, 2, 3)]
        assert one is same is not other

    asyncio.run(run())


def test_another_key_is_another_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        endpoints: list[EndpointClient] = []
        for key in ("one", "two"):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            endpoints.append(await endpoint_of(Access("http://127.0.0.1:9/v1")))
        assert endpoints[0] is not endpoints[1]

    asyncio.run(run())


def test_a_reply_has_its_tokens() -> None:
    async def run(address: str) -> None:
        endpoint = await endpoint_of(Access(address))
        reply = await endpoint.complete(body(), deadline=5.0)
        assert '"score": 7' in reply.text
        assert reply.finish == "stop"
        assert reply.tokens is not None
        assert min(reply.tokens) > 0

    with JudgeServer(verdict(7)) as server:
        asyncio.run(run(server.base_url))


SCRIPTS = {
    "in a loop of its own": """
async def main():
    assert (await judge.facts.binding.function("a")).value == 0.7
asyncio.run(main())
""",
    "in the background": "assert rk.score(judge, ['a', 'b']).total.tolist() == [0.7, 0.7]",
    "after an exception": """
rk.score(judge, ['a'])
try:
    raise ValueError
except ValueError:
    sys.exit(0)
""",
    "after Ctrl-C in a batch": """
threading.Timer(0.3, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
try:
    rk.score(rk.judge("Good?", model=rk.Endpoint("slow", sys.argv[1])), ['a', 'b'])
except KeyboardInterrupt:
    sys.exit(0)
""",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_it_leaves_nothing_open(script: str) -> None:
    def answered(request: Request) -> Reply:
        return Reply(delay=60) if request.body["model"] == "slow" else verdict(7)(request)

    imports = "import asyncio, signal, sys, threading\nimport rewardkit as rk\n"
    made = "judge = rk.judge('Good?', model=rk.Endpoint('m', sys.argv[1]))\n"
    with JudgeServer(answered) as server:
        command = [sys.executable, "-W", "error", "-c", imports + made + script, server.base_url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def _scored(address: str) -> list[float]:
    totals: list[float] = rk.score(rk.judge("Good?", model=rk.Endpoint("m", address)), ["a", "b"]).total.tolist()
    return totals


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_asks_for_itself() -> None:
    with JudgeServer(verdict(7)) as server:
        assert _scored(server.base_url) == [0.7, 0.7]
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply(_scored, (server.base_url,)) == [0.7, 0.7]
        assert _scored(server.base_url) == [0.7, 0.7]
