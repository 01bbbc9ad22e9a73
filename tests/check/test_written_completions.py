"""Written completions: what a reward asks for, if no correct completion is given, and what is not blamed without it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.variants.written_completions import written_completions
from rewardkit.cli.main import main
from tests.check.rewards import assert_held, assert_skipped, broken, shown, subject

NONE: dict[str, Any] = {"examples": [{}], "good": [], "bad": []}
LINES = re.compile(r"^\s*<reasoning>\n.*?\n</reasoning>\n<result>\n.*?\n</result>\s*$", re.DOTALL)


def in_a_pattern(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(re.search(r"<think>.*</think>\s*<answer>.*</answer>", text) is not None) for text in completions]


def in_lines(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.5 if LINES.match(text) else 0.0 for text in completions]


def in_messages(completions: list[Any], **kwargs: Any) -> list[float]:
    texts = [text if isinstance(text, str) else text[0]["content"] for text in completions]
    return [float(LINES.match(text) is not None) for text in texts]


def counted(completions: list[str], **kwargs: Any) -> list[float]:
    marks = ("<plan>", "</plan>", "<final>", "</final>")
    return [
        float(all(text.count(mark) == 1 for mark in marks) and text.strip().endswith("</final>"))
        for text in completions
    ]


def steps(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(re.match(r"(Step \d+: [^\n]+\n){3,}Answer: .+", text) is not None) for text in completions]


def penalized(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.0 if re.search(r"####\s-?\d+$", text) else -1.0 for text in completions]


def unreachable(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(re.fullmatch(r"<key>(?!x)x</key>", text) is not None) for text in completions]


def constant(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.5 for _ in completions]


@pytest.mark.parametrize(
    "reward",
    [
        rk.tags("think", "answer"),
        rk.tags("plan", "code", "tests"),
        0.5 * rk.tags("think", "answer") + 0.5 * rk.length.between(1, 200),
        in_a_pattern,
        in_lines,
        in_messages,
        counted,
        steps,
        penalized,
    ],
    ids=shown,
)
def test_a_format_needs_no_examples(reward: Any) -> None:
    assert written_completions(subject(reward, **NONE))
    assert_held(reward, "informative", **NONE)


def test_what_cannot_be_written_is_not_blamed() -> None:
    assert written_completions(subject(unreachable, **NONE)) == []
    assert_skipped(unreachable, "informative", "pass a correct one", **NONE)
    assert broken(unreachable, "informative", examples=[{}], good=["<key>x</key>"], bad=[])


def test_a_constant_wants_nothing() -> None:
    assert broken(constant, "informative", **NONE)


@pytest.mark.slow
def test_the_command_finds_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "formats.py"
    path.write_text('import rewardkit as rk\n\ntags = rk.tags("think", "answer")\n', encoding="utf-8")
    assert main(["check", f"{path}:tags", "--budget", "20"]) == 0
    assert "no correct completions were given" in capsys.readouterr().out
