"""Ten sound reward functions: queens, XML, math answers, factorization, CSV, code with tests, mazes, formulas, time zones, coins."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, deque
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


# 11. queens ----------------------------------------------------------------------------------------------------------


def queens_reward(completions, size, fixed, **kwargs):
    """N queens with some queens given: 1.0 for a full placement without attacks that keeps the given queens.

    The answer is the list of columns (1 to N) from the first row to the last one. 0.1 for a list of the right length that
    breaks a rule, else 0.0.
    """
    rewards = []
    for completion, n, given in zip(completions, size, fixed):
        answers = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        body = answers[0].strip() if len(answers) == 1 else ""
        if not re.fullmatch(r"[0-9]{1,2}(?:[ ,]+[0-9]{1,2})*", body):
            rewards.append(0.0)
            continue
        columns = [int(part) for part in re.split(r"[ ,]+", body)]
        if len(columns) != n or not all(1 <= column <= n for column in columns):
            rewards.append(0.0)
            continue
        free = len(set(columns)) == n
        free = free and len({row + column for row, column in enumerate(columns)}) == n
        free = free and len({row - column for row, column in enumerate(columns)}) == n
        kept = all(columns[row - 1] == column for row, column in given)
        rewards.append(1.0 if free and kept else 0.1)
    return rewards


def _queens_row(n, fixed):
    placed = " and ".join(f"row {row}, column {column}" for row, column in fixed)
    return {
        "prompt": _user(
            f"Place {n} queens on a {n}x{n} board, one in each row, so that none attacks another. A queen stands already on {placed} and "
            f"must stay. Give the columns (1 to {n}) of the queens from row 1 to row {n}, separated by spaces, once in "
            "<answer>...</answer>. Any solution is fine."
        ),
        "size": n,
        "fixed": fixed,
    }


QUEENS_ROWS = [_queens_row(4, [[1, 2]]), _queens_row(6, [[2, 4]]), _queens_row(8, [[1, 1], [2, 5]])]
QUEENS_GOOD = [
    _chat("Row 2 can only be column 4.\n<answer>2 4 1 3</answer>"),
    _chat("<answer>2 4 6 1 3 5</answer>"),
    _chat("<answer>1 5 8 6 3 7 2 4</answer>"),
]
QUEENS_BAD = [_chat("<answer>3 1 4 2</answer>"), _chat("<answer>1 4 6 2 3 5</answer>"), _chat("<answer>1 5 2 6 3 7 4 8</answer>")]


# 12. XML -------------------------------------------------------------------------------------------------------------


def books_xml_reward(completions, answer, **kwargs):
    """Extraction of a book list to XML: 1.0 if the books are exactly those of the text (in any order), with id, title and
    year each; 0.2 for XML of the right form with other content, else 0.0."""

    def record(element):
        if element.tag != "book" or set(element.attrib) != {"id"} or (element.text or "").strip() or (element.tail or "").strip():
            return None
        if sorted(child.tag for child in element) != ["title", "year"]:
            return None
        if any(len(child) or child.attrib or (child.tail or "").strip() for child in element):
            return None
        value = {child.tag: " ".join((child.text or "").split()) for child in element}
        return element.attrib["id"], value["title"], value["year"]

    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        root = None
        if "<!" not in text and len(text) < 20_000:  # no document type, comments or CDATA
            try:
                root = ET.fromstring(text)
            except (ET.ParseError, ValueError):
                root = None
        if root is None or root.tag != "books" or root.attrib or (root.text or "").strip():
            rewards.append(0.0)
            continue
        records = [record(element) for element in root]
        if not records or None in records:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if Counter(records) == Counter(tuple(book) for book in gold) else 0.2)
    return rewards


_BOOK_FORM = (
    "List the books of the text as XML: a root <books> with one <book id=\"...\"> for each book, which has the children <title> and "
    "<year>, and nothing else. Titles and ids as written (escape & and < as XML needs it), no comments, no CDATA. Reply with the XML "
    "only, no code fence.\n\nText: "
)
BOOK_ROWS = [
    {"prompt": _BOOK_FORM + "Shelf: [b1] Salt & Stone (1998); [b2] The Long Field (2011).",
     "answer": [["b1", "Salt & Stone", "1998"], ["b2", "The Long Field", "2011"]]},
    {"prompt": _BOOK_FORM + "We only have Night Ferry, catalogue id x77, printed in 2003.", "answer": [["x77", "Night Ferry", "2003"]]},
]
BOOK_GOOD = [
    '<books>\n  <book id="b1">\n    <title>Salt &amp; Stone</title>\n    <year>1998</year>\n  </book>\n  <book id="b2"><title>The Long '
    "Field</title><year>2011</year></book>\n</books>",
    "<books><book id='x77'><year>2003</year><title>Night Ferry</title></book></books>",
]
BOOK_BAD = [
    '<books><book id="b1"><title>Salt &amp; Stone</title><year>1998</year></book></books>',
    "<books><book id='x77'><title>Night Ferry</title><year>2013</year></book></books>",
]


# 13. math answers ----------------------------------------------------------------------------------------------------


def boxed_value_reward(completions, answer, **kwargs):
    r"""Math accuracy: 1.0 if the one \boxed{} holds exactly the value of the gold answer, else 0.0.

    Whole numbers, fractions (a/b or \frac{a}{b}, also not in lowest terms) and finite decimals are compared by their value.
    """

    def content(text):
        parts = text.split("\\boxed{")
        if len(parts) != 2:
            return None
        depth = 1
        for i, char in enumerate(parts[1]):
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return parts[1][:i]
        return None

    def value(text):
        if re.search(r"[0-9]\s+[0-9]", text):
            return None
        text = re.sub(r"\s+", "", text).replace("\u2212", "-").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
        text = re.sub(r"\\frac([0-9])([0-9])$", r"\\frac{\1}{\2}", text)
        match = re.fullmatch(r"([+-]?)\\frac\{([+-]?[0-9]{1,12})\}\{([+-]?[0-9]{1,12})\}", text)
        match = match or re.fullmatch(r"()([+-]?[0-9]{1,12})/([0-9]{1,12})", text)
        if match:
            if int(match.group(3)) == 0:
                return None
            fraction = Fraction(int(match.group(2)), int(match.group(3)))
            return -fraction if match.group(1) == "-" else fraction
        if re.fullmatch(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{1,12})?|\.[0-9]{1,12})", text):
            return Fraction(text)
        return None

    rewards = []
    for completion, gold in zip(completions, answer):
        box = content(_text(completion))
        given = value(box) if box is not None else None
        rewards.append(1.0 if given is not None and given == value(gold) else 0.0)
    return rewards


_VALUE_FORM = (
    " Reason step by step and give the exact answer once in \\boxed{...} as a whole number, a fraction (\\frac{a}{b} or a/b) or a "
    "finite decimal, without units or thousands separators. Use \\boxed only once."
)
VALUE_ROWS = [
    {"prompt": _user("A bag has 3 red and 5 blue balls. Two are drawn without putting back. What is the probability that both are "
                     "red?" + _VALUE_FORM), "answer": "3/28"},
    {"prompt": _user("Solve 4x + 7 = 1." + _VALUE_FORM), "answer": "-3/2"},
    {"prompt": _user("What is the sum of the whole numbers from 1 to 60?" + _VALUE_FORM), "answer": "1830"},
]
VALUE_GOOD = [
    _chat("3/8 times 2/7 is $\\boxed{\\frac{3}{28}}$."),
    _chat("4x = -6, so x = \\boxed{-1.5}"),
    _chat("60 * 61 / 2 = \\boxed{1830}"),
]
VALUE_BAD = [_chat("$\\boxed{\\frac{9}{64}}$"), _chat("\\boxed{3/2}"), _chat("\\boxed{1800}")]


# 14. factorization ---------------------------------------------------------------------------------------------------


def factorization_reward(prompts, completions, number, **kwargs):
    """Prime factorization: 1.0 if the last line `n = p^a * q * ...` has ascending primes and the right product.

    0.2 if the product is right but the factors are not the ascending primes, else 0.0.
    """

    def is_prime(n):
        return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))

    rewards = []
    for completion, n in zip(completions, number):
        match = re.fullmatch(r"([0-9]{1,7}) ?= ?([0-9]{1,7}(?:\^[0-9]{1,2})?(?: ?\* ?[0-9]{1,7}(?:\^[0-9]{1,2})?)*)", _last_line(completion))
        if match is None or int(match.group(1)) != n:
            rewards.append(0.0)
            continue
        factors = []
        for part in match.group(2).split("*"):
            base, _, exponent = part.strip().partition("^")
            factors.append((int(base), int(exponent or 1)))
        product = 1
        for base, exponent in factors:
            product *= base**exponent
        bases = [base for base, _ in factors]
        proper = bases == sorted(set(bases)) and all(is_prime(base) and exponent > 0 for base, exponent in factors)
        rewards.append((1.0 if proper else 0.2) if product == n else 0.0)
    return rewards


def _factor_row(n):
    return {
        "prompt": (
            f"Write {n} as a product of powers of primes. Divide step by step; the last line must be like `60 = 2^2 * 3 * 5`: every prime "
            "once, in ascending order, with `^` for exponents (an exponent of 1 may be left out)."
        ),
        "number": n,
    }


FACTOR_ROWS = [_factor_row(360), _factor_row(1001), _factor_row(4913)]
FACTOR_GOOD = ["360 / 8 = 45\n360 = 2^3 * 3^2 * 5", "1001 = 7 * 11 * 13", "17 * 17 = 289\n4913 = 17^3"]
FACTOR_BAD = ["360 = 8 * 9 * 5", "1001 = 7 * 143", "4913 = 13^3"]


# 15. data tables -----------------------------------------------------------------------------------------------------


def csv_report_reward(completions, answer, **kwargs):
    """Filtering and sorting of a table, as CSV in one ```csv block: 1.0 if all rows are right and in the right order.

    0.2 for a table with the right header, else 0.0. Fields are compared as text without outer spaces.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        blocks = re.findall(r"^```csv[ \t]*\n(.*?)^```[ \t]*$", _text(completion), re.DOTALL | re.MULTILINE)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        try:
            table = list(csv.reader(io.StringIO(blocks[0]), strict=True, skipinitialspace=True))
        except csv.Error:
            rewards.append(0.0)
            continue
        table = [[field.strip() for field in row] for row in table if row]
        if not table or table[0] != gold[0]:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if table == gold else 0.2)
    return rewards


_CSV_FORM = (
    " Keep the values as they are written; quote fields with commas. Reply with the new table, header first, in one ```csv block.\n\n"
)
CSV_ROWS = [
    {"prompt": _user("Keep the rows with stock below 10, sorted by stock from low to high, and only the columns name,stock." + _CSV_FORM
                     + 'sku,name,stock\n1,"Bolt, short",7\n2,Nut,120\n3,Washer,3\n4,"Bolt, long",9'),
     "answer": [["name", "stock"], ["Washer", "3"], ["Bolt, short", "7"], ["Bolt, long", "9"]]},
    {"prompt": _user("Keep the rows of the year 2023, sorted by amount from high to low, with the columns client,amount." + _CSV_FORM
                     + "client,year,amount\nAlfa,2022,500\nBravo,2023,90\nCharlie,2023,1100\nDelta,2023,250"),
     "answer": [["client", "amount"], ["Charlie", "1100"], ["Delta", "250"], ["Bravo", "90"]]},
]
CSV_GOOD = [
    _chat('Three rows are left.\n```csv\nname,stock\nWasher,3\n"Bolt, short",7\n"Bolt, long",9\n```'),
    _chat("```csv\nclient,amount\nCharlie,1100\nDelta,250\nBravo,90\n```"),
]
CSV_BAD = [
    _chat('```csv\nname,stock\nWasher,3\n"Bolt, long",9\n"Bolt, short",7\n```'),
    _chat("```csv\nclient,amount\nBravo,90\nDelta,250\nCharlie,1100\n```"),
]


