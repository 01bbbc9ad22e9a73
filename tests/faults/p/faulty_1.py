"""Ten reward functions with one fault each: SQL, JSON, games, units, code edits, schedules, chemistry, dates, finance, logic."""

from __future__ import annotations

import ast
import json
import math
import random
import re
import sqlite3

from tests.faults.case import Case


def _text(completion):
    """The assistant's text of a plain or a chat completion."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, list) and completion and isinstance(completion[-1], dict):
        content = completion[-1].get("content")
        return content if isinstance(content, str) else ""
    return ""


def _chat(text):
    return [{"role": "assistant", "content": text}]


def _user(text):
    return [{"role": "user", "content": text}]


def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _prove(reward, row, completion, paid):
    def proof():
        score = _score(reward, row, completion)
        assert (score >= 0.8) if paid else (score < 0.5), score

    return proof


# 1. text to SQL ------------------------------------------------------------------------------------------------------

_DENIED_FUNCTIONS = {
    "random", "randomblob", "zeroblob", "load_extension", "date", "time", "datetime", "julianday", "strftime",
    "unixepoch", "current_date", "current_time", "current_timestamp",
}


def _authorizer(action, arg1, arg2, _db, _trigger):
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (arg2 or "").lower() not in _DENIED_FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _database(schema, pools, seed):
    """A small random database: the columns' values are drawn from their pools (None: 1, 2, 3, ...)."""
    rng = random.Random(seed)
    conn = sqlite3.connect(":memory:")
    conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 200_000)
    conn.executescript(schema)
    for table, columns in pools.items():
        for serial in range(rng.choice([0, 1, 5, 12, 20])):
            marks = ", ".join("?" for _ in columns)
            values = [serial + 1 if pool is None else rng.choice(pool) for pool in columns]
            conn.execute(f"INSERT INTO {table} VALUES ({marks})", values)
    conn.commit()
    return conn


def _rows(conn, sql):
    steps = [0]

    def tick():
        steps[0] += 1
        return steps[0] > 300

    conn.set_progress_handler(tick, 1000)
    try:
        return conn.execute(sql).fetchmany(2000)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None


