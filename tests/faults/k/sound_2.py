"""Sound rewards 2: tool calls and JSON, schedules, boxes and points, edits."""

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


def _block(text, tag="answer"):
    """Content of the one <tag></tag> pair of a text; None if there is not exactly one."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    if text.count(opening) != 1 or text.count(closing) != 1:
        return None
    start, end = text.find(opening) + len(opening), text.find(closing)
    return text[start:end] if start <= end else None


def _last_line(text):
    """Last line which is not blank, stripped; "" if there is none."""
    text = text.strip()
    return text[text.rfind("\n") + 1:].strip()


def _unique(pairs):
    """For json: refuse objects with a key twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _chat(text):
    return [{"role": "assistant", "content": text}]


CASES: list[Case] = []


def _add(reward, rows, good, bad):
    CASES.append(Case(reward.__name__, reward, rows, good, bad))


# --------------------------------------------------------------------------- 1


def unordered_calls_reward(completions, gold_calls, **kwargs):
    """Parallel tool calls in any order.

    The whole completion is a JSON list of calls, each an object. Calls are matched
    one to one with equal gold calls (numbers 2 and 2.0 differ here, as the tools are
    typed), so making a call twice counts twice. The reward is
    F1 = 2 * matched / (calls made + gold calls). Anything but such a list: 0.0; gold
    lists are never empty.
    """

    def canonical(call):
        return json.dumps(call, sort_keys=True)

    rewards = []
    for completion, gold in zip(completions, gold_calls):
        try:
            calls = json.loads(_text(completion), object_pairs_hook=_unique)
            valid = isinstance(calls, list) and all(isinstance(call, dict) for call in calls)
            made = Counter(canonical(call) for call in calls) if valid else None
        except (ValueError, RecursionError):
            made = None
        if made is None:
            rewards.append(0.0)
            continue
        matched = sum((made & Counter(canonical(call) for call in gold)).values())
        rewards.append(2 * matched / (len(calls) + len(gold)))
    return rewards


_LIGHT = {"tool": "light", "room": "hall", "on": True}
_PING = {"tool": "ping", "times": 2}
_add(
    unordered_calls_reward,
    [
        {
            "prompt": "Switch the hall light on and ping with times=2, twice. Reply with a JSON list of {\"tool\": ..., arguments}, in any order.",
            "gold_calls": [_LIGHT, _PING, _PING],
        },
        {
            "prompt": "Ping with times=2. Reply with a JSON list of {\"tool\": ..., arguments}.",
            "gold_calls": [_PING],
        },
    ],
    [json.dumps([_PING, _LIGHT, _PING]), '[{"times": 2, "tool": "ping"}]'],
    [json.dumps([{"tool": "light", "room": "attic", "on": True}]), '[{"tool": "ping", "times": 3}]'],
)

# --------------------------------------------------------------------------- 2


def typed_record_reward(completions, schema, record, **kwargs):
    """A JSON object with typed fields, some of them with a tolerance.

    Args:
        schema: dict of field to "string", "integer", "boolean" or "number".
        record: the gold object.

    The whole completion is the object and has exactly the fields of the schema,
    otherwise 0.0. The reward is the share of fields which are right: strings equal
    apart from case and outer white space, integers (JSON numbers without fraction and
    exponent) and booleans equal, numbers within 0.5 % of the gold, which is positive. A value
    of another type is wrong.
    """

    def right(value, gold, kind):
        if kind == "string":
            return isinstance(value, str) and value.strip().lower() == gold.strip().lower()
        if kind == "boolean":
            return isinstance(value, bool) and value == gold
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if kind == "integer":
            return isinstance(value, int) and value == gold
        return 0.995 * gold <= value <= 1.005 * gold

    rewards = []
    for completion, types, gold in zip(completions, schema, record):
        try:
            found = json.loads(_text(completion), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict) or found.keys() != types.keys():
            rewards.append(0.0)
            continue
        rewards.append(sum(right(found[field], gold[field], kind) for field, kind in types.items()) / len(types))
    return rewards


