"""Writes a run to disk beside the training: ``Recorder("runs/x").record(record)`` hands over and returns at once.

A thread of its own makes the files. What goes wrong there is said aloud and counted, and never reaches the training.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import importlib
import json
import logging
import math
import os
import queue
import socket
import threading
import time
import traceback
import uuid
from dataclasses import replace
from typing import Any

from rewardkit.core.errors import RewardKitError, RewardTypeError, shorten, worth_reporting
from rewardkit.store.compaction import Compaction, tidy
from rewardkit.store.parts import Files, encoded
from rewardkit.store.records import Record, Version
from rewardkit.store.schema import COMMITTING, SCHEMA, TABLES, Part
from rewardkit.store.tables import tables_of

_LOG = logging.getLogger("rewardkit")
PATIENCE = 0.01
"""The share of the time between two batches that a training waits for the disk."""
_WAITING = 8
"""Batches that may wait for the thread."""
_EXIT_SECONDS = 60.0
"""How long the end of the process waits for what is not written yet."""

_Item = tuple[int, Record]


class NotAFolder(RewardKitError, NotADirectoryError):
    """A file stands where a run should be recorded."""


class Recorder:
    """Records the batches of one rank of one training process.

    Args:
        path: the run's folder, or an address that fsspec knows.
        attempt: how many times a process has started to train on this folder; None begins the next one.
        rank: of this process.
        title: what a person calls the run.
        compact_every: batches that are put together to one part; 0 leaves all as they are.
        patience: the share of the time between two batches that `record` may wait before it drops one; ``math.inf``:
            it waits as long as it takes.

    Raises:
        MissingExtraError: the extra ``store`` is not installed.
        OSError: the folder cannot be written; `NotAFolder` where it is a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        attempt: int | None = None,
        rank: int = 0,
        title: str = "",
        compact_every: int = 100,
        patience: float = PATIENCE,
    ) -> None:
        self.files = _folder(path)
        self.rank = rank
        self.attempt = next_attempt(path) if attempt is None else attempt
        self.dropped = 0
        if rank == 0:
            _begin(self.files, title)
        self.patience = patience
        self._every = compact_every
        self._compaction = Compaction(self.files, compact_every)
        self._known_prompts: set[str] = set()
        self._known_versions: set[str] = set()
        self._failures = 0
        self._next = 0
        self._last = time.monotonic()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        self._queue: queue.Queue[_Item | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._write, name="rewardkit-recorder", daemon=True)
        self._thread.start()
        self._ending = "finished"
        atexit.register(self.close, finished=False)

    def record(self, record: Record) -> None:
        """Hands over one batch; drops it, with a warning, where the disk cannot keep up.

        Raises:
            RewardTypeError: it is no `Record`.
        """
        if not isinstance(record, Record):
            raise RewardTypeError(
                "a batch is recorded as a Record(table, version, ...) of rewardkit.store.records, whose table is what "
                f"rk.score gives, got {shorten(record)}"
            )
        if os.getpid() != self._process or not (len(record.table) or record.logged):
            return
        with self._lock:
            if self._closed:
                return
            item = (self._next, record.kept())
            self._next += 1
            allowed = self.patience * (time.monotonic() - self._last)
            try:
                self._queue.put(item, timeout=None if math.isinf(allowed) else allowed)
            except queue.Full:
                self.dropped += 1
                if worth_reporting(self.dropped):
                    _LOG.warning(
                        "%s: the disk is slower than the training: %d batches were not recorded so far. Record to a "
                        "faster disk (record=...): a training waits for it at most %g of the time between two batches.",
                        self.files.root,
                        self.dropped,
                        self.patience,
                    )
            self._last = time.monotonic()

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until all that was handed over is written; False where that took longer than `timeout` seconds."""
        if os.getpid() != self._process:
            return True
        until = math.inf if timeout is None else time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks:
                left = until - time.monotonic()
                if left <= 0 or not self._thread.is_alive():
                    return False
                self._queue.all_tasks_done.wait(min(left, 1.0))
        return True

    def finish(self, timeout: float | None = None) -> None:
        """Writes what is left, and says that the training has come to its end; more may follow (an evaluation)."""
        if os.getpid() == self._process and self.flush(timeout) and self.rank == 0:
            self._guarded(_mark, self.files, "finished")

    def close(self, *, finished: bool = True) -> None:
        """Writes what is left, and marks the run as finished, or as one that was stopped."""
        with self._lock:
            if os.getpid() != self._process or self._closed:
                return
            self._closed = True
            self._ending = "finished" if finished else "stopped"
        atexit.unregister(self.close)
        if not self.flush(_EXIT_SECONDS):
            _LOG.warning(
                "%s: %d batches could not be written within %g s and are lost.",
                self.files.root,
                self._queue.unfinished_tasks,
                _EXIT_SECONDS,
            )
            return
        self._queue.put(None)
        self._thread.join(_EXIT_SECONDS)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(finished=kind is None)

    def _write(self) -> None:
        """What the thread does; it ends with the recorder, whatever happens in between."""
        self._guarded(tidy, self.files, self.attempt, self.rank, self._every)
        while (item := self._queue.get()) is not None:
            try:
                self._guarded(self._write_batch, *item)
                self._guarded(self._compaction.follow)
            finally:
                self._queue.task_done()
                del item
        self._guarded(self._compaction.finish)
        if self.rank == 0:
            self._guarded(_mark, self.files, self._ending)
        self._queue.task_done()

    def _guarded(self, step: Any, *arguments: Any) -> None:
        try:
            step(*arguments)
        except BaseException as error:  # not an Exception: a panic in what a column holds, or someone who ends training
            if not isinstance(error, Exception) and threading.current_thread() is not self._thread:
                raise
            self._failures += 1
            if worth_reporting(self._failures):
                _LOG.warning(
                    "%s: recording failed (%s, %d times so far): %s. Training goes on%s",
                    self.files.root,
                    getattr(step, "__name__", "writing").strip("_").replace("_", " "),
                    self._failures,
                    "".join(traceback.format_exception_only(error)).strip(),
                    _advice(error),
                    exc_info=not isinstance(error, OSError),
                )

    def _write_batch(self, number: int, record: Record) -> None:
        part = Part(self.attempt, self.rank, number, number)
        known = set(self._known_prompts)
        metrics = {**record.metrics, "recorder/dropped": float(self.dropped), "recorder/failed": float(self._failures)}
        record = replace(record, metrics=metrics if self.rank == 0 or self.dropped else record.metrics)
        tables = tables_of(record, attempt=self.attempt, rank=self.rank, part=number, known=known)
        self._write_version(record.version, number if record.step is None else record.step)
        try:
            for name in (*(name for name in TABLES[1:] if name in tables), COMMITTING):
                self.files.put(f"{name}/{part.name}", encoded(name, tables[name]))
        except BaseException:
            for name in TABLES:
                with contextlib.suppress(Exception):
                    self.files.delete(f"{name}/{part.name}")
            raise
        self._known_prompts = known
        self._compaction.written(part, sum(table.nbytes for table in tables.values()))

    def _write_version(self, version: Version, step: int) -> None:
        if version.fingerprint in self._known_versions:
            return
        name = f"versions/{version.fingerprint}.json"
        if os.path.basename(name) not in self.files.names("versions"):
            components = [
                {"name": one.name, "bounds": [_finite(bound) for bound in one.bounds], "kind": one.kind}
                for one in version.components
            ]
            self.files.put_json(
                name,
                {
                    "fingerprint": version.fingerprint,
                    "reward": version.reward,
                    "components": components,
                    "terms": list(version.terms),
                    "first_step": step,
                    "seen": _now(),
                },
            )
        self._known_versions.add(version.fingerprint)


def next_attempt(path: str | os.PathLike[str]) -> int:
    """Begins another attempt on a run's folder and gives its number: 1 where there was none. For the main rank."""
    files = _folder(path)
    claimed = [int(name[1:4]) for name in files.names("attempts") if name[:1] == "a" and name[1:4].isdigit()]
    written = [part.attempt for part in files.parts(COMMITTING)]
    attempt = 1 + max([0, *claimed, *written])
    said = json.dumps({"attempt": attempt, "started": _now(), "host": socket.gethostname(), "process": os.getpid()})
    while not files.claim(f"attempts/a{attempt:03d}.json", said.encode()):
        attempt += 1
    return attempt


