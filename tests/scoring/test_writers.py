"""Writers: all columns of the data and the scores, in every format, written completely or not at all."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.score import FAILED, SCORED
from rewardkit.errors import DataError
from rewardkit.scoring.files import rows_of
from rewardkit.scoring.output import Output
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.scores import Scores
from rewardkit.scoring.sources import saved
from rewardkit.scoring.writers import renamed, writer_of


def scores(size: int) -> Scores:
    """The last row failed, the first one has a note."""
    total = np.arange(size, dtype=np.float64) / 4
    codes = np.full(size, SCORED, dtype=np.int8)
    total[-1], codes[-1] = np.nan, FAILED
    return Scores(
        total, {"exact": total}, {"exact": codes}, {"exact": {0: "off by 2"}}, {size - 1: ("exact: no judge",)}
    )


def wrote(path: Path, source: Path) -> list[dict[str, Any]]:
    found = saved(source)
    whole = scores(found.size)
    with Output.opened(path, writer_of(path, found, ["exact"]), {}, resume=False) as output:
        start = 0
        for chunk in found.chunks(2):
            data, about = writer_of(path, found, ["exact"]).encoded([(chunk, part(whole, start, len(chunk)))])
            output.append(data, about, ReplayReport())
            start += len(chunk)
        output.finish()
    return [dict(row) for _, row in rows_of(path)]


def part(whole: Scores, start: int, size: int) -> Scores:
    rows = slice(start, start + size)
    notes = {row - start: note for row, note in whole.notes["exact"].items() if start <= row < start + size}
    errors = {row - start: why for row, why in whole.errors.items() if start <= row < start + size}
    exact = {"exact": whole.total[rows]}
    return Scores(whole.total[rows], exact, {"exact": whole.codes["exact"][rows]}, {"exact": notes}, errors)


def lines(path: Path, rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS = [
    {"completion": "a", "n": 1, "mixed": 1, "nested": {"k": [1]}, "flag": True, "nothing": None},
    {"completion": 'b,"\n', "n": 2, "mixed": "x", "nested": [2], "flag": False, "nothing": None},
    {"completion": "\ud800", "n": 3.5, "mixed": None, "nested": None, "flag": None, "nothing": None},
]


def test_jsonl_keeps_all_values(tmp_path: Path) -> None:
    found = wrote(tmp_path / "out" / "scored.jsonl", lines(tmp_path / "in.jsonl", ROWS))
    assert [{name: row[name] for name in ROWS[0]} for row in found] == ROWS
    assert [row["total"] for row in found] == [0.0, 0.25, None]
    assert found[0]["notes"] == {"exact": "off by 2"}
    assert (found[2]["outcomes"], found[2]["error"]) == ({"exact": "failed"}, "exact: no judge")
    assert "error" not in found[0]


def test_tables_have_one_type_per_column(tmp_path: Path) -> None:
    found = wrote(tmp_path / "scored.parquet", lines(tmp_path / "in.jsonl", ROWS))
    kinds = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "scored.parquet")}
    assert kinds == {
        "completion": "string", "n": "double", "mixed": "string", "nested": "string", "flag": "bool",
        "nothing": "string", "total": "double", "components/exact": "double", "outcomes": "string",
        "notes": "string", "error": "string",
    }  # fmt: skip
    assert [row["mixed"] for row in found] == ["1", "x", None]
    assert [row["nested"] for row in found] == ['{"k": [1]}', "[2]", None]
    assert found[2]["completion"] == "\\ud800"
    assert [row["components/exact"] for row in found] == [0.0, 0.25, None]
    assert json.loads(found[0]["notes"]) == {"exact": "off by 2"}


def test_cells_hold_numbers_texts_and_json(tmp_path: Path) -> None:
    found = wrote(tmp_path / "scored.csv", lines(tmp_path / "in.jsonl", ROWS))
    assert found[1]["completion"] == 'b,"\n'
    assert (found[0]["nested"], found[0]["flag"], found[2]["total"]) == ('{"k": [1]}', "true", "")
    assert json.loads(found[2]["outcomes"]) == {"exact": "failed"}


def test_arrow_types_come_through(tmp_path: Path) -> None:
    schema = pa.schema([("completion", pa.large_string()), ("when", pa.timestamp("ns")), ("small", pa.int8())])
    when = datetime.datetime(2026, 1, 2)
    table = pa.table({"completion": ["a", "b"], "when": [when, None], "small": [1, None]}, schema=schema)
    parquet.write_table(table, tmp_path / "in.parquet")
    wrote(tmp_path / "scored.parquet", tmp_path / "in.parquet")
    assert parquet.read_table(tmp_path / "scored.parquet").select(["completion", "when", "small"]).equals(table)
    (first, _) = wrote(tmp_path / "scored.jsonl", tmp_path / "in.parquet")
    assert first["when"].startswith(("2026", "Timestamp", "datetime"))


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_texts_round_trip_through_every_format(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("texts")
    source = lines(folder / "in.jsonl", [{"completion": text, "number": number} for number, text in enumerate(texts)])
    for ending in (".jsonl", ".parquet", ".csv"):
        found = wrote(folder / f"scored{ending}", source)
        assert [row["completion"] for row in found] == texts


def test_columns_of_ours_do_not_replace_theirs(tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", [{"completion": "a", "total": 7, "input/total": 8}] * 2)
    assert renamed(saved(source).columns, ["exact"]) == {
        "completion": "completion", "total": "input/input/total", "input/total": "input/total",
    }  # fmt: skip
    once = tmp_path / "once.jsonl"
    wrote(once, lines(tmp_path / "plain.jsonl", [{"completion": "a"}, {"completion": "b"}]))
    assert wrote(tmp_path / "twice.jsonl", once)[0]["input/total"] == 0.0


def test_a_failure_keeps_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    path.write_text("before")
    found = saved(lines(tmp_path / "in.jsonl", ROWS))

    with pytest.raises(KeyboardInterrupt), Output.opened(path, writer_of(path, found, []), {}, resume=False):
        raise KeyboardInterrupt
    assert path.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.jsonl", "scored.jsonl"]


def test_unwritable_paths_are_errors(tmp_path: Path) -> None:
    source = lines(tmp_path / "in.jsonl", ROWS)
    with pytest.raises(DataError, match=r"\.jsonl, \.csv, or \.parquet"):
        wrote(tmp_path / "scored.txt", source)
    with pytest.raises(DataError, match="cannot be written"):
        wrote(source / "scored.jsonl", source)
