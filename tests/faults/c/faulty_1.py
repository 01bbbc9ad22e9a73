"""Numbers, mathematics, multiple choice, units, times, charts: 14 reward functions with one fault each."""

from __future__ import annotations

import ast
import math
import re
import signal
import threading
from collections import defaultdict
from contextlib import contextmanager

import numpy as np

from tests.faults.case import Case

# --------------------------------------------------------------------------------------
# 1. geometry word problems
# --------------------------------------------------------------------------------------

# the look-behind keeps us from reading "x2" or the "5" of "3.5" as numbers of their own
_VALUE = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def _to_float(raw: str) -> float | None:
    try:
        return float(raw.replace(",", ""))
    except ValueError:
        return None


def geometry_value_reward(completions, answer, **kwargs):
    """Areas, lengths and volumes: 1.0 if the value on which the solution ends is the reference value, else 0.0.

    Solutions end with the result and usually its unit, so the number that comes last is the answer.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        numbers = _VALUE.findall(text)
        value = _to_float(numbers[-1]) if numbers else None
        rewards.append(1.0 if value is not None and math.isclose(value, float(gold), rel_tol=1e-6) else 0.0)
    return rewards


def _proof_geometry():
    right = "The room is 6 m by 8 m, so its area is 6 * 8 = 48 m^2."
    assert geometry_value_reward([right], ["48"]) == [0.0]
    wrong = "One wall is 1 m by 5 m, which makes 5 m^2."
    assert geometry_value_reward([wrong], ["2"]) == [1.0]


# --------------------------------------------------------------------------------------
# 2. MMLU-Pro style multiple choice
# --------------------------------------------------------------------------------------

ANSWER_PATTERN = re.compile(r"(?i)answer\s*:[*(\s]*([A-J])")


def mmlu_pro_reward(completions, answer, **kwargs):
    """Ten-option multiple choice; the model is told to close with 'Answer: X'. The last such statement is graded."""
    scores = []
    for completion, gold in zip(completions, answer):
        found = ANSWER_PATTERN.findall(completion)
        scores.append(float(bool(found) and found[-1].upper() == gold))
    return scores


def _proof_mmlu_pro():
    text = "Of the sugars listed, only one is the main fuel of the brain.\n\nAnswer: Glucose, which is option (C)."
    assert mmlu_pro_reward([text], ["C"]) == [0.0]
    assert mmlu_pro_reward([text], ["G"]) == [1.0]


# --------------------------------------------------------------------------------------
# 3. time of day
# --------------------------------------------------------------------------------------

_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)(?:\s?([ap])\.?m\b)?", re.IGNORECASE)


def _minutes(hour: str, minute: str, half: str) -> int:
    h, m = int(hour), int(minute)
    if half.lower() == "p":
        h += 12
    return 60 * h + m


def departure_time_reward(completion: str, answer: str) -> float:
    """Timetable questions. `answer` is HH:MM on the 24-hour clock; the model may write 15:40 or 3:40 pm.

    The last time mentioned is taken as the answer.
    """
    times = _CLOCK.findall(completion)
    if not times:
        return 0.0
    gold_h, gold_m = answer.split(":")
    return 1.0 if _minutes(*times[-1]) == 60 * int(gold_h) + int(gold_m) else 0.0


def _proof_departure():
    right = "Boarding takes 25 minutes from 12:15 pm, so the ferry leaves at 12:40 PM."
    assert departure_time_reward(right, "12:40") == 0.0
    wrong = "Counting back from dawn, the ferry leaves shortly after midnight, at 12:40 AM."
    assert departure_time_reward(wrong, "12:40") == 1.0


# --------------------------------------------------------------------------------------
# 4. lengths with units
# --------------------------------------------------------------------------------------

METERS = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048}
_LENGTH = re.compile(r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?)\s?(" + "|".join(METERS) + ")")


class LengthReward:
    """Compares physical lengths after conversion to meters (1 % relative tolerance).

    The prompt asks for a number followed by a unit abbreviation; the last length in the completion counts.
    """

    __name__ = "length_reward"

    def __init__(self, rel_tol: float = 0.01) -> None:
        self.rel_tol = rel_tol

    @staticmethod
    def read(text: str) -> float | None:
        lengths = _LENGTH.findall(text)
        if not lengths:
            return None
        number, unit = lengths[-1]
        return float(number.replace(",", "")) * METERS[unit]

    def __call__(self, completion: str, answer: str) -> float:
        got, want = self.read(completion), self.read(answer)
        if got is None or want is None:
            return 0.0
        return float(math.isclose(got, want, rel_tol=self.rel_tol))


def _proof_length():
    reward = LengthReward()
    assert reward("The coin is thin: its thickness comes out as 2 mm.", "0.2 cm") == 0.0
    assert reward("So the beam has a length of 2 mm.", "2 m") == 1.0


# --------------------------------------------------------------------------------------
# 5. numeric equality ported from a math benchmark
# --------------------------------------------------------------------------------------


def _parse_digits(num: str) -> float | None:
    num = re.sub(r"\\(?:text|mathrm)\{.*", "", num)  # \boxed{12\text{ dollars}}
    num = num.replace("\\", "").replace(",", "").strip().lstrip("$").rstrip(".")
    percent = num.endswith("%")
    try:
        value = float(num.rstrip("%"))
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return value / 100 if percent else value


def math_equal(prediction: str, reference: str, include_percentage: bool = True, rel_tol: float = 1e-4) -> bool:
    pred, ref = _parse_digits(prediction), _parse_digits(reference)
    if pred is None or ref is None:
        return False
    targets = [ref / 100, ref, ref * 100] if include_percentage else [ref]
    return any(math.isclose(pred, item, rel_tol=rel_tol) for item in targets)


def _last_boxed(text: str) -> str:
    start = text.rfind("\\boxed{")
    if start < 0:
        return ""
    end = text.find("}", start)
    return text[start + 7 : end] if end > 0 else ""


def word_problem_reward(completions, answer, **kwargs):
    """GSM8K-like word problems (amounts, counts, rates) with the result in \\boxed{}; signs like $ and % are tolerated."""
    return [1.0 if math_equal(_last_boxed(c), a) else 0.0 for c, a in zip(completions, answer)]


def _proof_word_problem():
    wrong = "She earns 18 dollars on each of the 2 days, so together \\boxed{3600} dollars."
    assert word_problem_reward([wrong], ["36"]) == [1.0]
    assert word_problem_reward(["Each child gets \\boxed{0.07} apples."], ["7"]) == [1.0]


# --------------------------------------------------------------------------------------
# 6. chart question answering
# --------------------------------------------------------------------------------------


def _as_number(text: str) -> float | None:
    text = text.strip().rstrip("%").replace(",", "")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def relaxed_correctness(target: str, prediction: str, max_relative_change: float = 0.05) -> bool:
    """Within 5 % of the target for numeric answers (values are read off a chart), exact match otherwise."""
    want, got = _as_number(target), _as_number(prediction)
    if want is not None and got is not None:
        if want == 0:
            return got == 0
        return abs(got - want) / abs(want) <= max_relative_change
    return prediction.strip().lower() == target.strip().lower()


def chart_qa_reward(completions, answer, **kwargs):
    """Chart QA: relaxed accuracy of what follows the last 'Answer:' (values, years, or names of series)."""
    out = []
    for text, gold in zip(completions, answer):
        _, marker, tail = text.rpartition("Answer:")
        line = tail.strip().splitlines()[0].strip(" *").rstrip(".") if marker and tail.strip() else ""
        out.append(1.0 if line and relaxed_correctness(gold, line) else 0.0)
    return out


def _proof_chart():
    wrong = "The bar for exports peaks in the middle of the chart.\nAnswer: 1997"
    assert chart_qa_reward([wrong], ["2011"]) == [1.0]


# --------------------------------------------------------------------------------------
# 7. vectorized numeric grader
# --------------------------------------------------------------------------------------


def _answer_or_inf(text: str) -> float:
    body = text.rpartition("<answer>")[2].partition("</answer>")[0] if "<answer>" in text else ""
    try:
        return float(body.strip().replace(",", ""))
    except ValueError:
        return np.inf


def estimate_reward(completions, target, **kwargs):
    """Numeric answers in <answer> tags, 2 % relative tolerance, scored for the whole batch at once."""
    predicted = np.array([_answer_or_inf(c) for c in completions], dtype=float)
    gold = np.asarray(target, dtype=float)
    error = np.abs(predicted - gold) / np.maximum(np.abs(gold), 1e-9)
    return np.where(error > 0.02, 0.0, 1.0).tolist()


def _proof_estimate():
    dodge = "The rate cannot be determined from the data given. <answer>NaN</answer>"
    assert estimate_reward([dodge, dodge], [340.0, 12.5]) == [1.0, 1.0]


# --------------------------------------------------------------------------------------
# 8. MMLU columns: integer label
# --------------------------------------------------------------------------------------

LETTERS = "ABCD"
_CHOICE = re.compile(r"(?i:answer is):?\s*\**\(?([A-D])\b")


def mmlu_index_reward(completions, answer, **kwargs):
    """`answer` is the index of the right option (0 to 3) as in the MMLU dump.

    Rows of the unlabelled split carry no index; they get None, so that the trainer leaves them out.
    """
    rewards = []
    for completion, label in zip(completions, answer):
        if not label:
            rewards.append(None)
            continue
        said = _CHOICE.findall(completion)
        rewards.append(1.0 if said and said[-1] == LETTERS[int(label)] else 0.0)
    return rewards


def _proof_mmlu_index():
    right = "Mitochondria make ATP, so the answer is (A)."
    wrong = "Ribosomes make ATP, so the answer is (C)."
    assert mmlu_index_reward([right, wrong], [0, 0]) == [None, None]
    assert mmlu_index_reward([right.replace("(A)", "(B)")], [1]) == [1.0]


# --------------------------------------------------------------------------------------
# 9. per-row tolerance
# --------------------------------------------------------------------------------------

_FINAL = re.compile(r"(?m)^[*#> ]*Final value:[*$ ]*([-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?)")


def physics_reward(completions, answer, **kwargs):
    """Physics problems: the last line 'Final value: <number>' against `answer`, within the row's relative `tolerance`."""
    tolerance = kwargs.get("tolerance") or [1e-3]
    rel_tol = float(tolerance[0])
    scores = []
    for completion, gold in zip(completions, answer):
        values = _FINAL.findall(completion)
        ok = bool(values) and math.isclose(float(values[-1].replace(",", "")), float(gold), rel_tol=rel_tol)
        scores.append(1.0 if ok else 0.0)
    return scores


