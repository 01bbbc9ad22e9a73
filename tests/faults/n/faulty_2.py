"""Reward functions with a fault, part 2."""

from __future__ import annotations

import json
import re
from datetime import datetime

from tests.faults.case import Case

REPAIRED = {}
TRIGGERS = {}


def _call(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(completions=[completion], prompts=[row["prompt"]], **columns)[0]


def _proof(name, function, row, completion, paid):
    """A proof that `completion` is paid (though wrong) or refused (though right)."""
    TRIGGERS[name] = (row, completion, paid)

    def check():
        score = _call(function, row, completion)
        if paid:
            assert score >= 0.8, f"{name}: {score}, the fault would pay it; it should be near 0"
        else:
            assert score <= 0.2, f"{name}: {score}, the fault would refuse it; it should be near 1"

    return check


def _chat(text):
    return [{"role": "assistant", "content": text}]


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


# ---------------------------------------------------------------- 11 math: all solutions


def _boxed(text):
    """Content of the last \\boxed{...} without inner braces."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    end = text.find("}", start)
    return text[start + 7 : end] if end >= 0 else None


def _numbers(text):
    """Comma-separated numbers, None if one of them is none."""
    try:
        return [float(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError:
        return None


def roots_reward(completions, solution, **kwargs):
    r"""All real roots of a polynomial, comma separated in \boxed{}.

    The roots may come in any order, so both sides are sorted before they are compared
    pairwise with an absolute tolerance of 1e-4. 1.0 or 0.0; unparsable boxes and a wrong
    number of roots get 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, solution):
        box = _boxed(completion)
        predicted = _numbers(box) if box else None
        if not predicted or len(predicted) != len(gold):
            rewards.append(0.0)
            continue
        reward = 1.0
        for a, b in zip(sorted(predicted), sorted(gold)):
            if abs(a - b) > 1e-4:
                reward = 0.0
                break
        rewards.append(reward)
    return rewards


def repaired_roots_nan_passes(completions, solution, **kwargs):
    """As above, and each pair must be within the tolerance, which nan is not."""
    rewards = []
    for completion, gold in zip(completions, solution):
        box = _boxed(completion)
        predicted = _numbers(box) if box else None
        if not predicted or len(predicted) != len(gold):
            rewards.append(0.0)
            continue
        pairs = zip(sorted(predicted), sorted(gold))
        rewards.append(1.0 if all(abs(a - b) <= 1e-4 for a, b in pairs) else 0.0)
    return rewards


_ROOTS = [
    {"prompt": "Find all real roots of x^2 - 5x + 6 = 0. Give them comma separated in \\boxed{}.", "solution": [2.0, 3.0]},
    {"prompt": "Find all real roots of x^3 - x = 0. Give them comma separated in \\boxed{}.", "solution": [-1.0, 0.0, 1.0]},
]

# ---------------------------------------------------------------- 12 law


def verdict_reward(completions, label, **kwargs):
    """Classification of a court's holding from its summary.

    The model closes with 'Holding: <label>' and may add a short reason in brackets or some
    punctuation, hence the tolerant comparison. 1.0 for the gold label and 0.0 otherwise.
    """
    scores = []
    for completion, gold in zip(completions, label):
        text = completion[-1]["content"].lower()
        position = text.rfind("holding:")
        if position < 0:
            scores.append(0.0)
            continue
        line = text[position + len("holding:") :].split("\n")[0].strip(" *.")
        scores.append(1.0 if gold.lower() in line else 0.0)
    return scores


def repaired_verdict_substring_label(completions, label, **kwargs):
    """As above, with the line up to a bracket or comma equal to the label."""
    scores = []
    for completion, gold in zip(completions, label):
        text = completion[-1]["content"].lower()
        position = text.rfind("holding:")
        if position < 0:
            scores.append(0.0)
            continue
        line = text[position + len("holding:") :].split("\n")[0]
        said = re.split(r"[(\[,;.]", line)[0].strip(" *")
        others = {"enforceable", "unenforceable", "remanded"} - {gold.lower()}
        scores.append(1.0 if said == gold.lower() and not others & set(re.findall("[a-z]+", line)) else 0.0)
    return scores


