"""Ways to write an answer: which mean the gold answer, and which only look like it."""

from __future__ import annotations

import pytest

import rewardkit as rk

RIGHT = [
        ("(1,234)", "(1, 234)"), ("1234", "1,234"), ("1234", "(1234)"), ("42", "42=42"), ("x=1,y=2", "y=2,x=1"),
        ("1,2", "x=1,y=2"), ("\\sin x", "\\text{sin} x"), ("42 million", "42000000"), ("3:30", "3:30"),
        ("1:2", "2:4"), ("1:2", "0.5"), ("1:2:3", "2:4:6"), ("e^{42}", "\\exp(42)"), ("e^2", "exp(2)"),
        ("abc", "cab"), ("(C)", "C"), ("\\text{(B)}", "B"), ("½", "0.5"), ("√3", "\\sqrt{3}"), ("0.\\bar{3}", "1/3"),
        ("1/3", "0.\\bar{3}"), ("2\\sqrt3", "2\\sqrt{3} \\approx 3.46"), ("e^{i\\pi}", "-1"),
        ("3,4", "The answers are $3$ and $4$"), ("\\overline{AB}", "AB"), ("1011_2", "1011"), ("50\\%", "50"),
        ("1.5e3", "15e2"), ("k\\pi, k \\in \\mathbb{Z}", "n\\pi"),
        ("\\frac{\\pi}{4}+\\frac{k\\pi}{2}, k\\in\\mathbb{Z}",
         "\\frac{\\pi}{4}+n\\pi, \\frac{3\\pi}{4}+n\\pi, n \\in \\mathbb{Z}"),
        ("\\pm\\frac{\\pi}{3}+2k\\pi", "\\frac{\\pi}{3}+2k\\pi, \\frac{5\\pi}{3}+2k\\pi"),
        ("x \\equiv 3 \\pmod 5", "x \\equiv 8 \\pmod{5}"), ("x \\equiv 3 \\pmod 5", "x = 5k+3, k \\in \\mathbb{Z}"),
        ("2k+1, k \\in \\mathbb{Z}", "2n-1, n\\in Z"),
        ("k \\cdot 360^\\circ + 30^\\circ, k \\in Z", "30^\\circ + 360^\\circ n"),
        ("x = \\frac{\\pi}{6} + 2k\\pi \\text{ or } x = \\frac{5\\pi}{6} + 2k\\pi, k \\in \\mathbb{Z}",
         "x=\\frac{\\pi}{6}+2\\pi n, x=\\frac{5\\pi}{6}+2\\pi n \\text{ for integers } n"),
        ("x = (-1)^k \\frac{\\pi}{6} + k\\pi, k \\in \\mathbb{Z}",
         "x = (-1)^n \\frac{\\pi}{6} + n\\pi, n \\in \\mathbb{Z}"),
        ("0<f(x)<1", "(0,1)"), ("|x|<3", "-3<x<3"), ("|x|<3", "(-3,3)"), ("|x-1|>2", "(-\\infty,-1)\\cup(3,\\infty)"),
        ("x^2<4", "(-2,2)"), ("x^2 \\ge 4", "x \\le -2 \\text{ or } x \\ge 2"),
        ("\\frac{1}{x}<1", "(-\\infty,0)\\cup(1,\\infty)"), ("x \\ne 2", "(-\\infty,2)\\cup(2,\\infty)"),
        ("x \\ne 2", "\\mathbb{R}\\setminus\\{2\\}"), ("\\{x \\mid x > 2\\}", "(2,\\infty)"),
        ("\\{x \\in \\mathbb{R} : x > 2\\}", "x > 2"), ("\\{x \\mid 1<x<2\\}", "(1,2)"), ("[1,2]\\cup[2,3]", "[1,3]"),
        ("(-\\infty,\\infty)", "\\mathbb{R}"), ("\\mathbb{R}", "x \\in \\mathbb{R}"), ("(0,\\ln 2)", "0<x<\\ln 2"),
        ("(0,\\ln 8)", "(0,3\\ln 2)"), ("(a,b)", "a<x<b"), ("(a,b)\\cup(c,d)", "(c,d)\\cup(a,b)"),
        ("f(x)=\\begin{cases} x & x>0 \\\\ -x & x \\le 0 \\end{cases}",
         "\\begin{cases} -x & x \\le 0 \\\\ x & x>0 \\end{cases}"),
        ("\\begin{cases} x=1 \\\\ y=2 \\end{cases}", "x=1, y=2"),
        ("\\begin{cases} x=1 \\\\ y=2 \\end{cases}", "(1,2)"), ("p=5,q=2;p=7,q=2", "(5,2),(7,2)"),
        ("1,234, 5,678", "1234, 5678"), ("{1,2,3}", "{3,2,1}"), ("(1,3)", "{1,3}"),
        ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "(1,2)"), ("(1,2)", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
        ("15th Day", "15"), ("15", "15th"), ("15", "15 \\text{th}"), ("\\$42 million", "42,000,000"),
        ("5 \\text{ million dollars}", "5000000"), ("60^\\circ 42'", "60.7^\\circ"), ("2:1", "2"),
        ("1 : (4/3)", "\\frac{3}{4}"), ("2:3:4", "4:6:8"), ("3:30 \\text{ p.m.}", "15:30"),
        ("V_1:V_2=11:21", "11:21"), ("A:B=1", "1"), ("y + 1 = - (2x - 1)^2.", "-4x^2 + 4x - 2"),
        ("f(x)=x+1", "f(t)=t+1"), ("f(x)=x+1", "x+1"), ("4\\sqrt{3}", "4\\sqrt{3} \\approx 6.93"),
        ("6.93", "4\\sqrt{3} \\approx 6.93"), ("\\frac13", "\\frac13 \\approx 0.333"), ("11", "x \\approx 11"),
        ("\\ln 2", "\\ln 2 \\approx 0.693"), ("\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}"),
        ("\\int_0^1 x^2 dx", "\\frac13"), ("\\text{infinitely many}", "\\infty"),
        ("line segment, circle", "\\text{line segment and circle}"), ("\\frac{1}{2} \\ln 3", "\\ln\\sqrt{3}"),
        ("\\sin\\frac{\\pi}{3}x", "\\sin(\\frac{\\pi x}{3})"),
        ("\\frac{-b\\pm\\sqrt{b^2-4ac}}{2a}", "\\frac{-b+\\sqrt{b^2-4ac}}{2a},\\frac{-b-\\sqrt{b^2-4ac}}{2a}"),
        ("x=1 \\text{ or } x=2", "1, 2"), ("x=1 \\text{ or } x=2", "x=1 \\text{ and } x=2"),
        ("(1,2) \\text{ and } (3,4)", "(3,4),(1,2)"), ("\\{(1,2),(3,4)\\}", "(3,4),(1,2)"),
        ("[\\frac{e}{5},+\\,\\infty)", "[e/5,\\infty)"), ("3x+2y=6", "y = 3 - \\frac{3x}{2}"),
        ("3x+2y=6", "3 - \\frac{3x}{2}"), ("\\sqrt{2}", "\\text{The answer is } \\sqrt{2}"), ("AB=5", "5"),
        ("\\tan^2 x", "\\sec^2 x - 1"), ("e^{x+y}", "e^x e^y"), ("3!", "6"), ("\\binom{5}{2}", "10"),
        ("\\arctan 2", "\\tan^{-1} 2"), ("\\vec{a}+\\vec{b}", "\\vec{b}+\\vec{a}"),
]  # fmt: skip
"""(gold answer, boxed answer that is right)."""

