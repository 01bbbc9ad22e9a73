"""Sound reward functions."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import combinations

from tests.faults.case import Case


def _text(completion):
    """The text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _unique(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _constant(name):
    raise ValueError(name)


def _json(text):
    """The JSON value that the text is, bare or in one code fence; None if it is none or names a key twice."""
    text = text.strip()
    fence = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n\s*```", text, re.DOTALL)
    try:
        return json.loads(fence.group(1) if fence else text, object_pairs_hook=_unique, parse_constant=_constant)
    except (ValueError, RecursionError):
        return None


def _final(text, label):
    """What stands after the label on the last line; None if the label is not there or begins two lines."""
    lines = [re.sub(r"[*`]", "", line).strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(label.lower() + ":")]
    if len(marked) != 1 or lines[-1] != marked[0]:
        return None
    return marked[0][len(label) + 1 :].strip()


def _plain(text):
    """Case, width, and spacing made equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def U(text, system=None):
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": "user", "content": text}]


def A(text):
    return [{"role": "assistant", "content": text}]


CASES = []


def _case(name, reward, examples, good, bad):
    CASES.append(Case(name=name, reward=reward, examples=examples, good=good, bad=bad))


# ---- 11 vision: boxes
def _iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    inter = width * height
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def _matched(edges):
    """Size of the largest one-to-one matching; edges[i] are the partners of i."""
    partner = {}

    def place(i, seen):
        for j in edges[i]:
            if j not in seen:
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(edges)))


def boxes_reward(completions, boxes, **kwargs) -> list[float]:
    """Detection of all objects of a kind, a JSON list of boxes [x1, y1, x2, y2].

    A box is right if its IoU with an object that no other box has is 0.5 or more. 1.0 if every object is found and
    there is no other box; otherwise half the F1.
    """
    rewards = []
    for completion, gold in zip(completions, boxes):
        pred = _json(_text(completion))
        valid = isinstance(pred, list) and 0 < len(pred) <= 100
        valid = valid and all(isinstance(b, list) and len(b) == 4 and all(type(v) in (int, float) for v in b) for b in pred)
        if not valid or not all(abs(v) < 1e5 for b in pred for v in b) or not all(b[0] < b[2] and b[1] < b[3] for b in pred):
            rewards.append(0.0)
            continue
        edges = [[j for j, g in enumerate(gold) if _iou(b, g) >= 0.5] for b in pred]
        hits = _matched(edges)
        if hits == len(gold) == len(pred):
            rewards.append(1.0)
        else:
            rewards.append(0.5 * 2 * hits / (len(pred) + len(gold)))
    return rewards


# ---- 12 vision: points and counting
def point_count_reward(completions, objects, **kwargs) -> list[float]:
    """Counting by pointing: {"points": [[x, y], ...], "count": n}.

    1.0 if the count is right and there is one point in each object's box and no other point; 0.3 if only the count is
    right; else 0.0. The boxes of the objects do not overlap.
    """
    scores = []
    for completion, boxes in zip(completions, objects):
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != {"points", "count"} or type(said["count"]) is not int:
            scores.append(0.0)
            continue
        if said["count"] != len(boxes):
            scores.append(0.0)
            continue
        points = said["points"] if isinstance(said["points"], list) else []
        hit = []
        for point in points:
            inside = -1
            if isinstance(point, list) and len(point) == 2 and all(type(v) in (int, float) for v in point):
                for k, (x1, y1, x2, y2) in enumerate(boxes):
                    if x1 <= point[0] <= x2 and y1 <= point[1] <= y2:
                        inside = k
            hit.append(inside)
        scores.append(1.0 if sorted(hit) == list(range(len(boxes))) else 0.3)
    return scores


# ---- 13 OCR fields
def receipt_fields_reward(completions, vendor, day, total, **kwargs) -> list[float]:
    """Fields of a receipt as JSON {"vendor", "date", "total"}: 1.0 if all three are right, 0.2 for each right one otherwise.

    vendor: case and spacing do not matter; date: YYYY-MM-DD; total: a number or a string, compared as a decimal number.
    """
    rewards = []
    for completion, name, iso, amount in zip(completions, vendor, day, total):
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != {"vendor", "date", "total"}:
            rewards.append(0.0)
            continue
        right = 0
        right += isinstance(said["vendor"], str) and _plain(said["vendor"]) == _plain(name)
        right += isinstance(said["date"], str) and said["date"].strip() == iso
        value = said["total"]
        if type(value) in (int, float, str) and len(str(value)) < 20:
            try:
                number = Decimal(str(value).strip())
                right += number.is_finite() and number == Decimal(amount)
            except InvalidOperation:
                pass
        rewards.append(1.0 if right == 3 else 0.2 * right)
    return rewards


# ---- 14 instruction following
def numbered_list_reward(completions, values, limit, **kwargs) -> list[float]:
    """The `limit` largest countries of a table as a numbered list, largest first, names in capitals, nothing else.

    Every line must be `k. NAME`. Empty lines do not matter. 1.0 or 0.0.
    """
    scores = []
    for completion, table, k in zip(completions, values, limit):
        table = json.loads(table)
        best = sorted(table, key=lambda name: -table[name])[:k]
        expected = [f"{i}. {name.upper()}" for i, name in enumerate(best, 1)]
        lines = [" ".join(line.split()) for line in _text(completion).splitlines() if line.strip()]
        scores.append(1.0 if lines == expected else 0.0)
    return scores


# ---- 15 ranking
def rerank_reward(prompts, completions, order, **kwargs) -> list[float]:
    """Ranking of all passages on the last line, `Ranking: 2 > 1 > 3`.

    1.0 for the right order, else 0.6 times the share of pairs in the right order; 0.0 if it is not a ranking of all
    passages, each once.
    """
    rewards = []
    for completion, gold in zip(completions, order):
        said = _final(_text(completion), "Ranking")
        if said is None or not re.fullmatch(r"\[?[0-9]{1,3}\]?(?:\s*>\s*\[?[0-9]{1,3}\]?)*\.?", said):
            rewards.append(0.0)
            continue
        pred = [int(n) for n in re.findall(r"[0-9]+", said)]
        if sorted(pred) != sorted(gold):
            rewards.append(0.0)
        elif pred == gold:
            rewards.append(1.0)
        else:
            place = {doc: i for i, doc in enumerate(pred)}
            pairs = list(combinations(gold, 2))
            rewards.append(0.6 * sum(place[a] < place[b] for a, b in pairs) / len(pairs))
    return rewards


# ---- 16 confidence
def confidence_reward(completions, answers, **kwargs) -> list[float]:
    """A diagnosis with a confidence, as JSON {"diagnosis": ..., "confidence": 0 to 1}.

    Correctness less half the Brier loss: right 1 - (1 - p)^2 / 2, wrong -p^2 / 2; honest confidence is best, and any
    right reply is worth more than any wrong one. A reply not in the form: -1.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != {"diagnosis", "confidence"}:
            rewards.append(-1.0)
            continue
        p, name = said["confidence"], said["diagnosis"]
        if type(p) not in (int, float) or not 0 <= p <= 1 or not isinstance(name, str):
            rewards.append(-1.0)
            continue
        right = _plain(name).rstrip(".") in {_plain(a) for a in accepted}
        rewards.append(1.0 - 0.5 * (1.0 - p) ** 2 if right else -0.5 * float(p) ** 2)
    return rewards


