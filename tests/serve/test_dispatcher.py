"""Which rows are the same row, so that they may share one score."""

from __future__ import annotations

import itertools
import math

from rewardkit.online.rows import Row
from rewardkit.progress.progress import Progress
from rewardkit.serve.dispatcher import _key

CELLS = ["1", 1, 1.0, True, 0.0, -0.0, None, [1], [True], [0.0], [-0.0], {"a": 1}, {"a": 1.0}, [], {}, "", "\ud800"]
ROWS = [
    *[Row("x", columns={"answer": cell}) for cell in CELLS],
    Row("x"),
    Row("x", ""),
    Row("", "x"),
    Row("x", columns={"other": "1"}),
    Row("x", completion_ids=[1]),
    Row("x", completion_ids=[2]),
    Row("x", cut=True),
    Row("x", cut=False),
    Row([{"role": "assistant", "content": "x"}]),
]


def test_rows_that_differ_in_anything_are_scored_apart() -> None:
    for one, other in itertools.combinations(ROWS, 2):
        assert _key(one, None) != _key(other, None), (one, other)


def test_progress_is_part_of_a_row() -> None:
    moments = [None, Progress(5, 10), Progress(5, 100), Progress(6, 10)]
    assert len({_key(ROWS[0], moment) for moment in moments}) == len(moments)


def test_equal_rows_are_found_whatever_their_objects() -> None:
    text = "".join(["4", "2"])
    assert _key(Row(text, text, {"a": text, "b": [1]}), None) == _key(Row("42", "42", {"a": "42", "b": [1]}), None)
    assert _key(Row("x", columns={"a": math.nan}), None) == _key(Row("x", columns={"a": float("nan")}), None)


def test_what_cannot_be_compared_is_not_shared() -> None:
    assert _key(Row("x", columns={"a": object()}), None) is None
