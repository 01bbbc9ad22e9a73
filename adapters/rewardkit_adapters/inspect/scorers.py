"""from_inspect: use an inspect_ai scorer as a Reward.

``rk.from_inspect(match(numeric=True))`` can be weighted, gated, checked, and logged like any other reward. The scorer
receives a TaskState, which is created from the row, and a Target.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, final

import cloudpickle

from rewardkit.batch.messages import as_messages, content_text
from rewardkit.batch.score import Score
from rewardkit.errors import RewardFailure, RewardTypeError, RunStopped, hashable, shorten, shorten_line
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.binding import Binding, is_async, name_of
from rewardkit.tree.decorator import policy_number
from rewardkit.tree.fingerprints import described, source
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import ON_ERROR_REMEDY, Abstention, InvalidReturn, Raised, ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import Choices, Solver, TaskState


# Convert chat messages in OpenAI's format to inspect_ai messages: the reverse of ``messages.chat``.


Message = Mapping[str, Any]

_OF_INSPECT = ("image", "audio", "video", "document", "data", "tool_use")
"""Content types that inspect_ai defines. Parts with these types are kept unchanged."""
_THINKING = ("thinking", "reasoning", "reasoning_text")


def conversation(messages: Iterable[Message], source: str) -> list[Any]:
    """Convert chat messages to inspect_ai messages.

    Args:
        source: the origin of assistant messages: ``"input"`` for a prompt, ``"generate"`` for a completion.
    """
    return [_convert_message(message, source) for message in messages]


def _convert_message(message: Message, source: str) -> Any:
    from inspect_ai import model

    role = message.get("role", "assistant")
    content = _content(message)
    if role == "assistant":
        calls = [_call(call, index) for index, call in enumerate(message.get("tool_calls") or ())]
        return model.ChatMessageAssistant(content=content, source=source, tool_calls=calls or None)
    if role in ("tool", "function"):
        return model.ChatMessageTool(
            content=content,
            tool_call_id=message.get("tool_call_id"),
            function=message.get("name"),
            error=_error(message),
        )
    if role in ("system", "developer"):
        return model.ChatMessageSystem(content=content, source="input" if source == "input" else None)
    return model.ChatMessageUser(content=content, source="input" if source == "input" else None)


def _content(message: Message) -> Any:
    content = message.get("content")
    thinking = message.get("reasoning_content")
    if not isinstance(content, (list, tuple)):
        text = "" if content is None else content_text(content)
        if not thinking:
            return text
        content = [text]
    parts = [part for part in map(_part, content) if part is not None]
    return [{"type": "reasoning", "reasoning": str(thinking)}, *parts] if thinking else parts


def _part(part: Any) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return None
    kind = part.get("type")
    if kind == "image_url":
        image = part.get("image_url")
        return {"type": "image", "image": image.get("url") if isinstance(image, Mapping) else image}
    if kind in _THINKING:
        reasoning = next((part[name] for name in (kind, "thinking", "reasoning", "text") if part.get(name)), "")
        return {"type": "reasoning", "reasoning": str(reasoning)}
    if kind in _OF_INSPECT:
        return dict(part)
    return {"type": "text", "text": part["text"]} if isinstance(part.get("text"), str) else None


def _call(call: Message, index: int) -> Any:
    from inspect_ai.tool import ToolCall

    function = call.get("function")
    body = function if isinstance(function, Mapping) else call
    name = body.get("name") or (function if isinstance(function, str) else "")
    raw_arguments = body.get("arguments")
    arguments, fault = raw_arguments, None
    if isinstance(raw_arguments, str):
        try:
            arguments = json.loads(raw_arguments or "{}")
        except (ValueError, RecursionError):
            fault = raw_arguments
    if not isinstance(arguments, Mapping):
        arguments, fault = {}, fault or f"the arguments are not an object: {raw_arguments!r}"
    return ToolCall(
        id=str(call.get("id") or f"call_{index}"), function=str(name), arguments=dict(arguments), parse_error=fault
    )


def _error(message: Message) -> Any:
    from inspect_ai.tool import ToolCallError

    return ToolCallError("unknown", content_text(message.get("content"))) if message.get("is_error") else None


# Convert inspect_ai scores to rewardkit scores: ``Score(value="C", answer="4")`` is
# ``rk.Score(1.0, note="answer: '4'")``.


Pick = str | int | Callable[[Any], Any] | None
"""The rule for selecting a number from a score's value: a key, an index, or a function of the value."""

