"""Ten sound reward functions: SQL, JSON, countdown, units, code edits, rooms, chemistry, dates, finance, logic."""

from __future__ import annotations

import ast
import datetime
import json
import math
import random
import re
import sqlite3
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """The assistant's text of a plain or a chat completion."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, list) and completion and isinstance(completion[-1], dict):
        content = completion[-1].get("content")
        return content if isinstance(content, str) else ""
    return ""


def _last_line(completion):
    lines = _text(completion).strip().splitlines()
    return lines[-1].strip() if lines else ""


def _chat(text):
    return [{"role": "assistant", "content": text}]


def _user(text):
    return [{"role": "user", "content": text}]


def _no_duplicates(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def _no_constants(name):
    raise ValueError(name)


def _json(text):
    """The value of a strict JSON text (no double keys, no NaN), None if it is none."""
    try:
        return json.loads(text.strip(), object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
    except (ValueError, RecursionError):
        return None


# 1. text to SQL ------------------------------------------------------------------------------------------------------

_PURE = {
    "count", "sum", "total", "avg", "min", "max", "coalesce", "ifnull", "iif", "nullif", "abs", "round", "lower", "upper",
    "length", "row_number", "rank", "dense_rank", "group_concat", "cast", "substr", "trim", "like",
}


def _read_only(action, arg1, arg2, _db, _trigger):
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (arg2 or "").lower() in _PURE:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _shop(seed):
    """A random shop whose orders all belong to existing customers."""
    rng = random.Random(seed)
    conn = sqlite3.connect(":memory:")
    conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    conn.executescript(_SHOP)
    customers = rng.choice([0, 1, 3, 6, 8])
    for i in range(customers):
        conn.execute("INSERT INTO customers VALUES (?, ?)", (i * 3 + 1, rng.choice(["Ada", "Bo", "Cy", "Dee"])))
    for i in range(rng.choice([0, 2, 7, 15]) if customers else 0):
        row = (i + 1, rng.randrange(customers) * 3 + 1, rng.choice(["paid", "open", "void"]), rng.choice([0, 5, 10, 10, 25]))
        conn.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
    conn.commit()
    return conn


def _query(conn, sql):
    budget = [0]

    def tick():
        budget[0] += 1
        return budget[0] > 200

    conn.set_progress_handler(tick, 1000)
    try:
        return conn.execute(sql).fetchmany(1000)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None


def shop_sql_reward(completions, gold_sql, ordered, **kwargs):
    """Text-to-SQL by execution on 40 random databases that fit the schema: 1.0 if all results agree, else 0.0.

    Results agree if they have the same rows (values by column position); in the same order only where the question asks
    for one. The query may only read.
    """
    rewards = []
    for completion, gold, in_order in zip(completions, gold_sql, ordered):
        blocks = re.findall(r"```sql[ \t]*\n(.*?)```", _text(completion), re.DOTALL | re.IGNORECASE)
        agree = len(blocks) == 1
        for seed in range(40):
            if not agree:
                break
            conn = _shop(seed)
            expected = _query(conn, gold)
            conn.set_authorizer(_read_only)
            got = _query(conn, blocks[0].strip())
            conn.close()
            if got is None:
                agree = False
            elif in_order:
                agree = got == expected
            else:
                agree = Counter(got) == Counter(expected)
        rewards.append(1.0 if agree else 0.0)
    return rewards


_SHOP = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n"
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT "
    "NULL, amount INTEGER NOT NULL);"
)
_SHOP_FORM = (
    f"SQLite schema:\n{_SHOP}\nstatus is one of 'paid', 'open', 'void'; amounts are never negative.\nWrite one SELECT query in "
    "a single ```sql block. Return exactly the named columns in the named order.\nQuestion: "
)
SQL_ROWS = [
    {"prompt": _user(_SHOP_FORM + "id and name of the customers without any order (row order does not matter)."),
     "gold_sql": "SELECT id, name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)", "ordered": False},
    {"prompt": _user(_SHOP_FORM + "id of each customer and the total amount of his paid orders (0 if there is none), largest "
                     "total first, equal totals by ascending id."),
     "gold_sql": "SELECT c.id, COALESCE(SUM(o.amount), 0) AS t FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND "
                 "o.status = 'paid' GROUP BY c.id ORDER BY t DESC, c.id", "ordered": True},
    {"prompt": _user(_SHOP_FORM + "the number of customers with at least two open orders (one row, one column)."),
     "gold_sql": "SELECT COUNT(*) FROM (SELECT customer_id FROM orders WHERE status = 'open' GROUP BY customer_id HAVING "
                 "COUNT(*) >= 2)", "ordered": True},
]
SQL_GOOD = [
    _chat("```sql\nSELECT c.id, c.name FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id WHERE o.id IS NULL;\n```"),
    _chat("```sql\nSELECT id, (SELECT IFNULL(SUM(amount), 0) FROM orders WHERE customer_id = customers.id AND status = 'paid') AS "
          "total FROM customers ORDER BY total DESC, id ASC\n```"),
    _chat("Group the open orders.\n```sql\nWITH busy AS (SELECT customer_id FROM orders WHERE status = 'open' GROUP BY customer_id "
          "HAVING COUNT(id) > 1)\nSELECT COUNT(*) FROM busy\n```"),
]
SQL_BAD = [
    _chat("```sql\nSELECT id, name FROM customers WHERE id IN (SELECT customer_id FROM orders)\n```"),
    _chat("```sql\nSELECT c.id, SUM(o.amount) AS t FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.status = 'paid' "
          "GROUP BY c.id ORDER BY t DESC, c.id\n```"),
    _chat("```sql\nSELECT COUNT(*) FROM orders WHERE status = 'open'\n```"),
]


# 2. nested JSON ------------------------------------------------------------------------------------------------------


def _same(pred, gold):
    """Deep equality with types; numbers by value, booleans apart, lists in order."""
    if isinstance(gold, bool) or isinstance(pred, bool) or gold is None or isinstance(gold, str):
        return type(pred) is type(gold) and pred == gold
    if isinstance(gold, (int, float)):
        return isinstance(pred, (int, float)) and pred == gold
    if isinstance(gold, list):
        return isinstance(pred, list) and len(pred) == len(gold) and all(_same(p, g) for p, g in zip(pred, gold))
    return isinstance(pred, dict) and set(pred) == set(gold) and all(_same(pred[key], gold[key]) for key in gold)


def order_json_reward(completions, answer, **kwargs):
    """Extraction of an order as JSON. 1.0 if everything is right (items in any order); else 0.2 for the right keys, 0.0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        pred = _json(_text(completion))
        if not isinstance(pred, dict) or set(pred) != set(gold) or not isinstance(pred["items"], list):
            rewards.append(0.0)
            continue
        rest = list(pred["items"])
        right = len(rest) == len(gold["items"])
        for item in gold["items"]:
            match = next((i for i, candidate in enumerate(rest) if _same(candidate, item)), None)
            if match is None:
                right = False
                break
            del rest[match]
        right = right and all(_same(pred[key], gold[key]) for key in gold if key != "items")
        rewards.append(1.0 if right else 0.2)
    return rewards


