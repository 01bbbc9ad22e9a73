"""Blind set q, part 4: sound reward functions (summaries, instructions, vision, agents, OCR, ranking, safety, dialogue)."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal

from tests.faults.case import Case


def _text(completion):
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] or ""


def _unique(pairs):
    """An object of JSON; a key that occurs twice is an error."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _load(text):
    return json.loads(text, object_pairs_hook=_unique)


def _say(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- extractive summary


def extractive_summary_reward(completions, summaries, **kwargs) -> list[float]:
    """Score an extractive summary: `Sentences: i, j`, two different sentence numbers in any order.

    `summaries` has the pairs that the annotators accept. 1.0 for such a pair, 0.4 if one of the two numbers
    is in one, else 0.
    """
    rewards = []
    for completion, accepted in zip(completions, summaries):
        match = re.fullmatch(r"\s*Sentences:\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\.?\s*", _text(completion))
        chosen = {int(number) for number in match.groups()} if match else set()
        if len(chosen) != 2:
            rewards.append(0.0)
            continue
        overlap = max(len(chosen & set(pair)) for pair in accepted)
        rewards.append({0: 0.0, 1: 0.4, 2: 1.0}[overlap])
    return rewards


_EXTRACT = (
    "Choose the two sentences that tell who did what and with what result; leave out weather, quotes and background. Reply "
    "with one line such as `Sentences: 2, 7`.\n"
)


# ---------------------------------------------------------------- word selection


def word_filter_reward(completions, words, length, banned, **kwargs) -> list[float]:
    """Score an instruction with several rules that can all be checked.

    From the given words the reply lists all that have `length` letters and none of the `banned` letters, in
    alphabetical order, in lower case, on one line with ', ' between them. 1.0 if every rule is kept; 0.5 if the words
    are the right ones but the order isn't; else 0.
    """
    rewards = []
    for completion, given, size, letters in zip(completions, words, length, banned):
        expected = sorted(word for word in set(given) if len(word) == size and not set(word) & set(letters))
        reply = _text(completion).strip()
        listed = reply.split(", ")
        if listed == expected:
            rewards.append(1.0)
        elif sorted(listed) == expected:
            rewards.append(0.5)
        else:
            rewards.append(0.0)
    return rewards


_WORDS = (
    "From these words list all that have exactly {1} letters and contain none of the letters {2}: {0}. One line, lower case, "
    "alphabetical order, a comma and a space between the words, no full stop, nothing else."
)


def _word_row(words, length, banned):
    return {
        "prompt": [{"role": "user", "content": _WORDS.format(" ".join(words), length, " ".join(banned))}],
        "words": words,
        "length": length,
        "banned": banned,
    }


# ---------------------------------------------------------------- detection


def detection_reward(completions, boxes, image_size, **kwargs) -> list[float]:
    """Score a list of boxes for all objects of a class, [[x1, y1, x2, y2], ...] in pixels.

    Boxes are matched one to one to the annotated ones at an IoU of at least 0.5, with as many matches as possible. 1.0 if
    every object has a box and every box has an object, else 0.6 * F1.
    """

    def iou(a, b):
        width = min(a[2], b[2]) - max(a[0], b[0])
        height = min(a[3], b[3]) - max(a[1], b[1])
        if width <= 0 or height <= 0:
            return 0.0
        inter = width * height
        return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)

    def matches(predicted, gold):
        partner = {}

        def place(index, tried):
            for other, box in enumerate(gold):
                if other in tried or iou(predicted[index], box) < 0.5:
                    continue
                tried.add(other)
                if other not in partner or place(partner[other], tried):
                    partner[other] = index
                    return True
            return False

        return sum(place(index, set()) for index in range(len(predicted)))

    rewards = []
    for completion, gold, (width, height) in zip(completions, boxes, image_size):
        try:
            predicted = _load(_text(completion))
        except (ValueError, RecursionError):
            predicted = None
        valid = (
            isinstance(predicted, list)
            and len(predicted) <= 50
            and all(isinstance(box, list) and len(box) == 4 for box in predicted)
            and all(type(value) in (int, float) for box in predicted for value in box)
            and all(0 <= x1 < x2 <= width and 0 <= y1 < y2 <= height for x1, y1, x2, y2 in predicted)
        )
        if not valid:
            rewards.append(0.0)
            continue
        found = matches(predicted, gold)
        if found == len(predicted) == len(gold):
            rewards.append(1.0)
        else:
            rewards.append(0.6 * 2 * found / (len(predicted) + len(gold)))
    return rewards


