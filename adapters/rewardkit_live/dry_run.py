"""Try a reward on the last recorded batch in this process. Nothing is sent; no training needs to run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rewardkit.core.errors import RewardKitError
from rewardkit.core.progress.progress import Progress
from rewardkit.data.reward_names import load
from rewardkit.store.run import open_run
from rewardkit_live.mailbox import Mailbox
from rewardkit_live.trial import Sample, Tried, compared, tried
from rewardkit_trl.layout import Layout

_ROWS = """
select scores.*, completions.completion, completions.messages as said, prompts.prompt as asked,
        prompts.messages as conversation, prompts."columns" as example
    from scores join completions using (attempt, rank, part, row) join prompts on prompts.prompt_id = scores.prompt_id
    where scores.training and scores.step = (select max(step) from scores where training)
order by scores.rank, scores.part, scores.row
"""


def dry_run(run: str, target: str) -> dict[str, Any]:
    """Compare the old and the new reward on the last recorded training step, as `trial.compared` does.

    Args:
        run: the folder of the record.
        target: ``path.py:name`` or ``module:name``.

    Raises:
        RewardKitError: there is no record, or the reward cannot be loaded, or it cannot score the batch.
    """
    from rewardkit_trl.functions import successor

    before, sample = _recorded(run)
    found = load(target)
    if len(found) != 1:
        raise RewardKitError(
            f"{target} has several rewards: {', '.join(one.name for one in found)}. Pass one of them as {target}:NAME"
        )
    held = (Mailbox(run).current() or {}).get("held")
    after = tried(Layout.of(successor(found[0].reward, held), "terms"), sample)
    return compared(before, after, sample)


def _recorded(folder: str) -> tuple[Tried, Sample]:
    run = open_run(folder)
    rows = run.sql(_ROWS).to_arrow_table().to_pylist()
    if not rows:
        raise RewardKitError(f"{folder} has no recorded training batch yet. Wait for the first step")
    examples = [json.loads(row["example"] or "{}") for row in rows]
    names = list(dict.fromkeys(name for example in examples for name in example))
    starts = {key: number for number, key in enumerate(dict.fromkeys(map(_group, rows)))}
    means = {}
    for name in run.components:
        values = [row[f"components/{name}"] for row in rows]
        known = [value for value in values if value is not None]
        if known:
            means[name] = float(np.mean(known))
    current = Mailbox(folder).current() or {}
    step = int(rows[0]["step"])
    most = current.get("max_steps")
    totals = np.array([np.nan if row["total"] is None else row["total"] for row in rows], dtype=np.float64)
    sample = Sample(
        [row["completion"] if row["said"] is None else json.loads(row["said"]) for row in rows],
        [row["asked"] if row["conversation"] is None else json.loads(row["conversation"]) for row in rows],
        None if rows[0]["length"] is None else [[0] * row["length"] for row in rows],
        {name: [example.get(name) for example in examples] for name in names},
        progress=Progress(step, most) if isinstance(most, int) and most >= 1 else None,
        groups=np.array([starts[_group(row)] for row in rows]),
        way="group",
    )
    return Tried((), means, totals), sample


def _group(row: Any) -> tuple[int, int, int]:
    return row["rank"], row["part"], row["group"]