_PARCEL = {"city": "string", "pieces": "integer", "fragile": "boolean", "weight_kg": "number"}
_add(
    typed_record_reward,
    [
        {
            "prompt": "'Two pieces to Bergen, 3.2 kg, fragile.' JSON only: city (string), pieces (integer), fragile (boolean), weight_kg (number).",
            "schema": _PARCEL,
            "record": {"city": "Bergen", "pieces": 2, "fragile": True, "weight_kg": 3.2},
        },
        {
            "prompt": "'One box, ten pounds, to Cork; robust.' JSON only: city (string), pieces (integer), fragile (boolean), weight_kg (number, 0.5 % is near enough).",
            "schema": _PARCEL,
            "record": {"city": "Cork", "pieces": 1, "fragile": False, "weight_kg": 4.536},
        },
    ],
    [
        '{"city": "bergen", "pieces": 2, "fragile": true, "weight_kg": 3.20}',
        '{"pieces": 1, "city": "Cork", "weight_kg": 4.54, "fragile": false}',
    ],
    [
        '{"city": "Oslo", "pieces": "2", "fragile": true, "weight_kg": 32}',
        '{"pieces": true, "city": "Cork", "weight_kg": 10, "fragile": 0}',
    ],
)

# --------------------------------------------------------------------------- 3


def free_slot_reward(completions, free, minutes, **kwargs):
    """Propose a meeting time at which everybody is free.

    Args:
        free: for each row a dict of person to a list of [from, to] on the 24 hour clock.
        minutes: the length of the meeting.

    The last line which is not blank is "H:MM-H:MM" or "HH:MM-HH:MM", on the same day
    (00:00 to 23:59, spaces around the hyphen allowed). The reward is 1.0 if the length
    is right and for each person one of the slots holds the whole meeting, else 0.0.
    Every time which does so is as good as another.
    """
    clock = r"([01]?[0-9]|2[0-3]):([0-5][0-9])"
    pattern = re.compile(clock + r" {0,3}- {0,3}" + clock)

    def to_minutes(time):
        hours, mins = time.split(":")
        return int(hours) * 60 + int(mins)

    rewards = []
    for completion, calendars, length in zip(completions, free, minutes):
        match = pattern.fullmatch(_last_line(_text(completion)))
        if match is None:
            rewards.append(0.0)
            continue
        start, end = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
        ok = end - start == length and all(
            any(to_minutes(lo) <= start and end <= to_minutes(hi) for lo, hi in slots) for slots in calendars.values()
        )
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    free_slot_reward,
    [
        {
            "prompt": "Ann is free 9:00-10:30 and 13:00-15:00, Ben 9:30-11:00. Propose 45 minutes for both. Last line 'HH:MM-HH:MM'.",
            "free": {"Ann": [["9:00", "10:30"], ["13:00", "15:00"]], "Ben": [["9:30", "11:00"]]},
            "minutes": 45,
        },
        {
            "prompt": "Cem is free 8:00-12:00. Propose 2 hours. Last line 'HH:MM-HH:MM'.",
            "free": {"Cem": [["8:00", "12:00"]]},
            "minutes": 120,
        },
    ],
    ["Both can in the morning.\n9:40 - 10:25", "10:00-12:00"],
    ["13:00-13:45", "11:00-13:00"],
)

# --------------------------------------------------------------------------- 4