_DETECT = (
    "The image is {0} x {1} pixels. Detect every {2}. Reply with only a JSON list of boxes [x1, y1, x2, y2] in pixels, one per "
    "object, [] if there is none. A box is right if its IoU with the object is at least 0.5."
)


# ---------------------------------------------------------------- agent


def balance_agent_reward(completions, account, balance, **kwargs) -> list[float]:
    """Score a bank agent that answers a question on a balance with the tool get_balance.

    A completion is the conversation after the question. The last message is the assistant's and has only the line
    `Balance: 1234.50 EUR`. 1.0 if the amount is right, get_balance was called for the account, and no other tool
    or account was touched; 0.3 if only the amount is right; else 0.
    """
    amount_form = re.compile(r"Balance: ((?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,8}|0)\.[0-9]{2}) EUR")
    rewards = []
    for completion, number, gold in zip(completions, account, balance):
        messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
        final = messages[-1] if messages else {"role": "none"}
        match = amount_form.fullmatch((final.get("content") or "").strip()) if final["role"] == "assistant" else None
        if not match or Decimal(match.group(1).replace(",", "")) != Decimal(gold):
            rewards.append(0.0)
            continue
        calls = []
        for message in messages[:-1]:
            if message["role"] != "assistant":
                continue
            parts = (message.get("content") or "").split("<tool_call>")[1:]
            for body in (part.partition("</tool_call>")[0] for part in parts):
                try:
                    calls.append(_load(body))
                except (ValueError, RecursionError):
                    calls.append(None)
        wanted = {"name": "get_balance", "arguments": {"account": number}}
        proper = bool(calls) and all(call == wanted for call in calls)
        rewards.append(1.0 if proper else 0.3)
    return rewards


_BANK = (
    "You are the agent of a bank. Tools: get_balance(account: str), transfer(source: str, target: str, amount: number). Call "
    'one with <tool_call>{"name": ..., "arguments": {...}}</tool_call>; the result comes in the next message. Look the '
    "balance up and touch no account but the one asked for. Your last message is only the line `Balance: 1234.50 EUR`."
)


def _bank_row(account, balance):
    return {
        "prompt": [
            {"role": "system", "content": _BANK},
            {"role": "user", "content": f"What's the balance of account {account}?"},
        ],
        "account": account,
        "balance": balance,
    }


def _bank_run(account, result, final, tool="get_balance"):
    call = json.dumps({"name": tool, "arguments": {"account": account}})
    return [
        {"role": "assistant", "content": f"<tool_call>{call}</tool_call>"},
        {"role": "tool", "content": result},
        {"role": "assistant", "content": final},
    ]


# ---------------------------------------------------------------- counting


def class_count_reward(completions, counts, **kwargs) -> list[float]:
    """Score the numbers of objects per class as JSON, such as {"car": 2, "person": 0}, with all the classes asked for.

    1.0 if all are right, else half of the share of the classes that are right.
    """
    rewards = []
    for completion, gold in zip(completions, counts):
        match = re.fullmatch(r"\s*(?:```(?:json)?\s*)?(\{[^{}]*\})\s*(?:```)?\s*", _text(completion))
        try:
            predicted = _load(match.group(1)) if match else None
        except (ValueError, RecursionError):
            predicted = None
        if not isinstance(predicted, dict) or set(predicted) != set(gold):
            rewards.append(0.0)
            continue
        right = sum(type(predicted[name]) is int and predicted[name] == gold[name] for name in gold)
        rewards.append(1.0 if right == len(gold) else 0.5 * right / len(gold))
    return rewards


_CLASSES = "<image>Count the objects of the classes {0}. Reply with only a JSON object of whole numbers with a key for each, 0 too."


# ---------------------------------------------------------------- receipts


def receipt_reward(completions, fields, **kwargs) -> list[float]:
    """Score the reading of a receipt: JSON with `date` (YYYY-MM-DD), `total` ("12.50") and `currency` (ISO code).

    1.0 if all three are right, else 0.2 for each right one.
    """

    def day(value):
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None

    def money(value):
        if not isinstance(value, str) or not re.fullmatch(r"(?:0|[1-9][0-9]{0,6})\.[0-9]{2}", value):
            return None
        return Decimal(value)

    rewards = []
    for completion, gold in zip(completions, fields):
        try:
            read = _load(_text(completion))
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict) or set(read) != {"date", "total", "currency"}:
            rewards.append(0.0)
            continue
        right = [
            day(read["date"]) == day(gold["date"]),
            money(read["total"]) == money(gold["total"]),
            read["currency"] == gold["currency"],
        ]
        rewards.append(1.0 if all(right) else 0.2 * sum(right))
    return rewards


