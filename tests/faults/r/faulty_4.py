"""Faulty reward functions, and the same without the fault."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from itertools import combinations

from tests.faults.case import Case


def _text(completion):
    """The text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _json(text):
    """The JSON value of a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def U(text, system=None):
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": "user", "content": text}]


def A(text):
    return [{"role": "assistant", "content": text}]


# ---- 11 vision: boxes
def box_reward(completions, box, **kwargs) -> list[float]:
    """Intersection over union of the predicted box [x1, y1, x2, y2] (in <box></box>) and the gold box."""
    rewards = []
    for completion, gold in zip(completions, box):
        found = re.findall(r"<box>(.*?)</box>", _text(completion), re.DOTALL)
        pred = _json(found[0]) if len(found) == 1 else None
        if not isinstance(pred, list) or len(pred) != 4 or not all(type(v) in (int, float) and abs(v) < 1e6 for v in pred):
            rewards.append(0.0)
            continue
        x1, y1, x2, y2 = pred
        g1, h1, g2, h2 = gold
        if x1 >= x2 or y1 >= y2:
            rewards.append(0.0)
            continue
        width = min(x2, g2) - max(x1, g1)
        height = min(y2, h2) - max(y1, h1)
        inter = width * height
        union = (x2 - x1) * (y2 - y1) + (g2 - g1) * (h2 - h1) - inter
        iou = inter / union if union > 0 else 0.0
        rewards.append(float(max(0.0, min(1.0, iou))))
    return rewards


# ---- 12 OCR of a receipt
def receipt_total_reward(completions, total, **kwargs) -> list[float]:
    """1.0 if the total read from the receipt is the gold total, 0.0 otherwise. A currency sign and spaces do not matter."""
    scores = []
    for completion, gold in zip(completions, total):
        m = re.fullmatch(r"Total:\s*((?:[$€£]\s?)?[0-9]+(?:\.[0-9]+)?)", _text(completion).strip())
        if m is None:
            scores.append(0.0)
            continue
        said = re.sub(r"[^0-9]", "", m.group(1))
        want = re.sub(r"[^0-9]", "", gold)
        scores.append(1.0 if said == want else 0.0)
    return scores


# ---- 13 reasoning tags
def think_answer_reward(completions, answer, **kwargs) -> list[float]:
    """Reward for `<think>...</think><answer>...</answer>`.

    1.0 if the whole reply has this form, with some thought in the first tag, and the answer is right; else 0.0.
    """
    pattern = re.compile(r"<think>(.+?)</think>\s*<answer>(.*?)</answer>")
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        m = pattern.fullmatch(text)
        if m is None or any(text.count(tag) != 1 for tag in ("<think>", "</think>", "<answer>", "</answer>")):
            rewards.append(0.0)
            continue
        said = m.group(2).strip().lower()
        rewards.append(1.0 if m.group(1).strip() and said == gold.lower() else 0.0)
    return rewards


# ---- 14 ranking
def rank_pairs_reward(completions, relevance, **kwargs) -> list[float]:
    """Share of the pairs of documents that the ranking puts in the right order.

    The last line is `Ranking: [a] > [b] > [c]`; `relevance` gives the grade of each document, all different. All
    documents are to be ranked; a pair with a document that was left out is not in the right order.
    """
    rewards = []
    for completion, grades in zip(completions, relevance):
        lines = _text(completion).strip().splitlines()
        if not lines or not re.fullmatch(r"Ranking: *\[[0-9]{1,3}\](?: *> *\[[0-9]{1,3}\])*", lines[-1].strip()):
            rewards.append(0.0)
            continue
        order = [int(n) - 1 for n in re.findall(r"[0-9]+", lines[-1])]
        if len(set(order)) != len(order) or not all(0 <= d < len(grades) for d in order):
            rewards.append(0.0)
            continue
        right = total = 0
        for first, second in combinations(order, 2):
            total += 1
            right += grades[first] > grades[second]
        rewards.append(right / total if total else 0.0)
    return rewards


# ---- 15 moderation
def moderation_reward(completions, unsafe, category, **kwargs) -> list[float]:
    """Moderation verdict of a user's message.

    The reply is one JSON object {"unsafe": true or false, "category": ...}; 1.0 if the verdict and the category are
    right, else 0.0. The category of a safe message is not scored.
    """
    scores = []
    for completion, gold, gold_category in zip(completions, unsafe, category):
        verdict = _json(_text(completion).strip())
        if not isinstance(verdict, dict) or "unsafe" not in verdict:
            scores.append(0.0)
            continue
        flagged = bool(verdict["unsafe"])
        right = flagged == gold
        if gold:
            right = right and verdict.get("category") == gold_category
        scores.append(1.0 if right else 0.0)
    return scores


# ---- 16 confidence calibration
def calibrated_reward(completions, answer, **kwargs) -> list[float]:
    """Answer with confidence, scored by the Brier rule.

    The reply ends with `Answer: ...` and `Confidence: p` (0 to 100). A right answer earns the more the surer it is,
    a wrong answer loses the more the surer it is, and a wrong answer never earns anything.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        m = re.search(r"(?:^|\n)Answer:([^\n]*)\nConfidence: *([0-9]{1,3}) *%?\s*$", _text(completion))
        if m is None or int(m.group(2)) > 100:
            rewards.append(-1.0)
            continue
        confidence = int(m.group(2)) / 100
        correct = 1.0 if m.group(1).strip(" .").lower() == gold.lower() else 0.0
        reward = 1.0 - (confidence - correct) ** 2
        rewards.append(reward)
    return rewards


