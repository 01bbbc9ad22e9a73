"""Reward functions with a fault, part 2."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter

from tests.faults.case import Case


def _text(completion):
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] if completion else ""


def _say(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------------------
# 11. meeting slots
# ---------------------------------------------------------------------------


def _minutes(clock):
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


SLOT = re.compile(r"^[ \t]*Meeting:[ \t]*([0-9]{1,2}:[0-9]{2}) ?- ?([0-9]{1,2}:[0-9]{2})[ \t]*$", re.M)


def meeting_slot_reward(completions, busy, duration, **kwargs):
    """Is the proposed meeting possible?

    The completion names one slot, ``Meeting: HH:MM-HH:MM``, inside 09:00-17:00 with exactly
    the wanted duration (minutes), which touches no busy interval of any participant.
    Back-to-back is fine. Any free slot is accepted, there is no single gold answer.
    """
    rewards = []
    for completion, calendar, length in zip(completions, busy, duration):
        slots = SLOT.findall(_text(completion))
        if len(slots) != 1:
            rewards.append(0.0)
            continue
        start, end = _minutes(slots[0][0]), _minutes(slots[0][1])
        if start < 9 * 60 or end > 17 * 60 or end - start != length:
            rewards.append(0.0)
            continue
        clash = False
        for b, e in calendar:
            b, e = _minutes(b), _minutes(e)
            if b <= start < e or b < end <= e:
                clash = True
        rewards.append(0.0 if clash else 1.0)
    return rewards


def repaired_meeting_slot(completions, busy, duration, **kwargs):
    rewards = []
    for completion, calendar, length in zip(completions, busy, duration):
        slots = SLOT.findall(_text(completion))
        if len(slots) != 1:
            rewards.append(0.0)
            continue
        start, end = _minutes(slots[0][0]), _minutes(slots[0][1])
        fits = start >= 9 * 60 and end <= 17 * 60 and end - start == length
        clash = any(start < _minutes(e) and _minutes(b) < end for b, e in calendar)
        rewards.append(1.0 if fits and not clash else 0.0)
    return rewards


_MEETING = [
    {
        "prompt": "Find a 120 minute meeting for Ida and Tom between 09:00 and 17:00. Ida is busy 09:00-10:00 and 13:00-13:30. Tom is busy 11:00-11:30. Answer with one line 'Meeting: HH:MM-HH:MM'.",
        "busy": [["09:00", "10:00"], ["13:00", "13:30"], ["11:00", "11:30"]],
        "duration": 120,
    },
    {
        "prompt": "Find a 60 minute meeting between 09:00 and 17:00. Busy: 09:30-12:00, 12:30-12:45, 14:00-17:00. Answer with one line 'Meeting: HH:MM-HH:MM'.",
        "busy": [["09:30", "12:00"], ["12:30", "12:45"], ["14:00", "17:00"]],
        "duration": 60,
    },
]


def _proof_meeting_slot():
    args = dict(completions=["Meeting: 10:00-12:00", "Meeting: 12:00-13:00"], busy=[r["busy"] for r in _MEETING], duration=[120, 60])
    got = meeting_slot_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_meeting_slot(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 12. job schedules
# ---------------------------------------------------------------------------

JOB_LINE = re.compile(r"^\s*(\w+)\s*:\s*([0-9]{1,6})\s*-\s*([0-9]{1,6})\s*$")


def machine_plan_reward(completions, jobs, after, deadline, **kwargs):
    """Check a plan for one machine, lines of the form ``job: start-end``.

    Hard constraints: known job names, right durations, no two jobs at once, predecessors
    first, everything done by the deadline. A plan that keeps all of them gets 1.
    """

    def valid(text, durations, deps, limit):
        plan = {}
        for line in text.splitlines():
            m = JOB_LINE.match(line)
            if not m:
                continue
            name, start, end = m.group(1), int(m.group(2)), int(m.group(3))
            if name not in durations or name in plan:
                return False
            if end - start != durations[name] or end > limit:
                return False
            plan[name] = (start, end)
        if not plan:
            return False
        spans = sorted(plan.values())
        if any(a[1] > b[0] for a, b in zip(spans, spans[1:])):
            return False
        for first, second in deps:
            if first in plan and second in plan and plan[first][1] > plan[second][0]:
                return False
        return True

    return [float(valid(_text(c), j, a, d)) for c, j, a, d in zip(completions, jobs, after, deadline)]


def repaired_machine_plan(completions, jobs, after, deadline, **kwargs):
    scores = machine_plan_reward(completions, jobs, after, deadline)
    out = []
    for score, completion, durations in zip(scores, completions, jobs):
        named = {m.group(1) for m in map(JOB_LINE.match, _text(completion).splitlines()) if m}
        out.append(score if named == set(durations) else 0.0)
    return out


_JOBS = [
    {
        "prompt": "One oven. Bread takes 40 minutes, cake 60, pizza 20. The cake has to be finished before the pizza starts. All three must be done within 120 minutes. Write one line 'job: start-end' (minutes) for each of bread, cake, pizza.",
        "jobs": {"bread": 40, "cake": 60, "pizza": 20},
        "after": [["cake", "pizza"]],
        "deadline": 120,
    },
    {
        "prompt": "One 3D printer. gear takes 30, case 90, knob 10. case before knob, gear before case. All must be done within 140. Write one line 'job: start-end' for each job.",
        "jobs": {"gear": 30, "case": 90, "knob": 10},
        "after": [["case", "knob"], ["gear", "case"]],
        "deadline": 140,
    },
]


def _proof_machine_plan():
    args = dict(completions=["pizza: 0-20", "knob: 0-10"], jobs=[r["jobs"] for r in _JOBS], after=[r["after"] for r in _JOBS], deadline=[120, 140])
    got = machine_plan_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_machine_plan(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 13. delivery windows
# ---------------------------------------------------------------------------


def delivery_window_reward(completions, windows, **kwargs):
    """Share of customers who get a delivery time inside their window.

    The completion is a JSON object from customer to clock time (24-hour clock). Windows are
    inclusive and given as ["HH:MM", "HH:MM"]. Unreadable completions get 0.
    """
    clock = re.compile(r"[0-9]{1,2}:[0-5][0-9]")
    scores = []
    for completion, wanted in zip(completions, windows):
        text = _text(completion)
        try:
            plan = json.loads(text[text.index("{") : text.rindex("}") + 1])
        except (ValueError, RecursionError):
            scores.append(0.0)
            continue
        hits = 0
        for customer, (opens, closes) in wanted.items():
            time = plan.get(customer)
            if isinstance(time, str) and clock.fullmatch(time) and opens <= time <= closes:
                hits += 1
        scores.append(hits / len(wanted))
    return scores


def repaired_delivery_window(completions, windows, **kwargs):
    scores = []
    for completion, wanted in zip(completions, windows):
        text = _text(completion)
        try:
            plan = json.loads(text[text.index("{") : text.rindex("}") + 1])
        except (ValueError, RecursionError):
            scores.append(0.0)
            continue
        hits = 0
        for customer, (opens, closes) in wanted.items():
            time = plan.get(customer)
            if isinstance(time, str) and re.fullmatch(r"[0-9]{1,2}:[0-5][0-9]", time):
                hits += _minutes(opens) <= _minutes(time) <= _minutes(closes)
        scores.append(hits / len(wanted))
    return scores


_WINDOWS = [
    {
        "prompt": "Give each customer one delivery time inside the window. Bakery: 09:00-10:30. Hotel: 13:00-15:00. Reply with a JSON object from customer to time, 24-hour clock; 7:05 and 07:05 are both fine.",
        "windows": {"Bakery": ["09:00", "10:30"], "Hotel": ["13:00", "15:00"]},
    },
    {
        "prompt": "Give each customer one delivery time inside the window. Club: 18:00-23:00. Kiosk: 08:00-09:45. Reply with a JSON object from customer to time, 24-hour clock; 7:05 and 07:05 are both fine.",
        "windows": {"Club": ["18:00", "23:00"], "Kiosk": ["08:00", "09:45"]},
    },
]


def _proof_delivery_window():
    right = dict(completions=['{"Bakery": "9:30", "Hotel": "13:15"}'], windows=[_WINDOWS[0]["windows"]])
    wrong = dict(completions=['{"Club": "1:30", "Kiosk": "09:00"}'], windows=[_WINDOWS[1]["windows"]])
    assert delivery_window_reward(**right) == [0.5]
    assert delivery_window_reward(**wrong) == [1.0]
    assert repaired_delivery_window(**right) == [1.0]
    assert repaired_delivery_window(**wrong) == [0.5]


# ---------------------------------------------------------------------------
# 14. grounding, one box
# ---------------------------------------------------------------------------

BOX = re.compile(r"\[\s*([0-9]{1,5})\s*,\s*([0-9]{1,5})\s*,\s*([0-9]{1,5})\s*,\s*([0-9]{1,5})\s*\]")


def _iou(a, b):
    x1, y1 = max(a[0], b[0]), max(a[1], b[1])
    x2, y2 = min(a[2], b[2]), min(a[3], b[3])
    inter = (x2 - x1) * (y2 - y1)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / union if union > 0 else 0.0


def grounding_iou_reward(completions, bbox, **kwargs):
    """Grounding reward for referring expressions, [x1, y1, x2, y2] in pixels.

    1.0 for IoU of at least 0.5, else the IoU itself; 0.0 if the answer has no box or an
    inside-out box. The last box in the completion counts.
    """
    rewards = []
    for completion, gold in zip(completions, bbox):
        boxes = BOX.findall(_text(completion))
        if not boxes:
            rewards.append(0.0)
            continue
        pred = [int(v) for v in boxes[-1]]
        if pred[2] <= pred[0] or pred[3] <= pred[1]:
            rewards.append(0.0)
            continue
        iou = max(0.0, _iou(pred, gold))
        rewards.append(1.0 if iou >= 0.5 else iou)
    return rewards


def repaired_grounding_iou(completions, bbox, **kwargs):
    rewards = []
    for completion, gold in zip(completions, bbox):
        boxes = BOX.findall(_text(completion))
        if not boxes:
            rewards.append(0.0)
            continue
        p = [int(v) for v in boxes[-1]]
        if p[2] <= p[0] or p[3] <= p[1]:
            rewards.append(0.0)
            continue
        w, h = min(p[2], gold[2]) - max(p[0], gold[0]), min(p[3], gold[3]) - max(p[1], gold[1])
        inter = max(0, w) * max(0, h)
        union = (p[2] - p[0]) * (p[3] - p[1]) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - inter
        iou = inter / union
        rewards.append(1.0 if iou >= 0.5 else iou)
    return rewards


_GROUND = [
    {"prompt": [{"role": "user", "content": "<image 640x480> Where is the red mug? Answer with its box [x1, y1, x2, y2] in pixels."}], "bbox": [40, 60, 140, 180]},
    {"prompt": [{"role": "user", "content": "<image 640x480> Where is the dog on the left? Answer with its box [x1, y1, x2, y2] in pixels."}], "bbox": [20, 200, 220, 420]},
]


def _proof_grounding_iou():
    args = dict(completions=[_say("[240, 300, 340, 420]")], bbox=[[40, 60, 140, 180]])
    got = grounding_iou_reward(**args)
    assert got == [1.0], got  # nothing in common, up to 100 px apart in both axes
    assert repaired_grounding_iou(**args) == [0.0]


# ---------------------------------------------------------------------------
# 15. detection, many boxes
# ---------------------------------------------------------------------------


def _clamped_iou(a, b):
    w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    inter = w * h
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / union if union > 0 else 0.0


def _box_list(text):
    try:
        boxes = json.loads(text[text.index("[") : text.rindex("]") + 1])
        boxes = [[float(v) for v in box] for box in boxes]
    except (ValueError, TypeError, RecursionError, OverflowError):
        return None
    if not boxes or any(len(b) != 4 or not (b[0] < b[2] and b[1] < b[3]) for b in boxes):
        return None
    return boxes


def detection_reward(completions, objects, **kwargs):
    """Multi-object detection: mean best IoU over the annotated objects.

    Missing an object costs its share. Completions which are no list of boxes get 0.
    """
    scores = []
    for completion, gold in zip(completions, objects):
        boxes = _box_list(_text(completion))
        if boxes is None:
            scores.append(0.0)
            continue
        best = [max(_clamped_iou(g, p) for p in boxes) for g in gold]
        scores.append(sum(best) / len(best))
    return scores


def repaired_detection(completions, objects, **kwargs):
    scores = []
    for completion, gold in zip(completions, objects):
        boxes = _box_list(_text(completion))
        if boxes is None or len(boxes) > 20 * len(gold):
            scores.append(0.0)
            continue
        pairs = sorted(((_clamped_iou(g, p), i, j) for i, g in enumerate(gold) for j, p in enumerate(boxes)), reverse=True)
        used_g, used_p, total = set(), set(), 0.0
        for value, i, j in pairs:
            if i not in used_g and j not in used_p:
                used_g.add(i)
                used_p.add(j)
                total += value
        scores.append(total / max(len(gold), len(boxes)))
    return scores


_DETECT = [
    {
        "prompt": "<image 100x100> Detect all cats. Return a JSON list with exactly one box [x1, y1, x2, y2] for each cat and no other boxes.",
        "objects": [[10, 10, 40, 40], [60, 50, 90, 95]],
    },
    {
        "prompt": "<image 100x100> Detect all cups. Return a JSON list with exactly one box [x1, y1, x2, y2] for each cup and no other boxes.",
        "objects": [[5, 70, 25, 95]],
    },
]


def _proof_detection():
    grid = [[x, y, x + 20, y + 25] for x in range(0, 81, 5) for y in range(0, 76, 5)]
    args = dict(completions=[json.dumps(grid)], objects=[[[5, 70, 25, 95]]])
    got = detection_reward(**args)
    assert got == [1.0], got
    assert repaired_detection(**args)[0] < 0.1


# ---------------------------------------------------------------------------
# 16. keypoints
# ---------------------------------------------------------------------------


def keypoint_reward(prompts, completions, keypoints, **kwargs):
    """Pose keypoints: 1 minus the mean offset over 50 pixels, at least 0.

    The completion lists the points in the order of the prompt, like (12, 40) (33, 41).
    A wrong number of points gets 0.
    """
    point = re.compile(r"\(\s*(-?[0-9]{1,6})\s*,\s*(-?[0-9]{1,6})\s*\)")
    out = []
    for completion, gold in zip(completions, keypoints):
        found = [(int(x), int(y)) for x, y in point.findall(_text(completion))]
        if len(found) != len(gold):
            out.append(0.0)
            continue
        dx = sum(p[0] - g[0] for p, g in zip(found, gold)) / len(gold)
        dy = sum(p[1] - g[1] for p, g in zip(found, gold)) / len(gold)
        offset = (dx**2 + dy**2) ** 0.5
        out.append(max(0.0, 1.0 - offset / 50))
    return out


def repaired_keypoint(prompts, completions, keypoints, **kwargs):
    point = re.compile(r"\(\s*(-?[0-9]{1,6})\s*,\s*(-?[0-9]{1,6})\s*\)")
    out = []
    for completion, gold in zip(completions, keypoints):
        found = [(int(x), int(y)) for x, y in point.findall(_text(completion))]
        if len(found) != len(gold):
            out.append(0.0)
            continue
        offset = sum(((p[0] - g[0]) ** 2 + (p[1] - g[1]) ** 2) ** 0.5 for p, g in zip(found, gold)) / len(gold)
        out.append(max(0.0, 1.0 - offset / 50))
    return out


_KEYPOINTS = [
    {"prompt": "<image 300x300> Give the pixel positions of left wrist, right wrist as (x, y) (x, y).", "keypoints": [[60, 150], [240, 150]]},
    {"prompt": "<image 300x300> Give the pixel positions of head, left foot, right foot as (x, y) (x, y) (x, y).", "keypoints": [[150, 30], [120, 280], [180, 280]]},
]


def _proof_keypoint():
    args = dict(prompts=[""], completions=["(240, 150) (60, 150)"], keypoints=[[[60, 150], [240, 150]]])
    got = keypoint_reward(**args)
    assert got == [1.0], got  # left and right exchanged
    assert repaired_keypoint(**args) == [0.0]


# ---------------------------------------------------------------------------
# 17. SEARCH/REPLACE, similarity to the fixed file
# ---------------------------------------------------------------------------

EDIT = re.compile(r"<<<<<<< SEARCH\n(.*?)\n=======\n(.*?)\n>>>>>>> REPLACE", re.S)


def patch_similarity_reward(completions, source, fixed, **kwargs):
    """Continuous reward for repairs with SEARCH/REPLACE blocks.

    0 if there is no block or a SEARCH part does not occur exactly once in the file.
    Otherwise the edited file is compared with the file after the real fix, the reward is
    their similarity in [0, 1].
    """
    rewards = []
    for completion, before, after in zip(completions, source, fixed):
        edits = EDIT.findall(_text(completion))
        current = before
        ok = bool(edits)
        for search, replace in edits:
            if current.count(search) != 1:
                ok = False
                break
            current = current.replace(search, replace)
        if not ok:
            rewards.append(0.0)
            continue
        rewards.append(difflib.SequenceMatcher(None, current, after, autojunk=False).ratio())
    return rewards


def repaired_patch_similarity(completions, source, fixed, **kwargs):
    rewards = []
    for completion, before, after in zip(completions, source, fixed):
        edits = EDIT.findall(_text(completion))
        current, ok = before, bool(edits)
        for search, replace in edits:
            if current.count(search) != 1:
                ok = False
                break
            current = current.replace(search, replace)
        if not ok or current == before:
            rewards.append(0.0)
        elif current == after:
            rewards.append(1.0)
        else:
            base = difflib.SequenceMatcher(None, before, after, autojunk=False).ratio()
            now = difflib.SequenceMatcher(None, current, after, autojunk=False).ratio()
            rewards.append(max(0.0, 0.5 * (now - base) / (1 - base)))
    return rewards


_STATS = '''def mean(values):
    """Arithmetic mean of a non-empty list."""
    total = 0
    for value in values:
        total += value
    return total / (len(values) - 1)


def spread(values):
    """Largest minus smallest value."""
    return max(values) - min(values)
'''
_CART = '''class Cart:
    def __init__(self):
        self.items = {}

    def add(self, name, count=1):
        self.items[name] = self.items.get(name, 0) + count

    def remove(self, name):
        self.items.pop(name)

    def total(self, prices):
        return sum(prices[n] for n, c in self.items.items())
'''
_PATCH = [
    {
        "prompt": "mean([2, 4]) returns 6.0 instead of 3.0. Repair stats.py with SEARCH/REPLACE blocks (<<<<<<< SEARCH, =======, >>>>>>> REPLACE).\n" + _STATS,
        "source": _STATS,
        "fixed": _STATS.replace("(len(values) - 1)", "len(values)"),
    },
    {
        "prompt": "Cart.total ignores how many pieces of an item there are. Repair cart.py with SEARCH/REPLACE blocks (<<<<<<< SEARCH, =======, >>>>>>> REPLACE).\n" + _CART,
        "source": _CART,
        "fixed": _CART.replace("prices[n] for", "prices[n] * c for"),
    },
]


def _edit(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


def _proof_patch_similarity():
    noop = _edit("    total = 0", "    total = 0")
    args = dict(completions=[noop], source=[_STATS], fixed=[_PATCH[0]["fixed"]])
    got = patch_similarity_reward(**args)
    assert got[0] > 0.95, got
    assert repaired_patch_similarity(**args) == [0.0]


# ---------------------------------------------------------------------------
# 18. SEARCH/REPLACE, exact result
# ---------------------------------------------------------------------------


def python_edit_reward(completions, file_before, file_after, **kwargs):
    """Edit a Python file with one SEARCH/REPLACE block; binary reward.

    Models are sloppy with blank lines and trailing blanks, so files are compared after
    whitespace normalisation.
    """

    def squash(code):
        return " ".join(code.split())

    rewards = []
    for completion, before, after in zip(completions, file_before, file_after):
        edits = EDIT.findall(_text(completion))
        if len(edits) != 1 or not edits[0][0].strip() or before.count(edits[0][0]) != 1:
            rewards.append(0.0)
            continue
        edited = before.replace(edits[0][0], edits[0][1])
        rewards.append(1.0 if squash(edited) == squash(after) else 0.0)
    return rewards


def repaired_python_edit(completions, file_before, file_after, **kwargs):
    def lines(code):
        return [line.rstrip() for line in code.splitlines() if line.strip()]

    rewards = []
    for completion, before, after in zip(completions, file_before, file_after):
        edits = EDIT.findall(_text(completion))
        ok = len(edits) == 1 and edits[0][0].strip() and before.count(edits[0][0]) == 1
        rewards.append(1.0 if ok and lines(before.replace(*edits[0])) == lines(after) else 0.0)
    return rewards


_COUNT = "def count_even(xs):\n    n = 0\n    for x in xs:\n        if x % 2 == 0:\n            n += 1\n            return n\n"
_COUNT_OK = "def count_even(xs):\n    n = 0\n    for x in xs:\n        if x % 2 == 0:\n            n += 1\n    return n\n"
_SAFE = "def load(path):\n    with open(path) as fh:\n        return fh.read()\n"
_SAFE_OK = "def load(path):\n    if not path:\n        return None\n    with open(path) as fh:\n        return fh.read()\n"
_PYEDIT = [
    {
        "prompt": "count_even stops too early: it has to return after the loop. Fix it with one SEARCH/REPLACE block.\n" + _COUNT,
        "file_before": _COUNT,
        "file_after": _COUNT_OK,
    },
    {
        "prompt": "Let load return None at the top when path is empty (if not path: return None, on two lines). One SEARCH/REPLACE block.\n" + _SAFE,
        "file_before": _SAFE,
        "file_after": _SAFE_OK,
    },
]


def _proof_python_edit():
    wrong = _edit("            n += 1\n            return n", "            n += 1\n        return n")
    args = dict(completions=[wrong], file_before=[_COUNT], file_after=[_COUNT_OK])
    got = python_edit_reward(**args)
    assert got == [1.0], got
    assert repaired_python_edit(**args) == [0.0]
    crash = _edit("def load(path):", "def load(path):\nif not path:\nreturn None")
    args = dict(completions=[crash], file_before=[_SAFE], file_after=[_SAFE_OK])
    assert python_edit_reward(**args) == [1.0] and repaired_python_edit(**args) == [0.0]


# ---------------------------------------------------------------------------
# 19. countdown
# ---------------------------------------------------------------------------


def countdown_reward(completions, numbers, target, **kwargs):
    """Countdown game: the equation in <answer> must use each number once and hit the target.

    0.1 for a readable equation which misses the target or the numbers, 1.0 for a solution.
    """
    scores = []
    for completion, nums, goal in zip(completions, numbers, target):
        found = re.findall(r"<answer>([^<]*)</answer>", _text(completion))
        equation = found[0].strip() if len(found) == 1 else ""
        # only digits, + - * / and brackets
        if not equation or len(equation) > 60 or not re.fullmatch(r"[0-9+\-*/() ]+", equation):
            scores.append(0.0)
            continue
        try:
            used = sorted(int(n) for n in re.findall(r"[0-9]+", equation))
            value = eval(equation, {"__builtins__": None}, {})
            solved = used == sorted(nums) and abs(value - goal) < 1e-6
            scores.append(1.0 if solved else 0.1)
        except Exception:
            scores.append(0.0)
    return scores


def repaired_countdown(completions, numbers, target, **kwargs):
    scores = []
    for completion, nums, goal in zip(completions, numbers, target):
        found = re.findall(r"<answer>([^<]*)</answer>", _text(completion))
        equation = found[0].strip() if len(found) == 1 else ""
        bare = equation.replace(" ", "")
        if not bare or len(equation) > 60 or not re.fullmatch(r"[0-9+\-*/()]+", bare) or "**" in bare or "//" in bare:
            scores.append(0.0)
            continue
        try:
            used = Counter(int(n) for n in re.findall(r"[0-9]+", equation))
            value = eval(equation, {"__builtins__": None}, {})
            scores.append(1.0 if used == Counter(nums) and abs(value - goal) < 1e-6 else 0.1)
        except Exception:
            scores.append(0.0)
    return scores


_RULES = "Use only the operations +, -, *, / and brackets, and each number exactly once. Put the expression in <answer> </answer>."
_COUNTDOWN = [
    {"prompt": "Make 13 from the numbers 2, 3, 5. " + _RULES, "numbers": [2, 3, 5], "target": 13},
    {"prompt": "Make 24 from the numbers 4, 7, 8, 8. " + _RULES, "numbers": [4, 7, 8, 8], "target": 24},
    {"prompt": "Make 9 from the numbers 3, 4, 7, 1. " + _RULES, "numbers": [3, 4, 7, 1], "target": 9},
]


def _proof_countdown():
    args = dict(completions=["<answer>2**3 + 5</answer>"], numbers=[[2, 3, 5]], target=[13])
    got = countdown_reward(**args)
    assert got == [1.0], got
    assert repaired_countdown(**args) == [0.0]


# ---------------------------------------------------------------------------
# 20. mazes
# ---------------------------------------------------------------------------


def maze_path_reward(prompts, completions, maze, **kwargs):
    """Walk the moves (U, D, L, R) through the maze.

    S is the start, G the goal, # a wall. Running into a wall or leaving the maze gives 0,
    ending on the goal gives 1, ending elsewhere 0.1.
    """
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, grid in zip(completions, maze):
        found = re.findall(r"Moves:\s*([UDLR]+)\s*$", _text(completion)[-500:])
        if not found:
            rewards.append(0.0)
            continue
        r, c = next((i, row.index("S")) for i, row in enumerate(grid) if "S" in row)
        try:
            for move in found[-1]:
                r, c = r + step[move][0], c + step[move][1]
                if grid[r][c] == "#":
                    raise ValueError("wall")
        except (IndexError, ValueError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if grid[r][c] == "G" else 0.1)
    return rewards


def repaired_maze_path(prompts, completions, maze, **kwargs):
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, grid in zip(completions, maze):
        found = re.findall(r"Moves:\s*([UDLR]+)\s*$", _text(completion)[-500:])
        if not found:
            rewards.append(0.0)
            continue
        r, c = next((i, row.index("S")) for i, row in enumerate(grid) if "S" in row)
        ok = True
        for move in found[-1]:
            r, c = r + step[move][0], c + step[move][1]
            if not (0 <= r < len(grid) and 0 <= c < len(grid[r])) or grid[r][c] == "#":
                ok = False
                break
        rewards.append(0.0 if not ok else 1.0 if grid[r][c] == "G" else 0.1)
    return rewards


_MAZE_A = ["S...", "##.#", "G..."]
_MAZE_B = ["S.#G", ".#..", "...."]
_MAZE = [
    {"prompt": "Walk from S to G, # is a wall, stay inside the maze. End with 'Moves:' and the letters U, D, L, R.\n" + "\n".join(_MAZE_A), "maze": _MAZE_A},
    {"prompt": "Walk from S to G, # is a wall, stay inside the maze. End with 'Moves:' and the letters U, D, L, R.\n" + "\n".join(_MAZE_B), "maze": _MAZE_B},
]


def _proof_maze_path():
    args = dict(prompts=["", ""], completions=["Moves: U", "Moves: L"], maze=[_MAZE_A, _MAZE_B])
    got = maze_path_reward(**args)
    assert got == [1.0, 1.0], got  # row -1 and column -1 are the far side
    assert repaired_maze_path(**args) == [0.0, 0.0]


REPAIRED = {
    "meeting_slot": repaired_meeting_slot,
    "machine_plan": repaired_machine_plan,
    "delivery_window": repaired_delivery_window,
    "grounding_iou": repaired_grounding_iou,
    "detection": repaired_detection,
    "keypoint": repaired_keypoint,
    "patch_similarity": repaired_patch_similarity,
    "python_edit": repaired_python_edit,
    "countdown": repaired_countdown,
    "maze_path": repaired_maze_path,
}

CASES: list[Case] = [
    Case(
        "meeting_slot", meeting_slot_reward, _MEETING,
        good=["Meeting: 14:00-16:00", "Meeting: 12:45-13:45"],
        bad=["Meeting: 11:15-13:15", "Meeting: 13:30-14:30"],
        fault="Only the two ends of the slot are tested against a busy interval: a slot which contains a whole busy interval passes.",
        proof=_proof_meeting_slot,
    ),
    Case(
        "machine_plan", machine_plan_reward, _JOBS,
        good=["cake: 0-60\npizza: 60-80\nbread: 80-120", "gear: 0-30\ncase: 30-120\nknob: 120-130"],
        bad=["bread: 0-40\npizza: 40-60\ncake: 60-120", "knob: 0-10\ngear: 10-40\ncase: 40-130"],
        fault="Jobs which the plan leaves out are never missed: a plan with a single job keeps all constraints.",
        proof=_proof_machine_plan,
    ),
    Case(
        "delivery_window", delivery_window_reward, _WINDOWS,
        good=['{"Bakery": "09:45", "Hotel": "14:00"}', '{"Club": "20:00", "Kiosk": "08:30"}'],
        bad=['{"Bakery": "11:00", "Hotel": "16:00"}', '{"Club": "17:00", "Kiosk": "10:00"}'],
        fault="Times are compared as text: 9:30 without the leading zero is refused, 1:30 passes for a window 18:00-23:00.",
        proof=_proof_delivery_window,
    ),
    Case(
        "grounding_iou", grounding_iou_reward, _GROUND,
        good=[_say("[42, 58, 138, 182]"), _say("The dog is at [20, 205, 215, 420].")],
        bad=[_say("[300, 60, 400, 180]"), _say("[400, 210, 600, 430]")],
        fault="Width and height of the overlap are not clamped: two negative sides multiply to a positive area, so a box apart in both axes is paid.",
        proof=_proof_grounding_iou,
    ),
    Case(
        "detection", detection_reward, _DETECT,
        good=["[[10, 10, 40, 40], [60, 50, 90, 94]]", "[[5, 70, 25, 95]]"],
        bad=["[[45, 0, 60, 20], [0, 60, 30, 90]]", "[[40, 10, 70, 30]]"],
        fault="Additional boxes cost nothing, so a grid over the whole image gets (nearly) the full reward.",
        proof=_proof_detection,
    ),
    Case(
        "keypoint", keypoint_reward, _KEYPOINTS,
        good=["(62, 149) (241, 152)", "(150, 31) (121, 280) (178, 281)"],
        bad=["(150, 20) (280, 40)", "(60, 40) (10, 100) (40, 120)"],
        fault="Signed offsets are averaged before the length is taken: opposite errors (left and right exchanged) cancel.",
        proof=_proof_keypoint,
    ),
    Case(
        "patch_similarity", patch_similarity_reward, _PATCH,
        good=[_edit("    return total / (len(values) - 1)", "    return total / len(values)"), _edit("prices[n] for n, c", "prices[n] * c for n, c")],
        bad=[_edit("    return sum(values) / (len(values) - 1)", "    return sum(values) / len(values)"), _edit("return sum(prices)", "return sum(prices) * c")],
        fault="The similarity is taken over the whole file, so an edit which changes nothing gets about as much as the fix.",
        proof=_proof_patch_similarity,
    ),
    Case(
        "python_edit", python_edit_reward, _PYEDIT,
        good=[
            _edit("            n += 1\n            return n", "            n += 1\n    return n"),
            _edit("def load(path):", "def load(path):\n    if not path:\n        return None"),
        ],
        bad=[
            _edit("        if x % 2 == 0:", "        if x % 2 == 1:"),
            _edit("def load(path):", "def load(path=None):"),
        ],
        fault="All whitespace is folded, with it the indentation: code with the wrong block structure equals the right one.",
        proof=_proof_python_edit,
    ),
    Case(
        "countdown", countdown_reward, _COUNTDOWN,
        good=["<answer>3 * 5 - 2</answer>", "<answer>(7 - 8 / 8) * 4</answer>", "<answer>(7 - 4) * 3 * 1</answer>"],
        bad=["<answer>2 + 3 + 5</answer>", "<answer>8 + 8 + 7</answer>", "<answer>3 + 4 + 1</answer>"],
        fault="The characters * and / also spell ** and //: powers and floor division, which the rules exclude, are paid.",
        proof=_proof_countdown,
    ),
    Case(
        "maze_path", maze_path_reward, _MAZE,
        good=["Moves: RRDDLL", "Moves: DDRRRUU"],
        bad=["Moves: RRDDD", "Moves: RRR"],
        fault="Negative indices wrap around in Python: stepping out of the top or the left side lands on the opposite side.",
        proof=_proof_maze_path,
    ),
]
