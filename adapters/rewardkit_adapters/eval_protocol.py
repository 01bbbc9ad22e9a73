"""rewardkit and eval-protocol: ``rk.from_eval_protocol(function)`` turns a ``@reward_function`` into a Reward.

This module does not import eval-protocol.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rewardkit.batch.score import Score
from rewardkit.errors import RewardFailure, RewardTypeError, hashable, shorten
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.binding import Binding
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import Abstention, ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name

# from_eval_protocol: use a reward function of eval-protocol as a Reward, with its reasons and metrics.


Messages = Sequence[Mapping[str, Any]]

_UNBOUNDED = (-np.inf, np.inf)
_OWN = ("messages", "resources")
"""Arguments that are not columns: the conversation, and ``resources``, which the decorator fills in."""


class ChatMessage(dict[str, Any]):
    """A message that supports ``message["content"]`` and ``message.content``."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in ("content", "reasoning_content", "name", "tool_call_id", "tool_calls", "function_call"):
            return None
        raise AttributeError(f"this {self.get('role', '')} message has no {name!r}. It has {', '.join(self)}")


@final
@dataclass(frozen=True)
class Call:
    """A callable that calls the function for one completion and converts the result.

    Attributes:
        names: the columns that the function accepts, or None for all columns.
        needed: the columns that the function requires.
    """

    function: Callable[..., Any]
    names: frozenset[str] | None
    needed: tuple[str, ...]

    def __call__(self, messages: Messages, columns: dict[str, Any], *_: Any, prompt: str = "") -> Any:
        absent = self.absent(columns)
        return absent or _score_of_result(self.function(**self.arguments(messages, columns, prompt)))

    def absent(self, columns: Mapping[str, Any]) -> Abstention | None:
        """Return an abstention if a required column is None, as in rows for another task, or None otherwise."""
        empty = [name for name in self.needed if columns.get(name) is None]
        return Abstention(f"column {empty[0]!r} is None") if empty else None

    def arguments(self, messages: Messages, columns: Mapping[str, Any], prompt: str) -> dict[str, Any]:
        """Return the conversation and the columns as keyword arguments."""
        prompt_messages = [{"role": "user", "content": prompt}] if prompt else []
        conversation = [ChatMessage({"role": "assistant", **message}) for message in [*prompt_messages, *messages]]
        accepted = {name: value for name, value in columns.items() if self.names is None or name in self.names}
        return {**accepted, "messages": conversation}


@final
@dataclass(frozen=True)
class AsyncCall:
    """The async version of `Call`."""

    call: Call

    async def __call__(self, messages: Messages, columns: dict[str, Any], *_: Any, prompt: str = "") -> Any:
        absent = self.call.absent(columns)
        return absent or _score_of_result(await self.call.function(**self.call.arguments(messages, columns, prompt)))


def _score_of_result(returned: Any) -> Any:
    """Convert a result (an EvaluateResult, a dict, or a plain number) to a Score.

    ``is_score_valid`` is ignored, because eval-protocol's own rewards use it to mark good completions.

    Raises:
        RewardFailure: the result has an ``error``, which means that the evaluation itself failed.
    """
    score, reason, metrics, error = (_field(returned, name) for name in ("score", "reason", "metrics", "error"))
    if error:
        raise RewardFailure(str(error))
    if score is None:
        return returned
    parts = {str(name): _part(metric) for name, metric in (metrics or {}).items()}
    return Score(score, str(reason or ""), parts)


def _field(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)


def _part(metric: Any) -> Any:
    score = _field(metric, "score")
    return metric if score is None else score


def from_eval_protocol(function: Callable[..., Any], name: str | None = None) -> Reward:
    r"""Turn an eval-protocol reward function into a Reward: ``0.8 * rk.from_eval_protocol(math_reward) + closeness``.

    ``rk.from_eval_protocol(math_reward)`` gives 1.0 to ``\boxed{4}`` if the column "ground_truth" is ``4``.

    The prompt and the completion are passed as ``messages``. A dataset column is passed to the argument with the same
    name (usually ``ground_truth``), and the other columns are passed to ``**kwargs``. Set options with
    ``functools.partial``. If a required column is None in a row, the reward abstains for that row.

    Args:
        function: a ``@reward_function`` in mode "pointwise", or a function with the same signature. It can be async. It
            returns an EvaluateResult, a dict with "score", or a number. A result with ``error`` has the outcome
            ``failed``. An exception is an error, never a 0.0.
        name: the component's name, by default the function's name.

    Raises:
        RewardTypeError: `function` is not a pointwise reward function.
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        raise RewardTypeError(
            f"from_eval_protocol: expected a @reward_function from eval-protocol, got {shorten(function)} "
            f"({type(function).__name__})"
        )
    inner = _innermost(function)
    label = checked_name(name if name is not None else str(getattr(inner, "__name__", type(inner).__name__)))
    parameters = _parameters(function, inner, label)
    if not hashable(function):
        raise RewardTypeError(f"{label} is not hashable, but rewards must be hashable. Pass a function")
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    names = None if takes_all else frozenset(parameter.name for parameter in parameters)
    needed = tuple(
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.name not in _OWN
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    )
    call = Call(function, names, needed)
    binding = Binding(
        AsyncCall(call) if _is_async(inner) else call,
        (
            Parameter("messages", "messages"),
            Parameter("columns", "example"),
            *(Parameter(column, column) for column in needed),  # so that the error message names a missing column
            Parameter("prompt", "prompt", default="", keyword_only=True),
        ),
    )
    return Leaf(binding, ReturnPolicy(label, _UNBOUNDED), f"from_eval_protocol({label})")


def _parameters(function: Callable[..., Any], inner: Any, label: str) -> list[inspect.Parameter]:
    """Return the parameters of `function` after checking that it scores one completion."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"cannot read the signature of {label} ({error}). Wrap it in a function") from None
    # Eval Protocol's decorator leaves its mode only in this attribute.
    if getattr(inner, "_reward_function_mode", "pointwise") != "pointwise" or "rollouts_messages" in parameters:
        raise RewardTypeError(
            f"{label} scores a batch of rollouts at once, but from_eval_protocol accepts only "
            "@reward_function(mode='pointwise'). Write it as @rk.reward(scope='group') instead"
        )
    if "messages" not in parameters and not any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    ):
        hint = " An @evaluation_test scores rows. Pass the function that the test calls" if "row" in parameters else ""
        raise RewardTypeError(f"{label} has no argument `messages`, so it is not a @reward_function.{hint}")
    return list(parameters.values())


def _innermost(function: Any) -> Any:
    """Return the original function inside any partials and eval-protocol's ``RewardFunction``."""
    while isinstance(function, functools.partial) or callable(getattr(function, "func", None)):
        function = function.func
    return function


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


__all__ = ["from_eval_protocol"]
