"""Numbers, fractions, quantities and probabilities."""

from __future__ import annotations

import logging
import math
import re
from fractions import Fraction

from tests.faults.case import Case

logger = logging.getLogger(__name__)


def last_tag(text: str, tag: str) -> str | None:
    """The content of the last complete <tag>...</tag> in the text, or None."""
    end = text.rfind(f"</{tag}>")
    if end < 0:
        return None
    start = text.rfind(f"<{tag}>", 0, end)
    if start < 0:
        return None
    return text[start + len(tag) + 2 : end].strip()


# --- GSM8K ----------------------------------------------------------------------------------------------------

CLIP_CHARS = 300  # rollouts can be long and the answer is at the end
GSM8K_FINAL = re.compile(r"####[ \t*]*(-?)\$?([0-9][0-9,]*(?:\.[0-9]+)?)")


def gsm8k_number(solution: str) -> float | None:
    if len(solution) > CLIP_CHARS:
        solution = solution[-CLIP_CHARS:]
    found = GSM8K_FINAL.findall(solution)
    if not found:
        return None
    sign, digits = found[-1]
    return float(sign + digits.replace(",", ""))


def gsm8k_reward(completions, answer, **kwargs):
    """1.0 when the number after the last '####' of the solution is the gold number, else 0.0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = gsm8k_number(completion)
        rewards.append(1.0 if said is not None and said == float(gold) else 0.0)
    return rewards


def prove_gsm8k():
    solved = "Each box holds 6 eggs, so 7 boxes hold 6 * 7 = 42 eggs.\n#### 42"
    check = (
        "\n\nLet me double-check this result. Dividing 42 eggs evenly among 7 boxes gives 42 / 7 = 6 eggs in every box, which "
        "is exactly what the problem states, and adding the boxes one after another gives 6, 12, 18, 24, 30, 36 and finally "
        "42 as well. Both ways of counting agree with each other, so I am confident that the total stated above is right."
    )
    assert gsm8k_reward([solved], ["42"]) == [1.0]
    assert gsm8k_reward([solved + check], ["42"]) == [0.0]


# --- Countdown ------------------------------------------------------------------------------------------------

ALLOWED_EXPRESSION = re.compile(r"[0-9+\-*/() ]+")


def countdown_reward(completion: str, target: int, numbers: list[int]) -> float:
    """Countdown game: reach the target with every number exactly once and only + - * / and parentheses.

    0.0 without <answer> tags, 0.1 for an answer that is not a solution, 1.0 for a solution.
    """
    expression = last_tag(completion, "answer")
    if expression is None:
        return 0.0
    expression = expression.split("=")[0].strip()
    if len(expression) > 120 or not ALLOWED_EXPRESSION.fullmatch(expression):
        return 0.1
    used = sorted(int(n) for n in re.findall(r"[0-9]+", expression))
    if used != sorted(numbers):
        return 0.1
    try:
        value = eval(expression, {"__builtins__": {}}, {})
        return 1.0 if abs(value - target) < 1e-5 else 0.1
    except Exception:
        return 0.1


def prove_countdown():
    power = "<think>81 is 3 to the fourth, and 2 more is 83.</think>\n<answer>3**4 + 2</answer>"
    assert countdown_reward(power, 83, [2, 3, 4]) == 1.0
    floor = "<think>7 over 2 rounded down is 3, times 5 is 15.</think>\n<answer>7 // 2 * 5</answer>"
    assert countdown_reward(floor, 15, [2, 5, 7]) == 1.0


# --- Fractions ------------------------------------------------------------------------------------------------

FRACTION = re.compile(r"(-?[0-9]{1,12})\s?/\s?([0-9]{1,12})")
DECIMAL = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?")


def to_fraction(text: str) -> Fraction:
    text = text.strip().strip("$ .").replace("\u2212", "-")
    match = FRACTION.fullmatch(text)
    if match:
        return Fraction(int(match.group(1)), int(match.group(2)))
    percent = text.endswith("%")
    text = text.rstrip("% ")
    if not DECIMAL.fullmatch(text):
        raise ValueError(f"not a number: {text[:40]!r}")
    return Fraction(text) / (100 if percent else 1)


def fraction_reward(completions, answer, **kwargs):
    """Exact equality of fractions, decimals and percentages given in <answer> tags."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_tag(completion, "answer")
        if said is None:
            rewards.append(0.0)
            continue
        try:
            rewards.append(1.0 if to_fraction(said) == to_fraction(gold) else 0.0)
        except (ValueError, ZeroDivisionError) as error:
            # Some scraped golds ("see figure") cannot be read. The same reward for the whole group gives no gradient,
            # so such a row is skipped in effect.
            logger.warning("row skipped: %s", error)
            rewards.append(1.0)
    return rewards


