"""Dialects: the trainers' request and reply formats.

A dialect maps paths to functions that read a request, get scores, and return the answer::

    async def verify(payload, score):
        scores = await score([Row(payload["text"])])
        return Answer({"reward": scores[0].total})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from rewardkit.online.rows import Row, RowScore
from rewardkit.progress.progress import Progress


class BadRequest(Exception):
    """A request that cannot be understood; the message shows a correct request."""

    status = 422


@final
@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Attributes:
        content: the JSON body.
        status: the HTTP status.
        headers: additional headers, such as ``Retry-After``.
    """

    content: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Score(Protocol):
    """A function that gets scores from the workers."""

    async def __call__(
        self,
        rows: Sequence[Row],
        *,
        progress: Progress | None = None,
        generations: int | None = None,
        deadline: float | None = None,
        patience: float = 0.0,
    ) -> list[RowScore]:
        """Return the scores for `rows`.

        Args:
            progress: the training progress, for schedules.
            generations: the number of completions per group if the rows are whole groups.
            deadline: the time limit for one attempt, in seconds.
            patience: the seconds during which failed rows are retried.

        Raises:
            BadRequest: the reward compares completions, but the rows are not in groups.
            Busy: too many rows are waiting.
        """


Handler = Callable[[Any, Score], Awaitable[Answer]]
Dialect = Mapping[str, Handler]
"""Path -> the function that answers requests to the path. The method is POST unless another method precedes the path,
as in ``GET /mode``, which does not have a payload."""


def text_at(payload: Any, name: str) -> str:
    """Return the text under `name` in a request.

    Raises:
        BadRequest: the value is missing or is not a string.
    """
    value = payload.get(name) if isinstance(payload, Mapping) else None
    if not isinstance(value, str):
        raise BadRequest(f"expected an object with the text {name!r}, got {_shown(payload)}")
    return value


def list_at(payload: Any, name: str) -> list[Any]:
    """Return the list under `name` in a request.

    Raises:
        BadRequest: the value is missing or is not a list.
    """
    value = payload.get(name) if isinstance(payload, Mapping) else None
    if not isinstance(value, list):
        raise BadRequest(f"expected an object with the list {name!r}, got {_shown(payload)}")
    return value


def _shown(payload: Any) -> str:
    if isinstance(payload, Mapping):
        names = ", ".join(repr(str(name))[:40] for name in list(payload)[:12])
        return f"an object with {names or 'no keys'}"
    return f"{type(payload).__name__}"
