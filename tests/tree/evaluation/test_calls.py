"""Calls: what one call raises affects no other."""

from __future__ import annotations

from rewardkit.tree.evaluation.calls import call_each


def test_call_each_continues_after_an_exception() -> None:
    def function(value: int) -> int:
        if value % 2:
            raise (ValueError if value % 3 else StopIteration)
        return value

    results = call_each(function, [(number,) for number in range(5)], 5)
    assert [result if isinstance(result, int) else type(result.error).__name__ for result in results] == [
        0, "ValueError", 2, "StopIteration", 4,
    ]  # fmt: skip
