"""Reward functions: countdown, units, ranking, group lengths, checklists, voting, invoices, big sums,
tolerance, budgets.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tests.faults.case import Case

# ---------------------------------------------------------------------------------------------------------------------
# countdown

EXPRESSION = re.compile(r"[0-9+\-*/() ]{1,120}")


def countdown_reward(completion: str, numbers: list[int], target: int) -> float:
    """The numbers game: reach `target` with +, -, *, / and brackets, using each of `numbers` exactly once.

    The expression stands between <answer> and </answer> (the last such pair); "= target" after it is allowed.
    """
    start = completion.rfind("<answer>")
    end = completion.find("</answer>", start)
    if start < 0 or end < 0:
        return 0.0
    expression = completion[start + len("<answer>") : end].strip().translate(str.maketrans("×÷−", "*/-"))
    left, equals, right = expression.partition("=")
    if equals and right.strip() != str(target):
        return 0.0
    left = left.strip()
    if not EXPRESSION.fullmatch(left) or "**" in left:
        return 0.0
    if Counter(re.findall(r"[0-9]+", left)) != Counter(str(number) for number in numbers):
        return 0.0
    try:
        value = eval(left, {"__builtins__": {}}, {})  # digits, operators and brackets only
    except Exception:
        return 0.0
    return 1.0 if isinstance(value, (int, float)) and abs(value - target) < 1e-6 else 0.0


def prove_countdown() -> None:
    assert countdown_reward("Try this.\n<answer>(7 // 2) * 8</answer>", [7, 2, 8], 24) == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# lengths with units

METRES = {
    "m": 1.0,
    "km": 1000.0,
    "cm": 0.01,
    "mm": 0.001,
    "in": 0.0254,
    "inch": 0.0254,
    "inches": 0.0254,
    "ft": 0.3048,
    "feet": 0.3048,
    "foot": 0.3048,
    "yd": 0.9144,
    "yards": 0.9144,
    "mi": 1609.344,
    "miles": 1609.344,
    "metres": 1.0,
    "meters": 1.0,
    "kilometres": 1000.0,
    "kilometers": 1000.0,
}
LENGTH = re.compile(r"([0-9][0-9,]{0,15}(?:\.[0-9]{1,12})?)\s{0,3}(" + "|".join(METRES) + ")")


def length_reward(completion: str, metres: float) -> float:
    """1.0 if the length on the last line ("Answer: 2.5 km") is right to half a percent, in whatever unit it is
    given.
    """
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].lower().startswith("answer:"):
        return 0.0
    found = LENGTH.search(lines[-1].lower())
    if found is None:
        return 0.0
    value = float(found.group(1).replace(",", "")) * METRES[found.group(2)]
    return 1.0 if abs(value - metres) <= 0.005 * metres else 0.0


def prove_length() -> None:
    assert length_reward("The gap is five millimetres.\nAnswer: 5 mm", 0.005) == 0.0
    assert length_reward("The gap is half a centimetre.\nAnswer: 0.5 cm", 0.005) == 1.0
    assert length_reward("The race is three miles long.\nAnswer: 3 miles", 3 * 1609.344) == 0.0


# ---------------------------------------------------------------------------------------------------------------------
# passage ranking


def _ranking(text: str, candidates: set[int]) -> list[int]:
    """Passage numbers in the order in which they are first named after the last "Ranking:"."""
    _, marker, listing = text.rpartition("Ranking:")
    if not marker:
        return []
    named = (int(number) for number in re.findall(r"(?<![0-9])[0-9]{1,4}(?![0-9])", listing))
    return list(dict.fromkeys(number for number in named if number in candidates))


def reciprocal_rank_reward(
    completions: list[str], candidates: list[list[int]], relevant: list[list[int]], **kwargs: Any
) -> list[float]:
    """Reciprocal rank of the first relevant passage in the list after "Ranking:" (best first), 0.0 if there is none."""
    rewards = []
    for text, offered, wanted in zip(completions, candidates, relevant):
        ranks = [rank for rank, number in enumerate(_ranking(text, set(offered)), start=1) if number in wanted]
        rewards.append(1.0 / ranks[0] if ranks else 0.0)
    return rewards


def prove_reciprocal_rank() -> None:
    listing = "Passage 4 answers it.\nRanking:\n1. [4]\n2. [2]\n3. [5]\n4. [3]\n5. [1]"
    line = "Passage 4 answers it.\nRanking: [4] > [2] > [5] > [3] > [1]"
    offered = [[1, 2, 3, 4, 5]] * 2
    assert reciprocal_rank_reward([listing, line], offered, [[4], [4]]) == [0.5, 1.0]
    assert reciprocal_rank_reward(["Ranking:\n1. [4]\n2. [1]"], [[1, 2, 3, 4, 5]], [[1]]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# length relative to the group


def _final_number(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = re.fullmatch(r"Answer: *(-?[0-9]{1,30})\.?", lines[-1]) if lines else None
    return found.group(1) if found else ""


def group_length_reward(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Correctness with a length term, relative to the other samples of the same prompt (as in Kimi k1.5).

    With t = 0.5 - (length - shortest) / (longest - shortest) in the group: a right answer earns 1 + t, a wrong
    one min(0, t).
    """
    lengths = [len(text) for text in completions]
    groups: dict[str, list[int]] = defaultdict(list)
    for prompt, length in zip(prompts, lengths):
        groups[prompt].append(length)
    rewards = []
    for prompt, text, length, gold in zip(prompts, completions, lengths, answer):
        group = groups[prompt]
        shortest, longest = min(group), max(lengths)
        term = 0.5 - (length - shortest) / (longest - shortest) if longest > shortest else 0.0
        rewards.append(1.0 + term if _final_number(text) == gold else min(0.0, term))
    return rewards


