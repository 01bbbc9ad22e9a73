"""Sound rewards for structured output: JSON, tools, SQL, program output, puzzles, boxes, rankings."""

from __future__ import annotations

import ast
import json
import operator
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.faults.case import Case


def _text(completion: Any) -> str:
    """Plain text of a completion: the string itself, or what the last assistant message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def _last_tag(text: str, tag: str) -> str | None:
    """What stands in the last complete <tag>...</tag>."""
    close = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, close) if close != -1 else -1
    return None if start == -1 else text[start + len(tag) + 2 : close].strip()


def _last_block(text: str, language: str) -> str | None:
    """The last fenced block of that language (closed or cut off at the end)."""
    start = text.rfind(f"```{language}")
    if start == -1:
        return None
    header, _, body = text[start + len(language) + 3 :].partition("\n")
    return None if header.strip() else body.split("```", 1)[0]


class DuplicateKey(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Objects with a repeated key are refused: they would hide two answers in one field."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise DuplicateKey
    return value


MISSING = object()


def load_json(text: str) -> Any:
    """JSON value of the last ```json block, or of the whole text when there is none; MISSING if unreadable."""
    block = _last_block(text, "json")
    try:
        return json.loads(text if block is None else block, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return MISSING


def same(said: Any, wanted: Any) -> bool:
    """JSON equality: true is not 1, but 1 is 1.0; the order of keys does not matter, that of lists does."""
    if isinstance(said, bool) or isinstance(wanted, bool):
        return said is wanted
    if isinstance(said, (int, float)) and isinstance(wanted, (int, float)):
        return said == wanted
    if type(said) is not type(wanted):
        return False
    if isinstance(wanted, dict):
        return said.keys() == wanted.keys() and all(same(said[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(said) == len(wanted) and all(same(a, b) for a, b in zip(said, wanted))
    return said == wanted


# --------------------------------------------------------------------------- one JSON document


def json_document_reward(completions: Sequence[Any], document: Sequence[Any], **kwargs: Any) -> list[float]:
    """All or nothing: the completion (or its last ```json block) must be the reference document.

    A field that is null must be there and be null; missing and surplus fields are both wrong.
    """
    return [float(same(load_json(_text(c)), gold)) for c, gold in zip(completions, document)]


# --------------------------------------------------------------------------- records in any order

Record = tuple[tuple[str, str, Any], ...]


def record_key(record: Any) -> Record | None:
    """A hashable form of a flat record; None for anything else. 2 and 2.0 are the same number."""
    if not isinstance(record, dict):
        return None
    fields = []
    for name, value in record.items():
        if isinstance(value, bool):
            fields.append((name, "bool", value))
        elif isinstance(value, (int, float)):
            fields.append((name, "number", value))
        elif isinstance(value, str):
            fields.append((name, "text", " ".join(value.split())))
        elif value is None:
            fields.append((name, "null", None))
        else:
            return None
    return tuple(sorted(fields, key=lambda field: field[:2]))


def records_f1_reward(completions: Sequence[Any], records: Sequence[Sequence[Mapping[str, Any]]], **kwargs: Any) -> list[float]:
    """F1 over whole records: a record counts only if all of its fields are right.

    The order of the records does not matter, and each reference record can be matched once. Two empty lists agree.
    """
    rewards = []
    for completion, gold in zip(completions, records):
        said = load_json(_text(completion))
        if not isinstance(said, list):
            rewards.append(0.0)
            continue
        have = Counter(record_key(record) for record in said)
        hits = sum(min(count, have[key]) for key, count in Counter(record_key(record) for record in gold).items())
        total = len(said) + len(gold)
        rewards.append(2 * hits / total if total else 1.0)
    return rewards


# --------------------------------------------------------------------------- one tool call


def only_call(text: str) -> Any:
    """The JSON of the only <tool_call>...</tool_call>; MISSING when there is none, several, or no JSON."""
    if text.count("<tool_call>") != 1 or text.count("</tool_call>") != 1:
        return MISSING
    start, end = text.find("<tool_call>"), text.find("</tool_call>")
    try:
        return json.loads(text[start + 11 : max(end, start + 11)], object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return MISSING


def single_tool_call_reward(
    completions: Sequence[Any],
    call: Sequence[Mapping[str, Any]],
    defaults: Sequence[Mapping[str, Any]],
    **kwargs: Any,
) -> list[float]:
    """Exactly one tool call, with the right name and arguments.

    12 and 12.0 are the same number; an optional argument may be left out or given with its default. Missing and
    unknown arguments are wrong.
    """
    rewards = []
    for completion, gold, optional in zip(completions, call, defaults):
        said = only_call(_text(completion))
        if not isinstance(said, dict) or said.get("name") != gold["name"] or not isinstance(said.get("arguments"), dict):
            rewards.append(0.0)
            continue
        rewards.append(float(same({**optional, **said["arguments"]}, {**optional, **gold["arguments"]})))
    return rewards


# --------------------------------------------------------------------------- a sequence of tool calls


class ToolSequenceReward:
    """Order-sensitive partial credit for a plan of tool calls, one JSON object {"name", "arguments"} per line in <plan>.

    Longest common subsequence with the reference, divided by the length of the longer plan; so missing,
    surplus, repeated and swapped calls all cost. A plan of more than `max_calls` calls earns nothing.
    """

    __name__ = "tool_sequence_reward"

    def __init__(self, max_calls: int = 30) -> None:
        self.max_calls = max_calls

    def _plan(self, text: str) -> list[Any] | None:
        body = _last_tag(text, "plan")
        lines = [line for line in body.splitlines() if line.strip()] if body else []
        if not lines or len(lines) > self.max_calls:
            return None
        try:
            return [json.loads(line, object_pairs_hook=_unique) for line in lines]
        except (ValueError, RecursionError):
            return None

    def __call__(self, completions: Sequence[Any], plan: Sequence[Sequence[Mapping[str, Any]]], **kwargs: Any) -> list[float]:
        rewards = []
        for completion, gold in zip(completions, plan):
            said = self._plan(_text(completion))
            if said is None:
                rewards.append(0.0)
                continue
            row = [0] * (len(gold) + 1)
            for call in said:
                last = row[:]
                for j, wanted in enumerate(gold, start=1):
                    row[j] = last[j - 1] + 1 if same(call, dict(wanted)) else max(last[j], row[j - 1])
            rewards.append(row[-1] / max(len(gold), len(said)))
        return rewards


tool_sequence_reward = ToolSequenceReward()


# --------------------------------------------------------------------------- SQL on several databases

FUNCTIONS = {
    "count", "sum", "avg", "min", "max", "total", "group_concat", "abs", "round", "length", "lower", "upper",
    "substr", "trim", "coalesce", "ifnull", "nullif", "iif", "like", "glob", "replace", "instr",
    "row_number", "rank", "dense_rank", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
}


def _authorize(action: int, first: str | None, second: str | None, *rest: Any) -> int:
    """Reading only, and no function whose value changes from run to run."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class StepLimit:
    """Progress handler that stops a query after a number of calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0)


def run_sql(setup: str, query: str) -> tuple[int, list[tuple[Any, ...]]] | None:
    """(number of columns, rows) of a query on a fresh database; None when it fails, runs long or returns too much."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(setup)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 20_000)
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(StepLimit(200), 10_000)
        cursor = connection.execute(query)
        rows = cursor.fetchmany(1001)
        return (len(cursor.description or ()), rows) if len(rows) <= 1000 else None
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError):
        return None
    finally:
        connection.close()


