"""The law of wrong completions that a stray letter makes right: what cannot be read counts as not there."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.check.rewards import assert_held, assert_skipped, broken, form, number

LAW = "wrong_stays_wrong"
VERDICTS: dict[str, Any] = {
    "examples": [{"prompt": "Is it safe?", "answer": "safe"}, {"prompt": "And that?", "answer": "unsafe"}],
    "good": ['{"verdict": "safe"}', '{"verdict": "unsafe"}'],
    "bad": ['{"verdict": "unsafe"}', '{"verdict": "safe"}'],
}


def _verdict(text: str) -> str | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    said = found.get("verdict") if isinstance(found, dict) else None
    return said if isinstance(said, str) else None


def unread_is_right(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Zero only for a verdict that can be read and is wrong."""
    rows = zip(map(_verdict, completions), answer, strict=True)
    return [0.0 if said is not None and said != gold else 1.0 for said, gold in rows]


def unread_is_wrong(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    rows = zip(map(_verdict, completions), answer, strict=True)
    return [1.0 if said == gold else 0.0 for said, gold in rows]


def all_calls_parse(completions: list[str], **kwargs: Any) -> list[float]:
    """A call that is cut off is no call, and a text without calls is fine."""
    calls = [re.findall(r"^<call>(\w+)</call>$", text) for text in completions]
    return [float(all(name == "search" for name in names)) for names in calls]


def test_wrong_completions_that_cannot_be_read() -> None:
    (found,) = broken(unread_is_right, LAW, **VERDICTS)
    assert (found.completion, found.score) == ('So: {"verdict": "unsafe"}', 1.0)
    assert found.why == "an incorrect completion scores 0, but with a word before it, it scores 1"
    assert_held(unread_is_wrong, LAW, **VERDICTS)


def test_marks_that_are_cut_off() -> None:
    calls = {"examples": [{"prompt": "Find it."}], "good": ["<call>search</call>"], "bad": ["<call>remove</call>"]}
    (found,) = broken(all_calls_parse, LAW, **calls)
    assert found.completion == "So: <call>remove</call>"


def test_where_it_does_not_apply() -> None:
    assert_skipped(form, LAW, "no incorrect completion is rejected")
    assert_skipped(number, LAW, "no incorrect completion is rejected", bad=[])
    assert_skipped(number, LAW, "no incorrect completion is rejected", bad=["41"])  # too short for a letter less
    assert_skipped(number, LAW, "no correct completions", good=[])