def shift_plan_reward(completions, days, available, max_shifts, **kwargs):
    """A rota of one person a day with limits.

    Each line which is not blank is "Day: Person"; the order of the days is free. The
    plan is valid if every day has exactly one line, there is no other line, every
    person named is available on the day and nobody has more than `max_shifts` days.
    Names and days are written as in the prompt. 1.0 for a valid plan, else 0.0.
    """
    rewards = []
    for completion, week, free, limit in zip(completions, days, available, max_shifts):
        entries = []
        for line in _text(completion).splitlines():
            if line.strip():
                day, _, person = line.partition(":")
                entries.append((day.strip(), person.strip()))
        shifts = Counter(person for _, person in entries)
        ok = (
            len(entries) == len(week)
            and {day for day, _ in entries} == set(week)
            and all(day in free.get(person, ()) for day, person in entries)
            and all(count <= limit for count in shifts.values())
        )
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    shift_plan_reward,
    [
        {
            "prompt": "One person a day for Mon, Tue, Wed, at most two days each. Ann: Mon, Tue. Bob: Tue, Wed. Only lines like 'Mon: Ann'.",
            "days": ["Mon", "Tue", "Wed"],
            "available": {"Ann": ["Mon", "Tue"], "Bob": ["Tue", "Wed"]},
            "max_shifts": 2,
        },
        {
            "prompt": "One person a day for Sat, Sun, at most one day each. Cy: Sat, Sun. Di: Sat. Only lines like 'Sat: Di'.",
            "days": ["Sat", "Sun"],
            "available": {"Cy": ["Sat", "Sun"], "Di": ["Sat"]},
            "max_shifts": 1,
        },
    ],
    ["Mon: Ann\nTue: Bob\nWed: Bob", "Sun: Cy\n\nSat: Di"],
    ["Mon: Bob\nTue: Ann\nWed: Bob", "Sat: Cy\nSun: Cy"],
)

# --------------------------------------------------------------------------- 5


def room_timetable_reward(completions, talks, rooms, opening, **kwargs):
    """A timetable without clashes, with part marks for talks which are placed well.

    A line "title | room | HH:MM" gives room and start of a talk; other lines are
    ignored. A talk counts as placed well if it has exactly one line, the room is one
    of `rooms`, it runs within the opening hours [from, to], and no other line (of any
    talk of the list, in the same room) overlaps with it; one may start when another
    ends. Reward: talks placed well / talks.

    Args:
        talks: dict of title to length in minutes.
    """
    clock = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")

    def to_minutes(time):
        match = clock.fullmatch(time)
        return int(match[1]) * 60 + int(match[2]) if match else None

    rewards = []
    for completion, lengths, allowed, hours in zip(completions, talks, rooms, opening):
        entries = []
        for line in _text(completion).splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 3 and cells[0] in lengths and to_minutes(cells[2]) is not None:
                start = to_minutes(cells[2])
                entries.append((cells[0], cells[1], start, start + lengths[cells[0]]))
        lines = Counter(title for title, *_ in entries)
        first, last = to_minutes(hours[0]), to_minutes(hours[1])
        placed = 0
        for i, (title, room, start, end) in enumerate(entries):
            if lines[title] != 1 or room not in allowed or start < first or end > last:
                continue
            clash = any(
                j != i and other == room and start < stop and begin < end
                for j, (_, other, begin, stop) in enumerate(entries)
            )
            placed += not clash
        rewards.append(placed / len(lengths))
    return rewards


_add(
    room_timetable_reward,
    [
        {
            "prompt": "Place Maps (60 min), Sets (30 min), Trees (60 min) in room 1 or 2 between 9:00 and 10:30. Lines: title | room | HH:MM",
            "talks": {"Maps": 60, "Sets": 30, "Trees": 60},
            "rooms": ["1", "2"],
            "opening": ["9:00", "10:30"],
        },
        {
            "prompt": "Place Yoga (45 min) and Judo (45 min) in room A between 18:00 and 19:30. Lines: title | room | HH:MM",
            "talks": {"Yoga": 45, "Judo": 45},
            "rooms": ["A"],
            "opening": ["18:00", "19:30"],
        },
    ],
    ["Maps | 1 | 9:00\nSets | 1 | 10:00\nTrees | 2 | 09:30", "Judo | A | 18:00\nYoga | A | 18:45"],
    ["Maps | 1 | 9:00\nSets | 1 | 9:30\nTrees | 3 | 9:30", "Judo | A | 18:00\nYoga | A | 18:30"],
)

