"""Sound reward functions, part 1."""

from __future__ import annotations

import json
import re
import sqlite3
from fractions import Fraction

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


# ---------------------------------------------------------------- 1 exact values


def _exact(text):
    r"""Fraction of '3', '-0.75', '1,200', '3/4', '\frac{3}{4}' or '$3$', None for anything else."""
    text = text.strip().strip("$").replace(" ", "").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    if len(text) > 60:
        return None
    match = re.fullmatch(r"(-?)\\frac\{(-?\d+)\}\{(-?\d+)\}", text) or re.fullmatch(r"(-?)(-?\d+)/(-?\d+)", text)
    if match:
        if int(match.group(3)) == 0:
            return None
        value = Fraction(int(match.group(2)), int(match.group(3)))
        return -value if match.group(1) else value
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    return Fraction(text) if re.fullmatch(r"[-+]?\d+(\.\d+)?", text, flags=re.A) else None


def exact_value_reward(completions, value, **kwargs):
    r"""Exact rational answers in the last \boxed{}.

    Integers, finite decimals and fractions are accepted and compared as exact numbers, so 0.75,
    3/4, 6/8 and \frac{3}{4} are the same, but 0.33 is not 1/3. 1.0 or 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, value):
        text = _text(completion)
        start = text.rfind("\\boxed{")
        depth, end = 0, -1
        for position in range(start + 6, min(len(text), start + 120)) if start >= 0 else ():
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            if depth == 0:
                end = position
                break
        found = _exact(text[start + 7 : end]) if end > 0 else None
        rewards.append(1.0 if found is not None and found == Fraction(gold) else 0.0)
    return rewards


_EXACT_RULE = "Put the exact value (an integer, a finite decimal or a fraction) in \\boxed{}; the last box counts.\n"
_EXACT = [
    {"prompt": _EXACT_RULE + "What is 1/2 + 1/4?", "value": "3/4"},
    {"prompt": _EXACT_RULE + "What is the sum of the integers from 1 to 60?", "value": "1830"},
    {"prompt": _EXACT_RULE + "Solve 3x + 2 = 1.", "value": "-1/3"},
]

# ---------------------------------------------------------------- 2 estimates


def estimate_with_bands(completions, value, **kwargs):
    """A measured quantity, with credit by the size of the error.

    The bare number is in <answer>. A relative error of at most 1% is worth 1.0, of at most 5% 0.4,
    a larger one nothing. The error is absolute, so it does not matter on which side it lies.
    """
    scores = []
    for completion, gold in zip(completions, value):
        said = (_tag(_text(completion), "answer") or "").strip()
        if not re.fullmatch(r"[-+]?\d{1,12}(\.\d{1,12})?([eE][-+]?\d{1,2})?", said, flags=re.A):
            scores.append(0.0)
            continue
        error = abs(float(said) - gold) / abs(gold)
        scores.append(1.0 if error <= 0.01 else 0.4 if error <= 0.05 else 0.0)
    return scores


_BAND_RULE = "Put the bare number in <answer></answer>, without a unit and without thousands separators. If this element is there several times, the last one counts. Within 1% is right, within 5% earns a part.\n"
_BANDS = [
    {"prompt": _BAND_RULE + "What is the volume in cubic metres of a sphere of radius 1.5 m?", "value": 14.137},
    {"prompt": _BAND_RULE + "To how many dollars do 1000 dollars grow in 10 years at 5 percent, compounded each year?", "value": 1628.89},
]

# ---------------------------------------------------------------- 3 multiple choice


def choice_reward(completions, answer, **kwargs):
    """Multiple choice with free reasoning.

    Only the last line that starts with 'Answer:' counts, and it must hold one letter A to D
    alone, possibly in brackets or followed by a full stop or by ')'. 1.0 or 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _last_line(_text(completion), "Answer:")
        match = re.fullmatch(r"\(?([A-D])\)?\.?", said or "")
        rewards.append(1.0 if match and match.group(1) == gold else 0.0)
    return rewards


_CHOICE_RULE = "Reason as you like; the last line must be 'Answer: <letter>' with one letter.\n"
_CHOICES = [
    {"prompt": [{"role": "user", "content": _CHOICE_RULE + "Which organ makes insulin? A) Liver B) Pancreas C) Spleen D) Kidney"}], "answer": "B"},
    {"prompt": [{"role": "user", "content": _CHOICE_RULE + "A drug of first choice in anaphylaxis is: A) Adrenaline B) Cetirizine C) Prednisolone D) Salbutamol"}], "answer": "A"},
]

