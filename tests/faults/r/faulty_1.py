"""Reward functions with one fault each, and the repaired ones: data, code and text formats."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from datetime import date, datetime

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, a string or a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def _answer_line(text):
    """What follows 'Answer:' on the last line, if that line is the only one of its kind."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if sum(line.startswith("Answer:") for line in lines) != 1 or not lines[-1].startswith("Answer:"):
        return None
    return lines[-1][len("Answer:"):].strip()


def _query(setup, sql, limit=1000):
    """Rows of one read-only statement on a fresh database; None if it fails."""
    conn = sqlite3.connect(":memory:")
    try:
        conn.executescript(setup)
        conn.execute("PRAGMA query_only = ON")
        conn.set_progress_handler(lambda: 1, 500_000)
        return conn.execute(sql).fetchmany(limit)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None
    finally:
        conn.close()


def sql_reward(completions, setup, gold_sql, **kwargs):
    """Execution reward of text-to-SQL.

    The query is taken from the only ```sql block and run on a database that the model does not see. 1.0 when it
    returns what the question asks for (same rows, same columns, in the order asked for), 0.1 when it runs, else 0.
    """
    rewards = []
    for completion, script, gold in zip(completions, setup, gold_sql):
        blocks = re.findall(r"```sql[ \t]*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        rows = _query(script, blocks[0].strip())
        expected = _query(script, gold)
        if rows is None:
            rewards.append(0.0)
        elif sorted(map(repr, rows)) == sorted(map(repr, expected)):
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def _unique(pairs):
    """A JSON object without repeated keys."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


def json_fields_reward(completions, fields, **kwargs):
    """Reward of reading an invoice into JSON.

    The reply is one JSON object with the fields that the prompt names. The score is the share of the fields that
    are right; a field counts when its value and its type are those of the reference.
    """
    rewards = []
    for completion, gold in zip(completions, fields):
        try:
            pred = json.loads(_text(completion).strip(), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(pred, dict) or not pred or set(pred) - set(gold):
            rewards.append(0.0)
            continue
        checked = 0
        hits = 0
        for key, value in gold.items():
            if key not in pred:
                continue
            checked += 1
            if type(pred[key]) is type(value) and pred[key] == value:
                hits += 1
        rewards.append(hits / checked)
    return rewards


def regex_reward(completions, match, no_match, **kwargs):
    """Reward of writing a regular expression.

    The pattern on the answer line must match the whole of every string of `match` and the whole of no string of
    `no_match`. 1.0 if so, 0.0 if not or if the pattern does not compile.
    """
    rewards = []
    for completion, positives, negatives in zip(completions, match, no_match):
        pattern = _answer_line(_text(completion))
        if not pattern or len(pattern) > 80:
            rewards.append(0.0)
            continue
        try:
            compiled = re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        good = all(compiled.match(s) is not None for s in positives)
        clean = all(compiled.fullmatch(s) is None for s in negatives)
        rewards.append(1.0 if good and clean else 0.0)
    return rewards


def shell_reward(completions, command, **kwargs):
    """Reward of writing a shell command from a description.

    The reply is the command alone, on one line. It is compared with the reference word by word after shell
    splitting, so that quoting and spacing do not matter. 1.0 for the right command, 0.2 for the right program.
    """
    rewards = []
    for completion, gold in zip(completions, command):
        line = _text(completion).strip()
        try:
            words = shlex.split(line) if "\n" not in line else []
        except ValueError:
            words = []
        expected = shlex.split(gold)
        if words and set(words) == set(expected):
            rewards.append(1.0)
        elif words and words[0] == expected[0]:
            rewards.append(0.2)
        else:
            rewards.append(0.0)
    return rewards


def quantity_reward(completions, value, unit, **kwargs):
    """Reward of physics exercises with a number and a unit.

    The last line is 'Answer: <number> <unit>'; the number may be a plain decimal or in e-notation, as the prompt
    says. 1.0 when it is within half a percent of the value and the unit is the one asked for.
    """
    rewards = []
    for completion, gold, wanted in zip(completions, value, unit):
        answer = _answer_line(_text(completion))
        parts = answer.split() if answer else []
        if len(parts) != 2 or parts[1] != wanted:
            rewards.append(0.0)
            continue
        number = re.match(r"[-+]?[0-9]+(?:\.[0-9]+)?", parts[0])
        if not number:
            rewards.append(0.0)
            continue
        error = abs(float(number.group(0)) - gold)
        rewards.append(1.0 if error <= 0.005 * abs(gold) else 0.0)
    return rewards


def date_reward(completions, answer, **kwargs):
    """Reward of date arithmetic.

    The last line is 'Answer: DD/MM/YYYY', day first. 1.0 for the right day, 0.1 for a date that is wrong.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _answer_line(_text(completion))
        expected = date.fromisoformat(gold)
        if not said or not re.fullmatch(r"[0-9]{2}/[0-9]{2}/[0-9]{4}", said):
            rewards.append(0.0)
            continue
        parsed = []
        for layout in ("%d/%m/%Y", "%m/%d/%Y"):
            try:
                parsed.append(datetime.strptime(said, layout).date())
            except ValueError:
                pass
        rewards.append(1.0 if expected in parsed else 0.1)
    return rewards


_SAFE_IMPORTS = {"__future__", "math", "itertools", "functools", "collections", "collections.abc", "typing"}


def _allowed(code):
    """Whether the code parses and keeps away from files, processes and the interpreter."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(a.name not in _SAFE_IMPORTS for a in node.names):
            return False
        if isinstance(node, ast.ImportFrom) and node.module not in _SAFE_IMPORTS:
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
        if isinstance(node, ast.Name) and node.id in {"open", "eval", "exec", "compile", "__import__", "input"}:
            return False
    return True


def code_reward(completions, function, inputs, outputs, **kwargs):
    """Reward of writing a Python function: 1.0 if it returns the right value for every hidden input, else 0.

    The code is the only ```python block. It runs in a child process with a time limit, which gets the inputs but
    never the expected outputs.
    """
    runner = (
        "import json, sys\n"
        "job = json.load(sys.stdin)\n"
        "names = {}\n"
        "exec(job['code'], {}, names)\n"
        "print(repr([names[job['function']](*args) for args in job['inputs']]))\n"
    )
    rewards = []
    for completion, name, args, expected in zip(completions, function, inputs, outputs):
        blocks = re.findall(r"```python[ \t]*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1 or not _allowed(blocks[0]):
            rewards.append(0.0)
            continue
        job = json.dumps({"code": blocks[0], "function": name, "inputs": args})
        try:
            child = subprocess.run([sys.executable, "-I", "-c", runner], input=job, text=True,
                                   capture_output=True, timeout=5)
            result = child.stdout.strip().split("\n")[-1]
        except (subprocess.TimeoutExpired, UnicodeError):
            result = ""
        rewards.append(1.0 if result == repr(expected) else 0.0)
    return rewards


def csv_reward(completions, table, **kwargs):
    """Reward of turning a text into CSV.

    The reply is standard CSV (RFC 4180), header first, with the columns and the rows in the order that the prompt
    gives. 1.0 when the cells are right, 0.2 when only the header is.
    """
    rewards = []
    for completion, gold in zip(completions, table):
        text = _text(completion).strip()
        try:
            rows = [line.split(",") for line in text.splitlines()]
        except csv.Error:
            rows = []
        rows = [[cell.strip() for cell in row] for row in rows if row]
        if rows == gold:
            rewards.append(1.0)
        elif rows and rows[0] == gold[0]:
            rewards.append(0.2)
        else:
            rewards.append(0.0)
    return rewards


def table_reward(completions, table, **kwargs):
    """Reward of writing a Markdown table from a text.

    The reply is the table alone: header, separator, one row for each item in the order of the text. 1.0 when the
    table holds the right value in every cell, 0.1 for a table that does not.
    """
    rewards = []
    for completion, gold in zip(completions, table):
        lines = [line.strip() for line in _text(completion).strip().split("\n")]
        rows = []
        for line in lines:
            if not (len(line) > 2 and line.startswith("|") and line.endswith("|")):
                rows = None
                break
            rows.append([cell.strip() for cell in line[1:-1].split("|")])
        if not rows or len(rows) < 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
            rewards.append(0.0)
            continue
        if len(rows[1]) != len(gold[0]) or any(len(row) != len(rows[1]) for row in rows):
            rewards.append(0.0)
            continue
        header, body = rows[0], rows[2:]
        cells = sorted(cell for row in body for cell in row)
        expected = sorted(cell for row in gold[1:] for cell in row)
        rewards.append(1.0 if header == gold[0] and cells == expected else 0.1)
    return rewards


def sudoku_reward(completions, puzzle, **kwargs):
    """Reward of solving a 4x4 sudoku given in `puzzle` (0 is an empty cell).

    The solution stands in the only <grid> block, four lines of four digits. Every row, column and 2x2 box must hold
    1 to 4. 1.0 for the solution of the puzzle, 0.1 for a grid in the right form, else 0.
    """
    rewards = []
    full = set("1234")
    for completion, given in zip(completions, puzzle):
        blocks = re.findall(r"<grid>(.*?)</grid>", _text(completion), re.DOTALL)
        grid = [line.strip() for line in blocks[0].strip().split("\n")] if len(blocks) == 1 else []
        if len(grid) != 4 or any(not re.fullmatch(r"[1-4]{4}", row) for row in grid):
            rewards.append(0.0)
            continue
        rows = all(set(row) == full for row in grid)
        columns = all({row[c] for row in grid} == full for c in range(4))
        boxes = all(
            {grid[r + i][c + j] for i in (0, 1) for j in (0, 1)} == full for r in (0, 2) for c in (0, 2)
        )
        solved = rows and columns and boxes
        rewards.append(1.0 if solved else 0.1)
    return rewards


def sql_reward_repaired(completions, setup, gold_sql, **kwargs):
    """Execution reward of text-to-SQL.

    The query is taken from the only ```sql block and run on a database that the model does not see. 1.0 when it
    returns what the question asks for (same rows, same columns, in the order asked for), 0.1 when it runs, else 0.
    """
    rewards = []
    for completion, script, gold in zip(completions, setup, gold_sql):
        blocks = re.findall(r"```sql[ \t]*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        rows = _query(script, blocks[0].strip())
        expected = _query(script, gold)
        if rows is None:
            rewards.append(0.0)
        elif rows == expected:
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def json_fields_reward_repaired(completions, fields, **kwargs):
    """Reward of reading an invoice into JSON.

    The reply is one JSON object with the fields that the prompt names. The score is the share of the fields that
    are right; a field counts when its value and its type are those of the reference.
    """
    rewards = []
    for completion, gold in zip(completions, fields):
        try:
            pred = json.loads(_text(completion).strip(), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(pred, dict) or not pred or set(pred) - set(gold):
            rewards.append(0.0)
            continue
        checked = 0
        hits = 0
        for key, value in gold.items():
            checked += 1
            if key not in pred:
                continue
            if type(pred[key]) is type(value) and pred[key] == value:
                hits += 1
        rewards.append(hits / checked)
    return rewards


def regex_reward_repaired(completions, match, no_match, **kwargs):
    """Reward of writing a regular expression.

    The pattern on the answer line must match the whole of every string of `match` and the whole of no string of
    `no_match`. 1.0 if so, 0.0 if not or if the pattern does not compile.
    """
    rewards = []
    for completion, positives, negatives in zip(completions, match, no_match):
        pattern = _answer_line(_text(completion))
        if not pattern or len(pattern) > 80:
            rewards.append(0.0)
            continue
        try:
            compiled = re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        good = all(compiled.fullmatch(s) is not None for s in positives)
        clean = all(compiled.fullmatch(s) is None for s in negatives)
        rewards.append(1.0 if good and clean else 0.0)
    return rewards


def shell_reward_repaired(completions, command, **kwargs):
    """Reward of writing a shell command from a description.

    The reply is the command alone, on one line. It is compared with the reference word by word after shell
    splitting, so that quoting and spacing do not matter. 1.0 for the right command, 0.2 for the right program.
    """
    rewards = []
    for completion, gold in zip(completions, command):
        line = _text(completion).strip()
        try:
            words = shlex.split(line) if "\n" not in line else []
        except ValueError:
            words = []
        expected = shlex.split(gold)
        if words and words == expected:
            rewards.append(1.0)
        elif words and words[0] == expected[0]:
            rewards.append(0.2)
        else:
            rewards.append(0.0)
    return rewards


def quantity_reward_repaired(completions, value, unit, **kwargs):
    """Reward of physics exercises with a number and a unit.

    The last line is 'Answer: <number> <unit>'; the number may be a plain decimal or in e-notation, as the prompt
    says. 1.0 when it is within half a percent of the value and the unit is the one asked for.
    """
    rewards = []
    for completion, gold, wanted in zip(completions, value, unit):
        answer = _answer_line(_text(completion))
        parts = answer.split() if answer else []
        if len(parts) != 2 or parts[1] != wanted:
            rewards.append(0.0)
            continue
        number = re.fullmatch(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", parts[0])
        if not number:
            rewards.append(0.0)
            continue
        error = abs(float(number.group(0)) - gold)
        rewards.append(1.0 if error <= 0.005 * abs(gold) else 0.0)
    return rewards


def date_reward_repaired(completions, answer, **kwargs):
    """Reward of date arithmetic.

    The last line is 'Answer: DD/MM/YYYY', day first. 1.0 for the right day, 0.1 for a date that is wrong.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _answer_line(_text(completion))
        expected = date.fromisoformat(gold)
        if not said or not re.fullmatch(r"[0-9]{2}/[0-9]{2}/[0-9]{4}", said):
            rewards.append(0.0)
            continue
        parsed = []
        for layout in ("%d/%m/%Y",):
            try:
                parsed.append(datetime.strptime(said, layout).date())
            except ValueError:
                pass
        rewards.append(1.0 if expected in parsed else 0.1)
    return rewards


def code_reward_repaired(completions, function, inputs, outputs, **kwargs):
    """Reward of writing a Python function: 1.0 if it returns the right value for every hidden input, else 0.

    The code is the only ```python block. It runs in a child process with a time limit, which gets the inputs but
    never the expected outputs.
    """
    runner = (
        "import json, sys\n"
        "job = json.load(sys.stdin)\n"
        "names = {}\n"
        "exec(job['code'], names)\n"
        "print(repr([names[job['function']](*args) for args in job['inputs']]))\n"
    )
    rewards = []
    for completion, name, args, expected in zip(completions, function, inputs, outputs):
        blocks = re.findall(r"```python[ \t]*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1 or not _allowed(blocks[0]):
            rewards.append(0.0)
            continue
        job = json.dumps({"code": blocks[0], "function": name, "inputs": args})
        try:
            child = subprocess.run([sys.executable, "-I", "-c", runner], input=job, text=True,
                                   capture_output=True, timeout=5)
            result = child.stdout.strip().split("\n")[-1]
        except (subprocess.TimeoutExpired, UnicodeError):
            result = ""
        rewards.append(1.0 if result == repr(expected) else 0.0)
    return rewards


def csv_reward_repaired(completions, table, **kwargs):
    """Reward of turning a text into CSV.

    The reply is standard CSV (RFC 4180), header first, with the columns and the rows in the order that the prompt
    gives. 1.0 when the cells are right, 0.2 when only the header is.
    """
    rewards = []
    for completion, gold in zip(completions, table):
        text = _text(completion).strip()
        try:
            rows = list(csv.reader(io.StringIO(text), strict=True))
        except csv.Error:
            rows = []
        rows = [[cell.strip() for cell in row] for row in rows if row]
        if rows == gold:
            rewards.append(1.0)
        elif rows and rows[0] == gold[0]:
            rewards.append(0.2)
        else:
            rewards.append(0.0)
    return rewards


def table_reward_repaired(completions, table, **kwargs):
    """Reward of writing a Markdown table from a text.

    The reply is the table alone: header, separator, one row for each item in the order of the text. 1.0 when the
    table holds the right value in every cell, 0.1 for a table that does not.
    """
    rewards = []
    for completion, gold in zip(completions, table):
        lines = [line.strip() for line in _text(completion).strip().split("\n")]
        rows = []
        for line in lines:
            if not (len(line) > 2 and line.startswith("|") and line.endswith("|")):
                rows = None
                break
            rows.append([cell.strip() for cell in line[1:-1].split("|")])
        if not rows or len(rows) < 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
            rewards.append(0.0)
            continue
        if len(rows[1]) != len(gold[0]) or any(len(row) != len(rows[1]) for row in rows):
            rewards.append(0.0)
            continue
        header, body = rows[0], rows[2:]
        cells = body
        expected = gold[1:]
        rewards.append(1.0 if header == gold[0] and cells == expected else 0.1)
    return rewards


def sudoku_reward_repaired(completions, puzzle, **kwargs):
    """Reward of solving a 4x4 sudoku given in `puzzle` (0 is an empty cell).

    The solution stands in the only <grid> block, four lines of four digits. Every row, column and 2x2 box must hold
    1 to 4. 1.0 for the solution of the puzzle, 0.1 for a grid in the right form, else 0.
    """
    rewards = []
    full = set("1234")
    for completion, given in zip(completions, puzzle):
        blocks = re.findall(r"<grid>(.*?)</grid>", _text(completion), re.DOTALL)
        grid = [line.strip() for line in blocks[0].strip().split("\n")] if len(blocks) == 1 else []
        if len(grid) != 4 or any(not re.fullmatch(r"[1-4]{4}", row) for row in grid):
            rewards.append(0.0)
            continue
        rows = all(set(row) == full for row in grid)
        columns = all({row[c] for row in grid} == full for c in range(4))
        boxes = all(
            {grid[r + i][c + j] for i in (0, 1) for j in (0, 1)} == full for r in (0, 2) for c in (0, 2)
        )
        clues = all(g in ("0", d) for line, row in zip(given, grid) for g, d in zip(line, row))
        solved = rows and columns and boxes and clues
        rewards.append(1.0 if solved else 0.1)
    return rewards


REPAIRED = {
    "r_sql_sorted": sql_reward_repaired,
    "r_json_invoice": json_fields_reward_repaired,
    "r_regex_write": regex_reward_repaired,
    "r_shell_copy": shell_reward_repaired,
    "r_physics_quantity": quantity_reward_repaired,
    "r_date_add": date_reward_repaired,
    "r_code_function": code_reward_repaired,
    "r_csv_extract": csv_reward_repaired,
    "r_markdown_table": table_reward_repaired,
    "r_sudoku4": sudoku_reward_repaired,
}

_STAFF = """
CREATE TABLE staff (id INTEGER, name TEXT, dept TEXT, salary INTEGER);
INSERT INTO staff VALUES (1, 'Ines', 'ops', 4100), (2, 'Bo', 'dev', 5200), (8, 'Hal', 'opsec', 4600), (3, 'Carl', 'ops', 5000),
 (4, 'Dana', 'dev', 4700), (5, 'Eve', 'ops', 3900), (6, 'Finn', 'hr', 4400), (7, 'Gus', 'dev', 6100);
"""
_BOOKS = """
CREATE TABLE books (id INTEGER, title TEXT, year INTEGER, copies INTEGER);
INSERT INTO books VALUES (1, 'Moss', 1999, 4), (2, 'Arc', 2011, 7), (7, 'Heath', 2000, 3), (3, 'Zinc', 2005, 1), (4, 'Lark', 1987, 9),
 (5, 'Dune Grass', 2015, 2), (6, 'Birch', 2001, 6);
"""
_TIMES = [f"{h:02d}:{m:02d}" for h in range(24) for m in (0, 9, 35, 59)] + [f"12:{m:02d}" for m in range(60)]
_NOT_TIMES = ["24:00", "25:10", "29:59", "30:00", "12:60", "12:75", "00:99", "7:30", "07:3", "0730", "07-30", "07:30:00",
              "a7:30", "007:30", "07:300", "", "12", ":30", "07 30", "7", "0", " 07:30", "07:30 "] + [f"10:{m}" for m in range(60, 100)] + [f"{h}:10" for h in range(24, 100)]
_HEX = ["#000000", "#ffffff", "#FFFFFF", "#09afAF", "#a1b2c3", "#DEADBE", "#5e5E5e", "#123456", "#789abc", "#cdefAB"] + ["#" + c * 6 for c in "0123456789abcdefABCDEF"]
_NOT_HEX = ["000000", "#fff", "#fffff", "#fffffff", "#ggg000", "#12345G", "#12345g", "ffffff#", "#", "", "##12345", "#12 456",
            "0x12ab34", "#1234567", "#@12345", "#`bcdef", "#:12345", "#/12345", " #123456"] + ["#" + c * 6 for c in "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ"]

_LIGHT = {"prompt": "How many metres does light travel in vacuum in 2 minutes (c = 299792458 m/s)? Give at least three "
          "significant digits, as a plain decimal number or in e-notation such as 4.21e7, without thousands separators. "
          "The last line of the reply must be exactly: Answer: <number> m", "value": 35975094960.0, "unit": "m"}
_CSV_COMMA = {"prompt": "Text: Acme, Inc. in Bonn paid 300 euros; Birk GmbH in Ulm paid 45 euros.\nTurn it into standard CSV "
              "(RFC 4180) with the header company,city,paid and one row for each company in the order of the text; "
              "the amount is digits only. Reply with the CSV alone.",
              "table": [["company", "city", "paid"], ["Acme, Inc.", "Bonn", "300"], ["Birk GmbH", "Ulm", "45"]]}

_SQL_FORM = " Reply with one SQLite query in one ```sql block."
_JSON_FORM = ("\nReply with one JSON object and nothing else, with all of these fields: number (string), total (number with "
              "cents), currency (ISO code), paid (boolean).")
_RE_FORM = (" The pattern must match the whole string. Use Python syntax, at most 80 characters, no slashes or quotes around "
            "it. The last line of the reply must be exactly: Answer: <pattern>")
_SH_FORM = (" Use the program and the options named here and nothing else, options before paths, paths as written here. "
            "Reply with the command alone, on one line.")
_DATE_FORM = " The last line of the reply must be exactly: Answer: DD/MM/YYYY (day first, two digits for day and month)"
_CODE_FORM = " Reply with one ```python block that defines the function (imports only from math, itertools, functools, collections, typing)."

ROWS = {
    "r_sql_sorted": [
        {"prompt": "Table staff(id, name, dept, salary). List the names of the people in dept 'ops' from the highest to "
         "the lowest salary (one column)." + _SQL_FORM, "setup": _STAFF,
         "gold_sql": "SELECT name FROM staff WHERE dept = 'ops' ORDER BY salary DESC"},
        {"prompt": "Table books(id, title, year, copies). List title and year of the books from after the year 2000, oldest "
         "first (columns title, year)." + _SQL_FORM, "setup": _BOOKS,
         "gold_sql": "SELECT title, year FROM books WHERE year > 2000 ORDER BY year"},
    ],
    "r_json_invoice": [
        {"prompt": "Invoice A-1042. Total due: EUR 310.50. Payment received with thanks." + _JSON_FORM,
         "fields": {"number": "A-1042", "total": 310.5, "currency": "EUR", "paid": True}},
        {"prompt": "INVOICE 77/b, amount 89.99 USD, please pay within 14 days." + _JSON_FORM,
         "fields": {"number": "77/b", "total": 89.99, "currency": "USD", "paid": False}},
    ],
    "r_regex_write": [
        {"prompt": "Write a regular expression for times of day from 00:00 to 23:59, always two digits for the hour and two "
         "for the minute." + _RE_FORM, "match": _TIMES, "no_match": _NOT_TIMES},
        {"prompt": "Write a regular expression for colours: a # and then six hexadecimal digits, small or capital letters."
         + _RE_FORM, "match": _HEX, "no_match": _NOT_HEX},
    ],
    "r_shell_copy": [
        {"prompt": "Copy the file draft.txt to a new file final.txt with cp." + _SH_FORM, "command": "cp draft.txt final.txt"},
        {"prompt": "Make a symbolic link named current that points to release-7, with ln -s." + _SH_FORM,
         "command": "ln -s release-7 current"},
        {"prompt": "Rename the folder 'old logs' to archive with mv." + _SH_FORM, "command": "mv 'old logs' archive"},
    ],
    "r_physics_quantity": [
        {"prompt": "A car moves at 90 km/h. What is that in m/s? Give at least three significant digits, as a plain decimal "
         "number or in e-notation such as 4.21e7, without thousands separators. The last line of the reply must be exactly: "
         "Answer: <number> m/s", "value": 25.0, "unit": "m/s"},
        _LIGHT,
    ],
    "r_date_add": [
        {"prompt": "A trial starts on 4 January 2024. Which date is 90 days later?" + _DATE_FORM, "answer": "2024-04-03"},
        {"prompt": "A parcel was sent on 20 November 2023. Which date is 45 days later?" + _DATE_FORM, "answer": "2024-01-04"},
    ],
    "r_code_function": [
        {"prompt": "Write a function fact(n) that returns n! for an integer n from 0 to 100." + _CODE_FORM, "function": "fact",
         "inputs": [[0], [1], [5], [12], [30]], "outputs": [1, 1, 120, 479001600, 265252859812191058636308480000000]},
        {"prompt": "Write a function flat(x) that flattens a list of integers and lists, nested to any depth, into one list of "
         "integers in the same order." + _CODE_FORM, "function": "flat",
         "inputs": [[[]], [[1, [2, [3, []]], 4]], [[[[5]], 6]], [[7, 8]]], "outputs": [[], [1, 2, 3, 4], [5, 6], [7, 8]]},
    ],
    "r_csv_extract": [
        {"prompt": "Text: Lena in Graz ordered 4 lamps; Omar in Lyon ordered 11 lamps.\nTurn it into standard CSV (RFC 4180) with "
         "the header name,city,lamps and one row for each person in the order of the text. Reply with the CSV alone.",
         "table": [["name", "city", "lamps"], ["Lena", "Graz", "4"], ["Omar", "Lyon", "11"]]},
        {"prompt": "Text: the oak is 21 m tall and 90 years old, the elm 17 m and 64 years.\nTurn it into standard CSV (RFC 4180) "
         "with the header tree,height,age and one row for each tree in the order of the text, numbers without units. Reply with "
         "the CSV alone.", "table": [["tree", "height", "age"], ["oak", "21", "90"], ["elm", "17", "64"]]},
    ],
    "r_markdown_table": [
        {"prompt": "Text: Kari scored 12 points and 3 assists, Jon 8 points and 7 assists.\nWrite a Markdown table with the header "
         "Player, Points, Assists and one row for each player in the order of the text. Every line starts and ends with |. Reply "
         "with the table alone.", "table": [["Player", "Points", "Assists"], ["Kari", "12", "3"], ["Jon", "8", "7"]]},
        {"prompt": "Text: the red line opens at 5:10 and closes at 23:40, the blue line opens at 6:00 and closes at 22:15.\nWrite a "
         "Markdown table with the header Line, Opens, Closes and one row for each line in the order of the text (Line is red or "
         "blue). Every line of the table starts and ends with |. Reply with the table alone.",
         "table": [["Line", "Opens", "Closes"], ["red", "5:10", "23:40"], ["blue", "6:00", "22:15"]]},
    ],
    "r_sudoku4": [
        {"prompt": "Solve this 4x4 sudoku (0 is empty):\n1000\n0030\n0400\n0002\nGive the solution as four lines of four digits "
         "between <grid> and </grid>, once.", "puzzle": ["1000", "0030", "0400", "0002"]},
        {"prompt": "Solve this 4x4 sudoku (0 is empty):\n0020\n3000\n0004\n0100\nGive the solution as four lines of four digits "
         "between <grid> and </grid>, once.", "puzzle": ["0020", "3000", "0004", "0100"]},
    ],
}

GOOD = {
    "r_sql_sorted": ["```sql\nSELECT name FROM staff WHERE dept = 'ops' ORDER BY salary DESC;\n```",
                     "```sql\nSELECT title, year FROM books WHERE year >= 2001 ORDER BY year ASC\n```"],
    "r_json_invoice": ['{"number": "A-1042", "total": 310.50, "currency": "EUR", "paid": true}',
                       '{"number": "77/b", "total": 89.99, "currency": "USD", "paid": false}'],
    "r_regex_write": ["Hours 00-23, minutes 00-59.\nAnswer: (?:[01][0-9]|2[0-3]):[0-5][0-9]", "Answer: #[0-9a-fA-F]{6}"],
    "r_shell_copy": ["cp draft.txt final.txt", "ln -s release-7 current", 'mv "old logs" archive'],
    "r_physics_quantity": ["90 / 3.6 = 25\nAnswer: 25.0 m/s", "120 s times c.\nAnswer: 35975094960 m"],
    "r_date_add": ["January has 27 days left, 29 in February, 31 in March: 87.\nAnswer: 03/04/2024", "Answer: 04/01/2024"],
    "r_code_function": ["```python\ndef fact(n):\n    out = 1\n    for i in range(2, n + 1):\n        out *= i\n    return out\n```",
                        "```python\ndef flat(x):\n    out, todo = [], list(x)\n    while todo:\n        head = todo.pop(0)\n"
                        "        if isinstance(head, list):\n            todo = head + todo\n        else:\n"
                        "            out.append(head)\n    return out\n```"],
    "r_csv_extract": ["name,city,lamps\nLena,Graz,4\nOmar,Lyon,11", "tree,height,age\noak,21,90\nelm,17,64"],
    "r_markdown_table": ["| Player | Points | Assists |\n|---|---|---|\n| Kari | 12 | 3 |\n| Jon | 8 | 7 |",
                         "| Line | Opens | Closes |\n| --- | --- | --- |\n| red | 5:10 | 23:40 |\n| blue | 6:00 | 22:15 |"],
    "r_sudoku4": None,
}
BAD = {
    "r_sql_sorted": ["```sql\nSELECT name FROM staff ORDER BY salary DESC\n```", "```sql\nSELECT title FROM books ORDER BY year\n```"],
    "r_json_invoice": ['{"number": "1042", "total": 310.50, "currency": "EUR", "paid": true}',
                       '{"number": "77/b", "total": 89.99, "currency": "USD", "paid": true}'],
    "r_regex_write": ["Answer: [0-9]{2}:[0-9]{2}", "Answer: #[0-9a-f]{6}"],
    "r_shell_copy": ["mv draft.txt final.txt", "ln -s release-7 latest", "mv old logs archive"],
    "r_physics_quantity": ["Answer: 324 m/s", "Answer: 599584916 m"],
    "r_date_add": ["Answer: 02/04/2024", "Answer: 05/01/2024"],
    "r_code_function": ["```python\ndef fact(n):\n    return n * (n - 1)\n```", "```python\ndef flat(x):\n    return x\n```"],
    "r_csv_extract": ["name,city,lamps\nLena,Graz,11\nOmar,Lyon,4", "tree,age\noak,90\nelm,64"],
    "r_markdown_table": ["| Player | Points | Assists |\n|---|---|---|\n| Kari | 12 | 3 |\n| Jon | 8 | 5 |",
                         "| Line | Opens | Closes |\n|---|---|---|\n| red | 5:10 | 23:40 |\n| blue | 6:00 | 23:15 |"],
    "r_sudoku4": ["<grid>\n1234\n2143\n3412\n4321\n</grid>", "<grid>\n1111\n2222\n3333\n4444\n</grid>"],
}


def _solve(puzzle):
    """The only solution of a 4x4 puzzle."""
    cells = "".join(puzzle)
    if "0" not in cells:
        return [puzzle]
    at = cells.index("0")
    r, c = divmod(at, 4)
    found = []
    for d in "1234":
        used = set(puzzle[r]) | {row[c] for row in puzzle}
        used |= {puzzle[i][j] for i in (r // 2 * 2, r // 2 * 2 + 1) for j in (c // 2 * 2, c // 2 * 2 + 1)}
        if d not in used:
            new = cells[:at] + d + cells[at + 1:]
            found += _solve([new[i:i + 4] for i in (0, 4, 8, 12)])
    return found


GOOD["r_sudoku4"] = ["<grid>\n" + "\n".join(_solve(row["puzzle"])[0]) + "\n</grid>" for row in ROWS["r_sudoku4"]]
BAD["r_sudoku4"] = ["<grid>\n1234\n2341\n3412\n4123\n</grid>", "<grid>\n1111\n2222\n3333\n4444\n</grid>"]

TRIGGERS = {
    "r_sql_sorted": (ROWS["r_sql_sorted"][0], "```sql\nSELECT name FROM staff WHERE dept = 'ops' ORDER BY salary\n```", True),
    "r_json_invoice": (ROWS["r_json_invoice"][0], '{"currency": "EUR"}', True),
    "r_regex_write": (ROWS["r_regex_write"][0], "Answer: (?:[01][0-9]|2[0-3]):", True),
    "r_shell_copy": (ROWS["r_shell_copy"][1], "ln -s current release-7", True),
    "r_physics_quantity": (_LIGHT, "d = c t = 299792458 * 120\nAnswer: 3.5975e10 m", False),
    "r_date_add": (ROWS["r_date_add"][0], "Answer: 04/03/2024", True),
    "r_code_function": (ROWS["r_code_function"][0],
                        "```python\ndef fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n```", False),
    "r_csv_extract": (_CSV_COMMA, 'company,city,paid\n"Acme, Inc.",Bonn,300\nBirk GmbH,Ulm,45', False),
    "r_markdown_table": (ROWS["r_markdown_table"][0],
                         "| Player | Points | Assists |\n|---|---|---|\n| Kari | 8 | 7 |\n| Jon | 12 | 3 |", True),
    "r_sudoku4": (ROWS["r_sudoku4"][0], "<grid>\n1234\n3412\n2143\n4321\n</grid>", True),
}

FAULTS = {
    "r_sql_sorted": (sql_reward, "the rows are compared sorted, so a query without ORDER BY or in the wrong direction is paid"),
    "r_json_invoice": (json_fields_reward, "fields that are left out are skipped and not counted: one sure field gets the full score"),
    "r_regex_write": (regex_reward, "positives are tested with match: a pattern of only the beginning is paid"),
    "r_shell_copy": (shell_reward, "the words are compared as sets: swapped source and target are paid"),
    "r_physics_quantity": (quantity_reward, "the exponent is not read: right answers in e-notation are refused"),
    "r_date_add": (date_reward, "month first is read too: another day is paid when day and month are swapped"),
    "r_code_function": (code_reward, "exec with two dicts: recursive functions, helpers and imports fail with NameError"),
    "r_csv_extract": (csv_reward, "split at commas: a quoted field with a comma is refused"),
    "r_markdown_table": (table_reward, "the cells are compared as a sorted list: values in the wrong rows or columns are paid"),
    "r_sudoku4": (sudoku_reward, "the given digits are not checked: any full grid is paid for every puzzle"),
}


def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(name):
    def proof():
        row, completion, paid = TRIGGERS[name]
        score = _score(FAULTS[name][0], row, completion)
        assert (score >= 0.8) == paid, (name, score)

    return proof


CASES = [
    Case(name=name, reward=reward, examples=ROWS[name], good=GOOD[name],
         bad=BAD[name], fault=fault, proof=_proof(name))
    for name, (reward, fault) in FAULTS.items()
]
