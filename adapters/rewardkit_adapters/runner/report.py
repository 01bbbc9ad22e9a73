"""Print the results of a training run: the comparison, sample completions, files, and the command that shows more."""

from __future__ import annotations

import math
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import SKIPPED
from rewardkit.batch.table_text import visible
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward

# Held-out completions and their scores, before and after a training.


@dataclass(frozen=True)
class Evaluation:
    """The completions in an evaluation with their totals, and the means of the total and of every component.

    Attributes:
        totals: the total of each completion, or NaN if it could not be scored. Means ignore NaN.
        means: the mean of each component, by component name.
        total: the mean of the totals, or NaN if no completion could be scored.
    """

    completions: list[str]
    totals: list[float]
    means: dict[str, float]
    total: float

    @property
    def unscorable(self) -> int:
        """The number of completions that could not be scored."""
        return int(np.isnan(self.totals).sum())


def scored(
    reward: Reward,
    completions: Sequence[Any],
    *,
    prompts: Sequence[Any],
    columns: Mapping[str, Sequence[Any]],
    completion_ids: Sequence[Sequence[int]] | None = None,
    cut: Sequence[bool] | None = None,
    generations: int = 1,
) -> Evaluation:
    """Score completions, with schedules at their final values. An error in one row does not affect other rows.

    Args:
        completions: strings or lists of messages, with `generations` consecutive entries for each prompt.
        prompts, columns: the prompts and the columns, with one value per completion.
        completion_ids: each completion's token ids, for rewards that count tokens.
        cut: whether each completion reached the token limit, or None if unknown.

    Raises:
        BindingError: a column that the reward reads is missing.
    """
    batch = Batch(
        completions,
        prompts=prompts,
        completion_ids=completion_ids,
        columns=columns,
        num_generations=generations,
        rollouts=RolloutInfo(cut=cut),
    )
    table = Scorer(reward).score(batch, strict=False, on_unparsable_gold="fail")
    return Evaluation(
        completions=batch.texts,
        totals=table.total.tolist(),
        means={name: mean_where_it_applies(column) for name, column in table.components.items()},
        total=_mean(table.total),
    )


def mean_where_it_applies(column: Column) -> float:
    """Return the mean over the rows to which a component applies. A row behind a closed gate counts as 0.

    If only scored rows counted, the mean could be highest when only the easiest completion reaches the component.
    """
    applies = column.contributing | (column.codes == SKIPPED)
    return _mean(np.nan_to_num(column.values, nan=0.0)[applies])


def _mean(values: Any) -> float:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if len(finite) else float("nan")


# Measure the durations of the phases of a run.


@dataclass
class Stopwatch:
    """The duration of each phase and the time since the start, in seconds."""

    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    @property
    def total(self) -> float:
        return time.perf_counter() - self.started


# Arbitrary limits, so that the report of a run fits on a screen or two.
SHOWN_SAMPLES = 3
LONGEST_SHOWN = 600


def show_opening(console: Console, title: str, facts: Mapping[str, str]) -> None:
    """Print the facts about the run in a panel."""
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, style="dim"), Text(visible(value), overflow="fold"))
    console.print(Panel(grid, title=Text(title), title_align="left", border_style="cyan", expand=False))


def show_comparison(
    console: Console,
    before: Evaluation,
    after: Evaluation,
    *,
    how: str = "greedy decoding",
    headings: Sequence[str] = ("before", "after"),
) -> None:
    """Print a table with a row per component and a row for the total: the values before and after, and the change."""
    table = _table(f"{len(before.completions)} held-out completions, {how}")
    for heading in (*headings, "change"):
        table.add_column(Text(visible(heading)), justify="right")
    for name, mean in before.means.items():
        # The reward may have been changed during the training.
        table.add_row(Text(visible(name)), *_change(mean, after.means.get(name, math.nan)))
    for name in after.means.keys() - before.means.keys():
        table.add_row(Text(visible(name)), *_change(math.nan, after.means[name]))
    table.add_section()
    table.add_row(Text("total", style="bold"), *_change(before.total, after.total), style="bold")
    if before.unscorable or after.unscorable:
        table.add_row(Text("could not be scored"), str(before.unscorable), str(after.unscorable), "")
    console.print(table)