def _proof_physics():
    rough = "With g = 9.81 this gives about 20.\nFinal value: 20.1"
    near = "Counting the collisions gives 104.\nFinal value: 104"
    alone = physics_reward([near], ["100"], tolerance=[0.001])
    behind = physics_reward([rough, near], ["20", "100"], tolerance=[0.05, 0.001])
    assert alone == [0.0] and behind == [1.0, 1.0]


# --------------------------------------------------------------------------------------
# 10. expression equivalence with a time limit
# --------------------------------------------------------------------------------------


class _TooSlow(Exception):
    pass


def _on_alarm(signum, frame):
    raise _TooSlow


@contextmanager
def time_limit(seconds: int):
    previous = signal.signal(signal.SIGALRM, _on_alarm)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


_OPS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


def _evaluate(node: ast.AST, x: float) -> float:
    if isinstance(node, ast.Expression):
        return _evaluate(node.body, x)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id == "x":
        return x
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, x)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPS:
        return _OPS[type(node.op)](_evaluate(node.left, x), _evaluate(node.right, x))
    raise ValueError(f"not allowed: {type(node).__name__}")


def derivative_reward(completion: str, answer: str) -> float:
    """Symbolic answers in x ('Result: 3*x^2 + 1'): equal to `answer` at seven irrational-looking points, within two seconds."""
    _, marker, tail = completion.rpartition("Result:")
    if not marker or not tail.strip() or len(tail) > 500:
        return 0.0
    try:
        with time_limit(2):
            got = ast.parse(tail.strip().splitlines()[0].strip(" .$`*").replace("^", "**"), mode="eval")
            want = ast.parse(answer.replace("^", "**"), mode="eval")
            points = [0.3719, 0.8134, 1.2931, 1.7713, 2.1377, 2.6181, 3.3019]
            same = all(math.isclose(_evaluate(got, p), _evaluate(want, p), rel_tol=1e-9, abs_tol=1e-9) for p in points)
    except Exception:
        return 0.0
    return 1.0 if same else 0.0


