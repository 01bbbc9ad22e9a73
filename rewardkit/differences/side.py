"""One side of a comparison: the scores of one reward on all n completions, in a form that travels between processes.

``scored("OLD", reward, saved("solutions.jsonl")).total`` is (n,).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.batch import RESERVED
from rewardkit.batch.column import Codes, Floats
from rewardkit.batch.score import SKIPPED, Outcome
from rewardkit.errors import DataError
from rewardkit.scoring.regressions import Regression
from rewardkit.scoring.replay import Replayed, replay
from rewardkit.scoring.samples import asked_for
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved
from rewardkit.tree.evaluation.omission import without
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward

if TYPE_CHECKING:
    from rewardkit.record.run import Run

TOLERANCE = 1e-9
"""A smaller change of a number is no change."""
_BATCH = 512


@dataclass(frozen=True)
class Unsteady:
    """A reward that scores the same completions differently the next time.

    Attributes:
        changed: how many of `tried` completions got another total.
        largest: the largest change.
    """

    changed: int
    tried: int
    largest: float


@dataclass(frozen=True)
class Side:
    """The scores of one reward on n completions.

    Attributes:
        name: of the reward, as the user wrote it.
        total: (n,) NaN if there is none.
        components: name -> (n,) raw values, NaN if not scored.
        codes: name -> (n,) positions in ``list(rk.Outcome)``.
        errors: row -> why it could not be scored.
        structures: component -> a fingerprint that does not depend on its name.
        left_out: of the names to leave out, those that it has.
        omitted: the components that were left out.
        columns: the columns of the data that the reward reads.
        scheduled: whether it has schedules, which have their end value here.
        sees_batches: whether a function sees all completions of a batch.
        exploits: for each known exploit, its total and the lowest total of a right completion; NaN if not scored.
        unsteady: None if the reward is deterministic, as far as it was tried.
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
    unsteady: Unsteady | None = None


def scored(
    name: str,
    reward: Reward,
    found: Saved,
    *,
    sources: Mapping[str, str] | None = None,
    leave_out: Sequence[str] = (),
    exploits: Sequence[Regression] = (),
) -> Side:
    """Score all completions in this process.

    Args:
        name: of the reward, for messages.
        sources: our name -> the column of the data.
        leave_out: components to leave out, see `without`.
        exploits: completions to score besides the data.

    Raises:
        BindingError: the reward reads a column that the data does not have.
        DataError: the completions of a prompt are compared, but they are not next to each other.
        RunStopped: every row would fail.
    """
    reward, left_out, omitted = without(reward, leave_out)
    replayed = Replayed(name, found, dict(sources or {}), reward)
    replayed.check()
    scorer = Scorer(reward)
    with seeded():
        parts = [replace(part, notes={}) for _, part in replay(replayed, processes=1, batch=_BATCH)]
        scores = Scores.joined(parts)
        unsteady = None if scorer.waits else _unsteady(replayed, scores.total)
        paid = tuple(_paid(scorer, case) for case in exploits)
    return Side(
        name,
        scores.total,
        scores.components,
        scores.codes,
        {row: "; ".join(why) for row, why in scores.errors.items()},
        {label: node.named("component").fingerprint for label, node in scorer.names.components},
        left_out,
        omitted,
        tuple(replayed.names),
        scorer.scheduled,
        replayed.sees_batches,
        paid,
        unsteady,
    )


@contextmanager
def seeded() -> Iterator[None]:
    """Let rewards that draw random numbers draw the same ones on both sides."""
    python, array = random.getstate(), np.random.get_state()
    random.seed(0)
    np.random.seed(0)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(array)


def _unsteady(replayed: Replayed, before: Floats) -> Unsteady | None:
    """Score the first batch again, since a reward may compare all of its completions; None if nothing changes."""
    _, work = next(replayed.batches(_BATCH))
    after = score(Scorer(replayed.reward), work).total
    tried = len(after)
    changed = differ(before[:tried], after)
    if not changed.any():
        return None
    return Unsteady(int(changed.sum()), tried, float(np.nanmax(np.abs(after - before[:tried]), initial=0.0)))


def differ(before: Floats, after: Floats) -> np.typing.NDArray[np.bool_]:
    """Return (n,): whether two numbers differ by more than `TOLERANCE`; NaN equals NaN."""
    absent = np.isnan(before) | np.isnan(after)
    with np.errstate(invalid="ignore"):
        return np.where(absent, np.isnan(before) != np.isnan(after), np.abs(after - before) > TOLERANCE)


