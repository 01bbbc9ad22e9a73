"""Scored tables: the same columns as a written file, whatever the batches; groups, conversations, faults, names."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.errors import BindingError, DataError
from rewardkit.scoring.datasets import TableScorer
from rewardkit.scoring.processes import one_reward
from tests.scoring import replayed as rewards

ROWS: list[dict[str, Any]] = [
    {"prompt": "6*7?", "completion": "<answer>42</answer>", "answer": "42", "total": 1},
    {"prompt": "6*7?", "completion": "<answer>41</answer>", "answer": None, "total": 2},
    {"prompt": "1+1?", "completion": "<answer>2</answer>", "answer": "many", "total": 3},
    {"prompt": "1+1?", "completion": None, "answer": "2", "total": None},
]
CONVERSATION = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<answer>42</answer>"}]


def scorer(name: str, **options: Any) -> TableScorer:
    return TableScorer(one_reward(rewards.TARGET + name), **options)


GROUPS = [ROWS[0], ROWS[0], ROWS[2] | {"answer": "2"}, ROWS[2] | {"answer": "2"}] * 2


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("both", ROWS),
        ("ranked", GROUPS),
        ("number", [{"messages": CONVERSATION, "answer": "42", "n": 7}] * 3),
    ],
)
def test_a_table_has_the_columns_that_the_command_writes(name: str, rows: Any, tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    main(["score", str(tmp_path / "in.parquet"), "--reward", rewards.TARGET + name, "--out", str(out)])
    table = scorer(name)(parquet.read_table(tmp_path / "in.parquet"))
    assert table.equals(parquet.read_table(out))
    assert table.schema == parquet.read_schema(out).remove_metadata()


def test_faults_stay_in_their_row() -> None:
    table = scorer("both")(pa.Table.from_pylist(ROWS))
    assert table["total"].to_pylist() == [1.0, 0.5, None, None]
    assert table["components/number"].to_pylist() == [1.0, None, None, None]
    assert json.loads(table["outcomes"][1].as_py()) == {"number": "abstained"}
    assert [error is None for error in table["error"].to_pylist()] == [True, True, False, False]
    assert table["input/total"].to_pylist() == [1, 2, 3, None]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 9))
def test_batches_make_no_difference(groups: list[int], batch: int) -> None:
    rows = [
        {"prompt": f"p{number}", "completion": f"<answer>{place}</answer>", "answer": "1"}
        for number, size in enumerate(groups)
        for place in range(size)
    ]
    table = pa.Table.from_pylist(rows)
    assert scorer("ranked", batch=batch)(table).equals(scorer("ranked")(table))


def test_only_needed_columns_have_to_be_there() -> None:
    table = pa.Table.from_pylist([{"text": row["completion"], **row} for row in ROWS[:2]])
    one = scorer("number", sources={"completion": "text"})
    assert one.columns(table.column_names).needed == ["text", "prompt", "answer"]
    assert one.scores(table.select(["answer", "text"])).equals(one.scores(table))
    assert one.scores(table).column_names == ["total", "components/number", "outcomes", "notes", "error"]


def test_an_empty_table_has_all_columns() -> None:
    empty = pa.Table.from_pylist(ROWS[:2]).slice(0, 0)
    assert scorer("both")(empty).schema == scorer("both")(pa.Table.from_pylist(ROWS[:2])).schema


def test_a_scorer_can_be_pickled() -> None:
    one = TableScorer(0.5 * rk.number("answer") + 0.5 * rk.exact("answer"))
    table = pa.Table.from_pylist(ROWS)
    before = one(table)
    assert pickle.loads(pickle.dumps(one))(table).equals(before)


def test_unusable_tables_are_errors() -> None:
    with pytest.raises(BindingError, match="'answer'"):
        scorer("number")(pa.table({"completion": ["1"]}))
    with pytest.raises(DataError, match="duplicate column 'a'"):
        scorer("number")(pa.Table.from_arrays([pa.array(["1"])] * 2, names=["a", "a"]))
    with pytest.raises(DataError, match="no column 'completion'"):
        scorer("number")(pa.table({"answer": ["1"]}))
