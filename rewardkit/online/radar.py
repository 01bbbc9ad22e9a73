"""The radar, which searches a training run for signs that the policy exploits the reward.

Call ``radar.look(batch, table, totals, step=7)`` after each batch. If its time budget allows, the radar rescores some
groups in the batch with the gold answers of other prompts, and searches all batches so far for alerts. By default, only
ready rewards and functions that are declared ``pure`` are called again. The radar does not change scores, does not use
the training run's random generators, and never raises an exception.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.alerts.golds import cell_text
from rewardkit.alerts.texts import shortened
from rewardkit.analyze.permuted_golds import ForeignScores, PermutedGolds
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.score import Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.online.versions import described_components
from rewardkit.record.capture import Capture
from rewardkit.record.records import ComponentDescription
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward
from rewardkit.workers.random_state import preserved_rng

# A time budget: the radar's work takes at most a fixed share of the training's time.


_SAVED = 3.0
"""The maximum budget, as a multiple of the last cost, so that a long pause is not followed by a burst of work. The
value is arbitrary, but must be above 1."""


@final
class OverheadBudget:
    """A time budget that grows as time passes and decreases with work.

    The first unit of work is free, because it is often many times slower than the following units (it imports and
    compiles).

    Args:
        share: the share of the elapsed time, from 0 to 1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._saved = self._cost = 0.0
        self._worked = 0
        self._last_check: float | None = None

    @property
    def suffices(self) -> bool:
        """Whether the budget covers work as long as the last unit.

        Reading this adds the time since the last reading.
        """
        now = time.perf_counter()
        passed = 0.0 if self._last_check is None else now - self._last_check
        self._last_check = now
        self._saved = min(self._saved + self.share * passed, _SAVED * self._cost)
        return self._saved >= self._cost

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Subtract the ``with`` block's duration from the budget."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._worked += 1
            if self._worked > 1:
                self._cost = time.perf_counter() - started
                self._saved -= self._cost


_LOG = logging.getLogger("rewardkit")
ON = "The radar scores all components again that may be called again."
OFF = "No completion was scored again with the gold answers of other prompts, because the radar is off (radar=False)."
SHARE = 0.01
"""The maximum share of training time for the radar: half for rescoring and half for searching. The value is arbitrary:
too small to be noticed."""
GROUPS = 4
"""The number of groups to sample from a batch. The number is arbitrary: random groups from all batches are a better
sample than all groups from a few batches."""
MOST = 4_096
"""The maximum number of completions to keep. Above this limit, the radar keeps only every second look, then every
fourth look, and so on. The limit is arbitrary: each completion makes a search slower."""
_LOOKS = 10
"""The number of looks before the first search. Fewer looks cannot show a change, because a search compares two windows
of at least five steps each."""
_OUTCOMES = np.array([str(outcome) for outcome in Outcome])


@dataclass(frozen=True)
class _Look:
    """The k completions sampled from one batch, as arrays and lists with k items."""

    number: int
    step: int
    prompts: list[str]
    completions: list[str]
    columns: list[Mapping[str, Any]]
    totals: Floats
    lengths: Floats
    components: Mapping[str, Floats]
    outcomes: Mapping[str, Numbers]
    foreign: ForeignScores


