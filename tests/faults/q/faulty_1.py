"""Ten faulty reward functions: SQL, JSON, wordle, countdown, units, calendar, maze, DNA, commits, edits."""

import ast
import json
import re
import sqlite3
from collections import Counter
from difflib import SequenceMatcher
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, plain or chat."""
    if not isinstance(completion, str):
        completion = (completion[-1].get("content") or "") if completion else ""
    return completion.replace("\r\n", "\n")


def _answer(text):
    """What stands in the only <answer> block, which must end the reply."""
    m = re.fullmatch(r".*<answer>(.*)</answer>\s*", text, re.S)
    if not m or text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return None
    return m.group(1).strip()


def _fence(text, lang):
    """The content of the only code block of the reply."""
    blocks = re.findall(rf"^```{lang}[ \t]*\n(.*?)^```[ \t]*$", text, re.S | re.M)
    return blocks[0] if len(blocks) == 1 and text.count("```") == 2 else None


def _score(reward, row, completion):
    columns = {k: [v] for k, v in row.items() if k != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(reward, row, completion, paid):
    def proof():
        assert (_score(reward, row, completion) >= 0.8) is paid

    return proof


# ---------------------------------------------------------------- text-to-SQL


def _query(setup, sql, limit=500):
    """The rows of a read-only query on a fresh database, or None."""
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, 33}
    conn = sqlite3.connect(":memory:")
    steps = [0]

    def tick():
        steps[0] += 1
        return int(steps[0] > 200)

    try:
        conn.executescript(setup)
        conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
        conn.set_authorizer(lambda action, *a: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY)
        conn.set_progress_handler(tick, 1000)
        return conn.execute(sql).fetchmany(limit)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        conn.close()


def sql_execution_reward(completions, databases, gold_sql, **kwargs):
    """Execution reward for text-to-SQL.

    1.0 if the query of the ```sql block gives the result of the gold query on each
    test database, 0.1 if it only runs, 0.0 otherwise. All our questions ask for an
    order ("highest first"), so the result is a list, not a bag.
    """
    rewards = []
    for completion, dbs, gold in zip(completions, databases, gold_sql):
        sql = _fence(_text(completion), "sql")
        if sql is None:
            rewards.append(0.0)
            continue
        results = [_query(db, sql) for db in dbs]
        if any(r is None for r in results):
            rewards.append(0.0)
            continue
        expected = [_query(db, gold) for db in dbs]
        same = all(
            sorted(map(repr, got)) == sorted(map(repr, want)) for got, want in zip(results, expected)
        )
        rewards.append(1.0 if same else 0.1)
    return rewards


def sql_execution_reward_repaired(completions, databases, gold_sql, **kwargs):
    """Execution reward for text-to-SQL.

    1.0 if the query of the ```sql block gives the result of the gold query on each
    test database, 0.1 if it only runs, 0.0 otherwise. All our questions ask for an
    order ("highest first"), so the result is a list, not a bag.
    """
    rewards = []
    for completion, dbs, gold in zip(completions, databases, gold_sql):
        sql = _fence(_text(completion), "sql")
        if sql is None:
            rewards.append(0.0)
            continue
        results = [_query(db, sql) for db in dbs]
        if any(r is None for r in results):
            rewards.append(0.0)
            continue
        expected = [_query(db, gold) for db in dbs]
        same = all(got == want for got, want in zip(results, expected))
        rewards.append(1.0 if same else 0.1)
    return rewards


_STAFF = "CREATE TABLE staff(id INTEGER PRIMARY KEY, name TEXT, dept TEXT, salary INTEGER);"
_STAFF_DBS = [
    _STAFF + "INSERT INTO staff VALUES (1,'Ivo','R&D',52000),(2,'Mara','Sales',61000),(3,'Lena','R&D',75000),"
    "(4,'Odd','R&D',48000),(5,'Kim','Sales',40000),(6,'Rex','Retail',50000);",
    _STAFF + "INSERT INTO staff VALUES (1,'Pia','Legal',91000),(2,'Uwe','R&D',30500),(3,'Noor','R&D',30600),(4,'Zoe','R&D Lab',20000);",
]
_ORDERS = "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, day TEXT, total INTEGER);"
_ORDER_DBS = [
    _ORDERS + "INSERT INTO orders VALUES (1,'acme','2024-01-03',20),(2,'bolt','2024-01-04',75),(3,'acme','2024-02-01',30),"
    "(4,'crux','2024-02-02',300),(5,'bolt','2023-12-30',900),(6,'crux','2025-01-02',11),(7,'crux','2024-01-01',1);",
    _ORDERS + "INSERT INTO orders VALUES (1,'fox','2024-05-01',60),(2,'eon','2024-05-02',7),(3,'fox','2024-05-03',60),"
    "(4,'dyn','2024-06-01',500),(5,'fox','2024-07-01',60),(6,'gil','2024-12-31',100);",
]
SQL_ROWS = [
    {
        "prompt": "Schema: staff(id, name, dept, salary). Question: give name and salary of everyone in the department "
        "'R&D', highest salary first (no two salaries are equal). Reply with one SQLite query in a ```sql block.",
        "databases": _STAFF_DBS,
        "gold_sql": "SELECT name, salary FROM staff WHERE dept = 'R&D' ORDER BY salary DESC",
    },
    {
        "prompt": "Schema: orders(id, customer, day, total); day is text YYYY-MM-DD. Question: for the year 2024, list each "
        "customer with the sum of its totals, smallest sum first (no two sums are equal). Reply with one SQLite query in a ```sql block.",
        "databases": _ORDER_DBS,
        "gold_sql": "SELECT customer, SUM(total) FROM orders WHERE day LIKE '2024-%' GROUP BY customer ORDER BY SUM(total)",
    },
]
SQL_GOOD = [
    "```sql\nSELECT name, salary\nFROM staff\nWHERE dept = 'R&D'\nORDER BY salary DESC;\n```",
    "Sum per customer, then sort.\n```sql\nSELECT customer, SUM(total) AS s FROM orders\nWHERE day BETWEEN '2024-01-01' AND '2024-12-31'\nGROUP BY customer ORDER BY s ASC\n```",
]
SQL_BAD = [
    "```sql\nSELECT name, salary FROM staff ORDER BY salary DESC;\n```",
    "```sql\nSELECT customer, SUM(total) FROM orders GROUP BY customer ORDER BY 2\n```",
]
SQL_TRIGGER = (SQL_ROWS[0], "```sql\nSELECT name, salary FROM staff WHERE dept = 'R&D' ORDER BY salary ASC;\n```", True)


# ---------------------------------------------------------------- JSON extraction


def _no_twice(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise ValueError("key twice")
    return dict(pairs)


def _same(a, b):
    """Equality of JSON scalars in which true is not 1."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def invoice_json_reward(completions, vendor, date, total, items, **kwargs):
    """Score the JSON extracted from an invoice.

    The reply is a JSON object with vendor, date, total and items (list of objects with
    description and quantity, all lines of the invoice in their order).
    0.4 for the right vendor, date and total, 0.6 for the right items.
    """
    rewards = []
    for i, completion in enumerate(completions):
        text = _text(completion).strip()
        fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.S)
        try:
            data = json.loads(fenced.group(1) if fenced else text, object_pairs_hook=_no_twice)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != {"vendor", "date", "total", "items"}:
            rewards.append(0.0)
            continue
        score = 0.0
        if data["vendor"] == vendor[i] and data["date"] == date[i] and _same(data["total"], total[i]):
            score += 0.4
        listed = data["items"]
        if isinstance(listed, list) and all(isinstance(x, dict) for x in listed):
            if all(
                set(got) == set(want) and all(_same(got[k], want[k]) for k in want)
                for got, want in zip(listed, items[i])
            ):
                score += 0.6
        rewards.append(score)
    return rewards


