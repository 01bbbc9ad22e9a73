"""Selections from files: the laws, every format, and what trainers would misread."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import DataError
from rewardkit.scoring.files import rows_of
from rewardkit.scoring.scored import Scored
from rewardkit.scoring.selection import ALIKE, EQUAL, LOW, NARROW, SINGLE, UNSCORED, Keep, Pairs, Rule, select
from rewardkit.scoring.sources import saved

Rows = list[dict[str, Any]]

SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.none()
RULES = [Keep(1), Keep(2, 0.25), Keep(None, 0.5), Pairs(), Pairs(None, 0.3), Pairs(2)]


def lines(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def selected(path: Path, rule: Rule, ending: str = "jsonl", **options: Any) -> Rows:
    out = path.with_name(f"out.{ending}")
    select(Scored.of(saved(path), **options), rule, out)
    if ending == "parquet":
        found: Rows = parquet.read_table(out).to_pylist()
        return found
    return [dict(row) for _, row in rows_of(out)]


def text(rows: Rows) -> set[str]:
    return {json.dumps(row, sort_keys=True) for row in rows}


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(rows=st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abc"), SCORE), min_size=1, max_size=12))
def test_what_is_selected_is_in_the_data_and_keeps_the_rule(
    tmp_path_factory: pytest.TempPathFactory, rule: Rule, rows: list[tuple[str, str, float | None]]
) -> None:
    data: Rows = [
        {"prompt": prompt, "completion": said, "total": score, "id": number}
        for number, (prompt, said, score) in enumerate(rows)
    ]
    path = lines(tmp_path_factory.mktemp("data") / "data.jsonl", data)
    if not select(Scored.of(saved(path)), rule).number:
        with pytest.raises(DataError, match="nothing to write"):
            selected(path, rule)
        assert not path.with_name("out.jsonl").exists()
        return
    for row in selected(path, rule):
        sides = [("id", "completion", "score")] if isinstance(rule, Keep) else []
        sides = sides or [(f"id_{side}", side, f"score_{side}") for side in ("chosen", "rejected")]
        for number, said, score in sides:
            original = data[row[number]]
            assert (row["prompt"], row[said], row[score]) == tuple(original[name] for name in list(original)[:3])
        if isinstance(rule, Pairs):
            assert row["score_chosen"] - row["score_rejected"] >= max(rule.gap, 1e-9)
            assert row["chosen"] != row["rejected"]
        elif rule.most == 1:
            same = [one["total"] for one in data if one["prompt"] == row["prompt"] and one["total"] is not None]
            assert row["score"] == max(same)


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(order=st.randoms(use_true_random=False), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_the_order_of_the_data_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, rule: Rule, order: random.Random, sizes: list[int]
) -> None:
    numbers = [(prompt, place) for prompt, size in enumerate(sizes) for place in range(size + 1)]
    data: Rows = [
        {"prompt": f"p{prompt}", "completion": f"{place}", "total": 2.0**-place, "id": f"{prompt}-{place}"}
        for prompt, place in numbers
    ]
    folder = tmp_path_factory.mktemp("data")
    expected = selected(lines(folder / "data.jsonl", data), rule)
    order.shuffle(data)
    assert text(selected(lines(folder / "data.jsonl", data), rule)) == text(expected)


MESSAGES = [{"role": "user", "content": "2+2?"}]
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": 2}}}],
}


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("rule", [Keep(1), Pairs()], ids=str)
def test_texts_become_messages_if_others_are_messages(tmp_path: Path, ending: str, rule: Rule) -> None:
    data: Rows = [
        {"prompt": MESSAGES, "completion": [CALL, {"role": "tool", "content": "4"}], "total": 1.0, "tools": [{"x": 1}]},
        {"prompt": MESSAGES, "completion": "5", "total": 0.0, "tools": [{"x": 1}]},
    ]
    (row,) = selected(lines(tmp_path / "data.jsonl", data), rule, ending)
    if ending == "parquet":  # JSON, which `datasets` reads as what it was
        names = ("prompt", "completion", "chosen", "rejected", "tools")
        row = {name: json.loads(value) if name in names else value for name, value in row.items()}
    assert (row["prompt"], row["tools"]) == (MESSAGES, [{"x": 1}])
    assert row["completion" if isinstance(rule, Keep) else "chosen"] == data[0]["completion"]
    if isinstance(rule, Pairs):
        assert row["rejected"] == [{"role": "assistant", "content": "5"}]


def test_arrow_types_are_kept_and_texts_in_them_become_messages(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    images = pa.array([[b"\x89PNG"]] * 2, pa.list_(pa.binary()))
    day = pa.array([datetime.date(2026, 11, 27)] * 2)
    columns = {"prompt": [MESSAGES] * 2, "completion": ["4", "5"], "total": [1.0, 0.0], "images": images, "day": day}
    parquet.write_table(pa.table(columns), path)
    (row,) = selected(path, Pairs(), "parquet")
    assert row["images"] == [b"\x89PNG"]
    assert row["day_chosen"] == datetime.date(2026, 11, 27)
    assert row["rejected"] == [{"role": "assistant", "content": "5"}]
    with pytest.raises(DataError, match=r"images.*\.parquet"):
        selected(path, Pairs())


def test_every_arrow_type_is_written_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    data = pa.table(
        {
            "prompt": pa.array(["p", "p"]).dictionary_encode(),
            "completion": pa.array(["a", "b"], pa.large_string()),
            "total": [1.0, 0.0],
            "decimal": pa.array([1, 2], pa.decimal128(10, 2)),
            "time": pa.array([1, 2], pa.timestamp("ns", "UTC")),
            "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
            "half": pa.array([1.5, None], pa.float16()),
            "json": pa.array(['{"a":1}', None]).cast(pa.json_()),
            "parts": pa.array([[{"x": '{"a":1}'}], []], pa.list_(pa.struct([("x", pa.string())]))),
        }
    )
    nested = pa.list_(pa.struct([("x", pa.json_())]))
    data = data.set_column(data.column_names.index("parts"), "parts", data["parts"].cast(nested))
    parquet.write_table(data, path)
    select(Scored.of(saved(path)), Keep(1), tmp_path / "out.parquet")
    written = parquet.read_table(tmp_path / "out.parquet")
    assert written.select(data.column_names) == data.slice(0, 1).unify_dictionaries()


def test_columns_that_trainers_misread_are_renamed(tmp_path: Path) -> None:
    data: Rows = [
        {"prompt": "p", "completion": one, "total": score, "text": "t", "score": 7, "labels": [1], "chosen": "c"}
        for one, score in (("a", 1.0), ("b", 0.0))
    ]
    (kept,) = selected(lines(tmp_path / "data.jsonl", data), Keep(1))
    assert list(kept) == [
        *("prompt", "completion", "score", "total"),
        *("input/text", "input/score", "input/labels", "input/chosen"),
    ]
    (pair,) = selected(tmp_path / "data.jsonl", Pairs(), sources={"text": "text"})
    assert (pair["input/text"], pair["chosen"], pair["chosen_chosen"]) == ("t", "a", "c")
    assert (pair["score_chosen"], pair["input/score_chosen"]) == (1.0, 7)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_a_broken_text_does_not_make_the_file_unreadable(tmp_path: Path, ending: str) -> None:
    data: Rows = [
        {"prompt": "p", "completion": "a\ud800\x00\r\n\u2028", "total": 1.0, "n": float("nan"), "mixed": 1},
        {"prompt": "q", "completion": "NaN", "total": 1.0, "n": 1.0, "mixed": {"k": "\ud800"}},
    ]
    rows = selected(lines(tmp_path / "data.jsonl", data), Keep(1), ending)
    assert [row["completion"] for row in rows] == ["a\ufffd\x00\r\n\u2028", "NaN"]
    if ending == "jsonl":
        assert [row["n"] for row in rows] == [None, 1.0]
        (tmp_path / "out.jsonl").read_bytes().decode()  # strictly UTF-8


def test_csv_files_cannot_hold_messages(tmp_path: Path) -> None:
    data: Rows = [{"prompt": MESSAGES, "completion": "4", "total": 1.0}]
    with pytest.raises(DataError, match=r"Use \.jsonl"):
        selected(lines(tmp_path / "data.jsonl", data), Keep(1), "csv")
    assert not list(tmp_path.glob("*partial"))


def test_the_report_says_why_prompts_have_none(tmp_path: Path) -> None:
    groups: dict[str, list[tuple[str, float | None]]] = {
        "fine": [("a", 1.0), ("b", 0.0)],
        UNSCORED: [("a", None)],
        SINGLE: [("a", 1.0), ("b", None)],
        EQUAL: [("a", 0.3), ("b", 0.1 + 0.2)],
        NARROW: [("a", 0.5), ("b", 0.4)],
        ALIKE: [("a", 1.0), ("a", 0.0)],
    }
    data: Rows = [
        {"prompt": name, "completion": said, "total": score} for name, rows in groups.items() for said, score in rows
    ]
    scored = Scored.of(saved(lines(tmp_path / "data.jsonl", data)))
    pairs = select(scored, Pairs(1, 0.2))
    assert dict(pairs.without) == {UNSCORED: 1, SINGLE: 1, EQUAL: 1, NARROW: 1, ALIKE: 1}
    assert pairs.text().splitlines()[:3] == [
        "1 pair (best-worst, gap 0.2) from 1 of 6 prompts",
        "mean score: all 0.5, chosen 1, rejected 0",
        "2 of 11 completions have no score",
    ]
    kept = select(scored, Keep(1, 0.6))
    assert (kept.number, {reason: count for reason, count in kept.without.items() if count}) == (
        3,
        {UNSCORED: 1, LOW: 2},
    )
