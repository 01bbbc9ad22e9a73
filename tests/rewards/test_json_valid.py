"""Valid JSON: only the syntax, by RFC 8259."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.json_valid import Kind, json_valid


@pytest.mark.parametrize(
    ("completion", "value"),
    [
        ('<answer>{"total": 12.5}</answer>', 1.0),
        ('<think>{</think>\n```json\n{"a": [1]}\n```\nDone.', 1.0),
        ("{}", 1.0),
        ("null", 1.0),
        ('{"a": 1,}', 0.0),
        ("{'a': 1}", 0.0),
        ('{"a": 1, "a": 2}', 0.0),
        ('{"a": NaN}', 0.0),
        ('{"a": 1e999}', 0.0),
        ('{"a": 1} and so on', 0.0),
        ("<answer>{}</answer><answer>{}</answer>", 0.0),
        ("[" * 65 + "]" * 65, 0.0),
        ("[" * 200_000, 0.0),
        ('"' + "a" * 200_000 + '"', 0.0),
        ("", 0.0),
    ],
)
def test_json_valid(completion: str, value: float) -> None:
    table = rk.score(json_valid(), [completion])
    assert table.total.tolist() == [value]
    assert bool(table.notes["json_valid"][0]) == (value == 0.0)
    assert len(table.notes["json_valid"][0]) < 300


@pytest.mark.parametrize(
    ("kind", "completion", "value"),
    [
        ("object", "{}", 1.0),
        ("object", "[]", 0.0),
        ("array", "[1]", 1.0),
        ("array", '{"a": []}', 0.0),
        ("object", "null", 0.0),
        ("array", '"[]"', 0.0),
    ],
)
def test_a_kind_can_be_asked_for(kind: Kind, completion: str, value: float) -> None:
    table = rk.score(json_valid(kind=kind), [completion])
    assert table.total.tolist() == [value]
    assert table.notes["json_valid"] == ["" if value else f"valid JSON, but not an {kind}"]


@given(st.text(st.sampled_from('{}[]":,1eE-.tnul \\u\ud800\x00<answer>`\n')))
def test_no_text_raises(completion: str) -> None:
    assert rk.score(json_valid(), [completion]).total[0] in (0.0, 1.0)


def test_an_extractor_finds_the_json() -> None:
    reward = json_valid(extract=rk.extract.tag("json"))
    assert rk.score(reward, ["<json>{}</json>", "{}"]).total.tolist() == [1.0, 0.0]
    assert str(reward) == "json_valid(extract=tag('json'))"


def test_in_a_gate_valid_json_passes() -> None:
    reward = rk.gate(when=json_valid(kind="object"), then=rk.json_schema({"required": ["a"]}))
    assert rk.score(reward, ['{"a": 1}', "{}", "a"]).total.tolist() == [1.0, 0.0, 0.0]


def test_it_is_pickled_and_equal() -> None:
    assert pickle.loads(pickle.dumps(json_valid(kind="array"))) == json_valid(kind="array") != json_valid()


def test_bad_options_are_refused_when_made() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="json_valid: kind"):
        json_valid(kind="dict")  # type: ignore[arg-type]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiter", None)
    with pytest.raises(rk.errors.MissingExtraError, match=r"rk.json_valid.*pip install .*\[json\]"):
        json_valid()
