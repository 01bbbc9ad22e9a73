"""Tasks: the rewards and metrics of a ``verifiers.v1.Task``, which replaces rubrics since verifiers 0.4.

Each row of the data is put into the task's data model, and each completion becomes a trace, as at the end of a rollout.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.messages import content_text
from rewardkit.core.errors import CoercionError, RewardDefinitionError, RewardTypeError
from rewardkit.core.tree.binding import detached
from rewardkit_verifiers.reward import Arguments, Bound, VerifiersReward
from rewardkit_verifiers.states import messages_of

_ROLLOUTS: WeakKeyDictionary[Batch, dict[int, dict[int, Rollout]]] = WeakKeyDictionary()
"""Batch -> id of the prototype -> row -> its rollout."""


@dataclass(frozen=True)
class Signal:
    """A reward (with its weight), a metric (weight 0), or a judge of a task."""

    name: str
    weight: float
    function: Callable[..., Any]
    is_metric: bool


@final
@dataclass(frozen=True)
class Rollout:
    """The task of one row, its trace, and the functions of the task by name."""

    task: Any
    trace: Any
    functions: Mapping[str, Callable[..., Any]]

    @classmethod
    def of(cls, prototype: Any, batch: Batch, row: int) -> Rollout:
        task = _task(prototype, batch, row)
        functions = {signal.name: signal.function for signal in signals(task)}
        return cls(task, _trace(task, batch, row), functions)


@final
@dataclass(frozen=True, eq=False)
class TaskArguments(Arguments):
    """Call the signal `name` on the task of each row."""

    prototype: Any
    name: str
    is_metric: bool

    def sample(self, reward: VerifiersReward, batch: Batch, row: int) -> Bound:
        rollouts = _ROLLOUTS.setdefault(batch, {}).setdefault(id(self.prototype), {})
        if row not in rollouts:
            rollouts[row] = Rollout.of(self.prototype, batch, row)
        rollout = rollouts[row]
        given = {"task": rollout.task.data, "trace": rollout.trace}
        function, keywords = reward.accepted(rollout.functions[self.name], given, "the task")
        return (_Recorded(function, rollout.trace, self.name) if self.is_metric else function), keywords

    def group(self, reward: VerifiersReward, batch: Batch, rows: Sequence[int]) -> Bound:
        raise NotImplementedError("tasks score one trace at a time")


@dataclass(frozen=True)
class _Recorded:
    """A metric that is also recorded on its trace, so that rewards can read it."""

    function: Callable[..., Any]
    trace: Any
    name: str

    async def __call__(self, **keywords: Any) -> Any:
        value = await self.function(**keywords)
        self.trace.record_metrics(value if isinstance(value, Mapping) else {self.name: value})
        return value


def is_task(value: Any) -> bool:
    """Return whether `value` is a task, or a class of tasks."""
    return all(hasattr(value, name) for name in ("data_type", "hooks", "plugged_judges"))


def prototype_of(task: Any) -> Any:
    """Return a task from which the tasks of the rows are made."""
    if not isinstance(task, type):
        return task
    try:
        return task(None)
    except Exception as error:
        raise RewardTypeError(f"{task.__name__} cannot be created without data ({error}); pass an instance") from error


def signals(task: Any) -> list[Signal]:
    """Return the metrics, rewards and judges of a task, in the order in which it runs them.

    Raises:
        RewardDefinitionError: one of them needs the runtime of a rollout.
    """
    found = [Signal(function.__name__, 0.0, function, True) for function in task.hooks("metric")]
    for function in task.hooks("reward"):
        found.append(Signal(function.__name__, float(getattr(function, "_vf_weight", 1.0)), function, False))
    for judge in task.plugged_judges():
        found.append(Signal(judge.reward_name, float(judge.config.weight), judge.score, False))
    for signal in found:
        runtime = inspect.signature(signal.function).parameters.get("runtime")
        if runtime is not None and runtime.default is runtime.empty:
            raise RewardDefinitionError(
                f"{type(task).__name__}.{signal.name} needs the runtime of a rollout, which a completion lacks. "
                "Score it in verifiers"
            )
    return found


def _task(prototype: Any, batch: Batch, row: int) -> Any:
    """Return the task of one row, with the columns in its data model, which coerces them."""
    prompt = batch.prompts[row] if batch.prompts is not None else None
    columns = {name: detached(value) for name, value in batch.example(row).items()}
    if prompt is not None:
        columns["prompt"] = prompt if isinstance(prompt, str) else _messages(prompt, "user", "prompts", row)
    model = prototype.data_type()
    try:
        data = model(**columns)
    except ValidationError as error:
        raise CoercionError(f"row {row} does not fit {model.__name__}: {error}") from error
    return type(prototype)(data, prototype.config)


def _trace(task: Any, batch: Batch, row: int) -> Any:
    """Return a finished trace: the prompt, then the completion, whose assistant messages are sampled."""
    verifiers = importlib.import_module("verifiers.v1")
    prompt = batch.prompts[row] if batch.prompts is not None else None
    asked = _messages(prompt, "user", "prompts", row)
    said = _messages(batch.completions[row], "assistant", "completions", row)
    nodes = [
        verifiers.MessageNode(
            parent=place - 1 if place else None,
            message=message,
            sampled=place >= len(asked) and message["role"] == "assistant",
        )
        for place, message in enumerate([*asked, *said])
    ]
    agent = verifiers.AgentInfo(config=verifiers.AgentConfig())
    described = verifiers.TraceTask(type=type(task).__name__, data=task.data)
    return verifiers.Trace(task=described, agent=agent, nodes=nodes)


def _messages(value: Any, role: str, what: str, row: int) -> list[dict[str, Any]]:
    """Return messages in verifiers' format: plain text and flat tool calls."""
    found = []
    for place, message in enumerate(messages_of(value, role, what, row)):
        own = dict(message)
        if own["role"] == "assistant":
            own["content"] = content_text(own.get("content"))
        calls = own.get("tool_calls")
        if calls:
            own["tool_calls"] = [
                {"id": f"call_{place}_{at}", **call, **call.get("function", {})} for at, call in enumerate(calls)
            ]
        found.append(own)
    return found
