"""How the demo ends: a verdict, and what was measured in files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from rewardkit_runner.display.evaluation import Evaluation
from rewardkit_runner.display.metrics import Metrics
from rewardkit_runner.display.report import rose


def show_verdict(console: Console, before: float, after: float, seconds: float) -> None:
    """One line: did it learn?"""
    numbers = f"from {before:.3f} to {after:.3f} on held-out prompts, in {seconds:.0f} s"
    if rose(before, after):
        console.print(f"[bold green]The reward rose[/] {escape(numbers)}.")
    else:
        console.print(f"[bold red]FAILED: the reward did not rise[/] ({escape(numbers)}).")


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
