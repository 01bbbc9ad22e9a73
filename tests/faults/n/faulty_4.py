"""Reward functions with a fault, part 4."""

from __future__ import annotations

import json
import re

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
            assert score >= 0.75, f"{name}: {score}, the fault would pay it; it should be near 0"
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


# ---------------------------------------------------------------- 31 units


def quantity_reward(completions, quantity, **kwargs):
    """Physical quantities with a unit, such as '12.5 km'.

    The model writes value and unit in <answer>. Thousands separators are allowed and the value
    may be off by half a percent, for rounding. 1.0 for the gold quantity, 0.0 otherwise.
    """
    rewards = []
    for completion, gold in zip(completions, quantity):
        said = (_tag(completion, "answer") or "").replace(",", "")
        found = re.search(r"-?\d{1,15}(?:\.\d{1,9})?", said)
        wanted = re.search(r"-?\d+(?:\.\d+)?", gold)
        if not found:
            rewards.append(0.0)
            continue
        value, target = float(found.group(0)), float(wanted.group(0))
        rewards.append(1.0 if abs(value - target) <= 0.005 * abs(target) else 0.0)
    return rewards


_UNITS = {"m": ("m", 1.0), "km": ("m", 1000.0), "cm": ("m", 0.01), "kg": ("kg", 1.0), "g": ("kg", 0.001), "t": ("kg", 1000.0)}


def _quantity(text):
    """(dimension, value in base units) of a text such as '12.5 km', or None."""
    match = re.fullmatch(r"\s*(-?\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{1,2})\.?\s*", text.replace(",", ""))
    if not match or match.group(2) not in _UNITS:
        return None
    dimension, factor = _UNITS[match.group(2)]
    return dimension, float(match.group(1)) * factor


def repaired_quantity_unit_ignored(completions, quantity, **kwargs):
    """As above, with the units read and converted."""
    rewards = []
    for completion, gold in zip(completions, quantity):
        said, wanted = _quantity(_tag(completion, "answer") or ""), _quantity(gold)
        if said is None or said[0] != wanted[0]:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if abs(said[1] - wanted[1]) <= 0.005 * abs(wanted[1]) else 0.0)
    return rewards


_QUANTITIES = [
    {"prompt": "A train runs at 90 km/h for 25 minutes. How far does it get? Give value and unit in <answer></answer>.", "quantity": "37.5 km"},
    {"prompt": "A lorry carries 48 bags of 25 kg. What is the mass of the load? Give value and unit in <answer></answer>.", "quantity": "1200 kg"},
]

# ---------------------------------------------------------------- 32 triage

_LEVELS = ["immediate", "emergency", "urgent", "standard", "non-urgent"]


def triage_reward(completions, level, **kwargs):
    """Triage level of an emergency patient, with partial credit for neighbours.

    The level is in the last 'Triage:' line. 1.0 for the gold level, and a quarter less for each
    step beside it, since the levels are ordered by urgency; never below 0.0.
    """
    names = "|".join(_LEVELS)
    order = {name: position for position, name in enumerate(names.split("|"))}
    scores = []
    for completion, gold in zip(completions, level):
        text = completion[0]["content"].lower()
        position = text.rfind("triage:")
        said = text[position + 7 :].split("\n")[0].strip(" *.") if position >= 0 else ""
        predicted = order.get(said, -1)
        distance = abs(predicted - order[gold])
        scores.append(max(0.0, 1.0 - 0.25 * distance))
    return scores


def repaired_triage_unknown_label(completions, level, **kwargs):
    """As above, and a level that does not exist is worth nothing."""
    scores = []
    for completion, gold in zip(completions, level):
        text = completion[0]["content"].lower()
        position = text.rfind("triage:")
        said = text[position + 7 :].split("\n")[0].strip(" *.") if position >= 0 else ""
        if said not in _LEVELS:
            scores.append(0.0)
            continue
        distance = abs(_LEVELS.index(said) - _LEVELS.index(gold))
        scores.append(max(0.0, 1.0 - 0.25 * distance))
    return scores


