"""Findings, results and reports as text, JSON, pickle and Python."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.findings import _CRASHES, _PAID, _REFUSED, Finding, LawResult
from rewardkit.check.laws.base import OVER
from rewardkit.check.reports import Report
from rewardkit.check.run.selection import selected
from rewardkit.errors import shorten_line

CHAT = [{"role": "assistant", "content": "42"}]
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2)
NAMES = st.from_regex(r"[a-z_]{1,5}", fullmatch=True)
COMPLETIONS = st.text(max_size=30) | st.just(CHAT)


def finding(**changed: Any) -> Finding:
    given: dict[str, Any] = {
        "law": "total",
        "component": "number",
        "completion": "<answer>\u202e</answer>",
        "columns": {"prompt": "6*7?", "answer": "42"},
        "score": 0.5,
        "why": "it raises",
        "matters": "runs stop",
        "note": "number: none",
        "trace": "Traceback\nValueError: no number",
    }
    return Finding(**{**given, **changed})


def report(*results: LawResult) -> Report:
    return Report("number('answer')", results, seed=3, seconds=1.25, fingerprint="abc")


HELD = LawResult("finite", "held", 7)
BROKEN = LawResult("total", "broken", 12, (finding(),), seconds=0.5)
SKIPPED = LawResult("gate_dominance", "skipped", reason="it has no gate")


@given(COMPLETIONS, st.dictionaries(NAMES, VALUES, max_size=3), st.none() | st.floats(), st.text(max_size=9))
def test_a_finding_is_text_json_and_pickle(
    completion: Any, columns: dict[str, Any], score: float | None, why: str
) -> None:
    one = finding(completion=completion, columns=columns, score=score, why=why)
    again = json.loads(json.dumps(one.to_dict()))
    assert again["law"] == "total"
    assert again["completion"] == completion
    assert set(again["columns"]) == set(columns)
    assert again["reproduce"] == one.reproduce
    assert repr(pickle.loads(pickle.dumps(one))) == repr(one)
    shown = str(one)
    assert "\u202e" not in shown
    assert "\0" not in shown
    assert "\x1b" not in shown


@given(st.text(max_size=30), st.text(max_size=10))
def test_the_line_that_reproduces_it_is_python(completion: str, answer: str) -> None:
    called: dict[str, Any] = {}

    class Stand:
        @staticmethod
        def score(reward: Any, completions: list[Any], **columns: Any) -> None:
            called.update(columns, completions=completions)

    one = finding(completion=completion, columns={"prompt": "p", "answer": answer, "not a name": 1})
    eval(one.reproduce, {"rk": Stand, "reward": None})
    assert called == {"completions": [completion], "prompts": ["p"], "answer": [answer]}


def test_the_line_that_reproduces_it_does_so() -> None:
    table = eval(finding(completion="42").reproduce, {"rk": rk, "reward": rk.number("answer")})
    assert table.total.tolist() == [1.0]


def test_a_finding_explains_itself() -> None:
    shown = str(finding(family="hedge", source="a paper"))
    for part in (
        "total (hedge): it raises",
        "'42'",
        "6*7?",
        "0.5",
        "number: none",
        "runs stop",
        "a paper",
        "ValueError: no number",
    ):
        assert part in shown
    assert "Traceback" not in shown
    assert "no score" in str(finding(score=None))
    assert "[{'role'" in str(finding(completion=CHAT))


def test_values_that_json_cannot_hold_become_text() -> None:
    shown = finding(columns={"answer": {1, 2}, "when": Path("a")}).to_dict()
    assert shown["columns"] == {"answer": "{1, 2}", "when": repr(Path("a"))}


def test_a_report_is_sound_if_no_law_is_broken() -> None:
    assert report(HELD, SKIPPED).ok
    report(HELD, SKIPPED).raise_if_broken()
    one = report(HELD, BROKEN, SKIPPED)
    assert one.ok is False
    assert one.findings == [finding()]
    assert one["total"] is BROKEN
    with pytest.raises(AssertionError, match="it raises"):
        one.raise_if_broken()
    with pytest.raises(KeyError, match="finite, total, gate_dominance"):
        one["gate"]


def test_a_report_as_text_under_its_title() -> None:
    text = str(report(HELD, BROKEN, SKIPPED).shown_as("my reward"))
    for part in ("my reward", "finite", "gate_dominance", "it raises", "runs stop", "rk.score(reward"):
        assert part in text
    assert repr(report(HELD)) == str(report(HELD))


def test_a_report_as_json(tmp_path: Path) -> None:
    one = report(HELD, BROKEN, SKIPPED)
    one.to_json(tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(one.to_dict()))
    assert (read["ok"], read["seed"], read["seconds"], read["fingerprint"]) == (False, 3, 1.25, "abc")
    assert [(law["law"], law["outcome"], law["tries"]) for law in read["laws"]] == [
        ("finite", "held", 7),
        ("total", "broken", 12),
        ("gate_dominance", "skipped", 0),
    ]
    assert read["laws"][1]["findings"][0]["completion"] == "<answer>\u202e</answer>"
    assert read["laws"][2]["reason"] == "it has no gate"


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff"])
def test_a_lone_surrogate_can_be_written(text: str, tmp_path: Path) -> None:
    one = report(LawResult("total", "broken", 1, (finding(completion=text, columns={"answer": text}),)))
    one.to_json(tmp_path / "report.json")
    one.to_html(tmp_path / "report.html")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["laws"][0]["findings"][0]["completion"]


def test_the_page_escapes_what_a_policy_wrote(tmp_path: Path) -> None:
    one = report(LawResult("total", "broken", 1, (finding(completion="<script>alert(1)</script>"),)))
    one.to_html(tmp_path / "report.html")
    assert "<script>alert" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@given(st.text(max_size=1_000))
def test_the_middle_of_long_lines_is_cut(text: str) -> None:
    short = shorten_line(text, 90)
    assert len(short) <= 90
    assert short == text or (short.startswith(text[:60]) and short.endswith(text[-22:]))


def test_the_budget_that_would_do_is_not_far_above_what_the_laws_took() -> None:
    quick = [LawResult(f"quick_{number}", "held", 5, seconds=0.05) for number in range(20)]
    late = [LawResult(f"late_{number}", "unfinished", reason=OVER) for number in range(40)]
    assert Report("r", (*quick, *late), budget=10.0).needs == 40
    slow = [LawResult("slow", "held", 5, seconds=4.0)]
    assert Report("r", (*slow, *late[:2]), budget=10.0).needs == 30
    assert Report("r", tuple(quick), budget=10.0).needs == 0


def test_severities_name_laws_that_exist() -> None:
    names = {law.name for law in selected()} | {"regressions"}
    assert names >= _PAID | _REFUSED | _CRASHES