_ORDER_FORM = (
    "Turn the order into one JSON object with the keys customer (string), express (true or false), items (array of objects with "
    "sku (string), qty (number), price (number, for one piece)), in any order, and note (string, or null if there is none). "
    "Names, codes and notes as they are written. Reply with the JSON object only, without a code fence.\n\n"
)
ORDER_ROWS = [
    {"prompt": _ORDER_FORM + "Order from Lena Vogt: 2 x A-100 at 4.50 each, 1 x B-7 at 12.00. Express delivery, please.",
     "answer": {"customer": "Lena Vogt", "express": True, "note": None,
                "items": [{"sku": "A-100", "qty": 2, "price": 4.5}, {"sku": "B-7", "qty": 1, "price": 12.0}]}},
    {"prompt": _ORDER_FORM + "Order from Sam Oduya: 10 x C-3 at 0.80 each. Normal delivery. Note: leave at gate",
     "answer": {"customer": "Sam Oduya", "express": False, "note": "leave at gate",
                "items": [{"sku": "C-3", "qty": 10, "price": 0.8}]}},
]
ORDER_GOOD = [
    '{"customer": "Lena Vogt", "express": true, "items": [{"sku": "B-7", "qty": 1, "price": 12}, {"sku": "A-100", "qty": 2, '
    '"price": 4.50}], "note": null}',
    '{\n  "customer": "Sam Oduya",\n  "express": false,\n  "items": [{"sku": "C-3", "qty": 10, "price": 0.8}],\n  "note": "leave at '
    'gate"\n}',
]
ORDER_BAD = [
    '{"customer": "Lena Vogt", "express": true, "items": [{"sku": "B-7", "qty": 1, "price": 12}, {"sku": "A-100", "qty": 2, '
    '"price": 9.0}], "note": null}',
    '{"customer": "Sam Oduya", "express": false, "items": [{"sku": "C-3", "qty": 10, "price": 0.8}], "note": null}',
]


