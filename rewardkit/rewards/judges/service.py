"""Requests to the model behind a judge: ``await ask(service, conversation)`` returns a verdict.

Verdicts come from the cache if possible. Equal concurrent conversations share one request. An invalid verdict is sent
back once, with the error message. If the second verdict is also invalid, the sample fails.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import NoVerdict, RunStopped, shorten
from rewardkit.rewards.judges.budget import Account, Budget
from rewardkit.rewards.judges.cache import Cache, key_of
from rewardkit.rewards.judges.endpoint.access import Access, Endpoint
from rewardkit.rewards.judges.endpoint.client import EndpointClient
from rewardkit.rewards.judges.endpoint.replies import Reply
from rewardkit.rewards.judges.shield import NONCE, escaped, nonce_of
from rewardkit.rewards.judges.usage import tally
from rewardkit.rewards.judges.verdicts import Form, Malformed, Verdict

# Endpoint clients are shared within an event loop, and closed with it: ``await endpoint_of(Access(address))``.


def api_key(access: Access) -> str:
    """Return the API key for an endpoint, or "" if it needs none.

    Raises:
        RunStopped: the key or the address in the environment is missing or invalid.
    """
    key = os.environ.get(access.key, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise RunStopped(
            f"the environment variable {access.key} contains characters that an API key cannot have. Fix the key"
        )
    if not key and access.base_url is None and not os.environ.get("OPENAI_BASE_URL"):
        raise RunStopped(
            f"there is no API key for the model: set the environment variable {access.key} or, for a server that needs "
            "no key, pass base_url= or set OPENAI_BASE_URL"
        )
    return key


async def endpoint_of(access: Access) -> EndpointClient:
    """Return the client for an endpoint in the running event loop.

    Raises:
        RunStopped: the key or the address in the environment is missing or invalid.
    """
    key = api_key(access)
    loop = asyncio.get_running_loop()
    if loop not in _opened:
        for other in list(_opened):
            if other.is_closed():
                del _opened[other]
        _opened[loop] = _Opened()
        await anext(_opened[loop].closing)
    endpoints = _opened[loop].endpoints
    if (access, key) not in endpoints:
        endpoints[access, key] = EndpointClient(access, key)
    return endpoints[access, key]


class _Opened:
    """The endpoint clients for one event loop."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.endpoints: dict[tuple[Access, str], EndpointClient] = {}
        self.closing = self._closing()

    async def _closing(self) -> AsyncGenerator[None, None]:
        """Close the clients when the loop ends: ``asyncio.run`` closes all generators that were started in it."""
        try:
            yield
        finally:
            _opened.pop(asyncio.get_running_loop(), None)
            for endpoint in self.endpoints.values():
                await endpoint.close()


_opened: dict[asyncio.AbstractEventLoop, _Opened] = {}


@atexit.register
def _close_all() -> None:
    """When the process exits, close clients with loops that are still running in other threads."""
    for loop, opened in list(_opened.items()):
        if opened.process == os.getpid() and loop.is_running():
            with suppress(Exception):  # a loop that hangs must not delay the exit
                asyncio.run_coroutine_threadsafe(opened.closing.aclose(), loop).result(timeout=1.0)


_QUOTED = 2_000
"""The number of characters quoted to the judge from an invalid verdict. The limit is arbitrary: you pay for each
token."""


@dataclass(frozen=True)
class Service:
    """The model behind a judge, with a cache and a budget for verdicts.

    Attributes:
        endpoint: the model and the settings for requests.
        cache: the cache of earlier verdicts; None for no cache.
        budget: the spending limit; None for no limit.
    """

    endpoint: Endpoint
    cache: Cache | None = None
    budget: Budget | None = None

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.endpoint.model

    def describe(self) -> str:
        """Return all settings that can change a verdict, for fingerprints, without the address and the rate limits."""
        return f"Service({self.model!r}, {self.endpoint.sampling!r})"


