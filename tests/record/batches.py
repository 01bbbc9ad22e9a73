"""Small records for the tests of the store, and helpers that read them back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.batch.column import Column, Floats
from rewardkit.batch.score import FAILED, SCORED, SKIPPED
from rewardkit.batch.table import ScoreTable
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import ComponentDescription, Line, Record, Version
from rewardkit.record.run import Run, open_run

VERSION = Version(
    "0123456789abcdef",
    "form + 2 * right",
    (ComponentDescription("form", (0.0, 1.0), "leaf"), ComponentDescription("right")),
    ("form", "right"),
)


def batch(step: int | None = 1, n: int = 4, texts: Sequence[str] | None = None, **fields: Any) -> Record:
    """Return a record of n completions in groups of two; `right` failed in the last row, which is unscorable."""
    n = n if texts is None else len(texts)
    texts = [f"step {step} row {row}" for row in range(n)] if texts is None else list(texts)
    form = Column(np.array([row / n for row in range(n)]), np.full(n, SCORED, dtype=np.int8), notes={0: "a note"})
    right = Column(np.ones(n), np.full(n, SCORED, dtype=np.int8), parts={"distance": np.arange(n, dtype=np.float64)})
    right.values[-1:], right.codes[-1:] = np.nan, FAILED
    if n > 2:
        right.values[1], right.codes[1] = np.nan, SKIPPED
    terms: dict[str, Floats] = {"form": form.values.copy(), "right": 2.0 * np.nan_to_num(right.values)}
    for values in terms.values():
        values[-1:] = np.nan
    table = ScoreTable(texts, {"form": form, "right": right}, terms, sum(terms.values(), np.zeros(n)))
    given: dict[str, Any] = {
        "prompts": [f"prompt {row // 2}" for row in range(n)],
        "completions": texts,
        "columns": {"answer": [row // 2 for row in range(n)]},
        "metrics": {"components/form": float(np.sum(form.values) / max(n, 1)), "weights/right": 2.0},
        "lines": (Line("printed", "print", component="right", row=0),),
    }
    return Record(table, VERSION, step=step, **(given | fields))


def written(path: Path | str, *records: Record, **options: Any) -> Run:
    """Write the records and open them as a run; `options` go to the Recorder."""
    with Recorder(path, **{"patience": math.inf, "attempt": 1, **options}) as recorder:
        for record in records:
            recorder.record(record)
    return open_run(path)


def rows(relation: Any, *columns: str) -> list[Any]:
    """Return the values of one column, or tuples of several columns, in the order of the rows' keys."""
    keys = [key for key in ("attempt", "rank", "part", "row") if key in relation.columns]
    found = relation.order(", ".join(keys) or columns[0]).to_arrow_table().select(list(columns)).to_pylist()
    return [row[columns[0]] if len(columns) == 1 else tuple(row.values()) for row in found]


def files(path: Path, table: str = "scores") -> list[str]:
    """Return the names of the files of a table."""
    folder = path / table
    return sorted(one.name for one in folder.iterdir()) if folder.exists() else []
