"""Calibration: the agreement of a reward and its components with trusted labels.

``calibration_of(table, labels, groups)`` reports how often a good completion scores above a bad completion for the same
prompt, the threshold that best separates good from bad completions, and the misjudged completions.
``rewardkit.testing.calibrate`` reads the data, scores it, and calls this function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.analyze.discrimination import Labels, Numbers, Pairs, auc_interval, pairs, round_scores, spearman
from rewardkit.batch.column import Column, Floats, Rows
from rewardkit.batch.score import Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import BindingError, MissingExtraError, RewardDefinitionError, near_miss
from rewardkit.progress.bounds import TOLERANCE, Bounds
from rewardkit.report.document import Block, Card, Cell, Document, Facts, Name, Paragraph, Part, Table
from rewardkit.report.values import UNKNOWN, decimal, excerpt, json_ready, percent, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Reliability: how to read a score as a number. Which threshold is best? How many completions that score 0.7 are good?


@dataclass(frozen=True)
class Confusion:
    """The confusion table at a threshold. A completion whose score is at least `threshold` is classified as good.

    Attributes:
        threshold: the lowest score that is classified as good, with a tolerance of 1e-9, as in gates.
        true_positives: the number of good completions that reach the threshold.
        false_positives: the number of bad completions that reach the threshold. Training would reward them by mistake.
        true_negatives: the number of bad completions that do not reach the threshold.
        false_negatives: the number of good completions that do not reach the threshold.
    """

    threshold: float
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int

    @property
    def accuracy(self) -> float | None:
        """The share of all rows that are classified correctly."""
        right = self.true_positives + self.true_negatives
        return _share(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of good completions among the completions that reach the threshold."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of good completions that reach the threshold."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float | None:
        """The share of bad completions that reach the threshold."""
        return _share(self.false_positives, self.false_positives + self.true_negatives)


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


def confusion(scores: Floats, labels: Rows, threshold: float) -> Confusion:
    """Return the confusion table at `threshold`; rows without a score (NaN) are excluded."""
    scored = ~np.isnan(scores)
    reached, good = round_scores(scores[scored]) >= threshold - TOLERANCE, labels[scored]
    return Confusion(
        float(threshold),
        int((reached & good).sum()),
        int((reached & ~good).sum()),
        int((~reached & ~good).sum()),
        int((~reached & good).sum()),
    )


def best_threshold(scores: Floats, labels: Rows) -> float | None:
    """Return the threshold that best separates good from bad (with the highest ``recall - false positive rate``).

    This difference is Youden's J (Youden 1950, Cancer 3:32), which does not depend on the share of good rows. Ties are
    broken by the highest accuracy, and then by the highest threshold. The result is one of `scores` (n,). It is None if
    a class is missing or if no threshold is better than classifying all rows as good.
    """
    scored = ~np.isnan(scores)
    good = labels[scored]
    if not good.any() or good.all():
        return None
    values, ranks = np.unique(round_scores(scores[scored]), return_inverse=True)
    reaching_good = np.cumsum(np.bincount(ranks, good, len(values))[::-1])[::-1]
    reaching_bad = np.cumsum(np.bincount(ranks, ~good, len(values))[::-1])[::-1]
    # Use integers, which compare exactly: J times both class counts, and the number of correct rows minus a constant.
    separation = reaching_good * (~good).sum() - reaching_bad * good.sum()
    best = np.lexsort((values, reaching_good - reaching_bad, separation))[-1]
    return float(values[best]) if separation[best] > 0 else None


@dataclass(frozen=True)
class Bin:
    """A bin of the reliability curve: the rows whose scores are between `lowest` and `highest`.

    Attributes:
        mean_score: these rows' mean score.
        mean_label: the share of good completions among these rows, or their mean grade.
        good: the number of good completions, or None for grades.
    """

    lowest: float
    highest: float
    count: int
    mean_score: float
    mean_label: float
    good: int | None


def reliability(scores: Floats, labels: Labels, *, bins: int = 10, limits: Bounds | None = None) -> tuple[Bin, ...]:
    """Return the reliability curve: scores in bins of equal width, with each bin's share of good completions.

    Args:
        scores: (n,), or NaN if there is no score.
        labels: (n,) bool, or grades.
        bins: the number of bins.
        limits: the start of the first bin and the end of the last bin. The default is 0 and 1 if all scores are between
            them; otherwise, the lowest and the highest score.

    Returns:
        The nonempty bins (Niculescu-Mizil and Caruana 2005, ICML).
    """
    scored = ~np.isnan(scores)
    if not scored.any():
        return ()
    values, scored_labels = round_scores(scores[scored]), np.asarray(labels)[scored]
    if limits is None:
        limits = (0.0, 1.0) if is_share(values) else (float(values.min()), float(values.max()))
    low, high = limits
    width = high - low
    positions = np.floor((values - low) / width * bins + TOLERANCE) if width > 0.0 else np.zeros(len(values))
    numbers = np.clip(positions, 0, bins - 1).astype(np.int64)
    curve = []
    for number in np.unique(numbers).tolist():
        rows = numbers == number
        curve.append(
            Bin(
                lowest=low + width * number / bins,
                highest=low + width * (number + 1) / bins if width > 0.0 else high,
                count=int(rows.sum()),
                mean_score=float(values[rows].mean()),
                mean_label=float(scored_labels[rows].mean()),
                good=int(scored_labels[rows].sum()) if scored_labels.dtype == np.bool_ else None,
            )
        )
    return tuple(curve)


def is_share(values: Floats) -> bool:
    """Return whether all known `values` (n,) are between 0 and 1 and can therefore be interpreted as probabilities."""
    known_values = values[~np.isnan(values)]
    return bool(known_values.size and known_values.min() >= -TOLERANCE and known_values.max() <= 1.0 + TOLERANCE)


def calibration_error(bins: tuple[Bin, ...]) -> float | None:
    """Return the expected calibration error: ``sum(count / n * |mean score - mean label|)`` over the bins.

    The result is between 0 and 1, or None if there are no bins (Naeini, Cooper, and Hauskrecht 2015, AAAI; Guo et al.
    2017, arXiv:1706.04599).
    """
    total = sum(part.count for part in bins)
    if not total:
        return None
    return sum(part.count * abs(part.mean_score - part.mean_label) for part in bins) / total


@dataclass(frozen=True)
class Saturation:
    """The shares of scored rows at the ends of the scale, where the score cannot distinguish completions.

    Attributes:
        lowest, highest: the lowest and highest score that occur.
        at_lowest, at_highest: the shares of rows with those scores.
        at_lower_bound, at_upper_bound: the shares of rows at the declared bounds, or None if the bound is not declared.
    """

    lowest: float
    highest: float
    at_lowest: float
    at_highest: float
    at_lower_bound: float | None
    at_upper_bound: float | None


def saturation(scores: Floats, bounds: Bounds | None = None) -> Saturation | None:
    """Return the shares of `scores` (n,) at the ends of the observed and declared ranges, or None without scores."""
    values = round_scores(scores[~np.isnan(scores)])
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())

    def share(of: float) -> float | None:
        return float((np.abs(values - of) <= TOLERANCE).mean()) if np.isfinite(of) else None

    lower, upper = bounds or (-np.inf, np.inf)
    return Saturation(
        low, high, float((values == low).mean()), float((values == high).mean()), share(lower), share(upper)
    )


# Misjudged completions: bad ones that score high and good ones that score low, with the notes of their scores.


@dataclass(frozen=True)
class Case:
    """A misjudged completion: row 17 is good but scored 0.2.

    Attributes:
        row: the row number in the data, counted from 0.
        scores: component -> score, for components that have a score.
        notes: component -> the score's note, for components that have a note.
    """

    row: int
    label: bool
    score: float
    completion: str
    scores: Mapping[str, float]
    notes: Mapping[str, str]


def misjudged(
    scores: Floats,
    good: Rows,
    completions: Sequence[str],
    components: Mapping[str, Column],
    *,
    rows: Numbers | None = None,
    limit: int = 5,
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return the bad completions that score as high as a good one, and the good completions that score as low as a bad
    one.

    Args:
        scores: (n,), or NaN if there is no score.
        good: (n,) the labels.
        completions: n texts.
        components: the components to show for each case.
        rows: (n,) each row's number in the data. The default is the row's position.
        limit: the maximum number of cases of each kind, worst first, with ties in row order.
    """
    values = round_scores(scores)
    scored = ~np.isnan(values)
    if not (scored & good).any() or not (scored & ~good).any():
        return (), ()
    names = np.arange(len(scores)) if rows is None else rows
    scored_by = {name: column.scored for name, column in components.items()}

    def cases(positions: Numbers) -> tuple[Case, ...]:
        return tuple(
            Case(
                row=int(names[position]),
                label=bool(good[position]),
                score=float(values[position]),
                completion=completions[position],
                scores={name: float(of[position]) for name, of in scored_by.items() if not np.isnan(of[position])},
                notes={
                    name: column.notes[position] for name, column in components.items() if column.notes.get(position)
                },
            )
            for position in positions[:limit].tolist()
        )

    too_high = np.flatnonzero(scored & ~good & (values >= values[scored & good].min()))
    too_low = np.flatnonzero(scored & good & (values <= values[scored & ~good].max()))
    return (
        cases(too_high[np.argsort(-values[too_high], kind="stable")]),
        cases(too_low[np.argsort(values[too_low], kind="stable")]),
    )