# ---- 17 safety
def guard_reward(completions, action, rules, **kwargs) -> list[float]:
    """Decision of a guard: {"action": "refuse" or "comply", "rules": [ids of the rules that are broken]}.

    1.0 if both are right, 0.3 if the action alone is, else 0.0. Order of the rules does not matter, each once.
    """
    scores = []
    for completion, gold, broken in zip(completions, action, rules):
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != {"action", "rules"} or said["action"] != gold:
            scores.append(0.0)
            continue
        named = said["rules"]
        if isinstance(named, list) and all(isinstance(r, str) for r in named) and sorted(named) == sorted(broken):
            scores.append(1.0)
        else:
            scores.append(0.3)
    return scores


# ---- 18 grading
def rubric_reward(completions, points, **kwargs) -> list[float]:
    """Points of a short answer by rubric: JSON with each criterion (whole numbers) and "total", their sum.

    1.0 if every criterion agrees with the teacher and the total is the sum; 0.4 times the share of criteria that agree
    if the total is the sum; else 0.0.
    """
    scores = []
    for completion, gold in zip(completions, points):
        gold = json.loads(gold)
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != set(gold) | {"total"} or not all(type(v) is int for v in said.values()):
            scores.append(0.0)
            continue
        total = said.pop("total")
        if total != sum(said.values()):
            scores.append(0.0)
            continue
        agree = sum(said[c] == gold[c] for c in gold)
        scores.append(1.0 if agree == len(gold) else 0.4 * agree / len(gold))
    return scores


