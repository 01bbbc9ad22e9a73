"""A tally of the notes that rewards write, by kind: ``"off by 3"`` and ``"off by 11"`` are both ``"off by #"``.

``tally(run)[0]`` is the most frequent kind: its component, how many completions have it, and their steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.store.run import Run
from rewardkit.viewer.scores import Floats, Key

_KINDS = 40
"""The most kinds of a component."""
_READ = 300
"""The characters of a note that tell its kind."""
_QUOTED = (r"""("[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’)""", "…")
_QUOTED_ONCE = (r"""(^|[^\pL\pN])'[^']*'""", r"\1…")  # an apostrophe within a word quotes nothing
_NUMBER = (r"[-+−]?\pN+(?:[.,]\pN+)*(?:[eE][-+]?\pN+)?", "#")
_BLANK = (r"\s+", " ")
_TRAINED = "(attempt, rank, part) in (select distinct attempt, rank, part from scores where training)"


@dataclass(frozen=True, eq=False)
class Kind:
    """Notes that are the same but for numbers and quoted texts.

    Attributes:
        count: the completions of the training that have such a note.
        steps: (t,) the steps that have any, in order.
        counts: (t,) how many.
    """

    component: str
    text: str
    count: int
    steps: Floats
    counts: Floats


@dataclass(frozen=True)
class Noted:
    """A completion with its note."""

    key: Key
    prompt_id: str
    step: int
    note: str


def components_with_notes(run: Run) -> list[str]:
    return [name.removeprefix("notes/") for name in run.completions().columns if name.startswith("notes/")]


def tally(run: Run) -> list[Kind]:
    """Return the kinds of notes in the training, the most frequent first."""
    kinds = [kind for name in components_with_notes(run) for kind in _kinds(run, name)]
    return sorted(kinds, key=lambda kind: -kind.count)


def _kinds(run: Run, component: str) -> list[Kind]:
    query = (
        f"with said as (select step, {kind_of('note')} as kind, sum(count) as count from ("
        f"select step, left({_column(component)}, {_READ:d}) as note, count(*) as count from completions "
        f"where note is not null and {_TRAINED} group by all) group by all), "
        f"most as (select kind from said group by kind order by sum(count) desc, kind limit {_KINDS:d}) "
        "select kind, step, count from said join most using (kind) order by kind, step"
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for kind, step, count in run.sql(query).fetchall():
        found.setdefault(kind, []).append((step, int(count)))
    return [
        Kind(component, kind, sum(count for _, count in rows), *np.array(rows, dtype=np.float64).T)
        for kind, rows in found.items()
    ]


def noted(run: Run, component: str, kind: str, limit: int) -> list[Noted]:
    """Return the newest completions of the training whose note of `component` is of this kind."""
    if component not in components_with_notes(run):
        return []
    query = (
        f"select attempt, rank, part, row, prompt_id, step, {_column(component)} as note from completions "
        f"where note is not null and {kind_of(f'left(note, {_READ:d})')} = ? and {_TRAINED} "
        "order by step desc, attempt desc, rank, part desc, row limit ?"
    )
    return [Noted(row[:4], *row[4:]) for row in run.sql(query, [kind, limit]).fetchall()]


def kind_of(column: str) -> str:
    """Return the SQL expression of the kind of a note."""
    expression = column
    for pattern, put in (_QUOTED, _QUOTED_ONCE, _NUMBER, _BLANK):
        expression = f"regexp_replace({expression}, {_text(pattern)}, {_text(put)}, 'g')"
    return f"left(trim({expression}), 160)"


def share_over_time(kind: Kind, steps: Floats, asked: Floats, bins: int) -> list[Any]:
    """Return points for a sparkline, from 0 to 1: the share of completions that have the note, in up to `bins` parts.

    Args:
        steps: (s,) all steps of the training, in order.
        asked: (s,) the completions that the component was asked to score in each.
    """
    counts = np.zeros(len(steps))
    places = np.searchsorted(steps, kind.steps)
    inside = places < len(steps)
    counts[places[inside]] = kind.counts[inside]
    starts = np.unique(np.linspace(0, len(steps), min(bins, len(steps)), endpoint=False).astype(np.int64))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.nan_to_num(np.add.reduceat(counts, starts) / np.add.reduceat(asked, starts))
    top = max(float(shares.max()), 1e-12)
    across: Sequence[float] = np.linspace(0, 1, len(shares)).tolist() if len(shares) > 1 else [0.5]
    return [[x, min(share / top, 1.0)] for x, share in zip(across, shares.tolist(), strict=True)]


def _column(component: str) -> str:
    return '"notes/' + component.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
