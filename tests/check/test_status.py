"""The progress of a check on stderr: a line that is rewritten on a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rewardkit.check.run import status

_CHECK = """
import rewardkit as rk
from rewardkit.testing import check_reward
check_reward(rk.number("answer"), examples=[{"answer": "42"}], good=["42"], laws=["total", "finite", "bounded"])
"""
_ROOT = Path(__file__).parents[2]


def _errors(terminal: bool, **environment: str) -> str:
    """Return what a check in Python prints to stderr."""
    main, child = pty.openpty() if terminal else os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", _CHECK],
        stderr=child,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "COLUMNS": "100", "TERM": "xterm", **environment},
    ) as process:
        assert process.wait() == 0
    os.close(child)
    text = ""
    while True:
        try:
            part = os.read(main, 1 << 16)
        except OSError:  # the end of a terminal
            part = b""
        if not part:
            os.close(main)
            return text
        text += part.decode()


def test_a_check_in_python_shows_its_progress_on_a_terminal_and_erases_it() -> None:
    text = _errors(True)
    assert "\r\x1b[Kchecking the reward: 1 of 3" in text
    assert text.endswith("\r\x1b[K")
    assert "\n" not in text


def test_a_check_in_python_prints_nothing_elsewhere() -> None:
    assert _errors(False) == ""
    assert _errors(True, TERM="dumb") == ""


def test_without_a_terminal_a_line_is_printed_after_a_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(status, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with status.shown_status() as show:
        on_progress = status.law_progress(show, "laws", budget=40.0)
        for seconds in (0, 10, 16, 30, 32):
            clock[0] = seconds
            on_progress("total", seconds, 71)
    assert capsys.readouterr().err == (
        "checking laws: 17 of 71, about 24 s left\nchecking laws: 33 of 71, about 8 s left\n"
    )
