r"""Retractions, denials and joined options, compared with what a careful teacher would read: one completion per line.

Some lines are reported misreadings of other extractors: repeated labels ("Antwort: Antwort: B"), words that start with
a letter of an option ("Answer seems to be A"), articles ("B because a car moves"), distractors after or before the
answer.
"""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(completion: str, gold: str = "B") -> float:
    return float(rk.score(rk.choice("answer"), [completion], answer=[gold]).total[0])


_CHOOSING_B = r"""
C. I change my answer to B.
The answer is A. No wait, B.
The answer is A. Actually, B.
The answer is A. Scratch that, B.
The answer is A. Correction: B.
The answer is A. Correction: the answer is B.
The answer is A. Hmm, no: B.
I choose A. No, wait. B.
A⏎⏎Wait, no. B.
Answer: A. Sorry, B.
The answer is C. Wait, actually it's B.
The answer is C... I made a mistake. The answer is B.
Answer: C⏎Wait, that is wrong. It should be B.
It's A — no wait, it's B.
The answer is B. Actually, A is a common mistake.
The answer is B. Actually, mitochondria make ATP.
The answer is B. Wait for the explanation: ATP.
The answer is B. You may think C; that's wrong.
정답: B는 C와 달리 ATP를 만든다.
答案是B，不是C。
答案是B而不是C。
B。不是 A
答えはBです。Cではありません。
정답은 B입니다. C는 아닙니다.
정답은 C가 아니라 B입니다.
réponse est B non A
thinking about it I think the correct answer is B
Let's think step by step. It's not A because it doesn't make sense, therefore I think it's B
The answer is for sure B, it can't be A or C
The answer: B, it doesn't make sense for it to be A or D
B. it can't be A or D
Alina and the answer is⏎(B) Cecile
Alina and the answer is⏎B Cecile
Answer seems to be A.⏎⏎Answer: B
The answer is B. Note that A is a common distractor.
ANSWER IS B. A is incorrect.
The answer is B because a car moves.
I would pick B — a safe choice.
Answer: I think it is B
Answer: It is not A, the answer is B
Answer: rules out C, leaving B
Answer: B, not A
Antwort:⏎⏎Antwort: B
Antwort: Antwort: B
### Answer⏎B
### Answer: B
**Final Answer:** **(B)**
\boxed{\text{(B)}}
\text{(B)}
The answer is the option B.
The answer is the B.
The correct option is the letter B.
Option (B)
(B).
The answer is $\text{B}$.
The answer is $\textbf{(B)}\ 5$.
~~A~~ B
The answer is ~~A~~ B.
答案: **B**
答案：**B**。
所以，答案是B
因此选B。
故选B
故选：B
应选B
正确的是B
정답은 (B)입니다.
답: B
답은 B이다.
答えは B です
正解：B
La bonne réponse est B.
Die Antwort lautet B.
الإجابة: B
الإجابة الصحيحة هي B
Jawaban: B
Risposta: B
Resposta: B
उत्तर: B
উত্তর: B
B ✅
**B** — A and C are distractors.
The answer is B. It is wrong to pick A.
The answer is B. Don't forget that C is a trap.
The answer is B! Never mind the others.
The answer is B. If you need more, ask. C is wrong.
The answer is B. Hold on to this fact.
Is it A? No. Is it C? No. The answer is B.
My first guess was A. That was wrong. The answer is B.
"""