# 3. countdown --------------------------------------------------------------------------------------------------------


def _exact(node, used):
    """The exact value of a tree of + - * / over whole numbers, which are appended to `used`."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp):
        left, right = _exact(node.left, used), _exact(node.right, used)
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
    """Countdown: 1.0 if the last line `Expression: ...` makes the target and uses no number more often than it is given.

    0.1 for an expression that can be read but is wrong, else 0.0.
    """
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        match = re.fullmatch(r"Expression: ([0-9+\-*/() ]{1,120})", _last_line(completion))
        if match is None:
            rewards.append(0.0)
            continue
        used = []
        try:
            value = _exact(ast.parse(match.group(1).strip(), mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        allowed = not Counter(used) - Counter(given)
        rewards.append(1.0 if allowed and value == goal else 0.1)
    return rewards


def _countdown_row(numbers, target):
    return {
        "prompt": _user(
            f"Numbers: {', '.join(map(str, numbers))}. Target: {target}. Write an arithmetic expression with + - * / between two "
            "operands and parentheses that equals the target. Each given number may be used at most once, not all are needed; no "
            "other numbers. Think first; the last line must be `Expression: ` followed by the expression only."
        ),
        "numbers": numbers,
        "target": target,
    }


COUNTDOWN_ROWS = [_countdown_row([25, 6, 3, 8, 2], 147), _countdown_row([7, 7, 3, 1], 28), _countdown_row([5, 5, 5, 1], 24)]
COUNTDOWN_GOOD = [
    _chat("25 * 6 is 150, less 3.\nExpression: 25 * 6 - 3"),
    _chat("Expression: 7 * (3 + 1)"),
    _chat("A fifth helps: 5 - 1/5 is 24/5.\nExpression: 5 * (5 - 1 / 5)"),
]
COUNTDOWN_BAD = [
    _chat("Expression: 25 * 6 + 3"),
    _chat("Expression: 7 + 7 + 7 + 7"),
    _chat("Expression: 5 * 5 - 1 - 5"),
]


# 4. temperatures -----------------------------------------------------------------------------------------------------


def temperature_reward(prompts, completions, value, source, target, **kwargs):
    """Temperature conversion, rounded half up to one decimal: 1.0 if the last line `Result: <number> <unit>` is right.

    0.2 for a wrong number with the right unit, else 0.0.
    """
    to_kelvin = {
        "C": lambda t: t + Fraction(27315, 100),
        "F": lambda t: (t - 32) * Fraction(5, 9) + Fraction(27315, 100),
        "K": lambda t: t,
    }
    from_kelvin = {
        "C": lambda t: t - Fraction(27315, 100),
        "F": lambda t: (t - Fraction(27315, 100)) * Fraction(9, 5) + 32,
        "K": lambda t: t,
    }
    rewards = []
    for completion, number, unit, wanted in zip(completions, value, source, target):
        match = re.fullmatch(r"Result: ([+-]?[0-9]{1,6}\.[0-9]) ?(°?[CF]|K)", _last_line(completion).replace("\u2212", "-"))
        if match is None or match.group(2).lstrip("°") != wanted:
            rewards.append(0.0)
            continue
        exact = from_kelvin[wanted](to_kelvin[unit](Fraction(number)))
        tenths = math.floor(exact * 10 + Fraction(1, 2))
        rewards.append(1.0 if Fraction(match.group(1)) * 10 == tenths else 0.2)
    return rewards


def _temperature_row(value, source, target):
    names = {"C": "°C", "F": "°F", "K": "K"}
    return {
        "prompt": (
            f"Convert {value} {names[source]} to {names[target]} (0 °C = 273.15 K). Round the result to one decimal. Show the steps "
            f"if you like; the last line must be `Result: <number> {names[target]}` with exactly one digit after the point."
        ),
        "value": value,
        "source": source,
        "target": target,
    }


TEMPERATURE_ROWS = [_temperature_row("98.6", "F", "C"), _temperature_row("-40.2", "C", "F"), _temperature_row("70", "F", "K")]
TEMPERATURE_GOOD = ["(98.6 - 32) * 5/9 = 37\nResult: 37.0 °C", "Result: -40.4 °F", "Result: 294.3 K"]
TEMPERATURE_BAD = ["Result: 54.8 °C", "Result: -72.4 °F", "Result: 343.2 K"]


# 5. code edits -------------------------------------------------------------------------------------------------------


def rewrite_reward(completions, target, **kwargs):
    """Code edits: the whole edited file in one ```python block.

    1.0 if its syntax tree is that of the target file (layout and comments do not count), 0.1 if it is valid Python, else 0.0.
    """
    rewards = []
    for completion, wanted in zip(completions, target):
        blocks = re.findall(r"^```python[ \t]*\n(.*?)^```[ \t]*$", _text(completion), re.DOTALL | re.MULTILINE)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        try:
            got = ast.dump(ast.parse(blocks[0]))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if got == ast.dump(ast.parse(wanted)) else 0.1)
    return rewards


_FILE_A = (
    "def area(w, h):\n    return w * h\n\n\ndef volume(w, h, d):\n    return area(w, h) * d\n\n\nprint(area(2, 3), volume(2, 3, 4))\n"
)
_FILE_B = (
    "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / len(values)\n"
)
_REWRITE_FORM = " Change nothing else (comments and layout are not judged). Reply with the whole file in one ```python block.\n\n"
REWRITE_ROWS = [
    {"prompt": _user("Rename the function `area` to `rect_area` everywhere in this file." + _REWRITE_FORM + _FILE_A),
     "target": _FILE_A.replace("area", "rect_area")},
    {"prompt": _user("Make `mean` begin with the statement `if not values: return None` (on one line or two)." + _REWRITE_FORM + _FILE_B),
     "target": _FILE_B.replace("    total = 0\n", "    if not values:\n        return None\n    total = 0\n")},
]
REWRITE_GOOD = [
    _chat("```python\n" + _FILE_A.replace("area", "rect_area") + "```"),
    _chat("Here it is.\n```python\ndef mean(values):\n    if not values: return None  # nothing to average\n    total = 0\n    for value in "
          "values:\n        total += value\n    return total / len(values)\n```"),
]
REWRITE_BAD = [
    _chat("```python\n" + _FILE_A.replace("def area", "def rect_area") + "```"),
    _chat("```python\ndef mean(values):\n    total = 0\n    for value in values:\n        if not values:\n            return None\n        "
          "total += value\n    return total / len(values)\n```"),
]


