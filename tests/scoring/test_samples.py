"""Completions from files and lists, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import rewardkit as rk
from rewardkit.errors import DataError
from rewardkit.scoring.columns import asked_for
from rewardkit.scoring.samples import arranged, read

RECORDS = [
    {"prompt": "6*7?", "completion": "42", "answer": "42", "model": "small"},
    {"prompt": "1+1?", "completion": "3", "answer": "2", "model": "small"},
    {"prompt": "6*7?", "completion": "41", "answer": "42", "model": "large"},
]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_all_forms_give_the_same(tmp_path: Path) -> None:
    lines = "\n".join(map(json.dumps, RECORDS))
    cells = "prompt,completion,answer,model\n" + "\n".join(",".join(record.values()) for record in RECORDS)
    table = tmp_path / "d.parquet"
    pandas.DataFrame(RECORDS).to_parquet(table)
    for data in (
        RECORDS,
        iter(RECORDS),
        written(tmp_path / "a.jsonl", lines + "\n\n"),
        str(written(tmp_path / "b.json", json.dumps(RECORDS))),
        written(tmp_path / "c.csv", "\ufeff" + cells),
        table,
    ):
        assert list(read(data).records) == RECORDS


def test_a_json_file_may_have_an_object_per_line(tmp_path: Path) -> None:
    lines = "\n".join(map(json.dumps, RECORDS))
    assert read(written(tmp_path / "a.json", lines)).records == RECORDS


def test_conversations_are_split(tmp_path: Path) -> None:
    asked, said = {"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "42"}
    path = written(tmp_path / "a.jsonl", json.dumps({"messages": [asked, said], "answer": "42"}))
    found = read(path)
    assert found.records == [{"prompt": [asked], "answer": "42", "completion": [said]}]
    assert rk.Scorer(rk.exact("answer")).score(arranged(rk.exact("answer"), found).batch).total.tolist() == [1.0]


def test_cells_may_hold_lines_and_separators(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", 'completion,label\r\n"a\r\nb",true\r\nc\u2028d,false\r\n')
    assert [record["completion"] for record in read(path).records] == ["a\r\nb", "c\u2028d"]
    path = written(tmp_path / "long.csv", "completion\n" + "a" * 200_000)
    assert read(path).records == [{"completion": "a" * 200_000}]
    path = written(tmp_path / "a.jsonl", json.dumps({"completion": "a\u2028b"}, ensure_ascii=False))
    assert read(path).records == [{"completion": "a\u2028b"}]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"completion": "a"}\n{"completion": \n', r"a\.jsonl, line 2: not JSON"),
        ("a.jsonl", '{"completion": "a"}\n\n["a"]\n', r"a\.jsonl, line 3: expected a mapping"),
        ("a.jsonl", "", "there are no completions in .*a.jsonl"),
        ("a.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("a.json", '{"completion": "a"}\n{"completion": ', r"a\.json, line 2: not JSON"),
        ("a.json", '{\n"completion": "a"}\n{"completion": "b"}', r"line 3: not JSON \(Extra data\)"),
        ("a.json", '{"completion": "a"}', "a list of objects"),
        ("a.csv", "completion,label\na,true\nb\n", r"a\.csv, line 3: 1 cells for 2 columns"),
        ("a.csv", 'completion,label\n"a,true\n', "not CSV"),
        ("a.csv", "completion,completion\na,b\n", "line 1: duplicate column 'completion'"),
        ("a.txt", "a", r"\.jsonl, \.json, \.csv, or \.parquet"),
    ],
)
def test_unreadable_files_are_reported_with_their_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(written(tmp_path / name, text))


def test_other_errors(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"completion": "\xff"}')
    with pytest.raises(DataError, match="not UTF-8"):
        read(tmp_path / "a.jsonl")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "b.jsonl")
    for data, message in (
        ({"completion": "a"}, "list of mappings"),
        (["a"], "to_dict"),
        ([], "no completions"),
        (3, "got 3"),
    ):
        wrong: Any = data
        with pytest.raises(DataError, match=message):
            read(wrong)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["True", "False", "no"], [True, False, False]),
        ([1, 0, True], [True, False, True]),
        (["1.0", "0.0"], [True, False]),
        ([0.5, 1], [0.5, 1.0]),
        (["4", "5"], [4.0, 5.0]),
    ],
)
def test_labels(values: list[Any], expected: list[Any]) -> None:
    found = read([{"completion": "a", "label": value} for value in values]).labels("label")
    assert found.tolist() == expected
    assert found.dtype == (np.bool_ if isinstance(expected[0], bool) else np.float64)


def test_an_unreadable_label_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "completion,label\na,true\nb,perhaps\n")
    with pytest.raises(DataError, match=r"a\.csv, line 3: cannot read the label 'label': 'perhaps'"):
        read(path).labels("label")
    with pytest.raises(DataError, match=r"row 1: cannot read the label 'label': 3\b.*only numbers"):
        read([{"label": True}, {"label": 3}]).labels("label")
    with pytest.raises(DataError, match=r"a\.csv, line 2: there is no value for 'lable'.*Did you mean 'label'"):
        read(path).labels("lable")


number = rk.number("answer")


def test_rows_of_one_prompt_are_a_group_despite_other_columns() -> None:
    samples = arranged(number, read(RECORDS))
    assert samples.groups.tolist() == [0, 1, 0]
    assert samples.rows.tolist() == [0, 1, 2]
    assert set(samples.batch.columns) == {"answer"}
    assert arranged(number, read(RECORDS), group_by="model").groups.tolist() == [0, 0, 1]


def test_rewards_over_groups_get_consecutive_rows() -> None:
    samples = arranged(rk.rank_in_group(number), read(RECORDS))
    assert samples.rows.tolist() == [0, 2, 1]
    assert samples.batch.groups.tolist() == samples.groups.tolist() == [0, 0, 1]


def test_without_prompts_each_row_is_a_group() -> None:
    data = read([{"text": "42", "answer": "42"}, {"text": "41", "answer": "42"}])
    assert arranged(number, data, completion="text").groups.tolist() == [0, 1]


def test_conversations_and_prompts_of_messages() -> None:
    said = [{"role": "assistant", "content": "42"}]
    asked = [{"role": "user", "content": "6*7?"}]
    data = read(
        [{"prompt": asked, "completion": said, "answer": 42}, {"prompt": list(asked), "completion": "1", "answer": 42}]
    )
    samples = arranged(number, data)
    assert (samples.groups.tolist(), samples.batch.texts) == ([0, 0], ["42", "1"])


def test_missing_completions_prompts_and_columns() -> None:
    with pytest.raises(DataError, match="row 1: there is no value for 'completion'"):
        arranged(number, read([{"completion": "a"}, {"complete": "b"}]))
    with pytest.raises(DataError, match="row 1: there is no value for 'prompt'"):
        arranged(number, read([{"completion": "a", "prompt": "p"}, {"completion": "b"}]))
    samples = arranged(rk.number("anwser"), read(RECORDS))
    with pytest.raises(rk.errors.BindingError, match="Did you mean 'answer'"):
        rk.Scorer(rk.number("anwser")).score(samples.batch)


def test_the_columns_that_a_reward_names() -> None:
    @rk.reward
    def everything(completion: str, example: dict[str, Any]) -> float:
        return 1.0

    tree = rk.gate(number, rk.route({"a": rk.exact("gold")}, by="task"), otherwise=-1.0)
    assert asked_for(tree) == ({"answer", "gold", "task"}, False)
    assert asked_for(0.5 * everything + number) == ({"answer"}, True)
    assert asked_for(rk.from_trl(lambda completions, solution, **_: [])) == ({"solution"}, True)
    samples = arranged(everything, read(RECORDS), label="model")
    assert set(samples.batch.columns) == {"answer"}