def _rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(round(value, 6) if isinstance(value, float) else value for value in row)


def sql_suite_reward(completion: str, databases: Sequence[str], gold_sql: str, ordered: bool) -> float:
    """Test-suite execution accuracy: on every database, the SQL in the last ```sql block must return what the gold
    query returns, row for row if the question asks for an order (`ordered`), else as a multiset of rows.

    A query that fails is wrong, also where the gold query returns nothing; the databases of a row are chosen so
    that at least one of them gives the gold query a result.
    """
    query = _last_block(completion, "sql")
    if query is None or not query.strip():
        return 0.0
    for setup in databases:
        said, wanted = run_sql(setup, query.strip()), run_sql(setup, gold_sql)
        if said is None or wanted is None or said[0] != wanted[0]:
            return 0.0
        have, want = [_rounded(row) for row in said[1]], [_rounded(row) for row in wanted[1]]
        if have != want and (ordered or Counter(have) != Counter(want)):
            return 0.0
    return 1.0


# --------------------------------------------------------------------------- output of a program

PLAIN_FLOAT = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")


def same_token(said: str, wanted: str, tolerance: float = 1e-6) -> bool:
    """Equal, or close where the expected token is a number with a decimal point."""
    if said == wanted:
        return True
    if "." not in wanted or not PLAIN_FLOAT.fullmatch(wanted) or not PLAIN_FLOAT.fullmatch(said):
        return False
    return abs(float(said) - float(wanted)) <= tolerance * max(1.0, abs(float(wanted)))


