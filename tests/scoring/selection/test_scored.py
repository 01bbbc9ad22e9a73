"""Scored completions: what a prompt is, which completions have no score, and equal texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import DataError
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.scored import Scored, conversational
from rewardkit.scoring.sources import saved


def scored(path: Path, rows: list[dict[str, Any]], **options: Any) -> Scored:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Scored.of(saved(path), **options)


def row(prompt: Any, completion: Any = "a", total: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "completion": completion, "total": total, **more}


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["p", "q", "p ", "", "\ud800"]), st.sampled_from([1, 1.0, True, "1", None, [1]])),
        min_size=1,
        max_size=12,
    )
)
def test_rows_have_the_same_number_if_prompt_and_named_columns_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("data") / "data.jsonl"
    found = scored(path, [row(prompt, gold=gold) for prompt, gold in rows], sources={"gold": "gold"})
    seen: dict[str, int] = {}
    expected = [seen.setdefault(json.dumps(one), len(seen)) for one in rows]
    assert found.index().groups.tolist() == expected
    assert found.index().prompts == len(seen)


def test_only_completions_with_a_total_and_a_prompt_and_without_an_error_have_a_score(tmp_path: Path) -> None:
    rows = [
        row("p"),
        row("p", total=None),
        row("p", error="raised ValueError"),
        row(None),
        row("p", completion=None),
        row("p", completion=""),
        row("p", completion=[]),
        row("p", **{"components/x": 0.5}),
    ]
    found = scored(tmp_path / "data.jsonl", rows)
    assert np.flatnonzero(~np.isnan(found.index().scores)).tolist() == [0, 5, 7]
    by = Scored.of(found.saved, by="x").index().scores
    assert np.flatnonzero(~np.isnan(by)).tolist() == [7]
    assert by[7] == 0.5


def test_texts_and_conversations_are_the_same_if_their_content_is(tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": "a"}]
    swapped = [{"content": "a", "role": "assistant"}]
    completions = ["a", "a", "b", said, swapped, json.dumps(said)]
    texts = scored(tmp_path / "data.jsonl", [row("p", one) for one in completions]).index().texts.tolist()
    assert texts[0] == texts[1]
    assert texts[3] == texts[4]
    assert len(set(texts)) == 4


def test_the_same_question_about_another_image_is_another_prompt(tmp_path: Path) -> None:
    table = {"prompt": ["p"] * 3, "completion": ["a"] * 3, "total": [1.0] * 3, "images": [[b"1"], [b"2"], [b"1"]]}
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table(table), path)
    assert Scored.of(saved(path)).index().groups.tolist() == [0, 1, 0]


@pytest.mark.parametrize("chat", [True, False])
def test_chat_is_what_completions_with_a_score_are(tmp_path: Path, chat: bool) -> None:
    rows = [row("p"), row([{"role": "user", "content": "p"}], total=1.0 if chat else None)]
    assert scored(tmp_path / "data.jsonl", rows).index().chat is chat


def test_cells_of_csv_files_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("prompt,completion,total,error\np,a,0.5,\np,b,,no judge\n")
    scores = Scored.of(saved(path)).index().scores
    assert scores[0] == 0.5
    assert np.isnan(scores[1])
    path.write_text("prompt,completion,total\np,a,good\n")
    with pytest.raises(DataError, match="row 0: column 'total'"):
        Scored.of(saved(path)).index()


@pytest.mark.parametrize("missing", ["prompt", "completion", "total"])
def test_a_missing_column_is_an_error(tmp_path: Path, missing: str) -> None:
    rows = [{name: value for name, value in row("p").items() if name != missing}]
    with pytest.raises(DataError, match=missing):
        scored(tmp_path / "data.jsonl", rows)


def test_a_missing_component_is_an_error_before_anything_is_scored() -> None:
    columns = Columns.of(rk.exact("answer"), ["prompt", "completion", "answer"])
    Scored.check(columns, by="exact")
    with pytest.raises(DataError, match="Did you mean 'exact'"):
        Scored.check(columns, by="exct")
    with pytest.raises(DataError, match="prompt"):
        Scored.check(Columns.of(rk.exact("answer"), ["completion", "answer"]))


@pytest.mark.parametrize("value", ["a", [], [1], ["a"], None, {"role": "user"}])
def test_other_values_are_no_conversation(value: Any) -> None:
    assert not conversational(value)