_NOT_CHOOSING_B = r"""
B. I change my answer to C.
B, I think, or C
The answer is B. No wait, C.
The answer is B. Actually, C.
The answer is B. Scratch that, C.
The answer is B. Scratch that.
The answer is B. Correction: C.
The answer is B. Hmm, no: C.
I choose B. No, wait. C.
B⏎⏎Wait, no. C.
The answer is B. Wait, that's wrong.
The answer is B. That's wrong.
The answer is B. No.
The answer is B. I was wrong.
The answer is B. I made a mistake. C describes it.
Answer: B. Sorry, C.
It's B — no wait, it's C.
The answer is B. On second thought, C.
The answer is B. Never mind, it's C.
The answer is B. Oops, C.
The answer is B, no, C.
The answer is B. I mean C.
The answer is B. Make that C.
The answer is B, or rather C.
B와 C
B나 C
B 및 C
B以及C
BまたはC
B는 C
정답: B와 C
정답은 B와 C입니다
정답은 B나 C입니다
정답: B 및 C
정답: B하고 C
정답: B, C
정답: B랑 C
정답은 C와 B
정답은 C나 B
정답은 B 혹은 C
정답은 B 아니면 C
답은 B는 C
答案是B以及C
答案是B和C
答案是B与C
答案是B跟C
答案：B、C
答案：BC
答案是B或者C
答案是B还是C
答案是C或B
答えはBまたはC
答えはBもしくはC
答えはBやC
答えはBかC
答えはB及びC
答えはB・C
答えはBとC
<answer>B와 C</answer>
<answer>B나 C</answer>
<answer>BまたはC</answer>
<answer>B和C</answer>
<answer>B以及C</answer>
<answer>B 및 C</answer>
<answer>B、C</answer>
\boxed{B, C}
\boxed{BC}
\boxed{B \text{ or } C}
답은 B가 아닙니다
정답은 B가 아니라 C입니다.
答えはBではない
答えはBではなくC
答えはBじゃない
答案并非B
答案不可能是B
答案不是B而是C
選B是錯的
B是错的
A B
(B) (C)
B|C
B + C
B ~ C
B\C
B, maybe C
B; or C
B... or C
B and/or C
B then C
B > C
B = C
B → C
B to D
B through D
B-D
between B and C
not only B but C
~~B~~
~~B~~ C
The answer is ~~B~~ C.
<!-- The answer is B -->
It could be B.
It might be B
maybe B?
I doubt it is B
I'm not sure it's B.
The answer is definitely not B
The answer isn't B
The answer cannot be B
The answer is far from B
It is B?
So B?
B?
B, C
The answer is B⏎The answer is C
Answer: B⏎Answer: C
Answer: B⏎⏎Answer: C
B C
Β
В
Ｂ C
The answer is B/C
The answer is B\C
The answer is B∨C
The answer is B ∪ C
The answer is B⁄C
The answer is B|C
The answer is B as well as C
The answer is B along with C
The answer is B together with C
The answer is B with C
The answer is B & C
The answer is B et C
The answer is B und C
The answer is B y C
The answer is B и C
The answer is B, and C too
The answer is B (C)
The answer is B or else C
The answer is B otherwise C
The answer is B if not C
The answer is B unless it is C
The answer is B⏎C
The answer is B.⏎C.
The answer is B. C.
The answer is B. Or C.
The answer is B. And C.
The answer is B. Alternatively, C.
The answer is B. Maybe C.
The answer is B. Perhaps it is C.
The answer is B... C... D...
Either B. Or C.
I'd say B. I'd say C.
B. No, C.
B no C
B is the answer. No, C is the answer.
B is correct. C is correct.
B is correct, C is correct
B is correct; so is C.
B is correct and so is C.
B, C, D are wrong
B and C are wrong
B. No
The answer is B or, if you prefer, C
The answer is B, failing that C.
The answer is B. I changed my mind.
The answer is B. That doesn't seem right.
The answer is B. The above is wrong.
The answer is B (no)
Wrong answer: B
答案是B，也可能是C
답은 B이거나 C
❌ B
<answer>B. No wait, C</answer>
<answer>not B</answer>
<answer>Everything but B</answer>
"""


def _texts(table: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in table.strip().split("\n")]


@pytest.mark.parametrize("completion", _texts(_CHOOSING_B))
def test_a_teacher_reads_b(completion: str) -> None:
    assert value(completion) == 1.0


@pytest.mark.parametrize("completion", _texts(_NOT_CHOOSING_B))
def test_a_teacher_does_not_read_b(completion: str) -> None:
    assert value(completion) == 0.0


_CLAIMS = [
    "The answer is {}.",
    "**Answer: {}**",
    "I choose {}.",
    "{} is correct.",
    "({})",
    "So the answer is ({})",
    "Option {}",
]
_RETRACTIONS = [
    "No wait, {}.",
    "Actually, {}.",
    "Scratch that, {}.",
    "Correction: {}.",
    "Wait, no. It's {}.",
    "I made a mistake. The answer is {}.",
]
_DENIALS = [
    "The answer is not {}.",
    "It isn't {}.",
    "It cannot be {}.",
    "{} is wrong.",
    "I doubt that it is {}.",
    "Anything but {}.",
    "not {}",
]
_JOINS = [
    " or ",
    " and ",
    ", ",
    "/",
    " & ",
    "와 ",
    "나 ",
    " 및 ",
    "以及",
    "または",
    "或",
    " ou ",
    " oder ",
    " as well as ",
]


@given(st.sampled_from(_CLAIMS), st.sampled_from(_RETRACTIONS), st.permutations("ABCD"))
def test_after_a_retraction_the_last_claim_counts(claim: str, retraction: str, options: list[str]) -> None:
    first, second, *_ = options
    completion = f"{claim.format(first)}\n{retraction.format(second)}"
    assert (value(completion, first), value(completion, second)) == (0.0, 1.0)


@given(st.sampled_from(_CLAIMS), st.sampled_from(["Scratch that.", "No wait.", "I was wrong.", "That is wrong."]))
def test_a_claim_that_is_taken_back_is_none(claim: str, retraction: str) -> None:
    assert value(f"{claim.format('B')} {retraction}") == 0.0


@given(st.sampled_from(_DENIALS), st.sampled_from("ABCD"))
def test_a_denied_option_is_not_chosen(denial: str, option: str) -> None:
    assert value(denial.format(option), option) == 0.0


@given(st.sampled_from(_CLAIMS), st.sampled_from(_JOINS), st.permutations("ABCD"))
def test_joined_options_choose_none(claim: str, join: str, options: list[str]) -> None:
    completion = claim.format(join.join(options[:2]))
    assert [value(completion, option) for option in "ABCD"] == [0.0] * 4