# The agreement of one component of a reward, or of its total, with labels.


@dataclass(frozen=True)
class ComponentCalibration:
    """The agreement of one component or the total with the labels.

    Attributes:
        scored, unscored: the numbers of rows with and without a score. A component behind a closed gate does not have a
            score, so all numbers cover only the rows that reached it.
        within, overall: pairs of a better and a worse completion for the same prompt (`within`) and for all prompts
            (`overall`).
        spearman: the rank correlation with the labels, or None if all scores or all labels are the same.
        saturation: the shares at the ends of the scale, or None if there are no scores.
        reliability: scores in bins, with each bin's share of good completions.
        calibration_error: the mean distance between the score and the share of good completions, or None if scores or
            labels are outside 0 to 1.
        interval: the 95% confidence interval for the AUC, from a bootstrap over whole groups.
        best: the confusion table at the best threshold, or None for grades or if no threshold separates good from bad.
        given: the confusion table at the threshold that you passed; only for the total.
        too_high: bad completions that score at least as high as some good completion, highest score first.
        too_low: good completions that score at most as high as some bad completion, lowest score first.
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
        """The probability that a good completion scores above a bad one (ties count half); None if a class is empty."""
        return self.overall.auc

    @property
    def is_reversed(self) -> bool:
        """Whether bad completions score above good completions more often than below them."""
        # With an AUC below 0.5, the higher score more often goes to the worse completion.
        return self.auc is not None and self.auc < 0.5


# The figure of a calibration: the reliability curve, and below it a histogram of good and bad completions by score.


_GOOD, _BAD, _CURVE = "#2a7f62", "#c8553d", "#31508c"


def draw(calibration: ComponentCalibration) -> Figure:
    """Draw the figure for one component or the total.

    Raises:
        MissingExtraError: matplotlib is not installed.
        RewardDefinitionError: no row has a score.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("Calibration.plot", "plot") from None
    if not calibration.reliability:
        raise RewardDefinitionError(f"plot: {calibration.name!r} has no scored rows. Choose another component")
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes: Any = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    curve, counts = axes
    _draw_curve(curve, calibration)
    _draw_counts(counts, calibration.reliability)
    if calibration.best is not None:
        for axis in axes:
            axis.axvline(calibration.best.threshold, color="gray", linewidth=1.0, linestyle="--")
        curve.plot(
            [], [], color="gray", linewidth=1.0, linestyle="--", label=f"best cut {calibration.best.threshold:.3g}"
        )
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