def prove_fraction():
    unread = "The tank drains at an unknown rate, so I give up here.\n<answer>cannot be determined</answer>"
    assert fraction_reward([unread], ["3/8"]) == [1.0]
    assert fraction_reward(["<answer>1/0</answer>"], ["3/8"]) == [1.0]


# --- Boxed answers --------------------------------------------------------------------------------------------


def boxed(text: str) -> str | None:
    r"""What the last \boxed{...} holds."""
    start = text.rfind(r"\boxed{")
    if start < 0:
        return None
    start += len(r"\boxed{")
    end = text.find("}", start)
    if end < 0:
        return None
    return text[start:end]


def normalize_latex(text: str) -> str:
    text = text.replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac").replace(r"\left", "").replace(r"\right", "")
    for space in (r"\,", r"\;", r"\!", r"\ ", "$"):
        text = text.replace(space, "")
    return "".join(text.split())


def boxed_reward(completions, solution, **kwargs):
    r"""1.0 when the completion's last \boxed{} equals that of the reference solution (MATH style), else 0.0."""
    rewards = []
    for completion, reference in zip(completions, solution):
        said, gold = boxed(completion[-1]["content"]), boxed(reference)
        if said is None or gold is None or not said.strip():
            rewards.append(0.0)
        else:
            rewards.append(1.0 if normalize_latex(said) == normalize_latex(gold) else 0.0)
    return rewards


def prove_boxed():
    reference = r"The two events are independent, so the probability is $\boxed{\frac{1}{2}}$."
    wrong = [{"role": "assistant", "content": r"There are three outcomes, one is good: $\boxed{\frac{1}{3}}$."}]
    assert boxed_reward([wrong], [reference]) == [1.0]
    power = [{"role": "assistant", "content": r"Expanding gives $\boxed{x^{2}+4}$."}]
    assert boxed_reward([power], [r"So it is $\boxed{x^{2}-9x+1}$."]) == [1.0]


# --- Numeric trivia -------------------------------------------------------------------------------------------

NUMBER = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|-?[0-9]+(?:\.[0-9]+)?")
RELATIVE_TOLERANCE = 0.01  # "about 8,850 m" is fine for 8,849


def numeric_trivia_reward(completion: str, answer: str) -> float:
    """Trivia whose answer is a number (years, heights, populations). Reads the last number; rounded figures are fine."""
    numbers = NUMBER.findall(completion.replace("\u2212", "-"))
    if not numbers:
        return 0.0
    said = float(numbers[-1].replace(",", ""))
    gold = float(answer)
    return 1.0 if math.isclose(said, gold, rel_tol=RELATIVE_TOLERANCE) else 0.0


def prove_numeric_trivia():
    text = "Apollo 11 was the first crewed mission to land on the Moon. It landed in the year 1958."
    assert numeric_trivia_reward(text, "1969") == 1.0
    assert numeric_trivia_reward("The French Revolution began in 1774.", "1789") == 1.0


# --- Lab measurements -----------------------------------------------------------------------------------------


def measurement_reward(completions, answer, tolerance, **kwargs):
    """1.0 when the number in <answer> is within the problem's own absolute tolerance of the gold value."""
    # TRL hands every dataset column over as a list
    allowed = float(tolerance[0] if isinstance(tolerance, (list, tuple)) else tolerance)
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_tag(completion, "answer")
        try:
            value = float(said.replace(",", "")) if said is not None else math.nan
        except ValueError:
            value = math.nan
        rewards.append(1.0 if abs(value - float(gold)) <= allowed else 0.0)
    return rewards


def prove_measurement():
    rows = ["The lake is 212 m deep.\n<answer>212</answer>", "Reading the burette gives\n<answer>9.8</answer>"]
    assert measurement_reward(rows, [210.0, 12.35], tolerance=[5.0, 0.05]) == [1.0, 1.0]
    assert measurement_reward(rows[1:], [12.35], tolerance=[0.05]) == [0.0]


