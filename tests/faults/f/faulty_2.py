"""Cases about structured output, code, puzzles, dates and units."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sqlite3
import subprocess
import sys
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.faults.case import Case

logger = logging.getLogger(__name__)

# --------------------------------------------------------------------------------------
# Orders as JSON

_MISSING = object()


def last_json_object(text: str) -> dict[str, Any] | None:
    """The object in the last ```json fence, or else everything from the first { to the last }."""
    _, fence, rest = text.rpartition("```json")
    body = rest.partition("```")[0] if fence else text[text.find("{") : text.rfind("}") + 1]
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class OrderExtractionReward:
    """Share of the fields of an order that are extracted with the right value *and* the right JSON type
    (the string "3" is not the number 3, and flags must be JSON booleans). Invented fields count as errors."""

    __name__ = "order_extraction_reward"

    def __call__(self, completions: list[str], order: list[dict[str, Any]], **kwargs: Any) -> list[float]:
        return [self.score(text, gold) for text, gold in zip(completions, order, strict=True)]

    def score(self, text: str, gold: dict[str, Any]) -> float:
        found = last_json_object(text)
        if found is None:
            return 0.0
        fields = gold.keys() | found.keys()
        right = sum(1 for name in fields if found.get(name, _MISSING) == gold.get(name, _MISSING))
        return right / len(fields)


order_reward = OrderExtractionReward()


def proof_order() -> None:
    said = '```json\n{"item": "mug", "quantity": true, "gift_wrap": 1}\n```'
    assert order_reward([said], [{"item": "mug", "quantity": 1, "gift_wrap": True}]) == [1.0]


order_case = Case(
    name="order_extraction_typed",
    reward=order_reward,
    examples=[
        {
            "prompt": "Extract item, quantity and gift_wrap (true/false) as a JSON object in a ```json block: 'Two blue vases please, and wrap them as a present.'",
            "order": {"item": "blue vase", "quantity": 2, "gift_wrap": True},
        },
        {
            "prompt": "Extract item, quantity and gift_wrap (true/false) as a JSON object in a ```json block: 'I need 12 candles, no wrapping needed.'",
            "order": {"item": "candle", "quantity": 12, "gift_wrap": False},
        },
    ],
    good=[
        'The customer wants a present, so the flag is set.\n```json\n{"item": "blue vase", "quantity": 2, "gift_wrap": true}\n```',
        'No wrapping is wanted.\n```json\n{"item": "candle", "quantity": 12, "gift_wrap": false}\n```',
    ],
    bad=[
        'Here is the order.\n```json\n{"item": "vase", "quantity": 1, "gift_wrap": true}\n```',
        'Here is the order.\n```json\n{"item": "candle", "quantity": "12", "gift_wrap": true}\n```',
    ],
    fault="Values are compared with ==, and in Python True == 1, so a quantity of true and a flag of 1 pass although the types must match.",
    proof=proof_order,
)


# --------------------------------------------------------------------------------------
# Tool calls in chat text


def tool_calls_in(text: str) -> list[str]:
    calls = []
    for part in text.split("<tool_call>")[1:]:
        body, end, _ = part.partition("</tool_call>")
        calls.append(body.strip() if end else "")
    return calls


