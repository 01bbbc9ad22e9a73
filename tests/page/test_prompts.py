"""The prompts of a run."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st

from rewardkit.page.prompts import Prompts, numbers_or_texts, ranges
from rewardkit.page.scores import Scores
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import open_run
from tests.page.recorded import record


def test_visits_as_ranges() -> None:
    assert ranges(np.array([], dtype=np.int64)) == ""
    assert ranges(np.array([3, 1, 2, 2, 5, 8, 9])) == "1–3, 5, 8–9"
    assert ranges(np.array([1_000])) == "1,000"


@given(st.sets(st.integers(0, 60)))
def test_ranges_name_every_visit_once(visits: set[int]) -> None:
    found: list[int] = []
    for part in filter(None, ranges(np.array(sorted(visits), dtype=np.int64)).split(", ")):
        low, _, high = part.partition("–")
        found += range(int(low), int(high or low) + 1)
    assert found == sorted(visits)


def test_columns_of_numbers_are_sorted_as_numbers() -> None:
    assert np.array_equal(numbers_or_texts(["10", "", "9"]), [10.0, np.nan, 9.0], equal_nan=True)
    assert numbers_or_texts(["10", "x"]) == ["10", "x"]


def test_lengths_in_tokens_are_known_where_they_were_recorded(tmp_path: Path) -> None:
    known = [record(1), record(2, prompt_lengths=None), record(3, prompts=4, prompt_lengths=[9] * 8 + [None] * 8)]
    with Recorder(tmp_path, patience=math.inf) as recorder:
        for one in known:
            recorder.record(one)
    run = open_run(tmp_path)
    scores = Scores.of(run.scores().to_arrow_table())
    prompts = Prompts.of(run, scores, None)
    tokens = dict(zip(prompts.texts, prompts.numbers["tokens"].tolist(), strict=True))
    assert list(tokens.values())[:3] == [9, 9, 7]
    assert math.isnan(list(tokens.values())[3])