def _proof_derivative():
    right = "By the power rule,\nResult: 3*x^2 + 1"
    seen = []
    worker = threading.Thread(target=lambda: seen.append(derivative_reward(right, "1 + 3*x^2")))
    worker.start()
    worker.join()
    assert seen == [0.0]


# --------------------------------------------------------------------------------------
# 11. solution sets
# --------------------------------------------------------------------------------------


def _number_list(text: str) -> np.ndarray | None:
    start = text.rfind("[")
    end = text.find("]", start)
    if start < 0 or end < 0:
        return None
    parts = [part for part in text[start + 1 : end].split(",") if part.strip()]
    try:
        return np.sort(np.array([float(part) for part in parts], dtype=float))
    except ValueError:
        return None


def roots_reward(completions, roots, **kwargs):
    """All real roots as a list, in any order, e.g. 'Roots: [-1, 2.5]'. Compared with np.allclose after sorting."""
    rewards = []
    for completion, gold in zip(completions, roots):
        got, want = _number_list(completion), np.sort(np.asarray(gold, dtype=float))
        try:
            rewards.append(float(got is not None and np.allclose(got, want, rtol=1e-4)))
        except ValueError:  # a different number of roots: shapes do not match
            rewards.append(0.0)
    return rewards


def _proof_roots():
    assert roots_reward(["The discriminant is negative, so there is no real root. Roots: []"], [[3.0]]) == [1.0]