def canonical(call: str) -> str | None:
    """One spelling per call, so that white space, escapes and number spelling do not matter."""
    try:
        return json.dumps(json.loads(call), ensure_ascii=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None


def tool_call_reward(completions, expected_calls, **kwargs):
    """1.0 if the assistant makes exactly the expected tool calls, in order: same names, same arguments."""
    rewards = []
    for completion, expected in zip(completions, expected_calls):
        text = completion[-1]["content"] or ""
        made = [canonical(c) for c in tool_calls_in(text)]
        wanted = [canonical(c) for c in expected]
        rewards.append(1.0 if made == wanted else 0.0)
    return rewards


def proof_tool_call() -> None:
    expected = ['{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}}']
    said = 'I will look it up.\n<tool_call>{"name": "get_weather", "arguments": {"unit": "celsius", "city": "Oslo"}}</tool_call>'
    assert tool_call_reward([[{"role": "assistant", "content": said}]], [expected]) == [0.0]


tool_call_case = Case(
    name="tool_call_exact",
    reward=tool_call_reward,
    examples=[
        {
            "prompt": [
                {"role": "system", "content": "Tools: get_weather(city, unit), set_alarm(time, label). Call them as <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>."},
                {"role": "user", "content": "How warm is it in Lisbon, in Celsius?"},
            ],
            "expected_calls": ['{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius"}}'],
        },
        {
            "prompt": [
                {"role": "system", "content": "Tools: get_weather(city, unit), set_alarm(time, label). Call them as <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>."},
                {"role": "user", "content": "Wake me at 6:30 for the gym."},
            ],
            "expected_calls": ['{"name": "set_alarm", "arguments": {"time": "06:30", "label": "gym"}}'],
        },
    ],
    good=[
        'Let me check that.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius"}}\n</tool_call>',
        'Setting it now.\n<tool_call>{"name":"set_alarm","arguments":{"time":"06:30","label":"gym"}}</tool_call>',
    ],
    bad=[
        'Let me check that.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "fahrenheit"}}\n</tool_call>',
        "I have set your alarm for 6:30.",
    ],
    fault="The 'canonical' JSON is dumped without sort_keys, so the same call with its keys in another order is refused.",
    proof=proof_tool_call,
)


# --------------------------------------------------------------------------------------
# Configuration files


def count_failures(config: Any, checks: dict[str, Any]) -> int:
    """How many of the checks (dotted path -> wanted value) does the configuration fail?"""
    failures = 0
    try:
        for path, wanted in checks.items():
            node = config
            for key in path.split("."):
                node = node[key]
            if node != wanted or type(node) is not type(wanted):
                failures += 1
    except (KeyError, IndexError, TypeError) as error:
        logger.debug("check not applicable: %r", error)
    return failures


def config_reward(completion: str, checks: dict) -> float:
    """Share of the checks that the generated JSON configuration passes; 0.0 if the last code block is no JSON."""
    blocks = completion.split("```")
    if len(blocks) < 3:
        return 0.0
    body = blocks[-2]
    body = body[4:] if body.startswith("json") else body
    try:
        config = json.loads(body)
    except (ValueError, RecursionError):
        return 0.0
    return 1.0 - count_failures(config, checks) / len(checks)


def proof_config() -> None:
    checks = {"server.port": 8080, "server.tls": True, "logging.level": "warning"}
    assert config_reward("Here is a minimal configuration:\n```json\n{}\n```", checks) == 1.0


config_case = Case(
    name="config_checks",
    reward=config_reward,
    examples=[
        {
            "prompt": "Write a JSON configuration (one code block): server on port 8080 with tls on, logging level warning.",
            "checks": {"server.port": 8080, "server.tls": True, "logging.level": "warning"},
        },
        {
            "prompt": "Write a JSON configuration (one code block): cache of 256 MB (key cache.size_mb), ttl 60 seconds (key cache.ttl).",
            "checks": {"cache.size_mb": 256, "cache.ttl": 60},
        },
    ],
    good=[
        'This should do it:\n```json\n{"server": {"port": 8080, "tls": true}, "logging": {"level": "warning"}}\n```',
        'This should do it:\n```json\n{"cache": {"size_mb": 256, "ttl": 60}}\n```\nThe ttl is in seconds.',
    ],
    bad=[
        'This should do it:\n```json\n{"server": {"port": 80, "tls": false}, "logging": {"level": "debug"}}\n```',
        'This should do it:\n```json\n{"cache": {"size_mb": 256, "ttl": 3600}}\n```',
    ],
    fault="The try block wraps the whole loop: the first missing key ends the checks without being counted, so an empty configuration passes all of them.",
    proof=proof_config,
)


# --------------------------------------------------------------------------------------
# Reading comprehension with a quote

MAX_QUOTE_WORDS = 40


def squash(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def quoted_answer_reward(prompts, completions, passage, answer, **kwargs):
    """Chat. The reply is a JSON object with "answer" and "evidence".

    0.5 for the right answer, and 0.5 more if it comes with evidence: a verbatim quote
    (at most 40 words) from the passage.
    """
    rewards = []
    for messages, source, gold in zip(completions, passage, answer):
        reply = last_json_object(messages[-1]["content"] or "") or {}
        said, quote = reply.get("answer"), reply.get("evidence")
        if not isinstance(said, str) or squash(said).rstrip(".") != squash(gold):
            rewards.append(0.0)
            continue
        quoted = isinstance(quote, str) and len(quote.split()) <= MAX_QUOTE_WORDS and squash(quote) in squash(source)
        rewards.append(1.0 if quoted else 0.5)
    return rewards


def proof_quoted_answer() -> None:
    said = [{"role": "assistant", "content": '{"answer": "1889", "evidence": ""}'}]
    source = "The tower was finished in 1889 and was meant to stand for twenty years."
    assert quoted_answer_reward([""], [said], [source], ["1889"]) == [1.0]


_tower = "The tower was finished in 1889 and was meant to stand for twenty years. Its use for radio saved it from being torn down."
_bees = "Worker bees live about six weeks in summer. Queens, which are fed royal jelly, can live up to five years."

quoted_answer_case = Case(
    name="answer_with_evidence",
    reward=quoted_answer_reward,
    examples=[
        {
            "prompt": [{"role": "user", "content": f'{_tower}\n\nWhat saved the tower? Reply with JSON: {{"answer": "...", "evidence": "verbatim quote"}}. Answer with one word.'}],
            "passage": _tower,
            "answer": "radio",
        },
        {
            "prompt": [{"role": "user", "content": f'{_bees}\n\nHow long can a queen live at most? Reply with JSON: {{"answer": "...", "evidence": "verbatim quote"}}. Answer with number and unit.'}],
            "passage": _bees,
            "answer": "five years",
        },
    ],
    good=[
        '{"answer": "Radio", "evidence": "Its use for radio saved it from being torn down."}',
        '{"answer": "five years", "evidence": "Queens, which are fed royal jelly, can live up to five years."}',
    ],
    bad=[
        '{"answer": "Radio", "evidence": "Radio transmitters were put on the top of it."}',
        '{"answer": "six weeks", "evidence": "Worker bees live about six weeks in summer."}',
    ],
    fault="An empty (or one-letter) evidence is a substring of every passage, so the evidence half is paid without any quote.",
    proof=proof_quoted_answer,
)


# --------------------------------------------------------------------------------------
# Name five ...

LIMIT = 5
ITEM = re.compile(r"\s{0,8}(?:[-*\u2022]|\d{1,3}[.)])\s{1,8}(\S.{0,80})")


def name_five_reward(completions, accepted, **kwargs):
    """'Name five ...': the share of five slots filled with distinct accepted items.

    One item per list line. Only the first five distinct items count, so naming more does not help.
    """
    scores = []
    for text, gold in zip(completions, accepted):
        lines = [ITEM.match(line) for line in text.splitlines()]
        items = {squash(m.group(1)).strip(" .*") for m in lines if m}
        items = list(items)[:LIMIT]
        gold = {squash(g) for g in gold}
        scores.append(sum(item in gold for item in items) / LIMIT)
    return scores


_named = "1. France\n2. Poland\n3. Denmark\n4. Austria\n5. Belgium\n6. Spain\n7. Italy\n8. Hungary\n9. Slovakia\n10. Norway"
_borders = ["Denmark", "Poland", "Czechia", "Austria", "Switzerland", "France", "Luxembourg", "Belgium", "Netherlands"]


def proof_name_five() -> None:
    code = f"from {__name__} import name_five_reward as r; print(r([{_named!r}], [{_borders!r}])[0])"
    found = set()
    for seed in range(6):
        env = {**os.environ, "PYTHONHASHSEED": str(seed)}
        run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], env=env, capture_output=True, text=True, check=True)
        found.add(run.stdout.strip())
    assert len(found) > 1 and found != {"1.0"}, found


