"""Output of reward functions is captured with its component and row, and still reaches the console."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import sys
import threading
import time
import warnings
from contextlib import redirect_stdout
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.batch.score import Fault, Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.record import capture as captured
from rewardkit.record.capture import Capture, FaultLines
from rewardkit.record.records import Line
from rewardkit.tree.evaluation import observers as observing
from rewardkit.tree.evaluation.scorer import Scorer
from tests.record.talkative import hasty, late, left_behind, loud, raising, unpicklable

logger = logging.getLogger("tests.talkative")


@rk.reward
def printing(completion: str) -> float:
    print("seen", completion)
    return 0.5


def heard(reward: rk.Reward, completions: list[Any], *, quiet: bool = False, **columns: Any) -> list[Line]:
    """Return the lines captured while `completions` are scored."""
    return scored(reward, completions, quiet=quiet, **columns)[1]


def scored(
    reward: rk.Reward, completions: list[Any], *, quiet: bool = False, strict: bool = False, **columns: Any
) -> tuple[ScoreTable, list[Line]]:
    with Capture(quiet=quiet) as capture:
        table = Scorer(reward).score(Batch(completions, columns=columns), strict=strict)
    return table, capture.lines


def briefly(lines: list[Line]) -> list[tuple[str, str | None, int | None, str]]:
    return [(line.kind, line.component, line.row, line.message) for line in lines]


def test_a_print_has_its_component_and_row_and_reaches_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    lines = heard(printing, ["a", "b", "a"])  # equal ones are scored once
    assert briefly(lines) == [("print", "printing", 0, "seen a"), ("print", "printing", 1, "seen b")]
    assert all(line.level == "info" and line.time and time.time() - line.time < 60 for line in lines)
    assert capsys.readouterr().out == "seen a\nseen b\n"


def test_quiet_keeps_output_from_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(heard(printing, ["a"], quiet=True)) == 1
    assert capsys.readouterr().out == ""


def test_log_lines_and_warnings_are_captured(caplog: pytest.LogCaptureFixture) -> None:
    @rk.reward
    def talking(completion: str) -> float:
        logger.warning("odd: %r", completion)
        logger.debug("not of interest")
        warnings.warn("deprecated", UserWarning, stacklevel=1)
        print("to stderr", file=sys.stderr)
        try:
            raise ValueError("inner")
        except ValueError:
            logger.exception("went wrong")
        return 0.5

    with caplog.at_level(logging.DEBUG), pytest.warns(UserWarning, match="deprecated"):
        lines = heard(talking, ["a"])
    assert briefly(lines) == [
        ("log", "talking", 0, "tests.talkative: odd: 'a'"),
        ("warning", "talking", 0, "UserWarning: deprecated"),
        ("print", "talking", 0, "to stderr"),
        ("log", "talking", 0, "tests.talkative: went wrong"),
    ]
    assert [line.level for line in lines] == ["warning", "warning", "warning", "error"]
    assert lines[1].detail is not None
    assert __file__ in lines[1].detail
    assert lines[3].detail is not None
    assert "ValueError: inner" in lines[3].detail
    assert "odd: 'a'" in caplog.text


def test_a_handler_that_prints_is_not_captured_twice(capsys: pytest.CaptureFixture[str]) -> None:
    class ToStandardError(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(record.getMessage(), file=sys.stderr)

    silent = logging.getLogger("tests.alone")
    silent.propagate = False
    silent.addHandler(ToStandardError())

    @rk.reward
    def talking(completion: str) -> float:
        silent.warning("once")
        return 0.5

    assert briefly(heard(talking, ["a"])) == [("log", "talking", 0, "tests.alone: once")]
    assert capsys.readouterr().err == "once\n"


def test_a_log_call_with_wrong_arguments_is_captured_unformatted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)

    @rk.reward
    def talking(completion: str) -> float:
        logger.warning("%d of %d", 1)
        return 0.5

    assert heard(talking, ["a"], quiet=True)[0].message == "tests.talkative: %d of %d"


@pytest.mark.parametrize("scope", ["group", "batch"])
def test_lines_of_functions_over_several_rows_have_no_row(scope: Any) -> None:
    @rk.reward(scope=scope)
    def ranking(completion: list[str]) -> list[float]:
        print(len(completion))
        return [0.5] * len(completion)

    assert {line.row for line in heard(ranking, ["a", "b"])} == {None}


def test_async_functions_are_captured_separately(capsys: pytest.CaptureFixture[str]) -> None:
    @rk.reward
    async def waiting(completion: str) -> float:
        print("before", completion)
        await asyncio.sleep(0.01)
        await asyncio.to_thread(print, "after", completion)
        return 0.5

    lines = heard(waiting + printing, ["a", "b"])
    expected = {("waiting", row, f"{when} {text}") for row, text in enumerate("ab") for when in ("before", "after")}
    expected |= {("printing", row, f"seen {text}") for row, text in enumerate("ab")}
    assert {(line.component, line.row, line.message) for line in lines} == expected
    assert len(lines) == 6


def test_trl_functions_and_failing_functions() -> None:
    def plain(completions: list[str], **kwargs: Any) -> list[float]:
        print("plain")
        return [0.5] * len(completions)

    async def plain_async(completions: list[str], **kwargs: Any) -> list[float]:
        print("async")
        return [0.5] * len(completions)

    @rk.reward
    def broken(completion: str) -> float:
        print("going to break")
        raise StopIteration

    table, lines = scored(rk.from_trl(plain) + rk.from_trl(plain_async) + broken, ["a", "b"])
    assert {outcome.value for outcome in table.outcomes["broken"]} == {"errored"}
    assert sorted(briefly(lines), key=str) == [
        ("print", "broken", 0, "going to break"),
        ("print", "broken", 1, "going to break"),
        ("print", "plain", None, "plain"),
        ("print", "plain_async", None, "async"),
    ]


def test_output_of_worker_processes_is_captured() -> None:
    table, said = scored(loud + raising + unpicklable, ["a", "b"], quiet=True)
    assert sorted(briefly(said), key=str) == [
        ("log", "loud", 0, "tests.talkative: logged a"),
        ("log", "loud", 1, "tests.talkative: logged b"),
        ("print", "loud", 0, "printed a"),
        ("print", "loud", 1, "printed b"),
        ("print", "raising", 0, "before it raises"),
        ("print", "raising", 1, "before it raises"),
    ]
    plain = Scorer(loud + raising + unpicklable).score(Batch(["a", "b"]), strict=False)
    assert reasons(table) == reasons(plain)
    assert table.total.tolist() == plain.total.tolist()


def reasons(table: ScoreTable) -> list[tuple[str, int, str]]:
    """Return the component, row and reason of each fault, without addresses."""
    return sorted((fault.component, fault.row, re.sub("0x[0-9a-f]+", "", fault.reason)) for fault in table.faults)


def test_output_of_a_killed_worker_is_lost() -> None:
    table, lines = scored(late, ["a"], quiet=True)
    assert [fault.outcome for fault in table.faults] == [Outcome.FAILED]
    assert briefly(lines) == []


def test_output_of_other_threads_and_between_calls_is_not_captured(capsys: pytest.CaptureFixture[str]) -> None:
    started, ended = threading.Event(), threading.Event()

    def progress_bar() -> None:
        started.wait()
        print("50 %")
        ended.set()

    @rk.reward
    def waiting(completion: str) -> float:
        started.set()
        ended.wait()
        return 0.5

    thread = threading.Thread(target=progress_bar)
    thread.start()
    with Capture() as capture:
        print("before")
        rk.score(waiting, ["a"])
    thread.join()
    assert capture.lines == []
    assert capsys.readouterr().out == "before\n50 %\n"


def test_nested_scoring_belongs_to_the_outer_component() -> None:
    @rk.reward
    def outer(completion: str) -> float:
        return float(rk.score(printing, ["x", "y", "z"]).total.mean())

    assert briefly(heard(outer, ["a"])) == [("print", "outer", 0, f"seen {text}") for text in "xyz"]


def test_a_line_in_pieces_and_a_line_without_a_line_break() -> None:
    @rk.reward
    def typing(completion: str) -> float:
        for piece in ("on", "e\ntw", "o", "\n\n", "three"):
            sys.stdout.write(piece)
        sys.stdout.writelines([" and", " a half"])
        return 0.5

    assert [line.message for line in heard(typing, ["a"])] == ["one", "two", "three and a half"]


def test_lines_beyond_the_limit_are_counted() -> None:
    @rk.reward
    def endless(completion: str) -> float:
        for number in range(900):
            print(number)
        return 0.5

    lines = heard(endless, ["a", "b"], quiet=True)
    assert len(lines) == captured.MAX_LINES + 1
    assert (lines[-1].count, lines[-1].component) == (800, None)

    @rk.reward
    def huge(completion: str) -> float:
        print("x" * (captured.MAX_CHARACTERS - 5))
        print("0123456789\n" * 3, end="")
        return 0.5

    cut, counted = heard(huge, ["a"], quiet=True)[1:]
    assert cut.message == "0123"  # the line break of the first took one, too
    assert counted.count == 3


def test_terminal_escapes_are_kept() -> None:
    escape = "\x1b]52;c;cm0gLXJm\x07\u202e"

    @rk.reward
    def hostile(completion: str) -> float:
        print(completion)
        return 0.5

    assert heard(hostile, [escape], quiet=True)[0].message == escape


def test_the_slowest_calls_are_reported() -> None:
    seconds = [0.01] * 40 + [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.09]
    capture = Capture()
    for row, one in enumerate(seconds):
        capture.took(observing.Called(capture, "timed", row), one)
    lines = capture.lines
    assert [(line.kind, line.row, line.seconds) for line in lines] == [
        ("slow", row, seconds[row]) for row in (45, 44, 43, 42, 41)
    ]
    assert lines[0].message == "took 0.70 s, while half of the 47 calls took less than 0.01 s"


def test_the_duration_of_each_call_is_known() -> None:
    with Capture(quiet=True) as capture:
        rk.score(rk.reward(lambda completion: 1.0).named("each"), ["a", "b", "b"])
    assert {name: len(seconds) for name, seconds in capture.durations.items()} == {"each": 2}


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=40))
def test_slow_is_always_slower_than_most(seconds: list[float]) -> None:
    capture = Capture()
    for row, one in enumerate(seconds):
        capture.took(observing.Called(capture, "timed", row), one)
    slow = [line.seconds or 0.0 for line in capture.lines]
    assert len(slow) <= captured.SLOWEST
    assert slow == sorted(slow, reverse=True)[: len(slow)]
    assert all(one > captured.SLOW_SECONDS for one in slow)
    assert len(slow) <= len(seconds) / 2


def test_streams_and_loggers_are_restored() -> None:
    before = (sys.stdout, sys.stderr, logging.Logger.callHandlers, warnings.showwarning)
    with pytest.raises(rk.errors.RewardBug), Capture():
        rk.score(rk.reward(name="broken")(lambda completion: 1 / 0), ["a"])
    assert (sys.stdout, sys.stderr, logging.Logger.callHandlers, warnings.showwarning) == before


def test_a_stream_that_wraps_ours_stays() -> None:
    before = sys.stdout
    mine = io.StringIO()

    @rk.reward
    def redirecting(completion: str) -> float:
        with redirect_stdout(mine):
            print("mine")
        return 0.5

    assert heard(redirecting, ["a"]) == []
    assert mine.getvalue() == "mine\n"
    with Capture():
        tee, sys.stdout = sys.stdout, mine
    assert sys.stdout is mine  # not ours to take away
    sys.stdout = tee
    assert len(heard(printing, ["a"])) == 1
    assert sys.stdout is before


def test_two_threads_capture_separately(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, list[Line]] = {}
    threads = [
        threading.Thread(target=lambda text=text: found.update({text: heard(printing, [text] * 3)}))
        for text in "abcdefgh"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {text: [line.message for line in lines] for text, lines in found.items()} == {
        text: [f"seen {text}"] for text in "abcdefgh"
    }


def test_output_after_the_end_is_not_captured(capsys: pytest.CaptureFixture[str]) -> None:
    with Capture() as capture:
        rk.score(hasty, ["a"])
    with Capture() as after:
        left_behind.release.set()
        left_behind.thread.join()
    assert capture.lines == after.lines == []
    assert capsys.readouterr().out == "late\n"


def test_capturing_does_not_change_scores() -> None:
    reward = 0.5 * printing + rk.json_valid() + rk.diversity(extract=rk.extract.whole())
    completions = ["{}", "a", "a", "[1]"]
    table, _ = scored(reward, completions, quiet=True, strict=True)
    plain = Scorer(reward).score(Batch(completions))
    assert table.total.tolist() == plain.total.tolist()
    assert {name: values.tolist() for name, values in table.terms.items()} == {
        name: values.tolist() for name, values in plain.terms.items()
    }


def test_a_fault_has_its_traceback_once() -> None:
    lines = FaultLines()
    faults = [Fault("close", row, Outcome.ERRORED, f"raised ValueError: {row}", f"Traceback {row}") for row in (3, 4)]
    (first,) = lines.of([*faults])
    assert first == Line("raised ValueError: 3", "fault", "error", "close", 3, "Traceback 3", count=2)
    (second,) = lines.of(faults[1:])
    assert (second.row, second.count, second.detail) == (4, 1, None)
    (other,) = lines.of([Fault("judge", 0, Outcome.FAILED, "down")])
    assert (other.level, other.detail) == ("warning", None)


def test_kinds_of_faults_are_bounded() -> None:
    lines = FaultLines()
    many = [Fault("close", 0, Outcome.ERRORED, "x" * number, "t") for number in range(1, 1_000)]
    assert len(lines.of(many)) <= 1_000
    assert len(lines._known) <= captured.MAX_KINDS + 1