def sql_execution_reward(completions, schema, pools, gold_sql, **kwargs):
    """Execution accuracy for text-to-SQL.

    The query in the ```sql block and the gold query are run on 30 random databases with the same schema; 1.0 if the
    results agree on all of them (columns by position, and the rows in the order that the question asks for).
    """
    rewards = []
    for completion, ddl, pool, gold in zip(completions, schema, pools, gold_sql):
        blocks = re.findall(r"```sql\s*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        sql, same = blocks[0].strip(), True
        for seed in range(30):
            conn = _database(ddl, pool, seed)
            expected = _rows(conn, gold)
            conn.set_authorizer(_authorizer)
            got = _rows(conn, sql)
            conn.close()
            if got is None or sorted(got, key=repr) != sorted(expected, key=repr):
                same = False
                break
        rewards.append(1.0 if same else 0.0)
    return rewards


def sql_execution_reward_repaired(completions, schema, pools, gold_sql, **kwargs):
    """Execution accuracy for text-to-SQL.

    The query in the ```sql block and the gold query are run on 30 random databases with the same schema; 1.0 if the
    results agree on all of them (columns by position, and the rows in the order that the question asks for).
    """
    rewards = []
    for completion, ddl, pool, gold in zip(completions, schema, pools, gold_sql):
        blocks = re.findall(r"```sql\s*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        sql, same = blocks[0].strip(), True
        for seed in range(30):
            conn = _database(ddl, pool, seed)
            expected = _rows(conn, gold)
            conn.set_authorizer(_authorizer)
            got = _rows(conn, sql)
            conn.close()
            if got is None or got != expected:
                same = False
                break
        rewards.append(1.0 if same else 0.0)
    return rewards


_STAFF = "CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, team TEXT, salary INTEGER);"
_STAFF_POOLS = {
    "staff": [
        None,
        ["Ada", "Bo", "Cy", "Dee", "Eli"],
        ["eng", "eng", "engine", "ops", "law"],
        [3000, 4000, 5000, 6000, 7000],
    ]
}
_SQL_FORM = (
    "Write one SQLite query in a single ```sql block. Return exactly the columns that are named, in that order, and "
    "the rows in the order that is asked for. No column is ever NULL.\n\nSchema:\n"
)
SQL_ROWS = [
    {
        "prompt": _user(_SQL_FORM + _STAFF + "\n\nQuestion: name and salary of everyone in team 'eng', highest salary "
                        "first, equal salaries by name from A to Z."),
        "schema": _STAFF,
        "pools": _STAFF_POOLS,
        "gold_sql": "SELECT name, salary FROM staff WHERE team = 'eng' ORDER BY salary DESC, name ASC",
    },
    {
        "prompt": _user(_SQL_FORM + _STAFF + "\n\nQuestion: each team and its number of staff (columns team, count), "
                        "largest number first, ties by team name from A to Z."),
        "schema": _STAFF,
        "pools": _STAFF_POOLS,
        "gold_sql": "SELECT team, COUNT(*) AS n FROM staff GROUP BY team ORDER BY n DESC, team ASC",
    },
]
SQL_GOOD = [
    _chat("```sql\nSELECT name, salary FROM staff WHERE team = 'eng' ORDER BY salary DESC, name;\n```"),
    _chat("```sql\nSELECT team, COUNT(id) FROM staff GROUP BY team ORDER BY COUNT(id) DESC, team\n```"),
]
SQL_BAD = [
    _chat("```sql\nSELECT name, salary FROM staff ORDER BY salary DESC, name\n```"),
    _chat("```sql\nSELECT team, SUM(salary) FROM staff GROUP BY team ORDER BY 2 DESC, team\n```"),
]
SQL_TRIGGER = (
    SQL_ROWS[0],
    _chat("```sql\nSELECT name, salary FROM staff WHERE team = 'eng'\n```"),
    True,
)


# 2. JSON extraction --------------------------------------------------------------------------------------------------


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("duplicate key")
    return dict(pairs)


def _load_object(text):
    try:
        value = json.loads(text.strip(), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _same_value(pred, gold):
    if isinstance(gold, str):
        return isinstance(pred, str) and pred.strip() == gold
    if isinstance(pred, bool) or not isinstance(pred, (int, float)):
        return False
    return math.isfinite(pred) and pred == gold


def invoice_fields_reward(prompts, completions, answer, **kwargs):
    """Field accuracy of an invoice extraction.

    The completion must be one JSON object with the five fields of the invoice. 1.0 if all five fields are right,
    else up to 0.5 in proportion to the fields that are right, 0.0 if it is no JSON object.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        pred = _load_object(_text(completion))
        if not pred:
            rewards.append(0.0)
            continue
        hits = 0
        for key, value in pred.items():
            if key in gold and _same_value(value, gold[key]):
                hits += 1
        accuracy = hits / len(pred)
        rewards.append(1.0 if accuracy == 1.0 else 0.5 * accuracy)
    return rewards


def invoice_fields_reward_repaired(prompts, completions, answer, **kwargs):
    """Field accuracy of an invoice extraction.

    The completion must be one JSON object with the five fields of the invoice. 1.0 if all five fields are right,
    else up to 0.5 in proportion to the fields that are right, 0.0 if it is no JSON object.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        pred = _load_object(_text(completion))
        if not pred:
            rewards.append(0.0)
            continue
        hits = 0
        for key, value in pred.items():
            if key in gold and _same_value(value, gold[key]):
                hits += 1
        accuracy = hits / len(set(pred) | set(gold))
        rewards.append(1.0 if accuracy == 1.0 else 0.5 * accuracy)
    return rewards


_INVOICE_FORM = (
    "Extract the invoice as one JSON object with exactly these keys: vendor (string), number (string), "
    "date (string, YYYY-MM-DD), currency (three-letter code), total (number). Reply with the JSON object only.\n\n"
)
INVOICE_ROWS = [
    {
        "prompt": _INVOICE_FORM + "ACME Tools GmbH\nInvoice INV-2031, issued 14 March 2024\nAmount due: EUR 1,250.50",
        "answer": {"vendor": "ACME Tools GmbH", "number": "INV-2031", "date": "2024-03-14", "currency": "EUR",
                   "total": 1250.5},
    },
    {
        "prompt": _INVOICE_FORM + "Invoice no. 77-B from Northwind Ltd, dated 2 January 2025. Total: USD 89.00",
        "answer": {"vendor": "Northwind Ltd", "number": "77-B", "date": "2025-01-02", "currency": "USD", "total": 89},
    },
]
INVOICE_GOOD = [
    '{"vendor": "ACME Tools GmbH", "number": "INV-2031", "date": "2024-03-14", "currency": "EUR", "total": 1250.50}',
    '{"vendor": "Northwind Ltd", "number": "77-B", "date": "2025-01-02", "currency": "USD", "total": 89.0}',
]
INVOICE_BAD = [
    '{"vendor": "ACME Tools GmbH", "number": "INV-2031", "date": "2024-03-14", "currency": "EUR", "total": 1.25}',
    '{"vendor": "Northwind Ltd", "number": "77-B", "date": "2025-02-01", "currency": "USD", "total": 89.0}',
]
INVOICE_TRIGGER = (INVOICE_ROWS[0], '{"vendor": "ACME Tools GmbH", "currency": "EUR"}', True)


# 3. the game of 24 ---------------------------------------------------------------------------------------------------


def _evaluate(node, used):
    """The value of an expression tree of + - * / over whole numbers; the numbers are appended to `used`."""
    if isinstance(node, ast.Expression):
        return _evaluate(node.body, used)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, used), _evaluate(node.right, used)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("not allowed")


def game24_reward(completions, numbers, **kwargs):
    """1.0 for an expression in <answer> that uses the four cards once each and equals 24, else 0.0."""
    rewards = []
    for completion, cards in zip(completions, numbers):
        answers = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        score = 0.0
        if len(answers) == 1:
            expression = answers[0].strip()
            if len(expression) <= 80 and re.fullmatch(r"[0-9+\-*/() ]+", expression):
                used = []
                try:
                    value = _evaluate(ast.parse(expression, mode="eval"), used)
                except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, MemoryError, RecursionError):
                    value = None
                if value is not None and sorted(used) == sorted(cards) and value == 24:
                    score = 1.0
        rewards.append(score)
    return rewards


def game24_reward_repaired(completions, numbers, **kwargs):
    """1.0 for an expression in <answer> that uses the four cards once each and equals 24, else 0.0."""
    rewards = []
    for completion, cards in zip(completions, numbers):
        answers = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        score = 0.0
        if len(answers) == 1:
            expression = answers[0].strip()
            if len(expression) <= 80 and re.fullmatch(r"[0-9+\-*/() ]+", expression):
                used = []
                try:
                    value = _evaluate(ast.parse(expression, mode="eval"), used)
                except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, MemoryError, RecursionError):
                    value = None
                if value is not None and sorted(used) == sorted(cards) and abs(value - 24) < 1e-9:
                    score = 1.0
        rewards.append(score)
    return rewards


