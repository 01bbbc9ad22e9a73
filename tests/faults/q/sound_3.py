"""Blind set q, part 3: sound reward functions (tools, screens, quotes, choices, labels, medicine, law, dates)."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime

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


# ---------------------------------------------------------------- parallel tool calls


def _plain(value):
    """A JSON value with 20.0 as 20, so that equal numbers are written alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def parallel_calls_reward(completions, answer, defaults, **kwargs) -> list[float]:
    """Score a set of parallel tool calls.

    The reply is optional <think> reasoning and <tool_calls>[...]</tool_calls> with a JSON list of
    {"name", "arguments"}. The order of the calls is free, an argument with its default value may be left out.
    1.0 for exactly the expected calls, else half of the share of them (missing and needless ones both count).
    """
    pattern = re.compile(
        r"\s*(?:<think>(?:(?!</?think>|</?tool_calls>).)*</think>)?\s*"
        r"<tool_calls>((?:(?!</?tool_calls>).)*)</tool_calls>\s*",
        re.DOTALL,
    )

    def canonical(calls, filled):
        found = Counter()
        for call in calls:
            if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
                raise ValueError("not a call")
            if not isinstance(call["name"], str) or not isinstance(call["arguments"], dict):
                raise ValueError("not a call")
            arguments = {**filled.get(call["name"], {}), **call["arguments"]}
            found[json.dumps([call["name"], _plain(arguments)], sort_keys=True)] += 1
        return found

    rewards = []
    for completion, gold_json, defaults_json in zip(completions, answer, defaults):
        filled = json.loads(defaults_json)
        gold = canonical(json.loads(gold_json), filled)
        match = pattern.fullmatch(_text(completion))
        try:
            parsed = _load(match.group(1)) if match else None
            if not isinstance(parsed, list):
                raise ValueError("no list of calls")
            calls = canonical(parsed, filled)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if calls == gold:
            rewards.append(1.0)
            continue
        shared = sum((calls & gold).values())
        rewards.append(0.5 * shared / max(sum(calls.values()), sum(gold.values())))
    return rewards


_PAR = (
    'Tools: get_weather(city: str, unit: "celsius" | "fahrenheit" = "celsius"), get_time(city: str), '
    "convert(amount: number, source: str, target: str). You may reason in <think></think>; then write all the calls that "
    'the request needs, and no other, as <tool_calls>[{"name": ..., "arguments": {...}}, ...]</tool_calls>. Write cities '
    "and currency codes as the user does."
)
_PAR_DEFAULTS = '{"get_weather": {"unit": "celsius"}}'


# ---------------------------------------------------------------- screen actions


def phone_action_reward(completions, target, **kwargs) -> list[float]:
    """Score one action of a phone agent.

    The reply is optional <think> reasoning and one JSON object: click with x and y, type with text, swipe with
    direction, or back. 1.0 for the right action (a click anywhere in the target box), 0.2 if only its kind is right.
    """
    fields = {"click": {"x", "y"}, "type": {"text"}, "swipe": {"direction"}, "back": set()}
    rewards = []
    for completion, wanted in zip(completions, target):
        match = re.fullmatch(r"\s*(?:<think>(?:(?!</?think>).)*</think>)?\s*(\{.*\})\s*", _text(completion), re.DOTALL)
        try:
            action = _load(match.group(1)) if match else None
        except (ValueError, RecursionError):
            action = None
        kind = action.get("action") if isinstance(action, dict) else None
        if not isinstance(kind, str) or kind not in fields or set(action) != {"action"} | fields[kind]:
            rewards.append(0.0)
            continue
        if kind != wanted["action"]:
            rewards.append(0.0)
            continue
        if kind == "click":
            x, y = action["x"], action["y"]
            left, top, right, bottom = wanted["box"]
            numbers = all(type(value) in (int, float) for value in (x, y))
            hit = numbers and left <= x <= right and top <= y <= bottom
        elif kind == "type":
            hit = isinstance(action["text"], str) and action["text"].strip() == wanted["text"]
        elif kind == "swipe":
            hit = action["direction"] == wanted["direction"]
        else:
            hit = True
        rewards.append(1.0 if hit else 0.2)
    return rewards


