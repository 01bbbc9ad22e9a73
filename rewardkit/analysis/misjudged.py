"""Misjudged completions: bad ones that score high and good ones that score low, with their notes.

If every good completion scores above every bad one, there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.analysis.discrimination import Numbers, settled
from rewardkit.core.batch.column import Column, Floats, Rows


@dataclass(frozen=True)
class Case:
    """A misjudged completion: row 17 is good but scored 0.2.

    Attributes:
        row: its number in the data, from 0.
        scores: component -> its score, if it has one.
        notes: component -> the note of its score, if it has one.
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
    """Return the bad completions that score as high as a good one, and the good ones that score as low as a bad one.

    Args:
        scores: (n,), NaN if there is no score.
        good: (n,) the labels.
        completions: n texts.
        components: the components to show for each case.
        rows: (n,) the number of each row in the data; by default its position.
        limit: the most cases of each kind, worst first; ties in the order of rows.
    """
    values = settled(scores)
    scored = ~np.isnan(values)
    if not (scored & good).any() or not (scored & ~good).any():
        return (), ()
    names = np.arange(len(scores)) if rows is None else rows
    scored_by = {name: column.scored for name, column in components.items()}

    def cases(places: Numbers) -> tuple[Case, ...]:
        return tuple(
            Case(
                row=int(names[place]),
                label=bool(good[place]),
                score=float(values[place]),
                completion=completions[place],
                scores={name: float(of[place]) for name, of in scored_by.items() if not np.isnan(of[place])},
                notes={name: column.notes[place] for name, column in components.items() if column.notes.get(place)},
            )
            for place in places[:limit].tolist()
        )

    too_high = np.flatnonzero(scored & ~good & (values >= values[scored & good].min()))
    too_low = np.flatnonzero(scored & good & (values <= values[scored & ~good].max()))
    return (
        cases(too_high[np.argsort(-values[too_high], kind="stable")]),
        cases(too_low[np.argsort(values[too_low], kind="stable")]),
    )
