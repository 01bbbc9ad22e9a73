"""Scored completions by prompt: ``Scored.of(saved("scored.parquet")).index()`` numbers the prompts and completions.

The rows for a prompt do not need to be adjacent. While the index is created, each row uses about 100 bytes of memory.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.batch import Numbers
from rewardkit.batch.column import Floats
from rewardkit.errors import DataError, near_miss, shorten
from rewardkit.record.cells import as_json
from rewardkit.scoring.columns import Columns, asked_for
from rewardkit.scoring.conversations import messages_of
from rewardkit.scoring.parts import Chunk
from rewardkit.scoring.sources import Saved, saved
from rewardkit.scoring.writers import renamed
from rewardkit.tree.evaluation.scorer import Scorer

FOR_TRAINERS = ("tools", "images", "image", "chat_template_kwargs")
"""Columns that TRL's trainers read in addition to the prompt and completion. They belong to the prompt, because a
different image makes the prompt a different question."""

_ROWS = 4096
"""The number of rows read at once. The number is arbitrary: large enough for fast columns and small enough for
memory."""
_COMPONENT = "components/"


@final
@dataclass(frozen=True)
class Index:
    """The data used to select from n completions.

    Attributes:
        groups: (n,) the number of each row's prompt. Prompts are numbered in the order in which they first appear.
        scores: (n,) the scores, or NaN if a completion cannot be chosen because it has an error or lacks a total or a
            prompt.
        texts: (n,) a number for each completion; equal completions have the same number.
        chat: whether prompts or completions are chat messages.
    """

    groups: Numbers
    scores: Floats
    texts: NDArray[np.uint64]
    chat: bool

    @property
    def prompts(self) -> int:
        """The number of prompts."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0


@final
@dataclass(frozen=True)
class Scored:
    """Completions with their scores.

    Attributes:
        saved: the rows, in the format of ``rewardkit score --out``.
        prompt, completion: the prompt column and the completion column.
        by: the column that contains the score used for selection.
        total: the column that contains the total. A row without a total does not have a score.
        asked: name -> column, for the columns that belong to the prompt: tools, images, and the columns that the reward
            names.
    """

    saved: Saved
    prompt: str
    completion: str
    by: str
    total: str
    asked: Mapping[str, str]

    @classmethod
    def of(cls, saved: Saved, sources: Mapping[str, str] | None = None, *, by: str = "total") -> Scored:
        """Find the columns for the prompt, the completion, and the scores.

        Args:
            saved: the rows.
            sources: our name -> the column in the data. All of these columns except the completion and the total belong
                to the prompt.
            by: "total" or the name of a component.

        Raises:
            DataError: the prompt, completion, total, or component is missing.
        """
        return cls(saved, *_resolve_columns(saved.name, saved.columns, sources or {}, by))

    @classmethod
    def after(cls, columns: Columns, path: Path, *, by: str = "total") -> Scored:
        """Find the columns in the file at `path`, which was written when a reward scored the data.

        The columns that the reward names belong to the prompt, as for a reward that compares groups.
        """
        sources = _sources(columns)
        return cls.of(saved(path, completion=sources["completion"]), sources, by=by)

    @classmethod
    def check(cls, columns: Columns, *, by: str = "total") -> None:
        """Raise the same errors as `after`, but before anything is scored."""
        components = [f"{_COMPONENT}{name}" for name in Scorer(columns.reward).components]
        _resolve_columns(columns.data, [*_names(columns).values(), "total", *components], _sources(columns), by)

    @property
    def for_trainers(self) -> dict[str, str]:
        """Name -> column, for the columns that TRL's trainers read in addition to the prompt and completion."""
        return {name: self.asked[name] for name in FOR_TRAINERS if name in self.asked}

    def is_score(self, column: str) -> bool:
        """Return whether a column contains our scores: the total, a component, or the score used for selection."""
        return column in (self.by, self.total) or column.startswith(_COMPONENT)

    def index(self) -> Index:
        """Read all rows once and return their index.

        Raises:
            DataError: a score is not a number.
        """
        keys, scores, texts, chat = [], [], [], False
        start = 0
        for chunk in self.saved.chunks(_ROWS):
            prompts, completions = chunk.column(self.prompt), chunk.column(self.completion)
            usable = np.array(
                [_holds(prompt) and _holds(text) for prompt, text in zip(prompts, completions, strict=True)]
            )
            values = self._scores(chunk, start)
            values[~usable] = np.nan
            columns = [prompts, *(chunk.column(name) for name in self.asked.values())]
            keys.append(_digests(columns, 16))
            texts.append(_digests([completions], 8))
            scores.append(values)
            chat = chat or any(
                conversational(prompts[row]) or conversational(completions[row])
                for row in np.flatnonzero(~np.isnan(values)).tolist()
            )
            start += len(chunk)
        return Index(_numbered(np.concatenate(keys)), np.concatenate(scores), np.concatenate(texts)[:, 0], chat)

    def _scores(self, chunk: Chunk, start: int) -> Floats:
        totals = [_number(value, self.total, start + row) for row, value in enumerate(chunk.column(self.total))]
        values = totals
        if self.by != self.total:
            values = [_number(value, self.by, start + row) for row, value in enumerate(chunk.column(self.by))]
        scores = np.where(np.isnan(totals), np.nan, values)
        if "error" in self.saved.kinds:
            scores[[bool(value) for value in chunk.column("error")]] = np.nan
        return scores


