"""Sources of saved completions: files, TRL's folder, recorded runs, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from rewardkit.errors import DataError
from rewardkit.record.recorder import Recorder
from rewardkit.scoring.sources import Saved, saved
from tests.record.batches import batch, written

ROWS = [
    {"prompt": "6*7?", "completion": "42", "answer": "42", "extra": None},
    {"prompt": "6*7?", "completion": "41\u2028", "answer": "42", "extra": None},
    {"prompt": "1+1?", "completion": "2", "answer": "2", "extra": None},
]


def lines(path: Path, rows: Any = ROWS) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(found: Saved, most: int = 2) -> list[dict[str, Any]]:
    chunks = list(found.chunks(most))
    assert all(0 < len(chunk) <= most for chunk in chunks)
    return [dict(row) for chunk in chunks for row in chunk.rows()]


def test_files_of_all_kinds_hold_the_same(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    for path in (lines(tmp_path / "a.jsonl"), tmp_path / "a.json", tmp_path / "a.parquet"):
        found = saved(path)
        assert (found.size, found.columns) == (3, list(ROWS[0]))
        assert rows_of(found) == ROWS
        assert rows_of(saved(path, limit=2)) == ROWS[:2]
    (tmp_path / "a.csv").write_text("completion,answer\n42,7\n", encoding="utf-8")
    assert rows_of(saved(tmp_path / "a.csv")) == [{"completion": "42", "answer": "7"}]


def test_the_types_of_columns_are_known_first(tmp_path: Path) -> None:
    found = saved(lines(tmp_path / "a.jsonl", [{"a": 1, "b": "x"}, {"a": 2.5, "c": None}, {"a": 2**70}]))
    assert found.kinds == {"a": {int, float, object}, "b": {str}, "c": set()}


def test_chunks_are_cut_and_joined(tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    for path in (lines(tmp_path / "a.jsonl"), tmp_path / "a.parquet"):
        (chunk,) = saved(path).chunks(10)
        assert chunk.part(1).column("answer") == ["42", "2"]
        assert chunk.part(2).followed_by(chunk.part(0, 1)).column("completion") == ["2", "42"]


def test_trls_tables_are_read_in_order_with_different_columns(tmp_path: Path) -> None:
    (tmp_path / "completions").mkdir()
    for step, extra in ((2, {"right": [1.0]}), (10, {"late": [0.5]})):
        columns = {"step": [step], "prompt": ["6*7?"], "completion": ["42"], **extra}
        pandas.DataFrame(columns).to_parquet(tmp_path / "completions" / f"completions_{step:05d}.parquet")
    found = saved(tmp_path)
    assert found.apart == ("step",)
    assert [row["step"] for row in rows_of(found)] == [2, 10]
    assert [row["late"] for row in rows_of(found)] == [None, 0.5]
    assert [row["step"] for row in rows_of(saved(tmp_path / "completions", limit=1))] == [2]


CONVERSATION = [
    {"role": "user", "content": "6*7?"},
    {"role": "assistant", "content": "42"},
    {"role": "user", "content": "Sure?"},
]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.parquet"])
def test_conversations_are_split_into_prompt_and_completion(tmp_path: Path, name: str) -> None:
    path, rows = tmp_path / name, [{"messages": CONVERSATION, "answer": "42"}] * 3
    if name == "a.parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines(path, rows)
    found = saved(path, limit=2)
    assert (found.size, found.columns) == (2, ["prompt", "answer", "completion"])
    assert rows_of(found) == [{"prompt": CONVERSATION[:1], "answer": "42", "completion": CONVERSATION[1:]}] * 2


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_named_column_of_conversations_is_split_where_it_is(tmp_path: Path, name: str) -> None:
    path, rows = tmp_path / name, [{"said": CONVERSATION}]
    if name == "a.parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines(path, rows)
    assert rows_of(saved(path, completion="said")) == [{"prompt": CONVERSATION[:1], "said": CONVERSATION[1:]}]
    assert saved(path).columns == ["said"]


def test_rows_of_other_files_can_be_passed(tmp_path: Path) -> None:
    found = saved(tmp_path / "run.eval", rows=lambda: iter([{"messages": CONVERSATION}, {"completion": "a"}]))
    assert (found.name, found.size, found.columns) == (str(tmp_path / "run.eval"), 2, ["prompt", "completion"])
    assert [row["completion"] for row in rows_of(found)] == [CONVERSATION[1:], "a"]


def test_a_recorded_run_has_its_completions_prompts_and_totals(tmp_path: Path) -> None:
    chat = [[{"role": "assistant", "content": f"said {row}"}] for row in range(4)]
    run = tmp_path / "run"
    written(
        run, batch(1), batch(2, training=False), batch(3, completions=chat, texts=[f"said {row}" for row in range(4)])
    )
    found = saved(run)
    assert found.size == 8
    rows = rows_of(found, 3)
    assert [row["step"] for row in rows] == [1] * 4 + [3] * 4
    assert rows[2]["prompt"] == "prompt 1"
    assert [row["answer"] for row in rows] == [0, 0, 1, 1] * 2
    assert rows[0]["completion"] == "step 1 row 0"
    assert rows[4]["completion"] == chat[0]
    assert rows[0]["recorded"] == 2.0
    assert rows[3]["recorded"] is None
    assert [row["step"] for row in rows_of(saved(run, limit=5))] == [1] * 4 + [3]


def test_rows_that_are_recorded_later_change_nothing(tmp_path: Path) -> None:
    training = Recorder(tmp_path, attempt=1, rank=0, compact_every=3)
    for step in (1, 2, 3):
        training.record(batch(step))
    assert training.flush()
    data = saved(tmp_path)
    before = rows_of(data)
    training.record(batch(4))
    training.close()
    written(tmp_path, batch(1, texts=["of a slow rank"] * 4), attempt=1, rank=1)
    written(tmp_path, batch(2, texts=["of a resumed training"] * 4), attempt=2)
    assert rows_of(data) == before
    again = saved(tmp_path, until=data.until)
    assert (again.size, again.columns, rows_of(again)) == (12, data.columns, before)
    assert [row["completion"] for row in rows_of(saved(tmp_path))][4:12] == ["of a slow rank"] * 4 + [
        "of a resumed training"
    ] * 4


def test_a_long_run_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, *(batch(step) for step in range(5)))
    monkeypatch.setattr("rewardkit.scoring.runs._ROWS", 8)
    assert [row["step"] for row in rows_of(saved(tmp_path), 100)] == [step for step in range(5) for _ in range(4)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"completion": "a"}\n{"completion"\n', "line 2: not JSON"),
        ("a.jsonl", "\n", "there are no completions in"),
        ("a.txt", "a", r"\.jsonl, \.json, \.csv, or \.parquet"),
        ("a.parquet", "no table", "not a Parquet file"),
        ("folder/a.txt", "a", r"not a recorded run and has no completions/completions_\*\.parquet"),
        ("folder/run.json", "{", "run.json"),
    ],
)
def test_sources_without_completions_are_errors(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        saved(path if path.parent == tmp_path else path.parent)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.parquet"):
        with pytest.raises(DataError, match=f"{name} cannot be read: No such file"):
            saved(tmp_path / name)


def test_tables_with_conflicting_columns_are_an_error(tmp_path: Path) -> None:
    for step, value in ((1, ["a"]), (2, [[1]])):
        pandas.DataFrame({"completion": ["x"], "c": value}).to_parquet(tmp_path / f"completions_{step:05d}.parquet")
    with pytest.raises(DataError, match="different types"):
        saved(tmp_path)


def test_folders_of_partitions_are_columns(tmp_path: Path) -> None:
    for task in ("math", "code%20run", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"task={task}").mkdir()
        pandas.DataFrame({"completion": [f"{task} {row}" for row in range(3)]}).to_parquet(
            tmp_path / f"task={task}" / "a.parquet"
        )
    found = saved(tmp_path / "task=*" / "*.parquet")
    assert found.columns == ["completion", "task"]
    told = [(row["completion"].split()[0], row["task"]) for row in rows_of(found, 2)]
    assert (
        told == [("__HIVE_DEFAULT_PARTITION__", None)] * 3 + [("code%20run", "code run")] * 3 + [("math", "math")] * 3
    )
    assert saved(tmp_path / "task=math" / "a.parquet").columns == ["completion"], (
        "a file that was named is read as it is"
    )


def test_a_column_of_the_file_is_not_replaced_by_its_folder(tmp_path: Path) -> None:
    for task in ("math", "code"):
        (tmp_path / f"task={task}").mkdir()
        pandas.DataFrame({"completion": ["a"], "task": ["own"]}).to_parquet(tmp_path / f"task={task}" / "a.parquet")
    assert [row["task"] for row in rows_of(saved(tmp_path / "*" / "*.parquet"))] == ["own", "own"]


def test_conversations_in_partitions(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "42"}]
    for task in ("math", "code"):
        (tmp_path / f"task={task}").mkdir()
        pandas.DataFrame({"messages": [talk]}).to_parquet(tmp_path / f"task={task}" / "a.parquet")
    rows = rows_of(saved(tmp_path / "*" / "*.parquet"))
    assert [(row["prompt"][0]["content"], row["task"]) for row in rows] == [("6*7?", "code"), ("6*7?", "math")]