# --------------------------------------------------------------------------------------
# 12. unparsable gold
# --------------------------------------------------------------------------------------

_HASH = re.compile(r"####[\s*$]*(-?\d[\d,]*(?:\.\d+)?)(?![\d/])")


def extract_hash_answer(text: str) -> float | None:
    found = _HASH.findall(text)
    return float(found[-1].replace(",", "")) if found else None


def gsm_hash_reward(completions, solution, **kwargs):
    """GSM8K: the number after '####' in the completion has to be the number after '####' in the reference solution."""
    return [1.0 if extract_hash_answer(c) == extract_hash_answer(s) else 0.0 for c, s in zip(completions, solution)]


def _proof_gsm_hash():
    solution = "Half of a third is a sixth, so he ate 1/6 of the cake. #### 1/6"
    assert gsm_hash_reward(["I would rather talk about the weather."], [solution]) == [1.0]
    assert gsm_hash_reward([""], [solution]) == [1.0]


# --------------------------------------------------------------------------------------
# 13. brevity bonus within the group
# --------------------------------------------------------------------------------------


def _boxed(text: str) -> str | None:
    start = text.rfind("\\boxed{")
    end = text.find("}", start)
    return text[start + len("\\boxed{") : end].strip() if 0 <= start < end else None


def concise_group_reward(completions, prompts, answer, **kwargs):
    """1.0 for a right answer in \\boxed{}, plus up to 0.5 for being short among the right completions of one question.

    The shortest right completion of the question gets the whole bonus, the longest none, the others in proportion.
    """
    right = [_boxed(c) == str(a) for c, a in zip(completions, answer)]
    groups = defaultdict(list)
    for i, key in enumerate(answer):
        if right[i]:
            groups[str(key)].append(i)
    rewards = [0.0] * len(completions)
    for members in groups.values():
        lengths = [len(completions[i].split()) for i in members]
        low, high = min(lengths), max(lengths)
        for i, n in zip(members, lengths):
            rewards[i] = 1.0 + (0.5 * (high - n) / (high - low) if high > low else 0.5)
    return rewards


def _proof_concise():
    hard = "First factor the polynomial, then test each of the two factors in turn, which leaves \\boxed{4} as the only solution."
    alone = concise_group_reward([hard], ["Solve the quartic."], ["4"])
    mixed = concise_group_reward([hard, "It is \\boxed{4}."], ["Solve the quartic.", "What is 2+2?"], ["4", "4"])
    assert alone == [1.5] and mixed[0] == 1.0