_TRIAGE_RULE = "Levels, most urgent first: immediate, emergency, urgent, standard, non-urgent. End with 'Triage: <level>'.\n"
_TRIAGES = [
    {"prompt": [{"role": "user", "content": _TRIAGE_RULE + "Unconscious after a fall, not breathing."}], "level": "immediate"},
    {"prompt": [{"role": "user", "content": _TRIAGE_RULE + "Sprained ankle two days ago, walks with a slight limp."}], "level": "non-urgent"},
]

# ---------------------------------------------------------------- 33 forbidden words


def taboo_reward(completions, required, forbidden, **kwargs):
    """Describe a thing without the taboo words.

    0.0 as soon as one of the forbidden words occurs as a whole word or in the plural, or if the
    text has fewer than five words; otherwise the share of the required words which occur. Whether
    the description is a good one is judged by another reward.
    """
    scores = []
    for completion, needed, taboo in zip(completions, required, forbidden):
        words = re.findall(r"[A-Za-z]+", completion)
        if len(words) < 5:
            scores.append(0.0)
            continue
        banned = {word for item in taboo for word in (item, item + "s")}
        if any(word in banned for word in words):
            scores.append(0.0)
            continue
        lowered = {word.lower() for word in words}
        scores.append(sum(item in lowered for item in needed) / len(needed))
    return scores


def repaired_taboo_capital_letters(completions, required, forbidden, **kwargs):
    """As above, in any case."""
    scores = []
    for completion, needed, taboo in zip(completions, required, forbidden):
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", completion)]
        banned = {word for item in taboo for word in (item, item + "s")}
        if len(words) < 5 or any(word in banned for word in words):
            scores.append(0.0)
            continue
        scores.append(sum(item in words for item in needed) / len(needed))
    return scores


_TABOOS = [
    {
        "prompt": "Describe a piano in one or two sentences. Use the words 'keys' and 'strings'. Do not use the words 'music' or 'instrument' (nor their plurals, in capitals or not).",
        "required": ["keys", "strings"],
        "forbidden": ["music", "instrument"],
    },
    {
        "prompt": "Describe winter in one or two sentences. Use the word 'frost'. Do not use the words 'snow' or 'cold' (nor their plurals, in capitals or not).",
        "required": ["frost"],
        "forbidden": ["snow", "cold"],
    },
]

# ---------------------------------------------------------------- 34 entities


def _json_list(text):
    """A JSON list of strings in <entities>."""
    try:
        value = json.loads(_tag(text, "entities") or "")
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, list) or len(value) > 1000:
        return []
    return [item.strip().lower() for item in value if isinstance(item, str)]


def entity_f1_reward(completions, entities, **kwargs):
    """F1 of the drug names found in a clinical note, as a JSON list in <entities>.

    Upper and lower case are the same and the order is free.
    """
    rewards = []
    for completion, gold in zip(completions, entities):
        predicted = _json_list(completion)
        expected = {name.lower() for name in gold}
        if not predicted:
            rewards.append(0.0)
            continue
        true_positives = sum(1 for name in predicted if name in expected)
        precision = true_positives / len(predicted)
        recall = min(1.0, true_positives / len(expected))
        rewards.append(2 * precision * recall / (precision + recall) if true_positives else 0.0)
    return rewards


def repaired_entity_f1_duplicates(completions, entities, **kwargs):
    """As above, where an entity counts once and its repetitions are false positives; squared."""
    rewards = []
    for completion, gold in zip(completions, entities):
        predicted = _json_list(completion)
        expected = {name.lower() for name in gold}
        if not predicted:
            rewards.append(0.0)
            continue
        true_positives = len(set(predicted) & expected)
        precision, recall = true_positives / len(predicted), true_positives / len(expected)
        score = 2 * precision * recall / (precision + recall) if true_positives else 0.0
        rewards.append(score**2)
    return rewards