def _game24_prompt(cards):
    return _user(
        f"Use the numbers {', '.join(map(str, cards))}, each exactly once, with the two-sided operators + - * / and "
        "parentheses to make 24 (fractions in between are fine). Think first, then give the expression alone, without "
        "an equals sign, once in <answer>...</answer>."
    )


GAME24_ROWS = [
    {"prompt": _game24_prompt([1, 2, 3, 8]), "numbers": [1, 2, 3, 8]},
    {"prompt": _game24_prompt([4, 6, 7, 8]), "numbers": [4, 6, 7, 8]},
    {"prompt": _game24_prompt([2, 3, 5, 12]), "numbers": [2, 3, 5, 12]},
]
GAME24_GOOD = [
    _chat("4 times 6 is 24. <answer>(1 + 3) * (8 - 2)</answer>"),
    _chat("8 - 7 = 1, then 4 * 6 * 1. <answer>4 * 6 * (8 - 7)</answer>"),
    _chat("12 * 2 is 24 and 5 - 3 is 2. <answer>12 / (3 - 5 / 2)</answer>"),
]
GAME24_BAD = [
    _chat("<answer>8 * 3 * 1</answer>"),
    _chat("<answer>4 + 6 + 7 + 8</answer>"),
    _chat("<answer>12 + 12</answer>"),
]
GAME24_TRIGGER = (GAME24_ROWS[0], _chat("1 - 2/3 is a third, and 8 over a third is 24. <answer>8 / (1 - 2 / 3)</answer>"),
                  False)


# 4. unit conversion --------------------------------------------------------------------------------------------------


def unit_conversion_reward(prompts, completions, value, unit, **kwargs):
    """Unit conversion: the last line must be `Result: <number> <unit>` with the right number and the right unit.

    1.0 if both are right, 0.2 if only the line has the required form, else 0.0.
    """
    rewards = []
    for completion, gold, gold_unit in zip(completions, value, unit):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Result: (-?[0-9]{1,12}(?:\.[0-9]{1,9})?) ?([A-Za-z]{1,8})", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        number_ok = abs(float(match.group(1)) - gold) <= 0.0005 + 1e-9
        unit_ok = match.group(2).endswith(gold_unit)
        rewards.append(1.0 if number_ok and unit_ok else 0.2)
    return rewards


def unit_conversion_reward_repaired(prompts, completions, value, unit, **kwargs):
    """Unit conversion: the last line must be `Result: <number> <unit>` with the right number and the right unit.

    1.0 if both are right, 0.2 if only the line has the required form, else 0.0.
    """
    rewards = []
    for completion, gold, gold_unit in zip(completions, value, unit):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Result: (-?[0-9]{1,12}(?:\.[0-9]{1,9})?) ?([A-Za-z]{1,8})", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        number_ok = abs(float(match.group(1)) - gold) <= 0.0005 + 1e-9
        unit_ok = match.group(2) == gold_unit
        rewards.append(1.0 if number_ok and unit_ok else 0.2)
    return rewards


