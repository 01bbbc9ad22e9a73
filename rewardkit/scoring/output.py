"""The unfinished output file, which is kept in a hidden folder next to its path so that a command can be resumed.

``.scored.jsonl.partial/`` contains the unfinished file, the notes about each part that belong at the end of the file,
and a manifest. The manifest is replaced at most once per second, after the file and the notes have been saved to disk.
On resume, everything that the manifest does not cover is discarded.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, final

from rewardkit.errors import DataError, shorten
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.writers import Writer

_SECONDS = 1.0
"""The seconds between saves of finished parts. The value is arbitrary: an interruption loses at most the last
second."""
_MANIFEST, _FILE, _NOTES, _LOCK = "manifest.json", "file", "notes", "lock"


@final
class Output:
    """An output file that appears at its path when all parts have been written.

    Attributes:
        folder: the folder that contains the unfinished file; other processes may save parts in it.
        parts: the number of written parts.
        report: the report on the written rows.
    """

    def __init__(self, path: Path, writer: Writer, about: Mapping[str, Any], restart: str) -> None:
        self.folder = partial_folder(path)
        self.parts = 0
        self.report = ReplayReport()
        self._path = path
        self._writer = writer
        self._restart = restart
        self._about = json.loads(json.dumps(about, default=str))
        self._saved = time.monotonic()
        self._counted: dict[str, Any] = {"parts": 0}
        self._file: IO[bytes]
        self._notes: IO[bytes]

    @classmethod
    @contextmanager
    def opened(
        cls,
        path: Path,
        writer: Writer,
        about: Mapping[str, Any],
        *,
        resume: bool,
        restart: str = "Start again without --resume",
    ) -> Iterator[Output]:
        """Open the output. If an exception occurs while it is open, finished parts are kept for `resume`.

        Args:
            path: the file's path.
            writer: the writer for the file's rows.
            about: setting -> JSON value, for settings that must be unchanged to resume the file.
            resume: whether to continue an unfinished file, if there is one.
            restart: the advice in an error if the file cannot be resumed.

        Raises:
            DataError: the file cannot be written or resumed, or another command is writing it.
        """
        output = cls(path, writer, about, restart)
        try:
            output.folder.mkdir(parents=True, exist_ok=True)
            with _locked(output.folder / _LOCK, path):
                try:
                    output._start(resume)
                    yield output
                except BaseException:
                    output._keep()
                    raise
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror or error}") from None

    def append(self, data: Any, about: Any, report: ReplayReport) -> None:
        """Append the next part: its bytes, or the path of a file that contains the bytes and is then deleted."""
        note = self._writer.note(about, self._file.tell())
        if isinstance(data, Path):
            with data.open("rb") as part:
                shutil.copyfileobj(part, self._file, 1 << 20)
            data.unlink()
        else:
            self._file.write(data)
        self._notes.write(len(note).to_bytes(8, "big") + note)
        self.parts += 1
        self.report.extend(report)
        self._counted = self._count()  # one assignment: if interrupted earlier, only the previous parts count
        if time.monotonic() - self._saved > _SECONDS:
            self._save()

    def finish(self) -> None:
        """Write the end of the file and move the file to its path."""
        self._notes.flush()
        self._file.write(self._writer.closing(list(_read_notes(self.folder / _NOTES))))
        self._flush(self._file)
        self._file.close()
        self._notes.close()
        os.replace(self.folder / _FILE, self._path)
        self._clear()

    def _clear(self) -> None:
        """Delete the folder, starting with the manifest. Without the manifest, the file cannot be resumed."""
        (self.folder / _MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, resume: bool) -> None:
        manifest = _manifest(self.folder) if resume else None
        if manifest is not None:
            self._check(manifest)
        for entry in self.folder.iterdir():
            if entry.name != _LOCK and (manifest is None or entry.name not in (_MANIFEST, _FILE, _NOTES)):
                entry.unlink()
        if manifest is None:
            self._file, self._notes = ((self.folder / name).open("wb") for name in (_FILE, _NOTES))
            self._file.write(self._writer.opening)
            self._counted = self._count()
            return
        self.parts, self.report = manifest["parts"], ReplayReport.restored(manifest["report"])
        self._file, self._notes = (self._cut(name, manifest[name]) for name in (_FILE, _NOTES))
        self._counted = self._count()

    def _cut(self, name: str, size: int) -> IO[bytes]:
        """Open an unfinished file and truncate it to `size`, the size in the manifest."""
        path = self.folder / name
        if name == _FILE and not path.exists() and self._path.is_file() and self._path.stat().st_size >= size:
            os.replace(self._path, path)  # the command ended between finishing the file and removing the folder
        if not path.is_file() or path.stat().st_size < size:
            raise DataError(f"{path} has changed: cannot resume. {self._restart}")
        file = path.open("r+b")
        file.truncate(size)
        file.seek(size)
        return file

    def _check(self, manifest: Mapping[str, Any]) -> None:
        before = manifest["about"]
        other = [name for name in {**before, **self._about} if before.get(name) != self._about.get(name)]
        if other:
            changes = ", ".join(
                f"{name} (was {shorten(before.get(name))}, is {shorten(self._about.get(name))})" for name in other
            )
            raise DataError(
                f"{self._path} cannot be resumed, because these settings have changed: {changes}. {self._restart}"
            )

    def _save(self) -> None:
        """Save the data to disk, and then the manifest that covers it."""
        for file in (self._file, self._notes):
            self._flush(file)
        manifest = {"about": self._about, **self._counted}
        partial = self.folder / f"{_MANIFEST}.partial"
        with partial.open("wb") as manifest_file:
            manifest_file.write(json.dumps(manifest).encode())
            self._flush(manifest_file)
        os.replace(partial, self.folder / _MANIFEST)
        self._saved = time.monotonic()

    def _count(self) -> dict[str, Any]:
        """Return the file sizes, the number of parts, and the report, for the manifest."""
        sizes = {_FILE: self._file.tell(), _NOTES: self._notes.tell()}
        return {**sizes, "parts": self.parts, "report": self.report.state()}

    def _keep(self) -> None:
        """Save the finished parts; if there are none, remove the folder."""
        with suppress(OSError, AttributeError, ValueError):  # a full disk: the last manifest counts
            if self._counted["parts"]:
                self._save()
        for file in (getattr(self, "_file", None), getattr(self, "_notes", None)):
            with suppress(OSError):
                if file is not None:
                    file.close()
        if not (self.folder / _MANIFEST).exists():
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _flush(file: IO[bytes]) -> None:
        file.flush()
        os.fsync(file.fileno())


def resumable(path: Path) -> int:
    """Return the number of rows in an unfinished file, or 0 if it cannot be resumed."""
    manifest = _manifest(partial_folder(path))
    return 0 if manifest is None else ReplayReport.restored(manifest["report"]).rows


def partial_folder(path: Path) -> Path:
    """Return the folder that contains the unfinished file."""
    return path.with_name(f".{path.name}.partial")


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest


def _read_notes(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while size := file.read(8):
            yield file.read(int.from_bytes(size, "big"))


@contextmanager
def _locked(lock_path: Path, path: Path) -> Iterator[None]:
    """Hold a lock on the output. The operating system releases the lock if the process dies."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with lock_path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"another command is writing {path}. Wait until it finishes, or write to another file"
            ) from None
        yield
