"""The folder with the scores, on a disk that all nodes share or in an object store.

::

    scored/part-00000.parquet     the rows of the first part with their scores, written once
    scored/_rewardkit/            the data for a resume; readers of Parquet folders skip names that begin with "_"
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, final
from uuid import uuid4

from rewardkit.errors import DataError
from rewardkit.scoring.files import is_remote

_OURS = "_rewardkit"


@final
@dataclass(frozen=True)
class Folder:
    """An output folder: ``Folder("s3://bucket/scored")``."""

    address: str

    @property
    def checkpoint(self) -> str:
        """The address of Ray's checkpoint, which contains the ids of the finished parts."""
        return f"{self.address}/{_OURS}/checkpoint"

    @property
    def done(self) -> str:
        """The address of the reports for the finished parts."""
        return f"{self.address}/{_OURS}/done"

    @property
    def plan(self) -> str:
        """The address of the list of parts."""
        return f"{self.address}/{_OURS}/parts.parquet"

    @classmethod
    def of(cls, address: str) -> Folder:
        """Return the folder at a path, which may be relative, or at a remote URL."""
        return cls(address.rstrip("/") if is_remote(address) else os.path.abspath(address))

    def prepare(self, agreed: Mapping[str, Any], resume: bool, rows: int) -> int:
        """Store a run's settings, or check that they match an earlier run. Return the number of rows per part.

        Args:
            agreed: the settings that must match an earlier run, as strings: ``{"reward": "...", "data": "..."}``.
            resume: whether to continue an earlier run, if there is one.
            rows: the number of rows per part if there is no earlier run.

        Raises:
            DataError: the folder contains other scores or cannot be written to.
        """
        path = f"{_OURS}/run.json"
        try:
            before = self._read(path)
            if before is None:
                if self._names():
                    raise DataError(f"{self.address} is not empty. Pass another folder with --out")
                self._system.makedirs(self._path(_OURS), exist_ok=True)
                self._write(path, json.dumps({**agreed, "rows": rows}, indent=2).encode())
                return rows
        except OSError as error:
            raise DataError(f"{self.address} cannot be written: {error.strerror or error}") from None
        earlier_settings = json.loads(before)
        if not resume:
            raise DataError(f"{self.address} contains the scores of an earlier run. Pass --resume, or another --out")
        if changed_names := [name for name, value in agreed.items() if earlier_settings.get(name) != value]:
            raise DataError(
                f"{self.address} cannot be resumed: {', '.join(changed_names)} "
                f"differ{'s' if len(changed_names) == 1 else ''} from the "
                "earlier run. Undo the change, or pass another --out"
            )
        return int(earlier_settings["rows"])

    @contextmanager
    def part(self, number: int) -> Iterator[IO[bytes]]:
        """Open a file for one part. When it is complete, it atomically replaces any earlier file."""
        with TemporaryDirectory() as folder:
            temporary_path = Path(folder) / part_name(number)
            with temporary_path.open("wb") as file:
                yield file
            self._put(temporary_path, part_name(number))

    def first_try(self, number: int, run: str) -> bool:
        """Return whether this is the first attempt of `run` to score this part, and record the attempt."""
        path = f"{_OURS}/tries/{number}"
        before = self._read(path)
        self._system.makedirs(self._path(f"{_OURS}/tries"), exist_ok=True)
        self._write(path, run.encode())
        return before != run.encode()

    def parts(self) -> set[str]:
        """Return the file names of the finished parts."""
        return {name for name in self._names() if name.startswith("part-")}

    def reports(self, known_paths: Collection[str]) -> Iterator[tuple[str, Any]]:
        """Yield the path and the table for each report file that is not in `known_paths`."""
        import pyarrow.parquet as parquet

        for path in sorted(self._system.glob(f"{self._stripped(self.done)}/*.parquet")):
            if path not in known_paths:
                with self._system.open(path, "rb") as file:
                    yield path, parquet.read_table(file)

    def write_plan(self, table: Any) -> None:
        """Write the list of parts."""
        import pyarrow.parquet as parquet

        content = io.BytesIO()
        parquet.write_table(table, content)
        self._write(f"{_OURS}/parts.parquet", content.getvalue())

    @property
    def arrow(self) -> Any:
        """The file system for Ray's readers and writers, or None for local files, which they find by their path."""
        from pyarrow.fs import FSSpecHandler, PyFileSystem

        return PyFileSystem(FSSpecHandler(self._system)) if is_remote(self.address) else None

    @property
    def _system(self) -> Any:
        from fsspec.core import url_to_fs

        return url_to_fs(self.address)[0]

    def _stripped(self, address: str) -> str:
        # fsspec's conversion of "s3://bucket/run" to the path that its methods take. The public url_to_fs does this
        # only while it also creates the file system.
        return str(self._system._strip_protocol(address))

    def _path(self, name: str) -> str:
        return f"{self._stripped(self.address)}/{name}"

    def _names(self) -> list[str]:
        with suppress(FileNotFoundError):
            return [path.rpartition("/")[2] for path in self._system.ls(self._stripped(self.address), detail=False)]
        return []

    def _read(self, name: str) -> bytes | None:
        with suppress(FileNotFoundError):
            content: bytes = self._system.cat_file(self._path(name))
            return content
        return None

    def _write(self, name: str, content: bytes) -> None:
        with TemporaryDirectory() as folder:
            temporary_path = Path(folder) / "content"
            temporary_path.write_bytes(content)
            self._put(temporary_path, name)

    def _put(self, local_path: Path, name: str) -> None:
        """Copy a local file into the folder. The copy appears only when it is complete, as in an object store."""
        path = self._path(name)
        if is_remote(self.address):
            self._system.put_file(str(local_path), path)
            return
        partial = f"{self._path(_OURS)}/{uuid4().hex}.partial"
        shutil.copyfile(local_path, partial)
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)


def part_name(number: int) -> str:
    """Return a part's file name. When sorted by name, the files are in the order of the data."""
    return f"part-{number:07d}.parquet"
