"""A limit per minute holds for requests of any size."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.endpoint.client import Rates, _limiter
from rewardkit.rewards.judges.endpoint.failures import NoTime
from tests.rewards.judges.server import JudgeServer, verdict


def body(characters: int) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": "x" * characters}]}


@pytest.mark.parametrize(("per_minute", "at_once"), [(600.0, 60.0), (10.0, 1.0), (1.0, 1.0), (0.5, 1.0)])
def test_a_burst_is_a_tenth_of_the_limit_per_minute(per_minute: float, at_once: float) -> None:
    limiter = _limiter(per_minute)
    assert limiter.max_rate == pytest.approx(at_once)
    assert limiter.max_rate / limiter.time_period == pytest.approx(per_minute / 60)


def test_requests_within_the_limits_are_sent() -> None:
    with JudgeServer(verdict(7)) as server:
        limited: dict[str, Any] = {"requests_per_minute": 6000.0, "tokens_per_minute": 4000.0}
        reward = rk.judge("Good?", model=rk.Endpoint("m", server.base_url, max_tokens=None, **limited))
        assert rk.score(reward, ["a"]).total.tolist() == [0.7]  # larger than all that may go at once: it waits its turn


def test_a_request_larger_than_a_burst_waits() -> None:
    async def run() -> float:
        rates = Rates(requests=None, tokens=600_000.0)  # 60,000 at once, 10,000 in each second
        started = time.monotonic()
        await rates.turn(body(4 * 63_000))
        return time.monotonic() - started

    assert asyncio.run(run()) > 0.25


def test_a_request_that_cannot_be_sent_in_time_is_not_waited_for() -> None:
    async def run() -> None:
        rates = Rates(requests=1.0, tokens=None)
        await rates.turn(body(1))
        with pytest.raises(NoTime, match="limit per minute"):
            await rates.turn(body(1), time.monotonic() + 0.01)

    asyncio.run(run())
