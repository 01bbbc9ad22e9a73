"""Misjudged completions: the bad ones that score high and the good ones that score low, with the reasons given.

Where every good completion scores above every bad one there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.analysis.discrimination import Numbers, settled
from rewardkit.core.batch.column import Column, Floats, Rows


@dataclass(frozen=True)
class Case:
    """One completion that is misjudged: row 17 is good and scored 0.2.

    Attributes:
        row: its number in the data, from 0.
        scores: component -> what it gave, where it was scored.
        notes: component -> why, where it says so.
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
    """(bad ones that score no lower than some good one, good ones that score no higher than some bad one).

    Args:
        scores: (n,), NaN where there is none.
        good: (n,) the labels.
        completions: n texts.
        components: what is told of each case.
        rows: (n,) what each row is called, if not by its position.
        limit: at most so many of each, the worst first; of equal ones the first.
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
