"""``from_trl``, which turns a plain function into a Reward with the same scores.

``rk.from_trl(trl.rewards.think_format_reward)`` can be weighted, gated, and logged like any other reward. A TRL
function gets the whole batch in the same form as in TRL: raw completions and prompts, all columns, trainer_state,
log_metric, and log_extra. The arguments of a function that scores one completion, such as ``f(completion, answer)`` or
``f(prompt, completion, example)``, are bound by name and type, as with ``@rk.reward``.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from types import MethodType
from typing import Any, Literal, final

from rewardkit.batch.batch import Batch
from rewardkit.batch.logs import RowLog
from rewardkit.batch.messages import in_form_of
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import RewardTypeError, hashable, near_miss, shorten, shorten_line
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.binding import Binding, detached, is_async, name_of, renamed
from rewardkit.tree.decorator import check_logs, checked_timeout, policy_number
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import WHOLE_BATCH, Parameter, lacking, may_abstain, parameters_of
from rewardkit.tree.results import InvalidReturn, ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name

_TRAINERS_WORDS = ("completions", "prompts", "completion_ids", "trainer_state", "log_extra", "log_metric")
"""The arguments that TRL passes to every reward function."""

_ROW = "**kwargs"
"""The argument of `OneCompletion` that contains all columns."""

_NOT_CHAT = 'seems to read chat messages, as in completion[0]["content"], but the completions are text'
_GIVE_CHAT = (
    'Pass chat prompts, as your dataset has them: prompts=[[{"role": "user", "content": "..."}], ...]. Or write the '
    "function with @rk.reward and `completion: str`, which is text for both kinds of data."
)


def from_trl(
    function: Callable[..., Any],
    name: str | None = None,
    *,
    on_error: Literal["raise"] | float | None = None,
    pure: bool = False,
    timeout: float | None = None,
) -> Reward:
    """Turn a plain function into a Reward: ``0.5 * rk.from_trl(think_format_reward) + closeness``.

    Args:
        function: a TRL reward function, which accepts ``completions`` and optionally ``prompts``, ``completion_ids``,
            columns, and ``**kwargs``, and returns a list of numbers, with None or NaN for rows to which it does not
            apply. Alternatively, a function that scores one completion, which receives its arguments as with
            ``@rk.reward`` and returns the score. In ``f(prompt, completion, example)``, `example` contains strings
            unless it is annotated otherwise. The function can be async. If a service does not respond, the function
            should raise ``rk.RewardFailure``, so that its rows do not provide a learning signal.
        name: the component's name. The default is the name that TRL uses.
        on_error: the behavior if the function has a bug: None or ``"raise"`` (both stop the run, as in TRL), or a
            number to use as the score.
        pure: whether another call costs nothing and changes nothing, as in ``@rk.reward``.
        timeout: the time limit for one call, in seconds, as in ``@rk.reward``. A TRL reward function is called once per
            batch, so all rows in the batch fail together. If it is not async, it runs in a separate process, in which
            it cannot log or read ``environments``.

    Raises:
        RewardTypeError: `function` is not a function. For a reward model, write ``rk.to_trl(reward) + [model]``.
        RewardDefinitionError: an option is invalid, or an argument of a function that scores one completion is invalid.
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function) or is_model(function):
        raise RewardTypeError(
            f"from_trl expects a TRL reward function, got {shorten(function)} ({type(function).__name__}). Add a "
            "reward model to the list instead: rk.to_trl(reward) + [model]"
        )
    label = checked_name(name if name is not None else name_of(function))
    seconds = checked_timeout(label, timeout)
    options = "" if name is None else f", name={name!r}"
    options += (", pure=True" if pure else "") + ("" if seconds is None else f", timeout={seconds:g}")
    expression = f"from_trl({_shown(function)}{options})"
    single = takes_one_completion(function)
    if single:
        texts = {"prompt", "example"} <= {parameter.name for parameter in _parameters(function)}
        starred = any(parameter.kind is parameter.VAR_KEYWORD for parameter in _parameters(function))
        parameters = parameters_of(function, "sample", label, {}, texts=texts, starred=True)
        parameters += (Parameter(_ROW, "example", keyword_only=True),) if starred else ()
        wrapping = AsyncOneCompletion if is_async(function) else OneCompletion
        callee = function if hashable(function) and not starred else wrapping(function)
        binding = Binding(callee, parameters, plain=True, pure=pure, timeout=seconds)
    else:
        call = AsyncTrlFunction(function) if is_async(function) else TrlFunction(function)
        view = None if seconds is None or is_async(function) else _portable
        parameters = (Parameter("batch", WHOLE_BATCH, view=view),)
        binding = Binding(call, parameters, scope="batch", plain=True, foreign=True, pure=pure, timeout=seconds)
    check_logs(binding, label)
    contract = ReturnPolicy(
        label,
        (-math.inf, math.inf),  # a plain function declares no bounds
        may_abstain=not single or may_abstain(function, label, "sample", {}),
        on_error=on_error if on_error in (None, "raise") else policy_number(label, "on_error", on_error),
        remedy="Fix the function. A plain function declares no lowest score that could be used "
        "instead, so its bugs stop the run, as in TRL. To continue while only a few rows fail (max_error_rate), "
        f"write rk.{expression[:-1]}, on_error=0.0).",
    )
    return Leaf(binding, contract, expression)


