"""Calibration: whether a reward agrees with trusted labels, as a whole and component by component.

``calibration_of(table, labels, groups)`` reports how often a good completion scores above a bad one of the same prompt,
which threshold separates them best, and which completions are misjudged. ``rewardkit.testing.calibration.calibrate``
reads the data, scores it, and calls this function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.analysis.calibration_text import as_text
from rewardkit.analysis.component_calibration import ComponentCalibration
from rewardkit.analysis.discrimination import Labels, Numbers, auc_interval, pairs, spearman
from rewardkit.analysis.misjudged import misjudged
from rewardkit.analysis.presentation import decimal, excerpt, json_ready, percent
from rewardkit.analysis.reliability import (
    best_threshold,
    calibration_error,
    confusion,
    is_share,
    reliability,
    saturation,
)
from rewardkit.core.batch.column import Column, Floats, Rows
from rewardkit.core.batch.score import Outcome
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import BindingError, near_miss
from rewardkit.core.progress.bounds import Bounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOTAL = "total"
"""The name of the reward as a whole in tables of its components."""

TOO_MANY_TIES = 0.25
"""Warn if at least this share of the pairs of one prompt tie."""


@dataclass(frozen=True)
class Calibration:
    """A reward against labels. ``print(calibration)`` shows it, ``calibration.plot("reliability.png")`` draws it.

    Attributes:
        rows, groups: how many completions, and of how many prompts.
        good, bad: how many completions of each label; None for grades.
        total: the agreement of the reward as a whole.
        components: the agreement of each component.
        warnings: probable problems, in sentences.
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
        """The components that pay bad completions more than good ones (AUC below 0.5)."""
        return tuple(component.name for component in self.components if component.is_reversed)

    def __getitem__(self, name: str) -> ComponentCalibration:
        """Return the calibration of one component, or of ``"total"``."""
        known = {component.name: component for component in (*self.components, self.total)}
        if name not in known:
            raise KeyError(f"no component {name!r}; the components are: {', '.join(known)}.{near_miss(name, known)}")
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain JSON values, including the shares computed from the counts."""
        plain: dict[str, Any] = json_ready(self)
        parts = [(plain["total"], self.total), *zip(plain["components"], self.components, strict=True)]
        for target, component in parts:
            target["auc"] = component.auc
            for name, found in (("within", component.within), ("overall", component.overall)):
                target[name] |= {"accuracy": found.accuracy, "ties": found.ties, "inversions": found.inversions}
            for name, table in (("best", component.best), ("given", component.given)):
                if table is not None:
                    rates = ("accuracy", "precision", "recall", "false_positive_rate")
                    target[name] |= {rate: getattr(table, rate) for rate in rates}
        return plain | {"reversed_components": list(self.reversed_components)}

    def plot(self, path: str | Path | None = None, *, component: str = TOTAL) -> Figure:
        """Draw the reliability curve above the scores of good and bad completions; save the figure to `path` if given.

        Raises:
            MissingExtraError: matplotlib is not installed.
            KeyError: there is no such component.
            RewardDefinitionError: no row has a score, so there is nothing to draw.
        """
        from rewardkit.analysis.calibration_plot import draw

        figure = draw(self[component])
        if path is not None:
            figure.savefig(path)
        return figure

    def __str__(self) -> str:
        labels = "grades" if self.good is None else f"{self.good:,} good, {self.bad:,} bad"
        headline = f"{self.rows:,} completions of {self.groups:,} prompts: {labels}"
        return as_text(headline, self.total, self.components, self.warnings)


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
    """Return how well the total and the components of `table` agree with `labels`.

    Args:
        table: n rows, as returned by ``rk.score``.
        labels: (n,) bool, True for good; or grades, where higher is better.
        groups: (n,) the prompt of each row, as a number.
        rows: (n,) the number to show for each row in the misjudged cases; by default its position.
        bounds: component (or ``"total"``) -> the lowest and highest value it can give.
        threshold: also show the confusion table of the total at this threshold.
        bins: number of bins of the reliability curve.
        cases: how many misjudged completions of each kind to keep.
        replicates: number of bootstrap samples for the interval of the AUC; 0 for no interval.
        seed: seed of the bootstrap.

    Raises:
        BindingError: `labels` or `groups` does not have one value per row.
    """
    for name, values in (("labels", labels), ("groups", groups)):
        if len(values) != len(table):
            raise BindingError(f"{name} has {len(values)} values for {len(table)} rows; pass one value per row")
    good = labels.astype(np.bool_) if labels.dtype == np.bool_ else None
    comparison = _Comparison(labels, groups, bounds or {}, bins)
    judgment = None if good is None else _Judgment(good, groups, table.completions, rows, cases, replicates, seed)

    def calibrated(name: str, scores: Floats, shown: Mapping[str, Column]) -> ComponentCalibration:
        found = comparison.of(name, scores)
        return found if judgment is None else judgment.added_to(found, scores, shown)

    total = calibrated(TOTAL, table.total, table.components)
    if good is not None and threshold is not None:
        total = replace(total, given=confusion(table.total, good, threshold))
    found = Calibration(
        rows=len(table),
        groups=len(np.unique(groups)),
        good=None if good is None else int(good.sum()),
        bad=None if good is None else int((~good).sum()),
        total=total,
        components=tuple(calibrated(name, table[name], {name: column}) for name, column in table.components.items()),
    )
    return replace(found, warnings=(*_faults(table), *_warnings(found)))


@dataclass(frozen=True)
class _Comparison:
    """The numbers that labels and grades both have."""

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
    """The numbers that only good and bad labels have: thresholds, intervals, misjudged completions."""

    good: Rows
    groups: Numbers
    completions: Sequence[str]
    rows: Numbers | None
    cases: int
    replicates: int
    seed: int

    def added_to(
        self, found: ComponentCalibration, scores: Floats, shown: Mapping[str, Column]
    ) -> ComponentCalibration:
        best = best_threshold(scores, self.good)
        too_high, too_low = misjudged(scores, self.good, self.completions, shown, rows=self.rows, limit=self.cases)
        return replace(
            found,
            interval=auc_interval(scores, self.good, self.groups, replicates=self.replicates, seed=self.seed),
            best=None if best is None else confusion(scores, self.good, best),
            too_high=too_high,
            too_low=too_low,
        )


def _are_shares(scores: Floats, labels: Labels, declared: Bounds | None) -> bool:
    """Whether scores and labels can be compared as shares: both lie between 0 and 1, and the bounds keep them there."""
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


def _warnings(found: Calibration) -> Iterator[str]:
    """Yield the probable problems as sentences with numbers."""
    if found.good is not None and not (found.good and found.bad):
        yield f"all {found.rows:,} labels are {'good' if found.good else 'bad'}; add completions with the other label"
    if found.total.unscored:
        yield f"{found.total.unscored:,} of {found.rows:,} completions have no total score and are left out"
    alone = len(found.components) == 1 and found.components[0].overall == found.total.overall
    for component in (found.total, *(() if alone else found.components)):
        subject = "the total" if component is found.total else repr(component.name)
        auc = f"{subject} has an AUC of {decimal(component.auc)}"
        low, high = component.interval or (0.0, 0.0)
        if component.is_reversed and (component.interval is None or high < 0.5):
            yield f"{auc} and points the wrong way: bad completions usually score above good ones"
        elif component.is_reversed:
            yield f"{auc}, below 0.5, but this may be chance (95 %: {low:.3f} to {high:.3f})"
        elif component.auc is not None and component.interval and low <= 0.5:
            yield f"{auc}, which could be chance (95 %: {low:.3f} to {high:.3f})"
    within = found.total.within
    if not within.count:
        yield "no prompt has both a better and a worse completion, so this data cannot show what GRPO would learn"
    elif within.tied > TOO_MANY_TIES * within.count:
        yield f"{percent(within.ties)} of the pairs of one prompt tie in the total: GRPO learns nothing from them"
