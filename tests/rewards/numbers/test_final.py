r"""The number that a text claims, compared with what a careful teacher would read: one completion per line."""

from __future__ import annotations

import pytest

import rewardkit as rk


def value(completion: str, gold: object = 42, thousands: bool = False) -> float:
    return float(rk.score(rk.number("answer", thousands=thousands), [completion], answer=[gold]).total[0])


_CLAIMING_42 = r"""
The answer is CHF 42.
Therefore, the answer is **EUR 42.00**.
It costs CHF42 per unit.
The answer is ₤42.
The answer is a positive €42.
The answer is that £42 should be deposited.
Answer: Therefore, the rate is approximately 42.
Answer: To find the total, we multiply 6 by 7. The total is 42.
The inventory would be $42 at the end of 2017.
The answer is approximately 42.
So he has 42 apples.
### Answer⏎42
### Final Answer⏎⏎**42**
**Answer:** 42
**Answer**: 42
## Answer: 42
The answer is the 42.
The final answer is: $42$
Final answer: **42**
Answer: 42⏎⏎Explanation: 6*7 = 42, and 3 of them are red.
The answer is 42. I used 3 steps.
The answer is 42.⏎⏎Let me know if you have 1 more question!
The answer is 42 because 6 times 7 is 42 and 6 is even.
The answer is 6 * 7 = 42.
The answer is $6 \times 7 = 42$.
The answer is 41. Wait, let me recompute: 6*7 = 42.
The answer is 41. Actually, 42.
The answer is 41, no, 42.
I first thought it was 41, but it is 42.
Some say 41. It is 42.
It is not 41 but 42.
It is not 41. It is 42.
42, not 41.
42 (not 41)
42 rather than 41
42 instead of 41
It's not 41, it's 42.
The number of students who did not pass is 42.
If each has 6, then 7 have 42.
He sells 42 apples on the 3rd of May.
He sells 42 apples [1].
He sells 42 apples[1][2].
He sells 42 apples.[^1]
He sells 42 apples ([source](https://a.com/41)).
See https://example.com/41 for details; it is 42.
The trip takes 0.7 hours, or 42 minutes.
The count rose from 30 to 42.
She is 42-year-old.
A 42-inch board
The temperature is 42°C.
It is 42°
The tree is 42m tall.
It weighs 42kg.
It is 42 m/s.
There are exactly 42 of them!
1. Add⏎2. Stop⏎It is 42.
- Total: 42
| total | 42 |
He has 42.⏎⏎2. Thus we are done.⏎3. The end.
The GPT-4 model says it is 42.
What is 6 times 7? It is 42.
Therefore, 42.
Thus x=42
x equals 42
~~41~~ 42
42 ~~41~~
<b>42</b>
<p>The answer is <strong>42</strong>.</p>
\[ \boxed{42} \]
(42)
The total cost is $42.
The total cost is €42.
The total cost is 42 USD.
42 total
In 2019, 42 people came.
Day 3 = 42
答案是42
答えは42です。
정답은 42입니다.
정답: 42
Ответ: 42
La réponse est 42.
Die Antwort ist 42.
La respuesta es 42.
There is no doubt that it is 42.
It can't be anything but 42.
I have no doubt: 42
That leaves 42.
42 is correct, 41 is wrong.
Not 41, not 43. 42.
​42​
42.0
By elimination the answer is 42.
It seems that the answer is 42.
The most suitable answer would be 42.
You might think that the answer is 41, but the answer is 42.
As I said before, the answer is 42.
The answer is 42 (forty-two).
The answer is forty-two (42).
"42"
`42`
Answer: 42, which is not prime.
There are 42 apples, which is not too many.
So the answer is 42, right where we expected.
Answer:⏎⏎42
A: 42
#### Answer⏎42 apples
He sells 42 apples on March 15, 2024.
On 15 March 2024, he sells 42 apples; on 16 March 2024, none.
He sells 42 apples on the 3^{rd} day.
It is 42 at Step 3.
The answer is 42. Hmm, wait: it is 42.
It weighs 42千克。
Since y = 3, x = 42.
It can carry at most 42.
You need at least 42 boxes.
3 of 45 are left, so 42 left.
- Monday: 41⏎- Tuesday: 42
The answer is 42 months.
The answer is 42 dollars per day.
The answer is 42 minutes, or 0.7 hours.
The answer is Tom, who has 42 apples.
The answer is that Tom has 42 apples.
The answer is 42, correct to 2 significant figures.
The answer is 42, which is 6 × 7.
The answer is 42 (it took 3 steps).
The answer is 42. We can check that this is correct: 42/7 = 6.
The answer is 42. Let me recheck: 42 / 7 = 6. Yes.
The answer is 42. Common mistake: forgetting to add 2 gives 40.
The answer is 42. Sorry for the delay of 3 seconds.
If each box has 6, the answer is 42.
Tom saves $42 in 6 weeks.
Tom has 42 apples left after giving away 8.
There are 42 students (6 rows of 7).
The sum is 42 (40 + 2).
42⏎⏎Explanation: there are 6 rows of 7 seats each.
2x = 84⏎x = 42
x = 50 - 8⏎x = 42
So the total is⏎42
I don't know the name. The number of apples is 42.
\begin{align*}⏎50 - 8 &= 42⏎\end{align*}
\[⏎\begin{aligned}⏎x &= 50 - 8 \\⏎&= 42⏎\end{aligned}⏎\]
It takes 42 sec.
_42_
Jawabannya adalah 42.
Hij heeft nu 42 appels.
उत्तर 42 है।
คำตอบคือ 42 บาท
答案是42个苹果。
The answer is forty-two, 42.
The answer is Rs 42.
The answer is ₹42.
The answer is A$42.
**Answer:** $42/hour
**Answer:** 🍎 42
**Answer:** ~42
**Answer:** exactly 42 apples
**Answer:** Tom has a total of 42 apples in 6 boxes.
**Answer:** There are 42 ways to choose 3 items.
**Answer:** 6 boxes × 7 apples = 42 apples
**Answer:** 42 hours (1 day and 18 hours)
The answer is 42 (2 s.f.)
The answer is **42** [6 × 7]
The answer is $42$ (i.e., 6 × 7).
The answer is 42 (6 boxes × 7 apples).
The answer is 42, with 6 boxes of 7 apples each.
The answer is 42, by the formula n(n+1) with n = 6.
The answer is 42, and x = 6.
The answer is 42; the optimal x is 6.
The answer is 42. So, Tom has 42 apples in his 6 boxes.
Tom has 42 apples in his 6 boxes.
It takes 42 minutes to walk the 6 miles.
After 6 weeks he has saved $42 of the $100 he needs.
Tom has 42 apples: 6 boxes with 7 in each.
6 times 7, which is 42.
After adding 6 boxes: 42
The total cost is $42, including the 7% tax.
The minimum is $42$ (at $x = 2$).
So the remainder is 42 when 442 is divided by 100.
Thus $42$ is the smallest positive integer divisible by both 6 and 7.
The area is 42 m^2.
Tom has **42** apples.⏎⏎Confidence: 95%
So the total is 42.⏎⏎(You can verify: 42/6 = 7.)
So the total is⏎42⏎Double check: 6 * 7 = 42
"""

