"""Leaf: a reward that calls a function. It binds arguments, scores duplicates once, and checks what comes back.

``@rk.reward`` makes leaves of users' functions; the primitives make leaves of small frozen objects, whose arguments
may be views of the completion (its answer, its JSON) that all rewards of a batch share.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pickle
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise, repeat
from typing import Any, Literal, final

import numpy as np

from rewardkit.core import observing, worker
from rewardkit.core.algebra import Reward
from rewardkit.core.batch import Batch, Numbers
from rewardkit.core.binding import Arguments, Parameter, Scope, bound, check, distinct, gather
from rewardkit.core.calling import (
    Contract,
    Policy,
    Results,
    awaited,
    call_each,
    check_results,
    collected,
    unpacked,
)
from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.fingerprints import described
from rewardkit.core.outcome import Column, Rows
from rewardkit.core.progress import Bounds
from rewardkit.core.scoring import Scoring, Together


@final
@dataclass(frozen=True)
class Leaf(Reward):
    """A reward that calls a function. Made by ``@rk.reward`` and by the primitives, never directly by users.

    Attributes:
        function: called with one value per parameter (``scope="sample"``), or with lists of them. It may return a
            ``concurrent.futures.Future`` for what takes long (``waits`` on it says so): others then run beside it.
            Of an async function, ``measured`` runs all calls of a batch and says beside their results what they took.
        label: the component's name.
        parameters: what the function is given.
        trusted: the function changes none of its arguments (primitives), so they need no copies.
        expression: how it prints; the component's name by default.
    """

    function: Callable[..., Any]
    label: str
    parameters: tuple[Parameter, ...]
    scope: Scope = "sample"
    limits: Bounds = (0.0, 1.0)
    abstains: bool = False
    on_failure: Policy = "unscorable"
    on_error: Literal["raise"] | float | None = None
    deterministic: bool = True
    expensive: bool = False
    timeout: float | None = None
    trusted: bool = field(default=False, compare=False)
    expression: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        self.__dict__["__doc__"] = getattr(self.function, "__doc__", None)
        self.__dict__["__name__"] = self.label

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The plain function, as it was written."""
        if {"completions", "prompts"} <= kwargs.keys():  # as a trainer calls reward functions
            return super().__call__(*args, **kwargs)
        return self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        return self.label

    @property
    def bounds(self) -> Bounds:
        stand_ins = [value for value in (self.on_failure, self.on_error) if isinstance(value, (int, float))]
        return min(self.limits[0], *stand_ins, self.limits[0]), max(self.limits[1], *stand_ins, self.limits[1])

    @property
    def contract(self) -> Contract:
        return Contract(self.label, self.limits, self.abstains, self.on_failure, self.on_error)

    @property
    def together(self) -> Together:
        # A function over the batch sees that of its own process, as it does in TRL.
        return "group" if self.scope == "group" else "sample"

    def reach(self, batch: Batch, rows: Rows) -> Rows:
        if self.scope == "sample" or not rows.any():
            return rows
        return batch.whole_groups(rows) if self.scope == "group" else np.ones_like(rows)

    def check(self, batch: Batch) -> None:
        check(self.parameters, batch, self.label)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        batch = scoring.batch
        result = Column.empty(batch.size)
        where = np.flatnonzero(rows)
        if not len(where):
            return result
        parameters = bound(self.parameters, batch)
        inverse: Numbers | None = None
        first = where
        if self.scope == "sample" and self.deterministic:
            positions, inverse = distinct(parameters, batch, where)
            first = where[positions] if inverse is not None else where
        arguments = gather(parameters, batch, first.tolist(), self.label, trusted=self.trusted)
        if arguments.set_aside:
            raw = _reinserted(await self._call(scoring, arguments.without_set_aside(), parameters), arguments)
        else:
            raw = await self._call(scoring, arguments, parameters)

        def context(position: int) -> str:
            return _context(batch, arguments, parameters, position)

        checked = check_results(raw, self.contract, scoring.strict, context)
        self._fill(result, checked, where, inverse, scoring)
        return result

    async def _call(self, scoring: Scoring, arguments: Arguments, parameters: Sequence[Parameter]) -> list[Any]:
        """What the function gave for each row, `Raised` where it raised."""
        function = self._positional(parameters)
        if not arguments.rows:
            return []
        if self.scope != "sample":
            return await self._call_lists(scoring, function, arguments, parameters)
        calls = zip(*arguments.columns, strict=True) if arguments.columns else repeat((), len(arguments.rows))
        return await self._run(scoring, function, calls, arguments.rows)

    async def _run(
        self,
        scoring: Scoring,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        rows: Sequence[int | None],
    ) -> list[Any]:
        if not self.waits:
            await scoring.turn()
        started = time.perf_counter()
        if self.is_async:
            function, calls = observing.watched(function, calls, self.label, rows, asynchronous=True)
            results = await self._measured(scoring, _all(function, calls, self.timeout))
        else:
            if self.timeout is not None:
                _check_picklable(self)
                function = partial(_in_worker, observing.elsewhere(function), self.timeout)
            elif self.waits or not self.trusted:  # primitives say nothing, and cannot be slow unless they wait
                function, calls = observing.watched(function, calls, self.label, rows)
            results = call_each(function, calls, len(rows))
            futures = [result for result in results if isinstance(result, Future)]
            try:
                for future in futures:
                    await scoring.finished(future)
            finally:  # what is stopped by Ctrl-C leaves nothing behind that is still to come
                for future in futures:
                    getattr(future, "stop", future.cancel)()
            if futures:
                results = collected(results)
            if self.timeout is not None:
                results = observing.told(results, self.label, rows)
        scoring.timed(self, time.perf_counter() - started)
        return results

    async def _measured(self, scoring: Scoring, work: Coroutine[Any, Any, list[Any]]) -> list[Any]:
        """The results of `work`, which runs in the background, with what the function says that they took."""
        results: list[Any]
        measured = getattr(self.function, "measured", None)
        if measured is None:
            results = await scoring.background(work)
            return results
        results, found = await scoring.background(measured(work))
        scoring.measured(self, found)
        return results

    @property
    def measures(self) -> bool:
        return hasattr(self.function, "measured")

    @property
    def waits(self) -> bool:
        """Whether others can run while this one waits, so that it starts before them."""
        return self.is_async or self.timeout is not None or getattr(self.function, "waits", False)

    @cached_property
    def is_async(self) -> bool:
        call = self.function if inspect.isroutine(self.function) else type(self.function).__call__
        return inspect.iscoroutinefunction(call)

    async def _call_lists(
        self, scoring: Scoring, function: Callable[..., Any], arguments: Arguments, parameters: Sequence[Parameter]
    ) -> list[Any]:
        groups = scoring.batch.groups[arguments.rows] if self.scope == "group" else np.zeros(len(arguments.rows))
        cuts = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(arguments.rows)]
        single = {"progress", "prompt"} if self.scope == "group" else {"progress"}
        calls = [
            tuple(
                column[start] if parameter.source in single else column[start:stop]
                for parameter, column in zip(parameters, arguments.columns, strict=True)
            )
            for start, stop in pairwise(cuts)
        ]
        results: list[Any] = []
        lists = await self._run(scoring, function, calls, [None] * len(calls))
        for returned, (start, stop) in zip(lists, pairwise(cuts), strict=True):
            results += unpacked(returned, stop - start)
        return results

    def _positional(self, parameters: Sequence[Parameter]) -> Callable[..., Any]:
        """The function, callable with the bound parameters in order."""
        # Another process finds the leaf by its name: under the function's name stands the leaf that it became.
        function = self if self.timeout is not None and not self.is_async else self.function
        leading = 0
        for bound_one, declared in zip(parameters, self.parameters, strict=False):
            if bound_one is not declared or declared.keyword_only:
                break
            leading += 1
        names = tuple(parameter.name for parameter in parameters[leading:])
        return _Keywords(function, leading, names) if names else function

    def _fill(
        self, column: Column, checked: Results, where: Numbers, inverse: Numbers | None, scoring: Scoring
    ) -> None:
        """Spreads the results of distinct rows over all equal ones."""
        if inverse is None:
            column.values[where], column.codes[where] = checked.values, checked.codes
        else:
            column.values[where], column.codes[where] = checked.values[inverse], checked.codes[inverse]
        if not (checked.notes or checked.parts or checked.faults):
            return
        sources = range(len(where)) if inverse is None else inverse.tolist()
        places = list(zip(where.tolist(), sources, strict=True))
        column.notes.update((row, checked.notes[position]) for row, position in places if position in checked.notes)
        if not (checked.parts or checked.faults):
            return
        faults = []
        for row, position in places:
            for part, value in checked.parts.get(position, {}).items():
                column.parts.setdefault(part, np.full(len(column.values), math.nan))[row] = value
            if position in checked.faults:
                faults.append(replace(checked.faults[position], row=row))
        scoring.faulted(faults)

    def describe(self) -> str:
        """Name, options and source, for the fingerprint."""
        options = (self.label, self.scope, self.limits, self.abstains, self.on_failure, self.on_error, self.timeout)
        sources = tuple(
            # The parsers in an annotation: of the gold column of a primitive, say.
            (parameter.source, described(parameter.view), described(getattr(parameter.annotation, "__metadata__", ())))
            for parameter in self.parameters
        )
        return f"Leaf({options!r}, {sources!r}, {described(self.function)})"

    def __reduce__(self) -> tuple[Any, ...]:
        options = (self.scope, self.limits, self.abstains, self.on_failure, self.on_error, self.deterministic)
        state = (self.label, self.parameters, *options, self.expensive, self.timeout, self.trusted, self.expression)
        if not inspect.isroutine(self.function):
            return _rebuilt, (self.function, *state)
        module, name = self.function.__module__, self.function.__qualname__
        found = _resolved(module, name)
        if isinstance(found, Leaf) and found == self:
            return _resolve_leaf, (module, name)
        if found is self.function:
            return _rebuilt, (self.function, *state)
        raise RewardTypeError(
            f"reward {self.label!r} cannot be pickled: {module}.{name} does not lead back to it. Other processes find "
            "a function by its module and name: define it at the top level of a module, not inside a function, and "
            "not as a lambda"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Leaf:
        return self

    def __repr__(self) -> str:
        return self.expression or self.label


def primitive(
    function: Callable[..., Any], name: str, shown: str, *parameters: Parameter, bounds: Bounds = (0.0, 1.0)
) -> Leaf:
    """A leaf around a small frozen callable; without `parameters` it is given the completion's text."""
    return Leaf(
        function,
        name,
        parameters or (Parameter("completion", "completion"),),
        limits=bounds,
        trusted=True,
        expression=shown,
    )


def expression(name: str, *arguments: object, **options: tuple[object, object]) -> str:
    """``number('answer', relative=0.1)``: the call that makes a primitive; options are (value, default)."""
    shown = [repr(argument) for argument in arguments]
    shown += [f"{option}={value!r}" for option, (value, default) in options.items() if value != default]
    return f"{name}({', '.join(shown)})"


@dataclass(frozen=True)
class _Keywords:
    """Calls a function with the first values by position and the others by keyword; picklable, for workers."""

    function: Callable[..., Any]
    leading: int
    names: tuple[str, ...]

    def __call__(self, *values: Any) -> Any:
        keywords = dict(zip(self.names, values[self.leading :], strict=True))
        return self.function(*values[: self.leading], **keywords)


def _rebuilt(function: Callable[..., Any], label: str, parameters: tuple[Parameter, ...], *options: Any) -> Leaf:
    return Leaf(function, label, parameters, *options)


def _resolved(module: str, name: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def _resolve_leaf(module: str, name: str) -> Leaf:
    found = _resolved(module, name)
    if not isinstance(found, Leaf):
        raise RewardTypeError(f"{module}.{name} is no reward here, but it was one where it was pickled")
    return found


def _check_picklable(leaf: Leaf) -> None:
    try:
        pickle.dumps(leaf)
    except Exception as error:
        raise RewardDefinitionError(
            f"reward {leaf.label!r} has a timeout, so it runs in another process and must be picklable: {error}"
        ) from error


def _in_worker(function: Callable[..., Any], timeout: float, *arguments: Any) -> Future[Any]:
    return worker.submit(function, arguments, timeout)


async def _all(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], timeout: float | None) -> list[Any]:
    import asyncio

    return await asyncio.gather(*(awaited(function, call, timeout) for call in calls))


def _reinserted(raw: list[Any], arguments: Arguments) -> list[Any]:
    """`raw` with a place again for the rows that were not called."""
    called = iter(raw)
    return [
        arguments.set_aside[position] if position in arguments.set_aside else next(called)
        for position in range(len(arguments.rows))
    ]


def _context(batch: Batch, arguments: Arguments, parameters: Sequence[Parameter], position: int) -> str:
    row = arguments.rows[position]
    lines = [f"  row {row}, completion {shorten(batch.texts[row])}"]
    lines += [
        f"  {parameter.name} = {shorten(column[position])}"
        for parameter, column in zip(parameters, arguments.columns, strict=True)
        if parameter.source != "completion"
    ]
    return "\n".join(lines)
