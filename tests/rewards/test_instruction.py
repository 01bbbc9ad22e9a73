"""Instructions of a data set, and single ones."""

from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.instructions.reward import Credit, Reading
from tests.rewards.instructions.cases import CASES

OUTPUTS = (
    Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "ifbench/outputs.jsonl"
)

# With the reason in docs: the reference accepts what has nothing to check, or refuses what follows the instruction.
EXPLAINED = {
    ("strict", "format:line_indent", True): 1,
    ("strict", "words:last_first", True): 2,
    ("strict", "words:start_verb", False): 2,
    ("loose", "format:line_indent", True): 2,
    ("loose", "format:no_bullets_bullets", False): 1,
    ("loose", "words:last_first", True): 2,
    ("loose", "words:start_verb", False): 2,
}
WORDS = "length_constraints:number_words"
EVERY = dict.fromkeys(("num_words", "relation", "keywords", "N"))
"""The keys that Arrow gives each mapping."""


def row(
    ids: Any, arguments: Any, text: str, *, reading: Reading = "strict", credit: Credit = "partial"
) -> tuple[float, str]:
    table = rk.score(
        rk.instructions(reading=reading, credit=credit), [text], instruction_id_list=[ids], kwargs=[arguments]
    )
    return float(table.total[0]), str(table.notes["instructions"][0] if table.notes.get("instructions") else "")


