"""What the demo shows: a completion is untrusted text, and a picture needs no complete history."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rewardkit_trl.demo import metrics, plot
from rewardkit_trl.demo.evaluation import Evaluation, mean_over_all
from rewardkit_trl.demo.report import printable, show_samples
from rich.console import Console


@pytest.mark.parametrize(
    "hostile", ["\x1b]52;c;cm0gLXJm\x07", "\x1b[2J", "a\u202eb", "\r\n", "\u2028", "\x9b31m", "\ud800"]
)
def test_a_completion_cannot_move_the_cursor_or_turn_the_reading_order(hostile: str) -> None:
    shown = printable(hostile).plain
    assert shown.isprintable()
    shown.encode("utf-8")


def test_markup_in_a_completion_stays_text() -> None:
    completions = ["[bold red]hello[/] [/nonsense]"]
    evaluation = Evaluation(completions=completions, totals=[0.0], means={}, total=0.0)
    printed = io.StringIO()
    console = Console(file=printed, width=120)
    show_samples(console, {"prompt": ["[link=x]p"], "order": ["{}"]}, evaluation, evaluation)
    assert printed.getvalue().count(completions[0]) == 2
    assert "[link=x]p" in printed.getvalue()


def test_a_component_that_was_not_reached_counts_as_nothing() -> None:
    assert mean_over_all(np.array([1.0, np.nan, np.nan, 1.0])) == 0.5


def test_the_picture_bears_components_that_come_late_and_a_single_step(tmp_path: Path) -> None:
    rows = [{"step": 1.0, "reward": 0.1, "rewards/a/mean": 0.1, "components/a": 0.1, "weights/a": 0.0}]
    plot.draw(rows, 0.0, 0.1, tmp_path / "one.png")
    rows.append({"step": 2.0, "reward": 0.5, "rewards/a/mean": 0.5, "components/b": 0.7, "weights/a": 1.0})
    plot.draw(rows, 0.0, 0.5, tmp_path / "two.png")
    assert metrics.series([metrics.components(row) for row in rows]) == {"a": ([1.0], [0.1]), "b": ([2.0], [0.7])}
    assert all((tmp_path / name).stat().st_size > 1_000 for name in ("one.png", "two.png"))


def test_smoothing_keeps_the_length_and_a_constant() -> None:
    for length in (1, 2, 6, 30):
        assert plot.smooth([0.25] * length).tolist() == pytest.approx([0.25] * length)