def invoice_json_reward_repaired(completions, vendor, date, total, items, **kwargs):
    """Score the JSON extracted from an invoice.

    The reply is a JSON object with vendor, date, total and items (list of objects with
    description and quantity, all lines of the invoice in their order).
    0.4 for the right vendor, date and total, 0.6 for the right items.
    """
    rewards = []
    for i, completion in enumerate(completions):
        text = _text(completion).strip()
        fenced = re.fullmatch(r"```(?:json)?\s*(.*?)\s*```", text, re.S)
        try:
            data = json.loads(fenced.group(1) if fenced else text, object_pairs_hook=_no_twice)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != {"vendor", "date", "total", "items"}:
            rewards.append(0.0)
            continue
        score = 0.0
        if data["vendor"] == vendor[i] and data["date"] == date[i] and _same(data["total"], total[i]):
            score += 0.4
        listed = data["items"]
        if isinstance(listed, list) and all(isinstance(x, dict) for x in listed):
            if len(listed) == len(items[i]) and all(
                set(got) == set(want) and all(_same(got[k], want[k]) for k in want)
                for got, want in zip(listed, items[i])
            ):
                score += 0.6
        rewards.append(score)
    return rewards


_INVOICE_TASK = (
    "Extract the invoice as a JSON object with the keys vendor (string), date (YYYY-MM-DD), total (number) and items "
    "(list of {\"description\", \"quantity\"}, every line of the invoice in its order). Reply with the JSON only.\n\n"
)
INVOICE_ROWS = [
    {
        "prompt": _INVOICE_TASK + "Nordlicht GmbH, 3 May 2024\n4 x desk lamp\n12 x bulb E27\nTotal: 214.80",
        "vendor": "Nordlicht GmbH",
        "date": "2024-05-03",
        "total": 214.8,
        "items": [{"description": "desk lamp", "quantity": 4}, {"description": "bulb E27", "quantity": 12}],
    },
    {
        "prompt": _INVOICE_TASK + "Paper & Co, 17 November 2023\n5 x A4 ream\n1 x stapler\n2 x toner black\nTotal: 163",
        "vendor": "Paper & Co",
        "date": "2023-11-17",
        "total": 163,
        "items": [
            {"description": "A4 ream", "quantity": 5},
            {"description": "stapler", "quantity": 1},
            {"description": "toner black", "quantity": 2},
        ],
    },
]
INVOICE_GOOD = [json.dumps({k: r[k] for k in ("vendor", "date", "total", "items")}) for r in INVOICE_ROWS]
INVOICE_BAD = [
    INVOICE_GOOD[0].replace('"quantity": 4', '"quantity": 12'),
    INVOICE_GOOD[1].replace('"stapler"', '"staples"').replace("163", "136"),
]
INVOICE_TRIGGER = (
    INVOICE_ROWS[1],
    '{"vendor": "Paper & Co", "date": "2023-11-17", "total": 163, "items": []}',
    True,
)


