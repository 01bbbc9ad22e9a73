"""The output folder: a file appears as a whole, and a run continues only what it began itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from rewardkit.errors import DataError
from rewardkit_adapters.ray.folder import Folder, part_name

TOLD: dict[str, Any] = {"data": "3 completions, checksum 1", "reward": "abc", "columns": {}}


@pytest.fixture(params=["path", "file://", "memory://"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    if request.param == "memory://":
        return Folder.of(f"memory://{uuid4().hex}/scored")
    return Folder.of(f"{'file://' if request.param == 'file://' else ''}{tmp_path}/scored/")


def test_a_part_appears_when_it_is_complete(folder: Folder) -> None:
    folder.prepare(TOLD, False, 7)
    with folder.part(3) as file:
        file.write(b"rows")
        assert folder.parts() == set()
    assert folder.parts() == {part_name(3)}
    with pytest.raises(ZeroDivisionError), folder.part(4) as file:
        file.write(bytes(1 // 0))
    with folder.part(3) as file:
        file.write(b"again")
    assert folder.parts() == {part_name(3)}


def test_a_run_resumes_with_its_own_parts(folder: Folder) -> None:
    assert folder.prepare(TOLD, False, 7) == 7
    assert folder.prepare(TOLD, True, 99) == 7


def test_resuming_what_never_began_begins(folder: Folder) -> None:
    assert folder.prepare(TOLD, True, 7) == 7


@pytest.mark.parametrize("changed", ["data", "reward", "columns"])
def test_another_run_is_not_continued(folder: Folder, changed: str) -> None:
    folder.prepare(TOLD, False, 7)
    with pytest.raises(DataError, match=changed):
        folder.prepare({**TOLD, changed: "other"}, True, 7)


def test_scores_are_not_overwritten(folder: Folder) -> None:
    folder.prepare(TOLD, False, 7)
    with pytest.raises(DataError, match="--resume"):
        folder.prepare(TOLD, False, 7)


def test_other_files_are_not_mixed_with_scores(tmp_path: Path) -> None:
    (tmp_path / "data.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="not empty"):
        Folder.of(str(tmp_path)).prepare(TOLD, True, 7)


def test_a_part_that_the_same_run_tried_before_is_suspicious(folder: Folder) -> None:
    folder.prepare(TOLD, False, 7)
    assert folder.first_try(0, "one")
    assert not folder.first_try(0, "one")
    assert folder.first_try(1, "one")
    assert folder.first_try(0, "two"), "what another run died of is not known"


def test_parts_sort_by_name() -> None:
    numbers = [0, 9, 10, 99, 100_000, 1_000_000]
    assert sorted(map(part_name, numbers)) == [part_name(number) for number in numbers]
