"""Training progress: a bar, the remaining time, the speed, and the component means.

If the output is not a terminal but, for example, a log file or a pipe, a line is instead printed after a few seconds
and after each tenth of the steps.
"""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rewardkit.batch.table_text import visible

# Arbitrary numbers: a name, its bar and its value fit in 80 columns, a log gets a line for each tenth of a run, and the
# bars fit on a screen. A tenth of a run may take an hour, but a reader wants to know soon that it goes on.
BAR_WIDTH = 30
LINES_WITHOUT_TERMINAL = 10
SECONDS_TO_FIRST_LINE = 5.0
MOST_BARS = 16


class OnStep(Protocol):
    """A function that is called after every step with the numbers to show."""

    def __call__(self, numbers: Mapping[str, float], *, speed: str = "") -> None:
        """Show `numbers` with their names, and `speed`, such as ``"130 completions/s"``."""


@contextmanager
def shown_progress(console: Console, title: str, steps: int, *, completed: int = 0) -> Iterator[OnStep]:
    """Yield a function to call after each step with a mapping from names to the numbers to show.

    Args:
        steps: the total number of steps, of which `completed` are already finished.
    """
    if console.is_terminal:
        with _live(console, title, steps, completed) as on_step:
            yield on_step
    else:
        yield _printed(console, title, steps, completed)


@contextmanager
def shown_phase(console: Console, title: str) -> Iterator[None]:
    """Show activity inside the `with` block, with a spinner on a terminal and a line of text otherwise."""
    if console.is_terminal:
        with console.status(title):
            yield
    else:
        console.print(title)
        yield


@contextmanager
def _live(console: Console, title: str, steps: int, completed: int) -> Iterator[OnStep]:
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[speed]}"),
        console=console,
    )
    task = progress.add_task(title, total=steps, completed=completed, speed="")
    with Live(progress, console=console, refresh_per_second=8) as live:

        def on_step(numbers: Mapping[str, float], *, speed: str = "") -> None:
            progress.update(task, advance=1, speed=speed)
            live.update(Group(progress, _bars(numbers)))

        yield on_step


def _printed(console: Console, title: str, steps: int, completed: int) -> OnStep:
    every = max(1, steps // LINES_WITHOUT_TERMINAL)
    first, started, after_first, printed_lines = completed + 1, time.monotonic(), 0.0, 0

    def on_step(numbers: Mapping[str, float], *, speed: str = "") -> None:
        nonlocal completed, after_first, printed_lines
        completed += 1
        now = time.monotonic()
        if completed == first:
            after_first = now
        is_first = not printed_lines and now - started >= SECONDS_TO_FIRST_LINE
        if is_first or completed % every == 0 or completed == steps:
            printed_lines += 1
            values = [f"{visible(name)} {value:.2f}" for name, value in numbers.items()]
            left = []
            if first < completed < steps:  # the first step is slower than the others
                seconds = (now - after_first) / (completed - first) * (steps - completed)
                left = [f"{datetime.timedelta(seconds=round(seconds))} left"]
            line = "  ".join([f"{title} {completed}/{steps}", *left, *values, *([speed] if speed else [])])
            console.print(Text(line), soft_wrap=True)

    return on_step


def _bars(numbers: Mapping[str, float]) -> Table:
    """Return a table with one row per number, which contains its name, a bar from 0 to 1, and its value."""
    table = Table.grid(padding=(0, 1))
    for name, value in list(numbers.items())[:MOST_BARS]:
        share = min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0
        bar = ProgressBar(total=1.0, completed=share, width=BAR_WIDTH, complete_style="cyan", finished_style="green")
        table.add_row(Text(f"  {visible(name)}"), bar, Text(f"{value:.2f}"))
    if len(numbers) > MOST_BARS:
        table.add_row(Text(f"  ... and {len(numbers) - MOST_BARS} more", style="dim"))
    return table
