"""Sound reward functions, part 3."""

from __future__ import annotations

import json
import re
from datetime import date, datetime

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, which is a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1].get("content") or "") if completion else ""


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


def _last_line(text, label):
    """What stands after `label` on the last line that starts with it (bold or not), None without one."""
    for line in reversed(text.split("\n")):
        line = line.replace("**", "").strip()
        if line.startswith(label):
            return line[len(label) :].strip()
    return None


def _chat(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- 21 think/answer


def think_answer_reward(completions, answer, **kwargs):
    """Strict R1 format with a whole number as the answer.

    The completion must be <think>...</think><answer>...</answer>, each tag exactly once, with white
    space at most around the two parts and something in the think part. In this format a right
    number earns 1.0 and a wrong one 0.1; any other format earns 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        tags = ["<think>", "</think>", "<answer>", "</answer>"]
        places = [text.find(tag) for tag in tags]
        if any(text.count(tag) != 1 for tag in tags) or places != sorted(places):
            rewards.append(0.0)
            continue
        thought = text[7 : places[1]].strip()
        between = text[places[1] + 8 : places[2]].strip()
        if not text.startswith("<think>") or not text.endswith("</answer>") or between or not thought:
            rewards.append(0.0)
            continue
        said = text[places[2] + 8 : places[3]].strip()
        right = re.fullmatch(r"[+-]?[0-9]{1,15}", said) is not None and int(said) == gold
        rewards.append(1.0 if right else 0.1)
    return rewards


_R1_RULE = "Reason in <think></think>, then give the whole number alone, in plain digits, in <answer></answer>. Nothing else, each tag once.\n"
_R1 = [
    {"prompt": [{"role": "user", "content": _R1_RULE + "How many minutes are in a day?"}], "answer": 1440},
    {"prompt": [{"role": "user", "content": _R1_RULE + "What is 7 - 12?"}], "answer": -5},
]

# ---------------------------------------------------------------- 22 ordering


def ranking_reward(completions, ranking, **kwargs):
    """Sort items, with credit for the pairs in the right order.

    The completion gives the items separated by '>' in <order>, in the asked direction. It must
    hold each item once (case aside), otherwise it is worth 0.0. The reward is 1.0 for the right order
    and otherwise half the share of the pairs that stand in the right order.
    """
    scores = []
    for completion, gold in zip(completions, ranking):
        body = _tag(_text(completion), "order") or ""
        said = [part.strip().lower() for part in body.split(">")] if len(body) < 2000 else []
        wanted = [item.lower() for item in gold]
        if sorted(said) != sorted(wanted):
            scores.append(0.0)
            continue
        ranks = [wanted.index(item) for item in said]
        pairs = [(a, b) for position, a in enumerate(ranks) for b in ranks[position + 1 :]]
        share = sum(a < b for a, b in pairs) / len(pairs)
        scores.append(1.0 if share == 1.0 else 0.5 * share)
    return scores


_RANK_RULE = "Write all the items once, separated by '>', in <order></order>. If this element is there several times, the last one counts. Items: "
_RANKS = [
    {"prompt": _RANK_RULE + "Mars, Jupiter, Earth, Mercury. Largest diameter first.", "ranking": ["Jupiter", "Earth", "Mars", "Mercury"]},
    {"prompt": _RANK_RULE + "3/5, 0.7, 2/3. Smallest first.", "ranking": ["3/5", "2/3", "0.7"]},
]

# ---------------------------------------------------------------- 23 sets


def divisor_set_reward(completions, members, **kwargs):
    """A finite set of whole numbers, in any order.

    The numbers stand in the last {...} of the completion, separated by commas. As in mathematics,
    order and repetition do not matter. 1.0 for the right set, else 0.0; {} is the empty set.
    """
    rewards = []
    for completion, gold in zip(completions, members):
        text = _text(completion)
        end = text.rfind("}")
        start = text.rfind("{", 0, end) if end >= 0 else -1
        body = text[start + 1 : end].strip() if start >= 0 and end - start < 5000 else None
        if body is None:
            rewards.append(0.0)
            continue
        parts = [part.strip() for part in body.split(",")] if body else []
        right = all(re.fullmatch(r"[+-]?[0-9]{1,12}", part) for part in parts)
        rewards.append(1.0 if right and {int(part) for part in parts} == set(gold) else 0.0)
    return rewards


_SET_RULE = "Write the set as {a, b, ...} with whole numbers at the end of your answer, where {} is the empty set; the last pair of braces counts.\n"
_SETS = [
    {"prompt": _SET_RULE + "The positive divisors of 12.", "members": [1, 2, 3, 4, 6, 12]},
    {"prompt": _SET_RULE + "The whole numbers n with n^2 = 9.", "members": [-3, 3]},
    {"prompt": _SET_RULE + "The primes between 24 and 28.", "members": []},
]

# ---------------------------------------------------------------- 24 units

_LENGTHS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "mi": 1609.344}
_MASSES = {"mg": 0.001, "g": 1.0, "kg": 1000.0, "t": 1000000.0, "lb": 453.59237}
_TABLE = {**{unit: ("length", factor) for unit, factor in _LENGTHS.items()}, **{unit: ("mass", factor) for unit, factor in _MASSES.items()}}


def _measure(text):
    """(dimension, value in the base unit) of '12.5 km', None for anything else."""
    match = re.fullmatch(r"([+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?) ?([a-z]{1,2})", text.strip())
    if not match or match.group(2) not in _TABLE:
        return None
    dimension, factor = _TABLE[match.group(2)]
    return dimension, float(match.group(1)) * factor


def measure_reward(completions, measure, **kwargs):
    """A length or mass with its unit in <answer>; every unit of the table may be used.

    The value is converted and may be off by 0.5 percent. 1.0 for the right quantity, 0.0 for
    another one, another dimension, a missing unit or a unit that is not in the prompt's list.
    """
    rewards = []
    for completion, gold in zip(completions, measure):
        said, wanted = _measure(_tag(_text(completion), "answer") or ""), _measure(gold)
        right = said is not None and said[0] == wanted[0] and abs(said[1] - wanted[1]) <= 0.005 * abs(wanted[1])
        rewards.append(1.0 if right else 0.0)
    return rewards


_MEASURE_RULE = "Give value and unit as e.g. <answer>3.2 kg</answer>, a plain number and one of the units mm, cm, m, km, in, ft, mi, mg, g, kg, t, lb; half a percent of error is allowed. If this element is there several times, the last one counts.\n"
_MEASURES = [
    {"prompt": _MEASURE_RULE + "Kim runs 12.5 rounds on a track of 400 m. How long is the run?", "measure": "5 km"},
    {"prompt": _MEASURE_RULE + "One tablet has 250 mg. What is the mass of 36 tablets?", "measure": "9 g"},
]

# ---------------------------------------------------------------- 25 dates

_MONTHS = "january february march april may june july august september october november december".split()


def _day(text):
    """Date of 'YYYY-MM-DD', '5 March 2024' or 'March 5, 2024', None for anything else."""
    text = " ".join(text.strip().split())
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return datetime.strptime(text, "%Y-%m-%d").date()
        except ValueError:
            return None
    match = re.fullmatch(r"([0-9]{1,2}) ([A-Za-z]{3,9}) ([0-9]{4})", text)
    if match:
        day, month, year = match.groups()
    else:
        match = re.fullmatch(r"([A-Za-z]{3,9}) ([0-9]{1,2}),? ([0-9]{4})", text)
        if not match:
            return None
        month, day, year = match.groups()
    if month.lower() not in _MONTHS:
        return None
    try:
        return date(int(year), _MONTHS.index(month.lower()) + 1, int(day))
    except ValueError:
        return None


def deadline_reward(completions, deadline, **kwargs):
    """A date in the last line 'Deadline: ...'.

    Three unambiguous forms are accepted: 2024-03-05, 5 March 2024 and March 5, 2024 (English month
    names in full). All-figure forms with slashes are not. 1.0 for the day, 0.3 for the day before or
    after, which is the usual counting error, and 0.0 otherwise.
    """
    rewards = []
    for completion, gold in zip(completions, deadline):
        said = _day((_last_line(_text(completion), "Deadline:") or "")[:60].rstrip("."))
        wanted = datetime.strptime(gold, "%Y-%m-%d").date()
        distance = abs((said - wanted).days) if said else 99
        rewards.append(1.0 if distance == 0 else 0.3 if distance == 1 else 0.0)
    return rewards


_DEADLINE_RULE = "End with 'Deadline: <date>', written as 2024-03-05, 5 March 2024 or March 5, 2024. The day of the notice does not count.\n"
_DEADLINES = [
    {"prompt": _DEADLINE_RULE + "A notice of 2024-02-20 gives 14 days.", "deadline": "2024-03-05"},
    {"prompt": _DEADLINE_RULE + "A notice of 2023-12-15 gives 30 days.", "deadline": "2024-01-14"},
]

# ---------------------------------------------------------------- 26 currencies

_SIGNS = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP"}


def _money(text):
    """(code, cents) of '-12.50 USD', 'USD 12.50', '$1,250' or '-$3', None for anything else."""
    text = text.strip().replace("\u2212", "-")
    match = re.fullmatch(r"(-?)(?:(USD|EUR|GBP) ?|([$\u20ac\u00a3]) ?)?(-?)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.([0-9]{2}))? ?(USD|EUR|GBP|[$\u20ac\u00a3])?", text)
    if not match or (match.group(1) and match.group(4)):
        return None
    codes = {code for code in (match.group(2), _SIGNS.get(match.group(3) or ""), _SIGNS.get(match.group(7) or "", match.group(7))) if code}
    if len(codes) != 1:
        return None
    cents = int(match.group(5).replace(",", "")) * 100 + int(match.group(6) or 0)
    return codes.pop(), -cents if match.group(1) or match.group(4) else cents


def balance_reward(completions, balance, **kwargs):
    """The balance of an account, with sign and currency, in the last 'Balance:' line.

    English notation (comma for thousands, point for cents), with the code or the sign of the currency
    before or after it. Sign, amount and currency must all be right: 1.0, otherwise 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, balance):
        line = _last_line(_text(completion), "Balance:") or ""
        said = _money(line) if len(line) < 60 else None
        rewards.append(1.0 if said is not None and said == _money(gold) else 0.0)
    return rewards


