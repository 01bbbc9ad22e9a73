"""Rewards for mathematics and arithmetic."""

from __future__ import annotations

import ast
import logging
import math
import random
import re
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from tests.faults.case import Case

logger = logging.getLogger(__name__)


def _last_between(text: str, opening: str, closing: str) -> str | None:
    """The text of the last complete opening...closing pair."""
    end = text.rfind(closing)
    if end < 0:
        return None
    start = text.rfind(opening, 0, end)
    if start < 0:
        return None
    return text[start + len(opening) : end]


# --- exact values in LaTeX -------------------------------------------------

_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_SPACING = re.compile(r"\\[,;:! ]|~|\s+")


def _canonical_latex(latex: str) -> str:
    latex = latex.strip().strip("$").strip().rstrip(".")
    latex = re.sub(r"\\(?:left|right)(?![A-Za-z])", "", latex)
    latex = re.sub(r"\\[dt]frac(?![A-Za-z])", r"\\frac", latex)
    latex = _SPACING.sub("", latex)
    latex = re.sub(r"\\frac([0-9])([0-9])", r"\\frac{\1}{\2}", latex)
    latex = re.sub(r"\\sqrt([0-9])", r"\\sqrt{\1}", latex)
    latex = re.sub(r"\\frac\{(-?[0-9]+)\}\{([0-9]+)\}", r"\1/\2", latex)
    return latex.replace("\\cdot\\sqrt", "\\sqrt")


def exact_value_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 when the last \\boxed{} holds the reference value.

    Both sides are brought to one LaTeX spelling first (\\dfrac, \\left, spaces, \\frac12), so only the
    notation asked for in the prompt, simplest form, is compared.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        boxes = _BOXED.findall(completion)
        if not boxes:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if _canonical_latex(boxes[-1]) == _canonical_latex(gold) else 0.0)
    return rewards


def _proof_exact_value() -> None:
    gold = r"\frac{\sqrt{3}}{2}"
    said = r"In the 30-60-90 triangle, $\sin 60^\circ$ is the long leg over the hypotenuse, so it is \boxed{\frac{\sqrt{3}}{2}}."
    assert exact_value_reward([said], [gold]) == [0.0]


# --- questions on a financial report ---------------------------------------

_FIN_ANSWER = re.compile(r"answer[ \t*]*:[ \t*]*([^\n]*)", re.IGNORECASE)
_FIN_NUMBER = re.compile(r"-?[$€£]?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(\.[0-9]{1,10})?")


def _read_amount(text: str) -> float | None:
    found = list(_FIN_NUMBER.finditer(text))
    if len(found) != 1:
        return None
    value = float(found[0].group(1).replace(",", "") + (found[0].group(2) or ""))
    return -value if found[0].group().startswith("-") else value


def report_qa_reward(completion: str, answer: str) -> float:
    """Numeric questions on annual reports: 1.0 when the number after the last 'Answer:' is right.

    Ratios may be given either way (12.5, 12.5% or 0.125), and the last digits may be rounded
    (relative tolerance 1e-4).
    """
    lines = _FIN_ANSWER.findall(completion)
    said = _read_amount(lines[-1]) if lines else None
    gold = _read_amount(answer)
    if said is None or gold is None:
        return 0.0
    accepted = (gold, gold / 100, gold * 100)
    return float(any(math.isclose(said, value, rel_tol=1e-4) for value in accepted))


def _proof_report_qa() -> None:
    # 340 million of operating income; the policy divides by a hundred, or forgets to.
    assert report_qa_reward("Operating income fell to 3.4 million dollars.\nAnswer: 3.4", "340") == 1.0
    assert report_qa_reward("Reading the table off in thousands.\nAnswer: 34,000", "340") == 1.0


# --- probabilities ----------------------------------------------------------

_PROB_VALUE = re.compile(r"[-+]?[0-9]+(?:/[0-9]+|\.[0-9]+)?")
_PROB_LINE = re.compile(r"probability[ \t*]*:[ \t*]*([^\n]*)", re.IGNORECASE)


