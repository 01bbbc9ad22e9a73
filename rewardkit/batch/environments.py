"""Environments that record their tool calls.

Messages are not a complete record: a result may be dropped after the tool ran, a tool may change its own arguments, and
an outage looks like the policy's mistake. ``recorded(Shop)`` is a subclass of ``Shop`` whose tools keep a `Journal`.
The journal contains the calls with a copy of their arguments, their results or exceptions, and whether the environment
broke.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import lru_cache
from typing import Any, cast, final

from rewardkit.batch.journals import (
    AT_WORK,
    ATTRIBUTE,
    TIMEOUTS,
    Journal as Journal,
    Watch as Watch,
    at_work,
    compute_own_reward,
    exit_error,
    journal_of as journal_of,
    own_journal,
    own_reward as own_reward,
    watched_reward,
    without_exit,
)
from rewardkit.batch.transcripts import CallRecord, result_text
from rewardkit.errors import BindingError, RewardDefinitionError, near_miss, shorten

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
NO_TOOLS = ("reset", "get_reward")
"""Public methods that are not tools."""


def journals(environments: Sequence[Any] | None) -> Mapping[str, Any]:
    """Return the arguments for `RolloutInfo`: the environments, their records, and the broken environments.

    Recorded environments compute their own reward now, so that if an outage occurs, the row fails in every component.
    """
    if environments is None:
        return {}
    row_journals = [journal_of(environment) for environment in environments]
    waiting = [
        pending
        for environment, journal in zip(environments, row_journals, strict=True)
        if journal is not None and (pending := compute_own_reward(environment, journal)) is not None
    ]
    for pending in waiting:
        pending.result()
    return {
        "environments": environments,
        "records": [None if row_journal is None else tuple(row_journal.records) for row_journal in row_journals]
        if any(row_journals)
        else None,
        "broken": {
            row: row_journal.broken
            for row, row_journal in enumerate(row_journals)
            if row_journal is not None and row_journal.broken
        },
    }


# Arbitrary size: more kinds of environments than a run has.
@lru_cache(maxsize=256)
def recording_class(kind: type, watch: Watch) -> type:
    """Return a subclass of `kind` that records its tool calls. It is cached: equal arguments return the same class.

    The subclass has the same name as `kind`, and the same tools with the same signatures and docstrings.
    """
    members: dict[str, Any] = {name: getattr(kind, name) for name in ("__doc__", "__module__", "__qualname__")}
    for name, function in tools_of(kind):
        static = isinstance(inspect.getattr_static(kind, name), staticmethod)
        members[name] = tool = _tool(name, function, watch, static=static)
        if static:  # the tool becomes a method, so its signature needs a `self`
            signature = inspect.signature(function)
            first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
            parameters = [first, *signature.parameters.values()]
            tool.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    members |= {ATTRIBUTE: property(own_journal), "_rewardkit_watch": watch}
    if inspect.isfunction(getattr(kind, "reset", None)):
        members["reset"] = _reset(kind.reset, watch)  # type: ignore[attr-defined]
    reward_method = getattr(kind, "get_reward", None)
    if inspect.isfunction(reward_method):
        members["_rewardkit_reward"] = reward_method
        members["get_reward"] = None if watch.hide_reward else watched_reward(reward_method, watch)
    try:
        return type(kind.__name__, (kind,), members)
    except TypeError as error:
        raise RewardDefinitionError(
            f"environments: {kind.__name__} cannot record its calls, because it cannot be subclassed ({error}). Give "
            "default values to the arguments of its __init_subclass__, or train without funcs.environments()"
        ) from None


def tools_of(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the tools of an environment as defined by TRL: all public methods except ``reset`` and ``get_reward``."""
    for name, function in inspect.getmembers(kind, predicate=inspect.isfunction):
        if not name.startswith("_") and name not in NO_TOOLS:
            yield name, function


def record_environment(environment: Any, watch: Watch) -> Any:
    """Make an existing environment record its tool calls, and return the environment.

    Raises:
        RewardDefinitionError: Python cannot change this object's class.
    """
    try:
        environment.__class__ = recording_class(cast("Hashable", type(environment)), watch)
    except TypeError as error:
        raise RewardDefinitionError(
            f"environments: {shorten(environment)} ({type(environment).__name__}) cannot record its calls ({error}). "
            "Pass its class instead of a function that creates it"
        ) from None
    return environment