def program_output_reward(completions: Sequence[Any], stdout: Sequence[str], **kwargs: Any) -> list[float]:
    """Predict what a program prints, in the last ```text block.

    Lines and tokens must agree one by one; numbers that are printed with a decimal point may differ by 1e-6
    (absolute or relative), as in programming contests. Spaces at the ends of lines and blank lines at the end
    of the output do not matter.
    """
    rewards = []
    for completion, gold in zip(completions, stdout):
        block = _last_block(_text(completion), "text")
        said = [line.split() for line in block.rstrip().splitlines()] if block is not None else None
        wanted = [line.split() for line in gold.rstrip().splitlines()]
        ok = said is not None and len(said) == len(wanted) and all(
            len(a) == len(b) and all(same_token(x, y) for x, y in zip(a, b)) for a, b in zip(said, wanted)
        )
        rewards.append(float(ok))
    return rewards


# --------------------------------------------------------------------------- countdown

STEPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def exact_value(node: ast.AST, used: list[int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in STEPS:
        return STEPS[type(node.op)](exact_value(node.left, used), exact_value(node.right, used))
    raise ValueError("only numbers, + - * / and parentheses")


def countdown_exact_reward(
    completions: Sequence[Any], target: Sequence[int], numbers: Sequence[Sequence[int]], **kwargs: Any
) -> list[float]:
    """Countdown: the expression in the last <answer> must use every given number exactly once and have exactly
    the value of the target (computed with fractions, never rounded). "= target" may follow it."""
    rewards = []
    for completion, goal, given in zip(completions, target, numbers):
        body = _last_tag(_text(completion), "answer")
        if not body or len(body) > 200:
            rewards.append(0.0)
            continue
        expression = body.replace("×", "*").replace("÷", "/").replace("−", "-")
        left, equals, right = expression.partition("=")
        if equals and right.strip() != str(goal):
            rewards.append(0.0)
            continue
        used: list[int] = []
        try:
            value = exact_value(ast.parse(left.strip(), mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        rewards.append(float(value == goal and Counter(used) == Counter(given)))
    return rewards


# --------------------------------------------------------------------------- knights and knaves


def knights_reward(completions: Sequence[Any], roles: Sequence[Mapping[str, str]], **kwargs: Any) -> list[float]:
    """Knights and knaves. 1.0 when <answer> gives every islander the right role, 0.0 when it gives everyone a role
    but a wrong one, -1.0 when it is missing, incomplete or contradicts itself.

    An unreadable answer is meant to be worse than a wrong one. Names may come in any order and case.
    """
    rewards = []
    for completion, gold in zip(completions, roles):
        body = _last_tag(_text(completion), "answer")
        if body is None:
            rewards.append(-1.0)
            continue
        body = body.replace("*", "")
        said = {
            name: {
                role.lower()
                for role in re.findall(
                    rf"(?<!\w){re.escape(name)}(?: is (?:an? |the )?|: (?:an? )?)(knight|knave)(?!\w)", body, re.IGNORECASE
                )
            }
            for name in gold
        }
        if any(len(found) != 1 for found in said.values()):
            rewards.append(-1.0)
        else:
            rewards.append(float(all(found == {gold[name]} for name, found in said.items())))
    return rewards


# --------------------------------------------------------------------------- small sudoku


def read_grid(text: str) -> list[list[int]] | None:
    """Four rows of four digits 1-4; bars, commas, fences and rulers of dashes are ignored."""
    rows = []
    for line in text.splitlines():
        cells = line.replace("|", " ").replace(",", " ").split()
        if not cells or set("".join(cells)) <= set("-+=") or cells[0].startswith("```"):
            continue
        if len(cells) == 1 and len(cells[0]) == 4:
            cells = list(cells[0])
        if len(cells) != 4 or any(cell not in ("1", "2", "3", "4") for cell in cells) or len(rows) == 4:
            return None
        rows.append([int(cell) for cell in cells])
    return rows if len(rows) == 4 else None


def mini_sudoku_reward(completion: str, puzzle: Sequence[Sequence[int]]) -> float:
    """4x4 sudoku in the last <answer>: every row, column and 2x2 box must hold 1-4, and the given clues must be kept.

    Any grid that does so is right, whether or not it is the one the puzzle was made from.
    """
    body = _last_tag(completion, "answer")
    grid = read_grid(body) if body and len(body) <= 500 else None
    if grid is None:
        return 0.0
    if any(clue and clue != cell for clues, row in zip(puzzle, grid) for clue, cell in zip(clues, row)):
        return 0.0
    boxes = [[grid[r + i][c + j] for i in (0, 1) for j in (0, 1)] for r in (0, 2) for c in (0, 2)]
    return float(all(sorted(unit) == [1, 2, 3, 4] for unit in [*grid, *map(list, zip(*grid)), *boxes]))


# --------------------------------------------------------------------------- word guessing


def feedback(guess: str, secret: str) -> str:
    """Wordle feedback with letters counted: G right place, Y elsewhere, X not (any more) in the word."""
    marks = ["G" if g == s else "X" for g, s in zip(guess, secret)]
    left = Counter(s for s, mark in zip(secret, marks) if mark != "G")
    for i, letter in enumerate(guess):
        if marks[i] != "G" and left[letter]:
            marks[i] = "Y"
            left[letter] -= 1
    return "".join(marks)


def consistent_guess_reward(
    completions: Sequence[Any], history: Sequence[Sequence[Sequence[str]]], words: Sequence[Sequence[str]], **kwargs: Any
) -> list[float]:
    """Next guess in Wordle, as the only <guess>. 1.0 for a listed word that agrees with all feedback so far,
    0.2 for another listed word that was not tried yet, else 0.0.

    Rewards play that uses the information, not luck: the secret word itself is not needed.
    """
    rewards = []
    for completion, tried, allowed in zip(completions, history, words):
        text = _text(completion)
        guess = (_last_tag(text, "guess") or "").lower() if text.count("<guess>") == 1 else ""
        if guess not in allowed or any(guess == word for word, _ in tried):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if all(feedback(word, guess) == marks for word, marks in tried) else 0.2)
    return rewards


# --------------------------------------------------------------------------- bounding boxes

EDGE = r"([0-9]{1,5}(?:\.[0-9]{1,4})?)"
BOX = re.compile(r"\[\s{0,8}" + r"\s{0,2},\s{0,8}".join([EDGE] * 4) + r"\s{0,8}\]")


def iou_reward(completions: Sequence[Any], box: Sequence[Sequence[float]], **kwargs: Any) -> list[float]:
    """Grounding: IoU of the box [x1, y1, x2, y2] in the last <answer> with the reference (pixels).

    There must be exactly one box, with x1 < x2 and y1 < y2. Below an IoU of 0.3 nothing is paid.
    """
    rewards = []
    for completion, gold in zip(completions, box):
        found = BOX.findall(_last_tag(_text(completion), "answer") or "")
        x1, y1, x2, y2 = (float(edge) for edge in found[0]) if len(found) == 1 else (0.0, 0.0, 0.0, 0.0)
        if x1 >= x2 or y1 >= y2:
            rewards.append(0.0)
            continue
        width = max(0.0, min(x2, gold[2]) - max(x1, gold[0]))
        height = max(0.0, min(y2, gold[3]) - max(y1, gold[1]))
        union = (x2 - x1) * (y2 - y1) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - width * height
        iou = width * height / union
        rewards.append(iou if iou >= 0.3 else 0.0)
    return rewards


# --------------------------------------------------------------------------- ranking


def ranking_reward(completion: str, ranking: Sequence[str]) -> float:
    """Put the items in order on the last "Ranking:" line, separated by ">". Kendall's tau in [-1, 1]: 1.0 for the
    reference order, -1.0 for its reverse.

    Every item must stand there exactly once; otherwise the score is -1.0 as well.
    """
    lines = [line.strip().strip("*_ ") for line in completion.splitlines()]
    stated = [line[8:].strip("*_ ") for line in lines if line.lower().startswith("ranking:")]
    if not stated or len(stated[-1]) > 1000:
        return -1.0
    said = [" ".join(item.lower().strip(" .*_").split()) for item in stated[-1].split(">")]
    wanted = [item.lower() for item in ranking]
    if Counter(said) != Counter(wanted):
        return -1.0
    place = {item: i for i, item in enumerate(said)}
    pairs = list(combinations(wanted, 2))
    agree = sum(place[first] < place[second] for first, second in pairs)
    return (2 * agree - len(pairs)) / len(pairs)


_STAFF = [
    """
    CREATE TABLE staff (name TEXT, team TEXT, salary INTEGER);
    INSERT INTO staff VALUES ('Ada', 'sales', 50), ('Ben', 'sales', 40), ('Cleo', 'it', 60), ('Dan', 'it', 60);
    """,
    """
    CREATE TABLE staff (name TEXT, team TEXT, salary INTEGER);
    INSERT INTO staff VALUES ('Eve', 'sales', 90), ('Fay', 'it', 120), ('Gus', 'law', 130), ('Hal', 'law', 70), ('Ida', 'law', 10);
    """,
]

CASES = [
    Case(
        name="json_document_reward",
        reward=json_document_reward,
        examples=[
            {"prompt": "Contact as JSON (name, phone or null, tags): Ben Okri, no phone, press.", "document": {"name": "Ben Okri", "phone": None, "tags": ["press"]}},
            {"prompt": "Order as JSON (id, paid, total): order 17, paid, 20 euros.", "document": {"id": 17, "paid": True, "total": 20.0}},
        ],
        good=[
            'There is no phone, so the field is null.\n```json\n{"name": "Ben Okri", "tags": ["press"], "phone": null}\n```',
            '{"id": 17, "paid": true, "total": 20}',
        ],
        bad=[
            '```json\n{"name": "Ben Okri", "tags": ["press"]}\n```',
            '{"id": 17, "paid": 1, "total": 20}',
        ],
        source="https://github.com/openai/evals/issues/1763",
    ),
    Case(
        name="records_f1_reward",
        reward=records_f1_reward,
        examples=[
            {"prompt": "Line items as a JSON list (name, qty, finish if given): 40 hex bolts; 40 hex bolts, zinc.", "records": [{"name": "hex bolt", "qty": 40}, {"name": "hex bolt", "qty": 40, "finish": "zinc"}]},
            {"prompt": "Complaints in this mail as a JSON list (topic): 'All fine, thanks!'", "records": []},
        ],
        good=[
            '```json\n[{"name": "hex bolt", "qty": 40, "finish": "zinc"}, {"qty": 40, "name": "hex bolt"}]\n```',
            "The customer is happy.\n```json\n[]\n```",
        ],
        bad=[
            '```json\n[{"name": "hex bolt", "qty": 80}]\n```',
            '```json\n[{"topic": "thanks"}]\n```',
        ],
        source="https://github.com/langchain-ai/openevals/pull/253",
    ),
    Case(
        name="single_tool_call_reward",
        reward=single_tool_call_reward,
        examples=[
            {"prompt": "Average of 12, 15 and 18? Tool: average(numbers, digits=2).", "call": {"name": "average", "arguments": {"numbers": [12.0, 15.0, 18.0]}}, "defaults": {"digits": 2}},
            {"prompt": "Lamp in the hall on, please. Tool: lamp(room, on).", "call": {"name": "lamp", "arguments": {"room": "hall", "on": True}}, "defaults": {}},
        ],
        good=[
            'I let the tool do it.\n<tool_call>{"name": "average", "arguments": {"numbers": [12, 15, 18]}}</tool_call>',
            '<tool_call>{"name": "lamp", "arguments": {"on": true, "room": "hall"}}</tool_call>',
        ],
        bad=[
            '<tool_call>{"name": "average", "arguments": {"numbers": [12, 15]}}</tool_call>',
            '<tool_call>{"name": "lamp", "arguments": {"on": true}}</tool_call>',
        ],
        source="https://github.com/ShishirPatil/gorilla/issues/1049",
    ),
    Case(
        name="tool_sequence_reward",
        reward=tool_sequence_reward,
        examples=[
            {"prompt": "Move the file a.txt to /tmp and list /tmp. Give the calls in <plan>, one JSON object per line.", "plan": [{"name": "mv", "arguments": {"src": "a.txt", "dst": "/tmp"}}, {"name": "ls", "arguments": {"path": "/tmp"}}]},
            {"prompt": "Lock the door. Give the calls in <plan>.", "plan": [{"name": "lock", "arguments": {"door": "front"}}]},
        ],
        good=[
            'First move, then list.\n<plan>\n{"name": "mv", "arguments": {"src": "a.txt", "dst": "/tmp"}}\n{"name": "ls", "arguments": {"path": "/tmp"}}\n</plan>',
            '<plan>{"name": "lock", "arguments": {"door": "front"}}</plan>',
        ],
        bad=[
            '<plan>\n{"name": "ls", "arguments": {"path": "/tmp"}}\n{"name": "mv", "arguments": {"src": "a.txt", "dst": "/tmp"}}\n</plan>',
            '<plan>{"name": "lock", "arguments": {"door": "back"}}</plan>',
        ],
        source="https://github.com/vibrantlabsai/ragas/issues/2079",
    ),
    Case(
        name="sql_suite_reward",
        reward=sql_suite_reward,
        examples=[
            {"prompt": "Table staff(name, team, salary). Teams by average salary, highest first? ```sql block.", "databases": _STAFF, "gold_sql": "SELECT team FROM staff GROUP BY team ORDER BY AVG(salary) DESC", "ordered": True},
            {"prompt": "Table staff(name, team, salary). Who earns more than 100? ```sql block.", "databases": _STAFF, "gold_sql": "SELECT name FROM staff WHERE salary > 100", "ordered": False},
        ],
        good=[
            "Group by team and sort by the average.\n```sql\nSELECT s.team FROM staff AS s GROUP BY s.team ORDER BY SUM(s.salary) * 1.0 / COUNT(*) DESC;\n```",
            "```sql\nSELECT name FROM staff WHERE NOT salary <= 100 ORDER BY name DESC\n```",
        ],
        bad=[
            "```sql\nSELECT team FROM staff GROUP BY team ORDER BY AVG(salary)\n```",
            "```sql\nSELECT name FROM staff WHERE salary > 1000\n```",
        ],
        source="https://github.com/IBM/unitxt/pull/1672",
    ),
    Case(
        name="program_output_reward",
        reward=program_output_reward,
        examples=[
            {"prompt": "What does this print?\nfor n in (1, 2, 3):\n    print(n, 1 / n)\nAnswer in a ```text block.", "stdout": "1 1.0\n2 0.5\n3 0.3333333333333333\n"},
            {"prompt": "What does print(*sorted({3, 1, 2}), sep='-') print? Answer in a ```text block.", "stdout": "1-2-3\n"},
        ],
        good=[
            "The loop prints n and its inverse:\n```text\n1 1.0\n2 0.5\n3 0.33333333\n```",
            "A set has no order, but sorted gives one:\n```text\n1-2-3\n```",
        ],
        bad=[
            "```text\n1 1.0\n2 0.5\n3 0.33\n```",
            "```text\n3-1-2\n```",
        ],
        source="https://github.com/LiveCodeBench/LiveCodeBench/issues/133",
    ),
    Case(
        name="countdown_exact_reward",
        reward=countdown_exact_reward,
        examples=[
            {"prompt": "Use 3, 3, 8 and 8 once each to make 24. Expression in <answer>.", "target": 24, "numbers": [3, 3, 8, 8]},
            {"prompt": "Use 1, 1, 1 and 81 once each to make 81. Expression in <answer>.", "target": 81, "numbers": [1, 81, 1, 1]},
        ],
        good=[
            "<think>8 / (3 - 8/3) = 8 / (1/3) = 24.</think><answer>8 / (3 - 8 / 3)</answer>",
            "<think>The ones must vanish: 81 * 1 * 1 * 1.</think><answer>81 × 1 × 1 × 1 = 81</answer>",
        ],
        bad=[
            "<think>8 * 3 = 24.</think><answer>8 * 3</answer>",
            "<think>One factor is enough.</think><answer>81 * 1</answer>",
        ],
        source="https://github.com/open-thought/reasoning-gym/issues/478",
    ),
    Case(
        name="knights_reward",
        reward=knights_reward,
        examples=[
            {"prompt": "Zoey says: 'Riley is a knave.' Riley says: 'We are both knights.' Who is what? <answer>...</answer>", "roles": {"Zoey": "knight", "Riley": "knave"}},
            {"prompt": "Ann says: 'Bob and I are both knaves.' Who is what? <answer>...</answer>", "roles": {"Ann": "knave", "Bob": "knight"}},
        ],
        good=[
            "<think>If Riley were a knight, Zoey would be one and lie. So Riley lies.</think>\n<answer>(1) Zoey is a knight\n(2) Riley is a knave</answer>",
            "<think>Ann cannot be a knight. Her statement is false, so Bob is none.</think>\n<answer>Bob is a knight and Ann is a knave.</answer>",
        ],
        bad=[
            "<think>Riley sounds sincere.</think>\n<answer>(1) Zoey is a knave\n(2) Riley is a knight</answer>",
            "<think>They admit it.</think>\n<answer>Both of them are knaves.</answer>",
        ],
        source="https://github.com/Unakar/Logic-RL/issues/71",
    ),
    Case(
        name="mini_sudoku_reward",
        reward=mini_sudoku_reward,
        examples=[
            {"prompt": "Solve the 4x4 sudoku (0 = empty), grid in <answer>:\n1 0 0 4\n0 0 1 0\n0 1 0 0\n4 0 0 1", "puzzle": [[1, 0, 0, 4], [0, 0, 1, 0], [0, 1, 0, 0], [4, 0, 0, 1]]},
            {"prompt": "Solve the 4x4 sudoku (0 = empty), grid in <answer>:\n0 0 3 0\n0 0 0 0\n0 1 0 0\n0 0 0 0", "puzzle": [[0, 0, 3, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]},
        ],
        good=[
            "The first row lacks 2 and 3.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
            "There are many ways to fill it; this is one.\n<answer>\n1 2 | 3 4\n3 4 | 1 2\n----+----\n2 1 | 4 3\n4 3 | 2 1\n</answer>",
        ],
        bad=[
            "<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 2 3 1\n</answer>",
            "<answer>\n2 1 | 4 3\n3 4 | 1 2\n----+----\n1 2 | 3 4\n4 3 | 2 1\n</answer>",
        ],
        source="https://github.com/AffineFoundation/affinetes/pull/16",
    ),
    Case(
        name="consistent_guess_reward",
        reward=consistent_guess_reward,
        examples=[
            {"prompt": "Wordle. Your guess 'speed' got XXYXY. Next guess in <guess>.", "history": [["speed", "XXYXY"]], "words": ["speed", "adore", "dream", "eeled", "abide", "crane"]},
            {"prompt": "Wordle. 'crane' got GGGXG. Next guess in <guess>.", "history": [["crane", "GGGXG"]], "words": ["crane", "crate", "craze", "grade", "brave"]},
        ],
        good=[
            "One e and a d are in the word, but not in these places; the second e is surplus.\n<guess>abide</guess>",
            "Only the n is wrong.\n<guess>crate</guess>",
        ],
        bad=[
            "Two letters are in the word.\n<guess>eeled</guess>",
            "Maybe the c is wrong.\n<guess>grade</guess>",
        ],
    ),
    Case(
        name="iou_reward",
        reward=iou_reward,
        examples=[
            {"prompt": "<image> Box of the red scooter as [x1, y1, x2, y2] in <answer>.", "box": [29.0, 56.0, 271.0, 474.0]},
            {"prompt": "<image> Box of the dog as [x1, y1, x2, y2] in <answer>.", "box": [400.0, 300.0, 520.0, 420.0]},
        ],
        good=[
            "<think>The scooter stands on the left.</think><answer>[29, 56, 271, 474]</answer>",
            "<think>The dog lies in the lower right part.</think><answer>{\"bbox_2d\": [400, 300, 520, 420]}</answer>",
        ],
        bad=[
            "<think>It fills the picture.</think><answer>[0, 0, 1280, 960]</answer>",
            "<think>The dog lies in the lower right part.</think><answer>[430, 350, 640, 480]</answer>",
        ],
    ),
    Case(
        name="ranking_reward",
        reward=ranking_reward,
        examples=[
            {"prompt": "Rank by population: Lagos, Oslo, Lima. End with 'Ranking: a > b > c'.", "ranking": ["Lagos", "Lima", "Oslo"]},
            {"prompt": "Rank by melting point: tungsten, iron, lead, mercury. End with 'Ranking: ...'.", "ranking": ["tungsten", "iron", "lead", "mercury"]},
        ],
        good=[
            "Lagos has some 15 million, Lima 10, Oslo less than one.\nRanking: Lagos > Lima > Oslo",
            "Mercury is liquid, lead melts on a stove, iron in a furnace.\n**Ranking:** Tungsten > Iron > Lead > Mercury",
        ],
        bad=[
            "Lima is the largest capital.\nRanking: Lima > Oslo > Lagos",
            "Iron is the hardest.\nRanking: iron > lead > tungsten > mercury",
        ],
    ),
]
