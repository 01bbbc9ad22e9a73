"""Parameters: the arguments in a reward function's signature, and the sources of their values.

``def closeness(completion: str, answer: float)`` requests the completion's text, and the column "answer" as a float.
Arguments are bound by name and type; `Parameter.source` lists the possible names.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rewardkit.batch.batch import RESERVED, Batch
from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import BindingError, RewardDefinitionError, near_miss, shorten
from rewardkit.tree.coercion import Coercer

# Cells of a dataset as text: ``cell_text([1, 2])`` is ``"[1, 2]"``, ``cell_text("42")`` is ``"42"``.


def cell_text(value: Any) -> str:
    """Return a string unchanged, a missing value as "", and any other value as JSON text."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # numpy and torch
        value = value.tolist()
    absent = isinstance(value, float) and math.isnan(value)
    if absent or value is None or type(value).__name__ in ("NaTType", "NAType"):  # the latter are pandas'
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain) if _is_json(value) else str(value)
    except (TypeError, ValueError, RecursionError):  # keys that JSON cannot write, an object that contains itself
        return str(value)


def texts_of(example: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells in a row as strings."""
    return {name: cell_text(value) for name, value in example.items()}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _is_json(value: Any) -> bool:
    return isinstance(value, (bool, int, float, list, tuple, dict))


Scope = Literal["sample", "group", "batch"]

OnUnparsableGold = Literal["raise", "fail"]
"""The effect of an unreadable gold cell: a CoercionError is raised, or the cell's row fails."""

MISSING: Any = inspect.Parameter.empty

WHOLE_BATCH = "<batch>"
"""The source of a parameter that is the Batch itself."""

ENVIRONMENT = "<environment>"
"""The source of a parameter that is a row's live environment."""

SINGLE = ("progress", "trainer_state", "log_metric", "log_extra")
"""Arguments that are passed to a call once, even if the call has several rows."""

_SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable)
_UNIONS = (typing.Union, types.UnionType)
_NO_TEXTS = {*_SEQUENCES, dict, collections.abc.Mapping}
_OF_THE_MODEL = ("completion", "messages", "trajectory", "completion_ids", "example", WHOLE_BATCH, ENVIRONMENT)
"""The sources of arguments that contain the model's output or actions."""
_TRL_HABITS = {
    "completions": "rewardkit calls a function once per completion. Name the argument `completion`",
    "prompts": "rewardkit calls a function once per completion. Name the argument `prompt`",
    "environment": "For a function of an environment, use rk.agents.final_state(function), without @rk.reward",
}
_LIST_HABITS = {
    ("group", "completions"): "With scope='group', name the argument `completion`: it is a list, one per row",
    ("group", "prompts"): "With scope='group', name the argument `prompt`: it is one string, shared by the group",
    ("batch", "completions"): "With scope='batch', name the argument `completion`: it is a list, one per row",
    ("batch", "prompts"): "With scope='batch', name the argument `prompt`: it is a list with one text per completion",
}


@dataclass(frozen=True)
class Parameter:
    """One argument of a reward function, and the source of its value.

    Attributes:
        name: the argument's name.
        source: ``completion``, ``messages``, ``trajectory``, ``prompt``, ``completion_ids``, ``progress``, ``example``,
            ``trainer_state``, ``log_metric``, ``log_extra``, a column, `WHOLE_BATCH`, or `ENVIRONMENT`.
        view: a function that, for ``completion`` and ``trajectory``, extracts something; for ``example``, reads the
            cells; for ``prompt``, reads the original prompt (a string or messages) instead of its text.
        annotation: the target type of a column.
        default: used if the column does not exist.
        renamed: for ``example``: (name, name in the data) pairs for columns that have a different name in the data.
        on_unparsable_gold: the setting for a ready reward's gold column; None to use the scorer's setting.
    """

    name: str
    source: str
    view: Callable[[Any], Any] | None = None
    annotation: Any = field(default=MISSING, hash=False)  # Annotated[int, {"unit": "m"}] has no hash
    default: Any = field(default=MISSING, compare=False)
    keyword_only: bool = field(default=False, compare=False)
    renamed: tuple[tuple[str, str], ...] = ()
    on_unparsable_gold: OnUnparsableGold | None = None
    coercer: Coercer = field(init=False, compare=False, repr=False)
    is_column: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.on_unparsable_gold not in (None, *typing.get_args(OnUnparsableGold)):
            raise RewardDefinitionError(
                f'on_unparsable_gold of the column {self.source!r} must be "raise", "fail", or None, got '
                f"{shorten(self.on_unparsable_gold)}"
            )
        object.__setattr__(self, "coercer", Coercer.of(self.annotation))
        object.__setattr__(self, "is_column", self.source not in (*RESERVED, WHOLE_BATCH, ENVIRONMENT))

    def __reduce__(self) -> tuple[Any, ...]:
        options = (self.view, self.annotation, self.default, self.keyword_only, self.renamed)
        return Parameter, (self.name, self.source, *options, self.on_unparsable_gold)

    def with_columns(self, columns: Mapping[str, str]) -> Parameter:
        """Return this parameter for data with other column names."""
        if self.source == "example":
            renames = {name: columns.get(column, column) for name, column in self.renamed}
            sources = {column for _, column in self.renamed}
            renames |= {name: column for name, column in columns.items() if name not in sources}
            return replace(self, renamed=tuple(renames.items()))
        return replace(self, source=columns.get(self.source, self.source)) if self.is_column else self


