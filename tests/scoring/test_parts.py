"""Parts: whatever the cuts, the rows are the same; groups stay whole; what cannot be read is reported by its line."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import DataError
from rewardkit.scoring import parts as survey
from rewardkit.scoring.files import rows_of
from rewardkit.scoring.parts import HeldRows, Listed, Part, first_apart, regrouped, whole_groups
from rewardkit.scoring.sources import saved

TEXTS = st.lists(st.text(max_size=12), min_size=1, max_size=30)
PIECES = st.lists(st.integers(1, 9), min_size=1, max_size=8)


def rows(parts: Any, most: int = 5) -> list[dict[str, Any]]:
    """Read the parts as another process does."""
    return [
        dict(row) for part in pickle.loads(pickle.dumps(list(parts))) for c in part.chunks(most) for row in c.rows()
    ]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "_LEAST_BYTES", 16)


@given(TEXTS, st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n \n"]), st.booleans())
def test_lines_are_read_once_whatever_the_ranges(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], escaped: bool, end: str, last: bool
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.jsonl"
    lines = [json.dumps({"completion": text, "n": n}, ensure_ascii=escaped) for n, text in enumerate(texts)]
    path.write_bytes(("\ufeff" + end.join(lines) + end * last).encode())
    found = saved(path)
    assert rows(found.parts()) == [dict(row) for _, row in rows_of(path)]
    assert found.size == len(texts)
    assert all(part.rows for part in found.parts())
    assert [part.rows for part in found.parts()] == [sum(len(c) for c in part.chunks(3)) for part in found.parts()]


@given(TEXTS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_cells_with_line_breaks_are_read_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], end: str, mark: bool
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.csv"
    with path.open("w", newline="", encoding="utf-8-sig" if mark else "utf-8") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerow(["completion", "é"])
        writer.writerows([text, f"{number}\n"] for number, text in enumerate(texts))
    found = saved(path)
    assert rows(found.parts()) == [dict(row) for _, row in rows_of(path)]
    assert found.columns == ["completion", "é"]


@given(st.integers(1, 80), st.integers(1, 40), st.integers(0, 80))
def test_rows_of_tables_are_read_once_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, size: int, group: int, at: int
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.parquet"
    table = pa.table({"completion": [f"text {number}" * 40 for number in range(size)], "n": range(size)})
    parquet.write_table(table, path, row_group_size=group)
    parts = list(saved(path).parts())
    assert rows(parts) == table.to_pylist()
    assert rows(parts[::-1], 3) == [row for part in parts[::-1] for row in rows([part])]
    (one,) = saved(path, limit=size).parts() if len(parts) == 1 else (parts[0],)
    start = at % one.rows
    assert rows([one.sub(start, one.rows)]) == table.to_pylist()[start : one.rows]


def test_only_needed_columns_of_tables_are_read(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": [1], "completion": ["x"], "b": [2]}), tmp_path / "a.parquet")
    (part,) = saved(tmp_path / "a.parquet").parts()
    assert [chunk.names for chunk in part.chunks(5, ["b", "completion"])] == [["completion", "b"]]


def held(sizes: list[int]) -> list[Part]:
    numbers = iter(range(sum(sizes)))
    return [HeldRows(Listed([{"n": next(numbers)} for _ in range(size)])) for size in sizes]


@given(PIECES, st.integers(1, 12))
def test_regrouped_parts_have_a_multiple_of_rows(sizes: list[int], size: int) -> None:
    parts = list(regrouped(held(sizes), size))
    assert rows(parts) == [{"n": number} for number in range(sum(sizes))]
    assert all(part.rows % size == 0 for part in parts[:-1])


@given(PIECES, st.integers(1, 12))
def test_the_first_rows_can_be_a_part(sizes: list[int], size: int) -> None:
    parts = list(first_apart(held(sizes), size))
    assert rows(parts) == [{"n": number} for number in range(sum(sizes))]
    assert parts[0].rows == min(size, sizes[0])


@given(PIECES, PIECES)
def test_groups_are_not_cut(sizes: list[int], groups: list[int]) -> None:
    keys = [number for number, group in enumerate(groups) for _ in range(group)]
    listed = [
        {"k": keys[number % len(keys)] + len(keys) * (number // len(keys)), "n": number} for number in range(sum(sizes))
    ]
    parts, start = [], 0
    for size in sizes:
        parts.append(HeldRows(Listed(listed[start : start + size])))
        start += size
    cut = list(whole_groups(parts, ["k"]))
    assert rows(cut) == listed
    ends = [{row["k"] for row in rows([part])} for part in cut]
    assert sum(map(len, ends)) == len({row["k"] for row in listed})


def test_a_broken_line_is_reported_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"completion": "a"}\n\n' * 9 + "[1]\n" + '{"completion": "b"}\n')
    with pytest.raises(DataError, match=r"a.jsonl, line 19: expected a mapping, got \[1\]"):
        saved(path)
    assert saved(path, limit=9).size == 9


def test_patterns_lists_and_addresses_are_read_in_order(tmp_path: Path) -> None:
    import fsspec

    for name in ("b", "a"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"completion": "{name}"}}\n')
    assert [row["completion"] for row in rows(saved(str(tmp_path / "*.jsonl")).parts())] == ["a", "b"]
    listed = saved([tmp_path / "b.jsonl", tmp_path / "a.jsonl"])
    assert [row["completion"] for row in rows(listed.parts())] == ["b", "a"]
    assert listed.name == f"{tmp_path / 'b.jsonl'} and 1 more"
    with pytest.raises(DataError, match="no file matches"):
        saved(str(tmp_path / "*.csv"))
    (tmp_path / "c.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="with two commands"):
        saved([tmp_path / "a.jsonl", tmp_path / "c.parquet"])
    memory = fsspec.filesystem("memory")
    memory.pipe("/parts/a.jsonl", b'{"completion": "1"}\n')
    memory.pipe("/parts/a.csv", b"completion\n2\n")
    memory.pipe("/parts/a.json", b'[{"completion": "3"}]')
    with memory.open("/parts/a.parquet", "wb") as file:
        parquet.write_table(pa.table({"completion": ["4"]}), file)
    texts = saved(["memory://parts/a.jsonl", "memory://parts/*.csv", "memory://parts/a.json"])
    found = [*rows(texts.parts()), *rows(saved("memory://parts/a.parquet").parts())]
    assert [row["completion"] for row in found] == ["1", "2", "3", "4"]
