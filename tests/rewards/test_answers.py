r"""Answers as people give them: in every usual format, all rewards find the same answer, and no made-up turn counts.

The formats are those that public evaluation prompts ask for, and what models make of them.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk

REWARDS = {
    "number": rk.number("answer"),
    "math_equal": rk.math_equal("answer"),
    "exact": rk.exact("answer"),
    "choice": rk.choice("answer"),
    "choice of 10": rk.choice("answer", options="ABCDEFGHIJ"),
    "choice of 2": rk.choice("answer", options="AB"),
}


def scores(reward: str, completions: list[str], gold: Any) -> list[float]:
    table = rk.score(REWARDS[reward], completions, answer=[gold] * len(completions))
    return [float(total) for total in table.total]


FORMATS = [
    "The answer is {}.",
    "So the answer is {}.",
    "Answer: {}",
    "**Answer:** {}",
    "**Answer: {}**",
    "Final Answer: {}",
    "**Final Answer**\n\n{}",
    "### Final Answer\n{}",
    "## Answer\n\n**{}**",
    "Final answer: **{}**",
    "The final answer is {}. I hope it is correct.",
    "Final Answer: The final answer is {}. I hope it is correct.",
    "ANSWER: {}",
    "answer: {}",
    "Answer: `{}`",
    "Answer: *{}*",
    "Answer: _{}_",
    "Answer: <b>{}</b>",
    "Answer: {} ✅",
    "<answer>{}</answer>",
    "<ANSWER>{}</ANSWER>",
    "<answer> **{}** </answer>",
    "<answer>`{}`</answer>",
    "\\boxed{{{}}}",
    "$\\boxed{{{}}}$",
    "The answer is \\boxed{{{}}}.",
    "#### {}",
    "Reasoning first.\n#### {}",
    "#### **{}**",
    "Therefore, the answer is: {}",
    "Thus, the correct answer is {}.",
    "The correct answer is: {}",
    "Hence the final answer is **{}**.",
    "The answer to the question is {}.",
    "My answer is {}.",
    "Answer → {}",
    "Answer = {}",
    "答案是{}。",
    "答案：{}",
    "【答案】{}",
    "最终答案是：{}",
    "所以答案是 {}。",
    "答えは{}です。",
    "正解は{}です。",
    "정답은 {}입니다.",
    "정답: {}",
    "La respuesta es {}.",
    "La respuesta correcta es {}.",
    "Respuesta: {}",
    "La réponse est {}.",
    "Réponse : {}",
    "Die Antwort ist {}.",
    "Die Antwort lautet {}.",
    "Antwort: {}",
    "Ответ: {}",
    "Ответ — {}.",
    "A resposta é {}.",
    "La risposta è {}.",
    "Het antwoord is {}.",
    "Jibu ni {}.",
    "উত্তর হল {}।",
    "সুতরাং উত্তর {}।",
    "సమాధానం {}.",
    "คำตอบคือ {}",
    "Jawabannya adalah {}.",
    "Cevap: {}",
    "Đáp án là {}.",
    "الجواب هو {}",
    "उत्तर {} है।",
    "Odpowiedź: {}",
    "The answer is {}. Let me know if you have questions!",
    "The answer is {}.\n\nLet me know if you need anything else.",
    "The answer is {} because of the above.",
    "The answer is {}, since nothing else fits.",
    "**The answer is {}.**",
    "> The answer is {}.",
    "- Answer: {}",
    "So, the answer is:\n\n{}",
    "The answer is:\n\n**{}**",
    "The answer is {}</answer>",
    "{}",
    "**{}**",
    "{}.",
    'The answer is "{}".',
    "The answer is “{}”.",
    "Therefore, the final answer is:\n\n$\\boxed{{{}}}$",
    "The answer is {}<|im_end|>",
    "The answer is {}.<|im_end|>\n<|im_start|>user\nThanks! What about 7?<|im_end|>",
    "The answer is {}.\n\nQuestion: What is 3+4?\nAnswer: 7",
    "The answer is {}.\n\nHuman: and 3+4?\n\nAssistant: The answer is 7.",
    "<think>It could be 7.</think>The answer is {}.",
    "Answer: {}\n\nExplanation: it follows.",
    "Final Answer: {}\nConfidence: high",
]
VALUES = [
    ("number", "42", "41"),
    ("math_equal", "42", "41"),
    ("exact", "Paris", "London"),
    ("choice", "B", "C"),
    ("choice", "B", "(D)"),
]


@pytest.mark.parametrize(("reward", "right", "wrong"), VALUES)
def test_all_rewards_find_the_answer_in_all_formats(reward: str, right: str, wrong: str) -> None:
    for value, expected in ((right, 1.0), (wrong, 0.0)):
        completions = [form.format(value) for form in FORMATS]
        missed = [
            text
            for text, score in zip(completions, scores(reward, completions, right), strict=True)
            if score != expected
        ]
        assert missed == []


def test_a_formula_and_an_option_in_brackets_are_found_in_all_formats() -> None:
    formulas = [form.format("\\frac{1}{2}" if "boxed" in form else "$\\frac{1}{2}$") for form in FORMATS]
    assert [
        text for text, score in zip(formulas, scores("math_equal", formulas, "0.5"), strict=True) if score != 1.0
    ] == []
    options = [form.format("(B)") for form in FORMATS]
    assert [text for text, score in zip(options, scores("choice", options, "B"), strict=True) if score != 1.0] == []


CHOOSING_B = [
    "<answer>B. No</answer>",
    "<answer>(B) No</answer>",
    "The answer is (B) No.",
    "The answer is (B) False",
    "\\boxed{B. Incorrect}",
    "\\boxed{\\text{B. Wrong}}",
    "**Answer: (B) Not enough information**",
    "Answer: B) None of the above",
    "The correct answer is (B) Neither.",
    "#### B. No",
    "(B) No",
    "<answer>B) Not a mammal</answer>",
    "The answer is (B) Incorrect.",
    "The compound is **B. ethyl 4-aminobenzoate**.",
    "The product is (B) ethanol.",
    "So the structure is B. benzene",
    "Therefore, option B is the best approach.",
    "Option B is the most appropriate choice.",
    "Hence option (B) is the best description.",
    "The option that is NOT true is B.",
    "So the incorrect statement is option B.",
    "So the incorrect statement is B.",
    "The answer is option (B).",
    "The best answer is therefore B.",
    "Based on this analysis, the correct answer is:\n\nB. A = benzoquinone, C = methyl",
    "B. A=81°; C=194°",
    "The correct answer is B: A = 1, C = 2",
    "【答案】B",
    "【答案】：B",
    "答案：B。",
    "选项B是正确的。",
    "因此，选项为(B) 24。",
    "正确答案是选项B。",
    "故选B。",
    "故答案为：B",
    "答案选B",
    "本题选B",
    "因此正确答案是（B）",
    "【解析】略\n【答案】B",
    "综上，选择B",
    "所以选Ｂ",
    "答案是Ｂ。",
    "正解はBです。",
    "選項B正確。",
    "The answer is $\\boxed{500}$. So, the answer is B.",
    "\\[\\boxed{\\frac16}\\]\n\nSo, the correct option is:\nB. \\(\\frac16\\)",
    "The change is $\\boxed{\\Delta E}$.\n\nAnswer: B",
    "Answer: \\( \\text{B} \\)",
    "Answer: \\(\\mathbf{B}\\)",
    "Answer: $\\mathrm{B}$",
    "Answer: \\( B \\)",
    "So the correct option is **B**: the membrane",
    "Thus, B is the only option that works.",
    "B is the correct one.",
    "#### Option A:\nno\n\n#### Option C:\nno\n\n### Conclusion\nThus, the correct option is **B**.",
    "#### A. wall\nNo.\n\n#### C. nucleus\nNo.\n\nThe final answer is:\n\n**B. membrane**",
    "* **A is correct.** x\n* **C is correct.** y\n* **D is correct.** z\n\nSo the incorrect statement is option B.",
    "A is correct. C is correct. D is correct. So the exception is B.",
    "Answer:\nB",
    "Choice: B",
    "Correct option: B",
    "The final answer is (B) mitochondria.\n\nThis is because ATP...",
    "I would go with B.",
    "Let's verify. Option A: no. Option B: yes. Option C: no.\n\nSo the answer is B",
    "The answer is B (not A).",
    "Among the options, B is correct.",
    "Therefore the answer should be B.",
    "B) is correct",
    "The answer that best fits is B.",
    "The answer choice is B.",
    "The answer is: B. 42 meters",
    "My final answer is B.",
    "The solution is B.",
    "Answer: Option B",
    "Answer: (B)",
    "ANSWER: B",
    "Answer is B",
    "The answer is letter B",
    "The correct choice is (B) because",
]
NOT_CHOOSING_B = [
    "None of the options (A, B) are correct.",
    "None of the given choices (A, B) is correct.",
    "No option is correct, not even B.",
    "Neither A nor B.",
    "The maximum power (B) is likely radiated along the axis.\n\nWe cannot determine the answer.",
    "#### Option A:\nx\n\n#### Option B:\nAlso weak.\n\n### Conclusion\nThus, the correct option is **C**.",
    "The answer is (C).\n\nQuestion: Which?\nOptions:\nA. x\nB. y\nAnswer: The answer is (B).",
    "The answer is C.\nHuman: next\nAssistant: B",
    "We know that B = 5 and C = 3.",
    "The point B is on the line.",
    "The vitamin B is likely absorbed in the gut.",
    "I cannot say.\n\n#### B is a heading\nC is the answer",
    "The correct answer is B:\nA = x, B = y\n\nHowever, it is inconsistent. The closest correct answer is:\n\nD. A = z",
    "Options:\nA. 1\nB. 2\nC. 3\nD. 4\n\nI do not know.",
    "If B is correct, then C is wrong.",
    "The answer is not (B) No.",
    "Is the answer (B) No?",
    "B. Not sure, maybe C",
    "The answer is B. No wait, C.",
    "The answer is B. Wrong, it is C.",
    "It is not B. membrane",
    "The answer could be B. membrane",
    "The set B is the best approximation of C.",
    "Plan B is the best approach. The answer is C.",
    "All of A, B, C are correct.",
    "A and B are correct.",
    "Statement B is correct. Statement C is correct. So the answer is D.",
]


@pytest.mark.parametrize("reward", ["choice", "choice of 10"])
def test_an_option_is_read_as_people_write_it(reward: str) -> None:
    assert [text for text, score in zip(CHOOSING_B, scores(reward, CHOOSING_B, "B"), strict=True) if score != 1.0] == []
    assert [
        text for text, score in zip(NOT_CHOOSING_B, scores(reward, NOT_CHOOSING_B, "B"), strict=True) if score
    ] == []


@pytest.mark.parametrize(
    ("gold", "completion"),
    [
        ("B", "The answer is B. No."),
        ("A", "A. False"),
        ("A", "The answer is (A) Yes."),
        ("B", "So the answer is No (B)."),
    ],
)
def test_of_two_options_one_may_be_no(gold: str, completion: str) -> None:
    assert scores("choice of 2", [completion], gold) == [1.0]


EXPRESSIONS = [
    "1/sqrt(pi)",
    "$2+\\pi$",
    "4 pi",
    "10!",
    "12 - x",
    "$(-\\infty, 2]$",
    "$[2, \\infty)$",
    "$\\frac{1}{2}x + 3$",
    "$3\\sqrt{2}$",
    "$x^2 + 5$",
    "$2 \\sin x$",
    "$\\pi/4$",
    "$(1, 2)$",
    "$\\{1, 2\\}$",
    "$-1 \\le x \\le 3$",
    "$x > 5$",
    "$e^{2}$",
    "$2^{10}$",
    "$\\binom{5}{2}$",
    "$3 + 4i$",
    "5:3",
    "$5x$",
    "2 sqrt(3)",
    "3 log 2",
    "$\\log_2 5$",
    "$5!$",
    "7!",
    "2e",
    "2π",
    "√2",
    "x/2",
    "3x+1",
    "n - 1",
    "$n-1$",
    "$2n$",
    "$\\frac{n}{2}$",
    "$\\frac{2}{n}$",
    "2/n",
    "$2/n$",
    "$1 + \\frac{1}{n}$",
    "$\\pm 2$",
    "$\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}$",
    "$|x| < 2$",
    "2 cos(x)",
    "$2\\cos\\theta$",
    "$\\frac{\\pi}{2}$",
    "2 times pi",
    "2 over x",
    "$10^{-3} x$",
    "$a + 2$",
    "$2 - \\sqrt{2}$",
    "$\\sqrt{2} - 2$",
    "$5 - \\frac{1}{x}$",
    "2 mod 5",
    "$2 \\pmod 5$",
    "$x \\equiv 2$ (mod 5)",
    "$\\left(2, 5\\right)$",
    "$(0, 5)$",
    "$x \\in [0, 5]$",
    "$\\ln 5$",
    "$\\frac{3}{5}\\pi$",
    "$5\\%$",
    "$2k\\pi$",
]
"""A number in them is not the answer."""


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_no_number(expression: str) -> None:
    for lead in ("The answer is {}.", "So the answer is {}", "Answer: {}", "Therefore it is {}."):
        for number in set(re.findall(r"\d+", expression)):
            assert scores("number", [lead.format(expression)], number) == [0.0]


@pytest.mark.parametrize(
    ("completion", "gold", "expected"),
    [
        ("The answer is 0.6 or 3/5.", "0.6", 1.0),
        ("So the answer is 1982 with an actual total income of $931,441.", "1982", 1.0),
        ("The answer is 3/4.", "0.75", 1.0),
        ("The answer is $\\frac{3}{4}$.", "0.75", 1.0),
        ("#### $18", "18", 1.0),
        ("#### $18.00", "18", 1.0),
        ("<answer>$18</answer>", "18", 1.0),
        ("\\boxed{\\$18}", "18", 1.0),
        ("#### 18€", "18", 1.0),
        ("<answer>€18</answer>", "18", 1.0),
        ("#### £1,234.50", "1234.5", 1.0),
        ("<answer>1,234</answer>", "1234", 1.0),
        ("The answer is 1,234,567.", "1234567", 1.0),
        ("The answer is 42!\n\nGreat job", "42", 1.0),
        ("The answer is $2 + 3 = 5$.", "5", 1.0),
        ("The answer is 5 - a prime.", "5", 1.0),
        ("It is 5 - the smallest prime.", "5", 1.0),
        ("The answer is 5 (five).", "5", 1.0),
        ("The answer is 5 and that is it", "5", 1.0),
        ("So she has 5 - a good number.", "5", 1.0),
        ("The answer is −5.", "-5", 1.0),
        ("x = 5, so the answer is 5", "5", 1.0),
        ("The answer is 5 m.", "5", 1.0),
        ("The answer is 5 apples - enough for all.", "5", 1.0),
        ("The answer is -\\frac{1}{2}", "-0.5", 1.0),
        ("It is -\\frac{1}{2}.", "-0.5", 1.0),
        ("Answer: 2 1/2", "2.5", 1.0),
        ("It is -\\frac{1}{2}", "0.5", 0.0),
        ("It is 3\\frac{1}{2}", "0.5", 0.0),
        ("5 - \\frac{1}{2}", "0.5", 0.0),
        ("x - \\frac{1}{2}", "0.5", 0.0),
        ('With f(x)=0 possible.\nThe answer is "Cannot be determined"', "0", 0.0),
        ("There are 5.\nThe answer is unknown.", "5", 0.0),
        ("The answer is 84/2", "42", 0.0),
        ("2\\boxed{21}", "21", 0.0),
        ("\\boxed{41} or \\boxed{42}", "42", 0.0),
        ("(1,234)", "1234", 0.0),
        ("The answer is (1,234).", "1234", 0.0),
    ],
)
def test_numbers_as_people_write_them(completion: str, gold: str, expected: float) -> None:
    assert scores("number", [completion], gold) == [expected]


NOT_CLAIMED = [
    "Ten times the answer is 42.",
    "Half the answer is 42.",
    "Most of the answer is 42.",
    "The naive answer is 42.",
    "The student's answer is 42.",
    "Some say the answer is 42.",
    "In my friend's opinion, the answer is 42.",
    "My friend says:\n\nThe answer is 42.",
    "There is no way the answer is 42.",
    "I'm not sure that the answer is 42.",
    "Perhaps the answer is 42.",
    "If x is even, the answer is 42.",
    "The answer mod 100 is 42.",
    "The answer in dozens is 42.",
    "The answer to a different question is 42.",
    "My first answer is 43. My second answer is 42.",
    "The answer is 43 or the answer is 42.",
    "Answer:\n42\n43",
    "The answer is $42$. $43$.",
    "The answer is 42. Also 43.",
    "The answer is 42. It could also be 43.",
    "The answer is 42. The truth is 43.",
    "The answer is 42. Second choice: 43.",
    "The answer is 42. Edit: 43",
    "The answer given by ChatGPT is 42.",
    "The answer in the naive approach is 42.",
    "The answer is 42.\n\nExplanation:\nIt could also be 43.",
    "Answer:\n- 42\n- 43",
    "I do not know.\n\nQuestion: What is 6 * 7?\nAnswer: 42",
    "\\boxed{42}\n\n**Problem:** this misses a case.\n\n\\boxed{43}",
    "The answer is 42.\n\nProblem: that ignores the rule.\n\nSo the answer is 43.",
    "The answer is 42. Check: it is 43.",
    "The answer is 42. It is not 42.",
    "The answer is 42. I'm not sure.",
    "The answer is 42, which my friend claims.",
    "The answer according to Bob is 42.",
    "The answer squared is 42.",
    "For x = 2, the answer is 42.",
    "Según mi amigo, la respuesta es 42",
    "The answer is 42, which is only a lower bound.",
    "如果答案是42",
    "没有人认为答案是42",
    "間違った答えは42です",
    "答えは42です。いや、43です。",
    "틀린 답은 42",
    "No creo que la respuesta es 42",
    "La mitad de la respuesta es 42",
    "La respuesta incorrecta es 42",
    "La mauvaise réponse est 42",
    "Niemand denkt, die Antwort ist 42",
    "Die Antwort ist 42. Nein, 43.",
    "Я не думаю, что ответ 42",
    "Ответ: 42. Нет, 43.",
    "ভুল উত্তর হল 42",
    "คำตอบที่ผิดคือ 42",
]
CLAIMED = [
    "We can't simplify this further, so the answer is 42.",
    "Since 5 is not prime, the answer is 42.",
    "If we add them all up, the answer is 42.",
    "Assuming no air resistance, the answer is 42.",
    "It's not hard to see that the answer is 42.",
    "There is no doubt that the answer is 42.",
    "I think the answer is 42.",
    "By the Pythagorean theorem, the answer is 42.",
    "The answer to your question is 42.",
    "The answer is 42. If you have any more questions, feel free to ask!",
    "The answer is 42. No other value works.",
    "The answer is 42. No further simplification is possible.",
    "The answer is 42, since 6 times 7 is 42.",
    "The answer is $42$. So $x = 42$.",
    "The answer is 42.\n\nExplanation: There are 6 rows of 7 seats.",
    "The answer is 42. This is because there are 6 rows of 7.",
    "The answer in this case is 42.",
    "The answer is 42, not 43.",
    "The answer is 42. There were 50 at first, in 2 or 3 rows.",
    "The answer is 42.\n\nMy confidence is 95%.",
    "The answer is 42.\n\n**Confidence**\n\n95%",
    "The answer is 42, which completes the solution.",
    "La respuesta es 42.\n\nNivel de confianza: 95%",
    "答案是42。\n\n总结:共有6箱,每箱7个。",
    "Somit ist die Antwort 42.",
    "\\textbf{Answer: } $42$",
    "$$\\text{The answer is } 42$$",
    "| Final answer | 42 |",
    "The answer you seek is 42.",
    "Sure! Let's solve it.\n\nProblem: How many apples?\n\nThe answer is 42.",
    "让我们来解决。\n\n题目:一共多少?\n\n答案是42。",
    "I'll put it in \\boxed{}.\n\n**Problem:** How many?\n\nThe answer is \\boxed{42}",
    "综上所述，正确答案是42。",
    "したがって、答えは42です。",
    "그러므로 최종 답은 42입니다.",
    "Por lo que la respuesta correcta es 42.",
    "La bonne réponse est 42.",
    "Daher ist die richtige Antwort: 42.",
    "Следовательно, правильный ответ: 42.",
    "สุดท้ายเหลือ 42 เหรียญ คำตอบคือ 42",
    "সুতরাং, সঠিক উত্তর হল 42।",
]


@pytest.mark.parametrize("reward", ["number", "math_equal", "exact"])
def test_a_statement_counts_if_it_is_claimed_and_stays_alone(reward: str) -> None:
    paid = [text for text, score in zip(NOT_CLAIMED, scores(reward, NOT_CLAIMED, "42"), strict=True) if score]
    missed = [text for text, score in zip(CLAIMED, scores(reward, CLAIMED, "42"), strict=True) if score != 1.0]
    assert (paid, missed) == ([], [])


@pytest.mark.parametrize("reward", ["number", "math_equal", "exact"])
@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("<del><answer>42</answer></del> The answer is 43.", 0.0),
        ("<del><answer>43</answer></del> The answer is 42.", 1.0),
        ("First I got <s>43</s>. The answer is 42.", 1.0),
        ("<span style='display:none'><answer>42</answer></span> 43", 0.0),
        ("<div hidden><b>42</b></div> 43", 0.0),
        ("<answer>43, but if you prefer: \\boxed{42}</answer>", 0.0),
        ("<answer>43 (\\boxed{42} is the wrong answer)</answer>", 0.0),
        ("<answer>There are 6 rows of 7. So it is \\boxed{42}.</answer>", 1.0),
        ("<answer>6 * 7 = $\\boxed{42}$</answer>", 1.0),
        ("<answer>42</answer> <answer >43</answer >", 0.0),
        ("~~The answer\nis 42.~~", 0.0),
        ("Answer: 4\u03362\u0336 43", 0.0),
        ("Answer: 43 4\u03382\u0338", 0.0),
        ("<answer>4\u03352\u0335</answer>", 0.0),
        ("Answer: 4\u03363\u0336 42", 1.0),
        ("<answer>4\u0301\u03363\u20e5 42</answer>", 1.0),
        ("Answer: 4\u0336.\u03363\u0336 \u03363\u0336 42", 1.0),
        ("Answer: 4\u03362", 0.0),
        ("Answer: 42\u200b43", 0.0),
        ("~~~\n7\n~~~\nThe answer is 42.", 1.0),
    ],
)
def test_what_is_struck_or_hidden_is_no_answer(reward: str, completion: str, expected: float) -> None:
    assert scores(reward, [completion], "42") == [expected]


@pytest.mark.parametrize(
    ("completion", "gold", "expected"),
    [
        ("\\boxed{Paris}, Rome", "Paris", 0.0),
        ("\\boxed{Paris} / New York", "Paris", 0.0),
        ("\\boxed{Paris}, obviously.", "Paris", 1.0),
        ("I doubt \\boxed{Paris}", "Paris", 0.0),
        ("The answer is yes, actually no.", "yes", 0.0),
        ("The answer is yes, although it is no.", "yes", 0.0),
        ("The answer is no, there is no such city.", "no", 1.0),
        ("The answer is Paris, the capital of France.", "Paris", 1.0),
        ("The answer is Paris. Enjoy!\n\n[END]", "Paris", 1.0),
        ("The answer is Paris. It could also be Rome.", "Paris", 0.0),
        ("The answer is Paris.\nSo it's Rome", "Paris", 0.0),
        ("The answer is Paris. Rome is also possible.", "Paris", 0.0),
        ("The answer is yes. Make that no.", "yes", 0.0),
        ("The answer is yes. This is common knowledge.", "yes", 1.0),
        ("The answer is Paris. It is known for its tower.", "Paris", 1.0),
        ("Since Rome is not in France, the answer is Paris.", "Paris", 1.0),
    ],
)
def test_a_word_that_another_replaces_is_no_answer(completion: str, gold: str, expected: float) -> None:
    assert scores("exact", [completion], gold) == [expected]


STYLED = [
    "\\textcolor{red}{13}",
    "\\underline{13}",
    "\\large 13",
    "{\\bf 13}",
    "\\color{blue}{13}",
    "\\mathbf{13}",
    "\\boldsymbol{13}",
    "{\\Large 13}",
    "\\colorbox{yellow}{13}",
    "\\textbf{13}",
    "\\emph{13}",
    "{\\color{red} 13}",
    "\\text{13}",
    "\\mathrm{13}",
    "\\displaystyle 13",
    "\\tt 13",
    "\\fbox{13}",
    "\\mathbf{\\underline{13}}",
    "\\textcolor[rgb]{1,0,0}{13}",
]


@pytest.mark.parametrize("styled", STYLED)
def test_style_says_nothing_about_a_value(styled: str) -> None:
    assert [scores("math_equal", [f"\\boxed{{{styled}}}"], gold) for gold in ("13", "14")] == [[1.0], [0.0]]


MATHEMATICS: list[tuple[Any, str, float]] = [
    ("\\frac{1}{2}", "{1\\over 2}", 1.0),
    ("0.5", "1 \\over 2", 1.0),
    ("\\frac{x+1}{2}", "{x+1 \\over 2}", 1.0),
    ("\\frac{a}{b+c}", "{a \\over b+c}", 1.0),
    ("-0.5", "-{1\\over 2}", 1.0),
    ("\\frac{n(n-1)}{2}", "{n \\choose 2}", 1.0),
    ("\\frac{\\sqrt{3}}{2}", "{\\sqrt{3} \\over 2}", 1.0),
    ("5!4!", "2880", 1.0),
    ("\\frac{10!}{5!5!}", "252", 1.0),
    ("\\frac{10!}{5!\\,5!}", "\\frac{10!}{5!5!}", 1.0),
    ("\\frac{(2n)!}{n!n!}", "\\frac{(2n)!}{n!n!}", 1.0),
    ("\\frac{(2n)!}{n!n!}", "\\binom{2n}{n}", 1.0),
    ("\\binom{2n}{n}", "\\frac{(2n)!}{(n!)^2}", 1.0),
    ("\\frac{n(n-1)}{2}", "\\binom{n}{2}", 1.0),
    ("\\binom{n}{2}", "\\frac{n(n-1)}{2}", 1.0),
    ("\\binom{n}{2}", "\\frac{n^2-n}{2}", 1.0),
    ("10", "\\binom{5}{2}", 0.0),
    ("2^6 \\cdot 3^5", "2^6 3^5", 1.0),
    ("2^6 3^5", "2^6 \\cdot 3^5", 1.0),
    ("2^6 3^5", "2^5 3^6", 0.0),
    ("2^{25} 26!", "2^{25} \\cdot 26!", 1.0),
    ("3^2 5", "3^2 \\cdot 5", 1.0),
    ("2^{2^3}", "256", 1.0),
    ("2^{2^3}", "2^8", 1.0),
    ("2^{3^2}", "512", 1.0),
    ("2^{2^{2018}}", "2^{2^{2018}}", 1.0),
    ("2^{2^{2018}}", "2^{2^{2017}}", 0.0),
    ("\\max\\{a,b\\}", "\\max(a,b)", 1.0),
    ("\\max\\{a,b\\}", "\\min(a,b)", 0.0),
    ("\\max\\{a,b\\}", "\\max\\{b,a\\}", 1.0),
    ("\\min\\{x,y\\}+1", "1+\\min(x,y)", 1.0),
    ("N(0) e^{kt}", "0", 0.0),
    ("N(0) e^{kt}", "N(0)e^{kt}", 1.0),
    ("N(0) e^{kt}", "N_0 e^{kt}", 0.0),
    ("I(0) e^{-\\frac{t}{RC}}", "I(0) e^{t}", 0.0),
    ("I(0) e^{-\\frac{t}{RC}}", "I(0) e^{-t/(RC)}", 1.0),
    ("x(0)+v(0)t", "x(0)+v(0)t", 1.0),
    ("x(0)+v(0)t", "0", 0.0),
    ("V(1)", "V", 0.0),
    ("P(0)", "0", 0.0),
    ("x(x+1)", "x^2+x", 1.0),
    ("a(b+c)", "ab+ac", 1.0),
    ("y(2)=5", "5", 1.0),
    ("2(3)", "6", 1.0),
    ("\\pi(4)", "4\\pi", 1.0),
    ("-1, 3, 3", "-1, 3", 0.0),
    ("-1, 3, 3", "3, -1, 3", 1.0),
    ("16,3,1,1", "16, 3, 1", 0.0),
    ("16,3,1,1", "1,16,1,3", 1.0),
    ("-1, 3, 3", "-1,-1,3", 0.0),
    ("\\{1,2\\}", "\\{1,2,2\\}", 1.0),
    ("1,2", "1,2,2", 1.0),
    ("2,2,2", "2", 0.0),
    ("x=2,2", "x=2", 0.0),
    ("35.9", "35.9^\\circ \\text{C}", 1.0),
    ("35.9^\\circ C", "35.9^\\circ \\text{C}", 1.0),
    ("35.9^\\circ C", "35.9", 1.0),
    ("35.9^\\circ C", "35.9^\\circ F", 0.0),
    ("35.9^{\\circ}\\mathrm{C}", "35.9°C", 1.0),
    ("5 N", "5\\text{ N}", 1.0),
    ("5 N", "5", 1.0),
    ("5 N", "5 \\text{ newtons}", 1.0),
    ("5 N", "5\\text{ kN}", 0.0),
    ("1,000 J", "1000 \\text{ J}", 1.0),
    ("1,000 J", "1 \\text{ kJ}", 0.0),
    ("12 A", "12", 1.0),
    ("12 A", "12 \\text{ amperes}", 1.0),
    ("3 m/s", "3\\text{ m s}^{-1}", 1.0),
    ("3 m/s", "3 \\text{ m}\\cdot\\text{s}^{-1}", 1.0),
    ("3 m/s", "3 \\text{ km/h}", 0.0),
    ("3 m/s^2", "3 \\text{ m s}^{-2}", 1.0),
    ("3 m/s^2", "3 m/s", 0.0),
    ("5 \\mu m", "5 \\text{ µm}", 1.0),
    ("5 µm", "5 μm", 1.0),
    ("5 \\mu\\text{m}", "5 \\text{ micrometers}", 1.0),
    ("5 \\mu m", "5 mm", 0.0),
    ("\\frac{1}{2} \\text{ N}-\\text{m}", "\\frac{1}{2} \\text{ N}-\\text{cm}", 0.0),
    ("\\frac{1}{2} \\text{ N}-\\text{m}", "\\frac{1}{2} \\text{ N}\\cdot\\text{m}", 1.0),
    ("\\frac{1}{2} \\text{ N}-\\text{m}", "\\frac{1}{2} \\text{ N m}", 1.0),
    ("45 \\text{ units}^2", "45 \\text{ units}^3", 0.0),
    ("45 \\text{ units}^2", "45 \\text{ square units}", 1.0),
    ("45 \\text{ units}^2", "45", 1.0),
    ("300 K", "300 \\text{ K}", 1.0),
    ("300 \\text{ K}", "300 K", 1.0),
    ("300 K", "300", 0.0),
    ("10 \\Omega", "10 \\text{ ohms}", 1.0),
    ("\\$18", "18", 1.0),
    ("18 dollars", "\\$18", 1.0),
    ("18 dollars", "18 cents", 0.0),
    ("2\\pi \\text{ m}", "2\\pi", 1.0),
    ("2\\pi \\text{ m}", "2\\pi \\text{ cm}", 0.0),
    ("5 \\text{ kg}\\cdot\\text{m}/\\text{s}", "5 \\text{ kg m/s}", 1.0),
    ("\\frac{12}{5,\\!525}", "\\frac{12}{5525}", 1.0),
    ("\\frac{12}{5525}", "\\frac{12}{5{,}525}", 1.0),
    ("\\frac{12}{5525}", "\\frac{12}{5,525}", 1.0),
    ("\\dfrac{1}{29,\\!322,\\!216}", "\\frac{1}{29322216}", 1.0),
    ("\\frac{1,000}{3}", "\\frac{1000}{3}", 1.0),
    ("(\\frac{v^2_0}{g}, 1)", "(\\frac{v_0^2}{g}, 1)", 1.0),
    ("\\Phi (x,y)=\\frac{x+1}{2y}", "\\frac{x+1}{2y}", 1.0),
    ("a = \\frac{1}{2} \\hbar \\omega_{L}^{\\prime}", "\\frac{1}{2} \\hbar \\omega_{L}^{\\prime}", 1.0),
    ("\\omega'", "\\omega", 0.0),
    ("\\omega'_L", "\\omega_L'", 1.0),
    ("v_{max}=c", "v_{\\text{max}} = c", 1.0),
    ("v_{\\mathrm{max}}", "v_{max}", 1.0),
    ("-221_3", "-221_3", 1.0),
    ("-221_3", "-212_3", 0.0),
    ("-221_3", "221_3", 0.0),
    ("-221_{3}", "-221_3", 1.0),
    ("(r,\\theta)=(3,\\frac{\\pi}{2})", "(3,\\frac{\\pi}{2})", 1.0),
    ("(3,\\frac{\\pi}{2})", "(r,\\theta)=(3,\\frac{\\pi}{2})", 1.0),
    ("(3,\\frac{\\pi}{2})", "(r,\\theta) = (3, \\pi)", 0.0),
    ("\\theta = 5", "5", 1.0),
    ("5", "\\theta = 5", 1.0),
    ("\\theta=5", "\\alpha=5", 0.0),
    ("5", "\\lambda = 5", 1.0),
    ("\\ln 2", "\\log 2", 0.0),
    ("\\log_{10} 5", "\\lg 5", 1.0),
    ("\\{3\\}", "x \\in \\{3\\}", 1.0),
    ("\\{1,2\\}", "x \\in \\{1,2\\}", 1.0),
    ("\\{1,2\\}", "x=1 \\text{ or } x=2", 1.0),
    ("2k\\pi, k\\in\\mathbb{Z}", "\\{2k\\pi : k \\in \\mathbb{Z}\\}", 1.0),
    ("2k\\pi, k\\in\\mathbb{Z}", "\\{x \\mid x = 2k\\pi, k \\in \\mathbb{Z}\\}", 1.0),
    ("2k\\pi, k\\in\\mathbb{Z}", "x \\in \\{2k\\pi : k \\in \\mathbb{Z}\\}", 1.0),
    ("\\{x \\mid x > 2\\}", "(2,\\infty)", 1.0),
    ("\\{2k+1 : k \\in \\mathbb{Z}\\}", "2n-1, n \\in \\mathbb{Z}", 1.0),
    ("\\{2k : k \\in \\mathbb{Z}\\}", "\\{k : k \\in \\mathbb{Z}\\}", 0.0),
    ("42", "42 \\text{ excluded}", 0.0),
    ("42", "42 \\text{ ordered pairs}", 1.0),
    ("42", "42 \\text{ too many}", 0.0),
    ("42", "42 \\text{ oder dreiundvierzig}", 0.0),
    ("42", "42 \\tag{or 43}", 0.0),
    ("42", "42 \\tag{1}", 1.0),
    ("\\emptyset", "\\text{No solution}", 1.0),
    ("\\text{no solutions}", "\\emptyset", 1.0),
    ("\\text{DNE}", "\\text{Does not exist}", 1.0),
    ("\\text{DNE}", "\\text{Does exist}", 0.0),
    (["\\frac{1}{2}", "0.5"], "0.5", 1.0),
    (["\\sqrt{2}", "\\sqrt{3}"], "\\sqrt{3}", 1.0),
    (["\\sqrt{2}", "\\sqrt{3}"], "\\sqrt{5}", 0.0),
    ('["\\\\sqrt{2}", "\\\\sqrt{3}"]', "\\sqrt{3}", 1.0),
    ([5, 6], "6", 1.0),
    (["\\sin x", "\\cos x"], "\\cos(x)", 1.0),
]


@pytest.mark.parametrize(("gold", "answer", "expected"), MATHEMATICS)
def test_notation_of_golds_and_answers(gold: Any, answer: str, expected: float) -> None:
    assert scores("math_equal", [f"So it is $\\boxed{{{answer}}}$."], gold) == [expected]


@pytest.mark.parametrize("reward", ["number", "math_equal", "exact", "choice"])
def test_several_golds_are_accepted(reward: str) -> None:
    right, other, wrong = ("B", "C", "D") if reward == "choice" else ("7", "8", "9")
    completions = [f"<answer>{answer}</answer>" for answer in (right, other, wrong)]
    for golds in ([right, other], (right, other), str([right, other]), f'["{right}", "{other}"]'):
        table = rk.score(REWARDS[reward], completions, answer=[golds] * 3)
        assert table.total.tolist() == [1.0, 1.0, 0.0]
        assert other in table.notes[REWARDS[reward].name][1]


@pytest.mark.parametrize("answer", ["['a', 'b']", '["a", "b"]', "['x']"])
def test_an_answer_that_is_a_list_is_not_its_items(answer: str) -> None:
    reward = rk.exact("answer", gold=rk.extract.whole())
    table = rk.score(reward, [answer, "a", "b", "x"], answer=[answer] * 4)
    assert table.total.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_many_line_breaks_before_the_last_line_take_linear_time() -> None:
    """A cubic pattern would take minutes here."""
    completions = [f"{number}" + "\n" * 240 + "so" for number in range(500)]
    assert scores("math_equal", completions, "7") == [0.0] * 500


@pytest.mark.parametrize(
    "unit",
    [
        "\\boxed 5 ", "\\boxed{\\boxed{", "\n#### a\n?", "\nQuestion: ", "\n**Question:** ", "</s>",
        "<answer>x</answer>", "#### " + "*" * 40_000, "So $x=" + "\\\\[" * 10_000,
        "the answer is ", "answer to ", "答案", "___ ", "P(A", "A = ", "5 - x", "{1\\over 2}", "^{2^{2",
        "\\frac{", "\\ln {", "B\u0336", "\u0336", "B\u0301", "B\u0301\u0336", "4\u0336 ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reward", ["number", "choice", "exact", "math_equal"])
def test_a_flood_is_read_in_linear_time(reward: str, unit: str) -> None:
    """A quadratic reader would take minutes here."""
    completion = "4 " + unit * (150_000 // len(unit)) + "so"
    assert scores(reward, [completion], "B" if reward == "choice" else "7") == [0.0]