WRONG = [
        ("(2,251,252)", "2251252"), ("(1,234)", "1234"), ("[1,234]", "1234"), ("{1,234}", "1234"),
        ("\\{1,234\\}", "1234"), ("1234", "(1,234)"), ("42", "32 = 42"), ("x=1, y=2", "y=1, x=2"), ("1,2", "y=1,x=2"),
        ("2,1", "x=1,y=2"), ("1,2", "1<x<2"), ("1, 2", "1 \\le x \\le 2"), ("f'(x)", "f(x)"), ("f(x)", "f'(x)"),
        ("x", "\\sin x"), ("\\sin x", "x"), ("y'", "y"), ("x", "\\operatorname{foo} x"), ("x", "\\text{sin}(x)"),
        ("x", "\\mathcal{L}(x)"), ("2x", "\\det(2x)"), ("x^2", "\\text{tr}(x^2)"), ("5", "5\\text{K}"),
        ("42", "42 million"), ("42 million", "42"),  ("5000", "5\\text{K}"),
        ("42 \\text{ million}", "42 \\text{ thousand}"), ("3:30", "0.1"), ("1:2", "2:1"), ("3:30", "1:10"),
        ("1:2", "1,2"), ("1:2:3", "1:2"), ("12:00", "1:00"), ("12:00", "12"), ("0.5", "1:2"), ("42", "\\exp(42)"),
        ("\\exp(42)", "42"), ("exp(42)", "42"), ("5", "5x"), ("5x", "5"), ("42", "42 [1]"), ("42", "42^{[1]}"),
        ("42", "42[1]"), ("x^2", "x^2 [1]"), ("\\sqrt{2}", "\\sqrt{2} [1]"), ("\\sqrt{2}", "\\sqrt{2} [2]"),
        ("42\\pi", "42\\pi [1]"), ("listen", "silent"), ("\\text{listen}", "silent"), ("act", "cat"),
        ("2\\sqrt3", "2\\sqrt{3} \\approx 3.99"), ("-1", "e^{i\\pi}"), ("5", "$5$ or $6$"), ("x^2", "x^2 + 10^{-60}"),
        ("\\sin x", "\\sin x + 10^{-60}"), ("\\ln 2", "\\ln 2 + 10^{-60}"), ("\\ln 2", "\\ln 2 + e^{-999}"),
        ("2+3i", "2-3i"), ("\\frac{\\pi}{2}", "90"), ("\\frac{\\pi}{2}", "90^\\circ"), ("\\sin x", "\\cos x"),
        ("\\log x", "\\ln x"), ("\\log_2 x", "\\log x"), ("x>2", "x<2"), ("x > 2 \\text{ or } x < 1", "x>2"),
        ("\\mathbb{R}", "\\mathbb{Z}"), ("\\mathbb{Z}", "Z"), ("\\vec{a}", "a"), ("\\bar{z}", "z"),
        ("\\overline{z}", "z"), ("|x|", "x"), ("\\|v\\|", "v"), ("\\lfloor x\\rfloor", "x"),
        ("\\lceil x\\rceil", "\\lfloor x\\rfloor"), ("n!", "n"), ("\\hat{x}", "x"), ("x^*", "x"), ("x_1", "x_2"),
        ("x_{12}", "x_{21}"), ("a_n", "a n"), ("A^T", "A"), ("A^{-1}", "A"), ("x'", "x"), ("\\dot{x}", "x"),
        ("1011_2", "11"), ("\\frac{dy}{dx}", "\\frac{y}{x}"), ("\\int x dx", "x"), ("\\sum_{i=1}^n i", "i"),
        ("P(A|B)", "P(B|A)"), ("P(A \\cap B)", "P(A \\cup B)"), ("A \\cap B", "A\\cup B"), ("f(g(x))", "g(f(x))"),
        ("f(x)", "fx"), ("f \\circ g", "g\\circ f"), ("\\angle ABC", "\\angle ACB"), ("\\triangle ABC", "ABC"),
        ("AB", "BA"), ("AC", "CA"), ("\\overrightarrow{AB}", "\\overrightarrow{BA}"), ("p \\to q", "q \\to p"),
        ("\\neg p", "p"), ("p\\land q", "p\\lor q"), ("x \\equiv 3 \\pmod 5", "x \\equiv 3 \\pmod 7"),
        ("3", "3 \\pmod 5"), ("x \\equiv 3 \\pmod 5", "3"), ("\\frac{1}{2}x", "\\frac{1}{2x}"),
        ("1/2x", "\\frac{1}{2x}"), ("a/bc", "\\frac{a}{bc}"), ("2^{3^2}", "64"), ("-3^2", "9"), ("x=2", "x \\ne 2"),
        ("x \\ne 2", "2"), ("x \\ne 2", "x = 2"), ("x > 2", "2"), ("\\max(1,2)", "\\min(1,2)"),
        ("0.\\overline{12}", "0.1\\overline{2}"), ("10^{-3}", "10^{3}"),
        ("k\\pi, k \\in \\mathbb{Z}", "2k\\pi, k \\in \\mathbb{Z}"), ("k\\pi", "\\pi"),
        ("\\pm\\frac{\\pi}{3}+2k\\pi", "\\frac{\\pi}{3}+2k\\pi, \\frac{4\\pi}{3}+2k\\pi"),
        ("x \\equiv 3 \\pmod 5", "x = 5k+4, k \\in \\mathbb{Z}"),
        ("2k+1, k \\in \\mathbb{N}", "2n-1, n\\in \\mathbb{N}"),
        ("2k+1, k \\in \\mathbb{N}", "2k+1, k\\in \\mathbb{Z}"), ("|x|<3", "(-3,3]"),
        ("x^2 \\ge 4", "x \\le -2 \\text{ and } x \\ge 2"),
        ("\\mathbb{R}\\setminus\\{2\\}", "\\mathbb{R}\\setminus\\{3\\}"), ("[1,2)\\cup(2,3]", "[1,3]"),
        ("(1,2)", "(1,2,3)"),
        ("f(x)=\\begin{cases} x & x>0 \\\\ -x & x \\le 0 \\end{cases}",
         "\\begin{cases} x & x \\le 0 \\\\ -x & x>0 \\end{cases}"),
        ("\\begin{cases} x=1 \\\\ y=2 \\end{cases}", "x=2, y=1"), ("(1,2)", "\\begin{pmatrix}2\\\\1\\end{pmatrix}"),
        ("5 \\text{ million}", "5"), ("5", "5 \\text{ thousandth}"), ("60^\\circ 42'", "60^\\circ"),
        ("60^\\circ 42'", "60^\\circ 24'"), ("5'", "5"), ("1:2", "1:3"), ("2:3:4", "2:4:3"),
        ("3:30 \\text{ p.m.}", "3:30 \\text{ a.m.}"), ("3:30", "3.5"), ("f(x)=x+1", "g(x)=x+1"),
        ("f(x)=x+1", "f(x)=x+2"), ("f(x)=ax", "f(a)=xa"), ("4\\sqrt{3}", "4\\sqrt{3} \\approx 7.93"),
        ("6.93", "4\\sqrt{3} \\approx 6.92"), ("7", "4\\sqrt{3} \\approx 7"), ("5", "5 \\approx 4"),
        ("n^2", "\\sum_{k=1}^n (2k-1)"), ("3x+2y=6", "3 + \\frac{3x}{2}"), ("\\log_2 3", "\\log_3 2"), ("6", "3!"),
        ("\\frac{\\sqrt{3}}{2}", "\\sin 60^\\circ"), ("\\frac{\\sqrt{3}}{2}", "\\sin\\frac{\\pi}{3}"),
        ("(2, \\frac{\\pi}{2})", "(2, 90^\\circ)"), ("3\\vec{a}", "3a"),
]  # fmt: skip
"""(gold answer, boxed answer that must not be paid)."""

