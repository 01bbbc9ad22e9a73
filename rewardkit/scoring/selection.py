"""Selection of training data: ``select(Scored.of(saved("scored.parquet")), Keep(most=1), Path("sft.jsonl")).text()``.

The data is read twice: first to build an index of prompts and scores, and then to read the rows that are needed. A
temporary file stores the rows for pairs until they are written.
"""

from __future__ import annotations

import csv
import heapq
import itertools
import json
import os
import pickle
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.batch import Numbers
from rewardkit.batch.column import Floats
from rewardkit.errors import DataError
from rewardkit.record.cells import as_json
from rewardkit.scoring.files import Row
from rewardkit.scoring.scored import Index, Scored, conversational
from rewardkit.scoring.writers import arrow, kind_of, plain_type

if TYPE_CHECKING:
    import pyarrow


# Layouts: the columns of the files that TRL's SFTTrainer and DPOTrainer read.


_MISREAD = {
    *("text", "messages", "conversations", "prompt", "completion", "chosen", "rejected"),
    *("input_ids", "attention_mask", "position_ids", "labels", "seq_lengths", "completion_mask", "assistant_masks"),
    *("prompt_ids", "chosen_ids", "rejected_ids", "ref_chosen_logps", "ref_rejected_logps"),
}
"""Columns that a trainer would misinterpret. For example, if there is a column `text`, SFTTrainer does not add an end
token to completions."""

_DIAGNOSTIC = ("outcomes", "notes", "error")
"""Columns written by `rewardkit score` that are not useful for rows that have a score."""


@final
@dataclass(frozen=True)
class Field:
    """A column in the output file.

    Attributes:
        name: the column's name in the file.
        column: the column's name in the data.
        side: 0 for the kept or chosen row, 1 for the rejected row.
        role: for the prompt or a completion, the speaker's role. If other columns are chat messages, plain text becomes
            a message with this role.
    """

    name: str
    column: str
    side: int = 0
    role: str = ""


@final
@dataclass(frozen=True)
class Layout:
    """The columns in an output file.

    Attributes:
        scored: the data.
        fields: the fields, in order.
        chat: whether prompts and completions are all written as chat messages.
    """

    scored: Scored
    fields: tuple[Field, ...]
    chat: bool

    @classmethod
    def of_kept(cls, scored: Scored, *, chat: bool) -> Layout:
        """Return the layout for SFTTrainer: prompt and completion."""
        first = [Field("completion", scored.completion, role="assistant"), Field("score", scored.by)]
        return cls(scored, _named(scored, first, _others(scored)), chat)

    @classmethod
    def of_pairs(cls, scored: Scored, *, chat: bool) -> Layout:
        """Return the layout for DPOTrainer. Columns that do not belong to the prompt appear twice."""
        sides = list(enumerate(("chosen", "rejected")))
        first = [Field(name, scored.completion, side, "assistant") for side, name in sides]
        first += [Field(f"score_{name}", scored.by, side) for side, name in sides]
        once = set(scored.asked.values())
        other_fields = _others(scored)
        shared = [field for field in other_fields if field.column in once]
        twice = [
            Field(f"{field.name}_{name}", field.column, side)
            for field in other_fields
            if field.column not in once
            for side, name in sides
        ]
        return cls(scored, _named(scored, first, [*shared, *twice]), chat)

    def row(self, *sides: Row) -> dict[str, Any]:
        """Return a row for the file, created from the kept row or from the chosen and rejected rows."""
        return {field.name: self._value(field, sides[field.side].get(field.column)) for field in self.fields}

    def _value(self, field: Field, value: Any) -> Any:
        if self.scored.is_score(field.column) and isinstance(value, str):  # a cell of a .csv file
            return float(value) if value else None
        if field.role and self.chat and not conversational(value):
            return [{"role": field.role, "content": value}]
        return value


def _others(scored: Scored) -> list[Field]:
    """Return the data's other columns, which the trainer does not read, without diagnostic columns."""
    trainer_columns = {scored.prompt, scored.completion, *_DIAGNOSTIC}
    trainer_columns.update(scored.for_trainers.values())
    return [Field(name, name) for name in scored.saved.columns if name not in trainer_columns]