# ---------------------------------------------------------------- wordle


def wordle_consistent_reward(prompts, completions, words, history, **kwargs):
    """1.0 if the guess is in the word list and could be the secret after all feedback, else 0.0.

    history: list of [guess, marks] with marks g (right place), y (in the word, another
    place), b (not in the word). The past guesses have five different letters.
    """
    rewards = []
    for completion, allowed, past in zip(completions, words, history):
        found = re.findall(r"<guess>(.*?)</guess>", _text(completion), re.S)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        word = found[0].strip().lower()
        if word not in allowed:
            rewards.append(0.0)
            continue
        fits = True
        for guess, marks in past:
            for i, (letter, mark) in enumerate(zip(guess, marks)):
                if mark == "g" and word[i] != letter:
                    fits = False
                elif mark == "y" and letter not in word:
                    fits = False
                elif mark == "b" and letter in word:
                    fits = False
        rewards.append(1.0 if fits else 0.0)
    return rewards


def wordle_consistent_reward_repaired(prompts, completions, words, history, **kwargs):
    """1.0 if the guess is in the word list and could be the secret after all feedback, else 0.0.

    history: list of [guess, marks] with marks g (right place), y (in the word, another
    place), b (not in the word). The past guesses have five different letters.
    """
    rewards = []
    for completion, allowed, past in zip(completions, words, history):
        found = re.findall(r"<guess>(.*?)</guess>", _text(completion), re.S)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        word = found[0].strip().lower()
        if word not in allowed:
            rewards.append(0.0)
            continue
        fits = True
        for guess, marks in past:
            for i, (letter, mark) in enumerate(zip(guess, marks)):
                if mark == "g" and word[i] != letter:
                    fits = False
                elif mark == "y" and (letter not in word or word[i] == letter):
                    fits = False
                elif mark == "b" and letter in word:
                    fits = False
        rewards.append(1.0 if fits else 0.0)
    return rewards


_WORDS = ["crown", "march", "brand", "couch", "thumb", "thief", "light", "cable", "north", "slice", "notch", "width"]
_WORDLE_TASK = (
    "We play Wordle with the words: " + ", ".join(_WORDS) + ". Marks: g = letter in the right place, y = letter in the "
    "word but in another place, b = letter not in the word. Reply with a word that can still be the secret, as <guess>word</guess>.\n"
)
WORDLE_ROWS = [
    {"prompt": _WORDLE_TASK + "slice -> bbbyb", "words": _WORDS, "history": [["slice", "bbbyb"]]},
    {
        "prompt": _WORDLE_TASK + "north -> bbbyy\nthief -> ggbbb",
        "words": _WORDS,
        "history": [["north", "bbbyy"], ["thief", "ggbbb"]],
    },
]
WORDLE_GOOD = ["c is in it, but not fourth. <guess>crown</guess>", "<guess>thumb</guess>"]
WORDLE_BAD = ["<guess>brand</guess>", "<guess>light</guess>"]
WORDLE_TRIGGER = (WORDLE_ROWS[0], "There is a c. <guess>march</guess>", True)


# ---------------------------------------------------------------- countdown


def _value(node, used):
    if isinstance(node, ast.Expression):
        return _value(node.body, used)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, used), _value(node.right, used)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("not allowed")


def countdown_reward(completions, numbers, target, **kwargs):
    """1.0 if the expression reaches the target with numbers of the list, each at most once."""
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        expression = _answer(_text(completion))
        if not expression or len(expression) > 150 or not re.fullmatch(r"[0-9+\-*/() ]+", expression):
            rewards.append(0.0)
            continue
        used = []
        try:
            result = _value(ast.parse(expression, mode="eval"), used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        if sorted(used) != sorted(given):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if result == goal else 0.0)
    return rewards


def countdown_reward_repaired(completions, numbers, target, **kwargs):
    """1.0 if the expression reaches the target with numbers of the list, each at most once."""
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        expression = _answer(_text(completion))
        if not expression or len(expression) > 150 or not re.fullmatch(r"[0-9+\-*/() ]+", expression):
            rewards.append(0.0)
            continue
        used = []
        try:
            result = _value(ast.parse(expression, mode="eval"), used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        if Counter(used) - Counter(given):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if result == goal else 0.0)
    return rewards