# --------------------------------------------------------------------------- 6


def box_iou_reward(completions, bbox, **kwargs):
    """Visual grounding: IoU of the predicted and the gold box.

    The one <answer></answer> pair holds [x1, y1, x2, y2] in pixels (JSON), with
    x1 < x2 and y1 < y2 and no coordinate beyond +-100000. The reward is the IoU itself
    if it is 0.5 or more and 0.0 below that or for anything malformed.
    """
    rewards = []
    for completion, gold in zip(completions, bbox):
        try:
            box = json.loads(_block(_text(completion)) or "")
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        valid = isinstance(box, list) and len(box) == 4
        valid = valid and all(isinstance(n, (int, float)) and not isinstance(n, bool) and abs(n) <= 100_000 for n in box)
        if not valid or not (box[0] < box[2] and box[1] < box[3]):
            rewards.append(0.0)
            continue
        width = max(0.0, min(box[2], gold[2]) - max(box[0], gold[0]))
        height = max(0.0, min(box[3], gold[3]) - max(box[1], gold[1]))
        inter = width * height
        union = (box[2] - box[0]) * (box[3] - box[1]) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - inter
        iou = inter / union
        rewards.append(iou if iou >= 0.5 else 0.0)
    return rewards


_add(
    box_iou_reward,
    [
        {"prompt": "Box of the lamp as [x1, y1, x2, y2] in one <answer></answer>.", "bbox": [40, 20, 120, 180]},
        {"prompt": "Box of the left shoe as [x1, y1, x2, y2] in one <answer></answer>.", "bbox": [300.5, 400, 380, 460]},
    ],
    ["It is on the table.\n<answer>[41, 20, 120, 178]</answer>", "<answer>[300.5, 400, 380, 460]</answer>"],
    ["<answer>[200, 20, 280, 180]</answer>", "<answer>[350, 430, 430, 490]</answer>"],
)

# --------------------------------------------------------------------------- 7


def gui_click_reward(completions, image_size, target, **kwargs):
    """GUI grounding in normalised coordinates.

    The one <answer></answer> pair holds "(x, y)", brackets optional, with numbers from
    0 to 1000 across the width and down the height of the image. `image_size` is
    [width, height], `target` the element [x1, y1, x2, y2], both in pixels, the edge
    belonging to the element. 1.0 for a click on it; otherwise 0.2 for a valid point in
    the image, since the format is right; 0.0 for anything else.
    """
    number = r"([0-9]{1,4}(?:\.[0-9]{1,6})?)"
    pattern = re.compile(number + r" {0,3}, {0,3}" + number)
    rewards = []
    for completion, (width, height), box in zip(completions, image_size, target):
        found = (_block(_text(completion)) or "").strip()
        if found.startswith("(") and found.endswith(")"):
            found = found[1:-1].strip()
        match = pattern.fullmatch(found)
        if match is None or max(float(match[1]), float(match[2])) > 1000:
            rewards.append(0.0)
            continue
        x, y = float(match[1]) * width / 1000, float(match[2]) * height / 1000
        rewards.append(1.0 if box[0] <= x <= box[2] and box[1] <= y <= box[3] else 0.2)
    return rewards


_add(
    gui_click_reward,
    [
        {"prompt": "Screenshot 1920x1080: click 'Save'. '(x, y)' from 0 to 1000 in one <answer></answer>.", "image_size": [1920, 1080], "target": [1700, 20, 1800, 60]},
        {"prompt": "Screenshot 400x800: click the menu. '(x, y)' from 0 to 1000 in one <answer></answer>.", "image_size": [400, 800], "target": [0, 0, 60, 60]},
    ],
    ["<answer>(910, 37)</answer>", "<answer>75, 40.5</answer>"],
    ["<answer>(1750, 40)</answer>", "<answer>(40, 500)</answer>"],
)

