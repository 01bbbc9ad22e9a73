"""The runs in given folders: ``Library([Path("runs")]).names()`` is ``["first", "sweep/a"]``.

A run is a folder that contains a run.json. A run's name is its path relative to the searched folder and cannot point
outside that folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rewardkit.errors import NotARun
from rewardkit.record.schema import TABLES

_DEPTH = 6
"""The maximum search depth. The limit is arbitrary: runs are a few folders deep, and a link may lead back up."""
_OF_A_RUN = {*TABLES, "versions", "attempts", "updates"}
"""A run's subfolders that cannot contain another run."""
_MOST = 2_000
"""The maximum number of runs to list. At most ten times as many folders are searched. The limit is arbitrary."""


class Library:
    """The list of runs in given folders. Each call of `names` searches the folders again."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._folders_by_name: dict[str, Path] = {}

    def names(self) -> list[str]:
        """Return the sorted names of all runs."""
        paths: dict[str, Path] = {}
        for folder in self.folders:
            for path in _runs(folder):
                inside = path.relative_to(folder)
                name = folder.name if inside == Path() else inside.as_posix()
                if name in paths:
                    name = f"{folder.name}/{name}"
                number = 2
                while paths.get(name, path) != path:
                    name, number = f"{name} ({number})", number + 1
                paths[name] = path
        self._folders_by_name = paths
        return sorted(paths)

    def path(self, name: str) -> Path:
        """Return a run's folder. The name is only looked up and never joined to a path.

        Raises:
            NotARun: no run has this name.
        """
        if name not in self._folders_by_name:
            self.names()
        try:
            return self._folders_by_name[name]
        except KeyError:
            folders = ", ".join(map(str, self.folders))
            raise NotARun(f"There is no run {name[:200]!r} in {folders}. Choose one from the list of runs.") from None


def _runs(folder: Path) -> Iterator[Path]:
    """Yield the folders that contain a run.json, including `folder` itself. Symbolic links are not followed."""
    run_count = looked = 0
    waiting = [(folder, 0)]
    # Arbitrary limit of ten folders per run, for folders that contain few or no runs.
    while waiting and run_count < _MOST and looked < 10 * _MOST:
        path, depth = waiting.pop(0)
        looked += 1
        try:
            with os.scandir(path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if any(entry.name == "run.json" and entry.is_file(follow_symlinks=False) for entry in listed):
            run_count += 1
            yield path
            listed = [entry for entry in listed if entry.name not in _OF_A_RUN]
        if depth < _DEPTH:
            folders = [entry for entry in listed if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."]
            waiting.extend((Path(entry.path), depth + 1) for entry in folders)