_COUNTDOWN_TASK = (
    "Reach {} with the numbers {} and + - * / and parentheses. Each number may be used at most once; you need not use "
    "all. End your reply with the expression alone (no equals sign) in a single <answer></answer> block."
)
COUNTDOWN_ROWS = [
    {"prompt": _COUNTDOWN_TASK.format(24, [3, 4, 6, 6]), "numbers": [3, 4, 6, 6], "target": 24},
    {"prompt": _COUNTDOWN_TASK.format(75, [2, 5, 10, 25, 100]), "numbers": [2, 5, 10, 25, 100], "target": 75},
]
COUNTDOWN_GOOD = [
    "3 * 4 = 12 and twice 6 is 12. <answer>3 * 4 + 6 + 6</answer>",
    "<answer>(100 - 25) / (10 / (5 * 2))</answer>",
]
COUNTDOWN_BAD = ["<answer>3 + 4 + 6 + 6</answer>", "<answer>100 + 25 - 10 - 5</answer>"]
COUNTDOWN_TRIGGER = (COUNTDOWN_ROWS[1], "Taking 25 away from 100 is enough. <answer>100 - 25</answer>", False)


# ---------------------------------------------------------------- unit conversion


def unit_conversion_reward(completions, value, unit, **kwargs):
    """Score a conversion: 1.0 for the right number with the right unit symbol,
    0.2 for the right number with another unit, 0.0 otherwise.
    """
    rewards = []
    for completion, want, symbol in zip(completions, value, unit):
        answer = _answer(_text(completion)) or ""
        m = re.fullmatch(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-zµΩ/²³]+)", answer)
        if not m:
            rewards.append(0.0)
            continue
        number, got_unit = float(m.group(1)), m.group(2)
        if abs(number - want) > 1e-6 * abs(want):
            rewards.append(0.0)
        elif got_unit.lower() == symbol.lower():
            rewards.append(1.0)
        else:
            rewards.append(0.2)
    return rewards


def unit_conversion_reward_repaired(completions, value, unit, **kwargs):
    """Score a conversion: 1.0 for the right number with the right unit symbol,
    0.2 for the right number with another unit, 0.0 otherwise.
    """
    rewards = []
    for completion, want, symbol in zip(completions, value, unit):
        answer = _answer(_text(completion)) or ""
        m = re.fullmatch(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-zµΩ/²³]+)", answer)
        if not m:
            rewards.append(0.0)
            continue
        number, got_unit = float(m.group(1)), m.group(2)
        if abs(number - want) > 1e-6 * abs(want):
            rewards.append(0.0)
        elif got_unit == symbol:
            rewards.append(1.0)
        else:
            rewards.append(0.2)
    return rewards


_UNIT_TASK = (
    "{} Use the SI symbol of the unit; upper and lower case count (mW is not MW). End with number and symbol in a single "
    "<answer></answer> block, no thousands separators, for example <answer>12.5 km</answer>."
)
UNIT_ROWS = [
    {"prompt": _UNIT_TASK.format("Convert 2500 kW to megawatts."), "value": 2.5, "unit": "MW"},
    {"prompt": _UNIT_TASK.format("Convert 0.004 g to milligrams."), "value": 4.0, "unit": "mg"},
    {"prompt": _UNIT_TASK.format("Convert 3.2 km to metres."), "value": 3200.0, "unit": "m"},
]
UNIT_GOOD = ["1 MW = 1000 kW. <answer>2.5 MW</answer>", "<answer>4 mg</answer>", "<answer>3200 m</answer>"]
UNIT_BAD = ["<answer>2500000 MW</answer>", "<answer>0.4 mg</answer>", "<answer>320 m</answer>"]
UNIT_TRIGGER = (UNIT_ROWS[0], "1 MW = 1000 kW. <answer>2.5 mW</answer>", True)


# ---------------------------------------------------------------- calendar


def _minutes(hhmm):
    hours, minutes = hhmm.split(":")
    return int(hours) * 60 + int(minutes)


def free_slot_reward(completions, busy, duration, opening, closing, **kwargs):
    """1.0 if the proposed meeting has the asked length, lies in the working hours and
    nobody has an appointment during it; 0.1 for a slot in the right form; else 0.0.
    """
    rewards = []
    for completion, taken, length, first, last in zip(completions, busy, duration, opening, closing):
        answer = _answer(_text(completion)) or ""
        m = re.fullmatch(r"((?:[01]\d|2[0-3]):[0-5]\d)\s*-\s*((?:[01]\d|2[0-3]):[0-5]\d)", answer, re.A)
        if not m:
            rewards.append(0.0)
            continue
        start, end = _minutes(m.group(1)), _minutes(m.group(2))
        ok = end - start == length and _minutes(first) <= start and end <= _minutes(last)
        for begin, finish in taken:
            if _minutes(begin) <= start < _minutes(finish):
                ok = False
        rewards.append(1.0 if ok else 0.1)
    return rewards


