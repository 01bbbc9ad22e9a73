"""Environment journals: a rollout's tool calls, whether the environment broke, and the environment's own reward.

``journal_of(environment).records`` contains the policy's calls in the order in which they started. Environments created
with `recorded` keep a journal.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast, final

from rewardkit.batch.transcripts import CallRecord
from rewardkit.errors import RewardFailure

ATTRIBUTE = "_rewardkit_journal"
"""The attribute of a recorded environment that contains its journal."""

UNASKED: Any = object()
"""The value of `Journal.reward` before ``get_reward`` is called."""

TIMEOUTS = (TimeoutError, asyncio.TimeoutError)
_FAILURES = (ConnectionError, *TIMEOUTS, RewardFailure)
_FAILURES_BY_NAME = frozenset(
    (
        "aiohttp.client_exceptions.ClientConnectionError",
        "grpc.RpcError",
        "httpx.TransportError",
        "openai.APIConnectionError",
        "requests.exceptions.ConnectionError",
        "requests.exceptions.Timeout",
        "urllib.error.URLError",
        "websockets.exceptions.ConnectionClosed",
    )
)
"""Exceptions in other libraries that mean that an external service does not respond."""

AT_WORK: ContextVar[bool] = ContextVar("_AT_WORK", default=False)
"""True inside an environment's own methods, because tools that these methods call are not called by the policy."""


@final
@dataclass(slots=True)
class Journal:
    """A rollout's calls in the order in which they started and, if the environment broke, the reason.

    Attributes:
        loop: the event loop for the asynchronous tools, or None before their first call.
        hanging: the threads in which tools did not return in time.
        reward: the result or exception of the environment's own ``get_reward``; `UNASKED` before the first call.
    """

    records: list[CallRecord] = field(default_factory=list)
    broken: str = ""
    loop: asyncio.AbstractEventLoop | None = None
    hanging: list[threading.Thread] = field(default_factory=list)
    reward: Any = UNASKED

    def begin(self) -> None:
        """Start another rollout. An environment stays broken while one of its tools still hangs."""
        self.records = []
        self.reward = UNASKED
        self.hanging = [thread for thread in self.hanging if thread.is_alive()]
        self.broken = "a tool from an earlier rollout has not returned yet" if self.hanging else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return Journal, (self.records, self.broken)  # threads and loops cannot be copied


@final
@dataclass(frozen=True)
class Watch:
    """The options for recording environments.

    Attributes:
        timeout: the time limit for one tool call in seconds, or None for no limit.
        outages: additional exceptions that mean that the environment broke.
        hide_reward: whether to hide ``get_reward`` from the trainer, because the reward calls it.
        mixed: whether a run has environments of several kinds.
    """

    timeout: float | None = None
    outages: tuple[type[BaseException], ...] = ()
    hide_reward: bool = False
    mixed: bool = False

    def is_outage(self, error: BaseException) -> bool:
        """Return whether an exception means that an external service does not respond, not that the policy failed."""
        if isinstance(error, (*_FAILURES, *self.outages)):
            return True
        return any(f"{kind.__module__}.{kind.__qualname__}" in _FAILURES_BY_NAME for kind in type(error).__mro__)


def journal_of(environment: object) -> Journal | None:
    """Return the journal of an environment, or None if the environment does not record."""
    journal = getattr(environment, ATTRIBUTE, None)
    return journal if isinstance(journal, Journal) else None


def own_journal(environment: Any) -> Journal:
    """Return the journal of a recording environment, creating it on first use."""
    journal = environment.__dict__.get("_rewardkit_records")
    if journal is None:
        journal = environment.__dict__["_rewardkit_records"] = Journal()
    return cast("Journal", journal)


async def without_exit(work: Awaitable[Any]) -> Any:
    """Await `work`, turning SystemExit into an error. In a task, it would end the loop and the trainer would hang."""
    try:
        return await work
    except SystemExit as error:
        raise exit_error(error) from error


def exit_error(error: SystemExit) -> RuntimeError:
    return RuntimeError(f"the environment called sys.exit({error.code!r})")


@contextmanager
def at_work() -> Iterator[None]:
    token = AT_WORK.set(True)
    try:
        yield
    finally:
        AT_WORK.reset(token)


def watched_reward(function: Callable[..., Any], watch: Watch) -> Callable[..., Any]:
    """Return a ``get_reward`` for the trainer that returns the value computed earlier, or None after an outage."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def asynchronous(self: Any, /) -> Any:
            if AT_WORK.get():
                return await function(self)
            journal = own_journal(self)
            if journal.reward is UNASKED:
                await _store_own_reward(self, journal, function, watch)
            return _trainer_reward(journal)

        return asynchronous

    @functools.wraps(function)
    def synchronous(self: Any, /) -> Any:
        if AT_WORK.get():
            return function(self)
        compute_own_reward(self, own_journal(self))
        return _trainer_reward(own_journal(self))

    return synchronous


def _trainer_reward(journal: Journal) -> Any:
    """Return the environment's own reward for the trainer; None after an outage, which must not get a score."""
    if isinstance(journal.reward, Exception):
        raise journal.reward
    return None if journal.broken else journal.reward


def compute_own_reward(environment: Any, journal: Journal) -> Future[None] | None:
    """Compute the environment's own reward, once per rollout; return a future if it is asynchronous."""
    kind = type(environment)
    function, watch = getattr(kind, "_rewardkit_reward", None), getattr(kind, "_rewardkit_watch", None)
    if function is None or watch is None or journal.reward is not UNASKED:
        return None
    if inspect.iscoroutinefunction(function):
        settling = _store_own_reward(environment, journal, function, watch)
        loop = journal.loop  # it owns the sessions that the tools opened
        if loop is not None and loop.is_running():
            return asyncio.run_coroutine_threadsafe(settling, loop)
        from rewardkit.workers.background import in_background

        return in_background(settling)
    try:
        with at_work():
            journal.reward = function(environment)
    except Exception as error:
        _keep_error(journal, error, watch)
    return None


async def _store_own_reward(environment: Any, journal: Journal, function: Callable[..., Any], watch: Watch) -> None:
    try:
        with at_work():
            journal.reward = await without_exit(function(environment))
    except Exception as error:
        _keep_error(journal, error, watch)


def _keep_error(journal: Journal, error: Exception, watch: Watch) -> None:
    journal.reward = None if watch.is_outage(error) else error
    if journal.reward is None:
        journal.broken = f"get_reward: {type(error).__name__}: {error}"


def own_reward(environment: Any) -> Any:
    """Return the value of the environment's own ``get_reward``, or None if it does not have this method.

    Raises:
        Exception: the exception that ``get_reward`` raised.
    """
    journal = journal_of(environment)
    if journal is not None and hasattr(type(environment), "_rewardkit_reward"):
        compute_own_reward(environment, journal)
        if isinstance(journal.reward, Exception):
            raise journal.reward
        if journal.reward is not UNASKED:
            return journal.reward
    function = getattr(environment, "get_reward", None)
    value = function() if callable(function) else None
    if not inspect.iscoroutine(value):
        return value
    from rewardkit.workers.background import in_background

    return in_background(value).result()
