"""A client for one endpoint, shared within an event loop: ``await endpoint.complete(body, deadline=30.0)``.

The client limits the number of concurrent requests and the number of requests per minute. Each call has one deadline
for all attempts. The delays between attempts are random and honor Retry-After.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import uniform
from typing import Any, Generic, TypeVar

from rewardkit.errors import NoVerdict, RewardFailure, RunStopped, shorten
from rewardkit.rewards.judges.budget import Account
from rewardkit.rewards.judges.endpoint.access import Access, problem_of
from rewardkit.rewards.judges.endpoint.failures import Limited, NoTime, Outage, Passing, Refused, failure_of
from rewardkit.rewards.judges.endpoint.replies import Reply, reply_of
from rewardkit.rewards.judges.usage import tally
from rewardkit.rewards.judges.verdicts import Verdict

# Limit requests and tokens per minute: ``await Rates(requests=600, tokens=None).turn(body)``.


_CHARACTERS_PER_TOKEN = 4
"""A typical value for English text. The exact number of tokens is known only after the response."""


class Rates:
    """A rate limiter for requests and tokens per minute; None for no limit. A burst is at most a tenth of a limit."""

    def __init__(self, requests: float | None, tokens: float | None) -> None:
        self._requests, self._tokens = _limiter(requests), _limiter(tokens)

    async def turn(self, body: Mapping[str, Any], until: float | None = None) -> None:
        """Wait until `body` may be sent, at most until ``time.monotonic()`` reaches `until`.

        Raises:
            NoTime: the limits do not allow the request before `until`.
        """
        try:
            await asyncio.wait_for(self._turn(body), None if until is None else max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise NoTime("the limit per minute leaves no time for another attempt") from None

    async def _turn(self, body: Mapping[str, Any]) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            tokens_left = tokens_in(body) + (body.get("max_tokens") or body.get("max_completion_tokens") or 0)
            while tokens_left > 0:  # a request larger than one burst takes several
                piece = min(tokens_left, self._tokens.max_rate)
                await self._tokens.acquire(piece)
                tokens_left -= piece


def tokens_in(body: Mapping[str, Any]) -> int:
    """Estimate the number of tokens in a request."""
    return tokens_of("".join(message["content"] for message in body["messages"]))


def tokens_of(text: str) -> int:
    """Estimate the number of tokens in a text."""
    return len(text) // _CHARACTERS_PER_TOKEN


def _limiter(per_minute: float | None) -> Any:
    from aiolimiter import AsyncLimiter

    if per_minute is None:
        return None
    # With 6 seconds, a burst is a tenth of the limit per minute. Slow rates need longer to allow one request per burst.
    period = max(6.0, 60.0 / per_minute)
    return AsyncLimiter(per_minute * period / 60.0, period)


LONGEST_PAUSE = 60.0
"""The circuit breaker's longest pause in seconds. The limit is arbitrary: a recovered endpoint should be used again
within a minute."""


# A circuit breaker: while an endpoint is down, calls fail immediately instead of each waiting for its deadline.


class EndpointDown(Exception):
    """The request was not sent because the endpoint is down."""


class CircuitBreaker:
    """A circuit breaker for one endpoint in one event loop.

    It opens after `failures` consecutive outages over at least `patience` seconds. After `pause` seconds, it allows one
    probe. Each failed probe doubles the pause.
    """

    def __init__(
        self, *, failures: int, patience: float, pause: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._failures = failures
        self._patience = patience
        self._first_pause = self._pause = pause
        self._clock = clock
        self._count = 0
        self._since = 0.0
        self._reason = ""
        self._probe_at: float | None = None
        self._probing: asyncio.Event | None = None

    @property
    def is_open(self) -> bool:
        return self._probe_at is not None

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[float]:
        """Allow one request, and yield its time limit in seconds.

        If the ``with`` block raises an `Outage`, the endpoint has failed. Any response from the endpoint is a success.
        Other exceptions are ignored.

        Raises:
            EndpointDown: the breaker is open, and a probe is not due yet.
        """
        probe = await self._admitted()
        try:
            yield math.inf if probe is None else self._pause  # a batch waits for the probe
        except Outage as outage:
            self._failed(str(outage), probe=probe is not None)
            raise
        except (Limited, Refused):
            self._answered()
            raise
        else:
            self._answered()
        finally:
            if probe is not None:
                self._probing = None
                probe.set()

    async def _admitted(self) -> asyncio.Event | None:
        """Return None if the breaker is closed. If this call is the probe, return an event to set when it is done."""
        while self._probe_at is not None:
            if self._probing is not None:
                await self._probing.wait()
            elif self._clock() < self._probe_at:
                wait = self._probe_at - self._clock()
                raise EndpointDown(
                    f"down for {self._clock() - self._since:.0f} s ({self._reason}). Next try in {wait:.0f} s"
                )
            else:
                self._probing = asyncio.Event()
                return self._probing
        return None

    def _answered(self) -> None:
        self._count = 0
        self._probe_at = None
        self._pause = self._first_pause

    def _failed(self, reason: str, *, probe: bool) -> None:
        now = self._clock()
        if self._count == 0:
            self._since = now
        self._count += 1
        self._reason = reason
        if probe:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._probe_at = now + self._pause
        elif self._probe_at is None and self._count >= self._failures and now - self._since >= self._patience:
            self._probe_at = now + self._pause


# Remove API keys from an endpoint's replies: ``Redaction("open").message("not open")``.


# Keys of OpenAI, Hugging Face, Groq and others, such as "sk-proj-abc123" and "hf_abcdef": an endpoint may return a key
# that is not ours.
_ANY_KEY = re.compile(r"\b(?:sk|pk|key|hf|gsk)[-_][\w.*-]{6,}")
_LEAST_KEY = 12
"""The minimum length at which a key is removed from verdicts. A shorter key might be an ordinary word."""


@dataclass(frozen=True)
class Redaction:
    """A filter that removes one key from text."""

    key: str

    def message(self, text: str) -> str:
        """Return an error message without this key and any other text that looks like a key."""
        return _ANY_KEY.sub("***", text.replace(self.key, "***") if self.key else text)

    def written(self, text: str) -> str:
        """Return a judge's text without this key, but otherwise unchanged."""
        return text.replace(self.key, "***") if len(self.key) >= _LEAST_KEY else text


