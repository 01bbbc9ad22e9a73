"""Completions from a file or a list: ``read("solutions.jsonl")`` returns records with their line numbers.

Each record is a mapping with a ``completion``, usually a ``prompt``, and the columns that the reward reads. `arranged`
creates a batch from the records and groups the completions for each prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.batch import RESERVED, Batch
from rewardkit.batch.equality import equality
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.errors import CoercionError, DataError as DataError, near_miss, shorten
from rewardkit.progress.progress import Progress
from rewardkit.scoring.columns import asked_for, cut_of
from rewardkit.scoring.conversations import split_row
from rewardkit.scoring.files import checked_row, rows_of
from rewardkit.tree.coercion import coerce
from rewardkit.tree.reward import Reward, walk

Data = str | Path | Iterable[Mapping[str, Any]]
"""The path of a .jsonl, .json, .csv, or .parquet file, or the records themselves."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Records:
    """Records (n), each with its location: ``solutions.jsonl, line 3``."""

    records: Sequence[Record]
    places: Sequence[str]

    @property
    def columns(self) -> list[str]:
        """The column names in all records, in order of appearance."""
        return list(dict.fromkeys(name for record in self.records for name in record))

    def column(self, name: str, meaning: str) -> list[Any]:
        """Return the n values in a column that every record must have; `meaning` describes the column in errors.

        Raises:
            DataError: a record lacks the column.
        """
        for record, location in zip(self.records, self.places, strict=True):
            if record.get(name) is None:
                raise DataError(
                    f"{location}: there is no value for {name!r}, {meaning}. Columns: "
                    f"{', '.join(map(str, record)) or 'none'}."
                    + near_miss(name, (str(key) for key in record if key != name))
                )
        return [record[name] for record in self.records]

    def labels(self, name: str) -> NDArray[np.bool_] | NDArray[np.float64]:
        """Return (n,) booleans if all labels are true or false (``"False"`` is False, 1 is True); otherwise, (n,)
        numbers.

        Raises:
            DataError: a label is neither a boolean nor a number.
        """
        values = self.column(name, "the label. If another column has it, pass label=")
        answers, grades = [_coerced(value, bool) for value in values], [_coerced(value, float) for value in values]
        if None not in answers:
            return np.array(answers, dtype=np.bool_)
        if None not in grades:
            numbers = np.array(grades, dtype=np.float64)
            return numbers == 1.0 if np.isin(numbers, (0.0, 1.0)).all() else numbers
        neither = [answer is None and grade is None for answer, grade in zip(answers, grades, strict=True)]
        position = neither.index(True) if any(neither) else answers.index(None)
        raise DataError(
            f"{self.places[position]}: cannot read the label {name!r}: {shorten(values[position])}. Use true or "
            "false, yes or no, "
            "1 or 0, or only numbers"
        )


def _coerced(value: object, type_: type) -> Any:
    """Coerce `value`; return None if that fails."""
    try:
        return coerce(value, type_)
    except CoercionError:
        return None


def read(data: Data) -> Records:
    """Read the records in a file or a list of mappings; conversations are split into prompt and completion.

    Raises:
        DataError: the file has a different suffix, a line cannot be read, or there are no records.
        OSError: the file does not exist.
    """
    if isinstance(data, (str, Path)):
        located_rows = list(rows_of(Path(data)))
    elif isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise DataError(f"expected a path or a list of mappings, each with a completion, got {shorten(data)}")
    else:
        located_rows = [(f"row {row}", checked_row(f"row {row}", record)) for row, record in enumerate(data)]
    if not located_rows:
        raise DataError(f"there are no completions in {data if isinstance(data, (str, Path)) else 'the data'}")
    return Records([split_row(record) for _, record in located_rows], [location for location, _ in located_rows])


@dataclass(frozen=True)
class Samples:
    """Completions (n) that are ready to be scored.

    Attributes:
        batch: the batch for a Scorer.
        groups: (n,) each completion's group number, counted from 0 in the order of the data.
        rows: (n,) each completion's row in the data, counted from 0.
    """

    batch: Batch
    groups: NDArray[np.int64]
    rows: NDArray[np.int64]


def arranged(
    reward: Reward,
    records: Records,
    *,
    completion: str = "completion",
    prompt: str = "prompt",
    group_by: str | Sequence[str] | None = None,
    label: str | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Arrange records as a batch for `reward`, with only the columns that it reads.

    Other columns, such as the name of a model, would split the completions for one prompt into several groups.

    Args:
        reward: the reward that will score the records.
        records: the records.
        completion: the completion column.
        prompt: the prompt column.
        group_by: the columns that identify a group. The default is the prompt and the columns that `reward` names.
            Without prompts, each completion is a separate group.
        label: a column that is passed to `reward` only if the reward names it.
        progress: the training progress.

    Raises:
        DataError: a record lacks a completion, only some records have a prompt, or a column in `group_by` is missing.
    """
    texts = records.column(completion, "the completion. If another column has it, pass completion=")
    has_prompts = prompt in records.columns
    prompts = records.column(prompt, "the prompt, which other rows have") if has_prompts else None
    named, takes_all = asked_for(reward)
    column_names = [name for name in records.columns if name not in (completion, prompt, *RESERVED)]
    # If a column is missing, keep all of them, for the error message to list.
    takes_all |= any(name not in column_names for name in named)
    selected_names = [name for name in column_names if name in named or (takes_all and name != label)]
    columns = {name: [record.get(name) for record in records.records] for name in selected_names}
    keys = ([group_by] if isinstance(group_by, str) else list(group_by)) if group_by is not None else None
    if keys is None:
        common = (
            [prompts, *(columns[name] for name in selected_names if name in named)] if prompts is not None else None
        )
    else:
        common = [records.column(name, "a column of group_by=") for name in keys]
    groups = _groups(common, len(texts))
    rows = np.arange(len(texts))
    if any(node.facts.together == "group" for node, _, _ in walk(reward)):
        rows = np.argsort(groups, kind="stable")  # rewards over groups need their rows to be consecutive

    def ordered(values: list[Any]) -> list[Any]:
        return [values[row] for row in rows.tolist()]

    def values(name: str) -> list[Any] | None:
        return ordered([record.get(name) for record in records.records]) if name in records.columns else None

    token_ids = [record.get("completion_ids") for record in records.records]
    batch = Batch(
        ordered(texts),
        prompts=None if prompts is None else ordered(prompts),
        completion_ids=None if any(ids is None for ids in token_ids) else ordered(token_ids),
        columns={name: ordered(values) for name, values in columns.items()},
        progress=progress,
        rollouts=RolloutInfo(cut=cut_of(values)),
    )
    return Samples(batch, groups[rows], rows)


def _groups(common: Sequence[list[Any]] | None, size: int) -> NDArray[np.int64]:
    """Return a number for each row (n,); rows with the same combination of values get the same number."""
    if not common:
        return np.arange(size)
    numbers: dict[tuple[int, ...], int] = {}
    columns = [equality(values).numbers.tolist() for values in common]
    return np.array([numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)], dtype=np.int64)