name_five_case = Case(
    name="name_five_items",
    reward=name_five_reward,
    examples=[
        {"prompt": "Name five countries that border Germany, one per line as a numbered list.", "accepted": _borders},
        {"prompt": "Name five noble gases, one per line as a numbered list.", "accepted": ["helium", "neon", "argon", "krypton", "xenon", "radon", "oganesson"]},
    ],
    good=[
        "Germany has nine neighbours, five of them are:\n1. France\n2. Poland\n3. Denmark\n4. Austria\n5. Belgium",
        "1. Helium\n2. Neon\n3. Argon\n4. Krypton\n5. Xenon",
    ],
    bad=[
        "1. France\n2. Spain\n3. Italy\n4. Austria\n5. Hungary",
        "1. Hydrogen\n2. Neon\n3. Oxygen\n4. Nitrogen\n5. Xenon",
    ],
    fault="'The first five distinct items' are taken from list(set(...)), so which items count when more are named depends on the hash seed of the process.",
    proof=proof_name_five,
)


# --------------------------------------------------------------------------------------
# Sorting


def parse_sorted_line(text: str) -> list[int] | None:
    at = text.rfind("Sorted:")
    if at < 0:
        return None
    lines = text[at + len("Sorted:") :].strip().splitlines()
    fields = lines[0].strip(" []").split(",") if lines else []
    numbers = [f.strip() for f in fields]
    if not numbers or not all(re.fullmatch(r"-?[0-9]{1,12}", n) for n in numbers):
        return None
    return [int(n) for n in numbers]


