"""Our own dialect, ``POST /score``: rows with columns in, totals, terms, components, outcomes and notes out.

``{"rows": [{"completion": "42", "columns": {"answer": "42"}}]}`` is answered by ``{"rows": [{"total": 1.0, ...}]}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore
from rewardkit.server.dialects import Answer, BadRequest, Score

MOST_ROWS = 4_096
"""The most rows of one request."""

MOST_STEPS = 1 << 53
"""Larger numbers are no exact floats."""

_STRICT = ConfigDict(extra="forbid", strict=True)


class RowIn(BaseModel):
    """One completion with its prompt and its columns."""

    model_config = _STRICT
    completion: str | list[dict[str, Any]] = Field(
        description="what the policy wrote, without the prompt: a text, or a list of messages"
    )
    prompt: str | list[dict[str, Any]] | None = Field(None, description="a text, or a list of messages")
    columns: dict[str, Any] = Field(default_factory=dict, description="the cells of the row of the dataset")
    completion_ids: list[int] | None = Field(None, description="the tokens of the completion")
    cut: bool | None = Field(None, description="whether the completion ran into the token limit")
    runs_calls: bool = Field(False, description="whether the trainer runs the calls of messages, so no text has calls")


class ProgressIn(BaseModel):
    """The training progress, for rewards with schedules."""

    model_config = _STRICT
    step: int = Field(ge=0, le=MOST_STEPS)
    max_steps: int = Field(ge=1, le=MOST_STEPS)


class ScoreRequest(BaseModel):
    """Rows to score."""

    model_config = _STRICT
    rows: list[RowIn] = Field(max_length=MOST_ROWS)
    num_generations: int | None = Field(
        None, ge=1, description="the rows are whole groups of so many completions, for rewards that compare them"
    )
    progress: ProgressIn | None = Field(None, description="without it, schedules have their end value")
    deadline: float | None = Field(None, gt=0, description="seconds; at most the server's")


class RowOut(BaseModel):
    """The scores of one row; all terms and components are always there."""

    total: float | None = Field(description="null if the row has no score")
    terms: dict[str, float | None] = Field(description="the shares that add up to the total")
    components: dict[str, float | None] = Field(description="the raw scores")
    outcomes: dict[str, str] = Field(description="scored, abstained, failed, errored or skipped, by component")
    notes: dict[str, str] = Field(description="what components say about their scores")
    reasons: list[str] = Field(description="why components failed or errored")
    unparsable: bool = Field(description="no score because a gold answer cannot be read: another try is in vain")


class ScoreReply(BaseModel):
    """The scores, in the order of the rows."""

    rows: list[RowOut]
    reward: str = Field(description="the fingerprint of the reward")


class Native:
    """The handler of ``/score``."""

    def __init__(self) -> None:
        self.fingerprint = ""

    async def __call__(self, payload: Any, score: Score) -> Answer:
        try:
            request = ScoreRequest.model_validate(payload)
        except ValidationError as error:
            raise BadRequest(said(error)) from None
        rows = [
            Row(row.completion, row.prompt, row.columns, row.completion_ids, row.cut, row.runs_calls)
            for row in request.rows
        ]
        if request.num_generations is not None and len(rows) % request.num_generations:
            raise BadRequest(
                f"num_generations is {request.num_generations}, but {len(rows)} rows are not whole groups of that size"
            )
        progress = None
        if request.progress is not None:
            progress = Progress(request.progress.step, request.progress.max_steps)
        scores = await score(rows, progress=progress, generations=request.num_generations, deadline=request.deadline)
        return Answer({"rows": list(map(shown, scores)), "reward": self.fingerprint})


def shown(score: RowScore) -> dict[str, Any]:
    """Return the scores of a row as they are sent."""
    return {
        "total": score.total,
        "terms": score.terms,
        "components": score.components,
        "outcomes": score.outcomes,
        "notes": score.notes,
        "reasons": score.reasons,
        "unparsable": score.unparsable,
    }


def said(error: ValidationError) -> str:
    """Return the first problems of a request, with where they are."""
    found: Sequence[Any] = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}" for one in found[:5]]
    more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
    return "; ".join(lines) + more
