"""What is shown of completions: untrusted text, and numbers that may be missing."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from rewardkit_adapters.runner import report
from rewardkit_adapters.runner.report import Evaluation


def evaluation(total: float = 0.0, completions: tuple[str, ...] = ("x",), **means: float) -> Evaluation:
    return Evaluation(list(completions), [total] * len(completions), means, total)


def console() -> tuple[Console, io.StringIO]:
    printed = io.StringIO()
    return Console(file=printed, width=120), printed


@pytest.mark.parametrize(
    "hostile", ["\x1b]52;c;cm0gLXJm\x07", "\x1b[2J", "a\u202eb", "\r\n", "\u2028", "\x9b31m", "\ud800"]
)
def test_a_completion_cannot_move_the_cursor_or_turn_the_reading_order(hostile: str) -> None:
    shown = report.printable(hostile).plain
    assert shown.isprintable()
    shown.encode("utf-8")


def test_a_long_completion_is_cut_and_says_so() -> None:
    assert report.printable("a" * 5_000).plain.endswith("... and 4,400 more characters")


def test_markup_in_a_completion_stays_text() -> None:
    hostile = "[bold red]hello[/] [/nonsense]"
    screen, printed = console()
    evaluations = {"before": evaluation(completions=(hostile,)), "after": evaluation(completions=(hostile,))}
    report.show_samples(screen, ["[link=x]p"], {"gold": ["{}"]}, evaluations)
    assert printed.getvalue().count(hostile) == 2
    assert "[link=x]p" in printed.getvalue()


def test_each_prompt_is_shown_with_its_completion() -> None:
    screen, printed = console()
    several = evaluation(completions=("a1", "a2", "b1", "b2"))
    report.show_samples(screen, ["first", "second"], {}, {"start": several})
    shown = printed.getvalue()
    assert shown.index("first") < shown.index("a1") < shown.index("second") < shown.index("b1")
    assert "a2" not in shown


def test_a_reward_that_changed_its_components_is_compared_as_far_as_it_goes() -> None:
    screen, printed = console()
    report.show_comparison(screen, evaluation(0.25, old=0.5, same=0.1), evaluation(0.75, new=0.9, same=0.1))
    lines = {line.split()[1]: line.split() for line in printed.getvalue().splitlines() if line.startswith("│")}
    assert lines["old"][3:8:2] == ["0.500", "-", "-"]
    assert lines["new"][3:8:2] == ["-", "0.900", "-"]
    assert lines["total"][3:8:2] == ["0.250", "0.750", "+0.500"]


def test_what_could_not_be_scored_is_said() -> None:
    screen, printed = console()
    report.show_comparison(screen, evaluation(1.0), evaluation(math.nan))
    assert "could not be scored" in printed.getvalue()
    screen, printed = console()
    report.show_means(screen, {"start": evaluation(math.nan, part=0.5)}, how="greedy")
    assert "could not be scored" in printed.getvalue()


def test_no_number_is_no_rise() -> None:
    assert report.rose(0.5, 0.6)
    assert not report.rose(0.5, 0.5)
    assert not report.rose(math.nan, 0.5)
    assert not report.rose(0.5, math.nan)