def _tool(name: str, function: Callable[..., Any], watch: Watch, *, static: bool) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def asynchronous(self: Any, /, *args: Any, **arguments: Any) -> Any:
            receiver = () if static else (self,)
            if AT_WORK.get():
                return await function(*receiver, *args, **arguments)
            journal = own_journal(self)
            journal.loop = asyncio.get_running_loop()
            call = _Call(journal, name, arguments, watch)
            try:
                with at_work():
                    work = without_exit(function(*receiver, *args, **_copied(arguments)))
                    result = await (work if watch.timeout is None else asyncio.wait_for(work, watch.timeout))
                return call.returned(result)
            except BaseException as error:
                raise call.raised(error) from error

        return asynchronous

    @functools.wraps(function)
    def synchronous(self: Any, /, *args: Any, **arguments: Any) -> Any:
        owner = () if static else (self,)
        if AT_WORK.get():
            return function(*owner, *args, **arguments)
        call = _Call(own_journal(self), name, arguments, watch)
        try:
            with at_work():
                work = functools.partial(function, *owner, *args, **_copied(arguments))
                returned = work() if watch.timeout is None else call.in_thread(work, watch.timeout)
            return call.returned(returned)
        except BaseException as error:
            raise call.raised(error) from error

    return synchronous


@final
class _Call:
    """A running tool call."""

    def __init__(self, journal: Journal, name: str, arguments: Mapping[str, Any], watch: Watch) -> None:
        self._journal = journal
        self._watch = watch
        self._records = journal.records
        self._index = len(self._records)
        self._record = CallRecord(name, _copied(arguments))
        self._records.append(self._record)

    def returned(self, result: Any) -> Any:
        text = result_text(result) if isinstance(result, list) else str(result)
        self._records[self._index] = CallRecord(self._record.name, self._record.arguments, text)
        return result

    def raised(self, error: BaseException) -> BaseException:
        """Record an exception, and return the exception to raise for the trainer."""
        if isinstance(error, (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)):
            return error
        if isinstance(error, SystemExit):
            error = exit_error(error)
        elif isinstance(error, TIMEOUTS) and self._watch.timeout is not None and not str(error):
            error = TimeoutError(f"no result within {self._watch.timeout:g} s")
        try:
            message = str(error)
        except Exception:
            message = f"{type(error).__name__} without a message"
            error = RuntimeError(message)
        self._records[self._index] = CallRecord(
            self._record.name, self._record.arguments, str({"error": message}), message
        )
        if self._watch.is_outage(error):
            self._journal.broken = f"the tool {self._record.name!r}: {type(error).__name__}: {message}"
        return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {message}")

    def in_thread(self, work: Callable[[], Any], seconds: float) -> Any:
        """Run `work` in a thread that is abandoned after `seconds`."""
        if any(thread.is_alive() for thread in self._journal.hanging):
            raise TimeoutError("an earlier call has not returned yet")
        outcome: list[Any] = []
        context = copy_context()

        def run() -> None:
            try:
                outcome.append((True, context.run(work)))
            except BaseException as error:
                outcome.append((False, error))

        thread = threading.Thread(target=run, name=f"tool {self._record.name}", daemon=True)
        thread.start()
        thread.join(seconds)
        if not outcome:
            self._journal.hanging.append(thread)
            raise TimeoutError
        succeeded, value = outcome[0]
        if not succeeded:
            raise value
        return value


def _copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `arguments` that a tool may change; the trainer keeps the originals in the transcript."""
    try:
        return copy.deepcopy(dict(arguments))
    except Exception:  # nested too deeply, or something that cannot be copied
        return dict(arguments)


def _fits(function: Callable[..., Any], environment: Any, args: tuple[Any, ...], columns: Mapping[str, Any]) -> None:
    """Raise a BindingError that names the columns if ``reset`` does not accept a row."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(environment, *args, **columns)
    except TypeError as error:
        missing = [
            name
            for name, parameter in list(signature.parameters.items())[1:]
            if parameter.default is parameter.empty and parameter.kind in _NAMED and name not in columns
        ]
        hint = (
            near_miss(missing[0], columns) if missing else " Add **row to its arguments so that it receives all columns"
        )
        raise BindingError(
            f"{type(environment).__name__}.reset does not accept a row ({error}). Columns: "
            f"{', '.join(columns) or 'none'}.{hint}"
        ) from None


def _reset(function: Callable[..., Any], watch: Watch) -> Callable[..., Any]:
    @functools.wraps(function)
    def reset(self: Any, /, *args: Any, **columns: Any) -> Any:
        journal = own_journal(self)
        journal.begin()
        if journal.hanging:
            return None
        _fits(function, self, args, columns)
        try:
            with at_work():
                return function(self, *args, **columns)
        except Exception as error:
            if not watch.is_outage(error):
                raise
            journal.broken = f"reset: {type(error).__name__}: {error}"
            return None

    return reset
