"""The path that slime posts to: ``--rm-type remote_rm --rm-url http://host:8000/slime``.

slime sends prompt, response and label, without metadata or group, and takes the JSON body as the reward. It asks again
up to ten times, so a failed row is held, scored again, and at last answered by 503: never by a number.
"""

from __future__ import annotations

from typing import Any

from rewardkit.online.labels import columns
from rewardkit.online.rows import Row
from rewardkit.server.dialects import Answer, Score, text_at

PATIENCE = 100.0
"""Seconds during which a failed row is scored again, within the 120 s of one request."""


async def scored(payload: Any, score: Score) -> Answer:
    """Score one completion for slime; the answer is a number, or 503 if there is none."""
    row = Row(text_at(payload, "response"), payload.get("prompt"), columns(payload.get("label"), "answer"))
    [found] = await score([row], patience=PATIENCE)
    if found.total is None:
        return Answer({"error": f"the completion has no score: {found.why}"}, 503, {"Retry-After": "5"})
    return Answer(found.total)


dialect = {"/slime": scored}