_NOT_CLAIMING_42 = r"""
The answer is 42 at most.
The answer is 42 short of 100.
The answer is 42 point five.
The answer is 42, off by one.
The answer is 42 or thereabouts.
The answer is 42's double.
The answer is 42 in theory, 43 in practice.
The answer is 42 for one reading, 43 for the other.
The answer is 42 (mod 50).
The answer is 42. No wait, that's wrong.
The answer is 42. Scratch that.
The answer is 42. That's wrong.
6*7=42. The answer is not 42.
The answer is 42. It is not 42.
The answer is zero. (42 was a guess)
6 times 7 is 42. The answer is zero.
6 times 7 is 42. The answer is forty-one.
6 times 7 is 42. The answer is unknown.
6 times 7 is 42. The answer is infinite.
6 times 7 is 42. The answer is $x$.
The answer is ½ 42?
I had 42. The answer is ½
I had 42. The answer is ٤١
It is negative 42
It is minus 42
half of 42
the square root of 42
42 squared
x + 42
x = 41 = 42
The answer is 41 = 42
41, 42
41 and 42
The answers are 41 and 42.
41 or 42
41/42
42 or 41
42 (or 41)
42, or maybe 41
Either 42 or 41.
The answer could be 40, 41, 42, 43, or 44.
Possible answers: 40, 41, 42
It could be 42.
It might be 42.
42?
Is it 42?
Is it 42 or so?
Nobody knows if it is 42
If it is 42, we are done.
Suppose it is 42.
Everyone except 42
anything but 42
42 is too big
42 cannot be right
It isn't 42, it's something else
We rule out 42
42 does not work
42 ± 1
42 mod 5
5 mod 42
3 \pmod{42}
42i
42\pi
42e
42e5
0x42
x > 42
x < 42
x \neq 42
x != 42
≠ 42
\lfloor 42 \rfloor
2(42)
f(42)
42(2)
log 42
$\log 42$
42 million
42 thousand
42K
42 K
$42M
42 bn
3 1/42
40 to 42
40–42
40...42
42-43
between 40 and 42
42:00
1:42
42nd
4²
42²
42₂
step 42
Equation (42)
#42
2024-03-42
555-42
192.168.0.42
v1.42.0
(1,42)
[41, 42]
{41, 42}
42⏎⏎Wait, no. That is wrong.
42 — wrong
42 (incorrect)
I do not believe the answer is 42
I'm not sure it is 42
It's unlikely to be 42
42 is unlikely
42 seems wrong
The wrong answer is 42.
One might guess 42.
They say it is 42.
42 apples is incorrect
My first guess was 42, which is wrong.
答案不是42
42ではない
42가 아닙니다
La respuesta no es 42
Die Antwort ist nicht 42
Ce n'est pas 42
Не 42
4.2.42
42.000.000
42'000
42 000
-42
- 42
−42
not forty-two, i.e. not 42
4​2
~~42~~
<!-- 42 -->
<del>42</del>
The answer is 41. There are 42 apples.
The answer is 41.⏎42
42 ➜ 41
42 -> 41
print(42)
return 42 + 1
```python⏎print(42)⏎```
4 2
the answer is 4​2x
I have 41 or maybe 42.
The answer is one of 41, 42
41. Or 42.
41. Maybe 42.
x = 41, x = 42
x = 41 and y = 42
The answer is 41. If that is wrong, then 42.
The answer is 41. Otherwise, 42.
41 if you round down, 42 otherwise
It isnt 42
It doesnt equal 42
It is not the case that the answer is 42.
Nobody would say the answer is 42.
Wrong answer: 42
Not the answer: 42
42 (no)
42 NOT
42 but no
42 = wrong
42 is far too big
42, but it is not
x = 42 (rejected)
x = 42 is extraneous
We get 42, a contradiction.
We get 42 (impossible)
❌ 42
| 42 | wrong |
42. Oops.
42. Wait.
42. I changed my mind.
42. That doesn't seem right.
42. The above is wrong.
one less than 42
3 more than 42
half 42
42 less 1
42 doubled
42 below zero
x = ±42
$x = \pm 42$
It is 42, nope.
It is 42. I made that up.
There are 42 dozen.
There are 42 lakhs.
42万
42억
42 lakh
42 mil
$42m
42 ‰
42.abc
<span style="display:none">42</span>
1. 41⏎2. 42
41⏎42
The answer is 42 tenths.
The answer is 42 over 5.
The answer is 42 point 5.
The answer is 42 in base 5.
The answer is (42)_8.
The answer is 42+.
The answer is 42-ish.
The answer is 42 (negative).
The answer is negative: 42.
The answer is any number but 42.
The answer is at least 42.
The answer is close to 42.
The answer is 42|43.
The answer is 42, rather 43.
The answer is 42 (could be 43).
The answer is 42 (but 43 is possible).
The answer is 42 (it is 42 or 43).
The answer is 42 unless x is negative.
The answer is 42 for x = 3 and 43 for x = 4.
It is divisible by 42.
It ends in 42.
The answer is forty-three, given the 42 apples.
The answer is forty-three. There were 42 apples at first.
Twice the answer is 42.
Under no circumstances is the answer 42.
I would be lying if I said the answer is 42.
$x \notin \{42\}$
$x \gg 42$
$\tan^{-1} 42$
$-|42|$
\boxed{\not=42}
<answer>4x=2</answer>
答案是-42
คำตอบคือ-42
The answer is -(42).
The answer is -US$42.
The answer is —42.
The answer is (−)42.
_-42_
La respuesta es menos 42
答案是负42
It takes 5 hours and 42 minutes.
The answer is 42 dollars and 50 cents
答案是42元42角
The answer is 42 hundred thousand
The answer is 42十2
La respuesta es 42 millones
Ответ: 42 тысячи
Jawabannya bukan 42
Đáp án là 42 hoặc 43
Cevap 42 değil
Het antwoord is 42 of 43.
Răspunsul nu este 42
Jibu ni 42 au 43
उत्तर 42 नहीं है
คำตอบไม่ใช่ 42
התשובה היא לא 42
答案大于42
答案是42的一半
答えは42とは思わない
정답은 42이나 43입니다
La respuesta es la mitad de 42
La réponse est 42. Non, 43.
Ответ: 42. Неверно.
It is 41 or⏎42
It is 41,⏎42
41⏎⏎or⏎⏎42
x = 43⏎x = 42
It is not equal to⏎42
I doubt it is⏎42
It is less than⏎42
42⏎is not right
I don't know the answer.⏎42
"""