@final
class Radar:
    """A thread-safe monitor for a training run with one reward. Calls during a look are skipped.

    Args:
        reward: the training run's reward. A new version of the reward requires a new radar.
        share: the maximum share of training time for the radar, from 0 to 1.
        rescore: whether to also call the user's functions that are not declared ``pure``.

    Attributes:
        alert: the strongest alert in the last search, or None if there are no alerts yet.
        searches: the number of searches.
    """

    def __init__(self, reward: Reward, share: float | None = None, *, rescore: bool = False) -> None:
        self.alert: Alert | None = None
        self.searches = 0
        self._reward = reward
        share = SHARE if share is None else share
        self._scoring, self._searching = OverheadBudget(share / 2), OverheadBudget(share / 2)
        self._random = np.random.default_rng(0)
        self._lock = threading.Lock()
        self._donor: Batch | None = None
        self._looks: list[_Look] = []
        self._looked_at, self._every = 0, 1
        self._limit: float | None = None
        self._batches = 0
        self._off = False
        self._golds: PermutedGolds | None = None
        try:
            self._golds = PermutedGolds(reward, rescore=rescore)
        except Exception as error:
            self._switch_off(error)

    def look(
        self, batch: Batch, table: ScoreTable, totals: Floats, *, step: int | None = None, limit: float | None = None
    ) -> ForeignScores | None:
        """Look at a scored batch of n completions, if the time budget allows.

        Args:
            batch: the scored batch.
            table: its scores.
            totals: (n,) the totals used for training.
            step: the training step; if None, the batches are counted.
            limit: the length in tokens at which completions are cut off, if known.

        Returns:
            The totals with the gold answers of each completion's own prompt and of other prompts, (n,) each; NaN for
            completions that were not rescored. None if no completions were rescored.
        """
        if self._off or not self._lock.acquire(blocking=False):
            return None
        try:
            step = self._batches if step is None else step
            self._batches += 1
            self._limit = limit
            self._looks = [look for look in self._looks if look.step <= step]  # a resumed training goes back
            if not batch.size or not self._scoring.suffices:
                return None
            with self._scoring.spent():
                groups = np.unique(batch.groups)
                chosen = self._random.choice(groups, min(GROUPS, len(groups)), replace=False)
                scores = self._scored_again(batch, chosen)
                self._keep(batch, table, totals, step, np.flatnonzero(np.isin(batch.groups, chosen)), scores)
            if len(self._looks) >= _LOOKS and self._searching.suffices:
                with self._searching.spent():
                    self._search()
            return scores
        except Exception as error:
            self._switch_off(error)
            return None
        finally:
            self._lock.release()

    def _switch_off(self, error: Exception) -> None:
        self._off = True
        _LOG.warning(
            "the radar has been switched off, because it could not score completions again: %s: %s. Training "
            "continues without the radar. To switch it off yourself, pass rk.to_trl(..., radar=False)",
            type(error).__name__,
            error,
        )

    @property
    def remark(self) -> str:
        """The components that the radar does not score again although it could; see `PermutedGolds.remark`."""
        return "" if self._golds is None else self._golds.remark

    @property
    def strength(self) -> float | None:
        """The strongest alert's strength: 0 if there are no alerts yet, None if the radar is off."""
        if self._off:
            return None
        return 0.0 if self.alert is None else self.alert.strength

    def metrics(self, scores: ForeignScores | None) -> dict[str, float]:
        """Return the metrics to log: ``radar/strength``, and the means of `scores`.

        The means are ``radar/own`` and ``radar/foreign``. Metrics without a value are omitted.
        """
        strength = self.strength
        logged = {} if strength is None else {"radar/strength": strength}
        known_rows = (
            np.zeros(0, dtype=np.bool_) if scores is None else ~np.isnan(scores.own) & ~np.isnan(scores.foreign)
        )
        if scores is not None and known_rows.any():
            logged["radar/own"] = float(scores.own[known_rows].mean())
            logged["radar/foreign"] = float(scores.foreign[known_rows].mean())
        return logged

    @property
    def evidence(self) -> Evidence | None:
        """All looks so far, as input for `suspicious`, or None before the first look."""
        looks = self._looks
        if not looks:
            return None
        described = self._described
        kinds = {description.name: description.kind for description in described}

        def joined(name: str) -> Floats:
            return np.concatenate([getattr(look, name) for look in looks])

        foreign = ForeignScores(*map(np.concatenate, zip(*(look.foreign for look in looks), strict=True)))
        names = looks[-1].components
        return Evidence(
            steps=np.repeat([look.step for look in looks], [len(look.totals) for look in looks]),
            prompts=np.array([prompt for look in looks for prompt in look.prompts]),
            totals=joined("totals"),
            components={name: np.concatenate([look.components[name] for look in looks]) for name in names},
            lengths=joined("lengths"),
            maximum_length=self._limit,
            outcomes={name: _OUTCOMES[np.concatenate([look.outcomes[name] for look in looks])] for name in names},
            completions=[text for look in looks for text in look.completions],
            prompt_texts=[text for look in looks for text in look.prompts],
            columns=[cells for look in looks for cells in look.columns],
            reads={description.name: description.reads for description in described if description.name in names},
            bounds={description.name: description.bounds for description in described if description.name in names},
            monitored=frozenset(name for name in names if kinds.get(name) == "monitored"),
            foreign=None if np.isnan(foreign.foreign).all() else foreign,
        )

    @cached_property
    def _described(self) -> tuple[ComponentDescription, ...]:
        return described_components(Scorer(self._reward))

    def _scored_again(self, batch: Batch, chosen: Numbers) -> ForeignScores | None:
        """Score the chosen groups with the columns of other groups in this batch and the last look."""
        if self._golds is None or not self._golds.possible:
            return None
        donor = self._donor
        if donor is not None and not _is_like(donor, batch):
            donor = None
        seed = int(self._random.integers(2**32))
        with preserved_rng(), Capture(quiet=True):
            scores = self._golds.scores(batch, groups=chosen.tolist(), donor=donor, seed=seed)
        self._donor = _cells_of(batch, chosen)
        return None if np.isnan(scores.foreign).all() else scores

    def _keep(
        self, batch: Batch, table: ScoreTable, totals: Floats, step: int, rows: Numbers, scores: ForeignScores | None
    ) -> None:
        """Save the scores for `rows`, and the beginnings and ends of their texts, as a look."""
        self._looked_at += 1
        if self._looked_at % self._every:
            return
        read = {name for entry in self._described for name in entry.reads if name in batch.columns}
        ids = batch.completion_ids
        lengths = [len(table.completions[row]) if ids is None else len(ids[row]) for row in rows]
        if ids is None:
            self._limit = None  # the limit is in tokens, but these lengths are in characters
        self._looks.append(
            _Look(
                self._looked_at,
                step,
                [shortened(batch.prompt_texts[row]) for row in rows],
                [shortened(table.completions[row]) for row in rows],
                [{name: cell_text(batch.columns[name][row]) for name in read} for row in rows],
                totals[rows].astype(np.float64),
                np.array(lengths, dtype=np.float64),
                {name: column.scored[rows] for name, column in table.components.items()},
                {name: column.codes[rows].astype(np.int64) for name, column in table.components.items()},
                ForeignScores.unknown(len(rows))
                if scores is None
                else ForeignScores(*(entry[rows] for entry in scores)),
            )
        )
        if sum(len(look.totals) for look in self._looks) > MOST:
            self._every *= 2
            self._looks = [look for look in self._looks if look.number % self._every == 0]

    def _search(self) -> None:
        evidence = self.evidence
        alerts = [] if evidence is None else suspicious(evidence, observations=False)
        self.alert = next((alert for alert in alerts if alert.strength > 0.0), None)
        self.searches += 1


def _is_like(batch: Batch, other: Batch) -> bool:
    return batch.columns.keys() == other.columns.keys() and (batch.prompts is None) == (other.prompts is None)


def _cells_of(batch: Batch, groups: Numbers) -> Batch:
    """Return the prompt and columns in each group's first row, without the completion."""
    firsts = [int(np.flatnonzero(batch.groups == group)[0]) for group in groups]
    return Batch(
        [""] * len(firsts),
        prompts=None if batch.prompts is None else [batch.prompts[row] for row in firsts],
        columns={name: [values[row] for row in firsts] for name, values in batch.columns.items()},
    )
