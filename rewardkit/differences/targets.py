"""Targets: the names of rewards to compare, each in a file or module, optionally at a git revision.

``target_of("HEAD~1:reward.py:reward")`` has the revision ``HEAD~1`` and the name ``reward.py:reward``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rewardkit.differences.record import Recorded, is_run
from rewardkit.differences.revisions import Tree, checked_out
from rewardkit.errors import RewardDefinitionError
from rewardkit.scoring.processes import one_reward
from rewardkit.tree.loading import is_file, split
from rewardkit.tree.reward import Reward

# In "C:\rewards.py:reward", the first colon belongs to the drive.
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class Source(Protocol):
    """A picklable object that loads a reward in a separate process."""

    def load(self) -> Reward: ...


@dataclass(frozen=True)
class Location:
    """The location from which a process loads a reward.

    Attributes:
        source: the object that loads the reward.
        cwd: the working directory.
        path: the entries of ``sys.path``.
        folder: the temporary folder with the files of a revision, or None for the working tree.
    """

    source: Source
    cwd: Path
    path: tuple[str, ...]
    folder: Path | None = None


@runtime_checkable
class Placed(Protocol):
    """A reward named by the user, for which a location can be provided from which a process loads it."""

    def placed(self) -> AbstractContextManager[Location]: ...


@dataclass(frozen=True)
class Named:
    """The reward ``path/to/file.py:name`` or ``module:name``."""

    target: str

    def load(self) -> Reward:
        return one_reward(self.target)


@dataclass(frozen=True)
class Target:
    """A reward in a file or module.

    Attributes:
        revision: the git revision, or "" for the working tree.
        name: ``path.py:name`` or ``module:name``.
    """

    revision: str
    name: str

    def __str__(self) -> str:
        return f"{self.revision}:{self.name}" if self.revision else self.name

    @contextmanager
    def placed(self) -> Iterator[Location]:
        """Provide a location from which a process can load the reward, until the end of the ``with`` block.

        Raises:
            DataError: git cannot provide the files.
            RewardDefinitionError: the revision has no such file.
        """
        if not self.revision:
            yield Location(Named(self.name), Path.cwd(), tuple(sys.path))
            return
        with checked_out(self.revision, Path.cwd()) as tree:
            source, name = split_named(self.name)
            cwd = tree.cwd
            if is_file(source):
                cwd, source = _file(self.revision, source, tree.root, tree.folder, tree.cwd)
            yield Location(Named(f"{source}:{name}" if name else source), cwd, path_in(tree), tree.folder)


def target_of(text: str) -> Target | Recorded:
    """Parse ``path.py:name``, ``module:name``, ``REVISION:path.py:name``, ``REVISION:path.py``, or a run's folder."""
    if is_run(text):
        return Recorded(text)
    source, name = split_named(text)
    if _DRIVE.match(source) or ":" not in source:
        return Target("", text)
    revision, _, path = source.partition(":")
    return Target(revision, f"{path}:{name}" if name else path)


def split_named(text: str) -> tuple[str, str]:
    """Split off the reward's name after the last colon. ``HEAD:reward.py`` has no such name."""
    source, name = split(text)
    return (text, "") if name.endswith(".py") else (source, name)


def _file(revision: str, source: str, root: Path, folder: Path, cwd: Path) -> tuple[Path, str]:
    """Return the working directory, and the path of a file in it or in the root folder of a revision."""
    source_path = Path(source)
    if source_path.is_absolute() and source_path.resolve().is_relative_to(root):
        return cwd, str(folder / source_path.resolve().relative_to(root))
    for start in (cwd, folder):
        if (start / source_path).is_file():
            return cwd, str(start / source_path)
    alike = sorted(path.relative_to(folder).as_posix() for path in folder.rglob(source_path.name))[:3]
    hint = f" Did you mean {revision}:{', '.join(alike)}?" if alike else ""
    raise RewardDefinitionError(f"the revision {revision} has no file {source}.{hint}")


def path_in(tree: Tree) -> tuple[str, ...]:
    """Return the entries of ``sys.path`` for the files of a revision."""
    return tuple(_moved(entry, tree.root, tree.folder) for entry in sys.path)


def _moved(entry: str, root: Path, folder: Path) -> str:
    """Return an entry of ``sys.path`` for a revision: the copy of that folder at the revision, if a copy exists."""
    here = Path(entry or ".").resolve()
    if here.is_relative_to(root) and (folder / here.relative_to(root)).is_dir():
        return str(folder / here.relative_to(root))
    return entry
