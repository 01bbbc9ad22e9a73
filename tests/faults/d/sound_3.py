"""Rewards for code, SQL, puzzles, time, places and labels."""

from __future__ import annotations

import ast
import math
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.faults.case import Case


def _last_between(text: str, opening: str, closing: str) -> str | None:
    """The text of the last complete opening...closing pair."""
    end = text.rfind(closing)
    start = text.rfind(opening, 0, end) if end >= 0 else -1
    return text[start + len(opening) : end] if start >= 0 else None


def _last_line(text: str, label: str) -> str | None:
    """What follows 'label:' on the last line that starts with it (any case, markdown bold allowed)."""
    for line in reversed(text.splitlines()):
        plain = line.replace("*", "").strip()
        if plain.lower().startswith(label + ":"):
            return plain[len(label) + 1 :].strip()
    return None


# --- text to SQL ------------------------------------------------------------------------

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_NOT_REPEATABLE = frozenset(
    "random randomblob date time datetime julianday strftime unixepoch timediff current_date current_time current_timestamp load_extension".split()
)


@dataclass(frozen=True)
class SqlLimits:
    rows: int = 2000
    callbacks: int = 200
    instructions: int = 1000


class _Stopper:
    def __init__(self, callbacks: int) -> None:
        self.left = callbacks

    def __call__(self) -> int:
        self.left -= 1
        return 1 if self.left < 0 else 0


