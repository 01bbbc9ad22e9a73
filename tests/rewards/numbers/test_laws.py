"""Laws of claims: formatting means nothing, and a denied, retracted or joined number is never paid."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(completion: str, gold: object = 42, thousands: bool = False) -> float:
    return float(rk.score(rk.number("answer", thousands=thousands), [completion], answer=[gold]).total[0])


_CLAIMS = [
    "The answer is {}.", "**Answer:** {}", "### Answer\n{}", "So the answer is **{}**.", "Answer: ${}$",
    "It is {}.", "Therefore, x = {}.", "So he has {} apples.", "A: {}", "### Final Answer\n\n**{}**",
    "The answer is \\({}\\).", "<b>{}</b>", "答案是{}。", "정답은 {}입니다.", "答えは{}です。", "La respuesta es {}.",
    "That leaves {}", "- Total: {}",
]  # fmt: skip
_DENIALS = [
    "The answer is not {}.", "It isn't {}.", "It cannot be {}.", "{} is wrong.", "I doubt that it is {}.",
    "Anything but {}.", "It is certainly not {}.", "{} is incorrect", "{} (wrong)", "{}? No.",
    "We rule out {}.", "~~{}~~", "It can't be {}.", "I don't think it is {}.", "Definitely not: {}",
    "{} is too large.", "Is it {}?", "If it is {}, we are done.", "It might be {}.", "It could be {}.",
    "Some say it is {}.", "The wrong answer is {}.", "x \\neq {}", "答案不是{}", "{}ではない",
]  # fmt: skip
_RETRACTIONS = [
    "No wait, {}.", "Actually, {}.", "Scratch that, {}.", "Correction: {}.", "Wait, no. It's {}.", "Sorry, {}.",
    "I made a mistake. The answer is {}.", "Hmm, no: {}.", "Wait, let me recompute: it is {}.",
    "On second thought, {}.",
]  # fmt: skip
_TAKEN_BACK = [
    "Scratch that.", "No wait.", "I was wrong.", "That is wrong.", "That's incorrect.", "Never mind.", "No.",
]  # fmt: skip
_JOINS = [
    " or ", " and ", ", ", "/", " to ", "-", "\u2013", " or maybe ", " and/or ", " ", "; ", "、", "または", " 또는 ",
]  # fmt: skip
_NUMBERS = st.integers(1, 999).map(str) | st.decimals("0.01", "999", places=2).map(str)
_PAIRS = st.tuples(_NUMBERS, _NUMBERS).filter(lambda pair: float(pair[0]) != float(pair[1]))


@given(st.sampled_from(_CLAIMS), _NUMBERS)
def test_formatting_does_not_change_a_claim(claim: str, number: str) -> None:
    completion = claim.format(number)
    assert value(completion, number) == 1.0
    assert value(completion, -float(number)) == 0.0
    assert value(completion, float(number) + 0.01) == 0.0


@given(st.sampled_from(_DENIALS), _NUMBERS)
def test_a_denied_number_is_not_claimed(denial: str, number: str) -> None:
    assert value(denial.format(number), number) == 0.0


@given(st.sampled_from(_CLAIMS), st.sampled_from(_DENIALS), _NUMBERS)
def test_a_number_that_is_denied_later_is_not_claimed(claim: str, denial: str, number: str) -> None:
    if denial not in ("~~{}~~", "If it is {}, we are done."):
        again = denial.format(f"{float(number):.3f}")
        assert value(f"{claim.format(number)}\n{denial.format(number)}", number) == 0.0
        assert value(f"{claim.format(number)}\n{again}", number) == 0.0


@given(st.sampled_from(_CLAIMS), st.sampled_from(_DENIALS), _PAIRS)
def test_denying_another_number_keeps_the_claim(claim: str, denial: str, pair: tuple[str, str]) -> None:
    number, other = pair
    assert value(f"{claim.format(number)}\n{denial.format(other)}", other) == 0.0
    assert value(f"{denial.format(other)}\n{claim.format(number)}", number) == 1.0


@given(st.sampled_from(_CLAIMS), st.sampled_from(_RETRACTIONS), _PAIRS)
def test_after_a_retraction_the_last_claim_counts(claim: str, retraction: str, pair: tuple[str, str]) -> None:
    first, second = pair
    completion = f"{claim.format(first)}\n{retraction.format(second)}"
    assert (value(completion, first), value(completion, second)) == (0.0, 1.0)


@given(st.sampled_from(_CLAIMS), st.sampled_from(_TAKEN_BACK), _NUMBERS)
def test_a_number_that_is_taken_back_is_not_claimed(claim: str, taken_back: str, number: str) -> None:
    assert value(f"{claim.format(number)}\n{taken_back}", number) == 0.0


@given(st.sampled_from(_CLAIMS), st.sampled_from(_JOINS), _PAIRS)
def test_joined_numbers_claim_none(claim: str, join: str, pair: tuple[str, str]) -> None:
    completion = claim.format(join.join(pair))
    assert [value(completion, number) for number in pair] == [0.0, 0.0]


_PIECES = [
    "41", "42", " ", ". ", "\n", "not ", "the answer is ", " is wrong", "no wait, ", " or ", ", ", "Answer: ",
    "**", "$", "(", ")", "[1]", "?", "actually ", "-", "~~", "x", "K", "%", "nd", "1,042", "\u00bd", "\u0664",
    "\u200b", "<b>", "\\neq ", "doubt ",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_at_most_one_number_is_claimed(completion: str) -> None:
    golds = ["41", "42", "-41", "-42", "1042", "4142", "0.5", "41.5", "42.5"]
    assert sum(value(completion, gold, thousands=True) for gold in golds) <= 1.0


@pytest.mark.parametrize(
    "unit",
    ["not 4 ", "4? ", "4 or ", "no wait, ", "the answer is 4. ", "the answer is ", "~~", "<!--", "(4)[1] ", "# 4 ",
             "half of ", "4, ", "1. 4\n", "Is it 4?\n", "~~4~~", "wrong ", "4 is not ",
             "May 4, 2024 ", "\u0664 ", "answer\n", "\n", " \n", "4,\n", "(4 + ", "-\\frac{3}{4} "]
)  # fmt: skip
def test_a_flood_is_read_to_the_end(unit: str) -> None:
    assert value(unit * (190_000 // len(unit)) + "\nIt is not 42.") == 0.0
