"""Completions from a file or a list: ``read("solutions.jsonl")`` gives records that know the line they stand in.

Each record is a mapping with a ``completion``, usually a ``prompt``, and the columns that the reward asks for.
`arranged` makes of them what a reward scores, and says which completions belong to one prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.batch import RESERVED, Batch, equality
from rewardkit.core.errors import CoercionError, near_miss, shorten
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.coercion import coerce
from rewardkit.core.tree.reward import Reward, walk
from rewardkit.data.files import DataError as DataError, checked_row, rows_of

Data = str | Path | Iterable[Mapping[str, Any]]
"""The path of a .jsonl, .json, .csv or .parquet file, or the records themselves."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Records:
    """n records, and where each stands: ``solutions.jsonl, line 3``."""

    records: Sequence[Record]
    places: Sequence[str]

    @property
    def columns(self) -> list[str]:
        """The names in any of them, in order."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def column(self, name: str, what: str) -> list[Any]:
        """(n,) the values called `name`, which every record needs; `what` says what it is for.

        Raises:
            DataError: a record has none.
        """
        for record, place in zip(self.records, self.places, strict=True):
            if record.get(name) is None:
                raise DataError(
                    f"{place}: there is no {name!r}, {what}. It has: {', '.join(map(str, record)) or 'nothing'}."
                    + near_miss(name, (str(key) for key in record if key != name))
                )
        return [record[name] for record in self.records]

    def labels(self, name: str) -> NDArray[np.bool_] | NDArray[np.float64]:
        """(n,) bool where all labels say yes or no (``"False"`` is False, 1 is True), else grades.

        Raises:
            DataError: a label is neither.
        """
        values = self.column(name, "the label; name the column that has it with label=")
        answers, grades = [_coerced(value, bool) for value in values], [_coerced(value, float) for value in values]
        if None not in answers:
            return np.array(answers, dtype=np.bool_)
        if None not in grades:
            found = np.array(grades, dtype=np.float64)
            return found == 1.0 if np.isin(found, (0.0, 1.0)).all() else found
        neither = [answer is None and grade is None for answer, grade in zip(answers, grades, strict=True)]
        at = neither.index(True) if any(neither) else answers.index(None)
        raise DataError(
            f"{self.places[at]}: the label {name!r} is {shorten(values[at])}; labels are true or false, yes or no, "
            "1 or 0, or all of them numbers"
        )


def _coerced(value: object, type_: type) -> Any:
    """`value` as a `type_`, None where it is none."""
    try:
        return coerce(value, type_)
    except CoercionError:
        return None


def read(data: Data) -> Records:
    """The records of a file, or of a list of mappings.

    Raises:
        DataError: the file is of another kind, a line of it cannot be read, or there is nothing in it.
        OSError: there is no such file.
    """
    if isinstance(data, (str, Path)):
        found = list(rows_of(Path(data)))
    elif isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise DataError(f"the data is a path or a list of mappings with a completion each, got {shorten(data)}")
    else:
        found = [(f"row {row}", checked_row(f"row {row}", record)) for row, record in enumerate(data)]
    if not found:
        raise DataError(f"there are no completions in {data if isinstance(data, (str, Path)) else 'the data'}")
    return Records([record for _, record in found], [place for place, _ in found])


@dataclass(frozen=True)
class Samples:
    """n completions, ready to be scored.

    Attributes:
        batch: what a Scorer takes.
        groups: (n,) which prompt each belongs to, from 0 in the order of the data.
        rows: (n,) where each stands in the data, from 0.
    """

    batch: Batch
    groups: NDArray[np.int64]
    rows: NDArray[np.int64]


def arranged(
    reward: Reward,
    found: Records,
    *,
    completion: str = "completion",
    prompt: str = "prompt",
    group_by: str | Sequence[str] | None = None,
    label: str | None = None,
    progress: Progress | None = None,
) -> Samples:
    """`found` as a batch for `reward`: only with the columns that it asks for.

    Metadata such as the name of the model would otherwise tell completions of one prompt apart, and cut their group.

    Args:
        reward: the tree that will score them.
        found: the data.
        completion: the column of the completions, `prompt` that of the prompts.
        group_by: the columns that completions of one group have in common. By default the prompt and the columns that
            `reward` names; without prompts each completion is a group of its own.
        label: a column that `reward` does not see unless it names it.
        progress: where training stands.

    Raises:
        DataError: a record has no completion, some have a prompt and others none, or a column of `group_by` is missing.
    """
    texts = found.column(completion, "the completion; name the column that has it with completion=")
    has_prompts = prompt in found.columns
    prompts = found.column(prompt, "the prompt, which other rows have") if has_prompts else None
    named, takes_all = asked_for(reward)
    known = [name for name in found.columns if name not in (completion, prompt, *RESERVED)]
    # A column that is missing is best explained by an error that sees all that there are.
    takes_all |= any(name not in known for name in named)
    kept = [name for name in known if name in named or (takes_all and name != label)]
    columns = {name: [record.get(name) for record in found.records] for name in kept}
    keys = ([group_by] if isinstance(group_by, str) else list(group_by)) if group_by is not None else None
    if keys is None:
        common = [prompts, *(columns[name] for name in kept if name in named)] if prompts is not None else None
    else:
        common = [found.column(name, "which group_by= asks for") for name in keys]
    groups = _groups(common, len(texts))
    rows = np.arange(len(texts))
    if any(node.facts.together == "group" for node, _, _ in walk(reward)):
        rows = np.argsort(groups, kind="stable")  # what is relative to a group takes it as a run of rows

    def ordered(values: list[Any]) -> list[Any]:
        return [values[row] for row in rows.tolist()]

    token_ids = [record.get("completion_ids") for record in found.records]
    batch = Batch(
        ordered(texts),
        prompts=None if prompts is None else ordered(prompts),
        completion_ids=None if any(ids is None for ids in token_ids) else ordered(token_ids),
        columns={name: ordered(values) for name, values in columns.items()},
        progress=progress,
    )
    return Samples(batch, groups[rows], rows)


def asked_for(reward: Reward) -> tuple[set[str], bool]:
    """The columns that `reward` names, and whether it takes all that there are, whatever they are called."""
    named: set[str] = set()
    takes_all = False
    for node, _, _ in walk(reward):
        named.update(node.facts.columns)
        binding = node.facts.binding
        takes_all |= binding is not None and (binding.foreign or binding.reads("example"))
    return named, takes_all


def _groups(common: Sequence[list[Any]] | None, size: int) -> NDArray[np.int64]:
    """(n,) a number for each distinct combination of values, in the order in which they come."""
    if not common:
        return np.arange(size)
    numbers: dict[tuple[int, ...], int] = {}
    columns = [equality(values).numbers.tolist() for values in common]
    return np.array([numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)], dtype=np.int64)
