"""Laws of calls that are written as text in several messages: other objects, wrong calls, and limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.rewards import assert_held, assert_skipped, broken, number, outcome

Messages = list[dict[str, Any]]
Rule = Callable[[Any, dict[str, Any]], bool]
ORDERS = ("A1", "A2", "A3")
REQUEST = 'Cancel orders with <action>{"tool": "cancel", "id": "..."}</action>. Orders: A1, A2, A3. Cancel %s and %s.'
LAWS = ("other_objects_stay_as_they_are", "each_written_call_counts", "limits_on_calls_hold")


def action(order: str, tool: str = "cancel") -> str:
    return f'<action>{{"tool": "{tool}", "id": "{order}"}}</action>'


def episode(*texts: str, answer: str = "Done.") -> Messages:
    steps = [[{"role": "assistant", "content": text}, {"role": "tool", "content": "ok"}] for text in texts]
    return [*(message for step in steps for message in step), {"role": "assistant", "content": answer}]


def case(words: str, limit: int = 4) -> dict[str, Any]:
    pairs = (("A1", "A2"), ("A2", "A3"))
    return {
        "examples": [
            {"prompt": [{"role": "user", "content": REQUEST % pair + words}], "cancelled": list(pair), "limit": limit}
            for pair in pairs
        ],
        "good": [episode(action(pair[0], "get"), *map(action, pair)) for pair in pairs],
        "bad": [episode(action(pair[0], "get"), action(pair[0])) for pair in pairs],
    }


def rewarding(rule: Callable[[list[dict[str, Any]], str, dict[str, Any]], bool]) -> Any:
    """A reward of the calls in the assistant's messages: `rule` gets the calls, the text, and the row."""

    def reward(completions: list[Messages], cancelled: list[list[str]], limit: list[int], **kwargs: Any) -> list[float]:
        scores = []
        for messages, orders, most in zip(completions, cancelled, limit, strict=True):
            text = "\n".join(one["content"] for one in messages if one["role"] == "assistant")
            try:
                calls = [json.loads(body) for body in re.findall(r"<action>(.*?)</action>", text, re.DOTALL)]
                scores.append(float(rule(calls, text, {"cancelled": orders, "limit": most})))
            except (ValueError, KeyError, TypeError):
                scores.append(0.0)
        return scores

    return reward


def cancelled(calls: list[dict[str, Any]]) -> list[str]:
    assert all(call["id"] in ORDERS for call in calls)
    return [call["id"] for call in calls if call["tool"] == "cancel"]


exact = rewarding(
    lambda calls, text, row: (
        sorted(cancelled(calls)) == row["cancelled"] and len(calls) <= row["limit"] and "<think>" not in text
    )
)
subset = rewarding(lambda calls, text, row: set(row["cancelled"]) <= set(cancelled(calls)))
mentions = rewarding(
    lambda calls, text, row: all(f"cancel id {name}" in re.sub(r"\W+", " ", text) for name in row["cancelled"])
)
names_only = rewarding(lambda calls, text, row: [call["tool"] for call in calls] == ["get", "cancel", "cancel"])
within = rewarding(lambda calls, text, row: set(cancelled(calls)) == set(row["cancelled"]))
below = rewarding(lambda calls, text, row: set(cancelled(calls)) == set(row["cancelled"]) and len(calls) < row["limit"])


def test_a_sound_reward() -> None:
    assert_held(exact, *LAWS[:2], **case(" Cancel nothing else. Cancel each once."))
    assert_skipped(number, LAWS[0], "no correct completion has a call")


def test_another_object() -> None:
    options = case(" Change nothing else.")
    (found,) = broken(subset, LAWS[0], **options)
    assert found.completion[4] == {"role": "assistant", "content": action("A3")}
    lead = outcome(subset, LAWS[0], **case(""))
    assert (lead.outcome, bool(lead.leads)) == ("held", True)


