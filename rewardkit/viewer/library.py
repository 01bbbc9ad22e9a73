"""The runs under the folders that were named: ``Library([Path("runs")]).names()`` is ``["first", "sweep/a"]``.

A run is a folder with a run.json. A name is where it lies below its folder; no name leads out of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rewardkit.core.errors import RewardKitError
from rewardkit.store.schema import TABLES

_DEPTH = 6
_OF_A_RUN = {*TABLES, "versions", "attempts", "updates"}
"""Folders in which there is no other run."""
_MOST = 2_000
"""Runs that are listed; folders that are looked into are ten times as many."""


class UnknownRun(RewardKitError):
    """There is no run of this name."""


class Library:
    """Finds runs; looks again whenever it is asked."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._places: dict[str, Path] = {}

    def names(self) -> list[str]:
        """All runs, sorted."""
        places: dict[str, Path] = {}
        for folder in self.folders:
            for path in _runs(folder):
                inside = path.relative_to(folder)
                name = folder.name if inside == Path() else inside.as_posix()
                if name in places:
                    name = f"{folder.name}/{name}"
                number = 2
                while places.get(name, path) != path:
                    name, number = f"{name} ({number})", number + 1
                places[name] = path
        self._places = places
        return sorted(places)

    def path(self, name: str) -> Path:
        """Where a run lies.

        Raises:
            UnknownRun: there is none of this name: names are only looked up, never joined to a path.
        """
        if name not in self._places:
            self.names()
        try:
            return self._places[name]
        except KeyError:
            raise UnknownRun(f"There is no run of this name in {', '.join(map(str, self.folders))}.") from None


def _runs(folder: Path) -> Iterator[Path]:
    """Folders with a run.json, `folder` itself among them; links that lead elsewhere are not followed."""
    found = looked = 0
    waiting = [(folder, 0)]
    while waiting and found < _MOST and looked < 10 * _MOST:
        path, depth = waiting.pop(0)
        looked += 1
        try:
            with os.scandir(path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if any(entry.name == "run.json" and entry.is_file(follow_symlinks=False) for entry in listed):
            found += 1
            yield path
            listed = [entry for entry in listed if entry.name not in _OF_A_RUN]
        if depth < _DEPTH:
            folders = [entry for entry in listed if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."]
            waiting.extend((Path(entry.path), depth + 1) for entry in folders)