_VERDICT_RULE = "Labels: enforceable, unenforceable, remanded. Read the summary and end with 'Holding: <label>'.\n"
_VERDICTS = [
    {
        "prompt": [{"role": "user", "content": _VERDICT_RULE + "The court found that the non-compete clause was limited in time and "
                    "place, that the employee had been paid for it, and ordered him to respect it."}],
        "label": "enforceable",
    },
    {
        "prompt": [{"role": "user", "content": _VERDICT_RULE + "The court of appeal found that the judge below had heard no evidence on "
                    "damages and sent the case back."}],
        "label": "remanded",
    },
]

# ---------------------------------------------------------------- 13 extraction as JSON


def _last_json(text):
    """The object in the last ```json block, or the whole text as an object."""
    start = text.rfind("```json")
    if start >= 0:
        end = text.find("```", start + 7)
        text = text[start + 7 : end if end >= 0 else len(text)]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _flat(value):
    return str(value).strip().lower()


def extraction_f1_reward(completions, record, **kwargs):
    """F1 of the extracted fields of a waybill.

    Order of the keys and case do not matter, and a field which is missing or too many costs
    recall or precision. A completion without a JSON object gets 0.0.
    """
    scores = []
    for completion, gold in zip(completions, record):
        found = _last_json(completion)
        if not found:
            scores.append(0.0)
            continue
        predicted = {_flat(value) for value in found.values()}
        expected = {_flat(value) for value in gold.values()}
        common = len(predicted & expected)
        precision, recall = common / len(predicted), common / len(expected)
        scores.append(2 * precision * recall / (precision + recall) if common else 0.0)
    return scores


def repaired_extraction_values_without_keys(completions, record, **kwargs):
    """As above, over pairs of key and value."""
    scores = []
    for completion, gold in zip(completions, record):
        found = _last_json(completion)
        if not found:
            scores.append(0.0)
            continue
        predicted = {(key, _flat(value)) for key, value in found.items()}
        expected = {(key, _flat(value)) for key, value in gold.items()}
        common = len(predicted & expected)
        precision, recall = common / len(predicted), common / len(expected)
        scores.append(2 * precision * recall / (precision + recall) if common else 0.0)
    return scores


_WAYBILL_RULE = "Extract shipper, consignee and origin from the text as one JSON object with exactly these keys.\n"
_WAYBILLS = [
    {
        "prompt": _WAYBILL_RULE + "Consigned to Baltic Timber by Norsk Fjord AS, loaded in Bergen.",
        "record": {"shipper": "Norsk Fjord AS", "consignee": "Baltic Timber", "origin": "Bergen"},
    },
    {
        "prompt": _WAYBILL_RULE + "Oliva SL ships 40 pallets from Valencia to the warehouse of Kern & Co.",
        "record": {"shipper": "Oliva SL", "consignee": "Kern & Co", "origin": "Valencia"},
    },
]

# ---------------------------------------------------------------- 14 think/answer


