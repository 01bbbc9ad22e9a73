"""The quick check: laws and seconds for a hook before each commit, where a whole check takes too long."""

from __future__ import annotations

FAST = (
    "total", "finite", "bounded", "gold_gets_the_maximum", "gold_above_perturbed_gold", "separates_good_from_bad",
    "informative", "right_however_written", "batch_equals_singles", "neighbors_do_not_leak", "exploits",
)  # fmt: skip
"""The laws that find most ordinary bugs (`benchmarks/check/mutation.py`), without those that measure or take long."""

SECONDS = 2.0
"""For each reward."""