def free_slot_reward_repaired(completions, busy, duration, opening, closing, **kwargs):
    """1.0 if the proposed meeting has the asked length, lies in the working hours and
    nobody has an appointment during it; 0.1 for a slot in the right form; else 0.0.
    """
    rewards = []
    for completion, taken, length, first, last in zip(completions, busy, duration, opening, closing):
        answer = _answer(_text(completion)) or ""
        m = re.fullmatch(r"((?:[01]\d|2[0-3]):[0-5]\d)\s*-\s*((?:[01]\d|2[0-3]):[0-5]\d)", answer, re.A)
        if not m:
            rewards.append(0.0)
            continue
        start, end = _minutes(m.group(1)), _minutes(m.group(2))
        ok = end - start == length and _minutes(first) <= start and end <= _minutes(last)
        for begin, finish in taken:
            if start < _minutes(finish) and _minutes(begin) < end:
                ok = False
        rewards.append(1.0 if ok else 0.1)
    return rewards


_SLOT_TASK = (
    "Find a slot of {} minutes between {} and {} in which everybody is free. Appointments: {}. Any such slot is fine "
    "(it may touch appointments). End with one slot, once, as <answer>HH:MM-HH:MM</answer>."
)
SLOT_ROWS = [
    {
        "prompt": _SLOT_TASK.format(60, "09:00", "17:00", "Ana 09:00-10:00 and 13:00-14:00, Ben 10:30-11:30 and 15:00-17:00"),
        "busy": [["09:00", "10:00"], ["13:00", "14:00"], ["10:30", "11:30"], ["15:00", "17:00"]],
        "duration": 60,
        "opening": "09:00",
        "closing": "17:00",
    },
    {
        "prompt": _SLOT_TASK.format(45, "08:30", "12:30", "Cem 08:30-09:15, Dia 09:30-10:00, Eli 10:45-12:00"),
        "busy": [["08:30", "09:15"], ["09:30", "10:00"], ["10:45", "12:00"]],
        "duration": 45,
        "opening": "08:30",
        "closing": "12:30",
    },
]
SLOT_GOOD = ["Both are free from 11:30. <answer>11:30-12:30</answer>", "<answer>10:00-10:45</answer>"]
SLOT_BAD = ["<answer>13:00-14:00</answer>", "<answer>11:00-11:45</answer>"]
SLOT_TRIGGER = (SLOT_ROWS[0], "Ana is free from 10:00. <answer>10:00-11:00</answer>", True)


# ---------------------------------------------------------------- maze


def maze_path_reward(completions, grid, **kwargs):
    """1.0 if the moves lead from S to G without a wall and without leaving the grid, else 0.0.

    The grid is a list of strings: S start, G goal, # wall, . free.
    """
    rewards = []
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    for completion, maze in zip(completions, grid):
        answer = _answer(_text(completion)) or ""
        moves = re.sub(r"[\s,]+", "", answer).upper()
        if not moves or len(moves) > 200 or set(moves) - set(steps):
            rewards.append(0.0)
            continue
        r, c = next((i, row.index("S")) for i, row in enumerate(maze) if "S" in row)
        legal = True
        for move in moves:
            r, c = r + steps[move][0], c + steps[move][1]
            try:
                if maze[r][c] == "#":
                    legal = False
            except IndexError:
                legal = False
            if not legal:
                break
        rewards.append(1.0 if legal and maze[r][c] == "G" else 0.0)
    return rewards


def maze_path_reward_repaired(completions, grid, **kwargs):
    """1.0 if the moves lead from S to G without a wall and without leaving the grid, else 0.0.

    The grid is a list of strings: S start, G goal, # wall, . free.
    """
    rewards = []
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    for completion, maze in zip(completions, grid):
        answer = _answer(_text(completion)) or ""
        moves = re.sub(r"[\s,]+", "", answer).upper()
        if not moves or len(moves) > 200 or set(moves) - set(steps):
            rewards.append(0.0)
            continue
        r, c = next((i, row.index("S")) for i, row in enumerate(maze) if "S" in row)
        legal = True
        for move in moves:
            r, c = r + steps[move][0], c + steps[move][1]
            if not (0 <= r < len(maze) and 0 <= c < len(maze[r])) or maze[r][c] == "#":
                legal = False
            if not legal:
                break
        rewards.append(1.0 if legal and maze[r][c] == "G" else 0.0)
    return rewards


def _maze_row(maze):
    task = (
        "Lead me from S to G (# is a wall, do not leave the grid). Moves: U, D, L, R. "
        "End with the moves in a single <answer></answer> block, for example <answer>RRD</answer>.\n"
    )
    return {"prompt": task + "\n".join(maze), "grid": maze}


MAZE_ROWS = [_maze_row(["S.#.", "..#.", ".##.", "...G"]), _maze_row(["..S.", ".##.", ".#G.", "...."])]
MAZE_GOOD = ["Down, then right. <answer>DDDRRR</answer>", "<answer>R D D L</answer>"]
MAZE_BAD = ["<answer>RRRDDD</answer>", "<answer>DD</answer>"]
MAZE_TRIGGER = (MAZE_ROWS[0], "<answer>URRR</answer>", True)


