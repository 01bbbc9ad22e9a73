"""A run's files, in a local folder or any file system that fsspec supports.

``Files.at("runs/x").put("scores/a001-r000-00000000.parquet", data)`` writes the file completely or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rewardkit.errors import MissingExtraError, RewardKitError, shorten
from rewardkit.record.schema import Part

if TYPE_CHECKING:
    import fsspec
    import pyarrow

_ROWS = {"scores": 1 << 14, "completions": 1 << 11}
"""Table -> rows per row group. With small groups, a reader can find sorted steps and prompts without reading
everything."""
_TEXTS = ("completion", "messages", "rollout", "prompt", "columns", "detail")
"""Columns that do not get a dictionary, because their values rarely repeat."""

_CHANGED = ("mtime", "LastModified", "last_modified", "updated", "created", "ETag", "etag")
"""The keys with which fsspec's file systems report that a file has changed."""

_EXTRAS = {name: name for name in ("s3", "gs", "gcs", "abfs", "http", "ssh", "sftp", "smb")}
_EXTRAS |= {"s3a": "s3", "az": "abfs", "https": "http"}
"""Protocol -> the fsspec extra that supports it."""


class Stamp(NamedTuple):
    """A file's size and modification time, to detect whether the file was replaced."""

    size: int
    changed: object


@dataclass(frozen=True)
class Files:
    """The files of one run. File names are relative to the run's folder."""

    system: fsspec.AbstractFileSystem
    root: str
    local: bool

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Files:
        """Return the files at a path or a URL such as ``s3://bucket/runs/x``. A string without ``://`` is a path.

        Raises:
            RewardKitError: the path is not valid UTF-8, or fsspec does not support the protocol.
            MissingExtraError: fsspec, pyarrow, duckdb, or a package that fsspec needs for this URL is not installed.
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
            raise RewardKitError(
                f"the name of the run's folder is not valid UTF-8: {shorten(address)}. Rename the folder"
            ) from None
        if "://" not in address:
            # Make the path absolute, so that a change of the working directory does not matter. Do not use url_to_fs,
            # which would split the path at "::".
            return cls(fsspec.filesystem("file"), os.path.abspath(address), True)
        try:
            system, root = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise MissingExtraError(_advice(address.split("://")[0], error)) from error
        except ValueError as error:
            raise RewardKitError(
                f"fsspec cannot open {shorten(address)}: {error}. Pass a folder, or an address that fsspec supports"
            ) from error
        local = "file" in ([system.protocol] if isinstance(system.protocol, str) else system.protocol)
        return cls(system, root.rstrip("/") or root, local)

    @property
    def location(self) -> str:
        """The run's path or URL, independent of the working directory. It can be passed to `at`."""
        return self.root if self.local else str(self.system.unstrip_protocol(self.root))

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def address(self, name: str) -> str:
        """Return a file's path or URL for DuckDB."""
        return self.path(name) if self.local else self.system.unstrip_protocol(self.path(name))

    def put(self, name: str, data: bytes, *, durable: bool = False) -> None:
        """Write a file completely or not at all.

        Args:
            durable: whether to return only when the file would survive a power failure.
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
        """Write a file if it does not exist; return whether it was written."""
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
        """Remove a file if it exists."""
        with contextlib.suppress(FileNotFoundError):
            self.system.rm_file(self.path(name))

    def names(self, folder: str) -> dict[str, Stamp]:
        """Return name -> stamp for the files in a folder; empty if the folder does not exist."""
        if self.local:
            try:
                with os.scandir(self.path(folder)) as entries:
                    return {entry.name: _stamp(entry) for entry in entries if entry.is_file()}
            except (FileNotFoundError, NotADirectoryError):
                return {}
        self.system.invalidate_cache(self.path(folder))
        try:
            listing = self.system.ls(self.path(folder), detail=True)
        except FileNotFoundError:
            return {}
        return {
            os.path.basename(entry["name"]): Stamp(entry["size"], [str(entry.get(name)) for name in _CHANGED])
            for entry in listing
            if entry["type"] == "file"
        }

    def parts(self, table: str) -> dict[Part, Stamp]:
        """Return a table's parts with their stamps."""
        stamps = {Part.read(name): stamp for name, stamp in self.names(table).items()}
        return {part: stamp for part, stamp in stamps.items() if part is not None}

    def put_json(self, name: str, value: Mapping[str, Any]) -> None:
        self.put(name, (json.dumps(value, indent=1) + "\n").encode(), durable=True)

    def get_json(self, name: str) -> Any:
        """Return a JSON file's content.

        Raises:
            ValueError: the content is not JSON or is nested too deeply.
        """
        try:
            return json.loads(self.get(name))
        except RecursionError:
            raise ValueError(f"{self.path(name)} is nested too deeply") from None


def _advice(protocol: str, error: ImportError) -> str:
    extra = _EXTRAS.get(protocol)
    command = f". Install it: pip install 'fsspec[{extra}]'" if extra else ""
    return f"reading and writing {protocol}:// needs another package ({error}){command}"


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    try:
        status = entry.stat()
    except FileNotFoundError:
        return Stamp(0, None)
    return Stamp(status.st_size, (status.st_mtime_ns, status.st_ino))


def encoded(name: str, table: pyarrow.Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    words = [column for column in table.column_names if column not in _TEXTS]
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", use_dictionary=words, row_group_size=_ROWS.get(name))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decoded(data: bytes) -> pyarrow.Table:
    """Return the table in the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(pa.BufferReader(data)).read()
