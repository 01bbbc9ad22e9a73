"""Preparation of a recorded run for `rewardkit.alerts`, and the resulting alerts.

``alerts_of("runs/x")[0].title`` is the first alert on the page.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.analyze.permuted_golds import ForeignScores, PermutedGolds
from rewardkit.batch.batch import Batch
from rewardkit.page.scores import OUTCOMES, Floats, Integers, Scores
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import text_or_messages, texts_of, whole_rows
from rewardkit.record.run import open_run
from rewardkit.tree.conversion import RewardLike
from rewardkit.tree.evaluation.scorer import Scorer

_LOG = logging.getLogger("rewardkit")

# Score a sample of a recorded run again, with the gold answers of other prompts. This runs the code of the reward.


MOST = 4_000
"""The maximum number of completions to rescore, for a run of any length. The number is arbitrary and limits the search
time."""
DRAWS = 3
"""The number of other prompts whose gold answers are used to score each completion. The number is arbitrary: a single
other gold answer may be equal by chance, for example, if the answers are yes and no."""
FEWEST = 4
"""The minimum number of groups to sample from a batch (if it has enough), because each group needs other groups' gold
answers."""


def score_with_foreign_golds(watched: Watched, reward: RewardLike, *, most: int = MOST) -> ForeignScores:
    """Rescore whole groups in training batches, spread evenly over the steps.

    Raises:
        RewardKitError: as for `Scorer.score`, for example, if the run lacks a column that the reward reads.
    """
    golds, scores = PermutedGolds(reward, rescore=True), watched.scores
    foreign_scores = ForeignScores.unknown(len(scores))
    before: Batch | None = None
    for number, rows in enumerate(sampled_batches(scores, most) if golds.possible else ()):
        batch = recorded_batch(watched, rows)
        if before is None:
            Scorer(reward).check(batch)
        donor = before if before is not None and before.columns.keys() == batch.columns.keys() else None
        for column, part in zip(
            foreign_scores, golds.scores(batch, donor=donor, draws=DRAWS, seed=number), strict=True
        ):
            column[rows] = part
        before = batch
    return foreign_scores


def radar_remark(watched: Watched) -> str:
    """Return the sentence in the record on components that the radar did not score again, or an empty string."""
    newest = """select message, level from logs where kind = 'radar' and attempt = (select max(attempt) from scores)
        order by step desc, time desc limit 1"""
    [(message, level)] = watched.run.sql(newest).fetchall() or [("", "")]
    return message if level == "info" else ""


def sampled_batches(scores: Scores, most: int = MOST) -> Iterator[Integers]:
    """Yield the rows of sampled groups, batch by batch in step order: about `most` rows in total, or all rows."""
    rows = np.flatnonzero(scores.training)
    batches = np.stack([scores.step, scores.attempt, scores.rank, scores.part], axis=1)[rows]
    _, batch_of = np.unique(batches, axis=0, return_inverse=True)
    members = np.split(rows[np.argsort(batch_of, kind="stable")], np.cumsum(np.bincount(batch_of))[:-1])
    groups = sum(len(np.unique(scores.group[batch_rows])) for batch_rows in members)
    size = len(rows) / max(groups, 1)
    groups_per_batch = max(FEWEST, int(most / (size * max(len(members), 1)))) if len(rows) > most else groups
    share = min(1.0, most / max(sum(min(groups_per_batch * size, len(batch_rows)) for batch_rows in members), 1.0))
    chosen = np.unique(np.linspace(0, len(members) - 1, max(1, int(share * len(members)))).round().astype(np.int64))
    draws = np.random.default_rng(0)
    for index in chosen.tolist() if len(rows) else ():
        batch_rows = members[index]
        batch_groups = np.unique(scores.group[batch_rows])
        sampled = batch_rows[
            np.isin(
                scores.group[batch_rows],
                draws.choice(batch_groups, min(groups_per_batch, len(batch_groups)), replace=False),
            )
        ]
        yield sampled[np.lexsort((scores.row[sampled], scores.group[sampled]))]


def recorded_batch(watched: Watched, rows: Integers) -> Batch:
    """Return `rows`, which are in group order, as a batch.

    Texts that are missing from the record are empty. The record contains only the number of token ids, so the ids are
    0, 1, 2, and so on.
    """
    scores = watched.scores
    prompts, columns, completions = [], [], []
    for row in whole_rows(watched.run, scores.keys(rows)):
        prompts.append(text_or_messages(row, "prompt"))
        columns.append(json.loads(row["columns"]) if row["columns"] else {})
        completions.append(text_or_messages(row, "completion"))
    sizes = np.unique(scores.group[rows], return_counts=True)[1]
    lengths = scores.length[rows]
    is_counted = scores.length_unit == "tokens" and not np.isnan(lengths).any()
    return Batch(
        completions,
        prompts=prompts,
        completion_ids=[range(int(length)) for length in lengths] if is_counted else None,
        columns={name: [cells.get(name) for cells in columns] for name in dict.fromkeys(n for c in columns for n in c)},
        num_generations=int(sizes[0]) if len(set(sizes.tolist())) == 1 else None,
    )


AGAIN = 60.0
"""The seconds between searches for alerts in a run that is still training. The value is arbitrary: a search takes
seconds, and a run changes slowly."""


def alerts_of(path: str | os.PathLike[str], *, reward: RewardLike | None = None) -> list[Alert]:
    """Return a recorded run's alerts, strongest first, as shown in the *Suspicious* tab.

    ``[alert.title for alert in alerts_of("runs/x") if alert.strength >= 0.5]``. An alert's ``rows`` are indices into
    the result of `read_evidence`, which also contains the texts.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        reward: a reward with which to rescore a sample, using the gold answers for other prompts; see `read_evidence`.

    Raises:
        NotARun: `path` does not contain a recorded run.
        RewardKitError: the reward cannot score this run's completions.
    """
    return suspicious(read_evidence(path, reward=reward))


def read_evidence(path: str | os.PathLike[str], *, reward: RewardLike | None = None) -> Evidence:
    """Read a recorded run as input for `suspicious`.

    ``evidence.completions(np.array(alert.rows))`` returns the texts that an alert refers to. Use `dataclasses.replace`
    to change the input, for example, the ``seed`` or the ``monitored`` components.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        reward: the run's reward, if the run was recorded without a radar. At most about 4,000 completions (whole
            groups, spread evenly over the steps) are rescored with the gold answers for other prompts. This calls the
            reward's functions, even if they do not declare ``pure=True``, but no judges, reward models, tested
            programs, or functions that wait. By default, no code is run.

    Raises:
        NotARun: `path` does not contain a recorded run.
        RewardKitError: the reward cannot score this run's completions.
    """
    return evidence_of(watched_run(path), reward)


def watched_run(path: str | os.PathLike[str]) -> Watched:
    """Read a recorded run into memory.

    Raises:
        NotARun: `path` does not contain a recorded run.
    """
    watched = Watched(os.fspath(path), Path(path), open_run(path))
    watched.load(first=True)
    return watched


class Search:
    """A search for alerts in one run, with its latest result."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.scores: Scores | None = None
        self.remark = ""
        """The components that the radar did not score again, as a sentence; empty if there are none."""
        self.problem = ""
        """The reason why the last search failed, or an empty string if it succeeded."""
        self._number = -1
        self._searched_at = 0.0
        self._lock = threading.Lock()

    def is_fresh(self, watched: Watched) -> bool:
        """Return whether the latest result is recent enough."""
        return self._number == watched.number or (self._number >= 0 and time.monotonic() - self._searched_at < AGAIN)

    def run(self, watched: Watched) -> None:
        """Search for alerts, unless another page has just searched.

        A search takes seconds, so call this in a thread.
        """
        with self._lock:
            if self.is_fresh(watched):
                return
            number, scores, self.problem = watched.number, watched.scores, ""
            try:
                self.alerts, self.remark = suspicious(evidence_of(watched)), radar_remark(watched)
            except Exception as error:  # the other tabs work without alerts
                _LOG.warning("the search for alerts failed", exc_info=True)
                self.problem = f"{type(error).__name__}: {error}"
                return
            self.scores, self._number, self._searched_at = scores, number, time.monotonic()


