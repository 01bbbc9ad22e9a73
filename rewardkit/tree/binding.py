"""Binding: a function, its parameters and how to call it; and the arguments for every row."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from pydantic import BaseModel

from rewardkit.batch.batch import Batch, ViewFault
from rewardkit.batch.column import Numbers
from rewardkit.batch.logs import RowLog
from rewardkit.errors import CoercionError, RewardFailure
from rewardkit.progress.progress import END
from rewardkit.tree.coercion import Coercer, is_missing
from rewardkit.tree.parameters import ENVIRONMENT, WHOLE_BATCH, OnUnparsableGold, Parameter, Scope
from rewardkit.tree.results import Abstention, Raised, Unparsable

# Columns: the cells of a dataset column, coerced to the type in a reward's annotation.


_PRESENT = {str, int, bool, list, dict, tuple, type(None)}
"""Types of values that are never missing; None is already what missing values become."""

_REPEATABLE = {type(None), str, int, float}
_UNCHANGEABLE = {str, int, float, bool, Decimal, Fraction}
_MOST_REMEMBERED, _LONGEST_REMEMBERED = 4_096, 500
"""The number of cells of one type that are cached, and their length in characters: at most 2 MB of ASCII. Any limits:
gold answers come again with every generation, and long cells are read fast enough."""


def coerce_column(
    coercer: Coercer,
    values: Sequence[object],
    column: str,
    rows: Sequence[int],
    remedy: str = "",
    *,
    remembers: bool = False,
    raises: bool = True,
) -> list[Any]:
    """Return the cells `values` (n,) of `column`, coerced.

    None stays None for any type, so that its row can abstain. A missing value (NaN, NaT, pandas' NA) is None. Equal
    strings and numbers are read once and share the result. If no cell needs a conversion, the list is returned without
    a copy.

    Args:
        rows: (n,) the row numbers, for messages.
        remedy: advice for fixing the data, for messages.
        remembers: also share values read from short texts with later calls, if it cannot be changed: gold answers come
            back with every epoch, and in every part of a file.
        raises: False returns an `Unparsable` for each cell that does not fit, and a `Raised` if an outage is the cause.

    Raises:
        CoercionError: the first cell that does not fit, with column, row, value and type.
    """
    kinds = set(map(type, values))
    if not kinds <= _PRESENT and any(map(is_missing, values)):
        values = [None if is_missing(value) else value for value in values]
        kinds = set(map(type, values))
    if coercer.passes or kinds <= coercer.untouched:
        return values if isinstance(values, list) else list(values)
    convert = partial(_remembered, coercer) if remembers else coercer
    coerced: list[Any] = []
    read: dict[object, Any] = {None: None}
    for value, row in zip(values, rows, strict=True):
        kind = type(value)
        repeatable = kind in _REPEATABLE
        # 1 == 1.0 and 0.0 == -0.0, but their results may differ.
        key = (kind, repr(value)) if kind is float else value
        if repeatable and key in read:
            coerced.append(read[key])
            continue
        try:
            result = convert(value)
        except CoercionError as error:
            remedy = remedy or (
                f"Fix the data, change the annotation of `{column}`, or parse the value yourself: "
                f"Annotated[{coercer.target}, pydantic.BeforeValidator(parse)]."
            )
            if raises:
                raise CoercionError(f"column {column!r}, row {row}: {error} {remedy}") from error.__cause__
            if isinstance(error.__cause__, RewardFailure):  # a worker died, and the next batch may read the cell
                result = Raised(error.__cause__)
            else:
                result = Unparsable(f"column {column!r}: {error} {remedy}")
        if repeatable:
            read[key] = result
        coerced.append(result)
    return coerced


def _remembered(coercer: Coercer, value: object) -> Any:
    """Return what `value` was coerced to in an earlier call, else coerce it now."""
    if type(value) is not str or len(value) > _LONGEST_REMEMBERED:
        return coercer(value)
    cache = coercer.remembered
    coerced = cache.get(value)
    if coerced is None:
        coerced = coercer(value)
        parts = coerced if type(coerced) is tuple else (coerced,)  # accepted golds are tuples
        if _UNCHANGEABLE.issuperset(map(type, parts)):
            if len(cache) >= _MOST_REMEMBERED:
                cache.clear()
            cache[value] = coerced
    return coerced


_REMEDY = "Fix the data."
_GOLD_REMEDY = "Fix the data, or pass gold= with an extractor that finds the answer in the cell."
_AS_THEY_ARE = ("completion", "trajectory", "progress", "trainer_state", "log_metric", "log_extra", ENVIRONMENT)
"""Arguments that are not copied for each call."""
_ATOMS = {str, int, float, bool, bytes, type(None)}
_UNREAD = {Unparsable, Raised}
"""The value that `coerce_column` returns for cells that it cannot read."""
_MUTABLE = (dict, list, set, bytearray, collections.deque, BaseModel)


@final
@dataclass(frozen=True)
class Binding:
    """A function with its parameters, and how to call it.

    Attributes:
        function: called with one value per parameter (``scope="sample"``), or with lists of values. If it has an
            attribute ``waits`` that is True, it may return a ``concurrent.futures.Future``, and other rewards run
            meanwhile. If an async function has ``measured``, that runs all calls of a batch and returns their results
            and its measurements. ``check(batch, name)`` raises a BindingError if the batch lacks an argument.
            ``many(arguments)`` of a primitive makes several calls at once: it takes their tuples of arguments and
            returns the same results, only faster. ``pool`` names the resource that it keeps busy, such as
            ``"sandboxes"``: on a cluster it runs where that is.
        parameters: its arguments.
        scope: whether a call takes one completion, those of one prompt, or the whole batch.
        deterministic: equal arguments give equal scores, so duplicates are scored once.
        expensive: do not call it while its weight is zero.
        timeout: seconds for one call; None for no limit.
        trusted: the function does not change its arguments (primitives), so they are not copied.
        foreign: the function was written for another framework and takes that framework's arguments.
        plain: the function was passed as it is, without ``@rk.reward``.
    """

    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    scope: Scope = "sample"
    deterministic: bool = True
    expensive: bool = False
    timeout: float | None = None
    trusted: bool = field(default=False, compare=False)
    foreign: bool = field(default=False, compare=False)
    plain: bool = field(default=False, compare=False)

    @cached_property
    def asynchronous(self) -> bool:
        """Whether calling the function returns a coroutine."""
        return is_async(self.function)

    @cached_property
    def waits(self) -> bool:
        """Whether other rewards can run while this one waits, so that it starts first."""
        return self.asynchronous or self.timeout is not None or getattr(self.function, "waits", False)

    @property
    def measures(self) -> bool:
        """Whether it measures more than scores: calls, tokens, money."""
        return hasattr(self.function, "measured")

    @property
    def original(self) -> Callable[..., Any]:
        """The function that the user wrote."""
        return getattr(self.function, "__wrapped__", self.function) if self.foreign else self.function

    @property
    def columns(self) -> tuple[Parameter, ...]:
        """The parameters that are dataset columns."""
        return tuple(parameter for parameter in self.parameters if parameter.is_column)

    def reads(self, *sources: str) -> bool:
        """Return whether one of the parameters is one of `sources`."""
        return any(parameter.source in sources for parameter in self.parameters)

    @cached_property
    def logs(self) -> bool:
        """Whether it takes ``log_metric`` or ``log_extra``, so that it must be called for every row."""
        return self.reads("log_metric", "log_extra")

    @property
    def follows_progress(self) -> bool:
        """Whether it names an argument that tells how far training is."""
        return self.reads("progress", "trainer_state") or (self.foreign and "trainer_state" in _names(self.original))


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function` returns a coroutine; it may be a partial or have an async ``__call__``."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of `function`, as TRL finds it."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _names(function: Callable[..., Any]) -> Container[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code without a readable signature
        return ()


def bound(parameters: Sequence[Parameter], batch: Batch) -> list[Parameter]:
    """Return the parameters that the batch has values for; the others keep their defaults."""
    absent = {"completion_ids"} if batch.completion_ids is None else set()
    if batch.prompts is None:
        absent.add("prompt")
    return [
        parameter
        for parameter in parameters
        if (parameter.source in batch.columns if parameter.is_column else parameter.source not in absent)
    ]


@dataclass(slots=True)
class Arguments:
    """The arguments of some rows: one list per parameter.

    ``set_aside`` has, by position, the results of rows that are not called: abstentions and faults.
    """

    rows: list[int]
    columns: list[list[Any]] = field(default_factory=list)
    set_aside: dict[int, Abstention | Raised | Unparsable] = field(default_factory=dict)

    def without_set_aside(self) -> Arguments:
        positions = [position for position in range(len(self.rows)) if position not in self.set_aside]
        return Arguments(
            [self.rows[position] for position in positions],
            [[column[position] for position in positions] for column in self.columns],
        )


def gather(
    parameters: Sequence[Parameter],
    batch: Batch,
    rows: list[int],
    name: str,
    *,
    trusted: bool,
    on_unparsable_gold: OnUnparsableGold = "raise",
) -> Arguments:
    """Return the values of `parameters` in `rows`.

    Columns are coerced only in these rows. If `trusted` is False (a user's function), mutable values are copied, so
    that no function can change the arguments of the next one.

    Args:
        on_unparsable_gold: ``"fail"`` sets rows aside whose cells a ready reward (`trusted`) cannot read. A user's
            function raises in any case: its annotation may be wrong, and then every cell is.

    Raises:
        CoercionError: a value does not fit its annotation; the message names component, column and row.
    """
    arguments = Arguments(rows)
    unread: dict[int, Unparsable | Raised] = {}
    for parameter in parameters:
        remedy = "" if not trusted else _GOLD_REMEDY if parameter.name == "gold" else _REMEDY
        raises = not trusted or (parameter.on_unparsable_gold or on_unparsable_gold) == "raise"
        values = _values(parameter, batch, rows, name, remedy, trusted=trusted, raises=raises)
        arguments.columns.append(values)
        as_they_are = trusted or parameter.source in _AS_THEY_ARE
        if as_they_are and parameter.view is None and not parameter.is_column:
            continue
        kinds = set(map(type, values))
        if not kinds.isdisjoint(_UNREAD):
            unread |= {position: value for position, value in enumerate(values) if type(value) in _UNREAD}
        if type(None) in kinds and parameter.is_column and not parameter.coercer.optional:
            for position, value in enumerate(values):
                if value is None:
                    arguments.set_aside[position] = Abstention(f"the column {parameter.source!r} is None here")
        elif ViewFault in kinds:
            for position, value in enumerate(values):
                if type(value) is ViewFault:
                    arguments.set_aside[position] = Raised(value.error)
        if not as_they_are and not kinds <= _ATOMS:
            arguments.columns[-1] = [detached(value) for value in values]
    arguments.set_aside |= unread  # not even the lowest bound of an extractor with a bug may train such a row
    return arguments


def _values(
    parameter: Parameter, batch: Batch, rows: list[int], name: str, remedy: str, *, trusted: bool, raises: bool
) -> list[Any]:
    source = parameter.source
    every = len(rows) == batch.size
    if source == "completion":
        if parameter.view is not None:
            return batch.view(parameter.view, rows)
        return batch.texts if every else [batch.texts[row] for row in rows]
    if source == "prompt":
        if parameter.view is not None:
            prompts = batch.prompts or [None] * batch.size
            return [parameter.view(prompts[row]) for row in rows]
        texts = batch.prompt_texts
        return texts if every else [texts[row] for row in rows]
    if source == "messages":
        return [list(batch.messages(row)) for row in rows]
    if source == "trajectory":
        trajectories = map(batch.trajectory, rows)
        return list(trajectories) if parameter.view is None else list(map(parameter.view, trajectories))
    if source == ENVIRONMENT:
        environments = batch.rollouts.environments or []
        return [environments[row] for row in rows]
    if source == "example":
        examples = [batch.example(row) for row in rows]
        if parameter.renamed:
            examples = [renamed(example, parameter.renamed) for example in examples]
        return examples if parameter.view is None else [parameter.view(example) for example in examples]
    if source == WHOLE_BATCH:
        return [batch] * len(rows)
    if source == "progress":
        return [batch.progress or END] * len(rows)
    if source == "trainer_state":
        return [batch.trainer_state] * len(rows)
    if source == "log_metric":
        return [batch.logs.metric] * len(rows)
    if source == "log_extra":
        return [RowLog(batch.logs, (row,)) for row in rows]
    if source == "completion_ids":
        ids = batch.completion_ids or []
        return [ids[row] for row in rows]
    column = batch.columns[source]
    values = column if every else [column[row] for row in rows]
    try:
        return coerce_column(parameter.coercer, values, source, rows, remedy, remembers=trusted, raises=raises)
    except CoercionError as error:
        raise CoercionError(f"reward {name!r}: {error}") from error


def renamed(columns: Mapping[str, Any], names: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return columns under other names: ``renamed({"b": 42}, [("a", "b")])`` is ``{"a": 42}``."""
    sources = {column for _, column in names}
    remaining = {name: value for name, value in columns.items() if name not in sources}
    return remaining | {name: columns[column] for name, column in names if column in columns}


def detached(value: Any) -> Any:
    """Return a copy that is safe to change; other objects (images, environments) are returned as they are."""
    try:
        return _copied(value)
    except RecursionError:  # a model can write tool calls nested a thousand levels deep
        return value


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is list:
        flat = _ATOMS.issuperset(map(type, value))  # token ids, scores, texts
        return value.copy() if flat else [_copied(item) for item in value]
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind is tuple:
        return tuple(_copied(item) for item in value)
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, _MUTABLE) or dataclasses.is_dataclass(value):
        return copy.deepcopy(value)
    return value


def distinct(parameters: Sequence[Parameter], batch: Batch, rows: Numbers) -> tuple[Numbers, Numbers | None]:
    """Return the first of `rows` with each of the distinct arguments, and for each row its place among them.

    If all arguments differ, the second is None.
    """
    names: dict[str, None] = {}
    for parameter in parameters:
        if parameter.source == "example":
            names |= dict.fromkeys(batch.columns)
        elif parameter.source not in ("progress", "trainer_state"):
            names[parameter.source] = None
    equal = batch.equality(*names)
    if equal.count < batch.size:
        equal = equal.among(rows)
        if equal.count < len(rows):
            return rows[equal.firsts], equal.numbers
    return rows, None
