"""The figure of a calibration: the reliability curve above the scores of good and bad completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.analysis.component_calibration import ComponentCalibration
from rewardkit.analysis.reliability import Bin
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GOOD, _BAD, _CURVE = "#2a7f62", "#c8553d", "#31508c"


def draw(part: ComponentCalibration) -> Figure:
    """Draw the figure of one component, or of the total.

    Raises:
        MissingExtraError: matplotlib is not installed.
        RewardDefinitionError: no row has a score.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("Calibration.plot", "plot") from None
    if not part.reliability:
        raise RewardDefinitionError(f"plot: {part.name!r} has no scored row; choose another component")
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes: Any = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    curve, counts = axes
    _draw_curve(curve, part)
    _draw_counts(counts, part.reliability)
    if part.best is not None:
        for axis in axes:
            axis.axvline(part.best.threshold, color="gray", linewidth=1.0, linestyle="--")
        curve.plot([], [], color="gray", linewidth=1.0, linestyle="--", label=f"best cut {part.best.threshold:.3g}")
    for axis in axes:
        axis.grid(alpha=0.25)
    curve.legend(frameon=False, loc="best")
    return figure


def _draw_curve(curve: Any, part: ComponentCalibration) -> None:
    bins = part.reliability
    if part.calibration_error is not None:
        curve.plot([0, 1], [0, 1], color="gray", linestyle=":", label="score = share")
    scores, shares = [each.mean_score for each in bins], [each.mean_label for each in bins]
    curve.plot(scores, shares, "o-", color=_CURVE, linewidth=1.8, label=part.name.replace("$", r"\$"), clip_on=False)
    graded = bins[0].good is None
    curve.set_ylabel("mean label" if graded else "share of good completions")
    if not graded:
        curve.set_ylim(-0.03, 1.03)
    title = [
        f"{name} {value:.3f}"
        for name, value in (("AUC", part.auc), ("calibration error", part.calibration_error))
        if value is not None
    ]
    curve.set_title(", ".join(title), fontsize="medium")


def _draw_counts(counts: Any, bins: Sequence[Bin]) -> None:
    widths = [(each.highest - each.lowest) or 0.1 for each in bins]
    centers = [(each.lowest + each.highest) / 2.0 for each in bins]
    if bins[0].good is None:
        counts.bar(centers, [each.count for each in bins], width=widths, color=_CURVE, alpha=0.7)
    else:
        half = [width * 0.45 for width in widths]
        left = [center - width / 2.0 for center, width in zip(centers, half, strict=True)]
        right = [center + width / 2.0 for center, width in zip(centers, half, strict=True)]
        counts.bar(left, [each.count - (each.good or 0) for each in bins], width=half, color=_BAD, label="labeled bad")
        counts.bar(right, [each.good or 0 for each in bins], width=half, color=_GOOD, label="labeled good")
        counts.legend(frameon=False)
    counts.set_ylabel("completions")
    counts.set_xlabel("score")
