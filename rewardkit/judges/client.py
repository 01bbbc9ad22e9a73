"""Client: one endpoint, asked by everything in this process: ``await endpoint.complete(body, deadline=30.0)``.

The ``openai`` client speaks, without retries of its own. Around it: a bounded number of requests at one time, limits
per minute, one deadline over all attempts of a call, jittered waits that honour Retry-After, and a circuit breaker.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from random import uniform
from typing import Any
from weakref import WeakKeyDictionary

from rewardkit.core.errors import RewardFailure, RunStopped, shorten
from rewardkit.judges.breaker import CircuitBreaker, EndpointDown, Limited, Outage, Passing
from rewardkit.judges.flights import Flights
from rewardkit.judges.metering import tally
from rewardkit.judges.verdicts import Verdict

MOST_BYTES = 4_000_000
"""Of an answer, unpacked."""

_FAILURES_TO_OPEN = 8
_SECONDS_TO_OPEN = 5.0
_PAUSE = 5.0
_SHARE_OF_ONE = 2 / 3
"""Of a deadline that one attempt may take, so that another connection gets a chance."""

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_HARMLESS = ({"role": "user", "content": "Answer with the word yes."},)
_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")


@dataclass(frozen=True)
class Access:
    """How an endpoint is reached, and how hard.

    Attributes:
        base_url: where; None: OpenAI, or what ``OPENAI_BASE_URL`` says.
        key: the name of the environment variable that holds the key, which stays there.
        concurrency: requests at one time.
    """

    base_url: str | None = None
    key: str = "OPENAI_API_KEY"
    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and why it stopped."""

    text: str
    finish: str
    tokens_in: int
    tokens_out: int


def endpoint_of(access: Access) -> Endpoint:
    """The one that everything in the running event loop shares."""
    key = os.environ.get(access.key, "")
    if not key and access.base_url is None and not os.environ.get("OPENAI_BASE_URL"):
        raise RunStopped(f"no key for the judge: set the environment variable {access.key}, or give base_url=")
    known = _endpoints.setdefault(asyncio.get_running_loop(), {})
    if (access, key) not in known:
        known[access, key] = Endpoint(access, key)
    return known[access, key]


_endpoints: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[Access, str], Endpoint]] = WeakKeyDictionary()


