"""Reasoning steps: what is a step, and what cannot be padded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk

STEPS = [
    "Add 3 and 4 to get 7.",
    "The train drives for three hours at 50 km/h.",
    "Multiply both numbers, which gives 150 km in total.",
    "Subtract the distance that it has already covered.",
    "Round the result to the nearest whole kilometer.",
]


def value(text: str, enough: int = 3, **options: Any) -> float:
    return float(rk.score(rk.reasoning_steps(enough, **options), [text]).total[0])


def note(text: str) -> str:
    return str(rk.score(rk.reasoning_steps(), [text]).notes["reasoning_steps"][0])


FORMS = ["{n}. {s}", "{n}) {s}", "({n}) {s}", "- {s}", "* {s}", "\u2022 {s}", "Step {n}: {s}", "**Step {n}:** {s}",
         "> {n}. {s}", "### Step {n}: {s}", "Schritt {n}: {s}", "\u6b65\u9aa4{n}\uff1a{s}", "## {n}. {s}",
         "  {n}. {s}"]  # fmt: skip


@given(st.sampled_from(FORMS), st.integers(0, 5), st.integers(1, 5))
def test_marked_steps_are_counted(form: str, count: int, enough: int) -> None:
    text = "\n".join(form.format(n=number + 1, s=STEPS[number]) for number in range(count))
    assert value(text, enough) == pytest.approx(min(1.0, count / enough))
    assert value(f"<think>\n{text}\n</think> It is 42.", enough) == pytest.approx(min(1.0, count / enough))


@pytest.mark.parametrize(
    "text",
    [
        "First, we add 3 and 4 to get 7. Next, the train drives for three hours. Finally, round the result to km.",
        "Step 1: Add 3 and 4 to get 7. Step 2: The train drives for three hours. Step 3: Round the result to km.",
        "**Step 1: Sum**\n\nWe add 3 and 4 to get 7.\n\n**Step 2: Time**\n\nThe train drives for three hours.\n\n"
        "**Step 3: Result**\n\nRound the result to full km.",
        "\u7b2c\u4e00\u6b65\uff1a\u628a\u4e24\u4e2a\u6570\u76f8\u52a0\u5f97\u5230\u4e03\u3002\n"
        "\u7b2c\u4e8c\u6b65\uff1a\u7136\u540e\u9664\u4ee5\u4e09\u5c0f\u65f6\u3002\n"
        "\u7b2c\u4e09\u6b65\uff1a\u6700\u540e\u56db\u820d\u4e94\u5165\u6210\u6574\u3002",
    ],
)
def test_other_forms_of_steps(text: str) -> None:
    assert value(text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "", "42", "Step 1: Step 2: Step 3:", "First, Second, Next, Finally,", "\n-\n-\n-", "1.\n2.\n3.",
        "Step 1: ok\nStep 2: ok\nStep 3: ok", "- a b c d e f\n- g h i j k l\n- m n o p q r",
        "1. \u200b\u200b \u200b\n2. \u200b\n3. \u200b", "1. and and and and and\n2. or or or or or",
        "A single line of 1.5 kg of prose.",
        "The year 1999. It was fine. 3.14 is a number that is not at the start of a list.",
    ],
)  # fmt: skip
def test_marks_without_steps_earn_nothing(text: str) -> None:
    assert value(text) == 0.0


@pytest.mark.parametrize(
    "changed",
    ["{s}", "{s} ", "{s}!", "{s} again", "so {s}", "\u200b{s}", "**{s}**", "{s} 2"],
)
def test_a_repeated_step_counts_once(changed: str) -> None:
    for step in STEPS:
        again = changed.format(s=step)
        assert value(f"1. {step}\n2. {again}\n3. {again.upper()}") == pytest.approx(1 / 3)


def test_sums_in_the_same_words_are_different_steps() -> None:
    assert value("1. Add 3 and 4 to get 7.\n2. Add 7 and 5 to get 12.\n3. Multiply 12 by 2 to get 24.") == 1.0
    assert value("1. 48 + 24 = 72\n2. 72 / 8 = 9\n3. 9 - 5 = 4", words=3) > 0.0


@given(st.lists(st.sampled_from([*STEPS, "ok", ""]), max_size=8), st.integers(1, 5), st.integers(1, 4))
def test_padding_earns_nothing(steps: list[str], enough: int, times: int) -> None:
    text = "\n".join(f"- {step}" for step in steps)
    padded = "\n".join([text, *([text] * times), *["- ok", "-", "- Step"] * times])
    assert value(padded, enough) == value(text, enough) == pytest.approx(min(1.0, len({*steps} & {*STEPS}) / enough))


@given(st.text() | st.text("1.-\n*S tep:firstnx,\u200b\u7b2c\u6b65", max_size=200))
def test_any_text_has_a_score(text: str) -> None:
    assert 0.0 <= value(text) <= 1.0


def test_the_note_says_why() -> None:
    assert note(f"1. {STEPS[0]}\n2. {STEPS[0]}\n3. ok") == "1 of 3 steps, 1 repeated, 1 too short"
    assert note("\n".join(f"- {step}" for step in STEPS)) == ""


def test_options_are_checked_and_printed() -> None:
    for arguments in ((0,), (21,), (2.0,), (True,), ("3",)):
        with pytest.raises(rk.RewardDefinitionError):
            rk.reasoning_steps(*arguments)
    with pytest.raises(rk.RewardDefinitionError):
        rk.reasoning_steps(words=0)
    assert repr(rk.reasoning_steps()) == "reasoning_steps()"
    assert repr(rk.reasoning_steps(4, words=3)) == "reasoning_steps(4, words=3)"
    answer = rk.reasoning_steps(1, extract=rk.extract.whole())
    assert rk.score(answer, [f"<think>1. {STEPS[0]}</think>"]).total.tolist() == [0.0]