def _authorize(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() in _NOT_REPEATABLE else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _rounded(row: tuple) -> tuple:
    return tuple(round(value, 6) if isinstance(value, float) else value for value in row)


def _rows(script: str, sql: str, limits: SqlLimits = SqlLimits()) -> list[tuple] | None:
    """The rows of a reading query on a fresh database; None if it fails, writes, runs too long or returns too much."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(_Stopper(limits.callbacks), limits.instructions)
        rows = connection.execute(sql).fetchmany(limits.rows + 1)
        return [_rounded(row) for row in rows] if len(rows) <= limits.rows else None
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError):
        return None
    finally:
        connection.close()


def _sql_of(text: str) -> str:
    parts = text.split("```")
    blocks = parts[1::2] if len(parts) % 2 else parts[1:-1:2]
    if not blocks:
        return text.strip() if len(parts) == 1 else ""
    language, newline, body = blocks[-1].partition("\n")
    return (body if newline and language.strip().lower() in ("", "sql", "sqlite") else blocks[-1]).strip()


def sql_result_reward(completions, databases, gold_sql, ordered, **kwargs) -> list[float]:
    """1.0 if the query returns the reference query's rows on every database of the row, else 0.0.

    The last complete ``` block is run, or the whole completion if there is no fence. Only the first database is like
    the one described in the prompt; the others catch constants and lucky filters. Rows are compared in order where
    `ordered` is true, else as a multiset; the order of the columns counts, their names don't. Every query gets its own
    database, can only read, and can use neither the clock nor random numbers.
    """
    rewards = []
    for completion, scripts, gold, in_order in zip(completions, databases, gold_sql, ordered):
        sql = _sql_of(completion)
        right = 0 < len(sql) <= 4000
        for script in scripts if right else ():
            said, wanted = _rows(script, sql), _rows(script, gold)
            same = said is not None and wanted is not None and (said == wanted if in_order else Counter(said) == Counter(wanted))
            if not same:
                right = False
                break
        rewards.append(1.0 if right else 0.0)
    return rewards


# --- return values ---------------------------------------------------------------------------


def _identical(a: Any, b: Any) -> bool:
    """Equal in value and in type, all the way down: True is not 1, 7 is not 7.0, (1,) is not [1]."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_identical(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(any(_identical(k, m) and _identical(v, w) for m, w in b.items()) for k, v in a.items())
    if isinstance(a, (set, frozenset)):
        return len(a) == len(b) and all(any(_identical(x, y) for y in b) for x in a)
    return a == b


def _literal(text: str) -> tuple[bool, Any]:
    try:
        return True, ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False, None


def exact_return_value(completion: str, answer: str) -> float:
    """1.0 if the Python literal between the last [RESULT] and [/RESULT] is the value returned, of the same types.

    The spelling (quotes, spaces, order of dict items and set elements) doesn't matter. Up to 2000 characters.
    """
    content = _last_between(completion, "[RESULT]", "[/RESULT]")
    if content is None or len(content) > 2000:
        return 0.0
    readable, said = _literal(content.strip().strip("`"))
    _, gold = _literal(answer)
    return 1.0 if readable and _identical(said, gold) else 0.0


# --- edits as search/replace blocks ---------------------------------------------------------------

_HEAD, _MIDDLE, _TAIL = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


def _edits(text: str) -> list[tuple[list[str], list[str]]] | None:
    """The (search, replace) lines of all blocks; None if one is malformed."""
    edits: list[tuple[list[str], list[str]]] = []
    search: list[str] = []
    replace: list[str] = []
    state = "outside"
    for line in text.split("\n"):
        mark = line.rstrip()
        if state == "outside":
            if mark == _HEAD:
                search, replace, state = [], [], "search"
        elif state == "search":
            if mark == _MIDDLE:
                state = "replace"
            else:
                search.append(line.rstrip("\r"))
        elif mark == _TAIL:
            edits.append((search, replace))
            state = "outside"
        else:
            replace.append(line.rstrip("\r"))
    return edits if state == "outside" and len(edits) <= 40 else None


def _tidy(source: str) -> list[str]:
    return [line.rstrip() for line in source.rstrip().split("\n")]


def _apply(source: str, edits: list[tuple[list[str], list[str]]]) -> str | None:
    """The edited source; None if a search text is empty or not found exactly once as whole lines."""
    text = f"\n{source.rstrip()}\n"
    for search, replace in edits:
        wanted = "\n".join(["", *search, ""])
        position = text.find(wanted)
        if not "".join(search).strip() or position < 0 or text.find(wanted, position + 1) >= 0:
            return None
        text = text[:position] + "\n".join(["", *replace, ""]) + text[position + len(wanted) :]
    return text[1:]


def edit_reward(completions, source, target, **kwargs) -> list[float]:
    """Mechanical edits (renames, constants, moved lines) with one right outcome: 1.0 if the SEARCH/REPLACE blocks turn the
    source into the target, white space at line ends and the end of the file aside.

    A search text must match whole lines and exactly once. Anything outside the blocks is ignored.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        edits = _edits(completion)
        result = _apply(before, edits) if edits else None
        rewards.append(1.0 if result is not None and _tidy(result) == _tidy(after) else 0.0)
    return rewards


# --- labels, some rows without one ------------------------------------------------------------------

STANCES = ("support", "oppose", "neutral")


def stance_reward(completions, stance, **kwargs) -> list[float | None]:
    """Stance on the last line 'Stance: support/oppose/neutral': 1.0 right, 0.0 wrong, -0.5 if there is no such line or no
    such label. Rows of the unlabelled part of the data (stance None) are left out with None, whatever the completion says.
    """
    rewards: list[float | None] = []
    for completion, gold in zip(completions, stance):
        if gold is None:
            rewards.append(None)
            continue
        said = (_last_line(completion, "stance") or "").strip(" .`_").lower()
        rewards.append(-0.5 if said not in STANCES else float(said == gold))
    return rewards


# --- sudoku ------------------------------------------------------------------------------------------

_UNITS = (
    [[(r, c) for c in range(4)] for r in range(4)]
    + [[(r, c) for r in range(4)] for c in range(4)]
    + [[(r + i, c + j) for i in range(2) for j in range(2)] for r in (0, 2) for c in (0, 2)]
)


def sudoku_reward(completions, puzzle, **kwargs) -> list[float]:
    """4x4 sudoku: 1.0 if the last <grid> block is a complete grid that keeps the clues and has 1-4 once per row, column and box.

    Four lines of four digits; blanks, bars and commas between them don't matter. The puzzle has 0 for an empty cell.
    """
    rewards = []
    for completion, clues in zip(completions, puzzle):
        content = _last_between(completion, "<grid>", "</grid>") or ""
        lines = [re.sub(r"[ \t|,]", "", line) for line in content[:2000].splitlines()]
        grid = [line for line in lines if line.strip("-+")]
        solved = (
            len(grid) == 4
            and all(re.fullmatch(r"[1-4]{4}", line) for line in grid)
            and all(len({grid[r][c] for r, c in unit}) == 4 for unit in _UNITS)
            and all(clue in ("0", cell) for row, clue_row in zip(grid, clues, strict=True) for cell, clue in zip(row, clue_row, strict=True))
        )
        rewards.append(1.0 if solved else 0.0)
    return rewards


# --- knights and knaves -------------------------------------------------------------------------------

_ROLE = re.compile(r"[ \t\-*•]{0,6}([A-Z][a-z]{1,20})[ \t*]{0,4}(?::|is an?)[ \t*]{1,4}(knight|knave)[ \t.*,]{0,4}", re.IGNORECASE)


def knights_reward(completions, roles, **kwargs) -> list[float]:
    """Knights and knaves: 1.0 if everybody is assigned the right role in the last <answer> block ('Name: knight', one per line).

    0.2 for a complete and well-formed assignment with mistakes. 0.0 if a person is missing, unknown or named twice, or if a
    line is something else.
    """
    rewards = []
    for completion, gold in zip(completions, roles):
        content = _last_between(completion, "<answer>", "</answer>") or ""
        lines = [line for line in content.splitlines() if line.strip()]
        matches = [_ROLE.fullmatch(line.strip()) for line in lines] if len(lines) == len(gold) else []
        said = {match.group(1).capitalize(): match.group(2).lower() for match in matches if match}
        if not matches or not all(matches) or said.keys() != gold.keys():
            rewards.append(0.0)
        else:
            rewards.append(1.0 if said == gold else 0.2)
    return rewards


# --- points in time --------------------------------------------------------------------------------------

_ISO = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)[ ]?(Z|UTC|\(UTC\)|[+-][0-9]{2}:?[0-9]{2})?\.?")


def _instant(text: str) -> datetime | None:
    """The timestamp, which must be in UTC (also assumed when no offset is given); None if the text is anything else."""
    match = _ISO.fullmatch(text)
    if not match:
        return None
    day, clock, zone = match.groups()
    if zone and zone[0] in "+-" and zone.replace(":", "") not in ("+0000", "-0000"):
        return None
    try:
        return datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        return None


def instant_reward(completion: str, instant: str) -> float:
    """1.0 if the last line 'Time: ...' is the right instant, to the minute.

    ISO format, alone on the line, in UTC: with Z, UTC, +00:00 or nothing after it. The conversion is the task, so the
    same instant with another offset, or a named zone, is not an answer: 0.0.
    """
    line = _last_line(completion, "time")
    said = _instant(line) if line is not None else None
    gold = _instant(instant)
    return float(said is not None and gold is not None and abs(said - gold) < timedelta(minutes=1))


# --- meetings -----------------------------------------------------------------------------------------------

_SLOT = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9]) ?(?:-|–|to|until) ?([01]?[0-9]|2[0-4]):([0-5][0-9])\.?")


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def meeting_reward(completion: str, busy: list, minutes: int, day: list) -> float:
    """1.0 for any slot that suits everybody: within the day, of the length asked for, and overlapping no busy time.

    The slot stands on the last line 'Slot: HH:MM-HH:MM' (24 hours), alone. Meetings may touch busy times.
    """
    line = _last_line(completion, "slot")
    match = _SLOT.fullmatch(line) if line is not None and len(line) <= 40 else None
    if not match:
        return 0.0
    start = 60 * int(match.group(1)) + int(match.group(2))
    end = 60 * int(match.group(3)) + int(match.group(4))
    if end - start != minutes or start < _minutes(day[0]) or end > _minutes(day[1]):
        return 0.0
    taken = any(start < _minutes(until) and _minutes(since) < end for person in busy for since, until in person)
    return 0.0 if taken else 1.0


# --- moments in a video -----------------------------------------------------------------------------------------

_SPAN = re.compile(r"\s{0,4}([0-9]{1,6}(?:\.[0-9]{1,4})?)\s{0,4}s?\s{0,4}(?:,|-|–|to)\s{0,4}([0-9]{1,6}(?:\.[0-9]{1,4})?)\s{0,4}s?\s{0,4}")


def moment_iou_reward(completions, span, **kwargs) -> list[float]:
    """Temporal grounding: intersection over union of the predicted and the true interval in seconds, from 0.0 to 1.0.

    The completion has exactly one <span>start, end</span>; none, several, or an end not after the start: 0.0.
    """
    rewards = []
    for completion, (gold_start, gold_end) in zip(completions, span):
        single = completion.count("<span>") == 1 and completion.count("</span>") == 1
        match = _SPAN.fullmatch(_last_between(completion, "<span>", "</span>") or "") if single else None
        start, end = (float(match.group(1)), float(match.group(2))) if match else (0.0, 0.0)
        if end <= start:
            rewards.append(0.0)
            continue
        overlap = max(0.0, min(end, gold_end) - max(start, gold_start))
        rewards.append(overlap / (end - start + gold_end - gold_start - overlap))
    return rewards


# --- places ---------------------------------------------------------------------------------------------------------

_COORDINATES = re.compile(
    r"\(?([-\u2212+]?[0-9]{1,3}(?:\.[0-9]{1,8})?) ?°? ?([NS])?[,;] ?([-\u2212+]?[0-9]{1,3}(?:\.[0-9]{1,8})?) ?°? ?([EW])?\)?\.?",
    re.IGNORECASE,
)


def _degrees(number: str, side: str | None) -> float:
    value = float(number.replace("\u2212", "-"))
    if side and number[0] in "-+\u2212":
        return math.inf  # both a sign and a letter
    return -value if side and side.upper() in "SW" else value


def _kilometres(a: tuple[float, float], b: tuple[float, float]) -> float:
    (lat_a, lon_a), (lat_b, lon_b) = (map(math.radians, a), map(math.radians, b))
    h = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(h)))


class GeoGuess:
    """Where was the picture taken? exp(-distance / scale), so 1.0 on the spot and about 0.37 at the scale (in km).

    The last line 'Coordinates: latitude, longitude' in decimal degrees counts, with signs or with N/S and E/W. Values out
    of range, and anything else on the line, score 0.0.
    """

    def __init__(self, scale: float = 250.0) -> None:
        self.__name__ = "geo_guess"
        self.scale = scale

    def __call__(self, completions, location, **kwargs) -> list[float]:
        rewards = []
        for completion, gold in zip(completions, location):
            match = _COORDINATES.fullmatch(_last_line(completion, "coordinates") or "")
            if not match:
                rewards.append(0.0)
                continue
            said = (_degrees(match.group(1), match.group(2)), _degrees(match.group(3), match.group(4)))
            if abs(said[0]) > 90.0 or abs(said[1]) > 180.0:
                rewards.append(0.0)
                continue
            distance = _kilometres(said, (gold["lat"], gold["lon"]))
            rewards.append(math.exp(-distance / self.scale))
        return rewards


geo_guess = GeoGuess()


_TABLE = "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount REAL, paid INTEGER);\n"
_SHOP = _TABLE + "INSERT INTO orders VALUES (1, 'Ana', 40.0, 1), (2, 'Ben', 15.5, 0), (3, 'Ana', 9.0, 0), (4, 'Cleo', 80.0, 1);"
_SHOP_TWO = _TABLE + "INSERT INTO orders VALUES (1, 'Dov', 5.0, 0), (2, 'Dov', 5.0, 0), (3, 'Ana', 12.25, 1), (4, 'Eli', 90.0, 0), (5, 'Ben', 30.0, 1);"

_SOURCE = "RETRIES = 3\n\n\ndef fetch(url):\n    for _ in range(RETRIES):\n        reply = get(url)\n        if reply.ok:\n            return reply\n    return None\n"

CASES = [
    Case(
        "sql_on_two_databases",
        sql_result_reward,
        [
            {
                "prompt": "Table orders(id, customer, amount, paid). Which customers have open orders, and of which amount? Answer in a ```sql block.",
                "databases": [_SHOP, _SHOP_TWO],
                "gold_sql": "SELECT customer, amount FROM orders WHERE paid = 0",
                "ordered": False,
            },
            {
                "prompt": "Table orders(id, customer, amount, paid). List the customers by total amount, highest first. Answer in a ```sql block.",
                "databases": [_SHOP, _SHOP_TWO],
                "gold_sql": "SELECT customer FROM orders GROUP BY customer ORDER BY SUM(amount) DESC",
                "ordered": True,
            },
        ],
        [
            "Open orders have paid = 0.\n```sql\nSELECT customer, amount FROM orders WHERE NOT paid ORDER BY id;\n```",
            "Sum up per customer and sort.\n```sql\nWITH t AS (SELECT customer, SUM(amount) AS s FROM orders GROUP BY customer)\nSELECT customer FROM t ORDER BY s DESC;\n```",
        ],
        [
            "Small orders are open.\n```sql\nSELECT customer, amount FROM orders WHERE amount < 20;\n```",
            "Sort the orders.\n```sql\nSELECT customer FROM orders ORDER BY amount DESC;\n```",
        ],
    ),
    Case(
        "return_value_typed",
        exact_return_value,
        [
            {"prompt": "def f(xs): return any(x < 0 for x in xs)\nWhat does f([3, -1]) return? Put it between [RESULT] and [/RESULT].", "answer": "True"},
            {"prompt": "def f(s): return {c: s.count(c) / len(s) for c in s}\nWhat does f('abbb') return? Put it between [RESULT] and [/RESULT].", "answer": "{'a': 0.25, 'b': 0.75}"},
        ],
        [
            "-1 is negative, so any() is true.\n[RESULT]True[/RESULT]",
            "One of four letters is an a, three are a b.\n[RESULT]{\"a\": 0.25, \"b\": 0.75}[/RESULT]",
        ],
        [
            "One element is negative.\n[RESULT]1[/RESULT]",
            "One a and three b.\n[RESULT]{'a': 1, 'b': 3}[/RESULT]",
        ],
    ),
    Case(
        "search_replace_edit",
        edit_reward,
        [
            {"prompt": f"Rename RETRIES to MAX_RETRIES with SEARCH/REPLACE blocks:\n{_SOURCE}", "source": _SOURCE, "target": _SOURCE.replace("RETRIES", "MAX_RETRIES")},
            {"prompt": f"Change the number of retries to 5 with SEARCH/REPLACE blocks:\n{_SOURCE}", "source": _SOURCE, "target": _SOURCE.replace("RETRIES = 3", "RETRIES = 5")},
        ],
        [
            "The constant occurs in two places.\n<<<<<<< SEARCH\nRETRIES = 3\n=======\nMAX_RETRIES = 3\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n    for _ in range(RETRIES):\n=======\n    for _ in range(MAX_RETRIES):\n>>>>>>> REPLACE\n",
            "Only the constant changes.\n```\n<<<<<<< SEARCH\nRETRIES = 3\n=======\nRETRIES = 5\n>>>>>>> REPLACE\n```",
        ],
        [
            "Rename the constant.\n<<<<<<< SEARCH\nRETRIES = 3\n=======\nMAX_RETRIES = 3\n>>>>>>> REPLACE\n",
            "Write it into the loop.\n<<<<<<< SEARCH\n    for _ in range(RETRIES):\n=======\n    for _ in range(5):\n>>>>>>> REPLACE\n",
        ],
    ),
    Case(
        "stance_or_skip",
        stance_reward,
        [
            {"prompt": "Motion: Ban cars from the centre. Text: 'At last the children could play outside.' End with 'Stance: support/oppose/neutral'.", "stance": "support"},
            {"prompt": "Motion: Ban cars from the centre. Text: 'My shop would be closed within a year.' End with 'Stance: support/oppose/neutral'.", "stance": "oppose"},
        ],
        [
            "The author looks forward to a benefit.\nStance: support",
            "The author fears a loss.\n**Stance:** Oppose.",
        ],
        [
            "The author only mentions children.\nStance: neutral",
            "Shops are fine with it.\n**Stance:** support",
        ],
    ),
    Case(
        "sudoku_4x4",
        sudoku_reward,
        [
            {"prompt": "Solve the 4x4 sudoku (0 = empty):\n1000\n0030\n0200\n0004\nPut the grid in <grid>.", "puzzle": ["1000", "0030", "0200", "0004"]},
            {"prompt": "Solve the 4x4 sudoku (0 = empty):\n0204\n4010\n0103\n3020\nPut the grid in <grid>.", "puzzle": ["0204", "4010", "0103", "3020"]},
        ],
        [
            "The 3 of the first row must be in column 2.\n<grid>\n1 3 4 2\n2 4 3 1\n4 2 1 3\n3 1 2 4\n</grid>",
            "Row by row, the missing digits are forced.\n<grid>\n1234\n4312\n2143\n3421\n</grid>",
        ],
        [
            "A regular pattern.\n<grid>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</grid>",
            "Row by row.\n<grid>\n1234\n4213\n2143\n3421\n</grid>",
        ],
    ),
    Case(
        "knights_and_knaves",
        knights_reward,
        [
            {"prompt": "Knights tell the truth, knaves lie. Ann: 'Bob is a knave.' Bob: 'We are both knights.' Give one line 'Name: role' each in <answer>.", "roles": {"Ann": "knight", "Bob": "knave"}},
            {"prompt": "Knights tell the truth, knaves lie. Cid: 'Dan and I are both knaves.' Give one line 'Name: role' each in <answer>.", "roles": {"Cid": "knave", "Dan": "knight"}},
        ],
        [
            "If Bob told the truth, Ann would be a knight who lies. So Bob lies.\n<answer>\nAnn: knight\nBob: knave\n</answer>",
            "A knight cannot say that, so Cid lies, and not both are knaves.\n<answer>\nDan: knight\nCid: knave\n</answer>",
        ],
        [
            "Bob is friendly.\n<answer>\nAnn: knave\nBob: knight\n</answer>",
            "Cid confesses.\n<answer>\nCid: knave\nDan: knave\n</answer>",
        ],
    ),
    Case(
        "utc_instant",
        instant_reward,
        [
            {"prompt": "A call starts at 02:30 on 5 March 2024 in Tokyo (UTC+9). When is that in UTC? End with 'Time: YYYY-MM-DD HH:MM'.", "instant": "2024-03-04 17:30Z"},
            {"prompt": "A flight leaves New York (UTC-4) on 10 July 2024 at 22:15 and takes 7 hours. When does it land, in UTC? End with 'Time: YYYY-MM-DD HH:MM'.", "instant": "2024-07-11 09:15Z"},
        ],
        [
            "Nine hours earlier is the day before.\nTime: 2024-03-04 17:30",
            "It leaves at 02:15 UTC on the 11th.\nTime: 2024-07-11 09:15 UTC",
        ],
        [
            "Nine hours earlier.\nTime: 2024-03-05 17:30",
            "It leaves at 22:15 and lands at 05:15.\nTime: 2024-07-11 05:15 UTC",
        ],
    ),
    Case(
        "meeting_any_free_slot",
        meeting_reward,
        [
            {
                "prompt": "Find 60 minutes between 09:00 and 17:00. Ana is busy 09:00-10:30 and 13:00-15:00, Ben 11:30-13:30 and 16:00-17:00. End with 'Slot: HH:MM-HH:MM'.",
                "busy": [[["09:00", "10:30"], ["13:00", "15:00"]], [["11:30", "13:30"], ["16:00", "17:00"]]],
                "minutes": 60,
                "day": ["09:00", "17:00"],
            },
            {
                "prompt": "Find 30 minutes between 09:00 and 12:00. Cem is busy 09:00-09:30 and 10:00-12:00. End with 'Slot: HH:MM-HH:MM'.",
                "busy": [[["09:00", "09:30"], ["10:00", "12:00"]]],
                "minutes": 30,
                "day": ["09:00", "12:00"],
            },
        ],
        [
            "Both are free from 10:30 to 11:30 and from 15:00 to 16:00.\nSlot: 15:00-16:00",
            "There is one gap.\nSlot: 9:30 - 10:00",
        ],
        [
            "Ana is free after 10:30.\nSlot: 11:00-12:00",
            "There is one gap.\nSlot: 09:30-10:30",
        ],
    ),
    Case(
        "moment_iou",
        moment_iou_reward,
        [
            {"prompt": "When does the goalkeeper catch the ball? Give <span>start, end</span> in seconds.", "span": [12.5, 18.0]},
            {"prompt": "When is the cake taken out of the oven? Give <span>start, end</span> in seconds.", "span": [240.0, 252.0]},
        ],
        [
            "He jumps after the corner kick.\n<span>12.5, 18.0</span>",
            "The door opens at four minutes.\n<span>240, 252</span>",
        ],
        [
            "He jumps at the start.\n<span>2.0, 14.0</span>",
            "Some time in the video.\n<span>0, 600</span>",
        ],
    ),
    Case(
        "geo_guess_distance",
        geo_guess,
        [
            {"prompt": "Where was this taken: an iron tower by a river, seen from a bridge with golden statues? End with 'Coordinates: lat, lon'.", "location": {"lat": 48.8566, "lon": 2.3522}},
            {"prompt": "Where was this taken: white sails of an opera house by a harbour bridge? End with 'Coordinates: lat, lon'.", "location": {"lat": -33.8568, "lon": 151.2153}},
        ],
        [
            "This is Paris, from the Pont Alexandre III.\nCoordinates: 48.8566, 2.3522",
            "This is the opera of Sydney.\nCoordinates: 33.8568 S, 151.2153 E",
        ],
        [
            "This may be Brussels.\nCoordinates: 50.85, 4.35",
            "This may be Oslo.\nCoordinates: 59.91, 10.75",
        ],
    ),
]
