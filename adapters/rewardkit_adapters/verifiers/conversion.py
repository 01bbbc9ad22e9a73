"""from_verifiers: use a verifiers rubric, task, or reward function as a Reward, with the same numbers.

``rk.from_verifiers(vf.Rubric(funcs=[correct, format], weights=[1.0, 0.2]))`` is ``correct + 0.2 * format``.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import importlib
import inspect
import json
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MethodType
from typing import Any, final, get_origin
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import ValidationError

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.messages import as_messages, content_text
from rewardkit.batch.score import Score
from rewardkit.combine.monitor import monitor
from rewardkit.errors import (
    BindingError,
    CoercionError,
    RewardDefinitionError,
    RewardFailure,
    RewardTypeError,
    near_miss,
    shorten,
)
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.algebra import weighted_sum_of
from rewardkit.tree.binding import Binding, detached, is_async
from rewardkit.tree.evaluation.calls import gathered
from rewardkit.tree.fingerprints import source
from rewardkit.tree.parameters import Scope
from rewardkit.tree.results import InvalidReturn, Raised, ReturnPolicy, check_results, unpacked
from rewardkit.tree.reward import Calls, Evaluation, NodeSpec, Reward, Steps, checked_name

# VerifiersReward: a reward function of verifiers as a leaf of the tree, called with the arguments that it names.


# Run async verifiers functions in the main thread if possible, as verifiers does.


def free_main_thread() -> bool:
    """Return whether this is the main thread and no event loop is running in it. In a notebook, a loop is running."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def run_here(work: Coroutine[Any, Any, Any]) -> Any:
    """Run `work` to completion in this thread. On an interrupt, cancel all tasks that are still running."""
    loop = _loop()
    try:
        return loop.run_until_complete(work)
    except BaseException:
        unfinished = asyncio.all_tasks(loop)
        for task in unfinished:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*unfinished, return_exceptions=True))
        raise


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that all batches share, because a judge client's open connections belong to one loop."""
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


