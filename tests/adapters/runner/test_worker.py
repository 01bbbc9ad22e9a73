"""One of several processes: whether it ends together with the others, or alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit_adapters.runner import worker
from tests.adapters.runner.projects import project


@pytest.fixture
def second_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(worker, "_PATIENCE_SECONDS", 0.3)


@pytest.mark.usefixtures("second_of_two")
def test_a_failure_of_all_is_no_failure_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = tmp_path / "outcome"
    assert not worker._all_ended(outcome, 1)
    assert not outcome.exists()  # the first process speaks for all
    assert worker._all_ended(outcome, 0)
    monkeypatch.setenv("LOCAL_RANK", "0")
    assert worker._all_ended(outcome, 1)
    assert outcome.read_text() == "1"


@pytest.mark.usefixtures("second_of_two")
def test_another_number_of_processes_than_asked_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project(tmp_path, processes=4)
    assert worker.main([str(path), "--outcome", str(tmp_path / "outcome")]) == 1
    assert "2 processes were started instead of 4" in capsys.readouterr().err
