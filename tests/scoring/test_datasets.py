"""Data sets of other libraries get the columns that ``rewardkit score`` writes, and keep their own."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import rewardkit as rk
from rewardkit.errors import BindingError, DataError, RewardTypeError
from rewardkit.scoring.datasets import TableScorer

REWARD = 0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 100, unit="characters")
ROWS: dict[str, list[Any]] = {
    "completion": ["<answer>42</answer>", "dunno", None, "<answer>x</answer>"],
    "answer": ["42", "7", "1", "many"],
    "total": [1, 2, 3, 4],
    "nested": [[{"a": 1}], [], None, [{"a": 2}]],
}
OURS = ["total", "components/number", "components/length_between", "outcomes", "notes", "error"]
WANTED = TableScorer(REWARD).scores(pa.table(ROWS))
NAMES = ["completion", "answer", "input/total", "nested", *OURS]


@rk.reward(scope="group")
def best(completion: list[str]) -> list[float]:
    longest = max(map(len, completion))
    return [float(len(text) == longest) for text in completion]


def test_an_arrow_table() -> None:
    scored = rk.score_dataset(pa.table(ROWS), REWARD)
    assert scored.column_names == NAMES
    assert scored.select(OURS).equals(WANTED)
    assert scored["input/total"].to_pylist() == ROWS["total"]


def test_a_pandas_frame_keeps_its_index_and_its_types() -> None:
    frame = pd.DataFrame(ROWS, index=list("abcd")).astype({"total": "int16"})
    scored = rk.score_dataset(frame, REWARD)
    assert list(scored.columns) == NAMES
    assert list(scored.index) == list("abcd")
    assert scored["input/total"].dtype == "int16"
    assert pa.Table.from_pandas(scored[OURS], schema=WANTED.schema, preserve_index=False).equals(WANTED)
    assert list(frame.columns) == list(ROWS), "the frame that was passed is unchanged"


def test_a_polars_frame() -> None:
    polars = pytest.importorskip("polars")
    scored = rk.score_dataset(polars.DataFrame(ROWS), REWARD)
    assert scored.columns == NAMES
    assert scored.select(OURS).to_arrow().cast(WANTED.schema).equals(WANTED)
    assert scored["input/total"].to_list() == ROWS["total"]


@pytest.mark.slow
def test_the_data_sets_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset.from_dict(ROWS)
    scored = rk.score_dataset(given, REWARD)
    assert scored.column_names == NAMES
    assert scored.features["nested"] == given.features["nested"]
    assert scored.with_format("arrow")[:].select(OURS).replace_schema_metadata(None).equals(WANTED)
    splits = rk.score_dataset(datasets.DatasetDict({"train": given, "test": given}), REWARD)
    assert {name: split.column_names for name, split in splits.items()} == {"train": NAMES, "test": NAMES}
    stream = rk.score_dataset(given.to_iterable_dataset(), REWARD)
    assert [row["total"] for row in stream] == WANTED["total"].to_pylist()
    with pytest.raises(DataError, match="in pieces"):
        rk.score_dataset(datasets.Dataset.from_dict({**ROWS, "prompt": ["p"] * 4}).to_iterable_dataset(), best)


def test_columns_with_other_names_and_plain_functions() -> None:
    def right(completion: str, answer: str) -> float:
        return float(completion == answer)

    table = pa.table({"text": ["4", "5"], "gold": ["4", "4"]})
    scored = rk.score_dataset(table, right, columns={"completion": "text", "answer": "gold"})
    assert scored["total"].to_pylist() == [1.0, 0.0]


def test_groups_stay_whole_whatever_the_batches_are() -> None:
    sizes = [3, 600, 1, 40]
    texts = ["a" * (row + 1) for size in sizes for row in range(size)]
    prompts = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    scored = rk.score_dataset(pa.table({"completion": texts, "prompt": prompts}), best)
    assert sum(scored["total"].to_pylist()) == len(sizes)


def test_conversations_are_read_and_kept() -> None:
    talk = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<answer>42</answer>"}]
    scored = rk.score_dataset(pa.table({"messages": [talk], "answer": ["42"]}), rk.number("answer"))
    assert scored["total"].to_pylist() == [1.0]
    assert scored["messages"].to_pylist() == [talk]


@pytest.mark.parametrize("given", [["a text"], {"completion": ["a"]}, "data.parquet", None])
def test_other_things_are_refused(given: Any) -> None:
    with pytest.raises(DataError, match=r"rk\.score\("):
        rk.score_dataset(given, REWARD)


def test_faulty_calls() -> None:
    table = pa.table(ROWS)
    with pytest.raises(DataError, match="duplicate"):
        rk.score_dataset(pd.DataFrame([["a", "b"]], columns=["completion", "completion"]), REWARD)
    with pytest.raises(DataError, match="several types"):
        rk.score_dataset(pd.DataFrame({"completion": ["a", "b"], "answer": ["1", {"a": 2}]}), REWARD)
    with pytest.raises(DataError, match="no completion column 'completion'"):
        rk.score_dataset(pa.table({"text": ["a"]}), REWARD)
    with pytest.raises(BindingError, match="answer"):
        rk.score_dataset(table.drop_columns("answer"), REWARD)
    with pytest.raises(RewardTypeError):
        rk.score_dataset(table, 0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="num_cpus"):
        rk.score_dataset(table, REWARD, num_cpus=2)


def test_an_empty_table() -> None:
    scored = rk.score_dataset(pa.table(ROWS).slice(0, 0), REWARD)
    assert scored.num_rows == 0
    assert scored.schema.names == NAMES