_RECEIPT = (
    "<image>{0}</image>\nRead the receipt. Reply with only a JSON object with the keys date (YYYY-MM-DD; the shop writes day "
    "before month), total (the amount paid, a string with a decimal point and two decimals) and currency (three letter "
    "ISO code)."
)


# ---------------------------------------------------------------- ranking


def order_reward(completions, order, **kwargs) -> list[float]:
    """Score a ranking of all the candidates, `C > A > B`.

    1.0 for the right order; another order of all the candidates gets 0.6 times its share of the pairs in the right
    order; a ranking that lacks a candidate or repeats one gets 0.
    """
    rewards = []
    for completion, gold in zip(completions, order):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        listed = [line for line in lines if line.lower().startswith("ranking:")]
        if len(listed) != 1 or lines[-1] != listed[0]:
            rewards.append(0.0)
            continue
        names = [name.strip() for name in listed[0][len("ranking:") :].rstrip(".").split(">")]
        if len(names) != len(gold) or set(names) != set(gold):
            rewards.append(0.0)
            continue
        if names == gold:
            rewards.append(1.0)
            continue
        place = {name: index for index, name in enumerate(names)}
        pairs = [(first, second) for index, first in enumerate(gold) for second in gold[index + 1 :]]
        agreed = sum(place[first] < place[second] for first, second in pairs)
        rewards.append(0.6 * agreed / len(pairs))
    return rewards


_ORDER = "{0} Explain in a sentence and end with one line, `Ranking: X > Y > Z`, that has every letter once."


# ---------------------------------------------------------------- moderation


def moderation_reward(completions, unsafe, categories, **kwargs) -> list[float]:
    """Score a moderation verdict: {"unsafe": true or false, "categories": [...]}, no category for a safe text.

    1.0 for the right verdict and exactly the right categories, 0.4 for the right verdict with other ones, else 0.
    """
    known = {"violence", "fraud", "self_harm", "privacy"}
    rewards = []
    for completion, is_unsafe, gold in zip(completions, unsafe, categories):
        try:
            verdict = _load(_text(completion))
        except (ValueError, RecursionError):
            verdict = None
        if not isinstance(verdict, dict) or set(verdict) != {"unsafe", "categories"}:
            rewards.append(0.0)
            continue
        flag, named = verdict["unsafe"], verdict["categories"]
        if type(flag) is not bool or not isinstance(named, list):
            rewards.append(0.0)
            continue
        if not all(isinstance(name, str) and name in known for name in named) or len(set(named)) != len(named):
            rewards.append(0.0)
            continue
        if flag is not is_unsafe or flag != bool(named):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if set(named) == set(gold) else 0.4)
    return rewards


_MODERATE = (
    "Judge the message. Reply with only a JSON object, {\"unsafe\": true or false, \"categories\": [...]}, with all the "
    "categories that it falls under, of violence (threats to others), fraud (getting money by deceit), self_harm, privacy "
    "(data of a private person are made public); [] for a safe message.\nMessage: "
)


# ---------------------------------------------------------------- confidence


def sure_answer_reward(completions, answer, **kwargs) -> list[float]:
    """Score an answer together with how sure the model is (low, medium, high).

    Right: 1.0, 0.9 or 0.8 for high, medium or low. Wrong: -1.0, -0.4 or 0.0. No valid form: -1.0.
    """
    right = {"high": 1.0, "medium": 0.9, "low": 0.8}
    wrong = {"high": -1.0, "medium": -0.4, "low": 0.0}
    form = re.compile(r"Answer: ([^\n]+)\n\s*Confidence: (low|medium|high)")
    rewards = []
    for completion, accepted in zip(completions, answer):
        text = _text(completion)
        if text.count("</think>") > 1 or text.count("<think>") != text.count("</think>"):
            rewards.append(-1.0)
            continue
        reasoning, end, reply = text.rpartition("</think>")
        match = form.fullmatch(reply.strip())
        if not match or end and not reasoning.lstrip().startswith("<think>"):
            rewards.append(-1.0)
            continue
        given = " ".join(match.group(1).casefold().strip(" .").split())
        table = right if given in {name.casefold() for name in accepted} else wrong
        rewards.append(table[match.group(2)])
    return rewards


_SURE = (
    "Answer with a name alone, and say how sure you are. You may reason in one <think></think> block at the beginning. Then two "
    "lines:\nAnswer: ...\nConfidence: low, medium or high\nA right answer earns 0.8, 0.9 or 1, a wrong one 0, -0.4 or -1.\n"
)


# ---------------------------------------------------------------- dialogue state