def show_means(console: Console, evaluations: Mapping[str, Evaluation], *, how: str) -> None:
    """Print a table of means with a column per evaluation, a row per component, and a row for the total."""
    first = next(iter(evaluations.values()))
    table = _table(f"{len(first.completions)} held-out completions, {how}")
    for heading in evaluations:
        table.add_column(Text(visible(heading)), justify="right")
    for name in dict.fromkeys(name for evaluation in evaluations.values() for name in evaluation.means):
        table.add_row(
            Text(visible(name)), *(_number(evaluation.means.get(name, math.nan)) for evaluation in evaluations.values())
        )
    table.add_section()
    table.add_row(
        Text("total", style="bold"), *(_number(evaluation.total) for evaluation in evaluations.values()), style="bold"
    )
    if any(evaluation.unscorable for evaluation in evaluations.values()):
        table.add_row(Text("could not be scored"), *(str(evaluation.unscorable) for evaluation in evaluations.values()))
    console.print(table)


def show_rates(console: Console, rates: Mapping[str, Mapping[str, float]]) -> None:
    """Print a table of pass rates for several attempts, with a column per model and a row per rate (``pass@4``)."""
    table = Table(title="Several attempts per prompt", title_justify="left")
    table.add_column("")
    for heading in rates:
        table.add_column(Text(visible(heading)), justify="right")
    for name in next(iter(rates.values())):
        table.add_row(Text(name), *(_number(model_rates[name]) for model_rates in rates.values()))
    console.print(table)


def show_samples(
    console: Console,
    prompts: Sequence[str],
    gold: Mapping[str, Sequence[object]],
    evaluations: Mapping[str, Evaluation],
    *,
    count: int = SHOWN_SAMPLES,
) -> None:
    """Print a few prompts with the gold answer and the completion from each evaluation (``before``, ``after``).

    Args:
        prompts: the prompts as strings. Only the first completion for each prompt is shown.
        gold: the columns to show, by name.
    """
    console.print("Sample completions with their totals", style="italic")
    for row in range(min(count, len(prompts))):
        grid = Table.grid(padding=(0, 2))
        grid.add_row(Text("prompt", style="dim"), "", printable(prompts[row].strip()))
        for name, values in gold.items():
            grid.add_row(Text(visible(name), style="dim"), "", printable(str(values[row])))
        for name, evaluation in evaluations.items():
            index = row * len(evaluation.completions) // len(prompts)
            total = Text(f"{evaluation.totals[index]:.2f}", style="bold")
            grid.add_row(Text(name, style="dim"), total, printable(evaluation.completions[index]))
        console.print(grid)
        console.print()


def show_files(console: Console, files: Mapping[str, Path | str]) -> None:
    """Print the paths to the files with their labels."""
    grid = Table.grid(padding=(0, 2))
    for label, path in files.items():
        grid.add_row(Text(label, style="dim"), Text(visible(str(path)), overflow="fold"))
    console.print(grid)


def show_way_on(console: Console, out: Path | str) -> None:
    """Print the command for opening the record."""
    console.print(Text("See every completion with its scores: "), end="")
    console.print(Text(f"rewardkit view {shlex.quote(str(out))}", style="bold", overflow="fold"))


def short(path: Path | str) -> Path | str:
    """Return a path relative to the current folder if the result is shorter. Return URLs unchanged."""
    if "://" in str(path):
        return path
    relative = Path(os.path.relpath(path))
    return relative if len(str(relative)) < len(str(path)) else path


def rose(before: float, after: float) -> bool:
    """Return whether the total increased by more than rounding errors, or False for NaN."""
    # Totals that are summed in a different order differ by less.
    return after - before > 1e-9


def printable(text: str) -> Text:
    """Return a completion as plain text, without markup, control characters, or changes to the reading order."""
    hidden_count = len(text) - LONGEST_SHOWN
    shortened = text if hidden_count <= 0 else f"{text[:LONGEST_SHOWN]}... and {hidden_count:,} more characters"
    return Text(visible(shortened), overflow="fold")


def _table(title: str) -> Table:
    caption = "Means. A component behind a closed gate counts as 0."
    table = Table(
        title=title,
        caption=caption,
        min_width=max(len(title), len(caption)),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("component")
    return table


def _number(value: float) -> Text:
    return Text("-") if math.isnan(value) else Text(f"{value:.3f}")


def _change(before: float, after: float) -> tuple[Text, Text, Text]:
    if math.isnan(before) or math.isnan(after):
        return _number(before), _number(after), Text("-", style="dim")
    style = "green" if rose(before, after) else "red" if rose(after, before) else "dim"
    return _number(before), _number(after), Text(f"{after - before:+.3f}", style=style)
