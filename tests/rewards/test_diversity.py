"""Diversity: the share of the others in the group that gave a different answer."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def totals(completions: list[str], prompts: str = "", reward: rk.Reward | None = None) -> list[float]:
    groups = list(prompts) or ["a"] * len(completions)
    return list(rk.score(rk.diversity() if reward is None else reward, completions, prompts=groups).total.tolist())


def answers(*found: str) -> list[str]:
    return [f"<answer>{one}</answer>" for one in found]


def test_who_is_alone_with_an_answer_gets_one_and_who_agrees_less() -> None:
    assert totals(answers("red", "Red", "blue")) == [0.5, 0.5, 1.0]
    assert totals(answers("red", "red", " red\n")) == [0.0, 0.0, 0.0]
    assert totals(answers("1", "1", "2", "2"), "aabb") == [0.0] * 4
    assert totals(answers("1", "2", "1", "2"), "aabb") == [1.0] * 4
    with pytest.raises(rk.errors.BindingError, match="num_generations"):
        totals(answers("1", "2", "1", "2"), "abab")
    assert totals(answers("1", "1", "1", "1"), "aabb") == [0.0] * 4


def test_case_counts_where_it_is_asked_to_and_white_space_never() -> None:
    strict = rk.diversity(ignore_case=False)
    assert totals(answers("red", "Red"), reward=strict) == [1.0, 1.0]
    assert totals(answers("a  b", "a\nb"), reward=strict) == [0.0, 0.0]


def test_a_missing_answer_scores_zero_but_differs_from_the_others() -> None:
    table = rk.score(rk.diversity(), [*answers("red"), *answers(""), *answers("red")])
    assert table.total.tolist() == [0.5, 0.0, 0.5]
    assert table.notes["diversity"] == ["", "no answer found", ""]
    assert totals(["", ""]) == [0.0, 0.0]
    assert totals(["a" * 1_000_000, *answers("a")]) == [0.0, 1.0]


def test_alone_in_the_group_it_abstains() -> None:
    table = rk.score(rk.diversity(), answers("1", "2", "2"), prompts=[*"abb"])
    assert table.outcomes["diversity"].tolist() == ["abstained", "scored", "scored"]
    np.testing.assert_array_equal(table.total, [math.nan, 0.0, 0.0])
    assert totals([]) == []


def test_other_parts_of_the_completion_may_be_compared() -> None:
    completions = ["so <answer>1</answer>", "thus <answer>1</answer>"]
    assert totals(completions, reward=rk.diversity(extract=rk.extract.whole())) == [1.0, 1.0]
    assert totals([r"\boxed{1}", r"\boxed{1}"], reward=rk.diversity(extract=rk.extract.boxed())) == [0.0, 0.0]
    parsed = rk.diversity(extract=rk.extract.json("a"))
    assert totals(['{"a": [1, 2]}', '{"a":[1,2]}', '{"a": {"b": null}}', "{}"], reward=parsed) == pytest.approx(
        [2 / 3, 2 / 3, 1.0, 0.0]
    )


@given(st.lists(st.lists(st.sampled_from(["1", "2", "3", ""]), min_size=2, max_size=6), max_size=4))
def test_it_is_what_a_double_loop_gives(groups: list[list[str]]) -> None:
    expected = [
        sum(other != one for other in group) / (len(group) - 1) if one else 0.0 for group in groups for one in group
    ]
    completions = answers(*(one for group in groups for one in group))
    prompts = "".join(str(place) * len(group) for place, group in enumerate(groups))
    assert totals(completions, prompts) == pytest.approx(expected)


@given(st.lists(st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=20), max_size=5))
def test_no_text_raises(texts: list[str]) -> None:
    for reward in (rk.diversity(), rk.diversity(extract=rk.extract.whole())):
        found = rk.score(reward, texts).total
        assert len(texts) == 1 or all(0.0 <= value <= 1.0 for value in found)


def test_in_a_gate_the_whole_group_is_compared() -> None:
    opened = rk.reward(name="opened")(lambda completion: float("shut" not in completion))
    completions = [*answers("1", "2"), "shut <answer>1</answer>"]
    table = rk.score(rk.gate(opened, rk.diversity()), completions)
    assert table.total.tolist() == [0.5, 1.0, 0.0]


def test_it_is_a_value_scored_by_whole_groups() -> None:
    for reward in (rk.diversity(), rk.diversity(extract=rk.extract.whole(), ignore_case=False)):
        again = pickle.loads(pickle.dumps(reward))
        assert (again, hash(again), repr(again)) == (reward, hash(reward), repr(reward))
        assert reward.facts.together == "group"
    assert repr(rk.diversity()) == "diversity()"
    assert repr(rk.diversity(extract=rk.extract.boxed(), ignore_case=False)) == (
        "diversity(extract=boxed(), ignore_case=False)"
    )


@pytest.mark.parametrize("extract", [3, "answer", {"tag": "answer"}])
def test_other_values_are_refused_as_extractors(extract: object) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="extract"):
        rk.diversity(extract=extract)


def test_formatting_does_not_change_an_answer() -> None:
    dressed = ["red", "red.", "**red**", "re\u200bd", '"Red"', "$red$,"]
    completions = [f"<answer>{answer}</answer>" for answer in dressed]
    assert rk.score(rk.diversity(), completions).total.tolist() == [0.0] * len(dressed)
    assert rk.score(rk.diversity(), ["<answer>x+1</answer>", "<answer>x-1</answer>"]).total.tolist() == [1.0, 1.0]