def _unit_prompt(question):
    return (
        f"{question} You may show your work; the last line must be `Result: <number> <unit>`, the number in plain "
        "decimals without thousands separators (exact, or within 0.0005), the unit with its symbol as in the question."
    )


UNIT_ROWS = [
    {"prompt": _unit_prompt("Convert 2.4 km to metres (m)."), "value": 2400.0, "unit": "m"},
    {"prompt": _unit_prompt("Convert 0.35 kg to grams (g)."), "value": 350.0, "unit": "g"},
    {"prompt": _unit_prompt("Convert 1500 mL to litres (L)."), "value": 1.5, "unit": "L"},
]
UNIT_GOOD = ["1 km is 1000 m, so 2.4 * 1000.\nResult: 2400 m", "Result: 350 g", "Divide by 1000.\nResult: 1.5 L"]
UNIT_BAD = ["Result: 240 m", "Result: 3500 g", "Result: 15 L"]
UNIT_TRIGGER = (UNIT_ROWS[0], "1 km is 1000 m.\nResult: 2400 km", True)


# 5. code edits -------------------------------------------------------------------------------------------------------


def _apply_edit(source, text):
    """The source after the one SEARCH/REPLACE block of `text`, None if the block is missing or does not apply."""
    blocks = re.findall(r"^<<<<<<< SEARCH\n(.*?)^=======\n(.*?)^>>>>>>> REPLACE[ \t]*$", text, re.DOTALL | re.MULTILINE)
    if len(blocks) != 1:
        return None
    search, replace = blocks[0]
    if not search.strip() or source.count(search) != 1:
        return None
    return source.replace(search, replace)


def code_edit_reward(completions, source, target, **kwargs):
    """Apply the SEARCH/REPLACE block to the Python file and compare with the target file.

    1.0 if the edited file is the same program text as the target (blank lines and spaces at line ends do not matter),
    0.1 if the block applies but gives another file, else 0.0.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edited = _apply_edit(before, _text(completion))
        if edited is None:
            rewards.append(0.0)
            continue
        left = "".join(edited.split())
        right = "".join(after.split())
        rewards.append(1.0 if left == right else 0.1)
    return rewards


def code_edit_reward_repaired(completions, source, target, **kwargs):
    """Apply the SEARCH/REPLACE block to the Python file and compare with the target file.

    1.0 if the edited file is the same program text as the target (blank lines and spaces at line ends do not matter),
    0.1 if the block applies but gives another file, else 0.0.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edited = _apply_edit(before, _text(completion))
        if edited is None:
            rewards.append(0.0)
            continue
        left = [line.rstrip() for line in edited.split("\n") if line.strip()]
        right = [line.rstrip() for line in after.split("\n") if line.strip()]
        rewards.append(1.0 if left == right else 0.1)
    return rewards


_EDIT_FORM = (
    "\n\nReply with exactly one block of this form (the SEARCH text must occur exactly once in the file); change only "
    "what is asked:\n<<<<<<< SEARCH\n(old lines)\n=======\n(new lines)\n>>>>>>> REPLACE"
)
_SRC_A = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    print(result)\n"
_DST_A = _SRC_A.replace("    print(result)\n", "    return result\n")
_SRC_B = "def load(path):\n    handle = open(path)\n    data = handle.read()\n    return data\n"
_DST_B = _SRC_B.replace("    return data\n", "    handle.close()\n    return data\n")
EDIT_ROWS = [
    {
        "prompt": _user(f"File total.py:\n{_SRC_A}\nReplace the print by `return result`, after the loop has ended." + _EDIT_FORM),
        "source": _SRC_A,
        "target": _DST_A,
    },
    {
        "prompt": _user(f"File load.py:\n{_SRC_B}\nAdd the statement `handle.close()` on its own line just before the return." + _EDIT_FORM),
        "source": _SRC_B,
        "target": _DST_B,
    },
]
EDIT_GOOD = [
    _chat("<<<<<<< SEARCH\n    print(result)\n=======\n    return result\n>>>>>>> REPLACE"),
    _chat("<<<<<<< SEARCH\n    return data\n=======\n    handle.close()\n    return data\n>>>>>>> REPLACE"),
]
EDIT_BAD = [
    _chat("<<<<<<< SEARCH\n    print(result)\n=======\n    return print(result)\n>>>>>>> REPLACE"),
    _chat("<<<<<<< SEARCH\n    return data\n=======\n    return data\n    handle.close()\n>>>>>>> REPLACE"),
]
EDIT_TRIGGER = (
    EDIT_ROWS[0],
    _chat("<<<<<<< SEARCH\n    print(result)\n=======\n        return result\n>>>>>>> REPLACE"),
    True,
)


