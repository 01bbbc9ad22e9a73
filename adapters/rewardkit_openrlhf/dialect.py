"""The path that OpenRLHF posts to: ``--reward.remote_url http://host:8000/openrlhf``.

OpenRLHF sends the query (prompt and completion in one text), the prompt and the label, as lists of length 1. It asks
again up to five times, 180 s each; a failed row is therefore held and scored again before it is given up.
"""

from __future__ import annotations

import math
from typing import Any

from rewardkit.core.batch.messages import prompt_text
from rewardkit.online.labels import columns
from rewardkit.online.rows import Row, RowScore
from rewardkit.server.dialects import Answer, BadRequest, Score, list_at
from rewardkit_openrlhf.functions import logs
from rewardkit_openrlhf.queries import Queries

PATIENCE = 150.0
"""Seconds during which a failed row is scored again, within the 180 s of one request."""
_GOLD = "answer"


async def scored(payload: Any, score: Score) -> Answer:
    """Score completions for OpenRLHF; 503 if one has no score, so that OpenRLHF asks again."""
    found = await _scores(payload, score, PATIENCE)
    missing = next((one for one in found if not one.scored), None)
    if missing is not None:
        return Answer({"error": f"a completion has no score: {missing.why}"}, 503, {"Retry-After": "5"})
    return _answer(found)


async def filtered(payload: Any, score: Score) -> Answer:
    """Score completions for OpenRLHF with dynamic filtering; one without a score is NaN, and its group is replaced."""
    return _answer(await _scores(payload, score, 0.0))


async def _scores(payload: Any, score: Score, patience: float) -> list[RowScore]:
    queries, prompts, labels = (list_at(payload, name) for name in ("query", "prompts", "labels"))
    if not len(queries) == len(prompts) == len(labels):
        raise BadRequest(f"expected lists of one length, got {len(queries)}, {len(prompts)} and {len(labels)}")
    cut, rows = Queries(None), []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        if not isinstance(query, str):
            raise BadRequest("query: expected a list of texts")
        begins = prompt_text(prompt)
        completion = cut.completion(query, begins)
        if completion is None:
            raise BadRequest(cut.why(query, begins))
        rows.append(Row(completion, prompt, columns(label, _GOLD)))
    return await score(rows, patience=patience)


def _answer(scores: list[RowScore]) -> Answer:
    totals = [math.nan if one.total is None else one.total for one in scores]
    if len(scores) == 1:
        return Answer({"rewards": totals[0], "scores": totals[0], "extra_logs": logs(scores[0])})
    each = [logs(one) for one in scores]
    together = {name: [one[name] for one in each] for name in each[0]} if each else {}
    return Answer({"rewards": totals, "scores": totals, "extra_logs": together})


dialect = {"/openrlhf": scored, "/openrlhf/dynamic_filtering": filtered}