# inspect_ai's own values: correct, partial, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_INSTRUMENT = ("grader_failed", "scoring_failed")
"""Reasons for a missing score that are not the completion's fault, because the score could not be computed."""


def convert_score(score: Any, pick: Pick, completion: str) -> Any:
    """Convert an inspect_ai score. A score without a value becomes an abstention.

    Raises:
        RewardFailure: the score could not be computed.
        InvalidReturn: the value is not a number, or it contains several numbers and `pick` does not select one.
    """
    if score is None:
        return Abstention("the scorer returned no score")
    reason = getattr(score, "reason", None) or (getattr(score, "metadata", None) or {}).get("unscored_reason")
    note = _note(score, reason, completion)
    value = _pick_value(score.value, pick)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if reason in _INSTRUMENT:
            raise RewardFailure(note or str(reason))
        return Abstention(note or "unscored")
    return Score(number(value), note, _parts(score.value))


def number(value: Any) -> float:
    """Convert a value to a number as inspect_ai's metrics do: ``"C"`` and ``"yes"`` become 1.0, ``"P"`` becomes 0.5."""
    converted = _number(value)
    if converted is None:
        raise InvalidReturn(
            f"returned the value {shorten(value)}, which inspect_ai's metrics cannot convert to a number",
            "Pass a function that converts it: rk.from_inspect(scorer, value={'A': 1.0, 'B': 0.0}.get)",
        )
    return converted


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        if value in _LETTERS:
            return _LETTERS[value]
        text = value.lower()
        if text in _WORDS:
            return _WORDS[text]
        try:
            parsed_number = float(text)
        except ValueError:
            return None
        return parsed_number if math.isfinite(parsed_number) else None
    return float(value) if isinstance(value, Real) else None


def _pick_value(value: Any, pick: Pick) -> Any:
    if callable(pick):
        return pick(value)
    if isinstance(value, Mapping):
        keys, description = list(value), "a dict with the keys"
    elif isinstance(value, (list, tuple)):
        keys, description = list(range(len(value))), "a list with the indices"
    elif pick is None:
        return value
    else:
        raise InvalidReturn(
            f"returned the value {shorten(value)}, but value={pick!r} selects nothing from it", "Drop value="
        )
    if pick is None and len(keys) == 1:
        pick = keys[0]
    if pick not in keys:
        raise InvalidReturn(
            f"returned {description} {shorten(keys)}, "
            + ("but none of them is selected" if pick is None else f"but not {pick!r}"),
            f"Pass value={keys[0]!r}, another one of them, or a function of the value" if keys else "",
        )
    return value[pick]


def _parts(value: Any) -> dict[str, float]:
    entries = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    )
    numbers = {str(name): _number(item) for name, item in entries}
    return {name: item for name, item in numbers.items() if item is not None and math.isfinite(item)}


def _note(score: Any, reason: Any, completion: str) -> str:
    """Return the answer, the reason, and the explanation in one line, except strings that repeat the completion."""
    remarks = []
    if score.answer and score.answer.strip() != completion.strip():
        remarks.append(f"answer: {shorten(score.answer, 60)}")
    if reason:
        remarks.append(str(reason))
    if score.explanation and score.explanation.strip() != completion.strip():
        remarks.append(shorten_line(score.explanation))
    return "; ".join(remarks)


# Build the TaskState that an inspect_ai scorer reads from a completion and its row.


_MODEL = "none/none"
_FIELDS = ("id", "epoch", "choices", "metadata", "stop_reason")
"""Columns that are fields of a sample. All other columns become its metadata."""


