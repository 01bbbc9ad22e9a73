"""JSON from untrusted text: exactly RFC 8259, within limits, never an exception."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.json_text import parse_json

pytest.importorskip("jiter", reason="reading JSON needs jiter: pip install 'rewardkit-sdk[json]'")

GOOD: list[tuple[str, Any]] = [
    ("null", None), ("true", True), (" [1, 2.5, -0] ", [1, 2.5, 0]), ('{"a": {"b": []}}', {"a": {"b": []}}),
    ('"\\ud83d\\ude00"', "😀"), ('"\u2028"', "\u2028"), ("1e5", 1e5), ("[" * 64 + "]" * 64, ...), ('"[[["', "[[["),
    ("1" * 300, int("1" * 300)), ('"\x7f"', "\x7f"), ('{"1": 1, "01": 2}', {"1": 1, "01": 2}),
]  # fmt: skip
BAD = [
    "", " ", "{", "[1,]", "{'a': 1}", "nul", "NaN", "Infinity", "-Infinity", "[NaN]", "1e999", "-1e999", "[1e999]",
    "01", "+1", ".5", "1.", "0x10", "1_000", "True", "None", "// c\n1", "1 2", "{}{}", '{"a": 1, "a": 1}',
    '{"a": {"b": 1, "b": 2}}', '{"a": 1, "\\u0061": 2}', '"\n"', '"\x00"', '"\\x41"', '"\\ud800"', "\ud800", '"\udfff"',
    "\ufeff1", "[" * 65 + "]" * 65, '{"a":' * 65 + "1" + "}" * 65, "[" * 100_000, "1" * 500, '{"a": ' + "9" * 500 + "}",
    " " * 200_001, '"' + "a" * 200_000 + '"', "\u00a01",
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), GOOD)
def test_json_is_read(text: str, value: Any) -> None:
    parsed = parse_json(text)
    assert parsed.error == ""
    assert value is ... or parsed.value == value


@pytest.mark.parametrize("text", BAD)
def test_invalid_json_has_a_reason_and_no_value(text: str) -> None:
    parsed = parse_json(text)
    assert parsed.error
    assert len(parsed.error) < 300
    assert parsed.value is None


def test_a_long_duplicate_key_is_cut_in_the_note() -> None:
    key = json.dumps("\x1b" * 10_000 + "k" * 10_000)
    error = parse_json(f"{{{key}: 1, {key}: 2}}").error
    assert len(error) < 300
    assert error.isprintable()
    assert error.endswith("column 140012")


def test_brackets_in_strings_do_not_count_as_levels() -> None:
    assert parse_json(json.dumps(["[" * 500, '\\"[' * 100])).error == ""


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False),
              st.text()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@given(values)
def test_whatever_json_writes_is_read_back(value: Any) -> None:
    parsed = parse_json(json.dumps(value))
    assert parsed.error == ""
    assert parsed.value == value


@given(values, st.lists(st.booleans(), min_size=60, max_size=70))
def test_the_depth_limit_is_exact_beside_any_value(value: Any, nested: list[bool]) -> None:
    deep: Any = []
    for in_object in nested:
        deep = {"brackets": "[{", "deep": deep} if in_object else [[], deep]
    parsed = parse_json(json.dumps([value, deep]))
    assert parsed.error == ("" if len(nested) + 2 <= 64 else "nested deeper than 64 levels")


@given(values, st.sampled_from(["1e309", "-1E+400", "9" * 402, f"{'1' * 290}.5e60", "0.1e0400"]))
def test_a_number_that_is_too_large_is_found_beside_any_value(value: Any, number: str) -> None:
    text = json.dumps([value, "hex 3e4", {"a": None}])
    assert parse_json(text).error == ""
    assert parse_json(text.replace("null}", f"{number}}}")).error == "holds a number that is too large"


@given(
    st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=40)
    | st.text('{}[]",:0123eE.-\\u', max_size=40)
)
def test_no_text_raises_and_what_is_read_is_what_python_reads(text: str) -> None:
    parsed = parse_json(text)
    if not parsed.error:
        assert parsed.value == json.loads(text)
        assert not isinstance(parsed.value, float) or math.isfinite(parsed.value)


@pytest.mark.parametrize("unit", ["[", "{", '"', "\\", '{"a":', "1", "1,", "[1],", '"a",', " ", "-", "e"])
def test_time_is_linear_in_the_text(unit: str) -> None:
    started = time.process_time()
    for text in (unit * (190_000 // len(unit)), f"[{unit * (190_000 // len(unit))}]"):
        parse_json(text)
    assert time.process_time() - started < 10  # of CPU: others may use the machine, and quadratic time takes minutes
