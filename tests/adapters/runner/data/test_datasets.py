"""Rows from files: what they hold stays what it is, what is wrong with them is said with row and column."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.config import DatasetConfig, RunConfig

pytest.importorskip("datasets")

from rewardkit_adapters.runner.data import Rows, Template, _cells, located_rows, rows_of, training_and_held_out

GSM8K = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[5] / "shared" / "data")) / "gsm8k"

ROWS: list[dict[str, Any]] = [
    {"prompt": "6*7?", "answer": "42", "level": 1},
    {"prompt": "3+4?", "answer": "7", "level": 2},
    {"prompt": "9-9?", "answer": "0", "level": 3},
]


def write(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """The rows as a file of the kind that its name says."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def read(base: Path, **settings: Any) -> list[dict[str, Any]]:
    found = rows_of(DatasetConfig.model_validate({"path": "data.jsonl", **settings}), base, 0).dataset
    return [dict(row) for row in found]


def run(base: Path, **settings: Any) -> RunConfig:
    given = {"reward": "reward.py:reward", "model": "tiny", "dataset": "data.jsonl"} | settings
    return RunConfig.model_validate({**given, "base": base})


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_files_that_know_types_keep_them(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / f"data{suffix}")
    assert read(tmp_path, path=f"data{suffix}") == ROWS


def test_cells_of_a_csv_file_are_texts(tmp_path: Path) -> None:
    write(tmp_path / "data.csv")
    assert read(tmp_path, path="data.csv") == [{**row, "level": str(row["level"])} for row in ROWS]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_objects_become_json_texts(tmp_path: Path, suffix: str) -> None:
    rows = [{"prompt": "a", "gold": {"x": 1, "y": None}, "tests": [{"input": "ä"}]} for _ in range(2)]
    write(tmp_path / f"data{suffix}", rows)
    assert (
        read(tmp_path, path=f"data{suffix}")
        == [{"prompt": "a", "gold": '{"x": 1, "y": null}', "tests": '[{"input": "ä"}]'}] * 2
    )


def test_objects_with_different_keys_keep_their_own(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"prompt": "a", "gold": {"x": 1}}, {"prompt": "b", "gold": {"items": [1]}}])
    assert [row["gold"] for row in read(tmp_path)] == ['{"x": 1}', '{"items": [1]}']


def test_a_column_of_several_types_becomes_json_texts(tmp_path: Path) -> None:
    cells: list[Any] = [1, "two", None, [3], True, 10**30]
    write(tmp_path / "data.jsonl", [{"prompt": "a", "gold": cell} for cell in cells])
    assert [row["gold"] for row in read(tmp_path)] == ["1", "two", None, "[3]", "true", "1" + "0" * 30]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(json_values, max_size=5))
def test_no_cell_is_changed(values: list[Any]) -> None:
    import pyarrow as pa

    cells = _cells("gold", values)
    back = pa.array(cells).to_pylist()
    assert back == cells
    for cell, value in zip(back, values, strict=True):
        assert cell == value or json.loads(cell) == value


def test_messages_stay_messages(tmp_path: Path) -> None:
    conversation = [{"role": "system", "content": "be short"}, {"role": "user", "content": "6*7?"}]
    for name in ("data.jsonl", "data.parquet"):
        write(tmp_path / name, [{"prompt": conversation, "answer": "42"}])
        assert read(tmp_path, path=name) == [{"prompt": conversation, "answer": "42"}]


def test_columns_are_renamed_and_stand_in_templates(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"question": "6*7?", "answer": "42", "prompt": "old"}])
    changes = {"columns": {"gold": "answer"}, "prompt": "{{calm}} {question} of {prompt} ({gold}):\n"}
    (row,) = read(tmp_path, **changes)
    assert row == {"question": "6*7?", "gold": "42", "prompt": "{calm} 6*7? of old (42):\n"}
    assert read(tmp_path, columns={"prompt": "question", "old": "prompt"})[0]["prompt"] == "6*7?"