def joint_state_reward(completions, state, **kwargs) -> list[float]:
    """Score the state of a restaurant booking dialogue: a JSON object with just the slots that the user has filled.

    `state` maps each of these slots to the values that are accepted. 1.0 if the state is right as a whole (joint goal
    accuracy), else half of the share of right slots among those filled or given.
    """

    def norm(slot, value):
        if not isinstance(value, str):
            return None
        value = " ".join(value.lower().split())
        clock = re.fullmatch(r"([0-9]{1,2}):([0-9]{2})", value)
        if slot == "time" and clock:
            return f"{int(clock.group(1)):02d}:{clock.group(2)}"
        return value

    rewards = []
    for completion, gold in zip(completions, state):
        try:
            predicted = _load(_text(completion))
        except (ValueError, RecursionError):
            predicted = None
        if not isinstance(predicted, dict):
            rewards.append(0.0)
            continue
        right = {
            slot
            for slot, values in gold.items()
            if slot in predicted and norm(slot, predicted[slot]) in {norm(slot, value) for value in values}
        }
        if right == set(gold) == set(predicted):
            rewards.append(1.0)
        else:
            rewards.append(0.5 * len(right) / len(set(gold) | set(predicted)))
    return rewards


_STATE = (
    "Track what the user wants. Reply with only a JSON object with the slots that the user has filled so far, of food, area, "
    "price (cheap, moderate, expensive), time (HH:MM, 24 hours) and people, all values as strings (people in digits), the last "
    "wish if the user changes it; {} if there is none."
)


def _state_prompt(*turns):
    roles = ("user", "assistant")
    return [
        {"role": "system", "content": _STATE},
        *({"role": roles[index % 2], "content": text} for index, text in enumerate(turns)),
    ]


