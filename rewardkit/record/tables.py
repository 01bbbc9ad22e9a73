"""The Arrow tables for a Record.

``tables_of(record, attempt=1, rank=0, part=12, known_prompts=set())["scores"].num_rows`` is the number of completions
in the batch.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.column import Numbers
from rewardkit.batch.messages import prompt_text
from rewardkit.batch.score import Outcome
from rewardkit.record.cells import Cells, as_json, identity
from rewardkit.record.names import distinct, part_column
from rewardkit.record.records import FOREIGN, Logged, Record
from rewardkit.record.schema import COLUMNS, COMMITTING

if TYPE_CHECKING:
    import pyarrow

Columns = dict[str, Any]

_OUTCOMES = [str(outcome) for outcome in Outcome]


def tables_of(
    record: Record, *, attempt: int, rank: int, part: int, known_prompts: set[str]
) -> dict[str, pyarrow.Table]:
    """Return a batch's tables, omitting empty tables except the table that commits the batch.

    Args:
        known_prompts: the ids of prompts written earlier; this batch's prompts are added.
    """
    size = len(record.table)
    step = part if record.step is None else record.step
    batch: Columns = {"attempt": attempt, "rank": rank, "part": part, "step": step}
    ids, prompts = _prompts(record, step, known_prompts)
    row = np.arange(size)
    metrics = _metrics(record, step)
    tables = {
        "completions": _table("completions", {**batch, "row": row, "prompt_id": ids, **_completions(record)}, size),
        "prompts": _table("prompts", prompts, len(prompts["prompt_id"])),
        "metrics": _table("metrics", {**batch, **metrics}, len(metrics["name"])),
        "logs": _table("logs", {**batch, **_logs(record)}, len(record.lines)),
        "turns": _turns(record, batch),
        "durations": _durations(record, batch),
        "scores": _table("scores", {**batch, "row": row, "prompt_id": ids, **_scores(record)}, size),
    }
    return {name: table for name, table in tables.items() if table.num_rows or name == COMMITTING}


def _scores(record: Record) -> Columns:
    table = record.table
    columns: Columns = {
        "epoch": record.epoch,
        "training": record.training,
        "time": _microseconds(record.time),
        "group": record.groups if record.groups is not None else _runs(record),
        "length": None if record.completion_ids is None else [len(row) for row in record.completion_ids],
        "characters": [len(text) for text in table.completions],
        "total": table.total,
        "advantage": record.advantages,
        "version": record.version.fingerprint,
        "prompt_length": None if record.prompt_lengths is None else list(record.prompt_lengths),
        **dict(zip(FOREIGN, record.foreign or (None, None, None), strict=True)),
        **_trajectories(record),
    }
    for name, column in table.components.items():
        columns[f"components/{name}"] = column.scored
        columns[f"outcomes/{name}"] = [_OUTCOMES[code] for code in column.codes.tolist()]
    columns.update({f"terms/{name}": values for name, values in table.terms.items()})
    return columns


def _trajectories(record: Record) -> Columns:
    if record.trajectories is None:
        return dict.fromkeys(("turns", "calls", "repeated_calls", "tool_errors", "stop", "broken", "tools"))
    return record.trajectories.columns()


def _turns(record: Record, batch: Columns) -> pyarrow.Table:
    """Return the table ``turns``, with one row for each turn share."""
    rows = [
        (row, turn, name, float(share))
        for name, column in record.table.components.items()
        for row, shares in sorted(column.turns.items())
        for turn, share in enumerate(shares)
    ]
    return _table("turns", {**batch, **_transposed(("row", "turn", "component", "share"), rows)}, len(rows))


def _durations(record: Record, batch: Columns) -> pyarrow.Table:
    """Return the table ``durations``: each component's call durations (seconds, two significant digits) and counts."""
    rows = [(name, *rounded) for name, seconds in record.durations.items() for rounded in _rounded(seconds)]
    return _table("durations", {**batch, **_transposed(("component", "seconds", "count"), rows)}, len(rows))