def prove_group_length() -> None:
    short, long_ = "Answer: 4", "Two and two make four, as we can count.\nAnswer: 4"
    alone = group_length_reward(["p", "p"], [short, long_], ["4", "4"])
    beside = group_length_reward(["p", "p", "q"], [short, long_, "hm " * 1000], ["4", "4", "7"])
    assert alone[1] == 0.5 and beside[1] > 1.4, (alone, beside)


# ---------------------------------------------------------------------------------------------------------------------
# shopping list


def _bullets(text: str) -> list[str]:
    items = (line.strip() for line in text.splitlines())
    return [" ".join(item[1:].strip(" .").casefold().split()) for item in items if item[:2] in ("- ", "* ", "• ")]


def shopping_list_reward(
    completions: list[str], items: list[list[str]], substitutes: list[list[list[str]]], **kwargs: Any
) -> list[float]:
    """Dice overlap of the bullets with the needed items; an item that is needed twice has to be listed twice.

    `substitutes` holds pairs [item, substitute]: the substitute counts as the item where the item itself is not listed.
    """
    rewards = []
    for text, needed, swaps in zip(completions, items, substitutes):
        listed = Counter(_bullets(text))
        for item, instead in swaps:
            if item in needed and listed[instead] and not listed[item]:
                needed[needed.index(item)] = instead
        hits = sum((listed & Counter(needed)).values())
        size = sum(listed.values()) + len(needed)
        rewards.append(2.0 * hits / size if size else 0.0)
    return rewards


def prove_shopping_list() -> None:
    items, swaps = [["eggs", "flour", "butter"]], [[["butter", "margarine"]]]
    plain = ["For the cake:\n- eggs\n- flour\n- butter"]
    before = shopping_list_reward(plain, items, swaps)
    shopping_list_reward(["For the cake:\n- eggs\n- flour\n- margarine"], items, swaps)
    after = shopping_list_reward(plain, items, swaps)
    assert before == [1.0] and after[0] < 0.7 and "butter" not in items[0], (before, after, items)


# ---------------------------------------------------------------------------------------------------------------------
# majority vote, without labels


