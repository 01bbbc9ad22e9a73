"""Ways to write an answer: which mean the gold answer, and which only look like it."""

from __future__ import annotations

import pytest

import rewardkit as rk
from tests.rewards.math_equal.right_answers import RIGHT
from tests.rewards.math_equal.wrong_answers import WRONG

SAID = [
    ("42", "## Solution\n\nThe product is **42**."), ("34", "Final Answer: The largest $n$ is 34."),
    ("(7,6)", "so. \nSo, the ordered pair $(x, y)$ that solves the system is $(7, 6)$. <|im_start|>user"),
    ("120", "Final Answer: The volume of $ABCDEFGH$ is 120. I hope it is correct."),
    ("12000023", "Final Answer: The final answer is 12,000,023. I hope it is correct. <|im_start|>user"),
    ("3,4", "The answers are $3$ and $4$."), ("5", "## Answer\n\n5"), ("5", "**Final Answer**\n\n$5$"),
    ("42", "The product is 43, and the sum is 42."), ("\\sqrt{2}", "The length is $\\sqrt{2}$ cm."),
    ("42", "the answer is 41.\nThe answer is 42"), ("42", "<answer>The answers are 42</answer>"),
    ("the derivative", "derivative"), ("derivative", "The derivative."),
    ("42", "So the product is 42."), ("42", "Therefore, the sum is $42$."), ("42", "The answer is 42\n"),
    ("42", "**The answer is 42**"), ("42", "The final answer is: $\\boxed{42}$"),
    ("42", "Thus the total is 42 apples."), ("42", "#### 42"), ("42", "the answer is 42 dollars"),
    ("3", "It takes 2 + 1 = 3 bolts.\nA: 3"), ("3", "Step 1 ...\nAns. 3"), ("3", "Some text.\n\n***Answer: $3$***"),
    ("3", "Some text.\n\n*Answer: $3$*"), ("2, 3", "The solutions are $x=2$ and $x=3$."),
    ("3", "La réponse est donc $3$."), ("3", "Some text.\n\n<final_answer>$3$</final_answer>"),
    ("42", "The total cost is $42."), ("42", "The total cost is \\$42."), ("42", "The value of x is 42"),
    ("42", "The answer is $x = 42$."), ("42", "The answer is $$42$$"), ("42", "Answer: \\(42\\)"),
    ("42", "<answer>**42**</answer>"), ("42", "Answer = 42"), ("42", "The answer:\n\n42"),
    ("42", "Final answer\n\n42"), ("42", "### Final Answer\n42"), ("42", "The answer is therefore 42"),
    ("42", "The result is 42"), ("42", "the solution is x=42"), ("42", "42"), ("42", "$$\n42\n$$"),
    ("42", "Thus half is 21 and so the answer is 42."), ("42", "\\boxed{42} - a nice number"),
    ("42", "- $\\boxed{42}$\n- 3 is odd"), ("42", "$m+n = \\boxed{42}$"),
]  # fmt: skip
"""(gold answer, completion that gives it)."""