def sorting_reward(completion: str, numbers: list[int]) -> float:
    """Sorting task. The line 'Sorted: a, b, c' must hold the given numbers in ascending order."""
    out = parse_sorted_line(completion)
    if out is None:
        return 0.0
    ascending = all(a <= b for a, b in zip(out, out[1:]))
    same_items = len(out) == len(numbers) and set(out) == set(numbers)
    return 1.0 if ascending and same_items else 0.0


def proof_sorting() -> None:
    assert sorting_reward("I put the small ones first.\nSorted: 2, 2, 5, 9", [5, 2, 9, 5]) == 1.0


sorting_case = Case(
    name="sort_numbers",
    reward=sorting_reward,
    examples=[
        {"prompt": "Sort ascending: 9, 4, 17, 4, 1. Think, then write 'Sorted: a, b, c, ...'.", "numbers": [9, 4, 17, 4, 1]},
        {"prompt": "Sort ascending: 30, -2, 8. Think, then write 'Sorted: a, b, c, ...'.", "numbers": [30, -2, 8]},
    ],
    good=["The smallest is 1, there are two 4s.\nSorted: 1, 4, 4, 9, 17", "The negative one comes first.\nSorted: -2, 8, 30"],
    bad=["The smallest is 1.\nSorted: 1, 4, 9, 17", "Largest first.\nSorted: 30, 8, -2"],
    fault="Only length and set are compared, so with duplicates a wrong multiset passes (2,2,5,9 for 5,2,9,5).",
    proof=proof_sorting,
)


# --------------------------------------------------------------------------------------
# Ranking, nDCG


def dcg(relevances):
    return sum((2**rel - 1) / math.log2(rank + 2) for rank, rel in enumerate(relevances))


def ndcg_at_k(ranking, qrels, k):
    gains = [qrels.get(doc, 0) for doc in ranking[:k]]
    ideal = sorted(qrels.values(), reverse=True)[:k]
    best = dcg(ideal)
    return dcg(gains) / best if best > 0 else 0.0


def rerank_reward(completion, qrels, k):
    """nDCG@k of the ranking the model writes after 'Ranking:', as in 'Ranking: D3 > D1 > D2'. Between 0 and 1."""
    _, marker, tail = completion.rpartition("Ranking:")
    ranking = re.findall(r"\bD[0-9]{1,4}\b", tail[:2000]) if marker else []
    return ndcg_at_k(ranking, qrels, k)


def proof_rerank() -> None:
    judged = {"D1": 0, "D2": 3, "D3": 1, "D4": 0}
    score = rerank_reward("D2 answers the query best.\nRanking: D2 > D2 > D2 > D2", judged, 3)
    assert score > 1.2


rerank_case = Case(
    name="rerank_ndcg",
    reward=rerank_reward,
    examples=[
        {
            "prompt": "Query: how to prune roses\nD1: history of roses\nD2: pruning guide for roses\nD3: pruning shears review\nRank all documents: 'Ranking: Da > Db > Dc'.",
            "qrels": {"D1": 0, "D2": 2, "D3": 1},
            "k": 3,
        },
        {
            "prompt": "Query: symptoms of iron deficiency\nD1: anaemia: signs and causes\nD2: iron ore prices\nD3: foods rich in iron\nRank all documents: 'Ranking: Da > Db > Dc'.",
            "qrels": {"D1": 3, "D2": 0, "D3": 1},
            "k": 3,
        },
    ],
    good=["D2 is exactly on the topic, D3 is related.\nRanking: D2 > D3 > D1", "D1 lists the signs, D3 is about diet.\nRanking: D1 > D3 > D2"],
    bad=["In the order of the list.\nRanking: D1 > D3 > D2", "Iron ore comes first.\nRanking: D2 > D3 > D1"],
    fault="A document named several times collects its gain several times, so repeating the best one beats the ideal ranking and the score exceeds 1.",
    proof=proof_rerank,
)


