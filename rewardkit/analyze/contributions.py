"""From a jump in a curve to the completions that caused it.

``change(values, prompts, now, before).contributions`` holds the contribution of each completion to the change of a
mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats


@dataclass(frozen=True, eq=False)
class Change:
    """The change of the mean of a value between two sets of completions.

    ``same_prompts + new_prompts + mix`` is the jump, and the contributions sum to ``same_prompts + new_prompts``.

    Attributes:
        contributions: (n,) the addend of each completion; NaN for a completion without a value. All are NaN if there is
            nothing to compare with.
        before: the mean before, NaN if no completion has a value.
        now: the mean now, likewise.
        same_prompts: the sum of the contributions of completions whose prompt was seen before.
        new_prompts: the sum of the others.
        mix: the rest of the jump: easier (or harder) prompts are drawn more often than before.
        paired: the share of the completions whose prompt was seen before, 0 to 1.
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
        """The change of the mean."""
        return self.now - self.before

    @property
    def total(self) -> float:
        """The sum of all contributions. It is the jump if every prompt is drawn as often as before."""
        return self.same_prompts + self.new_prompts


def change(now: Floats, prompts_now: NDArray[np.int64], before: Floats, prompts_before: NDArray[np.int64]) -> Change:
    """Return the contribution of each completion to the change of a mean, for example of a component after step 600.

    The contribution of a completion is its value minus the mean of its own prompt before, divided by the number of
    completions; if its prompt was not seen before, its value minus the mean of all completions before. So a completion
    of a hard prompt can contribute although its value is low.

    >>> found = change(np.array([1.0, 0.0]), np.array([7, 8]), np.array([0.0, 0.0, 0.0]), np.array([7, 7, 8]))
    >>> found.contributions.tolist(), found.jump
    ([0.5, 0.0], 0.5)

    Args:
        now: (n,) the values of the completions to explain; NaN or infinite: it does not count.
        prompts_now: (n,) their prompts, as numbers from 0.
        before: (m,) the values of the completions to compare with.
        prompts_before: (m,) their prompts, with the same numbers.
    """
    finite, earlier = np.isfinite(now), np.isfinite(before)
    values, codes = now[finite], prompts_now[finite]
    contributions = np.full(len(now), np.nan)
    mean = float(before[earlier].mean()) if earlier.any() else float("nan")
    if not len(values) or not earlier.any():
        late = float(values.mean()) if len(values) else float("nan")
        return Change(contributions, mean, late, 0.0, 0.0, 0.0, 0.0)
    size = int(max(codes.max(), prompts_before.max())) + 1
    counts = np.bincount(prompts_before[earlier], minlength=size)
    # The means are taken around the overall mean, so that large values do not lose precision.
    offsets = np.bincount(prompts_before[earlier], before[earlier] - mean, minlength=size) / np.maximum(counts, 1)
    each = (values - mean - offsets[codes]) / len(values)
    contributions[finite] = each
    familiar = counts[codes] > 0
    return Change(
        contributions,
        mean,
        float(values.mean()),
        float(each[familiar].sum()),
        float(each[~familiar].sum()),
        float(offsets[codes].mean()),
        float(familiar.mean()),
    )