def evidence_of(watched: Watched, reward: RewardLike | None = None) -> Evidence:
    """Return a run in memory as input for `suspicious`; see `read_evidence`."""
    scores = watched.scores
    names = np.array([*OUTCOMES, ""])
    declared = {name: part for name, part in watched.declared.items() if name in scores.components}
    return Evidence(
        steps=scores.step,
        prompts=scores.prompt,
        totals=scores.total,
        components=scores.components,
        training=scores.training,
        advantages=None if np.isnan(scores.advantage).all() else scores.advantage,
        lengths=scores.length if scores.length_known else None,
        maximum_length=_limit(watched),
        outcomes={name: names[codes] for name, codes in scores.outcomes.items()},
        completions=lambda rows: texts_of(watched.run, scores.keys(rows)),
        prompt_texts=_prompts(watched, scores),
        columns=_columns(watched, scores),
        reads={name: part.get("reads", ()) for name, part in declared.items()},
        bounds={name: _bounds(part) for name, part in declared.items()},
        monitored=frozenset(name for name, part in declared.items() if "monitor" in str(part.get("kind", "")).lower()),
        calls=scores.calls if scores.has_turns else None,
        repeated_calls=scores.repeated if scores.has_turns else None,
        unfinished=_unfinished(scores) if scores.has_turns else None,
        foreign=_foreign(scores) if reward is None else score_with_foreign_golds(watched, reward),
        gates={
            name: (steps.astype(np.int64), rates) for name, (steps, rates) in watched.metrics.named("gates/").items()
        },
    )


