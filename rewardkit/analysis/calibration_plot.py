"""A calibration as a picture: above the reliability curve, below the scores of good and bad completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rewardkit.analysis.calibration import ComponentCalibration

_GOOD, _BAD, _CURVE = "#2a7f62", "#c8553d", "#31508c"


def draw(part: ComponentCalibration) -> Figure:
    """The figure of one component, or of the total.

    Raises:
        MissingExtraError: matplotlib is not installed.
        RewardDefinitionError: nothing was scored.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("Calibration.plot", "plot") from None
    bins = part.reliability
    if not bins:
        raise RewardDefinitionError(f"plot: {part.name!r} has no scored row, there is nothing to draw")
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes: Any = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    curve, counts = axes
    if part.calibration_error is not None:
        curve.plot([0, 1], [0, 1], color="gray", linestyle=":", label="score = share")
    scores, shares = [one.mean_score for one in bins], [one.mean_label for one in bins]
    curve.plot(scores, shares, "o-", color=_CURVE, linewidth=1.8, label=part.name.replace("$", r"\$"), clip_on=False)
    graded = bins[0].good is None
    curve.set_ylabel("mean label" if graded else "share of good completions")
    if not graded:
        curve.set_ylim(-0.03, 1.03)
    said = [
        f"{name} {value:.3f}"
        for name, value in (("AUC", part.auc), ("calibration error", part.calibration_error))
        if value is not None
    ]
    curve.set_title(", ".join(said), fontsize="medium")
    widths = [(one.highest - one.lowest) or 0.1 for one in bins]
    places = [(one.lowest + one.highest) / 2.0 for one in bins]
    if graded:
        counts.bar(places, [one.count for one in bins], width=widths, color=_CURVE, alpha=0.7)
    else:
        half = [width * 0.45 for width in widths]
        left = [place - width / 2.0 for place, width in zip(places, half, strict=True)]
        right = [place + width / 2.0 for place, width in zip(places, half, strict=True)]
        counts.bar(left, [one.count - (one.good or 0) for one in bins], width=half, color=_BAD, label="labeled bad")
        counts.bar(right, [one.good or 0 for one in bins], width=half, color=_GOOD, label="labeled good")
        counts.legend(frameon=False)
    if part.best is not None:
        for axis in axes:
            axis.axvline(part.best.threshold, color="gray", linewidth=1.0, linestyle="--")
        curve.plot([], [], color="gray", linewidth=1.0, linestyle="--", label=f"best cut {part.best.threshold:.3g}")
    counts.set_ylabel("completions")
    counts.set_xlabel("score")
    for axis in axes:
        axis.grid(alpha=0.25)
    curve.legend(frameon=False, loc="best")
    return figure
