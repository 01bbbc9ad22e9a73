"""The numbers of a tree: read, set again, and checked as when it was made."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import rewardkit as rk
from rewardkit_adapters.live.mailbox import Request
from rewardkit_adapters.live.numbers import numbers_of, parse_weight, replaced_values, tunables, with_numbers
from tests.trees import trees


@rk.reward
def right(completion: str) -> float:
    return 1.0


@rk.reward
def style(completion: str) -> float:
    return 0.5


TAGS = rk.tags("answer")


@given(trees(groups=True))
def test_a_tree_with_its_own_numbers_is_the_same_tree(reward: rk.Reward) -> None:
    found = numbers_of(reward)
    again = with_numbers(reward, found)
    assert again == reward
    assert again.fingerprint == reward.fingerprint
    assert repr(again) == repr(reward)
    assert sum(map(len, found.values())) == len(tunables(reward))


@given(trees())
def test_each_number_can_be_set_by_its_name_and_nothing_else_changes(reward: rk.Reward) -> None:
    given = numbers_of(reward)["weights"]
    for name in given:
        try:
            changed = numbers_of(with_numbers(reward, {"weights": {name: 0.125}}))["weights"]
        except rk.RewardDefinitionError:  # it is part of a condition, say, which can then reach no threshold
            continue
        assert changed == {**given, name: 0.125}


def test_numbers_are_called_after_what_they_belong_to() -> None:
    reward = rk.gate(TAGS, 0.7 * right + 0.3 * style, threshold=0.5) + 0.1 * style + rk.monitor(right)
    assert numbers_of(reward) == {
        "weights": {"tags_gate": 1.0, "right": 0.7, "tags_gate/style": 0.3, "style": 0.1},
        "thresholds": {"tags_gate": 0.5},
        "schedules": {},
    }
    changed = with_numbers(reward, {"weights": {"style": 0.4, "right": "linear(0, 1)"}, "thresholds": {"tags_gate": 1}})
    linear = rk.schedules.linear(0, 1)
    assert changed == rk.gate(TAGS, right * linear + 0.3 * style) + 0.4 * style + rk.monitor(right)


def test_the_ends_of_stages_are_numbers_too() -> None:
    stages = [rk.Stage("first", right, until=0.3, over=0.1), rk.Stage("then", right + 0.5 * style)]
    reward = rk.curriculum(stages).named("course")
    assert numbers_of(reward)["schedules"] == {"first": 0.3}
    for value in (0.5, "when_reached('right', level=0.8, window=5)"):
        changed = with_numbers(reward, {"schedules": {"first": value}})
        assert changed.name == "course"
        assert parse_weight(numbers_of(changed)["schedules"]["first"]) == parse_weight(value)
    with pytest.raises(rk.RewardDefinitionError, match="mixes fractions"):
        with_numbers(reward, {"schedules": {"first": 40}})  # over=0.1 is a fraction


def test_replaced_numbers_and_schedules_are_named_as_in_the_request() -> None:
    growing = rk.schedules.linear(0, 0.4, end=0.5)
    content = rk.gate(TAGS, right * growing + 0.3 * style, threshold=rk.schedules.linear(0, 1))
    course = rk.curriculum(
        [
            rk.Stage("first", right, until=rk.schedules.when_reached("right", level=0.8, window=5)),
            rk.Stage("then", content),
        ]
    )
    numbers = {
        "weights": {"tags_gate/right": 0.6, "style": 0.4},
        "thresholds": {"tags_gate": 0.5},
        "schedules": {"first": 0.3},
    }
    replaced = replaced_values(course, numbers)
    assert {kind: list(values) for kind, values in replaced.items()} == {kind: list(numbers[kind]) for kind in numbers}
    assert with_numbers(with_numbers(course, numbers), replaced) == course
    request = Request(1, "numbers", numbers={"weights": {"tags_gate/right": 0.6, "style": 0.4}})
    assert request.change({"weights": replaced["weights"]}) == (
        "weights.tags_gate/right: 0.6 replaces linear(0.0, 0.4, start=0.0, end=0.5), weights.style: 0.4 replaces 0.3"
    )


def test_what_follows_a_changed_part_still_follows_it() -> None:
    named = (0.5 * right + 0.5 * style).named("both")
    reward = rk.normalize(named, by="running") + right * rk.schedules.when_reached(named, level=0.9)
    changed = with_numbers(reward, {"weights": {"both/right": 0.75}})
    rk.Scorer(changed)  # it would raise where a schedule was made of a reward that is gone
    assert numbers_of(changed)["weights"]["both/right"] == 0.75


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"weights": {"tag_gate": 1.0}}, "Did you mean 'tags_gate'"),
        ({"wieghts": {"right": 1.0}}, "Did you mean 'weights'"),
        ({"weights": {"tags_gate": "much"}}, r"weights\.tags_gate: "),
        ({"weights": {"tags_gate": float("nan")}}, "finite"),
        ({"thresholds": {"tags_gate": 1.5}}, "never reached"),
        ({"thresholds": {"tags_gate": -1.0}}, "every completion"),
        ({"weights": {"mean/style": -1.0}}, "negative"),
        ({"weights": {"geometric_mean/style": -1.0}}, "negative"),
        ({"schedules": {"first": 1}}, "1.0"),
        ({"schedules": {"first": 0.9}}, "ascend"),
    ],
)
def test_numbers_are_checked_as_when_the_tree_was_made(numbers: Any, said: str) -> None:
    reward = (
        rk.gate(TAGS, right)
        + rk.mean(right, style)
        + rk.mean(right, style, kind="geometric")
        + rk.curriculum(
            [rk.Stage("first", right, until=0.3), rk.Stage("second", style, until=0.6), rk.Stage("last", right)]
        )
    )
    with pytest.raises(rk.RewardKitError, match=said):
        with_numbers(reward, numbers)


def test_a_name_that_says_too_little_lists_the_places() -> None:
    reward = rk.gate(TAGS, 0.7 * right + 0.3 * style) + rk.mean(2.0 * right, style)
    with pytest.raises(rk.RewardDefinitionError, match="tags_gate/right, mean/right"):
        with_numbers(reward, {"weights": {"right": 1.0}})
