"""Rules: the best of a prompt, and pairs of a better and a worse completion, as a brute-force search finds them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.scoring.selection import Keep, Pairs

SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 0.8, 0.7999999999999999, 1.0])
ROWS = st.lists(st.tuples(st.integers(0, 3), SCORES | st.just(math.nan)), max_size=20)
COUNTS = st.none() | st.integers(1, 4)


@given(rows=ROWS, most=COUNTS, least=st.none() | SCORES)
def test_kept_rows_are_the_first_of_each_prompt_by_score(
    rows: list[tuple[int, float]], most: int | None, least: float | None
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    scores = np.array([score for _, score in rows], dtype=np.float64)
    expected = set()
    for group in set(groups.tolist()):
        there = [row for row, one in enumerate(rows) if one[0] == group and not math.isnan(one[1])]
        there = [row for row in there if least is None or rows[row][1] >= least - 1e-9]
        expected |= set(sorted(there, key=lambda row: (-rows[row][1], row))[:most])
    assert set(np.flatnonzero(Keep(most, least).rows(groups, scores)).tolist()) == expected


@given(
    rows=st.lists(st.tuples(SCORES, st.integers(0, 3)), max_size=10),
    most=COUNTS,
    gap=st.sampled_from([0.0, 0.1, 0.2, 0.5, 2.0]),
)
def test_pairs_are_those_with_the_largest_gap(rows: list[tuple[float, int]], most: int | None, gap: float) -> None:
    scores, texts = [score for score, _ in rows], [text for _, text in rows]
    pairs = list(Pairs(most, gap).of(scores, texts))
    differences = [scores[chosen] - scores[rejected] for chosen, rejected in pairs]
    every = [
        scores[one] - scores[other]
        for one, other in itertools.permutations(range(len(rows)), 2)
        if scores[one] - scores[other] > max(1e-9, gap - 1e-9) and texts[one] != texts[other]
    ]
    assert differences == sorted(every, reverse=True)[:most]
    assert len(set(pairs)) == len(pairs)
    assert all(texts[chosen] != texts[rejected] for chosen, rejected in pairs)


def test_one_prompt_with_very_many_completions_takes_memory_for_them_but_not_for_their_pairs() -> None:
    scores = [float(row % 2) for row in range(50_000)]
    pairs = list(Pairs(3).of(scores, list(range(50_000))))
    assert pairs == [(1, 0), (1, 2), (1, 4)]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Keep(1), "best"),
        (Keep(4, 0.5), "top:4,above:0.5"),
        (Keep(None, 1.0), "above:1"),
        (Pairs(), "best-worst"),
        (Pairs(None, 0.2), "all, gap 0.2"),
        (Pairs(3), "3"),
    ],
)
def test_a_rule_is_shown_as_it_is_written(rule: Keep | Pairs, text: str) -> None:
    assert str(rule) == text
