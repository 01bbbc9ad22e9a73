"""Sound reward functions, part 2."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, deque
from fractions import Fraction

from tests.faults.case import Case


def _text(completion) -> str:
    """Text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    if completion and isinstance(completion[-1], dict):
        return str(completion[-1].get("content") or "")
    return ""


def _say(text):
    return [{"role": "assistant", "content": text}]


def _tag(text: str, name: str) -> str | None:
    """Stripped content of the only <name>...</name> of the text, None if there is not exactly one."""
    start, end = f"<{name}>", f"</{name}>"
    if text.count(start) != 1 or text.count(end) != 1:
        return None
    head, rest = text.split(start)
    if end not in rest:
        return None
    return rest.split(end)[0].strip()


# ---------------------------------------------------------------------------
# 11. parallel tool calls
# ---------------------------------------------------------------------------


def _unique(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("repeated key")
    return dict(pairs)


def _read_calls(text: str):
    """Calls of the only <tool_calls> list as hashable values, None if unreadable."""
    body = _tag(text, "tool_calls")
    if body is None or len(body) > 20_000:
        return None
    try:
        calls = json.loads(body, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    if not isinstance(calls, list):
        return None
    found = []
    for call in calls:
        if not isinstance(call, dict) or call.keys() != {"name", "arguments"} or not isinstance(call["arguments"], dict):
            return None
        args = call["arguments"]
        if not isinstance(call["name"], str) or not all(isinstance(v, str) for v in args.values()):
            return None
        found.append((call["name"], tuple(sorted(args.items()))))
    return found


def parallel_calls_f1_reward(prompts, completions, expected_calls, **kwargs):
    """F1 between the made and the expected tool calls, both taken as multisets.

    A call counts if name and all arguments are equal; each expected call can be met once, so
    repeated, additional and missing calls all cost. The order is free. Unreadable lists get 0.
    """
    rewards = []
    for completion, expected in zip(completions, expected_calls):
        made = _read_calls(_text(completion))
        if not made:
            rewards.append(0.0)
            continue
        gold = Counter((c["name"], tuple(sorted(c["arguments"].items()))) for c in expected)
        hits = sum((Counter(made) & gold).values())
        rewards.append(2 * hits / (len(made) + len(expected)))
    return rewards


_PAR = (
    "Tool: weather(city: string, day: string). Days are written YYYY-MM-DD, cities in English. Call it once for each "
    'city and day the user asks about: <tool_calls>[{"name": "weather", "arguments": {"city": ..., "day": ...}}, ...]</tool_calls>'
)
_PARALLEL = [
    {
        "prompt": [{"role": "system", "content": _PAR}, {"role": "user", "content": "Weather in Rome and Oslo on 3 July 2024?"}],
        "expected_calls": [
            {"name": "weather", "arguments": {"city": "Rome", "day": "2024-07-03"}},
            {"name": "weather", "arguments": {"city": "Oslo", "day": "2024-07-03"}},
        ],
    },
    {
        "prompt": [{"role": "system", "content": _PAR}, {"role": "user", "content": "Does it rain in Cairo on 1 May 2024?"}],
        "expected_calls": [{"name": "weather", "arguments": {"city": "Cairo", "day": "2024-05-01"}}],
    },
]


def _weather(*pairs):
    calls = [{"name": "weather", "arguments": {"city": c, "day": d}} for c, d in pairs]
    return _say(f"<tool_calls>{json.dumps(calls)}</tool_calls>")


# ---------------------------------------------------------------------------
# 12. free slots
# ---------------------------------------------------------------------------


def _clock(text: str) -> int:
    hours, minutes = text.split(":")
    return 60 * int(hours) + int(minutes)


def free_slot_reward(completions, busy, opens, closes, duration, **kwargs):
    """1.0 for any slot that works, 0.0 otherwise.

    The slot stands in <slot></slot> as HH:MM-HH:MM (9:30 and 09:30 are the same). It must have
    the wanted length in minutes, lie within the opening hours and overlap no busy interval;
    touching one at its ends is allowed.
    """
    form = re.compile(r"((?:[01]?[0-9]|2[0-3]):[0-5][0-9]) ?- ?((?:[01]?[0-9]|2[0-3]):[0-5][0-9])")
    rewards = []
    for completion, taken, first, last, length in zip(completions, busy, opens, closes, duration):
        m = form.fullmatch(_tag(_text(completion), "slot") or "")
        if not m:
            rewards.append(0.0)
            continue
        start, end = _clock(m.group(1)), _clock(m.group(2))
        ok = end - start == length and _clock(first) <= start and end <= _clock(last)
        ok = ok and all(end <= _clock(b) or _clock(e) <= start for b, e in taken)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_SLOT_HOW = " Any slot that works is right; write it as <slot>HH:MM-HH:MM</slot>."
_SLOTS = [
    {
        "prompt": "The court is open 08:00-18:00 and taken 08:00-09:30, 10:00-10:45, 12:00-16:30. Find 75 minutes." + _SLOT_HOW,
        "busy": [["08:00", "09:30"], ["10:00", "10:45"], ["12:00", "16:30"]],
        "opens": "08:00",
        "closes": "18:00",
        "duration": 75,
    },
    {
        "prompt": "The studio is open 13:00-21:00 and taken 14:00-14:15 and 17:00-19:00. Find 2 hours." + _SLOT_HOW,
        "busy": [["14:00", "14:15"], ["17:00", "19:00"]],
        "opens": "13:00",
        "closes": "21:00",
        "duration": 120,
    },
]

# ---------------------------------------------------------------------------
# 13. job plans
# ---------------------------------------------------------------------------

_PLAN_LINE = re.compile(r"([a-z]{1,20}) ?: ?([0-9]{1,5}) ?- ?([0-9]{1,5})")


def job_plan_reward(completions, durations, before, shortest, **kwargs):
    """Plans for one machine.

    <plan></plan> has one line "job: start-end" for each job. Invalid plans get 0.0: jobs
    missing, unknown or repeated, wrong durations, overlaps, broken precedences. Valid plans
    get 0.5 plus 0.5 * (shortest possible end / end of the plan).
    """

    def makespan(text, jobs, order):
        plan = {}
        for line in (text or "").splitlines()[:200]:
            if not line.strip():
                continue
            m = _PLAN_LINE.fullmatch(line.strip().lower())
            if not m or m.group(1) not in jobs or m.group(1) in plan:
                return None
            plan[m.group(1)] = (int(m.group(2)), int(m.group(3)))
        if plan.keys() != jobs.keys() or any(e - s != jobs[j] for j, (s, e) in plan.items()):
            return None
        spans = sorted(plan.values())
        if any(a[1] > b[0] for a, b in zip(spans, spans[1:])):
            return None
        if any(plan[a][1] > plan[b][0] for a, b in order):
            return None
        return spans[-1][1]

    rewards = []
    for completion, jobs, order, best in zip(completions, durations, before, shortest):
        text = _tag(_text(completion), "plan")
        end = makespan(text, jobs, order) if text and len(text.splitlines()) <= 200 else None
        rewards.append(0.0 if end is None else 0.5 + 0.5 * best / end)
    return rewards


_PLAN_HOW = " Only one job runs at a time. Start at minute 0 and finish as early as possible. <plan> with one line 'job: start-end' for each job </plan>"
_PLANS = [
    {
        "prompt": "Jobs: wash 30 min, dry 45 min, iron 15 min; wash before dry, dry before iron." + _PLAN_HOW,
        "durations": {"wash": 30, "dry": 45, "iron": 15},
        "before": [["wash", "dry"], ["dry", "iron"]],
        "shortest": 90,
    },
    {
        "prompt": "Jobs: scan 10 min, print 20 min, bind 5 min; print before bind." + _PLAN_HOW,
        "durations": {"scan": 10, "print": 20, "bind": 5},
        "before": [["print", "bind"]],
        "shortest": 35,
    },
]

# ---------------------------------------------------------------------------
# 14. boxes, IoU
# ---------------------------------------------------------------------------

_BOX_FORM = re.compile(r"\[? ?([0-9]{1,5}) ?, ?([0-9]{1,5}) ?, ?([0-9]{1,5}) ?, ?([0-9]{1,5}) ?\]?")


def _overlap(a, b) -> float:
    """Intersection over union of two boxes with positive area."""
    width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    inter = width * height
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def box_iou_reward(prompts, completions, box, **kwargs):
    """IoU of the box in <box></box> with the gold box; 0.0 without exactly one proper box."""
    rewards = []
    for completion, gold in zip(completions, box):
        m = _BOX_FORM.fullmatch(_tag(_text(completion), "box") or "")
        given = [int(v) for v in m.groups()] if m else None
        if given is None or given[0] >= given[2] or given[1] >= given[3]:
            rewards.append(0.0)
            continue
        rewards.append(_overlap(given, gold))
    return rewards


_BOX_HOW = " Give the box in whole pixels as <box>[x1, y1, x2, y2]</box>, x1 < x2 and y1 < y2. The reward is the IoU with the true box."
_BOXES = [
    {"prompt": "<image 800x600> Find the clock." + _BOX_HOW, "box": [300, 40, 420, 160]},
    {"prompt": "<image 800x600> Find the bench." + _BOX_HOW, "box": [50, 400, 450, 560]},
]

# ---------------------------------------------------------------------------
# 15. many boxes, F1
# ---------------------------------------------------------------------------


def detection_f1_reward(completions, boxes, **kwargs):
    """F1 of detections at IoU 0.5, one prediction for one object.

    <boxes></boxes> holds a JSON list of [x1, y1, x2, y2]. Predictions are assigned to objects
    one to one so that as many as possible match. An empty list is right where the image has
    no object. Unreadable lists and lists of more than 50 boxes get 0.0.
    """

    def read(text):
        try:
            found = json.loads(text or "")
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, list) or len(found) > 50:
            return None
        for b in found:
            if not isinstance(b, list) or len(b) != 4 or any(type(v) is not int or not 0 <= v <= 99_999 for v in b):
                return None
            if b[0] >= b[2] or b[1] >= b[3]:
                return None
        return found

    def matched(given, gold):
        owner = {}

        def place(i, seen):
            for j, g in enumerate(gold):
                if j not in seen and _overlap(given[i], g) >= 0.5:
                    seen.add(j)
                    if j not in owner or place(owner[j], seen):
                        owner[j] = i
                        return True
            return False

        return sum(place(i, set()) for i in range(len(given)))

    rewards = []
    for completion, gold in zip(completions, boxes):
        given = read(_tag(_text(completion), "boxes"))
        if given is None:
            rewards.append(0.0)
        elif not given and not gold:
            rewards.append(1.0)
        else:
            rewards.append(2 * matched(given, gold) / (len(given) + len(gold)))
    return rewards


_DET_HOW = " Answer with <boxes>JSON list of [x1, y1, x2, y2], whole pixels</boxes>, one box for each object, an empty list if there is none."
_DETECTIONS = [
    {"prompt": "<image 200x200> Mark all birds." + _DET_HOW, "boxes": [[10, 10, 50, 50], [120, 30, 180, 90]]},
    {"prompt": "<image 200x200, an empty street> Mark all birds." + _DET_HOW, "boxes": []},
    {"prompt": "<image 200x200> Mark all signs." + _DET_HOW, "boxes": [[0, 100, 40, 160]]},
]

# ---------------------------------------------------------------------------
# 16. clicks
# ---------------------------------------------------------------------------


def click_target_reward(prompts, completions, target, covered_by, **kwargs):
    """GUI clicks: 1.0 if the point hits the target and nothing that lies on top of it.

    The point stands in <click></click> as "x, y" in pixels; edges belong to an element.
    """

    def inside(point, area):
        return area[0] <= point[0] <= area[2] and area[1] <= point[1] <= area[3]

    form = re.compile(r"\(? ?([0-9]{1,5}) ?, ?([0-9]{1,5}) ?\)?")
    rewards = []
    for completion, area, above in zip(completions, target, covered_by):
        m = form.fullmatch(_tag(_text(completion), "click") or "")
        point = (int(m.group(1)), int(m.group(2))) if m else None
        ok = point is not None and inside(point, area) and not any(inside(point, other) for other in above)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_CLICK_HOW = " Give the pixel to click as <click>x, y</click>. Any visible pixel of the element is fine."
_CLICKS = [
    {"prompt": [{"role": "user", "content": "Screen 400x300: button Save at [20, 20, 120, 60]. Click Save." + _CLICK_HOW}], "target": [20, 20, 120, 60], "covered_by": []},
    {
        "prompt": [{"role": "user", "content": "Screen 400x300: page at [0, 0, 400, 300], on top of it a dialog at [100, 80, 300, 220]. Click the page outside of the dialog." + _CLICK_HOW}],
        "target": [0, 0, 400, 300],
        "covered_by": [[100, 80, 300, 220]],
    },
]

# ---------------------------------------------------------------------------
# 17. SEARCH/REPLACE
# ---------------------------------------------------------------------------


def _edits(text: str):
    """(search, replace) of all blocks in order; None if a block is broken."""
    blocks, state, search, replace = [], None, [], []
    for line in text.split("\n"):
        if line.rstrip() == "<<<<<<< SEARCH":
            if state is not None:
                return None
            state, search, replace = "search", [], []
        elif line.rstrip() == "=======" and state == "search":
            state = "replace"
        elif line.rstrip() == ">>>>>>> REPLACE":
            if state != "replace":
                return None
            blocks.append(("".join(s + "\n" for s in search), "".join(r + "\n" for r in replace)))
            state = None
        elif state == "search":
            search.append(line)
        elif state == "replace":
            replace.append(line)
    return blocks if state is None else None


def search_replace_reward(completions, before, accepted, **kwargs):
    """SEARCH/REPLACE edits: 1.0 if they turn the file into one of the accepted versions.

    SEARCH has to consist of whole lines which occur exactly once in the file as it is at that
    moment; blocks are applied from top to bottom. Broken blocks, at most 20 of them, or any
    other resulting file (compared exactly, only trailing blanks of lines aside) get 0.0.
    """

    def trimmed(code):
        return [ln.rstrip() for ln in code.rstrip().split("\n")]

    rewards = []
    for completion, source, targets in zip(completions, before, accepted):
        blocks = _edits(_text(completion).strip())
        ok = bool(blocks) and len(blocks) <= 20
        current = "\n" + source  # a line break in front lets SEARCH match whole lines only
        for search, replace in blocks if ok else ():
            if not search.strip() or current.count("\n" + search) != 1 or len(current) > 50_000:
                ok = False
                break
            current = current.replace("\n" + search, "\n" + replace)
        rewards.append(1.0 if ok and any(trimmed(current[1:]) == trimmed(t) for t in targets) else 0.0)
    return rewards


_LIMIT = "def clamp(x, low, high):\n    if x < low:\n        return low\n    if x < high:\n        return high\n    return x\n"
_GREET = "def greet(name):\n    return 'Hello ' + name\n\nprint(greet('Ann'))\n"
_SR_HOW = "Edit the file with blocks of the lines '<<<<<<< SEARCH', whole lines of the file, '=======', the new lines, '>>>>>>> REPLACE'.\n"
_SEARCH = [
    {
        "prompt": _SR_HOW + "clamp(5, 0, 10) gives 10. Replace the one wrong comparison operator, change nothing else (> or >= are both fine).\n" + _LIMIT,
        "before": _LIMIT,
        "accepted": [_LIMIT.replace("if x < high", "if x > high"), _LIMIT.replace("if x < high", "if x >= high")],
    },
    {
        "prompt": _SR_HOW + "Rename the function greet to welcome, also in the call; change nothing else.\n" + _GREET,
        "before": _GREET,
        "accepted": [_GREET.replace("greet", "welcome")],
    },
]


def _block(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


# ---------------------------------------------------------------------------
# 18. configuration files
# ---------------------------------------------------------------------------


def _same_json(a, b) -> bool:
    """Equality of JSON values of the same type (true is not 1, 1.0 is not 1)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same_json(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same_json, a, b))
    return a == b


def config_edit_reward(completions, wanted, **kwargs):
    """The model rewrites a JSON configuration as told.

    1.0 if the JSON in <config></config> is the wanted configuration: every value, type and
    key, order and layout of the object aside. 0.0 otherwise; a key given twice is an error.
    """
    rewards = []
    for completion, gold in zip(completions, wanted):
        body = _tag(_text(completion), "config")
        try:
            data = json.loads(body, object_pairs_hook=_unique) if body and len(body) < 20_000 else None
        except (ValueError, RecursionError):
            data = None
        rewards.append(1.0 if data is not None and _same_json(data, gold) else 0.0)
    return rewards


_CFG_HOW = "Change the configuration as told, leave everything else as it is and return the whole JSON in <config></config>.\n"
_CONFIGS = [
    {
        "prompt": _CFG_HOW + 'Switch debug off and set the port to 8081: {"port": 8080, "debug": true, "hosts": ["a", "b"]}',
        "wanted": {"port": 8081, "debug": False, "hosts": ["a", "b"]},
    },
    {
        "prompt": _CFG_HOW + 'Add the host "c" at the end of hosts: {"port": 80, "debug": false, "hosts": ["a", "b"]}',
        "wanted": {"port": 80, "debug": False, "hosts": ["a", "b", "c"]},
    },
]

# ---------------------------------------------------------------------------
# 19. countdown
# ---------------------------------------------------------------------------


def _evaluate(expression: str):
    """(value, used numbers) of an expression of + - * / and brackets; ValueError otherwise."""
    used = []

    def value(node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div) and right != 0:
                return left / right
        raise ValueError("not allowed")

    return value(ast.parse(expression, mode="eval").body), used


def number_game_reward(completions, numbers, target, **kwargs):
    """Countdown: 1.0 for an expression in <answer></answer> which hits the target and uses
    every given number exactly once with + - * / and brackets, 0.0 otherwise.

    The arithmetic is exact. A trailing "= target" is allowed.
    """
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        expression = _tag(_text(completion), "answer") or ""
        left, equals, right = expression.partition("=")
        ok = len(expression) <= 200 and re.fullmatch(r"[0-9+\-*/() ]+", left) and (not equals or right.strip() == str(goal))
        try:
            value, used = _evaluate(left.strip()) if ok else (None, None)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            value, used = None, None
        rewards.append(1.0 if value is not None and value == goal and sorted(used) == sorted(given) else 0.0)
    return rewards


_NUM_HOW = " Use each number exactly once, only + - * / (always between two numbers or brackets) and brackets, and write the expression in <answer></answer>."
_NUMBERS = [
    {"prompt": "Reach 30 with 2, 4, 7, 10." + _NUM_HOW, "numbers": [2, 4, 7, 10], "target": 30},
    {"prompt": "Reach 24 with 3, 3, 8, 8." + _NUM_HOW, "numbers": [3, 3, 8, 8], "target": 24},
]

# ---------------------------------------------------------------------------
# 20. labyrinths
# ---------------------------------------------------------------------------


def labyrinth_reward(prompts, completions, grid, **kwargs):
    """Walks from S to G.

    <moves></moves> holds the letters U, D, L, R. A walk which leaves the grid, enters # or
    ends anywhere but on G gets 0.0. Valid walks get the length of the shortest walk divided
    by their own length, at least 0.5.
    """
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}

    def free(cells, r, c):
        return 0 <= r < len(cells) and 0 <= c < len(cells[r]) and cells[r][c] != "#"

    def find(cells, letter):
        return next((r, row.index(letter)) for r, row in enumerate(cells) if letter in row)

    def shortest(cells):
        start, goal = find(cells, "S"), find(cells, "G")
        distance, queue = {start: 0}, deque([start])
        while queue:
            r, c = queue.popleft()
            for dr, dc in step.values():
                if free(cells, r + dr, c + dc) and (r + dr, c + dc) not in distance:
                    distance[r + dr, c + dc] = distance[r, c] + 1
                    queue.append((r + dr, c + dc))
        return distance[goal]

    rewards = []
    for completion, cells in zip(completions, grid):
        moves = "".join((_tag(_text(completion), "moves") or "").replace(",", " ").split())
        r, c = find(cells, "S")
        ok = bool(moves) and len(moves) <= 1000
        for move in moves if ok else "":
            if move not in step:
                ok = False
                break
            r, c = r + step[move][0], c + step[move][1]
            if not free(cells, r, c):
                ok = False
                break
        ok = ok and (r, c) == find(cells, "G")
        rewards.append(max(0.5, shortest(cells) / len(moves)) if ok else 0.0)
    return rewards


_LAB_HOW = "Walk from S to G; # is a wall, do not leave the grid; short walks are worth more. <moves>letters U, D, L, R</moves>\n"
_LAB_A, _LAB_B = ["S.#.", "..#G", "...."], ["G#..", ".#.#", "...S"]
_LABS = [
    {"prompt": [{"role": "user", "content": _LAB_HOW + "\n".join(_LAB_A)}], "grid": _LAB_A},
    {"prompt": [{"role": "user", "content": _LAB_HOW + "\n".join(_LAB_B)}], "grid": _LAB_B},
]

CASES: list[Case] = [
    Case(
        "parallel_calls_f1", parallel_calls_f1_reward, _PARALLEL,
        good=[_weather(("Oslo", "2024-07-03"), ("Rome", "2024-07-03")), _weather(("Cairo", "2024-05-01"))],
        bad=[_weather(("Rome", "2024-03-07"), ("Oslo", "2024-03-07")), _weather(("Cairo", "2024-01-05"))],
    ),
    Case(
        "free_slot", free_slot_reward, _SLOTS,
        good=["<slot>10:45-12:00</slot>", "After the band.\n<slot>14:30-16:30</slot>"],
        bad=["<slot>9:30-10:45</slot>", "<slot>13:00-15:00</slot>"],
    ),
    Case(
        "job_plan", job_plan_reward, _PLANS,
        good=["<plan>\nwash: 0-30\ndry: 30-75\niron: 75-90\n</plan>", "<plan>\nprint: 0-20\nbind: 20-25\nscan: 25-35\n</plan>"],
        bad=["<plan>\nwash: 0-30\niron: 30-45\ndry: 45-90\n</plan>", "<plan>\nprint: 0-20\nbind: 20-25\n</plan>"],
    ),
    Case(
        "box_iou", box_iou_reward, _BOXES,
        good=["<box>[302, 41, 418, 160]</box>", "It is brown. <box>[50, 402, 448, 560]</box>"],
        bad=["<box>[500, 40, 620, 160]</box>", "<box>[0, 0, 800, 100]</box>"],
    ),
    Case(
        "detection_f1", detection_f1_reward, _DETECTIONS,
        good=["<boxes>[[119, 31, 181, 90], [10, 10, 50, 49]]</boxes>", "None.\n<boxes>[]</boxes>", "<boxes>[[0, 100, 42, 158]]</boxes>"],
        bad=["<boxes>[[60, 60, 100, 100]]</boxes>", "<boxes>[[5, 5, 30, 30]]</boxes>", "<boxes>[]</boxes>"],
    ),
    Case(
        "click_target", click_target_reward, _CLICKS,
        good=[_say("<click>70, 40</click>"), _say("<click>(30, 280)</click>")],
        bad=[_say("<click>170, 40</click>"), _say("<click>200, 150</click>")],
    ),
    Case(
        "search_replace", search_replace_reward, _SEARCH,
        good=[
            "The second test is wrong.\n" + _block("    if x < high:", "    if x > high:"),
            _block("def greet(name):", "def welcome(name):") + "\n" + _block("print(greet('Ann'))", "print(welcome('Ann'))"),
        ],
        bad=[_block("    if x < low:", "    if x > low:"), _block("def greet(name):", "def welcome(name):")],
    ),
    Case(
        "config_edit", config_edit_reward, _CONFIGS,
        good=[
            '<config>{"port": 8081, "debug": false, "hosts": ["a", "b"]}</config>',
            '<config>\n{"debug": false, "port": 80, "hosts": ["a", "b", "c"]}\n</config>',
        ],
        bad=['<config>{"port": 8081, "debug": false}</config>', '<config>{"port": 80, "debug": false, "hosts": ["c", "a", "b"]}</config>'],
    ),
    Case(
        "number_game", number_game_reward, _NUMBERS,
        good=["<answer>(7 - 2) * (10 - 4)</answer>", "<answer>8 / (3 - 8 / 3) = 24</answer>"],
        bad=["<answer>10 * 2 + 7 + 4</answer>", "<answer>8 + 8 + 3 + 3</answer>"],
    ),
    Case(
        "labyrinth", labyrinth_reward, _LABS,
        good=[_say("<moves>DDRRRU</moves>"), _say("<moves>L, L, L, U, U</moves>")],
        bad=[_say("<moves>RRRD</moves>"), _say("<moves>UULLL</moves>")],
    ),
]