def _transposed(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _rounded(seconds: Sequence[float]) -> list[tuple[float, int]]:
    """Return (seconds rounded to two significant digits, count) pairs, sorted."""
    # A coarse clock can give 0, which has no logarithm.
    values = np.maximum(np.asarray(seconds, dtype=np.float64), 1e-9)
    exponents = np.floor(np.log10(values)).astype(np.int64) - 1
    mantissas = np.rint(values * 10.0**-exponents).astype(np.int64)
    # Mantissas are below 1,000, so one integer can hold exponent and mantissa.
    codes, counts = np.unique(exponents * 1_000 + mantissas, return_counts=True)
    rounded: Counter[float] = Counter()
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        exponent, mantissa = divmod(code, 1_000)
        rounded[float(f"{mantissa}e{exponent}")] += count
    return sorted(rounded.items())


def _runs(record: Record) -> Numbers:
    """Return the groups (n,) if the trainer did not pass them: consecutive rows with the same prompt."""
    prompts = list(map(identity, record.prompts or [None] * len(record.table)))
    starts = [row > 0 and prompts[row] != prompts[row - 1] for row in range(len(prompts))]
    return np.cumsum(starts, dtype=np.int64)


def _completions(record: Record) -> Columns:
    raw = record.completions or ()
    columns: Columns = {
        "completion": list(record.table.completions),
        "messages": [None if isinstance(value, str) else as_json(value) for value in raw] if raw else None,
        "rollout": None if record.trajectories is None else record.trajectories.rollouts(),
    }
    size = len(record.table)
    for name, column in record.table.components.items():
        columns[f"notes/{name}"] = list(map(column.notes.get, range(size))) if column.notes else [None] * size
        columns.update({part_column(name, part): values for part, values in column.parts.items()})
    return columns


def _metrics(record: Record, step: int) -> Columns:
    rows = [
        (measured.step, measured.training, name, float(value))
        for measured in (Logged(step, record.training, record.metrics), *record.logged)
        for name, value in measured.metrics.items()
    ]
    return _transposed(("step", "training", "name", "value"), rows)


def _logs(record: Record) -> Columns:
    lines = record.lines
    columns: Columns = {"epoch": record.epoch}
    columns["time"] = [_microseconds(record.time if line.time is None else line.time) for line in lines]
    for name in ("component", "row", "level", "kind", "message", "detail", "count", "seconds"):
        columns[name] = [getattr(line, name) for line in lines]
    return columns


def _prompts(record: Record, step: int, known_prompts: set[str]) -> tuple[list[str], Columns]:
    """Return each row's prompt id (n,), and the columns of the table of new prompts."""
    prompts = list(record.prompts if record.prompts is not None else [None] * len(record.table))
    values = {name: list(column) for name, column in record.columns.items()}
    cells = Cells()
    prompt_ids: dict[Hashable, str] = {}
    ids: list[str] = []
    new: Columns = {name: [] for name in COLUMNS["prompts"]}
    for row, (prompt, *row_cells) in enumerate(zip(prompts, *values.values(), strict=True)):
        key = tuple(map(identity, (prompt, *row_cells)))
        if key not in prompt_ids:
            columns = cells.row(dict(zip(values, row_cells, strict=True)))
            text = prompt if isinstance(prompt, str) else cells.json(prompt)
            prompt_ids[key] = hashlib.sha256(writable(f"{text}\0{columns}").encode()).hexdigest()[:16]
            if prompt_ids[key] not in known_prompts:
                known_prompts.add(prompt_ids[key])
                messages = None if prompt is None or isinstance(prompt, str) else text
                prompt_row = (prompt_ids[key], _text(prompt, row), messages, columns, step)
                for name, value in zip(new, prompt_row, strict=True):
                    new[name].append(value)
        ids.append(prompt_ids[key])
    return ids, new


def _text(prompt: Any, row: int) -> str:
    try:
        return prompt_text(prompt, row)
    except Exception:  # unknown form of prompt: store its JSON
        return as_json(prompt)


def writable(text: str) -> str:
    """Return `text` with escaped lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


def _table(name: str, columns: Mapping[str, Any], size: int) -> pyarrow.Table:
    """Return a table with the schema's columns and then other columns: numbers as float64, everything else as text."""
    import pyarrow as pa

    fixed = COLUMNS[name]
    arrays = {column: _array(columns[column], arrow_type(kind), size) for column, kind in fixed.items()}
    for column, values in columns.items():
        if column not in fixed:
            kind = pa.float64() if isinstance(values, np.ndarray) else pa.string()
            arrays[writable(column)] = _array(values, kind, size)
    return _renamed(pa.table(arrays), distinct(arrays))


def _array(values: Any, kind: pyarrow.DataType, size: int) -> pyarrow.Array:
    import pyarrow as pa

    if values is None:
        return pa.nulls(size, kind)
    if not isinstance(values, (np.ndarray, list)):
        return pa.repeat(pa.scalar(values, kind), size)
    if isinstance(values, np.ndarray):
        return pa.array(values, kind, from_pandas=True)
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([None if value is None else writable(value) for value in values], kind)


def arrow_type(kind: str) -> pyarrow.DataType:
    """Return the Arrow type for a type name in the schema."""
    import pyarrow as pa

    return pa.timestamp("us", "UTC") if kind.startswith("timestamp") else pa.type_for_alias(kind)


def empty(name: str) -> pyarrow.Table:
    """Return the table `name` in the schema without rows."""
    import pyarrow as pa

    return pa.table({column: pa.nulls(0, arrow_type(kind)) for column, kind in COLUMNS[name].items()})


def concatenated(tables: Iterable[pyarrow.Table], spelling: Mapping[str, str] | None = None) -> pyarrow.Table:
    """Return the rows of several tables. Their columns may differ; missing columns are null.

    Args:
        spelling: column -> new name. The default is the result of `distinct`.
    """
    import pyarrow as pa

    listed: Sequence[pyarrow.Table] = list(tables)
    if spelling is None:
        spelling = distinct(column for table in listed for column in table.column_names)
    renamed = [_renamed(table, spelling) for table in listed]
    return pa.concat_tables(renamed, promote_options="permissive").combine_chunks()


def _renamed(table: pyarrow.Table, spelling: Mapping[str, str]) -> pyarrow.Table:
    return table.rename_columns([spelling[column] for column in table.column_names])
