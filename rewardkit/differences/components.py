"""Components before and after: paired by name, or recognized under another name.

A component has another name if its structure is the same without the name, or if it scores every completion the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rewardkit.batch.column import Rows
from rewardkit.batch.score import Outcome
from rewardkit.differences.side import TOLERANCE, Side, differ

State = Literal["same", "changed", "renamed", "added", "removed"]


@dataclass(frozen=True)
class ComponentChange:
    """A component under two rewards.

    Attributes:
        before, after: its names; None if the reward does not have it. The total is ``"total"``.
        state: ``"renamed"`` says that its scores are the same.
        means: the means before and after; None if it scored nothing.
        changed: the number of completions that it scores differently.
        largest_change: the largest change of its score.
        outcomes: outcome -> the numbers of completions that had it before and after, if they differ.
    """

    before: str | None
    after: str | None
    state: State
    means: tuple[float | None, float | None]
    changed: int
    largest_change: float
    outcomes: dict[str, tuple[int, int]]


def component_changes(before: Side, after: Side) -> tuple[ComponentChange, ...]:
    """Return the changes of all components, in the order of the new reward, then removed ones, then the total.

    Components that were left out have no scores to compare.
    """
    omitted = {*before.omitted, *after.omitted}
    olds, news = ([name for name in side.components if name not in omitted] for side in (before, after))
    partners = {name: name for name in news if name in olds}
    lost = [name for name in olds if name not in partners]
    fresh = [name for name in news if name not in partners]
    partners |= dict(_renamed(before, after, lost, fresh))
    matched = set(partners.values())
    pairs: list[tuple[str | None, str | None]] = [(partners.get(name), name) for name in news]
    pairs += [(name, None) for name in olds if name not in matched]
    return (*(_change(before, after, *pair) for pair in pairs), _of_totals(before, after))


def _renamed(before: Side, after: Side, lost: Iterable[str], fresh: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (new name, old name) where exactly one lost component fits a fresh one."""
    left, right = list(lost), list(fresh)
    for alike in (_same_structure, _same_scores):
        fits = {new: [old for old in left if alike(before, after, old, new)] for new in right}
        for new, olds in fits.items():
            if len(olds) == 1 and sum(olds[0] in candidates for candidates in fits.values()) == 1:
                yield new, olds[0]
                left.remove(olds[0])
                right.remove(new)


def _same_structure(before: Side, after: Side, old: str, new: str) -> bool:
    structure = before.structures.get(old)
    return structure is not None and structure == after.structures.get(new)


def _same_scores(before: Side, after: Side, old: str, new: str) -> bool:
    """Whether each scores all completions the same, but not all with the same score."""
    values = before.components[old]
    scored = values[~np.isnan(values)]
    varied = len(scored) > 0 and float(scored.max() - scored.min()) > TOLERANCE
    return varied and not _different(before, after, old, new).any()


def _different(before: Side, after: Side, old: str, new: str) -> Rows:
    changed: Rows = differ(before.components[old], after.components[new]) | (before.codes[old] != after.codes[new])
    return changed


def _change(before: Side, after: Side, old: str | None, new: str | None) -> ComponentChange:
    means = (
        None if old is None else _mean(before.components[old]),
        None if new is None else _mean(after.components[new]),
    )
    if old is None or new is None:
        return ComponentChange(old, new, "added" if old is None else "removed", means, 0, 0.0, {})
    changed = int(_different(before, after, old, new).sum())
    state: State = "changed" if changed else "same" if old == new else "renamed"
    counts = [np.bincount(codes, minlength=len(Outcome)).tolist() for codes in (before.codes[old], after.codes[new])]
    outcomes = {
        str(outcome): (was, now) for outcome, was, now in zip(Outcome, counts[0], counts[1], strict=True) if was != now
    }
    largest = _largest(before.components[old], after.components[new])
    return ComponentChange(old, new, state, means, changed, largest, outcomes)


def _of_totals(before: Side, after: Side) -> ComponentChange:
    changed = int(differ(before.total, after.total).sum())
    means = (_mean(before.total), _mean(after.total))
    largest = _largest(before.total, after.total)
    return ComponentChange("total", "total", "changed" if changed else "same", means, changed, largest, {})


def _mean(values: np.typing.NDArray[np.float64]) -> float | None:
    scored = values[~np.isnan(values)]
    return float(scored.mean()) if len(scored) else None


def _largest(before: np.typing.NDArray[np.float64], after: np.typing.NDArray[np.float64]) -> float:
    deltas = np.abs(after - before)
    return float(deltas[~np.isnan(deltas)].max(initial=0.0))
