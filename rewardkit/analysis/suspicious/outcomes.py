"""Outcomes: completions whose component failed or errored become more.

A judge that fails on 8 % of the completions since step 300 leaves those without any learning signal.
"""

from __future__ import annotations

import numpy as np

from rewardkit.analysis.suspicious.arrangement import Arrangement
from rewardkit.analysis.suspicious.evidence import Lead, ramp, weakest


def outcome_leads(run: Arrangement) -> list[Lead]:
    """At most one lead per component and outcome: the weakest of how surely its rate rises between windows (z from
    4 to 8) and how far (from 0.01 to 0.06 of all completions)."""
    leads = []
    for name, outcomes in sorted(run.evidence.outcomes.items()):
        own = np.asarray(outcomes)[run.rows]
        for outcome in ("failed", "errored"):
            is_so = (own == outcome).astype(np.float64)
            if not is_so.any():
                continue
            change = run.changes(is_so)
            strengths = weakest(ramp(change.z, 4.0, 8.0), ramp(change.difference, 0.01, 0.06))
            if strengths.max(initial=0.0) <= 0.0:
                continue
            pair = int(np.argmax(strengths))
            steps = int(change.first[pair]), int(change.last[pair])
            late = (run.steps >= steps[0]) & (run.steps <= steps[1])
            leads.append(
                Lead(
                    kind="outcomes",
                    title=f"{name} {outcome} more often",
                    text=(
                        f"From steps {steps[0]} to {steps[1]} the share of completions on which {name} {outcome} goes "
                        f"from {100 * change.before[pair]:.2f} % to {100 * change.after[pair]:.2f} %."
                    ),
                    strength=float(strengths[pair]),
                    steps=steps,
                    component=name,
                    rows=run.shown(np.flatnonzero(late & (is_so == 1.0))),
                    numbers={
                        "before": float(change.before[pair]),
                        "after": float(change.after[pair]),
                        "z": float(change.z[pair]),
                    },
                )
            )
    return leads
