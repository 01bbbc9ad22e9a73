"""from_trl: any TRL reward function as a Reward, with the same numbers.

``rk.from_trl(trl.rewards.think_format_reward)`` can be weighted, gated and logged like any other. The function sees
the whole batch in TRL's own form: raw completions and prompts, all columns, trainer_state, log_metric and log_extra.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from types import MethodType
from typing import Any, final

from rewardkit.core.batch.batch import Batch
from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, is_factory, near_miss, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.algebra import weighted_sum_of
from rewardkit.core.tree.binding import Binding, detached, is_async
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import WHOLE_BATCH, Parameter, lacking
from rewardkit.core.tree.results import Contract
from rewardkit.core.tree.reward import Reward, as_reward, checked_name

_TRAINERS_WORDS = ("completions", "prompts", "completion_ids", "trainer_state", "log_extra", "log_metric")
"""What every function of TRL is given."""


def from_trl(function: Callable[..., Any], name: str | None = None) -> Reward:
    """Make a Reward of a TRL reward function: ``0.5 * rk.from_trl(think_format_reward) + closeness``.

    Args:
        function: takes ``completions`` and, if it wants, ``prompts``, ``completion_ids``, columns and ``**kwargs``;
            returns a list of numbers, with None or NaN where it does not apply. May be async.
        name: of the component; by default the name that TRL gives it.

    Raises:
        RewardTypeError: it is not a function (reward models go beside the list: ``rk.to_trl(reward) + [model]``).
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function) or is_model(function):
        raise RewardTypeError(
            f"from_trl takes a TRL reward function, got {shorten(function)} ({type(function).__name__}). "
            "A reward model goes beside the list: rk.to_trl(reward) + [model]"
        )
    label = checked_name(name if name is not None else name_of(function))
    call = AsyncTrlFunction(function) if is_async(function) else TrlFunction(function)
    binding = Binding(call, (Parameter("batch", WHOLE_BATCH),), scope="batch", foreign=True)
    return Leaf(binding, Contract(label, (-math.inf, math.inf), may_abstain=True), f"from_trl({label})")


def tree_of(value: Any, where: str) -> Reward:
    """The tree that a user means by `value`: a reward, a TRL reward function, or a list of them, whose sum it is.

    Raises:
        RewardDefinitionError: an empty list.
        RewardTypeError: it is something else; `where` says in the message what it was passed for.
    """
    if isinstance(value, Reward):
        return value
    if isinstance(value, (list, tuple)):
        if not value:
            raise RewardDefinitionError(f"{where} needs at least one reward, got an empty list")
        return weighted_sum_of([(1.0, tree_of(item, f"an item of {where}")) for item in value])
    plain = callable(value) and not isinstance(value, (type, Schedule)) and not hasattr(value, "derive")
    return from_trl(value) if plain and not is_factory(value) else as_reward(value, where)


class _Called:
    """How a TRL function is called with a batch; the wrappers below differ in what they await."""

    __wrapped__: Callable[..., Any]

    def check(self, batch: Batch, name: str) -> None:
        """Raises a BindingError if the batch lacks an argument of the function."""
        known = {*_TRAINERS_WORDS, *batch.context, *batch.columns}
        for parameter in _parameters(self.__wrapped__):
            starred = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            if parameter.default is parameter.empty and not starred and parameter.name not in known:
                raise lacking(name, parameter.name, batch, near_miss(parameter.name, known))

    def accepted(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keywords that the function takes: all of them with ``**kwargs``, as TRL asks."""
        parameters = _parameters(self.__wrapped__)
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return keywords
        taken = {parameter.name for parameter in parameters}
        return {name: value for name, value in keywords.items() if name in taken}

    # Not the function's own equality: instances of dataclasses are unhashable, tensors compare by element.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Called) and _identity(self.__wrapped__) == _identity(other.__wrapped__)

    def __hash__(self) -> int:
        return hash(_identity(self.__wrapped__))


@final
@dataclass(frozen=True, eq=False)
class TrlFunction(_Called):
    """Calls the function with a batch; None and NaN abstain, as they do in TRL."""

    __wrapped__: Callable[..., Any]

    def __call__(self, batch: Batch) -> Any:
        return _scores(self.__wrapped__(**self.accepted(_keywords(batch))))


@final
@dataclass(frozen=True, eq=False)
class AsyncTrlFunction(_Called):
    """The same for an async function."""

    __wrapped__: Callable[..., Any]

    async def __call__(self, batch: Batch) -> Any:
        return _scores(await self.__wrapped__(**self.accepted(_keywords(batch))))


def _identity(function: Callable[..., Any]) -> tuple[int, ...]:
    if isinstance(function, MethodType):  # made anew at every `object.method`
        return id(function.__self__), id(function.__func__)
    return (id(function),)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # compiled code without a readable signature
        return [inspect.Parameter("anything", inspect.Parameter.VAR_KEYWORD)]


def _keywords(batch: Batch) -> dict[str, Any]:
    """What TRL would pass, as copies that the function may change."""
    keywords: dict[str, Any] = {"trainer_state": None, "log_extra": _ignore, "log_metric": _ignore, **batch.context}
    keywords |= {name: detached(values) for name, values in batch.columns.items()}
    keywords["completions"] = detached(batch.completions)
    keywords["prompts"] = detached(batch.prompts) if batch.prompts is not None else [""] * batch.size
    keywords["completion_ids"] = detached(batch.completion_ids)
    return keywords


def _scores(returned: Any) -> Any:
    """What a function returned as a list, NaN as None; anything that is not a list of scores stays what it is."""
    if hasattr(returned, "tolist"):
        returned = returned.tolist()
    if isinstance(returned, (str, bytes, Mapping, Set)) or not isinstance(returned, Iterable):
        return returned
    return [None if value is not None and _is_nan(value) else value for value in returned]


def _ignore(*_: object) -> None:
    """Used as log_metric and log_extra outside of training."""


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except Exception:
        return False


def is_model(value: object) -> bool:
    """Whether it is a torch module, asked without torch."""
    return hasattr(value, "forward") and hasattr(value, "state_dict")


def name_of(function: Callable[..., Any]) -> str:
    """The name that TRL gives it."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
