"""The connection to a reward server: requests with retries, in the event loop of the process.

``await rows_scored(Server("http://host:8000"), {"rows": [...]})`` returns the scores, whatever happens in between: a
restart, a full queue, a lost connection. Scoring changes nothing on the server, so a request can be sent twice.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from rewardkit.core.errors import MissingExtraError, RewardFailure, RunStopped, shorten_line

if TYPE_CHECKING:
    import httpx

TOKEN = "REWARDKIT_TOKEN"
"""The environment variable with the token."""
LARGEST = 64
"""Rows of one request."""
_AT_ONCE = 16
"""Requests at a time from one event loop."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_STOPS = (401, 403, 404, 405)


@final
@dataclass(frozen=True)
class Server:
    """Where a reward is served.

    Attributes:
        url: without a path, such as ``http://host:8000``.
        deadline: seconds for a row, all tries together.
    """

    url: str
    deadline: float = 120.0

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request; the token is read when it is sent, so that it is never pickled."""
        token = os.environ.get(TOKEN, "").strip()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def describe(self) -> str:
        """Return what identifies the reward; where it is served does not."""
        return "Server"


async def rows_scored(
    server: Server, rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any], size: int = 1
) -> list[dict[str, Any] | RewardFailure]:
    """Return the scores of each row, or the reason why it has none.

    Args:
        more: other entries of the requests: progress, num_generations.
        size: of the groups that stay together.

    Raises:
        RunStopped: the server refuses every request: a wrong token, another service.
    """
    until = time.monotonic() + server.deadline
    step = max(1, LARGEST // size) * size
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    found = await asyncio.gather(*[_part_scored(server, part, more, until) for part in parts])
    return [one for part in found for one in part]


async def _part_scored(
    server: Server, rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any], until: float
) -> Sequence[dict[str, Any] | RewardFailure]:
    try:
        reply = await answer(server, "POST", "/score", {"rows": rows, **more}, until)
        scores = reply["rows"]
        if len(scores) != len(rows):
            raise RewardFailure(f"{server.url} answered {len(scores)} scores for {len(rows)} rows")
    except RunStopped:
        raise
    except RewardFailure as error:
        return [error] * len(rows)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        return [RewardFailure(f"{server.url} cannot be asked, or answers something else than scores: {error!r}")] * len(
            rows
        )
    return list(scores)


async def answer(server: Server, method: str, path: str, content: Any, until: float) -> Any:
    """Return the JSON that the server answers; try again until `until` (`time.monotonic`).

    Raises:
        RunStopped: the server refuses every request.
        RewardFailure: the server refuses this request, or none is answered in time.
    """
    import httpx

    client, slots = _client(httpx)
    body = None if content is None else json.dumps(content).encode()  # ASCII, so half a surrogate pair passes, too
    pause, last = _FIRST_PAUSE, "no answer"
    while (left := until - time.monotonic()) > 0:
        asked = 0.0
        try:
            async with slots:
                response = await client.request(
                    method, server.url + path, content=body, headers=server.headers, timeout=max(0.1, left)
                )
        except httpx.InvalidURL as error:
            raise RunStopped(f"{server.url} is not an address: {error}") from None
        except httpx.HTTPError as error:
            last = f"{type(error).__name__}: {error}".rstrip(": ")
        else:
            if response.status_code == httpx.codes.OK:
                return response.json()
            last = f"status {response.status_code}: {shorten_line(response.text, 300)}"
            if response.status_code in _STOPS:
                raise RunStopped(f"{server.url}{path} refuses the request with {last}{_advice(response.status_code)}")
            if response.status_code not in _AGAIN:
                raise RewardFailure(f"{server.url}{path} refuses the request with {last}")
            asked = _seconds(response.headers.get("retry-after", ""))
        await asyncio.sleep(min(max(asked, pause * random.uniform(0.5, 1.0)), max(0.0, until - time.monotonic())))
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise RewardFailure(f"{server.url} did not answer within {server.deadline:g} s; the last try: {last}")


def _advice(status: int) -> str:
    if status in (401, 403):
        return f". Set {TOKEN} to the token of the server"
    return ". Pass the address of `rewardkit serve` without a path"


def _seconds(header: str) -> float:
    return float(header) if header.isdigit() else 0.0


_clients: weakref.WeakKeyDictionary[Any, tuple[int, httpx.AsyncClient, asyncio.Semaphore]] = weakref.WeakKeyDictionary()
"""One client per event loop; a fork has loops, and connections, of its own."""


def _client(httpx: Any) -> tuple[httpx.AsyncClient, asyncio.Semaphore]:
    loop = asyncio.get_running_loop()
    process, client, slots = _clients.get(loop, (0, None, None))
    if process != os.getpid() or client is None or slots is None:
        limits = httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE, keepalive_expiry=30.0)
        client, slots = httpx.AsyncClient(limits=limits, trust_env=False), asyncio.Semaphore(_AT_ONCE)
        _clients[loop] = os.getpid(), client, slots
    return client, slots


def check_installed() -> None:
    """Raise MissingExtraError if httpx is not installed."""
    try:
        import httpx  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of("rk.remote", "remote") from error