DENIED = [
    ("42", "The product is not **42**."), ("42", "One root is 42."), ("42", "The first root is 42."),
    ("5", "### Answer\n4\n"), ("42", "The answer is definitely not 42."),
    ("42", "The answer could be 40, 41, or 42."), ("42", "The possible value is 42."),
    ("42", "The answer is 42 or 43."), ("42", "The value is 43 and the other is 42."),
    ("42", "The value is 41. The answer is 42 [1]."), ("42", "I think the product is 42, but it is 43"),
    ("42", "The product is 4 2."), ("42", "The number that the answer is not equal to is 42"),
    ("42", "The wrong answer is 42"), ("42", "The product is 42 minus 1."),
    ("2", "The number of apples is 2 times 3."), ("42", "It was claimed that the answer is 42. That is false."),
    ("42", "The answer is 42. Wait, no, 43."), ("42", "The answer is 42. Actually it is 43"),
    ("42", "The answer is 42? No."), ("42", "If the answer is 42 then pigs fly."),
    ("42", "The answer is 42 if pigs fly."), ("42", "Answer: 42 (wrong)"),
    ("42", "It can't be that the answer is 42"), ("42", "The incorrect answer is 42"),
    ("42", "Nobody thinks that the answer is 42"), ("42", "The answer is not: 42"), ("42", "Not the answer: 42"),
    ("42", "The answer is 42, or maybe 43."), ("42", "The answer is 42. No, it is 43."),
    ("42", "The answer is 42.\n\nActually, the answer is 43."), ("42", "I'd say the answer is 42?"),
    ("42", "The answer is 42 (or 43)."), ("42", "The answer is: 42 or 43"), ("42", "Answer: 42\nAnswer: 43"),
    ("42", "The answer isn't 42"), ("42", "The answer is anything but 42"), ("42", "The answer is less than 42"),
    ("42", "The answer is about 42"), ("42", "The answer is > 42"), ("42", "The answer is between 42 and 43"),
    ("42", "My answer is not 42. The answer is 43"), ("42", "The answer is 42 + x"),
    ("42", "The answer is 42 \\ne 43"), ("42", "<answer>42</answer> <answer>43</answer>"),
    ("42", "<answer>42 or 43</answer>"), ("42", "<answer>not 42</answer>"),
    ("42", "<answer>I think it is 42</answer>"), ("42", "\\boxed{42} is wrong."),
    ("42", "\\boxed{42} is not the answer; it is 43."), ("42", "The answer is not \\boxed{42}."),
    ("42", "It isn't \\boxed{42}"), ("42", "\\boxed{42} or 43"), ("42", "\\boxed{42} \\text{ or } 43"),
    ("42", "\\boxed{42}43"), ("42", "4\\boxed{42}"), ("42", "\\boxed{42}^2"), ("42", "-\\boxed{42}"),
    ("42", "1-\\boxed{42}"), ("42", "2\\boxed{42}"), ("42", "\\sqrt{\\boxed{42}}"), ("42", "\\frac{1}{\\boxed{42}}"),
    ("42", "\\boxed{42}x"), ("42", "\\boxed{42} million"), ("42", "\\boxed{42}, 43"),
    ("42", "The product is 42, isn't it? No."), ("42", "The product is 42 and the product is 43."),
    ("42", "The only number it cannot be is 42."), ("42", "The worst guess is 42."), ("42", "The opposite is 42."),
    ("42", "The question is 42."), ("42", "The error is 42."), ("42", "The previous result is 42."),
    ("42", "The lower limit is 42."), ("42", "The claim is 42."), ("42", "the answer is 42, which is wrong"),
    ("42", "the answer is 42 \u2014 just kidding, 43"), ("42", "the answer is $42$ or $43$"),
    ("42", "The answer is $42$, $43$"), ("42", "The answer is $42$ $43$"), ("42", "$42$ $43$"), ("42", "$42 43$"),
    ("42", "42 43"), ("42", "42\n43"), ("42", "43\n42\n43"), ("42", "#### 42 or 43"), ("42", "#### 42\n#### 43"),
    ("42", "#### not 42"), ("42", "#### 42?"), ("42", "\\boxed{42} \\pm 3"), ("42", "$\\boxed{42} + 3$"),
    ("42", "\\boxed{42}, or maybe 41"), ("42", "\\phantom{\\boxed{42}}"), ("42", "\\cancel{\\boxed{42}}"),
    ("42", "~~\\boxed{42}~~ 41"), ("42", "Half the answer is 42"), ("42", "The fake answer is 42"),
    ("42", "Twice the answer is 42."),
]  # fmt: skip
"""(gold answer, completion that does not give it)."""


UNREADABLE = ["5\\text{K}", "x^2 [1]", "1/2x", "a/bc", "\\sin x/2", "\\frac{dy}{dx}"]
"""Gold answers that can be read in two ways, or in none."""


_REWARD = rk.math_equal("answer", on_unparsable_gold="fail")


def scored(golds: list[str], completions: list[str]) -> list[float]:
    found: list[float] = rk.score(_REWARD, completions, answer=golds).total.tolist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("table", "expected"), [(RIGHT, True), (WRONG, False)])
def test_only_what_means_the_gold_answer_is_paid(table: dict[str, list[str]], expected: bool) -> None:
    pairs = [(gold, answer) for gold, answers in table.items() for answer in answers]
    scores = scored([gold for gold, _ in pairs], [f"\\boxed{{{answer}}}" for _, answer in pairs])
    assert [pair for pair, score in zip(pairs, scores, strict=True) if (score == 1.0) is not expected] == []


def test_answers_in_sentences() -> None:
    for pairs, expected in ((SAID, 1.0), (DENIED, 0.0)):
        scores = scored([gold for gold, _ in pairs], [completion for _, completion in pairs])
        assert [pair for pair, score in zip(pairs, scores, strict=True) if score != expected] == []


@pytest.mark.parametrize("gold", UNREADABLE)
def test_a_gold_answer_that_is_unclear_is_an_error_or_a_failure(gold: str) -> None:
    with pytest.raises(rk.errors.CoercionError, match="fallback"):
        rk.score(rk.math_equal("answer"), ["5"], answer=[gold])
    reward = rk.fallback(rk.math_equal("answer", on_unparsable_gold="fail"), rk.exact("answer"))
    table = rk.score(reward, [gold, "5"], answer=[gold, "5"])
    assert table.total.tolist() == [1.0, 1.0]
