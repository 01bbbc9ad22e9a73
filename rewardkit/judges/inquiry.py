"""Asking: from a conversation to a verdict: ``await ask(service, conversation)``.

What was asked before comes from the cache, equal conversations under way at one time are one, and what is no verdict is
sent back once with what is wrong with it. A second one that is none fails.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rewardkit.core.errors import shorten
from rewardkit.judges.budget import Budget
from rewardkit.judges.cache import Cache, key_of
from rewardkit.judges.endpoint.access import Access
from rewardkit.judges.endpoint.client import Endpoint
from rewardkit.judges.endpoint.endpoints import endpoint_of
from rewardkit.judges.endpoint.failures import NoVerdict
from rewardkit.judges.endpoint.replies import Reply
from rewardkit.judges.ledger import Account
from rewardkit.judges.shield import NONCE, escaped, nonce_of
from rewardkit.judges.usage import tally
from rewardkit.judges.verdicts import Form, Malformed, Verdict

_QUOTED = 2_000
"""Characters of a malformed verdict that are shown to the judge that wrote it."""


@dataclass(frozen=True)
class Service:
    """Who is asked, and on what terms.

    Attributes:
        sampling: what goes along with the messages, as JSON: temperature, longest answer and the like.
        deadline: seconds for one call with all its retries.
        structured: whether to ask for the verdict by JSON schema, where the endpoint can.
    """

    model: str
    access: Access
    sampling: str = "{}"
    deadline: float = 30.0
    structured: bool = True
    cache: Cache | None = None
    budget: Budget | None = None

    def describe(self) -> str:
        """What changes a verdict, for fingerprints: neither where nor how fast it is asked."""
        return f"Service({self.model!r}, {self.sampling!r})"


@dataclass(frozen=True)
class Conversation:
    """What a judge is told, (role, text) each, with `NONCE` where the nonce will stand, and how it has to answer."""

    messages: tuple[tuple[str, str], ...]
    form: Form

    def key(self, service: Service) -> str:
        """The same for everything that gets the same verdict."""
        return key_of(
            model=service.model,
            sampling=service.sampling,
            messages=self.messages,
            form=repr(self.form),
            structured=service.structured,
        )

    def sent(self, nonce: str) -> list[dict[str, str]]:
        return [{"role": role, "content": text.replace(NONCE, nonce)} for role, text in self.messages]


async def ask(service: Service, conversation: Conversation, *, shared: bool = True, fresh: bool = False) -> Verdict:
    """The verdict on one conversation.

    Args:
        shared: equal conversations get one verdict while it is under way.
        fresh: the judge is asked, whatever the cache holds.

    Raises:
        NoVerdict: there is none on this one.
        RewardFailure: there is none now.
        RunStopped: there will be none for any other either.
    """
    key = conversation.key(service)
    if not fresh and (kept := await _kept(service, conversation, key)) is not None:
        return kept
    endpoint = await endpoint_of(service.access)
    if fresh or not shared:
        return await _asked(service, conversation, key, endpoint, fresh=fresh)
    return await endpoint.flights.joined(
        (key, service), lambda: _asked(service, conversation, key, endpoint, fresh=False)
    )


async def _kept(service: Service, conversation: Conversation, key: str) -> Verdict | None:
    """The verdict in the cache, if there is one."""
    if service.cache is None:
        return None
    text = await asyncio.to_thread(service.cache.get, key)
    if text is not None:
        with suppress(Malformed):
            kept = conversation.form.read(text)
            tally().cache_hits += 1
            return kept
        await asyncio.to_thread(service.cache.forget, key)
    tally().cache_misses += 1
    if service.cache.replay:
        tally().failures["not_in_cache"] += 1
        raise NoVerdict(service.cache.missed(key))
    return None


async def _asked(service: Service, conversation: Conversation, key: str, endpoint: Endpoint, *, fresh: bool) -> Verdict:
    messages = conversation.sent(nonce_of(key))
    reply = await _reply(service, conversation.form, messages, endpoint)
    try:
        verdict = _read(conversation.form, reply)
    except Malformed as problem:
        tally().repairs += 1
        messages += [
            {"role": "assistant", "content": escaped(reply.text[:_QUOTED]) or "(nothing)"},
            {"role": "user", "content": f"That is no valid verdict: {problem}. {conversation.form.instructions()}"},
        ]
        reply = await _reply(service, conversation.form, messages, endpoint)
        try:
            verdict = _read(conversation.form, reply)
        except Malformed as again:
            tally().failures["malformed"] += 1
            raise NoVerdict(
                f"judge {service.model!r} gave no valid verdict: {problem}; asked again: {again}. "
                f"It wrote {shorten(escaped(reply.text))}"
            ) from None
    if service.cache is not None and not fresh:
        await asyncio.to_thread(service.cache.put, key, reply.text)
    return verdict


async def _reply(service: Service, form: Form, messages: list[dict[str, str]], endpoint: Endpoint) -> Reply:
    body: dict[str, Any] = {"model": service.model, "messages": messages, **json.loads(service.sampling)}
    if service.structured:
        schema = {"name": "verdict", "strict": True, "schema": form.schema()}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    account = None if service.budget is None else Account(service.budget)
    judge = (service.model, service.sampling, service.structured, *form.schema()["properties"])
    return await endpoint.complete(body, service.deadline, account, judge)


def _read(form: Form, reply: Reply) -> Verdict:
    try:
        return form.read(reply.text)
    except Malformed as problem:
        cut = "it is cut off at the longest answer allowed (max_tokens); " if reply.finish == "length" else ""
        raise Malformed(f"{cut}{problem}") from None