_UNBOUNDED = (-np.inf, np.inf)
_OUTAGES = {"ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "RateLimitError"}
_OUTAGES |= {"InternalServerError", "InfraError"}
"""The names of exception classes for outages, which are not caused by the completion. They include classes from Python,
LLM clients, and verifiers."""

Bound = tuple[Callable[..., Any], dict[str, Any]]
"""A call: the function and its keyword arguments."""


Arguments = Callable[["VerifiersReward", Batch, Sequence[int]], Bound]
"""A function that returns the reward function call for some rows in a batch: for one row, or for all completions for a
prompt."""


@final
@dataclass(frozen=True, eq=False)
class VerifiersReward(Reward):
    """A verifiers reward function. Its values have no declared bounds.

    Attributes:
        grouped: whether one call scores all completions for a prompt.
        owner: the rubric or task that contains the function. Equal functions with the same owner are one reward.
        after: the reward to score before this one, which may read values that the other reward stores in the state.
    """

    function: Callable[..., Any]
    label: str
    arguments: Arguments
    grouped: bool
    owner: object
    after: VerifiersReward | None = field(default=None, repr=False)

    @cached_property
    def facts(self) -> NodeSpec:
        scope: Scope = "group" if self.grouped else "sample"
        return NodeSpec(
            name=self.label,
            bounds=_UNBOUNDED,
            sees=scope,
            together=scope,
            binding=Binding(self.function, (), scope=scope, foreign=True),
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        batch = evaluation.batch
        if self.after is not None:
            yield [(self.after, rows)]
        where: list[int] = np.flatnonzero(rows).tolist()
        parts = [members.tolist() for members in batch.members(rows)] if self.grouped else [[row] for row in where]
        asynchronous = is_async(self.function)
        # In the main thread if possible; otherwise in the background, concurrently with other functions.
        in_main_thread = asynchronous and free_main_thread()
        returned = yield Calls(
            self,
            _await_function if asynchronous else _call_function,
            [self.arguments(self, batch, members) for members in parts],
            [None] * len(parts) if self.grouped else where,
            Binding(_await_function if asynchronous else _call_function, ()),
            make=_run_all if in_main_thread else None,
        )
        if self.grouped:
            lists = zip(returned, parts, strict=True)
            returned = [score for scores, members in lists for score in unpacked(scores, len(members))]
        result = Column.empty(batch.size)
        self._fill(result, [_convert_result(value) for value in returned], where, evaluation)
        return result

    def _fill(self, column: Column, raw: Sequence[Any], where: Sequence[int], evaluation: Evaluation) -> None:
        texts = evaluation.batch.texts
        contract = ReturnPolicy(self.label, _UNBOUNDED, may_abstain=False, on_failure="unscorable", on_error=None)
        checked = check_results(
            raw, contract, evaluation.strict, lambda at, _: f"  row {where[at]}, completion {shorten(texts[where[at]])}"
        )
        column.values[where], column.codes[where] = checked.values, checked.codes
        column.notes.update((where[at], note) for at, note in checked.notes.items())
        for at, parts in checked.parts.items():
            for part, value in parts.items():
                column.parts.setdefault(part, np.full(len(column.values), np.nan))[where[at]] = value
        # Faults have indices among the called rows; convert them to rows of the batch.
        evaluation.faulted([replace(fault, row=where[at]) for at, fault in checked.faults.items()])

    def accepted(self, function: Callable[..., Any], objects: Mapping[str, Any], where: str) -> Bound:
        """Bind `function` as verifiers does: pass the `objects` that it names, or all objects if it has ``**kwargs``.

        Raises:
            BindingError: a required argument is missing from `objects`. verifiers would give a score of 0.0.
        """
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            if parameter.default is parameter.empty and parameter.name not in objects:
                remedy = (
                    " Pass it with a rubric: from_verifiers(vf.Rubric(funcs=[function], parser=parser))."
                    if parameter.name == "parser"
                    else near_miss(parameter.name, objects)
                )
                raise BindingError(
                    f"reward {self.label!r} needs {parameter.name!r}, which neither {where} nor the data has. "
                    f"Available: {', '.join(objects)}.{remedy}"
                )
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return function, dict(objects)
        names = {parameter.name for parameter in parameters}
        return function, {name: value for name, value in objects.items() if name in names}

    def describe(self) -> str:
        """Return the text for the fingerprint. It excludes the owner, which may refer back to the function."""
        function = unwrapped(self.function)
        code = source(function) if inspect.isroutine(function) else type(function).__qualname__
        return f"VerifiersReward({self.label!r}, {self.grouped}, {code})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifiersReward) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        # The function's own equality does not work: `object.method` is a new object each time, and instances may be
        # unhashable.
        if isinstance(self.function, MethodType):
            return self.label, id(self.owner), id(self.function.__self__), id(self.function.__func__)
        return self.label, id(self.owner), id(self.function)

    def __deepcopy__(self, memo: dict[int, Any]) -> VerifiersReward:
        return self

    def __repr__(self) -> str:
        return f"from_verifiers({self.label})"


def _call_function(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    try:
        returned = function(**keywords)
    except Exception as error:
        raise _classify_error(error) from error
    if inspect.isawaitable(returned):
        close = getattr(returned, "close", None)
        if close is not None:
            close()  # otherwise Python warns that it was never awaited
        raise InvalidReturn("returned an awaitable, but is not an async function. Define it with `async def`")
    return returned


async def _await_function(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    try:
        return await function(**keywords)
    except Exception as error:
        raise _classify_error(error) from error


def _run_all(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    results: list[Any] = run_here(gathered(function, calls))
    return results


def _classify_error(error: Exception) -> Exception:
    """Return `error`, or a RewardFailure if a service outage caused it."""
    cause: BaseException | None = error
    while cause is not None:
        if any(kind.__name__ in _OUTAGES for kind in type(cause).__mro__):
            return RewardFailure(f"{type(error).__name__}: {error}")
        cause = cause.__cause__
    return error


def _convert_result(returned: Any) -> Any:
    """Convert a function's result for `check_results`.

    A mapping of scores becomes their sum, with the scores as parts."""
    if returned is None:
        return Raised(InvalidReturn("returned None. Return a number"))
    if isinstance(returned, Mapping) and returned:
        try:
            return Score(float(sum(returned.values())), parts=dict(returned))
        except TypeError:
            return returned
    return returned


def unwrapped(function: Any) -> Any:
    """Return the original function inside any partials."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


# States: a completion in the format that verifiers' reward functions read, shared by the functions of one rubric.


State = dict[str, Any]

INPUT_FIELDS = ("prompt", "answer", "info", "example_id")
"""Columns with a special meaning in verifiers. Functions receive the other columns by name."""

_OPTIONAL = ("content", "reasoning_content", "thinking_blocks", "tool_calls", "tool_call_id", "name")

_STATES: WeakKeyDictionary[Batch, dict[int, dict[int, State]]] = WeakKeyDictionary()
"""Batch -> owner id -> row -> state. A batch's entries are dropped with the batch."""


class ChatMessage(dict[str, Any]):
    """A message that supports ``message["content"]`` and ``message.content``, as in verifiers."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in _OPTIONAL:
            return None
        raise AttributeError(f"this {self.get('role', '')} message has no {name!r}. It has {', '.join(self)}")


def state_of(batch: Batch, row: int, owner: object) -> State:
    """Return the state for one row, which all functions of `owner` share."""
    states = _STATES.setdefault(batch, {}).setdefault(id(owner), {})
    if row not in states:
        states[row] = _make_state(batch, row)
    return states[row]


def messages_of(prompt: Any, role: str, label: str, row: int) -> list[ChatMessage]:
    """Return a prompt or completion as messages. Plain text becomes one message with the given role."""
    if isinstance(prompt, str):
        return [ChatMessage(role=role, content=prompt)]
    messages: Sequence[Mapping[str, Any]] = as_messages(prompt, label, row)
    return [ChatMessage({"role": role, **detached(dict(message))}) for message in messages]


def _make_state(batch: Batch, row: int) -> State:
    columns = {name: detached(value) for name, value in batch.example(row).items()}
    prompt = messages_of(batch.prompts[row] if batch.prompts is not None else None, "user", "prompts", row)
    completion = messages_of(batch.completions[row], "assistant", "completions", row)
    fields = {
        "prompt": prompt,
        "answer": columns.get("answer", ""),
        "info": _info(columns.get("info"), row),
        "example_id": columns.get("example_id", row),
    }
    row_input = {**columns, **fields}
    step: dict[str, Any] = {"prompt": prompt, "completion": completion, "reward": None, "advantage": None, "extras": {}}
    return {
        **fields,
        "input": row_input,
        "task": columns["task"] if columns.get("task") is not None else row_input,
        "completion": completion,
        "trajectory": [step],
        "is_completed": True,
        "is_truncated": False,
        "stop_condition": None,
        "error": None,
        "reward": None,
        "metrics": {},
    }


def _info(info: Any, row: int) -> Any:
    """Return the value of the column "info". If it is a string, it is parsed as JSON."""
    if not isinstance(info, str):
        return {} if info is None else info
    try:
        return json.loads(info)
    except ValueError as error:
        raise CoercionError(
            f"column 'info', row {row}: {shorten(info)} is not JSON ({error}). Store a mapping or JSON text"
        ) from None


# Rubrics: read the functions of ``vf.Rubric`` and ``vf.RubricGroup`` (verifiers up to 0.3) without importing verifiers.


_PLURALS = {"states", "prompts", "completions", "answers", "tasks", "infos"}
"""Argument names that indicate in verifiers that a function scores a group."""


@final
@dataclass(frozen=True, eq=False)
class RubricArguments:
    """The call arguments that a function's rubric passes. Without a rubric, they are those of a plain ``vf.Rubric``.

    Attributes:
        rubric: the rubric, or None for a single function.
        owner: the outermost rubric, whose functions share their states.
    """

    rubric: Any
    owner: object

    def __call__(self, reward: VerifiersReward, batch: Batch, rows: Sequence[int]) -> Bound:
        states = [state_of(batch, row, self.owner) for row in rows]
        if reward.grouped:
            builder = getattr(self.rubric, "group_score_objects", None)
            objects = builder(states) if builder else self._plurals(states)
        else:
            objects = self._objects(states[0])
        return reward.accepted(reward.function, objects, "verifiers" if self.rubric is None else "its rubric")

    def _objects(self, state: State) -> Mapping[str, Any]:
        builder = getattr(self.rubric, "score_objects", None)
        if builder is not None:  # verifiers 0.1.14 has it, 0.1.8 does not
            objects: Mapping[str, Any] = builder(state)
            return objects
        fields = {name: value for name, value in state["input"].items() if name not in INPUT_FIELDS}
        if isinstance(state["task"], Mapping):
            fields.update(state["task"])
        named = {name: state[name] for name in ("prompt", "completion", "answer", "info")}
        return {**fields, **named, "state": state, **self._shared, "task": state["task"]}

    def _plurals(self, states: Sequence[State]) -> Mapping[str, Any]:
        singular = {"prompts": "prompt", "completions": "completion", "answers": "answer", "tasks": "task"}
        lists = {plural: [state[name] for state in states] for plural, name in singular.items()}
        return {**lists, "infos": [state["info"] for state in states], "states": list(states), **self._shared}

    @property
    def _shared(self) -> dict[str, Any]:
        parser = getattr(self.rubric, "parser", None)
        return {**({} if parser is None else {"parser": parser}), **(getattr(self.rubric, "class_objects", None) or {})}


def is_rubric(value: Any) -> bool:
    """Return whether `value` has weighted functions or contains rubrics."""
    return not isinstance(value, type) and (
        hasattr(value, "rubrics") or (_functions_of(value) is not None and _weights_of(value) is not None)
    )


def rubric_functions(rubric: Any) -> Iterator[tuple[float, Callable[..., Any], RubricArguments]]:
    """Yield (weight, function, arguments) for every function. For a group, proceed rubric by rubric.

    Raises:
        RewardTypeError: a rubric class overrides a scoring method.
    """
    for part in _parts(rubric):
        functions, weights = list(_functions_of(part)), list(_weights_of(part))
        if len(functions) != len(weights):
            raise RewardDefinitionError(
                f"this {type(part).__name__} has {len(functions)} functions and {len(weights)} weights. "
                "Give each function one weight"
            )
        for function, weight in zip(functions, weights, strict=True):
            yield float(weight), function, RubricArguments(part, rubric)


def _parts(rubric: Any) -> Iterator[Any]:
    method = _own_scoring(rubric)
    if method is not None:
        raise RewardTypeError(
            f"{type(rubric).__name__} overrides {method}, so its functions and weights do not determine its scores. "
            "Write its scoring as an @rk.reward function"
        )
    if hasattr(rubric, "rubrics"):
        for part in rubric.rubrics:  # a group itself has no functions, only rubrics
            yield from _parts(part)
    elif is_rubric(rubric):
        yield rubric
    else:
        raise RewardTypeError(
            f"a rubric group contains {shorten(rubric)} ({type(rubric).__name__}), which is not a rubric"
        )


def _functions_of(rubric: Any) -> Any:
    """Return ``funcs``, which is called ``reward_funcs`` in verifiers 0.1.3."""
    return getattr(rubric, "funcs", getattr(rubric, "reward_funcs", None))


def _weights_of(rubric: Any) -> Any:
    return getattr(rubric, "weights", getattr(rubric, "reward_weights", None))


def _own_scoring(rubric: Any) -> str | None:
    """Return the scoring method that a subclass of a verifiers rubric overrides, or None if there is none."""
    for kind in type(rubric).__mro__:
        if kind.__name__ in ("Rubric", "RubricGroup"):
            return None
        for method in ("score_rollout", "score_group"):
            if method in vars(kind):
                return method
    return None


def scores_groups(function: Callable[..., Any]) -> bool:
    """Return whether verifiers would call `function` with a group: it has plural arguments or returns a list."""
    signature = inspect.signature(function)
    returned = signature.return_annotation
    return bool(_PLURALS & signature.parameters.keys()) or returned is list or get_origin(returned) is list


def reads_state(function: Callable[..., Any]) -> bool:
    """Return whether `function` may read values that other functions stored in the state."""
    parameters = inspect.signature(function).parameters
    names_state = bool({"state", "states"} & parameters.keys())
    return names_state or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


# Tasks: the rewards and metrics of a ``verifiers.v1.Task``, which has replaced rubrics since verifiers 0.4.


_ROLLOUTS: WeakKeyDictionary[Batch, dict[int, dict[int, Rollout]]] = WeakKeyDictionary()
"""Batch -> prototype id -> row -> rollout for the row."""


@dataclass(frozen=True)
class Signal:
    """A task signal: a reward (with its weight), a metric (weight 0), or a judge."""

    name: str
    weight: float
    function: Callable[..., Any]
    is_metric: bool


@final
@dataclass(frozen=True)
class Rollout:
    """The task and the trace for one row, and the task's functions by name."""

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
class TaskArguments:
    """The call arguments for the signal `name`: the task and the trace for each row."""

    prototype: Any
    name: str
    is_metric: bool

    def __call__(self, reward: VerifiersReward, batch: Batch, rows: Sequence[int]) -> Bound:
        (row,) = rows  # tasks score one trace at a time
        rollouts = _ROLLOUTS.setdefault(batch, {}).setdefault(id(self.prototype), {})
        if row not in rollouts:
            rollouts[row] = Rollout.of(self.prototype, batch, row)
        rollout = rollouts[row]
        objects = {"task": rollout.task.data, "trace": rollout.trace}
        function, keywords = reward.accepted(rollout.functions[self.name], objects, "the task")
        return (_Recorded(function, rollout.trace, self.name) if self.is_metric else function), keywords


@dataclass(frozen=True)
class _Recorded:
    """A metric whose value is also stored in the trace, so that rewards can read it."""

    function: Callable[..., Any]
    trace: Any
    name: str

    async def __call__(self, **keywords: Any) -> Any:
        value = await self.function(**keywords)
        self.trace.record_metrics(value if isinstance(value, Mapping) else {self.name: value})
        return value


def is_task(value: Any) -> bool:
    """Return whether `value` is a task or a task class."""
    return all(hasattr(value, name) for name in ("data_type", "hooks", "plugged_judges"))


def prototype_of(task: Any) -> Any:
    """Return a task from which the tasks for the rows can be created."""
    if not isinstance(task, type):
        return task
    try:
        return task(None)
    except Exception as error:
        raise RewardTypeError(f"{task.__name__} cannot be created without data ({error}). Pass an instance") from error


def signals(task: Any) -> list[Signal]:
    """Return a task's metrics, rewards, and judges, in the order in which the task runs them.

    Raises:
        RewardDefinitionError: a signal requires a rollout's runtime.
    """
    task_signals = [Signal(function.__name__, 0.0, function, True) for function in task.hooks("metric")]
    for function in task.hooks("reward"):
        # verifiers' decorator stores the weight only in this attribute.
        task_signals.append(Signal(function.__name__, float(getattr(function, "_vf_weight", 1.0)), function, False))
    for judge in task.plugged_judges():
        task_signals.append(Signal(judge.reward_name, float(judge.config.weight), judge.score, False))
    for signal in task_signals:
        runtime = inspect.signature(signal.function).parameters.get("runtime")
        if runtime is not None and runtime.default is runtime.empty:
            raise RewardDefinitionError(
                f"{type(task).__name__}.{signal.name} needs a rollout's runtime, but a completion "
                "has no runtime. Score it in verifiers"
            )
    return task_signals


def _task(prototype: Any, batch: Batch, row: int) -> Any:
    """Return the task for one row. Its data model is filled from the columns and coerces their values."""
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
    """Return a finished trace with the prompt and the completion, whose assistant messages are marked as sampled."""
    verifiers = importlib.import_module("verifiers.v1")
    prompt = batch.prompts[row] if batch.prompts is not None else None
    prompt_messages = _messages(prompt, "user", "prompts", row)
    completion_messages = _messages(batch.completions[row], "assistant", "completions", row)
    nodes = [
        verifiers.MessageNode(
            parent=index - 1 if index else None,
            message=message,
            sampled=index >= len(prompt_messages) and message["role"] == "assistant",
        )
        for index, message in enumerate([*prompt_messages, *completion_messages])
    ]
    agent = verifiers.AgentInfo(config=verifiers.AgentConfig())
    trace_task = verifiers.TraceTask(type=type(task).__name__, data=task.data)
    return verifiers.Trace(task=trace_task, agent=agent, nodes=nodes)


def _messages(value: Any, role: str, label: str, row: int) -> list[dict[str, Any]]:
    """Return messages in verifiers' format, with plain text and flat tool calls."""
    messages = []
    for index, message in enumerate(messages_of(value, role, label, row)):
        converted = dict(message)
        if converted["role"] == "assistant":
            converted["content"] = content_text(converted.get("content"))
        calls = converted.get("tool_calls")
        if calls:
            converted["tool_calls"] = [
                {"id": f"call_{index}_{at}", **call, **call.get("function", {})} for at, call in enumerate(calls)
            ]
        messages.append(converted)
    return messages


Weighted = Iterator[tuple[float, VerifiersReward]]


def from_verifiers(rubric_or_function: Any, name: str | None = None) -> Reward:
    """Turn a verifiers rubric, task, or reward function into a Reward.

    ``rk.from_verifiers(vf.Rubric(funcs=[correct, format], weights=[1.0, 0.2]))`` scores a completion 1.2 if both
    functions return 1.0.

    A rubric becomes the weighted sum of its functions, each of which becomes a component with the function's name.
    Functions with weight 0 are monitored. The functions receive the same arguments as in verifiers: prompt, completion
    (as messages), answer, info, state, task, parser, and columns by name. An exception in a function is an error,
    whereas verifiers would give a score of 0.0.

    ::

        reward = rk.gate(when=rk.tags("think"), then=rk.from_verifiers(rubric))

    Args:
        rubric_or_function: a ``vf.Rubric``, a ``vf.RubricGroup``, or an environment with a rubric (verifiers 0.3 and
            earlier); a ``verifiers.v1.Task`` or a task class (verifiers 0.4), whose data model is filled from the
            columns; or a single function, sync or async. A function with plural arguments (completions, answers) scores
            all completions for a prompt in one call.
        name: the component's name. A rubric or task with a name becomes a single component.

    Raises:
        RewardTypeError: `rubric_or_function` is not one of these objects.
        RewardDefinitionError: there are no functions, or a function requires more data than a finished completion.
    """
    wrapped = rubric_or_function
    if is_task(wrapped):
        reward = _sum_rewards(_convert_task(prototype_of(wrapped)), wrapped)
    elif is_rubric(wrapped):
        reward = _sum_rewards(_convert_rubric(wrapped), wrapped)
    elif is_rubric(getattr(wrapped, "rubric", None)):
        reward = _sum_rewards(_convert_rubric(wrapped.rubric), wrapped)
    else:
        return _convert_function(wrapped, name)
    return reward if name is None else reward.named(name)


def _convert_rubric(rubric: Any) -> Weighted:
    functions = list(rubric_functions(rubric))
    labels = _distinct(name_of(function) for _, function, _ in functions)
    last: VerifiersReward | None = None
    for (weight, function, binding), label in zip(functions, labels, strict=True):
        # verifiers runs the functions in order, and each may leave values in the state for the next.
        shares_state = reads_state(function)
        grouped = scores_groups(function)
        reward = VerifiersReward(
            function, checked_name(label), binding, grouped, rubric, last if shares_state else None
        )
        last = reward if shares_state else last
        yield weight, reward


def _convert_task(prototype: Any) -> Weighted:
    last: VerifiersReward | None = None
    for signal in signals(prototype):
        binding = TaskArguments(prototype, signal.name, signal.is_metric)
        # Rewards may read the metrics in the trace.
        reward = VerifiersReward(signal.function, checked_name(signal.name), binding, False, prototype, last)
        last = reward if signal.is_metric else last
        yield signal.weight, reward


def _convert_function(function: Callable[..., Any], name: str | None) -> Reward:
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        hint = ""
        if isinstance(function, type):
            hint = f" Pass an instance: from_verifiers({function.__name__}(...))"
        raise RewardTypeError(
            f"from_verifiers: expected a rubric, a task, or a reward function from verifiers, got {shorten(function)} "
            f"({type(function).__name__}).{hint}"
        )
    label = checked_name(name if name is not None else name_of(function))
    try:
        inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"cannot read the signature of {label} ({error}). Wrap it in a function") from None
    return VerifiersReward(function, label, RubricArguments(None, function), scores_groups(function), function)


def _sum_rewards(weighted: Iterable[tuple[float, VerifiersReward]], wrapped: object) -> Reward:
    """Return the weighted sum of the rewards. Rewards with weight 0 are monitored."""
    items = [(weight or 1.0, reward if weight else monitor(reward)) for weight, reward in weighted]
    if not items:
        raise RewardDefinitionError(f"this {type(wrapped).__name__} has no reward function. Add one before wrapping it")
    return weighted_sum_of(items)


def _distinct(names: Iterable[str]) -> list[str]:
    """Return `names` with numbers appended to repeated names, such as format, format_2."""
    counts: dict[str, int] = {}
    distinct_names = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        distinct_names.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return distinct_names


def name_of(function: Callable[..., Any]) -> str:
    """Return the name that verifiers uses for `function`."""
    function = unwrapped(function)
    return str(getattr(function, "__name__", type(function).__name__))
