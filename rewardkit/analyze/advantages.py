"""The advantages that GRPO computes from a batch's totals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewardkit.analyze.signal import EPSILON, normalized
from rewardkit.batch.column import Floats

Way = Literal["group", "batch", "none", "each"]
"""The method of normalizing advantages. The difference between the total and its group's mean is divided by the
standard deviation of the group (``"group"``) or the batch (``"batch"``), or it is not divided (``"none"``). With
``"each"`` (GDPO), totals are sums of normalized columns and are also normalized over the batch."""


@dataclass(frozen=True)
class GroupStats:
    """A batch's totals, and the mean and standard deviation of each row's group, (n,) each.

    An unscorable row's total is NaN.
    """

    totals: Floats
    means: Floats
    deviations: Floats

    @classmethod
    def of(cls, totals: Floats, groups: NDArray[np.int64]) -> GroupStats:
        """Return the statistics for `totals` (n,) in complete groups; `groups` (n,) is each row's group."""
        _, numbers = np.unique(groups, return_inverse=True)
        scored = ~np.isnan(totals)
        values = np.where(scored, totals, 0.0)
        counts = np.bincount(numbers, scored)
        means = (np.bincount(numbers, values) / np.maximum(counts, 1.0))[numbers]
        squares = np.bincount(numbers, np.where(scored, np.square(values - means), 0.0))
        return cls(totals, means, np.sqrt(squares / np.maximum(counts - 1.0, 1.0))[numbers])

    def part(self, start: int, stop: int) -> GroupStats:
        """Return the statistics for the rows from `start` to `stop` (exclusive)."""
        return GroupStats(self.totals[start:stop], self.means[start:stop], self.deviations[start:stop])

    def advantages(self, normalization: Way, moments: Floats) -> Floats:
        """Return the advantages (n,) as in TRL's GRPOTrainer: ``(total - mean) / (deviation + 1e-4)``.

        An unscorable row's advantage is 0.

        Args:
            normalization: the kind of normalization.
            moments: (3,) the count, sum, and sum of squares of the totals over all processes.
        """
        centered = self.totals - (moments[1] / max(moments[0], 1.0) if normalization == "each" else self.means)
        if normalization == "group":
            centered /= self.deviations + EPSILON
        elif normalization != "none":
            centered /= deviation_of(moments) + EPSILON
        return np.nan_to_num(centered, nan=0.0)


def moments_of(totals: Floats) -> Floats:
    """Return the count, sum, and sum of squares (3,) of the values in `totals` (n,) that are not NaN."""
    known_totals = totals[~np.isnan(totals)]
    with np.errstate(over="ignore"):
        return np.array([len(known_totals), known_totals.sum(), np.square(known_totals).sum()])


def deviation_of(moments: Floats) -> float:
    """Return the totals' sample standard deviation, given their moments (see `moments_of`) over all processes."""
    count, total, squares = moments.tolist()
    return math.sqrt(max(0.0, squares - total * total / count) / (count - 1.0)) if count > 1.0 else 0.0


# The steps from the terms of completions to their advantages: ``(value - mean) / (deviation + 1e-4)``.


WAYS: tuple[Way, ...] = ("group", "batch", "none", "each")
_RELATIVE, _ABSOLUTE = 1e-3, 1e-4
"""Tolerances for comparing recorded advantages, which trainers compute in float32."""


