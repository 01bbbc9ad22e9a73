"""Tests against the trainers' own packages: `make test-trainers` runs each file in an environment of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
TRAINER = os.environ.get("REWARDKIT_TRAINER", "")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of the trainers that are not installed here."""
    if collection_path.parent == _HERE and collection_path.name.startswith("test_"):
        return collection_path.name != f"test_{TRAINER}.py" or None
    return None


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