# 6. rooms ------------------------------------------------------------------------------------------------------------


def room_plan_reward(completions, meetings, rooms, **kwargs):
    """Room planning: 1.0 for an assignment of all meetings to rooms that are large enough, without overlaps in a room.

    0.1 for an assignment in the right form that breaks a rule, else 0.0. A meeting may begin when another one ends.
    """

    def minutes(clock):
        return int(clock[:2]) * 60 + int(clock[3:])

    rewards = []
    for completion, wanted, seats in zip(completions, meetings, rooms):
        plan = _json(_text(completion))
        if not isinstance(plan, dict) or set(plan) != set(wanted):
            rewards.append(0.0)
            continue
        if not all(isinstance(room, str) and room in seats for room in plan.values()):
            rewards.append(0.0)
            continue
        valid = all(seats[plan[name]] >= people for name, (_, _, people) in wanted.items())
        names = sorted(wanted)
        for i, first in enumerate(names):
            for second in names[i + 1:]:
                apart = (
                    minutes(wanted[first][1]) <= minutes(wanted[second][0])
                    or minutes(wanted[second][1]) <= minutes(wanted[first][0])
                )
                valid = valid and (plan[first] != plan[second] or apart)
        rewards.append(1.0 if valid else 0.1)
    return rewards


def _room_row(meetings, rooms):
    listed = "; ".join(f"{name} {start}-{end}, {people} people" for name, (start, end, people) in meetings.items())
    seats = ", ".join(f"{room} ({n} seats)" for room, n in rooms.items())
    return {
        "prompt": _user(
            f"Meetings: {listed}.\nRooms: {seats}.\nAssign every meeting to a room with enough seats; two meetings in one room must not "
            "overlap (one may begin when the other ends). Reply only with a JSON object from meeting to room, for example "
            '{"M1": "R1"}.'
        ),
        "meetings": meetings,
        "rooms": rooms,
    }


