"""What ``/verify`` answers: the rollout again with its reward, and with marks if it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardkit.online.rows import COMPONENTS, RowScore

TERMS = "terms/"
"""Before the name of a term among the fields: without it, a term would replace the task's field of that name."""
_FAILURE = ("_ng_failure_class", "_ng_failure_judge_error", "_ng_failure_terminal")
_OF_NEMO_RL = "_rowidx"
UNSCORED = (
    "this rollout has no score: {why}. NeMo RL generates another one after this answer; a 0 would count in the mean of "
    "its group"
)


def reply(rollout: Mapping[str, Any], score: RowScore) -> dict[str, Any]:
    """Return a rollout with its scores, always with the same fields.

    ``reward_components`` are the terms: they add up to the reward, as NeMo RL demands; a term that abstained adds 0.0,
    and NeMo RL puts the same for one that is missing. Among the fields for metrics it is null, which is not counted.
    """
    said = {
        **{name: value for name, value in rollout.items() if name not in _FAILURE},
        "reward": 0.0 if score.total is None else score.total,
        "reward_components": {name: _share(score, value) for name, value in score.terms.items()},
        **{f"{TERMS}{name}": value for name, value in score.terms.items()},
        **{f"{COMPONENTS}{name}": value for name, value in score.components.items()},
    }
    return said if score.scored else {**said, **_marks(rollout, score)}


def trains(rollout: Any) -> bool:
    """Return whether NeMo RL waits for the reward: it numbers the rollouts of a step."""
    return isinstance(rollout, Mapping) and _OF_NEMO_RL in rollout


def awaits_another(score: RowScore) -> bool:
    """Return whether NeMo RL must generate another rollout instead of this one, which has no score.

    If the gold answer cannot be read, no rollout of the prompt has a score: all get 0.0 and the mark that masks them,
    so their advantages are 0 even where NeMo RL does not read the mark.
    """
    return not (score.scored or score.unparsable)


def _share(score: RowScore, value: float | None) -> float:
    return value if score.scored and value is not None else 0.0


def _marks(rollout: Mapping[str, Any], score: RowScore) -> dict[str, Any]:
    """Return what keeps a rollout out of the rollouts of NeMo Gym, and out of the loss of NeMo RL."""
    config = rollout.get("instance_config")
    return {
        "_ng_failure_class": "judge_failed",
        "_ng_failure_judge_error": score.why,
        **({} if score.failed else {"_ng_failure_terminal": True}),
        "instance_config": {**(config if isinstance(config, Mapping) else {}), "mask_sample": True},
    }