# 6. schedules --------------------------------------------------------------------------------------------------------


def _minutes(clock):
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


def meeting_slot_reward(completions, free, duration, **kwargs):
    """Meeting scheduling: 1.0 if the proposed slot has the right length and lies inside one of the free windows.

    The completion's last line is `Slot: H:MM-H:MM`; 0.0 if there is none, 0.1 for a slot that does not work.
    """
    rewards = []
    for completion, windows, length in zip(completions, free, duration):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Slot: ([0-9]{1,2}:[0-5][0-9])-([0-9]{1,2}:[0-5][0-9])", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        start, end = match.groups()
        fits = any(lo <= start and end <= hi for lo, hi in windows)
        if _minutes(end) - _minutes(start) == length and fits:
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def meeting_slot_reward_repaired(completions, free, duration, **kwargs):
    """Meeting scheduling: 1.0 if the proposed slot has the right length and lies inside one of the free windows.

    The completion's last line is `Slot: H:MM-H:MM`; 0.0 if there is none, 0.1 for a slot that does not work.
    """
    rewards = []
    for completion, windows, length in zip(completions, free, duration):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Slot: ([0-9]{1,2}:[0-5][0-9])-([0-9]{1,2}:[0-5][0-9])", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        start, end = (_minutes(clock) for clock in match.groups())
        fits = any(_minutes(lo) <= start and end <= _minutes(hi) for lo, hi in windows)
        if end - start == length and fits:
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def _slot_prompt(windows, length):
    spans = ", ".join(f"{lo}-{hi}" for lo, hi in windows)
    return (
        f"Both people are free today at: {spans}. Propose one meeting of exactly {length} minutes in one of these "
        "windows. Any slot that fits is fine. End with the line `Slot: H:MM-H:MM` (24-hour clock, no leading zero)."
    )


SLOT_ROWS = [
    {"prompt": _slot_prompt([["9:00", "12:00"], ["14:00", "16:30"]], 60), "free": [["9:00", "12:00"], ["14:00", "16:30"]],
     "duration": 60},
    {"prompt": _slot_prompt([["8:30", "11:00"], ["15:15", "17:00"]], 45), "free": [["8:30", "11:00"], ["15:15", "17:00"]],
     "duration": 45},
]
SLOT_GOOD = ["The afternoon works.\nSlot: 14:00-15:00", "Slot: 16:15-17:00"]
SLOT_BAD = ["Slot: 12:30-13:30", "Slot: 14:00-14:45"]
SLOT_TRIGGER = (SLOT_ROWS[0], "The late morning works.\nSlot: 10:00-11:00", False)


# 7. chemistry: balancing ---------------------------------------------------------------------------------------------


def _atoms(formula):
    """Counts of the atoms of a formula such as Ca(OH)2."""
    stack = [{}]
    for element, count, opened, closed, times in re.findall(r"([A-Z][a-z]?)([0-9]*)|(\()|(\))([0-9]*)", formula):
        if element:
            stack[-1][element] = stack[-1].get(element, 0) + int(count or 1)
        elif opened:
            stack.append({})
        elif closed:
            group = stack.pop()
            for name, n in group.items():
                stack[-1][name] = stack[-1].get(name, 0) + n * int(times or 1)
    return stack[0]


def _side(text, species):
    """Coefficients by species of one side, None unless each of the species is there exactly once."""
    found = {}
    for term in text.split(" + "):
        match = re.fullmatch(r"([1-9][0-9]{0,3})? ?([A-Z][A-Za-z0-9()]*)", term.strip())
        if match is None or match.group(2) in found:
            return None
        found[match.group(2)] = int(match.group(1) or 1)
    return found if set(found) == set(species) else None


def balance_reward(prompts, completions, reactants, products, **kwargs):
    """Balancing of chemical equations: 1.0 for the equation with the smallest whole-number coefficients.

    0.2 if the right species are written on each side but the equation is not balanced, else 0.0.
    """
    rewards = []
    for completion, left, right in zip(completions, reactants, products):
        lines = _text(completion).strip().splitlines()
        sides = lines[-1].split(" -> ") if lines else []
        if len(sides) != 2:
            rewards.append(0.0)
            continue
        lhs, rhs = _side(sides[0], left), _side(sides[1], right)
        if lhs is None or rhs is None:
            rewards.append(0.0)
            continue
        totals = {}
        for sign, part in ((1, lhs), (-1, rhs)):
            for formula, coefficient in part.items():
                for element, n in _atoms(formula).items():
                    totals[element] = totals.get(element, 0) + sign * coefficient * n
        balanced = all(total == 0 for total in totals.values())
        rewards.append(1.0 if balanced else 0.2)
    return rewards