# ---------------------------------------------------------------- 4 several choices


def select_with_penalty(completions, answer, **kwargs):
    """'Select all that apply', with partial credit.

    The letters of the last 'Answer:' line, separated by commas. Each right letter earns 1/n, with n
    the number of right letters, and each wrong letter costs 1/n; never below 0.0. A line with
    anything else, or with a letter twice, is worth 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _last_line(_text(completion), "Answer:") or ""
        letters = [part.strip() for part in said.split(",")] if len(said) < 60 else []
        if not letters or len(set(letters)) != len(letters) or not all(re.fullmatch("[A-E]", letter) for letter in letters):
            rewards.append(0.0)
            continue
        right = len(set(letters) & set(gold))
        rewards.append(max(0.0, (right - (len(letters) - right)) / len(gold)))
    return rewards


_SELECT_RULE = "Several options can be right. End with 'Answer: <letters, separated by commas>'. A right letter earns, a wrong one costs the same.\n"
_SELECT = [
    {"prompt": _SELECT_RULE + "Which are mammals? A) Bat B) Penguin C) Whale D) Shark E) Otter", "answer": ["A", "C", "E"]},
    {"prompt": _SELECT_RULE + "Which are even? A) 3 B) 8 C) 11 D) 14 E) 21", "answer": ["B", "D"]},
]

# ---------------------------------------------------------------- 5 SQL

_READ_ONLY = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def _run_sql(sql, script):
    """Rows of one read-only query on a fresh database; None on an error or when it runs too long."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READ_ONLY else sqlite3.SQLITE_DENY)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100000)
        ticks = iter(range(50))
        connection.set_progress_handler(lambda: next(ticks, None) is None, 10000)
        return connection.execute(sql).fetchmany(1000)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        connection.close()


def sql_two_databases(completions, gold_sql, ordered, databases, **kwargs):
    """Execution accuracy on two databases with the same schema.

    The second database, which is not in the prompt, keeps a query with the answer written into it
    from being paid. Results are compared as lists when the question asks for an order and as
    multisets otherwise; the names of the columns do not matter. 1.0 or 0.0.
    """
    rewards = []
    for completion, gold, in_order, scripts in zip(completions, gold_sql, ordered, databases):
        sql = _tag(_text(completion), "sql")
        right = bool(sql) and len(sql) < 5000
        for script in scripts if right else ():
            found, expected = _run_sql(sql, script), _run_sql(gold, script)
            if found is not None and not in_order:
                found, expected = sorted(map(repr, found)), sorted(map(repr, expected))
            right = right and found is not None and found == expected
        rewards.append(1.0 if right else 0.0)
    return rewards


_DB1 = (
    "CREATE TABLE city(name TEXT, country TEXT, people INTEGER);"
    "INSERT INTO city VALUES('Graz','AT',290000),('Wien','AT',1900000),('Bern','CH',134000),('Linz','AT',207000);"
)
_DB2 = (
    "CREATE TABLE city(name TEXT, country TEXT, people INTEGER);"
    "INSERT INTO city VALUES('Genf','CH',203000),('Steyr','AT',38000),('Wels','AT',62000),('Basel','CH',173000),('Wels','CH',500);"
)
_SQL_RULE = "Table city(name TEXT, country TEXT, people INTEGER). Put one SQLite query in <sql></sql>; it is run on other data as well. If this element is there several times, the last one counts.\nThe data here: "
_SQL = [
    {"prompt": _SQL_RULE + _DB1 + "\nThe names of the cities in country 'AT', the largest first.", "gold_sql": "SELECT name FROM city WHERE country='AT' ORDER BY people DESC", "ordered": True, "databases": [_DB1, _DB2]},
    {"prompt": _SQL_RULE + _DB1 + "\nFor each country its code and the number of its cities, in any order.", "gold_sql": "SELECT country, COUNT(*) FROM city GROUP BY country", "ordered": False, "databases": [_DB1, _DB2]},
]

# ---------------------------------------------------------------- 6 extraction


def _same(found, gold):
    """Equal text (case and blanks aside), equal number to the cent, equal null; never across types."""
    if gold is None:
        return found is None
    if isinstance(gold, str):
        return isinstance(found, str) and " ".join(found.lower().split()) == " ".join(gold.lower().split())
    return type(found) in (int, float) and abs(found) < 1e9 and abs(found - gold) < 0.005


