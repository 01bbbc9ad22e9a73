"""The recipes with a judge, each through its own main, against the stand-in."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

COOKBOOK = Path(__file__).parents[2] / "cookbook"


@pytest.fixture(autouse=True)
def _beside_the_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(COOKBOOK))


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    runpy.run_path(str(COOKBOOK / f"{name}.py"))["main"]([])
    return capsys.readouterr().out.splitlines()


def test_a_rubric_of_two_criteria(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, _, *rows = printed("judge_with_rubric", capsys)
    assert first == "calls 4, cache_hit_rate 0, suspicious 1"
    assert second == "calls 0, cache_hit_rate 1, suspicious 1"
    assert [row.split()[0] for row in rows] == ["0.97", "0.52", "0.22", "0.22"]
    assert rows[3].endswith("[suspicious: addresses the judge, gives instructions, asks for a score]")


@pytest.mark.slow
def test_a_gate_a_budget_and_a_fallback(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed("judge_behind_a_gate", capsys)
    rich, poor = lines[:9], lines[9:]
    assert rich[0] == "a budget of 100 calls: 5 made"
    assert poor[0] == "a budget of 2 calls: 2 made"
    assert [line.split()[3] for line in rich[1:]] == [
        *("judge", "judge", "nobody", "nobody"),
        *("judge", "judge", "nobody", "nobody"),
    ]
    assert [line.split()[3] for line in poor[5:]] == ["similarity", "similarity", "nobody", "similarity"]


def test_a_ranking_of_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    first, _, *rows = printed("group_ranking_judge", capsys)
    assert first == "4 requests for 7 completions and two judges"
    assert [row.split()[0] for row in rows] == ["0.70", "0.50", "0.30", "0.30", "0.70", "0.50", "0.30"]
