"""The output that a reward prints during a check, which is counted and sampled instead of shown.

A reward that prints one line per completion would print a million lines in a check.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

Heard = Callable[[bytes], None]
"""A function called with each piece of output."""

_KEPT = 4_000
"""The number of bytes at the beginning of the output to keep for the sample. Arbitrary: enough for a few lines."""
_SAMPLED = 3
"""The maximum number of lines in the sample. Arbitrary: a few lines show the kind of output."""
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Printed:
    """A reward's output during a check, on stdout and stderr.

    Attributes:
        lines: the number of lines.
        size: the size of the output, in bytes.
        sample: the first lines of the output.
    """

    lines: int
    size: int
    sample: tuple[str, ...]

    def __str__(self) -> str:
        many = "1 line" if self.lines == 1 else f"{self.lines:,} lines"
        return f"{many} ({amount_of(self.size)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the sample as plain JSON values."""
        return {"lines": self.lines, "bytes": self.size, "sample": list(self.sample)}


class Output:
    """A collector of output that counts everything and keeps the beginning."""

    def __init__(self) -> None:
        self._lines = 0
        self._size = 0
        self._head = b""
        self._last = b""

    def hear(self, data: bytes) -> None:
        self._lines += data.count(b"\n")
        self._size += len(data)
        self._head += data[: _KEPT - len(self._head)]
        self._last = data[-1:] or self._last

    @property
    def printed(self) -> Printed | None:
        """A summary of the output so far, or None if the reward printed nothing."""
        if not self._size:
            return None
        lines = [line.strip() for line in self._head.decode(errors="backslashreplace").splitlines()]
        return Printed(
            self._lines + (self._last != b"\n"), self._size, tuple([line for line in lines if line][:_SAMPLED])
        )


def speak_to(descriptor: int) -> None:
    """Redirect all further output of this process and its children to a file descriptor."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(descriptor, number)
        # Notebooks and pytest replace these streams with objects that do not write to 1 and 2.
        setattr(sys, name, _stream(number))


@contextmanager
def divert_output(on_output: Heard) -> Iterator[None]:
    """Capture the output of this process inside the ``with`` block, and pass it to `on_output` when the block ends."""
    before = sys.stdout, sys.stderr
    with suppress(Exception):
        for stream in before:
            stream.flush()
    with tempfile.TemporaryFile() as file:
        saved = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
        try:
            for number in saved:
                os.dup2(file.fileno(), number)
            sys.stdout = sys.stderr = _stream(file.fileno())
            yield
        finally:
            sys.stdout.flush()
            sys.stdout, sys.stderr = before
            for number, duplicate in saved.items():
                os.dup2(duplicate, number)
                os.close(duplicate)
            file.seek(0)
            while data := file.read(_CHUNK):
                on_output(data)


def _stream(descriptor: int) -> Any:
    return open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _is_open(descriptor: int) -> bool:
    with suppress(OSError):
        os.fstat(descriptor)
        return True
    return False


def amount_of(size: int) -> str:
    """Return a number of bytes as text: ``61.0 MB``."""
    # For small sizes, "0 kB" would say nothing.
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