_PHONE = (
    "You control a phone with a screen of 1080 x 2400 pixels. You may reason in <think></think>; then write your next "
    'action as one JSON object: {"action": "click", "x": ..., "y": ...}, {"action": "type", "text": "..."}, '
    '{"action": "swipe", "direction": "up" | "down" | "left" | "right"} (where the finger moves) or {"action": "back"}.\n'
)


# ---------------------------------------------------------------- evidence


def quoted_answer_reward(completions, answer, evidence, **kwargs) -> list[float]:
    """Score an answer with the sentence that proves it.

    The reply has two lines, `Answer: ...` and `Quote: ...`; the quote is one whole sentence of the passage, word for
    word. `evidence` has the sentences that state the answer. 1.0 if both are right, 0.4 if only the answer is.
    """

    def norm(text):
        text = text.replace("’", "'").replace("“", '"').replace("”", '"')
        return " ".join(text.split()).strip("'\" .")

    rewards = []
    for completion, accepted, sentences in zip(completions, answer, evidence):
        match = re.fullmatch(r"Answer:([^\n]+)\n+Quote:([^\n]+)", _text(completion).strip())
        if not match:
            rewards.append(0.0)
            continue
        if norm(match.group(1)).casefold() not in {norm(text).casefold() for text in accepted}:
            rewards.append(0.0)
            continue
        proven = norm(match.group(2)) in {norm(sentence) for sentence in sentences}
        rewards.append(1.0 if proven else 0.4)
    return rewards


_QUOTE = (
    "Answer from the passage in two lines:\nAnswer: <the name or number alone>\nQuote: <the whole sentence of the passage "
    "that states it, word for word>\n"
)


# ---------------------------------------------------------------- select all


