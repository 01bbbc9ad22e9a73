"""The tables of a record: nothing is lost, nothing is cut, and no value raises an error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.column import Column
from rewardkit.batch.score import SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.record.names import component_and_part
from rewardkit.record.parts import decoded, encoded
from rewardkit.record.records import Record
from rewardkit.record.schema import COLUMNS
from rewardkit.record.tables import arrow_type, tables_of, writable
from tests.record.batches import VERSION, batch

anything = st.text(st.characters(exclude_categories=()))
HOSTILE = [
    "\ud800 lone \udfff",
    "nul \0 inside",
    "\u202eright to left\u202c",
    "<script>alert(1)</script>",
    "\x1b]52;c;aGk=\x07",
    "a" * 1_000_000,
    "",
    "\U0010ffff\ufeff",
]


def tables(record: Record, **options: Any) -> dict[str, pa.Table]:
    return tables_of(record, **{"attempt": 1, "rank": 0, "part": 7, "known_prompts": set(), **options})


def column(record: Record, table: str, name: str) -> list[Any]:
    values: list[Any] = tables(record)[table][name].to_pylist()
    return values


def test_columns_and_types_agree_with_the_schema() -> None:
    for name, table in tables(batch()).items():
        fixed = {column: arrow_type(kind) for column, kind in COLUMNS[name].items()}
        assert dict(zip(table.schema.names, table.schema.types, strict=True)).items() >= fixed.items()


def test_scores_have_components_outcomes_and_terms() -> None:
    scores = tables(batch())["scores"].to_pydict()
    assert scores["row"] == [0, 1, 2, 3]
    assert scores["components/right"] == [1.0, None, 1.0, None]
    assert scores["outcomes/right"] == ["scored", "skipped", "scored", "failed"]
    assert scores["terms/right"] == [2.0, 0.0, 2.0, None]
    assert scores["total"] == [2.0, 0.25, 2.5, None]
    assert scores["group"] == [0, 0, 1, 1]
    assert scores["version"] == ["0123456789abcdef"] * 4
    assert scores["length"] == scores["advantage"] == [None] * 4


def test_an_unknown_step_is_the_number_of_the_batch() -> None:
    assert column(batch(step=None), "scores", "step") == [7] * 4


def test_lengths_are_tokens_and_characters() -> None:
    record = batch(texts=["ab", "äöü"], completion_ids=[[1, 2, 3], []])
    assert column(record, "scores", "length") == [3, 0]
    assert column(record, "scores", "characters") == [2, 3]


def test_lengths_of_prompts_may_be_unknown() -> None:
    assert column(batch(texts=["a", "b"], prompt_lengths=[7, None]), "scores", "prompt_length") == [7, None]
    assert column(batch(), "scores", "prompt_length") == [None] * 4


def test_durations_are_counted_to_two_digits() -> None:
    record = batch(durations={"form": [0.00123, 0.00124, 0.0129], "right": []})
    found = tables(record)["durations"].to_pydict()
    assert (found["component"], found["seconds"], found["count"]) == (["form"] * 2, [0.0012, 0.013], [2, 1])
    assert "durations" not in tables(batch())


@given(st.lists(st.floats(1e-9, 1e4), min_size=1, max_size=50))
def test_durations_are_within_five_percent(seconds: list[float]) -> None:
    found = tables(batch(durations={"form": seconds}))["durations"].to_pydict()
    kept = np.repeat(found["seconds"], found["count"])
    np.testing.assert_allclose(np.sort(kept), np.sort(seconds), rtol=0.05001)


def test_conversations_are_kept_with_their_text() -> None:
    said = [{"role": "assistant", "content": "42"}]
    record = batch(texts=["42", "7"], completions=[said, "7"], prompts=[[{"role": "user", "content": "6*7?"}]] * 2)
    assert [value and json.loads(value) for value in column(record, "completions", "messages")] == [said, None]
    assert column(record, "prompts", "prompt") == ["6*7?"]


def test_notes_and_parts_are_in_the_table_of_texts() -> None:
    assert column(batch(), "completions", "notes/form") == ["a note", None, None, None]
    assert column(batch(), "completions", "parts/right/distance") == [0.0, 1.0, 2.0, 3.0]


def test_a_prompt_is_written_once_for_each_set_of_columns() -> None:
    known: set[str] = set()
    first = tables(batch(), known_prompts=known)
    assert first["prompts"]["prompt"].to_pylist() == ["prompt 0", "prompt 1"]
    assert "prompts" not in tables(batch(), known_prompts=known)
    other = tables(batch(columns={"answer": [5] * 4}), known_prompts=known)
    assert other["prompts"]["columns"].to_pylist() == ['{"answer": 5}'] * 2
    assert len(known) == 4


def test_the_id_of_a_prompt_is_the_same_in_another_process() -> None:
    class Image:
        pass

    ids = [column(batch(columns={"image": [Image()] * 4}), "scores", "prompt_id") for _ in range(2)]
    assert ids[0] == ids[1]
    assert column(batch(n=2), "scores", "prompt_id") == ["6e33bb462261a330"] * 2


def test_images_are_distinguished_by_their_content() -> None:
    class Image:
        def __init__(self, content: bytes) -> None:
            self.tobytes = lambda: content

    record = batch(
        prompts=["what is this?"] * 4, columns={"image": [Image(b"cat"), Image(b"cat"), Image(b"dog"), Image(b"dog")]}
    )
    assert len(set(column(record, "scores", "prompt_id"))) == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_stored_exactly(text: str) -> None:
    record = batch(texts=[text, "calm"], prompts=[text, text], columns={text: [text, text]})
    stored = {name: decoded(encoded(name, table)) for name, table in tables(record).items()}
    assert stored["completions"]["completion"].to_pylist() == [writable(text), "calm"]
    assert stored["prompts"]["prompt"].to_pylist() == [writable(text)]
    assert json.loads(stored["prompts"]["columns"][0].as_py()) == {text: text}


@given(st.lists(anything, min_size=1, max_size=4))
def test_any_text_is_stored_exactly(texts: list[str]) -> None:
    record = batch(texts=texts, prompts=texts, columns={"answer": texts})
    stored = decoded(encoded("completions", tables(record)["completions"]))
    assert stored["completion"].to_pylist() == list(map(writable, texts))


@given(anything)
def test_valid_utf8_is_not_changed(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        assert "\\ud" in writable(text)
    else:
        assert writable(text) == text


def test_values_with_unusual_equality_can_be_stored() -> None:
    record = batch(columns={"array": [np.arange(2)] * 2 + [np.arange(3)] * 2})
    assert len(set(column(record, "scores", "prompt_id"))) == 2


def test_an_unwritable_cell_does_not_affect_the_others() -> None:
    class Bad:
        def __repr__(self) -> str:
            raise ValueError("no")

    record = batch(prompts=["?"] * 4, columns={"bad": [Bad()] * 4, "answer": [0, 0, 1, 1]})
    columns = [json.loads(text) for text in column(record, "prompts", "columns")]
    assert columns == [{"bad": "<Bad that could not be written>", "answer": answer} for answer in (0, 1)]
    assert len(set(column(record, "scores", "prompt_id"))) == 2


def test_large_arrays_that_differ_make_different_prompts() -> None:
    images = [np.zeros((64, 64)), np.zeros((64, 64))]
    images[1][63, 63] = 1
    record = batch(prompts=["?"] * 4, columns={"image": [images[0], images[1], images[0], images[1]]})
    ids = column(record, "scores", "prompt_id")
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]
    assert max(map(len, column(record, "prompts", "columns"))) < 200


def test_a_shared_cell_is_encoded_once() -> None:
    class Image:
        read = 0

        def tobytes(self) -> bytes:
            Image.read += 1
            return b"cat"

    image = Image()
    record = batch(n=6, columns={"image": [image] * 6, "turn": [0, 1, 0, 1, 0, 1]})
    assert len(tables(record)["prompts"]) == 6
    assert Image.read == 1


def test_names_that_differ_only_in_case_have_separate_columns() -> None:
    one = Column(np.ones(1), np.full(1, SCORED, dtype=np.int8), parts={"x": np.ones(1), "X": np.zeros(1)})
    two = Column(np.zeros(1), np.full(1, SCORED, dtype=np.int8))
    scores = ScoreTable(["a"], {"judge": one, "Judge": two}, {}, np.ones(1))
    found = tables_of(Record(scores, VERSION), attempt=1, rank=0, part=0, known_prompts=set())
    for table in found.values():
        assert len({name.casefold() for name in table.column_names}) == len(table.column_names)
    assert found["scores"]["components/Judge"].to_pylist() == [0.0]


def test_parts_of_names_with_slashes_stay_distinct() -> None:
    def scored(part: str, value: float) -> Column:
        return Column(np.ones(1), np.full(1, SCORED, dtype=np.int8), parts={part: np.array([value])})

    table = ScoreTable(["a"], {"a": scored("b/c", 1.0), "a/b": scored("c", 5.0)}, {}, np.ones(1))
    found = tables_of(Record(table, VERSION), attempt=1, rank=0, part=0, known_prompts=set())["completions"]
    parts = {component_and_part(name): found[name][0].as_py() for name in found.column_names if name[:6] == "parts/"}
    assert parts == {("a", "b/c"): 1.0, ("a/b", "c"): 5.0}