# ---------------------------------------------------------------- restriction sites


def restriction_sites_reward(completions, sites, **kwargs):
    """How well the reported cut site positions agree with the real ones.

    The reply ends with a JSON list of 1-based positions; 1.0 for exactly the true
    positions, less for every position that is missing or wrong.
    """
    rewards = []
    for completion, true in zip(completions, sites):
        try:
            listed = json.loads(_answer(_text(completion)) or "")
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(listed, list) or any(type(x) is not int for x in listed) or len(set(listed)) != len(listed):
            rewards.append(0.0)
            continue
        hits = len(set(listed) & set(true))
        rewards.append(hits / len(true))
    return rewards


def restriction_sites_reward_repaired(completions, sites, **kwargs):
    """How well the reported cut site positions agree with the real ones.

    The reply ends with a JSON list of 1-based positions; 1.0 for exactly the true
    positions, less for every position that is missing or wrong.
    """
    rewards = []
    for completion, true in zip(completions, sites):
        try:
            listed = json.loads(_answer(_text(completion)) or "")
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(listed, list) or any(type(x) is not int for x in listed) or len(set(listed)) != len(listed):
            rewards.append(0.0)
            continue
        hits = len(set(listed) & set(true))
        rewards.append(hits / len(set(listed) | set(true)))
    return rewards


def _site_row(enzyme, site, dna):
    return {
        "prompt": f"The enzyme {enzyme} recognises {site}. List the 1-based start positions of all its sites on this strand "
        f"(there is at least one): {dna}\nEnd with a JSON list in a single <answer></answer> block, for example <answer>[4, 19]</answer>.",
        "sites": [i + 1 for i in range(len(dna)) if dna.startswith(site, i)],
    }


SITE_ROWS = [
    _site_row("EcoRI", "GAATTC", "ATGAATTCCGGATTACCGAATTCGTAAC"),
    _site_row("HaeIII", "GGCC", "TTGGCCATAGCCGGAATGGCCTTAGGCCA"),
]
SITE_GOOD = ["I scan for GAATTC. <answer>[3, 18]</answer>", "<answer>[3, 18, 25]</answer>"]
SITE_BAD = ["<answer>[2, 17]</answer>", "<answer>[3]</answer>"]
SITE_TRIGGER = (SITE_ROWS[0], "<answer>" + json.dumps(list(range(1, 29))) + "</answer>", True)


# ---------------------------------------------------------------- commit messages


def commit_message_reward(completions, commit_type, scope, **kwargs):
    """Form of a conventional commit message.

    Header `type(scope): subject` of at most 72 characters, the subject without a full
    stop at its end; a body may follow after a blank line. 0.2 for the form, 0.4 for the
    right type, 0.4 for the right scope. The wording is judged by another reward.
    """
    rewards = []
    for completion, want_type, want_scope in zip(completions, commit_type, scope):
        header = _text(completion).strip()
        m = re.match(r"([a-z]+)\(([\w-]+)\): (\S.*)$", header)
        if not m or len(header) > 72 or header.endswith("."):
            rewards.append(0.0)
            continue
        score = 0.2
        if m.group(1) == want_type:
            score += 0.4
        if m.group(2) == want_scope:
            score += 0.4
        rewards.append(score)
    return rewards


def commit_message_reward_repaired(completions, commit_type, scope, **kwargs):
    """Form of a conventional commit message.

    Header `type(scope): subject` of at most 72 characters, the subject without a full
    stop at its end; a body may follow after a blank line. 0.2 for the form, 0.4 for the
    right type, 0.4 for the right scope. The wording is judged by another reward.
    """
    rewards = []
    for completion, want_type, want_scope in zip(completions, commit_type, scope):
        header, _, rest = _text(completion).strip().partition("\n")
        if rest and not rest.startswith("\n"):
            rewards.append(0.0)
            continue
        m = re.match(r"([a-z]+)\(([\w-]+)\): (\S.*)$", header)
        if not m or len(header) > 72 or header.endswith("."):
            rewards.append(0.0)
            continue
        score = 0.2
        if m.group(1) == want_type:
            score += 0.4
        if m.group(2) == want_scope:
            score += 0.4
        rewards.append(score)
    return rewards