def _folder(path: str | os.PathLike[str]) -> Files:
    files = Files.at(path)
    if files.local and os.path.isfile(files.root):
        raise NotAFolder(f"{files.root} is a file, and a run is recorded to a folder: give it another name")
    return files


def _begin(files: Files, title: str) -> None:
    """Writes run.json where there is none; takes the mark of its end away where there is one."""
    try:
        info = files.get_json("run.json")
    except (FileNotFoundError, ValueError):
        info = {"schema": SCHEMA, "id": str(uuid.uuid4()), "created": _now(), "title": title}
    if not isinstance(info, dict) or info.get("schema") != SCHEMA:
        return
    info["by"] = f"rewardkit {importlib.import_module('rewardkit').__version__}"
    info["title"] = title or info.get("title", "")
    for ending in ("finished", "stopped"):
        info.pop(ending, None)
    files.put_json("run.json", info)


def _mark(files: Files, ending: str) -> None:
    """Notes the time at which the run has ``finished`` or ``stopped``."""
    info = files.get_json("run.json")
    if isinstance(info, dict) and "finished" not in info:
        files.put_json("run.json", {**info, ending: _now()})


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _advice(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return "; give this user the right to write there."
    if isinstance(error, OSError):
        return "; make room or mend the disk: what comes after that is recorded again."
    return " without this batch in its record. This is a fault of rewardkit: please report it."