def _shown(function: Callable[..., Any]) -> str:
    """Return the code for a function: ``at_least``, ``partial(at_least, length=5)``."""
    if not isinstance(function, functools.partial):
        return name_of(function).replace("<lambda>", "lambda ...")
    arguments = [*map(repr, function.args), *(f"{name}={value!r}" for name, value in function.keywords.items())]
    return shorten_line(f"partial({', '.join([_shown(function.func), *arguments])})", 200)


def takes_one_completion(function: Callable[..., Any]) -> bool:
    """Return whether `function` scores one completion: it has an argument for one, but none for a whole batch."""
    parameters = _parameters(function)
    names = {parameter.name for parameter in parameters}
    starred = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    return not starred and "completions" not in names and any(map(_is_one, parameters))


def _is_one(parameter: inspect.Parameter) -> bool:
    """Return whether an argument's name or annotation requests one completion."""
    annotation = parameter.annotation
    annotation_text = annotation if isinstance(annotation, str) else ""
    of_trajectory = annotation is Trajectory or annotation_text.rpartition(".")[2] == "Trajectory"
    return of_trajectory or parameter.name in ("completion", "messages", "trajectory")


class _Wrapping:
    """A user's function. Compared by identity, because it may be unhashable or contain tensors."""

    __wrapped__: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Wrapping) and _identity(self.__wrapped__) == _identity(other.__wrapped__)

    def __hash__(self) -> int:
        return hash(_identity(self.__wrapped__))


@final
@dataclass(frozen=True, eq=False)
class OneCompletion(_Wrapping):
    """A callable for a function that scores one completion and is unhashable or accepts columns as ``**kwargs``."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **_with_row(self.__wrapped__, keywords))


@final
@dataclass(frozen=True, eq=False)
class AsyncOneCompletion(_Wrapping):
    """The async version of `OneCompletion`."""

    __wrapped__: Callable[..., Any]

    async def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return await self.__wrapped__(*arguments, **_with_row(self.__wrapped__, keywords))


def _with_row(function: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Replace the whole row in `keywords` with the columns that the function does not name."""
    row = keywords.pop(_ROW, {})
    named = {parameter.name for parameter in _parameters(function)}
    return keywords | {name: row[name] for name in row if name not in named}


