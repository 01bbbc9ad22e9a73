"""States: a completion with its row as the TaskState that a scorer of inspect_ai reads.

The prompt and the completion become its messages, the last assistant message its output, and the columns its metadata.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.core.batch.messages import as_messages
from rewardkit_inspect.conversations import conversation

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import Choices, Solver, TaskState

_MODEL = "none/none"
_FIELDS = ("id", "epoch", "choices", "metadata", "stop_reason")
"""Columns that are fields of a sample; all others are its metadata."""


async def state_of(
    prompt: Any, completion: Sequence[Mapping[str, Any]], row: Mapping[str, Any], target: Target
) -> TaskState:
    """Return the state at the end of a sample.

    Args:
        prompt: text or messages.
        completion: messages.
        row: the columns.
    """
    from inspect_ai.model import ModelName
    from inspect_ai.solver import TaskState

    asked = conversation(_prompt(prompt), "input")
    said = conversation(completion, "generate")
    output = _output(said, row.get("stop_reason"))
    state = TaskState(
        model=ModelName(_MODEL),
        sample_id=row.get("id", 1),
        epoch=row.get("epoch") or 1,
        input=prompt if isinstance(prompt, str) else list(asked),
        messages=[*asked, *said],
        target=target,
        output=output,
        completed=True,
        metadata=_metadata(row),
    )
    choices = texts(row.get("choices"))
    if choices:
        state.choices = await _marked(choices, output, several=len(letters(target)) > 1)
    return state


def texts(cell: Any) -> list[str]:
    """Return a target or choices as texts: one, or those of a list; of None none."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return []
    listed = cell.tolist() if hasattr(cell, "tolist") else cell
    return [str(item) for item in listed] if isinstance(listed, (list, tuple)) else [str(listed)]


def letters(target: Sequence[str]) -> list[str]:
    """Return the letters of the right choices: ``["A, C"]`` and ``["A", "C"]`` have two."""
    tokens = [token for one in target for token in one.replace(",", " ").split()]
    return [letter for token in tokens for letter in ([token] if token.isnumeric() else token)]


def _prompt(prompt: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}] if prompt else []
    return as_messages(prompt, "prompts", 0)


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    given = row.get("metadata")
    if isinstance(given, str):  # kept as JSON text, so that Arrow does not change it
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    others = {name: cell for name, cell in row.items() if name not in _FIELDS}
    return {**others, **given} if isinstance(given, Mapping) else others


def _output(said: Sequence[Any], stop_reason: Any) -> ModelOutput:
    from inspect_ai.model import ChatCompletionChoice, ModelOutput

    spoken = [message for message in said if message.role == "assistant"]
    if not spoken:
        return ModelOutput(model=_MODEL)
    reason = stop_reason if isinstance(stop_reason, str) else "stop"
    return ModelOutput(model=_MODEL, choices=[ChatCompletionChoice(message=spoken[-1], stop_reason=reason)])


async def _marked(choices: list[str], output: ModelOutput, *, several: bool) -> Choices:
    """Return choices, marked as the solver ``multiple_choice`` marks them after this output."""
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