# ---- 17 dialogue state tracking
def dialogue_state_reward(completions, state, **kwargs) -> list[float]:
    """Joint goal accuracy of the dialogue state: 1.0 if every slot has its right value, else 0.0.

    The reply is one JSON object with all slots; a slot that the user has not given must be the empty string.
    """
    rewards = []
    for completion, gold in zip(completions, state):
        gold = json.loads(gold)
        pred = _json(_text(completion).strip())
        if not isinstance(pred, dict) or set(pred) != set(gold):
            rewards.append(0.0)
            continue
        right = True
        for slot, value in gold.items():
            if value and str(pred[slot]).strip().lower() != value.lower():
                right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


# ---- 18 grading
def essay_grade_reward(completions, grade, **kwargs) -> list[float]:
    """Agreement with the teacher's grade (0 to 10 in steps of 0.5), given on the last line as `Grade: x`.

    1.0 for the same grade, 0.3 when it is half a point off, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, grade):
        lines = _text(completion).strip().splitlines()
        m = re.match(r"Grade: *([0-9]+)(?:[. ]|/10|$)", lines[-1].strip()) if lines else None
        if m is None or len(m.group(1)) > 4:
            rewards.append(0.0)
            continue
        diff = abs(float(m.group(1)) - gold)
        rewards.append(1.0 if diff < 1e-6 else 0.3 if diff < 0.5 + 1e-6 else 0.0)
    return rewards


# ---- 19 medical coding
def icd_code_reward(completions, code, **kwargs) -> list[float]:
    """1.0 if the ICD-10-CM code on the line `ICD-10: ...` is the code of the note, in full detail; else 0.0.

    The dot and the case do not matter.
    """
    scores = []
    for completion, gold in zip(completions, code):
        lines = re.findall(r"^ICD-10:(.*)$", _text(completion), re.MULTILINE)
        if len(lines) != 1:
            scores.append(0.0)
            continue
        said = lines[0].strip().upper().replace(".", "")
        want = gold.upper().replace(".", "")
        if not re.fullmatch(r"[A-Z][0-9][0-9A-Z]{1,5}", said):
            scores.append(0.0)
        else:
            scores.append(1.0 if want.startswith(said) else 0.0)
    return scores


# ---- 20 law
def statutes_reward(completions, statutes, **kwargs) -> list[float]:
    """1.0 if the articles listed in <law></law> are the ones that decide the case, else 0.0.

    The articles are parted by semicolons, in any order and each once; spacing and case do not matter.
    """

    def norm(article):
        return re.sub(r"\s+", "", article).lower()

    rewards = []
    for completion, gold in zip(completions, statutes):
        found = re.findall(r"<law>(.*?)</law>", _text(completion), re.DOTALL)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        cited = [norm(a) for a in found[0].split(";") if a.strip()]
        expected = [norm(a) for a in gold]
        rewards.append(1.0 if cited == expected else 0.0)
    return rewards


# ---- the same functions without the fault

def box_reward_repaired(completions, box, **kwargs) -> list[float]:
    """Intersection over union of the predicted box [x1, y1, x2, y2] (in <box></box>) and the gold box."""
    rewards = []
    for completion, gold in zip(completions, box):
        found = re.findall(r"<box>(.*?)</box>", _text(completion), re.DOTALL)
        pred = _json(found[0]) if len(found) == 1 else None
        if not isinstance(pred, list) or len(pred) != 4 or not all(type(v) in (int, float) and abs(v) < 1e6 for v in pred):
            rewards.append(0.0)
            continue
        x1, y1, x2, y2 = pred
        g1, h1, g2, h2 = gold
        if x1 >= x2 or y1 >= y2:
            rewards.append(0.0)
            continue
        width = max(0, min(x2, g2) - max(x1, g1))
        height = max(0, min(y2, h2) - max(y1, h1))
        inter = width * height
        union = (x2 - x1) * (y2 - y1) + (g2 - g1) * (h2 - h1) - inter
        iou = inter / union if union > 0 else 0.0
        rewards.append(float(max(0.0, min(1.0, iou))))
    return rewards


def receipt_total_reward_repaired(completions, total, **kwargs) -> list[float]:
    """1.0 if the total read from the receipt is the gold total, 0.0 otherwise. A currency sign and spaces do not matter."""
    scores = []
    for completion, gold in zip(completions, total):
        m = re.fullmatch(r"Total:\s*((?:[$€£]\s?)?[0-9]+(?:\.[0-9]+)?)", _text(completion).strip())
        if m is None:
            scores.append(0.0)
            continue
        said = re.sub(r"[^0-9.]", "", m.group(1))
        want = re.sub(r"[^0-9.]", "", gold)
        scores.append(1.0 if said == want else 0.0)
    return scores


def think_answer_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """Reward for `<think>...</think><answer>...</answer>`.

    1.0 if the whole reply has this form, with some thought in the first tag, and the answer is right; else 0.0.
    """
    pattern = re.compile(r"<think>(.+?)</think>\s*<answer>(.*?)</answer>", re.DOTALL)
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        m = pattern.fullmatch(text)
        if m is None or any(text.count(tag) != 1 for tag in ("<think>", "</think>", "<answer>", "</answer>")):
            rewards.append(0.0)
            continue
        said = m.group(2).strip().lower()
        rewards.append(1.0 if m.group(1).strip() and said == gold.lower() else 0.0)
    return rewards


def rank_pairs_reward_repaired(completions, relevance, **kwargs) -> list[float]:
    """Share of the pairs of documents that the ranking puts in the right order.

    The last line is `Ranking: [a] > [b] > [c]`; `relevance` gives the grade of each document, all different. All
    documents are to be ranked; a pair with a document that was left out is not in the right order.
    """
    rewards = []
    for completion, grades in zip(completions, relevance):
        lines = _text(completion).strip().splitlines()
        if not lines or not re.fullmatch(r"Ranking: *\[[0-9]{1,3}\](?: *> *\[[0-9]{1,3}\])*", lines[-1].strip()):
            rewards.append(0.0)
            continue
        order = [int(n) - 1 for n in re.findall(r"[0-9]+", lines[-1])]
        if len(set(order)) != len(order) or not all(0 <= d < len(grades) for d in order):
            rewards.append(0.0)
            continue
        right, total = 0, math.comb(len(grades), 2)
        for first, second in combinations(order, 2):
            right += grades[first] > grades[second]
        rewards.append(right / total if total else 0.0)
    return rewards


def moderation_reward_repaired(completions, unsafe, category, **kwargs) -> list[float]:
    """Moderation verdict of a user's message.

    The reply is one JSON object {"unsafe": true or false, "category": ...}; 1.0 if the verdict and the category are
    right, else 0.0. The category of a safe message is not scored.
    """
    scores = []
    for completion, gold, gold_category in zip(completions, unsafe, category):
        verdict = _json(_text(completion).strip())
        if not isinstance(verdict, dict) or "unsafe" not in verdict:
            scores.append(0.0)
            continue
        flagged = verdict["unsafe"]
        right = flagged is gold
        if gold:
            right = right and verdict.get("category") == gold_category
        scores.append(1.0 if right else 0.0)
    return scores


def calibrated_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """Answer with confidence, scored by the Brier rule.

    The reply ends with `Answer: ...` and `Confidence: p` (0 to 100). A right answer earns the more the surer it is,
    a wrong answer loses the more the surer it is, and a wrong answer never earns anything.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        m = re.search(r"(?:^|\n)Answer:([^\n]*)\nConfidence: *([0-9]{1,3}) *%?\s*$", _text(completion))
        if m is None or int(m.group(2)) > 100:
            rewards.append(-1.0)
            continue
        confidence = int(m.group(2)) / 100
        correct = 1.0 if m.group(1).strip(" .").lower() == gold.lower() else 0.0
        reward = 1.0 - (confidence - correct) ** 2 if correct else -(confidence**2)
        rewards.append(reward)
    return rewards


