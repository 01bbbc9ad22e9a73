"""Tool calls: wrong versions of right calls, where a column has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.variants.episodes.wrong_calls import wrong_calls
from tests.check.rewards import assert_held, broken, naive, subject


def calling(name: str, arguments: Any, *, content: str | None = None) -> list[dict[str, Any]]:
    return [
        {
            "role": "assistant",
            "content": content,
            "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}}],
        }
    ]


def _function(completion: list[dict[str, Any]]) -> dict[str, Any]:
    calls = completion[-1].get("tool_calls") or [{"function": {}}]
    found = dict(calls[0]["function"])
    if isinstance(found.get("arguments"), str):
        found["arguments"] = json.loads(found["arguments"])
    return found


def same_call(completions: list[Any], wanted: list[Any], **kwargs: Any) -> list[float]:
    return [float(_function(completion) == one) for completion, one in zip(completions, wanted, strict=True)]


def same_name(completions: list[Any], wanted: list[Any], **kwargs: Any) -> list[float]:
    """The arguments are not looked at."""
    return [
        float(_function(completion).get("name") == one["name"])
        for completion, one in zip(completions, wanted, strict=True)
    ]


def said_or_called(completions: list[Any], wanted: list[Any], **kwargs: Any) -> list[float]:
    texts = [completion[-1]["content"] or "" for completion in completions]
    return [
        float("Rome." in text or _function(one) == call)
        for text, one, call in zip(texts, completions, wanted, strict=True)
    ]


WEATHER = {"name": "weather", "arguments": {"city": "Rome", "days": 3}}


def given(arguments: Any, wanted: Any = WEATHER) -> dict[str, Any]:
    return {
        "examples": [{"prompt": "Weather in Rome?", "wanted": wanted}],
        "good": [calling("weather", arguments)],
        "bad": [[{"role": "assistant", "content": "I cannot."}]],
    }


def functions(reward: Any, **options: Any) -> list[dict[str, Any]]:
    one = subject(reward, **options)
    trials = [trial for right in judged(one) for trial in wrong_calls(one, right)]
    assert all(trial.completion[0]["content"] is None for trial in trials)
    return [_function(trial.completion) for trial in trials]


@pytest.mark.parametrize("written", [dict, json.dumps])
def test_other_arguments_and_another_function(written: Any) -> None:
    assert functions(same_call, **given(written(WEATHER["arguments"]))) == [
        {"name": "weather", "arguments": {"city": "window", "days": 37}},
        {"name": "weather", "arguments": {}},
        {"name": "another_tool", "arguments": WEATHER["arguments"]},
    ]


def test_only_what_a_column_has_is_changed() -> None:
    """The other arguments may be free."""
    arguments = {"city": "Rome", "style": "short"}
    assert functions(same_name, **given(arguments, {"name": "weather", "arguments": {"city": "Rome"}})) == [
        {"name": "another_tool", "arguments": arguments}
    ]


@pytest.mark.parametrize("arguments", ["{", "[1]", "", None, 3, "[" * 100_000])
def test_arguments_that_are_no_object(arguments: Any) -> None:
    def named(completions: list[Any], wanted: list[Any], **kwargs: Any) -> list[float]:
        calls = [completion[-1].get("tool_calls") for completion in completions]
        return [
            float(bool(one) and one[0]["function"]["name"] == other["name"])
            for one, other in zip(calls, wanted, strict=True)
        ]

    one = subject(named, **given(arguments))
    (trial,) = wrong_calls(one, judged(one)[0])
    assert trial.completion[0]["tool_calls"][0]["function"] == {"name": "another_tool", "arguments": arguments}


def test_completions_whose_calls_do_not_matter() -> None:
    chat = given(WEATHER["arguments"])
    chat["good"] = [calling("weather", WEATHER["arguments"], content="In Rome.")]
    one = subject(said_or_called, **chat)
    assert [*wrong_calls(one, judged(one)[0])] == []
    plain = subject(naive)
    assert [*wrong_calls(plain, judged(plain)[0])] == []


def test_wrong_calls_that_are_paid_are_found() -> None:
    (found,) = broken(same_name, "gold_above_perturbed_gold", **given(WEATHER["arguments"]))
    assert _function(found.completion) == {"name": "weather", "arguments": {"city": "window", "days": 37}}
    assert_held(same_call, "gold_above_perturbed_gold", **given(WEATHER["arguments"]))
