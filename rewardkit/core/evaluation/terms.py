"""Terms: split the total of a batch into shares, from the root of the tree down to single rewards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rewardkit.core.batch.column import Column, Floats, Rows, Share
from rewardkit.core.errors import RewardFailure
from rewardkit.core.evaluation.run import Run
from rewardkit.core.progress.schedule import weight_now
from rewardkit.core.tree.results import LARGEST
from rewardkit.core.tree.reward import Reward


def require_float32(terms: Mapping[str, Floats], total: Floats) -> None:
    """Raise RewardFailure if a total or a term is too large for the float32 that trainers compute in."""
    with np.errstate(invalid="ignore"):  # NaN
        if not any(np.any(np.abs(values) > LARGEST) for values in (total, *terms.values())):
            return
        sizes = np.abs([total, *terms.values()])
    row = int(np.argmax(np.nan_to_num(sizes, posinf=np.inf).max(axis=0)))
    shares = ", ".join(f"{name} {values[row]:g}" for name, values in terms.items() if values[row])
    error = RewardFailure(
        f"the total of row {row} is {total[row]:g} (its terms: {shares}), but the float32 of trainers ends at "
        f"{LARGEST:.2g}. Scale the largest term down, or limit it: reward.clip(low, high)"
    )
    error.component = max(terms, key=lambda name: abs(float(np.nan_to_num(terms[name][row]))), default="")
    raise error


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


_Part = tuple["float | Floats", "Rows | None"]
"""The share of a term at one place in the tree: a weight, and the rows where it counts; None for all rows."""


def terms_of(run: Run, root: Column) -> Terms:
    """Return the terms of an evaluation, given the column of its root."""
    found = Terms({}, {}, {})
    parts = _parts(run)
    size = run.batch.size
    for name, node in run.plan.names.terms:
        own, column = parts.get(id(run.plan.first(node)), []), run.column(node)
        if root.complete and column.complete and _is_plain(own):  # nothing has to be masked
            ((weight, _),) = own
            found.values[name] = weight * column.values + 0.0  # -0.0 + 0.0 is 0.0
            found.weights[name], found.reached[name] = float(weight), size
            continue
        masked = [(weight, run.batch.everywhere if rows is None else rows) for weight, rows in own]
        found.values[name] = _values(masked, column, root.contributing)
        counting = _counting(masked)
        found.reached[name] = 0 if counting is None else int(counting.sum())
        if counting is not None and found.reached[name]:
            found.weights[name] = _mean_weight(masked, counting)
    return found


def _is_plain(parts: list[_Part]) -> bool:
    """Return whether a term has one weight for all rows."""
    return len(parts) == 1 and parts[0][1] is None and isinstance(parts[0][0], float)


def _parts(run: Run) -> dict[int, list[_Part]]:
    """Split the total from the root down to the terms, by the ids of their nodes: hashing a tree takes long."""
    parts: dict[int, list[_Part]] = {}
    stack: list[tuple[Reward, float | Floats, Rows | None]] = [(run.plan.root, 1.0, None)]
    while stack:
        node, weight, reached = stack.pop()
        addends = node.facts.addends
        if addends is None:
            parts.setdefault(id(run.plan.first(node)), []).append((weight, reached))
            continue
        for addend, share in zip(addends, run.column(node).shares or _unevaluated(run, node), strict=False):
            both = share.reached if reached is None else reached
            if reached is not None and share.reached is not None:
                both = reached & share.reached
            stack.append((addend, weight * share.weight, both))
    return parts


def _unevaluated(run: Run, node: Reward) -> list[Share]:
    """Return the shares of a sum that was not evaluated, such as at weight zero; empty if they depend on the rows."""
    return [Share(weight_now(weight, run.batch.progress)) for weight in node.facts.weights or ()]


def _values(parts: list[tuple[float | Floats, Rows]], column: Column, scorable: Rows) -> Floats:
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


def _counting(parts: list[tuple[float | Floats, Rows]]) -> Rows | None:
    """Return (n,) the rows where a term has a weight; if there are none, the rows that it reached."""
    if not parts:
        return None
    on, anywhere = np.zeros_like(parts[0][1]), np.zeros_like(parts[0][1])
    for weight, reached in parts:
        anywhere |= reached
        on |= reached & (weight != 0.0)
    return on if on.any() else anywhere


def _mean_weight(parts: list[tuple[float | Floats, Rows]], rows: Rows) -> float:
    """Return the mean weight of a term over the `rows` (n,) where it counts."""
    if len(parts) == 1 and isinstance(parts[0][0], float):
        return parts[0][0]
    weights = np.sum([np.where(reached, weight, 0.0) for weight, reached in parts], axis=0)[rows]
    return float(weights[0] if (weights == weights[0]).all() else weights.mean())