def receipt_reward(completions, record, **kwargs):
    """Fields of a receipt as one JSON object in <json>.

    The share of the fields that are right; a field which the receipt does not state must be null.
    Another set of keys than the asked one, or no object, is worth 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, record):
        try:
            found = json.loads((_tag(_text(completion), "json") or "")[:5000])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or set(found) != set(gold):
            rewards.append(0.0)
            continue
        right = sum(_same(found[key], gold[key]) for key in gold)
        rewards.append(right / len(gold))
    return rewards


_RECEIPT_RULE = "Extract shop, date (YYYY-MM-DD), total (number) and tip (number) as a JSON object in <json></json>; null for what is not stated. If this element is there several times, the last one counts. Case does not matter.\n"
_RECEIPTS = [
    {"prompt": _RECEIPT_RULE + "CAFE LUNA / 3 May 2024 / 2 espresso 5.20 / total 5.20", "record": {"shop": "Cafe Luna", "date": "2024-05-03", "total": 5.2, "tip": None}},
    {"prompt": _RECEIPT_RULE + "Trattoria Sole, 11 Nov 2023, total 48.00, tip 5.00", "record": {"shop": "Trattoria Sole", "date": "2023-11-11", "total": 48.0, "tip": 5.0}},
]

# ---------------------------------------------------------------- 7 tool calls


def _canonical(call, defaults):
    """Text of a call with its defaults filled in, None if it is no call."""
    if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
        return None
    if not isinstance(call["name"], str) or not isinstance(call["arguments"], dict):
        return None
    return json.dumps([call["name"], {**defaults.get(call["name"], {}), **call["arguments"]}], sort_keys=True)


def tool_calls_reward(completions, calls, defaults, **kwargs):
    """A JSON list of tool calls in <calls>, in any order.

    An optional argument may be left out or given with its default value. Types count (true is not
    1). Each gold call can be matched once; the reward is the number of matches over the larger of
    the two numbers of calls.
    """
    rewards = []
    for completion, gold, optional in zip(completions, calls, defaults):
        try:
            found = json.loads((_tag(_text(completion), "calls") or "")[:5000])
            said = [_canonical(call, optional) for call in found] if isinstance(found, list) else []
        except (ValueError, RecursionError):
            said = []
        left = [_canonical(call, optional) for call in gold]
        hits = 0
        for call in said:
            if call is not None and call in left:
                left.remove(call)
                hits += 1
        rewards.append(hits / max(len(said), len(gold)))
    return rewards


_CALLS_RULE = 'Tools: play(title: string, shuffle: boolean = false), set_volume(percent: integer). Answer with the needed calls only, as a JSON list of {"name": ..., "arguments": {...}} in <calls></calls>, in any order. If this element is there several times, the last one counts.\n'
_DEFAULTS = {"play": {"shuffle": False}}
_CALLS = [
    {"prompt": _CALLS_RULE + "Play 'Blue Train' and set the volume to 40 percent.", "calls": [{"name": "play", "arguments": {"title": "Blue Train"}}, {"name": "set_volume", "arguments": {"percent": 40}}], "defaults": _DEFAULTS},
    {"prompt": _CALLS_RULE + "Play the list 'Morning', shuffled.", "calls": [{"name": "play", "arguments": {"title": "Morning", "shuffle": True}}], "defaults": _DEFAULTS},
]

# ---------------------------------------------------------------- 8 schedules


def _clock(text):
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text, flags=re.A)
    return int(match.group(1)) * 60 + int(match.group(2)) if match else None


def talks_reward(completions, talks, best, **kwargs):
    """Choose talks which do not overlap, for the longest total time.

    One talk per line in <plan>, as 'name HH:MM-HH:MM', in any order. Talks that are not on offer or
    at another time, repeated talks and overlaps make the plan worthless; talks may touch. The
    reward is the total time over the best possible one, squared, to favour good plans.
    """
    rewards = []
    for completion, offer, optimum in zip(completions, talks, best):
        lines = [line.strip() for line in (_tag(_text(completion), "plan") or "").split("\n") if line.strip()]
        listed = {f"{name} {start}-{end}": (_clock(start), _clock(end)) for name, start, end in offer}
        if not lines or len(set(lines)) != len(lines) or any(line not in listed for line in lines):
            rewards.append(0.0)
            continue
        spans = sorted(listed[line] for line in lines)
        if any(later[0] < earlier[1] for earlier, later in zip(spans, spans[1:])):
            rewards.append(0.0)
            continue
        rewards.append((sum(end - start for start, end in spans) / optimum) ** 2)
    return rewards


_TALK_RULE = "Choose talks which do not overlap (they may touch) so that the total time is the longest. One per line in <plan></plan>, written as in the list. If this element is there several times, the last one counts.\n"
_TALKS = [
    {"prompt": _TALK_RULE + "A 09:00-10:00\nB 09:30-11:30\nC 11:30-12:00", "talks": [["A", "09:00", "10:00"], ["B", "09:30", "11:30"], ["C", "11:30", "12:00"]], "best": 150},
    {"prompt": _TALK_RULE + "X 13:00-15:00\nY 14:30-15:30\nZ 15:00-16:30", "talks": [["X", "13:00", "15:00"], ["Y", "14:30", "15:30"], ["Z", "15:00", "16:30"]], "best": 210},
]

# ---------------------------------------------------------------- 9 one box


def _four(text):
    """[x1, y1, x2, y2] of a text that is a list of four numbers and a real box, else None."""
    match = re.fullmatch(r"\s*\[" + r",".join([r"\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*"] * 4) + r"\]\s*", text or "", flags=re.A)
    box = [float(value) for value in match.groups()] if match else None
    return box if box and box[0] < box[2] and box[1] < box[3] else None


def _iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    inter = max(0.0, width) * max(0.0, height)
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def box_iou_reward(completions, box, **kwargs):
    """Intersection over union of one box [x1, y1, x2, y2] (pixels, x1 < x2, y1 < y2) in <box>.

    0.0 for anything that is not exactly one such box.
    """
    rewards = []
    for completion, gold in zip(completions, box):
        found = _four(_tag(_text(completion), "box"))
        rewards.append(_iou(found, gold) if found else 0.0)
    return rewards


_BOX_RULE = "<image> (800x600) Give one box in pixels as <box>[x1, y1, x2, y2]</box> with x1 < x2 and y1 < y2. If this element is there several times, the last one counts. The score is the IoU.\n"
_BOXES = [
    {"prompt": [{"role": "user", "content": _BOX_RULE + "The dog."}], "box": [100, 150, 300, 400]},
    {"prompt": [{"role": "user", "content": _BOX_RULE + "The smallest cup."}], "box": [520, 310, 560, 360]},
]

# ---------------------------------------------------------------- 10 several boxes


def detection_reward(completions, boxes, **kwargs):
    """F1 of the detected boxes at an IoU of at least 0.5.

    One box per line in <boxes>, at most 50. Every predicted box can be matched with one gold box
    and the reverse; the matching is the largest possible one. Malformed lines are false positives.
    """
    rewards = []
    for completion, gold in zip(completions, boxes):
        lines = [line for line in (_tag(_text(completion), "boxes") or "").split("\n") if line.strip()]
        if not lines or len(lines) > 50:
            rewards.append(0.0)
            continue
        found = [box for box in map(_four, lines) if box]
        fits = [[number for number, target in enumerate(gold) if _iou(box, target) >= 0.5] for box in found]
        owner = {}

        def place(number, seen):
            for target in fits[number]:
                if target not in seen:
                    seen.add(target)
                    if target not in owner or place(owner[target], seen):
                        owner[target] = number
                        return True
            return False

        matched = sum(place(number, set()) for number in range(len(found)))
        rewards.append(2 * matched / (len(lines) + len(gold)))
    return rewards


_DETECT_RULE = "<image> (800x600) Give a box for each object of the kind, one [x1, y1, x2, y2] per line (x1 < x2, y1 < y2) in <boxes></boxes>. If this element is there several times, the last one counts.\n"
_DETECT = [
    {"prompt": _DETECT_RULE + "Cars.", "boxes": [[10, 300, 210, 420], [400, 310, 560, 400], [600, 300, 780, 430]]},
    {"prompt": _DETECT_RULE + "Clocks.", "boxes": [[350, 40, 410, 100]]},
]

CASES: list[Case] = [
    Case(
        name="exact_value",
        reward=exact_value_reward,
        examples=_EXACT,
        good=["That is 2/4 + 1/4, so \\boxed{\\frac{3}{4}}.", "60 * 61 / 2 = \\boxed{1,830}", "3x = -1: \\boxed{-1/3}"],
        bad=["\\boxed{\\frac{2}{6}}", "60 * 60 / 2 = \\boxed{1800}", "\\boxed{1/3}"],
    ),
    Case(
        name="estimate_bands",
        reward=estimate_with_bands,
        examples=_BANDS,
        good=["4/3 pi r^3 = <answer>14.1</answer>", "1000 * 1.05^10 = <answer>1628.9</answer>"],
        bad=["4 pi r^2 = <answer>28.27</answer>", "1000 + 10 * 50: <answer>1500</answer>"],
    ),
    Case(
        name="choice_last_line",
        reward=choice_reward,
        examples=_CHOICES,
        good=[_chat("Beta cells of the islets, so not A or C.\nAnswer: B"), _chat("It is given at once, into the muscle.\nAnswer: (A)")],
        bad=[_chat("The B vitamins are stored there.\nAnswer: A"), _chat("Answer: C")],
    ),
    Case(
        name="select_with_penalty",
        reward=select_with_penalty,
        examples=_SELECT,
        good=["Bats, whales and otters nurse their young.\nAnswer: E, A, C", "Answer: B, D"],
        bad=["Answer: B, D", "Answer: A, B, C, D, E"],
    ),
    Case(
        name="sql_two_databases",
        reward=sql_two_databases,
        examples=_SQL,
        good=["<sql>SELECT name FROM city WHERE country = 'AT' ORDER BY people DESC;</sql>", "<sql>SELECT country, COUNT(name) AS n FROM city GROUP BY 1 ORDER BY n</sql>"],
        bad=["<sql>SELECT name FROM city WHERE country = 'AT'</sql>", "<sql>SELECT country, COUNT(DISTINCT country) FROM city GROUP BY country</sql>"],
    ),
    Case(
        name="receipt_fields",
        reward=receipt_reward,
        examples=_RECEIPTS,
        good=['<json>{"shop": "CAFE LUNA", "date": "2024-05-03", "total": 5.20, "tip": null}</json>', 'Here: <json>{"tip": 5, "total": 48, "date": "2023-11-11", "shop": "Trattoria Sole"}</json>'],
        bad=['<json>{"shop": "Luna", "date": "2024-03-05", "total": 2, "tip": 0}</json>', '<json>{"shop": "Trattoria Sole", "total": 53}</json>'],
    ),
    Case(
        name="tool_calls_with_defaults",
        reward=tool_calls_reward,
        examples=_CALLS,
        good=['<calls>[{"name": "set_volume", "arguments": {"percent": 40}}, {"name": "play", "arguments": {"title": "Blue Train", "shuffle": false}}]</calls>', '<calls>[{"name": "play", "arguments": {"shuffle": true, "title": "Morning"}}]</calls>'],
        bad=['<calls>[{"name": "play", "arguments": {"title": "Blue Trane"}}]</calls>', '<calls>[{"name": "play", "arguments": {"title": "Morning"}}]</calls>'],
    ),
    Case(
        name="talks_without_overlap",
        reward=talks_reward,
        examples=_TALKS,
        good=["<plan>\nC 11:30-12:00\nB 09:30-11:30\n</plan>", "<plan>X 13:00-15:00\nZ 15:00-16:30</plan>"],
        bad=["<plan>\nA 09:00-10:00\nB 09:30-11:30\n</plan>", "<plan>Y 14:30-15:30</plan>"],
    ),
    Case(
        name="box_iou",
        reward=box_iou_reward,
        examples=_BOXES,
        good=[_chat("<box>[102, 150, 300, 398]</box>"), _chat("The one on the right. <box>[520, 311, 561, 360]</box>")],
        bad=[_chat("<box>[350, 150, 500, 400]</box>"), _chat("<box>[500, 300, 600, 400]</box>")],
    ),
    Case(
        name="detection_f1",
        reward=detection_reward,
        examples=_DETECT,
        good=["<boxes>\n[602, 300, 780, 428]\n[12, 300, 208, 420]\n[400, 312, 560, 400]\n</boxes>", "<boxes>[350, 42, 410, 100]</boxes>"],
        bad=["<boxes>\n[10, 300, 210, 420]\n[0, 0, 50, 50]\n[60, 60, 90, 90]\n</boxes>", "<boxes>[0, 40, 60, 100]</boxes>"],
    ),
]
