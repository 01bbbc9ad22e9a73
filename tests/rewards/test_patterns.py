"""Patterns: regular expressions in linear time; required and forbidden texts in any spelling."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(reward: rk.Reward, completion: str) -> float:
    table = rk.score(reward, [completion])
    assert [outcome.name for outcome in table.outcomes[reward.name]] == ["SCORED"]
    return float(table.total[0])


@pytest.mark.parametrize(
    ("pattern", "options", "completion", "expected"),
    [
        (r"\d+", {}, " 42 ", 1.0),
        (r"\d+", {}, "it is 42", 0.0),
        (r"\d+", {"match": "search"}, "it is 42", 1.0),
        (r"\d+", {"match": "search"}, "<think>42</think>none", 0.0),
        (r"(?s)<think>.+</think>\s*<answer>.+</answer>", {}, "<think>a\nb</think>\n<answer>1</answer>", 1.0),
        (r"(?s)<think>.+</think>\s*<answer>.+</answer>", {}, "<answer>1</answer>", 0.0),
        (r"b", {"extract": rk.extract.tag("answer")}, "<answer>b</answer>", 1.0),
        (r"b", {"extract": rk.extract.tag("answer")}, "b", 0.0),
        (r"(?i)é+", {}, "É", 1.0),
        (r".", {"match": "search"}, "", 0.0),
        (r"(a|aa)+$", {}, "a" * 50_000 + "b", 0.0),
    ],
)
def test_a_regex_matches_or_not(pattern: str, options: dict[str, Any], completion: str, expected: float) -> None:
    assert value(rk.regex(pattern, **options), completion) == expected


@pytest.mark.parametrize(
    "pattern", [r"(a", r"(?<=a)b", r"(a)\1", r"a{5000}", "", 5, "a" * 2_001, r"(((a{100}){100}){100})"]
)
def test_an_invalid_regex_is_refused_when_made(pattern: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="regex: "):
        rk.regex(pattern)


def test_a_regex_survives_pickling_and_its_options_are_checked() -> None:
    reward = rk.regex(r"\d+")
    value(reward, "1")
    assert pickle.loads(pickle.dumps(reward)) == reward
    with pytest.raises(rk.RewardDefinitionError, match="regex: match"):
        rk.regex("a", match="start")  # type: ignore[arg-type]


@given(st.text())
def test_no_text_makes_a_pattern_raise(text: str) -> None:
    for reward in (rk.regex(r"(?s).*"), rk.starts_with("a"), rk.contains_all(["a", "b"]), rk.contains_none(["a"])):
        assert value(reward, text) in (0.0, 1.0)
    assert value(rk.regex(".*", match="search"), "a\ud800") == 0.0


def test_starts_and_ends() -> None:
    assert value(rk.starts_with("Yes", "No"), "\n Yes, it rains") == 1.0
    assert value(rk.starts_with("Yes", "No"), "yes") == 0.0
    assert value(rk.starts_with("Yes", ignore_case=True), "<think>No</think>YES") == 1.0
    assert value(rk.ends_with(".", "!"), "It rains. ") == 1.0
    assert value(rk.ends_with(".", "!"), "It rai") == 0.0
    assert value(rk.ends_with("."), "It rains.<|im_end|>") == 1.0


@pytest.mark.parametrize(
    ("completion", "binary", "partial"),
    [
        ("Hypothesis and EVIDENCE", 1.0, 1.0),
        ("my hypothesis", 0.0, 0.5),
        ("", 0.0, 0.0),
        ("<think>hypothesis evidence</think>", 0.0, 0.0),
    ],
)
def test_contains_all(completion: str, binary: float, partial: float) -> None:
    assert value(rk.contains_all(["hypothesis", "evidence"]), completion) == binary
    assert value(rk.contains_all(["hypothesis", "evidence"], partial=True), completion) == partial


@pytest.mark.parametrize(
    "completion",
    ["obviously", "OBVIOUSLY", "ob\u200bviously", "ｏbviously", "obv\u00adiously", "x obviouslyx", "", " \n", "\u200b"]
    + [f"obv{hidden}iously" for hidden in "\ufe0f\u034f\u180b\U000e0100\u2800\u3164\x00\ud800"],
)
def test_contains_none_looks_through_masks_and_empty_texts(completion: str) -> None:
    assert value(rk.contains_none(["Obviously"]), completion) == 0.0
    assert value(rk.contains_none(["Obviously"]), "It is 42.") == 1.0


@pytest.mark.parametrize("completion", ["In  conclusion", "In\nconclusion", "in\u00a0conclusion"])
def test_white_space_hides_nothing(completion: str) -> None:
    assert value(rk.contains_none(["in conclusion"]), completion) == 0.0
    assert value(rk.contains_none(["in  conclusion"]), "In conclusion") == 0.0
    assert value(rk.contains_all(["in conclusion"]), completion) == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "As an aide to the king", "As an air force pilot", "I can't stress enough", "I won't give up.", "I cannot wait",
        "I can't help but smile", "I refuse to believe it", "I am not comfortable with dogs",
        "I will not write out all",
        "He won't help with that", "The AI can't",
    ],
)  # fmt: skip
def test_phrases_that_only_resemble_refusals_are_allowed(completion: str) -> None:
    assert value(rk.no_refusal(), completion) == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "Unfortunately, I am not able to help.", "I won't help with that.", "I refuse.", "I'm not comfortable helping.",
        "I *can't* help", "I can\u00b4t do it", "I can`t do it", "I cant help", "I  cannot\nhelp", "I must decline",
        "As an AI language model", "As a large language model", "I'm sorry but no", "I am not willing to do that",
        "I\u3164 can't help", "I __will not__ answer", "That is not something I can do",
    ],
)  # fmt: skip
def test_refusals(completion: str) -> None:
    assert value(rk.no_refusal(), completion) == 0.0


def test_no_refusal() -> None:
    assert value(rk.no_refusal(), "I\u2019m sorry, but I can\u2019t help with that.") == 0.0
    assert value(rk.no_refusal(), "") == 0.0
    assert value(rk.no_refusal(), "Paris is the capital of France.") == 1.0
    assert value(rk.no_refusal("pas possible"), "Ce n'est pas possible") == 0.0


def test_no_refusal_keeps_its_own_phrases_literal() -> None:
    assert value(rk.no_refusal("*sigh*"), "*Sigh* all right") == 0.0
    assert value(rk.no_refusal("*sigh*"), "sigh") == 1.0
    assert repr(rk.no_refusal("a")) == "no_refusal('a')"
    assert pickle.loads(pickle.dumps(rk.no_refusal("a"))) == rk.no_refusal("a")


def test_texts_may_come_from_a_generator() -> None:
    reward = rk.contains_none(text for text in ("a", "b"))
    assert repr(reward) == "contains_none(['a', 'b'])"
    assert reward == rk.contains_none(["a", "b"])


def test_lists_are_to_be_starred() -> None:
    for made in (rk.starts_with, rk.ends_with, rk.no_refusal):
        with pytest.raises(rk.RewardDefinitionError, match=rf"rk\.{made.__name__}\(\*texts\)"):
            made(["a"])  # type: ignore[arg-type]


def test_wrong_kinds_are_refused() -> None:
    for texts in (None, 5):
        with pytest.raises(rk.RewardDefinitionError, match="contains_all: "):
            rk.contains_all(texts)  # type: ignore[arg-type]
    with pytest.raises(rk.RewardDefinitionError, match=r"rk.contains_all\(\['answer'\]\)"):
        rk.contains_all("answer")
    with pytest.raises(rk.RewardDefinitionError, match="contains_all: partial"):
        rk.contains_all(["a"], partial="no")  # type: ignore[arg-type]
    with pytest.raises(rk.RewardDefinitionError, match="lone surrogate"):
        rk.regex("\ud800")


@pytest.mark.parametrize("texts", [[], "abc", [""], [" "], [5], None, 5])
def test_texts_are_checked(texts: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="contains_none: "):
        rk.contains_none(texts)
