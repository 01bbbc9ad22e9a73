"""JSON answers and gold documents: options, gold cells, and hostile completions. The laws are in json_comparison/."""

from __future__ import annotations

import json
import pickle
import sys
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.rewards.json_match import json_match

GOLD = {"sku": "a-7", "qty": 31, "lines": [{"id": 1, "name": "Red"}, {"id": 2, "name": "Blue"}]}
TEXT = json.dumps(GOLD)


def score(answer: Any, gold: Any = TEXT, **options: Any) -> float:
    completion = answer if isinstance(answer, str) else json.dumps(answer)
    return float(rk.score(json_match("gold", **options), [completion], gold=[gold]).total[0])


@pytest.mark.parametrize(
    ("completion", "value", "note"),
    [
        (f"<think>?</think><answer>{TEXT}</answer>", 1.0, ""),
        (f"```json\n{TEXT}\n```", 1.0, ""),
        ('{"sku": "a-7", "qty": 30}', 1 / 6, "qty: 30 is not 31; lines: missing"),
        ("{}", 0.0, "sku: missing; qty: missing; lines: missing"),
        ("", 0.0, "no JSON found"),
        ('{"sku": NaN}', 0.0, "not valid JSON: expected value at line 1 column 9"),
    ],
)
def test_json_match(completion: str, value: float, note: str) -> None:
    table = rk.score(json_match("gold"), [completion], gold=[TEXT])
    assert table.total.tolist() == pytest.approx([value])
    assert table.notes["json_match"] == [note]


def test_options_reach_the_engine() -> None:
    swapped = {**GOLD, "lines": GOLD["lines"][::-1]}  # type: ignore[index]
    assert score(swapped) == 1.0
    assert score(swapped, arrays="ordered") == 2 / 6
    other = {**GOLD, "lines": [{"id": 2, "name": "Red"}, {"id": 1, "name": "Blue"}]}
    assert score(other) == score(other, arrays="id") == score(other, arrays=["none", "id"]) == 4 / 6
    assert score({**GOLD, "lines": [{"id": 3, "name": "Red"}, GOLD["lines"][1]]}, arrays="id") == 4 / 6  # type: ignore[index]
    assert score({**GOLD, "qty": 31.4}, tolerance=0.5) == score({**GOLD, "qty": 31.4}, relative=0.02) == 1.0
    assert score({**GOLD, "qty": 31.4}, tolerance=0.1, relative=0.01) == 5 / 6
    assert score({**GOLD, "sku": "A-7"}) == 5 / 6
    assert score({**GOLD, "sku": "A-7"}, ignore_case=True) == 1.0
    assert score({**GOLD, "more": 1}) == 6 / 7
    assert score({**GOLD, "more": 1}, extra="allow") == 1.0
    assert score({"sku": "b", "qty": 31, "lines": [{"name": "Blue"}, {"id": 5, "name": "Red"}]},
                 ignore=["lines[].id", "sku"]) == 1.0  # fmt: skip
    assert score({"qty": 31, "lines": GOLD["lines"]}, ignore="sku") == 1.0


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (GOLD, GOLD),
        ([GOLD], [GOLD]),
        (TEXT, GOLD),
        (5, 5),
        (2.5, 2.5),
        (True, True),
        ('"Paris"', "Paris"),
        ("null", None),
        ("{}", {}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
    ],
)
def test_gold_cells(gold: Any, answer: Any) -> None:
    assert score(json.dumps(answer), gold) == 1.0
    assert score({"not": answer}, gold) == 0.0


def test_the_gold_has_its_own_extractor() -> None:
    reward = json_match("solution", extract=rk.extract.tag("json"), gold=rk.extract.after("####"))
    table = rk.score(reward, ['<json>{"a": 1}</json>', '{"a": 1}'], solution=['so it is\n#### {"a": 1}'] * 2)
    assert table.total.tolist() == [1.0, 0.0]
    with pytest.raises(rk.errors.CoercionError, match="no gold answer"):
        rk.score(reward, ["{}"], solution=["{}"])
    fenced = json_match("solution", gold=rk.extract.document())
    assert rk.score(fenced, ["[1]"], solution=["```json\n[1]\n```"]).total.tolist() == [1.0]