def structured(order: str) -> Messages:
    call = {"type": "function", "function": {"name": "cancel", "arguments": {"id": order}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "cancel", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]


def some_calls(completions: list[Messages], calls: list[list[dict[str, Any]]], **kwargs: Any) -> list[float]:
    """The needed calls are among the calls."""
    made = [[call["function"] for one in messages for call in one.get("tool_calls", [])] for messages in completions]
    return [float(all(call in functions for call in needed)) for functions, needed in zip(made, calls, strict=True)]


def same_calls(completions: list[Messages], calls: list[list[dict[str, Any]]], **kwargs: Any) -> list[float]:
    made = [[call["function"] for one in messages for call in one.get("tool_calls", [])] for messages in completions]
    return [float(functions == needed) for functions, needed in zip(made, calls, strict=True)]


def test_another_object_in_a_structured_call() -> None:
    options: dict[str, Any] = {
        "examples": [
            {
                "prompt": [{"role": "user", "content": f"Orders A1 to A3. Cancel {order} and nothing else."}],
                "calls": [{"name": "cancel", "arguments": {"id": order}}],
            }
            for order in ("A1", "A2")
        ],
        "good": [structured("A1"), structured("A2")],
        "bad": [episode(), episode()],
    }
    (found,) = broken(some_calls, LAWS[0], **options)
    assert [len(one.get("tool_calls", [])) for one in found.completion] == [1, 0, 1, 0, 0]
    assert_held(same_calls, LAWS[0], **options)


@pytest.mark.parametrize(
    ("reward", "why"),
    [
        (mentions, "with the words of a call instead of a call"),
        (names_only, "with another id in a call"),
    ],
)
def test_calls_that_are_no_calls(reward: Any, why: str) -> None:
    (found,) = broken(reward, LAWS[1], **case(""))
    assert found.why.startswith(why)


def test_a_call_in_the_thinking_and_a_call_made_twice() -> None:
    (found,) = broken(subset, LAWS[1], **case(" Think in <think></think>."))
    assert found.why.startswith("with a call in the thinking only")
    (found,) = broken(subset, LAWS[1], **case(" Cancel each order once."))
    assert found.why.startswith("with the same call twice")


def test_limits() -> None:
    (found,) = broken(within, LAWS[2], **case(" Make at most five calls.", limit=5))
    assert found.why == "with 6 calls instead of at most 5, it scores 1"
    (found,) = broken(below, LAWS[2], **case(" Make at most 5 calls.", limit=5))
    assert found.why == "with 5 calls, as many as the prompt allows, it scores 0 instead of 1"
    limited = rewarding(
        lambda calls, text, row: set(cancelled(calls)) == set(row["cancelled"]) and len(calls) <= row["limit"]
    )
    assert_held(limited, LAWS[2], **case(" Make at most 5 calls.", limit=5))
    assert_skipped(within, LAWS[2], "no prompt limits the number of calls", **case(""))


def decoded(completions: list[str], call: list[str], **kwargs: Any) -> list[float]:
    """The call of the row, or no call that can be parsed if the row has none."""
    scores = []
    for text, needed in zip(completions, call, strict=True):
        try:
            body = json.dumps(json.loads(text.partition("<tool_call>")[2].partition("</tool_call>")[0]))
        except ValueError:
            body = ""
        scores.append(float(body == needed and text != ""))
    return scores


def strict(completions: list[str], call: list[str], **kwargs: Any) -> list[float]:
    scores = decoded(completions, call)
    return [
        score * (bool(needed) or "tool_call" not in text)
        for score, text, needed in zip(scores, completions, call, strict=True)
    ]


def test_a_broken_call_where_none_is_needed() -> None:
    weather = json.dumps({"name": "weather", "arguments": {"city": "Oslo"}})
    options: dict[str, Any] = {
        "examples": [{"prompt": "Weather in Oslo?", "call": weather}, {"prompt": "Order a pizza.", "call": ""}],
        "good": [f"<tool_call>{weather}</tool_call>", "I cannot order a pizza with these tools."],
        "bad": ["I do not know.", f"<tool_call>{weather}</tool_call>"],
    }
    (found,) = broken(decoded, LAWS[1], **options)
    assert found.completion == f"<tool_call>{weather[:-1]}</tool_call>"
    assert_held(strict, LAWS[1], **options)