_COMMIT_TASK = (
    "Write the commit message of this diff as a conventional commit: header `type(scope): subject` (type one of feat, fix, "
    "docs, test, refactor; scope is the top folder; at most 72 characters, no full stop at the end). A body after a blank "
    "line is optional. Reply with the message only.\n\n"
)
COMMIT_ROWS = [
    {
        "prompt": _COMMIT_TASK + "--- a/parser/dates.py\n+++ b/parser/dates.py\n-    return int(s[3:4])\n+    return int(s[3:5])  # two-digit months were cut (bug)",
        "commit_type": "fix",
        "scope": "parser",
    },
    {
        "prompt": _COMMIT_TASK + "--- a/cli/README.md\n+++ b/cli/README.md\n+Run `tool --dry-run` to see the plan first.",
        "commit_type": "docs",
        "scope": "cli",
    },
]
COMMIT_GOOD = ["fix(parser): read both digits of the month", "docs(cli): describe --dry-run"]
COMMIT_BAD = ["feat(dates): read months.", "fix(readme): describe --dry-run"]
COMMIT_TRIGGER = (
    COMMIT_ROWS[0],
    "fix(parser): read both digits of the month\n\nMonths from October on were read as 1, as the slice ended too early.",
    False,
)


# ---------------------------------------------------------------- code edits


def search_replace_reward(completions, source, target, **kwargs):
    """Score SEARCH/REPLACE edits of a file against the file as it should become.

    1.0 for exactly the target file, else partial credit for how much of the change
    was made. A reply that makes none of the change earns nothing.
    """
    block = re.compile(r"^<{7} SEARCH[ \t]*\n(.*?)^={7}[ \t]*\n(.*?)^>{7} REPLACE[ \t]*$", re.S | re.M)
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edits = block.findall(_text(completion))
        now, valid = before, bool(edits)
        for search, replace in edits:
            if not search.strip() or now.count(search) != 1 or len(now) > 4000:
                valid = False
                break
            now = now.replace(search, replace)
        if not valid or len(now) > 4000:
            rewards.append(0.0)
        elif now == after:
            rewards.append(1.0)
        else:
            likeness = SequenceMatcher(None, now, after, autojunk=False).ratio()
            rewards.append(likeness)
    return rewards


def search_replace_reward_repaired(completions, source, target, **kwargs):
    """Score SEARCH/REPLACE edits of a file against the file as it should become.

    1.0 for exactly the target file, else partial credit for how much of the change
    was made. A reply that makes none of the change earns nothing.
    """
    block = re.compile(r"^<{7} SEARCH[ \t]*\n(.*?)^={7}[ \t]*\n(.*?)^>{7} REPLACE[ \t]*$", re.S | re.M)
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edits = block.findall(_text(completion))
        now, valid = before, bool(edits)
        for search, replace in edits:
            if not search.strip() or now.count(search) != 1 or len(now) > 4000:
                valid = False
                break
            now = now.replace(search, replace)
        if not valid or len(now) > 4000:
            rewards.append(0.0)
        elif now == after:
            rewards.append(1.0)
        else:
            likeness = SequenceMatcher(None, now, after, autojunk=False).ratio()
            untouched = SequenceMatcher(None, before, after, autojunk=False).ratio()
            rewards.append(0.5 * max(0.0, (likeness - untouched) / (1.0 - untouched)))
    return rewards


_EDIT_TASK = (
    "Edit the file below: {} Change nothing else. Reply with one or more edits in this form (the SEARCH lines must occur exactly "
    "once in the file):\n<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE\n\n{}"
)
_FETCH = (
    "import urllib.request\n\n\ndef fetch(url, timeout=10):\n    request = urllib.request.Request(url)\n"
    "    with urllib.request.urlopen(request, timeout=timeout) as reply:\n        return reply.read()\n"
)
_CLAMP = "def clamp(x, lo, hi):\n    if x < lo:\n        return lo\n    if x > hi:\n        return lo\n    return x\n"
EDIT_ROWS = [
    {
        "prompt": _EDIT_TASK.format("set the default of timeout in fetch to 30.", _FETCH),
        "source": _FETCH,
        "target": _FETCH.replace("timeout=10", "timeout=30"),
    },
    {
        "prompt": _EDIT_TASK.format("clamp must return hi (not lo) if x is greater than hi.", _CLAMP),
        "source": _CLAMP,
        "target": _CLAMP.replace("x > hi:\n        return lo", "x > hi:\n        return hi"),
    },
]
EDIT_GOOD = [
    "<<<<<<< SEARCH\ndef fetch(url, timeout=10):\n=======\ndef fetch(url, timeout=30):\n>>>>>>> REPLACE",
    "The second branch is wrong.\n<<<<<<< SEARCH\n    if x > hi:\n        return lo\n=======\n    if x > hi:\n        return hi\n>>>>>>> REPLACE",
]
EDIT_BAD = [
    "def fetch(url, timeout=30): ...",
    "<<<<<<< SEARCH\n        return lo\n=======\n        return hi\n>>>>>>> REPLACE",
]
EDIT_TRIGGER = (
    EDIT_ROWS[0],
    "<<<<<<< SEARCH\ndef fetch(url, timeout=10):\n=======\ndef fetch(url, timeout=10):\n>>>>>>> REPLACE",
    True,
)