_BALANCE_RULE = "End with 'Balance: <amount>' in English notation, with a currency code (USD, EUR, GBP) or sign, two decimals or none, and a minus in front of a negative amount.\n"
_BALANCES = [
    {"prompt": _BALANCE_RULE + "Start 1,500.00 EUR; rent 980.00 EUR; phone 35.50 EUR; groceries 610.00 EUR.", "balance": "-125.50 EUR"},
    {"prompt": _BALANCE_RULE + "Start 200.00 USD; salary 2,300.00 USD; rent 1,250.00 USD.", "balance": "1250.00 USD"},
]

# ---------------------------------------------------------------- 27 durations


def _span(text):
    """Minutes of '95 min', '1 h 35 min', '1h35min', '2 h' or '1:35' (hours:minutes), else None."""
    text = text.strip().lower()
    match = re.fullmatch(r"([0-9]{1,3}):([0-5][0-9])", text)
    if match:
        return int(match.group(1)) * 60 + int(match.group(2))
    match = re.fullmatch(r"(?:([0-9]{1,3}) ?h(?:ours?)?)? ?(?:([0-9]{1,4}) ?min(?:utes?)?)?", text)
    if not match or (match.group(1) is None and match.group(2) is None):
        return None
    return int(match.group(1) or 0) * 60 + int(match.group(2) or 0)