@pytest.mark.skipif(not OUTPUTS.exists(), reason="needs shared/data/ifbench")
def test_published_verdicts() -> None:
    rows = [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").splitlines()]
    asked = [
        (identifier, arguments, one["completion"], {"strict": strict, "loose": loose})
        for one in rows
        for identifier, arguments, strict, loose in zip(
            one["instruction_id_list"], one["kwargs"], one["strict"], one["loose"], strict=True
        )
    ]
    assert len(asked) == 168
    differing: Counter[tuple[str, str, bool]] = Counter()
    readings: tuple[Reading, ...] = ("strict", "loose")
    for reading in readings:
        table = rk.score(
            rk.instructions(reading=reading),
            [text for _, _, text, _ in asked],
            instruction_id_list=[[identifier] for identifier, *_ in asked],
            kwargs=[[arguments] for _, arguments, *_ in asked],
        )
        for (identifier, _, _, labels), score in zip(asked, table.total.tolist(), strict=True):
            if labels[reading] != (score == 1.0):
                differing[reading, identifier, labels[reading]] += 1
    assert differing == EXPLAINED


IDS = ["punctuation:no_comma", WORDS]
ARGUMENTS = [EVERY, EVERY | {"num_words": 3.0, "relation": "at least"}]


@pytest.mark.parametrize(
    ("ids", "arguments"),
    [
        (IDS, ARGUMENTS),
        (json.dumps(IDS), json.dumps(ARGUMENTS)),
        (str(IDS), str(ARGUMENTS)),
        (tuple(IDS), [None, json.dumps(ARGUMENTS[1])]),
        (np.array(IDS), np.array(ARGUMENTS)),
    ],
)
def test_forms_of_the_columns(ids: Any, arguments: Any) -> None:
    assert row(ids, arguments, "Fog came in") == (1.0, "")
    assert row(ids, arguments, "Fog, ice, snow")[0] == 0.5
    assert row(ids, arguments, "Fog, ice")[0] == 0.0


def test_credit() -> None:
    assert row(IDS, ARGUMENTS, "Fog, ice, snow", credit="binary")[0] == 0.0
    assert row(IDS, ARGUMENTS, "Fog came in", credit="binary")[0] == 1.0


def test_loose_reading() -> None:
    text = "Sure, here it is:\nFog came in"
    assert row(IDS[:1], ARGUMENTS[:1], text)[0] == 0.0
    assert row(IDS[:1], ARGUMENTS[:1], text, reading="loose")[0] == 1.0
    quoted = rk.instructions(only="startend:quotation", reading="loose")
    assert rk.score(quoted, ['**"Fog came"**', "Fog\ncame\nin"]).total.tolist() == [1.0, 0.0]


def test_one_column_with_both() -> None:
    cell = [{"instruction_id": IDS, "kwargs": [None, {"num_words": 3, "relation": "at least"}]}]
    for value in (cell, cell[0], str(cell), json.dumps(cell)):
        table = rk.score(rk.instructions("ground_truth", None), ["Fog came in"], ground_truth=[value])
        assert table.total.tolist() == [1.0]


@pytest.mark.parametrize(
    ("ids", "arguments", "said"),
    [
        (["punctuation:no_coma"], [{}], "punctuation:no_comma"),
        (["number_words"], [{}], WORDS),
        ([7], [{}], "7"),
        ([], [], "list"),
        ({}, [{}], "list"),
        ("[", [{}], "["),
        ([WORDS], [{"num_words": 3}], "relation"),
        ([WORDS], [{"num_words": "3", "relation": "at least"}], "'3'"),
        ([WORDS], [{"num_words": 3.5, "relation": "at least"}], "3.5"),
        ([WORDS], [{"num_words": -1, "relation": "at least"}], "-1"),
        ([WORDS], [{"num_words": True, "relation": "at least"}], "True"),
        ([WORDS], [{"num_words": 3, "relation": "exactly"}], "exactly"),
        ([WORDS], [], "0 mappings"),
        ([WORDS], 7, "list"),
        ([WORDS], [7], "7"),
        (["keywords:existence"], [{"keywords": []}], "keywords"),
        (["keywords:letter_frequency"], [{"letter": "ab", "let_frequency": 1, "let_relation": "at least"}], "'ab'"),
        (["language:response_language"], [{"language": "tlh"}], "tlh"),
    ],
)
def test_faults_in_the_data(ids: Any, arguments: Any, said: str) -> None:
    with pytest.raises(rk.errors.CoercionError) as caught:
        rk.score(
            rk.instructions(), ["Fog", "Fog"], instruction_id_list=[IDS[:1], ids], kwargs=[ARGUMENTS[:1], arguments]
        )
    assert "row 1" in str(caught.value)
    assert "'instructions'" in str(caught.value)
    assert said in str(caught.value)
    assert "gold=" not in str(caught.value)  # it has no such option


def test_none_abstains() -> None:
    table = rk.score(rk.instructions(), ["Fog", "Fog"], instruction_id_list=[IDS[:1], None], kwargs=[[{}], None])
    assert table.total[0] == 1.0
    assert np.isnan(table.total[1])


def test_faults_in_the_call() -> None:
    calls: list[Any] = [
        lambda: rk.instructions(only="no_comma"),
        lambda: rk.instructions(only={WORDS: {"num_words": 3}}),
        lambda: rk.instructions(only={WORDS: {"num_words": 3, "relation": "at least", "word": "fog"}}),
        lambda: rk.instructions(only={WORDS: {"num_words": "3", "relation": "at least"}}),
        lambda: rk.instructions(only="punctuation:no_comma", reading="kind"),  # type: ignore[arg-type]
        lambda: rk.instructions(credit="some"),  # type: ignore[arg-type]
        lambda: rk.instructions(""),
        lambda: rk.instructions("ids", 7),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(rk.RewardDefinitionError):
            call()


def test_thinking_is_not_read_and_white_space_is() -> None:
    comma = rk.instructions(only="punctuation:no_comma")
    assert rk.score(comma, ["<think>a, b</think>Fog."]).total.tolist() == [1.0]
    assert rk.score(
        rk.instructions(only="punctuation:no_comma", extract=rk.extract.raw()), ["<think>a, b</think>Fog."]
    ).total[0] == (0.0)
    stairs = rk.instructions(only="format:line_indent")
    assert rk.score(stairs, ["   Fog\n came", "Fog\n came"]).total.tolist() == [0.0, 1.0]


def test_nothing_to_read() -> None:
    for identifier, case in CASES.items():
        reward = rk.instructions(only={identifier: case.arguments}, reading="loose")
        table = rk.score(reward, ["", " \n", "\u200b", "<think>Fog", "a" * 200_001])
        assert not table.total.any(), identifier


@pytest.mark.parametrize("identifier", CASES)
def test_no_text_without_words_passes(identifier: str) -> None:
    """Only instructions that forbid something are followed by a text that says nothing."""
    forbidding = ("no_", "forbidden", "exclude", "less than", "no-", "lowercase_counting", "punctuation:")
    case = CASES[identifier]
    table = rk.score(rk.instructions(only={identifier: case.arguments}), ["\u2020", "\u2020\u2020 \u2020"])
    lenient = any(part in f"{identifier} {case.arguments}" for part in forbidding)
    assert lenient or not table.total.any(), identifier


def test_repr_pickle_and_name() -> None:
    reward = rk.instructions(only={WORDS: {"num_words": 3, "relation": "at least"}})
    assert eval(repr(reward), {"instructions": rk.instructions}) == reward
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert reward.name == "number_words"
    every = rk.instructions("ids", "arguments", reading="loose", credit="binary")
    assert eval(repr(every), {"instructions": rk.instructions}) == every
    assert pickle.loads(pickle.dumps(every)) == every
    assert rk.score(pickle.loads(pickle.dumps(reward)), ["Fog came in"]).total.tolist() == [1.0]


@given(st.data(), st.sampled_from(sorted(CASES)))
def test_any_text_gets_a_verdict(data: st.DataObject, identifier: str) -> None:
    case = CASES[identifier]
    pieces = st.sampled_from(
        ["*", "<<", ">>", "[", "]", "\n", ". ", "?!", '"', "'", "-", "\u200b", "\ud800", "fog ", "\u0301"]
    )
    text = data.draw(st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=30).map("".join))
    strict, loose = (
        rk.score(rk.instructions(only={identifier: case.arguments}, reading=reading), [text]).total[0]
        for reading in ("strict", "loose")
    )
    assert strict in (0.0, 1.0)
    assert loose >= strict
