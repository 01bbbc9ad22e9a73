"""Endpoints are shared in an event loop, and closed with it: ``await endpoint_of(Access(address))``."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator
from contextlib import suppress

from rewardkit.core.errors import RunStopped
from rewardkit.judges.endpoint.access import Access
from rewardkit.judges.endpoint.client import Endpoint


async def endpoint_of(access: Access) -> Endpoint:
    """Return the endpoint of the running event loop.

    Raises:
        RunStopped: the key or the address in the environment is missing or invalid.
    """
    key = os.environ.get(access.key, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise RunStopped(
            f"the environment variable {access.key} contains characters that a key cannot have. Fix the key"
        )
    if not key and access.base_url is None and not os.environ.get("OPENAI_BASE_URL"):
        raise RunStopped(f"the judge has no key: set the environment variable {access.key}, or pass base_url=")
    loop = asyncio.get_running_loop()
    if loop not in _opened:
        for other in list(_opened):
            if other.is_closed():
                del _opened[other]
        _opened[loop] = _Opened()
        await anext(_opened[loop].closing)
    known = _opened[loop].endpoints
    if (access, key) not in known:
        known[access, key] = Endpoint(access, key)
    return known[access, key]


class _Opened:
    """The endpoints of one event loop."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.endpoints: dict[tuple[Access, str], Endpoint] = {}
        self.closing = self._closing()

    async def _closing(self) -> AsyncGenerator[None, None]:
        """Close the endpoints when the loop ends: ``asyncio.run`` closes all generators that were started in it."""
        try:
            yield
        finally:
            _opened.pop(asyncio.get_running_loop(), None)
            for endpoint in self.endpoints.values():
                await endpoint.close()


_opened: dict[asyncio.AbstractEventLoop, _Opened] = {}


@atexit.register
def _close_all() -> None:
    """Close the endpoints of loops in other threads, which end with the process."""
    for loop, opened in list(_opened.items()):
        if opened.process == os.getpid() and loop.is_running():
            with suppress(Exception):  # a loop that hangs must not delay the exit
                asyncio.run_coroutine_threadsafe(opened.closing.aclose(), loop).result(timeout=1.0)
