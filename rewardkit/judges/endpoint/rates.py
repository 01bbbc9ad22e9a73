"""Rates: requests and tokens per minute: ``await Rates(requests=600, tokens=None).turn(body)``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from rewardkit.judges.endpoint.failures import NoTime

_CHARACTERS_PER_TOKEN = 4


class Rates:
    """Lets through what an account allows in a minute, a tenth of it at once; None: any number."""

    def __init__(self, requests: float | None, tokens: float | None) -> None:
        self._requests, self._tokens = _limiter(requests), _limiter(tokens)

    async def turn(self, body: Mapping[str, Any], until: float | None = None) -> None:
        """Waits until `body` may go out, for no longer than ``time.monotonic()`` is below `until`.

        Raises:
            NoTime: it may not, within that time.
        """
        try:
            await asyncio.wait_for(self._turn(body), None if until is None else max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise NoTime("the limit per minute leaves no time for another attempt") from None

    async def _turn(self, body: Mapping[str, Any]) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            asked = tokens_in(body) + (body.get("max_tokens") or body.get("max_completion_tokens") or 0)
            while asked > 0:  # more than may go at once waits piece by piece
                piece = min(asked, self._tokens.max_rate)
                await self._tokens.acquire(piece)
                asked -= piece


def tokens_in(body: Mapping[str, Any]) -> int:
    """An estimate of the tokens of a request."""
    return tokens_of("".join(message["content"] for message in body["messages"]))


def tokens_of(text: str) -> int:
    """An estimate of the tokens of a text."""
    return len(text) // _CHARACTERS_PER_TOKEN


def _limiter(per_minute: float | None) -> Any:
    from aiolimiter import AsyncLimiter

    if per_minute is None:
        return None
    period = max(6.0, 60.0 / per_minute)
    return AsyncLimiter(per_minute * period / 60.0, period)