async def state_of(
    prompt: Any, completion: Sequence[Mapping[str, Any]], row: Mapping[str, Any], target: Target
) -> TaskState:
    """Return a sample's state after the completion.

    Args:
        prompt: a string or a list of messages.
        completion: a list of messages.
        row: the columns of the dataset row.
    """
    from inspect_ai.model import ModelName
    from inspect_ai.solver import TaskState

    prompt_messages = conversation(_prompt(prompt), "input")
    completion_messages = conversation(completion, "generate")
    output = _output(completion_messages, row.get("stop_reason"))
    state = TaskState(
        model=ModelName(_MODEL),
        sample_id=row.get("id", 1),
        epoch=row.get("epoch") or 1,
        input=prompt if isinstance(prompt, str) else list(prompt_messages),
        messages=[*prompt_messages, *completion_messages],
        target=target,
        output=output,
        completed=True,
        metadata=_metadata(row),
    )
    choices = texts(row.get("choices"))
    if choices:
        state.choices = await _mark_choices(choices, output, several=len(letters(target)) > 1)
    return state


def texts(cell: Any) -> list[str]:
    """Return a target or choices as a list of strings. The list is empty for None and NaN."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return []
    listed = cell.tolist() if hasattr(cell, "tolist") else cell
    return [str(item) for item in listed] if isinstance(listed, (list, tuple)) else [str(listed)]


def letters(target: Sequence[str]) -> list[str]:
    """Return the letters of the correct choices. ``["A, C"]`` and ``["A", "C"]`` both result in two letters."""
    tokens = [token for text in target for token in text.replace(",", " ").split()]
    return [letter for token in tokens for letter in ([token] if token.isnumeric() else token)]


def _prompt(prompt: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}] if prompt else []
    return as_messages(prompt, "prompts", 0)


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata")
    if isinstance(metadata, str):  # stored as JSON text, so that Arrow does not change it
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            metadata = None
    extras = {name: cell for name, cell in row.items() if name not in _FIELDS}
    return {**extras, **metadata} if isinstance(metadata, Mapping) else extras


def _output(completion_messages: Sequence[Any], stop_reason: Any) -> ModelOutput:
    from inspect_ai.model import ChatCompletionChoice, ModelOutput

    assistant_messages = [message for message in completion_messages if message.role == "assistant"]
    if not assistant_messages:
        return ModelOutput(model=_MODEL)
    reason = stop_reason if isinstance(stop_reason, str) else "stop"
    return ModelOutput(model=_MODEL, choices=[ChatCompletionChoice(message=assistant_messages[-1], stop_reason=reason)])


async def _mark_choices(choices: list[str], output: ModelOutput, *, several: bool) -> Choices:
    """Return the choices, marked as the solver ``multiple_choice`` would mark them for this output."""
    from inspect_ai.model import ChatMessageUser, ModelName
    from inspect_ai.solver import TaskState

    question = ChatMessageUser(content="?")
    state = TaskState(ModelName(_MODEL), 1, 1, "?", [question], choices=choices)

    async def generated(state: TaskState, *_: Any, **__: Any) -> TaskState:
        state.output = output
        return state

    return (await _solver(several)(state, generated)).choices


@functools.cache
def _solver(several: bool) -> Solver:
    from inspect_ai.solver import multiple_choice

    return multiple_choice(multiple_correct=several)


# The environment of a sample in inspect_ai: a store for each sample, and no sandbox.


class NoSandbox(Mapping[str, Any]):
    """An empty replacement for a sample's sandboxes that records whether the scorer requested one.

    The record is necessary because some scorers score a missing sandbox as an incorrect answer.
    """

    def __init__(self) -> None:
        self.asked = False

    def __len__(self) -> int:
        self.asked = True
        return 0

    def __iter__(self) -> Iterator[str]:
        self.asked = True
        return iter(())

    def __getitem__(self, name: str) -> Any:
        self.asked = True
        raise KeyError(name)


def surround(state: Any) -> NoSandbox:
    """Make ``store()`` return `state`'s store, and ``sandbox()`` use the returned empty set of sandboxes."""
    # inspect_ai's own runner sets up its scorers with these two calls. There is no public way to run a scorer outside
    # of it.
    from inspect_ai.util._sandbox.context import sandbox_environments_context_var
    from inspect_ai.util._store import init_subtask_store

    init_subtask_store(state.store)
    sandboxes = NoSandbox()
    sandbox_environments_context_var.set(sandboxes)
    return sandboxes


