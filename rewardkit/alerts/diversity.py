"""Loss of diversity: the completions in a group become the same.

For example, 7.9 of 8 completions for a prompt are distinct at the beginning, but only 1.6 at the end.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import changes, mean_by_step, peak_of
from rewardkit.alerts.texts import Sample

LEAST_WORDS = 8
"""The minimum number of words per completion (averaged over a group) for the group to count. The limit is arbitrary:
short answers become the same simply because they become correct."""


def diversity_alerts(sample: Sample) -> list[Alert]:
    """Return an observation if the share of distinct completions falls.

    In a group with n completions, d of which are distinct, the share is (d - 1) / (n - 1). The observation is ranked by
    the weaker of two measures: the certainty of the fall between windows (z from 4 to 8) and its size relative to the
    earlier share (from 0.3 to 0.8). Groups whose answers have only a few words are excluded.
    """
    run = sample.run
    numbers: dict[str, int] = {}
    texts = np.array([numbers.setdefault(text, len(numbers)) for text in sample.completions], dtype=np.int64)
    sizes = np.bincount(sample.groups)
    distinct = np.bincount(np.unique(sample.groups * (len(numbers) + 1) + texts) // (len(numbers) + 1))
    words = np.bincount(sample.tokens[1], minlength=len(sample.rows))
    is_comparable = (sizes > 1) & (np.bincount(sample.groups, words) >= LEAST_WORDS * sizes)
    if not is_comparable.any():
        return []
    share = (distinct[is_comparable] - 1.0) / (sizes[is_comparable] - 1.0)
    group_steps = np.zeros(len(sizes), dtype=np.int64)
    group_steps[sample.groups] = sample.steps
    change = changes(mean_by_step(group_steps[is_comparable], share), run.starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative_loss = np.nan_to_num(-change.difference / change.before)
    # z from 4: by chance, the best of up to 28 pairs of windows reaches 4 in one of 1,000 runs.
    peak = peak_of(change, ramp(-change.z, 4.0, 8.0), ramp(relative_loss, 0.3, 0.8))
    if peak is None:
        return []
    pair, steps = peak.pair, peak.steps
    late = np.flatnonzero(sample.steps >= run.starts[np.searchsorted(run.starts, change.last[pair], "right") - 1])
    return [
        Alert(
            kind="diversity",
            title="completions for a prompt become less diverse",
            text=(
                f"From step {steps[0]} to step {steps[1]} the share of distinct "
                f"completions within groups goes from {change.before[pair]:.2f} to {change.after[pair]:.2f} "
                f"({abs(change.z[pair]):.1f} standard errors). From {sample.description()}."
            ),
            strength=peak.strength,
            steps=steps,
            rows=run.shown(sample.rows[late]),
            numbers=change.numbers(pair),
        )
    ]