def parameters_of(
    function: Callable[..., Any],
    scope: Scope,
    name: str,
    locals_: Mapping[str, Any],
    *,
    texts: bool = False,
    starred: bool = False,
    first: str = "",
) -> tuple[Parameter, ...]:
    """Return the parameters of a user's function, after all checks that do not need a batch.

    Args:
        texts: whether an `example` without an annotation contains strings.
        starred: whether to ignore ``**kwargs`` instead of raising an error.
        first: the source of the first argument, whatever its name and annotation.

    Raises:
        RewardDefinitionError: the function has ``*args`` or ``**kwargs``, or an annotation cannot be used.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RewardDefinitionError(
            f"reward {name!r}: its signature cannot be read ({error}). Wrap it in a function with named arguments"
        ) from None
    hints = _hints(function, name, locals_)
    parameters: list[Parameter] = []
    for parameter in signature.parameters.values():
        if starred and parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            stars = "**" if parameter.kind is parameter.VAR_KEYWORD else "*"
            raise RewardDefinitionError(
                f"reward {name!r} has the argument {stars}{parameter.name}, which is not supported. Name the "
                "columns that it needs as arguments, or use `example` for all columns. Wrap a TRL reward function with "
                "rk.from_trl(function)"
            )
        annotation = hints.get(parameter.name, MISSING)
        if scope != "sample" and parameter.name not in SINGLE and (scope, parameter.name) != ("group", "prompt"):
            annotation = _element(annotation, parameter.name, scope, name)
        source = "trajectory" if annotation is Trajectory else parameter.name
        if first and not parameters:
            source, annotation = first, MISSING
        _check_kind(annotation, parameter.name, name)
        try:
            parameters.append(
                Parameter(
                    parameter.name,
                    source,
                    annotation=MISSING if source in RESERVED else annotation,
                    default=parameter.default,
                    keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
                    view=texts_of if parameter.name == "example" and _holds_texts(annotation, texts) else None,
                )
            )
        except RewardDefinitionError as error:
            raise RewardDefinitionError(f"reward {name!r}, argument {parameter.name!r}: {error}") from None
    return tuple(parameters)


def _check_kind(annotation: Any, argument: str, name: str) -> None:
    """Raise a RewardDefinitionError if a text argument is annotated as messages, or the reverse."""
    members = typing.get_args(annotation) if typing.get_origin(annotation) in _UNIONS else (annotation,)
    kinds = {typing.get_origin(member) or member for member in members} - {type(None)}
    if argument == "trajectory" and kinds - {MISSING, Any, object, Trajectory}:
        raise RewardDefinitionError(
            f"reward {name!r}, argument 'trajectory': it is annotated {_shown(annotation)}, but it receives "
            "an rk.Trajectory. Annotate `rk.Trajectory`, or name it `messages` to get the chat messages"
        )
    if Trajectory in kinds and argument in RESERVED and argument != "trajectory":
        raise RewardDefinitionError(
            f"reward {name!r}, argument {argument!r}: it is annotated rk.Trajectory, but an argument with this name "
            "receives a different value. Name it `trajectory`"
        )
    if argument in ("completion", "prompt") and kinds and kinds <= _NO_TEXTS:
        instead = ", or name it `messages` to get the chat messages" if argument == "completion" else ""
        raise RewardDefinitionError(
            f"reward {name!r}, argument {argument!r}: it is annotated {_shown(annotation)}, but it receives "
            f"text, even for a conversation. Annotate `str`{instead}"
        )
    if argument == "messages" and kinds == {str}:
        raise RewardDefinitionError(
            f"reward {name!r}, argument 'messages': it is annotated str, but it receives a list of chat messages. "
            "Annotate `list[dict[str, Any]]`, or name it `completion` to get the text"
        )


def _shown(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not typing.get_args(annotation) else str(annotation)


def _holds_texts(annotation: Any, by_default: bool) -> bool:
    """Return whether an `example` with this annotation contains strings: ``dict[str, str]``."""
    if annotation is MISSING:
        return by_default
    is_mapping = typing.get_origin(annotation) in (dict, collections.abc.Mapping, collections.abc.MutableMapping)
    return is_mapping and typing.get_args(annotation) == (str, str)


def may_abstain(function: Callable[..., Any], name: str, scope: Scope, locals_: Mapping[str, Any]) -> bool:
    """Return whether the return annotation (``float | None``) allows None."""
    annotation = _hints(function, name, locals_).get("return", MISSING)
    if scope != "sample":
        arguments = typing.get_args(annotation)
        annotation = arguments[0] if arguments else MISSING
    return type(None) in typing.get_args(annotation)


def _hints(function: Callable[..., Any], name: str, locals_: Mapping[str, Any]) -> dict[str, Any]:
    while isinstance(function, functools.partial):
        function = function.func
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(inspect.unwrap(target), localns=dict(locals_), include_extras=True)
    except Exception as error:
        raise RewardDefinitionError(
            f"reward {name!r}: its annotations cannot be resolved ({error}). Define or import the types in "
            f"{getattr(function, '__module__', 'its module')}"
        ) from None


def _element(annotation: Any, argument: str, scope: str, name: str) -> Any:
    """Return the type for one row, for an argument that gets a list of rows."""
    if annotation is MISSING or annotation is Any or annotation in _SEQUENCES:
        return MISSING
    if typing.get_origin(annotation) in _SEQUENCES:
        return typing.get_args(annotation)[0]
    raise RewardDefinitionError(
        f"reward {name!r}, argument {argument!r}: with scope={scope!r}, it receives a list with one value per "
        f"completion. Annotate it as list[{getattr(annotation, '__name__', annotation)}]"
    )


def check(parameters: Sequence[Parameter], batch: Batch, name: str, scope: Scope = "sample") -> None:
    """Raise a BindingError that suggests similar names if the batch lacks an argument that a reward needs."""
    shadowing = next((column for column in batch.columns if column in RESERVED), None)
    if shadowing == "prompt" and batch.prompts is None:
        raise BindingError("'prompt' is not a column. Pass prompts=[...], with one prompt for each completion")
    if shadowing is not None:
        raise BindingError(
            f"the name of the dataset column {shadowing!r} is reserved ({', '.join(RESERVED)}). Rename the column, "
            f"for example to 'gold_{shadowing}'"
        )
    for parameter in parameters:
        if parameter.source == "completion_ids" and batch.completion_ids is None:
            if parameter.default is MISSING:
                raise BindingError(f"reward {name!r} needs token ids. Pass completion_ids=")
        elif parameter.source == "prompt" and batch.prompts is None:
            if parameter.default is MISSING:
                raise BindingError(f"reward {name!r} needs prompts. Pass prompts=")
        elif parameter.source == ENVIRONMENT and batch.rollouts.environments is None:
            raise BindingError(
                f"reward {name!r} reads the environment of each rollout, but no environments were passed. Train with "
                "GRPOTrainer(environment_factory=funcs.environments(Shop)). Asynchronous GRPO does not pass "
                "environments to reward functions. Outside training, pass rk.score(..., environments=[...]) with one "
                "environment per completion, as it is after its rollout, or check_reward(..., "
                "declarations=Declarations(environment=Shop))"
            )
        elif parameter.is_column and parameter.source not in batch.columns and parameter.default is MISSING:
            available = [*batch.columns, *RESERVED]
            habit = _LIST_HABITS.get((scope, parameter.source)) or _TRL_HABITS.get(parameter.source)
            similar = near_miss(parameter.source, available)
            if not habit and not similar and not any(argument.source in _OF_THE_MODEL for argument in parameters):
                habit = "For the model's text, name the argument `completion`"
            raise lacking(name, parameter.source, batch, f" {habit}." if habit else similar, renamed=not habit)


def lacking(name: str, column: str, batch: Batch, hint: str, *, renamed: bool = True) -> BindingError:
    """Return the error for the reward `name`, which needs a missing `column`.

    Args:
        hint: the likely fix.
        renamed: whether the column may have a different name in the data.
    """
    may_map = renamed and bool(batch.columns)
    mapped = f" If the column has another name in the data: reward.with_columns({column}='...')." if may_map else ""
    error = BindingError(
        f"reward {name!r} needs the column {column!r}, which the data does "
        f"not have. Columns: {', '.join(batch.columns) or 'none'}.{hint}{mapped}"
    )
    error.column, error.hint = column, hint
    return error


def shown_columns(columns: Mapping[str, str]) -> str:
    """Return the code of the call: ``.with_columns(answer='solution')``."""
    if all(name.isidentifier() for name in columns):
        return f".with_columns({', '.join(f'{name}={column!r}' for name, column in columns.items())})"
    return f".with_columns(**{dict(columns)!r})"


def caller_locals(depth: int) -> Mapping[str, Any]:
    """Return the caller's local variables, to resolve annotations that refer to types defined there."""
    # One more than `depth`, to skip the frame of this function.
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