def _unfinished(scores: Scores) -> Floats:
    return np.where(np.isnan(scores.turns), np.nan, (scores.stop != "answered").astype(np.float64))


def _foreign(scores: Scores) -> ForeignScores | None:
    """Return the radar's scores for the newest reward version, because other versions score differently."""
    rescored_rows = np.flatnonzero(~np.isnan(scores.foreign_total))
    if not rescored_rows.size:
        return None
    other = scores.version != scores.version[rescored_rows[-1]]
    columns = scores.foreign_own, scores.foreign_total, scores.foreign_form
    return ForeignScores(*(np.where(other, np.nan, column) for column in columns))


def _prompts(watched: Watched, scores: Scores) -> Callable[[Integers], Sequence[str]]:
    texts = watched.prompts.texts

    def read(rows: Integers) -> Sequence[str]:
        return [texts[code] if code < len(texts) else "" for code in scores.prompt[rows].tolist()]

    return read


def _columns(watched: Watched, scores: Scores) -> Callable[[Integers], Sequence[Mapping[str, Any]]]:
    texts, read = watched.prompts.columns, dict[int, Mapping[str, Any]]()

    def cells(code: int) -> Mapping[str, Any]:
        if code not in read:
            read[code] = json.loads(texts[code]) if code < len(texts) and texts[code] else {}
        return read[code]

    return lambda rows: [cells(code) for code in scores.prompt[rows].tolist()]


def _bounds(component: Mapping[str, Any]) -> tuple[float, float]:
    low, high = component["bounds"]
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)


def _limit(watched: Watched) -> float | None:
    """Return the trainer's token limit if it was recorded and lengths are in tokens; otherwise, None."""
    if watched.scores.length_unit != "tokens":
        return None
    limit = watched.metrics.training.get("limit/tokens")
    return None if limit is None else float(limit[1][-1])