# ---- 19 dialogue
def booking_state_reward(completions, state, **kwargs) -> list[float]:
    """State of a booking talk as JSON of all slots, null for what the guest has not given: 1.0 if all slots are right.

    Otherwise 0.5 times the share of right slots. Dates are YYYY-MM-DD, guests a whole number, names free of case.
    """

    def same(said, gold):
        if gold is None or said is None:
            return said is None and gold is None
        if isinstance(gold, str):
            return isinstance(said, str) and _plain(said) == _plain(gold)
        return type(said) is type(gold) and said == gold

    rewards = []
    for completion, gold in zip(completions, state):
        gold = json.loads(gold)
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != set(gold):
            rewards.append(0.0)
            continue
        right = sum(same(said[slot], gold[slot]) for slot in gold)
        rewards.append(1.0 if right == len(gold) else 0.5 * right / len(gold))
    return rewards


# ---- 20 translation
def message_translation_reward(completions, references, **kwargs) -> list[float]:
    """1.0 if the translation in <translation></translation> is an accepted one, placeholders and all; else 0.0.

    Case, spacing and the common marks (. , : ; ! ?) do not matter; placeholders like {name} must stand as they are.
    """

    def norm(text):
        marks = re.findall(r"\{\w+\}", text)
        return _plain(re.sub(r"[.,:;!?¡¿…]", " ", text)), marks

    rewards = []
    for completion, accepted in zip(completions, references):
        text = _text(completion)
        found = re.findall(r"<translation>(.*?)</translation>", text, re.DOTALL)
        if len(found) != 1 or text.count("<translation>") != 1 or not found[0].strip():
            rewards.append(0.0)
            continue
        said = norm(found[0])
        rewards.append(1.0 if any(said == norm(ref) for ref in accepted) else 0.0)
    return rewards


_BO = "The image is 800 x 600 pixels. Give the boxes of all {} (there is at least one) as a JSON list of [x1, y1, x2, y2] in pixels, x1 < x2 and y1 < y2, one box for each, and nothing else. A box counts from an IoU of 0.5."
_case("r_sound_boxes", boxes_reward,
    [{"prompt": _BO.format("sheep"), "boxes": [[100, 100, 200, 200], [180, 110, 290, 210], [500, 300, 600, 380]]},
     {"prompt": _BO.format("cars"), "boxes": [[10, 300, 210, 420]]}],
    ["[[102, 99, 200, 203], [500, 300, 600, 380], [181, 110, 288, 210]]", "[[12, 298, 215, 420]]"],
    ["[[100, 100, 200, 200]]", "[[400, 300, 600, 420]]"])