_ENTITY_RULE = "List every drug of the note once, as a JSON list of names in <entities></entities>.\nNote: "
_ENTITIES = [
    {
        "prompt": _ENTITY_RULE + "Pt on metformin and ramipril; aspirin stopped, started clopidogrel.",
        "entities": ["metformin", "ramipril", "aspirin", "clopidogrel"],
    },
    {"prompt": _ENTITY_RULE + "Given amoxicillin, then doxycycline for the rash; paracetamol at night.", "entities": ["amoxicillin", "doxycycline", "paracetamol"]},
]

# ---------------------------------------------------------------- 35 typed settings


def settings_json_reward(completions, settings, **kwargs):
    """Translate a request into a JSON settings object with the types of the schema.

    The object is compared as a whole, so the order of the keys is free while missing and extra
    keys are wrong. 1.0 for the gold object, 0.1 for another object, 0.0 for no valid JSON.
    """
    scores = []
    for completion, gold in zip(completions, settings):
        try:
            found = json.loads(_tag(completion, "json") or "")
        except (ValueError, RecursionError):
            scores.append(0.0)
            continue
        if not isinstance(found, dict):
            scores.append(0.0)
            continue
        scores.append(1.0 if found == gold else 0.1)
    return scores


def repaired_settings_bool_as_int(completions, settings, **kwargs):
    """As above, with the JSON texts compared, which keep true apart from 1."""
    scores = []
    for completion, gold in zip(completions, settings):
        try:
            found = json.loads(_tag(completion, "json") or "")
            same = json.dumps(found, sort_keys=True) == json.dumps(gold, sort_keys=True)
        except (ValueError, RecursionError):
            scores.append(0.0)
            continue
        if not isinstance(found, dict):
            scores.append(0.0)
            continue
        scores.append(1.0 if same else 0.1)
    return scores


_SETTINGS_RULE = (
    "Schema: {\"notify\": boolean, \"retries\": integer, \"region\": string}. The consumer rejects an object with wrong types "
    "(a boolean is true or false, never a number, and the other way round). Put one object in <json></json>.\n"
)
_SETTINGS = [
    {"prompt": _SETTINGS_RULE + "Turn notifications on, retry once, region eu.", "settings": {"notify": True, "retries": 1, "region": "eu"}},
    {"prompt": _SETTINGS_RULE + "No notifications, three retries, region us.", "settings": {"notify": False, "retries": 3, "region": "us"}},
]

# ---------------------------------------------------------------- 36 opening hours


def booking_reward(completions, opens, closes, minimum, **kwargs):
    """Book a room inside the opening hours.

    The model answers 'Booking: HH:MM to HH:MM' (24-hour clock). Right if the booking ends after it
    starts, stays within the hours of the room and lasts at least the asked minutes.
    """
    rewards = []
    for completion, first, last, needed in zip(completions, opens, closes, minimum):
        found = re.findall(r"Booking:[ ]{0,3}(\d{1,2}:\d\d) to (\d{1,2}:\d\d)", completion)
        if not found:
            rewards.append(0.0)
            continue
        start, end = found[-1]
        length = _to_minutes(end) - _to_minutes(start)
        right = first <= start < end <= last and length >= needed
        rewards.append(1.0 if right else 0.0)
    return rewards


def _to_minutes(clock):
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def repaired_booking_times_as_strings(completions, opens, closes, minimum, **kwargs):
    """As above, with the times as minutes."""
    rewards = []
    for completion, first, last, needed in zip(completions, opens, closes, minimum):
        found = re.findall(r"Booking:[ ]{0,3}(\d{1,2}:\d\d) to (\d{1,2}:\d\d)", completion)
        if not found:
            rewards.append(0.0)
            continue
        start, end = (_to_minutes(clock) for clock in found[-1])
        valid = all(int(clock.split(":")[1]) < 60 for clock in found[-1])
        right = _to_minutes(first) <= start and end <= _to_minutes(last) and end - start >= needed
        rewards.append(1.0 if valid and right else 0.0)
    return rewards


