"""Sends one request once, without retries: ``await sender.sent(body, until, account)``.

It uses the ``openai`` client with its own retries turned off.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import RunStopped, shorten
from rewardkit.rewards.judges.budget import Account
from rewardkit.rewards.judges.endpoint.access import Access, problem_of
from rewardkit.rewards.judges.endpoint.failures import NoTime, Outage, failure_of
from rewardkit.rewards.judges.endpoint.limits import CircuitBreaker, tokens_in, tokens_of
from rewardkit.rewards.judges.endpoint.replies import Reply, reply_of
from rewardkit.rewards.judges.usage import tally

# Removes the key from what an endpoint returns: ``Redaction("open").message("not open")``.


_ANY_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")
_LEAST_KEY = 12
"""The shortest key that is removed from verdicts; a shorter one might be an ordinary word."""


@dataclass(frozen=True)
class Redaction:
    """Removes one key from texts."""

    key: str

    def message(self, text: str) -> str:
        """Return the `text` of an error without this key and anything that looks like a key."""
        return _ANY_KEY.sub("***", text.replace(self.key, "***") if self.key else text)

    def written(self, text: str) -> str:
        """Return the `text` of a judge without this key; nothing else changes."""
        return text.replace(self.key, "***") if len(self.key) >= _LEAST_KEY else text


MOST_BYTES = 4_000_000
"""The largest answer in bytes, uncompressed."""

_FAILURES_TO_OPEN = 8
_SECONDS_TO_OPEN = 5.0
_PAUSE = 5.0

_log = logging.getLogger("rewardkit.rewards.judges")


class Sender:
    """Sends requests to one endpoint in one event loop, and knows if it is down.

    Raises:
        RunStopped: the address in the environment is invalid.
    """

    def __init__(self, access: Access, key: str) -> None:
        import httpx2
        from openai import AsyncOpenAI

        from rewardkit.rewards.judges.endpoint.transport import Guarded

        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=access.base_url,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(
                transport=Guarded(MOST_BYTES, access.concurrency), trust_env=False, follow_redirects=False, timeout=None
            ),
        )
        if problem := problem_of(str(self._client.base_url)):
            raise RunStopped(f"the judge cannot be reached: {problem}")
        self._address = str(self._client.base_url.copy_with(query=None))
        self._without_key = Redaction(key)
        self._breaker = CircuitBreaker(failures=_FAILURES_TO_OPEN, patience=_SECONDS_TO_OPEN, pause=_PAUSE)
        self._estimates = False

    def whom(self, body: Mapping[str, Any]) -> str:
        """Return the name of the judge and its address, for messages."""
        return f"judge {body['model']!r} at {self._address}"

    async def sent(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """Return the reply to a request, before ``time.monotonic()`` reaches `until`.

        Raises:
            Passing: there is no reply now.
            Refused: the endpoint refuses this request.
            EndpointDown: nothing was sent, because the endpoint is down.
            RewardFailure: the budget is spent.
        """
        async with self._breaker.attempt() as patience:
            until = min(until, time.monotonic() + patience)
            if time.monotonic() >= until:
                raise NoTime("no time was left to send it")
            if account is not None:
                await account.admit()
            tally().calls += 1
            try:
                reply = await self._exchanged(body, until)
            except _Free as free:
                tally().calls -= 1
                if account is not None:
                    await account.give_back()
                raise free.failure from None
            except BaseException:
                if account is not None:
                    account.keep()
                raise
        sent, written = self._tokens(reply, body)
        tally().tokens += sent + written
        if account is not None:
            await account.charge(body["model"], sent, written)
        return reply

    async def close(self) -> None:
        await self._client.close()

    async def _exchanged(self, body: Mapping[str, Any], until: float) -> Reply:
        """Return the reply; raise _Free or Outage if there is none."""
        import httpx2
        import openai

        # Not the client's method for chat completions, which would process the schema again for every verdict.
        sending = self._client.post("/chat/completions", cast_to=object, body=dict(body))
        try:
            answer = await asyncio.wait_for(sending, until - time.monotonic())
        except asyncio.TimeoutError:
            raise Outage("it is silent or too slow") from None
        except openai.APIStatusError as error:
            raise _Free(failure_of(error, self._said(error))) from None
        except Exception as error:  # an answer may be broken in any way
            cause = error.__cause__ or error
            outage = Outage(self._without_key.message(str(cause)) or type(cause).__name__)
            raise (_Free(outage) if isinstance(cause, httpx2.ConnectError) else outage) from None
        reply = reply_of(answer)
        if reply is None:
            said = shorten(self._without_key.message(str(answer)[:1000]), 80)
            raise Outage(f"its answer is not a chat completion: {said}")
        return Reply(self._without_key.written(reply.text), reply.finish, reply.tokens)

    def _tokens(self, reply: Reply, body: Mapping[str, Any]) -> tuple[int, int]:
        """Return the tokens of request and reply; estimated if the server does not report them."""
        if reply.tokens is not None:
            return reply.tokens
        if not self._estimates:
            self._estimates = True
            _log.warning("%s does not report tokens, so they are estimated", self.whom(body))
        return tokens_in(body), tokens_of(reply.text)

    def _said(self, error: Any) -> str:
        """Return the message of the endpoint, cut short."""
        said = str(error.body.get("message", error.body) if isinstance(error.body, Mapping) else error.body or "")
        return shorten(self._without_key.message(said)) if said else "no reason given"


class _Free(Exception):
    """The request cost nothing: it did not arrive, or it got an error status."""

    def __init__(self, failure: Exception) -> None:
        super().__init__(str(failure))
        self.failure = failure
