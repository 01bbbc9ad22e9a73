"""A file that several processes open at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rewardkit.workers.shared_file import SharedFile

apsw = pytest.importorskip("apsw")


def test_who_comes_while_another_makes_the_file_waits(tmp_path: Path) -> None:
    path = str(tmp_path / "new.sqlite")
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")  # meanwhile nobody can turn the file to WAL, and SQLite does not wait for it
    later = threading.Timer(0.1, other.close)
    later.start()
    file = SharedFile(path, "things (name TEXT PRIMARY KEY)")
    later.join()
    assert file.rows("PRAGMA journal_mode") == [("wal",)]
