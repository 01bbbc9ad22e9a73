"""What ``/aggregate_metrics`` answers: the statistics that NeMo Gym computes of replies to ``/verify``.

For ``[{"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0}]``, "key_metrics" is ``{"mean/reward": 1.0}``. The
numbers are those of NeMo Gym's own servers, so a served reward and one in `rk.to_nemo_gym` have the same statistics.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.server.dialects import BadRequest

Numbers = dict[str, float]

_TASK, _ROLLOUT = "_ng_task_index", "_ng_rollout_index"
_INDICES = (_TASK, _ROLLOUT)


def aggregated(responses: Sequence[Any]) -> dict[str, Any]:
    """Return the statistics of each task, of all rollouts, and the means alone.

    Args:
        responses: replies to ``/verify``; all numbers among their fields count, and those in the usage of the response.

    Raises:
        BadRequest: a reply does not say which rollout of which task it is, or two say the same.
    """
    ordered = sorted(map(_checked, responses), key=_place)
    twice = next((one for one, other in itertools.pairwise(ordered) if _place(one) == _place(other)), None)
    if twice is not None:
        raise BadRequest(f"two verify responses have {_TASK} {twice[_TASK]} and {_ROLLOUT} {twice[_ROLLOUT]}")
    overall = _statistics([_numbers(one, _usage(one)) for one in ordered])
    return {
        "group_level_metrics": [
            _of_task(task, list(rollouts)) for task, rollouts in itertools.groupby(ordered, key=lambda one: one[_TASK])
        ],
        "agent_metrics": overall,
        "key_metrics": {name: value for name, value in overall.items() if name.startswith("mean/")},
    }


def _of_task(task: int, rollouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        _TASK: task,
        **_statistics([_numbers(one, _usage(one)) for one in rollouts]),
        "sample": {"agent_ref": {"name": "agent"}},
        "num_rollouts": len(rollouts),
        "expected_num_rollouts": len(rollouts),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": [
            {
                "rollout_id": f"{task}:{one[_ROLLOUT]}",
                _TASK: task,
                _ROLLOUT: one[_ROLLOUT],
                **({"reward": one["reward"]} if "reward" in one else {}),
                **_numbers(_usage(one), one),
            }
            for one in rollouts
        ],
    }


def _statistics(rows: Sequence[Numbers]) -> Numbers:
    """Return statistics of each number; where it is alone, it has no deviation, except that none of them has one."""
    columns = {name: np.array([row[name] for row in rows if name in row]) for row in rows for name in row}
    alone = all(len(values) < 2 for values in columns.values())
    found = {}
    for name, values in columns.items():
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0 if alone and len(rows) == 1 else math.nan
        for kind, value in (
            ("mean", values.mean()), ("max", values.max()), ("min", values.min()), ("median", np.median(values)),
            ("std", spread),
        ):  # fmt: skip
            if not math.isnan(value):
                found[f"{kind}/{name}"] = float(value)
    return found


def _numbers(*sources: Mapping[str, Any]) -> Numbers:
    """Return the numbers of some objects by name, without the indices; truth counts as 1."""
    return {name: value for source in sources for name, value in _numeric(source)}


def _numeric(source: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in source.items():
        if isinstance(value, (int, float)) and name not in _INDICES and not math.isnan(value):
            yield name, int(value) if isinstance(value, bool) else value


def _usage(response: Mapping[str, Any]) -> Mapping[str, Any]:
    given = response.get("response")
    usage = given.get("usage") if isinstance(given, Mapping) else None
    return usage if isinstance(usage, Mapping) else {}


def _place(response: Mapping[str, Any]) -> tuple[int, int]:
    return response[_TASK], response[_ROLLOUT]


def _checked(response: Any) -> Mapping[str, Any]:
    if not isinstance(response, Mapping) or not all(isinstance(response.get(name), int) for name in _INDICES):
        raise BadRequest(f"each of verify_responses must be an object with the numbers {_TASK!r} and {_ROLLOUT!r}")
    return response
