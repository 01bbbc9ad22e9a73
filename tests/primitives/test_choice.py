"""Multiple choice: one option has to be chosen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(completion: str, gold: Any = "B", **options: Any) -> float:
    return float(rk.score(rk.choice("answer", **options), [completion], answer=[gold]).total[0])


@pytest.mark.parametrize(
    "completion",
    [
        "B", "(B)", "b", "B.", "**B**", "B) Paris", "B. A dog", "B: Paris", "(B) Paris", "[B]", "Option B",
        "Answer: B", "`B`",
        "<answer>B</answer>", "<answer>(B) Paris</answer>", "\\boxed{B}", "\\boxed{\\text{B}}",
        "$\\boxed{\\textbf{(B)}}$",
        "#### B", "So the answer is (B).", "It cannot be A, so the answer is B.", "A is wrong, C is wrong.\n\nB",
        "The answer is B (not A).", "The correct answer is **B**.", "I choose B because A is wrong",
        "The answer is A.\nThe answer is B.",
        "<think>A or C?</think>B", "The answer is B.\nA) is wrong because of rain.", "Final answer: B<|im_end|>",
        "The answer is $B$",
    ],
)  # fmt: skip
def test_b_is_chosen(completion: str) -> None:
    assert value(completion) == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "", "A", "A, B, C or D", "B or C", "B/C", "B, C", "ABCD", "A B C D", "<answer>A B C D</answer>",
        "<answer>B or C</answer>",
        "The answer is A, B, C or D.", "The answer is B or maybe C", "Answer: B C", "A) B) C) D)",
        "B) Paris or C) Rome",
        "<answer>not B</answer>", "The answer is not B", "Paris", "Bee", "<think>B</think>", "<think>B",
        "The answer is B and C",
        "A. Paris\nB. Rome\nC. Bern\nD. Oslo", "\\boxed{B}, \\boxed{C}", "the answer is either B or C",
        "The answer is B\nor C",
        "<answer>B</answer><answer>C</answer>", "В", "The answer is B & D", "B? C? D?",
    ],
)  # fmt: skip
def test_b_is_not_chosen(completion: str) -> None:
    assert value(completion) == 0.0


@pytest.mark.parametrize("completion", ["A dog", "The answer is a dog", "The answer is A dog.", "A or B", "a"])
def test_the_article_is_no_option(completion: str) -> None:
    assert value(completion, "A") == (1.0 if completion == "a" else 0.0)


@pytest.mark.parametrize("gold", ["B", "(B)", "B. Paris", "b", 1, "\\boxed{B}"[7:8]])
def test_gold_is_a_name_a_label_or_a_position(gold: Any) -> None:
    assert value("B", gold) == 1.0


@pytest.mark.parametrize("gold", ["E", "", "A or B", 4, -1, True, 1.0])
def test_a_gold_that_is_no_option_is_the_datas_fault(gold: Any) -> None:
    with pytest.raises(rk.CoercionError, match="reward 'choice'"):
        value("B", gold)


def test_named_options() -> None:
    assert value("The answer is: Yes.", "yes", options=["yes", "no"]) == 1.0
    assert value("yes and no", "yes", options=["yes", "no"]) == 0.0
    assert value("No", "no", options=["yes", "no", "not sure"]) == 1.0
    assert value("not sure", "no", options=["yes", "no", "not sure"]) == 0.0
    assert value("F", "F", options="ABCDEFGHIJ") == 1.0


@pytest.mark.parametrize("options", ["A", "", "AA", ["yes", "Yes"], ["a", 5], [" a", "b"]])
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="choice: "):
        rk.choice("answer", options=options)


@given(st.text(alphabet="ABCD ().,:/*\n orandtheswi\\{}$", max_size=60))
def test_at_most_one_gold_is_right(completion: str) -> None:
    assert sum(value(completion, gold) for gold in "ABCD") <= 1.0


@given(st.text(max_size=200))
def test_no_text_breaks_it(completion: str) -> None:
    assert value(completion) in (0.0, 1.0)