def duration_reward(completions, minutes, **kwargs):
    """The duration of a journey in <duration>.

    Accepted are minutes ('95 min'), hours and minutes ('1 h 35 min', also spelled out) and the clock form
    '1:35'. 1.0 for the duration, 0.0 for another one or for another form, such as a bare number.
    """
    rewards = []
    for completion, gold in zip(completions, minutes):
        body = _tag(_text(completion), "duration") or ""
        rewards.append(1.0 if len(body) < 60 and _span(body) == gold else 0.0)
    return rewards


_DURATION_RULE = "Give the duration in <duration></duration>, as '95 min', '1 h 35 min' or '1:35' (hours:minutes). If this element is there several times, the last one counts.\n"
_DURATIONS = [
    {"prompt": [{"role": "user", "content": _DURATION_RULE + "The train leaves at 22:50 and arrives at 01:15 on the next day."}], "minutes": 145},
    {"prompt": [{"role": "user", "content": _DURATION_RULE + "The film starts at 18:20 and ends at 19:55."}], "minutes": 95},
]

# ---------------------------------------------------------------- 28 constraints on words


def word_choice_reward(completions, words, count, letters, **kwargs):
    """Choose words from a list under constraints.

    <words> holds exactly `count` different words of the list, separated by commas, in alphabetical order,
    with exactly `letters` letters in all. Words of the list in the right number earn 0.2, in alphabetical
    order 0.4, and with the right number of letters as well 1.0. Every selection that fits is accepted.
    """
    scores = []
    for completion, offered, number, total in zip(completions, words, count, letters):
        body = _tag(_text(completion), "words") or ""
        chosen = [part.strip() for part in body.split(",")] if len(body) < 1000 else []
        if len(chosen) != number or len(set(chosen)) != number or not set(chosen) <= set(offered):
            scores.append(0.0)
            continue
        if chosen != sorted(chosen):
            scores.append(0.2)
            continue
        scores.append(1.0 if sum(map(len, chosen)) == total else 0.4)
    return scores


