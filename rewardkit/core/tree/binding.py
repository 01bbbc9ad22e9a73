"""Binding: a function, what it is given, and how it is called; and the arguments of every row."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from pydantic import BaseModel

from rewardkit.core.batch.batch import Batch, ViewFault
from rewardkit.core.batch.column import Numbers
from rewardkit.core.errors import CoercionError
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.coercion import coerce_column
from rewardkit.core.tree.parameters import WHOLE_BATCH, Parameter, Scope
from rewardkit.core.tree.results import Abstention, Raised

_GOLD_REMEDY = "Fix the data, or say with gold= where in the cell the answer is."
_ATOMS = {str, int, float, bool, bytes, type(None)}
_MUTABLE = (dict, list, set, bytearray, collections.deque, BaseModel)


@final
@dataclass(frozen=True)
class Binding:
    """A function with its parameters, and how it is called.

    Attributes:
        function: called with one value per parameter (``scope="sample"``), or with lists of them. It may return a
            ``concurrent.futures.Future`` for what takes long (its attribute ``waits`` says so): others then run beside
            it. Of an async function, ``measured`` runs all calls of a batch and gives, beside their results, what it
            measured; ``check(batch, name)`` raises a BindingError if the batch lacks what it needs.
        parameters: what the function is given.
        scope: whether it sees one completion, those of a prompt, or the whole batch.
        deterministic: equal arguments give equal scores, so duplicates are scored once.
        expensive: not called while its weight is zero.
        timeout: seconds for one call; None for no limit.
        trusted: the function changes none of its arguments (primitives), so they need no copies.
        foreign: it was written for another framework, whose arguments it names.
    """

    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    scope: Scope = "sample"
    deterministic: bool = True
    expensive: bool = False
    timeout: float | None = None
    trusted: bool = field(default=False, compare=False)
    foreign: bool = field(default=False, compare=False)

    @cached_property
    def asynchronous(self) -> bool:
        """Whether calling the function gives a coroutine."""
        return is_async(self.function)

    @property
    def waits(self) -> bool:
        """Whether others can run while this one waits, so that it starts before them."""
        return self.asynchronous or self.timeout is not None or getattr(self.function, "waits", False)

    @property
    def measures(self) -> bool:
        """Whether it notes more than scores: calls, money."""
        return hasattr(self.function, "measured")

    @property
    def original(self) -> Callable[..., Any]:
        """The function as its author wrote it."""
        return getattr(self.function, "__wrapped__", self.function) if self.foreign else self.function

    @property
    def columns(self) -> tuple[Parameter, ...]:
        """Those of its parameters that are columns of the dataset."""
        return tuple(parameter for parameter in self.parameters if parameter.is_column)

    def reads(self, source: str) -> bool:
        """Whether one of its parameters is `source`."""
        return any(parameter.source == source for parameter in self.parameters)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine, for functions, partials and objects with an async ``__call__``."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def bound(parameters: Sequence[Parameter], batch: Batch) -> list[Parameter]:
    """The parameters that the batch can fill; the others keep their defaults."""
    absent = {"completion_ids"} if batch.completion_ids is None else set()
    if batch.prompts is None:
        absent.add("prompt")
    return [one for one in parameters if (one.source in batch.columns if one.is_column else one.source not in absent)]


@dataclass(slots=True)
class Arguments:
    """The arguments of some rows: one list per parameter.

    ``set_aside`` holds, by position, the result of rows that cannot be called: an abstention or a fault.
    """

    rows: list[int]
    columns: list[list[Any]] = field(default_factory=list)
    set_aside: dict[int, Abstention | Raised] = field(default_factory=dict)

    def without_set_aside(self) -> Arguments:
        kept = [position for position in range(len(self.rows)) if position not in self.set_aside]
        return Arguments(
            [self.rows[position] for position in kept],
            [[column[position] for position in kept] for column in self.columns],
        )


def gather(parameters: Sequence[Parameter], batch: Batch, rows: list[int], name: str, *, trusted: bool) -> Arguments:
    """The values of `parameters` in `rows`.

    Columns are coerced in these rows alone. Where `trusted` is False (a user's function) mutable values are
    copied, so that no function can corrupt what the next one sees.

    Raises:
        CoercionError: a value does not fit its annotation; names component, column and row.
    """
    arguments = Arguments(rows)
    for parameter in parameters:
        values = _values(parameter, batch, rows, name, _GOLD_REMEDY if trusted else "")
        if parameter.is_column and not parameter.coercer.optional:
            for position, value in enumerate(values):
                if value is None:
                    arguments.set_aside[position] = Abstention(f"the column {parameter.source!r} is None here")
        elif parameter.view is not None:
            for position, value in enumerate(values):
                if type(value) is ViewFault:
                    arguments.set_aside[position] = Raised(value.error)
        if not trusted and parameter.source != "completion" and not set(map(type, values)) <= _ATOMS:
            values = [detached(value) for value in values]
        arguments.columns.append(values)
    return arguments


def _values(parameter: Parameter, batch: Batch, rows: list[int], name: str, remedy: str) -> list[Any]:
    source = parameter.source
    every = len(rows) == batch.size
    if source == "completion":
        if parameter.view is not None:
            return batch.view(parameter.view, rows)
        return batch.texts if every else [batch.texts[row] for row in rows]
    if source == "prompt":
        texts = batch.prompt_texts
        return texts if every else [texts[row] for row in rows]
    if source == "messages":
        return [list(batch.messages(row)) for row in rows]
    if source == "example":
        return [batch.example(row) for row in rows]
    if source == WHOLE_BATCH:
        return [batch] * len(rows)
    if source == "progress":
        return [batch.progress or Progress(1, 1, training=False)] * len(rows)
    if source == "completion_ids":
        ids = batch.completion_ids or []
        return [ids[row] for row in rows]
    column = batch.columns[source]
    values = column if every else [column[row] for row in rows]
    try:
        return coerce_column(parameter.coercer, values, source, rows, remedy)
    except CoercionError as error:
        raise CoercionError(f"reward {name!r}: {error}") from error


def detached(value: Any) -> Any:
    """A copy that can be changed without anyone noticing; foreign objects (images, environments) stay themselves."""
    try:
        return _copied(value)
    except RecursionError:  # nested a thousand levels deep, by a model that writes its own tool calls
        return value


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        return [_copied(item) for item in value]
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind is tuple:
        return tuple(_copied(item) for item in value)
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, _MUTABLE) or (dataclasses.is_dataclass(value) and not isinstance(value, Progress)):
        return copy.deepcopy(value)
    return value


def distinct(parameters: Sequence[Parameter], batch: Batch, rows: Numbers) -> tuple[Numbers, Numbers | None]:
    """Positions in `rows` of the first of equal arguments, and which of them each row equals (None: all differ)."""
    names: dict[str, None] = {}
    for parameter in parameters:
        if parameter.source == "example":
            names |= dict.fromkeys(batch.columns)
        elif parameter.source != "progress":
            names[parameter.source] = None
    numbers = np.zeros(len(rows), dtype=np.int64)
    for name in names:
        equal = batch.equality(name)
        if equal.count == batch.size:
            return np.arange(len(rows)), None
        if len(names) == 1 and len(rows) == batch.size:
            return equal.firsts, equal.numbers
        numbers = numbers * equal.count + equal.numbers[rows]
        if len(names) > 1:  # renumbered from 0, so that many columns cannot overflow
            numbers = np.unique(numbers, return_inverse=True)[1]
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return np.arange(len(rows)), None
    in_order = np.argsort(first)  # so that functions are called from the first row to the last
    return first[in_order], np.argsort(in_order)[inverse]