ROOM_ROWS = [
    _room_row({"M1": ["09:00", "10:00", 4], "M2": ["09:30", "10:30", 8], "M3": ["10:00", "11:00", 3]}, {"Blue": 5, "Red": 10}),
    _room_row({"M1": ["13:00", "15:00", 6], "M2": ["14:00", "16:00", 2], "M3": ["15:00", "16:00", 6], "M4": ["16:00", "17:00", 12]},
              {"Big": 12, "Small": 3}),
]
ROOM_GOOD = [
    _chat('{"M1": "Blue", "M2": "Red", "M3": "Blue"}'),
    _chat('{"M1": "Big", "M2": "Small", "M3": "Big", "M4": "Big"}'),
]
ROOM_BAD = [
    _chat('{"M1": "Red", "M2": "Red", "M3": "Blue"}'),
    _chat('{"M1": "Big", "M2": "Small", "M3": "Big", "M4": "Small"}'),
]


# 7. chemistry --------------------------------------------------------------------------------------------------------


def coefficients_reward(prompts, completions, reactants, products, **kwargs):
    """Balancing: 1.0 for the smallest positive whole coefficients, on the last line `Coefficients: a, b, ...` in the order of
    the equation; 0.2 for coefficients that do not balance it or can be reduced, else 0.0."""

    def atoms(formula):
        stack = [Counter()]
        for element, count, bracket, times in re.findall(r"([A-Z][a-z]?)([0-9]*)|([()])([0-9]*)", formula):
            if element:
                stack[-1][element] += int(count or 1)
            elif bracket == "(":
                stack.append(Counter())
            else:
                group = stack.pop()
                for name, n in group.items():
                    stack[-1][name] += n * int(times or 1)
        return stack[0]

    rewards = []
    for completion, left, right in zip(completions, reactants, products):
        match = re.fullmatch(r"Coefficients: ([0-9]{1,4}(?: ?, ?[0-9]{1,4})*)", _last_line(completion))
        values = [int(part) for part in match.group(1).split(",")] if match else []
        if len(values) != len(left) + len(right) or min(values) < 1:
            rewards.append(0.0)
            continue
        balance = Counter()
        for coefficient, formula, sign in zip(values, left + right, [1] * len(left) + [-1] * len(right)):
            for element, n in atoms(formula).items():
                balance[element] += sign * coefficient * n
        right_answer = not any(balance.values()) and math.gcd(*values) == 1
        rewards.append(1.0 if right_answer else 0.2)
    return rewards


def _coefficient_row(left, right):
    return {
        "prompt": (
            f"Balance: {' + '.join(left)} -> {' + '.join(right)}. Give the smallest positive whole-number coefficients, also those that "
            "are 1, in the order of the equation, as the last line `Coefficients: a, b, c, ...`. You may reason before."
        ),
        "reactants": left,
        "products": right,
    }


COEFFICIENT_ROWS = [
    _coefficient_row(["Fe", "O2"], ["Fe2O3"]),
    _coefficient_row(["Al(OH)3", "H2SO4"], ["Al2(SO4)3", "H2O"]),
    _coefficient_row(["NH3", "O2"], ["NO", "H2O"]),
]
COEFFICIENT_GOOD = ["Six O on each side.\nCoefficients: 4, 3, 2", "Coefficients: 2, 3, 1, 6", "Coefficients: 4, 5, 4, 6"]
COEFFICIENT_BAD = ["Coefficients: 2, 3, 2", "Coefficients: 2, 3, 1, 3", "Coefficients: 2, 2, 2, 3"]