def _resolve_columns(
    data: str, columns: Collection[str], sources: Mapping[str, str], by: str
) -> tuple[str, str, str, str, dict[str, str]]:
    """Return the prompt, completion, score, and total columns, and the other columns that belong to the prompt."""
    rest = dict(sources)

    def column(name: str, how: str) -> str:
        source = rest.pop(name, name)
        if source not in columns:
            raise DataError(
                f"{data} has no column {source!r}. {how} Columns: {', '.join(columns)}.{near_miss(source, columns)}"
            )
        return source

    prompt = column("prompt", "Name the column of the prompts with --columns prompt=COLUMN.")
    completion = column("completion", "Name the column of the completions with --completion.")
    total = column("total", "Pass --reward, or data that `rewardkit score --out` wrote.")
    score = total if by == "total" else f"{_COMPONENT}{by}"
    if score not in columns:
        components = [name.removeprefix(_COMPONENT) for name in columns if name.startswith(_COMPONENT)]
        raise DataError(
            f"--by {by}: there is no such component in {data}. Components: {', '.join(components) or 'none'}."
            f"{near_miss(by, components)}"
        )
    used = {prompt, completion, score, total}
    named = {name: rest.get(name, name) for name in [*FOR_TRAINERS, *sorted(rest)]}
    prompt_columns = {
        name: source_name for name, source_name in named.items() if source_name in columns and source_name not in used
    }
    return prompt, completion, score, total, prompt_columns


def _names(columns: Columns) -> dict[str, str]:
    """Return column in the data -> the column's name in the file that contains the scores."""
    return renamed(list(columns.there), Scorer(columns.reward).components)


def _sources(columns: Columns) -> dict[str, str]:
    names, (named, _) = _names(columns), asked_for(columns.reward)
    reward_names = {"prompt", "completion", *FOR_TRAINERS, *columns.sources, *named} - {"total"}
    return {name: names[source] for name in reward_names if (source := columns.column(name)) is not None}


def conversational(value: Any) -> bool:
    """Return whether a value is a list of chat messages."""
    return isinstance(value, list) and messages_of(value) is not None


def _holds(value: Any) -> bool:
    """Return whether `value` is a string (possibly empty) or a conversation."""
    return isinstance(value, str) or (isinstance(value, list) and bool(value))


def _number(value: Any, column: str, row: int) -> float:
    if value is None or value == "":  # an empty cell of a .csv file
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"row {row}: column {column!r} is not a number: {shorten(value)}") from None


def _digests(columns: Sequence[list[Any]], size: int) -> NDArray[np.uint64]:
    """Return a digest of each row's values: (n, size / 8)."""
    digests = bytearray()
    for values in zip(*columns, strict=True):
        digest = hashlib.blake2b(digest_size=size)
        for value in values:
            content = _content(value)
            digest.update(b"%d:" % len(content))
            digest.update(content)
        digests += digest.digest()
    return np.frombuffer(bytes(digests), dtype=np.uint64).reshape(-1, size // 8)


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    try:
        text = json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):  # an image, a date
        text = as_json(value)
    return b"j" + text.encode("utf-8", "surrogatepass")


def _numbered(keys: NDArray[np.uint64]) -> Numbers:
    """Return a number for each key (n,), in order of appearance; equal keys have the same number."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: the first row of each key comes first
    starts = np.r_[True, (np.diff(keys[order], axis=0) != 0).any(axis=1)]
    firsts = order[starts]
    numbers = np.empty(len(firsts), dtype=np.int64)
    numbers[np.argsort(firsts)] = np.arange(len(firsts))
    row_numbers = np.empty(len(keys), dtype=np.int64)
    row_numbers[order] = numbers[np.cumsum(starts) - 1]
    return row_numbers