MOST_BYTES = 4_000_000
"""The maximum size of an uncompressed response in bytes. The limit is arbitrary: responses are read into memory, and a
verdict takes only a few kilobytes."""

# Arbitrary: a few consecutive failures are normal with 64 concurrent requests, but samples should not all wait for
# their deadline if the endpoint is down.
_FAILURES_TO_OPEN = 8
_SECONDS_TO_OPEN = 5.0
_PAUSE = 5.0

_SUBSTITUTES = {"max_tokens": "max_completion_tokens", "temperature": ""}
"""The request parameters that OpenAI's reasoning models reject, and their substitutes."""

_log = logging.getLogger("rewardkit.rewards.judges")


class Sender:
    """A sender of requests to one endpoint in one event loop. It sends each request once and tracks outages.

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
        self._unsupported: defaultdict[str, set[str]] = defaultdict(set)  # by model

    def whom(self, body: Mapping[str, Any]) -> str:
        """Return the judge's name and address, for messages."""
        return f"judge {body['model']!r} at {self._address}"

    def adapted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request `body`, with the parameters from `_SUBSTITUTES` that its model supports."""
        unsupported = self._unsupported[body["model"]]
        adapted = {name: value for name, value in body.items() if name not in unsupported}
        for name in unsupported & body.keys():
            if _SUBSTITUTES[name]:
                adapted.setdefault(_SUBSTITUTES[name], body[name])
        return adapted

    def adapts(self, refused: Refused, body: Mapping[str, Any]) -> bool:
        """Return whether `adapted` now changes the `body` that was `refused`, because its model's limits are known."""
        name = refused.parameter
        if name not in _SUBSTITUTES or name not in body:
            return False
        unsupported = self._unsupported[body["model"]]
        if name == "temperature" and name not in unsupported:
            _log.warning(
                "%s does not support temperature=%s, so verdicts are sampled at the model's default temperature",
                self.whom(body),
                body[name],
            )
        unsupported.add(name)
        return True

    async def sent(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """Send a request and return the reply before ``time.monotonic()`` reaches `until`.

        Raises:
            Passing: the request failed temporarily, and another attempt may succeed.
            Refused: the endpoint refuses this request.
            EndpointDown: the request was not sent, because the endpoint is down.
            RewardFailure: the budget is exhausted.
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
        """Send a request and return the reply; raise `_Free` or `Outage` if there is none."""
        import httpx2
        import openai

        # The client's own method for chat completions would process the schema again for every verdict.
        sending = self._client.post("/chat/completions", cast_to=object, body=dict(body))
        try:
            answer = await asyncio.wait_for(sending, until - time.monotonic())
        except asyncio.TimeoutError:
            raise Outage("it does not respond, or is too slow") from None
        except openai.APIStatusError as error:
            raise _Free(failure_of(error, self._error_message(error))) from None
        except Exception as error:  # a broken answer can raise anything
            cause = error.__cause__ or error
            outage = Outage(self._without_key.message(str(cause)) or type(cause).__name__)
            raise (_Free(outage) if isinstance(cause, httpx2.ConnectError) else outage) from None
        reply = reply_of(answer)
        if reply is None:
            answer_text = shorten(self._without_key.message(str(answer)[:1000]), 80)
            raise Outage(f"its answer is not a chat completion: {answer_text}")
        return Reply(self._without_key.written(reply.text), reply.finish, reply.tokens)

    def _tokens(self, reply: Reply, body: Mapping[str, Any]) -> tuple[int, int]:
        """Return the token counts for the request and the reply, estimated if the server does not report them."""
        if reply.tokens is not None:
            return reply.tokens
        if not self._estimates:
            self._estimates = True
            _log.warning("%s does not report token counts, so they are estimated", self.whom(body))
        return tokens_in(body), tokens_of(reply.text)

    def _error_message(self, error: Any) -> str:
        """Return the endpoint's message in `error`, truncated and without keys."""
        reason = str(error.body.get("message", error.body) if isinstance(error.body, Mapping) else error.body or "")
        return shorten(self._without_key.message(reason)) if reason else "no reason given"


class _Free(Exception):
    """The failure of a request that cost nothing because it did not arrive or received an error status."""

    def __init__(self, failure: Exception) -> None:
        super().__init__(str(failure))
        self.failure = failure


# Find out whether an endpoint refuses one request or all of them, from its replies to the judge's other requests.


_REFUSALS_IN_A_ROW = 8
"""The number of consecutive refusals after which a harmless request tests whether the endpoint accepts any request. The
number is arbitrary: single requests may be refused because of their content."""

_HARMLESS = ({"role": "user", "content": "Answer with the word yes."},)


class EndpointStatus:
    """An endpoint's status for one judge: whether it accepts a schema, and whether it refuses all requests.

    Requests from one judge differ only in their messages.
    """

    def __init__(self, sender: Sender) -> None:
        self.stopped: RunStopped | None = None
        self._sender = sender
        self._takes_schema: bool | None = None  # None: not yet known
        self._refusals: int | None = None  # since the last answer; None: no answer yet

    async def reply(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        """Send `body` and return the reply; omit the schema if the endpoint does not support schemas.

        Raises:
            NoVerdict: the endpoint refuses this request.
            RunStopped: the endpoint refuses all requests.
            Passing, EndpointDown: see ``Sender.sent``.
        """
        by_schema = "response_format" in body and self._takes_schema is not False
        if not by_schema:
            body = _plain(body)
        try:
            reply = await self._answered(body, until, account)
        except Refused as refused:
            # Servers answer 400 or 422 to unknown options.
            if not by_schema or self._takes_schema or refused.status not in (400, 422):
                raise await self._judged(refused, body, until, account) from None
            reply = await self.reply(_plain(body), until, account)
            self._takes_schema = False
            return reply
        if by_schema:
            self._takes_schema = True
        return reply

    async def _answered(self, body: Mapping[str, Any], until: float, account: Account | None) -> Reply:
        adapted = self._sender.adapted(body)
        try:
            reply = await self._sender.sent(adapted, until, account)
        except Refused as refused:
            if self._sender.adapts(refused, adapted):
                return await self._answered(body, until, account)
            raise
        self._refusals = 0
        return reply

    async def _judged(
        self, refused: Refused, body: Mapping[str, Any], until: float, account: Account | None
    ) -> NoVerdict | RunStopped:
        """Return the error for a refusal: `NoVerdict` for this sample only, or `RunStopped` for the whole run."""
        whom = self._sender.whom(body)
        # With a wrong key or without quota, the endpoint refuses every request.
        if refused.status == 401 or refused.unpaid:
            self.stopped = RunStopped(f"{whom} rejects every request with {refused}. Fix the key or the quota")
            return self.stopped
        refusal = str(refused)
        if refused.location:
            refusal += f" (it redirects to {shorten(refused.location, 80)}, so pass that address as base_url)"
        if await self._takes_others(body, until, account):
            tally().failures["refused"] += 1
            return NoVerdict(f"{whom} refuses this request with {refusal}")
        remedy = "Fix model=, base_url=, or options="
        # The usual causes: the address lacks "/v1", or contains the path of a request.
        if refused.status == 404:
            remedy += ". For base_url, pass the part before /chat/completions, usually http://host:port/v1"
        self.stopped = RunStopped(f"{whom} rejects all requests with {refusal}. {remedy}")
        return self.stopped

    async def _takes_others(self, body: Mapping[str, Any], until: float, account: Account | None) -> bool:
        """Return whether the endpoint accepts other requests from this judge."""
        if self._refusals is not None and self._refusals < _REFUSALS_IN_A_ROW:
            self._refusals += 1
            return True
        try:
            await self._answered({**_plain(body), "messages": _HARMLESS}, until, account)
        except Refused:
            return False
        return True


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request `body` without the verdict schema."""
    return {name: value for name, value in body.items() if name != "response_format"}


# Deduplicate equal concurrent work: ``await single_flight.result(key, work)``.


_T = TypeVar("_T")


@dataclass
class _Flight(Generic[_T]):
    task: asyncio.Task[_T]
    waiting: int = 0


class SingleFlight(Generic[_T]):
    """A registry that runs concurrent work once per key for all waiting callers and cancels it if no caller remains."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Flight[_T]] = {}

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        flight = self._under_way.get(key)
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.ensure_future(work()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                flight.task.cancel()
                if self._under_way.get(key) is flight:
                    del self._under_way[key]


_SHARE_OF_ONE = 2 / 3
"""The maximum fraction of a deadline for one attempt, so that there is time for another attempt."""

_LEAST_SHARE = 1 / 20
"""The fraction of a deadline that must remain to start another attempt. The number is arbitrary: an attempt with almost
no time left only costs money."""

# Arbitrary: short compared with the default deadline of 30 seconds, so that there is time for several attempts.
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0


class EndpointClient:
    """The client for one endpoint in one event loop."""

    def __init__(self, access: Access, key: str) -> None:
        self.single_flight: SingleFlight[Verdict] = SingleFlight()
        self._sender = Sender(access, key)
        self._slots = asyncio.Semaphore(access.concurrency)
        self._rates = Rates(access.requests_per_minute, access.tokens_per_minute)
        self._standings: dict[Hashable, EndpointStatus] = {}
        self._pending = 0

    async def complete(
        self,
        body: Mapping[str, Any],
        deadline: float,
        account: Account | None = None,
        judge: Hashable = None,
        share: float = _SHARE_OF_ONE,
    ) -> Reply:
        """Send one request, with retries, and return the reply.

        Args:
            body: the request's JSON body.
            deadline: seconds for all attempts, counted from the time at which the limits allow the first attempt.
            account: the account that counts each request sent; None for no budget.
            judge: a key for the judge. Requests with the same key must differ only in their messages.
            share: the maximum fraction of the deadline for one attempt.

        Raises:
            NoVerdict: the endpoint refuses this request.
            RewardFailure: the endpoint is down or too busy, or the budget is exhausted.
            RunStopped: the endpoint refuses all requests from this judge.
        """
        status = self._standings.setdefault(judge, EndpointStatus(self._sender))
        self._pending += 1
        try:
            async with self._slots:
                await self._rates.turn(body)
                if status.stopped is not None:  # by another request, while this one waited
                    raise status.stopped
                return await self._with_retries(body, deadline, account, status, share)
        finally:
            self._pending -= 1
            if not self._pending:  # the cause may be fixed before the next batch
                for other_status in self._standings.values():
                    other_status.stopped = None

    async def close(self) -> None:
        await self._sender.close()

    async def _with_retries(
        self, body: Mapping[str, Any], deadline: float, account: Account | None, standing: EndpointStatus, share: float
    ) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_before_delay

        latest = (1 - _LEAST_SHARE) * deadline
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Passing), wait=_wait, stop=stop_before_delay(latest), reraise=True
        )
        started = time.monotonic()

        async def attempt() -> Reply:
            if retrying.statistics["attempt_number"] > 1:
                await self._rates.turn(body, started + latest)
            until = min(started + deadline, time.monotonic() + share * deadline)
            return await standing.reply(body, until, account)

        try:
            return await retrying(attempt)
        except EndpointDown as down:
            tally().failures["down"] += 1
            raise RewardFailure(f"{self._sender.whom(body)} is {down}") from None
        except Passing as error:
            tally().failures["limited" if isinstance(error, (Limited, NoTime)) else "outage"] += 1
            asks = "" if error.retry_after is None else f". It asks to wait {error.retry_after:g} s"
            raise RewardFailure(
                f"{self._sender.whom(body)} did not answer within {deadline:g} s: {error}{asks} "
                f"(attempt {retrying.statistics['attempt_number']})"
            ) from None
        finally:
            tally().retries += retrying.statistics.get("attempt_number", 1) - 1
            tally().seconds.append(time.monotonic() - started)


def _wait(state: Any) -> float:
    """Return the seconds until the next attempt: the delay that the server requested, or exponential backoff.

    Both delays are randomized.
    """
    delay = state.outcome.exception().retry_after
    if delay is not None:
        return float(delay) + uniform(0.0, _FIRST_WAIT)
    # A factor of 2 ** 10 already exceeds the longest wait; a larger power could overflow.
    return uniform(0.0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(state.attempt_number - 1, 10)))
