"""However the data is cut into parts, every row is in one of them, and no group is in two."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, strategies as st

from rewardkit.scoring.parts import HeldRows, Part, Tabular
from rewardkit_adapters.ray.command import grouped, rows_of

SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=12)


def cut(groups: list[int], sizes: list[int]) -> tuple[list[tuple[int, str]], list[Part]]:
    """Return rows of groups of these sizes, and parts of about these sizes."""
    rows = [(number, str(group % 3)) for group, size in enumerate(groups) for number in range(size)]
    rows = [(place, prompt) for place, (_, prompt) in enumerate(rows)]
    parts: list[Part] = []
    start = 0
    while start < len(rows):
        stop = start + sizes[len(parts) % len(sizes)]
        held = rows[start:stop]
        parts.append(
            HeldRows(Tabular(pa.table({"row": [row for row, _ in held], "prompt": [name for _, name in held]})))
        )
        start = stop
    return rows, parts


def read(part: Part) -> list[tuple[int, str]]:
    return [(row["row"], row["prompt"]) for chunk in part.chunks(4) for row in chunk.rows()] if part.rows else []


@given(SIZES, SIZES)
def test_every_row_once_and_groups_whole(groups: list[int], sizes: list[int]) -> None:
    rows, parts = cut(groups, sizes)
    found = [read(rows_of(parts, number, ["prompt"])) for number in range(len(parts))]
    assert [row for part in found for row in part] == rows
    assert all(part[-1][1] != after[0][1] for part, after in zip(*_filled(found), strict=True))


def _filled(found: list[list[tuple[int, str]]]) -> tuple[list[list[tuple[int, str]]], list[list[tuple[int, str]]]]:
    filled = [part for part in found if part]
    return filled[:-1], filled[1:]


@given(SIZES, SIZES)
def test_without_groups_parts_stay(groups: list[int], sizes: list[int]) -> None:
    _, parts = cut(groups, sizes)
    assert [rows_of(parts, number, ()) for number in range(len(parts))] == parts


@given(SIZES, SIZES, st.integers(1, 30))
def test_fewer_parts_have_the_same_rows(groups: list[int], sizes: list[int], least: int) -> None:
    rows, parts = cut(groups, sizes)
    fewer = grouped(parts, least)
    assert [row for part in fewer for row in read(part)] == rows
    assert all(part.rows >= least for part in fewer[:-1])