_WORD_RULE = "From the list choose exactly {} different words with together exactly {} letters, in alphabetical order, as they are written, separated by commas, in <words></words>. If this element is there several times, the last one counts.\nList: {}"
_WORDS = [
    {"prompt": _WORD_RULE.format(3, 12, "apple, fig, kiwi, lemon, pear, plum"), "words": ["apple", "fig", "kiwi", "lemon", "pear", "plum"], "count": 3, "letters": 12},
    {"prompt": _WORD_RULE.format(2, 9, "badger, bee, cat, horse, lion"), "words": ["badger", "bee", "cat", "horse", "lion"], "count": 2, "letters": 9},
]

# ---------------------------------------------------------------- 29 calibration


def brier_reward(completions, answer, **kwargs):
    """Right answers with calibrated confidence, after RLCR.

    <answer> is compared in lower case; <confidence> is a number from 0 to 1. The reward is
    correct - (confidence - correct)^2, a proper scoring rule on top of the correctness: from 1.0 (right
    and sure) to -1.0 (wrong and sure). A missing or impossible confidence, or no answer, earns -1.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        said, sure = _tag(text, "answer"), (_tag(text, "confidence") or "").strip()
        if said is None or not re.fullmatch(r"(0|1|0?\.[0-9]{1,6}|0\.[0-9]{1,6}|1\.0{1,6})", sure):
            rewards.append(-1.0)
            continue
        correct = 1.0 if " ".join(said.lower().split()) == gold.lower() else 0.0
        rewards.append(correct - (float(sure) - correct) ** 2)
    return rewards


_BRIER_RULE = "Answer with one word in <answer></answer> and give the probability that you are right, a decimal from 0 to 1, in <confidence></confidence>. If this element is there several times, the last one counts.\n"
_BRIERS = [
    {"prompt": _BRIER_RULE + "Which planet has the largest moon of the solar system?", "answer": "Jupiter"},
    {"prompt": _BRIER_RULE + "What is the chemical symbol of tin?", "answer": "Sn"},
]

# ---------------------------------------------------------------- 30 abstention


def abstain_or_answer(completions, accepted, **kwargs):
    """Facts with the choice to abstain.

    The last 'Answer:' line counts, without regard to case, articles and a final full stop. One of the
    accepted names: 1.0. Exactly 'unknown': 0.3. Anything else, or no such line: 0.0.
    """
    scores = []
    for completion, names in zip(completions, accepted):
        line = _last_line(_text(completion), "Answer:") or ""
        said = _name(line) if len(line) < 200 else ""
        scores.append(1.0 if said in {_name(name) for name in names} else 0.3 if said == "unknown" else 0.0)
    return scores


def _name(text):
    words = text.lower().strip().rstrip(".").split()
    return " ".join(words[1:] if words[:1] in (["the"], ["a"], ["an"]) else words)


_ABSTAIN_RULE = "End with 'Answer: <name>'. If you do not know, end with 'Answer: unknown', which earns more than a wrong name.\n"
_ABSTAINS = [
    {"prompt": _ABSTAIN_RULE + "Which strait separates Spain from Morocco?", "accepted": ["Strait of Gibraltar", "Gibraltar Strait", "Gibraltar"]},
    {"prompt": _ABSTAIN_RULE + "Who proved Fermat's Last Theorem?", "accepted": ["Andrew Wiles", "Wiles", "Sir Andrew Wiles"]},
]

CASES: list[Case] = [
    Case(
        name="think_answer_strict",
        reward=think_answer_reward,
        examples=_R1,
        good=[_chat("<think>24 hours of 60 minutes:\n24 * 60 = 1440</think>\n<answer>1440</answer>"), _chat("<think>7 - 12 is below zero.</think><answer> -5 </answer>")],
        bad=[_chat("<think>24 * 50</think><answer>1200</answer>"), _chat("The answer is -5.")],
    ),
    Case(
        name="ranking_pairs",
        reward=ranking_reward,
        examples=_RANKS,
        good=["<order>Jupiter > Earth > Mars > Mercury</order>", "0.6 < 0.667 < 0.7: <order>3/5 > 2/3 > 0.7</order>"],
        bad=["<order>Jupiter > Mars > Mercury > Earth</order>", "<order>0.7 > 2/3 > 3/5</order>"],
    ),
    Case(
        name="number_set",
        reward=divisor_set_reward,
        examples=_SETS,
        good=["12 = 3 * 4, so {12, 6, 4, 3, 2, 1}", "{3, -3}", "25, 26 and 27 are composite: {}"],
        bad=["{1, 2, 3, 4, 6}", "{3}", "{25}"],
    ),
    Case(
        name="measure_with_units",
        reward=measure_reward,
        examples=_MEASURES,
        good=["12.5 * 400 m: <answer>5000 m</answer>", "36 * 250 mg = 9000 mg, <answer>9 g</answer>"],
        bad=["<answer>50 km</answer>", "<answer>9 kg</answer>"],
    ),
    Case(
        name="deadline_forms",
        reward=deadline_reward,
        examples=_DEADLINES,
        good=["2024 is a leap year.\nDeadline: 5 March 2024", "Sixteen days of December, then fourteen.\nDeadline: 2024-01-14"],
        bad=["Deadline: 2024-03-15", "Deadline: January 30, 2024"],
    ),
    Case(
        name="balance_sign_currency",
        reward=balance_reward,
        examples=_BALANCES,
        good=["1500 - 980 - 35.50 - 610\nBalance: -125.50 EUR", "Balance: $1,250.00"],
        bad=["Balance: 125.50 EUR", "Balance: 1,050.00 USD"],
    ),
    Case(
        name="duration_forms",
        reward=duration_reward,
        examples=_DURATIONS,
        good=[_chat("70 minutes to midnight and 75 after. <duration>2 h 25 min</duration>"), _chat("<duration>95 min</duration>")],
        bad=[_chat("<duration>21 h 35 min</duration>"), _chat("<duration>1:25</duration>")],
    ),
    Case(
        name="word_choice",
        reward=word_choice_reward,
        examples=_WORDS,
        good=["4 + 4 + 4: <words>kiwi, pear, plum</words>", "<words>horse, lion</words>"],
        bad=["<words>apple, fig, kiwi, lemon</words>", "<words>lion, bee</words>"],
    ),
    Case(
        name="brier_confidence",
        reward=brier_reward,
        examples=_BRIERS,
        good=["Ganymede. <answer>Jupiter</answer><confidence>0.97</confidence>", "<answer>Sn</answer> <confidence>1.0</confidence>"],
        bad=["<answer>Saturn</answer><confidence>0.8</confidence>", "<answer>Ti</answer><confidence>0.3</confidence>"],
    ),
    Case(
        name="abstain_or_answer",
        reward=abstain_or_answer,
        examples=_ABSTAINS,
        good=["Spain and Morocco face each other there.\nAnswer: the Strait of Gibraltar", "In 1994.\nAnswer: Andrew Wiles."],
        bad=["Answer: Bosporus", "Answer: Pierre de Fermat"],
    ),
]
