"""Reading recorded completions."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.column import Column
from rewardkit.batch.score import SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.record.queries import Latency, completions, latencies, prompt_messages, shares_of_turns
from rewardkit.record.records import Record
from rewardkit.record.run import open_run
from tests.page.recorded import conversations
from tests.record.batches import VERSION, batch, written


def test_conversations_with_the_shares_of_their_turns(tmp_path: Path) -> None:
    run = open_run(conversations(tmp_path, 1))
    ((prompt,),) = run.prompts().select("prompt_id").fetchall()
    keys = [(1, 0, 0, 0), (1, 0, 0, 2)]
    found = completions(run, prompt, keys)
    assert [len(json.loads(found[key].messages or "")) for key in keys] == [3, 3]
    assert shares_of_turns(run, keys) == [(keys[0], 0, "form", 0.75), (keys[0], 1, "form", 0.25)]
    assert shares_of_turns(run, []) == []
    assert [one["role"] for one in json.loads(prompt_messages(run, prompt) or "")] == ["system", "user"]


def test_plain_texts_have_no_messages(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1, n=2))
    ((prompt,),) = run.prompts().select("prompt_id").fetchall()
    assert completions(run, prompt, [(1, 0, 0, 0)])[1, 0, 0, 0].messages is None
    assert prompt_messages(run, prompt) is prompt_messages(run, "nothing") is None


def test_parts_belong_to_their_component_even_if_names_have_slashes(tmp_path: Path) -> None:
    components = {
        name: Column(np.ones(1), np.full(1, SCORED, dtype=np.int8), parts={part: np.array([value])})
        for name, part, value in (("a", "b/c", 1.0), ("a/b", "c", 5.0))
    }
    run = written(tmp_path, Record(ScoreTable(["text"], components, {}, np.ones(1)), VERSION, step=0))
    ((prompt,),) = run.prompts().select("prompt_id").fetchall()
    found = completions(run, prompt, [(1, 0, 0, 0)])[1, 0, 0, 0]
    assert found.parts == {"a": {"b/c": 1.0}, "a/b": {"c": 5.0}}


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from([0.001, 0.01, 0.2, 3.0]), min_size=1, max_size=30), min_size=1, max_size=3))
def test_latencies_are_quantiles_of_all_calls(batches: list[list[float]]) -> None:
    with TemporaryDirectory() as folder:
        records = [batch(step, durations={"form": seconds}) for step, seconds in enumerate(batches)]
        found = latencies(written(folder, *records))
    together = np.concatenate(batches)
    median, most = np.quantile(together, [0.5, 0.95], method="inverted_cdf")
    assert found == {"form": Latency(median, most, together.max())}