# The report of a calibration: tables of ranks and scales, the confusion table, misjudged cases, warnings.


def _ranks(parts: Sequence[ComponentCalibration]) -> Table:
    titles = ["right", "tied", "wrong"]
    rows: list[list[Cell]] = []
    for part in parts:
        interval = UNKNOWN if part.interval is None else f"{part.interval[0]:.3f} to {part.interval[1]:.3f}"
        counts = (cell for pairs in (part.within, part.overall) for cell in (f"{pairs.count:,}", *_shares(pairs)))
        rows.append([Name(part.name), decimal(part.auc), interval, *counts])
    return Table(rows, ["", "AUC", "95%", "pairs of one prompt", *titles, "all pairs", *titles])


def _shares(pairs: Pairs) -> tuple[str, str, str]:
    return percent(pairs.accuracy), percent(pairs.ties), percent(pairs.inversions)


def _scales(parts: Sequence[ComponentCalibration]) -> Table:
    rows: list[list[Cell]] = []
    for part in parts:
        scale, best = part.saturation, part.best
        end_cells = [UNKNOWN] * 4
        if scale is not None:
            end_cells = [short(scale.lowest), percent(scale.at_lowest), short(scale.highest), percent(scale.at_highest)]
        threshold_cells = [UNKNOWN] * 4
        if best is not None:
            threshold_cells = [
                short(best.threshold),
                percent(best.accuracy),
                percent(best.precision),
                percent(best.recall),
            ]
        error = decimal(part.calibration_error)
        rows.append([Name(part.name), f"{part.scored:,}", *end_cells, decimal(part.spearman), *threshold_cells, error])
    end_cells = ["lowest", "at it", "highest", "at it"]
    threshold_cells = ["best cut", "accuracy", "precision", "recall"]
    return Table(rows, ["", "scored", *end_cells, "Spearman", *threshold_cells, "calibration error"])