@dataclass(frozen=True)
class Derivation:
    """The advantages for a batch of n completions, step by step.

    Attributes:
        way: the kind of normalization.
        addends: name -> (n,) the values that are summed: the terms, or (``"each"``) the columns normalized in their
            groups.
        values: (n,) the sums of the addends, which are the totals except with ``"each"``, or NaN if the completion is
            unscorable.
        means: (n,) the mean that is subtracted: the group's mean or, with ``"each"``, the batch's mean.
        deviations: (n,) the standard deviation by which the difference is divided, before 1e-4 is added, or None if the
            difference is not divided.
        advantages: (n,) the result, or 0 for an unscorable completion.
        columns: with ``"each"``, name -> the column and its normalization; otherwise, empty.
    """

    way: Way
    addends: Mapping[str, Floats]
    values: Floats
    means: Floats
    deviations: Floats | None
    advantages: Floats
    columns: Mapping[str, Normalized]

    @classmethod
    def of(
        cls,
        normalization: Way,
        totals: Floats,
        terms: Mapping[str, Floats],
        groups: NDArray[np.int64],
        components: Mapping[str, Floats] | None = None,
    ) -> Derivation:
        """Derive the advantages for whole groups.

        Args:
            normalization: the kind of normalization.
            totals: (n,) the totals, or NaN if a completion is unscorable.
            terms: name -> (n,) the totals' terms.
            groups: (n,) each completion's group.
            components: name -> (n,) the scores before weighting; needed only for ``"each"``.
        """
        columns: dict[str, Normalized] = {}
        addends: Mapping[str, Floats] = terms
        values = totals
        if normalization == "each":
            columns = {
                name: Normalized.of(np.where(np.isnan(totals), np.nan, term), (components or {}).get(name), groups)
                for name, term in terms.items()
            }
            addends = {name: column.addends for name, column in columns.items()}
            summed = np.nansum(list(addends.values()), axis=0) if addends else np.zeros(len(totals))
            values = np.where(np.isnan(totals), np.nan, summed)
        spread, moments = GroupStats.of(values, groups), moments_of(values)
        batch_deviation = np.full(len(values), deviation_of(moments))
        return cls(
            normalization,
            addends,
            values,
            np.full(len(values), moments[1] / max(moments[0], 1.0)) if normalization == "each" else spread.means,
            None if normalization == "none" else spread.deviations if normalization == "group" else batch_deviation,
            spread.advantages(normalization, moments),
            columns,
        )

    def agrees(self, recorded: Floats) -> bool:
        """Return whether the derivation reproduces the recorded advantages (n,), ignoring unknown advantages (NaN)."""
        recorded_rows = ~np.isnan(recorded)
        return bool(
            np.allclose(self.advantages[recorded_rows], recorded[recorded_rows], rtol=_RELATIVE, atol=_ABSOLUTE)
        )


@dataclass(frozen=True)
class Normalized:
    """A column in a trainer that normalizes each column (GDPO): ``weight * (x - mean) / (deviation + 1e-4)``."""

    weight: float
    scores: Floats
    spread: GroupStats
    addends: Floats

    @classmethod
    def of(cls, term: Floats, component: Floats | None, groups: NDArray[np.int64]) -> Normalized:
        """Return a term's column (n,). The weight is the factor between the component and the term."""
        weight = _factor(term, component)
        scores = term / weight
        return cls(weight, scores, GroupStats.of(scores, groups), normalized([scores], [weight], groups)[0])


def derive(
    recorded: Floats,
    totals: Floats,
    terms: Mapping[str, Floats],
    groups: NDArray[np.int64],
    components: Mapping[str, Floats] | None = None,
) -> Derivation | None:
    """Return the derivation that reproduces the recorded advantages, or None if none does or if no advantages are
    recorded.

    If several derivations reproduce the advantages, the first in the order of `WAYS` is returned: if no group has
    differences, all are correct.

    Args:
        recorded: (n,) the advantages, or NaN if unknown.
        totals, terms, groups, components: as for `Derivation.of`.
    """
    if np.isnan(recorded).all():
        return None
    with np.errstate(all="ignore"):  # no derivation exists for infinite totals
        derivations = (Derivation.of(normalization, totals, terms, groups, components) for normalization in WAYS)
        return next((derivation for derivation in derivations if derivation.agrees(recorded)), None)


def _factor(term: Floats, component: Floats | None) -> float:
    """Return the factor between a component and its term, or 1 if the factor differs between rows."""
    if component is None:
        return 1.0
    usable = np.isfinite(term) & np.isfinite(component) & (component != 0.0) & (term != 0.0)
    factors = term[usable] / component[usable]
    # Rounding makes the factors differ in their last digits.
    same = len(factors) > 0 and np.allclose(factors, factors[0], rtol=1e-9, atol=0.0)
    return float(factors[0]) if same else 1.0