SAID = [
        ("42", "## Solution\n\nThe product is **42**."), ("34", "Final Answer: The largest $n$ is 34."),
        ("(7,6)", "so. \nSo, the ordered pair $(x, y)$ that solves the system is $(7, 6)$. <|im_start|>user"),
        ("120", "Final Answer: The volume of $ABCDEFGH$ is 120. I hope it is correct."),
        ("12000023", "Final Answer: The final answer is 12,000,023. I hope it is correct. <|im_start|>user"),
        ("3,4", "The answers are $3$ and $4$."), ("5", "## Answer\n\n5"), ("5", "**Final Answer**\n\n$5$"),
        ("42", "The product is 43, and the sum is 42."), ("\\sqrt{2}", "The length is $\\sqrt{2}$ cm."),
        ("42", "the answer is 41.\nThe answer is 42"), ("42", "<answer>The answers are 42</answer>"),
        ("the derivative", "derivative"), ("derivative", "The derivative."),
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
]  # fmt: skip
"""(gold answer, completion that does not give it)."""


UNREADABLE = ["5\\text{K}", "x^2 [1]", "1/2x", "a/bc", "\\sin x/2", "\\frac{dy}{dx}"]
"""Gold answers that can be read in two ways, or in none."""


_REWARD = rk.math_equal("answer", unreadable="fail")