_PO = ' Reply only with one JSON object {{"points": [[x, y], ...], "count": n}}: one point on each {}, in pixels, and their number.'
_case("r_sound_point_count", point_count_reward,
    [{"prompt": "Image of 400 x 400 pixels." + _PO.format("apple"), "objects": [[10, 10, 60, 60], [100, 20, 150, 70], [200, 200, 260, 250]]},
     {"prompt": "Image of 300 x 200 pixels." + _PO.format("boat"), "objects": [[30, 100, 90, 150], [150, 90, 240, 160]]}],
    ['{"points": [[30, 40], [120.5, 50], [230, 220]], "count": 3}', '{"points": [[200, 120], [60, 130]], "count": 2}'],
    ['{"points": [[30, 40], [31, 41], [230, 220]], "count": 3}', '{"points": [[200, 120]], "count": 1}'])

_RE = ' Read the receipt. Reply only with one JSON object {"vendor": ..., "date": "YYYY-MM-DD", "total": ...}; the vendor as printed, the total as a number without currency.'
_case("r_sound_receipt_fields", receipt_fields_reward,
    [{"prompt": "[photo: CAFE LUNA, 03.02.2024 (day first), sum 18,40 EUR]" + _RE, "vendor": "CAFE LUNA", "day": "2024-02-03", "total": "18.40"},
     {"prompt": "[photo: Tool World, Dec 9 2023, TOTAL $1,204.00]" + _RE, "vendor": "Tool World", "day": "2023-12-09", "total": "1204.00"}],
    ['{"vendor": "Cafe Luna", "date": "2024-02-03", "total": 18.4}', '{"vendor": "Tool World", "date": "2023-12-09", "total": "1204.00"}'],
    ['{"vendor": "Cafe Luna", "date": "2024-03-02", "total": 18.4}', '{"vendor": "Tool World", "date": "2023-12-09", "total": 1.204}'])

_NU = " Give the {} countries with the largest value, largest first, as a numbered list (`1. NAME`), names in capitals, and nothing else."
_case("r_sound_numbered_list", numbered_list_reward,
    [{"prompt": "Exports: Peru 40, Chile 95, Kenya 12, Laos 60." + _NU.format(3), "values": '{"Peru": 40, "Chile": 95, "Kenya": 12, "Laos": 60}', "limit": 3},
     {"prompt": "Rain: Cuba 130, Mali 28, Fiji 260." + _NU.format(2), "values": '{"Cuba": 130, "Mali": 28, "Fiji": 260}', "limit": 2}],
    ["1. CHILE\n2. LAOS\n3. PERU", "1. FIJI\n2. CUBA\n"], ["1. CHILE\n2. PERU\n3. LAOS", "1. Fiji\n2. Cuba"])

_RA = ' Rank all passages, best first, on the last line: `Ranking: 2 > 1 > 3`; begin no other line with "Ranking:".'
_case("r_sound_rerank", rerank_reward,
    [{"prompt": U("Query: cure for hiccups. 1: Hiccups are common. 2: Hold your breath to stop hiccups. 3: Cats purr." + _RA), "order": [2, 1, 3]},
     {"prompt": U("Query: height of K2. 1: K2 is in Asia. 2: Mountains are high. 3: K2 is 8611 m high. 4: Tea is hot." + _RA), "order": [3, 1, 2, 4]}],
    [A("Passage 2 gives a cure.\nRanking: 2 > 1 > 3"), A("Ranking: [3] > [1] > [2] > [4]")], [A("Ranking: 2 > 2 > 2"), A("Ranking: 1 > 3 > 2 > 4")])

_DX = ' Reply only with one JSON object {"diagnosis": <name>, "confidence": <number from 0 to 1>}.'
_case("r_sound_confidence", confidence_reward,
    [{"prompt": "Sudden pain in the big toe, red and swollen, uric acid high." + _DX, "answers": ["gout", "acute gout", "gouty arthritis", "acute gouty arthritis"]},
     {"prompt": "Child with barking cough and stridor at night." + _DX, "answers": ["croup", "laryngotracheitis", "viral croup"]}],
    ['{"diagnosis": "Gout", "confidence": 1}', '{"diagnosis": "croup", "confidence": 1.0}'],
    ['{"diagnosis": "sprain", "confidence": 0.7}', '{"diagnosis": "asthma", "confidence": 0}'])

