"""Bindings: a function with its parameters and calling options, and the arguments for each row in a batch."""

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
from rewardkit.tree.coercion import GAPS, Coercer, is_missing
from rewardkit.tree.parameters import ENVIRONMENT, WHOLE_BATCH, OnUnparsableGold, Parameter, Scope
from rewardkit.tree.results import Abstention, Raised, Unparsable

# Columns: the cells of a dataset column, coerced to the type in a reward's annotation.


_PRESENT = {str, int, bool, list, dict, tuple, type(None)}
"""Types whose values never represent a missing cell. NoneType is included because missing cells become None."""

_REPEATABLE = {type(None), str, int, float}
_UNCHANGEABLE = {str, int, float, bool, Decimal, Fraction}
_MOST_REMEMBERED, _LONGEST_REMEMBERED = 4_096, 500
"""The maximum number of cached cells per type, and the maximum number of characters in a cached cell: at most 2 MB of
ASCII. The limits are arbitrary. Gold answers repeat with every generation, and long cells are parsed fast enough
without a cache."""


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
    """Return `values` (n,), the cells in `column`, converted to the type of `coercer`.

    None stays None for every type, so that its row can abstain. Missing values (NaN, NaT, pandas' NA) become None.
    Equal strings and numbers are converted only once and share the result. If no cell needs conversion, the original
    list is returned, not a copy.

    Args:
        rows: (n,) the row numbers, for error messages.
        remedy: advice on fixing the data, for error messages.
        remembers: cache the immutable results for short strings for later calls, because the same gold answers return
            in every epoch and in every part of a file.
        raises: if False, do not raise an error. Return an `Unparsable` for each cell that does not fit the type, or a
            `Raised` if an outage is the cause.

    Raises:
        CoercionError: a cell does not fit the type; the message shows the column, row, value, and type for the first
            such cell.
    """
    kinds = set(map(type, values))
    if not kinds <= _PRESENT and any(map(is_missing, values)):
        values = [None if is_missing(value) else value for value in values]
        kinds = set(map(type, values))
    if coercer.passes or kinds <= coercer.untouched:
        return values if isinstance(values, list) else list(values)
    convert = partial(_remembered, coercer) if remembers else coercer
    coerced: list[Any] = []
    results: dict[object, Any] = {None: None}
    for value, row in zip(values, rows, strict=True):
        kind = type(value)
        repeatable = kind in _REPEATABLE
        # 1 == 1.0 and 0.0 == -0.0, but their results may differ.
        key = (kind, repr(value)) if kind is float else value
        if repeatable and key in results:
            coerced.append(results[key])
            continue
        try:
            result = convert(value)
        except CoercionError as error:
            advice = remedy or (
                f"Fix the data, change the annotation of `{column}`, or parse the value yourself: "
                f"Annotated[{coercer.target}, pydantic.BeforeValidator(parse)]"
            )
            if coercer.fits_without_gaps(value):
                advice = f"The value is valid without the keys that are None. {GAPS}"
            if raises:
                raise CoercionError(f"column {column!r}, row {row}: {error} {advice}") from error.__cause__
            if isinstance(error.__cause__, RewardFailure):  # a worker died, and the next batch may read the cell
                result = Raised(error.__cause__)
            else:
                result = Unparsable(f"column {column!r}: {error} {advice}")
        if repeatable:
            results[key] = result
        coerced.append(result)
    return coerced


def _remembered(coercer: Coercer, value: object) -> Any:
    """Coerce `value`, or return the cached result of an earlier call."""
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


_REMEDY = "Fix the data"
_GOLD_REMEDY = "Fix the data, or pass gold= with an extractor that finds the answer in the cell"
_AS_THEY_ARE = ("completion", "trajectory", "progress", "trainer_state", "log_metric", "log_extra", ENVIRONMENT)
"""Arguments that are passed without copying."""
_ATOMS = {str, int, float, bool, bytes, type(None)}
_UNREAD = {Unparsable, Raised}
"""The types that `coerce_column` returns for unreadable cells."""
_MUTABLE = (dict, list, set, bytearray, collections.deque, BaseModel)