# 16. code with tests -------------------------------------------------------------------------------------------------

_WORKER = """
import json, sys
job = json.load(sys.stdin)
out, sys.stdout = sys.stdout, sys.stderr
space = {"__name__": "solution"}
exec(job["code"], space)
values = []
for args in job["args"]:
    try:
        values.append([json.dumps(space[job["name"]](*args), allow_nan=False)])
    except Exception:
        values.append([])
out.write("\\n" + json.dumps(values) + "\\n")
"""


def hidden_tests_reward(completions, function, tests, **kwargs):
    """Code generation: 1.0 if the function of the one ```python block passes all hidden tests, else 0.3 times the share that
    passes. A crash is a failed test. The code runs in a process of its own, which never sees the expected values."""

    def run(code, name, arguments):
        job = json.dumps({"code": code, "name": name, "args": arguments})
        try:
            done = subprocess.run([sys.executable, "-I", "-c", _WORKER], input=job, capture_output=True, text=True, timeout=10)
            values = json.loads(done.stdout.strip().splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError, RecursionError):
            return []
        return values if isinstance(values, list) and len(values) == len(arguments) else []

    rewards = []
    for completion, name, cases in zip(completions, function, tests):
        blocks = re.findall(r"^```python[ \t]*\n(.*?)^```[ \t]*$", _text(completion), re.DOTALL | re.MULTILINE)
        values = run(blocks[0], name, [arguments for arguments, _ in cases]) if len(blocks) == 1 else []
        passed = sum(value == [json.dumps(expected)] for value, (_, expected) in zip(values, cases))
        rewards.append(1.0 if passed == len(cases) else 0.3 * passed / len(cases))
    return rewards