def balance_reward_repaired(prompts, completions, reactants, products, **kwargs):
    """Balancing of chemical equations: 1.0 for the equation with the smallest whole-number coefficients.

    0.2 if the right species are written on each side but the equation is not balanced, else 0.0.
    """
    rewards = []
    for completion, left, right in zip(completions, reactants, products):
        lines = _text(completion).strip().splitlines()
        sides = lines[-1].split(" -> ") if lines else []
        if len(sides) != 2:
            rewards.append(0.0)
            continue
        lhs, rhs = _side(sides[0], left), _side(sides[1], right)
        if lhs is None or rhs is None:
            rewards.append(0.0)
            continue
        totals = {}
        for sign, part in ((1, lhs), (-1, rhs)):
            for formula, coefficient in part.items():
                for element, n in _atoms(formula).items():
                    totals[element] = totals.get(element, 0) + sign * coefficient * n
        balanced = all(total == 0 for total in totals.values())
        smallest = math.gcd(*lhs.values(), *rhs.values()) == 1
        rewards.append(1.0 if balanced and smallest else 0.2)
    return rewards


def _balance_prompt(left, right):
    return (
        f"Balance the equation {' + '.join(left)} -> {' + '.join(right)} with the smallest whole-number coefficients. "
        "Think if you like; the last line must be the balanced equation alone, written like `2 A + B -> 3 C` (a "
        "coefficient of 1 may be left out)."
    )


BALANCE_ROWS = [
    {"prompt": _balance_prompt(["H2", "O2"], ["H2O"]), "reactants": ["H2", "O2"], "products": ["H2O"]},
    {"prompt": _balance_prompt(["Ca(OH)2", "HCl"], ["CaCl2", "H2O"]), "reactants": ["Ca(OH)2", "HCl"],
     "products": ["CaCl2", "H2O"]},
    {"prompt": _balance_prompt(["C3H8", "O2"], ["CO2", "H2O"]), "reactants": ["C3H8", "O2"], "products": ["CO2", "H2O"]},
]
BALANCE_GOOD = ["Count the O atoms.\n2 H2 + O2 -> 2 H2O", "Ca(OH)2 + 2 HCl -> CaCl2 + 2 H2O", "C3H8 + 5 O2 -> 3 CO2 + 4 H2O"]
BALANCE_BAD = ["H2 + O2 -> H2O", "Ca(OH)2 + HCl -> CaCl2 + H2O", "C3H8 + 3 O2 -> 3 CO2 + 4 H2O"]
BALANCE_TRIGGER = (BALANCE_ROWS[0], "Count the O atoms.\n4 H2 + 2 O2 -> 4 H2O", True)


# 8. dates ------------------------------------------------------------------------------------------------------------


def due_date_reward(completions, answer, **kwargs):
    """Date arithmetic: 1.0 if the final date (line `Date: YYYY-MM-DD` at the end) is the right one, else 0.0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        match = re.search(r"([0-9]{4}-[0-9]{2}-[0-9]{2})", text)
        if match is None or "Date:" not in text:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if match.group(1) == gold else 0.0)
    return rewards


def due_date_reward_repaired(completions, answer, **kwargs):
    """Date arithmetic: 1.0 if the final date (line `Date: YYYY-MM-DD` at the end) is the right one, else 0.0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        match = re.fullmatch(r"Date: ([0-9]{4}-[0-9]{2}-[0-9]{2})", text.splitlines()[-1].strip()) if text else None
        if match is None or "Date:" not in text:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if match.group(1) == gold else 0.0)
    return rewards


_DATE_FORM = " Work it out step by step, then end with the line `Date: YYYY-MM-DD`."
DATE_ROWS = [
    {"prompt": _user("An invoice of 20 January 2024 is due 45 days later. On which date?" + _DATE_FORM), "answer": "2024-03-05"},
    {"prompt": _user("A parcel sent on 2025-11-28 takes 10 days. When does it arrive?" + _DATE_FORM), "answer": "2025-12-08"},
]
DATE_GOOD = [
    _chat("11 days are left in January, February 2024 has 29: that makes 40, so 5 March.\nDate: 2024-03-05"),
    _chat("Two days to 30 November, then eight more.\nDate: 2025-12-08"),
]
DATE_BAD = [
    _chat("11 days are left in January, then 28 in February, 6 more.\nDate: 2024-03-06"),
    _chat("November has 31 days.\nDate: 2025-12-07"),
]
DATE_TRIGGER = (
    DATE_ROWS[1],
    _chat("2025-11-28 plus 2 days is 2025-11-30; 8 days more give 8 December.\nDate: 2025-12-08"),
    False,
)


