"""Finding runs; names cannot lead out of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewardkit.errors import NotARun
from rewardkit.page.library import Library


def run_at(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "run.json").write_text('{"schema": 1}')
    return path


def test_runs_are_folders_with_a_run_json(tmp_path: Path) -> None:
    run_at(tmp_path / "first")
    run_at(tmp_path / "sweep" / "a")
    (tmp_path / "notes").mkdir()
    run_at(tmp_path / ".hidden")
    library = Library([tmp_path])
    assert library.names() == ["first", "sweep/a"]
    assert library.path("sweep/a") == tmp_path / "sweep" / "a"
    run_at(tmp_path / "later")
    assert library.path("later") == tmp_path / "later"


def test_a_run_can_be_nested_in_another(tmp_path: Path) -> None:
    run_at(tmp_path / "outer")
    run_at(tmp_path / "outer" / "again" / "inner")
    run_at(tmp_path / "outer" / "scores" / "no run")
    assert Library([tmp_path]).names() == ["outer", "outer/again/inner"]


def test_a_run_folder_can_be_given_directly(tmp_path: Path) -> None:
    assert Library([run_at(tmp_path / "first")]).names() == ["first"]


def test_equal_names_get_distinct_names(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        run_at(tmp_path / folder / "a")
    assert Library([tmp_path / "one", tmp_path / "two"]).names() == ["a", "two/a"]


@pytest.mark.parametrize(
    "name", ["../secret", "first/../../secret", "/etc", "..", "", ".", "first\0", "first/", "%2e%2e/secret"]
)
def test_names_cannot_lead_out(tmp_path: Path, name: str) -> None:
    run_at(tmp_path / "runs" / "first")
    run_at(tmp_path / "secret")
    with pytest.raises(NotARun):
        Library([tmp_path / "runs"]).path(name)


def test_links_are_not_followed(tmp_path: Path) -> None:
    run_at(tmp_path / "secret")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "secret")
    assert Library([tmp_path / "runs"]).names() == []


def test_a_missing_folder_has_no_runs(tmp_path: Path) -> None:
    assert Library([tmp_path / "nowhere"]).names() == []