# 8. business days ----------------------------------------------------------------------------------------------------


def business_day_reward(completions, start, days, holidays, **kwargs):
    """Business-day arithmetic: 1.0 if the last line `Date: YYYY-MM-DD (Weekday)` gives the right day with its weekday, 0.2 for
    another well-formed line, else 0.0."""
    names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    rewards = []
    for completion, first, count, closed in zip(completions, start, days, holidays):
        match = re.fullmatch(r"Date: ([0-9]{4}-[0-9]{2}-[0-9]{2}) \(([A-Z][a-z]+day)\)", _last_line(completion))
        if match is None:
            rewards.append(0.0)
            continue
        day = datetime.date.fromisoformat(first)
        left = count
        while left:
            day += datetime.timedelta(days=1)
            if day.weekday() < 5 and day.isoformat() not in closed:
                left -= 1
        right = match.group(1) == day.isoformat() and match.group(2) == names[day.weekday()]
        rewards.append(1.0 if right else 0.2)
    return rewards


def _business_row(start, days, holidays):
    closed = f" Public holidays: {', '.join(holidays)}." if holidays else ""
    return {
        "prompt": _user(
            f"Which date is {days} business days after {start} (the start day does not count; Saturdays and Sundays are no business "
            f"days)?{closed} Work it out, then end with the line `Date: YYYY-MM-DD (Weekday)`, for example `Date: 2023-01-02 (Monday)`."
        ),
        "start": start,
        "days": days,
        "holidays": holidays,
    }


BUSINESS_ROWS = [
    _business_row("2024-02-27", 5, []),
    _business_row("2024-12-23", 4, ["2024-12-25", "2024-12-26", "2025-01-01"]),
    _business_row("2025-05-30", 1, []),
]
BUSINESS_GOOD = [
    _chat("2024-02-28, 2024-02-29, 2024-03-01, then Monday and Tuesday.\nDate: 2024-03-05 (Tuesday)"),
    _chat("24, 27, 30, 31 December.\nDate: 2024-12-31 (Tuesday)"),
    _chat("Date: 2025-06-02 (Monday)"),
]
BUSINESS_BAD = [
    _chat("Date: 2024-03-03 (Sunday)"),
    _chat("Date: 2024-12-27 (Friday)"),
    _chat("Date: 2025-05-31 (Saturday)"),
]


# 9. loans ------------------------------------------------------------------------------------------------------------


def loan_payment_reward(prompts, completions, principal, annual_rate, months, **kwargs):
    """Level monthly payment of a loan to the nearest cent, on the last line `Payment: $1,234.56` (commas may be left out).

    1.0 if it is right, 0.1 for another amount in the right form, else 0.0.
    """
    rewards = []
    for completion, amount, rate, n in zip(completions, principal, annual_rate, months):
        match = re.fullmatch(r"Payment: \$(0|[1-9][0-9]{0,8}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,2})\.([0-9]{2})", _last_line(completion))
        if match is None:
            rewards.append(0.0)
            continue
        with localcontext() as context:
            context.prec = 60
            monthly = Decimal(rate) / 1200
            if monthly:
                payment = Decimal(amount) * monthly / (1 - (1 + monthly) ** -n)
            else:
                payment = Decimal(amount) / n
            cents = int((payment * 100).to_integral_value(rounding=ROUND_HALF_UP))
        given = int(match.group(1).replace(",", "")) * 100 + int(match.group(2))
        rewards.append(1.0 if given == cents else 0.1)
    return rewards


def _loan_row(principal, rate, months):
    return {
        "prompt": (
            f"A loan of ${principal} at {rate}% a year (monthly rate = a twelfth) is paid back in {months} equal payments at the end of "
            "each month. What is one payment, to the nearest cent? You may show your work; the last line must look like "
            "`Payment: $1,234.56`."
        ),
        "principal": principal,
        "annual_rate": rate,
        "months": months,
    }


LOAN_ROWS = [_loan_row("10000", "6", 12), _loan_row("250000", "4.5", 360), _loan_row("900", "0", 12)]
LOAN_GOOD = ["Rate 0.005 a month.\nPayment: $860.66", "Payment: $1,266.71", "Payment: $75.00"]
LOAN_BAD = ["Payment: $883.33", "Payment: $1,631.94", "Payment: $90.00"]