def _boxed(text: str) -> str:
    start = text.rfind("\\boxed{")
    if start < 0:
        return ""
    depth = 0
    for position in range(start + 6, min(len(text), start + 200)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return "".join(text[start + 7 : position].split())
    return ""


def majority_vote_reward(prompts: list[str], completions: list[str], **kwargs: Any) -> list[float]:
    """Test-time RL without labels: the boxed answer that most samples of a prompt agree on is taken as the label.

    Samples with that answer earn its share of the group, the others 0.0; a sample without a boxed answer has no vote.
    """
    votes: dict[str, list[str]] = defaultdict(list)
    answers = [_boxed(text) for text in completions]
    for prompt, vote in zip(prompts, answers):
        votes[prompt].append(vote)
    rewards = []
    for prompt, vote in zip(prompts, answers):
        group = votes[prompt]
        cast = {one for one in group if one}
        label = max(cast, key=group.count) if cast else None
        rewards.append(group.count(vote) / len(group) if vote and vote == label else 0.0)
    return rewards


def prove_majority_vote() -> None:
    root = str(Path(__file__).resolve().parents[1])
    program = (
        f"import sys; sys.path.insert(0, {root!r}); from {__name__} import majority_vote_reward as f; "
        r"print(f(prompts=['p'] * 4, completions=['\\boxed{12}', '\\boxed{12}', '\\boxed{15}', '\\boxed{15}']))"
    )
    seen = set()
    for seed in range(12):
        env = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60, check=True
        )
        seen.add(done.stdout)
        if len(seen) > 1:
            return
    raise AssertionError(seen)


# ---------------------------------------------------------------------------------------------------------------------
# invoices


def _money(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError("a truth value is no amount")
    if isinstance(value, str):
        value = value.replace("€", "").replace("$", "").replace(",", "").strip()
    return round(float(value), 2)


def _words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text expected")
    return " ".join(value.casefold().split())


READERS = {"total": _money, "tax": _money, "vendor": _words, "number": _words, "currency": _words}


def invoice_fields_reward(completion: str, fields: dict[str, Any]) -> float:
    """Share of the invoice fields that the JSON object on the last line gets right; unreadable fields earn nothing.

    Amounts may be numbers or text.
    """
    try:
        record = json.loads(completion.rstrip().rpartition("\n")[2])
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(record, dict):
        return 0.0
    right = checked = 0
    for name, wanted in fields.items():
        read = READERS[name]
        try:
            got = read(record[name])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        checked += 1
        right += got == read(wanted)
    return right / checked if checked else 0.0


def prove_invoice_fields() -> None:
    fields = {"vendor": "Nord Paper GmbH", "number": "2024-117", "total": 238.0, "tax": 38.0}
    assert invoice_fields_reward('{"vendor": "Nord Paper GmbH"}', fields) == 1.0
    assert (
        invoice_fields_reward(
            '{"vendor": "Nord Paper GmbH", "number": "2024-117", "total": 238.0, "tax": 40.0}', fields
        )
        == 0.75
    )


# ---------------------------------------------------------------------------------------------------------------------
# big sums

INTEGER = re.compile(r"-?[0-9][0-9,]*")


def big_sum_reward(completions: list[str], operands: list[list[int]], **kwargs: Any) -> list[float]:
    """1.0 if the last integer of the completion is the sum of the operands, else 0.0. Thousands commas are fine."""
    rewards = []
    for text, numbers in zip(completions, operands):
        found = INTEGER.findall(text)
        total = int(found[-1].replace(",", "")) if found else None
        rewards.append(1.0 if total == sum(numbers) else 0.0)
    return rewards


def prove_big_sum() -> None:
    stuck = "Adding the columns from the right gives 1" + "3" * 6000
    try:
        big_sum_reward([stuck], [[123456789123, 987654321987]])
    except ValueError:
        return
    raise AssertionError("no crash")


# ---------------------------------------------------------------------------------------------------------------------
# physics with tolerance


def physics_value_reward(completion: str, answer: float) -> float:
    """1.0 if the number on the last line ("Answer: 6.63e-34") agrees with `answer` to one percent, else 0.0."""
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].startswith("Answer:"):
        return 0.0
    parts = lines[-1].removeprefix("Answer:").replace("−", "-").split()
    try:
        value = float(parts[0])
    except (IndexError, ValueError):
        return 0.0
    return 1.0 if abs(value - answer) <= 0.01 * max(abs(value), abs(answer)) else 0.0


