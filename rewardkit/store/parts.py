"""The files of a run, wherever they are: a local folder or any file system that fsspec knows.

``Files.at("runs/x").put("scores/a001-r000-00000000.parquet", data)`` writes all of it or nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rewardkit.core.errors import MissingExtraError, RewardKitError, shorten
from rewardkit.store.schema import Part

if TYPE_CHECKING:
    import fsspec
    import pyarrow

_ROWS = {"scores": 1 << 14, "completions": 1 << 11}
"""Rows of one row group: what is sorted by step or prompt is found without reading the rest."""
_TEXTS = ("completion", "messages", "prompt", "columns", "detail")
"""Columns in which hardly anything comes twice: no dictionary."""

_CHANGED = ("mtime", "LastModified", "last_modified", "updated", "created", "ETag", "etag")
"""Where file systems of fsspec say when, or to what, a file was changed."""

_EXTRAS = {name: name for name in ("s3", "gs", "gcs", "abfs", "http", "ssh", "sftp", "smb")}
_EXTRAS |= {"s3a": "s3", "az": "abfs", "https": "http"}
"""Protocol -> the extra of fsspec that brings it."""


class Stamp(NamedTuple):
    """Tells a file from another one that took its place."""

    size: int
    changed: object


@dataclass(frozen=True)
class Files:
    """One run's files; names are relative to its folder."""

    system: fsspec.AbstractFileSystem
    root: str
    local: bool

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Files:
        """From a path, or an address such as ``s3://bucket/runs/x``: whatever has no ``://`` is a path.

        Raises:
            RewardKitError: it is no text that UTF-8 can hold, or an address of an unknown kind.
            MissingExtraError: fsspec, pyarrow or duckdb is not installed, or what fsspec needs for this address.
        """
        try:
            import duckdb  # noqa: F401
            import fsspec
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise MissingExtraError.of("recording and reading runs", "store") from error
        address = os.fspath(path)
        try:
            address.encode()
        except UnicodeEncodeError:
            raise RewardKitError(f"a run's folder needs a name that is UTF-8, got {shorten(address)}") from None
        if "://" not in address:
            # An absolute one: where a run is does not change with the working directory. fsspec would cut it at "::".
            return cls(fsspec.filesystem("file"), os.path.abspath(address), True)
        try:
            system, root = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise MissingExtraError(_advice(address.split("://")[0], error)) from error
        except ValueError as error:
            raise RewardKitError(f"{shorten(address)} is no address that fsspec can open: {error}") from error
        local = "file" in ([system.protocol] if isinstance(system.protocol, str) else system.protocol)
        return cls(system, root.rstrip("/") or root, local)

    @property
    def location(self) -> str:
        """From which `at` finds it again, whatever the working directory is by then."""
        return self.root if self.local else str(self.system.unstrip_protocol(self.root))

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def address(self, name: str) -> str:
        """Where DuckDB finds it."""
        return self.path(name) if self.local else self.system.unstrip_protocol(self.path(name))

    def put(self, name: str, data: bytes, *, durable: bool = False) -> None:
        """Writes a file whole or not at all.

        Args:
            durable: return only when it would outlive a power cut.
        """
        path = self.path(name)
        if not self.local:
            self.system.makedirs(os.path.dirname(path), exist_ok=True)
            self.system.pipe_file(path, data)
            return
        folder, file = os.path.split(path)
        os.makedirs(folder, exist_ok=True)
        temporary = os.path.join(folder, f".{file}.{os.getpid()}.tmp")
        try:
            with open(temporary, "wb") as opened:
                opened.write(data)
                if durable:
                    opened.flush()
                    os.fsync(opened.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise

    def claim(self, name: str, data: bytes) -> bool:
        """Writes a file that must not be there yet; False where it is."""
        path = self.path(name)
        if not self.local:
            if self.system.exists(path):
                return False
            self.put(name, data)
            return True
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            with open(path, "xb") as opened:
                opened.write(data)
        except FileExistsError:
            return False
        return True

    def get(self, name: str) -> bytes:
        data: bytes = self.system.cat_file(self.path(name))
        return data

    def delete(self, name: str) -> None:
        """Removes a file, if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            self.system.rm_file(self.path(name))

    def names(self, folder: str) -> dict[str, Stamp]:
        """The files in a folder and their stamps; nothing where there is no such folder."""
        if self.local:
            try:
                with os.scandir(self.path(folder)) as entries:
                    return {entry.name: _stamp(entry) for entry in entries if entry.is_file()}
            except (FileNotFoundError, NotADirectoryError):
                return {}
        self.system.invalidate_cache(self.path(folder))
        try:
            found = self.system.ls(self.path(folder), detail=True)
        except FileNotFoundError:
            return {}
        return {
            os.path.basename(entry["name"]): Stamp(entry["size"], [str(entry.get(name)) for name in _CHANGED])
            for entry in found
            if entry["type"] == "file"
        }

    def parts(self, table: str) -> dict[Part, Stamp]:
        """The parts of a table and their stamps."""
        found = {Part.read(name): stamp for name, stamp in self.names(table).items()}
        return {part: stamp for part, stamp in found.items() if part is not None}

    def put_json(self, name: str, value: Mapping[str, Any]) -> None:
        self.put(name, (json.dumps(value, indent=1) + "\n").encode(), durable=True)

    def get_json(self, name: str) -> Any:
        """What a file says in JSON.

        Raises:
            ValueError: it is none, or nested too deeply.
        """
        try:
            return json.loads(self.get(name))
        except RecursionError:
            raise ValueError(f"{self.path(name)} is nested too deeply") from None


def _advice(protocol: str, error: ImportError) -> str:
    extra = _EXTRAS.get(protocol)
    command = f": pip install 'fsspec[{extra}]'" if extra else ""
    return f"reading and writing {protocol}:// needs another package{command} ({error})"


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        found = entry.stat()
    except FileNotFoundError:
        return Stamp(0, None)
    return Stamp(found.st_size, (found.st_mtime_ns, found.st_ino))


def encoded(name: str, table: pyarrow.Table) -> bytes:
    """A table as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    words = [column for column in table.column_names if column not in _TEXTS]
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", use_dictionary=words, row_group_size=_ROWS.get(name))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decoded(data: bytes) -> pyarrow.Table:
    """The table in the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(pa.BufferReader(data)).read()