def test_messages_are_templates_too(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl")
    messages = [{"role": "system", "content": "Level {level}."}, {"role": "user", "content": "{prompt}"}]
    assert read(tmp_path, messages=messages)[1]["prompt"] == [
        {"role": "system", "content": "Level 2."},
        {"role": "user", "content": "3+4?"},
    ]
    assert read(tmp_path, messages=[{"role": "user", "content": "Hello"}])[2]["prompt"][0]["content"] == "Hello"


@given(st.text(max_size=10), st.text(max_size=10), st.text(max_size=10))
def test_a_template_inserts_the_cell(before: str, cell: str, after: str) -> None:
    from datasets import Dataset

    def escaped(text: str) -> str:
        return text.replace("{", "{{").replace("}", "}}")

    template = Template(f"{escaped(before)}{{q}}{escaped(after)}", "prompt", ["q"])
    if cell.isprintable():  # half characters cannot stand in a dataset
        assert template.of(Rows(Dataset.from_dict({"q": [cell]}), [0])) == [before + cell + after]


@pytest.mark.parametrize(
    ("filter_", "kept"),
    [
        ({"level": 2}, ["3+4?"]),
        ({"level": [1, 3]}, ["6*7?", "9-9?"]),
        ({"level": [1, 2], "answer": 42}, ["6*7?"]),
        ("filters.py:easy", ["6*7?", "3+4?"]),
    ],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_filters_keep_what_they_name(tmp_path: Path, filter_: Any, kept: list[str], suffix: str) -> None:
    (tmp_path / "filters.py").write_text("def easy(row):\n    return int(row['level']) < 3\n")
    write(tmp_path / f"data{suffix}")
    assert [row["prompt"] for row in read(tmp_path, path=f"data{suffix}", filter=filter_)] == kept


def test_values_of_a_filter_are_compared_as_json_writes_them(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"prompt": str(value), "x": value} for value in (True, False, None)])
    assert [row["prompt"] for row in read(tmp_path, filter={"x": True})] == ["True"]
    assert [row["prompt"] for row in read(tmp_path, filter={"x": [None]})] == ["None"]


def test_a_folder_and_a_glob_stand_for_their_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number, name in enumerate(["train-0.jsonl", "train-1.jsonl", "test.jsonl"]):
        write(tmp_path / "data" / name, ROWS[number : number + 1])
    (tmp_path / "data" / "README.md").write_text("#")
    assert read(tmp_path, path="data") == ROWS[:2]
    assert read(tmp_path, path="data", split="test") == ROWS[2:]
    assert read(tmp_path, path="data/*-1.jsonl") == ROWS[1:2]
    assert read(tmp_path, path=f"{tmp_path}/data/t*.jsonl", split="test") == ROWS[2:]


def test_files_of_a_folder_are_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "a.jsonl", [{"prompt": "x", "answer": 1}])
    write(tmp_path / "data" / "b.jsonl", [{"prompt": "y", "answer": "two"}, {"prompt": "z"}])
    assert [row["answer"] for row in read(tmp_path, path="data")] == ["1", "two", None]
    write(tmp_path / "data" / "c.parquet")
    with pytest.raises(ConfigError, match=r"do not mix \.parquet"):
        read(tmp_path, path="data")


def test_parquet_files_of_a_folder_hold_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "a.parquet", ROWS[:1])
    write(tmp_path / "data" / "b.parquet", ROWS[1:])
    assert read(tmp_path, path="data") == ROWS
    write(tmp_path / "data" / "c.parquet", [{"prompt": "x", "level": "high"}])
    with pytest.raises(ConfigError, match="different columns"):
        read(tmp_path, path="data")


def test_a_saved_dataset_is_read(tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict

    saved = Dataset.from_list(ROWS)
    saved.save_to_disk(str(tmp_path / "one"))
    assert read(tmp_path, path="one") == ROWS
    DatasetDict({"train": saved, "test": saved.select([0])}).save_to_disk(str(tmp_path / "several"))
    assert read(tmp_path, path="several") == ROWS
    assert read(tmp_path, path="several", split="test") == ROWS[:1]
    with pytest.raises(ConfigError, match=r"has no split 'tset'\. Its splits: train, test\. Did you mean 'test'"):
        read(tmp_path, path="several", split="tset")


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"prompt": str(number)} for number in range(100)])
    settings = DatasetConfig(path="data.jsonl", sample=10)
    first = list(rows_of(settings, tmp_path, 1).dataset["prompt"])
    assert first == list(rows_of(settings, tmp_path, 1).dataset["prompt"])
    assert first != list(rows_of(settings, tmp_path, 2).dataset["prompt"])
    assert sorted(first, key=int) == first
    assert len(set(first)) == 10
    assert len(rows_of(DatasetConfig(path="data.jsonl", sample=1000), tmp_path, 1).dataset) == 100