_TEST_FORM = " Use only the standard library. Reply with one ```python block that defines the function; it is run on hidden tests."
TEST_ROWS = [
    {
        "prompt": _user("Write `merge(intervals)`: it takes a list of [start, end] int lists with start <= end, in any order, and returns "
                        "the sorted list of [start, end] lists in which overlapping or touching intervals (next start <= end) are "
                        "merged; [] for []." + _TEST_FORM),
        "function": "merge",
        "tests": [[[[[1, 3], [2, 6], [8, 10]]], [[1, 6], [8, 10]]], [[[]], []], [[[[5, 5]]], [[5, 5]]], [[[[4, 5], [1, 4]]], [[1, 5]]],
                  [[[[1, 10], [2, 3], [4, 5]]], [[1, 10]]], [[[[1, 2], [3, 4]]], [[1, 2], [3, 4]]], [[[[-3, -1], [-2, 0], [7, 9]]], [[-3, 0], [7, 9]]],
                  [[[[6, 8], [1, 9], [2, 4], [12, 12]]], [[1, 9], [12, 12]]], [[[[1, 4], [1, 4]]], [[1, 4]]], [[[[0, 2], [1, 5], [4, 7], [10, 11]]], [[0, 7], [10, 11]]]],
    },
    {
        "prompt": _user("Write `roman(n)`: the Roman numeral (a string, in capitals, with IV, IX, XL, XC, CD, CM) of an int from 1 to 3999."
                        + _TEST_FORM),
        "function": "roman",
        "tests": [[[1], "I"], [[3], "III"], [[4], "IV"], [[9], "IX"], [[14], "XIV"], [[40], "XL"], [[90], "XC"], [[400], "CD"], [[444], "CDXLIV"],
                  [[900], "CM"], [[1994], "MCMXCIV"], [[2023], "MMXXIII"], [[3888], "MMMDCCCLXXXVIII"], [[3999], "MMMCMXCIX"], [[500], "D"], [[55], "LV"]],
    },
]
TEST_GOOD = [
    _chat("Sort, then sweep.\n```python\ndef merge(intervals):\n    out = []\n    for start, end in sorted(intervals):\n        if out and start <= "
          "out[-1][1]:\n            out[-1][1] = max(out[-1][1], end)\n        else:\n            out.append([start, end])\n    return out\n```"),
    _chat("```python\ndef roman(n):\n    table = [(1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), "
          "(10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]\n    out = ''\n    for value, letters in table:\n        while n >= value:\n            "
          "out += letters\n            n -= value\n    return out\n```"),
]
TEST_BAD = [
    _chat("```python\ndef merge(intervals):\n    out = []\n    for start, end in sorted(intervals):\n        if out and start <= out[-1][1]:\n            "
          "out[-1][1] = end\n        else:\n            out.append([start, end])\n    return out\n```"),
    _chat("```python\ndef roman(n):\n    out = ''\n    for value, letter in [(1000, 'M'), (500, 'D'), (100, 'C'), (50, 'L'), (10, 'X'), (5, 'V'), (1, 'I')]:"
          "\n        out += letter * (n // value)\n        n %= value\n    return out\n```"),
]


