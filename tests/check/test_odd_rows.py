"""Odd rows: no law fails by itself on missing cells, empty texts, messages without content, or huge numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rewardkit.check import laws
from rewardkit.testing import check_reward
from tests.check.rewards import outcome

LENGTHY = ("time_linear", "memory_bounded", "picklable", "thread_safe", "deterministic", "search")
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
}


def said(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def asked(text: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def rows(*columns: dict[str, Any], good: list[Any], bad: list[Any] | None = None) -> dict[str, Any]:
    return {"examples": list(columns), "good": good, "bad": ["8"] * len(columns) if bad is None else bad}


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    return " ".join(str(message.get("content") or "") for message in completion)


def overlap(completions: list[Any], answer: list[Any], prompts: list[Any], **kwargs: Any) -> list[float]:
    """Score in [0, 1] by common words; the length penalty is for texts of tools."""
    scores = []
    for place, (completion, gold) in enumerate(zip(completions, answer, strict=True)):
        cells = (gold, *(kwargs[name][place] for name in ("more", "nums") if name in kwargs))
        wanted = {word for cell in cells for word in re.findall(r"\w+", str(cell)[:500])}
        found = set(re.findall(r"\w+", _text(completion)[-5_000:].lstrip("answer: ")))
        scores.append(
            len(found & wanted) / max(1, len(found | wanted)) - 0.1 * (str(prompts[place]) in str(completion))
        )
    return scores


ODD = {
    "no cell": rows({"prompt": "a", "answer": None}, {"prompt": "b", "answer": "42"}, good=["x", "42"]),
    "no column": rows({"prompt": "a", "answer": "7"}, {"prompt": "b", "more": 3}, good=["7", "3"]),
    "no prompt": rows({"answer": "7"}, {"prompt": None, "answer": "42"}, good=["7", "42"]),
    "no text": rows({"prompt": "", "answer": "a"}, {"prompt": "", "answer": ""}, good=["a", ""], bad=["", "c"]),
    "chat and text": rows({"prompt": asked("tool"), "answer": "7"}, {"prompt": "x", "answer": "4"}, good=["7", "4"]),
    "no messages": rows({"prompt": [], "answer": "7"}, {"prompt": [], "answer": "4"}, good=[said("7"), said("4")]),
    "no content": rows(
        {"prompt": asked(None), "answer": "7"},
        {"prompt": asked("a tool"), "answer": "4"},
        good=[said("7"), [CALL, {"role": "tool", "content": None}, *said("4")]],
        bad=[said(None), [CALL]],
    ),
    "content in parts": rows(
        {"prompt": asked([{"type": "text", "text": "a tool"}, {"type": "image"}]), "answer": "7"},
        {"prompt": asked([{"type": "image"}]), "answer": "4"},
        good=[said([{"type": "text", "text": "7"}]), said("4")],
    ),
    "scripts": rows({"prompt": "中文", "answer": "四十二"}, {"prompt": "🙂", "answer": "é²½"}, good=["四十二", "é²½"]),
    "no unicode": rows({"prompt": "\ud800", "answer": "\ud800a"}, {"answer": "\x00x"}, good=["\ud800a", "\x00x"]),
    "huge numbers": rows({"answer": 10**400}, {"answer": "9" * 5_000}, good=[str(10**400), "9" * 5_000]),
    "floats": rows(
        *({"answer": value} for value in (float("inf"), float("nan"), -0.0, 1e308)),
        good=["inf", "nan", "-0.0", "1e+308"],
    ),
    "flags": rows({"answer": True}, {"answer": False}, good=["True", "no"], bad=["False", "yes"]),
    "nested": rows(
        {"answer": "7", "more": {1: None, "b": [1, {"c": ()}]}}, {"answer": "4", "more": []}, good=["7", "4"]
    ),
    "documents": rows(
        {"answer": '{"a": 1, "b": null}'}, {"answer": '{"a": NaN}'}, good=['{"a": 1, "b": null}', '{"a": NaN}']
    ),
    "calls": rows(
        {"answer": "f"},
        {"answer": "g"},
        good=[
            f'<tool_call>{{"name": "{one}", "arguments": {two}}}</tool_call>' for one, two in (("f", {}), ("g", [1]))
        ],
        bad=["<tool_call></tool_call>", "<tool_call>[]</tool_call>"],
    ),
    "confidence": rows(
        {"answer": "a"}, {"answer": "b"}, good=["a Confidence: 0.8", "b sure: 200%"], bad=["Confidence: 1e400", "c"]
    ),
    "patterns": rows({"answer": "a(b"}, {"answer": "\\1[*"}, good=["a(b", "\\1[*"]),
    "sums": rows(
        {"answer": "x", "nums": [1, 2], "more": 3},
        {"answer": "y", "nums": [1, None], "more": float("inf")},
        good=["<answer>1 + 2</answer>", "<answer>1 / 0</answer>"],
    ),
    "tables": rows({"answer": "SELECT 1", "more": "CREATE TABLE t (a"}, {"answer": "b"}, good=["SELECT 1", "b"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_no_law_fails_by_itself(name: str) -> None:
    report = check_reward(overlap, **ODD[name], isolate=False, budget=20.0, without=LENGTHY)
    assert {one.law: one.reason for one in report.results if "itself" in one.reason} == {}
    assert {one.law for one in report.results if one.outcome in ("held", "broken")} >= {"finite"}
    assert len(report.results) >= len(laws.ALL) - len(LENGTHY)


def test_a_row_without_a_column_has_none_in_it() -> None:
    def asks(completions: list[str], answer: list[str | None], **kwargs: Any) -> list[float]:
        return [float(text == (gold or "none")) for text, gold in zip(completions, answer, strict=True)]

    result = outcome(asks, "gold_gets_the_maximum", examples=[{"answer": "7"}, {}], good=["7", "none"], bad=["8", "9"])
    assert result.outcome == "held", result.findings
