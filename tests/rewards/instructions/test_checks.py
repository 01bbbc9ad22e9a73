"""Every instruction tells a text that follows it from one that does not."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.rewards.instructions.registry import CHECKS
from rewardkit.rewards.instructions.reward import FAMILIES
from tests.rewards.instructions.cases import CASES, REQUEST


def test_all_instructions_of_the_data_sets_are_known() -> None:
    assert FAMILIES
    assert len(CHECKS) == 25 + 58 + 29
    assert CHECKS.keys() == CASES.keys()


@pytest.mark.parametrize("identifier", CASES)
def test_right_and_wrong(identifier: str) -> None:
    case = CASES[identifier]
    reward = rk.instructions(only={identifier: case.arguments})
    table = rk.score(reward, [case.right, case.wrong])
    assert table.total.tolist() == [1.0, 0.0], list(table.notes)


BULLETS = "detectable_format:number_bullet_lists"
SUB_BULLETS, AFTER_SENTENCES = "format:sub-bullets", "format:no_bullets_bullets"
TWO_TO_ONE, BALANCE, VERB = "ratio:sentence_type", "ratio:sentence_balance", "words:start_verb"


@pytest.mark.parametrize(
    "line",
    [
        "- fog",
        "* fog",
        "-\tfog",
        "  - fog",
        "- [ ] fog",
        "* [x] fog",
        "- **fog** came",
        "* *fog*",
        "-\u00a0fog",
        "- -5",
        "- 1. fog",
    ],
)
def test_bullet_points(line: str) -> None:
    assert rk.score(rk.instructions(only={BULLETS: {"num_bullets": 3}}), [f"- ice\n{line}\n- tar"]).total.tolist() == [
        1.0
    ]


@pytest.mark.parametrize(
    "line",
    [
        "---",
        "***",
        "- - -",
        "* * *",
        "-5 degrees",
        "*fog* came",
        "*Note:* fog",
        "**fog** came",
        "--all",
        "-- fog",
        "-",
        "* ",
        "- \u200b",
        "1. fog",
        "+ fog",
        "\u2014 fog",
        "> fog",
        "|---|",
    ],
)
def test_no_bullet_points(line: str) -> None:
    scores = rk.score(
        rk.instructions(only={BULLETS: {"num_bullets": 2}}), ["\n".join([line] * 2), f"- ice\n{line}\n- tar"]
    ).total
    assert scores.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("identifier", "text", "strict", "loose"),
    [
        (SUB_BULLETS, "*fog\n  - thick", 1.0, 1.0),
        (SUB_BULLETS, "* **fog**\n  - *very* thick", 0.0, 1.0),
        (SUB_BULLETS, "* fog, 5 * 3 m\n  - thick", 0.0, 1.0),
        (SUB_BULLETS, "* fog\n---", 0.0, 0.0),
        (SUB_BULLETS, "* fog is well-known", 0.0, 0.0),
        (SUB_BULLETS, "**fog**\n- thick", 0.0, 0.0),
        (AFTER_SENTENCES, "Fog came. Ice came.\n\n* one\n\n* two", 1.0, 1.0),
        (AFTER_SENTENCES, 'He said "go." (We went.)\n* one\n* two', 1.0, 1.0),
        (AFTER_SENTENCES, "Fog came. Ice came.\n*one*\n*two*", 0.0, 0.0),
        (AFTER_SENTENCES, "Fog came. Ice came.\n* * *\n***", 0.0, 0.0),
        (TWO_TO_ONE, 'We call it "fog." It came. Why?', 1.0, 1.0),
        (TWO_TO_ONE, "(Fog came.) *It stayed.* \u201cWhy?\u201d", 1.0, 1.0),
        (TWO_TO_ONE, "...\n...\n*", 0.0, 0.0),
        (BALANCE, '"Fog came." (Why?) \u00abGo!\u00bb', 1.0, 1.0),
        (VERB, "Whirring and pulsing, the city wakes.", 1.0, 1.0),
        (VERB, "Nothing came.", 0.0, 0.0),
        (VERB, "During the night fog came.", 0.0, 0.0),
    ],
)
def test_strict_and_loose(identifier: str, text: str, strict: float, loose: float) -> None:
    readings = rk.instructions(only=identifier), rk.instructions(only=identifier, reading="loose")
    assert [float(rk.score(reward, [text]).total[0]) for reward in readings] == [strict, loose]


@pytest.mark.parametrize(
    ("identifier", "start", "end", "right", "wrong"),
    [
        ("repeat:repeat_span", 0, 0, "Describe", "D"),
        ("repeat:repeat_span", 4, 99, "Oslo in winter.", "Oslo in winter"),
        ("repeat:repeat_span", 1, 2, "the\nharbor", "the harbor of"),
        ("new:copy_span_idx", 0, 0, "D", "Describe"),
        ("new:copy_span_idx", 9, 17, "the harbo", "the harbor"),
    ],
)
def test_spans(identifier: str, start: int, end: int, right: str, wrong: str) -> None:
    reward = rk.instructions(only={identifier: {"prompt_to_repeat": REQUEST, "n_start": start, "n_end": end}})
    assert rk.score(reward, [right, wrong]).total.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("identifier", ["repeat:repeat_span", "new:copy_span_idx"])
def test_a_span_of_nothing(identifier: str) -> None:
    reward = rk.instructions(only={identifier: {"prompt_to_repeat": REQUEST, "n_start": 99, "n_end": 100}})
    table = rk.score(reward, ["Describe", REQUEST])
    assert table.total.tolist() == [0.0, 0.0]
    assert "nothing" in next(iter(table.notes.values()))[0]