class Endpoint:
    """An endpoint in one event loop."""

    def __init__(self, access: Access, key: str) -> None:
        import httpx2
        from openai import AsyncOpenAI

        from rewardkit.judges.transport import Guarded

        self.process = os.getpid()
        self._key = key
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=access.base_url,
            max_retries=0,
            timeout=None,
            http_client=httpx2.AsyncClient(
                transport=Guarded(MOST_BYTES, access.concurrency), trust_env=False, follow_redirects=False, timeout=None
            ),
        )
        self.address = str(self._client.base_url)
        self.flights: Flights[Verdict] = Flights()
        self._slots = asyncio.Semaphore(access.concurrency)
        self._requests, self._tokens = map(_limiter, (access.requests_per_minute, access.tokens_per_minute))
        self._breaker = CircuitBreaker(failures=_FAILURES_TO_OPEN, patience=_SECONDS_TO_OPEN, pause=_PAUSE)
        self._with_schema: set[str] = set()
        self._without_schema: set[str] = set()
        self._answered: set[str] = set()
        self._stopped: RunStopped | None = None
        self._asked = 0

    async def complete(self, body: Mapping[str, Any], deadline: float) -> Reply:
        """The reply to one request, within `deadline` seconds from when it is its turn.

        Raises:
            RewardFailure: there is none: the endpoint is down, too busy, or refuses this request.
            RunStopped: there will be none for any request.
        """
        self._asked += 1
        try:
            async with self._slots:
                if self._stopped is not None:
                    raise self._stopped
                return await self._persistently(dict(body), deadline)
        except RunStopped as stop:
            self._stopped = stop  # for those that wait for their turn
            raise
        finally:
            self._asked -= 1
            if not self._asked:
                self._stopped = None

    async def close(self) -> None:
        await self._client.close()

    async def _persistently(self, body: dict[str, Any], deadline: float) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_before_delay

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Passing), wait=_wait, stop=stop_before_delay(deadline), reraise=True
        )
        started = time.monotonic()
        try:
            return await retrying(self._attempt, body, started + deadline, _SHARE_OF_ONE * deadline)
        except EndpointDown as down:
            tally().failures["down"] += 1
            raise RewardFailure(f"{self._where(body)} is {down}") from None
        except Passing as error:
            tally().failures["limited" if isinstance(error, Limited) else "outage"] += 1
            raise RewardFailure(
                f"{self._where(body)} gave no answer within {deadline:g} s: {error}{_asks(error)} "
                f"(attempt {retrying.statistics['attempt_number']})"
            ) from None
        finally:
            tally().retries += retrying.statistics.get("attempt_number", 1) - 1
            tally().seconds.append(time.monotonic() - started)

    async def _attempt(self, body: dict[str, Any], until: float, most: float) -> Reply:
        await self._rate(body)
        if body["model"] in self._without_schema:
            body = _plain(body)
        async with self._breaker.attempt():
            return await self._answer(body, min(until, time.monotonic() + most))

    async def _answer(self, body: dict[str, Any], until: float) -> Reply:
        import openai

        model = body["model"]
        try:
            reply = await self._sent(body, until)
        except openai.APIStatusError as error:
            if error.status_code in (400, 422) and "response_format" in body and model not in self._with_schema:
                reply = await self._answer(_plain(body), until)
                self._without_schema.add(model)
                return reply
            raise await self._judged(error, body, until) from None
        self._answered.add(model)
        if "response_format" in body:
            self._with_schema.add(model)
        return reply

    async def _sent(self, body: Mapping[str, Any], until: float) -> Reply:
        """The reply to a request that goes out once.

        Raises:
            Outage: there is none.
            openai.APIStatusError: the endpoint answers with an error.
        """
        import openai

        from rewardkit.judges.transport import TooLarge

        tally().calls += 1
        # The client's own call for any endpoint: that for completions would walk the schema of every verdict anew.
        sending = self._client.post("/chat/completions", cast_to=object, body=dict(body))
        try:
            return _reply(await asyncio.wait_for(sending, max(0.0, until - time.monotonic())))
        except asyncio.TimeoutError:
            raise Outage("it is silent or too slow") from None
        except openai.APIStatusError:
            raise
        except (openai.APIError, TooLarge, ValueError) as error:
            cause = error.__cause__ or error
            raise Outage(str(cause) or type(cause).__name__) from None

    async def _judged(self, error: Any, body: Mapping[str, Any], until: float) -> Exception:
        """What an answer with an error's status means for the sample, or for the run."""
        status, said = error.status_code, f"{error.status_code}: {self._said(error)}"
        quota = str(error.code) in _QUOTA or str(error.type) in _QUOTA
        if status == 429 and not quota:
            return Limited(said, retry_after(error.response.headers))
        if status in (408, 409, 425) or status >= 500:
            return Outage(said, retry_after(error.response.headers))
        if status == 401 or quota:
            return RunStopped(f"{self._where(body)} refuses every request with {said}. Mend the key or the quota")
        if 300 <= status < 400:
            said += f" (it redirects to {shorten(error.response.headers.get('location'), 80)}; give that as base_url)"
        if await self._takes_others(body, until):
            tally().failures["refused"] += 1
            return RewardFailure(f"{self._where(body)} refuses this request with {said}")
        return RunStopped(f"{self._where(body)} refuses requests with {said}. Mend model=, base_url= or options=")

    async def _takes_others(self, body: Mapping[str, Any], until: float) -> bool:
        """Whether the endpoint answers at all, so that it refused this sample: for its length, or in a filter."""
        import openai

        if body["model"] not in self._answered:
            try:
                await self._sent({**_plain(body), "messages": _HARMLESS}, until)
            except openai.APIStatusError:
                return False
            self._answered.add(body["model"])
        return True

    def _said(self, error: Any) -> str:
        """The endpoint's words, cut short and without the key, which some repeat."""
        said = str(error.body.get("message", error.body) if isinstance(error.body, Mapping) else error.body or "")
        said = said.replace(self._key, "***") if self._key else said
        return shorten(_KEY.sub("***", said)) if said else "no reason given"

    def _where(self, body: Mapping[str, Any]) -> str:
        return f"judge {body['model']!r} at {self.address}"

    async def _rate(self, body: Mapping[str, Any]) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            characters = sum(len(message["content"]) for message in body["messages"])
            asked = characters / 4 + (body.get("max_tokens") or body.get("max_completion_tokens") or 0)
            await self._tokens.acquire(min(asked, self._tokens.max_rate))


def _limiter(per_minute: float | None) -> Any:
    """Lets so many through in a minute, and a tenth of them at once; None: no limit."""
    from aiolimiter import AsyncLimiter

    if per_minute is None:
        return None
    period = max(6.0, 60.0 / per_minute)
    return AsyncLimiter(per_minute * period / 60.0, period)


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request without a schema for the verdict."""
    return {name: value for name, value in body.items() if name != "response_format"}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, or None: from a number, or from a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        given = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", given, re.ASCII):
            return float(given) * unit
        if given and unit == 1.0:
            try:
                return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
            except (TypeError, ValueError, OverflowError):
                return None
    return None


def _wait(state: Any) -> float:
    """Seconds until the next attempt: what the server asked for, else twice as long each time; never all at once."""
    asked = state.outcome.exception().retry_after
    if asked is not None:
        return float(asked) + uniform(0.0, _FIRST_WAIT)
    return uniform(0.0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(state.attempt_number - 1, 10)))


def _asks(error: Passing) -> str:
    return "" if error.retry_after is None else f"; it asks to wait {error.retry_after:g} s"


def _reply(completion: Any) -> Reply:
    """The reply in the body of an answer."""
    try:
        choice = completion["choices"][0]
        content, usage = choice["message"]["content"], completion.get("usage") or {}
        if content is not None and not isinstance(content, str):
            raise TypeError
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        return Reply(content or "", str(choice.get("finish_reason")), *tokens)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        raise Outage(f"it answers with what is no chat completion: {shorten(completion, 80)}") from None


@atexit.register
def _close_all() -> None:
    for loop, endpoints in list(_endpoints.items()):
        for endpoint in endpoints.values():
            if endpoint.process == os.getpid() and loop.is_running():
                asyncio.run_coroutine_threadsafe(endpoint.close(), loop).result(timeout=1.0)
