"""What the demo says when it is done: the comparison, some completions, the files, the verdict."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rewardkit.core.table_text import visible
from rewardkit_trl.demo.evaluation import Evaluation
from rewardkit_trl.demo.metrics import Metrics

SHOWN_SAMPLES = 3


def show_opening(console: Console, facts: dict[str, str]) -> None:
    """What is about to happen, and on what."""
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, style="dim"), Text(value))
    console.print(Panel(grid, title="rewardkit demo", title_align="left", border_style="cyan", expand=False))


def show_comparison(console: Console, before: Evaluation, after: Evaluation) -> None:
    """A row per component and one for the total: before, after, change."""
    table = Table(
        title=f"{len(before.completions)} held-out prompts, greedy decoding",
        caption="Means. Behind a closed gate a component counts as 0.",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("component")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")
    for name, mean in before.means.items():
        table.add_row(Text(name), *_change(mean, after.means[name]))
    table.add_section()
    table.add_row(Text("total", style="bold"), *_change(before.total, after.total), style="bold")
    console.print(table)


def show_samples(console: Console, columns: dict[str, list[str]], before: Evaluation, after: Evaluation) -> None:
    """Some prompts with what the model made of them before and after, beside the gold."""
    console.print("Some of them (with their totals)", style="italic")
    for row in range(min(SHOWN_SAMPLES, len(before.completions))):
        grid = Table.grid(padding=(0, 2))
        grid.add_row(Text("prompt", style="dim"), "", printable(columns["prompt"][row].strip()))
        grid.add_row(Text("gold", style="dim"), "", printable(columns["order"][row]))
        for name, evaluation in (("before", before), ("after", after)):
            total = Text(f"{evaluation.totals[row]:.2f}", style="bold")
            grid.add_row(Text(name, style="dim"), total, printable(evaluation.completions[row]))
        console.print(grid)
        console.print()


def show_files(console: Console, files: dict[str, Path]) -> None:
    """Where everything lies."""
    grid = Table.grid(padding=(0, 2))
    for what, path in files.items():
        grid.add_row(Text(what, style="dim"), Text(str(path), overflow="fold"))
    console.print(grid)


def show_verdict(console: Console, before: float, after: float, seconds: float) -> None:
    """One line: did it learn?"""
    numbers = f"from {before:.3f} to {after:.3f} on held-out prompts, in {seconds:.0f} s"
    if rose(before, after):
        console.print(f"[bold green]The reward rose[/] {escape(numbers)}.")
    else:
        console.print(f"[bold red]FAILED: the reward did not rise[/] ({escape(numbers)}).")


def show_way_on(console: Console, out: Path) -> None:
    """How to look at what was recorded."""
    console.print(Text("See every completion with its scores: "), end="")
    console.print(Text(f"rewardkit view {shlex.quote(str(out))}", style="bold", overflow="fold"))


def rose(before: float, after: float) -> bool:
    """Whether the total rose by more than rounding; a total that is no number never did."""
    return after - before > 1e-9


def printable(text: str) -> Text:
    """A completion as plain text: no markup, and nothing in it that moves a cursor or turns the reading order."""
    return Text(visible(text), overflow="fold")


def save_metrics(history: Sequence[Metrics], path: Path) -> None:
    """One JSON object per training step."""
    path.write_text("".join(json.dumps(row) + "\n" for row in history), encoding="utf-8")


def save_samples(columns: dict[str, list[str]], before: Evaluation, after: Evaluation, path: Path) -> None:
    """Every held-out prompt with its gold, and the completion and the total before and after."""
    rows = [
        {
            "prompt": prompt,
            "gold": columns["order"][row],
            "before": {"completion": before.completions[row], "total": before.totals[row]},
            "after": {"completion": after.completions[row], "total": after.totals[row]},
        }
        for row, prompt in enumerate(columns["prompt"])
    ]
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")


def _change(before: float, after: float) -> tuple[Text, Text, Text]:
    style = "green" if rose(before, after) else "red" if rose(after, before) else "dim"
    return Text(f"{before:.3f}"), Text(f"{after:.3f}"), Text(f"{after - before:+.3f}", style=style)