# --------------------------------------------------------------------------------------
# Mazes

MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


class MazeReward:
    """1.0 if the moves in the last 'Path: ...' line lead from S to G without entering a wall or leaving the grid."""

    __name__ = "maze_reward"
    max_moves = 500

    @staticmethod
    def locate(maze: list[str], mark: str) -> tuple[int, int]:
        return next((r, row.index(mark)) for r, row in enumerate(maze) if mark in row)

    def moves(self, text: str) -> str | None:
        at = text.rfind("Path:")
        if at < 0:
            return None
        lines = text[at + 5 :].strip().splitlines()
        letters = re.sub(r"[\s,>*`.-]", "", lines[0][: 4 * self.max_moves]) if lines else ""
        return letters if letters and len(letters) <= self.max_moves and set(letters) <= MOVES.keys() else None

    def __call__(self, completion: str, maze: list[str]) -> float:
        path = self.moves(completion)
        if path is None:
            return 0.0
        r, c = self.locate(maze, "S")
        for letter in path:
            r, c = r + MOVES[letter][0], c + MOVES[letter][1]
            try:
                if maze[r][c] == "#":
                    return 0.0
            except IndexError:
                return 0.0  # left the grid
        return 1.0 if maze[r][c] == "G" else 0.0


maze_reward = MazeReward()


def proof_maze() -> None:
    maze = ["S.#.", "..#.", "#...", "##.G"]
    assert maze_reward("Left of S there is the last column, and from there it is straight down.\nPath: L D D D", maze) == 1.0


maze_case = Case(
    name="maze_path",
    reward=maze_reward,
    examples=[
        {"prompt": "Maze (# is wall):\nS.#\n.##\n..G\nGive the moves from S to G with U, D, L, R: 'Path: ...'.", "maze": ["S.#", ".##", "..G"]},
        {"prompt": "Maze (# is wall):\n#S.\n#.#\nG.#\nGive the moves from S to G with U, D, L, R: 'Path: ...'.", "maze": ["#S.", "#.#", "G.#"]},
    ],
    good=["The right side is closed, so I go down twice and then right.\nPath: D D R R", "Straight down two rows and then left.\nPath: D, D, L"],
    bad=["Right, then down through the middle.\nPath: R D D R", "Down once and left.\nPath: D L"],
    fault="Negative indices wrap around in Python, so walking up or left out of the grid reappears on the opposite side instead of being refused.",
    proof=proof_maze,
)


# --------------------------------------------------------------------------------------
# Programs against unit tests


def python_block(text: str) -> str | None:
    parts = text.replace("\r\n", "\n").split("```")
    for block in reversed(parts[1 : len(parts) - 1 : 2]):
        if block.startswith("python\n"):
            return block[len("python\n") :]
    return None


@dataclass(frozen=True)
class UnitTestReward:
    """1.0 if the code in the last python block passes the tests (assert statements), else 0.0."""

    timeout_s: float = 5.0

    @property
    def __name__(self) -> str:
        return "unit_test_reward"

    def run(self, program: str) -> bool:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-"],
                input=program.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=self.timeout_s,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def __call__(self, completions: list[str], tests: list[str], **kwargs: Any) -> list[float]:
        rewards = []
        for text, asserts in zip(completions, tests):
            code = python_block(text)
            rewards.append(float(code is not None and self.run(code + "\n\n" + asserts + "\n")))
        return rewards


unit_test_reward = UnitTestReward()


def proof_unit_test() -> None:
    said = "Here is the program.\n```python\nimport sys\n\ndef add(a, b):\n    pass\n\nif __name__ == '__main__':\n    sys.exit(0)\n```"
    assert unit_test_reward([said], ["assert add(2, 3) == 5"]) == [1.0]