# 17. shortest paths --------------------------------------------------------------------------------------------------


def shortest_path_reward(completions, maze, **kwargs):
    """Mazes: 1.0 for a shortest path from S to G, 0.4 for a longer one, 0.1 for moves that do not lead to G, else 0.0."""
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}

    def move(grid, cell, letter):
        row, col = cell[0] + step[letter][0], cell[1] + step[letter][1]
        inside = 0 <= row < len(grid) and 0 <= col < len(grid[row])
        return (row, col) if inside and grid[row][col] != "#" else None

    rewards = []
    for completion, grid in zip(completions, maze):
        match = re.fullmatch(r"Path: ([UDLR]{1,100})", _last_line(completion))
        if match is None:
            rewards.append(0.0)
            continue
        where = {char: (r, c) for r, line in enumerate(grid) for c, char in enumerate(line)}
        distance, queue = {where["S"]: 0}, deque([where["S"]])
        while queue:
            cell = queue.popleft()
            for letter in step:
                following = move(grid, cell, letter)
                if following is not None and following not in distance:
                    distance[following] = distance[cell] + 1
                    queue.append(following)
        cell = where["S"]
        for letter in match.group(1):
            cell = move(grid, cell, letter) if cell is not None else None
        if cell != where["G"]:
            rewards.append(0.1)
        else:
            rewards.append(1.0 if len(match.group(1)) == distance[where["G"]] else 0.4)
    return rewards


