"""from_trl: any TRL reward function as a Reward, with the same numbers.

``rk.from_trl(trl.rewards.think_format_reward)`` can be weighted, gated and logged like any other. The function sees
the whole batch in TRL's own form: raw completions and prompts, all columns, trainer_state, log_metric and log_extra.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from types import MethodType
from typing import Any, final

import numpy as np

from rewardkit.core import observing
from rewardkit.core.algebra import Reward, checked_name
from rewardkit.core.batch import Batch
from rewardkit.core.binding import detached, lacking
from rewardkit.core.calling import Contract, awaited, call_each, check_results, unpacked
from rewardkit.core.errors import RewardTypeError, near_miss, shorten
from rewardkit.core.outcome import Column, Rows
from rewardkit.core.progress import Bounds, Schedule
from rewardkit.core.scoring import Scoring

_UNBOUNDED = (-np.inf, np.inf)
_TRAINERS_WORDS = ("completions", "prompts", "completion_ids", "trainer_state", "log_extra", "log_metric")
"""What every function of TRL is given."""


@final
@dataclass(frozen=True, eq=False)
class TrlReward(Reward):
    """A TRL reward function over the whole batch; None and NaN abstain, as they do in TRL."""

    function: Callable[..., Any]
    label: str

    @property
    def name(self) -> str:
        return self.label

    @property
    def bounds(self) -> Bounds:
        return _UNBOUNDED

    def reach(self, batch: Batch, rows: Rows) -> Rows:
        return np.ones_like(rows)

    def check(self, batch: Batch) -> None:
        known = {*_TRAINERS_WORDS, *batch.context, *batch.columns}
        for parameter in self._parameters:
            starred = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            if parameter.default is parameter.empty and not starred and parameter.name not in known:
                raise lacking(self.label, parameter.name, batch, near_miss(parameter.name, known))

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        batch = scoring.batch
        keywords = self._accepted(_keywords(batch))
        asynchronous = is_async(self.function)
        if not asynchronous:
            await scoring.turn()
        function, calls = observing.watched(
            _awaiting if asynchronous else _calling,
            [(self.function, keywords)],
            self.label,
            [None],
            asynchronous=asynchronous,
        )
        started = time.perf_counter()
        if asynchronous:
            (call,) = calls
            returned = await scoring.background(awaited(function, call, None))
        else:
            (returned,) = call_each(function, calls, 1)
        scoring.timed(self, time.perf_counter() - started)
        raw = [None if value is not None and _is_nan(value) else value for value in unpacked(returned, batch.size)]
        contract = Contract(self.label, _UNBOUNDED, may_abstain=True, on_failure="unscorable", on_error=None)
        results = check_results(
            raw, contract, scoring.strict, lambda row: f"  row {row}, completion {shorten(batch.texts[row])}"
        )
        scoring.faulted(list(results.faults.values()))
        return Column(results.values, results.codes, results.notes)

    def _accepted(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keywords that the function takes: all of them with ``**kwargs``, as TRL asks."""
        parameters = self._parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return keywords
        taken = {parameter.name for parameter in parameters}
        return {name: value for name, value in keywords.items() if name in taken}

    @property
    def _parameters(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self.function).parameters.values())
        except ValueError:  # compiled code without a readable signature
            return [inspect.Parameter("anything", inspect.Parameter.VAR_KEYWORD)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrlReward) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        # Not the function's own equality: instances of dataclasses are unhashable, tensors compare by element.
        if isinstance(self.function, MethodType):  # made anew at every `object.method`
            return self.label, id(self.function.__self__), id(self.function.__func__)
        return self.label, id(self.function)

    def __deepcopy__(self, memo: dict[int, Any]) -> TrlReward:
        return self

    def __repr__(self) -> str:
        return f"from_trl({self.label})"


def _keywords(batch: Batch) -> dict[str, Any]:
    """What TRL would pass, as copies that the function may change."""
    keywords: dict[str, Any] = {"trainer_state": None, "log_extra": _ignore, "log_metric": _ignore, **batch.context}
    keywords |= {name: detached(values) for name, values in batch.columns.items()}
    keywords["completions"] = detached(batch.completions)
    keywords["prompts"] = detached(batch.prompts) if batch.prompts is not None else [""] * batch.size
    keywords["completion_ids"] = detached(batch.completion_ids)
    return keywords


def _calling(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    return _listed(function(**keywords))


async def _awaiting(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    return _listed(await function(**keywords))


def _listed(returned: Any) -> Any:
    """Generators and other iterables as a list, as TRL takes them; what iterates over no scores stays what it is."""
    if isinstance(returned, (str, bytes, Mapping, Set)) or hasattr(returned, "tolist"):
        return returned
    return list(returned) if isinstance(returned, Iterable) else returned


def _ignore(*_: object) -> None:
    """Stands in for log_metric and log_extra outside of training."""


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except Exception:
        return False


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine, for functions, partials and objects with an async ``__call__``."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def from_trl(function: Callable[..., Any], name: str | None = None) -> Reward:
    """A TRL reward function as a Reward: ``0.5 * rk.from_trl(think_format_reward) + closeness``.

    Args:
        function: takes ``completions`` and, if it wants, ``prompts``, ``completion_ids``, columns and ``**kwargs``;
            returns a list of numbers, None or NaN where it does not apply. May be async.
        name: of the component; by default what TRL calls it.

    Raises:
        RewardTypeError: it is no function (reward models go beside the list: ``rk.to_trl(reward) + [model]``).
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function) or is_model(function):
        raise RewardTypeError(
            f"from_trl takes a TRL reward function, got {shorten(function)} ({type(function).__name__}). "
            "A reward model goes beside the list: rk.to_trl(reward) + [model]"
        )
    return TrlReward(function, checked_name(name if name is not None else name_of(function)))


def is_model(value: object) -> bool:
    """Whether it is a torch module, asked without torch."""
    return hasattr(value, "forward") and hasattr(value, "state_dict")


def name_of(function: Callable[..., Any]) -> str:
    """What TRL calls it."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