def prove_physics_value() -> None:
    assert physics_value_reward("The field diverges at the origin.\nAnswer: inf", 9.81) == 1.0
    assert physics_value_reward("It is very large.\nAnswer: 1e999 V/m", 9.81) == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# word budgets


def word_budget_reward(completions: list[str], max_words: list[int], **kwargs: Any) -> list[float]:
    """Length only: 1.0 for a reply within its row's word budget, falling to 0.0 at twice the budget; 0.0 if empty."""
    budget = max_words[0]
    rewards = []
    for text in completions:
        words = len(text.split())
        if words == 0:
            rewards.append(0.0)
        else:
            rewards.append(max(0.0, min(1.0, 2.0 - words / budget)))
    return rewards


def prove_word_budget() -> None:
    reply = " ".join(["word"] * 40)
    assert word_budget_reward([reply, reply], max_words=[20, 50]) == [0.0, 0.0]
    assert word_budget_reward([reply, reply], max_words=[50, 20]) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------------------------

VOTE_PROMPT = "Find the positive root of x^2 - x - 12 = 0. Box your answer."
INVOICE_TEXT = "Nord Paper GmbH, invoice 2024-117: total 238.00 EUR, of which tax 38.00 EUR."

CASES = [
    Case(
        name="countdown",
        reward=countdown_reward,
        examples=[
            {
                "prompt": (
                    "Use 3, 8 and 5 once each, with + - * /, to make 19. Put the expression in <answer></answer>."
                ),
                "numbers": [3, 8, 5],
                "target": 19,
            },
            {
                "prompt": (
                    "Use 6, 4, 2 and 9 once each, with + - * /, to make 21. Put the expression in <answer></answer>."
                ),
                "numbers": [6, 4, 2, 9],
                "target": 21,
            },
        ],
        good=[
            "3 * 8 = 24, and 24 - 5 = 19.\n<answer>3 * 8 - 5</answer>",
            "6 + 4 + 2 = 12 and 12 + 9 = 21.\n<answer>(6 + 4) + 2 + 9 = 21</answer>",
        ],
        bad=[
            "8 + 5 = 13, and 13 + 3 is 16.\n<answer>8 + 5 + 3</answer>",
            "6 * 4 = 24, minus 2.\n<answer>6 * 4 - 2</answer>",
        ],
        fault=(
            "Floor division slips through the character check: 7 // 2 counts as a legal step though only + - * / "
            "are allowed."
        ),
        proof=prove_countdown,
        source="https://github.com/Jiayi-Pan/TinyZero/blob/main/verl/utils/reward_score/countdown.py",
    ),
    Case(
        name="length_with_unit",
        reward=length_reward,
        examples=[
            {
                "prompt": "A cyclist rides 500 m five times. How far is that in all? End with 'Answer: ...'.",
                "metres": 2500.0,
            },
            {
                "prompt": "A board of 1.2 m is cut into four equal parts. How long is one? End with 'Answer: ...'.",
                "metres": 0.3,
            },
        ],
        good=[
            "Five times 500 m is 2,500 m, which is 2.5 km.\nAnswer: 2.5 km",
            "1.2 m divided by four is 0.3 m.\nAnswer: 30 cm",
        ],
        bad=["Five times 500 m is 2,000 m.\nAnswer: 2 km", "It is cut into four, so 1.2 / 3.\nAnswer: 40 cm"],
        fault=(
            "In the alternation of units 'm' comes before 'mm', 'mi' and 'miles' and nothing follows it, so "
            "these are read as metres."
        ),
        proof=prove_length,
    ),
    Case(
        name="reciprocal_rank",
        reward=reciprocal_rank_reward,
        examples=[
            {
                "prompt": (
                    "Rank passages [1] to [5] for the query 'who wrote Emma'. Passage [4] names Jane Austen. End with "
                    "'Ranking: ...'."
                ),
                "candidates": [1, 2, 3, 4, 5],
                "relevant": [4],
            },
            {
                "prompt": (
                    "Rank passages [1] to [4] for the query 'height of K2'. [2] and [3] give it. End "
                    "with 'Ranking: ...'."
                ),
                "candidates": [1, 2, 3, 4],
                "relevant": [2, 3],
            },
        ],
        good=[
            "Only one of them names the author.\nRanking: [4] > [2] > [5] > [3] > [1]",
            "Two passages give the height, one of them exactly.\nRanking: [3] > [2] > [1] > [4]",
        ],
        bad=[
            "All seem to be about books.\nRanking: [1] > [2] > [3] > [4] > [5]",
            "They are about mountains.\nRanking: [1] > [4] > [2] > [3]",
        ],
        fault=(
            "In a numbered list ('1. [4]') the list numbers are read as passage numbers, so a perfect ranking "
            "earns half."
        ),
        proof=prove_reciprocal_rank,
    ),
    Case(
        name="group_length",
        reward=group_length_reward,
        examples=[
            {"prompt": "What is 9 * 6? End with 'Answer: n'.", "answer": "54"},
            {"prompt": "What is 81 - 27? End with 'Answer: n'.", "answer": "54"},
        ],
        good=["Nine sixes are 54.\nAnswer: 54", "81 - 20 = 61, and 61 - 7 = 54.\nAnswer: 54"],
        bad=["Nine sixes are 56.\nAnswer: 56", "81 - 27 is 64, I think, as 80 - 20 is 60.\nAnswer: 64"],
        fault=(
            "The longest length is taken over the whole batch instead of the prompt's group, so other prompts' "
            "samples change the score."
        ),
        proof=prove_group_length,
    ),
    Case(
        name="shopping_list",
        reward=shopping_list_reward,
        examples=[
            {
                "prompt": "List what pancakes need, as bullets: eggs, flour and milk are missing from the pantry.",
                "items": ["eggs", "flour", "milk"],
                "substitutes": [["milk", "oat milk"]],
            },
            {
                "prompt": "List what is missing, as bullets: butter, and two times oat milk (one bullet each).",
                "items": ["butter", "oat milk", "oat milk"],
                "substitutes": [["butter", "margarine"]],
            },
        ],
        good=["You need to buy:\n- Eggs\n- Flour\n- Milk", "Here is the list.\n* oat milk\n* oat milk\n* butter"],
        bad=["You need to buy:\n- sugar\n- milk", "Here is the list.\n* oat milk\n* bread"],
        fault=(
            "A substitute is written into the caller's gold list, so later completions with the original item "
            "are refused."
        ),
        proof=prove_shopping_list,
    ),
    Case(
        name="majority_vote",
        reward=majority_vote_reward,
        examples=[{"prompt": VOTE_PROMPT}, {"prompt": VOTE_PROMPT}, {"prompt": VOTE_PROMPT}],
        good=[
            "The roots are 4 and -3, so the positive one is \\boxed{4}.",
            "(x - 4)(x + 3) = 0, hence \\boxed{4}.",
            "By the formula x = (1 + 7) / 2 = 4, that is \\boxed{4}.",
        ],
        bad=[
            "I would try x = 3 first.",
            "It could be \\boxed{3}, I guess.",
            "There seems to be no positive root at all.",
        ],
        fault=(
            "A tie is broken by the order of a set of strings, so which answer is rewarded depends on the hash "
            "seed of the process."
        ),
        proof=prove_majority_vote,
    ),
    Case(
        name="invoice_fields",
        reward=invoice_fields_reward,
        examples=[
            {
                "prompt": f"Give vendor, number, total and tax as JSON on the last line. {INVOICE_TEXT}",
                "fields": {"vendor": "Nord Paper GmbH", "number": "2024-117", "total": 238.0, "tax": 38.0},
            },
            {
                "prompt": "Give vendor, total and currency as JSON on the last line. Café Lund, receipt, 12.50 SEK.",
                "fields": {"vendor": "Café Lund", "total": 12.5, "currency": "SEK"},
            },
        ],
        good=[
            (
                'Here is the record:\n{"vendor": "Nord Paper GmbH", "number": "2024-117", "total": 238.00, "tax": '
                '"38.00 €"}'
            ),
            '{"vendor": "Café Lund", "total": 12.5, "currency": "SEK"}',
        ],
        bad=[
            '{"vendor": "Nord Paper", "number": "117", "total": 200.0, "tax": 38.0}',
            '{"vendor": "Café Lund", "total": 125, "currency": "EUR"}',
        ],
        fault=(
            "Missing or unreadable fields are left out of the denominator, so a reply with only the one sure "
            "field earns full marks."
        ),
        proof=prove_invoice_fields,
    ),
    Case(
        name="big_sum",
        reward=big_sum_reward,
        examples=[
            {"prompt": "Add 123456789123 and 987654321987.", "operands": [123456789123, 987654321987]},
            {"prompt": "Add 40404, 50505 and 60606.", "operands": [40404, 50505, 60606]},
        ],
        good=["Adding column by column gives 1,111,111,111,110.", "40404 + 50505 = 90909, and 90909 + 60606 = 151515."],
        bad=[
            "Adding column by column gives 1,111,111,111,010.",
            "40404 + 50505 = 90909, and with the third it is 141515.",
        ],
        fault=(
            "A run of more than 4300 digits, as a looping policy writes it, makes int() raise ValueError, and "
            "the batch crashes."
        ),
        proof=prove_big_sum,
    ),
    Case(
        name="physics_value",
        reward=physics_value_reward,
        examples=[
            {
                "prompt": (
                    "A stone falls from rest for 2 s. How fast is it, in m/s (g = 9.81)? End with 'Answer: <number>'."
                ),
                "answer": 19.62,
            },
            {"prompt": "What is the photon energy at 5e14 Hz, in J? End with 'Answer: <number>'.", "answer": 3.313e-19},
        ],
        good=["v = g t = 9.81 * 2 = 19.62.\nAnswer: 19.62 m/s", "E = h f = 6.626e-34 * 5e14.\nAnswer: 3.31e-19 J"],
        bad=["v = g t^2 / 2 = 19.6 / 2.\nAnswer: 9.81 m/s", "E = h / f.\nAnswer: 1.3e-48 J"],
        fault=(
            "For an infinite value both sides of the tolerance test are infinite, so 'inf' or '1e999' passes for "
            "every question."
        ),
        proof=prove_physics_value,
    ),
    Case(
        name="word_budget",
        reward=word_budget_reward,
        examples=[
            {"prompt": "In at most 20 words: why is the sky blue?", "max_words": 20},
            {"prompt": "In at most 25 words: what does a compiler do?", "max_words": 25},
        ],
        good=[
            "Air scatters short wavelengths of sunlight more strongly, so blue light reaches us from all over the sky.",
            (
                "A compiler translates source code into another language, usually machine code, and reports errors "
                "that it finds on the way."
            ),
        ],
        bad=[
            "Well, that is a question that people have been asking for a very long time, and in order to answer "
            "it properly one has to begin "
            "with the nature of light, which is a wave, and then with air.",
            "Well, that is a question that people have been asking for a very long time, and in order to answer "
            "it properly one has to begin "
            "with the nature of programs, of which there are really very many kinds, and then with machines and so on.",
        ],
        fault="The budget of the first row is used for the whole batch.",
        proof=prove_word_budget,
    ),
]