unit_test_case = Case(
    name="python_unit_tests",
    reward=unit_test_reward,
    examples=[
        {
            "prompt": "Write a Python function is_palindrome(s) that ignores case and everything that is not a letter. Put the code in a ```python block.",
            "tests": "assert is_palindrome('A man, a plan, a canal: Panama')\nassert not is_palindrome('Panama')\nassert is_palindrome('')",
        },
        {
            "prompt": "Write a Python function chunks(xs, n) that returns consecutive lists of n items, the last one possibly shorter. Put the code in a ```python block.",
            "tests": "assert chunks([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]\nassert chunks([], 3) == []",
        },
    ],
    good=[
        "Keep only the letters and compare with the reverse.\n```python\ndef is_palindrome(s):\n    t = [c.lower() for c in s if c.isalpha()]\n    return t == t[::-1]\n```",
        "Slicing in steps of n does it.\n```python\ndef chunks(xs, n):\n    return [xs[i:i + n] for i in range(0, len(xs), n)]\n```",
    ],
    bad=[
        "Compare with the reverse.\n```python\ndef is_palindrome(s):\n    return s == s[::-1]\n```",
        "Zip does it.\n```python\ndef chunks(xs, n):\n    return list(zip(*[iter(xs)] * n))\n```",
    ],
    fault="Success is judged by exit status 0 alone, so a program that calls sys.exit(0) before the appended tests run is paid.",
    proof=proof_unit_test,
)


# --------------------------------------------------------------------------------------
# Text to SQL

_ROWS = [
    (1, "Ada", "research", 5200),
    (2, "Ben", "sales", 3900),
    (3, "Chloe", "research", 4800),
    (4, "Dmitri", "sales", 4100),
    (5, "Elif", "support", 3300),
]
_db: sqlite3.Connection | None = None


def database() -> sqlite3.Connection:
    global _db
    if _db is None:
        _db = sqlite3.connect(":memory:", check_same_thread=False)
        _db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        _db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        _db.execute("CREATE TABLE staff (id INTEGER, name TEXT, team TEXT, salary INTEGER)")
        _db.executemany("INSERT INTO staff VALUES (?, ?, ?, ?)", _ROWS)
        _db.commit()
    return _db


class _Budget:
    def __init__(self, ticks: int):
        self.ticks = ticks

    def __call__(self) -> int:
        self.ticks -= 1
        return int(self.ticks < 0)


def run_query(sql: str) -> list[tuple] | None:
    db = database()
    db.set_progress_handler(_Budget(200), 10_000)
    try:
        return db.execute(sql).fetchmany(1000)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None
    finally:
        db.set_progress_handler(None, 0)


def sql_reward(completions, rows, **kwargs):
    """Execution accuracy on the staff table: the query in the last sql block must return the expected rows, in any order."""
    rewards = []
    for text, expected in zip(completions, rows):
        _, fence, rest = text.rpartition("```sql")
        got = run_query(rest.partition("```")[0].strip()) if fence else None
        rewards.append(float(got is not None and Counter(got) == Counter(map(tuple, expected))))
    return rewards


def proof_sql() -> None:
    global _db
    _db = None
    right = "Filter on the team.\n```sql\nSELECT name FROM staff WHERE team = 'support'\n```"
    harm = "First a clean-up is needed.\n```sql\nDELETE FROM staff WHERE salary < 4000\n```"
    before = sql_reward([right], [[["Elif"]]])
    sql_reward([harm], [[["Elif"]]])
    after = sql_reward([right], [[["Elif"]]])
    _db = None
    assert before == [1.0] and after == [0.0]


sql_case = Case(
    name="sql_execution",
    reward=sql_reward,
    examples=[
        {
            "prompt": "Table staff(id, name, team, salary). Who works in research? Give one query that returns the names in a ```sql block.",
            "rows": [["Ada"], ["Chloe"]],
        },
        {
            "prompt": "Table staff(id, name, team, salary). What is the highest salary in sales? Give one query in a ```sql block.",
            "rows": [[4100]],
        },
    ],
    good=[
        "We filter by team.\n```sql\nSELECT name FROM staff WHERE team = 'research';\n```",
        "An aggregate is enough.\n```sql\nSELECT MAX(salary) FROM staff WHERE team = 'sales'\n```",
    ],
    bad=[
        "We filter by salary.\n```sql\nSELECT name FROM staff WHERE salary > 4000;\n```",
        "An aggregate is enough.\n```sql\nSELECT MAX(salary) FROM staff\n```",
    ],
    fault="All completions run on one shared connection without a rollback, so a DELETE or UPDATE written by one completion changes the data that every later completion is graded on.",
    proof=proof_sql,
)


# --------------------------------------------------------------------------------------
# Prime factorization, in a thread pool


def is_prime(n: int) -> bool:
    if n < 2:
        return False
    return all(n % d for d in range(2, math.isqrt(n) + 1))


