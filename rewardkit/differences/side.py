"""One side of a comparison: the scores of one reward on all n completions, as a picklable object.

``scored("OLD", reward, saved("solutions.jsonl")).total`` is (n,).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rewardkit.batch.batch import RESERVED
from rewardkit.batch.column import Codes, Floats
from rewardkit.scoring.columns import Columns, asked_for
from rewardkit.scoring.regressions import Regression
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved
from rewardkit.tree.evaluation.omission import omit_components
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward
from rewardkit.workers.random_state import preserved_rng

TOLERANCE = 1e-9
"""A change in a score counts only if it is larger than this, as in gates."""
_BATCH = 512
"""The number of completions per batch, the same as the default of `rewardkit score`."""


@dataclass(frozen=True)
class NotReproducible:
    """The evidence that a reward is not reproducible: it scored the same completions differently the second time.

    Attributes:
        changed: the number of the `tried` completions whose total changed.
        largest: the largest change in a total.
    """

    changed: int
    tried: int
    largest: float


@dataclass(frozen=True)
class Side:
    """The scores of one reward on n completions.

    Attributes:
        name: the reward's name, as the user wrote it.
        total: (n,) the totals, with NaN for a completion without a total.
        components: name -> (n,) raw values, with NaN for a completion that was not scored.
        codes: name -> (n,) positions in ``list(rk.Outcome)``.
        errors: row -> why the row could not be scored.
        structures: component -> a fingerprint that does not depend on the component's name.
        left_out: those of the names to exclude that occur in the reward.
        omitted: the components that were excluded.
        columns: the data columns that the reward reads.
        scheduled: whether the reward has schedules, for which the end values are used.
        sees_batches: whether a function sees all completions of a batch.
        exploits: the total of each known exploit and the lowest total of a correct completion, or NaN if not scored.
        unsteady: how the totals changed when completions were scored again, or None if they did not change.
    """

    name: str
    total: Floats
    components: Mapping[str, Floats]
    codes: Mapping[str, Codes]
    errors: Mapping[int, str] = field(default_factory=dict)
    structures: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    scheduled: bool = False
    sees_batches: bool = False
    exploits: tuple[tuple[float, float], ...] = ()
    unsteady: NotReproducible | None = None


def score_side(
    name: str,
    reward: Reward,
    saved: Saved,
    *,
    sources: Mapping[str, str] | None = None,
    leave_out: Sequence[str] = (),
    exploits: Sequence[Regression] = (),
) -> Side:
    """Score all completions in this process, and return the scores.

    Args:
        name: the reward's name, for messages.
        sources: name in the reward -> column in the data.
        leave_out: components to exclude, see `without`.
        exploits: completions to score in addition to the data.

    Raises:
        BindingError: the reward reads a column that the data does not have.
        DataError: the reward compares a prompt's completions, but they are not next to each other in the data.
        RunStopped: every row would fail.
    """
    reward, left_out, omitted = omit_components(reward, leave_out)
    columns = Columns.of_saved(reward, saved, sources)
    scorer = columns.scorer
    with preserved_rng(seed=0):  # both sides draw the same random numbers
        parts = [replace(part, notes={}) for _, part in columns.scores(saved.chunks(_BATCH), _BATCH)]
        scores = Scores.joined(parts)
        unsteady = None if scorer.waits else _unsteady(columns, saved, scores.total)
        paid = tuple(_paid(scorer, case) for case in exploits)
    return Side(
        name,
        scores.total,
        scores.components,
        scores.codes,
        {row: "; ".join(reasons) for row, reasons in scores.errors.items()},
        {label: node.named("component").fingerprint for label, node in scorer.names.components},
        left_out,
        omitted,
        tuple(columns.names),
        scorer.scheduled,
        columns.sees_batches,
        paid,
        unsteady,
    )


def _unsteady(columns: Columns, saved: Saved, before: Floats) -> NotReproducible | None:
    """Score the whole first batch again, since a reward may compare its rows. Return None if no total changes."""
    _, again = next(columns.scores(saved.chunks(_BATCH), _BATCH))
    after = again.total
    size = len(after)
    changed = differ(before[:size], after)
    if not changed.any():
        return None
    return NotReproducible(int(changed.sum()), size, float(np.nanmax(np.abs(after - before[:size]), initial=0.0)))


def differ(before: Floats, after: Floats) -> np.typing.NDArray[np.bool_]:
    """Return (n,) whether two values differ by more than `TOLERANCE`. NaN equals NaN."""
    absent = np.isnan(before) | np.isnan(after)
    with np.errstate(invalid="ignore"):
        return np.where(absent, np.isnan(before) != np.isnan(after), np.abs(after - before) > TOLERANCE)


def _paid(scorer: Scorer, case: Regression) -> tuple[float, float]:
    """Return an exploit's total, and the lowest total of the correct completions (NaN if none is scored)."""
    size = 1 + len(case.good)
    named, takes_all = asked_for(scorer.reward)
    columns = {
        name: [value] * size
        for name, value in case.columns.items()
        if name not in RESERVED and (takes_all or name in named)
    }
    prompts = None if case.prompt is None else [case.prompt] * size
    alone = [
        score(
            scorer, Work([entry], prompts and prompts[:1], None, {name: cells[:1] for name, cells in columns.items()})
        )
        for entry in (case.completion, *case.good)
    ]
    totals = [float(entry.total[0]) for entry in alone]
    rights = [total for total in totals[1:] if not np.isnan(total)]
    return totals[0], min(rights, default=float("nan"))
