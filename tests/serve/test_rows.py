"""Groups, progress and columns: what one request or row says changes no other."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rewardkit.errors import BindingError
from rewardkit.online.batches import batch_of, kinds
from rewardkit.online.rows import Row
from tests.serve.served import serving

GOOD = {"completion": "42", "columns": {"answer": "42"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"completion": "42"}, "must have the same columns, but one row has none, and another row has answer"),
        ({"completion": "die", "columns": {"answer": "42"}}, "its worker process crashed 3 times"),
    ],
)
def test_a_bad_row_costs_only_its_own_group_the_scores(bad: dict[str, Any], why: str) -> None:
    with serving("grouped") as running:
        status, said = running.post("/score", {"rows": [GOOD, GOOD, bad, GOOD, GOOD, GOOD], "num_generations": 2})
        assert status == 200
        assert [row["total"] is None for row in said["rows"]] == [False, False, True, True, False, False]
        assert why in said["rows"][2]["reasons"][0]


def test_rows_with_and_without_a_flag_are_different_kinds() -> None:
    rows = [Row("a"), Row("b", cut=True), Row("c", cut=False)]
    assert kinds(rows) == [[0], [1, 2]]
    assert kinds([Row("a"), Row("b", runs_calls=True), Row("c")]) == [[0, 2], [1]]
    assert batch_of([Row("b", runs_calls=True)], None).rollouts.runs_calls
    assert pickle.loads(pickle.dumps(Row("b", runs_calls=True))) == Row("b", runs_calls=True)


def test_rows_with_other_columns_are_no_batch() -> None:
    with pytest.raises(BindingError, match="one row has a, and another row has a, b"):
        batch_of([Row("x", columns={"a": 1}), Row("x", columns={"a": 1, "b": 2})], None)


@pytest.mark.slow
def test_a_reward_without_groups_scores_rows_apart_whatever_the_request_says() -> None:
    with serving("scheduled") as running:
        rows = [GOOD, {"completion": "x", "columns": {"answer": "1", "more": 2}}]
        status, said = running.post("/score", {"rows": rows, "num_generations": 2})
        assert status == 200
        assert [row["total"] is None for row in said["rows"]] == [False, False]
        status, said = running.post("/score", {"rows": rows, "progress": {"step": 10**400, "max_steps": 1}})
        assert (status, "progress.step" in said["error"]) == (422, True)