@pytest.mark.parametrize(
    "gold",
    ["", "Paris", "{'a': 1}", '{"a": 1, "a": 2}', '{"a": NaN}', {"a": float("nan")}, {"a": {1}}, {1: 2, "1": 3},
     float("inf"), "[" * 70 + "]" * 70, {"a": b"x"}, {"a": 10**500}, ["x" * 200_001]],
    ids=lambda gold: repr(gold)[:20],
)  # fmt: skip
def test_gold_that_is_not_json_is_a_coercion_error(gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"reward 'json_match'.*'gold', row 1"):
        rk.score(json_match("gold"), ["{}", "{}"], gold=["{}", gold])


def test_a_knotted_gold_is_the_datas_fault() -> None:
    knot: dict[str, Any] = {}
    knot["a"] = knot
    with pytest.raises(rk.errors.CoercionError, match="Store it as JSON text"):
        rk.score(json_match("gold"), ["{}"], gold=[knot])


def test_a_missing_gold_abstains() -> None:
    assert rk.score(json_match("gold"), ["{}"], gold=[None]).outcomes["json_match"].tolist() == ["abstained"]


def test_it_prints_as_it_was_written_and_is_pickled() -> None:
    reward = json_match("gold", arrays=["sku"], ignore="note", relative=0.1, extra="allow", gold=rk.extract.document())
    assert str(reward) == (
        "json_match('gold', arrays=('sku',), relative=0.1, ignore='note', extra='allow', gold=document())"
    )
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert json_match("gold") == json_match("gold") != json_match("gold", ignore_case=True)
    assert json_match("gold", ignore="a").fingerprint != json_match("gold", ignore="b").fingerprint


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"arrays": "order"}, r"Did you mean 'ordered'.*arrays=\('order',\)"),
        ({"arrays": ()}, "one or more keys"),
        ({"arrays": ["a", 5]}, "one or more keys"),
        ({"arrays": None}, "one or more keys"),
        ({"ignore": "a..b"}, "ignore .*paths"),
        ({"ignore": ["a", 5]}, "ignore .*paths"),
        ({"ignore": 5}, "ignore .*paths"),
        ({"tolerance": -1}, "tolerance .*-1"),
        ({"relative": float("inf")}, "relative"),
        ({"extra": "free"}, 'extra .*"cost" or "allow"'),
        ({"column": {"a": 1}}, "the name of the column with the gold document"),
    ],
)
def test_bad_options_are_refused_when_made(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=problem):
        json_match(options.pop("column", "gold"), **options)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiter", None)
    with pytest.raises(rk.errors.MissingExtraError, match=r"rk.json_match.*pip install .*\[json\]"):
        json_match("gold")


@settings(deadline=None)
@given(
    st.text(st.sampled_from('{}[]":,1e-tnul \\u\ud800<answer>')) | st.sampled_from([TEXT[:-1], TEXT + "]", "[" * 9999])
)
def test_no_text_raises(completion: str) -> None:
    assert 0.0 <= score(completion) <= 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "[" * 60 + "1," * 60_000 + "1" + "]" * 60,
        json.dumps({"lines": [{"id": 1}] * 18_000}),
        json.dumps([[{}]] * 30_000),
        json.dumps({"lines": [{str(index): index} for index in range(12_000)]}),
        json.dumps({"sku": "\u0300\u0327" * 50_000, "lines": ["\u1e69" * 30] * 1_000}, ensure_ascii=False),
        json.dumps([index * (2**61 - 1) for index in range(8_000)]),
    ],
    ids=lambda completion: completion[:20],
)
def test_a_hostile_document_earns_next_to_nothing_and_says_little(completion: str) -> None:
    assert len(completion) <= 200_000
    table = rk.score(json_match("gold", tolerance=0.5), [completion], gold=[TEXT])
    assert table.total[0] < 0.001
    assert 0 < len(table.notes["json_match"][0]) < 300
