"""A line on stderr about long work, which is rewritten on a terminal, or otherwise printed again every few seconds."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rewardkit.batch.table_text import visible
from rewardkit.check.run.execution import OnProgress

_EVERY = 15.0
"""The number of seconds between two lines if stderr is not a terminal. Arbitrary: the lines show progress without
filling a log."""

Show = Callable[[str], None]
"""A function that shows a text in place of the previous text."""


def on_terminal() -> bool:
    """Return whether stderr is a terminal on which a line can be rewritten."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def shown_status() -> Iterator[Show]:
    """Yield a function that shows the current work. On a terminal, the line is erased at the end."""
    terminal, printed = on_terminal(), time.monotonic()

    def show(text: str) -> None:
        nonlocal printed
        if terminal:
            # One column stays free, since a full line would wrap.
            sys.stderr.write(f"\r\x1b[K{visible(text)[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()
        elif time.monotonic() - printed >= _EVERY:
            printed = time.monotonic()
            print(visible(text), file=sys.stderr, flush=True)

    # No thread redraws the line: laws run in forked children, and a thread could hold a lock at the moment of a fork.
    try:
        yield show
    finally:
        if terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def law_progress(show: Show, title: str, budget: float) -> OnProgress:
    """Return a function for `on_progress` that shows ``checking reward: 31 of 71, about 20 s left``.

    Args:
        budget: the time limit in seconds, an upper bound for the time left.
    """
    started = time.monotonic()

    def on_progress(law: str, number: int, count: int) -> None:
        spent = time.monotonic() - started
        # Assumes that the remaining laws take as long as the laws so far.
        left = min(spent * (count - number) / number, budget - spent) if number else 0.0
        show(f"checking {title}: {number + 1} of {count}" + (f", about {left:.0f} s left" if left >= 1 else ""))

    return on_progress
