"""Calibration: whether a reward agrees with labels that somebody trusts, as a whole and component by component.

``calibration_of(table, labels, groups)`` says how often a good completion scores above a bad one of the same prompt,
where to cut the score, and shows the completions that are misjudged. ``rewardkit.testing.calibration.calibrate`` reads
the data, scores it, and calls this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.analysis.calibration_text import as_text
from rewardkit.analysis.discrimination import Labels, Numbers, Pairs, auc_interval, pairs, spearman
from rewardkit.analysis.misjudged import Case, misjudged
from rewardkit.analysis.presentation import decimal, excerpt, json_ready, percent
from rewardkit.analysis.reliability import (
    Bin,
    Confusion,
    Saturation,
    best_threshold,
    calibration_error,
    confusion,
    is_share,
    reliability,
    saturation,
)
from rewardkit.core.batch.column import Column, Floats
from rewardkit.core.batch.score import Outcome
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import BindingError, near_miss
from rewardkit.core.progress.bounds import Bounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOTAL = "total"
"""What the reward as a whole is called beside its components."""

TOO_MANY_TIES = 0.25
"""The share of tied pairs of one prompt from which on it is worth a warning."""


@dataclass(frozen=True)
class ComponentCalibration:
    """How one component, or the total, agrees with the labels.

    Attributes:
        scored, unscored: rows with and without a score. A component behind a closed gate has none, and its numbers are
            those of the rows that reached it.
        within, overall: pairs of a better and a worse completion, of one prompt and of any.
        spearman: rank correlation with the labels; None where either is all alike.
        saturation: the shares at the ends of the scale; None if nothing is scored.
        reliability: scores in bins, with the share of good ones in each.
        calibration_error: how far scores and shares are apart; None where scores or labels leave 0 to 1.
        interval: 95 % bootstrap interval of the AUC over whole groups.
        best: the confusion table at the best threshold; None for grades, and where no threshold separates.
        given: the one at the threshold that was asked for, for the total.
        too_high: bad ones that score no lower than some good one, the highest first.
        too_low: good ones that score no higher than some bad one, the lowest first.
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
        """The chance that a good completion scores above a bad one, a tie counting half; None without both."""
        return self.overall.auc

    @property
    def is_reversed(self) -> bool:
        """Whether it pays the bad ones more than the good ones."""
        return self.auc is not None and self.auc < 0.5


