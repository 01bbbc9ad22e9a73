"""from_eval_protocol: a reward function of eval-protocol as a Reward, with its reasons and metrics.

``rk.from_eval_protocol(math_reward)`` can be weighted, gated and logged like any other. The function gets the
conversation as ``messages`` and the dataset columns by name; its reason becomes the note, its metrics the parts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardFailure, RewardTypeError, hashable, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Abstention, Contract
from rewardkit.core.tree.reward import Reward, checked_name

Messages = Sequence[Mapping[str, Any]]

_UNBOUNDED = (-np.inf, np.inf)
_OWN = ("messages", "resources")
"""Arguments that are no columns: the conversation, and what the decorator itself puts in."""


class ChatMessage(dict[str, Any]):
    """A message that is read both ways: ``message["content"]`` and ``message.content``."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in ("content", "reasoning_content", "name", "tool_call_id", "tool_calls", "function_call"):
            return None
        raise AttributeError(f"this {self.get('role', '')} message has no {name!r}; it has {', '.join(self)}")


@final
@dataclass(frozen=True)
class Call:
    """Calls the function for one completion and reads what it returns.

    Attributes:
        names: the columns that it takes; None for all of them.
        needed: those without which it does not apply.
    """

    function: Callable[..., Any]
    names: frozenset[str] | None
    needed: tuple[str, ...]

    def __call__(self, messages: Messages, columns: dict[str, Any], *_: Any, prompt: str = "") -> Any:
        absent = self.absent(columns)
        return absent or _read(self.function(**self.arguments(messages, columns, prompt)))

    def absent(self, columns: Mapping[str, Any]) -> Abstention | None:
        """Why the function does not apply: rows of another task have None in its columns."""
        empty = [name for name in self.needed if columns.get(name) is None]
        return Abstention(f"the column {empty[0]!r} is None here") if empty else None

    def arguments(self, messages: Messages, columns: Mapping[str, Any], prompt: str) -> dict[str, Any]:
        """The conversation and the columns."""
        asked = [{"role": "user", "content": prompt}] if prompt else []
        conversation = [ChatMessage({"role": "assistant", **message}) for message in [*asked, *messages]]
        taken = {name: value for name, value in columns.items() if self.names is None or name in self.names}
        return {**taken, "messages": conversation}


@final
@dataclass(frozen=True)
class AsyncCall:
    """The same for an async function."""

    call: Call

    async def __call__(self, messages: Messages, columns: dict[str, Any], *_: Any, prompt: str = "") -> Any:
        absent = self.call.absent(columns)
        return absent or _read(await self.call.function(**self.call.arguments(messages, columns, prompt)))


def _read(returned: Any) -> Any:
    """A result (an EvaluateResult, a dict or a plain number) as a Score.

    Its ``is_score_valid`` is left aside: eval-protocol's own rewards set it to whether the completion did well.

    Raises:
        RewardFailure: the result says by ``error`` that the evaluation itself failed.
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
    """A reward function of eval-protocol as a Reward: ``0.8 * rk.from_eval_protocol(math_reward) + closeness``.

    The prompt and the completion are its ``messages``; a dataset column goes to the argument of its name
    (``ground_truth``, above all), the others to ``**kwargs``. Options are set with ``functools.partial``.
    A row where a column that it needs is None abstains.

    Args:
        function: a ``@reward_function`` in mode "pointwise", or any function called like one; may be async. It returns
            an EvaluateResult, a dict with "score", or a number. A result with ``error`` has failed; what it raises
            is an error, never a 0.0.
        name: of the component; by default the function's own.

    Raises:
        RewardTypeError: it is no such function.
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        raise RewardTypeError(
            f"from_eval_protocol takes a @reward_function of eval-protocol, got {shorten(function)} "
            f"({type(function).__name__})"
        )
    inner = _innermost(function)
    label = checked_name(name if name is not None else str(getattr(inner, "__name__", type(inner).__name__)))
    parameters = _parameters(function, inner, label)
    if not hashable(function):
        raise RewardTypeError(f"{label} is not hashable, so it cannot be told from other rewards; pass a function")
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
            *(Parameter(column, column) for column in needed),  # so that a missing one is named
            Parameter("prompt", "prompt", default="", keyword_only=True),
        ),
    )
    return Leaf(binding, Contract(label, _UNBOUNDED), f"from_eval_protocol({label})")


def _parameters(function: Callable[..., Any], inner: Any, label: str) -> list[inspect.Parameter]:
    """Those of `function`, checked to be those of a reward function for one completion."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"the signature of {label} cannot be read ({error}); wrap it in a function") from None
    if getattr(inner, "_reward_function_mode", "pointwise") != "pointwise" or "rollouts_messages" in parameters:
        raise RewardTypeError(
            f"{label} scores a batch of rollouts at once; from_eval_protocol takes @reward_function(mode='pointwise'). "
            "Write it as @rk.reward(scope='group') instead"
        )
    if "messages" not in parameters and not any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    ):
        hint = " An @evaluation_test scores rows: pass the function that it calls." if "row" in parameters else ""
        raise RewardTypeError(f"{label} has no argument `messages`, so it is no @reward_function.{hint}")
    return list(parameters.values())


def _innermost(function: Any) -> Any:
    """The function inside of partials and of eval-protocol's own ``RewardFunction``."""
    while isinstance(function, functools.partial) or callable(getattr(function, "func", None)):
        function = function.func
    return function


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