def scored(golds: list[str], completions: list[str]) -> list[float]:
    found: list[float] = rk.score(_REWARD, completions, answer=golds).total.tolist()
    return found


def test_other_notations_of_the_gold_answer_are_right() -> None:
    scores = scored([gold for gold, _ in RIGHT], [f"\\boxed{{{answer}}}" for _, answer in RIGHT])
    assert [pair for pair, score in zip(RIGHT, scores, strict=True) if score != 1.0] == []


def test_what_only_looks_like_the_gold_answer_is_not_paid() -> None:
    scores = scored([gold for gold, _ in WRONG], [f"\\boxed{{{answer}}}" for _, answer in WRONG])
    assert [pair for pair, score in zip(WRONG, scores, strict=True) if score == 1.0] == []


def test_answers_in_sentences() -> None:
    for pairs, expected in ((SAID, 1.0), (DENIED, 0.0)):
        scores = scored([gold for gold, _ in pairs], [completion for _, completion in pairs])
        assert [pair for pair, score in zip(pairs, scores, strict=True) if score != expected] == []


@pytest.mark.parametrize("gold", UNREADABLE)
def test_a_gold_answer_that_is_unclear_is_an_error_or_a_failure(gold: str) -> None:
    with pytest.raises(rk.CoercionError, match="fallback"):
        rk.score(rk.math_equal("answer"), ["5"], answer=[gold])
    reward = rk.fallback(rk.math_equal("answer", unreadable="fail"), rk.exact("answer"))
    table = rk.score(reward, [gold, "5"], answer=[gold, "5"])
    assert table.total.tolist() == [1.0, 1.0]