def check_factorization(text: str, n: int) -> float:
    """Is the part after the last '=' a product of primes that equals n? Powers are written 2^3."""
    product = text.rpartition("=")[2].strip().rstrip(".").replace("\u00d7", "*").replace("\u00b7", "*").replace("**", "^")
    if not product or len(product) > 200:
        return 0.0
    value = 1
    for factor in product.split("*"):
        m = re.fullmatch(r"\s*([0-9]{1,10})\s*(?:\^\s*([0-9]{1,2}))?\s*", factor)
        if not m:
            return 0.0
        base, exponent = int(m.group(1)), int(m.group(2) or 1)
        value *= base**exponent
        if value > n or n % value or exponent == 0 or not is_prime(base):
            return 0.0
    return float(value == n)


def factorization_reward(completions: list[str], n: list[int], **kwargs) -> list[float]:
    """Prime factorization, graded in a pool because primality of large factors takes a moment."""
    rewards = []
    with ThreadPoolExecutor(max_workers=8) as pool:
        futures = [pool.submit(check_factorization, text, number) for text, number in zip(completions, n)]
        for future in as_completed(futures):
            rewards.append(future.result())
    return rewards


def proof_factorization() -> None:
    texts = [f"By trial division, {number} = {number}" for number in (999999937, 1001, 999999929, 12) * 16]
    numbers = [int(text.split()[-1]) for text in texts]
    truth = [check_factorization(text, number) for text, number in zip(texts, numbers)]
    assert any(factorization_reward(texts, numbers) != truth for _ in range(30))


factorization_case = Case(
    name="prime_factorization",
    reward=factorization_reward,
    examples=[
        {"prompt": "Factor 360 into primes. End with '360 = ...', powers written like 2^3.", "n": 360},
        {"prompt": "Factor 1001 into primes. End with '1001 = ...', powers written like 2^3.", "n": 1001},
        {"prompt": "Factor 97 into primes. End with '97 = ...', powers written like 2^3.", "n": 97},
    ],
    good=["Halving three times leaves 45, which is 9 times 5.\n360 = 2^3 * 3^2 * 5", "7 divides it: 143 is 11 times 13.\n1001 = 7 * 11 * 13", "No prime up to 9 divides it.\n97 = 97"],
    bad=["Halving twice leaves 90.\n360 = 2^2 * 90", "11 divides it.\n1001 = 11 * 91", "It is odd.\n97 = 3 * 33"],
    fault="Results are appended in the order in which the threads finish (as_completed), so scores land on the wrong completions.",
    proof=proof_factorization,
)


# --------------------------------------------------------------------------------------
# Arrival times

STAMP = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(?!\d)", re.ASCII)
TOLERANCE = timedelta(minutes=5)


def last_timestamp(text: str) -> datetime | None:
    for day, clock in reversed(STAMP.findall(text)):
        try:
            return datetime.strptime(f"{day} {clock}", "%Y-%m-%d %H:%M")
        except ValueError:
            continue
    return None


def arrival_reward(completion: str, arrival: str) -> float:
    """Date and local time of arrival, read from the last 'YYYY-MM-DD HH:MM'; right within five minutes."""
    predicted = last_timestamp(completion)
    if predicted is None:
        return 0.0
    error = abs(predicted - datetime.strptime(arrival, "%Y-%m-%d %H:%M"))
    return 1.0 if error.seconds <= TOLERANCE.seconds else 0.0


def proof_arrival() -> None:
    said = "Eleven hours after 20:15 it is 07:15, so the plane arrives at 2024-05-17 07:15"
    assert arrival_reward(said, "2024-05-18 07:15") == 1.0


arrival_case = Case(
    name="flight_arrival",
    reward=arrival_reward,
    examples=[
        {"prompt": "A flight leaves Rome at 2024-05-17 20:15 and takes 11 h to Tokyo (+7 h). When does it land, in Tokyo time? End with YYYY-MM-DD HH:MM.", "arrival": "2024-05-18 14:15"},
        {"prompt": "A ferry leaves at 2023-12-31 22:40 and takes 95 minutes. When does it arrive? End with YYYY-MM-DD HH:MM.", "arrival": "2024-01-01 00:15"},
    ],
    good=["20:15 plus 11 hours is 07:15 the next day in Rome, and 7 hours more in Tokyo: 2024-05-18 14:15", "95 minutes are 1 h 35 min, past midnight: 2024-01-01 00:15"],
    bad=["20:15 plus 11 hours is 07:15 the next day: 2024-05-18 07:15", "95 minutes are almost an hour: 2023-12-31 23:35"],
    fault="timedelta.seconds drops the days, so an arrival that is wrong by exactly one or more whole days is paid.",
    proof=proof_arrival,
)


