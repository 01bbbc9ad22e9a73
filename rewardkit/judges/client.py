"""Client: one endpoint, asked by everything in this process: ``await endpoint.complete(body, deadline=30.0)``.

The ``openai`` client speaks, without retries of its own. Around it: a bounded number of requests at one time, limits
per minute, one deadline over all attempts of a call, jittered waits that honour Retry-After, and a circuit breaker.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from random import uniform
from typing import Any

from rewardkit.core.errors import RewardFailure, RunStopped, shorten
from rewardkit.judges.access import Access, problem_of
from rewardkit.judges.breaker import CircuitBreaker, EndpointDown, Limited, NoTime, Outage, Passing, Refused
from rewardkit.judges.budget import Account
from rewardkit.judges.flights import Flights
from rewardkit.judges.metering import tally
from rewardkit.judges.replies import Reply, no_quota, retry_after, text_of, usage_of
from rewardkit.judges.verdicts import Verdict

MOST_BYTES = 4_000_000
"""Of an answer, unpacked."""

_CHARACTERS_PER_TOKEN = 4
_FAILURES_TO_OPEN = 8
_SECONDS_TO_OPEN = 5.0
_PAUSE = 5.0
_SHARE_OF_ONE = 2 / 3
"""Of a deadline that one attempt may take, so that another connection gets a chance."""

_LEAST_SHARE = 1 / 20
"""Of a deadline that has to be left for another attempt."""

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0
_REFUSALS_IN_A_ROW = 8
"""After which the endpoint is asked again whether it answers anything at all."""

_HARMLESS = ({"role": "user", "content": "Answer with the word yes."},)
_LEAST_KEY = 12
"""Characters of a key that is looked for in what a judge wrote."""

_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")

_log = logging.getLogger("rewardkit.judges")


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


class Endpoint:
    """An endpoint in one event loop."""

    def __init__(self, access: Access, key: str) -> None:
        import httpx2
        from openai import AsyncOpenAI

        from rewardkit.judges.transport import Guarded

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
        problem = problem_of(str(self._client.base_url))
        if problem:
            raise RunStopped(f"the judge cannot be reached: {problem}")
        self.address = str(self._client.base_url.copy_with(query=None))
        self.flights: Flights[Verdict] = Flights()
        self._slots = asyncio.Semaphore(access.concurrency)
        self._requests, self._tokens = map(_limiter, (access.requests_per_minute, access.tokens_per_minute))
        self._breaker = CircuitBreaker(failures=_FAILURES_TO_OPEN, patience=_SECONDS_TO_OPEN, pause=_PAUSE)
        self._with_schema: set[str] = set()
        self._without_schema: set[str] = set()
        self._refusals: dict[str, int] = {}  # of the models that have answered, since they last did
        self._stopped: dict[str, RunStopped] = {}
        self._asked = 0
        self._estimates = False

    async def complete(self, body: Mapping[str, Any], deadline: float, account: Account | None = None) -> Reply:
        """The reply to one request, within `deadline` seconds from when it is its turn.

        Args:
            account: what each request that goes out is counted and charged to.

        Raises:
            RewardFailure: there is none: the endpoint is down, too busy, or refuses this request.
            RunStopped: there will be none for any request.
        """
        self._asked += 1
        try:
            async with self._slots:
                await self._rate(body)
                if body["model"] in self._stopped:  # while it waited for its turn
                    raise self._stopped[body["model"]]
                return await self._persistently(dict(body), deadline, account)
        finally:
            self._asked -= 1
            if not self._asked:
                self._stopped.clear()

    async def close(self) -> None:
        await self._client.close()

    async def _persistently(self, body: dict[str, Any], deadline: float, account: Account | None) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_before_delay

        latest = (1 - _LEAST_SHARE) * deadline
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Passing), wait=_wait, stop=stop_before_delay(latest), reraise=True
        )
        started = time.monotonic()

        async def attempt() -> Reply:
            if retrying.statistics["attempt_number"] > 1:
                await self._rated_within(body, started + latest)
            until = min(started + deadline, time.monotonic() + _SHARE_OF_ONE * deadline)
            return await self._answer(body, until, account)

        try:
            return await retrying(attempt)
        except EndpointDown as down:
            tally().failures["down"] += 1
            raise RewardFailure(f"{self._where(body)} is {down}") from None
        except Passing as error:
            tally().failures["limited" if isinstance(error, (Limited, NoTime)) else "outage"] += 1
            raise RewardFailure(
                f"{self._where(body)} gave no answer within {deadline:g} s: {error}{_asks(error)} "
                f"(attempt {retrying.statistics['attempt_number']})"
            ) from None
        finally:
            tally().retries += retrying.statistics.get("attempt_number", 1) - 1
            tally().seconds.append(time.monotonic() - started)

    async def _answer(self, body: dict[str, Any], until: float, account: Account | None) -> Reply:
        model = body["model"]
        if model in self._without_schema:
            body = _plain(body)
        try:
            reply = await self._sent(body, until, account)
        except Refused as refused:
            error = refused.answer
            if error.status_code in (400, 422) and "response_format" in body and model not in self._with_schema:
                reply = await self._answer(_plain(body), until, account)
                self._without_schema.add(model)
                return reply
            raise await self._judged(error, body, until, account) from None
        if "response_format" in body:
            self._with_schema.add(model)
        return reply

    async def _sent(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """The reply to a request that goes out once.

        Raises:
            Passing: there is none now.
            Refused: there is none for this request.
        """
        import httpx2
        import openai

        async with self._breaker.attempt():
            if time.monotonic() >= until:
                raise NoTime("no time was left to send it")
            if account is not None:
                await account.admit()
            tally().calls += 1
            # The client's own call for any endpoint: that for completions would walk the schema of every verdict anew.
            sending = self._client.post("/chat/completions", cast_to=object, body=dict(body))
            try:
                reply = self._reply(await asyncio.wait_for(sending, until - time.monotonic()), body)
            except asyncio.TimeoutError:
                raise Outage("it is silent or too slow") from None
            except openai.APIStatusError as error:
                raise self._sorted(error) from None
            except Outage:
                raise
            except Exception as error:  # whatever an answer does to who reads it
                cause = error.__cause__ or error
                if isinstance(cause, httpx2.ConnectError):
                    tally().calls -= 1
                    if account is not None:
                        await account.give_back()
                raise Outage(self._without_key(str(cause)) or type(cause).__name__) from None
        self._refusals[body["model"]] = 0
        tally().tokens += reply.tokens_in + reply.tokens_out
        if account is not None:
            await account.charge(body["model"], reply.tokens_in, reply.tokens_out)
        return reply

    def _sorted(self, error: Any) -> Exception:
        """What an answer with an error's status is: passing, or a refusal."""
        said = f"{error.status_code}: {self._said(error)}"
        if error.status_code == 429 and not no_quota(error):
            return Limited(said, retry_after(error.response.headers))
        redirected = 300 <= error.status_code < 400 and "location" in error.response.headers
        if (
            error.status_code in (408, 409, 425)
            or error.status_code >= 500
            or (error.status_code < 400 and not redirected)
        ):
            return Outage(said, retry_after(error.response.headers))
        return Refused(error)

    async def _judged(
        self, error: Any, body: Mapping[str, Any], until: float, account: Account | None
    ) -> RewardFailure:
        """What a refusal means for the sample, or for the run."""
        status, said = error.status_code, f"{error.status_code}: {self._said(error)}"
        if status == 401 or no_quota(error):
            return self._stop(body, f"refuses every request with {said}. Mend the key or the quota")
        if 300 <= status < 400:
            said += f" (it redirects to {shorten(error.response.headers.get('location'), 80)}; give that as base_url)"
        if await self._takes_others(body, until, account):
            tally().failures["refused"] += 1
            return RewardFailure(f"{self._where(body)} refuses this request with {said}")
        return self._stop(body, f"refuses requests with {said}. Mend model=, base_url= or options=")

    def _stop(self, body: Mapping[str, Any], why: str) -> RunStopped:
        stop = self._stopped[body["model"]] = RunStopped(f"{self._where(body)} {why}")
        return stop

    async def _takes_others(self, body: Mapping[str, Any], until: float, account: Account | None) -> bool:
        """Whether the endpoint answers at all, so that it refused this sample: for its length, or in a filter."""
        model = body["model"]
        if model in self._refusals and self._refusals[model] < _REFUSALS_IN_A_ROW:
            self._refusals[model] += 1
            return True
        try:
            await self._sent({**_plain(body), "messages": _HARMLESS}, until, account)
        except Refused:
            return False
        return True

    def _reply(self, completion: Any, body: Mapping[str, Any]) -> Reply:
        """The reply in the body of an answer."""
        try:
            choice = completion["choices"][0]
            text = text_of(choice["message"].get("content"))
        except (AttributeError, LookupError, TypeError):
            said = shorten(self._without_key(str(completion)[:1000]), 80)
            raise Outage(f"it answers with what is no chat completion: {said}") from None
        if len(self._key) >= _LEAST_KEY:  # no verdict holds one by chance
            text = text.replace(self._key, "***")
        tokens = usage_of(completion)
        if tokens is None:
            if not self._estimates:
                self._estimates = True
                _log.warning("%s does not say how many tokens it takes: they are estimated", self._where(body))
            tokens = sum(map(_length, body["messages"])) // _CHARACTERS_PER_TOKEN, len(text) // _CHARACTERS_PER_TOKEN
        return Reply(text, str(choice.get("finish_reason")), *tokens)

    def _said(self, error: Any) -> str:
        """The endpoint's words, cut short and without the key, which some repeat."""
        said = str(error.body.get("message", error.body) if isinstance(error.body, Mapping) else error.body or "")
        return shorten(self._without_key(said)) if said else "no reason given"

    def _without_key(self, text: str) -> str:
        return _KEY.sub("***", text.replace(self._key, "***") if self._key else text)

    def _where(self, body: Mapping[str, Any]) -> str:
        return f"judge {body['model']!r} at {self.address}"

    async def _rate(self, body: Mapping[str, Any]) -> None:
        """Waits for its turn under the limits per minute."""
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            asked = sum(map(_length, body["messages"])) / _CHARACTERS_PER_TOKEN
            asked += body.get("max_tokens") or body.get("max_completion_tokens") or 0
            while asked > 0:  # more than may go at once waits piece by piece
                piece = min(asked, self._tokens.max_rate)
                await self._tokens.acquire(piece)
                asked -= piece

    async def _rated_within(self, body: Mapping[str, Any], until: float) -> None:
        try:
            await asyncio.wait_for(self._rate(body), max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise NoTime("the limit per minute leaves no time for another attempt") from None


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


def _wait(state: Any) -> float:
    """Seconds until the next attempt: what the server asked for, else twice as long each time; never all at once."""
    asked = state.outcome.exception().retry_after
    if asked is not None:
        return float(asked) + uniform(0.0, _FIRST_WAIT)
    return uniform(0.0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(state.attempt_number - 1, 10)))


def _asks(error: Passing) -> str:
    return "" if error.retry_after is None else f"; it asks to wait {error.retry_after:g} s"


def _length(message: Mapping[str, str]) -> int:
    return len(message["content"])
