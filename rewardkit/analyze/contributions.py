"""Attribution of a jump in a curve to the completions that caused it.

``change(values, prompts, now, before).contributions`` contains each completion's contribution to the change in a mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats


@dataclass(frozen=True, eq=False)
class Change:
    """The change in a value's mean between two sets of completions.

    The jump equals ``same_prompts + new_prompts + mix``; the contributions sum to ``same_prompts + new_prompts``.

    Attributes:
        contributions: (n,) each completion's contribution; NaN for a completion without a value. All contributions are
            NaN if there is nothing to compare with.
        before: the mean before, or NaN if no completion has a value.
        now: the mean now, or NaN if no completion has a value.
        same_prompts: the sum of the contributions of completions whose prompt was seen before.
        new_prompts: the sum of the contributions of all other completions.
        mix: the rest of the jump, which is caused by drawing easier (or harder) prompts more often than before.
        paired: the share (0 to 1) of the completions whose prompt was seen before.
    """

    contributions: Floats
    before: float
    now: float
    same_prompts: float
    new_prompts: float
    mix: float
    paired: float

    @property
    def jump(self) -> float:
        """The change in the mean, ``now - before``."""
        return self.now - self.before

    @property
    def total(self) -> float:
        """The sum of all contributions, which equals the jump if every prompt is drawn as often as before."""
        return self.same_prompts + self.new_prompts


def change(now: Floats, prompts_now: NDArray[np.int64], before: Floats, prompts_before: NDArray[np.int64]) -> Change:
    """Return each completion's contribution to the change in a mean, such as a component's mean after step 600.

    A completion's contribution is its value minus the earlier mean for the same prompt, divided by the number of
    completions. If the prompt was not seen before, the mean of all earlier completions is used instead. Therefore, a
    completion for a hard prompt can contribute even if its value is low.

    >>> found = change(np.array([1.0, 0.0]), np.array([7, 8]), np.array([0.0, 0.0, 0.0]), np.array([7, 7, 8]))
    >>> found.contributions.tolist(), found.jump
    ([0.5, 0.0], 0.5)

    Args:
        now: (n,) the values of the completions to explain; NaN and infinite values are ignored.
        prompts_now: (n,) each completion's prompt, as a number counted from 0.
        before: (m,) the values of the completions to compare with.
        prompts_before: (m,) the prompts of those completions, with the same numbering.
    """
    finite, earlier = np.isfinite(now), np.isfinite(before)
    values, codes = now[finite], prompts_now[finite]
    contributions = np.full(len(now), np.nan)
    mean = float(before[earlier].mean()) if earlier.any() else float("nan")
    if not len(values) or not earlier.any():
        mean_now = float(values.mean()) if len(values) else float("nan")
        return Change(contributions, mean, mean_now, 0.0, 0.0, 0.0, 0.0)
    size = int(max(codes.max(), prompts_before.max())) + 1
    counts = np.bincount(prompts_before[earlier], minlength=size)
    # Subtract the overall mean first, so that large values do not lose precision.
    offsets = np.bincount(prompts_before[earlier], before[earlier] - mean, minlength=size) / np.maximum(counts, 1)
    parts = (values - mean - offsets[codes]) / len(values)
    contributions[finite] = parts
    is_known_prompt = counts[codes] > 0
    return Change(
        contributions,
        mean,
        float(values.mean()),
        float(parts[is_known_prompt].sum()),
        float(parts[~is_known_prompt].sum()),
        float(offsets[codes].mean()),
        float(is_known_prompt.mean()),
    )