# 10. seating ---------------------------------------------------------------------------------------------------------


def seating_reward(completions, people, rules, **kwargs):
    """Seating puzzle: 1.0 if the order on the last line meets all rules; 0.1 for an order of the right people, else 0.0."""

    def holds(rule, seat):
        kind, names = rule[0], rule[1:]
        if kind == "left":  # somewhere to the left
            return seat[names[0]] < seat[names[1]]
        if kind == "next":
            return abs(seat[names[0]] - seat[names[1]]) == 1
        if kind == "apart":
            return abs(seat[names[0]] - seat[names[1]]) != 1
        if kind == "end":
            return seat[names[0]] in (0, len(seat) - 1)
        raise ValueError(kind)

    rewards = []
    for completion, guests, conditions in zip(completions, people, rules):
        match = re.fullmatch(r"Order: ([A-Za-z]+(?:, ?[A-Za-z]+)*)", _last_line(completion))
        order = [name.strip() for name in match.group(1).split(",")] if match else []
        if sorted(order) != sorted(guests):
            rewards.append(0.0)
            continue
        seat = {name: i for i, name in enumerate(order)}
        rewards.append(1.0 if all(holds(rule, seat) for rule in conditions) else 0.1)
    return rewards


def _seating_row(people, rules):
    text = {
        "left": "{} sits somewhere to the left of {}", "next": "{} and {} sit next to each other",
        "apart": "{} and {} do not sit next to each other", "end": "{} sits at one of the two ends",
    }
    listed = "; ".join(text[rule[0]].format(*rule[1:]) for rule in rules)
    return {
        "prompt": _user(
            f"{', '.join(people)} sit in a row of {len(people)} chairs. {listed}. Find an order that meets all rules (there may be "
            "several). Reason first; the last line must be `Order: ` and the names from left to right, separated by commas."
        ),
        "people": people,
        "rules": rules,
    }


SEATING_ROWS = [
    _seating_row(["Ann", "Ben", "Cid", "Dee"], [["end", "Ann"], ["next", "Ben", "Cid"], ["left", "Dee", "Ann"], ["apart", "Cid", "Dee"]]),
    _seating_row(["Eva", "Fay", "Gus"], [["left", "Fay", "Eva"], ["apart", "Eva", "Fay"]]),
]
SEATING_GOOD = [
    _chat("Ann is at the right end; Dee, Ben, Cid fit before her.\nOrder: Dee, Ben, Cid, Ann"),
    _chat("Order: Fay, Gus, Eva"),
]
SEATING_BAD = [_chat("Order: Dee, Cid, Ben, Ann"), _chat("Order: Gus, Fay, Eva")]


CASES = [
    Case("p_ok_shop_sql", shop_sql_reward, SQL_ROWS, SQL_GOOD, SQL_BAD),
    Case("p_ok_order_json", order_json_reward, ORDER_ROWS, ORDER_GOOD, ORDER_BAD),
    Case("p_ok_countdown", countdown_reward, COUNTDOWN_ROWS, COUNTDOWN_GOOD, COUNTDOWN_BAD),
    Case("p_ok_temperature", temperature_reward, TEMPERATURE_ROWS, TEMPERATURE_GOOD, TEMPERATURE_BAD),
    Case("p_ok_rewrite", rewrite_reward, REWRITE_ROWS, REWRITE_GOOD, REWRITE_BAD),
    Case("p_ok_rooms", room_plan_reward, ROOM_ROWS, ROOM_GOOD, ROOM_BAD),
    Case("p_ok_coefficients", coefficients_reward, COEFFICIENT_ROWS, COEFFICIENT_GOOD, COEFFICIENT_BAD),
    Case("p_ok_business_days", business_day_reward, BUSINESS_ROWS, BUSINESS_GOOD, BUSINESS_BAD),
    Case("p_ok_loan", loan_payment_reward, LOAN_ROWS, LOAN_GOOD, LOAN_BAD),
    Case("p_ok_seating", seating_reward, SEATING_ROWS, SEATING_GOOD, SEATING_BAD),
]