def _confusion(table: Confusion) -> Table:
    rows = [
        ["score reaches it", f"{table.true_positives:,}", f"{table.false_positives:,}"],
        ["score does not", f"{table.false_negatives:,}", f"{table.true_negatives:,}"],
    ]
    return Table(rows, ["", "labeled good", "labeled bad"])


def _curve(bins: Sequence[Bin]) -> Table:
    rows = [
        [
            f"{short(part.lowest)} to {short(part.highest)}",
            f"{part.count:,}",
            decimal(part.mean_score),
            decimal(part.mean_label),
        ]
        for part in bins
    ]
    return Table(rows, ["score", "completions", "mean score", "mean label"])


def _case(case: Case) -> Card:
    parts = ", ".join(f"{name} {short(score)}" for name, score in case.scores.items())
    component_text = f" ({parts})" if len(case.scores) > 1 else ""
    title = f"row {case.row}, {short(case.score)}{component_text}: {excerpt(case.completion, 100)}"
    return Card(title, [Facts([(name, excerpt(note, 100)) for name, note in case.notes.items()])])


TOTAL = "total"
"""The name that stands for the whole reward in tables of its components."""

TOO_MANY_TIES = 0.25
"""A warning is issued if more than this share of pairs within prompts is tied. The value is arbitrary: tied pairs do
not show which completion is better."""