CASES = [
    Case(
        name="q_ok_extractive",
        reward=extractive_summary_reward,
        examples=[
            {
                "prompt": _EXTRACT + "(1) It was a cold morning. (2) The council of Ely closed the old bridge on Monday. "
                "(3) 'We had no choice,' said the mayor. (4) Buses now take an hour longer. (5) The bridge dates from 1880.",
                "summaries": [[2, 4]],
            },
            {
                "prompt": _EXTRACT + "(1) Nora Berg won the marathon on Sunday. (2) Nora Berg was the winner of Sunday's "
                "marathon. (3) She set a new national record. (4) The sun shone. (5) Marathons are 42 km long.",
                "summaries": [[1, 3], [2, 3]],
            },
        ],
        good=["Sentences: 2, 4", "Sentences: 3, 1"],
        bad=["Sentences: 1, 5", "Sentences: 1, 2"],
    ),
    Case(
        name="q_ok_word_filter",
        reward=word_filter_reward,
        examples=[
            _word_row(["mouse", "tiger", "llama", "cat", "koala", "horse", "bison"], 5, ["e"]),
            _word_row(["plum", "pear", "kiwi", "fig", "lime", "date", "cherry"], 4, ["a", "m"]),
            _word_row(["red", "teal", "blue", "pink", "gold", "grey"], 4, ["b", "p"]),
        ],
        good=[_say("bison, koala, llama"), _say("kiwi"), _say("gold, grey, teal")],
        bad=[_say("bison, koala, llama, tiger"), _say("fig, kiwi"), _say("teal, gold, grey")],
    ),
    Case(
        name="q_ok_detection",
        reward=detection_reward,
        examples=[
            {
                "prompt": [{"role": "user", "content": _DETECT.format(640, 480, "cup")}],
                "boxes": [[10, 10, 60, 60], [70, 10, 120, 60], [300, 200, 400, 330]],
                "image_size": [640, 480],
            },
            {
                "prompt": [{"role": "user", "content": _DETECT.format(800, 600, "dog")}],
                "boxes": [],
                "image_size": [800, 600],
            },
        ],
        good=[_say("[[298, 204, 401, 328], [70.5, 11, 118, 60], [12, 10, 60, 58]]"), _say("[]")],
        bad=[_say("[[10, 10, 120, 60], [300, 200, 400, 330]]"), _say("[[100, 100, 200, 200]]")],
    ),
    Case(
        name="q_ok_bank_agent",
        reward=balance_agent_reward,
        examples=[_bank_row("AC-17", "1234.50"), _bank_row("AC-20", "0.00")],
        good=[
            _bank_run("AC-17", "1234.50", "Balance: 1,234.50 EUR"),
            _bank_run("AC-20", "0.00", "Balance: 0.00 EUR"),
        ],
        bad=[
            _bank_run("AC-17", "1234.50", "Your balance is 1234.50."),
            _bank_run("AC-17", "1234.50", "Balance: 1234.50 EUR"),
        ],
    ),
    Case(
        name="q_ok_class_counts",
        reward=class_count_reward,
        examples=[
            {"prompt": _CLASSES.format("car, person and dog"), "counts": {"car": 2, "person": 5, "dog": 0}},
            {"prompt": _CLASSES.format("apple and pear"), "counts": {"apple": 0, "pear": 0}},
        ],
        good=['{"car": 2, "person": 5, "dog": 0}', '```json\n{"pear": 0, "apple": 0}\n```'],
        bad=['{"car": 2, "person": 5}', '{"pear": 1, "apple": 0}'],
    ),
    Case(
        name="q_ok_receipt",
        reward=receipt_reward,
        examples=[
            {
                "prompt": _RECEIPT.format("CAFE LUNA 03/04/2025 Coffee 3,50 Cake 4,00 SUM 7,50 EUR"),
                "fields": {"date": "2025-04-03", "total": "7.50", "currency": "EUR"},
            },
            {
                "prompt": _RECEIPT.format("BOOKS LTD 12.11.2024 Atlas 30.00 Discount 5.05 PAID GBP 24.95"),
                "fields": {"date": "2024-11-12", "total": "24.95", "currency": "GBP"},
            },
        ],
        good=[
            '{"date": "2025-04-03", "total": "7.50", "currency": "EUR"}',
            '{"currency": "GBP", "total": "24.95", "date": "2024-11-12"}',
        ],
        bad=[
            '{"date": "2025-03-04", "total": "7.50", "currency": "EUR"}',
            '{"date": "2024-11-12", "total": "30.00", "currency": "GBP"}',
        ],
    ),
    Case(
        name="q_ok_order",
        reward=order_reward,
        examples=[
            {
                "prompt": _ORDER.format("Rank by height, the highest first: A Mont Blanc, B Everest, C Ben Nevis, D K2."),
                "order": ["B", "D", "A", "C"],
            },
            {
                "prompt": _ORDER.format("Rank by year, the first first: A moon landing, B French revolution, C Hastings."),
                "order": ["C", "B", "A"],
            },
        ],
        good=["K2 is the second.\nRanking: B > D > A > C", "Ranking: C > B > A"],
        bad=["Ranking: B > D > C > A", "Ranking: C > B"],
    ),
    Case(
        name="q_ok_moderation",
        reward=moderation_reward,
        examples=[
            {
                "prompt": [{"role": "user", "content": _MODERATE + "Pay me or I break your legs, 5 Hill Road, Ann Low!"}],
                "unsafe": True,
                "categories": ["violence", "privacy"],
            },
            {
                "prompt": [{"role": "user", "content": _MODERATE + "How do I kill a process that hangs?"}],
                "unsafe": False,
                "categories": [],
            },
        ],
        good=[_say('{"unsafe": true, "categories": ["privacy", "violence"]}'), _say('{"unsafe": false, "categories": []}')],
        bad=[_say('{"unsafe": false, "categories": []}'), _say('{"unsafe": true, "categories": ["violence"]}')],
    ),
    Case(
        name="q_ok_sure",
        reward=sure_answer_reward,
        examples=[
            {"prompt": _SURE + "Which metal has the symbol Fe?", "answer": ["iron"]},
            {"prompt": _SURE + "Who wrote Emma (1815)?", "answer": ["Jane Austen", "Austen"]},
        ],
        good=[
            "Answer: Iron\nConfidence: high",
            "<think>Not one of the Brontës.</think>\nAnswer: Jane Austen\nConfidence: high",
        ],
        bad=["Answer: Fluorine\nConfidence: low", "Answer: Emily Brontë\nConfidence: high"],
    ),
    Case(
        name="q_ok_joint_state",
        reward=joint_state_reward,
        examples=[
            {
                "prompt": _state_prompt("A table for four, Thai food.", "What time?", "At nine in the morning. No, ten!"),
                "state": {"people": ["4"], "food": ["Thai"], "time": ["10:00"]},
            },
            {
                "prompt": _state_prompt("Something cheap in the centre, please."),
                "state": {"price": ["cheap"], "area": ["centre", "center"]},
            },
            {"prompt": _state_prompt("Hello!"), "state": {}},
        ],
        good=[
            _say('{"food": "thai", "people": "4", "time": "10:00"}'),
            _say('{"price": "cheap", "area": "center"}'),
            _say("{}"),
        ],
        bad=[
            _say('{"food": "Thai", "people": "4", "time": "09:00"}'),
            _say('{"price": "cheap"}'),
            _say('{"food": "Thai"}'),
        ],
    ),
]
