"""Laws that do not apply: nothing of their kind is there, or the other rewards of the run judge it."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from tests.check.laws.test_elements import COLORS, compared, counted
from tests.check.laws.test_parts import CARDS, CLAIMS, all_fields, behind_it, in_it
from tests.check.laws.test_stray_letters import VERDICTS, unread_is_right, unread_is_wrong
from tests.check.rewards import assert_skipped, broken, form, number, outcome


def first_field(completions: list[str], fields: list[dict[str, str]], **kwargs: Any) -> list[float]:
    """Judges the name; the others are judged elsewhere."""
    return [float(f"name: {one['name']}" in text) for text, one in zip(completions, fields, strict=True)]


@rk.reward(scope="batch")
def ranks(completion: list[str]) -> list[float]:
    order = sorted(completion)
    return [order.index(text) / len(order) for text in completion]


COVERS = {
    "almost_right_is_wrong": (in_it, behind_it, CLAIMS, "Verdict: {answer}ish"),
    "every_part_counts": (first_field, all_fields, CARDS, "name: {fields[name]}\ncity: Bern\njob: clerk"),
    "every_element_counts": (counted, compared, COLORS, "Colors: {colors[0]}, {colors[0]}, {colors[1]}"),
    "wrong_stays_wrong": (unread_is_right, unread_is_wrong, VERDICTS, "It may be {answer}."),
}


@pytest.mark.parametrize("law", COVERS)
def test_what_the_other_rewards_judge(law: str) -> None:
    """A wrong completion that the reward pays, and the sum does not, shows that it judges a part only."""
    part, judge, rows, paid = COVERS[law]
    bad = [[paid.format(**row), one] for row, one in zip(rows["examples"], rows["bad"], strict=True)]
    given = {**rows, "bad": bad}
    broken(part, law, **given)
    assert outcome(part, law, **given, other_rewards=[judge]).reason == "the other rewards judge that"
    broken(part, law, **given, other_rewards=[part])  # the sum pays the same


@pytest.mark.parametrize(
    ("law", "reward", "reason"),
    [
        ("gate_dominance", number, "the reward has no gate with a threshold"),
        ("position_bias", number, "the reward has no judge that ranks"),
        ("verbosity_bias", number, "the reward has no judge"),
        ("right_for_every_gold", form, "no gold answer has a type that can be replaced"),
        ("informative", ranks, 'the reward declares scope="batch"'),
    ],
)
def test_nothing_of_their_kind(law: str, reward: Any, reason: str) -> None:
    assert_skipped(reward, law, reason)
