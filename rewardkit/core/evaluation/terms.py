"""Terms: split the total of a batch into shares, from the root of the tree down to single rewards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rewardkit.core.batch.column import Column, Floats, Rows, Share
from rewardkit.core.evaluation.run import Run
from rewardkit.core.progress.schedule import weight_now
from rewardkit.core.tree.reward import Reward


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a batch of n completions, by name.

    Attributes:
        values: (n,) the share of the total.
        weights: the weight in this batch, averaged over the rows where it counts.
        reached: in how many rows it counts.
    """

    values: dict[str, Floats]
    weights: dict[str, float]
    reached: dict[str, int]


_Parts = list[tuple[float | Floats, Rows]]
"""The shares of one term, one for each place in the tree: a weight, and the rows where it counts."""


def terms_of(run: Run, root: Column) -> Terms:
    """Return the terms of an evaluation, given the column of its root."""
    found = Terms({}, {}, {})
    parts = _parts(run)
    for name, node in run.plan.names.terms:
        own = parts.get(run.plan.first(node), [])
        found.values[name] = _values(own, run.column(node), root.contributing)
        rows = _counting(own)
        found.reached[name] = 0 if rows is None else int(rows.sum())
        if rows is not None and found.reached[name]:
            found.weights[name] = _mean_weight(own, rows)
    return found


def _parts(run: Run) -> dict[Reward, _Parts]:
    """Split the total from the root down to the terms."""
    parts: dict[Reward, _Parts] = {}
    stack: list[tuple[Reward, float | Floats, Rows]] = [(run.plan.root, 1.0, np.ones(run.batch.size, dtype=np.bool_))]
    while stack:
        node, weight, reached = stack.pop()
        addends = node.facts.addends
        if addends is None:
            parts.setdefault(run.plan.first(node), []).append((weight, reached))
            continue
        for addend, share in zip(addends, run.column(node).shares or _unevaluated(run, node), strict=False):
            rows = reached if share.reached is None else reached & share.reached
            stack.append((addend, weight * share.weight, rows))
    return parts


def _unevaluated(run: Run, node: Reward) -> list[Share]:
    """Return the shares of a sum that was not evaluated, such as at weight zero; empty if they depend on the rows."""
    return [Share(weight_now(weight, run.batch.progress)) for weight in node.facts.weights or ()]


def _values(parts: _Parts, column: Column, scorable: Rows) -> Floats:
    """Return (n,) the values of a term: NaN if it abstained, 0 at weight zero or behind a closed gate."""
    size = len(scorable)
    values = np.zeros(size)
    live, closed = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    contributing = column.contributing
    for weight, reached in parts:
        closed |= ~reached
        counts = reached & (weight != 0.0)
        live |= counts
        values += np.where(counts & contributing, weight * column.values, 0.0)
    # Behind a closed gate it counts as scored, even if it abstained in another place of the tree.
    values[(live & ~contributing & ~closed) | ~scorable] = np.nan
    return values


def _counting(parts: _Parts) -> Rows | None:
    """Return (n,) the rows where a term has a weight; if there are none, the rows that it reached."""
    if not parts:
        return None
    on, anywhere = np.zeros_like(parts[0][1]), np.zeros_like(parts[0][1])
    for weight, reached in parts:
        anywhere |= reached
        on |= reached & (weight != 0.0)
    return on if on.any() else anywhere


def _mean_weight(parts: _Parts, rows: Rows) -> float:
    """Return the mean weight of a term over the `rows` (n,) where it counts."""
    if len(parts) == 1 and isinstance(parts[0][0], float):
        return parts[0][0]
    weights = np.sum([np.where(reached, weight, 0.0) for weight, reached in parts], axis=0)[rows]
    return float(weights[0] if (weights == weights[0]).all() else weights.mean())
