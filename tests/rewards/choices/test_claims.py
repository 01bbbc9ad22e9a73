"""The option a text claims, compared with what a careful teacher would read: one completion per line."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.rewards.choice.claims import MAX_CHARACTERS, MOST_MENTIONS, Options, chosen

_LETTERS = Options(tuple("ABCD"))


def value(completion: str) -> float:
    return float(rk.score(rk.choice("answer"), [completion], answer=["B"]).total[0])


_CHOOSING_B = r"""
The answer is B.⏎⏎Explanation: option A makes proteins, option C holds DNA.
The answer is B. Let me know if you have questions about option C!
Answer: B⏎⏎Note: A common mistake is to choose A.
**Answer: B**⏎⏎A quick check confirms this.
The correct answer is (B)⏎⏎A is wrong because ribosomes make proteins.
The answer is B⏎⏎A) ribosome⏎B) mitochondria⏎C) nucleus
\boxed{\text{Option B}}
So: \boxed{\mathbf{(B)}}
<answer>B, because mitochondria make ATP.</answer>
<answer>B is correct</answer>
<answer>The answer is B</answer>
<answer>**B**</answer>
<answer>Option B</answer>
<answer>B: mitochondria</answer>
**B. Mitochondria**⏎⏎Explanation: they make ATP, which the nucleus does not.
B⏎⏎Explanation: option A makes proteins.
B⏎⏎Explanation: A is wrong and C is wrong.
**Answer**: B
**Answer:** B
Answer → B
Answer - B
Answer = B
Answer B
The answer is “B”.
The answer is 'B'.
The answer is "B."
The answer to this question is B.
The correct answer to the question is **B**.
The answer is clearly B.
The answer is therefore B.
The answer is thus B.
The answer is indeed B.
The answer is, therefore, B.
The correct answer is letter B.
The correct option is B.
The right choice is B.
The best answer would be B.
The final answer is: B
The final answer is: $\boxed{B}$
The answer must be B, since all else is ruled out.
The answer is B, not A.
The answer is B rather than A.
The answer is B; A is a distractor.
The answer is B instead of C.
The answer is (B), since (A) and (C) are wrong.
The answer is B because C is wrong.
The answer is **B) both A and C**.
The answer is (B) both (A) and (C).
The answer is (B): vitamin C.
The answer is B: Vitamin C
The mitochondrion makes ATP, so B is the correct answer.
**B** is correct.
Option B is correct.
(B) is the right choice.
B is the best answer.
B) Mitochondria is the correct answer.
A is wrong, but B is right.
A is wrong and B is correct.
Mitochondria (B)
We know that it is the mitochondria (B).
Therefore: B
So B.
Thus, B.
It's B.
Therefore, it's B.
Hence (B).
Conclusion: B
So, option B.
{"answer": "B"}
{"reason": "A makes proteins", "answer": "B"}
答案是B。
答案：B
答案是（B）
正确选项是（B）。
正确答案是 B。
所以选择B。
La respuesta correcta es **B**.
La respuesta es: B
La réponse correcte est B.
La réponse est (B).
Die richtige Antwort ist B.
Antwort: B
Правильный ответ: B
정답은 B입니다.
정답: B
정답: B는 C와 달리 ATP를 만든다.
答えはBです。
A resposta correta é B.
I would choose B.
I choose option B.
I'd go with B.
My choice: B
I think the answer is B.
I believe B is correct.
Let's go through them.⏎A) Ribosomes make proteins.⏎C) The nucleus holds DNA.⏎So the answer is B.
Option A is wrong. Option C is wrong. So the answer is option B.
A is out, C is out, D is out.⏎B
The answer cannot be A. The answer is B.
I first thought the answer is A. On reflection, the answer is B.
You might think the answer is A, but the answer is B.
If x were 2, the answer would be A. It is 3, so the answer is B.
The answer is B!
The most likely answer is B.
The answer is not A, it's B.
There is no doubt that the answer is B.
Final: B
<answer>Mitochondria (B)</answer>
Option A is wrong because X.⏎Option B is correct because Y.⏎Option C is wrong because Z.
The best description is B.
Therefore, option B is the most likely answer.
It is not A. It is not C. It must be B.
The only option left is B.
That leaves B.
By elimination, B.
I'd say B.
Correct: B
I think the answer is A, but actually it's B.
The answer is A... wait, no. The answer is B.
Answer: A⏎⏎Wait, that's wrong. Answer: B
Answer: **(B)** Mitochondria
Answer: B) Mitochondria
Answer: B. A dog
Answer: B - Mitochondria
Answer: B – Mitochondria
Correct Answer: B
Final Answer: The final answer is B
> B
- B
`B`
__B__
**B**
($B$)
[B] Mitochondria
Answer: b
the answer is b
option b
The answer is B, as A and C do not fit.
#### Step 1: Read⏎It asks for ATP.⏎#### Step 2: Decide⏎The answer is B.
#### Answer⏎B
#### Final Answer⏎⏎**B**
#### Final answer: B
**Answer: B**⏎⏎#### Explanation⏎ATP.
#### B. Mitochondria
"""

_NOT_CHOOSING_B = r"""
I don't think the answer is B.
I would not choose B.
I would never pick B.
The incorrect answer is B.
The wrong answer is B.
The worst choice is B.
The answer is A. Most people wrongly choose B.
The answer is A.⏎⏎Note: do not choose B.
Many students pick B, but A is right.
Definitely not⏎B
Definitely not B
Not B.
Answer: B - C
Answer: B–C
Answer: B plus C
Answer: B, alternatively C
Answer: B; C
Answer: B (or C)
Answer: B, or possibly C
The answer is A or the answer is B
The answer is B or the answer is A
<answer>B. Also C</answer>
<answer>B. mitochondria⏎A. ribosomes</answer>
<answer>B: A</answer>
<answer>B is wrong</answer>
<answer>I cannot say whether it is B</answer>
B is wrong.
B is not correct.
The answer is B?
Is the answer B?
Neither A nor B is correct.
A or B is correct.
A and B is correct.
The answer is both A and B.
If the answer is B, the cell dies.
You might think the answer is B, but it's A.
The answer B is wrong.
答案不是B。
不选择B。
答案: B或C
答えはBとC
정답: B 또는 C
정답은 C 또는 B입니다.
정답은 B 또 C
Answer: B-cell receptor
A⏎B⏎C⏎D
B⏎C
Answer: A⏎⏎B is wrong because it makes ATP.
It is A, B is wrong.
Answer: none of A, B, C
All of them.
A) Ribosome⏎B) Mitochondria
I considered (B), but the answer is (A).
The answer is Bob.
B would be correct if the cell were dead.
The answer is anything but B.
Answer: B (incorrect)
The answer is C. B is also correct.
The answer is B. C is also correct.
The answer is B vs C
Choice A: ribosomes.⏎Choice C: the nucleus.⏎Choice B: mitochondria.
Answer A: ribosomes.⏎Answer B: mitochondria.
It's not B.
Some may argue that B is correct.
<answer></answer>
"""


def _texts(table: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in table.strip().split("\n")]


@pytest.mark.parametrize("completion", _texts(_CHOOSING_B))
def test_a_teacher_reads_b(completion: str) -> None:
    assert value(completion) == 1.0


@pytest.mark.parametrize("completion", _texts(_NOT_CHOOSING_B))
def test_a_teacher_does_not_read_b(completion: str) -> None:
    assert value(completion) == 0.0


def test_both_tables_are_read_whole() -> None:
    assert len(_texts(_CHOOSING_B)) >= 120
    assert len(_texts(_NOT_CHOOSING_B)) >= 50


def test_the_end_of_a_long_text_is_read() -> None:
    assert chosen(_LETTERS, "word. " * MAX_CHARACTERS + "The answer is B.", marked=False) == "B"
    assert chosen(_LETTERS, "The answer is B." + " word" * MAX_CHARACTERS, marked=False) is None


def test_a_flood_of_mentions_chooses_nothing() -> None:
    assert chosen(_LETTERS, "C? " * (MOST_MENTIONS - 1) + "So B.", marked=False) == "B"
    assert chosen(_LETTERS, "C? " * MOST_MENTIONS + "So B.", marked=False) is None
    assert chosen(_LETTERS, "C? " * MOST_MENTIONS + "word. " * 60 + "The answer is B.", marked=False) == "B"


@pytest.mark.parametrize("text", ["I choose B.", "So B.", "Reasons.\nWe take option B"])
def test_an_explanation_may_end_in_the_choice(text: str) -> None:
    assert chosen(_LETTERS, text, marked=False) == "B"


def test_a_separate_line_outranks_a_pick() -> None:
    assert chosen(_LETTERS, "B\n\nI would not choose A.", marked=False) == "B"


@pytest.mark.parametrize(
    "text",
    ["B\n\nI would choose A.", "The answer is B. I choose C.", "The answer is B. I'll go with C.", "B\n\nSo C."],
)
def test_a_later_pick_withdraws_a_claim(text: str) -> None:
    assert chosen(_LETTERS, text, marked=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. While C is accurate, it is incomplete.",
        "The answer is B. You may think that A is correct.",
        "**B**\n\nA is the best choice for x.",
        "So the answer would be B.",
        "A is wrong. So B is correct.",
    ],
)
def test_calling_another_option_right_does_not_withdraw_a_claim(text: str) -> None:
    assert chosen(_LETTERS, text, marked=False) == "B"


@pytest.mark.parametrize("text", ["Assume the answer is B.", "The second best answer is B.", "So, eliminate option B"])
def test_suppositions_are_not_claims(text: str) -> None:
    assert chosen(_LETTERS, text, marked=False) is None
    assert chosen(_LETTERS, "B\n\nThe answer is A.", marked=False) == "A"
    assert chosen(_LETTERS, "I would choose A.", marked=True) is None