_OUTAGES = {"ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "RateLimitError"}
_OUTAGES |= {"InternalServerError", "SandboxTimeoutError"}
"""The names of exception classes for outages, which are not caused by the completion."""


@final
@dataclass(frozen=True)
class Call:
    """A callable that calls the scorer for one completion and converts the score."""

    scorer: Callable[..., Any]
    value: Pick

    async def __call__(
        self, completion: Sequence[Mapping[str, Any]], row: Mapping[str, Any], gold: Any = "", *, prompt: Any = ""
    ) -> Any:
        from inspect_ai.scorer import Target

        if gold is None:
            return Abstention("there is no target")
        target = Target(texts(gold))
        state = await state_of(prompt, completion, row, target)
        sandboxes = surround(state)
        try:
            score = await self.scorer(state, target)
        except Exception as error:
            if not sandboxes.asked:
                raise _classify_error(error) from error
        if sandboxes.asked:
            raise RunStopped(
                "the scorer needs a sample's sandbox, but a completion has no sandbox. Score it in inspect_ai, "
                "or test code with rk.code_tests"
            )
        try:
            return convert_score(score, self.value, state.output.completion)
        except InvalidReturn as error:
            return Raised(error.with_traceback(None))  # its traceback shows rewardkit's lines, not the scorer's

    def describe(self) -> str:
        """Return the text for the fingerprint, which excludes some captured values, such as a model client."""
        if not hasattr(self.scorer, "__registry_info__") or not inspect.isroutine(self.scorer):
            return f"Call({described(self.scorer)}, {described(self.value)})"
        closure_values = [cell.cell_contents for cell in getattr(self.scorer, "__closure__", None) or ()]
        codes = [source(candidate) for candidate in (self.scorer, *closure_values) if inspect.isroutine(candidate)]
        return f"Call({call_text(self.scorer)}, {codes!r}, {described(self.value)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Scorers are nested functions, which plain pickle cannot serialize.
        return _revived, (cloudpickle.dumps((self.scorer, self.value)),)


def _revived(pickled: bytes) -> Call:
    return Call(*cloudpickle.loads(pickled))


def as_it_is(prompt: Any) -> Any:
    """Return `prompt`, a string or a list of messages, unchanged."""
    return prompt


def from_inspect(
    scorer: Callable[..., Any],
    name: str | None = None,
    *,
    target: str | None = "target",
    value: Pick = None,
    on_error: float | None = None,
) -> Reward:
    """Turn an inspect_ai scorer into a Reward: ``0.8 * rk.from_inspect(match(numeric=True)) + 0.2 * form``.

    ``rk.from_inspect(includes())`` gives ``It is 4.`` a score of 1.0 if the column "target" is ``4``.

    The scorer receives a TaskState. Its input is the prompt, its messages are the prompt and the completion, and its
    output is the last assistant message. The columns "id", "epoch", and "choices" set the corresponding fields. The
    other columns become metadata, as do the entries in a column "metadata". Choices are marked as the solver
    ``multiple_choice`` marks them. "C", "P", "I", and "N" count as 1.0, 0.5, 0.0, and 0.0, as in inspect_ai's metrics.
    The numbers in a dict or list become parts, and the answer and the explanation become the note.

    If the score is NaN (unscored) or missing, the reward abstains. If the reason for a missing score is "grader_failed"
    or "scoring_failed", or if a model's service is down, the completion has no score, and the outcome is ``failed``.

    Args:
        scorer: an async function ``score(state, target)``, such as a ``@scorer`` function returns.
        name: the component's name, by default the scorer's name.
        target: the column with the target, a string or a list of strings. If the cell is None, the reward abstains. If
            the scorer does not read a target, pass None.
        value: for a score that is a dict or a list, the key or index of the number to use, or a function of the value
            that returns a number, a letter, or None to abstain.
        on_error: the score if the scorer raises an exception. By default, an exception stops the run.

    Raises:
        RewardTypeError: `scorer` is not an inspect_ai scorer.
        BindingError: while scoring: the target column does not exist.
        RunStopped: while scoring: the scorer requires a sandbox, or it requires a model but none is given.
    """
    if isinstance(scorer, (Reward, Schedule, type, str)) or not callable(scorer):
        raise RewardTypeError(
            f"from_inspect: expected a scorer from inspect_ai, got {shorten(scorer)} ({type(scorer).__name__})"
        )
    label = _unqualified(scorer)
    if not is_async(scorer):
        hint = (
            (f"It is a function that creates scorers. Pass its result: rk.from_inspect({label}())")
            if hasattr(scorer, "__registry_info__")
            else ""
        )
        raise RewardTypeError(
            f"from_inspect: {label} is not an async function, so it is not a scorer. "
            f"{hint or 'A scorer is async def score(state, target)'}"
        )
    if not hashable(scorer):
        raise RewardTypeError(f"from_inspect: {label} is not hashable, but rewards must be hashable. Pass a function")
    fixed = None if on_error is None else policy_number(label, "on_error", on_error)
    options = [f"{key}={option!r}" for key, option in (("name", name), ("value", value)) if option is not None]
    options += [f"target={target!r}"] if target != "target" else []
    parameters = [Parameter("completion", "messages"), Parameter("row", "example")]
    if target is not None:
        parameters.append(Parameter("gold", target))
    parameters.append(Parameter("prompt", "prompt", view=as_it_is, default="", keyword_only=True))
    return Leaf(
        Binding(Call(scorer, value), tuple(parameters)),
        ReturnPolicy(
            checked_name(name if name is not None else label),
            (-math.inf, math.inf),
            on_error=fixed,
            remedy=ON_ERROR_REMEDY,
        ),
        f"from_inspect({', '.join([call_text(scorer), *options])})",
    )


def call_text(scorer: Callable[..., Any]) -> str:
    """Return the call that created a scorer, as inspect_ai registered it: ``match(numeric=True)``."""
    arguments = getattr(scorer, "__registry_params__", None)
    if not isinstance(arguments, Mapping):
        return _unqualified(scorer)
    return f"{_unqualified(scorer)}({', '.join(f'{name}={shorten(cell, 60)}' for name, cell in arguments.items())})"


def _unqualified(scorer: Callable[..., Any]) -> str:
    """Return the name of a scorer without its package: ``match`` for ``inspect_ai/match``."""
    registered = getattr(getattr(scorer, "__registry_info__", None), "name", None)
    return str(registered).rpartition("/")[2] if registered else name_of(scorer)


def _classify_error(error: Exception) -> Exception:
    """Return RunStopped if every sample would raise `error`, RewardFailure for an outage, or `error` otherwise."""
    message = re.sub(r"\[/?[a-z]+\]", "", str(error)).strip()  # inspect_ai formats some messages for the terminal
    if message.startswith("No model specified"):
        return RunStopped(
            f"{message}. Pass a model to the scorer, such as model_graded_qa(model='openai/gpt-5'), or set the "
            "environment variable INSPECT_EVAL_MODEL"
        )
    if type(error).__name__ == "PrerequisiteError":  # a key or a package is missing
        return RunStopped(message)
    cause: BaseException | None = error
    while cause is not None:
        if any(kind.__name__ in _OUTAGES for kind in type(cause).__mro__):
            return RewardFailure(f"{type(error).__name__}: {error}")
        cause = cause.__cause__
    return error
