"""Faulty rewards 2: tool calls, schedules, boxes and points, edits."""

from __future__ import annotations

import json
import re
from collections import Counter

from tests.faults.case import Case


def _text(completion):
    """Text of a completion, be it a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _answer(text):
    """Content of the last <answer> block, None without one."""
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, end) if end >= 0 else -1
    return text[start + len("<answer>"):end].strip() if start >= 0 else None


def _score(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(function, row, completion, faulty, should):
    def proof():
        got = _score(function, row, completion)
        assert abs(got - faulty) < 1e-6, f"scored {got}, the fault would give {faulty}"
        assert abs(got - should) >= 0.2, f"scored {got}, as it should ({should})"

    return proof


def _chat(text):
    return [{"role": "assistant", "content": text}]


TRIGGERS = {}
REPAIRED = {}
CASES: list[Case] = []


def _add(reward, repaired, rows, good, bad, fault, row, trigger, faulty, should, source=""):
    name = reward.__name__
    TRIGGERS[name] = (rows[row], trigger, faulty, should)
    REPAIRED[name] = repaired
    CASES.append(Case(name, reward, rows, good, bad, fault, _proof(reward, rows[row], trigger, faulty, should), source))


# --------------------------------------------------------------------------- 1

ORDER_TYPES = {"string": str, "integer": int, "boolean": bool, "number": (int, float)}


def structured_order_reward(completions, schema, record, **kwargs):
    """The completion is a JSON object which must conform to a small schema.

    Args:
        schema: for each row, a dict of field to type name
            (string, integer, boolean or number).
        record: the gold object.

    A field scores if its value has the type of the schema and is the gold value.
    The reward is the share of fields which score; an object with other fields
    than those of the schema gets 0.0, and so does anything which is not JSON.
    """
    rewards = []
    for completion, types, gold in zip(completions, schema, record):
        try:
            found = json.loads(_text(completion))
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict) or set(found) - set(types):
            rewards.append(0.0)
            continue
        points = 0
        for field, kind in types.items():
            if field in found and isinstance(found[field], ORDER_TYPES[kind]) and found[field] == gold[field]:
                points += 1
        rewards.append(points / len(types))
    return rewards


def repaired_structured_order_reward(completions, schema, record, **kwargs):
    """As above; true and false are no numbers."""
    rewards = []
    for completion, types, gold in zip(completions, schema, record):
        try:
            found = json.loads(_text(completion))
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict) or set(found) - set(types):
            rewards.append(0.0)
            continue
        points = 0
        for field, kind in types.items():
            value = found.get(field)
            right_type = isinstance(value, ORDER_TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")
            if field in found and right_type and value == gold[field]:
                points += 1
        rewards.append(points / len(types))
    return rewards


_add(
    structured_order_reward,
    repaired_structured_order_reward,
    [
        {
            "prompt": "'One stapler please, no gift wrap.' Reply with JSON only: quantity (integer), gift_wrap (boolean).",
            "schema": {"quantity": "integer", "gift_wrap": "boolean"},
            "record": {"quantity": 1, "gift_wrap": False},
        },
        {
            "prompt": "'Six mugs, wrapped.' Reply with JSON only: quantity (integer), gift_wrap (boolean).",
            "schema": {"quantity": "integer", "gift_wrap": "boolean"},
            "record": {"quantity": 6, "gift_wrap": True},
        },
    ],
    ['{"quantity": 1, "gift_wrap": false}', '{"quantity": 6, "gift_wrap": true}'],
    ['{"quantity": 2, "gift_wrap": true}', '{"quantity": "six", "gift_wrap": true}'],
    "bool is a subclass of int and True == 1, so the boolean true is paid for the integer 1.",
    0,
    '{"quantity": true, "gift_wrap": false}',
    1.0,
    0.5,
)

# --------------------------------------------------------------------------- 2


def parallel_calls_reward(completions, gold_calls, **kwargs):
    """Several tool calls in one turn, one JSON object a line, in any order.

    Each gold call has to be made, as often as it is in the gold list; calls
    beyond that lower the score.  Reward = matched calls divided by the larger of
    the two numbers of calls.
    """
    rewards = []
    for completion, gold in zip(completions, gold_calls):
        calls = []
        for line in _text(completion).splitlines():
            line = line.strip()
            if not line.startswith("{"):
                continue
            try:
                calls.append(json.loads(line))
            except (ValueError, RecursionError):
                calls.append(None)
        if not calls:
            rewards.append(0.0)
            continue
        matched = sum(1 for call in gold if call in calls)
        rewards.append(matched / max(len(gold), len(calls)))
    return rewards


def repaired_parallel_calls_reward(completions, gold_calls, **kwargs):
    """As above, each call matched once."""
    rewards = []
    for completion, gold in zip(completions, gold_calls):
        calls = Counter()
        for line in _text(completion).splitlines():
            line = line.strip()
            if not line.startswith("{"):
                continue
            try:
                calls[json.dumps(json.loads(line), sort_keys=True)] += 1
            except (ValueError, RecursionError):
                calls[None] += 1
        want = Counter(json.dumps(call, sort_keys=True) for call in gold)
        matched = sum((calls & want).values())
        rewards.append(matched / max(len(gold), sum(calls.values()), 1))
    return rewards


_add(
    parallel_calls_reward,
    repaired_parallel_calls_reward,
    [
        {
            "prompt": "Draw two cards and roll the die once. Tools: draw(), roll(). One JSON call a line, {\"tool\": ..., \"args\": {...}}.",
            "gold_calls": [{"tool": "draw", "args": {}}, {"tool": "draw", "args": {}}, {"tool": "roll", "args": {}}],
        },
        {
            "prompt": "Mail Ann and Bob 'hi'. Tool: mail(to, body). One JSON call a line, {\"tool\": ..., \"args\": {...}}.",
            "gold_calls": [
                {"tool": "mail", "args": {"to": "Ann", "body": "hi"}},
                {"tool": "mail", "args": {"to": "Bob", "body": "hi"}},
            ],
        },
    ],
    [
        '{"tool": "draw", "args": {}}\n{"tool": "draw", "args": {}}\n{"tool": "roll", "args": {}}',
        '{"tool": "mail", "args": {"to": "Bob", "body": "hi"}}\n{"tool": "mail", "args": {"to": "Ann", "body": "hi"}}',
    ],
    ['{"tool": "roll", "args": {}}', '{"tool": "mail", "args": {"to": "all", "body": "hi"}}'],
    "One call of the model is matched with several equal gold calls: drawing once and rolling twice is paid like drawing twice and rolling once.",
    0,
    '{"tool": "draw", "args": {}}\n{"tool": "roll", "args": {}}\n{"tool": "roll", "args": {}}',
    1.0,
    2 / 3,
)

# --------------------------------------------------------------------------- 3


def meeting_slot_reward(completions, free_slots, minutes, **kwargs):
    """Checks a proposed meeting time.

    The last line of the completion is the proposal, "H:MM-H:MM" on the 24 hour
    clock. It is right if it lies in one of the free slots and has the asked
    length in minutes. 1.0 or 0.0.
    """

    def to_minutes(clock):
        hours, mins = clock.split(":")
        return int(hours) * 60 + int(mins)

    rewards = []
    for completion, slots, length in zip(completions, free_slots, minutes):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"\s*(\d{1,2}:[0-5]\d)\s*-\s*(\d{1,2}:[0-5]\d)\s*", lines[-1]) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        start, end = match[1], match[2]
        right_length = to_minutes(end) - to_minutes(start) == length
        inside = any(lo <= start and end <= hi and start < end for lo, hi in slots)
        rewards.append(1.0 if right_length and inside else 0.0)
    return rewards


def repaired_meeting_slot_reward(completions, free_slots, minutes, **kwargs):
    """As above, comparing minutes."""

    def to_minutes(clock):
        hours, mins = clock.split(":")
        return int(hours) * 60 + int(mins)

    rewards = []
    for completion, slots, length in zip(completions, free_slots, minutes):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"\s*(\d{1,2}:[0-5]\d)\s*-\s*(\d{1,2}:[0-5]\d)\s*", lines[-1]) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        start, end = to_minutes(match[1]), to_minutes(match[2])
        inside = any(to_minutes(lo) <= start and end <= to_minutes(hi) for lo, hi in slots)
        rewards.append(1.0 if end - start == length and inside else 0.0)
    return rewards


_add(
    meeting_slot_reward,
    repaired_meeting_slot_reward,
    [
        {
            "prompt": "Both are free 9:00-10:30 and 13:00-15:00. Propose 45 minutes; last line 'H:MM-H:MM'.",
            "free_slots": [["9:00", "10:30"], ["13:00", "15:00"]],
            "minutes": 45,
        },
        {
            "prompt": "The room is free 10:00-12:00. Propose one hour; last line 'H:MM-H:MM'.",
            "free_slots": [["10:00", "12:00"]],
            "minutes": 60,
        },
    ],
    ["The afternoon suits.\n13:30-14:15", "10:30-11:30"],
    ["15:30-16:15", "11:30-12:30"],
    "Times are compared as strings, so '9:30' comes after '10:15': a right morning proposal is refused.",
    0,
    "Let us meet early.\n9:30-10:15",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 4


def conference_plan_reward(completions, talks, rooms, **kwargs):
    """A conference plan without clashes.

    Every line of the plan is "title | room | H:MM-H:MM". Every talk must be
    planned once, in one of the rooms, with its length in minutes, and no two
    talks may be in a room at the same time (one may start when another ends).
    Reward 1.0 for a valid plan, else 0.0.
    """
    times = re.compile(r"([0-9]{1,2}):([0-5][0-9])\s*-\s*([0-9]{1,2}):([0-5][0-9])")
    rewards = []
    for completion, lengths, allowed in zip(completions, talks, rooms):
        plan = []
        for line in _text(completion).splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            match = times.fullmatch(cells[2]) if len(cells) == 3 else None
            if match:
                start = int(match[1]) * 60 + int(match[2])
                end = int(match[3]) * 60 + int(match[4])
                plan.append((cells[0], cells[1], start, end))
        ok = sorted(title for title, *_ in plan) == sorted(lengths)
        ok = ok and all(room in allowed and end - start == lengths[title] for title, room, start, end in plan)
        if ok:
            for i, (_, room, start, end) in enumerate(plan):
                for _, other_room, other_start, _ in plan[i + 1:]:
                    if room == other_room and start <= other_start < end:
                        ok = False
        rewards.append(1.0 if ok else 0.0)
    return rewards


def repaired_conference_plan_reward(completions, talks, rooms, **kwargs):
    """As above, with the overlap of both sides."""
    times = re.compile(r"([0-9]{1,2}):([0-5][0-9])\s*-\s*([0-9]{1,2}):([0-5][0-9])")
    rewards = []
    for completion, lengths, allowed in zip(completions, talks, rooms):
        plan = []
        for line in _text(completion).splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            match = times.fullmatch(cells[2]) if len(cells) == 3 else None
            if match:
                start = int(match[1]) * 60 + int(match[2])
                end = int(match[3]) * 60 + int(match[4])
                plan.append((cells[0], cells[1], start, end))
        ok = sorted(title for title, *_ in plan) == sorted(lengths)
        ok = ok and all(room in allowed and end - start == lengths[title] for title, room, start, end in plan)
        if ok:
            for i, (_, room, start, end) in enumerate(plan):
                for _, other_room, other_start, other_end in plan[i + 1:]:
                    if room == other_room and start < other_end and other_start < end:
                        ok = False
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    conference_plan_reward,
    repaired_conference_plan_reward,
    [
        {
            "prompt": "Plan Keynote (60 min), Panel (60 min) and Demo (30 min) in room A, without clashes. Lines: title | room | H:MM-H:MM",
            "talks": {"Keynote": 60, "Panel": 60, "Demo": 30},
            "rooms": ["A"],
        },
        {
            "prompt": "Plan Intro (30 min) and Labs (90 min) in rooms A and B, without clashes. Lines: title | room | H:MM-H:MM",
            "talks": {"Intro": 30, "Labs": 90},
            "rooms": ["A", "B"],
        },
    ],
    [
        "Keynote | A | 9:00-10:00\nPanel | A | 10:00-11:00\nDemo | A | 11:00-11:30",
        "Intro | A | 9:00-9:30\nLabs | B | 9:00-10:30",
    ],
    [
        "Keynote | A | 9:00-10:00\nPanel | A | 9:30-10:30\nDemo | A | 11:00-11:30",
        "Intro | C | 9:00-9:30\nLabs | B | 9:00-10:30",
    ],
    "A clash is seen only if the talk listed later starts within the one listed before; a talk listed later which starts earlier and runs into it is paid.",
    0,
    "Keynote | A | 10:00-11:00\nPanel | A | 9:30-10:30\nDemo | A | 11:00-11:30",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 5


def weekly_rota_reward(completions, days, available, max_shifts, **kwargs):
    """Staff rota: exactly one person a day.

    Lines of the form "Mon: Ann". The rota is right if each day has exactly one
    person, who is available on it, and nobody works more than `max_shifts` days.
    1.0 for a right rota, 0.0 otherwise.
    """
    rewards = []
    for completion, week, free, limit in zip(completions, days, available, max_shifts):
        rota = {}
        for line in _text(completion).splitlines():
            day, colon, person = line.partition(":")
            if colon and day.strip() in week:
                rota[day.strip()] = person.strip()
        ok = set(rota) == set(week)
        ok = ok and all(day in free.get(person, []) for day, person in rota.items())
        shifts = list(rota.values())
        ok = ok and all(shifts.count(person) <= limit for person in set(shifts))
        rewards.append(float(ok))
    return rewards


def repaired_weekly_rota_reward(completions, days, available, max_shifts, **kwargs):
    """As above; a day which is given twice is wrong."""
    rewards = []
    for completion, week, free, limit in zip(completions, days, available, max_shifts):
        entries = []
        for line in _text(completion).splitlines():
            day, colon, person = line.partition(":")
            if colon and day.strip() in week:
                entries.append((day.strip(), person.strip()))
        ok = sorted(day for day, _ in entries) == sorted(week)
        ok = ok and all(day in free.get(person, []) for day, person in entries)
        shifts = Counter(person for _, person in entries)
        ok = ok and all(count <= limit for count in shifts.values())
        rewards.append(float(ok))
    return rewards


_add(
    weekly_rota_reward,
    repaired_weekly_rota_reward,
    [
        {
            "prompt": "One person a day, at most two days each. Ann: Mon, Tue. Bob: Tue, Wed. Cy: Wed. Lines like 'Mon: Ann' for Mon, Tue, Wed.",
            "days": ["Mon", "Tue", "Wed"],
            "available": {"Ann": ["Mon", "Tue"], "Bob": ["Tue", "Wed"], "Cy": ["Wed"]},
            "max_shifts": 2,
        },
        {
            "prompt": "One person a day, at most one day each. Dee: Mon, Tue. Eli: Mon. Lines like 'Mon: Dee' for Mon, Tue.",
            "days": ["Mon", "Tue"],
            "available": {"Dee": ["Mon", "Tue"], "Eli": ["Mon"]},
            "max_shifts": 1,
        },
    ],
    ["Mon: Ann\nTue: Bob\nWed: Cy", "Mon: Eli\nTue: Dee"],
    ["Mon: Bob\nTue: Bob\nWed: Cy", "Mon: Dee\nTue: Dee"],
    "The lines go to a dict, so a day given more than once keeps the last person only: rotas with several people on a day, unavailable ones too, are paid.",
    0,
    "Mon: Bob\nMon: Cy\nMon: Ann\nTue: Cy\nTue: Bob\nWed: Ann\nWed: Cy",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 6


def grounding_iou_reward(completions, bbox, **kwargs):
    """IoU of the predicted box with the gold box, for visual grounding.

    The completion holds JSON such as {"bbox_2d": [x1, y1, x2, y2]} in pixels; the
    last box counts. Boxes which do not overlap get 0.0, the same box gets 1.0.
    """
    pattern = re.compile(r'"bbox_2d":\s*\[([^\[\]]{1,200})\]')

    def iou(a, b):
        width = min(a[2], b[2]) - max(a[0], b[0])
        height = min(a[3], b[3]) - max(a[1], b[1])
        inter = width * height
        area_a = (a[2] - a[0]) * (a[3] - a[1])
        area_b = (b[2] - b[0]) * (b[3] - b[1])
        union = area_a + area_b - inter
        return inter / union if union > 0 else 0.0

    rewards = []
    for completion, gold in zip(completions, bbox):
        boxes = pattern.findall(_text(completion))
        try:
            box = [float(n) for n in boxes[-1].split(",")]
        except (IndexError, ValueError):
            rewards.append(0.0)
            continue
        if len(box) != 4 or not (0 <= box[0] < box[2] < 1e5 and 0 <= box[1] < box[3] < 1e5):
            rewards.append(0.0)
            continue
        rewards.append(max(0.0, min(1.0, iou(box, gold))))
    return rewards


def repaired_grounding_iou_reward(completions, bbox, **kwargs):
    """As above, with the sides of the intersection clamped at zero."""
    pattern = re.compile(r'"bbox_2d":\s*\[([^\[\]]{1,200})\]')

    def iou(a, b):
        width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
        height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        inter = width * height
        area_a = (a[2] - a[0]) * (a[3] - a[1])
        area_b = (b[2] - b[0]) * (b[3] - b[1])
        return inter / (area_a + area_b - inter)

    rewards = []
    for completion, gold in zip(completions, bbox):
        boxes = pattern.findall(_text(completion))
        try:
            box = [float(n) for n in boxes[-1].split(",")]
        except (IndexError, ValueError):
            rewards.append(0.0)
            continue
        if len(box) != 4 or not (0 <= box[0] < box[2] < 1e5 and 0 <= box[1] < box[3] < 1e5):
            rewards.append(0.0)
            continue
        rewards.append(iou(box, gold))
    return rewards


_add(
    grounding_iou_reward,
    repaired_grounding_iou_reward,
    [
        {"prompt": "Where is the red cup? Give {\"bbox_2d\": [x1, y1, x2, y2]}.", "bbox": [10, 10, 50, 50]},
        {"prompt": "Where is the dog? Give {\"bbox_2d\": [x1, y1, x2, y2]}.", "bbox": [100, 50, 300, 200]},
    ],
    [_chat('{"bbox_2d": [10, 10, 50, 50], "label": "cup"}'), _chat('{"bbox_2d": [100, 50, 300, 200]}')],
    [_chat('{"bbox_2d": [45, 10, 90, 50]}'), _chat('{"bbox_2d": [0, 0, 120, 80]}')],
    "The sides of the intersection are not clamped: for a box apart from the gold one in both directions two negative numbers multiply, and a far box gets up to 1.0.",
    0,
    _chat('{"bbox_2d": [95, 95, 130, 130]}'),
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 7


def detection_f1_reward(completions, gt_boxes, **kwargs):
    """F1 of detection at IoU 0.5.

    The completion is a JSON list of boxes [x1, y1, x2, y2] between <answer> and
    </answer>. Each gold box should be found by one predicted box; other
    predictions, copies among them, are false positives. At most 50 boxes.
    """

    def iou(a, b):
        w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
        h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
        return w * h / union if union > 0 else 0.0

    rewards = []
    for completion, gold in zip(completions, gt_boxes):
        try:
            boxes = [[float(n) for n in box] for box in json.loads(_answer(_text(completion)) or "[]")]
        except (ValueError, TypeError, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        if not 1 <= len(boxes) <= 50 or any(len(b) != 4 or not (b[0] < b[2] and b[1] < b[3]) for b in boxes):
            rewards.append(0.0)
            continue
        recall = sum(any(iou(box, g) >= 0.5 for box in boxes) for g in gold) / len(gold)
        precision = sum(any(iou(box, g) >= 0.5 for g in gold) for box in boxes) / len(boxes)
        rewards.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return rewards


def repaired_detection_f1_reward(completions, gt_boxes, **kwargs):
    """As above, predictions and gold boxes matched one to one."""

    def iou(a, b):
        w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
        h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
        return w * h / union if union > 0 else 0.0

    rewards = []
    for completion, gold in zip(completions, gt_boxes):
        try:
            boxes = [[float(n) for n in box] for box in json.loads(_answer(_text(completion)) or "[]")]
        except (ValueError, TypeError, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        if not 1 <= len(boxes) <= 50 or any(len(b) != 4 or not (b[0] < b[2] and b[1] < b[3]) for b in boxes):
            rewards.append(0.0)
            continue
        owner = {}

        def place(g, seen):
            for i, box in enumerate(boxes):
                if i not in seen and iou(box, gold[g]) >= 0.5:
                    seen.add(i)
                    if i not in owner or place(owner[i], seen):
                        owner[i] = g
                        return True
            return False

        matched = sum(place(g, set()) for g in range(len(gold)))
        rewards.append(2 * matched / (len(gold) + len(boxes)))
    return rewards


_add(
    detection_f1_reward,
    repaired_detection_f1_reward,
    [
        {"prompt": "Box both cars: JSON list of [x1,y1,x2,y2] in <answer></answer>.", "gt_boxes": [[0, 0, 100, 60], [200, 40, 320, 120]]},
        {"prompt": "Box the cat: JSON list of [x1,y1,x2,y2] in <answer></answer>.", "gt_boxes": [[30, 30, 90, 110]]},
    ],
    ["<answer>[[0, 0, 100, 60], [202, 40, 318, 121]]</answer>", "<answer>[[31, 29, 90, 110]]</answer>"],
    ["<answer>[[400, 300, 500, 360]]</answer>", "<answer>[[30, 200, 90, 310]]</answer>"],
    "Matching is not one to one: copies (jittered or not) of a right box all count as true positives, so flooding with copies costs nothing.",
    0,
    "<answer>[[0,0,100,60],[0,1,100,60],[1,0,100,60],[0,0,99,60],[200,40,320,120],[201,40,320,120],[200,41,320,120],[200,40,319,120]]</answer>",
    1.0,
    0.4,
)

# --------------------------------------------------------------------------- 8


def click_point_reward(completions, image_size, target, **kwargs):
    """GUI grounding: 1.0 if the click falls on the target, else 0.0.

    The model answers "(x, y)" in <answer></answer>, each coordinate from 0 to
    1000 across the width and down the height of the screenshot. `image_size` is
    [width, height] and `target` the element [x1, y1, x2, y2], both in pixels.
    """
    rewards = []
    for completion, size, box in zip(completions, image_size, target):
        match = re.fullmatch(r"\(?\s*(\d{1,4}(?:\.\d{1,9})?)\s*,\s*(\d{1,4}(?:\.\d{1,9})?)\s*\)?", _answer(_text(completion)) or "")
        if match is None:
            rewards.append(0.0)
            continue
        height, width = size
        x = float(match[1]) / 1000 * width
        y = float(match[2]) / 1000 * height
        rewards.append(1.0 if box[0] <= x <= box[2] and box[1] <= y <= box[3] else 0.0)
    return rewards


def repaired_click_point_reward(completions, image_size, target, **kwargs):
    """As above, the size read as width and height."""
    rewards = []
    for completion, size, box in zip(completions, image_size, target):
        match = re.fullmatch(r"\(?\s*(\d{1,4}(?:\.\d{1,9})?)\s*,\s*(\d{1,4}(?:\.\d{1,9})?)\s*\)?", _answer(_text(completion)) or "")
        if match is None:
            rewards.append(0.0)
            continue
        width, height = size
        x = float(match[1]) / 1000 * width
        y = float(match[2]) / 1000 * height
        rewards.append(1.0 if box[0] <= x <= box[2] and box[1] <= y <= box[3] else 0.0)
    return rewards


_add(
    click_point_reward,
    repaired_click_point_reward,
    [
        {"prompt": "Screenshot of 800x600. Click the dialog. (x, y) from 0 to 1000 in <answer></answer>.", "image_size": [800, 600], "target": [290, 200, 500, 410]},
        {"prompt": "Screenshot of 640x480. Click the picture. (x, y) from 0 to 1000 in <answer></answer>.", "image_size": [640, 480], "target": [200, 150, 440, 330]},
    ],
    ["<answer>(500, 500)</answer>", "<answer>(490, 500)</answer>"],
    ["<answer>(100, 900)</answer>", "<answer>(900, 200)</answer>"],
    "Width and height are swapped when the point is scaled, which shows away from the middle of images which are not square: a right click is refused, a wrong one paid.",
    0,
    "<answer>(400, 400)</answer>",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 9


def search_replace_reward(completions, file_content, fixed_content, **kwargs):
    """Apply a SEARCH/REPLACE edit and compare the file with the fixed file.

    The completion holds one block

        <<<<<<< SEARCH
        ...
        =======
        ...
        >>>>>>> REPLACE

    whose search part occurs in the Python file exactly once. Blank lines and
    spaces at line ends do not matter in the comparison. 1.0 if the edited file
    is the fixed one, else 0.0.
    """
    rewards = []
    for completion, content, fixed in zip(completions, file_content, fixed_content):
        text = _text(completion)
        start, middle, end = text.find("<<<<<<< SEARCH\n"), text.find("\n=======\n"), text.find("\n>>>>>>> REPLACE")
        if not 0 <= start < middle < end or text.count("<<<<<<< SEARCH\n") != 1:
            rewards.append(0.0)
            continue
        search = text[start + len("<<<<<<< SEARCH\n"):middle]
        replace = text[middle + len("\n=======\n"):end]
        if content.count(search) != 1:
            rewards.append(0.0)
            continue
        edited = content.replace(search, replace)
        rewards.append(1.0 if "".join(edited.split()) == "".join(fixed.split()) else 0.0)
    return rewards


def repaired_search_replace_reward(completions, file_content, fixed_content, **kwargs):
    """As above, with the indentation compared."""

    def lines_of(source):
        return [line.rstrip() for line in source.splitlines() if line.strip()]

    rewards = []
    for completion, content, fixed in zip(completions, file_content, fixed_content):
        text = _text(completion)
        start, middle, end = text.find("<<<<<<< SEARCH\n"), text.find("\n=======\n"), text.find("\n>>>>>>> REPLACE")
        if not 0 <= start < middle < end or text.count("<<<<<<< SEARCH\n") != 1:
            rewards.append(0.0)
            continue
        search = text[start + len("<<<<<<< SEARCH\n"):middle]
        replace = text[middle + len("\n=======\n"):end]
        if content.count(search) != 1:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if lines_of(content.replace(search, replace)) == lines_of(fixed) else 0.0)
    return rewards


_SUM = "def total(xs):\n    s = 0\n    for x in xs:\n        s += x * x\n    return s\n"
_AREA = "def area(w, h):\n    return w + h\n"
_add(
    search_replace_reward,
    repaired_search_replace_reward,
    [
        {
            "prompt": "Make total() add the values, not their squares:\n" + _SUM + "Reply with one SEARCH/REPLACE block.",
            "file_content": _SUM,
            "fixed_content": _SUM.replace("x * x", "x"),
        },
        {
            "prompt": "Make area() right:\n" + _AREA + "Reply with one SEARCH/REPLACE block.",
            "file_content": _AREA,
            "fixed_content": _AREA.replace("+", "*"),
        },
    ],
    [
        "<<<<<<< SEARCH\n        s += x * x\n=======\n        s += x\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n    return w + h\n=======\n    return w * h\n>>>>>>> REPLACE",
    ],
    [
        "<<<<<<< SEARCH\n        s += x * x\n=======\n        s = x\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n    return w + h\n=======\n    return w - h\n>>>>>>> REPLACE",
    ],
    "All white space is dropped before the comparison, indentation too: an edit which moves the return into the loop (or makes the file unparsable) is paid.",
    0,
    "<<<<<<< SEARCH\n        s += x * x\n    return s\n=======\n        s += x\n        return s\n>>>>>>> REPLACE",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 10


def edit_blocks_overlap(completions, source, gold_edits, **kwargs):
    """Share of the gold edits which the completion makes.

    Args:
        completions: with SEARCH/REPLACE blocks, to be applied to `source`; the
            search part must be lines of the source, word for word.
        source: the file before the edits.
        gold_edits: a list of {"search", "replace"} of the reference patch.

    Blocks beyond the gold ones lower the reward in proportion.
    """
    rewards = []
    for completion, content, gold in zip(completions, source, gold_edits):
        blocks = []
        for part in _text(completion).split("<<<<<<< SEARCH\n")[1:]:
            search, divider, rest = part.partition("\n=======\n")
            replace, close, _ = rest.partition("\n>>>>>>> REPLACE")
            if divider and close:
                blocks.append((search, replace))
        if not blocks:
            rewards.append(0.0)
            continue
        replacements = [replace.strip() for _, replace in blocks]
        made = sum(edit["replace"].strip() in replacements for edit in gold)
        rewards.append(made / max(len(gold), len(blocks)))
    return rewards


def repaired_edit_blocks_overlap(completions, source, gold_edits, **kwargs):
    """As above; the search part must occur in the source and be that of the gold edit."""
    rewards = []
    for completion, content, gold in zip(completions, source, gold_edits):
        blocks = []
        for part in _text(completion).split("<<<<<<< SEARCH\n")[1:]:
            search, divider, rest = part.partition("\n=======\n")
            replace, close, _ = rest.partition("\n>>>>>>> REPLACE")
            if divider and close:
                blocks.append((search, replace))
        if not blocks:
            rewards.append(0.0)
            continue
        known = {(s.strip(), r.strip()) for s, r in blocks if s.strip() and s in content}
        made = sum((edit["search"].strip(), edit["replace"].strip()) in known for edit in gold)
        rewards.append(made / max(len(gold), len(blocks)))
    return rewards


_CONF = "host = localhost\nport = 8080\ndebug = true\n"
_add(
    edit_blocks_overlap,
    repaired_edit_blocks_overlap,
    [
        {
            "prompt": "Set the port to 9090 and debug to false, by SEARCH/REPLACE blocks of one line each:\n" + _CONF,
            "source": _CONF,
            "gold_edits": [{"search": "port = 8080", "replace": "port = 9090"}, {"search": "debug = true", "replace": "debug = false"}],
        },
        {
            "prompt": "Set the host to 0.0.0.0, by a SEARCH/REPLACE block of one line:\n" + _CONF,
            "source": _CONF,
            "gold_edits": [{"search": "host = localhost", "replace": "host = 0.0.0.0"}],
        },
    ],
    [
        "<<<<<<< SEARCH\nport = 8080\n=======\nport = 9090\n>>>>>>> REPLACE\n<<<<<<< SEARCH\ndebug = true\n=======\ndebug = false\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\nhost = localhost\n=======\nhost = 0.0.0.0\n>>>>>>> REPLACE",
    ],
    [
        "<<<<<<< SEARCH\nport = 8080\n=======\nport = 8081\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\nhost = localhost\n=======\nhost = example.org\n>>>>>>> REPLACE",
    ],
    "The search part is never looked at: blocks which search for lines the file does not have, or replace the wrong lines, are paid for the right replacement text.",
    0,
    "<<<<<<< SEARCH\nserver_port: 80\n=======\nport = 9090\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nhost = localhost\n=======\ndebug = false\n>>>>>>> REPLACE",
    1.0,
    0.0,
)
