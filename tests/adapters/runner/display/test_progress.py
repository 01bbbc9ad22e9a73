"""The progress of a training: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rewardkit_adapters.runner import progress
from rewardkit_adapters.runner.progress import shown_phase, shown_progress


def shown(*, terminal: bool, steps: int = 20, done: int = 0, numbers: dict[str, float] | None = None) -> str:
    printed = io.StringIO()
    console = Console(file=printed, force_terminal=terminal, width=100)
    with shown_progress(console, "GRPO", steps, completed=done) as on_step:
        for _ in range(steps - done):
            on_step(numbers or {"total": 0.5}, speed="12 completions/s")
    return printed.getvalue()


def test_without_a_terminal_every_tenth_step_is_printed() -> None:
    lines = shown(terminal=False).splitlines()
    assert len(lines) == 10
    assert lines[0] == "GRPO 2/20  0:00:00 left  total 0.50  12 completions/s"
    assert lines[-1] == "GRPO 20/20  total 0.50  12 completions/s"


def test_a_slow_run_shows_a_line_before_the_first_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_TO_FIRST_LINE", 0.0)
    assert [line.split()[1] for line in shown(terminal=False, steps=40).splitlines()[:3]] == ["1/40", "4/40", "8/40"]


def test_a_phase_without_steps_is_a_line_or_a_spinner() -> None:
    for terminal in (False, True):
        printed = io.StringIO()
        with shown_phase(Console(file=printed, force_terminal=terminal, width=100), "Loading torch and TRL"):
            pass
        assert "Loading torch and TRL" in printed.getvalue()


def test_a_resumed_run_continues_to_count() -> None:
    assert shown(terminal=False, done=15).splitlines()[0].startswith("GRPO 16/20")
    assert "20/20" in shown(terminal=True, done=15)


def test_bars_bear_any_number_and_any_name() -> None:
    strange = {"over": 7.0, "under": -3.0, "none": float("nan"), "[red]\x1b[2J": 0.5}
    printed = shown(terminal=True, numbers=strange)
    assert "7.00" in printed
    assert "-3.00" in printed
    assert "nan" in printed
    assert "[red]\\x1b[2J" in printed
    many = {f"component {number}": 0.5 for number in range(40)}
    assert "... and 24 more" in shown(terminal=True, numbers=many)