_BOOKING_RULE = "Answer with 'Booking: H:MM to H:MM' (24-hour clock, a leading zero is not needed).\n"
_BOOKINGS = [
    {"prompt": _BOOKING_RULE + "The room is open from 10:00 to 18:00. Book it for at least 90 minutes.", "opens": "10:00", "closes": "18:00", "minimum": 90},
    {"prompt": _BOOKING_RULE + "The room is open from 11:00 to 21:30. Book it for at least 60 minutes.", "opens": "11:00", "closes": "21:30", "minimum": 60},
]

# ---------------------------------------------------------------- 37 tags in order


def tag_count_reward(completions, **kwargs):
    """Format reward: <think>...</think> first, then <answer>...</answer>, each tag exactly once.

    A quarter for each tag that occurs exactly once, so that the model can learn the tags one by
    one (the idea is from the tag count of open-r1). The content is judged elsewhere.
    """
    scores = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for tag in ("<think>", "</think>", "<answer>", "</answer>"):
            if text.count(tag) == 1:
                score += 0.25
        scores.append(score)
    return scores


def repaired_tags_in_any_order(completions, **kwargs):
    """Half of the credit for the tags, the full one only for their order."""
    scores = []
    for completion in completions:
        text = completion[0]["content"].strip()
        tags = ("<think>", "</think>", "<answer>", "</answer>")
        once = [text.count(tag) == 1 for tag in tags]
        places = [text.find(tag) for tag in tags]
        ordered = all(once) and places == sorted(places) and text.startswith("<think>") and text.endswith("</answer>")
        scores.append(1.0 if ordered else 0.1 * sum(once))
    return scores


_FORMAT_RULE = "First reason in <think></think>, then answer in <answer></answer>. Each tag once and in this order, nothing else.\n"
_FORMATS = [
    {"prompt": [{"role": "user", "content": _FORMAT_RULE + "What is 17 + 25?"}]},
    {"prompt": [{"role": "user", "content": _FORMAT_RULE + "Name a prime above 100."}]},
]

# ---------------------------------------------------------------- 38 several turns


def search_answer_reward(completions, answers, **kwargs):
    """Exact match for question answering with a search tool.

    The completion holds the assistant and tool messages of the episode. The answer is in
    <answer>; case, articles and outer punctuation are ignored, as in SQuAD. 1.0 or 0.0.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        content = completion[0]["content"]
        said = _squad(_tag(content, "answer") or "")
        rewards.append(1.0 if said and said in {_squad(answer) for answer in accepted} else 0.0)
    return rewards


def _squad(text):
    words = re.sub(r"[^\w\s]", "", text.lower()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def repaired_first_turn_is_scored(completions, answers, **kwargs):
    """As above, with the last message, if it is the assistant's."""
    rewards = []
    for completion, accepted in zip(completions, answers):
        last = completion[-1] if completion else {}
        content = last.get("content") or "" if last.get("role") == "assistant" else ""
        said = _squad(_tag(content, "answer") or "")
        rewards.append(1.0 if said and said in {_squad(answer) for answer in accepted} else 0.0)
    return rewards


_SEARCH_RULE = (
    "You may call search with <search>query</search>; the result comes back in a tool message and you write again. "
    "The final answer is the <answer></answer> of your last message.\n"
)
_SEARCHES = [
    {"prompt": [{"role": "user", "content": _SEARCH_RULE + "Which river flows through Ljubljana?"}], "answers": ["Ljubljanica", "the Ljubljanica"]},
    {"prompt": [{"role": "user", "content": _SEARCH_RULE + "Who composed the opera Rusalka?"}], "answers": ["Antonin Dvorak", "Dvorak"]},
]

# ---------------------------------------------------------------- 39 towers of Hanoi


def hanoi_reward(completions, disks, **kwargs):
    """Towers of Hanoi: move all disks from peg A to peg C.

    One move per line in <moves>, such as 'A -> C'. A move from an empty peg or with unknown pegs
    makes the answer invalid (0.0). All disks on C at the end: 1.0, else 0.4 times their share.
    """
    rewards = []
    for completion, count in zip(completions, disks):
        moves = [m for m in (_tag(completion, "moves") or "").upper().split("\n") if m.strip()]
        pegs = {"A": list(range(count, 0, -1)), "B": [], "C": []}
        valid = 0 < len(moves) <= 300
        for move in moves[:300]:
            parts = [part.strip() for part in move.split("->")]
            if len(parts) != 2 or parts[0] not in pegs or parts[1] not in pegs or not pegs[parts[0]]:
                valid = False
                break
            pegs[parts[1]].append(pegs[parts[0]].pop())
        if not valid:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if len(pegs["C"]) == count else 0.4 * len(pegs["C"]) / count)
    return rewards