# --------------------------------------------------------------------------- 8


def detection_matching_reward(completions, gt_boxes, **kwargs):
    """Detection of several objects: F1 at IoU 0.5 with one-to-one matching.

    The one <answer></answer> pair holds a JSON list of at most 40 boxes
    [x1, y1, x2, y2] with x1 < x2, y1 < y2 and coordinates up to +-100000. Predictions and
    gold boxes are matched so that as many as possible are paired with an IoU of at
    least 0.5, each at most once. Reward 2 * pairs / (predictions + gold boxes); a
    malformed answer, or more than 40 boxes, gets 0.0. Golds have at least one box.
    """

    def good_box(box):
        return (
            isinstance(box, list)
            and len(box) == 4
            and all(isinstance(n, (int, float)) and not isinstance(n, bool) and abs(n) <= 100_000 for n in box)
            and box[0] < box[2]
            and box[1] < box[3]
        )

    def iou(a, b):
        inter = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
        return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)

    rewards = []
    for completion, gold in zip(completions, gt_boxes):
        try:
            boxes = json.loads(_block(_text(completion)) or "")
        except (ValueError, RecursionError):
            boxes = None
        if not isinstance(boxes, list) or len(boxes) > 40 or not all(good_box(box) for box in boxes):
            rewards.append(0.0)
            continue
        near = [[iou(box, g) >= 0.5 for box in boxes] for g in gold]
        owner = [None] * len(boxes)

        def place(g, seen):
            for i, fits in enumerate(near[g]):
                if fits and i not in seen:
                    seen.add(i)
                    if owner[i] is None or place(owner[i], seen):
                        owner[i] = g
                        return True
            return False

        pairs = sum(place(g, set()) for g in range(len(gold)))
        rewards.append(2 * pairs / (len(boxes) + len(gold)))
    return rewards


_add(
    detection_matching_reward,
    [
        {"prompt": "Box the two birds: JSON list of [x1, y1, x2, y2] in one <answer></answer>.", "gt_boxes": [[10, 10, 60, 60], [100, 10, 160, 70]]},
        {"prompt": "Box the boat: JSON list of [x1, y1, x2, y2] in one <answer></answer>.", "gt_boxes": [[0, 200, 300, 320]]},
    ],
    ["<answer>[[100, 12, 160, 70], [10, 10, 58, 60]]</answer>", "<answer>[[0, 200, 290, 320]]</answer>"],
    ["<answer>[[10, 10, 12, 12], [300, 300, 320, 330]]</answer>", "<answer>[[0, 0, 300, 120]]</answer>"],
)

# --------------------------------------------------------------------------- 9


