"""Outages: a service that does not answer is no score, and the error has the code that fails the row instead."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import RewardBug

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
openai = pytest.importorskip("openai")
requests = pytest.importorskip("requests")


@pytest.fixture(scope="module")
def address() -> str:
    """The address of a port on which no one listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


async def ask_with_openai(address: str) -> None:
    client = openai.AsyncOpenAI(api_key="none", base_url=address, max_retries=0)
    await client.chat.completions.create(model="judge", messages=[])


async def ask_with_aiohttp(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        await session.post(address)


async def ask_with_httpx(address: str) -> None:
    async with httpx.AsyncClient() as client:
        await client.post(address)


async def ask_with_sockets(address: str) -> None:
    await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))


async def ask_and_rename(address: str) -> None:
    try:
        await ask_with_httpx(address)
    except httpx.ConnectError as error:
        raise ValueError("the judge") from error


async def busy(address: str) -> None:
    httpx.Response(503, request=httpx.Request("POST", address)).raise_for_status()


async def too_slow(address: str) -> None:
    raise httpx.ReadTimeout("")


def ask_with_requests(address: str) -> None:
    requests.post(address)


def ask_with_urllib(address: str) -> None:
    urllib.request.urlopen(address)


def ask_an_unknown_host(address: str) -> None:
    socket.create_connection(("judge.invalid", 80))


def too_slow_for_requests(address: str) -> None:
    raise requests.exceptions.ReadTimeout


ASYNC = (ask_with_openai, ask_with_aiohttp, ask_with_httpx, ask_with_sockets, ask_and_rename, busy, too_slow)
SYNC = (ask_with_requests, ask_with_urllib, ask_an_unknown_host, too_slow_for_requests)


def pasted(message: str, ask: Callable[[str], Any], address: str) -> Callable[[], Any]:
    """Return `ask` with the clause in the last line of an error, as its reader would paste it."""
    clause = message[message.rindex("except ") :]
    waits = "await " if asyncio.iscoroutinefunction(ask) else ""
    names: dict[str, Any] = {**sys.modules, "rk": rk, "ask": ask, "address": address}
    exec(f"{'async ' if waits else ''}def call():\n  try: {waits}ask(address)\n  {clause}", names)
    call: Callable[[], Any] = names["call"]
    return call


@pytest.mark.parametrize("ask", [*ASYNC, *SYNC], ids=lambda ask: ask.__name__)
def test_the_error_of_an_outage_names_no_score(ask: Callable[[str], Any], address: str) -> None:
    asynchronous = asyncio.iscoroutinefunction(ask)

    def functions(call: Callable[[], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        async def judge_later(completions: list[str], **kwargs: Any) -> list[float]:
            await call()
            return [1.0] * len(completions)

        async def judge_one_later(completion: str) -> float:
            await call()
            return 1.0

        def judge(completions: list[str], **kwargs: Any) -> list[float]:
            call()
            return [1.0] * len(completions)

        def judge_one(completion: str) -> float:
            call()
            return 1.0

        return (judge_later, judge_one_later) if asynchronous else (judge, judge_one)

    for position in (0, 1):
        for rewards in (lambda plain: plain, rk.from_trl, *([rk.reward] if position else [])):
            with pytest.raises(RewardBug) as caught:
                rk.score(rewards(functions(lambda: ask(address))[position]), ["a"])
            assert "on_error" not in str(caught.value)
            reward = rk.from_trl(functions(pasted(str(caught.value), ask, address))[position], "judge")
            if ask is not ask_and_rename:  # its reader has to catch the error inside it
                assert rk.score(reward, ["a"]).outcomes["judge"].tolist() == ["failed"]


@pytest.mark.parametrize("error", [KeyError("a"), subprocess.TimeoutExpired("cat", 1.0), OSError("disk"), Exception()])
def test_other_errors_are_bugs(error: Exception) -> None:
    def buggy(completion: str) -> float:
        raise error

    for reward in (buggy, rk.reward(buggy)):
        with pytest.raises(RewardBug, match="Fix the function"):
            rk.score(reward, ["a"])
