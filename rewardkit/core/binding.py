"""Binding: from a reward function's signature to the arguments of every row.

``def closeness(completion: str, answer: float)`` asks for the text and for the column "answer" as a float. Arguments
are bound by name and type; what a name may be is listed in `Parameter.source`.
"""

from __future__ import annotations

import collections
import collections.abc
import copy
import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel

from rewardkit.core.batch import RESERVED, Batch, Numbers, View, ViewFault
from rewardkit.core.calling import Abstention, Raised
from rewardkit.core.coercion import Coercer, coerce_column
from rewardkit.core.errors import BindingError, CoercionError, RewardDefinitionError, near_miss
from rewardkit.core.progress import Progress

Scope = Literal["sample", "group", "batch"]

MISSING: Any = inspect.Parameter.empty
_GOLD_REMEDY = "Mend the data, or say with gold= where in the cell the answer stands."
_ATOMS = {str, int, float, bool, bytes, type(None)}
_MUTABLE = (dict, list, set, bytearray, collections.deque, BaseModel)
_SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable)
_TRL_HABITS = {
    "completions": "rewardkit calls a function once per completion: name the argument `completion`",
    "prompts": "rewardkit calls a function once per completion: name the argument `prompt`",
    "trainer_state": "name the argument `progress`: it has step, max_steps and fraction",
    "log_metric": "return rk.Score(value, parts={...}): its parts are logged",
    "log_extra": "return rk.Score(value, note=...): its note is logged",
}


@dataclass(frozen=True)
class Parameter:
    """One argument of a reward function and where it comes from.

    Attributes:
        name: the argument's name.
        source: ``completion``, ``messages``, ``prompt``, ``completion_ids``, ``progress``, ``example``, or a column.
        view: for ``completion``: what is taken from the text before it is passed on.
        annotation: the target type of a column.
        default: used when the column does not exist.
    """

    name: str
    source: str
    view: View | None = None
    annotation: Any = field(default=MISSING, hash=False)  # Annotated[int, {"unit": "m"}] has no hash
    default: Any = field(default=MISSING, compare=False)
    keyword_only: bool = field(default=False, compare=False)
    coercer: Coercer = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coercer", Coercer.of(self.annotation))

    def __reduce__(self) -> tuple[Any, ...]:
        return Parameter, (self.name, self.source, self.view, self.annotation, self.default, self.keyword_only)

    @property
    def is_column(self) -> bool:
        return self.source not in RESERVED


def parameters_of(
    function: Callable[..., Any], scope: Scope, name: str, locals_: Mapping[str, Any]
) -> tuple[Parameter, ...]:
    """The parameters of a user's function, checked as far as that goes without a batch.

    Raises:
        RewardDefinitionError: ``*args`` or ``**kwargs``, or an annotation that cannot be used.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RewardDefinitionError(f"reward {name!r}: its signature cannot be read ({error})") from None
    hints = _hints(function, name, locals_)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            stars = "**" if parameter.kind is parameter.VAR_KEYWORD else "*"
            raise RewardDefinitionError(
                f"reward {name!r} takes {stars}{parameter.name}: name the columns it needs as arguments instead, or "
                "`example` for all of them; a TRL reward function goes through rk.from_trl(function)"
            )
        annotation = hints.get(parameter.name, MISSING)
        if scope != "sample" and parameter.name not in ("progress", "prompt" if scope == "group" else "progress"):
            annotation = _element(annotation, parameter.name, scope, name)
        try:
            parameters.append(
                Parameter(
                    parameter.name,
                    parameter.name,
                    annotation=MISSING if parameter.name in RESERVED else annotation,
                    default=parameter.default,
                    keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
                    view=None,
                )
            )
        except RewardDefinitionError as error:
            raise RewardDefinitionError(f"reward {name!r}, argument {parameter.name!r}: {error}") from None
    return tuple(parameters)


def may_abstain(function: Callable[..., Any], name: str, scope: Scope, locals_: Mapping[str, Any]) -> bool:
    """Whether the return annotation (``float | None``) allows None."""
    annotation = _hints(function, name, locals_).get("return", MISSING)
    if scope != "sample":
        arguments = typing.get_args(annotation)
        annotation = arguments[0] if arguments else MISSING
    return type(None) in typing.get_args(annotation)


def _hints(function: Callable[..., Any], name: str, locals_: Mapping[str, Any]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(inspect.unwrap(target), localns=dict(locals_), include_extras=True)
    except Exception as error:
        raise RewardDefinitionError(
            f"reward {name!r}: its annotations cannot be resolved ({error}); use types that are defined and imported "
            f"in {getattr(function, '__module__', 'its module')}"
        ) from None


def _element(annotation: Any, argument: str, scope: str, name: str) -> Any:
    """What one row is, for an argument that gets a list of rows."""
    if annotation is MISSING or annotation is Any or annotation in _SEQUENCES:
        return MISSING
    if typing.get_origin(annotation) in _SEQUENCES:
        return typing.get_args(annotation)[0]
    raise RewardDefinitionError(
        f"reward {name!r}, argument {argument!r}: with scope={scope!r} it gets a list with one value per completion; "
        f"annotate it as list[{getattr(annotation, '__name__', annotation)}]"
    )


def check(parameters: Sequence[Parameter], batch: Batch, name: str) -> None:
    """Raises a BindingError that names the near misses if the batch lacks what a reward asks for."""
    shadowing = next((column for column in batch.columns if column in RESERVED), None)
    if shadowing is not None:
        raise BindingError(
            f"the dataset column {shadowing!r} has the name of an argument with a meaning of its own "
            f"({', '.join(RESERVED)}); rename it, e.g. to 'gold_{shadowing}'"
        )
    for parameter in parameters:
        if parameter.source == "completion_ids" and batch.completion_ids is None:
            if parameter.default is MISSING:
                raise BindingError(f"reward {name!r} needs completion_ids, which were not given")
        elif parameter.source == "prompt" and batch.prompts is None:
            if parameter.default is MISSING:
                raise BindingError(f"reward {name!r} needs prompts, which were not given")
        elif parameter.is_column and parameter.source not in batch.columns and parameter.default is MISSING:
            known = [*batch.columns, *RESERVED]
            habit = _TRL_HABITS.get(parameter.source)
            hint = f" {habit[0].upper()}{habit[1:]}." if habit else near_miss(parameter.source, known)
            raise lacking(name, parameter.source, batch, hint)


def lacking(name: str, column: str, batch: Batch, hint: str) -> BindingError:
    """What is said of the reward `name` that asks for a `column` that is not there."""
    return BindingError(
        f"reward {name!r} asks for the column {column!r}, which the data does not have. "
        f"Columns: {', '.join(batch.columns) or 'none'}.{hint}"
    )


def bound(parameters: Sequence[Parameter], batch: Batch) -> list[Parameter]:
    """The parameters that the batch can fill; the others keep their defaults."""
    return [parameter for parameter in parameters if _available(parameter, batch)]


def _available(parameter: Parameter, batch: Batch) -> bool:
    if parameter.source == "completion_ids":
        return batch.completion_ids is not None
    if parameter.source == "prompt":
        return batch.prompts is not None
    return not parameter.is_column or parameter.source in batch.columns


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
    """A copy that can be changed without anybody noticing; foreign objects (images, environments) stay themselves."""
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
    names = dict.fromkeys(
        name
        for parameter in parameters
        for name in (batch.columns if parameter.source == "example" else [parameter.source])
        if name != "progress"
    )
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


def caller_locals(depth: int) -> Mapping[str, Any]:
    """Local names where a function is decorated, so that annotations of types defined there resolve."""
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
