"""Output: what a reward prints is counted and sampled, in the child and in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from rewardkit.check.declarations import with_declarations
from rewardkit.check.reports import Section, page_of
from rewardkit.check.run.isolation import can_isolate
from rewardkit.check.run.output import Output, Printed, divert_output
from rewardkit.testing import Report, check_reward

Captured = pytest.CaptureFixture[str]


def talking(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Print on each way there is."""
    for text in completions:
        print("-" * 20, f"Response:\n{text!r}")
        sys.stderr.write("on stderr\n")
        os.write(1, b"on descriptor 1\n")
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


def checked(reward: Any, isolate: bool = True, **options: Any) -> Report:
    laws = ["gold_gets_the_maximum", "separates_good_from_bad"]
    return check_reward(
        reward,
        examples=[{"answer": "42"}],
        good=["42"],
        bad=["41"],
        laws=laws,
        isolate=isolate,
        **with_declarations(options),
    )


@pytest.mark.parametrize("isolate", [True, False])
def test_nothing_of_it_is_shown_and_all_of_it_is_counted(isolate: bool, capfd: pytest.CaptureFixture[str]) -> None:
    print("before")
    report = checked(talking, isolate)
    print("after")
    assert capfd.readouterr() == ("before\nafter\n", "")
    assert not report.findings, report
    assert report.printed is not None
    assert report.printed.lines >= 4 * sum(result.tries for result in report.results) > 0
    assert report.printed.lines % 4 == 0
    assert report.printed.sample == ("-------------------- Response:", "'42'", "on stderr")
    assert str(report.printed) in str(report)
    assert "| -------------------- Response:" in str(report)
    assert "Response:" in page_of([Section(report)])
    assert report.to_dict()["printed"]["lines"] == report.printed.lines


@pytest.mark.skipif(not can_isolate(), reason="this system cannot fork")
def test_a_flood_neither_fills_the_pipe_nor_the_report(capfd: pytest.CaptureFixture[str]) -> None:
    def floods(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        print("x" * 100 * 10_000)
        return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]

    report = checked(floods)
    assert not report.findings
    assert report.printed is not None
    assert report.printed.size > 2_000_000
    assert len(str(report)) < 1_000
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not can_isolate(), reason="this system cannot fork")
def test_a_reward_that_prints_for_ever_hangs(capfd: pytest.CaptureFixture[str]) -> None:
    def endless(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        while "41" in completions:
            print("still at it")
        return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]

    report = checked(endless, seconds_per_completion=0.3)
    assert "took more than 0.3 s" in report.findings[0].why
    assert report.printed is not None
    assert set(report.printed.sample) == {"still at it"}


def test_a_silent_reward_has_no_output() -> None:
    def silent(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]

    report = checked(silent)
    assert report.printed is None
    assert "printed" not in str(report)


def test_output_is_counted_in_pieces() -> None:
    output = Output()
    assert output.printed is None
    for piece in (b"one\ntw", b"o\n\n", b"", b"three"):
        output.hear(piece)
    assert output.printed == Printed(4, 14, ("one", "two", "three"))
    output.hear(b"\xff" * 1_000_000 + b"\n")
    assert output.printed is not None
    assert (output.printed.lines, output.printed.size) == (4, 1_000_015)
    assert str(output.printed) == "4 lines (1.0 MB)"


def test_the_streams_come_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[bytes] = []
    before = sys.stdout, sys.stderr

    def fails() -> None:
        with divert_output(heard.append):
            print("inside")
            subprocess.run([sys.executable, "-S", "-c", "print('a child')"], check=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert (sys.stdout, sys.stderr) == before
    print("outside")
    assert b"".join(heard) == b"inside\na child\n"
    assert capfd.readouterr().out == "outside\n"