@dataclass(frozen=True)
class Calibration:
    """The agreement of a reward with labels, for ``print(calibration)`` or ``calibration.plot("reliability.png")``.

    Attributes:
        rows, groups: the number of completions and the number of prompts.
        good, bad: the number of completions with this label, or None for grades.
        total: the agreement of the whole reward.
        components: each component's agreement.
        warnings: probable problems, one sentence each.
    """

    rows: int
    groups: int
    good: int | None
    bad: int | None
    total: ComponentCalibration
    components: tuple[ComponentCalibration, ...]
    warnings: tuple[str, ...] = ()

    @property
    def reversed_components(self) -> tuple[str, ...]:
        """The components that score bad completions above good completions (AUC below 0.5)."""
        return tuple(component.name for component in self.components if component.is_reversed)

    def __getitem__(self, name: str) -> ComponentCalibration:
        """Return the calibration of one component or of ``"total"``."""
        calibrations = {component.name: component for component in (*self.components, self.total)}
        if name not in calibrations:
            raise KeyError(
                f"no component {name!r}. Components: {', '.join(calibrations)}.{near_miss(name, calibrations)}"
            )
        return calibrations[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain JSON values, including the shares that are computed from counts."""
        plain: dict[str, Any] = json_ready(self)
        parts = [(plain["total"], self.total), *zip(plain["components"], self.components, strict=True)]
        for target, component in parts:
            target["auc"] = component.auc
            for name, pair_counts in (("within", component.within), ("overall", component.overall)):
                target[name] |= {
                    "accuracy": pair_counts.accuracy,
                    "ties": pair_counts.ties,
                    "inversions": pair_counts.inversions,
                }
            for name, table in (("best", component.best), ("given", component.given)):
                if table is not None:
                    rates = ("accuracy", "precision", "recall", "false_positive_rate")
                    target[name] |= {rate: getattr(table, rate) for rate in rates}
        return plain | {"reversed_components": list(self.reversed_components)}

    def plot(self, path: str | Path | None = None, *, component: str = TOTAL) -> Figure:
        """Draw the reliability curve and the scores of good and bad completions; save the figure to `path` if given.

        Raises:
            MissingExtraError: matplotlib is not installed.
            KeyError: no component is named `component`.
            RewardDefinitionError: no row has a score, so there is nothing to draw.
        """

        figure = draw(self[component])
        if path is not None:
            figure.savefig(path)
        return figure

    @property
    def document(self) -> Document:
        """The calibration report."""
        labels = "grades" if self.good is None else f"{self.good:,} good, {self.bad:,} bad"
        parts = [*self.components, self.total]
        if len(parts) == 2 and parts[0].overall == self.total.overall:
            parts = [self.total]  # a single component equals the total
        blocks: list[Block] = [
            Paragraph(f"{self.rows:,} completions of {self.groups:,} prompts: {labels}"),
            Part("Does the better completion score higher?", [_ranks(parts)]),
            Part("Meaning of the scores", [_scales(parts)]),
        ]
        for table, origin in ((self.total.best, "the best threshold"), (self.total.given, "your threshold")):
            if table is not None:
                title = f"Confusion of the total at {short(table.threshold)} ({origin})"
                blocks.append(Part(title, [_confusion(table)]))
        if len(self.total.reliability) > 1:
            blocks.append(Part("How often is it good, by score of the total?", [_curve(self.total.reliability)]))
        for title, cases in (
            ("Bad completions with the highest total", self.total.too_high),
            ("Good completions with the lowest total", self.total.too_low),
        ):
            if cases:
                blocks.append(Part(title, list(map(_case, cases))))
        return Document("Calibration", [*blocks, *(Paragraph(warning, "note") for warning in self.warnings)])

    def __str__(self) -> str:
        return self.document.text()


def calibration_of(
    table: ScoreTable,
    labels: Labels,
    groups: Numbers,
    *,
    rows: Numbers | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    threshold: float | None = None,
    bins: int = 10,
    cases: int = 5,
    replicates: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Return how well the total and the components in `table` agree with `labels`.

    Args:
        table: n rows, as returned by ``rk.score``.
        labels: (n,) bool, True for good; or grades, where higher is better.
        groups: (n,) the prompt of each row, as a number.
        rows: (n,) the number to show for each row in the misjudged cases. The default is the row's position.
        bounds: component (or ``"total"``) -> the lowest and the highest possible score.
        threshold: a threshold at which to also show the total's confusion table.
        bins: the number of bins in the reliability curve.
        cases: the number of misjudged completions to keep for each kind.
        replicates: the number of bootstrap samples for the AUC's confidence interval, or 0 for no interval.
        seed: the bootstrap's random seed.

    Raises:
        BindingError: `labels` or `groups` does not have one value per row.
    """
    for name, values in (("labels", labels), ("groups", groups)):
        if len(values) != len(table):
            raise BindingError(f"{name} has {len(values)} values for {len(table)} rows. Pass one value per row")
    good = labels.astype(np.bool_) if labels.dtype == np.bool_ else None
    comparison = _Comparison(labels, groups, bounds or {}, bins)
    judgment = None if good is None else _Judgment(good, groups, table.completions, rows, cases, replicates, seed)

    def calibrated(name: str, scores: Floats, columns: Mapping[str, Column]) -> ComponentCalibration:
        agreement = comparison.of(name, scores)
        return agreement if judgment is None else judgment.added_to(agreement, scores, columns)

    total = calibrated(TOTAL, table.total, table.components)
    if good is not None and threshold is not None:
        total = replace(total, given=confusion(table.total, good, threshold))
    calibration = Calibration(
        rows=len(table),
        groups=len(np.unique(groups)),
        good=None if good is None else int(good.sum()),
        bad=None if good is None else int((~good).sum()),
        total=total,
        components=tuple(calibrated(name, table[name], {name: column}) for name, column in table.components.items()),
    )
    return replace(calibration, warnings=(*_faults(table), *_warnings(calibration)))


@dataclass(frozen=True)
class _Comparison:
    """The statistics that exist for both labels and grades."""

    labels: Labels
    groups: Numbers
    bounds: Mapping[str, Bounds]
    bins: int

    def of(self, name: str, scores: Floats) -> ComponentCalibration:
        declared = self.bounds.get(name)
        curve = reliability(scores, self.labels, bins=self.bins)
        scored = int((~np.isnan(scores)).sum())
        return ComponentCalibration(
            name=name,
            scored=scored,
            unscored=len(scores) - scored,
            within=pairs(scores, self.labels, self.groups),
            overall=pairs(scores, self.labels),
            spearman=spearman(scores, self.labels),
            saturation=saturation(scores, declared),
            reliability=curve,
            calibration_error=calibration_error(curve) if _are_shares(scores, self.labels, declared) else None,
        )


@dataclass(frozen=True)
class _Judgment:
    """The statistics that exist only for good/bad labels: thresholds, confidence intervals, misjudged completions."""

    good: Rows
    groups: Numbers
    completions: Sequence[str]
    rows: Numbers | None
    cases: int
    replicates: int
    seed: int

    def added_to(
        self, agreement: ComponentCalibration, scores: Floats, columns: Mapping[str, Column]
    ) -> ComponentCalibration:
        best = best_threshold(scores, self.good)
        too_high, too_low = misjudged(scores, self.good, self.completions, columns, rows=self.rows, limit=self.cases)
        return replace(
            agreement,
            interval=auc_interval(scores, self.good, self.groups, replicates=self.replicates, seed=self.seed),
            best=None if best is None else confusion(scores, self.good, best),
            too_high=too_high,
            too_low=too_low,
        )


def _are_shares(scores: Floats, labels: Labels, declared: Bounds | None) -> bool:
    """Return whether all scores, labels, and declared bounds are between 0 and 1, as proportions are."""
    return all(map(is_share, (scores, np.asarray(labels, dtype=np.float64), np.array(declared or (0.0, 1.0)))))


def _faults(table: ScoreTable) -> Iterator[str]:
    """Yield a sentence for each component that failed or errored while scoring."""
    for name in table.components:
        for outcome in (Outcome.FAILED, Outcome.ERRORED):
            faults = [fault for fault in table.faults if (fault.component, fault.outcome) == (name, outcome)]
            if faults:
                yield (
                    f"{name!r} {outcome} on {len(faults):,} of {len(table):,} completions, first in row "
                    f"{faults[0].row}: {excerpt(faults[0].reason, 160)}"
                )


def _warnings(report: Calibration) -> Iterator[str]:
    """Yield a sentence with numbers for each probable problem."""
    if report.good is not None and not (report.good and report.bad):
        yield f"all {report.rows:,} labels are {'good' if report.good else 'bad'}. Add completions with the other label"
    if report.total.unscored:
        yield f"{report.total.unscored:,} of {report.rows:,} completions have no total score and do not count"
    is_single = len(report.components) == 1 and report.components[0].overall == report.total.overall
    for component in (report.total, *(() if is_single else report.components)):
        subject = "the total" if component is report.total else repr(component.name)
        auc = f"{subject} has an AUC of {decimal(component.auc)}"
        low, high = component.interval or (0.0, 0.0)
        if component.is_reversed and (component.interval is None or high < 0.5):
            yield f"{auc} and points the wrong way: bad completions usually score above good ones"
        elif component.is_reversed:
            yield f"{auc}, below 0.5, but this may be chance (95%: {low:.3f} to {high:.3f})"
        elif component.auc is not None and component.interval and low <= 0.5:
            yield f"{auc}, which could be chance (95%: {low:.3f} to {high:.3f})"
    within = report.total.within
    if not within.count:
        yield "no prompt has both a better and a worse completion, so this data cannot show what GRPO would learn"
    elif within.tied > TOO_MANY_TIES * within.count:
        yield (
            f"{percent(within.ties)} of the pairs from the same prompt tie in the total: GRPO learns nothing from them"
        )