@dataclass(frozen=True)
class Conversation:
    """A judge's prompt as (role, text) pairs, with `NONCE` in place of the nonce, and the form of the verdict."""

    messages: tuple[tuple[str, str], ...]
    form: Form

    def key(self, service: Service) -> str:
        """Return the cache key. Conversations with the same key share a verdict."""
        return key_of(
            model=service.model,
            sampling=service.endpoint.sampling,
            messages=self.messages,
            form=repr(self.form),
            structured=service.endpoint.structured,
        )

    def sent(self, nonce: str) -> list[dict[str, str]]:
        return [{"role": role, "content": text.replace(NONCE, nonce)} for role, text in self.messages]


async def ask(service: Service, conversation: Conversation, *, shared: bool = True, fresh: bool = False) -> Verdict:
    """Return the verdict on one conversation.

    Args:
        service: the model behind the judge.
        conversation: the prompt, and the form of the verdict.
        shared: if True, equal concurrent conversations share one request.
        fresh: if True, call the judge without using the cache.

    Raises:
        NoVerdict: the judge does not return a verdict on this conversation.
        RewardFailure: the judge is temporarily unavailable, or the budget is exhausted.
        RunStopped: the endpoint refuses all requests, or another error stops the run.
    """
    key = conversation.key(service)
    if not fresh and (cached_verdict := await _cached_verdict(service, conversation, key)) is not None:
        return cached_verdict
    endpoint = await endpoint_of(service.endpoint.access)
    if fresh or not shared:
        return await _request_verdict(service, conversation, key, endpoint, fresh=fresh)
    return await endpoint.single_flight.result(
        (key, service), lambda: _request_verdict(service, conversation, key, endpoint, fresh=False)
    )


async def _cached_verdict(service: Service, conversation: Conversation, key: str) -> Verdict | None:
    """Return the cached verdict; None if there is none and the judge may be called."""
    if service.cache is None:
        return None
    text = await asyncio.to_thread(service.cache.get, key)
    if text is not None:
        with suppress(Malformed):
            cached_verdict = conversation.form.read(text)
            tally().cache_hits += 1
            return cached_verdict
        await asyncio.to_thread(service.cache.forget, key)
    tally().cache_misses += 1
    if service.cache.replay:
        tally().failures["not_in_cache"] += 1
        raise NoVerdict(service.cache.missed(key))
    return None


async def _request_verdict(
    service: Service, conversation: Conversation, key: str, endpoint: EndpointClient, *, fresh: bool
) -> Verdict:
    messages = conversation.sent(nonce_of(key))
    reply = await _reply(service, conversation.form, messages, endpoint)
    try:
        verdict = _read(conversation.form, reply)
    except Malformed as problem:
        tally().repairs += 1
        messages += [
            {"role": "assistant", "content": escaped(reply.text[:_QUOTED]) or "(nothing)"},
            {"role": "user", "content": f"That is not a valid verdict: {problem}. {conversation.form.instructions()}"},
        ]
        reply = await _reply(service, conversation.form, messages, endpoint)
        try:
            verdict = _read(conversation.form, reply)
        except Malformed as again:
            tally().failures["malformed"] += 1
            raise NoVerdict(
                f"judge {service.model!r} gave no valid verdict: {problem}. After a "
                f"retry: {again}. It wrote {shorten(escaped(reply.text))}"
            ) from None
    if service.cache is not None and not fresh:
        await asyncio.to_thread(service.cache.put, key, reply.text)
    return verdict


async def _reply(service: Service, form: Form, messages: list[dict[str, str]], endpoint: EndpointClient) -> Reply:
    body: dict[str, Any] = {"model": service.model, "messages": messages, **json.loads(service.endpoint.sampling)}
    if service.endpoint.structured:
        schema = {"name": "verdict", "strict": True, "schema": form.schema()}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    account = None if service.budget is None else Account(service.budget)
    judge = (service.model, service.endpoint.sampling, service.endpoint.structured, *form.schema()["properties"])
    return await endpoint.complete(body, service.endpoint.deadline, account, judge)


def _read(form: Form, reply: Reply) -> Verdict:
    try:
        return form.read(reply.text)
    except Malformed as problem:
        truncation = (
            ("it is cut off at the longest answer allowed (max_tokens), and ") if reply.finish == "length" else ""
        )
        raise Malformed(f"{truncation}{problem}") from None