def single_edit_reward(completions, source, target, **kwargs):
    """One SEARCH/REPLACE edit of a file.

    The completion has exactly one block of whole lines,

        <<<<<<< SEARCH
        old lines (one or more)
        =======
        new lines (none: delete)
        >>>>>>> REPLACE

    and may have text outside it, without further marker lines. The old lines, spaces included, must occur exactly
    once as consecutive lines of the source. 1.0 if the file after the edit is the
    target (white space at line ends and blank lines at the end of the file do not
    matter), else 0.0.
    """

    def lines_of(text):
        lines = [line.rstrip() for line in text.split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    rewards = []
    for completion, before, after in zip(completions, source, target):
        lines = _text(completion).replace("\r\n", "\n").split("\n")
        marks = [i for i, line in enumerate(lines) if line.rstrip() in ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")]
        if [lines[i].rstrip() for i in marks] != ["<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"]:
            rewards.append(0.0)
            continue
        old, new = lines[marks[0] + 1:marks[1]], lines[marks[1] + 1:marks[2]]
        file_lines = before.split("\n")
        places = [i for i in range(len(file_lines) - len(old) + 1) if old and file_lines[i:i + len(old)] == old]
        if len(places) != 1:
            rewards.append(0.0)
            continue
        edited = file_lines[:places[0]] + new + file_lines[places[0] + len(old):]
        rewards.append(1.0 if lines_of("\n".join(edited)) == lines_of(after) else 0.0)
    return rewards


_GREET = "def greet(name):\n    print('debug')\n    return 'Helo ' + name\n"
_add(
    single_edit_reward,
    [
        {"prompt": "Repair the spelling:\n" + _GREET + "One SEARCH/REPLACE block of whole lines.", "source": _GREET, "target": _GREET.replace("Helo", "Hello")},
        {"prompt": "Remove the debug line:\n" + _GREET + "One SEARCH/REPLACE block of whole lines.", "source": _GREET, "target": _GREET.replace("    print('debug')\n", "")},
    ],
    [
        "<<<<<<< SEARCH\n    return 'Helo ' + name\n=======\n    return 'Hello ' + name\n>>>>>>> REPLACE",
        "I delete it.\n<<<<<<< SEARCH\n    print('debug')\n=======\n>>>>>>> REPLACE\n",
    ],
    [
        "<<<<<<< SEARCH\n    return 'Hello ' + name\n=======\n    return 'Hello ' + name\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n    print('debug')\n=======\n    pass\n>>>>>>> REPLACE",
    ],
)

# --------------------------------------------------------------------------- 10


def line_edits_reward(completions, source, target, **kwargs):
    """Edits by line number, with part marks.

    Every line "L<number>: <text>" of the completion sets that line of the source (from
    1) to the text, white space at its end dropped; "L<number>:" empties the line. Other
    lines are ignored. A number given twice or beyond the file: 0.0. The files have as many
    lines after as before. Reward: of the lines which differ between source and target,
    the share which was set right, minus the share of lines spoilt (right in the
    source, wrong after the edit) of the same total; not below 0.0.
    """
    pattern = re.compile(r"L([0-9]+):(?: (.*))?")
    rewards = []
    for completion, before, after in zip(completions, source, target):
        old, wanted = before.split("\n"), after.split("\n")
        edits, valid = {}, True
        for line in _text(completion).split("\n"):
            match = pattern.fullmatch(line.rstrip())
            if match:
                number = int(match[1]) if len(match[1]) < 9 else 0
                valid = valid and 1 <= number <= len(old) and number not in edits
                edits[number] = match[2] or ""
        if not valid:
            rewards.append(0.0)
            continue
        new = [edits.get(i, line) for i, line in enumerate(old, start=1)]
        to_change = sum(a != b for a, b in zip(old, wanted))
        repaired = sum(a != b and n == b for a, b, n in zip(old, wanted, new))
        spoilt = sum(a == b and n != b for a, b, n in zip(old, wanted, new))
        rewards.append(max(0.0, (repaired - spoilt) / to_change))
    return rewards


_add(
    line_edits_reward,
    [
        {
            "prompt": "Correct the two wrong capitals, by lines 'L<number>: <new line>'.\n1 France=Paris\n2 Italy=Milan\n3 Spain=Seville",
            "source": "France=Paris\nItaly=Milan\nSpain=Seville",
            "target": "France=Paris\nItaly=Rome\nSpain=Madrid",
        },
        {
            "prompt": "Set the retries to 5, by lines 'L<number>: <new line>'.\n1 timeout: 10\n2 retries: 3",
            "source": "timeout: 10\nretries: 3",
            "target": "timeout: 10\nretries: 5",
        },
    ],
    ["L2: Italy=Rome\nL3: Spain=Madrid", "The second line.\nL2: retries: 5"],
    ["L2: Italy=Turin\nL3: Spain=Malaga", "L1: timeout: 5"],
)
