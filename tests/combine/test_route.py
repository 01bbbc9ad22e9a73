"""Routes: each row is scored by the branch for its cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk


@rk.reward
def by_number(completion: str, answer: float) -> float:
    return 1.0 if float(completion) == answer else 0.0


@rk.reward
def by_text(completion: str, text: str) -> rk.Score:
    return rk.Score(0.5, note="text")


ROUTE = rk.route({"math": by_number, "prose": by_text}, by="task")


def test_only_the_chosen_branch_is_evaluated_and_only_its_columns_are_read() -> None:
    table = rk.score(ROUTE, ["3", "word"], task=["math", "prose"], answer=["3", "not a number"], text=[None, "x"])
    assert table.total.tolist() == [1.0, 0.5]
    assert table.outcomes["by_number"].tolist() == ["scored", "abstained"]
    assert table.outcomes["by_text"].tolist() == ["abstained", "scored"]
    assert table.terms["by_number"].tolist() == [1.0, 0.0]


def test_an_unknown_key_names_row_value_and_near_miss() -> None:
    with pytest.raises(rk.RewardFailure, match=r"row 1 has 'maths'.*Did you mean 'math'.*default="):
        rk.score(ROUTE, ["3", "3"], task=["math", "maths"], answer=[3, 3], text=["", ""])


@pytest.mark.parametrize("key", [None, 7, [1], ([1],), {"a": 1}, float("nan"), "other"])
def test_a_default_takes_every_other_value(key: Any) -> None:
    tree = rk.route({"math": by_number}, by="task", default=by_text)
    assert rk.score(tree, ["3"], task=[key], answer=[3], text=["x"]).total.tolist() == [0.5]
    with pytest.raises(rk.RewardFailure, match="which is not one of 'math'"):
        rk.score(ROUTE, ["3"], task=[key], answer=[3], text=["x"])


def test_a_missing_column_names_the_near_miss() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"no such column.*Did you mean 'tasks'"):
        rk.score(ROUTE, ["3"], tasks=["math"], answer=[3], text=["x"])


@pytest.mark.parametrize(
    ("branches", "by"), [({}, "task"), ([by_number], "task"), ({"a": by_number}, ""), ({"a": by_number}, 3)]
)
def test_routes_that_cannot_be_are_refused(branches: Any, by: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        rk.route(branches, by)


def test_a_branch_that_is_not_a_reward_is_named() -> None:
    with pytest.raises(TypeError, match="route: the branch 'a' must be a reward"):
        rk.route({"a": float}, by="task")


def test_notes_of_other_rows_do_not_leak_into_a_named_route() -> None:
    noted = rk.reward(name="noted")(lambda completion: rk.Score(0.5, note=completion))
    plain = rk.reward(name="plain")(lambda completion: 0.25)
    tree = rk.route({"a": noted, "b": plain}, by="task").named("route") + 0.1 * noted
    table = rk.score(tree, ["x", "y"], task=["a", "b"])
    assert table.notes["route"] == ["x", ""]


def test_a_reward_in_two_branches_is_scored_in_both() -> None:
    table = rk.score(rk.route({"a": by_text, "b": by_text}, by="task"), ["x", "y"], task=["a", "b"], text=["", ""])
    assert table["by_text"].tolist() == [0.5, 0.5]


def test_group_rewards_see_the_group_of_their_task() -> None:
    seen: list[list[str]] = []

    @rk.reward(scope="group")
    def rank(completion: list[str]) -> list[float]:
        seen.append(completion)
        return [0.5] * len(completion)

    tree = rk.route({"a": rank}, by="task", default=by_text)
    table = rk.score(tree, list("wxyz"), prompts=["p", "p", "q", "q"], task=["a", "a", "b", "b"], text=[""] * 4)
    assert seen == [["w", "x"]]
    np.testing.assert_array_equal(table["rank"], [0.5, 0.5, np.nan, np.nan])


def test_a_key_of_another_type_is_explained() -> None:
    with pytest.raises(
        rk.RewardFailure,
        match=r"row 0 has '1', which is not one of 1, 2\. The cell has the type str, .* int",
    ):
        rk.score(rk.route({1: rk.exact("answer"), 2: rk.tags("a")}, by="level"), ["x"], level=["1"], answer=["x"])