def select_all_reward(completions, answer, **kwargs) -> list[float]:
    """Score a 'select all that apply' question with options A to E.

    The reply ends with its only answer line, such as `Answer: A, C`. 1.0 for exactly the right letters, 0.3 for some of
    them without a wrong one, else 0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        answers = [line for line in lines if line.lower().startswith("answer:")]
        if len(answers) != 1 or lines[-1] != answers[0]:
            rewards.append(0.0)
            continue
        match = re.fullmatch(r"answer:\s*([A-E](?:\s*,\s*[A-E])*)\.?", answers[0], re.IGNORECASE)
        letters = re.findall(r"[A-E]", match.group(1).upper()) if match else []
        if not letters or len(set(letters)) != len(letters):
            rewards.append(0.0)
        elif set(letters) == set(gold):
            rewards.append(1.0)
        else:
            rewards.append(0.3 if set(letters) < set(gold) else 0.0)
    return rewards


_ALL = "Select all that apply. Explain briefly and end with one line such as `Answer: A, C`.\n"


# ---------------------------------------------------------------- yes, no, maybe


def pubmed_decision_reward(completions, final_decision, **kwargs) -> list[float]:
    """Score a yes/no/maybe question on an abstract (PubMedQA): 2.0 right, 0.0 wrong, -0.5 for a broken form.

    The form is <think>...</think><answer>...</answer> with nothing around it and one word in the answer.
    """
    pattern = re.compile(
        r"\s*<think>((?:(?!</?think>|</?answer>).)+)</think>\s*<answer>\s*(yes|no|maybe)\s*</answer>\s*",
        re.DOTALL | re.IGNORECASE,
    )
    rewards = []
    for completion, gold in zip(completions, final_decision):
        match = pattern.fullmatch(_text(completion))
        if not match or not match.group(1).strip():
            rewards.append(-0.5)
        else:
            rewards.append(2.0 if match.group(2).lower() == gold.lower() else 0.0)
    return rewards


_PUB = (
    "Does the abstract support the claim? Reason in <think></think>, then answer with one word, yes, no or maybe, in "
    "<answer></answer>; write nothing else.\n"
)


# ---------------------------------------------------------------- intents


def intent_reward(completions, intent, **kwargs) -> list[float]:
    """Score the intent of a bank customer: `Intent: group/name`. 1.0 right, 0.3 for the right group, else 0."""
    intents = {
        "card": {"lost", "blocked", "order"},
        "transfer": {"pending", "wrong_amount", "cancel"},
        "account": {"close", "address", "statement"},
    }
    rewards = []
    for completion, gold in zip(completions, intent):
        match = re.fullmatch(r"\s*Intent:\s*([a-z]+)/([a-z_]+)\s*", _text(completion))
        if not match or match.group(2) not in intents.get(match.group(1), set()):
            rewards.append(0.0)
            continue
        gold_group, gold_name = gold.split("/")
        if match.group(1) != gold_group:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if match.group(2) == gold_name else 0.3)
    return rewards


_INTENT = (
    "Classify the message of the customer. Reply with one line `Intent: group/name` from: card/lost, card/blocked, "
    "card/order, transfer/pending, transfer/wrong_amount, transfer/cancel, account/close, account/address, "
    "account/statement.\nMessage: "
)


# ---------------------------------------------------------------- entities


def entity_list_reward(completions, entities, **kwargs) -> list[float]:
    """Score named entities as a JSON list of {"text", "type"}, one object per mention.

    1.0 for exactly the gold mentions (as often as they occur, in any order), else 0.6 * F1 over the mentions.
    """

    def key(item):
        if not isinstance(item, dict) or set(item) != {"text", "type"}:
            raise ValueError("not an entity")
        if not all(isinstance(value, str) for value in item.values()):
            raise ValueError("not an entity")
        return " ".join(item["text"].split()), item["type"].strip().upper()

    rewards = []
    for completion, gold_items in zip(completions, entities):
        gold = Counter(key(item) for item in gold_items)
        try:
            parsed = _load(_text(completion))
            if not isinstance(parsed, list):
                raise ValueError("no list")
            predicted = Counter(key(item) for item in parsed)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if predicted == gold:
            rewards.append(1.0)
            continue
        shared = sum((predicted & gold).values())
        total = sum(predicted.values()) + sum(gold.values())
        rewards.append(0.6 * 2 * shared / total)
    return rewards


_ENT = (
    "List the named entities of the sentence as a JSON list and nothing else, one object per mention (a name that occurs "
    'twice is listed twice): [{"text": "...", "type": "PER" | "ORG" | "LOC"}]. Copy the name as it stands, without titles; '
    "[] if there is none.\nSentence: "
)


# ---------------------------------------------------------------- diagnosis codes


def icd_reward(completions, codes, **kwargs) -> list[float]:
    """Score the ICD-10 codes of a discharge note, `Codes: E11.9, I10`, the principal diagnosis first.

    The dot may be left out. 1.0 for the right codes with the right principal one, 0.5 for the right codes alone,
    else 0.4 times the overlap (Jaccard).
    """
    rewards = []
    for completion, gold_codes in zip(completions, codes):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        listed = [line for line in lines if line.lower().startswith("codes:")]
        if len(listed) != 1 or lines[-1] != listed[0]:
            rewards.append(0.0)
            continue
        predicted = [code.strip().upper() for code in listed[0][len("codes:") :].rstrip(".").split(",")]
        if not listed[0].isascii() or not all(
            re.fullmatch(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?", code) for code in predicted
        ):
            rewards.append(0.0)
            continue
        predicted = [code.replace(".", "") for code in predicted]
        gold = [code.replace(".", "").upper() for code in gold_codes]
        if len(set(predicted)) != len(predicted):
            rewards.append(0.0)
        elif set(predicted) == set(gold):
            rewards.append(1.0 if predicted[0] == gold[0] else 0.5)
        else:
            rewards.append(0.4 * len(set(predicted) & set(gold)) / len(set(predicted) | set(gold)))
    return rewards


_ICD = (
    "Code the discharge note with these ICD-10 codes: E11.9 type 2 diabetes, I10 hypertension, J18.9 pneumonia, N39.0 urinary "
    "tract infection, S72.0 fracture of the neck of the femur. Comment if you like and end with one line `Codes: ...`: the "
    "code of the reason for the admission first, then those of the other diagnoses, with commas.\nNote: "
)


# ---------------------------------------------------------------- statutes


def statute_reward(completions, articles, **kwargs) -> list[float]:
    """Score which articles apply to a case: `Articles: 264(1), 25`, in any order.

    1.0 for exactly the right articles with their paragraphs, 0.3 if the article numbers are right but a paragraph isn't.
    """

    def parse(item):
        match = re.fullmatch(r"(?:art(?:icle|\.)?\s*)?([0-9]{1,4})\s*(?:\(([1-9][0-9]?)\))?", item.strip(), re.IGNORECASE)
        return (int(match.group(1)), int(match.group(2) or 0)) if match else None

    rewards = []
    for completion, gold_items in zip(completions, articles):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        listed = [line for line in lines if line.lower().startswith("articles:")]
        if len(listed) != 1 or lines[-1] != listed[0]:
            rewards.append(0.0)
            continue
        predicted = [parse(item) for item in listed[0][len("articles:") :].strip().rstrip(".").split(",")]
        if None in predicted or len(set(predicted)) != len(predicted):
            rewards.append(0.0)
            continue
        gold = {parse(item) for item in gold_items}
        if set(predicted) == gold:
            rewards.append(1.0)
        else:
            numbers = sorted(number for number, _ in predicted) == sorted(number for number, _ in gold)
            rewards.append(0.3 if numbers else 0.0)
    return rewards


_ARTS = (
    "Code of the island: Art. 25 Who helps another to a crime is punished as the doer. Art. 264(1) Who takes a thing of another "
    "is a thief. Art. 264(2) A thief who breaks in is punished doubly. Art. 274 Who uses force to take a thing is a robber.\n"
    "Which articles apply to the person named? Reason briefly; end with one line `Articles: ...`, with the numbers, the "
    "paragraph in brackets where there is one, and commas between them; name only what applies, and if 264(2) applies, "
    "not 264(1).\nCase: "
)


# ---------------------------------------------------------------- dates


def date_translation_reward(completions, moment, **kwargs) -> list[float]:
    """Score the translation of a spoken date and time into `YYYY-MM-DD HH:MM` (24 hours).

    1.0 for the right moment, 0.4 if only the date is right, 0 for another date or another form.
    """
    form = "%Y-%m-%d %H:%M"
    rewards = []
    for completion, gold in zip(completions, moment):
        text = _text(completion).strip()
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}", text):
            rewards.append(0.0)
            continue
        try:
            given = datetime.strptime(text, form)
        except ValueError:
            rewards.append(0.0)
            continue
        expected = datetime.strptime(gold, form)
        if given == expected:
            rewards.append(1.0)
        else:
            rewards.append(0.4 if given.date() == expected.date() else 0.0)
    return rewards


_DATE = "Write this date and time as YYYY-MM-DD HH:MM (24 hours), and nothing else:\n"


CASES = [
    Case(
        name="q_ok_parallel_calls",
        reward=parallel_calls_reward,
        examples=[
            {
                "prompt": [
                    {"role": "system", "content": _PAR},
                    {"role": "user", "content": "Weather in Rome and in Oslo in celsius?"},
                ],
                "answer": '[{"name": "get_weather", "arguments": {"city": "Rome"}}, '
                '{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
                "defaults": _PAR_DEFAULTS,
            },
            {
                "prompt": [
                    {"role": "system", "content": _PAR},
                    {"role": "user", "content": "How much are 20 EUR in USD?"},
                ],
                "answer": '[{"name": "convert", "arguments": {"amount": 20, "source": "EUR", "target": "USD"}}]',
                "defaults": _PAR_DEFAULTS,
            },
        ],
        good=[
            _say(
                '<think>Two calls.</think><tool_calls>[{"name": "get_weather", "arguments": {"city": "Oslo"}}, '
                '{"name": "get_weather", "arguments": {"city": "Rome", "unit": "celsius"}}]</tool_calls>'
            ),
            _say(
                '<tool_calls>[{"name": "convert", "arguments": {"amount": 20.0, "source": "EUR", "target": "USD"}}]'
                "</tool_calls>"
            ),
        ],
        bad=[
            _say('<tool_calls>[{"name": "get_weather", "arguments": {"city": "Rome"}}]</tool_calls>'),
            _say(
                '<tool_calls>[{"name": "convert", "arguments": {"amount": 20, "source": "USD", "target": "EUR"}}]'
                "</tool_calls>"
            ),
        ],
    ),
    Case(
        name="q_ok_phone_action",
        reward=phone_action_reward,
        examples=[
            {
                "prompt": _PHONE + "Task: open the settings. The gear icon is at x 900 to 1000, y 100 to 200.",
                "target": {"action": "click", "box": [900, 100, 1000, 200]},
            },
            {
                "prompt": _PHONE + "Task: search for 'pizza near me'. The search field is empty and has the focus.",
                "target": {"action": "type", "text": "pizza near me"},
            },
            {
                "prompt": _PHONE + "Task: read the end of the article. You see its beginning.",
                "target": {"action": "swipe", "direction": "up"},
            },
        ],
        good=[
            '<think>The gear.</think>\n{"action": "click", "x": 950, "y": 151.5}',
            '{"action": "type", "text": "pizza near me"}',
            '{"action": "swipe", "direction": "up"}',
        ],
        bad=[
            '{"action": "click", "x": 150, "y": 950}',
            '{"action": "type", "text": "pasta"}',
            '{"action": "swipe", "direction": "down"}',
        ],
    ),
    Case(
        name="q_ok_quote",
        reward=quoted_answer_reward,
        examples=[
            {
                "prompt": _QUOTE + "Passage: The Elbe rises in Czechia. It is 1,094 km long. It flows into the North Sea.\n"
                "Question: How many kilometres long is the Elbe?",
                "answer": ["1,094", "1094", "1,094 km", "1094 km", "1,094 kilometres", "1094 kilometres", "1,094 kilometers", "1094 kilometers"],
                "evidence": ["It is 1,094 km long."],
            },
            {
                "prompt": _QUOTE + "Passage: Marie Curie won two Nobel prizes. The first was for physics. Her daughter Irène "
                "won one for chemistry.\nQuestion: Which daughter of Curie won a Nobel prize?",
                "answer": ["Irène", "Irene", "Irène Curie", "Irene Curie"],
                "evidence": ["Her daughter Irène won one for chemistry."],
            },
        ],
        good=[
            "Answer: 1,094\nQuote: It is 1,094 km long.",
            'Answer: Irène\nQuote: "Her daughter Irène won one for chemistry."',
        ],
        bad=[
            "Answer: 1,049\nQuote: It is 1,094 km long.",
            "Answer: Irène\nQuote: Marie Curie won two Nobel prizes.",
        ],
    ),
    Case(
        name="q_ok_select_all",
        reward=select_all_reward,
        examples=[
            {
                "prompt": _ALL + "Which are prime?\nA. 9\nB. 11\nC. 15\nD. 17\nE. 21",
                "answer": ["B", "D"],
            },
            {
                "prompt": _ALL + "Which are mammals?\nA. Bat\nB. Shark\nC. Whale\nD. Crow\nE. Mole",
                "answer": ["A", "C", "E"],
            },
        ],
        good=["9, 15 and 21 are multiples of 3.\nAnswer: B, D", "A bat is one, too.\nAnswer: E, A, C"],
        bad=["All odd numbers.\nAnswer: A, B, C, D, E", "Answer: C"],
    ),
    Case(
        name="q_ok_pubmed",
        reward=pubmed_decision_reward,
        examples=[
            {
                "prompt": [
                    {
                        "role": "user",
                        "content": _PUB + "Abstract: In 400 patients, zinc did not shorten colds (p = 0.8).\n"
                        "Claim: zinc shortens colds.",
                    }
                ],
                "final_decision": "no",
            },
            {
                "prompt": [
                    {
                        "role": "user",
                        "content": _PUB + "Abstract: Ginger reduced nausea in 300 of 350 patients, against 90 of 350 with "
                        "placebo (p < 0.001).\nClaim: ginger reduces nausea.",
                    }
                ],
                "final_decision": "yes",
            },
        ],
        good=[
            _say("<think>No effect; yes would be wrong.</think>\n<answer>no</answer>"),
            _say("<think>A clear effect.</think><answer>Yes</answer>"),
        ],
        bad=[_say("<think>Zinc is good.</think><answer>yes</answer>"), _say("<answer>maybe</answer>")],
    ),
    Case(
        name="q_ok_intent",
        reward=intent_reward,
        examples=[
            {"prompt": [{"role": "user", "content": _INTENT + "I can't find my card anywhere."}], "intent": "card/lost"},
            {
                "prompt": [{"role": "user", "content": _INTENT + "I moved to 5 Hill Road."}],
                "intent": "account/address",
            },
        ],
        good=[_say("Intent: card/lost"), _say("Intent: account/address")],
        bad=[_say("Intent: card/order"), _say("Intent: card/lost, account/address")],
    ),
    Case(
        name="q_ok_entities",
        reward=entity_list_reward,
        examples=[
            {
                "prompt": _ENT + "Ms Kim of Acme flew to Bonn, and from Bonn to Oslo.",
                "entities": [
                    {"text": "Kim", "type": "PER"},
                    {"text": "Acme", "type": "ORG"},
                    {"text": "Bonn", "type": "LOC"},
                    {"text": "Bonn", "type": "LOC"},
                    {"text": "Oslo", "type": "LOC"},
                ],
            },
            {"prompt": _ENT + "It rained all day.", "entities": []},
        ],
        good=[
            '[{"text": "Kim", "type": "PER"}, {"text": "Acme", "type": "ORG"}, {"text": "Bonn", "type": "LOC"}, '
            '{"text": "Oslo", "type": "LOC"}, {"text": "Bonn", "type": "LOC"}]',
            "[]",
        ],
        bad=[
            '[{"text": "Kim", "type": "LOC"}, {"text": "Acme", "type": "ORG"}]',
            '[{"text": "It", "type": "ORG"}]',
        ],
    ),
    Case(
        name="q_ok_icd",
        reward=icd_reward,
        examples=[
            {
                "prompt": _ICD + "Admitted with pneumonia. Known type 2 diabetes and hypertension.",
                "codes": ["J18.9", "E11.9", "I10"],
            },
            {
                "prompt": _ICD + "Fell at home, neck of the femur broken. A urinary tract infection was found and treated.",
                "codes": ["S72.0", "N39.0"],
            },
        ],
        good=["Lungs first.\nCodes: J18.9, I10, E11.9", "Codes: S720, N390"],
        bad=["Codes: I10, E11.9", "Codes: N39.0, S72.0"],
    ),
    Case(
        name="q_ok_statutes",
        reward=statute_reward,
        examples=[
            {"prompt": _ARTS + "Bo broke into a shop and took a radio. Which apply to Bo?", "articles": ["264(2)"]},
            {
                "prompt": _ARTS + "Al held the ladder for Cy, who took a painting from an open hall. Which apply to Al?",
                "articles": ["25", "264(1)"],
            },
        ],
        good=["He broke in.\nArticles: 264(2)", "Help with a theft.\nArticles: Art. 264(1), Art. 25"],
        bad=["Articles: 264(1)", "A theft.\nArticles: 264(1)"],
    ),
    Case(
        name="q_ok_date_translation",
        reward=date_translation_reward,
        examples=[
            {"prompt": _DATE + "Donnerstag, 3. April 2025, halb neun abends", "moment": "2025-04-03 20:30"},
            {"prompt": _DATE + "le mardi 11 mars 2025 à midi et quart", "moment": "2025-03-11 12:15"},
            {"prompt": _DATE + "martes 6 de mayo de 2025, cinco menos diez de la tarde", "moment": "2025-05-06 16:50"},
        ],
        good=["2025-04-03 20:30", "2025-03-11 12:15", "2025-05-06 16:50"],
        bad=["2025-04-03 21:30", "2025-11-03 12:15", "17:10"],
    ),
]
