"""Samples of slime: what is read from them, and what rewardkit notes on them.

A note is the entry "rewardkit" of ``sample.metadata``, plain numbers and texts, so that it survives copies and dumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rewardkit.online.rows import Row, RowScore

NOTE = "rewardkit"
_OF_SLIME = ("start_rollout_id", "round_number", "raw_reward", NOTE)
"""Entries of the metadata that are no columns of the data."""


def row_of(sample: Any, gold: str) -> Row:
    """Return the row of a sample: its response, its prompt, its metadata and its label as columns."""
    columns = {str(name): cell for name, cell in (sample.metadata or {}).items() if name not in _OF_SLIME}
    columns["label"] = sample.label
    if sample.label is not None or gold not in columns:
        columns[gold] = sample.label
    count = sample.response_length
    return Row(
        sample.response,
        prompt=sample.prompt,
        columns=columns,
        completion_ids=list(sample.tokens[-count:]) if count else [],
        cut=getattr(sample.status, "value", sample.status) == "truncated",
    )


def note(sample: Any) -> dict[str, Any]:
    """Return what is noted on a sample; empty if there is nothing."""
    found = (sample.metadata or {}).get(NOTE)
    return dict(found) if isinstance(found, Mapping) else {}


def add_note(sample: Any, **entries: Any) -> None:
    """Note something on a sample; its metadata is replaced, since copies of a sample may share it."""
    sample.metadata = {**(sample.metadata or {}), NOTE: {**note(sample), **entries}}


def add_score(sample: Any, score: RowScore) -> None:
    """Note the scores of a sample."""
    numbers = {name: value for name, value in score.numbers().items() if value is not None}
    add_note(sample, numbers=numbers, unscored=score.why)


def unscored(sample: Any) -> bool:
    """Return whether a sample has no score: it could not be scored, or slime aborted it before it was."""
    if sample.reward is None:
        return bool(getattr(sample.status, "value", sample.status) == "aborted")
    return bool(note(sample).get("unscored"))


def evaluated(sample: Any) -> bool:
    """Return whether a sample is one of an evaluation: slime numbers the groups of training samples only."""
    return bool(note(sample).get("evaluation", sample.group_index is None))


def flat(samples: Iterable[Any]) -> Iterator[Any]:
    """Yield the samples of a group, in which a rollout may be several samples."""
    for one in samples:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one
