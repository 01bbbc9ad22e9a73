"""A side of a comparison without code: the scores that a run recorded during training.

``recorded("runs/x", saved("runs/x"), [])`` has the totals from the rewards that were active at the time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.batch.score import SKIPPED, Outcome
from rewardkit.differences.side import Side
from rewardkit.errors import DataError
from rewardkit.scoring.runs import opened_until
from rewardkit.scoring.sources import Saved

if TYPE_CHECKING:
    from rewardkit.record.run import Run

_PLACES = {str(outcome): place for place, outcome in enumerate(Outcome)}


def is_run(address: str) -> bool:
    """Return whether `address` is the folder of a recorded run."""
    return os.path.isfile(os.path.join(address, "run.json"))


@dataclass(frozen=True)
class Recorded:
    """The scores that a run recorded, from the rewards that were active at the time."""

    run: str

    def check(self, address: str) -> None:
        """Raise a DataError if `address` is not the folder of this run."""
        if os.path.realpath(self.run) != os.path.realpath(address):
            raise DataError(
                f"{self.run} contains scores only for the completions of that run. Compare on these "
                f"completions: --on {self.run}"
            )


def read_recorded_side(address: str, saved: Saved, leave_out: Sequence[str]) -> Side:
    """Return the recorded scores of a run's first completions, in the order of the run. See `side_of`.

    Args:
        saved: the completions of the run.

    Raises:
        DataError: the record has a different number of rows.
    """
    from rewardkit.record.queries import training_scores

    run = opened_until(address, saved.until or ())
    kinds = {"components": run.components, "outcomes": run.components, "terms": run.terms}
    chosen = ["total", *(f"{kind}/{name}" for kind, names in kinds.items() for name in names)]
    table = training_scores(run, chosen, saved.size)
    if len(table["total"]) != saved.size:
        raise DataError(
            f"{address} has {len(table['total'])} recorded completions, but {saved.size:,} completions "
            "were read. Try again"
        )
    return side_of(run, address, table, leave_out)


def side_of(run: Run, address: str, table: Mapping[str, Any], leave_out: Sequence[str]) -> Side:
    """Return the recorded scores of some completions.

    Args:
        table: (n,) columns of the ``scores`` table: total, components, outcomes, terms.
        leave_out: terms to subtract from the totals. Names that are not in the record are ignored.

    Raises:
        DataError: a component to exclude is not a term.
    """
    left_out = tuple(name for name in leave_out if name in run.terms)
    nested_names = [name for name in leave_out if name in run.components and name not in run.terms]
    if nested_names:
        raise DataError(
            f"{nested_names[0]} is not a separate term in {address}, so it cannot be subtracted from the recorded "
            "totals. Compare with the reward's code instead: pass the reward's file to rewardkit diff, also at a git "
            "revision"
        )
    total = _floats(table["total"])
    for name in left_out:
        total = total - np.nan_to_num(_floats(table[f"terms/{name}"]))
    values = {name: _floats(table[f"components/{name}"]) for name in run.components if name not in left_out}
    evaluated = {name: column for name, column in values.items() if not np.isnan(column).all()}
    codes = {name: _codes(table[f"outcomes/{name}"]) for name in evaluated}
    return Side(f"{address}, as recorded", total, evaluated, codes, left_out=left_out, omitted=left_out)


def _floats(column: Any) -> Floats:
    if isinstance(column, list):
        return np.array([np.nan if value is None else value for value in column], dtype=np.float64)
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def _codes(column: Any) -> np.typing.NDArray[np.int8]:
    texts: Any = np.ma.filled(np.ma.asarray(column, dtype=object), None)
    return np.array([_PLACES.get(str(text), SKIPPED) for text in texts], dtype=np.int8)
