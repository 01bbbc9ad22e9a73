"""Leaf: duplicates are scored once, groups are passed whole, each row has its own result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.equality import equality


def test_duplicates_are_scored_once_and_their_result_and_note_shared() -> None:
    calls: list[tuple[str, int]] = []

    @rk.reward
    def close(completion: str, answer: int) -> rk.Score:
        calls.append((completion, answer))
        return rk.Score(answer / 10, note=completion, parts={"answer": answer})

    table = rk.score(close, ["a", "b", "a", "a"], answer=["1", "1", "1", "2"], other=["w", "x", "y", "z"])
    assert calls == [("a", 1), ("b", 1), ("a", 2)]
    assert table.total.tolist() == [0.1, 0.1, 0.1, 0.2]
    assert table.notes["close"] == ["a", "b", "a", "a"]
    assert table.parts["close"]["answer"].tolist() == [1.0, 1.0, 1.0, 2.0]


def test_faults_of_duplicates_are_reported_for_every_row() -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("no")

    assert [fault.row for fault in rk.score(down, ["a", "a", "b"]).faults] == [0, 1, 2]


@pytest.mark.parametrize("options", [{"deterministic": False}, {"scope": "batch"}, {"scope": "group"}])
def test_results_that_may_differ_between_equal_rows_are_not_shared(options: dict[str, Any]) -> None:
    seen: list[Any] = []

    def drawn(completion: Any) -> Any:
        seen.extend([completion] if isinstance(completion, str) else completion)
        return 0.5 if isinstance(completion, str) else [0.5] * len(completion)

    rk.score(rk.reward(**options)(drawn), ["a", "a"], prompts=["p", "p"])
    assert seen == ["a", "a"]


def test_different_values_with_the_same_hash_stay_apart() -> None:
    cells: list[Any] = [1, 1.0, True, "1", 0, False, 0.0, -0.0, "", None]
    seen: list[Any] = []

    @rk.reward
    def witness(answer: Any) -> float:
        seen.append(answer)
        return 0.5

    rk.score(witness, ["a"] * len(cells), answer=cells)
    assert equality(seen).count == len(cells)
    assert list(map(repr, seen)) == list(map(repr, cells))


def test_a_function_without_arguments_is_called_once() -> None:
    calls: list[int] = []

    @rk.reward
    def constant() -> float:
        calls.append(1)
        return 0.5

    assert rk.score(constant, ["a", "b"]).total.tolist() == [0.5, 0.5]
    assert calls == [1]


def test_conversations_with_the_same_text_are_duplicates_only_for_rewards_that_read_the_text() -> None:
    texts: list[str] = []
    conversations: list[Any] = []

    @rk.reward
    def by_text(completion: str) -> float:
        texts.append(completion)
        return 0.5

    @rk.reward
    def by_messages(messages: list[Any]) -> float:
        conversations.append(messages)
        return 0.5

    rk.score(by_text + by_messages, ["hi", [{"role": "assistant", "content": "hi"}]])
    assert texts == ["hi"]
    assert len(conversations) == 2


def test_one_open_row_opens_its_group_and_the_closed_rows_are_masked() -> None:
    groups: list[list[str]] = []

    @rk.reward
    def condition(completion: str) -> float:
        return 1.0 if completion == "open" else 0.0

    @rk.reward(scope="group")
    def relative(completion: list[str]) -> list[rk.Score]:
        groups.append(list(completion))
        return [rk.Score(0.5, note="seen", parts={"size": len(completion)}) for _ in completion]

    table = rk.score(rk.gate(condition, relative), ["open", "shut", "shut", "shut"], prompts=["p", "p", "q", "q"])
    assert groups == [["open", "shut"]]
    assert table.outcomes["relative"].tolist() == ["scored", "skipped", "skipped", "skipped"]
    assert table.notes["relative"] == ["seen", "", "", ""]
    np.testing.assert_array_equal(table.parts["relative"]["size"], [2.0, np.nan, np.nan, np.nan])
    assert table.total.tolist() == [0.5, 0.0, 0.0, 0.0]


def test_rows_of_a_group_that_cannot_be_bound_are_left_out_of_its_lists() -> None:
    @rk.reward(scope="group")
    def share(completion: list[str], answer: list[float]) -> list[float]:
        return [1.0 / len(answer)] * len(answer)

    table = rk.score(share, list("abc"), prompts=["p"] * 3, answer=["1", None, "1"], num_generations=3)
    assert table["share"].tolist()[::2] == [0.5, 0.5]
    assert table.outcomes["share"].tolist() == ["scored", "abstained", "scored"]


def test_an_empty_batch_gives_an_empty_table() -> None:
    tree = rk.gate(rk.tags("answer"), rk.exact("answer")) + 0.5 * rk.tags("answer")
    table = rk.score(tree, [], answer=[])
    assert len(table) == 0
    assert [len(values) for values in table.terms.values()] == [0, 0]
    assert repr(table)


def test_policy_numbers_outside_the_bounds_widen_them() -> None:
    @rk.reward(on_error=-1.0, on_failure=2.0)
    def risky(completion: str) -> float:
        return 1.0 / len(completion)

    assert risky.bounds == (-1.0, 2.0)
    assert rk.score(risky, ["", "ab"]).total.tolist() == [-1.0, 0.5]
