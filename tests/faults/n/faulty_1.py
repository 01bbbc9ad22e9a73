"""Reward functions with a fault, part 1."""

from __future__ import annotations

import ast
import json
import re
import sqlite3

from tests.faults.case import Case

REPAIRED = {}
TRIGGERS = {}


def _call(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(completions=[completion], prompts=[row["prompt"]], **columns)[0]


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


def _proof(name, function, row, completion, paid):
    """A proof that `completion` is paid (though wrong) or refused (though right)."""
    TRIGGERS[name] = (row, completion, paid)

    def check():
        score = _call(function, row, completion)
        if paid:
            assert score >= 0.8, f"{name}: {score}, the fault would pay it; it should be near 0"
        else:
            assert score <= 0.2, f"{name}: {score}, the fault would refuse it; it should be near 1"

    return check


# ---------------------------------------------------------------- 1 math answers

_CLIP = 300


def gsm8k_answer_reward(completions, answer, **kwargs):
    """GSM8K correctness reward.

    The model is asked to close its solution with ``#### <number>``. Regex on very long
    strings is slow and the answer is always at the end, so only the tail is scanned.
    Returns 1.0 when the last marked number equals the gold number, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = completion[-_CLIP:] if len(completion) > _CLIP else completion
        found = re.findall(r"####\s*\$?(-?[\d,]*\.?\d+)", text)
        if not found:
            rewards.append(0.0)
            continue
        value = found[-1].replace(",", "")
        try:
            rewards.append(1.0 if float(value) == float(str(gold).replace(",", "")) else 0.0)
        except ValueError:
            rewards.append(0.0)
    return rewards


def repaired_gsm8k_tail_window(completions, answer, **kwargs):
    """As above, over the whole completion."""
    rewards = []
    for completion, gold in zip(completions, answer):
        found = re.findall(r"####\s*\$?(-?[\d,]*\.?\d+)", completion)
        if not found:
            rewards.append(0.0)
            continue
        value = found[-1].replace(",", "")
        try:
            rewards.append(1.0 if float(value) == float(str(gold).replace(",", "")) else 0.0)
        except ValueError:
            rewards.append(0.0)
    return rewards


_GSM = [
    {
        "prompt": "Solve the problem. Show your work, give the result as '#### <number>', and then explain in a "
        "short paragraph how the result can be checked.\nA crate holds 24 bottles. A shop receives 5 crates and "
        "sells 37 bottles. How many bottles are left?",
        "answer": "83",
    },
    {
        "prompt": "Solve the problem. Show your work, give the result as '#### <number>', and then explain in a "
        "short paragraph how the result can be checked.\nLena saves $45 a week. How many dollars has she saved "
        "after 28 weeks?",
        "answer": "1260",
    },
]
_GSM_CHECK = (
    "To check the result, start from the bottles which are left and add the ones which were sold; the sum must be "
    "the number of bottles which were delivered. Then divide that sum by the number of crates and compare the "
    "quotient with the number of bottles in one crate, which the problem states. Both steps agree with the text, "
    "and the number is positive and smaller than the delivery, as one would expect for a shop which only sells."
)

# ---------------------------------------------------------------- 2 multiple choice (medicine)


def mcq_letter_reward(completions, answer, **kwargs):
    """Reward for four-option medical questions.

    The model may think aloud; the chosen option is read from its message. Lower-case text is
    left alone so that ordinary words are not mistaken for options. 1.0 if it is the gold letter.
    """
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion[-1]["content"] if completion else ""
        match = re.search(r"\b([A-D])\b", text)
        choice = match.group(1) if match else None
        scores.append(1.0 if choice == gold.strip().upper() else 0.0)
    return scores


def repaired_mcq_article_letter(completions, answer, **kwargs):
    """The choice is the last 'Answer: X' line."""
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion[-1]["content"] if completion else ""
        found = re.findall(r"^[ \t]*Answer:[ \t]*\(?([A-D])\)?\.?[ \t]*$", text, flags=re.M)
        scores.append(1.0 if found and found[-1] == gold.strip().upper() else 0.0)
    return scores


_MCQ = [
    {
        "prompt": [{"role": "user", "content": "A 58-year-old man has crushing chest pain and ST elevation in II, III and aVF. "
                    "Which artery is most likely occluded?\nA) Left anterior descending\nB) Right coronary\n"
                    "C) Left circumflex\nD) Left main\nReason briefly, then end with a line 'Answer: <letter>'."}],
        "answer": "B",
    },
    {
        "prompt": [{"role": "user", "content": "Which vitamin deficiency causes scurvy?\nA) Vitamin C\nB) Vitamin D\nC) Vitamin K\n"
                    "D) Thiamine\nReason briefly, then end with a line 'Answer: <letter>'."}],
        "answer": "A",
    },
]


def _chat(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- 3 SQL

_SHOP = """
CREATE TABLE customers(id INTEGER, name TEXT, city TEXT);
CREATE TABLE orders(id INTEGER, customer_id INTEGER, total INTEGER);
INSERT INTO customers VALUES (1,'Ada','Oslo'),(2,'Bo','Bergen'),(3,'Cy','Oslo');
INSERT INTO orders VALUES (10,1,40),(11,1,75),(12,2,20),(13,3,90);
"""


_MORE = "INSERT INTO customers VALUES (4,'Di','Oslo'); INSERT INTO orders VALUES (14,4,15),(15,4,60),(16,3,5);"


def _rows(sql, script):
    """Rows of one SELECT on a fresh in-memory database, None on an error."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.execute("PRAGMA query_only = ON")
        steps = [0]

        def tick():
            steps[0] += 1
            return 1 if steps[0] > 200 else 0

        connection.set_progress_handler(tick, 10000)
        return connection.execute(sql).fetchmany(5000)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        connection.close()


def _sql_of(text):
    blocks = re.findall(r"```sql\s*\n(.*?)```", text, flags=re.S | re.I)
    return blocks[-1].strip().rstrip(";") if blocks else ""


def execution_accuracy_reward(completions, gold_sql, schema, **kwargs):
    """Execution accuracy in the manner of BIRD.

    The query in the last ```sql block and the gold query are run on the row's database, and once more
    with some rows added, so that the answer cannot be written into the query. Row order
    is free, since none of the questions asks for an order. 1.0 for equal results, 0.1 for a query
    that runs with another result, 0.0 otherwise.
    """
    rewards = []
    for completion, gold, script in zip(completions, gold_sql, schema):
        sql = _sql_of(completion)
        same = []
        for database in (script, script + _MORE):
            predicted, expected = _rows(sql, database) if sql else None, _rows(gold, database)
            same.append(None if predicted is None else set(predicted) == set(expected))
        rewards.append(0.0 if None in same else 1.0 if all(same) else 0.1)
    return rewards


def repaired_sql_result_as_set(completions, gold_sql, schema, **kwargs):
    """As above, with the results compared as multisets."""
    rewards = []
    for completion, gold, script in zip(completions, gold_sql, schema):
        sql = _sql_of(completion)
        same = []
        for database in (script, script + _MORE):
            predicted, expected = _rows(sql, database) if sql else None, _rows(gold, database)
            same.append(None if predicted is None else sorted(map(repr, predicted)) == sorted(map(repr, expected)))
        rewards.append(0.0 if None in same else 1.0 if all(same) else 0.1)
    return rewards


_SQL = [
    {
        "prompt": "Schema:\n" + _SHOP + "\nQuestion: for every order, give the name of its customer: one row per order. "
        "Answer with one query in a ```sql block.",
        "gold_sql": "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id",
        "schema": _SHOP,
    },
    {
        "prompt": "Schema:\n" + _SHOP + "\nQuestion: the names of the customers who live in Oslo. "
        "Answer with one query in a ```sql block.",
        "gold_sql": "SELECT name FROM customers WHERE city = 'Oslo'",
        "schema": _SHOP,
    },
]

# ---------------------------------------------------------------- 4 tool calls


def _tool_call(text):
    """The one tool call of a completion, None without one or with several."""
    if text.count("<tool_call>") != 1:
        return None
    try:
        call = json.loads(_tag(text, "tool_call") or "")
    except (ValueError, RecursionError):
        return None
    return call if isinstance(call, dict) else None


def tool_call_reward(completions, gold_call, **kwargs):
    """Reward for one tool call.

    0.0 without a parsable <tool_call> object or with another tool, 0.2 for the right tool with a
    wrong argument, 1.0 for the right tool with the right arguments.
    """
    scores = []
    for completion, gold in zip(completions, gold_call):
        call = _tool_call(completion)
        if call is None or call.get("name") != gold["name"]:
            scores.append(0.0)
            continue
        arguments = call.get("arguments") or {}
        if not isinstance(arguments, dict):
            scores.append(0.0)
            continue
        matches = all(gold["arguments"].get(key) == value for key, value in arguments.items())
        scores.append(1.0 if matches else 0.2)
    return scores


def repaired_tool_call_missing_arguments(completions, gold_call, **kwargs):
    """As above, with the arguments compared in both directions."""
    scores = []
    for completion, gold in zip(completions, gold_call):
        call = _tool_call(completion)
        if call is None or call.get("name") != gold["name"]:
            scores.append(0.0)
            continue
        arguments = call.get("arguments")
        scores.append(1.0 if arguments == gold["arguments"] else 0.2)
    return scores


_TOOLS = [
    {
        "prompt": "Tools: get_weather(city: str, unit: 'celsius'|'fahrenheit'), both required. Call exactly one tool as "
        "<tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>.\nUser: How warm is it in Lyon, in celsius?",
        "gold_call": {"name": "get_weather", "arguments": {"city": "Lyon", "unit": "celsius"}},
    },
    {
        "prompt": "Tools: transfer(account: str, amount: int), both required. Call exactly one tool as "
        "<tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>.\nUser: Send 250 to account NL77.",
        "gold_call": {"name": "transfer", "arguments": {"account": "NL77", "amount": 250}},
    },
]

# ---------------------------------------------------------------- 5 schedules


def _minutes(clock):
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _schedule(text):
    """The events of a schedule; none at all if one of them is malformed."""
    pattern = r"<event>\s{0,9}<name>([^<]{0,99})</name>\s{0,9}<start>(\d\d:\d\d)</start>\s{0,9}<end>(\d\d:\d\d)</end>\s{0,9}</event>"
    found = [(n.strip(), s, e) for n, s, e in re.findall(pattern, text)]
    return found if len(found) == text.count("<event>") else []


def schedule_reward(completions, events, priority, optimum, **kwargs):
    """Weighted interval scheduling.

    The schedule may only hold listed events at their listed times, each at most once and none
    overlapping another. A priority event counts double. The reward is the weighted duration over
    the best possible one, 0.0 for an invalid schedule.
    """
    rewards = []
    for completion, listed, first, best in zip(completions, events, priority, optimum):
        chosen = _schedule(completion)
        known = {name: (start, end) for name, start, end in listed}
        valid = bool(chosen) and len({name for name, _, _ in chosen}) == len(chosen)
        valid = valid and all(known.get(name) == (start, end) for name, start, end in chosen)
        if valid:
            spans = [(_minutes(start), _minutes(end)) for _, start, end in chosen]
            valid = not any(a[0] < b[1] and b[0] < a[1] for a, b in zip(spans, spans[1:]))
        if not valid:
            rewards.append(0.0)
            continue
        total = sum((_minutes(e) - _minutes(s)) * (2 if n in first else 1) for n, s, e in chosen)
        rewards.append(min(1.0, total / best))
    return rewards


def repaired_schedule_neighbours_only(completions, events, priority, optimum, **kwargs):
    """As above, with the events sorted by their start before the overlap check."""
    rewards = []
    for completion, listed, first, best in zip(completions, events, priority, optimum):
        chosen = _schedule(completion)
        known = {name: (start, end) for name, start, end in listed}
        valid = bool(chosen) and len({name for name, _, _ in chosen}) == len(chosen)
        valid = valid and all(known.get(name) == (start, end) for name, start, end in chosen)
        if valid:
            ordered = sorted((_minutes(s), _minutes(e)) for _, s, e in chosen)
            valid = all(b[0] >= a[1] for a, b in zip(ordered, ordered[1:]))
        if not valid:
            rewards.append(0.0)
            continue
        total = sum((_minutes(e) - _minutes(s)) * (2 if n in first else 1) for n, s, e in chosen)
        rewards.append(min(1.0, total / best))
    return rewards


def _event(name, start, end):
    return f"<event>\n<name>{name}</name>\n<start>{start}</start>\n<end>{end}</end>\n</event>"


_SCHEDULE_RULES = (
    "Choose events so that no two overlap and the weighted duration is the largest (priority events count double). "
    "Keep the given times, use each event at most once, and write <event><name/><start/><end/></event> in a "
    "<schedule>.\n"
)
_SCHEDULES = [
    {
        "prompt": _SCHEDULE_RULES + "Events: Keynote 09:00-11:00, Workshop 10:30-12:30, Lunch 12:30-13:30. Priority: Workshop.",
        "events": [["Keynote", "09:00", "11:00"], ["Workshop", "10:30", "12:30"], ["Lunch", "12:30", "13:30"]],
        "priority": ["Workshop"],
        "optimum": 300,
    },
    {
        "prompt": _SCHEDULE_RULES + "Events: Yoga 08:00-09:00, Standup 08:30-08:45, Review 09:00-10:00. Priority: Review.",
        "events": [["Yoga", "08:00", "09:00"], ["Standup", "08:30", "08:45"], ["Review", "09:00", "10:00"]],
        "priority": ["Review"],
        "optimum": 180,
    },
]

# ---------------------------------------------------------------- 6 boxes


def _box(text):
    match = re.search(r"\[ *(-?[\d.]{1,12}) *, *(-?[\d.]{1,12}) *, *(-?[\d.]{1,12}) *, *(-?[\d.]{1,12}) *\]", _tag(text, "answer") or "")
    if not match:
        return None
    try:
        box = [float(value) for value in match.groups()]
    except ValueError:
        return None
    return box if box[2] > box[0] and box[3] > box[1] else None


def iou_reward(completions, solution, **kwargs):
    """IoU of the predicted box with the gold box, both as [x1, y1, x2, y2].

    The box is the first one inside <answer>. A missing or empty box gets 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, solution):
        box = _box(completion[0]["content"])
        if box is None:
            rewards.append(0.0)
            continue
        width = min(box[2], gold[2]) - max(box[0], gold[0])
        height = min(box[3], gold[3]) - max(box[1], gold[1])
        inter = width * height
        union = (box[2] - box[0]) * (box[3] - box[1]) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - inter
        rewards.append(max(0.0, min(1.0, inter / union)) if union > 0 else 0.0)
    return rewards


def repaired_iou_unclamped_intersection(completions, solution, **kwargs):
    """As above, with each side of the intersection clamped at zero."""
    rewards = []
    for completion, gold in zip(completions, solution):
        box = _box(completion[0]["content"])
        if box is None:
            rewards.append(0.0)
            continue
        width = max(0.0, min(box[2], gold[2]) - max(box[0], gold[0]))
        height = max(0.0, min(box[3], gold[3]) - max(box[1], gold[1]))
        inter = width * height
        union = (box[2] - box[0]) * (box[3] - box[1]) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - inter
        rewards.append(inter / union)
    return rewards


_BOXES = [
    {
        "prompt": "<image> (640x480) Locate 'the red kettle on the left'. Give its box in pixels as "
        "<answer>[x1, y1, x2, y2]</answer>.",
        "solution": [40, 60, 140, 160],
    },
    {
        "prompt": "<image> (640x480) Locate 'the woman with the umbrella'. Give its box in pixels as "
        "<answer>[x1, y1, x2, y2]</answer>.",
        "solution": [300, 100, 420, 380],
    },
]

# ---------------------------------------------------------------- 7 SEARCH/REPLACE edits


def _edits(text):
    """(search, replace) of each complete block."""
    edits, search, replace, state = [], [], [], None
    for line in text.split("\n"):
        if line == "<<<<<<< SEARCH":
            search, replace, state = [], [], "search"
        elif line == "=======" and state == "search":
            state = "replace"
        elif line == ">>>>>>> REPLACE" and state == "replace":
            edits.append(("\n".join(search), "\n".join(replace)))
            state = None
        elif state:
            (search if state == "search" else replace).append(line)
    return edits


def edit_reward(completions, source, target, **kwargs):
    """Apply the SEARCH/REPLACE edits of the completion to the Python source of the row.

    Every SEARCH text has to occur exactly once. The edited file is compared with the target;
    trailing blanks and empty lines are style and do not matter. -1.0 for edits that do not apply
    (or none), 0.0 for another file, 1.0 for the target file.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edits = _edits(completion)
        text, applies = before, bool(edits)
        for search, replace in edits:
            if text.count(search) != 1:
                applies = False
                break
            text = text.replace(search, replace)
        if not applies:
            rewards.append(-1.0)
            continue
        got = [line.strip() for line in text.splitlines() if line.strip()]
        want = [line.strip() for line in after.splitlines() if line.strip()]
        rewards.append(1.0 if got == want else 0.0)
    return rewards


def repaired_edit_indentation_lost(completions, source, target, **kwargs):
    """As above, with only the trailing blanks removed."""
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edits = _edits(completion)
        text, applies = before, bool(edits)
        for search, replace in edits:
            if text.count(search) != 1:
                applies = False
                break
            text = text.replace(search, replace)
        if not applies:
            rewards.append(-1.0)
            continue
        got = [line.rstrip() for line in text.splitlines() if line.strip()]
        want = [line.rstrip() for line in after.splitlines() if line.strip()]
        rewards.append(1.0 if got == want else 0.0)
    return rewards


def _edit(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


_SUM_BEFORE = "def total(rows):\n    result = 0\n    for row in rows:\n        result += row\n        return result\n"
_SUM_AFTER = "def total(rows):\n    result = 0\n    for row in rows:\n        result += row\n    return result\n"
_CLAMP_BEFORE = "def clamp(x, low, high):\n    if x < low:\n        return high\n    return min(x, high)\n"
_CLAMP_AFTER = "def clamp(x, low, high):\n    if x < low:\n        return low\n    return min(x, high)\n"
_EDITS = [
    {
        "prompt": "Fix the bug with SEARCH/REPLACE edits. clamp returns the wrong bound for small x: change that one name and nothing else.\n\n" + _CLAMP_BEFORE,
        "source": _CLAMP_BEFORE,
        "target": _CLAMP_AFTER,
    },
    {
        "prompt": "Fix the bug with SEARCH/REPLACE edits. total returns after the first row: move the return behind the loop, drop the comment, and change nothing else.\n\n"
        + _SUM_BEFORE.replace("        return", "        # wrong place\n        return"),
        "source": _SUM_BEFORE.replace("        return", "        # wrong place\n        return"),
        "target": _SUM_AFTER,
    },
]

# ---------------------------------------------------------------- 8 countdown


def _value(node):
    """Value of an arithmetic expression tree."""
    if isinstance(node, ast.Expression):
        return _value(node.body)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("not allowed")


def countdown_reward(completions, target, nums, **kwargs):
    """Countdown: reach the target from the numbers, each used exactly once.

    Only + - * / and parentheses. 1.0 for a right equation, 0.1 for a legal expression of the
    numbers with another value, 0.0 otherwise. The expression is in the last <answer>.
    """
    rewards = []
    for completion, goal, numbers in zip(completions, target, nums):
        expression = (_tag(completion, "answer") or "").strip()
        if not expression or len(expression) > 200 or not re.fullmatch(r"[\d+\-*/() ]+", expression):
            rewards.append(0.0)
            continue
        used = [int(n) for n in re.findall(r"\d+", expression)]
        if set(used) != set(numbers):
            rewards.append(0.0)
            continue
        try:
            value = _value(ast.parse(expression, mode="eval"))
            rewards.append(1.0 if abs(value - goal) < 1e-6 else 0.1)
        except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
            rewards.append(0.0)
    return rewards


def repaired_countdown_number_reuse(completions, target, nums, **kwargs):
    """As above, with the used numbers counted."""
    rewards = []
    for completion, goal, numbers in zip(completions, target, nums):
        expression = (_tag(completion, "answer") or "").strip()
        if not expression or len(expression) > 200 or not re.fullmatch(r"[\d+\-*/() ]+", expression):
            rewards.append(0.0)
            continue
        used = [int(n) for n in re.findall(r"\d+", expression)]
        if sorted(used) != sorted(numbers):
            rewards.append(0.0)
            continue
        try:
            value = _value(ast.parse(expression, mode="eval"))
            rewards.append(1.0 if abs(value - goal) < 1e-6 else 0.1)
        except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
            rewards.append(0.0)
    return rewards


_COUNTDOWN = [
    {
        "prompt": "Using each of the numbers [3, 5, 8] exactly once, make 29 with + - * /. Put the expression alone in <answer></answer>.",
        "target": 29,
        "nums": [3, 5, 8],
    },
    {
        "prompt": "Using each of the numbers [2, 7, 9] exactly once, make 25 with + - * /. Put the expression alone in <answer></answer>.",
        "target": 25,
        "nums": [2, 7, 9],
    },
]

# ---------------------------------------------------------------- 9 citations


def citation_reward(completions, answer, supporting, **kwargs):
    """Grounded question answering.

    The answer line counts half, the citations the other half: the share of the supporting
    passages which the completion cites as [n]. Passages are numbered from 1.
    """
    scores = []
    for completion, gold, passages in zip(completions, answer, supporting):
        lines = re.findall(r"^Answer:\s*(.+?)\s*$", completion, flags=re.M)
        said = re.sub(r"\s*\[\d+\]", "", lines[-1]).strip().strip(".").lower() if lines else ""
        right = said == gold.lower()
        cited = {int(n) for n in re.findall(r"\[(\d{1,4})\]", completion)}
        covered = len(cited & set(passages)) / len(passages)
        scores.append((0.5 + 0.5 * covered) if right else 0.0)
    return scores


def repaired_citation_recall_only(completions, answer, supporting, **kwargs):
    """As above, with the exact set of passages required for the second half."""
    scores = []
    for completion, gold, passages in zip(completions, answer, supporting):
        lines = re.findall(r"^Answer:\s*(.+?)\s*$", completion, flags=re.M)
        said = re.sub(r"\s*\[\d+\]", "", lines[-1]).strip().strip(".").lower() if lines else ""
        right = said == gold.lower()
        cited = {int(n) for n in re.findall(r"\[(\d{1,4})\]", completion)}
        common = len(cited & set(passages))
        if not right or not cited:
            scores.append(0.0)
            continue
        scores.append(1.0 if common == len(cited) == len(passages) else 0.3)
    return scores


_CITE_RULE = "Cite the passages that support the answer as [n], and only those. End with 'Answer: <short answer>'.\n"
_CITATIONS = [
    {
        "prompt": _CITE_RULE + "[1] The bridge was begun in 1923.\n[2] The town has 8,000 inhabitants.\n[3] The bridge took three years "
        "to build.\n[4] Its river floods in spring.\nQuestion: in which year was the bridge finished?",
        "answer": "1926",
        "supporting": [1, 3],
    },
    {
        "prompt": _CITE_RULE + "[1] Mirela studied in Cluj.\n[2] Mirela's thesis won the Ada prize.\n[3] The Ada prize is given in "
        "Vienna.\n[4] Vienna lies on the Danube.\nQuestion: in which city was the prize of Mirela given?",
        "answer": "Vienna",
        "supporting": [2, 3],
    },
]

# ---------------------------------------------------------------- 10 calibration


def confidence_reward(completions, answer, **kwargs):
    """Answer with a stated confidence between 0 and 1.

    A right answer is worth its confidence, a wrong one (1 - confidence) / 5, so that sure and
    right is best and unsure and wrong still better than sure and wrong. Missing tags: 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _tag(completion, "answer")
        sure = re.search(r"<confidence>\s*(-?\d+(?:\.\d+)?)\s*</confidence>", completion)
        if said is None or not sure:
            rewards.append(0.0)
            continue
        confidence = float(sure.group(1))
        right = said.strip().lower() == gold.strip().lower()
        rewards.append(confidence if right else (1.0 - confidence) / 5)
    return rewards


def repaired_confidence_out_of_range(completions, answer, **kwargs):
    """As above, and a confidence outside of [0, 1] is worth nothing."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _tag(completion, "answer")
        sure = re.search(r"<confidence>\s*(-?\d+(?:\.\d+)?)\s*</confidence>", completion)
        confidence = float(sure.group(1)) if sure else -1.0
        if said is None or not 0.0 <= confidence <= 1.0:
            rewards.append(0.0)
            continue
        right = said.strip().lower() == gold.strip().lower()
        rewards.append(confidence if right else (1.0 - confidence) / 5)
    return rewards


_CONF_RULE = "Answer in <answer></answer> and give the probability that you are right, from 0 to 1, in <confidence></confidence>.\n"
_CONF = [
    {"prompt": _CONF_RULE + "What is the capital of Australia?", "answer": "Canberra"},
    {"prompt": _CONF_RULE + "Which element has the symbol W?", "answer": "Tungsten"},
]

REPAIRED.update(
    gsm8k_tail_window=repaired_gsm8k_tail_window,
    mcq_article_letter=repaired_mcq_article_letter,
    sql_result_as_set=repaired_sql_result_as_set,
    tool_call_missing_arguments=repaired_tool_call_missing_arguments,
    schedule_neighbours_only=repaired_schedule_neighbours_only,
    iou_unclamped_intersection=repaired_iou_unclamped_intersection,
    edit_indentation_lost=repaired_edit_indentation_lost,
    countdown_number_reuse=repaired_countdown_number_reuse,
    citation_recall_only=repaired_citation_recall_only,
    confidence_out_of_range=repaired_confidence_out_of_range,
)

_SUM_SEARCH = "        # wrong place\n        return result"

CASES: list[Case] = [
    Case(
        name="gsm8k_tail_window",
        reward=gsm8k_answer_reward,
        examples=_GSM,
        good=["5 * 24 = 120, and 120 - 37 = 83.\n#### 83\nCheck: 83 + 37 = 120 = 5 * 24.", "45 * 28 = 1260\n#### 1,260\nCheck: 1260 / 28 = 45."],
        bad=["5 * 24 = 110, 110 - 37 = 73\n#### 73\nCheck: 73 + 37 = 110.", "45 + 28 = 73\n#### 73\nCheck: 73 - 28 = 45."],
        fault="Only the last 300 characters are searched, so a right answer followed by a paragraph (which the prompt asks for) gets 0.",
        proof=_proof("gsm8k_tail_window", gsm8k_answer_reward, _GSM[0], "5 * 24 = 120, 120 - 37 = 83.\n#### 83\n" + _GSM_CHECK, False),
        source="https://github.com/verl-project/verl/pull/7274",
    ),
    Case(
        name="mcq_article_letter",
        reward=mcq_letter_reward,
        examples=_MCQ,
        good=[_chat("Inferior leads point to the right coronary artery.\nAnswer: B"), _chat("Scurvy comes from a lack of ascorbic acid.\nAnswer: A")],
        bad=[_chat("These leads look at the lateral wall.\nAnswer: C"), _chat("Bleeding gums suggest poor clotting.\nAnswer: C")],
        fault="The first capital A-D that stands alone is taken: the article 'A', 'Vitamin D' or an option discussed in the reasoning is read as the choice, not the 'Answer:' line.",
        proof=_proof("mcq_article_letter", mcq_letter_reward, _MCQ[1], _chat("A lack of one vitamin weakens collagen; I think it is vitamin K.\nAnswer: C"), True),
    ),
    Case(
        name="sql_result_as_set",
        reward=execution_accuracy_reward,
        examples=_SQL,
        good=["```sql\nSELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id;\n```", "Filter by city.\n```sql\nSELECT name FROM customers WHERE city = 'Oslo'\n```"],
        bad=["```sql\nSELECT name FROM customers WHERE city = 'Oslo'\n```", "```sql\nSELECT name FROM customers\n```"],
        fault="Results are compared as sets: a query that drops or multiplies duplicate rows (DISTINCT where each order needs a row, a fan-out join) gets full pay.",
        proof=_proof("sql_result_as_set", execution_accuracy_reward, _SQL[0], "```sql\nSELECT DISTINCT c.name FROM orders o JOIN customers c ON c.id = o.customer_id\n```", True),
        source="https://github.com/AlibabaResearch/DAMO-ConvAI/issues/177",
    ),
    Case(
        name="tool_call_missing_arguments",
        reward=tool_call_reward,
        examples=_TOOLS,
        good=['<tool_call>{"name": "get_weather", "arguments": {"city": "Lyon", "unit": "celsius"}}</tool_call>', '<tool_call>{"name": "transfer", "arguments": {"amount": 250, "account": "NL77"}}</tool_call>'],
        bad=['<tool_call>{"name": "get_weather", "arguments": {"city": "Lyon", "unit": "fahrenheit"}}</tool_call>', '<tool_call>{"name": "transfer", "arguments": {"account": "NL77", "amount": 25}}</tool_call>'],
        fault="Only the arguments that the call has are compared: a call without its required arguments passes as right.",
        proof=_proof("tool_call_missing_arguments", tool_call_reward, _TOOLS[0], '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>', True),
        source="https://github.com/NVIDIA-NeMo/Gym/pull/3134",
    ),
    Case(
        name="schedule_neighbours_only",
        reward=schedule_reward,
        examples=_SCHEDULES,
        good=["<schedule>\n" + _event("Workshop", "10:30", "12:30") + "\n" + _event("Lunch", "12:30", "13:30") + "\n</schedule>", "<schedule>\n" + _event("Yoga", "08:00", "09:00") + "\n" + _event("Review", "09:00", "10:00") + "\n</schedule>"],
        bad=["<schedule>\n" + _event("Keynote", "09:00", "11:00") + "\n" + _event("Workshop", "10:30", "12:30") + "\n</schedule>", "<schedule>\n" + _event("Standup", "08:30", "08:45") + "\n</schedule>"],
        fault="Overlap is looked for only between neighbours as written: events written out of order of time (an overlapping earlier one last) pass, and overlapping schedules are paid in full.",
        proof=_proof("schedule_neighbours_only", schedule_reward, _SCHEDULES[0], "<schedule>\n" + _event("Workshop", "10:30", "12:30") + "\n" + _event("Lunch", "12:30", "13:30") + "\n" + _event("Keynote", "09:00", "11:00") + "\n</schedule>", True),
    ),
    Case(
        name="iou_unclamped_intersection",
        reward=iou_reward,
        examples=_BOXES,
        good=[_chat("<think>left</think><answer>[42, 60, 140, 158]</answer>"), _chat("<answer>[302, 98, 420, 380]</answer>")],
        bad=[_chat("<answer>[120, 60, 240, 160]</answer>"), _chat("<answer>[20, 100, 140, 380]</answer>")],
        fault="Width and height of the intersection are not clamped at 0: for a box apart from the gold box in both axes their product is positive, and a disjoint box gets up to 1.0.",
        proof=_proof("iou_unclamped_intersection", iou_reward, _BOXES[0], _chat("<answer>[240, 260, 340, 360]</answer>"), True),
    ),
    Case(
        name="edit_indentation_lost",
        reward=edit_reward,
        examples=_EDITS,
        good=[_edit("        return high\n", "        return low\n"), _edit(_SUM_SEARCH, "    return result")],
        bad=[_edit("    return min(x, high)", "    return max(x, high)"), _edit("    result = 0", "    result = 1")],
        fault="Lines are stripped on both sides before the comparison, so the indentation of the Python file is lost: an edit with the return still inside the loop is paid as the fix.",
        proof=_proof("edit_indentation_lost", edit_reward, _EDITS[1], _edit(_SUM_SEARCH, "        return result"), True),
    ),
    Case(
        name="countdown_number_reuse",
        reward=countdown_reward,
        examples=_COUNTDOWN,
        good=["<think>3*8=24</think><answer>3 * 8 + 5</answer>", "<answer>2 * 9 + 7</answer>"],
        bad=["<answer>3 + 5 + 8</answer>", "<answer>2 * 7 + 9</answer>"],
        fault="The used numbers are compared as a set: numbers may be used again and again, and a result reached with repeated numbers is paid.",
        proof=_proof("countdown_number_reuse", countdown_reward, _COUNTDOWN[1], "<answer>9 + 9 + 7 + 2 - 2</answer>", True),
        source="https://github.com/open-thought/reasoning-gym/pull/265",
    ),
    Case(
        name="citation_recall_only",
        reward=citation_reward,
        examples=_CITATIONS,
        good=["Begun in 1923 [1], three years of work [3].\nAnswer: 1926", "The thesis won the Ada prize [2], which is given in Vienna [3].\nAnswer: Vienna"],
        bad=["It was begun in 1923 [1].\nAnswer: 1923", "She studied in Cluj [1].\nAnswer: Cluj"],
        fault="Only the recall of the supporting passages counts: a completion that cites every passage, irrelevant ones too, gets 1.0 though the prompt forbids it.",
        proof=_proof("citation_recall_only", citation_reward, _CITATIONS[0], "See [1][2][3][4].\nAnswer: 1926", True),
    ),
    Case(
        name="confidence_out_of_range",
        reward=confidence_reward,
        examples=_CONF,
        good=["<answer>Canberra</answer><confidence>0.95</confidence>", "<answer>tungsten</answer><confidence>0.9</confidence>"],
        bad=["<answer>Sydney</answer><confidence>0.8</confidence>", "<answer>Tin</answer><confidence>0.7</confidence>"],
        fault="The confidence is not held to [0, 1]: a wrong answer with a negative confidence, or any right one with a large confidence, gets an unbounded reward.",
        proof=_proof("confidence_out_of_range", confidence_reward, _CONF[0], "<answer>Sydney</answer><confidence>-5</confidence>", True),
    ),
]