def _named(scored: Scored, first: list[Field], other_fields: Iterable[Field]) -> tuple[Field, ...]:
    """Return all fields.

    Another column becomes ``input/<name>`` if its name is taken or trainers would misinterpret it.
    """
    trainer_fields = [Field(name, column) for name, column in scored.for_trainers.items()]
    fields = [Field("prompt", scored.prompt, role="user"), *first, *trainer_fields]
    return (*fields, *_renamed(other_fields, {field.name for field in fields}))


def _renamed(other_fields: Iterable[Field], used_names: set[str]) -> Iterator[Field]:
    for field in other_fields:
        name = field.name
        while name in used_names or name in _MISREAD:
            name = f"input/{name}"
        used_names.add(name)
        yield Field(name, field.column, field.side)


# Files for trainers: .jsonl, .parquet or .csv, so that ``datasets.load_dataset`` reads the same values back.


Add = Callable[[Mapping[str, Any]], None]

_GROUP_ROWS = 4096
"""The number of rows in a Parquet row group. The number is arbitrary, but a row group must fit in memory."""
# Lone halves of surrogate pairs, which UTF-8 cannot encode.
_SURROGATES = re.compile("[\ud800-\udfff]")


@contextmanager
def write_rows(path: Path, layout: Layout) -> Iterator[Add]:
    """Yield a function that adds rows to the file `path`, which appears when all rows have been written.

    Raises:
        DataError: the file cannot be written, or its format cannot represent the rows.
        MissingExtraError: pyarrow, which writes .parquet, is not installed.
    """
    make = {".jsonl": _lines, ".csv": _cells, ".parquet": _tables}[kind_of(path)]
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with make(partial, layout) as add:
            yield add
        os.replace(partial, path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def _lines(path: Path, layout: Layout) -> Iterator[Add]:
    _refuse(layout, "binary", "JSON cannot represent the data's images", ".parquet")
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def add(row: Mapping[str, Any]) -> None:
            file.write(_json(row) + "\n")

        yield add


@contextmanager
def _cells(path: Path, layout: Layout) -> Iterator[Add]:
    if layout.chat:
        raise DataError("a .csv file cannot represent chat messages: a trainer would read them as text. Use .jsonl")
    _refuse(layout, "", "a .csv file cannot represent the column", ".jsonl or .parquet")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in layout.fields])

        def add(row: Mapping[str, Any]) -> None:
            writer.writerow([_cell(value) for value in row.values()])

        yield add


