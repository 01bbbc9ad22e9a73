"""Finding the final answer."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

from rewardkit.core.text import final_answer as module
from rewardkit.primitives.mathematics.final_answer import FinalAnswer

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
        ("The answer is\n\n\\[ 5 \\]", "5"),
        ("answer is $$ 5 $$.", "5"), ("\\boxed 5", "5"), ("\\boxed{\\boxed{5}}", "5"),
        ("So $x = 5$.", "x = 5"), ("$4$\n$5$", "5"), ("a\n\\[\n5\n\\]", "5"), ("$4$ then\n$$\n5\n$$.", "5"),
        ("\\(5\\)", "5"), ("5", "5"),
        ("is \\$5 and $6$", "6"), ("no formula\nhere", "here"), ("The answer is $5$. I hope it is correct.", "5"),
    ],
)  # fmt: skip
def test_the_answer_is_found(completion: str, answer: str) -> None:
    assert find(completion) == answer


@pytest.mark.parametrize(
    "completion",
    ["\\boxed{5", "\\boxed{}", "<answer>5", "It is $4$ or $5$.", "<think>\\boxed{5}", "x" * 200_001],
)
def test_other_completions_have_no_final_answer(completion: str) -> None:
    assert not find(completion)


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