@dataclass(frozen=True)
class Calibration:
    """A reward against labels. ``print(calibration)`` shows it, ``calibration.plot("reliability.png")`` draws it.

    Attributes:
        rows, groups: how many completions, and of how many prompts.
        good, bad: how many completions of each label; None for grades.
        total: the reward as a whole.
        components: each of its components.
        warnings: what is probably not as it should be, in sentences.
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
        """One component, or ``"total"``."""
        known = {component.name: component for component in (*self.components, self.total)}
        if name not in known:
            raise KeyError(f"no component {name!r}; there are: {', '.join(known)}.{near_miss(name, known)}")
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON can hold, with the shares that follow from the counts."""
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
        """The reliability curve, and the scores of good and bad completions, as a figure; saved to `path` if given.

        Raises:
            MissingExtraError: matplotlib is not installed.
            KeyError: there is no such component.
            RewardDefinitionError: nothing was scored, so that there is nothing to draw.
        """
        from rewardkit.analysis.calibration_plot import draw

        figure = draw(self[component])
        if path is not None:
            figure.savefig(path)
        return figure

    def __str__(self) -> str:
        return as_text(self)


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
    """How the total and the components of `table` agree with `labels`.

    Args:
        table: n rows, as ``rk.score`` gives them.
        labels: (n,) bool, True for good; or grades, of which a higher one is better.
        groups: (n,) the prompt of each row, as a number.
        rows: (n,) what each row is called where a case is shown; its position by default.
        bounds: component (or ``"total"``) -> the lowest and highest value it can give.
        threshold: also show what this threshold makes of the total.
        bins: bins of the reliability curve.
        cases: how many misjudged completions of each kind are kept.
        replicates: bootstrap samples for the interval of the AUC; 0 for none.
        seed: of the bootstrap.

    Raises:
        BindingError: labels or groups are not one per row.
    """
    for name, values in (("labels", labels), ("groups", groups)):
        if len(values) != len(table):
            raise BindingError(f"{name} has {len(values)} values for {len(table)} rows; one per row is needed")
    good = labels.astype(np.bool_) if labels.dtype == np.bool_ else None

    def calibrated(name: str, scores: Floats, own: Mapping[str, Column]) -> ComponentCalibration:
        declared = (bounds or {}).get(name)
        curve = reliability(scores, labels, bins=bins)
        scored = int((~np.isnan(scores)).sum())
        found = ComponentCalibration(
            name=name,
            scored=scored,
            unscored=len(scores) - scored,
            within=pairs(scores, labels, groups),
            overall=pairs(scores, labels),
            spearman=spearman(scores, labels),
            saturation=saturation(scores, declared),
            reliability=curve,
            calibration_error=calibration_error(curve) if _are_shares(scores, labels, declared) else None,
        )
        if good is None:
            return found
        best = best_threshold(scores, good)
        too_high, too_low = misjudged(scores, good, table.completions, own, rows=rows, limit=cases)
        return replace(
            found,
            interval=auc_interval(scores, good, groups, replicates=replicates, seed=seed),
            best=None if best is None else confusion(scores, good, best),
            given=None if threshold is None or name != TOTAL else confusion(scores, good, threshold),
            too_high=too_high,
            too_low=too_low,
        )

    found = Calibration(
        rows=len(table),
        groups=len(np.unique(groups)),
        good=None if good is None else int(good.sum()),
        bad=None if good is None else int((~good).sum()),
        total=calibrated(TOTAL, table.total, table.components),
        components=tuple(calibrated(name, table[name], {name: column}) for name, column in table.components.items()),
    )
    return replace(found, warnings=(*_faults(table), *_warnings(found)))


def _are_shares(scores: Floats, labels: Labels, declared: Bounds | None) -> bool:
    """Whether scores and labels can be held against each other as shares: both lie between 0 and 1, and always will."""
    return all(map(is_share, (scores, np.asarray(labels, dtype=np.float64), np.array(declared or (0.0, 1.0)))))


def _faults(table: ScoreTable) -> Iterator[str]:
    """What went wrong while scoring, by component."""
    for name in table.components:
        for outcome in (Outcome.FAILED, Outcome.ERRORED):
            faults = [fault for fault in table.faults if (fault.component, fault.outcome) == (name, outcome)]
            if faults:
                yield (
                    f"{name!r} {outcome} on {len(faults):,} of {len(table):,} completions, the first time in row "
                    f"{faults[0].row}: {excerpt(faults[0].reason, 160)}"
                )


def _warnings(found: Calibration) -> Iterator[str]:
    """What is probably not as it should be, in sentences with numbers."""
    if found.good is not None and not (found.good and found.bad):
        yield f"all {found.rows:,} labels say {'good' if found.good else 'bad'}: nothing can be told apart; add others"
    if found.total.unscored:
        yield f"{found.total.unscored:,} of {found.rows:,} completions have no total and are left out"
    alone = len(found.components) == 1 and found.components[0].overall == found.total.overall
    for component in (found.total, *(() if alone else found.components)):
        subject = "the total" if component is found.total else repr(component.name)
        said = f"{subject} has an AUC of {decimal(component.auc)}"
        low, high = component.interval or (0.0, 0.0)
        if component.is_reversed and (component.interval is None or high < 0.5):
            yield f"{said} and points the wrong way: bad completions score above good ones more often than below"
        elif component.is_reversed:
            yield f"{said}, below 0.5, but chance may be the reason (95 %: {low:.3f} to {high:.3f})"
        elif component.auc is not None and component.interval and low <= 0.5:
            yield f"{said}, which cannot be told from chance (95 %: {low:.3f} to {high:.3f})"
    within = found.total.within
    if not within.count:
        yield "no prompt has both a better and a worse completion: what GRPO would learn from cannot be seen here"
    elif within.tied > TOO_MANY_TIES * within.count:
        yield (f"{percent(within.ties)} of the pairs of one prompt tie in the total: GRPO learns nothing from them")
