"""Scores in memory, compared with queries by DuckDB."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.page.scores import Scores, key_text, read_key
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import open_run
from tests.page.recorded import GENERATIONS, conversations, ordinary, record


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    run = open_run(ordinary(tmp_path_factory.mktemp("runs") / "run"))
    return Scores.of(run.scores(training=None).to_arrow_table())


def test_all_rows_are_in_order_of_steps(scores: Scores) -> None:
    assert len(scores) == 12 * 3 * GENERATIONS
    assert (np.diff(scores.step) >= 0).all()
    assert set(scores.components) == {"form", "answer"}
    assert scores.length_unit == "tokens"


def test_outcomes_and_gaps(scores: Scores) -> None:
    last = int(scores.rows_of(scores.prompt_ids[-1])[-1])
    assert scores.outcome("answer", last) == "errored"
    assert np.isnan(scores.total[last])
    assert scores.outcome("form", last) == "scored"
    assert scores.outcome("nothing", last) == ""


def test_every_completion_is_found_by_its_key(scores: Scores) -> None:
    for row in (0, 17, len(scores) - 1):
        assert scores.find(read_key(key_text(scores.key(row)))) == row
    assert scores.find((9, 9, 9, 9)) is None


@given(st.text())
def test_invalid_keys_are_none(text: str) -> None:
    key = read_key(text)
    assert key is None or key_text(key) == ".".join(str(int(part)) for part in text.split("."))


def test_visits_are_epochs_if_there_are_two(scores: Scores) -> None:
    assert scores.visit_word == "epoch"
    assert sorted(set(scores.visit.tolist())) == [1, 2, 3]
    assert set(scores.visit[scores.step <= 4].tolist()) == {1}


def test_visits_are_steps_otherwise(tmp_path: Path) -> None:
    run = open_run(ordinary(tmp_path / "run", 4, epochs=1.0))
    found = Scores.of(run.scores(training=None).to_arrow_table())
    assert found.visit_word == "step"
    assert sorted(set(found.visit.tolist())) == [1, 2, 3, 4]


def test_new_rows_are_appended(tmp_path: Path) -> None:
    with Recorder(tmp_path, patience=math.inf) as recorder:
        for step in (1, 2):
            recorder.record(record(step))
        recorder.flush()
        before = Scores.of(open_run(tmp_path).scores(training=None).to_arrow_table())
        recorder.record(record(3, prompts=5, changed=True))
    everything = open_run(tmp_path).scores(training=None).to_arrow_table()
    late = open_run(tmp_path).sql("select * from scores where part = 2").to_arrow_table()
    joined, whole = before.joined(Scores.of(late)), Scores.of(everything)
    np.testing.assert_array_equal(joined.step, whole.step)
    np.testing.assert_array_equal(joined.total, whole.total)
    assert [joined.prompt_ids[code] for code in joined.prompt] == [whole.prompt_ids[code] for code in whole.prompt]
    assert [joined.versions[code] for code in joined.version] == [whole.versions[code] for code in whole.version]


def test_turns_and_calls_of_conversations_beside_plain_texts(tmp_path: Path) -> None:
    with Recorder(tmp_path, patience=math.inf) as recorder:
        recorder.record(record(1, prompts=1))
        recorder.flush()
        plain = Scores.of(open_run(tmp_path).scores(training=None).to_arrow_table())
    run = open_run(conversations(tmp_path, 2))
    late = Scores.of(run.sql("select * from everything.scores where attempt = 2").to_arrow_table())
    joined = plain.joined(late)
    assert not plain.has_turns
    assert joined.has_turns
    assert np.isnan(joined.calls).sum() == 4
    assert joined.in_order().stop[-4:].tolist() == ["answered", "answered", "pending", "answered"]
    assert set(joined.tools.tolist()) == {"", "open", "look"}


def test_a_run_without_rows(tmp_path: Path) -> None:
    Recorder(tmp_path).close()
    empty = Scores.of(open_run(tmp_path).scores(training=None).to_arrow_table())
    assert len(empty) == 0
    assert empty.rows_of("x").tolist() == []
    assert not empty.by_epoch