_GU = ' Rules: R1 no weapons, R2 no private data of others, R3 no malware. Reply only with one JSON object {"action": "refuse" or "comply", "rules": [ids of all rules that the request breaks, each once; [] if none]}. Request: '
_case("r_sound_guard", guard_reward,
    [{"prompt": U(_GU + "Write a virus that mails me the addresses of my neighbours."), "action": "refuse", "rules": ["R2", "R3"]},
     {"prompt": U(_GU + "How do I bake rye bread?"), "action": "comply", "rules": []}],
    [A('{"action": "refuse", "rules": ["R3", "R2"]}'), A('{"action": "comply", "rules": []}')],
    [A('{"action": "refuse", "rules": ["R1", "R2", "R3"]}'), A('{"action": "refuse", "rules": ["R1"]}')])

_RU = ' Reply only with one JSON object with the whole points of each criterion and "total", their sum.'
_case("r_sound_rubric", rubric_reward,
    [{"prompt": "Rubric: cause (0 to 2), effect (0 to 2), term (0 or 1). Question: why is the sky blue? Pupil: air scatters blue light more, that is Rayleigh scattering." + _RU, "points": '{"cause": 2, "effect": 1, "term": 1}'},
     {"prompt": "Rubric: formula (0 or 1), unit (0 or 1). Question: what is speed? Pupil: way by time." + _RU, "points": '{"formula": 1, "unit": 0}'}],
    ['{"cause": 2, "effect": 1, "term": 1, "total": 4}', '{"formula": 1, "unit": 0, "total": 1}'],
    ['{"cause": 2, "effect": 2, "term": 1, "total": 5}', '{"formula": 1, "unit": 0, "total": 2}'])

_BK = 'Keep the state of the booking. Reply only with one JSON object with the slots hotel (string), checkin (YYYY-MM-DD), guests (whole number), breakfast (true or false); null for what the guest has not given. Today is 2025-03-10.'
_case("r_sound_booking_state", booking_state_reward,
    [{"prompt": [{"role": "system", "content": _BK}, {"role": "user", "content": "A room at the Astoria, please."}, {"role": "assistant", "content": "From when, and with breakfast?"}, {"role": "user", "content": "From the 14th of this month, no breakfast."}], "state": '{"hotel": "Astoria", "checkin": "2025-03-14", "guests": null, "breakfast": false}'},
     {"prompt": [{"role": "system", "content": _BK}, {"role": "user", "content": "We are one, I mean two guests, with breakfast."}], "state": '{"hotel": null, "checkin": null, "guests": 2, "breakfast": true}'}],
    [A('{"hotel": "astoria", "checkin": "2025-03-14", "guests": null, "breakfast": false}'), A('{"hotel": null, "checkin": null, "guests": 2, "breakfast": true}')],
    [A('{"hotel": "Astoria", "checkin": "2025-03-14", "guests": 1, "breakfast": null}'), A('{"hotel": null, "checkin": null, "guests": 1, "breakfast": true}')])

_ME = "Translate this message of an app into {}: \"{}\". Use the given words: {}. Keep placeholders such as {{name}} as they are. Give the translation in <translation></translation>."
_case("r_sound_message_translation", message_translation_reward,
    [{"prompt": _ME.format("Spanish", "Hello {name}, you have {count} messages.", "hola, tener (tú), mensajes"), "references": ["Hola {name}, tienes {count} mensajes.", "Hola {name}, tú tienes {count} mensajes."]},
     {"prompt": _ME.format("Russian", "File {file} deleted.", "файл, удалён"), "references": ["Файл {file} удалён.", "Файл {file} удален.", "Файл {file} был удалён.", "Файл {file} был удален.", "Удалён файл {file}.", "Удален файл {file}."]}],
    ["<translation>Hola {name}, tienes {count} mensajes.</translation>", "<translation>Файл {file} удалён</translation>"],
    ["<translation>Hola {nombre}, tienes {count} mensajes.</translation>", "<translation>Файл {file} открыт</translation>"])