@given(st.lists(st.integers(0, 8), min_size=12, max_size=30), st.integers(1, 3), st.integers(0, 5))
def test_no_prompt_is_on_both_sides(numbers: list[int], count: int, seed: int) -> None:
    from datasets import Dataset

    from rewardkit_adapters.runner.data import _hold_out_rows

    dataset = Dataset.from_dict({"prompt": [str(number) for number in numbers], "row": list(range(len(numbers)))})
    rows = Rows(dataset, range(len(dataset)))
    if len(set(numbers)) < 5:
        return
    try:
        training, held_out = (part.dataset for part in _hold_out_rows(rows, count, seed))
    except ConfigError:  # one prompt holds nearly all rows
        assert max(map(numbers.count, numbers)) > len(numbers) - count - 3
        return
    assert not set(training["prompt"]) & set(held_out["prompt"])
    assert sorted([*training["row"], *held_out["row"]]) == list(range(len(numbers)))
    assert len(held_out) >= count
    assert len(training) > 0


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
def test_rows_keep_their_location_in_the_data(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"data{suffix}", [{"q": str(number)} for number in range(20)])
    if suffix == ".jsonl":
        path.write_text("\n" + path.read_text())  # blank lines are no rows
    first = {".jsonl": "line 2", ".csv": "line 2"}.get(suffix, "row 0")
    dataset = {"path": path.name, "prompt": "{q}?", "filter": {"q": [str(number) for number in range(3, 20)]}}
    training, held_out = located_rows(run(tmp_path, dataset={**dataset, "sample": 12}, eval={"hold_out": 4}))
    assert held_out is not None
    unit, start = first.split()
    for rows in (training, held_out):
        located = [rows.location(row) for row in range(len(rows.dataset))]
        assert located == [f"{unit} {int(start) + int(q)}" for q in rows.dataset["q"]]


def test_rows_of_several_files_name_their_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", [{"q": name}])
    training, _ = located_rows(run(tmp_path, dataset={"path": "*.jsonl", "prompt": "{q}?"}))
    assert [training.location(row) for row in (0, 1)] == ["a.jsonl, line 1", "b.jsonl, line 1"]


def test_held_out_rows_come_from_where_eval_says(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"q": str(number)} for number in range(20)])
    write(tmp_path / "other.jsonl", [{"q": "other"}])
    dataset = {"path": "data.jsonl", "prompt": "{q}?", "sample": 10}
    training, held_out = training_and_held_out(run(tmp_path, dataset=dataset))
    assert len(training) == 10
    assert held_out is None
    training, held_out = training_and_held_out(run(tmp_path, dataset=dataset, eval={"hold_out": 4, "prompts": 3}))
    assert held_out is not None
    assert (len(training), len(held_out)) == (6, 3)
    training, held_out = training_and_held_out(run(tmp_path, dataset=dataset, eval={"dataset": "other.jsonl"}))
    assert held_out is not None
    assert list(held_out["prompt"]) == ["other?"]