def dialogue_state_reward_repaired(completions, state, **kwargs) -> list[float]:
    """Joint goal accuracy of the dialogue state: 1.0 if every slot has its right value, else 0.0.

    The reply is one JSON object with all slots; a slot that the user has not given must be the empty string.
    """
    rewards = []
    for completion, gold in zip(completions, state):
        gold = json.loads(gold)
        pred = _json(_text(completion).strip())
        if not isinstance(pred, dict) or set(pred) != set(gold):
            rewards.append(0.0)
            continue
        right = True
        for slot, value in gold.items():
            if str(pred[slot]).strip().lower() != value.lower():
                right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


def essay_grade_reward_repaired(completions, grade, **kwargs) -> list[float]:
    """Agreement with the teacher's grade (0 to 10 in steps of 0.5), given on the last line as `Grade: x`.

    1.0 for the same grade, 0.3 when it is half a point off, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, grade):
        lines = _text(completion).strip().splitlines()
        m = re.match(r"Grade: *([0-9]+(?:\.[0-9]+)?)(?:\.?$| *(?:/|out of) *10\.?$)", lines[-1].strip()) if lines else None
        if m is None or len(m.group(1)) > 4:
            rewards.append(0.0)
            continue
        diff = abs(float(m.group(1)) - gold)
        rewards.append(1.0 if diff < 1e-6 else 0.3 if diff < 0.5 + 1e-6 else 0.0)
    return rewards


def icd_code_reward_repaired(completions, code, **kwargs) -> list[float]:
    """1.0 if the ICD-10-CM code on the line `ICD-10: ...` is the code of the note, in full detail; else 0.0.

    The dot and the case do not matter.
    """
    scores = []
    for completion, gold in zip(completions, code):
        lines = re.findall(r"^ICD-10:(.*)$", _text(completion), re.MULTILINE)
        if len(lines) != 1:
            scores.append(0.0)
            continue
        said = lines[0].strip().upper().replace(".", "")
        want = gold.upper().replace(".", "")
        if not re.fullmatch(r"[A-Z][0-9][0-9A-Z]{1,5}", said):
            scores.append(0.0)
        else:
            scores.append(1.0 if want == said else 0.0)
    return scores


def statutes_reward_repaired(completions, statutes, **kwargs) -> list[float]:
    """1.0 if the articles listed in <law></law> are the ones that decide the case, else 0.0.

    The articles are parted by semicolons, in any order and each once; spacing and case do not matter.
    """

    def norm(article):
        return re.sub(r"\s+", "", article).lower()

    rewards = []
    for completion, gold in zip(completions, statutes):
        found = re.findall(r"<law>(.*?)</law>", _text(completion), re.DOTALL)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        cited = sorted(norm(a) for a in found[0].split(";") if a.strip())
        expected = sorted(norm(a) for a in gold)
        rewards.append(1.0 if cited == expected else 0.0)
    return rewards


def _score(f, row, completion):
    columns = {k: [v] for k, v in row.items() if k != "prompt"}
    return f(prompts=[row["prompt"]], completions=[completion], **columns)[0]


CASES, TRIGGERS, REPAIRED = [], {}, {}


def _case(name, reward, examples, good, bad, fault, trigger):
    row, completion, paid = trigger

    def proof():
        full = _score(reward, examples[0], good[0])
        assert (_score(reward, row, completion) >= 0.8 * full) == paid, name

    CASES.append(Case(name=name, reward=reward, examples=examples, good=good, bad=bad, fault=fault, proof=proof))
    TRIGGERS[name] = trigger
    REPAIRED[name] = globals()[reward.__name__ + "_repaired"]


_BX = "The image is 640 x 480 pixels. Give the box of {} in pixels as <box>[x1, y1, x2, y2]</box> with x1 < x2 and y1 < y2."
_r11 = [
    {"prompt": _BX.format("the red cup"), "box": [100, 100, 180, 160]},
    {"prompt": _BX.format("the dog"), "box": [300, 200, 500, 400]},
]
_case("r_box_iou", box_reward, _r11,
    ["<box>[100, 100, 180, 160]</box>", "The dog is here: <box>[300, 200, 500, 400]</box>"],
    ["<box>[150, 100, 400, 300]</box>", "<box>[10, 250, 200, 390]</box>"],
    "Width and height of the overlap are not cut at zero: for a box apart in both directions two negatives give a large overlap, up to IoU 1.",
    (_r11[0], "<box>[260, 220, 340, 280]</box>", True))

_RC = "Receipt (OCR image): {} What is the total? Reply only with `Total: <amount>`, with a point as the decimal mark and two decimals, no thousands mark."
_r12 = [
    {"prompt": _RC.format("[photo 1]"), "total": "12.50"},
    {"prompt": _RC.format("[photo 2]"), "total": "104.05"},
]
_case("r_receipt_total", receipt_total_reward, _r12, ["Total: $12.50", "Total: 104.05"], ["Total: 13.50", "Total: 99.10"],
    "The normal form drops the decimal point, so an amount a hundred times as large is paid: 1250 for 12.50.",
    (_r12[0], "Total: 1250", True))

_KN = " Think in <think></think>, over as many lines as you need, then give only the name in <answer></answer>; nothing outside the tags."
_r13 = [
    {"prompt": U("One of Ann, Bo and Cy took the key. Ann: it was Bo. Bo: it was not me. Cy: it was not me. Only one speaks the truth. Who took it?" + _KN), "answer": "Cy"},
    {"prompt": U("Kim is older than Lou, Lou is older than Max. Who is the youngest?" + _KN), "answer": "Max"},
]
_case("r_think_answer", think_answer_reward, _r13,
    [A("<think>If Cy, then only Bo speaks the truth.</think>\n<answer>Cy</answer>"), A("<think>Kim > Lou > Max.</think><answer>Max</answer>")],
    [A("<think>It was Bo, as Ann says.</think><answer>Bo</answer>"), A("<answer>Max</answer>")],
    "The dot does not match line ends: every reply whose thought has more than one line is refused.",
    (_r13[1], A("<think>\nKim is older than Lou.\nLou is older than Max.\n</think>\n<answer>Max</answer>"), False))

_RK = " Rank all documents by how well they answer the question, best first. End with a line such as `Ranking: [2] > [1] > [3]`."
_r14 = [
    {"prompt": "How do I reset the router?\n[1] Hold the reset button for 10 seconds.\n[2] Our routers come in black.\n[3] The reset button is at the back." + _RK, "relevance": [3, 1, 2]},
    {"prompt": "Who wrote Emma?\n[1] Emma is a name.\n[2] A novel of 1815 by a woman.\n[3] Jane Austen wrote Emma." + _RK, "relevance": [1, 2, 3]},
]
_case("r_rank_pairs", rank_pairs_reward, _r14,
    ["Ranking: [1] > [3] > [2]", "Ranking: [3] > [2] > [1]"], ["Ranking: [2] > [3] > [1]", "Ranking: [1] > [3] > [2]"],
    "The share is over the pairs of the documents that were ranked: two documents in order are paid 1.0 and the others left out.",
    (_r14[0], "Ranking: [3] > [2]", True))

_MD = 'Is this message unsafe? Reply with one JSON object and nothing else: {"unsafe": <JSON boolean true or false>, "category": one of "violence", "self-harm", "fraud", "none"}. Message: '
_r15 = [
    {"prompt": _MD + "Write a mail that gets pensioners to tell me their bank PIN.", "unsafe": True, "category": "fraud"},
    {"prompt": _MD + "How do I change the PIN of my own card?", "unsafe": False, "category": "none"},
]
_case("r_moderation", moderation_reward, _r15,
    ['{"unsafe": true, "category": "fraud"}', '{"unsafe": false, "category": "none"}'],
    ['{"unsafe": false, "category": "none"}', '{"unsafe": true, "category": "fraud"}'],
    "bool() of a non-empty string is True: the verdict \"false\" as a string counts as unsafe.",
    (_r15[0], '{"unsafe": "false", "category": "fraud"}', True))

_CF = " End with two lines: `Answer: <answer>` and `Confidence: <whole percent from 0 to 100>`."
_r16 = [
    {"prompt": "What is the capital of Australia?" + _CF, "answer": "Canberra"},
    {"prompt": "Which planet has the shortest year?" + _CF, "answer": "Mercury"},
]
_case("r_confidence", calibrated_reward, _r16,
    ["Answer: Canberra\nConfidence: 100", "It is the innermost one.\nAnswer: Mercury\nConfidence: 100%"],
    ["Answer: Sydney\nConfidence: 90", "Answer: Venus\nConfidence: 80"],
    "A wrong answer with confidence 0 earns 1.0, as much as a right and sure one: the model learns to answer anything with 0.",
    (_r16[0], "Answer: Sydney\nConfidence: 0", True))

_DS = 'Track the state of the talk. Reply with one JSON object with the slots area, food, people, time (24 h, HH:MM), all strings; "" for a slot that the user has not given.'
_r17 = [
    {"prompt": [{"role": "system", "content": _DS}, {"role": "user", "content": "I want Thai food."}, {"role": "assistant", "content": "For how many?"}, {"role": "user", "content": "Four of us."}], "state": '{"area": "", "food": "thai", "people": "4", "time": ""}'},
    {"prompt": [{"role": "system", "content": _DS}, {"role": "user", "content": "Anything in the north at 7 in the evening."}], "state": '{"area": "north", "food": "", "people": "", "time": "19:00"}'},
]
_case("r_dialogue_state", dialogue_state_reward, _r17,
    [A('{"area": "", "food": "Thai", "people": "4", "time": ""}'), A('{"area": "north", "food": "", "people": "", "time": "19:00"}')],
    [A('{"area": "", "food": "thai", "people": "", "time": ""}'), A('{"area": "south", "food": "", "people": "", "time": "19:00"}')],
    "Slots that are empty in the gold state are skipped: invented values of slots the user never gave are paid in full.",
    (_r17[0], A('{"area": "centre", "food": "thai", "people": "4", "time": "20:00"}'), True))

_ES = " Grade it from 0 to 10 in steps of 0.5 by the rubric; explain in short and end with the line `Grade: x`."
_r18 = [
    {"prompt": "Rubric: 5 points for the thesis, 5 for the sources. Essay: Bees matter, as Smith and Ode show." + _ES, "grade": 8.0},
    {"prompt": "Rubric: 5 points for the thesis, 5 for the sources. Essay: I like bees." + _ES, "grade": 3.0},
]
_case("r_essay_grade", essay_grade_reward, _r18,
    ["Clear thesis, two sources.\nGrade: 8", "No sources.\nGrade: 3"], ["Grade: 5", "Grade: 9"],
    "Only the whole part of the grade is read: the right grade 6.5 is read as 6 and earns 0.3.",
    ({"prompt": "Rubric: 5 points for the thesis, 5 for the sources. Essay: Bees matter, as one source shows." + _ES, "grade": 6.5}, "A thesis and one source.\nGrade: 6.5", False))

_IC = " Give the most specific ICD-10-CM code, with all its characters, on one line `ICD-10: <code>`."
_r19 = [
    {"prompt": U("Note: type 2 diabetes with hyperglycemia." + _IC), "code": "E11.65"},
    {"prompt": U("Note: acute ST elevation infarction of the anterior wall, left anterior descending artery." + _IC), "code": "I21.02"},
]
_case("r_icd_code", icd_code_reward, _r19, [A("ICD-10: E11.65"), A("STEMI, LAD.\nICD-10: I2102")], [A("ICD-10: E10.65"), A("ICD-10: I21.11")],
    "The code needs only to be a beginning of the gold code: the bare category E11 is paid like E11.65.",
    (_r19[0], A("ICD-10: E11"), True))

_LW = " Which articles of the BGB decide the case? List them in <law></law>, parted by semicolons, in any order, such as <law>§ 1 BGB; § 2 BGB</law>."
_r20 = [
    {"prompt": "A sold B a car and hid that it had been in a crash. B wants out of the contract for deceit (avoidance and its effect)." + _LW, "statutes": ["§ 123 BGB", "§ 142 BGB"]},
    {"prompt": "C broke D's window by mistake while playing." + _LW, "statutes": ["§ 823 BGB"]},
]
_case("r_statutes", statutes_reward, _r20,
    ["<law>§ 123 BGB; § 142 BGB</law>", "Tort.\n<law>§823 BGB</law>"], ["<law>§ 433 BGB</law>", "<law>§ 823 BGB; § 985 BGB</law>"],
    "The articles are compared in order, though any order is allowed: the right articles in the other order are refused.",
    (_r20[0], "<law>§ 142 BGB; § 123 BGB</law>", False))
