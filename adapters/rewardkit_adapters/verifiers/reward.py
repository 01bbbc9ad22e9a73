"""VerifiersReward: a reward function of verifiers as a leaf of the tree, called with the arguments it names."""

from __future__ import annotations

import asyncio
import atexit
import functools
import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MethodType
from typing import Any, final

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import Score
from rewardkit.errors import BindingError, RewardFailure, near_miss, shorten
from rewardkit.tree.binding import Binding, is_async
from rewardkit.tree.evaluation.calls import gathered
from rewardkit.tree.fingerprints import source
from rewardkit.tree.parameters import Scope
from rewardkit.tree.results import Contract, Nonsense, Raised, check_results, unpacked
from rewardkit.tree.reward import Calls, Evaluation, Facts, Reward, Steps

# Run async functions of verifiers in the main thread if possible, as verifiers does.


def free_main_thread() -> bool:
    """Return whether this is the main thread and no event loop runs in it (one does in a notebook)."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def run_here(work: Coroutine[Any, Any, Any]) -> Any:
    """Run `work` in this thread to completion; if interrupted, cancel all tasks that are still running."""
    loop = _loop()
    try:
        return loop.run_until_complete(work)
    except BaseException:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        raise


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return one loop for all batches: the open connections of a judge's client belong to it."""
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


