"""``rk.diff(old, new, data)``: both rewards over the same completions.

``print(rk.diff("HEAD:reward.py:reward", "reward.py:reward", "solutions.jsonl"))`` says what an edit changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewardkit.core.errors import DataError, near_miss
from rewardkit.core.tree.conversion import RewardLike, tree_of
from rewardkit.core.tree.reward import Reward
from rewardkit.data.files import Row
from rewardkit.data.regressions import load
from rewardkit.replay.differences.differences import Differences, compared
from rewardkit.replay.differences.examples import examples_of
from rewardkit.replay.differences.grouping import groups_of
from rewardkit.replay.differences.omission import EXPENSIVE
from rewardkit.replay.differences.process import Data, Job, scored_elsewhere
from rewardkit.replay.differences.side import Side, scored
from rewardkit.replay.differences.targets import Target, target_of
from rewardkit.replay.sources import Saved

EXAMPLES = 10


@dataclass(frozen=True)
class Listed:
    """Rows in memory, as other processes get them."""

    rows: tuple[Row, ...]

    def __call__(self) -> Any:
        return iter(self.rows)


def diff(
    old: RewardLike | Sequence[Any] | str | Target,
    new: RewardLike | Sequence[Any] | str | Target,
    data: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | Data,
    *,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    without: Sequence[str] = (),
    regressions: str | os.PathLike[str] | None = None,
    examples: int = EXAMPLES,
) -> Differences:
    """Compare two rewards over the same completions: totals, components, advantages, failures.

    ``print(rk.diff("HEAD:reward.py:reward", "reward.py:reward", "solutions.jsonl"))`` says what an edit would change
    in a training: which completions get another total, and whose advantage flips its sign.

    Args:
        old: a reward; or its name: ``path.py:name``, ``module:name``, or with a git revision ``HEAD~1:path.py:name``.
            A named reward is loaded and scored in a process of its own.
        new: the same.
        data: a .jsonl, .json, .csv or .parquet file, the tables of TRL, the folder of a recorded run, or rows: mappings
            with a ``completion``, its ``prompt`` and columns.
        columns: our name -> the column of the data: ``{"answer": "reference"}``.
        limit: use only this many rows from the start.
        without: components to leave out on both sides; ``"expensive"`` leaves out judges, reward models and programs.
        regressions: a file of known exploits that ``rewardkit check --regressions`` keeps; both rewards score them.
        examples: how many completions to show.

    Returns:
        The differences: ``.verdict``, ``.components``, ``.gradients``, ``.columns`` (a table with a row per
        completion), ``.text()``, ``.markdown()``, ``.html()``, ``.to_dict()``.

    Raises:
        RewardKitError: a reward cannot be loaded, or cannot score the data.
    """
    source = _source(data, columns, limit)
    found = source.open()
    cases = () if regressions is None else tuple(case for case in load(Path(regressions)) if case.lossless)
    before, after = _sides(old, new, source, found, tuple(without), cases)
    _check_left_out(without, (before, after))
    groups = groups_of(found, source.sources)
    differences = compared(before, after, source.name, groups, cases)
    return replace(differences, examples=examples_of(differences, found, source.sources, examples))


def _source(data: Any, columns: Mapping[str, str] | None, limit: int | None) -> Data:
    if isinstance(data, Data):
        return data
    sources = dict(columns or {})
    if isinstance(data, (str, os.PathLike)):
        return Data.at(os.fspath(data), sources=sources, limit=limit)
    return Data("the data", "the data", Listed(tuple(dict(row) for row in data)), sources, limit)


def _sides(old: Any, new: Any, source: Data, found: Saved, leave_out: tuple[str, ...], cases: Any) -> list[Side]:
    named = {place: value for place, value in enumerate((old, new)) if isinstance(value, (str, Target))}
    sides: dict[int, Side] = {}
    with ExitStack() as stack:
        jobs = []
        for value in named.values():
            target = target_of(value) if isinstance(value, str) else value
            jobs.append(Job(str(target), stack.enter_context(target.placed()), source, leave_out, cases))
        if jobs:
            sides |= dict(zip(named, scored_elsewhere(jobs), strict=True))
    for place, (value, name) in enumerate(((old, "old"), (new, "new"))):
        if place not in sides:
            reward: Reward = tree_of(value, f"diff: the {name} reward")
            sides[place] = scored(
                reward.name or f"the {name} reward",
                reward,
                found,
                sources=source.sources,
                leave_out=leave_out,
                exploits=cases,
            )
    return [sides[0], sides[1]]


def _check_left_out(names: Sequence[str], sides: Sequence[Side]) -> None:
    found = {name for side in sides for name in side.left_out}
    known = list(dict.fromkeys(name for side in sides for name in side.components))
    for name in names:
        if name not in found:
            raise DataError(
                f"neither reward has a component {name!r} to leave out.{near_miss(name, known)} Components: "
                f"{', '.join(known)}; {EXPENSIVE!r} stands for judges, reward models and programs"
            )
