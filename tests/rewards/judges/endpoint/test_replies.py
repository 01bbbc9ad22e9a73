"""The claims of an endpoint are used only if they are plausible."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.rewards.judges.endpoint.replies import Reply, reply_of


def completion(content: Any, usage: Any = None) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}], "usage": usage}


@pytest.mark.parametrize(
    "usage",
    [None, "many", [1, 2], {}, {"prompt_tokens": 5}]
    + [{"prompt_tokens": 5, "completion_tokens": count} for count in (-1, None, "3", 1.5, True, 10**400)]
    + [{"prompt_tokens": 0, "completion_tokens": 0}],
)
def test_implausible_usage_is_none(usage: Any) -> None:
    assert reply_of(completion("a", usage)) == Reply("a", "stop", None)


def test_usage_is_read() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 0, "more": {}}
    assert reply_of(completion("a", usage)) == Reply("a", "stop", (5, 0))


def test_text_may_come_in_parts_or_not_at_all() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text"}]
    for content, text in ((parts, "a"), (None, "")):
        assert reply_of(completion(content)) == Reply(text, "stop", None)


@pytest.mark.parametrize(
    "answer", [None, 7, "a", [], {}, {"choices": []}, {"choices": [7]}, completion(5), completion([5])], ids=repr
)
def test_an_answer_that_is_not_a_completion_is_none(answer: Any) -> None:
    assert reply_of(answer) is None
