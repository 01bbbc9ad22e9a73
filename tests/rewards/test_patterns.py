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
    for reward in (rk.regex(r"(?s).*"), rk.contains(start="a"), rk.contains(all=["a", "b"]), rk.contains(none="a")):
        assert value(reward, text) in (0.0, 1.0)
    assert value(rk.regex(".*", match="search"), "a\ud800") == 0.0


def test_starts_and_ends() -> None:
    assert value(rk.contains(start=["Yes", "No"]), "\n Yes, it rains") == 1.0
    assert value(rk.contains(start=["Yes", "No"]), "yes") == 0.0
    assert value(rk.contains(start="Yes", ignore_case=True), "<think>No</think>YES") == 1.0
    assert value(rk.contains(end=[".", "!"]), "It rains. ") == 1.0
    assert value(rk.contains(end=[".", "!"]), "It rai") == 0.0
    assert value(rk.contains(end="."), "It rains.<|im_end|>") == 1.0


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
    assert value(rk.contains(all=["hypothesis", "evidence"]), completion) == binary
    assert value(rk.contains(all=["hypothesis", "evidence"], partial=True), completion) == partial


@pytest.mark.parametrize(
    "completion",
    ["obviously", "OBVIOUSLY", "ob\u200bviously", "ｏbviously", "obv\u00adiously", "x obviouslyx", "", " \n", "\u200b"]
    + [f"obv{hidden}iously" for hidden in "\ufe0f\u034f\u180b\U000e0100\u2800\u3164\x00\ud800"],
)
def test_contains_none_looks_through_masks_and_empty_texts(completion: str) -> None:
    assert value(rk.contains(none="Obviously"), completion) == 0.0
    assert value(rk.contains(none="Obviously"), "It is 42.") == 1.0


@pytest.mark.parametrize("completion", ["In  conclusion", "In\nconclusion", "in\u00a0conclusion"])
def test_white_space_hides_nothing(completion: str) -> None:
    assert value(rk.contains(none="in conclusion"), completion) == 0.0
    assert value(rk.contains(none="in  conclusion"), "In conclusion") == 0.0
    assert value(rk.contains(all="in conclusion"), completion) == 1.0


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
    assert value(rk.contains(none=rk.REFUSALS), completion) == 1.0


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
    assert value(rk.contains(none=rk.REFUSALS), completion) == 0.0


def test_no_refusal() -> None:
    assert value(rk.contains(none=rk.REFUSALS), "I\u2019m sorry, but I can\u2019t help with that.") == 0.0
    assert value(rk.contains(none=rk.REFUSALS), "") == 0.0
    assert value(rk.contains(none=rk.REFUSALS), "Paris is the capital of France.") == 1.0
    assert value(rk.contains(none=[rk.REFUSALS, "pas possible"]), "Ce n'est pas possible") == 0.0


def test_no_refusal_keeps_its_own_phrases_literal() -> None:
    assert value(rk.contains(none=[rk.REFUSALS, "*sigh*"]), "*Sigh* all right") == 0.0
    assert value(rk.contains(none=[rk.REFUSALS, "*sigh*"]), "sigh") == 1.0
    assert repr(rk.contains(none=[rk.REFUSALS, "a"])) == "contains(none=[REFUSALS, 'a'])"
    assert pickle.loads(pickle.dumps(rk.contains(none=[rk.REFUSALS, "a"]))) == rk.contains(none=[rk.REFUSALS, "a"])


def test_texts_may_come_from_a_generator() -> None:
    reward = rk.contains(none=(text for text in ("a", "b")))
    assert repr(reward) == "contains(none=['a', 'b'])"
    assert reward == rk.contains(none=["a", "b"])


def test_rules_combine_and_each_broken_one_is_in_the_note() -> None:
    reward = rk.contains(all=["sort", "merge"], none="guess", start="First", end=".", partial=True)
    assert value(reward, "First sort, then merge.") == 1.0
    assert value(reward, "First sort.") == 0.5
    assert value(reward, "First sort") == 0.0
    table = rk.score(reward, ["I guess sort"])
    assert table.notes["contains"] == [
        "missing: ['merge']; contains 'guess'; starts with 'I guess sort'; ends with 'I guess sort'"
    ]
    assert eval(repr(reward), {"contains": rk.contains}) == reward


def test_one_text_is_a_list_of_one() -> None:
    assert rk.contains(all="because", start="{") == rk.contains(all=["because"], start=["{"])


def test_wrong_kinds_are_refused() -> None:
    without_all: list[dict[str, Any]] = [{}, {"none": []}, {"none": "a", "partial": True}]
    for wrong in [*without_all, {"all": "a", "partial": "no"}, {"all": rk.REFUSALS}]:
        with pytest.raises(rk.RewardDefinitionError, match="contains: "):
            rk.contains(**wrong)
    with pytest.raises(rk.RewardDefinitionError, match="lone surrogate"):
        rk.regex("\ud800")


@pytest.mark.parametrize("texts", [[], [""], [" "], [5], "\u200b", 5])
@pytest.mark.parametrize("option", ["all", "none", "start", "end"])
def test_texts_are_checked(option: str, texts: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=f"contains: {option} must be one or more strings"):
        rk.contains(**{option: texts})
