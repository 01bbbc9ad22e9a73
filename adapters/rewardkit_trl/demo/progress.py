"""What the user sees while the demo works: a bar, the time left, and the means of the components as they move.

Where nobody watches (a log file, a pipe), a line for every tenth of the way takes the place of the bars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

OnStep = Callable[[dict[str, float]], None]
BAR_WIDTH = 30
LINES_WITHOUT_TERMINAL = 10


@contextmanager
def shown_progress(console: Console, what: str, steps: int) -> Iterator[OnStep]:
    """Gives a function to call once a step with the numbers to show, by name."""
    if console.is_terminal:
        with _live(console, what, steps) as on_step:
            yield on_step
    else:
        yield _printed(console, what, steps)


@contextmanager
def _live(console: Console, what: str, steps: int) -> Iterator[OnStep]:
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    task = progress.add_task(what, total=steps)
    with Live(progress, console=console, refresh_per_second=8) as live:

        def on_step(numbers: dict[str, float]) -> None:
            progress.advance(task)
            live.update(Group(progress, _bars(numbers)))

        yield on_step


def _printed(console: Console, what: str, steps: int) -> OnStep:
    done = 0
    every = max(1, steps // LINES_WITHOUT_TERMINAL)

    def on_step(numbers: dict[str, float]) -> None:
        nonlocal done
        done += 1
        if done % every == 0 or done == steps:
            values = "  ".join(f"{name} {value:.2f}" for name, value in numbers.items())
            console.print(Text(f"{what} {done}/{steps}  {values}"), soft_wrap=True)

    return on_step


def _bars(numbers: dict[str, float]) -> Table:
    """A row per number: its name, a bar from 0 to 1, the number."""
    table = Table.grid(padding=(0, 1))
    for name, value in numbers.items():
        share = min(1.0, max(0.0, value))
        bar = ProgressBar(total=1.0, completed=share, width=BAR_WIDTH, complete_style="cyan", finished_style="green")
        table.add_row(Text(f"  {name}"), bar, Text(f"{value:.2f}"))
    return table
