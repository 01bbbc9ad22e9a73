"""Rubrics for OpenEnv environments: a reward, with its terms and components as children. This file imports OpenEnv."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, final

from openenv.core.rubrics import Rubric

from rewardkit.batch.batch import RESERVED
from rewardkit.errors import BindingError, near_miss
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row, RowScore, unscored
from rewardkit.workers.background import in_background

_OF_STEP = ("done", "reward", "metadata")

Reads = Callable[[Any, Any], Any]
"""A function that reads a value from an action and an observation."""

_NUMBERS: ContextVar[tuple[Reads | None, Mapping[str, float | None]]] = ContextVar("_NUMBERS", default=(None, {}))
"""The function that scores the current step, and the numbers for this step."""


class Scoring(Rubric):
    """A rubric for a reward, with the reward's terms and components as children."""

    def __init__(self, requests: Requests, text: str | Reads, columns: Reads | None, numbers: str | None) -> None:
        super().__init__()
        self._requests = requests
        self._text = text
        self._columns = columns
        self._field = numbers
        names = requests.scorer.scorer
        for name in unscored(names.terms, names.components, "").numbers():
            # Names of terms and components may not be valid attribute names.
            self._rubric_children[name] = Part(name, self._scored)

    def _row(self, action: Any, observation: Any) -> Row:
        columns = dict(columns_of(observation) if self._columns is None else self._columns(action, observation))
        prompt = columns.pop("prompt", None)
        text = text_of(action, self._text) if isinstance(self._text, str) else self._text(action, observation)
        return Row(text, prompt, columns)

    def _scored(self, action: Any, observation: Any) -> RowScore:
        score: RowScore = in_background(self._requests.score(self._row(action, observation))).result()
        return score

    def _published(self, score: RowScore, action: Any, observation: Any) -> float | None:
        """Write the numbers to the children and the observation, and return the total."""
        numbers = score.numbers()
        token = _NUMBERS.set((self._scored, numbers))
        try:
            for part in self.children():
                part(action, observation)
        finally:
            _NUMBERS.reset(token)
        if self._field is not None:
            setattr(observation, self._field, numbers)
        return score.total


@final
class RewardRubric(Scoring):
    """A rubric that returns the reward for a completion, or None if the completion cannot be scored."""

    def forward(self, action: Any, observation: Any) -> Any:
        return self._published(self._scored(action, observation), action, observation)


@final
class AsyncRewardRubric(Scoring):
    """The async version of `RewardRubric`."""

    async def forward(self, action: Any, observation: Any) -> Any:
        score = await self._requests.score(self._row(action, observation))
        return self._published(score, action, observation)


@final
class Part(Rubric):
    """A rubric for one term or component. A direct call scores the whole reward."""

    def __init__(self, name: str, score: Callable[[Any, Any], RowScore]) -> None:
        super().__init__()
        self._name = name
        self._score = score

    def forward(self, action: Any, observation: Any) -> Any:
        scoring, numbers = _NUMBERS.get()
        return (numbers if scoring == self._score else self._score(action, observation).numbers())[self._name]


def text_of(action: Any, name: str) -> Any:
    """Return the field `name` of an action."""
    if not hasattr(action, name):
        fields = _fields(action)
        raise BindingError(
            f"to_openenv: text={name!r} is not a field of {type(action).__name__}. Fields: "
            f"{', '.join(fields) or 'none'}.{near_miss(name, fields)} Pass text= with the field that contains "
            "the completion, or a function of the action and the observation"
        )
    return getattr(action, name)


def columns_of(observation: Any) -> dict[str, Any]:
    """Return the columns: an observation's fields and the entries in its metadata."""
    metadata = getattr(observation, "metadata", None)
    cells = {name: getattr(observation, name) for name in _fields(observation) if name not in _OF_STEP}
    cells |= metadata if isinstance(metadata, Mapping) else {}
    return {str(name): cell for name, cell in cells.items() if name == "prompt" or name not in RESERVED}


def _fields(value: Any) -> list[str]:
    return list(getattr(type(value), "model_fields", None) or vars(value))