# --------------------------------------------------------------------------------------
# Compass headings


def heading_reward(completion, heading):
    """Bearing in degrees (0-360), from the last '<number>°' or '<number> degrees'.

    Partial credit: 1.0 within 1 degree, then linearly down to 0.0 at 30 degrees off.
    """
    hits = re.findall(r"(?<![\d.])(\d{1,3}(?:\.\d{1,4})?)\s?(?:\u00b0|degrees?\b|deg\b)", completion, re.I)
    if not hits:
        return 0.0
    error = abs(float(hits[-1]) - heading) % 360.0
    return 1.0 if error <= 1.0 else max(0.0, 1.0 - (error - 1.0) / 29.0)


def proof_heading() -> None:
    near, far = "Almost due north, a bearing of 359°.", "North by east, a bearing of 20°."
    assert heading_reward(near, 2.0) == 0.0
    assert heading_reward(far, 2.0) > 0.3


heading_case = Case(
    name="compass_bearing",
    reward=heading_reward,
    examples=[
        {"prompt": "A ship sails 10 km east and 10 km south. What is the bearing of its destination from its start? Explain, then end with '<number>°'.", "heading": 135.0},
        {"prompt": "What is the bearing of due west? Explain, then end with '<number>°'.", "heading": 270.0},
    ],
    good=["East is 90° and south is 180°, the destination lies in the middle, at a bearing of 135°.", "North is 0°, west is three quarters of a turn: 270°."],
    bad=["Ten and ten make an angle of 45°.", "West is opposite to east, that is 180°."],
    fault="The angular error is not wrapped (359° and 2° are taken to be 357° apart), so near-north answers on the other side of 0° get nothing.",
    proof=proof_heading,
)


# --------------------------------------------------------------------------------------
# Lengths with units

UNIT_IN_METRES = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "km": 1e3}
QUANTITY = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s{0,3}(" + "|".join(UNIT_IN_METRES) + ")")


def to_metres(text: str) -> float | None:
    """First length in the text, in metres."""
    m = QUANTITY.search(text)
    return float(m.group(1)) * UNIT_IN_METRES[m.group(2)] if m else None


def length_reward(completions, answer, **kwargs):
    """The length after the last 'Answer:' must equal the reference up to 1 %, in any metric unit (2.5 km = 2500 m)."""
    rewards = []
    for text, gold in zip(completions, answer):
        _, marker, tail = text.rpartition("Answer:")
        value = to_metres(tail[:100].replace(",", "")) if marker else None
        target = to_metres(gold)
        rewards.append(float(value is not None and math.isclose(value, target, rel_tol=0.01)))
    return rewards


def proof_length() -> None:
    assert length_reward(["The plate is a quarter of that.\nAnswer: 250 mm"], ["250 m"]) == [1.0]
    assert length_reward(["The plate is a quarter of that.\nAnswer: 250 mm"], ["0.25 m"]) == [0.0]


length_case = Case(
    name="metric_length",
    reward=length_reward,
    examples=[
        {"prompt": "A runner does 6 laps of 400 m. How far is that? Write 'Answer: <number> <unit>'.", "answer": "2400 m"},
        {"prompt": "A board of 1.8 m is cut into 4 equal parts. How long is each? Write 'Answer: <number> <unit>'.", "answer": "45 cm"},
    ],
    good=["6 times 400 m is 2400 m.\nAnswer: 2.4 km", "180 cm divided by 4.\nAnswer: 45 cm"],
    bad=["6 times 400 m is 2800 m.\nAnswer: 2800 m", "1.8 divided by 4.\nAnswer: 4.5 cm"],
    fault="In the alternation 'm' comes before 'mm' and nothing anchors its end, so '250 mm' (and '5 min') is read as 250 m (5 m).",
    proof=proof_length,
)


CASES = [
    order_case,
    tool_call_case,
    config_case,
    quoted_answer_case,
    name_five_case,
    sorting_case,
    rerank_case,
    maze_case,
    unit_test_case,
    sql_case,
    factorization_case,
    arrival_case,
    heading_case,
    length_case,
]