def _paid(scorer: Scorer, case: Regression) -> tuple[float, float]:
    """Return the total of an exploit, and the lowest total of a right completion."""
    size = 1 + len(case.good)
    named, takes_all = asked_for(scorer.reward)
    columns = {
        name: [value] * size
        for name, value in case.columns.items()
        if name not in RESERVED and (takes_all or name in named)
    }
    prompts = None if case.prompt is None else [case.prompt] * size
    alone = [
        score(scorer, Work([one], prompts and prompts[:1], None, {name: cells[:1] for name, cells in columns.items()}))
        for one in (case.completion, *case.good)
    ]
    totals = [float(one.total[0]) for one in alone]
    rights = [total for total in totals[1:] if not np.isnan(total)]
    return totals[0], min(rights, default=float("nan"))


# A side without code: what a run recorded for its completions while it trained.


_PLACES = {str(outcome): place for place, outcome in enumerate(Outcome)}


def is_run(address: str) -> bool:
    """Whether `address` is the folder of a recorded run."""
    return os.path.isfile(os.path.join(address, "run.json"))


@dataclass(frozen=True)
class Recorded:
    """The scores that a run recorded, of whichever rewards were in force."""

    run: str

    def check(self, address: str) -> None:
        """Raise a DataError if the completions at `address` are not those of this run."""
        if os.path.realpath(self.run) != os.path.realpath(address):
            raise DataError(
                f"{self.run} has recorded the scores of its own completions alone. Compare on them: --on {self.run}"
            )


def recorded(address: str, found: Saved, leave_out: Sequence[str]) -> Side:
    """Return the recorded scores of the first completions of a run, in its order; see `side_of`.

    Args:
        found: the completions of the run.

    Raises:
        DataError: the record has other rows.
    """
    from rewardkit.record.run import open_run

    run = open_run(address)
    kinds = {"components": run.components, "outcomes": run.components, "terms": run.terms}
    chosen = ["total", *(f"{kind}/{name}" for kind, names in kinds.items() for name in names)]
    quoted = ", ".join('s."' + name.replace('"', '""') + '"' for name in chosen)
    table = run.sql(
        f"select {quoted} from scores s join completions c using (attempt, rank, part, row) where s.training "
        f"order by s.step, s.attempt, s.rank, s.part, s.row limit {found.size}"
    ).fetchnumpy()
    if len(table["total"]) != found.size:
        raise DataError(
            f"{address} has {len(table['total'])} recorded completions, but {found.size} were read. Try again"
        )
    return side_of(run, address, table, leave_out)


def side_of(run: Run, address: str, table: Mapping[str, Any], leave_out: Sequence[str]) -> Side:
    """Return the recorded scores of some completions.

    Args:
        table: (n,) columns of the table ``scores``: total, components, outcomes, terms.
        leave_out: terms to subtract from the totals; names that the record does not have are ignored.

    Raises:
        DataError: a component to leave out is no term.
    """
    left_out = tuple(name for name in leave_out if name in run.terms)
    inside = [name for name in leave_out if name in run.components and name not in run.terms]
    if inside:
        raise DataError(
            f"{inside[0]} is no term of its own in {address}, so it cannot be subtracted from the recorded totals. "
            "Compare with the reward's code instead: rewardkit diff takes its file, also at a git revision"
        )
    total = _floats(table["total"])
    for name in left_out:
        total = total - np.nan_to_num(_floats(table[f"terms/{name}"]))
    values = {name: _floats(table[f"components/{name}"]) for name in run.components if name not in left_out}
    known = {name: column for name, column in values.items() if not np.isnan(column).all()}
    codes = {name: _codes(table[f"outcomes/{name}"]) for name in known}
    return Side(f"{address}, as recorded", total, known, codes, left_out=left_out, omitted=left_out)


def _floats(column: Any) -> Floats:
    if isinstance(column, list):
        return np.array([np.nan if value is None else value for value in column], dtype=np.float64)
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def _codes(column: Any) -> np.typing.NDArray[np.int8]:
    texts: Any = np.ma.filled(np.ma.asarray(column, dtype=object), None)
    return np.array([_PLACES.get(str(text), SKIPPED) for text in texts], dtype=np.int8)
