"""The location of a run: paths are used as they are, addresses go to fsspec."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewardkit.errors import RewardKitError
from rewardkit.record.parts import Files
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import open_run
from tests.record.batches import batch


@pytest.mark.parametrize("name", ["exp::1", "a:b", "~x", "with space", "[glob]*?", "%20#", "naïve 東京"])
def test_a_path_is_used_as_it_is(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Recorder(name) as recorder:
        recorder.record(batch(1))
    assert os.listdir(tmp_path) == [name]
    assert open_run(name).scores().fetchall()


def test_runs_with_a_common_name_prefix_are_distinct(tmp_path: Path) -> None:
    for number in (1, 2):
        with Recorder(tmp_path / f"exp::{number}") as recorder:
            recorder.record(batch(number))
    assert [open_run(tmp_path / f"exp::{number}").steps for number in (1, 2)] == [[1], [2]]


def test_a_change_of_the_working_directory_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = Files.at("runs/x")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert files.root == str(tmp_path / "runs" / "x")
    assert Files.at(files.location) == files
    assert Files.at(Files.at("memory://runs/x").location).root == Files.at("memory://runs/x").root


def test_a_path_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RewardKitError, match="UTF-8"):
        Files.at(tmp_path / os.fsdecode(b"run\xff"))
