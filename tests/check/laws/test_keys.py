"""Objects are compared both ways: keys that the gold answer lacks, and keys that are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import assert_held, assert_skipped, broken, outcome

LAW = "keys_are_compared_both_ways"


def rows(*golds: Any, wrong: Any = None, form: str = "{}") -> dict[str, Any]:
    """Examples with JSON golds, whose right completions write them in a form."""
    written = [json.dumps(gold) for gold in golds]
    return {
        "examples": [{"prompt": f"task {number}", "answer": gold} for number, gold in enumerate(written)],
        "good": [form.format(gold) for gold in written],
        "bad": [form.format(json.dumps(wrong if wrong is not None else golds[0]))],
    }


FLAT = rows({"city": "Rome", "days": 2}, {"city": "Oslo", "days": 3}, wrong={"city": "Rome", "days": 5})
TAGGED = rows({"city": "Rome", "days": 2}, {"city": "Oslo", "days": 3}, wrong={}, form="I ask. <call>{}</call>")
NESTED = rows(
    {"to": {"city": "Rome", "zip": 17}, "days": 2}, {"to": {"city": "Oslo", "zip": 5}, "days": 3}, wrong={"days": 5}
)
LISTS = rows([{"sku": "a", "qty": 2}, {"sku": "b", "qty": 9}], [{"sku": "c", "qty": 3}], wrong=[])
ENVELOPES = rows(
    {"name": "weather", "arguments": {"city": "Rome", "days": 2}},
    {"name": "weather", "arguments": {"city": "Oslo", "days": 3}},
    wrong={"name": "weather", "arguments": {"city": "Bern", "days": 1}},
)


def judge(same: Callable[[Any, Any], bool]) -> Callable[..., list[float]]:
    """Make a trainer's function that compares the JSON of the completion with the gold JSON."""

    def compared(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for text, gold in zip(completions, answer, strict=True):
            try:
                made = json.loads(text.removeprefix("I ask. <call>").removesuffix("</call>"))
                scores.append(float(bool(same(made, json.loads(gold)))))
            except (ValueError, AttributeError, TypeError, KeyError, IndexError, RecursionError):
                scores.append(0.0)
        return scores

    compared.__name__ = same.__name__
    return compared


def of_gold(made: Any, gold: Any) -> bool:
    """Whether all of the gold answer is there, whatever else is."""
    if isinstance(gold, dict):
        return isinstance(made, dict) and all(key in made and of_gold(made[key], gold[key]) for key in gold)
    if isinstance(gold, list):
        return isinstance(made, list) and len(made) == len(gold) and all(map(of_gold, made, gold))
    return type(made) is type(gold) and made == gold


def of_made(made: Any, gold: Any) -> bool:
    return bool(made) and of_gold(gold, made)


def top_exact(made: Any, gold: Any) -> bool:
    return made.keys() == gold.keys() and of_gold(made, gold)


def defaults(made: Any, gold: Any) -> bool:
    return made.keys() <= gold.keys() and all(made.get(key, gold[key]) == gold[key] for key in gold) and "city" in made


def equal(made: Any, gold: Any) -> bool:
    return json.dumps(made, sort_keys=True) == json.dumps(gold, sort_keys=True)


def arguments_alone(made: Any, gold: Any) -> bool:
    return made["name"] == gold["name"] and equal(made["arguments"], gold["arguments"])


def city_alone(made: Any, gold: Any) -> bool:
    return bool(made["city"] == gold["city"])


@pytest.mark.parametrize(
    ("same", "given", "how"),
    [
        (of_gold, FLAT, "'surplus' that the gold answer lacks, it"),
        (of_gold, TAGGED, "'surplus' that the gold answer lacks, it"),
        (of_gold, NESTED, "'surplus' that the gold answer lacks, it"),
        (top_exact, NESTED, "'surplus' that the gold answer lacks in to, it"),
        (of_gold, LISTS, "'surplus' that the gold answer lacks in [0], it"),
        (of_gold, ENVELOPES, "'surplus' that the gold answer lacks in arguments, it"),
        (of_made, FLAT, "without the key 'city'"),
        (of_made, NESTED, "without the key 'to'"),
        (defaults, FLAT, "without the key 'days'"),
    ],
)
def test_one_side_alone_is_found(same: Callable[[Any, Any], bool], given: dict[str, Any], how: str) -> None:
    (found,) = broken(judge(same), LAW, **given)
    assert how in found.why


@pytest.mark.parametrize("given", [FLAT, TAGGED, NESTED, LISTS, ENVELOPES])
def test_objects_that_must_be_equal(given: dict[str, Any]) -> None:
    assert_held(judge(equal), LAW, **given)


def test_other_keys_beside_the_arguments_of_a_call_are_free() -> None:
    assert_held(judge(arguments_alone), LAW, **ENVELOPES)


def test_where_values_are_free_keys_may_be() -> None:
    assert_skipped(judge(city_alone), LAW, "no trial showed that the reward compares all values", **FLAT)


def test_ready_rewards_do_what_their_options_say() -> None:
    assert_skipped(rk.json_match("answer", extra="allow"), LAW, "ready reward", **FLAT)


def test_what_the_sum_tells_apart() -> None:
    given = {**FLAT, "bad": ['{"city": "Rome", "days": 2, "surplus": 1}', "{}"]}
    assert broken(judge(of_gold), LAW, **given)
    assert outcome(judge(of_gold), LAW, **given, other_rewards=[judge(equal)]).reason == "the other rewards judge that"


def called(name: str, **arguments: Any) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": arguments}
    return [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}]


CALLED: dict[str, Any] = {
    "examples": [
        {"prompt": [{"role": "user", "content": "Weather?"}], "call": '{"city": "Rome", "days": 2}'},
        {"prompt": [{"role": "user", "content": "And there?"}], "call": '{"city": "Oslo", "days": 3}'},
    ],
    "good": [called("weather", city="Rome", days=2), called("weather", city="Oslo", days=3)],
    "bad": [called("weather", city="Rome", days=9), [{"role": "assistant", "content": "Sunny."}]],
}


def arguments_of(same: Callable[[Any, Any], bool]) -> Callable[..., list[float]]:
    def compared(completions: list[Any], call: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for messages, gold in zip(completions, call, strict=True):
            calls = messages[0].get("tool_calls") or [] if isinstance(messages, list) and messages else []
            made = [one["function"]["arguments"] for one in calls if isinstance(one, dict) and "function" in one]
            scores.append(float(len(made) == 1 and same(made[0], json.loads(gold))))
        return scores

    return compared


def test_calls_in_messages() -> None:
    (found,) = broken(arguments_of(of_gold), LAW, **CALLED)
    assert "'surplus'" in found.why
    assert_held(arguments_of(equal), LAW, **CALLED)