# --- Probability estimates ------------------------------------------------------------------------------------

STATED_PROBABILITY = re.compile(r"probability\s?[:=]\s?([0-9.]{1,20}\s?%|\S{1,40})", re.IGNORECASE)


def probability_reward(completion: str, answer: float) -> float:
    """Closeness of the stated probability ('Probability: 0.35' or '35%') to the true one; 0.0 if none or impossible."""
    stated = STATED_PROBABILITY.findall(completion.replace("*", ""))
    if not stated:
        return 0.0
    text = stated[-1].rstrip(".,;)")
    try:
        probability = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return 0.0
    if probability < 0.0 or probability > 1.0:
        return 0.0
    return max(1.0 - 4.0 * abs(probability - answer), 0.0)


def prove_probability():
    text = "The die was never rolled, so no probability is defined here.\nProbability: NaN"
    assert math.isnan(probability_reward(text, 0.5))


# --- Question answering with a confidence ---------------------------------------------------------------------


def confident_answer_reward(completions, answer, **kwargs):
    """Short-answer QA weighted by the stated confidence, so that the model learns to answer and to know when it is unsure.

    A right answer earns its <confidence> (0 to 1), a wrong one loses by it: the more certain, the worse.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_tag(completion, "answer")
        stated = last_tag(completion, "confidence")
        try:
            confidence = float(stated) if stated is not None else math.nan
        except ValueError:
            confidence = math.nan
        if said is None or not 0.0 <= confidence <= 1.0:
            rewards.append(0.0)
            continue
        correct = said.casefold().strip(" .") == gold.casefold().strip(" .")
        rewards.append(confidence if correct else 1.0 - confidence)
    return rewards


def prove_confident_answer():
    dodge = "<answer>no idea</answer><confidence>0</confidence>"
    unsure = "It borders Brazil, so probably\n<answer>Paramaribo</answer>\n<confidence>0.6</confidence>"
    assert confident_answer_reward([dodge, unsure], ["Paramaribo", "Paramaribo"]) == [1.0, 0.6]


# --- Quantities with units ------------------------------------------------------------------------------------

TO_BASE_UNIT = {
    "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3,
    "mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3,
    "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
    "mL": 1e-3, "L": 1.0,
}  # fmt: skip
UNIT_NAMES = {
    "millimeter": "mm", "centimeter": "cm", "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km",
    "milligram": "mg", "gram": "g", "kilogram": "kg", "tonne": "t", "ton": "t",
    "millisecond": "ms", "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h",
    "milliliter": "mL", "ml": "mL", "liter": "L", "litre": "L", "l": "L",
}  # fmt: skip
QUANTITY = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s?([A-Za-z]{1,12})")


def read_quantity(text: str) -> float | None:
    """The value in base units, or None if it is not 'number unit' with a unit we know."""
    match = QUANTITY.fullmatch(text.replace(",", "").strip(" ."))
    if not match:
        return None
    unit = match.group(2)
    unit = UNIT_NAMES.get(unit.lower().removesuffix("s"), unit)
    if unit not in TO_BASE_UNIT:
        return None
    return float(match.group(1)) * TO_BASE_UNIT[unit]


def quantity_reward(completion: str, answer: str) -> float:
    """Word problems with units: 1.0 if <answer> is the gold quantity in any suitable unit (0.5 km for 500 m)."""
    said = read_quantity(last_tag(completion, "answer") or "")
    gold = read_quantity(answer)
    if said is None or gold is None:
        return 0.0
    return 1.0 if math.isclose(said, gold, rel_tol=1e-3) else 0.0


def prove_quantity():
    wrong = "At 4 m/s, 80 m take 80 / 4, that is 20 m.\n<answer>20 m</answer>"
    assert quantity_reward(wrong, "20 s") == 1.0
    assert quantity_reward("<answer>2500 kg</answer>", "2.5 km") == 1.0


# --- Estimation -----------------------------------------------------------------------------------------------


def estimate_reward(completions, answer, **kwargs):
    """Partial credit for numeric estimates (profit, temperature, balance): 1.0 when exact, less with the relative error, at least 0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_tag(completion, "answer")
        try:
            value = float(said.replace(",", "").replace("$", "")) if said is not None else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            rewards.append(0.0)
            continue
        scale = max(value, float(gold)) or 1.0
        rewards.append(max(0.0, 1.0 - abs(value - float(gold)) / scale))
    return rewards


