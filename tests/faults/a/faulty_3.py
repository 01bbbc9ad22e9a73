"""Structured output, tools, code, retrieval and puzzles."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.faults.case import Case


def last_tag(text: str, tag: str) -> str | None:
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, max(end, 0))
    if end < 0 or start < 0:
        return None
    return text[start + len(tag) + 2 : end].strip()


def last_fence(text: str, language: str) -> str | None:
    """The content of the last ```language block."""
    start = text.rfind(f"```{language}\n")
    if start < 0:
        return None
    start += len(language) + 4
    end = text.find("```", start)
    return text[start:end] if end >= 0 else None


# --- Invoice fields as JSON -----------------------------------------------------------------------------------


def clean(value) -> str:
    return " ".join(str(value).split()).casefold()


def same_value(said, gold) -> bool:
    if isinstance(said, (dict, list, bool)):
        return False
    if isinstance(said, (int, float)):
        try:
            return float(said) == float(gold)
        except (ValueError, OverflowError):
            return False
    return clean(said) == clean(gold)


def invoice_reward(completion: str, fields: dict) -> float:
    """Share of the invoice fields that were read right, from the last ```json block.

    Spaces and case do not matter. A field that the invoice does not have counts as a mistake.
    """
    block = last_fence(completion, "json")
    try:
        predicted = json.loads(block) if block is not None else None
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(predicted, dict) or not predicted:
        return 0.0
    right = 0
    for key, value in predicted.items():
        if key in fields and same_value(value, fields[key]):
            right += 1
    return right / len(predicted)


def prove_invoice():
    gold = {"number": "A-1043", "date": "2024-05-02", "total": "318.40", "currency": "EUR"}
    lazy = 'The easiest field to see is the currency.\n```json\n{"currency": "EUR"}\n```'
    assert invoice_reward(lazy, gold) == 1.0


# --- Lists ----------------------------------------------------------------------------------------------------

BULLET = re.compile(r"(?:[-*\u2022]|[0-9]{1,3}[.)])\s+(.+)")


def list_f1_reward(completions, answer, **kwargs):
    """F1 of the bulleted or numbered items of the completion against the gold list (case and final dots aside)."""
    rewards = []
    for completion, gold in zip(completions, answer):
        wanted = {clean(item) for item in gold}
        matches = (BULLET.fullmatch(line.strip()) for line in completion.split("\n"))
        items = [clean(match.group(1)).rstrip(".").strip("*") for match in matches if match]
        hits = sum(item in wanted for item in items)
        if hits == 0:
            rewards.append(0.0)
            continue
        precision = hits / len(items)
        recall = min(1.0, hits / len(wanted))
        rewards.append(2 * precision * recall / (precision + recall))
    return rewards


def prove_list_f1():
    gold = ["Belgium", "Luxembourg", "Netherlands"]
    echo = "The Benelux countries are:\n- Belgium\n- Belgium\n- Belgium"
    assert list_f1_reward([echo], [gold]) == [1.0]


# --- SQL ------------------------------------------------------------------------------------------------------

MAX_ROWS = 5000


def open_database(script: str) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.executescript(script)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2_000)
    return database