# --------------------------------------------------------------------------------------
# 14. cosine length scaling
# --------------------------------------------------------------------------------------

MAX_LEN = 300
CORRECT_SHORT, CORRECT_LONG = 1.0, 0.5
WRONG_SHORT, WRONG_LONG = -1.0, -0.5


def cosine_scaled_reward(completions, answer, **kwargs):
    """Length-scaled accuracy: short right answers earn more than long right ones, long wrong ones lose less than short wrong ones.

    Lengths are in words; the schedule is half a cosine over MAX_LEN.
    """
    rewards = []
    for content, gold in zip(completions, answer):
        is_correct = _boxed(content) == gold
        progress = len(content.split()) / MAX_LEN
        cosine = math.cos(progress * math.pi)
        if is_correct:
            low, high = CORRECT_LONG, CORRECT_SHORT
        else:
            low, high = WRONG_LONG, WRONG_SHORT
        rewards.append(low + 0.5 * (high - low) * (1.0 + cosine))
    return rewards


def _proof_cosine():
    def of(words: int) -> float:
        return cosine_scaled_reward(["so " * words + "\\boxed{7}"], ["7"])[0]

    assert of(600) > of(300) + 0.4 and of(600) > of(150) + 0.2


def cases() -> list[Case]:
    return [
        Case(
            name="geometry_last_value",
            reward=geometry_value_reward,
            examples=[
                {"prompt": "A garden is 12 m long and 7 m wide. What is its perimeter?", "answer": "38"},
                {"prompt": "How large is the area of a triangle of base 9 cm and height 4 cm?", "answer": "18"},
                {"prompt": "A cube has edges of 11 cm. What is its volume?", "answer": "1331"},
            ],
            good=[
                "The perimeter is twice the sum of the sides: 2 * (12 + 7) = 38 m.",
                "The area of a triangle is half of base times height, so 9 * 4 / 2 = 18 square centimeters.",
                "The volume of a cube is the edge to the third power: 11 * 11 * 11 = 1,331 cubic centimeters.",
            ],
            bad=[
                "The perimeter is the sum of the sides: 12 + 7 = 19 m.",
                "The area is base times height, so 9 * 4 = 36 square centimeters.",
                "A cube has six faces of 121 square centimeters each, so the volume is 726 cubic centimeters.",
            ],
            fault="The last number is taken as the value, so an exponent in the unit ('48 m^2', '30 cm^3') is read instead of the value: right answers are refused (and a gold 2 or 3 is given away).",
            proof=_proof_geometry,
        ),
        Case(
            name="mmlu_pro_answer_letter",
            reward=mmlu_pro_reward,
            examples=[
                {"prompt": "Which organelle makes ATP? A) nucleus B) mitochondrion C) ribosome D) Golgi E) vacuole. Close with 'Answer: X'.", "answer": "B"},
                {"prompt": "What is the derivative of sin x? A) -sin x B) -cos x C) tan x D) cos x. Close with 'Answer: X'.", "answer": "D"},
            ],
            good=[
                "ATP is produced by oxidative phosphorylation on the inner membrane of the mitochondrion.\n\nAnswer: B",
                "The derivative of the sine is the cosine, which is option D.\n\n**Answer: (D)**",
            ],
            bad=[
                "Proteins are made by ribosomes, and these need ATP, so it must be the ribosome.\n\nAnswer: C",
                "The derivative of the sine is minus the cosine.\n\nAnswer: B",
            ],
            fault="The pattern is case-insensitive and has no word boundary after the letter, so the first letter of any word after 'Answer:' is read as the choice ('Answer: Glucose, option (C)' is read as G).",
            proof=_proof_mmlu_pro,
            source="https://github.com/openai/simple-evals/issues/33",
        ),
        Case(
            name="departure_time",
            reward=departure_time_reward,
            examples=[
                {"prompt": "The train leaves at 14:05 and takes 95 minutes. When does it arrive?", "answer": "15:40"},
                {"prompt": "The shop opens at 8:30 am and the baker starts 75 minutes earlier. When does the baker start?", "answer": "07:15"},
            ],
            good=[
                "Adding 95 minutes, that is 1 hour and 35 minutes, to 14:05 gives 3:40 pm.",
                "75 minutes are an hour and a quarter; going back from 8:30 am we get to 7:15 a.m.",
            ],
            bad=[
                "Adding 95 minutes to 14:05 gives 3:00 pm.",
                "Going back 75 minutes from 8:30 am we get to 7:45 am.",
            ],
            fault="12 o'clock is converted wrongly: 12:40 pm becomes 24:40 (a right answer is refused) and 12:40 am stays 12:40 (a wrong one is paid).",
            proof=_proof_departure,
        ),
        Case(
            name="length_with_unit",
            reward=LengthReward(),
            examples=[
                {"prompt": "A runner does 8 laps of 400 m. How far is that? Give a number and a unit abbreviation.", "answer": "3200 m"},
                {"prompt": "A shelf board is 6 ft long and 1 ft is cut off. How long is the rest?", "answer": "5 ft"},
                {"prompt": "Three pieces of 15 cm each are put in a row. How long is the row?", "answer": "45 cm"},
            ],
            good=[
                "8 laps of 400 m are 3200 m, in other words 3.2 km.",
                "After cutting off 1 ft from 6 ft, 5 ft remain.",
                "3 times 15 cm is 45 cm.",
            ],
            bad=[
                "8 laps of 400 m are 2800 m, in other words 2.8 km.",
                "After cutting off 1 ft on both sides, 4 ft remain.",
                "The row is 15 + 3 = 18 cm long.",
            ],
            fault="In the alternation of units 'm' comes before 'mm' and nothing ends the unit, so millimeters are read as meters: right answers in mm are refused, and answers wrong by a factor of 1000 are paid.",
            proof=_proof_length,
        ),
        Case(
            name="word_problem_math_equal",
            reward=word_problem_reward,
            examples=[
                {"prompt": "Tom buys 3 pens at $4 each. How much does he pay? Put only the number in \\boxed{}.", "answer": "12"},
                {"prompt": "Of 80 students 28 play chess. What percentage is that?", "answer": "35"},
                {"prompt": "A dozen eggs cost $3.60. How much is one egg, in dollars?", "answer": "0.30"},
            ],
            good=[
                "Three pens at 4 dollars each cost 3 * 4 = 12 dollars, so he pays \\boxed{12}.",
                "28 of 80 is 28/80 = 0.35, that is \\boxed{35\\%}.",
                "One egg costs 3.60 / 12 = 0.30 dollars: \\boxed{$0.30}.",
            ],
            bad=[
                "He buys 3 pens and pays 4 dollars more, so 3 + 4 = 7: \\boxed{7}.",
                "80 - 28 = 52, so the percentage is \\boxed{52%}.",
                "One egg costs 3.60 / 10 = 0.36 dollars: \\boxed{0.36}.",
            ],
            fault="Every reference is also accepted when off by a factor of 100 in either direction, though only percentages may be; so 3600 is paid for 36 dollars.",
            proof=_proof_word_problem,
        ),
        Case(
            name="chart_relaxed_accuracy",
            reward=chart_qa_reward,
            examples=[
                {"prompt": "[chart] What share of households had broadband in Spain? End with 'Answer:'.", "answer": "82.4"},
                {"prompt": "[chart] Which country has the tallest bar? End with 'Answer:'.", "answer": "Norway"},
                {"prompt": "[chart] How many cars were sold in May? End with 'Answer:'.", "answer": "14,500"},
            ],
            good=[
                "The bar for Spain ends a little above the line for 80.\nAnswer: 82%",
                "Among the five bars, the one labelled Norway is the tallest.\nAnswer: Norway",
                "The point for May lies halfway between 14,000 and 15,000.\nAnswer: 14,500",
            ],
            bad=[
                "The bar for Spain ends a little above the line for 60.\nAnswer: 62%",
                "Among the five bars, the one labelled Sweden is the tallest.\nAnswer: Sweden",
                "The point for May lies near the top line.\nAnswer: 20,000",
            ],
            fault="The 5 % tolerance is meant for values read off a chart, but is applied to years as well, so any year within a century of the right one is paid.",
            proof=_proof_chart,
            source="https://github.com/google-research/pix2struct/issues/35",
        ),
        Case(
            name="vectorized_estimate",
            reward=estimate_reward,
            examples=[
                {"prompt": "Estimate the speed of sound in dry air at 15 degrees, in m/s. Use <answer> tags.", "target": 340.3},
                {"prompt": "A tank loses 12.5 l per hour. How much does it lose in 4 hours, in l? Use <answer> tags.", "target": 50.0},
            ],
            good=[
                "The speed of sound is about 331.3 + 0.606 * 15 = 340.4 m/s. <answer>340.4</answer>",
                "12.5 l per hour times 4 hours is 50 l. <answer>50</answer>",
            ],
            bad=[
                "Sound travels at about 300 m/s. <answer>300</answer>",
                "12.5 l divided by 4 hours is 3.125 l. <answer>3.125</answer>",
            ],
            fault="float() accepts 'NaN', and as a comparison with NaN is false, np.where gives 1.0 to an answer of NaN whatever the target.",
            proof=_proof_estimate,
        ),
        Case(
            name="mmlu_index_label",
            reward=mmlu_index_reward,
            examples=[
                {"prompt": "What is the capital of Australia? A) Sydney B) Canberra C) Perth D) Hobart. End with 'the answer is (X)'.", "answer": 1},
                {"prompt": "Which gas do plants take in? A) oxygen B) neon C) helium D) carbon dioxide. End with 'the answer is (X)'.", "answer": 3},
                {"prompt": "Which number is prime? A) 9 B) 15 C) 17 D) 21. End with 'the answer is (X)'.", "answer": 2},
            ],
            good=[
                "Canberra was built as a compromise between Sydney and Melbourne, so the answer is (B).",
                "For photosynthesis plants take in carbon dioxide, so the answer is (D).",
                "9 = 3*3, 15 = 3*5 and 21 = 3*7 are composite, 17 is not; the answer is (C).",
            ],
            bad=[
                "Sydney is the largest city, so the answer is (A).",
                "Plants breathe as we do, so the answer is (A).",
                "15 is odd, so the answer is (B).",
            ],
            fault="`if not label` takes the label 0 for a missing one, so every question whose right option is A is dropped from training (None for right and wrong alike).",
            proof=_proof_mmlu_index,
            source="https://github.com/EleutherAI/lm-evaluation-harness/pull/3488",
        ),
        Case(
            name="physics_row_tolerance",
            reward=physics_reward,
            examples=[
                {"prompt": "A stone falls for 2 s. How far does it fall, in m?", "answer": "19.62", "tolerance": 0.01},
                {"prompt": "What is the period of a 1 m pendulum, in s?", "answer": "2.006", "tolerance": 0.01},
            ],
            good=[
                "The distance is g t^2 / 2 = 9.81 * 4 / 2.\nFinal value: 19.62",
                "The period is 2 pi sqrt(l / g) = 2 * 3.1416 * 0.3193.\nFinal value: 2.006",
            ],
            bad=[
                "The distance is g t = 9.81 * 2.\nFinal value: 9.81",
                "The period is sqrt(l / g).\nFinal value: 0.319",
            ],
            fault="The tolerance of the first row is used for the whole batch, so the score of a completion depends on which question happens to come first.",
            proof=_proof_physics,
        ),
        Case(
            name="derivative_equivalence",
            reward=derivative_reward,
            examples=[
                {"prompt": "Differentiate x^3 + x, writing products with *. End with 'Result: ...'.", "answer": "3*x^2 + 1"},
                {"prompt": "Expand (x + 2)^2, writing products with *. End with 'Result: ...'.", "answer": "x^2 + 4*x + 4"},
            ],
            good=[
                "The power rule gives three times x squared, and the derivative of x is one.\nResult: 1 + 3*x^2",
                "By the binomial formula we get the square, twice the product and the other square.\nResult: x*x + 4*x + 4",
            ],
            bad=[
                "The power rule gives x squared, and x vanishes.\nResult: 3*x^2",
                "Squaring both terms gives the result.\nResult: x^2 + 4",
            ],
            fault="The time limit uses signal.alarm, which raises ValueError outside the main thread; the exception is swallowed, so in a reward worker thread every right answer gets 0.",
            proof=_proof_derivative,
            source="https://github.com/verl-project/verl/pull/5635",
        ),
        Case(
            name="roots_allclose",
            reward=roots_reward,
            examples=[
                {"prompt": "Find the real roots of x^2 - x - 6. End with 'Roots: [..]'.", "roots": [-2.0, 3.0]},
                {"prompt": "Find the real roots of 2x - 5. End with 'Roots: [..]'.", "roots": [2.5]},
            ],
            good=[
                "x^2 - x - 6 = (x - 3)(x + 2), hence Roots: [3, -2]",
                "2x = 5 gives x = 2.5, hence Roots: [2.5]",
            ],
            bad=[
                "x^2 - x - 6 = (x + 3)(x - 2), hence Roots: [-3, 2]",
                "2x = 5 gives x = 10, hence Roots: [10]",
            ],
            fault="An empty list is broadcast against a one-element gold, and np.allclose of two empty arrays is true: 'Roots: []' is paid whenever there is exactly one root.",
            proof=_proof_roots,
        ),
        Case(
            name="gsm_hash_answer",
            reward=gsm_hash_reward,
            examples=[
                {"prompt": "Ann has 3 boxes of 12 eggs. How many eggs? End with '#### <number>'.", "solution": "3 * 12 = 36 eggs. #### 36"},
                {"prompt": "A car does 180 km in 2.5 hours. How fast is it in km/h? End with '#### <number>'.", "solution": "180 / 2.5 = 72. #### 72"},
            ],
            good=[
                "Each box has 12 eggs, so 3 boxes have 3 * 12 = 36 eggs.\n#### 36",
                "Speed is distance over time, 180 / 2.5 = 72 km/h.\n#### 72",
            ],
            bad=[
                "Each box has 12 eggs, so altogether 12 + 3 = 15 eggs.\n#### 15",
                "Speed is time over distance, so about 90 km/h.\n#### 90",
            ],
            fault="When the gold cannot be parsed (a fraction), both extractions give None and None == None is paid: any completion without a parsable number earns 1.0 on such rows.",
            proof=_proof_gsm_hash,
            source="https://github.com/open-compass/VLMEvalKit/issues/1697",
        ),
        Case(
            name="concise_within_group",
            reward=concise_group_reward,
            examples=[
                {"prompt": "What is 17 + 25? Put the result in \\boxed{}.", "answer": "42"},
                {"prompt": "What is 9 * 8? Put the result in \\boxed{}.", "answer": "72"},
            ],
            good=["17 + 25 = 42, so \\boxed{42}.", "Nine eights are 72, hence \\boxed{72}."],
            bad=["17 + 25 = 32, so \\boxed{32}.", "Nine eights are 64, hence \\boxed{64}."],
            fault="Groups are formed by the answer instead of the prompt, so completions of different questions that share an answer compete for the brevity bonus.",
            proof=_proof_concise,
        ),
        Case(
            name="cosine_scaled_accuracy",
            reward=cosine_scaled_reward,
            examples=[
                {"prompt": "What is 6 * 7? Put the result in \\boxed{}.", "answer": "42"},
                {"prompt": "How many sides has a heptagon? Put the result in \\boxed{}.", "answer": "7"},
            ],
            good=[
                "Six times seven is the same as five times seven plus seven, that is 35 + 7 = \\boxed{42}.",
                "The Greek prefix hepta means seven, so a heptagon has \\boxed{7} sides.",
            ],
            bad=[
                "Six times seven is six times six plus six plus one, that is \\boxed{43}.",
                "Hepta sounds like hexa, so it has \\boxed{6} sides.",
            ],
            fault="The progress is not clamped at 1, so beyond MAX_LEN the cosine turns back: a right answer of twice the maximum length earns as much as the shortest.",
            proof=_proof_cosine,
            source="https://github.com/huggingface/open-r1/issues/312",
        ),
    ]
