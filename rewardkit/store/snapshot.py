"""The set of files to read, while others are being written or replaced, or are damaged.

A part counts once its scores are written. Parts that a compaction may replace are held in memory until the wide part
appears, so that no data disappears while it is read.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rewardkit.core.errors import RewardKitWarning
from rewardkit.store.parts import Files, Stamp, decoded
from rewardkit.store.schema import COMMITTING, TABLES, Part, widest, within

if TYPE_CHECKING:
    import pyarrow

_TRIES = 20
_File = tuple[str, Part]


@dataclass
class Snapshot:
    """The parts of a run that a reader knows; `update` reads new ones."""

    files: Files
    wide: dict[str, list[Part]] = field(default_factory=dict)
    narrow: dict[str, list[Part]] = field(default_factory=dict)
    _held: dict[_File, pyarrow.Table] = field(default_factory=dict)
    _columns: dict[_File, list[str]] = field(default_factory=dict)
    _known: dict[_File, Stamp] = field(default_factory=dict)
    _broken: dict[_File, Stamp] = field(default_factory=dict)

    def update(self) -> None:
        """List the parts, and read the new ones that may be replaced later."""
        for _ in range(_TRIES):
            found = self._listed()
            try:
                while not self._checked(found):
                    pass
            except FileNotFoundError:  # they were joined in the meantime
                continue
            return
        raise FileNotFoundError(f"{self.files.root}: parts disappear faster than they can be read. Try again")

    def find_damaged(self) -> bool:
        """Read every wide part completely, and skip damaged ones; return whether there are any."""
        before = len(self._broken)
        found = self._listed()
        for table, parts in self.wide.items():
            for part in parts:
                try:
                    decoded(self.files.get(f"{table}/{part.name}"))
                except FileNotFoundError:
                    continue
                except Exception as error:
                    self._known.pop((table, part), None)
                    self._skip((table, part), found[table].get(part, Stamp(0, None)), error)
        return len(self._broken) > before

    def columns(self, table: str) -> dict[Part, list[str]]:
        """Return the wide parts of a table with their columns."""
        return {part: self._columns[table, part] for part in self.wide[table]}

    def tables(self, table: str) -> list[pyarrow.Table]:
        """Return the narrow parts of a table."""
        return [self._held[table, part] for part in self.narrow[table]]

    def _listed(self) -> dict[str, dict[Part, Stamp]]:
        """Return the parts of all tables, listed again if a compaction happened in between."""
        for _ in range(_TRIES):
            scores = self.files.parts(COMMITTING)
            found = {COMMITTING: scores, **{table: self.files.parts(table) for table in TABLES[1:]}}
            again = self.files.parts(COMMITTING)
            if all(not part.wide for part in again.keys() - scores.keys()):
                break
        return found

    def _checked(self, found: Mapping[str, Mapping[Part, Stamp]]) -> bool:
        """Choose the parts and read new ones; return False if one is damaged, so that other parts can be chosen."""
        usable = {
            table: [part for part, stamp in parts.items() if self._broken.get((table, part)) != stamp]
            for table, parts in found.items()
        }
        committed = widest(usable[COMMITTING])
        chosen = {table: within(parts, committed) for table, parts in usable.items()}
        new = {(table, part): found[table][part] for table, parts in chosen.items() for part in parts}
        whole = True
        for file, stamp in sorted(new.items(), key=lambda item: item[0]):
            if self._known.get(file) == stamp:
                continue
            try:
                self._read(file)
                self._known[file] = stamp
            except FileNotFoundError:
                raise
            except Exception as error:
                self._skip(file, stamp, error)
                whole = False
        if whole:
            self._held = {file: rows for file, rows in self._held.items() if file in new}
            self._columns = {file: columns for file, columns in self._columns.items() if file in new}
            self._known = new
            self.wide = {table: [part for part in parts if part.wide] for table, parts in chosen.items()}
            self.narrow = {table: [part for part in parts if not part.wide] for table, parts in chosen.items()}
        return whole

    def _read(self, file: _File) -> None:
        table, part = file
        name = f"{table}/{part.name}"
        if part.wide:
            import pyarrow.parquet as parquet

            with self.files.system.open(self.files.path(name)) as opened:
                self._columns[file] = parquet.read_metadata(opened).schema.names
        else:
            self._held[file] = decoded(self.files.get(name))

    def _skip(self, file: _File, stamp: Stamp, error: Exception) -> None:
        table, part = file
        self._broken[file] = stamp
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"{self.files.path(f'{table}/{part.name}')} cannot be read ({stamp.size} bytes; {reason}) and is "
            "skipped. A power failure can truncate files. Delete it to stop this warning.",
            RewardKitWarning,
            stacklevel=2,
        )