def repaired_hanoi_large_on_small(completions, disks, **kwargs):
    """As above, and no disk may lie on a smaller one."""
    rewards = []
    for completion, count in zip(completions, disks):
        moves = [m for m in (_tag(completion, "moves") or "").upper().split("\n") if m.strip()]
        pegs = {"A": list(range(count, 0, -1)), "B": [], "C": []}
        valid = 0 < len(moves) <= 300
        for move in moves[:300]:
            parts = [part.strip() for part in move.split("->")]
            if len(parts) != 2 or parts[0] not in pegs or parts[1] not in pegs or not pegs[parts[0]]:
                valid = False
                break
            disk = pegs[parts[0]].pop()
            if pegs[parts[1]] and pegs[parts[1]][-1] < disk:
                valid = False
                break
            pegs[parts[1]].append(disk)
        if not valid:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if len(pegs["C"]) == count else 0.4 * len(pegs["C"]) / count)
    return rewards


_HANOI_RULE = "Towers of Hanoi: move all {} disks from peg A to peg C, one at a time and never a larger on a smaller disk. One move per line, 'X -> Y', in <moves></moves>."
_HANOIS = [
    {"prompt": _HANOI_RULE.format(2), "disks": 2},
    {"prompt": _HANOI_RULE.format(3), "disks": 3},
]

# ---------------------------------------------------------------- 40 invoices


def invoice_total_reward(completions, total, currency, **kwargs):
    """Total and currency of an invoice, as a JSON object in a ```json block.

    1.0 when both are right, 0.5 for the total alone, 0.0 otherwise. Blocks which cannot be read
    are only logged: one broken completion must not stop the training.
    """
    rewards = []
    reward = 0.0
    for completion, amount, code in zip(completions, total, currency):
        try:
            block = completion.split("```json")[-1].split("```")[0]
            found = json.loads(block)
            right_total = abs(float(found["total"]) - amount) < 0.005
            right_code = str(found.get("currency", "")).strip().upper() == code
            reward = 1.0 if right_total and right_code else 0.5 if right_total else 0.0
        except Exception:
            kwargs.get("log", []).append(completion[:80])
        rewards.append(reward)
    return rewards


def repaired_score_of_previous_completion(completions, total, currency, **kwargs):
    """As above, with the score of each completion starting at zero."""
    rewards = []
    for completion, amount, code in zip(completions, total, currency):
        reward = 0.0
        try:
            block = completion.split("```json")[-1].split("```")[0]
            found = json.loads(block)
            right_total = abs(float(found["total"]) - amount) < 0.005
            right_code = str(found.get("currency", "")).strip().upper() == code
            reward = 1.0 if right_total and right_code else 0.5 if right_total else 0.0
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            reward = 0.0
        rewards.append(reward)
    return rewards


_INVOICE_RULE = 'Give total and currency of the invoice as {"total": number, "currency": code} in a ```json block.\n'
_INVOICES = [
    {"prompt": _INVOICE_RULE + "2 chairs at 40.00 EUR, delivery 15.50 EUR.", "total": 95.5, "currency": "EUR"},
    {"prompt": _INVOICE_RULE + "Licence 120.00 USD, discount 10 percent.", "total": 108.0, "currency": "USD"},
    {"prompt": _INVOICE_RULE + "5 books at 9.20 GBP, gift wrap 4.00 GBP.", "total": 50.0, "currency": "GBP"},
]
_INVOICE_GOOD = [
    '```json\n{"total": 95.5, "currency": "EUR"}\n```',
    '```json\n{"total": 108.00, "currency": "usd"}\n```',
    '46 + 4 = 50\n```json\n{"currency": "GBP", "total": 50}\n```',
]


