"""The scratch folder in which a check runs the user's functions, and the effects that they have.

A check calls a function thousands of times, so its files would fill the user's folder. In the scratch folder, relative
paths work as in the user's folder: it has copies of small files, and links to everything else. A linked file is copied
before it is changed. Other machines cannot be reached unless this is allowed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rewardkit.check.reward_under_test.vocabulary import code_of
from rewardkit.check.run.output import amount_of
from rewardkit.tree.loading import is_installed
from rewardkit.tree.reward import Reward, bindings
from rewardkit.workers.effects import LOG, Watch, effects_of, start, state_of, stop

_COPIED = 1_000_000
"""The maximum size of a file to copy at the start, in bytes. Arbitrary: larger files are linked, and copied only if
Python code changes them. Copies also protect files from libraries that write without Python, such as DuckDB."""
_MOST_COPIED = 100
"""The maximum number of files to copy at the start. Arbitrary: it takes milliseconds."""
_MOST_LINKED = 1_000
"""The maximum number of links in a folder. Arbitrary: functions that read files have few of them."""
_NAMED = 3
"""The maximum number of files or addresses to name. Arbitrary: it keeps the text on a line or two."""


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written during a check.

    Attributes:
        name: its path, relative to the folder if it is in the scratch folder.
        size: its size in bytes, or -1 if it was deleted.
        tables: for an SQLite database, the names of the tables that were deleted.
    """

    name: str
    size: int
    tables: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = self.name if len(self.name) <= 80 else f"...{self.name[-77:]}"
        lost = f", without its tables {', '.join(self.tables[:_NAMED])}" if self.tables else ""
        return f"{name} ({amount_of(self.size) if self.size >= 0 else 'deleted'}{lost})"


