"""The steps from the terms of completions to their advantages: ``(value - mean) / (deviation + 1e-4)``.

A record has totals and advantages, but not the trainer's setting. `derive` tries the ways in which TRL computes
advantages, and returns the one that reproduces what is recorded, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rewardkit.analysis.advantages import Spread, Way, deviation_of, moments_of
from rewardkit.analysis.signal import normalized
from rewardkit.core.batch.column import Floats

WAYS: tuple[Way, ...] = ("group", "batch", "none", "each")
_RELATIVE, _ABSOLUTE = 1e-3, 1e-4
"""How far a recorded advantage may be off: trainers compute in float32."""


@dataclass(frozen=True)
class Derivation:
    """The advantages of a batch of n completions, step by step.

    Attributes:
        way: what differences are divided by.
        addends: name -> (n,) what is added up: the terms, or (``"each"``) the columns normalized in their groups.
        values: (n,) their sums: the totals, except with ``"each"``. NaN if the completion is unscorable.
        means: (n,) what is subtracted: the mean of the group, or (``"each"``) of the batch.
        deviations: (n,) what the difference is divided by, before 1e-4 is added; None if nothing divides it.
        advantages: (n,) the result; 0 for an unscorable completion.
        columns: with ``"each"``, name -> its numbers before it was normalized.
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
        way: Way,
        totals: Floats,
        terms: Mapping[str, Floats],
        groups: NDArray[np.int64],
        components: Mapping[str, Floats] | None = None,
    ) -> Derivation:
        """Return the steps to the advantages of whole groups.

        Args:
            way: what differences are divided by.
            totals: (n,) NaN if a completion is unscorable.
            terms: name -> (n,) the terms of the totals.
            groups: (n,) the group of each completion.
            components: name -> (n,) the scores before they were weighted; only ``"each"`` needs them.
        """
        columns: dict[str, Normalized] = {}
        addends: Mapping[str, Floats] = terms
        values = totals
        if way == "each":
            columns = {
                name: Normalized.of(np.where(np.isnan(totals), np.nan, term), (components or {}).get(name), groups)
                for name, term in terms.items()
            }
            addends = {name: column.addends for name, column in columns.items()}
            summed = np.nansum(list(addends.values()), axis=0) if addends else np.zeros(len(totals))
            values = np.where(np.isnan(totals), np.nan, summed)
        spread, moments = Spread.of(values, groups), moments_of(values)
        whole = np.full(len(values), deviation_of(moments))
        return cls(
            way,
            addends,
            values,
            np.full(len(values), moments[1] / max(moments[0], 1.0)) if way == "each" else spread.means,
            None if way == "none" else spread.deviations if way == "group" else whole,
            spread.advantages(way, moments),
            columns,
        )

    def agrees(self, recorded: Floats) -> bool:
        """Return whether it gives the recorded advantages, (n,), where they are known."""
        known = ~np.isnan(recorded)
        return bool(np.allclose(self.advantages[known], recorded[known], rtol=_RELATIVE, atol=_ABSOLUTE))


@dataclass(frozen=True)
class Normalized:
    """A column of a trainer that normalizes each one (GDPO): ``weight * (x - mean) / (deviation + 1e-4)``."""

    weight: float
    scores: Floats
    spread: Spread
    addends: Floats

    @classmethod
    def of(cls, term: Floats, component: Floats | None, groups: NDArray[np.int64]) -> Normalized:
        """Return the column of a term, (n,). Its weight is the factor between the component and the term."""
        weight = _factor(term, component)
        scores = term / weight
        return cls(weight, scores, Spread.of(scores, groups), normalized([scores], [weight], groups)[0])


def derive(
    recorded: Floats,
    totals: Floats,
    terms: Mapping[str, Floats],
    groups: NDArray[np.int64],
    components: Mapping[str, Floats] | None = None,
) -> Derivation | None:
    """Return the derivation that gives the recorded advantages; None if none does or no advantage is recorded.

    If several do, the first of `WAYS`: all are right if no group has differences.

    Args:
        recorded: (n,) the advantages; NaN if unknown.
        totals: (n,) as for `Derivation.of`, like the others.
    """
    if np.isnan(recorded).all():
        return None
    with np.errstate(all="ignore"):  # infinite totals have no derivation
        found = (Derivation.of(way, totals, terms, groups, components) for way in WAYS)
        return next((one for one in found if one.agrees(recorded)), None)


def _factor(term: Floats, component: Floats | None) -> float:
    """Return the factor between a component and its term; 1 if it is not the same for all rows."""
    if component is None:
        return 1.0
    known = np.isfinite(term) & np.isfinite(component) & (component != 0.0) & (term != 0.0)
    factors = term[known] / component[known]
    same = len(factors) > 0 and np.allclose(factors, factors[0], rtol=1e-9, atol=0.0)
    return float(factors[0]) if same else 1.0
