"""Reading recorded completions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rewardkit.core.batch.column import Column
from rewardkit.core.batch.score import SCORED
from rewardkit.core.batch.table import ScoreTable
from rewardkit.store.records import Record
from rewardkit.viewer.reader import completions
from tests.store.batches import VERSION, written


def test_parts_belong_to_their_component_even_if_names_have_slashes(tmp_path: Path) -> None:
    components = {
        name: Column(np.ones(1), np.full(1, SCORED, dtype=np.int8), parts={part: np.array([value])})
        for name, part, value in (("a", "b/c", 1.0), ("a/b", "c", 5.0))
    }
    run = written(tmp_path, Record(ScoreTable(["text"], components, {}, np.ones(1)), VERSION, step=0))
    ((prompt,),) = run.prompts().select("prompt_id").fetchall()
    found = completions(run, prompt, [(1, 0, 0, 0)])[1, 0, 0, 0]
    assert found.parts == {"a": {"b/c": 1.0}, "a/b": {"c": 5.0}}
