"""Calls of reward functions: one after another in this thread, in worker processes, or in the background.

``call_each(float, [("1",), ("x",)], 2)`` is ``[1.0, Raised(ValueError(...))]``: an exception affects only its own call.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any

from rewardkit.batch.score import Measured
from rewardkit.errors import RewardDefinitionError, RewardFailure
from rewardkit.tree.evaluation import observers
from rewardkit.tree.results import Raised
from rewardkit.tree.reward import Calls
from rewardkit.workers.signals import from_operator


@dataclass(slots=True)
class TimedResults:
    """The results of calls, their duration in seconds, and other measurements."""

    results: list[Any]
    seconds: float
    measured: Measured | None = None


def make(calls: Calls, name: str) -> TimedResults:
    """Make `calls` that do not wait for anything, and time them; `name` is the component's name."""
    started = time.perf_counter()
    function, arguments = calls.function, calls.arguments
    if not calls.quiet:
        asynchronous = calls.make is not None and calls.binding.asynchronous
        function, arguments = observers.observe_calls(function, arguments, name, calls.rows, asynchronous=asynchronous)
    if calls.make is not None:
        results = calls.make(function, arguments)
    elif calls.quiet and hasattr(function, "many"):
        results = _call_many(function, list(arguments))
    else:
        results = call_each(function, arguments, len(calls.rows))
    return TimedResults(results, time.perf_counter() - started)


class Pending:
    """Pending calls; other rewards can run in the meantime."""

    def __init__(self, calls: Calls, name: str) -> None:
        self._calls = calls
        self._name = name
        self._started = time.perf_counter()
        self._results: list[Any] = []
        self.futures: list[Future[Any]] = []
        """The pending futures; the results are complete once all futures are done."""
        binding = calls.binding
        function, arguments = calls.function, calls.arguments
        if not binding.asynchronous and binding.timeout is not None:
            function = partial(_in_worker, observers.elsewhere(_sendable(calls)), binding.timeout)
        else:
            function, arguments = observers.observe_calls(
                function, arguments, name, calls.rows, asynchronous=binding.asynchronous
            )
        if binding.asynchronous:
            from rewardkit.workers.background import in_background

            self.futures.append(in_background(self._gathered(function, arguments)))
        else:
            self._results = call_each(function, arguments, len(calls.rows))
            self.futures += [result for result in self._results if isinstance(result, Future)]

    async def _gathered(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> tuple[list[Any], Measured | None]:
        binding = self._calls.binding
        work = gathered(function, arguments, binding.timeout)
        if not binding.measures:
            return await work, None
        outcome: tuple[list[Any], Measured] = await binding.function.measured(work)  # type: ignore[attr-defined]
        return outcome

    def made(self) -> TimedResults:
        """Return the results, after all futures are done."""
        measured = None
        if self._calls.binding.asynchronous:
            self._results, measured = self.futures[0].result()
        else:
            self._results = [
                _result_or_error(result) if isinstance(result, Future) else result for result in self._results
            ]
            if self._calls.binding.timeout is not None:
                self._results = observers.unwrap_outcomes(self._results, self._name, self._calls.rows)
        return TimedResults(self._results, time.perf_counter() - self._started, measured)

    def stop(self) -> None:
        """Cancel or kill all calls that are not done."""
        for future in self.futures:
            getattr(future, "stop", future.cancel)()


def call_each(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], count: int) -> list[Any]:
    """Call `function` with each of the `count` argument tuples; an exception becomes a `Raised`."""
    results: list[Any] = []
    calls = starmap(function, arguments)
    while len(results) < count:
        try:
            # After an exception, the results before it are kept, and `calls` continues with the next one.
            results.extend(calls)
            if len(results) < count:
                results.append(Raised(StopIteration("from next() on an iterator without a next item")))
        except BaseException as error:
            if from_operator(error):
                raise
            results.append(Raised(error))
    return results


def _call_many(function: Any, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Call a ready reward for all rows at once.

    If that raises an error, call it row by row, so that not all rows fail.
    """
    with suppress(Exception):
        results: list[Any] = function.many(arguments)
        return results
    return call_each(function, arguments, len(arguments))


async def gathered(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], timeout: float | None = None
) -> list[Any]:
    """Call an async function concurrently for all arguments; an exception becomes a `Raised`."""
    return await asyncio.gather(*(_await_call(function, each, timeout) for each in arguments))


async def _await_call(function: Callable[..., Any], each: tuple[Any, ...], timeout: float | None) -> Any:
    call = asyncio.ensure_future(_caught(function, each))
    try:
        # Not wait_for: it waits forever for a function that ignores its cancellation.
        await asyncio.wait([call], timeout=timeout)
    finally:
        call.cancel()
    return call.result() if call.done() else Raised(RewardFailure(f"no result within {timeout:g} s"))


async def _caught(function: Callable[..., Any], each: tuple[Any, ...]) -> Any:
    try:
        return await function(*each)
    except BaseException as error:  # a SystemExit would end the loop, which all async rewards share
        return Raised(error)


def _result_or_error(future: Future[Any]) -> Any:
    error = future.exception()
    return future.result() if error is None else Raised(error)


def _in_worker(function: Callable[..., Any], timeout: float, *arguments: Any) -> Future[Any]:
    from rewardkit.workers.worker import submit

    return submit(function, arguments, timeout)


def _sendable(calls: Calls) -> Callable[..., Any]:
    """Return the function in `calls`, pickled by value if other processes cannot import it."""
    from rewardkit.workers.pickled_by_value import PickledByValue, importable

    by_value = not importable(calls.binding.function)
    try:
        if by_value:
            return PickledByValue.of(calls.function)
        pickle.dumps(calls.reward)
    except Exception as error:
        where = "Define its function at the top level of a module, or"
        if by_value:
            where = (
                "Put the function into a file and import it, define objects that cannot be pickled inside the "
                "function, or"
            )
        raise RewardDefinitionError(
            f"reward {calls.reward.name!r} has a timeout, so it runs in another process and must be picklable, but it "
            f"is not ({error}). {where} drop timeout="
        ) from error
    return calls.function