FILTERS = "def none(row):\n    pass\n\ndef broken(row):\n    return 1 / 0\n\nnumber = 5\n"
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no such column": (
        {"prompt": "{qestion}"},
        "dataset.prompt: there is no column for {qestion}. Did you mean 'question'? The columns are question, answer.",
    ),
    "no such column in messages": (
        {"messages": [{"role": "user", "content": "{answr}"}]},
        "dataset.messages[0].content: there is no column for {answr}. Did you mean 'answer'?",
    ),
    "json in a template": ({"prompt": '{"x": {answer}}'}, "Braces may contain only column names. Write {{ and }} for"),
    "attributes": ({"prompt": "{answer.__class__}"}, "there is no column for {answer.__class__}"),
    "a format": ({"prompt": "{answer:>9}"}, "Braces may contain only column names"),
    "an open brace": (
        {"prompt": "{answer"},
        "dataset.prompt: invalid template: expected '}' before end of string. Write {{",
    ),
    "an empty cell": (
        {"prompt": "{answer}"},
        "dataset.prompt: the column 'answer' is null in line 2",
    ),
    "no prompt": (
        {},
        "the dataset has no column 'prompt', which the model needs. Its columns: question, answer.",
    ),
    "nothing to rename": (
        {"columns": {"gold": "anser"}},
        "no column 'anser', which dataset.columns (gold: anser) renames",
    ),
    "renamed onto another": (
        {"columns": {"answer": "question"}},
        "cannot be renamed to 'answer'",
    ),
    "filter of no column": ({"filter": {"lvel": 1}}, "the dataset has no column 'lvel', which dataset.filter reads"),
    "filter of nothing": (
        {"filter": "filters.py:none"},
        "filters.py:none returned None for line 1 in the data. Return True to keep",
    ),
    "filter that raises": (
        {"filter": "filters.py:broken"},
        "filters.py:broken raised ZeroDivisionError for line 1 in the data: 'division by zero'. The row: {'quest",
    ),
    "filter that is none": ({"filter": "filters.py:number"}, "filters.py:number is 5"),
    "nothing left": (
        {"filter": {"answer": "x"}, "prompt": "{question}"},
        "none of the 2 rows passes: {'answer': 'x'}",
    ),
    "no file": ({"path": "nothing.jsonl"}, "nothing.jsonl"),
    "no files": ({"path": "*.csv"}, "has no .jsonl, .json, .csv, .parquet file"),
    "a split of a file": ({"split": "test"}, "dataset.split: test needs several files"),
    "a name of a file": ({"name": "main"}, "dataset.name is only for datasets on the hub"),
    "another kind": ({"path": "filters.py"}, ".jsonl, .json, .csv, or .parquet file"),
    "broken json": ({"path": "broken.jsonl"}, "broken.jsonl, line 2: not JSON"),
    "broken parquet": ({"path": "broken.parquet"}, "broken.parquet as Parquet"),
    "an empty file": ({"path": "empty.jsonl", "prompt": "x"}, "empty.jsonl has no row"),
    "an empty file and no template": ({"path": "empty.jsonl"}, "empty.jsonl has no row"),
    "two names of one column": (
        {"columns": {"a": "question", "b": "question"}},
        "dataset.columns: 'question' has several new names (a, b)",
    ),
    "texts and messages": (
        {"path": "mixed.jsonl"},
        "column 'prompt', line 2: 'hi' is not a list of messages",
    ),
    "parts and texts": ({"path": "parts.jsonl"}, "column 'prompt', line 2: "),
    "half a character": ({"path": "half.jsonl"}, "column 'prompt', line 2: "),
}


@pytest.mark.parametrize(("settings", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_has_its_message(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    (tmp_path / "filters.py").write_text(FILTERS)
    (tmp_path / "broken.jsonl").write_text('{"prompt": "a"}\n{"prompt": \n')
    (tmp_path / "broken.parquet").write_text("no parquet")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "half.jsonl").write_text('{"prompt": "a"}\n{"prompt": "b\\ud800"}\n')
    said = [{"role": "user", "content": "hi"}]
    write(tmp_path / "mixed.jsonl", [{"prompt": said}, {"prompt": "hi"}])
    parts = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    write(tmp_path / "parts.jsonl", [{"prompt": parts}, {"prompt": said}])
    write(tmp_path / "data.jsonl", [{"question": "a", "answer": "b"}, {"question": "c", "answer": None}])
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, **settings)
    assert message in str(raised.value)


def test_what_is_held_out_leaves_something_to_train_on(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"prompt": str(number % 2)} for number in range(9)])
    with pytest.raises(ConfigError, match=r"eval\.hold_out: 8 held-out rows .* has 9 rows with 2 different prompts"):
        training_and_held_out(run(tmp_path, eval={"hold_out": 8}))


def test_a_dataset_that_the_hub_does_not_give_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match=r"nothing in .* the hub \(split train\) failed"):
        read(tmp_path, path="nobody/nothing")


@pytest.mark.skipif(not GSM8K.is_dir(), reason=f"no GSM8K data in {GSM8K}; set REWARDKIT_DATA")
def test_gsm8k_is_read_as_it_is(tmp_path: Path) -> None:
    original = [json.loads(line) for line in (GSM8K / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    config = run(
        tmp_path,
        dataset={"path": str(GSM8K / "train.jsonl"), "messages": [{"role": "user", "content": "Q: {question}"}]},
        eval={"dataset": str(GSM8K / "test.jsonl"), "prompts": 200},
    )
    training, held_out = training_and_held_out(config)
    assert held_out is not None
    assert (len(training), len(held_out)) == (7473, 200)
    assert list(training["answer"]) == [row["answer"] for row in original]
    assert training[0]["prompt"] == [{"role": "user", "content": f"Q: {original[0]['question']}"}]
