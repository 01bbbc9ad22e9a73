"""Finding the final answer."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.math_equal.reward import FinalAnswer
from rewardkit.text import final_answer as module

find = FinalAnswer()


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("<answer>5</answer>", "5"), ("<answer>So \\boxed{5}.</answer>", "5"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{4} or \\boxed{5}", "4, 5"), ("\\boxed{5} again \\boxed{ 5 }", "5"),
        ("\\boxed{4 \\boxed{5}}", "4 \\boxed{5}"),
        ("\\boxed{\\{1\\}}", "\\{1\\}"), ("\\fbox {5}", "5"), ("4\n#### 5\nbye", "5"), ("The answer is 5.\nBye.", "5"),
        ("Answer: 4. No, answer: 5", "5"), ("**Answer:** **5**", "5"), ("**Answer: 5**", "5"),
        ("The answer is\n\n\\[ 5 \\]", "5"), ("**Answer:**\n\n- 5", "5"), ("### Final Answer\n- $5$", "5"),
        ("**Answer**\n\n> 5", "5"), ("Answer:\n1. 5", "5"), ("| Answer |\n|---|\n| 5 |", "5"), ("Answer: -5", "-5"),
        ("The answer is 6, achieved at x = 2.", "6"), ("The answer is 6 (2 × 3).", "6"),
        ("The answer is 6 — that is 2 times 3.", "6"), ("The answer is $6$, i.e., 2 × 3.", "6"),
        ("The answer is 5. The answer is reasonable.", "5"), ("👉 **5**", "5"), ("=> 5", "5"), ("```\n5\n```", "5"),
        ("We solve it.\n\n$5$ is the answer.", "5"), ("We solve it.\n\nSo Tom has **5** apples in total.", "5"),
        ("We solve it.\n\nThus $n = 5$. $\\blacksquare$", "n = 5"),
        ("answer is $$ 5 $$.", "5"), ("\\boxed 5", "5"), ("\\boxed{\\boxed{5}}", "5"),
        ("So $x = 5$.", "x = 5"), ("Hence\n\\[\n5\n\\]", "5"), ("$4$ then\n$$\n5\n$$.", "5"),
        ("\\(5\\)", "5"), ("5", "5"),
        ("It costs \\$5, so we get $6$", "6"), ("So it is:\nhere", "here"),
        ("The answer is $5$. I hope it is correct.", "5"),
    ],
)  # fmt: skip
def test_the_answer_is_found(completion: str, answer: str) -> None:
    assert find(completion) == answer


@pytest.mark.parametrize(
    "completion",
    [
        "A solution is $x=5$.",
        "\\boxed{5", "\\boxed{}", "<answer>5", "It is $4$ or $5$.", "<think>\\boxed{5}", "x" * 200_001,
        "$4$\n$5$", "no formula\nhere",
    ],
)  # fmt: skip
def test_other_completions_have_no_final_answer(completion: str) -> None:
    assert not find(completion)


def test_a_sentence_about_something_else_answers_nothing() -> None:
    completions = [
        "The value so far is 5.", "The answer in base 7 is 5.", "The answer, squared, is 5.", "So half of it is 5.",
        "So Tom has 5 million.", "Therefore, Tom does not have 5 apples.", "So Tom might have 5 apples.",
        "So we multiply by 5.",
    ]  # fmt: skip
    table = rk.score(rk.math_equal("answer"), completions, answer=["5"] * len(completions))
    assert table.total.tolist() == [0.0] * len(completions)


@given(st.text() | st.text("\\boxed{}$[]()answer is:\n#<>."))
def test_no_text_raises(text: str) -> None:
    found = find(text)
    assert found is None or len(found) <= len(text) + 2 * text.count("\\")


def test_it_pickles_and_compares() -> None:
    assert pickle.loads(pickle.dumps(find)) == find
    assert repr(find) == "final_answer()"


_PIECES = [
    "\\boxed{4}",
    "\\fbox {5}",
    "2",
    "x",
    "+",
    "/",
    "$",
    "\\(",
    " ",
    "not ",
    "cannot be ",
    "\\phantom{abc}",
    "\\sqrt",
    ".",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=8), st.sampled_from(["a word. ", "2 + "]), st.integers(0, 60))
def test_long_texts_before_a_box_do_not_matter(pieces: list[str], head: str, times: int) -> None:
    text = "".join(pieces)
    assert module.lone_boxes(head * (30 + times) + text) == module.lone_boxes(head * 30 + text)


ANSWERS_OF_LAST_LINES = [
    "$42$", "$42$ cm", "x = 42", "So $42$ is the solution.",
    "\\[x = 42\\]", "So $x = 42$.", "This simplifies to $42$.", "Total: $42$", "6 * 7\n= 42",
    "$2x = 84$\n$x = 42$", "We conclude that\n$$x = 42$$", "Adding up, the sum is\n42", "6 * 7 = 42\n42",
    "There are 6 rows of 7.\n42", "x cannot be negative.\nThus $x = 42$.", "The area is $42$ square units.",
    "x cannot be negative.\nSo x = 42.", "Thus, the largest possible value is 42.",
    "Hence it is $42$. I hope this helps! Let me know.",
]  # fmt: skip
OTHER_LAST_LINES = [
    "It is not $42$.", "I doubt it is $42$.", "$42$ is wrong.", "$42$ fails.", "$42$?", "Is it $42$?",
    "Suppose $x = 42$.",
    "Some say it is $42$.", "$42$ or 43.", "43, not $42$.", "43 rather than $42$.", "$42$. Wait, no.", "At least $42$.",
    "minus $42$", "Half of $42$.", "$42$ million", "$42$K", "$42$ mod 5", "Divide by $42$.", "See equation $42$.",
    "This contradicts $x = 42$.", "Now solve $\\sqrt{x} = 42$.", "The discarded root is $42$.",
    "41\n42", "41 or\n42", "$41$\n\n$42$", "x = 41\nx = 42", "$$41$$ or $$42$$", "It is not\n42", "x \u2260\n42",
    "Wrong guesses:\n41\n42", "Suppose\n\\[x = 42\\]", "No solution exists.\n\n42", "It is false that\n42",
    "Therefore, the square of the number is 42.", "Therefore, the sum without the last term is 42.",
    "So the total is at most 42.", "So the total is 42. Let me know. It could be 43.",
]  # fmt: skip


def test_the_last_line_counts_only_as_a_result() -> None:
    def equal(completions: list[str]) -> list[float]:
        table = rk.score(rk.math_equal("answer"), completions, answer=["42"] * len(completions))
        return [float(total) for total in table.total]

    right, other = equal(ANSWERS_OF_LAST_LINES), equal(OTHER_LAST_LINES)
    assert [text for text, score in zip(ANSWERS_OF_LAST_LINES, right, strict=True) if score != 1.0] == []
    assert [text for text, score in zip(OTHER_LAST_LINES, other, strict=True) if score] == []
