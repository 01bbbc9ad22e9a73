"""What an endpoint claims is believed where it can be."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.judges.replies import text_of, usage_of


@pytest.mark.parametrize(
    "usage",
    [None, "many", [1, 2], {}, {"prompt_tokens": 5}]
    + [{"prompt_tokens": 5, "completion_tokens": count} for count in (-1, None, "3", 1.5, True, 10**400)]
    + [{"prompt_tokens": 0, "completion_tokens": 0}],
)
def test_usage_that_cannot_be_is_none(usage: Any) -> None:
    assert usage_of({"usage": usage}) is None


def test_usage_is_read() -> None:
    assert usage_of({"usage": {"prompt_tokens": 5, "completion_tokens": 0, "more": {}}}) == (5, 0)
    assert usage_of({}) is None


def test_text_may_come_in_parts_or_not_at_all() -> None:
    assert text_of([{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text"}]) == "a"
    assert text_of(None) == ""
    with pytest.raises(TypeError):
        text_of(5)
