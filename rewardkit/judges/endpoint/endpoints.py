"""Endpoints: shared by everything in an event loop, and closed with it: ``await endpoint_of(Access(address))``."""

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
    """The one that everything in the running event loop shares.

    Raises:
        RunStopped: the key or the address in the environment is missing, or cannot be used.
    """
    key = os.environ.get(access.key, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise RunStopped(f"the key in the environment variable {access.key} holds characters that no key can have")
    if not key and access.base_url is None and not os.environ.get("OPENAI_BASE_URL"):
        raise RunStopped(f"no key for the judge: set the environment variable {access.key}, or give base_url=")
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
        """Closes them when the loop ends: ``asyncio.run`` then closes all generators that have been started in it."""
        try:
            yield
        finally:
            _opened.pop(asyncio.get_running_loop(), None)
            for endpoint in self.endpoints.values():
                await endpoint.close()


_opened: dict[asyncio.AbstractEventLoop, _Opened] = {}


@atexit.register
def _close_all() -> None:
    """Closes what loops in other threads hold, which end with the process."""
    for loop, opened in list(_opened.items()):
        if opened.process == os.getpid() and loop.is_running():
            with suppress(Exception):  # nobody waits long for a loop that is stuck
                asyncio.run_coroutine_threadsafe(opened.closing.aclose(), loop).result(timeout=1.0)