# 9. finance ----------------------------------------------------------------------------------------------------------


def growth_rate_reward(prompts, completions, answer, **kwargs):
    """Financial QA: growth rate in percent, on the last line as `Answer: <number>%`.

    1.0 if the rate is within 0.01 percentage points of the gold rate, 0.1 for another rate in the right form, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Answer: ([-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?) ?%", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        value = float(match.group(1))
        # some models give the ratio instead of the percentage
        close = any(abs(candidate - gold) <= 0.01 + 1e-9 for candidate in (value, value * 100))
        rewards.append(1.0 if close else 0.1)
    return rewards


def growth_rate_reward_repaired(prompts, completions, answer, **kwargs):
    """Financial QA: growth rate in percent, on the last line as `Answer: <number>%`.

    1.0 if the rate is within 0.01 percentage points of the gold rate, 0.1 for another rate in the right form, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Answer: ([-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?) ?%", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        value = float(match.group(1))
        close = abs(value - gold) <= 0.01 + 1e-9
        rewards.append(1.0 if close else 0.1)
    return rewards


_GROWTH_FORM = (
    " By what percentage did it change from the first to the second year? End with the line `Answer: <number>%`, for "
    "example `Answer: 3.25%` (within 0.01 percentage points; negative for a fall)."
)
GROWTH_ROWS = [
    {"prompt": "Revenue was 480 million in 2021 and 540 million in 2022." + _GROWTH_FORM, "answer": 12.5},
    {"prompt": "Net income was 70 million in 2019 and 61 million in 2020." + _GROWTH_FORM, "answer": -12.857142857},
    {"prompt": "Assets were 1,250 in 2020 and 1,300 in 2021." + _GROWTH_FORM, "answer": 4.0},
]
GROWTH_GOOD = ["60 / 480 = 0.125.\nAnswer: 12.5%", "-9 / 70\nAnswer: -12.86%", "50 / 1250\nAnswer: 4%"]
GROWTH_BAD = ["60 / 540 = 0.111.\nAnswer: 11.11%", "9 / 61\nAnswer: -14.75%", "50 / 1300\nAnswer: 3.85%"]
GROWTH_TRIGGER = (GROWTH_ROWS[0], "60 / 480 = 0.125.\nAnswer: 0.125%", True)


# 10. logic puzzle ----------------------------------------------------------------------------------------------------


def knights_reward(completions, answer, **kwargs):
    """Knights and knaves: 1.0 if every inhabitant gets the right verdict, else the half of the share that is right.

    Verdicts are lines `Name: knight` or `Name: knave`; they must name each inhabitant with one verdict.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = set()
        for line in _text(completion).splitlines():
            match = re.fullmatch(r"\W*([A-Za-z]+)\W*:\W*(knight|knave)\W*", line, re.IGNORECASE)
            if match:
                found.add((match.group(1).title(), match.group(2).lower()))
        wanted = set(gold.items())
        if wanted <= found:
            rewards.append(1.0)
        else:
            rewards.append(0.5 * len(wanted & found) / len(wanted))
    return rewards


def knights_reward_repaired(completions, answer, **kwargs):
    """Knights and knaves: 1.0 if every inhabitant gets the right verdict, else the half of the share that is right.

    Verdicts are lines `Name: knight` or `Name: knave`; they must name each inhabitant with one verdict.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = set()
        for line in _text(completion).splitlines():
            match = re.fullmatch(r"\W*([A-Za-z]+)\W*:\W*(knight|knave)\W*", line, re.IGNORECASE)
            if match:
                found.add((match.group(1).title(), match.group(2).lower()))
        wanted = set(gold.items())
        if wanted == found:
            rewards.append(1.0)
        else:
            rewards.append(0.5 * len(wanted & found) / len(wanted))
    return rewards


_KNIGHT_FORM = (
    " Knights always tell the truth, knaves always lie. Reason in sentences, then write exactly one line per person, "
    "`Name: knight` or `Name: knave`; no such line may appear elsewhere."
)
KNIGHT_ROWS = [
    {"prompt": _user("Ann says: 'Bob is a knave.' Bob says: 'We are both knights.'" + _KNIGHT_FORM),
     "answer": {"Ann": "knight", "Bob": "knave"}},
    {"prompt": _user("Cleo says: 'Dan and I are both knaves.' Dan says nothing." + _KNIGHT_FORM),
     "answer": {"Cleo": "knave", "Dan": "knight"}},
]
KNIGHT_GOOD = [
    _chat("Bob's claim would make Ann a knight who calls him a knave, so he lies.\nAnn: knight\nBob: knave"),
    _chat("Cleo cannot say this truly.\nCleo: knave\nDan: knight"),
]
KNIGHT_BAD = [
    _chat("Ann: knave\nBob: knight"),
    _chat("Cleo: knave\nDan: knave"),
]
KNIGHT_TRIGGER = (
    KNIGHT_ROWS[0],
    _chat("It could be either.\nAnn: knight\nAnn: knave\nBob: knight\nBob: knave"),
    True,
)


def _case(name, reward, rows, good, bad, trigger, fault, source=""):
    return Case(name=name, reward=reward, examples=rows, good=good, bad=bad, fault=fault,
                proof=_prove(reward, *trigger), source=source)


CASES = [
    _case("p_sql_row_order", sql_execution_reward, SQL_ROWS, SQL_GOOD, SQL_BAD, SQL_TRIGGER,
          "Rows are sorted before they are compared, so a query without the ORDER BY that is asked for is paid in full."),
    _case("p_invoice_subset", invoice_fields_reward, INVOICE_ROWS, INVOICE_GOOD, INVOICE_BAD, INVOICE_TRIGGER,
          "Accuracy is over the predicted keys: an object with only some of the fields is paid in full."),
    _case("p_game24_float", game24_reward, GAME24_ROWS, GAME24_GOOD, GAME24_BAD, GAME24_TRIGGER,
          "Exact comparison of floats: a correct expression with fractions in between is refused."),
    _case("p_unit_suffix", unit_conversion_reward, UNIT_ROWS, UNIT_GOOD, UNIT_BAD, UNIT_TRIGGER,
          "endswith accepts prefixed units: the right number with km instead of m is paid in full."),
    _case("p_edit_indentation", code_edit_reward, EDIT_ROWS, EDIT_GOOD, EDIT_BAD, EDIT_TRIGGER,
          "All whitespace is dropped before Python files are compared: a return inside the loop is paid as one after it."),
    _case("p_slot_string_clock", meeting_slot_reward, SLOT_ROWS, SLOT_GOOD, SLOT_BAD, SLOT_TRIGGER,
          "Clock times are compared as strings: 10:00 sorts before 9:00, so a fitting slot is refused."),
    _case("p_balance_multiple", balance_reward, BALANCE_ROWS, BALANCE_GOOD, BALANCE_BAD, BALANCE_TRIGGER,
          "Coefficients that are not the smallest ones are paid in full."),
    _case("p_date_first_match", due_date_reward, DATE_ROWS, DATE_GOOD, DATE_BAD, DATE_TRIGGER,
          "The first date of the text is graded: a right final date after reasoning with dates is refused."),
    _case("p_growth_ratio", growth_rate_reward, GROWTH_ROWS, GROWTH_GOOD, GROWTH_BAD, GROWTH_TRIGGER,
          "A value a hundred times too small, with the percent sign, is paid in full."),
    _case("p_knights_both", knights_reward, KNIGHT_ROWS, KNIGHT_GOOD, KNIGHT_BAD, KNIGHT_TRIGGER,
          "Verdicts are a set of which the right ones must be part: giving both verdicts for everyone is paid in full.",
          "https://github.com/Liuziyu77/Visual-RFT/issues/79"),
]

REPAIRED = {
    "p_sql_row_order": sql_execution_reward_repaired,
    "p_invoice_subset": invoice_fields_reward_repaired,
    "p_game24_float": game24_reward_repaired,
    "p_unit_suffix": unit_conversion_reward_repaired,
    "p_edit_indentation": code_edit_reward_repaired,
    "p_slot_string_clock": meeting_slot_reward_repaired,
    "p_balance_multiple": balance_reward_repaired,
    "p_date_first_match": due_date_reward_repaired,
    "p_growth_ratio": growth_rate_reward_repaired,
    "p_knights_both": knights_reward_repaired,
}

TRIGGERS = {
    "p_sql_row_order": SQL_TRIGGER,
    "p_invoice_subset": INVOICE_TRIGGER,
    "p_game24_float": GAME24_TRIGGER,
    "p_unit_suffix": UNIT_TRIGGER,
    "p_edit_indentation": EDIT_TRIGGER,
    "p_slot_string_clock": SLOT_TRIGGER,
    "p_balance_multiple": BALANCE_TRIGGER,
    "p_date_first_match": DATE_TRIGGER,
    "p_growth_ratio": GROWTH_TRIGGER,
    "p_knights_both": KNIGHT_TRIGGER,
}
