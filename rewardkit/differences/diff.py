"""``rk.diff(old, new, data)`` compares two rewards on the same completions.

``print(rk.diff("HEAD:reward.py:reward", "reward.py:reward", "solutions.jsonl"))`` shows what an edit changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.batch.column import Numbers
from rewardkit.differences.differences import Differences, compare_sides
from rewardkit.differences.process import Data, Job, score_in_children
from rewardkit.differences.record import Recorded, read_recorded_side
from rewardkit.differences.side import Side, score_side
from rewardkit.differences.targets import Placed, target_of
from rewardkit.errors import DataError, near_miss, shorten
from rewardkit.scoring.files import Row
from rewardkit.scoring.regressions import Regression, load
from rewardkit.scoring.sources import Saved
from rewardkit.tree.conversion import RewardLike, tree_of
from rewardkit.tree.evaluation.omission import EXPENSIVE

# Groups: completions of the same prompt, which GRPO compares.


_READ = 2_048
"""The number of rows to hold in memory at once. Arbitrary."""


def groups_of(saved: Saved, sources: Mapping[str, str]) -> Numbers | None:
    """Return the (n,) group of each row.

    Neighboring rows with the same prompt form one group, so that each epoch has its own groups. If a prompt's
    completions are scattered over the data, all rows with that prompt form one group.
    """
    prompt = sources.get("prompt", "prompt")
    names = [name for name in (prompt, *saved.apart) if name in saved.kinds]
    if not names:
        return None
    prompt_numbers: dict[bytes, int] = {}
    parts = []
    for chunk in saved.chunks(_READ):
        keys = zip(*(chunk.column(name) for name in names), strict=True)
        parts.append([prompt_numbers.setdefault(_digest(key), len(prompt_numbers)) for key in keys])
    prompts = np.concatenate([np.array(part, dtype=np.int64) for part in parts])
    starts = np.flatnonzero(np.diff(prompts, prepend=-1))
    sizes = np.diff(np.append(starts, len(prompts)))
    again = np.bincount(prompts[starts])[prompts[starts]] > 1
    if (again & (sizes == 1)).any():
        return prompts
    numbers: Numbers = np.repeat(np.arange(len(starts)), sizes)
    return numbers


def _digest(key: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(repr(key).encode(errors="surrogatepass"), digest_size=16).digest()


EXAMPLES = 10
"""The default number of completions to show. Arbitrary: reviewers look at only a few."""


@dataclass(frozen=True)
class Listed:
    """A picklable source of in-memory rows for other processes."""

    rows: tuple[Row, ...]

    def __call__(self) -> Any:
        return iter(self.rows)


def diff(
    old: RewardLike | Sequence[Any] | str | Placed,
    new: RewardLike | Sequence[Any] | str | Placed,
    data: str | os.PathLike[str] | Iterable[Mapping[str, Any]] | Data,
    *,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    without: Sequence[str] = (),
    regressions: str | os.PathLike[str] | None = None,
    examples: int = EXAMPLES,
) -> Differences:
    """Compare two rewards on the same completions: totals, components, advantages, and failures.

    ``print(rk.diff("HEAD:reward.py:reward", "reward.py:reward", "solutions.jsonl"))`` shows how an edit affects
    training: the completions whose total changes, and those whose advantage changes sign.

    Args:
        old: a reward, or the name of one: ``path.py:name``, ``module:name``, or, with a git revision,
            ``HEAD~1:path.py:name``. A named reward is loaded and scored in a separate process. If `data` is a recorded
            run, the path of its folder stands for the recorded scores.
        new: the other reward, in the same format.
        data: a .jsonl, .json, .csv, or .parquet file, TRL's completion tables, the folder of a recorded run, or rows:
            mappings with a ``completion``, a ``prompt``, and columns.
        columns: name in the reward -> column in the data, as in ``{"answer": "reference"}``.
        limit: the maximum number of rows to use, starting with the first.
        without: components to exclude on both sides. ``"expensive"`` excludes judges, reward models, and programs.
        regressions: a file of known exploits, written by ``rewardkit check --regressions``. Both rewards score the
            exploits.
        examples: the number of completions to show.

    Returns:
        The differences: ``.verdict``, ``.components``, ``.gradients``, ``.columns`` (a table with a row per
        completion), ``.text()``, ``.markdown()``, ``.html()``, ``.to_dict()``.

    Raises:
        RewardKitError: a reward cannot be loaded, or cannot score the data.
    """
    source = _source(data, columns, limit)
    saved = source.open()
    source = source.fixed(saved)
    cases = () if regressions is None else _cases(Path(regressions))
    before, after = _sides((old, new), source, saved, tuple(without), cases)
    _check_left_out(without, (before, after))
    return difference(before, after, source, cases, examples)


def difference(
    before: Side, after: Side, source: Data, cases: Sequence[Regression] = (), examples: int = EXAMPLES
) -> Differences:
    """Compare the scores of two rewards on the same completions, with up to `examples` completions to show."""
    data = source.open()
    groups = groups_of(data, source.sources)
    return compare_sides(
        before,
        after,
        data,
        name=source.name,
        groups=groups,
        sources=source.sources,
        exploits=cases,
        examples=examples,
    )


def _cases(path: Path) -> tuple[Regression, ...]:
    if not path.is_file():
        raise DataError(f"there is no file {path} with known exploits. Create it: rewardkit check --regressions {path}")
    return tuple(case for case in load(path) if case.lossless)


def _source(data: Any, columns: Mapping[str, str] | None, limit: int | None) -> Data:
    if isinstance(data, Data):
        return data
    sources = dict(columns or {})
    if isinstance(data, (str, os.PathLike)):
        return Data.at(os.fspath(data), sources=sources, limit=limit)
    rows = tuple(data)
    invalid_rows = [row for row in rows if not isinstance(row, Mapping)]
    if invalid_rows:
        raise DataError(
            f"the data has a row that is not a mapping: {shorten(invalid_rows[0])}. Pass rows such as "
            "{'prompt': ..., 'completion': ...}. For a pandas frame, pass frame.to_dict('records')"
        )
    return Data("the data", "the data", Listed(rows), sources, limit)


def _sides(
    pair: tuple[Any, Any], source: Data, saved: Saved, leave_out: tuple[str, ...], cases: tuple[Regression, ...]
) -> tuple[Side, Side]:
    """Score with both rewards. Named rewards run in parallel in separate processes, others in this process."""
    named = {index: target_of(target) if isinstance(target, str) else target for index, target in enumerate(pair)}
    for target in named.values():
        if isinstance(target, Recorded):
            target.check(source.address)
    sides: dict[int, Side] = {}
    with ExitStack() as stack:
        jobs = {
            index: Job(str(target), stack.enter_context(target.placed()), source, leave_out, cases)
            for index, target in named.items()
            if isinstance(target, Placed)
        }
        sides |= dict(zip(jobs, score_in_children(list(jobs.values())), strict=True))
    for index, target in named.items():
        if index not in sides and not isinstance(target, Recorded):
            reward = tree_of(target, "diff: a reward")
            name = reward.name or ("the old reward", "the new reward")[index]
            sides[index] = score_side(name, reward, saved, sources=source.sources, leave_out=leave_out, exploits=cases)
    omitted = list(dict.fromkeys(name for side in sides.values() for name in side.omitted))
    for index, target in named.items():
        if isinstance(target, Recorded):
            sides[index] = read_recorded_side(target.run, saved, omitted or leave_out)
    return sides[0], sides[1]


def _check_left_out(names: Sequence[str], sides: Sequence[Side]) -> None:
    left_out = {name for side in sides for name in side.left_out}
    components = list(dict.fromkeys(name for side in sides for name in side.components))
    for name in names:
        if name not in left_out:
            raise DataError(
                f"neither reward has a component {name!r} to exclude.{near_miss(name, components)} Components: "
                f"{', '.join(components)}. {EXPENSIVE!r} means judges, reward models, and programs"
            )