def _texts(table: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in table.strip("\n").split("\n")]


@pytest.mark.parametrize("completion", _texts(_CLAIMING_42))
def test_a_teacher_reads_42(completion: str) -> None:
    assert value(completion) == 1.0


@pytest.mark.parametrize("thousands", [False, True])
@pytest.mark.parametrize("completion", _texts(_NOT_CLAIMING_42))
def test_a_teacher_does_not_read_42(completion: str, thousands: bool) -> None:
    assert value(completion, thousands=thousands) == 0.0


# Reported misreadings of other extractors: a comma or a sentence after the number, signs, articles, run-on text.
_REPORTED: list[tuple[str, object, float]] = [
    ("The total is 72 clips, altogether.", 72, 1.0),
    ("The answer is 72, in total, so the farmer earns that much.", 72, 1.0),
    ("The answer is 72, which is the total.", 72, 1.0),
    ("The temperature is -3.", -3, 1.0),
    ("#### -3", 3, 0.0),
    ("The total cost of the order is $29.00.", 29, 1.0),
    ("Profit: $200,000 - $130,000 = $70,000.", 70_000, 1.0),
    ("Total cost = $204 (donuts) + $160 (cupcakes) + $330 (cheesecakes) = $694.", 694, 1.0),
    ("I think the answer: 5 is wrong. Answer: 10", 10, 1.0),
    ("I think the answer: 5 is wrong. Answer: 10", 5, 0.0),
    ("It has $10,200 + $255 = $10,455. The final answer is $10,455$. I hope it is correct.", 10_455, 1.0),
    ("2+40=42\n#### 42\n" + " and the reasoning above confirms this result." * 8, 42, 1.0),
    ("She has 23 - 15 dollars left. 23 - 15 is 8. The answer is 8.", 8, 1.0),
    ("answer is 3 5", 5, 0.0),
    ("3a5", 5, 0.0),
    ("3,1415x926", 926, 0.0),
    ("The answer is [8.124,12.852]", 852, 0.0),
    ("The answer is definitely not 42.", 42, 0.0),
    ("I cannot solve this problem. It is certainly not 42, though.", 42, 0.0),
    ("We can rule out 42 immediately. The answer must be 43.", 42, 0.0),
    ("One might guess 42, but on reflection the correct answer is 43.", 42, 0.0),
    ("The answer could be 40, 41, 42, 43, or 44.", 44, 0.0),
    ("What is 6 times 7?", 7, 0.0),
    ("It is 4\u200b2.", 2, 0.0),
    ("It is 4\u03362\u0336.", 42, 0.0),
]


@pytest.mark.parametrize(("completion", "gold", "expected"), _REPORTED)
def test_reported_misreadings(completion: str, gold: object, expected: float) -> None:
    assert value(completion, gold, thousands=True) == expected


@pytest.mark.parametrize(
    ("completion", "score"),
    [
        ("The answer is 0.0144 or 1.44%.", 1.0),
        ("The answer is 0.0144, or approximately 1.4%.", 1.0),
        ("The answer is 0.0144 or 2%.", 0.0),
        ("The answer is 0.0144 or 144%.", 0.0),
    ],
)
def test_a_share_and_its_percentage_are_one_answer(completion: str, score: float) -> None:
    assert value(completion, "0.0144") == score