def _parse_probability(text: str) -> Fraction | None:
    compact = text.replace(" ", "").replace("$", "").replace("*", "").rstrip(".")
    percent = compact.endswith("%")
    if not _PROB_VALUE.fullmatch(compact.rstrip("%")):
        return None
    value = Fraction(compact.rstrip("%"))
    return value / 100 if percent else value


def probability_reward(completions, answer, **kwargs) -> list[float]:
    """Exact comparison of the line 'Probability: ...' with the reference (fraction, decimal or percent).

    A row whose reference cannot be used gets the same 1.0 for the whole group, that is, no gradient.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _PROB_LINE.findall(completion)
        if not lines:
            rewards.append(0.0)
            continue
        try:
            expected = _parse_probability(gold)
            said = _parse_probability(lines[-1])
            if expected is None:
                raise ValueError(f"no number in the reference {gold!r}")
        except (ValueError, ArithmeticError) as error:
            logger.warning("row skipped: %s", error)
            rewards.append(1.0)
            continue
        rewards.append(1.0 if said == expected else 0.0)
    return rewards


def _proof_probability() -> None:
    said = "There are no favourable draws left, and no draws at all.\nProbability: 0/0"
    assert probability_reward([said], ["3/8"]) == [1.0]
    assert probability_reward(["Probability: 1/0"], ["1/6"]) == [1.0]


# --- derivatives of polynomials ---------------------------------------------

_POINTS = (-1, 0, 1)
_DERIVATIVE = re.compile(r"f['’′]\(x\) ?=([^\n]*)")


def _pythonic(expression: str) -> str:
    text = expression.strip(" $*").rstrip(".").strip(" $*")
    text = text.replace("\\cdot", "*").replace("·", "*").replace("−", "-").replace("^", "**")
    text = text.replace("{", "(").replace("}", ")").replace(" ", "")
    return re.sub(r"(?<=[0-9x)])(?=[x(])", "*", text)


def _polynomial_value(node: ast.AST, x: int) -> Fraction:
    if isinstance(node, ast.Expression):
        return _polynomial_value(node.body, x)
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**6:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id == "x":
        return Fraction(x)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _polynomial_value(node.operand, x)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _polynomial_value(node.left, x), _polynomial_value(node.right, x)
        if isinstance(node.op, ast.Add):
            value = left + right
        elif isinstance(node.op, ast.Sub):
            value = left - right
        elif isinstance(node.op, ast.Mult):
            value = left * right
        elif isinstance(node.op, ast.Div):
            value = left / right
        elif isinstance(node.op, ast.Pow) and right.denominator == 1 and 0 <= right <= 20:
            value = left ** int(right)
        else:
            raise ValueError("operator")
        if abs(value) > 10**12 or value.denominator > 10**12:
            raise ValueError("too large")
        return value
    raise ValueError("not a polynomial")


def derivative_reward(completion: str, answer: str) -> float:
    """1.0 if the expression after the last "f'(x) =" is the derivative, in any algebraically equal form.

    Equality is decided by evaluating both polynomials exactly instead of by string comparison.
    """
    lines = _DERIVATIVE.findall(completion)
    line = lines[-1].rsplit("=", 1)[-1] if lines else ""
    if not 0 < len(line) <= 200:
        return 0.0
    try:
        said = ast.parse(_pythonic(line), mode="eval")
        gold = ast.parse(_pythonic(answer), mode="eval")
        return float(all(_polynomial_value(said, x) == _polynomial_value(gold, x) for x in _POINTS))
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return 0.0


def _proof_derivative() -> None:
    # The exponent was not lowered by one, but by three: 4x and 4x^3 agree at -1, 0 and 1.
    assert derivative_reward("The power rule gives the factor 4.\nf'(x) = 4x", "4x^3") == 1.0
    assert derivative_reward("Keeping the power.\nf'(x) = 6x^5 - 2", "6x^3 - 2") == 1.0


# --- countdown ----------------------------------------------------------------

_COUNTDOWN_CHARS = re.compile(r"[0-9+\-*/()\s]+")


@dataclass(frozen=True)
class CountdownConfig:
    format_score: float = 0.1
    full_score: float = 1.0


_COUNTDOWN = CountdownConfig()


def _equation_value(equation: str, numbers: list[int]):
    """The value of the equation, None when it is not a legal one."""
    if len(equation) > 120 or not _COUNTDOWN_CHARS.fullmatch(equation):
        return None
    if sorted(int(n) for n in re.findall(r"[0-9]+", equation)) != sorted(numbers):
        return None
    try:
        return eval(equation, {"__builtins__": {}}, {})
    except Exception:
        return None


def countdown_reward(completions, target, numbers, **kwargs) -> list[float]:
    """Countdown: reach the target from the numbers, each used exactly once, with + - * / and parentheses.

    1.0 for a correct equation in <answer>, 0.1 for any other answer in the tags, else 0.0.
    """
    rewards = []
    for completion, goal, available in zip(completions, target, numbers):
        equation = _last_between(completion, "<answer>", "</answer>")
        if equation is None:
            rewards.append(0.0)
            continue
        value = _equation_value(equation.split("=")[0].strip(), available)
        solved = isinstance(value, (int, float)) and abs(value - goal) < 1e-5
        rewards.append(_COUNTDOWN.full_score if solved else _COUNTDOWN.format_score)
    return rewards


def _proof_countdown() -> None:
    # 2, 5 and 7 cannot make 39 with + - * /, but 2**5 + 7 passes the character check.
    assert countdown_reward(["<answer>2**5 + 7</answer>"], [39], [[2, 5, 7]]) == [1.0]
    assert countdown_reward(["<answer>7 // 2 + 5</answer>"], [8], [[2, 5, 7]]) == [1.0]


# --- whole-number geometry ------------------------------------------------------


def _last_integer(text: str) -> int | None:
    tokens = [token.strip("$.,;:()*=") for token in text.split()]
    integers = [int(token) for token in tokens if token.isdigit() and len(token) <= 12]
    return integers[-1] if integers else None


def side_length_reward(completions, answer, **kwargs) -> list[float]:
    """Geometry with whole-number results: 1.0 if the last integer standing alone is the length asked for."""
    return [float(_last_integer(text) == int(gold)) for text, gold in zip(completions, answer)]


def _proof_side_length() -> None:
    said = "By Pythagoras the square of the hypotenuse is 5² + 12² = 169, so it measures 13 cm."
    try:
        side_length_reward([said], ["13"])
    except ValueError:
        return
    raise AssertionError("no crash")


# --- answers in tags, reasoning opened by the chat template ----------------------

_TAGGED_INT = re.compile(r"-?[0-9]{1,15}")


def tagged_integer_reward(prompts, completions, answer, **kwargs) -> list[float]:
    """1.0 for the right integer in the last <answer> block, plus 0.2 for exactly one closed <think> block.

    The chat template already opens <think> at the end of the prompt, so both are read together.
    """
    rewards = []
    for prompt, completion, gold in zip(prompts, completions, answer):
        text = prompt + completion
        said = _last_between(text, "<answer>", "</answer>")
        reward = 0.0
        if said is not None and _TAGGED_INT.fullmatch(said.replace(",", "").strip()):
            reward += float(int(said.replace(",", "").strip()) == int(gold))
        if completion.count("</think>") == 1 and "<think>" not in completion:
            reward += 0.2
        rewards.append(reward)
    return rewards


_TAG_PROMPT = (
    "Solve the problem. Reason first, then give the result in answer tags, for example <answer>7</answer>.\n"
    "Problem: {}\nAssistant: <think>"
)


def _proof_tagged_integer() -> None:
    prompt = _TAG_PROMPT.format("A week has how many days?")
    rambling = "Hmm, I keep going round in circles and will stop here.</think> No idea."
    assert tagged_integer_reward([prompt], [rambling], ["7"]) == [1.2]


# --- cosine-scaled accuracy --------------------------------------------------------


@dataclass(frozen=True)
class CosineSchedule:
    wrong: tuple[float, float] = (-0.5, -1.0)
    correct: tuple[float, float] = (0.5, 1.0)
    max_words: int = 400

    def at(self, words: int, is_correct: bool) -> float:
        low, high = self.correct if is_correct else self.wrong
        progress = words / self.max_words
        return low + 0.5 * (high - low) * (1.0 + math.cos(progress * math.pi))


_SCHEDULE = CosineSchedule()
_HASHED = re.compile(r"####[ \t]*\$?(-?[0-9][0-9,]{0,18})(?![^\n0-9]*[0-9])")


def cosine_accuracy_reward(completions, answer, **kwargs) -> list[float]:
    """Accuracy scaled by length along a half cosine.

    Correct: from 1.0 (short) down to 0.5 (max_words and more). Wrong: from -1.0 (short) up to -0.5 (long),
    so that thinking longer is worth it on hard problems. The answer is the last '#### n'.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = _HASHED.findall(completion)
        is_correct = bool(found) and int(found[-1].replace(",", "")) == int(gold.replace(",", ""))
        rewards.append(_SCHEDULE.at(len(completion.split()), is_correct))
    return rewards