@contextmanager
def _tables(path: Path, layout: Layout) -> Iterator[Add]:
    pa = arrow("writing .parquet files")
    import pyarrow.parquet as parquet

    data_schema = layout.scored.saved.schema
    schema = pa.schema([(field.name, _type(field, layout)) for field in layout.fields])
    pending: list[Mapping[str, Any]] = []
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def flush() -> None:
            columns = [
                _array([row[column.name] for row in pending], column.type, encode=data_schema is None)
                for column in schema
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            pending.clear()

        def add(row: Mapping[str, Any]) -> None:
            pending.append(row)
            if len(pending) >= _GROUP_ROWS:
                flush()

        yield add
        flush()


def _refuse(layout: Layout, kind: str, problem: str, instead: str) -> None:
    """Raise a DataError if a trainer column's Arrow type contains `kind`, which the file cannot store."""
    for name, column in layout.scored.for_trainers.items():
        schema = layout.scored.saved.schema
        type_name = "" if schema is None else str(schema.field(column).type)
        if kind in type_name:
            raise DataError(f"{problem} ({name!r}). Use {instead}")


def _type(field: Field, layout: Layout) -> pyarrow.DataType:
    """Return a column's Arrow type; structured columns from JSON files are stored as JSON."""
    import pyarrow as pa

    if layout.scored.is_score(field.column):
        return pa.float64()
    schema = layout.scored.saved.schema
    if schema is not None:
        data_type = schema.field(field.column).type
        if field.role and layout.chat and not pa.types.is_nested(data_type):
            return pa.list_(pa.struct([("role", pa.string()), ("content", data_type)]))
        return data_type
    kinds = layout.scored.saved.kinds[field.column]
    plain = plain_type(kinds)
    if plain is not None and not (field.role and layout.chat):
        return pa.type_for_alias(plain)
    if not kinds:
        return pa.null()
    if not hasattr(pa, "json_"):
        raise DataError(f"column {field.name!r} needs pyarrow 19 or later. Use .jsonl, or update pyarrow")
    return pa.json_()


def _array(values: list[Any], kind: pyarrow.DataType, *, encode: bool) -> pyarrow.Array:
    """Return the values as an array; with `encode`, values in JSON columns are first converted to text."""
    import pyarrow as pa

    stored = _stored(kind)
    if encode and isinstance(kind, pa.BaseExtensionType):
        values = [None if value is None else _json(value) for value in values]
    elif encode and pa.types.is_string(kind):
        values = [None if value is None else _SURROGATES.sub("\ufffd", value) for value in values]
    array = pa.array(values, stored)
    return array if stored == kind else array.cast(kind)


def _stored(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return the type with extension types, such as Arrow's JSON, replaced with their storage types."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_list(kind):
        return pa.list_(_stored(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_stored(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_stored(field.type)) for field in kind])
    return kind


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # a date
        text = as_json(value)
    if "NaN" in text or "Infinity" in text:
        text = json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)
    return _SURROGATES.sub("\ufffd", text)


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else _json(value)


# Rules that choose completions by score: the best of each prompt, or pairs of a better and a worse one.


ROUNDING = 1e-9
"""Scores that differ by less than this are treated as equal: 0.8 may have been computed as 0.7999999999999999."""


@final
@dataclass(frozen=True)
class Keep:
    """A rule that keeps the best completions for each prompt.

    Attributes:
        most: the maximum number of completions per prompt, the best first, or None for all completions.
        least: the minimum score to keep, or None for no limit.
    """

    unit: ClassVar[str] = "completion"

    most: int | None = None
    least: float | None = None

    def __str__(self) -> str:
        best = {None: [], 1: ["best"]}.get(self.most, [f"top:{self.most}"])
        return ",".join([*best, *([] if self.least is None else [f"above:{self.least:g}"])])

    def rows(self, groups: Numbers, scores: Floats) -> NDArray[np.bool_]:
        """Return whether to keep each row (n,). Among rows with the same score, earlier rows come first.

        Args:
            groups: (n,) each row's prompt number.
            scores: (n,) the scores; a row with NaN is never kept.
        """
        is_kept = ~np.isnan(scores)
        if self.least is not None:
            is_kept &= scores >= self.least - ROUNDING
        if self.most is not None:
            rows = np.flatnonzero(is_kept)
            rows = rows[np.lexsort((rows, -scores[rows], groups[rows]))]
            first = np.r_[True, np.diff(groups[rows]) != 0][: len(rows)]
            start = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
            is_kept[rows[np.arange(len(rows)) - start >= self.most]] = False
        return is_kept


@final
@dataclass(frozen=True)
class Pairs:
    """A rule that pairs better and worse completions for the same prompt, starting with the largest score difference.

    Attributes:
        most: the maximum number of pairs per prompt, or None for all pairs.
        gap: the minimum difference between the scores. Completions with equal scores are never paired.
    """

    unit: ClassVar[str] = "pair"

    most: int | None = 1
    gap: float = 0.0

    def __str__(self) -> str:
        count = {None: "all", 1: "best-worst"}.get(self.most, str(self.most))
        return f"{count}, gap {self.gap:g}" if self.gap else count

    def wide(self, difference: float) -> bool:
        """Return whether two scores with this difference can be paired."""
        return difference > ROUNDING and difference >= self.gap - ROUNDING

    def of(self, scores: Sequence[float], texts: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the (chosen, rejected) positions for one prompt. Memory use grows with the completions, not the pairs.

        Args:
            scores: (n,) the scores for the prompt's completions, without NaN.
            texts: (n,) a number for each completion. Completions with equal numbers are the same text and are never
                paired.
        """
        return itertools.islice(self._widest(scores, texts), self.most)

    def _widest(self, scores: Sequence[float], texts: Sequence[int]) -> Iterator[tuple[int, int]]:
        best = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
        worst = sorted(range(len(scores)), key=lambda row: (scores[row], row))

        def candidate(high: int, low: int) -> tuple[float, int, int]:
            return scores[worst[low]] - scores[best[high]], high, low

        # Differences shrink along both orders, so the next pair is the best among one candidate per chosen completion.
        heap = [candidate(0, 0)] if scores else []
        while heap:
            difference, high, low = heapq.heappop(heap)
            if not self.wide(-difference):
                return
            chosen, rejected = best[high], worst[low]
            if texts[chosen] != texts[rejected]:
                yield chosen, rejected
            if low == 0 and high + 1 < len(best):
                heapq.heappush(heap, candidate(high + 1, 0))
            if low + 1 < len(worst):
                heapq.heappush(heap, candidate(high, low + 1))


Rule = Keep | Pairs


# The report of a selection: how many completions and prompts, their scores, and why the other prompts have none.


UNSCORED = "no completion has a score"
LOW = "all scores are too low"
SINGLE = "only one completion has a score"
EQUAL = "all scores are equal"
NARROW = "the scores differ too little"
ALIKE = "the completions are the same text"


@final
@dataclass(frozen=True)
class Selection:
    """The completions or pairs that a rule selected.

    Attributes:
        rule: the rule.
        index: the index that the rule was applied to.
        number: the number of selected completions or pairs.
        prompts: the number of prompts with selected completions or pairs.
        means: "kept", or "chosen" and "rejected" -> the mean score.
        without: reason -> the number of prompts without selected completions or pairs for this reason.
    """

    rule: Rule
    index: Index
    number: int
    prompts: int
    means: Mapping[str, float]
    without: Mapping[str, int]

    def text(self) -> str:
        """Return a summary of a few lines for the terminal."""
        scores = self.index.scores
        scored = scores[~np.isnan(scores)]
        means = {"all": float(scored.mean()) if len(scored) else np.nan, **self.means}
        mean_texts = [f"{name} {mean:.4g}" for name, mean in means.items() if not np.isnan(mean)]
        lines = [f"mean score: {', '.join(mean_texts)}"] if mean_texts else []
        if len(scored) < len(scores):
            lines.append(f"{len(scores) - len(scored):,} of {len(scores):,} completions have no score")
        none = {reason: count for reason, count in self.without.items() if count}
        if none:
            count = sum(none.values())
            lines.append("1 prompt has none:" if count == 1 else f"{count:,} prompts have none:")
            lines += [f"  {reason}: {count:,}" for reason, count in sorted(none.items(), key=lambda entry: -entry[1])]
        prompts = f"{self.prompts:,} of {self.index.prompts:,} prompts"
        return "\n".join([f"{self._number()} ({self.rule}) from {prompts}", *lines])

    def _number(self) -> str:
        unit = self.rule.unit
        return f"{self.number:,} {unit if self.number == 1 else f'{unit}s'}"


# Selection: writes the chosen completions or pairs as training data.


_ROWS = 4096
"""The number of rows read at once. The number is arbitrary, but the rows must fit in memory."""


def select(scored: Scored, rule: Rule, out: Path | None = None) -> Selection:
    """Write the completions or pairs that `rule` selects, and return a summary.

    Args:
        scored: the data.
        rule: `Keep` writes rows with ``prompt``, ``completion``, and ``score``, in the order of the data. `Pairs`
            writes rows with ``prompt``, ``chosen``, and ``rejected``, grouped by prompt.
        out: the path of a .jsonl, .csv, or .parquet file; None to only count.

    Raises:
        DataError: the data cannot be read, `out` cannot be written, or nothing was selected.
    """
    return _keep(scored, rule, out) if isinstance(rule, Keep) else _pair(scored, rule, out)


def _keep(scored: Scored, rule: Keep, out: Path | None) -> Selection:
    index = scored.index()
    is_kept = rule.rows(index.groups, index.scores)
    scored_prompts = len(np.unique(index.groups[~np.isnan(index.scores)]))
    chosen = len(np.unique(index.groups[is_kept]))
    selection = Selection(
        rule,
        index,
        number=int(is_kept.sum()),
        prompts=chosen,
        means={"kept": float(index.scores[is_kept].mean()) if is_kept.any() else np.nan},
        without={UNSCORED: index.prompts - scored_prompts, LOW: scored_prompts - chosen},
    )
    if out is not None:
        _check_any(selection)
        layout = Layout.of_kept(scored, chat=index.chat)
        with write_rows(out, layout) as add:
            for _, row in _rows(scored, is_kept):
                add(layout.row(row))
    return selection


def _pair(scored: Scored, rule: Pairs, out: Path | None) -> Selection:
    index = scored.index()
    without: Counter[str] = Counter()
    needed = np.zeros(len(index.groups), dtype=np.bool_)
    sums, number, prompts = np.zeros(2), 0, 0
    for pairs in _paired(index, rule, without):
        prompts += 1
        for sides in map(list, pairs):
            needed[sides] = True
            sums += index.scores[sides]
            number += 1
    means = sums / number if number else np.full(2, np.nan)
    selection = Selection(rule, index, number, prompts, {"chosen": means[0], "rejected": means[1]}, without)
    if out is not None:
        _check_any(selection)
        layout = Layout.of_pairs(scored, chat=index.chat)
        with write_rows(out, layout) as add, tempfile.TemporaryFile() as file:
            offsets = _set_aside(scored, needed, file)
            for pairs in _paired(index, rule, Counter()):
                for chosen, rejected in pairs:
                    add(layout.row(_row(file, offsets[chosen]), _row(file, offsets[rejected])))
    return selection


def _paired(index: Index, rule: Pairs, without: Counter[str]) -> Iterator[Iterator[tuple[int, int]]]:
    """Yield each prompt's pairs as row numbers; count in `without` the reasons why other prompts do not have pairs."""
    rows = np.flatnonzero(~np.isnan(index.scores))
    rows = rows[np.argsort(index.groups[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(index.groups[rows], prepend=-1))
    without[UNSCORED] += index.prompts - len(starts)
    stops = np.append(starts[1:], len(rows))[: len(starts)]
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        group = rows[start:stop].tolist()
        scores, texts = index.scores[group].tolist(), index.texts[group].tolist()
        if next(rule.of(scores, texts), None) is not None:
            yield ((group[chosen], group[rejected]) for chosen, rejected in rule.of(scores, texts))
        else:
            without[_why_none(scores, rule)] += 1


def _why_none(scores: list[float], rule: Pairs) -> str:
    difference = max(scores) - min(scores)
    if len(scores) == 1:
        return SINGLE
    if difference <= ROUNDING:
        return EQUAL
    return ALIKE if rule.wide(difference) else NARROW


def _check_any(selection: Selection) -> None:
    if not selection.number:
        raise DataError(f"there is nothing to write. {selection.text()}")


def _rows(scored: Scored, needed: NDArray[np.bool_]) -> Iterator[tuple[int, Row]]:
    """Yield (row number, row) for the needed rows, in order."""
    start = 0
    for chunk in scored.saved.chunks(_ROWS):
        positions = np.flatnonzero(needed[start : start + len(chunk)]).tolist()
        if positions:
            rows = chunk.rows()
            yield from ((start + at, rows[at]) for at in positions)
        start += len(chunk)


def _set_aside(scored: Scored, needed: NDArray[np.bool_], file: IO[bytes]) -> Numbers:
    """Write the needed rows to `file`; return (n,) their offsets in it."""
    offsets = np.zeros(len(needed), dtype=np.int64)
    for number, row in _rows(scored, needed):
        offsets[number] = file.tell()
        pickle.dump(row, file, pickle.HIGHEST_PROTOCOL)
    return offsets


def _row(file: IO[bytes], offset: Any) -> Row:
    file.seek(offset)
    row: Row = pickle.load(file)
    return row
