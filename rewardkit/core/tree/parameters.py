"""Parameters: from a reward function's signature to what each of its arguments is bound to.

``def closeness(completion: str, answer: float)`` asks for the text and for the column "answer" as a float. Arguments
are bound by name and type; what a name may be is listed in `Parameter.source`.
"""

from __future__ import annotations

import collections.abc
import inspect
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rewardkit.core.batch.batch import RESERVED, Batch, View
from rewardkit.core.errors import BindingError, RewardDefinitionError, near_miss
from rewardkit.core.tree.coercion import Coercer

Scope = Literal["sample", "group", "batch"]

MISSING: Any = inspect.Parameter.empty

WHOLE_BATCH = "<batch>"
"""The source of a parameter that is given the Batch itself."""

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
        source: ``completion``, ``messages``, ``prompt``, ``completion_ids``, ``progress``, ``example``, a column, or
            `WHOLE_BATCH`.
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
    is_column: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coercer", Coercer.of(self.annotation))
        object.__setattr__(self, "is_column", self.source not in RESERVED and self.source != WHOLE_BATCH)

    def __reduce__(self) -> tuple[Any, ...]:
        return Parameter, (self.name, self.source, self.view, self.annotation, self.default, self.keyword_only)


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


def caller_locals(depth: int) -> Mapping[str, Any]:
    """Local names where a function is decorated, so that annotations of types defined there resolve."""
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