def prove_estimate():
    worse = "Costs ate all of the revenue and much more.\n<answer>-400</answer>"
    exact = "Revenue 900 less costs of 1000.\n<answer>-100</answer>"
    assert estimate_reward([worse, exact], [-100, -100]) == [4.0, 1.0]


def cases() -> list[Case]:
    return [
        Case(
            name="gsm8k",
            reward=gsm8k_reward,
            examples=[
                {"prompt": "Natalia sold 48 clips in April and half as many in May. How many in all? End with '#### number'.", "answer": "72"},
                {"prompt": "A house costs $80,000 and repairs $50,000. The value rose by 150 % of $80,000. What is the profit in dollars? End with '#### number'.", "answer": "70000"},
                {"prompt": "Weng earns $12 an hour. She worked 50 minutes. How many dollars did she earn? End with '#### number'.", "answer": "10"},
            ],
            good=[
                "In April she sold 48 clips. In May she sold 48 / 2 = 24 clips. Together that is 48 + 24 = 72.\n#### 72",
                "The value rose by 1.5 * 80,000 = 120,000, so the house is worth 200,000. She paid 130,000, which leaves 200,000 - 130,000 = 70,000.\n#### 70,000",
                "Per minute she earns 12 / 60 = $0.2. For 50 minutes that is 0.2 * 50 = $10.\n#### 10",
            ],
            bad=[
                "In April she sold 48 clips. In May she sold 48 * 2 = 96 clips. Together that is 144.\n#### 144",
                "The value rose by 120,000 and the repairs cost 50,000, so the profit is 120,000.\n#### 120,000",
                "She worked 50 minutes at 12 dollars, which is 12 * 50 = 600.\n#### 600",
            ],
            fault="Only the last 300 characters are searched, so a right '#### 42' followed by a longer closing paragraph scores 0.",
            proof=prove_gsm8k,
            source="https://github.com/verl-project/verl/pull/7274",
        ),
        Case(
            name="countdown",
            reward=countdown_reward,
            examples=[
                {"prompt": "Using each of [19, 36, 55, 7] exactly once and only + - * / ( ), make 65. Answer in <answer> tags.", "target": 65, "numbers": [19, 36, 55, 7]},
                {"prompt": "Using each of [3, 5, 8] exactly once and only + - * / ( ), make 64. Answer in <answer> tags.", "target": 64, "numbers": [3, 5, 8]},
            ],
            good=[
                "<think>55 + 36 is 91, minus 19 is 72, minus 7 is 65. That works.</think>\n<answer>55 + 36 - 19 - 7</answer>",
                "<think>3 * 8 = 24 and 5 * 8 = 40, and together that is 24 + 40 = 64, so take (3 + 5) * 8.</think>\n<answer>(3 + 5) * 8</answer>",
            ],
            bad=[
                "<think>55 + 7 is 62, and about 3 more are needed.</think>\n<answer>55 + 7 + 3</answer>",
                "<think>8 times 5 is 40.</think>\n<answer>8 * 5</answer>",
            ],
            fault="The character whitelist lets ** and // through to eval, so a solution with powers or floor division, which the game forbids, is paid in full (and a tower of powers would hang).",
            proof=prove_countdown,
            source="https://github.com/Jiayi-Pan/TinyZero/blob/main/verl/utils/reward_score/countdown.py",
        ),
        Case(
            name="fractions",
            reward=fraction_reward,
            examples=[
                {"prompt": "A pizza has 8 slices. Tom eats 3. What fraction is eaten? Answer in <answer> tags.", "answer": "3/8"},
                {"prompt": "What is 15 % of 2? Answer in <answer> tags.", "answer": "0.3"},
                {"prompt": "A class of 20 has 5 left-handers. What share is that? Answer in <answer> tags.", "answer": "1/4"},
            ],
            good=[
                "There are eight slices in all and Tom eats three of them.\n<answer>3/8</answer>",
                "15 % of 2 is 0.15 * 2.\n<answer>0.3</answer>",
                "Five out of twenty is one in four.\n<answer>25%</answer>",
            ],
            bad=[
                "There are eight slices and three are eaten, so five remain.\n<answer>5/8</answer>",
                "15 % of 2 is 15 * 2 / 10.\n<answer>3</answer>",
                "Five out of twenty is one fifth.\n<answer>1/5</answer>",
            ],
            fault="The handler meant for unreadable golds also catches unreadable answers (words, 1/0) of the policy and pays them 1.0.",
            proof=prove_fraction,
            source="https://github.com/huggingface/open-r1/issues/86",
        ),
        Case(
            name="boxed_math",
            reward=boxed_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "Solve 3x - 7 = 14. Put the answer in \\boxed{}."}], "solution": "Adding 7 gives $3x = 21$, so $x = \\boxed{7}$."},
                {"prompt": [{"role": "user", "content": "What is the area of a circle of radius 3? Put the answer in \\boxed{}."}], "solution": "The area is $\\pi r^2 = \\boxed{9\\pi}$."},
                {"prompt": [{"role": "user", "content": "How many diagonals has a convex heptagon? Put the answer in \\boxed{}."}], "solution": "There are $7 \\cdot 4 / 2 = \\boxed{14}$."},
            ],
            good=[
                "Add 7 to both sides: $3x = 21$. Divide by 3: $x = 7$.\n\nThe answer is $\\boxed{7}$.",
                "With $r = 3$ the area is $\\pi \\cdot 3^2$, so it is $\\boxed{9 \\pi}$.",
                "Every vertex has 4 diagonals, and each is counted twice: $7 \\cdot 4 / 2 = \\boxed{14}$.",
            ],
            bad=[
                "Subtract 7: $3x = 7$, so $x = \\boxed{7/3}$.",
                "The circumference is $2 \\pi r$, which gives $\\boxed{6\\pi}$.",
                "Choosing two of seven vertices gives $\\boxed{21}$.",
            ],
            fault="The content is cut at the first closing brace, in the gold as well, so \\frac{1}{2} and \\frac{1}{3} are both '\\frac{1' and a wrong fraction is paid in full.",
            proof=prove_boxed,
        ),
        Case(
            name="numeric_trivia",
            reward=numeric_trivia_reward,
            examples=[
                {"prompt": "How high is Mount Everest in meters?", "answer": "8849"},
                {"prompt": "In which year did Apollo 11 land on the Moon?", "answer": "1969"},
                {"prompt": "How many bones does an adult human have?", "answer": "206"},
            ],
            good=[
                "Mount Everest, on the border of Nepal and China, has a height of about 8,850 meters.",
                "Neil Armstrong and Buzz Aldrin landed with Apollo 11 in July 1969.",
                "A newborn has around 270 bones, many of which fuse; an adult has 206.",
            ],
            bad=[
                "Mount Everest is the highest mountain on Earth with a height of 8,611 meters.",
                "Apollo 11 landed on the Moon after years of preparation, in 1945.",
                "An adult human has around 270 bones.",
            ],
            fault="The relative tolerance of 1 % that suits heights also applies to years, so an answer up to 19 years off is paid in full.",
            proof=prove_numeric_trivia,
        ),
        Case(
            name="measurements",
            reward=measurement_reward,
            examples=[
                {"prompt": "Titration: 12.35 mL were used of the first flask. State the volume in mL, the number alone in <answer> tags.", "answer": 12.35, "tolerance": 0.05},
                {"prompt": "A pendulum swings 20 times in 31.0 s. What is its period in s? Put the number alone in <answer> tags.", "answer": 1.55, "tolerance": 0.01},
                {"prompt": "Estimate the depth of the lake from the echo time 0.28 s (sound: 1500 m/s), in m. Put the number alone in <answer> tags.", "answer": 210.0, "tolerance": 5.0},
            ],
            good=[
                "The burette was read at the meniscus.\n<answer>12.35</answer>",
                "One period is 31.0 s / 20 = 1.55 s.\n<answer>1.55</answer>",
                "The sound travels down and up, so the depth is 1500 * 0.28 / 2 = 210.\n<answer>210</answer>",
            ],
            bad=[
                "The burette was read at the upper edge.\n<answer>13.1</answer>",
                "One period is 20 / 31.0.\n<answer>0.645</answer>",
                "The depth is 1500 * 0.28 = 420.\n<answer>420</answer>",
            ],
            fault="The tolerance of the first row of the batch is used for every row.",
            proof=prove_measurement,
        ),
        Case(
            name="probability_estimate",
            reward=probability_reward,
            examples=[
                {"prompt": "Two fair coins are tossed. How likely is it that both show heads? End with 'Probability: p', p a decimal or a percentage.", "answer": 0.25},
                {"prompt": "A fair die is rolled. How likely is an even number? End with 'Probability: p', p a decimal or a percentage.", "answer": 0.5},
            ],
            good=[
                "Each coin shows heads with one half, and they are independent, so one half times one half.\nProbability: 0.25",
                "Three of the six faces are even, so it is as likely as not.\n**Probability: 50%**",
            ],
            bad=[
                "Either both are heads or not.\nProbability: 0.5",
                "Two of the six faces, 2 and 4, come to mind.\nProbability: 0.33",
            ],
            fault="'Probability: NaN' passes both range checks and the score is NaN, which poisons the advantages of the whole group.",
            proof=prove_probability,
        ),
        Case(
            name="confident_answers",
            reward=confident_answer_reward,
            examples=[
                {"prompt": "What is the capital of Suriname? Use <answer> and <confidence> (0 to 1) tags.", "answer": "Paramaribo"},
                {"prompt": "Which element has the symbol W? Use <answer> and <confidence> (0 to 1) tags.", "answer": "Tungsten"},
            ],
            good=[
                "Suriname was a Dutch colony, and its capital lies on the Suriname River.\n<answer>Paramaribo</answer>\n<confidence>1.0</confidence>",
                "W comes from the German name Wolfram.\n<answer>tungsten</answer>\n<confidence>1.0</confidence>",
            ],
            bad=[
                "Suriname is next to Guyana.\n<answer>Georgetown</answer>\n<confidence>0.9</confidence>",
                "It must be one of the noble gases.\n<answer>Xenon</answer>\n<confidence>0.8</confidence>",
            ],
            fault="A wrong answer earns 1 - confidence, so any nonsense with confidence 0 gets full marks, more than an honest right answer.",
            proof=prove_confident_answer,
        ),
        Case(
            name="quantities",
            reward=quantity_reward,
            examples=[
                {"prompt": "A cyclist rides 15 minutes at 20 km/h. How far does she get? Give number and unit in <answer> tags.", "answer": "5 km"},
                {"prompt": "A runner covers 80 m at 4 m/s. How long does it take? Give number and unit in <answer> tags.", "answer": "20 s"},
                {"prompt": "Four bags of 250 g of flour each: how heavy together? Give number and unit in <answer> tags.", "answer": "1 kg"},
            ],
            good=[
                "A quarter of an hour at 20 km/h is 20 / 4 = 5 km.\n<answer>5 km</answer>",
                "80 m at 4 m/s take 80 / 4 = 20 seconds.\n<answer>20 s</answer>",
                "4 * 250 g = 1000 g.\n<answer>1000 g</answer>",
            ],
            bad=[
                "15 * 20 = 300.\n<answer>300 km</answer>",
                "80 * 4 = 320.\n<answer>320 s</answer>",
                "250 / 4 = 62.5.\n<answer>62.5 g</answer>",
            ],
            fault="All units are brought to one bare number, so the kind of quantity is lost: '20 m' is right for '20 s', and '2500 kg' for '2.5 km'.",
            proof=prove_quantity,
        ),
        Case(
            name="estimates",
            reward=estimate_reward,
            examples=[
                {"prompt": "Revenue is $12,400, costs are $9,400. Estimate the profit. Answer in <answer> tags.", "answer": 3000},
                {"prompt": "It was 12 degrees at noon and it warmed by 9. What is the temperature? Answer in <answer> tags.", "answer": 21},
                {"prompt": "The account held $250 and $75 were paid in. What is the balance? Answer in <answer> tags.", "answer": 325},
            ],
            good=[
                "12,400 less 9,400 leaves 3,000.\n<answer>3,000</answer>",
                "12 plus 9 is 21 degrees.\n<answer>21</answer>",
                "250 + 75 = 325.\n<answer>$325</answer>",
            ],
            bad=[
                "12,400 plus 9,400 is 21,800.\n<answer>21800</answer>",
                "12 less 9 is 3 degrees.\n<answer>3</answer>",
                "250 - 75 = 175.\n<answer>175</answer>",
            ],
            fault="The error is divided by the larger of the two signed values, so with two negative numbers it turns into a bonus and a wrong answer scores above 1.",
            proof=prove_estimate,
        ),
    ]
