"""Which files of a run are to be read now, though others are being written, replaced or were cut off.

A part counts once its scores are there. What a compaction replaces is held in memory until the wide part is seen, so
nothing that a reader has found can vanish under it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rewardkit.core.errors import RewardKitWarning
from rewardkit.store.parts import Files, decoded
from rewardkit.store.schema import COMMITTING, TABLES, Part, widest, within

if TYPE_CHECKING:
    import pyarrow

_TRIES = 20
_File = tuple[str, Part]


@dataclass
class Snapshot:
    """What a reader knows of a run's parts; `look` brings it up to date."""

    files: Files
    wide: dict[str, list[Part]] = field(default_factory=dict)
    narrow: dict[str, list[Part]] = field(default_factory=dict)
    _held: dict[_File, pyarrow.Table] = field(default_factory=dict)
    _sound: set[_File] = field(default_factory=set)
    _broken: dict[_File, int] = field(default_factory=dict)

    def look(self) -> None:
        """Lists the parts and reads the new ones that may be replaced later."""
        for _ in range(_TRIES):
            sizes = self._listed()
            try:
                while not self._checked(sizes):
                    pass
            except FileNotFoundError:  # put together meanwhile
                continue
            return
        raise FileNotFoundError(f"{self.files.root}: parts disappear faster than they can be read")

    def doubt(self) -> bool:
        """Reads every wide part whole, where one of them cannot be read; whether there was such a one."""
        before = len(self._broken)
        sizes = self._listed()
        for table, parts in self.wide.items():
            for part in parts:
                try:
                    decoded(self.files.get(f"{table}/{part.name}"))
                except FileNotFoundError:
                    continue
                except Exception as error:
                    self._sound.discard((table, part))
                    self._skip((table, part), sizes[table].get(part, 0), error)
        return len(self._broken) > before

    def tables(self, table: str) -> list[pyarrow.Table]:
        """The narrow parts of a table."""
        return [self._held[table, part] for part in self.narrow[table]]

    def _listed(self) -> dict[str, dict[Part, int]]:
        """The parts of all tables at one time: none was put together while they were listed."""
        for _ in range(_TRIES):
            scores = self.files.parts(COMMITTING)
            sizes = {COMMITTING: scores, **{table: self.files.parts(table) for table in TABLES[1:]}}
            again = self.files.parts(COMMITTING)
            if all(not part.wide for part in again.keys() - scores.keys()):
                break
        return sizes

    def _checked(self, sizes: Mapping[str, Mapping[Part, int]]) -> bool:
        """Chooses the parts and reads what is new; False where one was broken, so that others may stand in."""
        usable = {
            table: [part for part, size in found.items() if self._broken.get((table, part)) != size]
            for table, found in sizes.items()
        }
        committed = widest(usable[COMMITTING])
        chosen = {table: within(parts, committed) for table, parts in usable.items()}
        new = {(table, part) for table, parts in chosen.items() for part in parts}
        whole = True
        for file in sorted(new - self._held.keys() - self._sound):
            try:
                self._read(file)
            except FileNotFoundError:
                raise
            except Exception as error:
                table, part = file
                self._skip(file, sizes[table][part], error)
                whole = False
        if whole:
            self._held = {file: rows for file, rows in self._held.items() if file in new}
            self.wide = {table: [part for part in parts if part.wide] for table, parts in chosen.items()}
            self.narrow = {table: [part for part in parts if not part.wide] for table, parts in chosen.items()}
        return whole

    def _read(self, file: _File) -> None:
        table, part = file
        name = f"{table}/{part.name}"
        if part.wide:
            import pyarrow.parquet as parquet

            with self.files.system.open(self.files.path(name)) as opened:
                parquet.read_metadata(opened)
            self._sound.add(file)
        else:
            self._held[file] = decoded(self.files.get(name))

    def _skip(self, file: _File, size: int, error: Exception) -> None:
        table, part = file
        self._broken[file] = size
        warnings.warn(
            f"{self.files.path(f'{table}/{part.name}')} cannot be read ({size} bytes; {type(error).__name__}: {error}) "
            "and is left out. Files are cut off when a machine loses power; delete it to be rid of this warning.",
            RewardKitWarning,
            stacklevel=2,
        )