def _path_row(grid):
    return {
        "prompt": _user(
            "Find a shortest way from S to G (`#` wall, `.` free; one step goes up, down, left or right and stays inside the grid):\n"
            + "\n".join(grid)
            + "\nThink first; the last line must be `Path: ` and the moves as letters U, D, L, R without spaces. Any shortest way is fine."
        ),
        "maze": grid,
    }


PATH_ROWS = [_path_row(["S..#", ".#..", "...G"]), _path_row(["#S#", "...", ".#.", "..G"]), _path_row(["G.S", "##."])]
PATH_GOOD = [_chat("Down and along the bottom row.\nPath: DDRRR"), _chat("Path: DRDD"), _chat("Path: LL")]
PATH_BAD = [_chat("Path: RRRDD"), _chat("Path: DLDDRR"), _chat("Path: L")]


# 18. chemical formulas -----------------------------------------------------------------------------------------------

_ELEMENTS = set(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Ag I Ba Pb Hg Sn".split()
)


def molecular_formula_reward(completions, atoms, **kwargs):
    """Molecular formulas: 1.0 if the last line `Formula: ...` names each element once with the right number of atoms (in any
    order of the elements), 0.2 for another formula, else 0.0."""
    rewards = []
    for completion, gold in zip(completions, atoms):
        match = re.fullmatch(r"Formula: ((?:[A-Z][a-z]?(?:[1-9][0-9]{0,2})?)+)", _last_line(completion))
        if match is None:
            rewards.append(0.0)
            continue
        parts = re.findall(r"([A-Z][a-z]?)([0-9]*)", match.group(1))
        symbols = [symbol for symbol, _ in parts]
        if len(set(symbols)) != len(symbols) or not set(symbols) <= _ELEMENTS:
            rewards.append(0.0)
            continue
        counts = {symbol: int(count or 1) for symbol, count in parts}
        rewards.append(1.0 if counts == gold else 0.2)
    return rewards


