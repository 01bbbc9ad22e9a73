"""Feed one recorded run to rewardspy, in a process of its own: reads the run as JSON, writes the alarms as JSON.

``{"maximum": 1.0, "groups": [[0, [["<answer>7</answer>", {"exact": 1.0, "total": 1.0}], ...]], ...]}``

It is `GRPOSpy` with its default thresholds, as in its examples/grpo_math.py: a dictionary of components per completion,
the highest possible reward, and a group per prompt, so that all of its detectors have their input.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rewardspy.integrations import GRPOSpy


def feed(run: dict[str, Any]) -> dict[str, Any]:
    """Score all completions again as they were scored; return alerts with their steps, and the statuses at the end."""
    spy = GRPOSpy(lambda completion, scores: scores, max_reward=run["maximum"])
    raised: list[tuple[str, str, int]] = []
    for step, rows in run["groups"]:
        known = len(spy.store.alerts)
        with spy.step(step=step):
            for completion, scores in rows:
                spy.reward(completion, scores)
        raised += [(alert.detector, alert.status, step) for alert in spy.store.alerts[known:]]
    at_end = {name: result.status.value for name, result in spy.engine.latest.items() if result.actionable}
    if spy.collapse_rate > spy.collapse_alert_rate:
        at_end["grpo_group"] = "ALERT"
    return {"raised": raised, "at_end": at_end}


if __name__ == "__main__":
    json.dump(feed(json.load(sys.stdin)), sys.stdout)
