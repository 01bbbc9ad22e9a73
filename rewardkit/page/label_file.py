"""Completion labels in a JSON Lines file: ``LabelFile(Path("labels.jsonl")).of(run)`` is key -> `Label`.

A line is a labeled completion that is useful even without the run. It contains the completion, the prompt, the data's
columns, ``is_good``, and, under ``"rewardkit"``, the label, the note, and the completion's place in the run::

    {"prompt": "6*7?", "completion": "It is 42", "answer": "42", "is_good": true, "rewardkit": {"label": "good", ...}}

`calibrate` and ``rewardkit check --data`` can read the file directly. Each change replaces the whole file under a lock.
Therefore, two pages (from the same server or from two servers) do not lose each other's labels, and a crash leaves
either the old file or the new file.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import RewardKitError
from rewardkit.record.schema import KEY, Key

LABELS = ("good", "bad", "exploit")
VERDICT = "is_good"
"""The column that is true for good completions and false for bad completions and exploits."""
OWN = "rewardkit"
"""The column that contains the label, the note, and the completion's place."""
LONGEST_NOTE = 2_000
"""The maximum length of a note in characters. The limit is arbitrary and keeps the file readable."""


@dataclass(frozen=True)
class Label:
    """A completion's label, with a note."""

    label: str
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A line in the file. `run` and `key` identify the completion."""

    text: str
    record: Mapping[str, Any]
    run: str
    key: Key
    label: Label

    @classmethod
    def read(cls, text: str) -> Line:
        """Parse a line.

        Raises:
            ValueError: the line is not a label.
        """
        try:
            record = json.loads(text)
            label_fields = record[OWN]
            attempt, rank, part, row = (int(label_fields[name]) for name in KEY)
            label = Label(str(label_fields["label"]), str(label_fields.get("note", "")))
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from None
        if label.label not in LABELS:
            raise ValueError(label.label)
        return cls(text, record, str(label_fields["run"]), (attempt, rank, part, row), label)

    @classmethod
    def of(cls, run: str, key: Key, label: Label, facts: Mapping[str, Any], columns: Mapping[str, Any]) -> Line:
        """Return the line for a labeled completion.

        Args:
            run: the run's id.
            key: the completion's key in the run.
            label: the label.
            facts: more information about the completion, such as its step and its total.
            columns: the prompt, the completion, and the data's columns.
        """
        note = label.note[:LONGEST_NOTE]
        key_fields = dict(zip(KEY, key, strict=True))
        time = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        label_fields = {"label": label.label, "note": note, "run": run, **key_fields, **facts, "time": time}
        record = {**columns, VERDICT: label.label == "good", OWN: label_fields}
        return cls(json.dumps(record, ensure_ascii=False), record, run, key, Label(label.label, note))


class LabelFile:
    """A file of labels. Several threads and processes can use the same file.

    Raises:
        RewardKitError: the file does not contain labels or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        if path.suffix != ".jsonl":
            raise RewardKitError(
                f"--labels {path}: the file name must end in .jsonl, so that other commands can read the file"
            )
        if not self.path.parent.is_dir() or self.path.is_dir():
            raise RewardKitError(
                f"--labels {path} is not in an existing folder. Create {self.path.parent}, or pass another file"
            )
        if not os.access(self.path if self.path.exists() else self.path.parent, os.W_OK):
            raise RewardKitError(f"--labels {path} cannot be written. Pass a file to which you can write")
        self.number = 0
        """A counter that increases whenever the labels change."""
        self.problem = ""
        """The reason why the file can no longer be read. In that case, the labels are from the last successful read."""
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] | None = None
        self._lines: list[Line] = []
        self.refresh()

    @property
    def lines(self) -> list[Line]:
        """All labels, in the order in which their completions were first labeled."""
        return self._lines

    def of(self, run: str) -> dict[Key, Label]:
        """Return a run's labels."""
        return {line.key: line.label for line in self._lines if line.run == run}

    def refresh(self) -> bool:
        """Read changes that other threads and processes made; return whether there were any.

        Raises:
            RewardKitError: a line is not a label.
        """
        with self._lock:
            try:
                changed = self._read()
            except RewardKitError as error:
                self.problem = str(error)
                raise
            self.problem = ""
            return changed

    def put(self, line: Line) -> None:
        """Label a completion, replacing an existing label.

        Raises:
            RewardKitError: the file cannot be written.
        """
        self._replace(line.run, line.key, line)

    def remove(self, run: str, key: Key) -> None:
        """Remove a completion's label.

        Raises:
            RewardKitError: the file cannot be written.
        """
        self._replace(run, key, None)

    def _replace(self, run: str, key: Key, new: Line | None) -> None:
        with self._lock:
            try:
                with _locked(self.path):
                    self._read()
                    lines = list(self._lines)
                    at = next((at for at, line in enumerate(lines) if (line.run, line.key) == (run, key)), len(lines))
                    lines[at : at + 1] = [] if new is None else [new]
                    self._write(lines)
            except OSError as error:
                raise RewardKitError(f"{self.path} cannot be written: {error.strerror or error}") from None
            self._read()

    def _write(self, lines: list[Line]) -> None:
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                # A note may have a lone surrogate, which JSON can hold as an escape.
                file.writelines(f"{line.text}\n".encode("utf-8", "backslashreplace") for line in lines)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(self.path, partial)
            os.replace(partial, self.path)
        except BaseException:
            # Only before the replacement: later, another thread may hold the lock and write its own partial file.
            with suppress(OSError):
                partial.unlink()
            raise

    def _read(self) -> bool:
        try:
            state = self.path.stat()
            signature: tuple[int, ...] = (state.st_ino, state.st_mtime_ns, state.st_size)
            if signature == self._stamp:
                return False
            texts = self.path.read_text(encoding="utf-8").split("\n")  # texts may contain other line separators
        except FileNotFoundError:
            signature, texts = (), []
            if self._stamp == signature:
                return False
        except (OSError, UnicodeDecodeError) as error:
            raise RewardKitError(f"{self.path} cannot be read: {error}") from None
        lines = []
        for number, text in enumerate(texts, start=1):
            if text.strip():
                try:
                    lines.append(Line.read(text))
                except ValueError:
                    raise RewardKitError(
                        f"{self.path}, line {number} is not a label of `rewardkit view --labels`. Delete the line, or "
                        "pass another file"
                    ) from None
        self._stamp, self._lines = signature, lines
        self.number += 1
        return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on the file, creating the file if necessary. The lock ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    while True:
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Another process may have replaced the file while this one waited.
            with suppress(FileNotFoundError):
                if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                    yield
                    return