_FORMULA_FORM = (
    " Give the molecular formula (every element once with its number of atoms, in any order, 1 left out or written; plain digits, no "
    "brackets) as the last line `Formula: ...`."
)
FORMULA_ROWS = [
    {"prompt": "A compound has the empirical formula CH2O and the molar mass 180 g/mol (C 12, H 1, O 16)." + _FORMULA_FORM,
     "atoms": {"C": 6, "H": 12, "O": 6}},
    {"prompt": "What is the molecular formula of chloroform (trichloromethane)?" + _FORMULA_FORM, "atoms": {"C": 1, "H": 1, "Cl": 3}},
    {"prompt": "What is the molecular formula of acetic acid, CH3COOH?" + _FORMULA_FORM, "atoms": {"C": 2, "H": 4, "O": 2}},
]
FORMULA_GOOD = ["CH2O has 30 g/mol, 180 / 30 = 6.\nFormula: C6H12O6", "Formula: CHCl3", "Formula: C2H4O2"]
FORMULA_BAD = ["Formula: CH2O", "Formula: CH2Cl2", "Formula: C2H5O2"]


# 19. time zones ------------------------------------------------------------------------------------------------------


def time_zone_reward(completions, utc, offset_minutes, **kwargs):
    """Time zones: 1.0 if the last line `Local: YYYY-MM-DD HH:MM +HH:MM` is the given UTC instant at the wanted offset.

    0.2 for another well-formed line, else 0.0.
    """
    rewards = []
    for completion, instant, minutes in zip(completions, utc, offset_minutes):
        line = _last_line(completion).replace("\u2212", "-")
        match = re.fullmatch(r"Local: ([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}:[0-9]{2}) ?([+-][0-9]{2}:[0-9]{2})", line)
        if match is None:
            rewards.append(0.0)
            continue
        date, clock, offset = match.groups()
        local = datetime.datetime.strptime(instant, "%Y-%m-%d %H:%M") + datetime.timedelta(minutes=minutes)
        wanted = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
        right = offset == wanted and f"{date} {clock}" == local.strftime("%Y-%m-%d %H:%M")
        rewards.append(1.0 if right else 0.2)
    return rewards


def _zone_row(utc, minutes):
    sign = "+" if minutes >= 0 else "-"
    offset = f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    return {
        "prompt": _user(
            f"It is {utc} UTC. What are the local date and time at the offset {offset}? Work it out; the last line must be `Local: YYYY-MM-DD "
            f"HH:MM {offset}` (24-hour clock)."
        ),
        "utc": utc,
        "offset_minutes": minutes,
    }