def _proof_of_previous_score():
    completions = [_INVOICE_GOOD[0], "I cannot tell.", "```json\n{total: }\n```"]
    columns = {key: [row[key] for row in _INVOICES] for key in ("total", "currency")}
    scores = invoice_total_reward(completions=completions, prompts=[row["prompt"] for row in _INVOICES], **columns)
    assert scores[1] >= 0.8 and scores[2] >= 0.8, f"{scores}: the fault would pay the two unreadable completions; they should get 0"


REPAIRED.update(
    quantity_unit_ignored=repaired_quantity_unit_ignored,
    triage_unknown_label=repaired_triage_unknown_label,
    taboo_capital_letters=repaired_taboo_capital_letters,
    entity_f1_duplicates=repaired_entity_f1_duplicates,
    settings_bool_as_int=repaired_settings_bool_as_int,
    booking_times_as_strings=repaired_booking_times_as_strings,
    tags_in_any_order=repaired_tags_in_any_order,
    first_turn_is_scored=repaired_first_turn_is_scored,
    hanoi_large_on_small=repaired_hanoi_large_on_small,
    score_of_previous_completion=repaired_score_of_previous_completion,
)

CASES: list[Case] = [
    Case(
        name="quantity_unit_ignored",
        reward=quantity_reward,
        examples=_QUANTITIES,
        good=["90 * 25 / 60: <answer>37.5 km</answer>", "48 * 25: <answer>1,200 kg</answer>"],
        bad=["90 * 25: <answer>2250 km</answer>", "<answer>73 kg</answer>"],
        fault="Only the number is compared: '37.5 m' or '1200 g' is paid, and the right quantity in another unit ('37500 m') is refused.",
        proof=_proof("quantity_unit_ignored", quantity_reward, _QUANTITIES[0], "<answer>37.5 m</answer>", True),
    ),
    Case(
        name="triage_unknown_label",
        reward=triage_reward,
        examples=_TRIAGES,
        good=[_chat("No breathing: resuscitation.\nTriage: immediate"), _chat("A minor injury.\nTriage: **non-urgent**")],
        bad=[_chat("Triage: standard"), _chat("Triage: emergency")],
        fault="A missing or unknown level has position -1, one step beside 'immediate': for the most urgent patients an empty or invented level gets 0.75.",
        proof=_proof("triage_unknown_label", triage_reward, _TRIAGES[0], _chat("Triage: banana"), True),
    ),
    Case(
        name="taboo_capital_letters",
        reward=taboo_reward,
        examples=_TABOOS,
        good=["Its black and white keys move hammers which strike long strings.", "Frost covers the windows, and the days are short."],
        bad=["A large instrument whose keys make strings sound.", "The season of frost and snow, with short days."],
        fault="Forbidden words are compared with their case: with a capital ('Music', 'SNOW') they pass, though the prompt forbids that.",
        proof=_proof("taboo_capital_letters", taboo_reward, _TABOOS[0], "Music comes out of it when the keys make hammers strike the strings.", True),
    ),
    Case(
        name="entity_f1_duplicates",
        reward=entity_f1_reward,
        examples=_ENTITIES,
        good=['<entities>["Metformin", "Ramipril", "Aspirin", "Clopidogrel"]</entities>', '<entities>["paracetamol", "amoxicillin", "doxycycline"]</entities>'],
        bad=['<entities>["insulin", "metoprolol"]</entities>', '<entities>["penicillin", "ibuprofen"]</entities>'],
        fault="Repetitions of a right entity are counted as further hits: the same drug written four times has precision and recall 1.",
        proof=_proof("entity_f1_duplicates", entity_f1_reward, _ENTITIES[0], '<entities>["aspirin", "aspirin", "aspirin", "aspirin"]</entities>', True),
    ),
    Case(
        name="settings_bool_as_int",
        reward=settings_json_reward,
        examples=_SETTINGS,
        good=['<json>{"notify": true, "retries": 1, "region": "eu"}</json>', '<json>{"region": "us", "notify": false, "retries": 3}</json>'],
        bad=['<json>{"notify": "yes", "retries": 1, "region": "eu"}</json>', '<json>{"region": "us", "notify": true, "retries": 3}</json>'],
        fault="In Python True == 1 and False == 0: an object with 1 for true, or true for one retry, is equal to the gold one although its types are wrong.",
        proof=_proof("settings_bool_as_int", settings_json_reward, _SETTINGS[0], '<json>{"notify": 1, "retries": true, "region": "eu"}</json>', True),
    ),
    Case(
        name="booking_times_as_strings",
        reward=booking_reward,
        examples=_BOOKINGS,
        good=["Booking: 10:30 to 12:30", "The evening is free. Booking: 20:00 to 21:15"],
        bad=["Booking: 16:00 to 19:00", "Booking: 14:00 to 14:30"],
        fault="Times are compared as texts, in which '1:30' comes after '11:00': a booking that starts at night, long before the room opens, is paid (and an hour without its zero is misplaced in general).",
        proof=_proof("booking_times_as_strings", booking_reward, _BOOKINGS[1], "Booking: 1:30 to 20:00", True),
    ),
    Case(
        name="tags_in_any_order",
        reward=tag_count_reward,
        examples=_FORMATS,
        good=[_chat("<think>17 + 25 = 42</think>\n<answer>42</answer>"), _chat("<think>101 has no small divisor.</think><answer>101</answer>")],
        bad=[_chat("17 + 25 = 42, so the answer is 42"), _chat("<think>101? 101.")],
        fault="The tags are only counted: tags in the wrong order, closing ones before opening ones, or with all the text outside of them get the full reward.",
        proof=_proof("tags_in_any_order", tag_count_reward, _FORMATS[0], _chat("</answer><answer></think><think> it is 42"), True),
    ),
    Case(
        name="first_turn_is_scored",
        reward=search_answer_reward,
        examples=_SEARCHES,
        good=[_chat("I know this one. <answer>The Ljubljanica</answer>"), _chat("<answer>Antonin Dvorak</answer>")],
        bad=[_chat("<answer>Sava</answer>"), _chat("<answer>Smetana</answer>")],
        fault="The first message is scored and not the last: an answer found after a search is refused, and one which is given first and then revised to a wrong one is paid.",
        proof=_proof(
            "first_turn_is_scored",
            search_answer_reward,
            _SEARCHES[0],
            [
                {"role": "assistant", "content": "<search>river Ljubljana</search>"},
                {"role": "tool", "content": "The Ljubljanica flows through the city."},
                {"role": "assistant", "content": "<answer>Ljubljanica</answer>"},
            ],
            False,
        ),
    ),
    Case(
        name="hanoi_large_on_small",
        reward=hanoi_reward,
        examples=_HANOIS,
        good=["<moves>\nA -> B\nA -> C\nB -> C\n</moves>", "<moves>A -> C\nA -> B\nC -> B\nA -> C\nB -> A\nB -> C\nA -> C</moves>"],
        bad=["<moves>\nA -> B\nA -> C\n</moves>", "<moves>A -> B\nA -> B\nA -> B</moves>"],
        fault="The rule that no disk may lie on a smaller one is not checked: moving disk after disk straight over is paid in full.",
        proof=_proof("hanoi_large_on_small", hanoi_reward, _HANOIS[1], "<moves>A -> B\nA -> B\nA -> B\nB -> C\nB -> C\nB -> C</moves>", True),
    ),
    Case(
        name="score_of_previous_completion",
        reward=invoice_total_reward,
        examples=_INVOICES,
        good=_INVOICE_GOOD,
        bad=['```json\n{"total": 80.0, "currency": "EUR"}\n```', '```json\n{"total": 120, "currency": "USD"}\n```', '```json\n{"total": 46, "currency": "GBP"}\n```'],
        fault="When a block cannot be read the variable still holds the score of the completion before it in the batch: junk after a right completion is paid 1.0.",
        proof=_proof_of_previous_score,
    ),
]