@dataclass(frozen=True)
class Effects:
    """The effects that a reward had outside its process during a check.

    Attributes:
        written: the files written in the scratch folder, which was deleted.
        outside: the files written elsewhere, which stay changed.
        network: the addresses of other machines that were called, as ``host:port``.
        refused: whether these connections were refused.
        programs: the programs that were started.
    """

    written: tuple[WrittenFile, ...] = ()
    outside: tuple[WrittenFile, ...] = ()
    network: tuple[str, ...] = ()
    refused: bool = True
    programs: tuple[str, ...] = ()

    def __add__(self, other: Effects) -> Effects:
        return Effects(
            self.written + other.written,
            self.outside + other.outside,
            self.network + other.network,
            self.refused,
            self.programs + other.programs,
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield a label and a text for each kind of effect."""
        if self.written:
            yield "wrote", f"{_files(self.written)}, in a copy of the folder, which was deleted"
        if self.outside:
            yield "changed", f"{_files(self.outside)}, outside the copy of the folder, so the changes stay"
        if self.network:
            refused = "refused. Pass network=True or --network to allow connections" if self.refused else "allowed"
            yield "network", f"{_listed(self.network)}: {refused}"
        if self.programs:
            yield "started", _listed(self.programs)

    def to_dict(self) -> dict[str, Any]:
        """Return the effects as plain JSON values."""
        return asdict(self)


def _files(files: tuple[WrittenFile, ...]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    largest = sorted(files, key=lambda file: (not file.tables, -file.size))
    return f"{count} ({amount_of(sum(max(0, file.size) for file in files))}): {_listed(list(map(str, largest)))}"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f", and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


@dataclass(frozen=True)
class Scratch:
    """A scratch folder.

    Attributes:
        watch: the settings for recording effects.
        folder: the working directory of the functions.
        originals: the folders that `folder` replaces.
        entries: the copies and links in `folder`, with the size and the modification time of each copy.
    """

    watch: Watch
    folder: Path
    originals: tuple[Path, ...]
    entries: Mapping[str, tuple[int, int] | None]

    def enter(self) -> None:
        """Work in the scratch folder from now on, and watch this process."""
        os.chdir(self.folder)
        start(self.watch)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Work in the scratch folder inside the ``with`` block."""
        before = os.getcwd()
        self.enter()
        try:
            yield
        finally:
            stop()
            os.chdir(before)

    def effects(self) -> Effects:
        """Return the effects so far."""
        recorded = effects_of(self.watch)
        outside = []
        for effect in recorded:
            if effect.kind == "file" and (state := state_of(effect.name)) != effect.before:
                outside.append(WrittenFile(effect.name, -1 if state is None else state[0]))
        network = tuple(effect.name for effect in recorded if effect.kind == "network")
        programs = tuple(effect.name for effect in recorded if effect.kind == "program")
        return Effects(tuple(self._written()), tuple(outside), network, not self.watch.network, programs)

    def _written(self) -> Iterator[WrittenFile]:
        for parent, _, files in os.walk(self.folder.parent):  # without linked folders, which are unchanged
            for path in (Path(parent, file) for file in sorted(files)):
                name = os.path.relpath(path, self.folder)
                original = self._original(name)
                state = state_of(str(path))
                unchanged = path.is_symlink() or state == (self.entries.get(name) or state_of(str(original)))
                if state is not None and not unchanged and "__pycache__" not in path.parts:
                    yield WrittenFile(name, state[0], tuple(sorted(_tables(original) - _tables(path))))
        for entry in self.entries:
            if not os.path.lexists(self.folder / entry):
                yield WrittenFile(entry, -1)

    def _original(self, name: str) -> Path:
        paths = [folder / name for folder in self.originals]
        return next((path for path in paths if path.exists()), paths[0])


def _tables(path: Path) -> set[str]:
    """Return the names of the tables in an SQLite database, or an empty set for other files."""
    try:
        with open(path, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                return set()
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, sqlite3.Error):
        return set()


_current: list[Scratch] = []
"""The scratch folders of the checks in progress, the innermost last."""


def enter_scratch() -> None:
    """Enter the innermost scratch folder, if there is one. A child process calls this function after the fork."""
    if _current:
        _current[-1].enter()


def scratch_for(reward: Reward, *, network: bool = False) -> AbstractContextManager[Scratch]:
    """Provide a scratch folder for calls of a reward's functions, and delete it at the end of the ``with`` block.

    Args:
        reward: the reward. Its functions' folders are also copied.
        network: whether to allow connections to other machines. They are always allowed for judges and other rewards
            that need them.
    """
    return scratch_beside(_folders(reward), network=network or _needs_network(reward))


@contextmanager
def scratch_beside(folders: Iterable[Path], *, network: bool) -> Iterator[Scratch]:
    """Provide a scratch folder that replaces the working directory and `folders`."""
    root = Path(tempfile.mkdtemp(prefix="rewardkit-check-")).resolve()
    try:
        here = Path.cwd()
        originals = tuple(dict.fromkeys([here, *folders]))
        # The parent folder also exists, so that ../data works.
        folder = root / (here.parent.name or "parent") / (here.name or "folder")
        folder.mkdir(parents=True)
        _fill(folder.parent, here.parent, except_for=here.name, copies=False)
        entries: dict[str, tuple[int, int] | None] = {}
        for original in originals:
            entries.update(_fill(folder, original))
        (root / LOG).touch()
        scratch = Scratch(Watch(str(root), network), folder, originals, entries)
        _current.append(scratch)
        try:
            yield scratch
        finally:
            _current.remove(scratch)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _needs_network(reward: Reward) -> bool:
    """Return whether a reward has a judge, a reward model, a remote reward, or another function that is expensive."""
    return any(binding.expensive or (binding.trusted and binding.waits) for _, binding in bindings(reward))


def _folders(reward: Reward) -> Iterator[Path]:
    """Yield the folders of the files that define the reward's functions."""
    for _, binding in bindings(reward):
        code = code_of(binding.original)
        path = Path(code.co_filename).absolute() if code is not None else None
        if path is not None and path.parent.is_dir() and not is_installed(path):
            yield path.parent


def _fill(
    folder: Path, original: Path, *, except_for: str = "", copies: bool = True
) -> dict[str, tuple[int, int] | None]:
    """Fill a folder with copies of the small files of `original`, and with links to everything else.

    Return the new entries, with the size and the modification time of each copy, and None for links.
    """
    entries: dict[str, tuple[int, int] | None] = {}
    copied = 0
    with suppress(OSError), os.scandir(original) as originals:
        for entry in islice(originals, _MOST_LINKED):
            path = folder / entry.name
            if entry.name in (except_for, "__pycache__") or os.path.lexists(path):
                continue
            with suppress(OSError):  # a file that cannot be read
                if copies and copied < _MOST_COPIED and entry.is_file() and entry.stat().st_size <= _COPIED:
                    shutil.copy2(entry.path, path)
                    entries[entry.name] = state_of(str(path))
                    copied += 1
                else:
                    path.symlink_to(entry.path)
                    entries[entry.name] = None
    return entries