@final
@dataclass(frozen=True)
class Binding:
    """A function with its parameters and calling options.

    Attributes:
        function: called with one value per parameter (``scope="sample"``), or with lists of values. The function can
            have the following attributes. ``waits``: if True, the function may return a ``concurrent.futures.Future``,
            and other rewards run in the meantime. ``measured``, for an async function: makes all calls for a batch and
            returns the results and the measurements. ``check(batch, name)``: raises a BindingError if the batch lacks
            an argument. ``many(arguments)``, for a ready reward: accepts the argument tuples for several calls and
            returns the same results as separate calls, but faster. ``pool``: the name of the resource that the function
            uses, such as ``"sandboxes"``; on a cluster, the function runs where that resource is. ``opened_by_prompt``:
            the delimiters of the tag that the prompt opens at its end.
        parameters: the function's parameters.
        scope: whether a call scores one completion, all completions for a prompt, or the whole batch.
        deterministic: whether the same arguments always get the same score. If so, duplicates are scored only once.
        expensive: whether to skip the function while its weight is zero.
        timeout: seconds for one call, or None for no limit.
        trusted: whether the arguments can be passed without copying, because the function (a ready reward) does not
            change them.
        foreign: whether the function was written for another framework and accepts that framework's arguments.
        plain: whether the user passed the function itself, without ``@rk.reward``.
        pure: whether the user declares that another call costs nothing and changes nothing.
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
    pure: bool = field(default=False, compare=False)

    @cached_property
    def asynchronous(self) -> bool:
        """Whether calling the function returns a coroutine."""
        return is_async(self.function)

    @cached_property
    def waits(self) -> bool:
        """Whether the function waits for something. If so, it starts first, and other rewards run in the meantime."""
        return self.asynchronous or self.timeout is not None or getattr(self.function, "waits", False)

    @property
    def measures(self) -> bool:
        """Whether the function also reports measurements: calls, tokens, or money."""
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
        """Return whether any parameter gets its value from one of these `sources`."""
        return any(parameter.source in sources for parameter in self.parameters)

    @cached_property
    def logs(self) -> bool:
        """Whether the function accepts ``log_metric`` or ``log_extra`` and therefore must be called for every row."""
        return self.reads("log_metric", "log_extra")

    @property
    def follows_progress(self) -> bool:
        """Whether the function has an argument for the training progress."""
        return self.reads("progress", "trainer_state") or self.passes("trainer_state")

    def passes(self, argument: str) -> bool:
        """Return whether a function written for another framework has a parameter with this name."""
        return self.foreign and argument in _names(self.original)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function`, which may be a partial or have an async ``__call__``, returns a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of `function`, determined the same way as in TRL."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _names(function: Callable[..., Any]) -> Container[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code without a readable signature
        return ()


def available_parameters(parameters: Sequence[Parameter], batch: Batch) -> list[Parameter]:
    """Return the parameters for which the batch has values; the others keep their defaults."""
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
    """The arguments for some rows: one list per parameter.

    If the function is not called for a row, ``set_aside`` maps the row's position to its result: an abstention or a
    fault.
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
    """Return the values of `parameters` for `rows`.

    Only the cells in these rows are coerced. If `trusted` is False (for a user's function), mutable values are copied,
    so that one function cannot change another function's arguments.

    Args:
        on_unparsable_gold: ``"fail"`` sets aside the rows whose cells a ready reward (`trusted`) cannot read. For a
            user's function, an unreadable cell always raises an error, because the annotation may be wrong, in which
            case every cell fails.

    Raises:
        CoercionError: a value does not fit its annotation; the message names the component, the column, and the row.
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
                    cell = batch.columns[parameter.source][rows[position]]
                    cell_text = cell if is_missing(cell) else None
                    arguments.set_aside[position] = Abstention(f"the column {parameter.source!r} is {cell_text} here")
        elif ViewFault in kinds:
            for position, value in enumerate(values):
                if type(value) is ViewFault:
                    arguments.set_aside[position] = Raised(value.error)
        if not as_they_are and not kinds <= _ATOMS:
            arguments.columns[-1] = [detached(value) for value in values]
    arguments.set_aside |= unread  # last: even the lowest bound of a buggy extractor must not train such a row
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
        return [batch if parameter.view is None else parameter.view(batch)] * len(rows)
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
        raise CoercionError(f"reward {name!r}: {error}") from error.__cause__


def renamed(columns: Mapping[str, Any], names: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return `columns` under different names: ``renamed({"b": 42}, [("a", "b")])`` is ``{"a": 42}``."""
    sources = {column for _, column in names}
    remaining = {name: value for name, value in columns.items() if name not in sources}
    return remaining | {name: columns[column] for name, column in names if column in columns}


def detached(value: Any) -> Any:
    """Return a copy of plain data that is safe to modify; return other objects (images, environments) uncopied."""
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
    """Return the first of `rows` for each distinct set of arguments, and for each row the index of its set.

    If all sets of arguments differ, the indices are None.
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
