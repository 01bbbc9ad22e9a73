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
_SHARE = 0.9
"""Of the time that is left: what the server gets, so that it can still say which rows have a score."""


class Refused(Exception):
    """The server refuses this request, but may take a part of it: a row is bad, or there are too many."""


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
        """The headers of a request; the token is read when it is sent, so that it is never pickled.

        Raises:
            RunStopped: the token has characters that no header can have.
        """
        token = os.environ.get(TOKEN, "").strip()
        if not (token.isascii() and token.isprintable()):
            raise RunStopped(f"{TOKEN} may have only printable ASCII characters. Set it to the token of the server")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def describe(self) -> str:
        """Return what identifies the reward; where it is served does not."""
        return "Server"


async def rows_scored(
    server: Server, reward: str, rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any], size: int = 1
) -> list[dict[str, Any] | RewardFailure]:
    """Return the scores of each row, or the reason why it has none.

    Args:
        reward: the fingerprint of the reward that must score them.
        more: other entries of the requests: progress, num_generations.
        size: of the groups that stay together.

    Raises:
        RunStopped: the server refuses every request: a wrong token, another service; or it serves another reward.
    """
    until = time.monotonic() + server.deadline
    step = max(1, LARGEST // size) * size
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    found = await asyncio.gather(*[_part_scored(server, reward, part, more, size, until) for part in parts])
    return [one for part in found for one in part]


async def _part_scored(
    server: Server,
    reward: str,
    rows: Sequence[Mapping[str, Any]],
    more: Mapping[str, Any],
    size: int,
    until: float,
) -> Sequence[dict[str, Any] | RewardFailure]:
    try:
        reply = await answer(server, "POST", "/score", {"rows": rows, **more}, until)
        scores, own = list(reply["rows"]), reply["reward"]
    except RunStopped:
        raise
    except RewardFailure as error:
        return [error] * len(rows)
    except Refused as error:
        if len(rows) <= size:
            return [RewardFailure(str(error))] * len(rows)
        middle = len(rows) // size // 2 * size
        halves = [rows[:middle], rows[middle:]]
        found = await asyncio.gather(*[_part_scored(server, reward, half, more, size, until) for half in halves])
        return [one for half in found for one in half]
    except (KeyError, TypeError):
        return [RewardFailure(f"{server.url} answers something else than scores")] * len(rows)
    if own != reward:
        raise RunStopped(
            f"{server.url} serves another reward than when rk.remote was called: {own}, not {reward}. Serve the old "
            "one again, or call rk.remote again and start a new training"
        )
    if len(scores) != len(rows):
        return [RewardFailure(f"{server.url} answers {len(scores)} scores for {len(rows)} rows")] * len(rows)
    return scores


async def answer(server: Server, method: str, path: str, content: Mapping[str, Any] | None, until: float) -> Any:
    """Return the JSON that the server answers; try again until `until` (`time.monotonic`).

    Raises:
        RunStopped: the server refuses every request.
        Refused: the server refuses this request.
        RewardFailure: no request is answered in time, or the answer is not JSON.
    """
    import httpx

    client, slots = _client(httpx)
    pause, last = _FIRST_PAUSE, "no answer"
    while time.monotonic() < until:
        asked = 0.0
        try:
            async with slots:
                left = max(0.1, until - time.monotonic())
                body = None if content is None else _body({**content, "deadline": _SHARE * left})
                response = await client.request(
                    method, server.url + path, content=body, headers=server.headers, timeout=left
                )
        except httpx.InvalidURL as error:
            raise RunStopped(f"{server.url} is not an address: {error}") from None
        except httpx.HTTPError as error:
            last = f"{type(error).__name__}: {error}".rstrip(": ")
        else:
            if response.status_code == httpx.codes.OK:
                return _json(server, response)
            last = f"status {response.status_code}: {shorten_line(response.text, 300)}"
            if response.status_code in _STOPS:
                raise RunStopped(f"{server.url}{path} refuses the request with {last}{_advice(response.status_code)}")
            if response.status_code not in _AGAIN:
                raise Refused(f"{server.url}{path} refuses the request with {last}")
            asked = _seconds(response.headers.get("retry-after", ""))
        wait = max(asked, pause) * random.uniform(0.5, 1.5)  # so that many clients do not come back at once
        await asyncio.sleep(min(wait, max(0.0, until - time.monotonic())))
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise RewardFailure(f"{server.url} did not answer within {server.deadline:g} s; the last try: {last}")


def _body(content: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(content).encode()  # ASCII, so half a surrogate pair passes, too
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"a row cannot be sent as JSON: {error}") from None


def _json(server: Server, response: httpx.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise RewardFailure(f"{server.url} answers no JSON: {shorten_line(response.text, 300)}") from None


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