_UNBOUNDED = (-np.inf, np.inf)
_OUTAGES = {"ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "RateLimitError"}
_OUTAGES |= {"InternalServerError", "InfraError"}
"""Classes of exceptions that the completion does not cause: Python's, those of LLM clients, verifiers' own."""

Bound = tuple[Callable[..., Any], dict[str, Any]]
"""A call: the function and its keyword arguments."""


class Arguments(ABC):
    """Build the calls of a reward function from a batch."""

    @abstractmethod
    def sample(self, reward: VerifiersReward, batch: Batch, row: int) -> Bound:
        """Return the call for one completion."""

    @abstractmethod
    def group(self, reward: VerifiersReward, batch: Batch, rows: Sequence[int]) -> Bound:
        """Return the call for the completions of one prompt."""


@final
@dataclass(frozen=True, eq=False)
class VerifiersReward(Reward):
    """One function of verifiers. Its values have no declared bounds.

    Attributes:
        grouped: whether one call scores all completions of a prompt.
        owner: the rubric or task of the function; equal functions of one owner are one reward.
        after: the reward to score first, because this one may read values it leaves in the state.
    """

    function: Callable[..., Any]
    label: str
    arguments: Arguments
    grouped: bool
    owner: object
    after: VerifiersReward | None = field(default=None, repr=False)

    @cached_property
    def facts(self) -> Facts:
        scope: Scope = "group" if self.grouped else "sample"
        return Facts(
            name=self.label,
            bounds=_UNBOUNDED,
            sees=scope,
            together=scope,
            binding=Binding(self.function, (), scope=scope, foreign=True),
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        batch = evaluation.batch
        if self.after is not None:
            yield [(self.after, rows)]
        where: list[int] = np.flatnonzero(rows).tolist()
        parts = [members.tolist() for members in batch.members(rows)] if self.grouped else [[row] for row in where]
        asynchronous = is_async(self.function)
        # In the main thread if possible; otherwise in the background, concurrently with the others.
        here = asynchronous and free_main_thread()
        returned = yield Calls(
            self,
            _awaited if asynchronous else _called,
            self._calls(batch, parts),
            [None] * len(parts) if self.grouped else where,
            Binding(_awaited if asynchronous else _called, ()),
            make=_all_here if here else None,
        )
        if self.grouped:
            lists = zip(returned, parts, strict=True)
            returned = [score for scores, members in lists for score in unpacked(scores, len(members))]
        result = Column.empty(batch.size)
        self._fill(result, [_scored(value) for value in returned], where, evaluation)
        return result

    def _calls(self, batch: Batch, parts: Sequence[Sequence[int]]) -> list[Bound]:
        if self.grouped:
            return [self.arguments.group(self, batch, members) for members in parts]
        return [self.arguments.sample(self, batch, row) for (row,) in parts]

    def _fill(self, column: Column, raw: Sequence[Any], where: Sequence[int], evaluation: Evaluation) -> None:
        texts = evaluation.batch.texts
        contract = Contract(self.label, _UNBOUNDED, may_abstain=False, on_failure="unscorable", on_error=None)
        checked = check_results(
            raw, contract, evaluation.strict, lambda at, _: f"  row {where[at]}, completion {shorten(texts[where[at]])}"
        )
        column.values[where], column.codes[where] = checked.values, checked.codes
        column.notes.update((where[at], note) for at, note in checked.notes.items())
        for at, parts in checked.parts.items():
            for part, value in parts.items():
                column.parts.setdefault(part, np.full(len(column.values), np.nan))[where[at]] = value
        # Faults have positions among the called rows; convert them to rows of the batch.
        evaluation.faulted([replace(fault, row=where[at]) for at, fault in checked.faults.items()])

    def accepted(self, function: Callable[..., Any], objects: Mapping[str, Any], where: str) -> Bound:
        """Bind `function` as verifiers does: to the `objects` that it names, or to all of them if it has ``**kwargs``.

        Raises:
            BindingError: an argument is missing from `objects`; verifiers would score 0.0.
        """
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            if parameter.default is parameter.empty and parameter.name not in objects:
                remedy = (
                    " Pass it with a rubric: from_verifiers(vf.Rubric(funcs=[function], parser=parser))."
                    if parameter.name == "parser"
                    else near_miss(parameter.name, objects)
                )
                raise BindingError(
                    f"reward {self.label!r} needs {parameter.name!r}, which neither {where} nor the data has. "
                    f"Available: {', '.join(objects)}.{remedy}"
                )
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return function, dict(objects)
        names = {parameter.name for parameter in parameters}
        return function, {name: value for name, value in objects.items() if name in names}

    def describe(self) -> str:
        """Return the text for the fingerprint: without the owner, which may refer back to the function."""
        function = unwrapped(self.function)
        code = source(function) if inspect.isroutine(function) else type(function).__qualname__
        return f"VerifiersReward({self.label!r}, {self.grouped}, {code})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifiersReward) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        # Not the function's own equality: `object.method` is a new object each time, and instances may be unhashable.
        if isinstance(self.function, MethodType):
            return self.label, id(self.owner), id(self.function.__self__), id(self.function.__func__)
        return self.label, id(self.owner), id(self.function)

    def __deepcopy__(self, memo: dict[int, Any]) -> VerifiersReward:
        return self

    def __repr__(self) -> str:
        return f"from_verifiers({self.label})"


def _called(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    try:
        returned = function(**keywords)
    except Exception as error:
        raise _judged(error) from error
    if inspect.isawaitable(returned):
        close = getattr(returned, "close", None)
        if close is not None:
            close()  # otherwise Python warns that it was never awaited
        raise Nonsense("returned an awaitable, but is not an async function; define it with `async def`")
    return returned


async def _awaited(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    try:
        return await function(**keywords)
    except Exception as error:
        raise _judged(error) from error


def _all_here(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    found: list[Any] = run_here(gathered(function, calls))
    return found


def _judged(error: Exception) -> Exception:
    """Return `error`, or a RewardFailure if a service was down."""
    cause: BaseException | None = error
    while cause is not None:
        if any(kind.__name__ in _OUTAGES for kind in type(cause).__mro__):
            return RewardFailure(f"{type(error).__name__}: {error}")
        cause = cause.__cause__
    return error


def _scored(returned: Any) -> Any:
    """Convert the result of a function for `check_results`: scores by key become their sum with parts."""
    if returned is None:
        return Raised(Nonsense("returned None; return a number"))
    if isinstance(returned, Mapping) and returned:
        try:
            return Score(float(sum(returned.values())), parts=dict(returned))
        except TypeError:
            return returned
    return returned


def unwrapped(function: Any) -> Any:
    """Return the function inside partials."""
    while isinstance(function, functools.partial):
        function = function.func
    return function