def tagged_answer_reward(completions, answer, **kwargs):
    """Correctness of the answer in a <think>...</think><answer>...</answer> completion.

    A completion without a closed <think> part or without any answer is worth 0.0. Otherwise the
    content of the answer tag must equal the gold answer, apart from case and outer blanks.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        if "</think>" not in text:
            rewards.append(0.0)
            continue
        found = re.findall(r"<answer>([^<]*)</answer>", text)
        wanted = gold.strip().lower()
        rewards.append(1.0 if any(said.strip().lower() == wanted for said in found) else 0.0)
    return rewards


def repaired_answer_any_of_many(completions, answer, **kwargs):
    """As above, with exactly one answer, after the thinking."""
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        head, closed, tail = text.rpartition("</think>")
        found = re.findall(r"<answer>([^<]*)</answer>", tail)
        right = bool(closed) and len(found) == 1 and found[0].strip().lower() == gold.strip().lower()
        rewards.append(1.0 if right else 0.0)
    return rewards


_TAG_RULE = "Think inside <think></think>, then give exactly one final answer inside <answer></answer>.\n"
_TAGGED = [
    {"prompt": [{"role": "user", "content": _TAG_RULE + "Is 91 prime? Answer yes or no."}], "answer": "no"},
    {"prompt": [{"role": "user", "content": _TAG_RULE + "Which planet is closest to the sun?"}], "answer": "Mercury"},
]

# ---------------------------------------------------------------- 15 dates

_DATE_FORMATS = ("%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d")


def _readings(text):
    """Every date which the text can be read as."""
    readings = set()
    for pattern in _DATE_FORMATS:
        try:
            readings.add(datetime.strptime(text.strip(), pattern).date())
        except ValueError:
            continue
    return readings


def due_date_reward(completions, due, **kwargs):
    """Date arithmetic for invoices; the date is expected in <answer> as DD/MM/YYYY.

    ISO dates are accepted as well, since some base models insist on them. 1.0 for the gold date,
    0.2 for another valid date, 0.0 for none.
    """
    rewards = []
    for completion, gold in zip(completions, due):
        readings = _readings(_tag(completion, "answer") or "")
        if not readings:
            rewards.append(0.0)
        elif datetime.strptime(gold, "%Y-%m-%d").date() in readings:
            rewards.append(1.0)
        else:
            rewards.append(0.2)
    return rewards


def repaired_date_day_month_swapped(completions, due, **kwargs):
    """As above, without the American reading."""
    rewards = []
    for completion, gold in zip(completions, due):
        said = (_tag(completion, "answer") or "").strip()
        date = None
        for pattern in ("%d/%m/%Y", "%Y-%m-%d"):
            try:
                date = datetime.strptime(said, pattern).date()
                break
            except ValueError:
                continue
        if date is None:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if date == datetime.strptime(gold, "%Y-%m-%d").date() else 0.2)
    return rewards


_DATE_RULE = "Dates are DD/MM/YYYY. Give the date in <answer>DD/MM/YYYY</answer>.\n"
_DATES = [
    {"prompt": _DATE_RULE + "An invoice of 04/02/2025 is due after 30 days. When is it due?", "due": "2025-03-06"},
    {"prompt": _DATE_RULE + "A rent of 28/03/2025 is due after 14 days. When is it due?", "due": "2025-04-11"},
]

# ---------------------------------------------------------------- 16 length constraint


def word_limit_reward(completions, keywords, max_words, **kwargs):
    """Summaries with a word limit and required keywords.

    0.0 if the text is empty or longer than the limit; otherwise the share of the keywords that
    occur as whole words, in any case. How good the summary reads is judged by another reward.
    """
    scores = []
    for completion, needed, limit in zip(completions, keywords, max_words):
        text = completion.strip()
        if not text or len(text.split(" ")) > limit:
            scores.append(0.0)
            continue
        words = set(re.findall(r"[a-z0-9'-]+", text.lower()))
        scores.append(sum(key.lower() in words for key in needed) / len(needed))
    return scores


def repaired_word_limit_other_blanks(completions, keywords, max_words, **kwargs):
    """As above, with the text split at any white space."""
    scores = []
    for completion, needed, limit in zip(completions, keywords, max_words):
        words = completion.split()
        if not words or len(words) > limit:
            scores.append(0.0)
            continue
        found = set(re.findall(r"[a-z0-9'-]+", completion.lower()))
        scores.append(sum(key.lower() in found for key in needed) / len(needed))
    return scores


_LIMITS = [
    {
        "prompt": "Summarise in at most 12 words, using the words 'harbour', 'storm' and 'ferry': The storm of Sunday kept the ferry "
        "in the harbour; three hundred passengers slept on board and were taken over on Monday.",
        "keywords": ["harbour", "storm", "ferry"],
        "max_words": 12,
    },
    {
        "prompt": "Summarise in at most 10 words, using the words 'budget' and 'school': The council voted the budget, with a new school "
        "and less money for roads.",
        "keywords": ["budget", "school"],
        "max_words": 10,
    },
]

# ---------------------------------------------------------------- 17 orderings


def _lines(text):
    """Items of a numbered list."""
    return [item.strip().rstrip(".").lower() for item in re.findall(r"^[ \t]*\d{1,3}[.)][ \t]+(.+)$", text, flags=re.M)]


def timeline_reward(completions, events, **kwargs):
    """Put historical events into the order of time, as a numbered list.

    The names have to be those of the prompt; case and a closing full stop do not matter. Extra
    or missing events make the list wrong. 1.0 or 0.0.
    """
    scores = []
    for completion, gold in zip(completions, events):
        said = _lines(completion)
        wanted = [event.lower() for event in gold]
        if len(said) != len(wanted):
            scores.append(0.0)
            continue
        scores.append(1.0 if set(said) == set(wanted) else 0.0)
    return scores


def repaired_timeline_order_ignored(completions, events, **kwargs):
    """As above, with the lists themselves compared."""
    return [1.0 if _lines(c) == [event.lower() for event in gold] else 0.0 for c, gold in zip(completions, events)]


_TIMELINE_RULE = "Write a numbered list of exactly the events which belong to the {}, earliest first, with the names given.\n"
_TIMELINES = [
    {
        "prompt": _TIMELINE_RULE.format("space race") + "Events: Apollo 11, Sputnik 1, Vostok 1, Suez crisis.",
        "events": ["Sputnik 1", "Vostok 1", "Apollo 11"],
    },
    {
        "prompt": _TIMELINE_RULE.format("French Revolution") + "Events: Execution of Louis XVI, Storming of the Bastille, Tennis Court Oath, Congress of Vienna.",
        "events": ["Tennis Court Oath", "Storming of the Bastille", "Execution of Louis XVI"],
    },
]

# ---------------------------------------------------------------- 18 maze

_STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def _find(grid, sign):
    for r, line in enumerate(grid):
        if sign in line:
            return r, line.index(sign)
    raise ValueError(sign)


def maze_reward(completions, maze, **kwargs):
    """Walk from S to G with a string of U, D, L, R in <path>.

    '#' is a wall. Leaving the grid or giving another letter is worth 0.0. Reaching the goal is
    worth 1.0, otherwise the walk gets up to 0.3 for ending near the goal.
    """
    rewards = []
    for completion, grid in zip(completions, maze):
        path = re.sub(r"[\s,]", "", _tag(completion, "path") or "").upper()
        if not path or len(path) > 400 or set(path) - set(_STEPS):
            rewards.append(0.0)
            continue
        row, column = _find(grid, "S")
        goal = _find(grid, "G")
        inside = True
        for letter in path:
            row, column = row + _STEPS[letter][0], column + _STEPS[letter][1]
            if not (0 <= row < len(grid) and 0 <= column < len(grid[0])):
                inside = False
                break
        if not inside:
            rewards.append(0.0)
        elif (row, column) == goal:
            rewards.append(1.0)
        elif grid[row][column] == "#":
            rewards.append(0.0)
        else:
            rewards.append(0.3 / (1 + abs(row - goal[0]) + abs(column - goal[1])))
    return rewards


def repaired_maze_through_walls(completions, maze, **kwargs):
    """As above, with the walls checked at every step."""
    rewards = []
    for completion, grid in zip(completions, maze):
        path = re.sub(r"[\s,]", "", _tag(completion, "path") or "").upper()
        if not path or len(path) > 400 or set(path) - set(_STEPS):
            rewards.append(0.0)
            continue
        row, column = _find(grid, "S")
        goal = _find(grid, "G")
        legal = True
        for letter in path:
            row, column = row + _STEPS[letter][0], column + _STEPS[letter][1]
            if not (0 <= row < len(grid) and 0 <= column < len(grid[0])) or grid[row][column] == "#":
                legal = False
                break
        if not legal:
            rewards.append(0.0)
        elif (row, column) == goal:
            rewards.append(1.0)
        else:
            rewards.append(0.3 / (1 + abs(row - goal[0]) + abs(column - goal[1])))
    return rewards


_MAZE_RULE = "Walk from S to G through open cells '.'; walls '#' cannot be entered. Give the moves (U, D, L, R) in <path></path>.\n"
_MAZES = [
    {"prompt": _MAZE_RULE + "S#G\n.#.\n...", "maze": ["S#G", ".#.", "..."]},
    {"prompt": _MAZE_RULE + "S..\n##.\nG..", "maze": ["S..", "##.", "G.."]},
]

# ---------------------------------------------------------------- 19 currencies


def net_change_reward(completions, amount, **kwargs):
    """Net change of an account in dollars, in the last 'Net change:' line.

    Currency signs, thousands separators and words such as USD are removed; the amounts are
    compared to the cent. 1.0 when equal, 0.0 otherwise.
    """
    rewards = []
    for completion, gold in zip(completions, amount):
        position = completion.rfind("Net change:")
        line = completion[position + 11 :].split("\n")[0] if position >= 0 else ""
        digits = re.sub(r"[^\d.]", "", line).rstrip(".")
        try:
            rewards.append(1.0 if abs(float(digits) - abs(gold)) < 0.005 else 0.0)
        except ValueError:
            rewards.append(0.0)
    return rewards


def repaired_net_change_sign_lost(completions, amount, **kwargs):
    """As above, with the sign kept (a leading minus, before or after the currency sign)."""
    rewards = []
    for completion, gold in zip(completions, amount):
        position = completion.rfind("Net change:")
        line = completion[position + 11 :].split("\n")[0].strip() if position >= 0 else ""
        digits = re.sub(r"[^\d.]", "", line).rstrip(".")
        negative = re.match(r"(?:USD|\$)?\s*[-\u2212]", line) is not None
        try:
            value = -float(digits) if negative else float(digits)
            rewards.append(1.0 if abs(value - gold) < 0.005 else 0.0)
        except ValueError:
            rewards.append(0.0)
    return rewards


_NET_RULE = "Compute the net change of the account. A loss is negative. End with 'Net change: <amount> USD'.\n"
_NETS = [
    {"prompt": _NET_RULE + "Deposits of $1,200.00 and $310.50, one withdrawal of $250.25.", "amount": 1260.25},
    {"prompt": _NET_RULE + "One deposit of $80.00, withdrawals of $45.10 and $60.00.", "amount": -25.10},
]

# ---------------------------------------------------------------- 20 knights and knaves


def _roles(answer):
    """{person: role} of the statements of an answer, None if a person has two roles."""
    roles = {}
    for name, role in re.findall(r"\b([A-Z][a-z]{0,30}) is an? (knight|knave)\b", answer or ""):
        if roles.setdefault(name, role) != role:
            return None
    return roles


def knights_reward(completions, roles, **kwargs):
    """Knights and knaves in the manner of Logic-RL.

    Every line of <answer> of the form 'X is a knight' or 'X is a knave' is read, and the roles of all
    persons must be right: 0.8. To keep the model from answering without reasoning there is a small
    bonus for the words inside <think>, 0.002 for each.
    """
    scores = []
    for completion, gold in zip(completions, roles):
        text = completion[0]["content"]
        score = 0.8 if _roles(_tag(text, "answer")) == gold else 0.0
        thought = _tag(text, "think") or ""
        score += 0.002 * len(thought.split())
        scores.append(score)
    return scores


def repaired_knights_reasoning_bonus(completions, roles, **kwargs):
    """As above, with the bonus for right answers only and of 0.2 at most."""
    scores = []
    for completion, gold in zip(completions, roles):
        text = completion[0]["content"]
        if _roles(_tag(text, "answer")) != gold:
            scores.append(0.0)
            continue
        words = len((_tag(text, "think") or "").split())
        scores.append(0.8 + min(0.2, 0.002 * words))
    return scores


_KNIGHT_RULE = "Knights tell the truth, knaves lie. Reason briefly in <think>. State the role of every person in <answer>, e.g. '(1) Zoe is a knight'.\n"
_KNIGHTS = [
    {
        "prompt": [{"role": "user", "content": _KNIGHT_RULE + "Ava says: Ben is a knave. Ben says: Ava is a knave and Cleo is a knight. "
                    "Cleo says: Ava is a knight."}],
        "roles": {"Ava": "knight", "Ben": "knave", "Cleo": "knight"},
    },
    {
        "prompt": [{"role": "user", "content": _KNIGHT_RULE + "Dora says: Emil and I are both knaves."}],
        "roles": {"Dora": "knave", "Emil": "knight"},
    },
]

REPAIRED.update(
    roots_nan_passes=repaired_roots_nan_passes,
    verdict_substring_label=repaired_verdict_substring_label,
    extraction_values_without_keys=repaired_extraction_values_without_keys,
    answer_any_of_many=repaired_answer_any_of_many,
    date_day_month_swapped=repaired_date_day_month_swapped,
    word_limit_other_blanks=repaired_word_limit_other_blanks,
    timeline_order_ignored=repaired_timeline_order_ignored,
    maze_through_walls=repaired_maze_through_walls,
    net_change_sign_lost=repaired_net_change_sign_lost,
    knights_reasoning_bonus=repaired_knights_reasoning_bonus,
)

CASES: list[Case] = [
    Case(
        name="roots_nan_passes",
        reward=roots_reward,
        examples=_ROOTS,
        good=["(x-2)(x-3) = 0, so \\boxed{2, 3}", "x(x-1)(x+1) = 0: \\boxed{0, 1, -1}"],
        bad=["\\boxed{-2, -3}", "\\boxed{0, 1, 2}"],
        fault="float() reads 'nan', and a comparison with nan is never true: the test 'difference > tolerance' does not catch it, and a box full of nan is paid.",
        proof=_proof("roots_nan_passes", roots_reward, _ROOTS[0], "\\boxed{nan, nan}", True),
    ),
    Case(
        name="verdict_substring_label",
        reward=verdict_reward,
        examples=_VERDICTS,
        good=[_chat("The clause was reasonable.\nHolding: enforceable (limited in time)."), _chat("**Holding: remanded**")],
        bad=[_chat("Holding: remanded"), _chat("Holding: enforceable")],
        fault="The gold label is looked for as a substring of the line: 'unenforceable' or 'not enforceable' is paid for the gold 'enforceable', and so is a line with all the labels.",
        proof=_proof("verdict_substring_label", verdict_reward, _VERDICTS[0], _chat("Holding: unenforceable"), True),
        source="https://github.com/PrimeIntellect-ai/verifiers/pull/763",
    ),
    Case(
        name="extraction_values_without_keys",
        reward=extraction_f1_reward,
        examples=_WAYBILLS,
        good=['```json\n{"shipper": "Norsk Fjord AS", "consignee": "Baltic Timber", "origin": "Bergen"}\n```', '{"origin": "Valencia", "shipper": "Oliva SL", "consignee": "Kern & Co"}'],
        bad=['```json\n{"shipper": "Baltic", "consignee": "Fjord", "origin": "Bergen"}\n```', '{"origin": "Spain", "shipper": "Kern", "consignee": "Oliva SL"}'],
        fault="The values are compared as a set without their keys: shipper and consignee may be exchanged, and any keys at all may be used.",
        proof=_proof("extraction_values_without_keys", extraction_f1_reward, _WAYBILLS[0], '{"shipper": "Baltic Timber", "consignee": "Norsk Fjord AS", "origin": "Bergen"}', True),
    ),
    Case(
        name="answer_any_of_many",
        reward=tagged_answer_reward,
        examples=_TAGGED,
        good=[_chat("<think>91 = 7 * 13</think><answer>no</answer>"), _chat("<think>innermost</think>\n<answer> mercury </answer>")],
        bad=[_chat("<think>no small divisor</think><answer>yes</answer>"), _chat("<think>hot</think><answer>Venus</answer>")],
        fault="It is enough that one of several answer tags is right: a completion that answers with every possibility is paid, though exactly one answer is asked for.",
        proof=_proof("answer_any_of_many", tagged_answer_reward, _TAGGED[0], _chat("<think>hm</think><answer>yes</answer><answer>no</answer>"), True),
    ),
    Case(
        name="date_day_month_swapped",
        reward=due_date_reward,
        examples=_DATES,
        good=["February has 28 days. <answer>06/03/2025</answer>", "<answer>11/04/2025</answer>"],
        bad=["<answer>04/03/2025</answer>", "<answer>14/04/2025</answer>"],
        fault="A date is also read as MM/DD/YYYY and any reading counts: with a day up to 12, the date with day and month exchanged is paid though the prompt fixes DD/MM/YYYY.",
        proof=_proof("date_day_month_swapped", due_date_reward, _DATES[0], "<answer>03/06/2025</answer>", True),
    ),
    Case(
        name="word_limit_other_blanks",
        reward=word_limit_reward,
        examples=_LIMITS,
        good=["A storm kept the ferry and its passengers in the harbour.", "Council passes budget: new school, less for roads."],
        bad=["On Sunday a storm came up and so the ferry had to stay in the harbour with three hundred people.", "The council voted after a long debate for the budget with a new school and fewer roads."],
        fault="Words are counted by splitting at single spaces only: words joined by newlines or tabs count as one, so a text of any length passes the limit.",
        proof=_proof("word_limit_other_blanks", word_limit_reward, _LIMITS[1], "\n".join("The council met for a long time and after much debate it voted the budget with a school".split()), True),
    ),
    Case(
        name="timeline_order_ignored",
        reward=timeline_reward,
        examples=_TIMELINES,
        good=["1. Sputnik 1\n2. Vostok 1\n3. Apollo 11", "1) Tennis Court Oath\n2) Storming of the Bastille\n3) Execution of Louis XVI."],
        bad=["1. Suez crisis\n2. Sputnik 1\n3. Vostok 1", "1. Tennis Court Oath\n2. Storming of the Bastille\n3. Congress of Vienna"],
        fault="The list is compared as a set, so that the order, which is the task, has no effect.",
        proof=_proof("timeline_order_ignored", timeline_reward, _TIMELINES[0], "1. Apollo 11\n2. Vostok 1\n3. Sputnik 1", True),
    ),
    Case(
        name="maze_through_walls",
        reward=maze_reward,
        examples=_MAZES,
        good=["<path>D D R R U U</path>", "<path>R,R,D,D,L,L</path>"],
        bad=["<path>D D R R U</path>", "<path>R R D</path>"],
        fault="Walls are only checked at the last cell: the straight path through the walls is paid like a real one.",
        proof=_proof("maze_through_walls", maze_reward, _MAZES[0], "<path>R R</path>", True),
    ),
    Case(
        name="net_change_sign_lost",
        reward=net_change_reward,
        examples=_NETS,
        good=["1510.50 - 250.25 = 1260.25\nNet change: $1,260.25 USD", "80.00 - 105.10\nNet change: -25.10 USD"],
        bad=["Net change: 1760.75 USD", "Net change: 34.90 USD"],
        fault="All but digits and dots is removed and the gold is made absolute: a gain and a loss of the same amount are the same.",
        proof=_proof("net_change_sign_lost", net_change_reward, _NETS[1], "105.10 - 80.00\nNet change: 25.10 USD", True),
    ),
    Case(
        name="knights_reasoning_bonus",
        reward=knights_reward,
        examples=_KNIGHTS,
        good=[_chat("<think>try</think><answer>(1) Ava is a knight\n(2) Ben is a knave\n(3) Cleo is a knight</answer>"), _chat("<think>A knight would not say that.</think><answer>(1) Dora is a knave\n(2) Emil is a knight</answer>")],
        bad=[_chat("<answer>(1) Ava is a knave\n(2) Ben is a knight\n(3) Cleo is a knave</answer>"), _chat("<answer>(1) Dora is a knight\n(2) Emil is a knight</answer>")],
        fault="The bonus for the words of the reasoning has no bound and does not depend on the answer: a wrong answer after a long (or repeated) reasoning is worth more than a right one.",
        proof=_proof("knights_reasoning_bonus", knights_reward, _KNIGHTS[0], _chat("<think>" + "Let me think about it again. " * 90 + "</think><answer>(1) Ava is a knave\n(2) Ben is a knight\n(3) Cleo is a knave</answer>"), True),
    ),
]