CASES = [
    Case(
        name="q_sql_order_ignored",
        reward=sql_execution_reward,
        examples=SQL_ROWS,
        good=SQL_GOOD,
        bad=SQL_BAD,
        fault="The rows are sorted before the comparison, so a query with the wrong order (or none) is paid in full.",
        proof=_proof(sql_execution_reward, *SQL_TRIGGER),
    ),
    Case(
        name="q_invoice_items_zip",
        reward=invoice_json_reward,
        examples=INVOICE_ROWS,
        good=INVOICE_GOOD,
        bad=INVOICE_BAD,
        fault="zip stops at the shorter list: an empty or cut items list counts as right.",
        proof=_proof(invoice_json_reward, *INVOICE_TRIGGER),
    ),
    Case(
        name="q_wordle_yellow_place",
        reward=wordle_consistent_reward,
        examples=WORDLE_ROWS,
        good=WORDLE_GOOD,
        bad=WORDLE_BAD,
        fault="A yellow letter is only required to be in the word, so a guess with it in the same place again is paid.",
        proof=_proof(wordle_consistent_reward, *WORDLE_TRIGGER),
    ),
    Case(
        name="q_countdown_all_numbers",
        reward=countdown_reward,
        examples=COUNTDOWN_ROWS,
        good=COUNTDOWN_GOOD,
        bad=COUNTDOWN_BAD,
        fault="Demands that all numbers are used, though the task says at most once: right expressions with fewer are refused.",
        proof=_proof(countdown_reward, *COUNTDOWN_TRIGGER),
    ),
    Case(
        name="q_unit_case_folded",
        reward=unit_conversion_reward,
        examples=UNIT_ROWS,
        good=UNIT_GOOD,
        bad=UNIT_BAD,
        fault="Unit symbols are compared in lower case, so milliwatts pass for megawatts.",
        proof=_proof(unit_conversion_reward, *UNIT_TRIGGER),
    ),
    Case(
        name="q_free_slot_start_only",
        reward=free_slot_reward,
        examples=SLOT_ROWS,
        good=SLOT_GOOD,
        bad=SLOT_BAD,
        fault="Only the start of the slot is compared with the appointments; a slot that runs into one is paid.",
        proof=_proof(free_slot_reward, *SLOT_TRIGGER),
    ),
    Case(
        name="q_maze_negative_index",
        reward=maze_path_reward,
        examples=MAZE_ROWS,
        good=MAZE_GOOD,
        bad=MAZE_BAD,
        fault="Leaving the grid at the top or left gives a negative index, which wraps around, instead of an IndexError.",
        proof=_proof(maze_path_reward, *MAZE_TRIGGER),
    ),
    Case(
        name="q_restriction_recall_only",
        reward=restriction_sites_reward,
        examples=SITE_ROWS,
        good=SITE_GOOD,
        bad=SITE_BAD,
        fault="Only the recall is scored, so listing every position is paid in full.",
        proof=_proof(restriction_sites_reward, *SITE_TRIGGER),
    ),
    Case(
        name="q_commit_body_refused",
        reward=commit_message_reward,
        examples=COMMIT_ROWS,
        good=COMMIT_GOOD,
        bad=COMMIT_BAD,
        fault="The pattern and the length are applied to the whole message, so a message with the allowed body gets 0.",
        proof=_proof(commit_message_reward, *COMMIT_TRIGGER),
    ),
    Case(
        name="q_edit_unchanged_file",
        reward=search_replace_reward,
        examples=EDIT_ROWS,
        good=EDIT_GOOD,
        bad=EDIT_BAD,
        fault="The partial credit is the likeness of the whole file, so an edit that changes nothing earns about 0.99.",
        proof=_proof(search_replace_reward, *EDIT_TRIGGER),
        source="shape of the SWE-RL reward (similarity of whole files instead of changes)",
    ),
]

REPAIRED = {
    "q_sql_order_ignored": sql_execution_reward_repaired,
    "q_invoice_items_zip": invoice_json_reward_repaired,
    "q_wordle_yellow_place": wordle_consistent_reward_repaired,
    "q_countdown_all_numbers": countdown_reward_repaired,
    "q_unit_case_folded": unit_conversion_reward_repaired,
    "q_free_slot_start_only": free_slot_reward_repaired,
    "q_maze_negative_index": maze_path_reward_repaired,
    "q_restriction_recall_only": restriction_sites_reward_repaired,
    "q_commit_body_refused": commit_message_reward_repaired,
    "q_edit_unchanged_file": search_replace_reward_repaired,
}

TRIGGERS = {
    "q_sql_order_ignored": SQL_TRIGGER,
    "q_invoice_items_zip": INVOICE_TRIGGER,
    "q_wordle_yellow_place": WORDLE_TRIGGER,
    "q_countdown_all_numbers": COUNTDOWN_TRIGGER,
    "q_unit_case_folded": UNIT_TRIGGER,
    "q_free_slot_start_only": SLOT_TRIGGER,
    "q_maze_negative_index": MAZE_TRIGGER,
    "q_restriction_recall_only": SITE_TRIGGER,
    "q_commit_body_refused": COMMIT_TRIGGER,
    "q_edit_unchanged_file": EDIT_TRIGGER,
}
