"""Feed one recorded run to rl-doctor, in a process of its own: reads the run as JSON, writes the alarms as JSON.

``{"config": {"algorithm": "grpo", ...}, "logs": [{"reward": 0.4, "entropy": 1.2, ...}, ...]}``

It is `LiveMonitor` with its default thresholds over what TRL logged, and its whole report at the end. A log may have an
``eval_score``: the held-out score.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rl_doctor.detectors import Severity
from rl_doctor.live import LiveMonitor


def feed(run: dict[str, Any]) -> dict[str, Any]:
    """Log all steps; return what the monitor announced with its steps, and the problems of the report at the end."""
    monitor = LiveMonitor(config=run["config"], on_finding=lambda finding: None)
    raised: list[tuple[str, str, int]] = []
    for step, metrics in enumerate(run["logs"]):
        found = monitor.log(metrics, step=step)
        raised += [(finding.detector, finding.severity.name, step) for finding in found]
    found = monitor.check()
    raised += [(finding.detector, finding.severity.name, len(run["logs"]) - 1) for finding in found]
    problems = [one for one in monitor.latest.findings if one.severity >= Severity.WARNING]
    return {"raised": raised, "at_end": {finding.detector: finding.severity.name for finding in problems}}


if __name__ == "__main__":
    json.dump(feed(json.load(sys.stdin)), sys.stdout)