class _Called(_Wrapping):
    """A TRL function and the arguments that it accepts; the two subclasses call the function."""

    def check(self, batch: Batch, name: str) -> None:
        """Raise a BindingError if the batch lacks an argument of the function."""
        available = {*_TRAINERS_WORDS, *batch.context, *batch.columns}
        missing = [
            parameter.name
            for parameter in _parameters(self.__wrapped__)
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            and parameter.name not in available
        ]
        if missing:
            hint, arguments = near_miss(missing[0], available), self._hint()
            if not hint and not arguments and batch.columns:
                settings = ", ".join(f"{argument}=..." for argument in missing)
                hint = f" If it is a setting, pass functools.partial({name}, {settings})."
            raise lacking(name, missing[0], batch, hint or arguments, renamed=bool(hint) or not arguments)

    def _hint(self) -> str:
        """Return advice on argument names if no argument has a known name; otherwise, an empty string."""
        parameters = _parameters(self.__wrapped__)
        if any(
            parameter.kind is parameter.VAR_KEYWORD or parameter.name in _TRAINERS_WORDS for parameter in parameters
        ):
            return ""
        return (
            " A reward function must have the argument `completions` (all in a batch, as in TRL) or `completion` (one)."
        )

    @property
    def columns(self) -> list[str]:
        """The columns that the function's signature names."""
        return [
            parameter.name
            for parameter in _parameters(self.__wrapped__)
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            and parameter.name not in _TRAINERS_WORDS
        ]

    def accepted(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords that the function accepts: all of them if it has ``**kwargs``."""
        parameters = _parameters(self.__wrapped__)
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return keywords
        parameter_names = {parameter.name for parameter in parameters}
        return {name: value for name, value in keywords.items() if name in parameter_names}


@final
@dataclass(frozen=True, eq=False)
class TrlFunction(_Called):
    """A callable that passes a batch to a TRL function; as in TRL, None and NaN mean that the reward does not apply."""

    __wrapped__: Callable[..., Any]

    def with_columns(self, columns: Mapping[str, str]) -> TrlFunction:
        return TrlFunction(OtherColumns(self.__wrapped__, tuple(columns.items())))

    def __call__(self, batch: Batch) -> Any:
        keywords = _keywords(batch)
        with _reading(keywords["completions"]):
            try:
                return _scores(self.__wrapped__(**self.accepted(keywords)))
            except Exception:
                if not batch.rollouts.broken:
                    raise
            rows, keywords = _without_broken(batch)
            return _at(rows, _scores(self.__wrapped__(**self.accepted(keywords))) if rows else [], batch.size)


@final
@dataclass(frozen=True, eq=False)
class AsyncTrlFunction(_Called):
    """The async version of `TrlFunction`."""

    __wrapped__: Callable[..., Any]

    def with_columns(self, columns: Mapping[str, str]) -> AsyncTrlFunction:
        return AsyncTrlFunction(OtherColumns(self.__wrapped__, tuple(columns.items())))

    async def __call__(self, batch: Batch) -> Any:
        keywords = _keywords(batch)
        with _reading(keywords["completions"]):
            try:
                return _scores(await self.__wrapped__(**self.accepted(keywords)))
            except Exception:
                if not batch.rollouts.broken:
                    raise
            rows, keywords = _without_broken(batch)
            return _at(rows, _scores(await self.__wrapped__(**self.accepted(keywords))) if rows else [], batch.size)


@final
@dataclass(frozen=True, eq=False)
class OtherColumns:
    """A function for data with different column names; `columns` has pairs (the function's name, the data's name)."""

    function: Callable[..., Any]
    columns: tuple[tuple[str, str], ...]

    def __call__(self, **keywords: Any) -> Any:
        return self.function(**renamed(keywords, self.columns))

    @property
    def __signature__(self) -> inspect.Signature:
        names = dict(self.columns)
        parameters = [
            parameter.replace(name=names.get(parameter.name, parameter.name), kind=parameter.KEYWORD_ONLY)
            for parameter in _parameters(self.function)
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        ]
        starred = [parameter for parameter in _parameters(self.function) if parameter.kind is parameter.VAR_KEYWORD]
        return inspect.Signature([*parameters, *starred])


def _identity(function: Callable[..., Any]) -> tuple[Any, ...]:
    if isinstance(function, OtherColumns):
        return *_identity(function.function), function.columns
    if isinstance(function, MethodType):  # each access to `object.method` makes a new one
        return id(function.__self__), id(function.__func__)
    return (id(function),)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # compiled code without a readable signature
        return [inspect.Parameter("anything", inspect.Parameter.VAR_KEYWORD)]


def _keywords(batch: Batch) -> dict[str, Any]:
    """Return copies of the arguments that TRL would pass; the function may change them."""
    keywords: dict[str, Any] = {name: detached(values) for name, values in batch.columns.items()}
    keywords |= {"log_extra": batch.logs.extra, "log_metric": batch.logs.metric, **batch.context}
    keywords["trainer_state"] = batch.trainer_state
    prompts = batch.prompts if batch.prompts is not None else [""] * batch.size
    keywords["completions"] = list(map(in_form_of, prompts, detached(batch.completions)))
    keywords["prompts"] = detached(prompts)
    keywords["completion_ids"] = detached(batch.completion_ids)
    return keywords


def _portable(batch: Batch) -> Batch:
    """Return `batch` for another process: without the trainer's functions and environments, and without caches."""
    context = {"trainer_state": batch.trainer_state, "log_metric": _cannot_log, "log_extra": _cannot_log}
    return Batch(
        batch.completions,
        prompts=batch.prompts,
        completion_ids=batch.completion_ids,
        columns=batch.columns,
        progress=batch.progress,
        num_generations=batch.num_generations,
        context=context,
        rollouts=RolloutInfo(broken=batch.rollouts.broken),
    )


def _cannot_log(name: str, *values: Any) -> None:
    raise InvalidReturn(
        f"logs {name!r}, but with timeout= it runs in a separate process, which cannot log",
        "Drop timeout=, or make the function async.",
    )


def _without_broken(batch: Batch) -> tuple[list[int], dict[str, Any]]:
    """Return the rows whose environment did not break, and the arguments for only these rows.

    A TRL function does not expect outages: it may raise an error because a broken environment lacks an attribute. The
    broken rows fail anyway, so the function is called again without them.
    """
    rows = [row for row in range(batch.size) if row not in batch.rollouts.broken]
    keywords = _keywords(batch)
    for name, values in keywords.items():
        if isinstance(values, list) and len(values) == batch.size:
            keywords[name] = [values[row] for row in rows]
    return rows, keywords | {"log_extra": RowLog(batch.logs, tuple(rows), several=True)}


def _at(rows: Sequence[int], scores: Any, size: int) -> Any:
    """Return the scores for some rows as scores for all rows, with None for the other rows.

    Anything that is not a list of scores is returned unchanged.
    """
    if not isinstance(scores, list) or len(scores) != len(rows):
        return scores
    row_scores = dict(zip(rows, scores, strict=True))
    return [row_scores.get(row) for row in range(size)]


@contextmanager
def _reading(completions: list[Any]) -> Iterator[None]:
    """Return an explanation for the error if a function written for chat messages gets text."""
    try:
        yield
    except TypeError as error:
        if str(error).startswith("string indices must be integers") and any(
            isinstance(completion, str) for completion in completions
        ):
            raise InvalidReturn(_NOT_CHAT, _GIVE_CHAT).with_traceback(error.__traceback__) from None
        raise


def _scores(returned: Any) -> Any:
    """Return scores as a list with None for NaN; return a value that is not a list of scores unchanged."""
    if hasattr(returned, "tolist"):
        returned = returned.tolist()
    if isinstance(returned, (str, bytes, Mapping, Set)) or not isinstance(returned, Iterable):
        return returned
    return [None if value is not None and _is_nan(value) else value for value in returned]


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except Exception:
        return False


def is_model(value: object) -> bool:
    """Return whether `value` is a torch module, without importing torch."""
    return hasattr(value, "forward") and hasattr(value, "state_dict")