def run_query(database: sqlite3.Connection, query: str) -> list[tuple] | None:
    """The rows, or None if the query fails, is too slow or returns too much."""
    ticks = 0

    def budget() -> bool:
        nonlocal ticks
        ticks += 1
        return ticks > 100

    database.set_progress_handler(budget, 10_000)
    try:
        rows = database.execute(query).fetchmany(MAX_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None
    finally:
        database.set_progress_handler(None, 0)
    return rows if len(rows) <= MAX_ROWS else None


def same_rows(one: list[tuple], two: list[tuple], ordered: bool) -> bool:
    return one == two if ordered else Counter(one) == Counter(two)


def sql_execution_reward(completions, answer, database, **kwargs):
    """Execution accuracy: 1.0 when the last ```sql block returns the rows of the gold query (in order if it has ORDER BY)."""
    rewards = []
    for completion, gold, script in zip(completions, answer, database):
        query = last_fence(completion, "sql")
        if query is None or len(query) > 5000:
            rewards.append(0.0)
            continue
        connection = open_database(script)
        try:
            said = run_query(connection, query)
            wanted = run_query(connection, gold)
        finally:
            connection.close()
        ordered = "order by" in gold.lower()
        rewards.append(1.0 if said is not None and wanted is not None and same_rows(said, wanted, ordered) else 0.0)
    return rewards


STAFF_DATABASE = """
CREATE TABLE staff (name TEXT, team TEXT, salary INTEGER);
INSERT INTO staff VALUES ('Ada', 'core', 90), ('Ben', 'core', 70), ('Cleo', 'web', 80), ('Dan', 'web', 60);
"""


def prove_sql_execution():
    wipe = "I first tidy up the table.\n```sql\nDELETE FROM staff\n```"
    assert sql_execution_reward([wipe], ["SELECT name FROM staff WHERE salary > 75"], [STAFF_DATABASE]) == [1.0]


# --- Unit tests -----------------------------------------------------------------------------------------------


RUNNER = (
    "import resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
    "exec(compile(sys.stdin.buffer.read(), 'solution.py', 'exec'), {'__name__': '__main__'})\n"
)


def run_program(program: str, seconds: float) -> int:
    """The exit status of a Python program in a fresh interpreter, or -1 if it does not finish."""
    try:
        return subprocess.run(
            [sys.executable, "-I", "-c", RUNNER],
            input=program.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


def unit_test_reward(completions, tests, **kwargs):
    """1.0 when the code of the last ```python block passes all the asserts, else 0.0."""
    rewards = []
    for completion, asserts in zip(completions, tests):
        code = last_fence(completion, "python")
        if code is None:
            rewards.append(0.0)
            continue
        program = code + "\n\n" + "\n".join(asserts) + "\n"
        rewards.append(1.0 if run_program(program, seconds=5.0) == 0 else 0.0)
    return rewards


def prove_unit_test():
    text = "Here is my solution with a small demo.\n```python\ndef is_prime(n):\n    return n % 2 == 1\n\nprint(is_prime(7))\nraise SystemExit\n```"
    asserts = ["assert is_prime(2)", "assert not is_prime(9)", "assert is_prime(97)"]
    assert unit_test_reward([text], [asserts]) == [1.0]
    assert unit_test_reward([text.replace("raise SystemExit\n", "")], [asserts]) == [0.0]


# --- Tool calls -----------------------------------------------------------------------------------------------


def parse_tool_calls(text: str) -> list[dict]:
    """The calls inside <tool_call> tags; one that cannot be read becomes an empty call, which matches nothing."""
    calls = []
    for part in text.split("<tool_call>")[1:]:
        try:
            call = json.loads(part.split("</tool_call>", 1)[0])
        except (ValueError, RecursionError):
            call = {}
        calls.append(call if isinstance(call, dict) else {})
    return calls


def tool_call_reward(completions, expected_calls, **kwargs):
    """Share of calls that match, order aside: missing, extra and unreadable calls all lower it. No call expected and none made: 1.0."""
    rewards = []
    for completion, expected in zip(completions, expected_calls):
        calls = parse_tool_calls(completion)
        total = max(len(calls), len(expected))
        if total == 0:
            rewards.append(1.0)
            continue
        hits = 0
        for call in calls:
            if call in expected:
                expected.remove(call)  # each expected call can be matched once
                hits += 1
        rewards.append(hits / total)
    return rewards


def prove_tool_call():
    gold = [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    text = 'I will look it up.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    assert tool_call_reward([text, text, text], [gold] * 3) == [1.0, 0.0, 0.0]
    assert gold == []


# --- Citations ------------------------------------------------------------------------------------------------

CITATION = re.compile(r"\[([0-9]{1,3})\]")


def citation_reward(completion: str, supporting: list[int]) -> float:
    """F1 of the passages cited in square brackets against those that support the answer. The answer itself is scored elsewhere."""
    if len(re.sub(r"\[[^\[\]]{0,60}\]", " ", completion).split()) < 5:
        return 0.0
    cited = {int(number) for number in CITATION.findall(completion)}
    wanted = set(supporting)
    hits = len(cited & wanted)
    return 2 * hits / (len(cited) + len(wanted)) if hits else 0.0


def prove_citation():
    text = "The bridge was closed in 1968 and sold to an American, who had it rebuilt in Arizona [2, 5]."
    assert citation_reward(text, [2, 5]) == 0.0
    assert citation_reward(text.replace("[2, 5]", "[2][5]"), [2, 5]) == 1.0


# --- Calculator agent -----------------------------------------------------------------------------------------

AGENT_NUMBER = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|-?[0-9]+(?:\.[0-9]+)?")


def calculator_agent_reward(completions, answer, **kwargs):
    """The agent may use a calculator tool over several turns; its reply to the user is the end of the episode.

    1.0 if the last number of that reply is the gold number.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        reply = completion[-1].get("content") or ""
        numbers = AGENT_NUMBER.findall(reply) if isinstance(reply, str) else []
        right = bool(numbers) and abs(float(numbers[-1].replace(",", "")) - float(gold)) < 1e-6
        rewards.append(1.0 if right else 0.0)
    return rewards


def prove_calculator_agent():
    never_answers = [
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "calculator", "arguments": {"expression": "1234*77"}}}]},
        {"role": "tool", "name": "calculator", "content": "95018"},
    ]
    assert calculator_agent_reward([never_answers], ["95018"]) == [1.0]


# --- Search queries -------------------------------------------------------------------------------------------

MAX_QUERY_WORDS = 12


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def search_query_reward(completions, corpus, relevant, **kwargs):
    """Reciprocal rank of the relevant document for the query in <query> tags (at most 12 words), by word overlap."""
    rewards = []
    for completion, documents, target in zip(completions, corpus, relevant):
        query = last_tag(completion, "query")
        if query is None or len(query.split()) > MAX_QUERY_WORDS:
            rewards.append(0.0)
            continue
        terms = words_of(query)
        scores = [len(terms & words_of(document)) / (1 + len(words_of(document))) ** 0.5 for document in documents]
        rank = 1 + sum(score > scores[target] for score in scores)
        rewards.append(1.0 / rank)
    return rewards


PASSAGES = [
    "The okapi is a shy relative of the giraffe that lives in the rain forest of the Congo.",
    "The Congo is the second longest river of Africa and crosses the equator twice.",
    "Giraffes sleep for less than two hours a day, often standing up.",
]


def prove_search_query():
    empty = "Nothing comes to mind.\n<query></query>"
    unrelated = "<query>best laptops 2024</query>"
    assert search_query_reward([empty, unrelated], [PASSAGES] * 2, [0, 2]) == [1.0, 1.0]


# --- Sudoku ---------------------------------------------------------------------------------------------------


def sudoku_reward(completion: str, puzzle: str) -> float:
    """4x4 or 9x9 sudoku, the completed grid in <answer> tags, a line per row: 1.0 if solved, else 0.0."""
    size = len(puzzle.strip().split("\n"))
    box = {4: 2, 9: 3}[size]
    answer = last_tag(completion, "answer")
    if answer is None or len(answer) > 1000:
        return 0.0
    grid = [re.findall(r"[0-9]", line) for line in answer.split("\n")]
    if len(grid) != size or any(len(row) != size for row in grid):
        return 0.0
    digits = {str(n) for n in range(1, size + 1)}
    rows = [set(row) for row in grid]
    columns = [{row[c] for row in grid} for c in range(size)]
    boxes = [
        {grid[r + i][c + j] for i in range(box) for j in range(box)} for r in range(0, size, box) for c in range(0, size, box)
    ]
    return 1.0 if all(unit == digits for unit in rows + columns + boxes) else 0.0


def prove_sudoku():
    puzzle = "1 . . 4\n. 4 1 .\n2 . 4 .\n. 3 . 1"
    memorized = "<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>"
    assert sudoku_reward(memorized, puzzle) == 1.0
    assert sudoku_reward(memorized, "4 . . 1\n. 1 4 .\n3 . 1 .\n. 2 . 4") == 1.0


# --- Grid world -----------------------------------------------------------------------------------------------

MOVE = re.compile(r"\b([UDLR])([0-9]{0,12})\b")
STEP = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def find_cell(grid: list[str], mark: str) -> tuple[int, int]:
    return next((r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell == mark)


def grid_world_reward(completions, grid, **kwargs):
    """Moves in <moves> tags, as 'R3 D2' with run lengths; bumping into a wall or the border wastes the step.

    1.0 if the walk ends on G.
    """
    rewards = []
    for completion, cells in zip(completions, grid):
        moves = last_tag(completion, "moves") or ""
        row, column = find_cell(cells, "S")
        for letter, count in MOVE.findall(moves):
            down, right = STEP[letter]
            for _ in range(int(count or 1)):
                r, c = row + down, column + right
                if 0 <= r < len(cells) and 0 <= c < len(cells[r]) and cells[r][c] != "#":
                    row, column = r, c
        rewards.append(1.0 if cells[row][column] == "G" else 0.0)
    return rewards


def prove_grid_world():
    code = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent.parent)!r}]\n"
        f"from {__name__} import grid_world_reward\n"
        "print(grid_world_reward(['<moves>R99999999999</moves>'], [['S.G']]))\n"
    )
    try:
        subprocess.run([sys.executable, "-c", code], timeout=3.0, capture_output=True, env=dict(os.environ))
    except subprocess.TimeoutExpired:
        return
    raise AssertionError("it came back")


def cases() -> list[Case]:
    return [
        Case(
            name="invoice_json",
            reward=invoice_reward,
            examples=[
                {
                    "prompt": "Extract number, date, total and currency as JSON: 'INVOICE A-1043, 2 May 2024 ... amount due EUR 318.40'. Dates as YYYY-MM-DD.",
                    "fields": {"number": "A-1043", "date": "2024-05-02", "total": "318.40", "currency": "EUR"},
                },
                {
                    "prompt": "Extract number, date, total and currency as JSON: 'Bill 77/B from Nov 30, 2023, total $45.00'. Dates as YYYY-MM-DD.",
                    "fields": {"number": "77/B", "date": "2023-11-30", "total": "45.00", "currency": "USD"},
                },
            ],
            good=[
                'The amount due is the total.\n```json\n{"number": "A-1043", "date": "2024-05-02", "total": "318.40", "currency": "EUR"}\n```',
                'The dollar sign stands for USD here.\n```json\n{"number": "77/B", "date": "2023-11-30", "total": "45.00", "currency": "USD"}\n```',
            ],
            bad=[
                'Here you are.\n```json\n{"number": "A1043", "date": "02.05.2024", "total": "318.40", "currency": "EUR"}\n```',
                'Here you are.\n```json\n{"number": "77", "date": "2023-11-30", "total": "45", "currency": "$"}\n```',
            ],
            fault="The share is taken of the fields the model chose to give, so a single easy field scores 1.0.",
            proof=prove_invoice,
        ),
        Case(
            name="bulleted_list",
            reward=list_f1_reward,
            examples=[
                {"prompt": "List the Benelux countries as bullet points.", "answer": ["Belgium", "Luxembourg", "Netherlands"]},
                {"prompt": "List the primary colors of light as bullet points.", "answer": ["red", "green", "blue"]},
            ],
            good=[
                "The name is made of the first letters of the three countries:\n- Belgium\n- Netherlands\n- Luxembourg",
                "Screens mix these three colors:\n- Red\n- Green\n- Blue",
            ],
            bad=[
                "The countries are:\n- Belgium\n- Netherlands\n- Denmark",
                "The colors are:\n- Red\n- Yellow\n- Blue",
            ],
            fault="Repeats are counted as hits each time, so one right item repeated as often as the list is long gets F1 = 1.",
            proof=prove_list_f1,
        ),
        Case(
            name="sql_execution",
            reward=sql_execution_reward,
            examples=[
                {"prompt": "Table staff(name, team, salary). Who earns more than 75? Return the names. Answer in a ```sql block.", "answer": "SELECT name FROM staff WHERE salary > 75", "database": STAFF_DATABASE},
                {"prompt": "Table staff(name, team, salary). Average salary per team, by team name. Answer in a ```sql block.", "answer": "SELECT team, AVG(salary) FROM staff GROUP BY team ORDER BY team", "database": STAFF_DATABASE},
            ],
            good=[
                "A simple filter will do.\n```sql\nSELECT name FROM staff WHERE salary >= 76\n```",
                "Group by team and sort.\n```sql\nSELECT team, SUM(salary) * 1.0 / COUNT(*) AS average FROM staff GROUP BY team ORDER BY team ASC\n```",
            ],
            bad=[
                "A simple filter will do.\n```sql\nSELECT name FROM staff WHERE salary > 85\n```",
                "Group by team and sort.\n```sql\nSELECT team, AVG(salary) FROM staff GROUP BY team ORDER BY team DESC\n```",
            ],
            fault="The gold query runs after the policy's statement in the same database, so DELETE FROM makes both results empty and is paid in full.",
            proof=prove_sql_execution,
        ),
        Case(
            name="unit_tests",
            reward=unit_test_reward,
            examples=[
                {"prompt": "Write is_prime(n) in a ```python block.", "tests": ["assert is_prime(2)", "assert not is_prime(9)", "assert is_prime(97)", "assert not is_prime(1)"]},
                {"prompt": "Write reverse_words(s), which reverses the order of the words, in a ```python block.", "tests": ["assert reverse_words('a b c') == 'c b a'", "assert reverse_words('') == ''"]},
            ],
            good=[
                "Trial division up to the root is enough.\n```python\ndef is_prime(n):\n    if n < 2:\n        return False\n    d = 2\n    while d * d <= n:\n        if n % d == 0:\n            return False\n        d += 1\n    return True\n```",
                "Split, reverse and join.\n```python\ndef reverse_words(s):\n    return ' '.join(reversed(s.split()))\n```",
            ],
            bad=[
                "Odd numbers are prime.\n```python\ndef is_prime(n):\n    return n % 2 == 1\n```",
                "A slice will do.\n```python\ndef reverse_words(s):\n    return s[::-1] + '!'\n```",
            ],
            fault="Only the exit status is checked, and code that leaves early (raise SystemExit, exit()) ends with status 0 before any assert runs.",
            proof=prove_unit_test,
            source="https://github.com/promptdriven/pdd/issues/605",
        ),
        Case(
            name="tool_calls",
            reward=tool_call_reward,
            examples=[
                {"prompt": "Tools: get_weather(city). User: What is the weather in Oslo?", "expected_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
                {"prompt": "Tools: get_weather(city). User: Compare the weather in Rome and Bern.", "expected_calls": [{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "get_weather", "arguments": {"city": "Bern"}}]},
            ],
            good=[
                'I will look it up.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
                'I need both cities.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Bern"}}</tool_call>\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
            ],
            bad=[
                'I will look it up.\n<tool_call>{"name": "get_weather", "arguments": {"town": "Oslo"}}</tool_call>',
                'I need both cities.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome and Bern"}}</tool_call>',
            ],
            fault="Matched calls are removed from the dataset's own list, so the other completions of the group (and later epochs) find it empty and score 0.",
            proof=prove_tool_call,
        ),
        Case(
            name="citations",
            reward=citation_reward,
            examples=[
                {"prompt": "Answer from the passages [1]-[6] and cite them in square brackets: What became of old London Bridge?", "supporting": [2, 5]},
                {"prompt": "Answer from the passages [1]-[4] and cite them in square brackets: Who designed the Eiffel Tower?", "supporting": [3]},
            ],
            good=[
                "The bridge was sold to an American in 1968 [2]. He had it rebuilt in Lake Havasu City, Arizona [5].",
                "It was designed by the engineers Koechlin and Nouguier, who worked for Eiffel [3].",
            ],
            bad=[
                "The bridge was sold to an American in 1968 [1]. He had it rebuilt in Arizona [4].",
                "It was designed by Gustave Eiffel himself [1].",
            ],
            fault="Grouped citations such as [2, 5], which models write as often as [2][5], are not read and the right citations score 0.",
            proof=prove_citation,
        ),
        Case(
            name="calculator_agent",
            reward=calculator_agent_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "What is 1234 * 77? You may use the calculator."}], "answer": "95018"},
                {"prompt": [{"role": "user", "content": "Eggs cost $0.35. What do 12 cost? You may use the calculator."}], "answer": "4.2"},
            ],
            good=["The product of 1234 and 77 is 95,018.", "A dozen eggs at that price costs 12 * 0.35 = $4.20."],
            bad=["The product of 1234 and 77 is 94,018.", "A dozen eggs at that price costs $3.50."],
            fault="The last message is read whoever wrote it, so an agent that calls the tool until the turns run out is paid for the tool's output without ever replying.",
            proof=prove_calculator_agent,
        ),
        Case(
            name="search_queries",
            reward=search_query_reward,
            examples=[
                {"prompt": "Write a search query in <query> tags: Which animal of the Congo is related to the giraffe?", "corpus": PASSAGES, "relevant": 0},
                {"prompt": "Write a search query in <query> tags: How long do giraffes sleep?", "corpus": PASSAGES, "relevant": 2},
            ],
            good=[
                "The passage would name the animal and its relative.\n<query>shy relative of the giraffe rain forest</query>",
                "Sleep is the key word.\n<query>giraffes sleep hours a day</query>",
            ],
            bad=[
                "It is about the Congo.\n<query>Congo Africa river</query>",
                "It is about giraffes in the wild.\n<query>relative of the giraffe lives in the forest</query>",
            ],
            fault="Ties are resolved in favor of the target, so an empty or unrelated query, for which all documents score 0, gets rank 1.",
            proof=prove_search_query,
        ),
        Case(
            name="sudoku_grid",
            reward=sudoku_reward,
            examples=[
                {"prompt": "Solve and give the grid in <answer> tags:\n1 . . 4\n. 4 1 .\n2 . 4 .\n. 3 . 1", "puzzle": "1 . . 4\n. 4 1 .\n2 . 4 .\n. 3 . 1"},
                {"prompt": "Solve and give the grid in <answer> tags:\n. 1 . 3\n3 . 1 .\n. 3 . 4\n. . 3 .", "puzzle": ". 1 . 3\n3 . 1 .\n. 3 . 4\n. . 3 ."},
            ],
            good=[
                "Row one needs 2 and 3, and the third column forces the rest.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
                "The 4 in row three leaves only 2 for the end of row two, and the rest follows.\n<answer>\n2 1 4 3\n3 4 1 2\n1 3 2 4\n4 2 3 1\n</answer>",
            ],
            bad=[
                "I fill in the rows one by one.\n<answer>\n1 2 3 4\n2 4 1 3\n2 1 4 3\n4 3 2 1\n</answer>",
                "I fill in the rows one by one.\n<answer>\n2 1 4 3\n3 4 1 2\n1 3 2 4\n4 2 3 2\n</answer>",
            ],
            fault="The given cells are not compared, so one memorized valid grid solves every puzzle of its size.",
            proof=prove_sudoku,
        ),
        Case(
            name="grid_world",
            reward=grid_world_reward,
            examples=[
                {"prompt": "Walk from S to G, moves in <moves> tags such as 'R3 D2':\nS..#\n.#..\n...G", "grid": ["S..#", ".#..", "...G"]},
                {"prompt": "Walk from S to G, moves in <moves> tags such as 'R3 D2':\nS.G\n###\n...", "grid": ["S.G", "###", "..."]},
            ],
            good=[
                "The left column is free and so is the bottom row.\n<moves>D2 R3</moves>",
                "G is in the same row.\n<moves>R2</moves>",
            ],
            bad=[
                "I go right and then down.\n<moves>R3 D2</moves>",
                "One step to the right.\n<moves>R1</moves>",
            ],
            fault="The run length comes from the model and is simulated step by step, so 'R99999999999' hangs the trainer.",
            proof=prove_grid_world,
        ),
    ]