ZONE_ROWS = [_zone_row("2024-02-28 21:15", 330), _zone_row("2025-01-01 02:40", -480), _zone_row("2023-07-09 12:00", 120)]
ZONE_GOOD = [
    _chat("21:15 + 5:30 is 02:45 on the next day.\nLocal: 2024-02-29 02:45 +05:30"),
    _chat("Local: 2024-12-31 18:40 -08:00"),
    _chat("Local: 2023-07-09 14:00 +02:00"),
]
ZONE_BAD = [
    _chat("Local: 2024-03-01 02:45 +05:30"),
    _chat("Local: 2025-01-01 10:40 -08:00"),
    _chat("Local: 2023-07-09 10:00 +02:00"),
]


# 20. coins -----------------------------------------------------------------------------------------------------------


def fewest_coins_reward(completions, coins, amount, **kwargs):
    """Change with the fewest coins, as a JSON object from coin to count: 1.0 if the sum is right and no fewer coins can do it.

    0.3 if only the sum is right, else 0.0.
    """

    def pairs(items):
        if len({key for key, _ in items}) != len(items):
            raise ValueError("duplicate key")
        return dict(items)

    rewards = []
    for completion, values, total in zip(completions, coins, amount):
        try:
            change = json.loads(_text(completion).strip(), object_pairs_hook=pairs)
        except (ValueError, RecursionError):
            change = None
        known = {str(value) for value in values}
        if not isinstance(change, dict) or not set(change) <= known:
            rewards.append(0.0)
            continue
        if not all(type(count) is int and 0 <= count <= total for count in change.values()):
            rewards.append(0.0)
            continue
        best = [0] + [total + 1] * total
        for part in range(1, total + 1):
            best[part] = 1 + min((best[part - value] for value in values if value <= part), default=total)
        if sum(int(coin) * count for coin, count in change.items()) != total:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if sum(change.values()) == best[total] else 0.3)
    return rewards


def _coin_row(coins, amount):
    return {
        "prompt": _user(
            f"Coins of {', '.join(map(str, coins))} cents, as many of each as you like. Pay exactly {amount} cents with as few coins as "
            'possible. Reply only with a JSON object from coin to whole count, for example {"10": 2, "1": 3}; coins that are not used '
            "may be left out or have 0."
        ),
        "coins": coins,
        "amount": amount,
    }


COIN_ROWS = [_coin_row([1, 5, 12, 25], 41), _coin_row([1, 4, 9], 12), _coin_row([2, 7, 10], 21)]
COIN_GOOD = [_chat('{"12": 3, "5": 1}'), _chat('{"9": 0, "4": 3}'), _chat('{"7": 3}')]
COIN_BAD = [_chat('{"25": 1, "12": 1, "1": 4}'), _chat('{"9": 1, "1": 3}'), _chat('{"10": 2, "2": 1}')]


CASES = [
    Case("p_ok_queens", queens_reward, QUEENS_ROWS, QUEENS_GOOD, QUEENS_BAD),
    Case("p_ok_books_xml", books_xml_reward, BOOK_ROWS, BOOK_GOOD, BOOK_BAD),
    Case("p_ok_boxed_value", boxed_value_reward, VALUE_ROWS, VALUE_GOOD, VALUE_BAD),
    Case("p_ok_factorization", factorization_reward, FACTOR_ROWS, FACTOR_GOOD, FACTOR_BAD),
    Case("p_ok_csv_report", csv_report_reward, CSV_ROWS, CSV_GOOD, CSV_BAD),
    Case("p_ok_hidden_tests", hidden_tests_reward, TEST_ROWS, TEST_GOOD, TEST_BAD),
    Case("p_ok_shortest_path", shortest_path_reward, PATH_ROWS, PATH_GOOD, PATH_BAD),
    Case("p_ok_formula", molecular_formula_reward, FORMULA_ROWS, FORMULA_GOOD, FORMULA_BAD),
    Case("p_ok_time_zone", time_zone_reward, ZONE_ROWS, ZONE_GOOD, ZONE_BAD),
    Case("p_ok_coins", fewest_coins_reward, COIN_ROWS, COIN_GOOD, COIN_BAD),
]
