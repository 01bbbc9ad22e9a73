"""The recorder of a run: ``Recorder("runs/x").record(record)`` queues a batch and returns immediately.

A separate thread writes the files. Errors in that thread are logged and counted, but never reach the training code.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import json
import logging
import math
import os
import platform
import queue
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib import metadata
from typing import Any

from rewardkit.errors import NotAFolder, RewardTypeError, shorten, worth_reporting
from rewardkit.record.parts import Files, decoded, encoded
from rewardkit.record.records import Record, Version
from rewardkit.record.schema import COMMITTING, SCHEMA, TABLES, Part, is_current, widest, within
from rewardkit.record.tables import concatenated, tables_of

# Compaction: joins the parts of many batches, so that reading a long run stays fast.


_BYTES = 128 << 20
"""The size in memory at which waiting parts are joined early. The limit is arbitrary and saves memory."""


class Compaction:
    """Compaction of the parts that one recorder writes."""

    def __init__(self, files: Files, every: int) -> None:
        self._files = files
        self._every = every
        self._parts: list[Part] = []
        self._size = 0

    def add(self, part: Part, size: int) -> None:
        """Add a new part whose tables use `size` bytes of memory."""
        self._parts.append(part)
        self._size += size

    def join_if_full(self) -> None:
        """Join all waiting parts if there are enough of them."""
        if self._every and (len(self._parts) >= self._every or self._size >= _BYTES):
            self.join_all()

    def join_all(self) -> None:
        """Join all waiting parts."""
        parts, self._parts, self._size = self._parts, [], 0
        if self._every:
            join(self._files, parts)


def join(files: Files, parts: Sequence[Part]) -> None:
    """Join the `parts` of one process into one part."""
    if len(parts) < 2:
        return
    wide = Part(parts[0].attempt, parts[0].rank, parts[0].first, parts[-1].last)
    for table in (*TABLES[1:], COMMITTING):
        payloads = [data for part in parts if (data := _data(files, table, part)) is not None]
        if payloads:
            rows = concatenated(decoded(data) for data in payloads)
            if table == "completions":
                rows = rows.sort_by([("prompt_id", "ascending"), ("part", "ascending"), ("row", "ascending")])
            files.put(f"{table}/{wide.name}", encoded(table, rows), durable=True)
    for table in (*TABLES[1:], COMMITTING):
        for part in parts:
            files.delete(f"{table}/{part.name}")


def _data(files: Files, table: str, part: Part) -> bytes | None:
    try:
        return files.get(f"{table}/{part.name}")
    except FileNotFoundError:
        return None


def clean_up(files: Files, attempt: int, rank: int, every: int) -> None:
    """Clean up after this rank's earlier attempts: remove partial and replaced files, and join the remaining parts."""

    def mine(table: str) -> list[Part]:
        return [part for part in files.parts(table) if part.attempt < attempt and part.rank == rank]

    committed = widest(mine(COMMITTING))
    for table in TABLES:
        parts = mine(table)
        for part in set(parts) - set(within(parts, committed)):
            files.delete(f"{table}/{part.name}")
        for name in files.names(table):
            owner = Part.read(name[1:].rsplit(".", 2)[0])
            if name.endswith(".tmp") and owner is not None and owner.attempt < attempt and owner.rank == rank:
                files.delete(f"{table}/{name}")
    narrow = [part for part in committed if not part.wide]
    for earlier in sorted({part.attempt for part in narrow}) if every else ():
        compaction = Compaction(files, every)
        for part in (part for part in narrow if part.attempt == earlier):
            payloads = [data for table in TABLES if (data := _data(files, table, part)) is not None]
            compaction.add(part, sum(decoded(data).nbytes for data in payloads))
            compaction.join_if_full()
        compaction.join_all()


_LOG = logging.getLogger("rewardkit")
PATIENCE = 0.01
"""The share of the time between two batches that training may wait for the disk. The value is arbitrary: too small to
be noticed."""
_WAITING = 8
"""The maximum number of batches that wait to be written. The limit is arbitrary and saves memory. If the disk is slow
for too long, batches are lost."""
_EXIT_SECONDS = 60.0
"""The maximum time that the process waits for unwritten batches before it exits. The limit is arbitrary: a missing disk
must not keep the process alive."""

