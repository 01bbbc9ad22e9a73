"""NeMo Gym's dialect of the reward server: the paths of a resources server."""

from __future__ import annotations

from typing import Any

from rewardkit.server.dialects import Answer, Dialect, Score, list_at
from rewardkit_nemo_gym.aggregates import aggregated
from rewardkit_nemo_gym.functions import PATIENCE
from rewardkit_nemo_gym.replies import UNSCORED, awaits_another, reply, trains
from rewardkit_nemo_gym.rollouts import row_of

STATELESS = "stateless"


async def verify(payload: Any, score: Score) -> Answer:
    """Score a rollout of NeMo Gym."""
    row, training = row_of(payload), trains(payload)
    [found] = await score([row], patience=PATIENCE if training else 0.0)
    if training and awaits_another(found):
        return Answer({"error": UNSCORED.format(why=found.why)}, 503)
    return Answer(reply(payload, found))


async def seed_session(payload: Any, score: Score) -> Answer:
    """Begin a rollout of NeMo Gym; nothing is kept for it."""
    return Answer({})


async def aggregate_metrics(payload: Any, score: Score) -> Answer:
    """Return statistics of verified rollouts."""
    return Answer(aggregated(list_at(payload, "verify_responses")))


async def reverify_mode(payload: Any, score: Score) -> Answer:
    """Say that rollouts can be verified again."""
    return Answer(STATELESS)


_POSTED = {"/verify": verify, "/seed_session": seed_session, "/aggregate_metrics": aggregate_metrics}
_OBSERVED = "/ng-rollout/{rollout_id}"
"""Before the paths while NeMo Gym observes rollouts."""

dialect: Dialect = {
    **_POSTED,
    **{f"{_OBSERVED}{path}": handler for path, handler in _POSTED.items()},
    "GET /reverify_mode": reverify_mode,
}
