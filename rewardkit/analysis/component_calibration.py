"""How one component of a reward, or its total, agrees with labels."""

from __future__ import annotations

from dataclasses import dataclass

from rewardkit.analysis.discrimination import Pairs
from rewardkit.analysis.misjudged import Case
from rewardkit.analysis.reliability import Bin, Confusion, Saturation


@dataclass(frozen=True)
class ComponentCalibration:
    """How one component, or the total, agrees with the labels.

    Attributes:
        scored, unscored: rows with and without a score. A component behind a closed gate has no score, so its numbers
            cover only the rows that reached it.
        within, overall: pairs of a better and a worse completion: of the same prompt, and of any two prompts.
        spearman: rank correlation with the labels; None if all scores or all labels are the same.
        saturation: the shares at the ends of the scale; None if nothing is scored.
        reliability: scores in bins, with the share of good completions in each.
        calibration_error: how far scores and shares are apart; None if scores or labels lie outside 0 to 1.
        interval: 95 % bootstrap interval of the AUC over whole groups.
        best: the confusion table at the best threshold; None for grades, and if no threshold separates good from bad.
        given: the confusion table at the threshold that you passed; only for the total.
        too_high: bad completions that score no lower than some good one, highest score first.
        too_low: good completions that score no higher than some bad one, lowest score first.
    """

    name: str
    scored: int
    unscored: int
    within: Pairs
    overall: Pairs
    spearman: float | None
    saturation: Saturation | None
    reliability: tuple[Bin, ...]
    calibration_error: float | None
    interval: tuple[float, float] | None = None
    best: Confusion | None = None
    given: Confusion | None = None
    too_high: tuple[Case, ...] = ()
    too_low: tuple[Case, ...] = ()

    @property
    def auc(self) -> float | None:
        """The chance that a good completion scores above a bad one, a tie counting half; None if a class is missing."""
        return self.overall.auc

    @property
    def is_reversed(self) -> bool:
        """Whether bad completions score above good ones more often than below."""
        return self.auc is not None and self.auc < 0.5
