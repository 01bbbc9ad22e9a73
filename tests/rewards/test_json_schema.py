"""rk.json_schema: its notes, its options, and the object behind it. The laws of its credit are in schema/."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import CoercionError, MissingExtraError, RewardDefinitionError
from rewardkit.rewards.json_schema import reward as module
from rewardkit.rewards.json_schema.reward import JsonSchema
from tests.hostile.schemas import REFUSED
from tests.rewards.schema.cases import CASES, FLAT, INVOICE, PAYMENT, Invoice, Json, Payment


def note(schema: Any, value: Json) -> str:
    return JsonSchema.of(schema).credit_of(value)[1]


# --- Notes ---------------------------------------------------------------------------------------------


def test_notes_name_paths_and_stay_short() -> None:
    assert note(FLAT, {"sku": "a", "qty": "31"}) == 'color: missing; qty: "31" is not of type "integer"'
    wrong = {
        **INVOICE,
        "lines": [{"sku": "a", "qty": 0}],
        "total": "1",
        "customer": 3,
        "note": 2,
        "number": "1",
    }
    assert note(Invoice, wrong) == (
        'customer: 3 is not of type "object"; lines[0].qty: 0 is less than the minimum of 1; number: "1" does not '
        'match "^[A-Z]{2}-[0-9]+$"; and 2 more'
    )
    assert note(FLAT, {"sku": 1}).endswith('; qty: missing; sku: 1 is not of type "string"')
    assert note({"type": "integer"}, "x" * 10**5) == f'"{"x" * 40}"... (100,000 characters) is not of type "integer"'
    assert note({"const": {"a": "y" * 10**5}}, 5).startswith('5: {"a":"yyy')
    assert len(note({"enum": ["y" * 10**5]}, 5)) < 200
    assert note({"minItems": 2}, [1]) == "array of 1 has less than 2 items"
    assert note({"required": ["a"], "minProperties": 3}, {"a": 1}) == "object of 1 has less than 3 properties"
    assert note({"not": {}}, 1) == "1 does not satisfy not"
    assert note({"type": "null"}, 10**300) == 'integer of about 300 digits is not of type "null"'
    assert note({"type": "null"}, True) == 'true is not of type "null"'
    assert note({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"a": 1}) == 'object of 1 is not of type "string"'
    assert note({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {}) == "object of 0 does not satisfy anyOf"
    assert note(Payment, {**PAYMENT, "how": {"kind": "cash"}}) == (
        'how.kind: "cash" is not "card" or "sepa" or "transfer"'
    )
    assert note(Payment, {**PAYMENT, "how": {}, "item": 1}) == (
        'how.kind: missing; "card" or "sepa" or "transfer"; item: 1 does not satisfy anyOf'
    )
    assert note(Payment, {**PAYMENT, "prices": {"a b": {}}}) == 'prices["a b"].qty: missing; prices["a b"].sku: missing'


def test_notes_hold_nothing_that_a_terminal_acts_on() -> None:
    hostile = "\x1b]52;c;x\x07\u202e\u2066\n\x00"
    for value in ({hostile: 1}, {"sku": hostile, "qty": hostile, "color": hostile}, {hostile * 50: hostile}):
        assert note(FLAT, value).isprintable()
    long = {"k" * 10**5: 1}
    assert len(note({**FLAT, "required": []}, long)) < 200


# --- Formats -------------------------------------------------------------------------------------------


def test_formats_are_checked_by_default() -> None:
    day = {"type": "string", "format": "date"}
    assert JsonSchema.of(day).credit_of("2023-02-29") == (0.0, '"2023-02-29" is not a "date"')
    lenient = JsonSchema.of(day, formats=False)
    assert lenient.credit_of("2023-02-29") == (1.0, "")
    assert lenient.credit_of(5) == (0.0, '5 is not of type "string"')
    assert lenient != JsonSchema.of(day)
    assert pickle.loads(pickle.dumps(lenient)) == lenient
    for formats, total, shown in ((True, 0.0, ""), (False, 1.0, ", formats=False")):
        reward = module.json_schema(day, formats=formats)
        assert rk.score(reward, ['"2023-02-29"']).total.tolist() == [total]
        assert str(reward) == f"json_schema({day}{shown})"


# --- The object ----------------------------------------------------------------------------------------


def test_equal_schemas_are_equal_hashable_and_pickled_as_text() -> None:
    first = JsonSchema.of({"type": "object", "required": ["a"]})
    second = JsonSchema.of('{"required": ["a"], "type": "object"}')
    assert first == second
    assert hash(first) == hash(second)
    assert first != JsonSchema.of(second.schema, credit="binary")
    copied = pickle.loads(pickle.dumps(first))
    assert copied == first
    assert copied.credit_of({}) == first.credit_of({}) == (0.0, "a: missing")
    assert len(pickle.dumps(first)) < 300
    module._engine.cache_clear()
    assert copied.credit_of({"a": 1}) == (1.0, "")


def test_many_threads_share_one_schema() -> None:
    judge = JsonSchema.of({**FLAT, "title": "threads"})
    expected = judge.credit_of({"sku": "a", "qty": "1"})
    module._engine.cache_clear()
    seen: list[tuple[float, str]] = []
    threads = [
        threading.Thread(target=lambda: seen.append(judge.credit_of({"sku": "a", "qty": "1"}))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 16


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    module._engine.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install .*\[json\]"):
        JsonSchema.of(FLAT)


def test_the_library_is_imported_only_when_it_is_used() -> None:
    code = "import sys, rewardkit.rewards.json_schema.reward; sys.exit('jsonschema_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_valid_small_object_costs_microseconds() -> None:
    judge, value = JsonSchema.of(FLAT), {"sku": "a", "qty": 1, "color": "red"}
    judge.credit_of(value)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        judge.credit_of(value)
        times.append(time.perf_counter() - start)
    assert min(times) < 20e-6


# --- A schema per row ----------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(CASES), min_size=1, max_size=5), st.sampled_from(["partial", "binary"]), st.booleans())
def test_a_column_scores_as_each_schema_does_alone(
    cases: list[tuple[Any, Json]], credit: Literal["partial", "binary"], formats: bool
) -> None:
    rows = [(schema, text) for schema, value in cases for text in (json.dumps(value), "{}", '{"a": []}', "{")]
    texts = [text for _, text in rows]
    plain = [JsonSchema.of(schema).schema for schema, _ in rows]
    cells: list[Any] = [text if row % 2 else json.loads(text) for row, text in enumerate(plain)]
    table = rk.score(rk.json_schema(column="shape", credit=credit, formats=formats), texts, shape=cells)
    for row, (schema, text) in enumerate(rows):
        alone = rk.score(rk.json_schema(schema, credit=credit, formats=formats), [text])
        assert table.total[row] == alone.total[0]
        assert table.notes["json_schema"][row] == alone.notes["json_schema"][0]


def test_each_schema_of_a_column_is_compiled_once() -> None:
    module._engine.cache_clear()
    cells = [{"required": ["a"]}, '{"required": ["a"]}', ' {"required":["a"] }', {"required": ["b"]}] * 5
    reward = rk.json_schema(column="schema")
    assert rk.score(reward, ['{"a": 1}'] * 20, schema=cells).total.tolist() == [1.0, 1.0, 1.0, 0.0] * 5
    assert rk.score(reward, ['{"b": 1}'] * 20, schema=cells).total.tolist() == [0.0, 0.0, 0.0, 1.0] * 5
    assert module._engine.cache_info().currsize == 3  # one to check that the extra is there


def test_more_schemas_than_are_kept_are_scored_all_the_same() -> None:
    module._engine.cache_clear()
    count = module.COMPILED_SCHEMAS + 10
    cells = [{"required": [f"k{number}"]} for number in range(count)]
    texts = [json.dumps({f"k{number}": 1}) for number in range(count)]
    assert rk.score(rk.json_schema(column="schema"), texts, schema=cells).total.min() == 1.0
    assert module._engine.cache_info().currsize == module.COMPILED_SCHEMAS


def test_a_row_without_a_schema_abstains() -> None:
    table = rk.score(rk.json_schema(column="schema"), ["{}", "{}"], schema=[None, {"type": "object"}])
    assert [outcome.value for outcome in table.outcomes["json_schema"]] == ["abstained", "scored"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_cell_that_is_no_schema_names_its_column_and_row(name: str) -> None:
    cells = [{"type": "object"}, REFUSED[name]()]
    with pytest.raises(CoercionError, match="column 'shape', row 1"):
        rk.score(rk.json_schema(column="shape"), ["{}", "{}"], shape=cells)


@pytest.mark.parametrize("cell", [{}, "{}", " {}", {"type": None}, True, "true", "null", "", [], INVOICE])
def test_a_cell_that_accepts_everything_or_nothing_is_refused(cell: Any) -> None:
    with pytest.raises(CoercionError, match="row 0"):
        rk.score(rk.json_schema(column="schema"), ["{}"], schema=[cell])


def test_either_a_schema_or_a_column() -> None:
    for arguments in ({}, {"schema": FLAT, "column": "a"}, {"column": ""}, {"column": 5}):
        with pytest.raises(RewardDefinitionError):
            module.json_schema(**arguments)
    with pytest.raises(RewardDefinitionError):
        module.json_schema(column="a", credit="half")  # type: ignore[arg-type]
    assert str(rk.json_schema(column="a", credit="binary")) == "json_schema(column='a', credit='binary')"
    copied = pickle.loads(pickle.dumps(rk.json_schema(column="a")))
    assert rk.score(copied, ["{}"], a=[FLAT]).total.tolist() == [0.0]