_Item = tuple[int, Record]


class Recorder:
    """A recorder for the batches of one rank in one training process.

    Args:
        path: the run's folder, or a URL that fsspec supports.
        attempt: the number of this training process among the processes that write to the folder; None begins the next
            attempt.
        rank: this process's rank.
        title: the run's title.
        compact_every: the number of batches to join into one part; 0 to disable joining.
        patience: the share of the time between two batches that `record` may wait before it drops a batch. With
            ``math.inf``, it waits as long as necessary.

    Raises:
        MissingExtraError: the extra ``store`` is not installed.
        OSError: the folder cannot be written to; `NotAFolder` if it is a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        attempt: int | None = None,
        rank: int = 0,
        title: str = "",
        # Arbitrary: readers open fewer files, and a rewrite takes a fraction of a second.
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

    @property
    def ready(self) -> bool:
        """Whether the next batch can be queued without waiting."""
        return not self._queue.full()

    def record(self, record: Record) -> None:
        """Queue a batch; if the disk is too slow, drop the batch and issue a warning.

        Raises:
            RewardTypeError: `record` is not a `Record`.
        """
        if not isinstance(record, Record):
            raise RewardTypeError(
                f"expected a Record, got {shorten(record)}. Pass a "
                "rewardkit.record.records.Record(table, version, ...) "
                "with the table of rk.score"
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
                        "%s: the disk is too slow: %d batches have not been recorded so far. Record to a faster disk "
                        "(record=...). Training waits for the disk for at most a fraction of %g of the time "
                        "between two batches",
                        self.files.root,
                        self.dropped,
                        self.patience,
                    )
            self._last = time.monotonic()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all queued batches have been written; return False if this takes longer than `timeout` seconds."""
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
        """Write all queued batches to disk and mark the training run as finished. An evaluation may still follow."""
        if os.getpid() == self._process and self.flush(timeout) and self.rank == 0:
            self._guarded(_mark, self.files, "finished")

    def close(self, *, finished: bool = True) -> None:
        """Write all queued batches to disk, and mark the run as finished or stopped."""
        with self._lock:
            if os.getpid() != self._process or self._closed:
                return
            self._closed = True
            self._ending = "finished" if finished else "stopped"
        atexit.unregister(self.close)
        if not self.flush(_EXIT_SECONDS):
            _LOG.warning(
                "%s: %d batches could not be written within %g s and were lost. Record to a faster disk",
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
        """Write queued batches until the recorder closes. This function runs in the writer thread."""
        self._guarded(clean_up, self.files, self.attempt, self.rank, self._every)
        while (item := self._queue.get()) is not None:
            try:
                self._guarded(self._write_batch, *item)
                self._guarded(self._compaction.join_if_full)
            finally:
                self._queue.task_done()
                del item
        self._guarded(self._compaction.join_all)
        if self.rank == 0:
            self._guarded(_mark, self.files, self._ending)
        self._queue.task_done()

    def _guarded(self, step: Any, *arguments: Any) -> None:
        try:
            step(*arguments)
        except BaseException as error:  # including a library's panic, or an interrupt
            if not isinstance(error, Exception) and threading.current_thread() is not self._thread:
                raise
            self._failures += 1
            if worth_reporting(self._failures):
                _LOG.warning(
                    "%s: recording failed (%s, %d times so far): %s. Training continues%s",
                    self.files.root,
                    getattr(step, "__name__", "writing").strip("_").replace("_", " "),
                    self._failures,
                    "".join(traceback.format_exception_only(error)).strip(),
                    _advice(error),
                    exc_info=not isinstance(error, OSError),
                )

    def _write_batch(self, number: int, record: Record) -> None:
        part = Part(self.attempt, self.rank, number, number)
        known_prompts = set(self._known_prompts)
        metrics = {**record.metrics, "recorder/dropped": float(self.dropped), "recorder/failed": float(self._failures)}
        record = replace(record, metrics=metrics if self.rank == 0 or self.dropped else record.metrics)
        tables = tables_of(record, attempt=self.attempt, rank=self.rank, part=number, known_prompts=known_prompts)
        self._write_version(record.version, number if record.step is None else record.step)
        try:
            for name in (*(name for name in TABLES[1:] if name in tables), COMMITTING):
                self.files.put(f"{name}/{part.name}", encoded(name, tables[name]))
        except BaseException:
            for name in TABLES:
                with contextlib.suppress(Exception):
                    self.files.delete(f"{name}/{part.name}")
            raise
        self._known_prompts = known_prompts
        self._compaction.add(part, sum(table.nbytes for table in tables.values()))

    def _write_version(self, version: Version, step: int) -> None:
        if version.fingerprint in self._known_versions:
            return
        name = f"versions/{version.fingerprint}.json"
        if os.path.basename(name) not in self.files.names("versions"):
            components = [
                {**asdict(component), "bounds": list(map(_finite, component.bounds))}
                for component in version.components
            ]
            if version.packed:
                self.files.put(f"versions/{version.fingerprint}.pickle", version.packed)
            self.files.put_json(
                name,
                {
                    "fingerprint": version.fingerprint,
                    "reward": version.reward,
                    "components": components,
                    "terms": list(version.terms),
                    "sources": dict(version.sources),
                    "python": platform.python_version(),
                    "unpacked": version.unpacked,
                    "first_step": step,
                    "seen": _now(),
                },
            )
        self._known_versions.add(version.fingerprint)


def next_attempt(path: str | os.PathLike[str]) -> int:
    """Begin the next attempt in a run's folder and return its number, counted from 1.

    Call this only on the main rank.
    """
    files = _folder(path)
    claimed = [int(name[1:4]) for name in files.names("attempts") if name[:1] == "a" and name[1:4].isdigit()]
    written = [part.attempt for part in files.parts(COMMITTING)]
    attempt = 1 + max([0, *claimed, *written])
    content = json.dumps({"attempt": attempt, "started": _now(), "host": socket.gethostname(), "process": os.getpid()})
    while not files.claim(f"attempts/a{attempt:03d}.json", content.encode()):
        attempt += 1
    return attempt


def _folder(path: str | os.PathLike[str]) -> Files:
    files = Files.at(path)
    if files.local and os.path.isfile(files.root):
        raise NotAFolder(f"{files.root} is a file, but a run is recorded to a folder: pass another path")
    return files


def _begin(files: Files, title: str) -> None:
    """Write run.json if it is missing; remove the mark that the training run finished or stopped."""
    try:
        info = files.get_json("run.json")
    except (FileNotFoundError, ValueError):
        info = {"schema": SCHEMA, "id": str(uuid.uuid4()), "created": _now(), "title": title}
    if not isinstance(info, dict) or type(info.get("schema")) is not int or info["schema"] > SCHEMA:
        return
    if not is_current(info):
        return
    info["schema"] = SCHEMA
    info["by"] = _writer()
    info["title"] = title or info.get("title", "")
    for ending in ("finished", "stopped"):
        info.pop(ending, None)
    files.put_json("run.json", info)


def _writer() -> str:
    try:
        return f"rewardkit {metadata.version('rewardkit-sdk')}"
    except metadata.PackageNotFoundError:  # a source tree that is not installed
        return "rewardkit"


def _mark(files: Files, ending: str) -> None:
    """Write the time when the run ``finished`` or ``stopped`` to run.json."""
    info = files.get_json("run.json")
    if isinstance(info, dict) and "finished" not in info:
        files.put_json("run.json", {**info, ending: _now()})


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _advice(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return ". Give this user permission to write to the folder."
    if isinstance(error, OSError):
        return ". Free some space, or fix the disk. Recording then continues with later batches."
    return ", but this batch is not recorded. This is a bug in rewardkit: please report it."
