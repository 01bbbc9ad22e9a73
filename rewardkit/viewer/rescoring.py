"""Scores a sample of a recorded run again, with the gold answers of other prompts. Runs the code of the reward.

``rescored(watched, rk.exact("answer")).foreign`` is (n,), NaN for completions outside of the sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from rewardkit.analysis.foreign_golds import ForeignGolds, ForeignScores
from rewardkit.core.batch.batch import Batch
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.conversion import RewardLike
from rewardkit.viewer.scores import Integers, Scores
from rewardkit.viewer.watcher import Watched

MOST = 4_000
"""The most completions to score again."""
DRAWS = 3
"""The other prompts whose gold answers each completion gets."""
FEWEST = 4
"""The fewest groups of a batch, if it has so many: a group needs others that lend it their gold answers."""


def rescored(watched: Watched, reward: RewardLike, *, most: int = MOST) -> ForeignScores:
    """Score whole groups of training batches again, spread evenly over the steps.

    Raises:
        RewardKitError: as `Scorer.score`, for example if the run does not have a column that the reward reads.
    """
    golds, scores = ForeignGolds(reward), watched.scores
    found = ForeignScores.unknown(len(scores))
    before: Batch | None = None
    for number, rows in enumerate(sampled_batches(scores, most) if golds.possible else ()):
        batch = recorded_batch(watched, rows)
        if before is None:
            Scorer(reward).check(batch)
        beside = before if before is not None and before.columns.keys() == batch.columns.keys() else None
        for whole, part in zip(found, golds.scores(batch, beside=beside, draws=DRAWS, seed=number), strict=True):
            whole[rows] = part
        before = batch
    return found


def sampled_batches(scores: Scores, most: int = MOST) -> Iterator[Integers]:
    """Yield the rows of some groups of each chosen batch, in order of steps: together about `most`, or all."""
    rows = np.flatnonzero(scores.training)
    batches = np.stack([scores.step, scores.attempt, scores.rank, scores.part], axis=1)[rows]
    _, batch_of = np.unique(batches, axis=0, return_inverse=True)
    members = np.split(rows[np.argsort(batch_of, kind="stable")], np.cumsum(np.bincount(batch_of))[:-1])
    groups = sum(len(np.unique(scores.group[own])) for own in members)
    size = len(rows) / max(groups, 1)
    each = max(FEWEST, int(most / (size * max(len(members), 1)))) if len(rows) > most else groups
    share = min(1.0, most / max(sum(min(each * size, len(own)) for own in members), 1.0))
    chosen = np.unique(np.linspace(0, len(members) - 1, max(1, int(share * len(members)))).round().astype(np.int64))
    draws = np.random.default_rng(0)
    for place in chosen.tolist() if len(rows) else ():
        own = members[place]
        there = np.unique(scores.group[own])
        kept = own[np.isin(scores.group[own], draws.choice(there, min(each, len(there)), replace=False))]
        yield kept[np.lexsort((scores.row[kept], scores.group[kept]))]


def recorded_batch(watched: Watched, rows: Integers) -> Batch:
    """Return some rows, in order of groups, as what was scored.

    A text that the record has lost is empty. Of token ids the record has the number only, so they are 0, 1, 2...
    """
    scores = watched.scores
    prompts, columns, completions = [], [], []
    for _, text, messages, cells, said, completion in _read(watched, rows):
        prompts.append(text or "" if messages is None else json.loads(messages))
        columns.append(json.loads(cells) if cells else {})
        completions.append(completion or "" if said is None else json.loads(said))
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


def _read(watched: Watched, rows: Integers) -> list[tuple[Any, ...]]:
    """Return prompt, its messages, the columns, the messages of the completion and its text, row by row."""
    keys = [getattr(watched.scores, name)[rows].tolist() for name in ("attempt", "rank", "part", "row")]
    query = (
        "select p.prompt_id, p.prompt, p.messages, p.columns, c.messages, c.completion from "
        "(select unnest(?) a, unnest(?) r, unnest(?) p, unnest(?) w, unnest(?) n) k "
        "left join completions c on c.attempt = k.a and c.rank = k.r and c.part = k.p and c.row = k.w "
        "left join (select prompt_id, any_value(prompt) prompt, any_value(messages) messages, "
        "any_value(columns) columns from prompts group by prompt_id) p on p.prompt_id = c.prompt_id order by k.n"
    )
    found: list[tuple[Any, ...]] = watched.run.sql(query, [*keys, list(range(len(rows)))]).fetchall()
    return found
