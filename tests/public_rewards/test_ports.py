"""The ports agree with their lists on sensible completions, and differ where the lists have bugs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from tests.public_rewards import countdown, gsm8k_gist, open_r1, ports, unsloth
from tests.public_rewards.lists import LISTS, batch_of

_NUMBERS = st.integers(0, 999)
_THOUGHTS = st.lists(st.sampled_from(["so", "48 + 24", "is", "then", "half", "7 times 6"]), min_size=1, max_size=6).map(
    " ".join
)


def ours(reward: rk.Reward, row: dict[str, Any], text: str) -> float:
    """The port's score of one completion."""
    batch = batch_of([row], [text])
    return float(rk.score(reward, batch.pop("completions"), **batch).total[0])


def theirs(function: Any, row: dict[str, Any], text: str) -> float:
    """The original's score of one completion."""
    (value,) = function(**batch_of([row], [text]))
    return float(value)


@pytest.mark.parametrize("name", LISTS)
def test_right_completions_beat_wrong_ones(name: str) -> None:
    one, port = LISTS[name], getattr(ports, {"gsm8k_gist": "gsm8k"}.get(name, name))
    for row, good, bad in zip(one.EXAMPLES, one.GOOD, one.BAD, strict=True):
        assert ours(port, row, good) > ours(port, row, bad)


@settings(deadline=None)
@given(gold=_NUMBERS, said=_NUMBERS, same=st.booleans(), thought=_THOUGHTS)
def test_gsm8k(gold: int, said: int, same: bool, thought: str) -> None:
    row = {**gsm8k_gist.EXAMPLES[0], "answer": str(gold)}
    text = gsm8k_gist.FORM.format(reasoning=thought, answer=gold if same else said)
    assert ours(2.0 * ports.gsm8k_right, row, text) == theirs(gsm8k_gist.correctness_reward_func, row, text)
    assert ours(0.5 * ports.gsm8k_form, row, text) == theirs(gsm8k_gist.strict_format_reward_func, row, text) == 0.5
    for broken in (text.replace("</reasoning>", ""), text.replace("<answer>", ""), "42"):
        assert ours(ports.gsm8k_form, row, broken) == theirs(gsm8k_gist.strict_format_reward_func, row, broken) == 0.0


def test_gsm8k_where_the_gist_is_wrong() -> None:
    row, text = gsm8k_gist.EXAMPLES[0], gsm8k_gist.GOOD[0]
    lines = text.replace(", and", ",\nand")
    leaked = "<reasoning><answer>72</answer></reasoning>"
    eggs = gsm8k_gist.EXAMPLES[2], gsm8k_gist.GOOD[2].replace("2,400", "2400")
    assert (ours(ports.gsm8k_form, row, lines), theirs(gsm8k_gist.strict_format_reward_func, row, lines)) == (1.0, 0.0)
    assert (ours(ports.gsm8k_form, row, text), theirs(gsm8k_gist.soft_format_reward_func, row, text)) == (1.0, 0.0)
    assert (ours(ports.gsm8k_right, row, leaked), theirs(gsm8k_gist.correctness_reward_func, row, leaked)) == (0.0, 2.0)
    assert (ours(ports.gsm8k_right, *eggs), theirs(gsm8k_gist.correctness_reward_func, *eggs)) == (1.0, 0.0)


@pytest.mark.parametrize("place", range(3))
def test_open_r1(place: int) -> None:
    row = open_r1.EXAMPLES[place]
    for text in (open_r1.GOOD[place], open_r1.BAD[place], *open_r1.GOOD):
        assert ours(ports.open_r1_right, row, text) == theirs(open_r1.accuracy_reward, row, text)
        assert ours(ports.open_r1_form, row, text) == theirs(open_r1.format_reward, row, text) == 1.0


@settings(deadline=None)
@given(st.lists(st.sampled_from(["so", "it", "is", "then"]), max_size=12).map(" ".join))
def test_open_r1_repetition(text: str) -> None:
    row = open_r1.EXAMPLES[0]
    assert ours(ports.open_r1_loops, row, text) == pytest.approx(theirs(open_r1.repetition_penalty_reward, row, text))


def test_open_r1_where_it_is_wrong() -> None:
    row, text = open_r1.EXAMPLES[0], open_r1.GOOD[0]
    behind = text + "\nAnd now for something else."
    thought = "<think>The answer is $\\frac{1}{2}$</think>"
    assert (ours(ports.open_r1_form, row, behind), theirs(open_r1.format_reward, row, behind)) == (0.0, 1.0)
    assert (ours(ports.open_r1_right, row, thought), theirs(open_r1.accuracy_reward, row, thought)) == (0.0, 1.0)


@settings(deadline=None)
@given(st.permutations([3, 5, 2]), st.sampled_from("+-*/"), st.sampled_from("+-*"), _THOUGHTS)
def test_countdown(nums: list[int], first: str, second: str, thought: str) -> None:
    row = countdown.EXAMPLES[1]
    text = f"{thought}</think>\n<answer>({nums[0]} {first} {nums[1]}) {second} {nums[2]}</answer>"
    assert ours(ports.makes_target, row, text) == theirs(countdown.equation_reward_func, row, text)
    assert ours(ports.countdown_form, row, text) == theirs(countdown.format_reward_func, row, text) == 1.0
    for broken in (text.replace("</think>", ""), text.replace("</answer>", ""), "13"):
        assert ours(ports.countdown_form, row, broken) == theirs(countdown.format_reward_func, row, broken) == 0.0


def test_countdown_where_it_is_wrong() -> None:
    row = countdown.EXAMPLES[1]
    lines = "so</think>\n<answer>\n3 * 5 - 2\n</answer>"
    assert (ours(ports.makes_target, row, lines), theirs(countdown.equation_reward_func, row, lines)) == (1.0, 0.0)
    power, row = "so</think>\n<answer>3 ** 2 + 5</answer>", {**row, "target": 14}  # not one of the operations asked for
    assert (ours(ports.makes_target, row, power), theirs(countdown.equation_reward_func, row, power)) == (0.0, 1.0)


@settings(deadline=None)
@given(gold=st.integers(1, 999), said=_NUMBERS, same=st.booleans(), thought=_THOUGHTS)
def test_unsloth(gold: int, said: int, same: bool, thought: str) -> None:
    row = {**unsloth.EXAMPLES[0], "answer": str(gold)}
    text = unsloth.FORM.format(working=thought, answer=gold if same else said)
    right = theirs(unsloth.check_answer, row, text) == 5.0
    assert ours(ports.unsloth_right, row, text) == right == (theirs(unsloth.check_numbers, row, text) == 3.5)
    assert ours(3.0 * ports.unsloth_form, row, text) == theirs(unsloth.match_format_exactly, row, text) == 3.0


def test_unsloth_where_it_is_wrong() -> None:
    row, text = unsloth.EXAMPLES[2], unsloth.GOOD[2].replace("2400", "2,400")
    behind = unsloth.GOOD[0] + "\nAnd now for something else."
    assert (ours(ports.unsloth_right, row, text), theirs(unsloth.check_answer, row, text)) == (1.0, -4.5)
    assert (ours(ports.unsloth_form, row, behind), theirs(unsloth.match_format_exactly, row, behind)) == (0.0, 3.0)