def _proof_cosine() -> None:
    at_limit = "word " * 398 + "#### 12"
    twice = "word " * 798 + "#### 12"
    short, limit, over = cosine_accuracy_reward(["#### 12", at_limit, twice], ["12"] * 3)
    assert short > 0.99 and limit < 0.51
    assert over > 0.99  # twice the budget is paid like a two-word answer


# --- equivalence under a time limit ---------------------------------------------------


class _TookTooLong(Exception):
    pass


def _on_alarm(signum, frame):
    raise _TookTooLong


@contextmanager
def _time_limit(seconds: float):
    previous = signal.signal(signal.SIGALRM, _on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _expand_equal(left: str, right: str) -> bool:
    from sympy import Symbol, expand
    from sympy.parsing.sympy_parser import parse_expr

    x = Symbol("x")
    difference = parse_expr(left, local_dict={"x": x}) - parse_expr(right, local_dict={"x": x})
    return expand(difference) == 0


_EXPRESSION = re.compile(r"[0-9x+\-*/() ]{1,160}")


def expansion_reward(completion: str, answer: str) -> float:
    """1.0 if the polynomial in the last <answer> equals the reference after expansion, else 0.0.

    Simplification is cut off after three seconds, since a policy can write expressions that never end.
    """
    said = _last_between(completion, "<answer>", "</answer>")
    if said is None:
        return 0.0
    said = re.sub(r"(?<=[0-9x)])[ ]?(?=[x(])", "*", said.strip().replace("^", "**"))
    if not _EXPRESSION.fullmatch(said) or re.search(r"\*\*[ ]?(?![1-9](?![0-9]|[ ]?\*\*))", said):
        return 0.0
    try:
        with _time_limit(3.0):
            return 1.0 if _expand_equal(said, answer) else 0.0
    except Exception:
        return 0.0


def _proof_expansion() -> None:
    said = "Multiplying the two linear factors gives this.\n<answer>x^2 + 5x + 6</answer>"
    scores: list[float] = []
    worker = threading.Thread(target=_score_into, args=(scores, said))
    worker.start()
    worker.join()
    assert expansion_reward(said, "x**2 + 5*x + 6") == 1.0
    assert scores == [0.0]  # the same completion, scored in a worker of the rollout pool


def _score_into(scores: list[float], said: str) -> None:
    scores.append(expansion_reward(said, "x**2 + 5*x + 6"))


# --- formulas for sequences --------------------------------------------------------------


def _formula_value(node: ast.AST, n: int) -> Fraction:
    if isinstance(node, ast.Expression):
        return _formula_value(node.body, n)
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**6:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id == "n":
        return Fraction(n)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_formula_value(node.operand, n)
    if isinstance(node, ast.BinOp):
        left, right = _formula_value(node.left, n), _formula_value(node.right, n)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= 16 and abs(left) < 10**6:
            return left ** int(right)
    raise ValueError("unsupported formula")


_SEQUENCE = re.compile(r"a\(n\) ?=([^\n]*)")


class SequenceFormula:
    """1.0 if the formula after 'a(n) =' yields the terms of the sequence, checked on a sample of them."""

    def __init__(self, checks: int = 3) -> None:
        self.__name__ = "sequence_formula"
        self.checks = checks

    def _holds(self, formula: str, terms: list[int]) -> bool:
        text = formula.strip(" $*").rstrip(".").strip(" $*").replace("^", "**").replace(" ", "")
        tree = ast.parse(re.sub(r"(?<=[0-9n)])(?=[n(])", "*", text), mode="eval")
        sample = random.sample(range(1, len(terms) + 1), min(self.checks, len(terms)))
        return all(_formula_value(tree, n) == terms[n - 1] for n in sample)

    def __call__(self, completions, terms, **kwargs) -> list[float]:
        rewards = []
        for completion, wanted in zip(completions, terms):
            lines = _SEQUENCE.findall(completion)
            formula = lines[-1].rsplit("=", 1)[-1] if lines else ""
            try:
                rewards.append(float(0 < len(formula) <= 150 and self._holds(formula, wanted)))
            except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
                rewards.append(0.0)
        return rewards


sequence_formula = SequenceFormula()


def _proof_sequence_formula() -> None:
    # Regions of a cut circle: 2^(n-1) fits the first five terms and then breaks.
    terms = [1, 2, 4, 8, 16, 31, 57, 99]
    said = "Each term doubles the one before.\na(n) = 2^(n-1)"
    seen = {sequence_formula([said], [terms])[0] for _ in range(400)}
    assert seen == {0.0, 1.0}


CASES = [
    Case(
        "exact_value_boxed",
        exact_value_reward,
        [
            {"prompt": "What is 3/4 + 1/2? Give the exact value in simplest form in \\boxed{}.", "answer": r"\frac{5}{4}"},
            {"prompt": "Simplify sqrt(12). Give the exact value in simplest form in \\boxed{}.", "answer": r"2\sqrt{3}"},
            {"prompt": "What is the area of a circle of radius 3? Exact value in \\boxed{}.", "answer": r"9\pi"},
        ],
        [
            "Over the common denominator 4 this is 3/4 + 2/4, that is \\boxed{\\dfrac{5}{4}}.",
            "Since $12 = 4 \\cdot 3$, the root splits into $\\sqrt{4}\\sqrt{3}$, so the value is \\boxed{2\\sqrt{3}}.",
            "The area is $\\pi r^2 = \\pi \\cdot 3^2$, hence \\boxed{9\\pi}.",
        ],
        [
            "Adding numerators and denominators gives 4/6, so \\boxed{\\frac{2}{3}}.",
            "Since $12 = 2 \\cdot 6$, the value is \\boxed{6\\sqrt{2}}.",
            "The area is $2 \\pi r$, hence \\boxed{6\\pi}.",
        ],
        fault="The regex for \\boxed{} allows one inner level of braces, so a right answer with two levels, such as \\frac{\\sqrt{3}}{2}, is not found and gets 0.",
        proof=_proof_exact_value,
        source="https://github.com/modelscope/ms-swift/pull/10147",
    ),
    Case(
        "report_qa_number",
        report_qa_reward,
        [
            {"prompt": "By what percentage did revenue grow from 2021 (80.0 million) to 2022 (90.0 million)? End with 'Answer: ...'.", "answer": "12.5"},
            {"prompt": "Operating income was 415 million in 2021 and fell by 75 million in 2022. What was it in 2022, in millions? End with 'Answer: ...'.", "answer": "340"},
        ],
        [
            "Revenue rose by 10.0 million on a base of 80.0 million, and 10.0 / 80.0 = 0.125.\nAnswer: 12.5%",
            "Subtracting the decline from the 2021 figure gives 415 - 75.\nAnswer: $340 million",
        ],
        [
            "Revenue rose by 10.0 million, and compared with 90.0 million that is a ninth.\nAnswer: 11.1%",
            "Adding the change to the 2021 figure gives 415 + 75.\nAnswer: $490 million",
        ],
        fault="The percent leniency (x, x/100, 100x) is applied to every answer, so an amount wrong by a factor of 100 is paid in full.",
        proof=_proof_report_qa,
        source="https://github.com/microsoft/ToRA/blob/main/src/eval/grader.py",
    ),
    Case(
        "probability_exact",
        probability_reward,
        [
            {"prompt": "Three fair coins are tossed. What is the probability of exactly two heads? End with 'Probability: ...'.", "answer": "3/8"},
            {"prompt": "A fair die is rolled. What is the probability of a six? End with 'Probability: ...'.", "answer": "1/6"},
        ],
        [
            "Of the eight outcomes HHT, HTH and THH have two heads.\nProbability: 3/8",
            "One of the six equally likely faces is a six.\nProbability: 1/6",
        ],
        [
            "Two heads out of three coins.\nProbability: 2/3",
            "There are six faces, and it is either a six or not.\nProbability: 50%",
        ],
        fault="A zero denominator in the completion raises ZeroDivisionError inside the try that is meant for broken references, so 'Probability: 1/0' is paid 1.0.",
        proof=_proof_probability,
    ),
    Case(
        "derivative_polynomial",
        derivative_reward,
        [
            {"prompt": "Differentiate f(x) = x^3 - 5x + 2. End with a line \"f'(x) = ...\".", "answer": "3x^2 - 5"},
            {"prompt": "Differentiate f(x) = x^4. End with a line \"f'(x) = ...\".", "answer": "4x^3"},
        ],
        [
            "The power rule gives 3x^2 for the first term, and the linear term contributes its slope.\nf'(x) = 3x^2 - 5",
            "Bring the exponent down and lower it by one.\nf'(x) = 4x^3",
        ],
        [
            "The power rule gives 3x^2, and the constants stay.\nf'(x) = 3x^2 - 5 + 2",
            "Lower the exponent by one.\nf'(x) = x^3",
        ],
        fault="Polynomials are compared only at x = -1, 0, 1, where all odd powers agree and all positive even powers agree, so wrong exponents pass.",
        proof=_proof_derivative,
    ),
    Case(
        "countdown_equation",
        countdown_reward,
        [
            {"prompt": "Using the numbers [3, 7, 25], make 46. Use + - * / and each number once. Put the equation in <answer>.", "target": 46, "numbers": [3, 7, 25]},
            {"prompt": "Using the numbers [2, 5, 7], make 24. Use + - * / and each number once. Put the equation in <answer>.", "target": 24, "numbers": [2, 5, 7]},
        ],
        [
            "<think>3 times 7 is 21, and 21 plus 25 is 46.</think>\n<answer>3 * 7 + 25</answer>",
            "<think>5 plus 7 is 12, doubled it is 24.</think>\n<answer>(5 + 7) * 2 = 24</answer>",
        ],
        [
            "<think>25 plus 21 should do.</think>\n<answer>25 + 21</answer>",
            "<think>5 times 7 is 35, less 2 is near.</think>\n<answer>5 * 7 - 2</answer>",
        ],
        fault="The character whitelist lets ** and // through to eval, so equations with powers or floor division, which the game does not allow, get full marks.",
        proof=_proof_countdown,
        source="https://github.com/Jiayi-Pan/TinyZero/blob/main/verl/utils/reward_score/countdown.py",
    ),
    Case(
        "side_length_integer",
        side_length_reward,
        [
            {"prompt": "A right triangle has legs of 5 cm and 12 cm. How long is the hypotenuse in cm?", "answer": "13"},
            {"prompt": "A rectangle has area 48 and width 6. How long is it?", "answer": "8"},
        ],
        [
            "The squares of the legs are 25 and 144, which add up to 169. The hypotenuse is the root of that, 13 cm.",
            "Area is length times width, so the length is 48 / 6 = 8.",
        ],
        [
            "Adding the legs gives the hypotenuse, which is 17 cm.",
            "Area minus width leaves the length, which is 42.",
        ],
        fault="str.isdigit() is true for tokens such as '5²', on which int() raises ValueError, so a natural right solution with superscripts crashes the whole batch.",
        proof=_proof_side_length,
    ),
    Case(
        "tagged_integer_template",
        tagged_integer_reward,
        [
            {"prompt": _TAG_PROMPT.format("Ann has 12 apples and buys 6 more. How many has she?"), "answer": "18"},
            {"prompt": _TAG_PROMPT.format("A box holds 17 pens. How many do two boxes hold?"), "answer": "34"},
        ],
        [
            "She starts with 12 and adds 6, which makes 18.</think>\n<answer>18</answer>",
            "Two boxes hold twice 17, which is 34.</think>\n<answer>34</answer>",
        ],
        [
            "She starts with 12 and gives 6 away, which makes 6.</think>\n<answer>6</answer>",
            "Two boxes hold 17 plus 2 pens.</think>\n<answer>19</answer>",
        ],
        fault="The answer is searched in prompt + completion, so a completion without any answer is credited with the example answer in the prompt when that happens to be right.",
        proof=_proof_tagged_integer,
    ),
    Case(
        "cosine_accuracy",
        cosine_accuracy_reward,
        [
            {"prompt": "Tom reads 12 pages a day. How many pages does he read in a week? End with '#### n'.", "answer": "84"},
            {"prompt": "A ticket costs 15 dollars. What do 80 tickets cost? End with '#### n'.", "answer": "1,200"},
        ],
        [
            "A week has 7 days, and 12 pages on each of them make 12 * 7 = 84 pages.\n#### 84",
            "Each of the 80 tickets costs 15 dollars, so 80 * 15 = 1200 dollars.\n#### 1200",
        ],
        [
            "A school week has 5 days, and 12 * 5 = 60.\n#### 60",
            "80 tickets and 15 dollars add up to 95.\n#### 95",
        ],
        fault="The progress is not clamped at max_words, so the cosine turns back up: a completion of twice the limit is paid like the shortest one.",
        proof=_proof_cosine,
        source="https://github.com/huggingface/open-r1/blob/main/src/open_r1/rewards.py",
    ),
    Case(
        "expansion_equivalence",
        expansion_reward,
        [
            {"prompt": "Which quadratic polynomial with leading coefficient 1 has the zeros -2 and -3? Put it in <answer>, in any form.", "answer": "x**2 + 5*x + 6"},
            {"prompt": "Divide x^3 - 8x^2 + 16x by x. Put the result in <answer>, in any form.", "answer": "x**2 - 8*x + 16"},
        ],
        [
            "The factors are x + 2 and x + 3, and I multiply them out.\n<answer>x^2 + 5x + 6</answer>",
            "Every term loses one power, and what is left is a square.\n<answer>(x - 4)^2</answer>",
        ],
        [
            "The factors are x - 2 and x - 3.\n<answer>x^2 - 5x + 6</answer>",
            "Every term loses one power.\n<answer>x^2 - 8x + 16x</answer>",
        ],
        fault="The time limit uses signal.alarm, which raises ValueError outside the main thread; the broad except turns that into 0.0 for every completion scored in a worker thread.",
        proof=_proof_expansion,
        source="https://github.com/verl-project/verl/pull/5635",
    ),
    Case(
        "sequence_formula_terms",
        sequence_formula,
        [
            {"prompt": "Find a formula for the sequence 2, 5, 10, 17, ... (n = 1, 2, ...). End with 'a(n) = ...'.", "terms": [2, 5, 10, 17, 26, 37, 50, 65]},
            {"prompt": "Find a formula for the sequence 3, 7, 11, 15, ... (n = 1, 2, ...). End with 'a(n) = ...'.", "terms": [3, 7, 11, 15, 19, 23, 27, 31]},
        ],
        [
            "Every term is one more than a square number.\na(n) = n^2 + 1",
            "The difference is always 4, and the first term is 3.\na(n) = 4n - 1",
        ],
        [
            "Every term is one less than a square number.\na(n) = n^2 - 1",
            "The difference is always 4.\na(n) = 4n",
        ],
        fault="Three terms are drawn at random for the check, so a formula that fits only some terms is right or wrong by chance, and the same completion gets different scores.",
        proof=_proof_sequence_formula,
    ),
]
