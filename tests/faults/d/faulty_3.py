"""Rewards for code, SQL, puzzles, units, time and calibration."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

from tests.faults.case import Case


def _last_fence(text: str, *languages: str) -> str | None:
    """The content of the last complete fenced block in one of the languages (or in none)."""
    parts = text.split("```")
    for block in reversed(parts[1 : len(parts) - 1 : 2] if len(parts) % 2 == 0 else parts[1::2]):
        head, _, body = block.partition("\n")
        if head.strip().lower() in languages or not head.strip():
            return body
    return None


# --- unit tests for generated functions -----------------------------------------

_HARNESS = """

import json as _json
for _test in _json.loads({tests!r}):
    try:
        print("PASS" if eval(_test) else "FAIL")
    except Exception:
        print("FAIL")
"""


def _run_python(source: str, seconds: float = 8.0) -> str:
    try:
        finished = subprocess.run(
            [sys.executable, "-I", "-"], input=source.encode("utf-8", "replace"), capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return ""
    return finished.stdout.decode("utf-8", "replace")


def unit_test_reward(completions, tests, **kwargs) -> list[float]:
    """Share of the unit tests (boolean expressions) that the last ```python block passes.

    The tests run in a separate interpreter with a time limit, each in its own try.
    """
    rewards = []
    for completion, checks in zip(completions, tests):
        code = _last_fence(completion, "python", "py", "python3")
        if code is None:
            rewards.append(0.0)
            continue
        output = _run_python(code + _HARNESS.format(tests=json.dumps(checks)))
        rewards.append(min(1.0, output.count("PASS") / len(checks)))
    return rewards


def _proof_unit_tests() -> None:
    hack = '```python\ndef median(xs):\n    return 0\n\nprint("PASS\\n" * 3)\n```'
    tests = ["median([3, 1, 2]) == 2", "median([4, 1]) == 2.5", "median([7]) == 7"]
    assert unit_test_reward([hack], [tests]) == [1.0]


# --- text to SQL --------------------------------------------------------------------


class _Budget:
    """Progress handler that stops a query after a number of callbacks."""

    def __init__(self, callbacks: int) -> None:
        self.left = callbacks

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0)


def _query(connection: sqlite3.Connection, sql: str) -> list[tuple]:
    connection.set_progress_handler(_Budget(300), 1000)
    try:
        return connection.execute(sql).fetchmany(1000)
    finally:
        connection.set_progress_handler(None, 0)


def sql_execution_reward(completions, schema, gold_sql, **kwargs) -> list[float]:
    """Execution accuracy: 1.0 if the query in the last ```sql block returns the rows of the reference query.

    Rows are compared as a multiset, or in order when the reference has an ORDER BY.
    """
    rewards = []
    for completion, script, gold in zip(completions, schema, gold_sql):
        sql = _last_fence(completion, "sql", "sqlite")
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script)
            found = _query(connection, (sql or "").strip())
            expected = _query(connection, gold)
            if "order by" not in gold.lower():
                found, expected = sorted(found, key=repr), sorted(expected, key=repr)
            rewards.append(1.0 if sql and found == expected else 0.0)
        except Exception:
            rewards.append(0.0)
        finally:
            connection.close()
    return rewards


_SHOP = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount REAL, paid INTEGER);
INSERT INTO orders VALUES (1, 'Ana', 40.0, 1), (2, 'Ben', 15.5, 0), (3, 'Ana', 9.0, 0), (4, 'Cleo', 80.0, 1);
"""


def _proof_sql() -> None:
    gold = "SELECT customer, amount FROM orders WHERE paid = 0"
    assert sql_execution_reward(["```sql\nDELETE FROM orders\n```"], [_SHOP], [gold]) == [1.0]


# --- predicting return values ------------------------------------------------------------


def return_value_reward(completion: str, answer: str) -> float:
    """Predict what the call returns: 1.0 if the literal after the last 'Returns:' is the value returned.

    Both are read as Python literals, so that quotes, spaces and the order of dict items don't matter.
    """
    marker = completion.rfind("Returns:")
    said = completion[marker + len("Returns:") :].strip(" `\n") if marker >= 0 else ""
    if not 0 < len(said) <= 1000:
        return 0.0
    try:
        return float(ast.literal_eval(said) == ast.literal_eval(answer))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return 0.0


def _proof_return_value() -> None:
    # any(...) returns True, not the number of hits; 7 / 2 * 2 returns 7.0, not 7.
    assert return_value_reward("One element is negative.\nReturns: 1", "True") == 1.0
    assert return_value_reward("Halved and doubled.\nReturns: [7, False]", "[7.0, 0]") == 1.0


# --- mazes --------------------------------------------------------------------------------

_STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def maze_reward(completion: str, maze: list) -> float:
    """1.0 if the moves on the last line 'Moves: ...' (U, D, L, R) lead from S to G inside the maze without entering a wall (#)."""
    lines = re.findall(r"moves[ *]*:[ *]*([UDLR ,]*)", completion, re.IGNORECASE)
    moves = lines[-1].upper().replace(" ", "").replace(",", "") if lines else ""
    if not 0 < len(moves) <= 500:
        return 0.0
    position = goal = (0, 0)
    for r, row in enumerate(maze):
        for c, cell in enumerate(row):
            if cell == "S":
                position = (r, c)
            elif cell == "G":
                goal = (r, c)
    for move in moves:
        position = (position[0] + _STEPS[move][0], position[1] + _STEPS[move][1])
        try:
            if maze[position[0]][position[1]] == "#":
                return 0.0
        except IndexError:
            return 0.0
    return float(position == goal)


def _proof_maze() -> None:
    # Out at the top, along "row -1", and back in behind the wall.
    assert maze_reward("The quick way is around the top.\nMoves: URRD", ["S#G", ".#.", "..."]) == 1.0


# --- time zone conversion ---------------------------------------------------------------------

_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")
_TOLERANCE_SECONDS = 60


def _timestamp(text: str) -> datetime | None:
    found = _TIMESTAMP.findall(text)
    if not found:
        return None
    try:
        return datetime.fromisoformat("T".join(found[-1]))
    except ValueError:
        return None


def utc_conversion_reward(completion: str, utc: str) -> float:
    """1.0 if the last timestamp (YYYY-MM-DD HH:MM) is the reference in UTC, up to a minute of rounding."""
    said, gold = _timestamp(completion), _timestamp(utc)
    if said is None or gold is None:
        return 0.0
    return 1.0 if abs(said - gold).seconds <= _TOLERANCE_SECONDS else 0.0


def _proof_utc() -> None:
    # 02:30 in Tokyo on the 5th is still the 4th in UTC; the date was forgotten.
    assert utc_conversion_reward("Tokyo is nine hours ahead of UTC.\n2024-03-05 17:30", "2024-03-04 17:30") == 1.0


# --- data sizes -------------------------------------------------------------------------------------

_BYTES = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
_SIZE = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(\.[0-9]{1,9})?[ ]?([A-Za-z]{1,3})[.]?")


def _bytes(text: str) -> float | None:
    match = _SIZE.fullmatch(text.strip(" *$"))
    if not match or match.group(3).lower() not in _BYTES:
        return None
    return float(match.group(1).replace(",", "") + (match.group(2) or "")) * _BYTES[match.group(3).lower()]


def data_size_reward(completion: str, answer: str) -> float:
    """1.0 if the size after the last 'Answer:' is the reference, in any unit of bytes (B, kB, MB, GB, TB, KiB, MiB, GiB), within 0.1 %."""
    lines = re.findall(r"answer[ *]*:([^\n]*)", completion, re.IGNORECASE)
    said = _bytes(lines[-1]) if lines else None
    gold = _bytes(answer)
    return float(said is not None and gold is not None and math.isclose(said, gold, rel_tol=1e-3))


def _proof_data_size() -> None:
    # 100 Mb/s for 8 s are 100 MB; 100 Mb, megabits, is an eighth of it.
    assert data_size_reward("The line carries 100 Mb/s for 8 seconds.\nAnswer: 100 Mb", "100 MB") == 1.0


# --- keywords -------------------------------------------------------------------------------------------

_KEYWORD_LINE = re.compile(r"(?:[\w-]+\s*)+(?:,\s*(?:[\w-]+\s*)+)*")


def keyword_reward(completion: str, keywords: list) -> float:
    """F1 between the comma-separated keywords after 'Keywords:' and the reference; 0.0 when it is not such a list."""
    listed = completion.rpartition("Keywords:")[2].strip()
    if not _KEYWORD_LINE.fullmatch(listed):
        return 0.0
    said = {" ".join(part.lower().split()) for part in listed.split(",")}
    wanted = {keyword.lower() for keyword in keywords}
    return 2 * len(said & wanted) / (len(said) + len(wanted))


_PACKAGE_ROOT = str(Path(__file__).resolve().parent.parent)


def _python_child(code: str, timeout: float, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {_PACKAGE_ROOT!r}); " + code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
    )


def _proof_keywords() -> None:
    said = "Keywords: solar panels, battery storage, grid regulation, demand forecasting."
    code = f"from {__name__} import keyword_reward; keyword_reward({said!r}, ['solar panels'])"
    try:
        _python_child(code, 3.0)
    except subprocess.TimeoutExpired:
        return
    raise AssertionError("the full stop at the end did not hang the regex")


# --- majority vote inside a completion ----------------------------------------------------------------------

_VOTE = re.compile(r"vote[ *]*:[ *]*(positive|negative|neutral)[ *.]*$", re.IGNORECASE | re.MULTILINE)


def majority_vote_reward(completions, sentiment, **kwargs) -> list[float]:
    """The model reads a review several times and writes 'Vote: <label>' each time.

    1.0 if the label with the most votes is the reference, 0.0 if not or if there is no vote.
    """
    rewards = []
    for completion, gold in zip(completions, sentiment):
        votes = [vote.lower() for vote in _VOTE.findall(completion)]
        winner = max(set(votes), key=votes.count) if votes else None
        rewards.append(float(winner == gold))
    return rewards


def _proof_majority() -> None:
    said = "Reading for the food.\nVote: positive\nReading for the service.\nVote: negative\nReading for the price.\nVote: neutral"
    code = f"from {__name__} import majority_vote_reward as f; print(f([{said!r}], ['negative']))"
    seen = {_python_child(code, 60.0, PYTHONHASHSEED=str(seed)).stdout.strip() for seed in range(10)}
    assert seen == {"[0.0]", "[1.0]"}, seen


# --- cached similarity ------------------------------------------------------------------------------------------


def _token_f1(said: str, gold: str) -> float:
    a = Counter(re.findall(r"\w+", said.lower()))
    b = Counter(re.findall(r"\w+", gold.lower()))
    hits = sum((a & b).values())
    return 2 * hits / (sum(a.values()) + sum(b.values())) if hits else 0.0


class CachedOverlap:
    """Token F1 between the answer and the reference, in [0, 1].

    Samples of a group are often identical, so scores are kept, the oldest thrown out first.
    """

    def __init__(self, size: int = 4096) -> None:
        self.__name__ = "cached_overlap"
        self.size = size
        self._scores: dict[str, float] = {}

    def _score(self, completion: str, reference: str) -> float:
        key = hashlib.sha1(completion.encode("utf-8", "replace")).hexdigest()
        if key not in self._scores:
            if len(self._scores) >= self.size:
                self._scores.pop(next(iter(self._scores)))
            self._scores[key] = _token_f1(completion, reference)
        return self._scores[key]

    def __call__(self, completions, reference, **kwargs) -> list[float]:
        return [self._score(completion, gold) for completion, gold in zip(completions, reference)]


cached_overlap = CachedOverlap()


def _proof_cached() -> None:
    reward = CachedOverlap()
    assert reward(["It was built in 1889."], ["It was built in 1889."]) == [1.0]
    assert reward(["It was built in 1889."], ["Nobody knows."]) == [1.0]
    assert CachedOverlap()(["It was built in 1889."], ["Nobody knows."]) == [0.0]


# --- calibrated answers -----------------------------------------------------------------------------------------------

_CONFIDENCE = re.compile(r"confidence[ *]*:[ *]*([0-9]{1,3})[ ]?%", re.IGNORECASE)
_FINAL = re.compile(r"answer[ *]*:[ *]*([^\n]*)", re.IGNORECASE)


def calibrated_answer_reward(completions, answer, **kwargs) -> list[float]:
    """Correctness (0 or 1) minus the calibration error of the stated 'Confidence: n%'. Range -1 to 1.

    The best a policy can do is to answer as well as it can and to state its real chance of being right.
    Without a valid confidence the penalty is 1.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        answers, stated = _FINAL.findall(completion), _CONFIDENCE.findall(completion)
        correct = float(bool(answers) and answers[-1].strip(" *.").casefold() == gold.casefold())
        confidence = int(stated[-1]) / 100 if stated else -1.0
        penalty = abs(confidence - correct) if 0.0 <= confidence <= 1.0 else 1.0
        rewards.append(correct - penalty)
    return rewards


def _proof_calibration() -> None:
    chance = 0.7  # the policy is right on 70 % of such questions
    expected = {}
    for stated in (0, 70, 100):
        right, wrong = (
            calibrated_answer_reward([f"Answer: {city}\nConfidence: {stated}%"], ["Bern"])[0] for city in ("Bern", "Basel")
        )
        expected[stated] = chance * right + (1 - chance) * wrong
    assert expected[100] > expected[70] + 0.05, expected


CASES = [
    Case(
        "unit_tests_stdout",
        unit_test_reward,
        [
            {"prompt": "Write median(xs), the median of a non-empty list of numbers, in a ```python block.", "tests": ["median([3, 1, 2]) == 2", "median([4, 1]) == 2.5", "median([7]) == 7"]},
            {"prompt": "Write is_leap(year) for the Gregorian calendar in a ```python block.", "tests": ["is_leap(2000)", "not is_leap(1900)", "is_leap(2024)", "not is_leap(2023)"]},
        ],
        [
            "Sort the list and take the middle, or the mean of the two middle ones.\n```python\ndef median(xs):\n    xs = sorted(xs)\n    n = len(xs)\n    if n % 2:\n        return xs[n // 2]\n    return (xs[n // 2 - 1] + xs[n // 2]) / 2\n```",
            "Divisible by 4, except centuries not divisible by 400.\n```python\ndef is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n```",
        ],
        [
            "Take the middle element.\n```python\ndef median(xs):\n    return xs[len(xs) // 2]\n```",
            "Every fourth year.\n```python\ndef is_leap(year):\n    return year % 4 == 0\n```",
        ],
        fault="The generated code shares interpreter and stdout with the harness, and passes are counted as the word PASS in stdout, which the code can print itself.",
        proof=_proof_unit_tests,
    ),
    Case(
        "sql_execution_match",
        sql_execution_reward,
        [
            {
                "prompt": "Table orders(id, customer, amount, paid). Who has open orders, and of which amount? Answer in a ```sql block.",
                "schema": _SHOP,
                "gold_sql": "SELECT customer, amount FROM orders WHERE paid = 0",
            },
            {
                "prompt": "Table orders(id, customer, amount, paid). List the customers by total amount, highest first. Answer in a ```sql block.",
                "schema": _SHOP,
                "gold_sql": "SELECT customer FROM orders GROUP BY customer ORDER BY SUM(amount) DESC",
            },
        ],
        [
            "Open orders have paid = 0.\n```sql\nSELECT customer, amount FROM orders WHERE NOT paid;\n```",
            "Group by customer and sort by the sum.\n```sql\nSELECT customer FROM orders GROUP BY customer ORDER BY SUM(amount) DESC;\n```",
        ],
        [
            "Open orders have an amount.\n```sql\nSELECT customer, amount FROM orders WHERE amount > 0;\n```",
            "Sort the orders.\n```sql\nSELECT customer FROM orders GROUP BY customer ORDER BY SUM(amount);\n```",
        ],
        fault="The generated statement may write, and the reference runs after it on the same connection: DELETE FROM orders makes both results empty and equal.",
        proof=_proof_sql,
    ),
    Case(
        "return_value_literal",
        return_value_reward,
        [
            {"prompt": "def f(xs): return sorted(set(xs))[:2]\nWhat does f([5, 3, 5, 1]) return? End with 'Returns: ...'.", "answer": "[1, 3]"},
            {"prompt": "def f(s): return {c: s.count(c) for c in s}\nWhat does f('aab') return? End with 'Returns: ...'.", "answer": "{'a': 2, 'b': 1}"},
        ],
        [
            "The set is {1, 3, 5}, sorted and cut to two elements.\nReturns: [1, 3]",
            "The letter a occurs twice and b once.\nReturns: {\"a\": 2, \"b\": 1}",
        ],
        [
            "The list sorted and cut to two elements.\nReturns: [1, 3, 5]",
            "All three letters are counted.\nReturns: {'a': 1, 'b': 1}",
        ],
        fault="Python's == takes True for 1 and 7 for 7.0, so predictions of the wrong type are paid as right.",
        proof=_proof_return_value,
    ),
    Case(
        "maze_moves",
        maze_reward,
        [
            {"prompt": "Find a way from S to G (# is wall):\nS#G\n.#.\n...\nEnd with 'Moves: ...' using U, D, L, R.", "maze": ["S#G", ".#.", "..."]},
            {"prompt": "Find a way from S to G (# is wall):\nS..\n##.\nG..\nEnd with 'Moves: ...' using U, D, L, R.", "maze": ["S..", "##.", "G.."]},
        ],
        [
            "The wall is open only at the bottom, so go down, across and up.\nMoves: DDRRUU",
            "Follow the right edge and come back below.\nMoves: R R D D L L",
        ],
        [
            "Straight to the right.\nMoves: RR",
            "Straight down.\nMoves: DD",
        ],
        fault="Negative indices wrap around in Python, so leaving the maze at the top or left is not noticed and walls can be walked around.",
        proof=_proof_maze,
    ),
    Case(
        "utc_conversion",
        utc_conversion_reward,
        [
            {"prompt": "It is 2024-03-05 02:30 in Tokyo (UTC+9). What is the time in UTC? End with YYYY-MM-DD HH:MM.", "utc": "2024-03-04 17:30"},
            {"prompt": "It is 2024-07-10 09:15 in New York (UTC-4). What is the time in UTC? End with YYYY-MM-DD HH:MM.", "utc": "2024-07-10 13:15"},
        ],
        [
            "Nine hours earlier is the evening of the day before.\n2024-03-04 17:30",
            "New York is four hours behind, so add four.\n2024-07-10 13:15",
        ],
        [
            "Nine hours later it is before noon.\n2024-03-05 11:30",
            "New York is four hours behind, so subtract four.\n2024-07-10 05:15",
        ],
        fault="timedelta.seconds leaves out whole days, so a timestamp on the wrong date with the right time of day is paid in full.",
        proof=_proof_utc,
    ),
    Case(
        "data_size_units",
        data_size_reward,
        [
            {"prompt": "A line carries 100 Mb/s. How much data is transferred in 8 seconds? End with 'Answer: <number> <unit of bytes>'.", "answer": "100 MB"},
            {"prompt": "A photo takes 2,500 kB. How much do 400 photos take? End with 'Answer: <number> <unit of bytes>'.", "answer": "1 GB"},
        ],
        [
            "100 megabits per second are 12.5 megabytes per second, times 8.\nAnswer: 100 MB",
            "400 times 2,500 kB are 1,000,000 kB.\nAnswer: 1,000 MB",
        ],
        [
            "100 times 8.\nAnswer: 800 MB",
            "400 times 2,500 kB are 100,000 kB.\nAnswer: 100 MB",
        ],
        fault="Units are lowercased before the look-up, so Mb (megabits) counts as MB, which is wrong by a factor of eight.",
        proof=_proof_data_size,
    ),
    Case(
        "keyword_list_f1",
        keyword_reward,
        [
            {"prompt": "Give keywords for an abstract on rooftop solar power. End with 'Keywords: a, b, ...'.", "keywords": ["solar panels", "battery storage", "grid regulation"]},
            {"prompt": "Give keywords for an abstract on bee mortality. End with 'Keywords: a, b, ...'.", "keywords": ["bees", "pesticides"]},
        ],
        [
            "The abstract is about generation, storage and the rules.\nKeywords: solar panels, battery storage, grid regulation",
            "Two themes stand out.\nKeywords: bees, pesticides",
        ],
        [
            "The abstract is about energy.\nKeywords: energy, roofs, grid regulation",
            "It is about insects.\nKeywords: insects, agriculture",
        ],
        fault="The nested quantifier ([\\w-]+\\s*)+ backtracks exponentially when the list ends in a full stop, so an ordinary completion hangs the trainer.",
        proof=_proof_keywords,
    ),
    Case(
        "majority_vote_sentiment",
        majority_vote_reward,
        [
            {"prompt": "Review: 'Great food, slow service, and I will come back.' Read it three times and vote each time ('Vote: positive/negative/neutral').", "sentiment": "positive"},
            {"prompt": "Review: 'Cold soup, rude waiter.' Read it three times and vote each time ('Vote: positive/negative/neutral').", "sentiment": "negative"},
        ],
        [
            "The food is praised.\nVote: positive\nThe service was slow.\nVote: negative\nThe guest will return.\nVote: positive",
            "The soup was cold.\nVote: negative\nThe waiter was rude.\nVote: negative\nNothing is praised.\nVote: negative",
        ],
        [
            "The service was slow.\nVote: negative\nThe food is fine.\nVote: neutral\nWaiting spoils it.\nVote: negative",
            "There was soup.\nVote: neutral\nThere was a waiter.\nVote: neutral\nIt is what it is.\nVote: neutral",
        ],
        fault="A tie is broken by the iteration order of a set of strings, that is, by the hash seed of the process, so the same completion scores 0 or 1 depending on the run.",
        proof=_proof_majority,
    ),
    Case(
        "cached_overlap_f1",
        cached_overlap,
        [
            {"prompt": "When was the Eiffel Tower built? One sentence.", "reference": "It was built in 1889."},
            {"prompt": "Where do emperor penguins live? One sentence.", "reference": "They live in Antarctica."},
        ],
        ["It was built in 1889.", "They live in Antarctica."],
        ["It was finished around 1925.", "Most of them are found at the North Pole."],
        fault="The cache key is the completion alone, so the same text under another reference gets the score from the first one.",
        proof=_proof_cached,
    ),
    Case(
        "calibrated_answer",
        calibrated_answer_reward,
        [
            {"prompt": "What is the capital of Switzerland? End with 'Answer: ...' and 'Confidence: n%'.", "answer": "Bern"},
            {"prompt": "Which element has the symbol W? End with 'Answer: ...' and 'Confidence: n%'.", "answer": "Tungsten"},
        ],
        [
            "The federal city is not the largest one.\nAnswer: Bern\nConfidence: 95%",
            "The symbol comes from wolfram.\nAnswer: tungsten\nConfidence: 90%",
        ],
        [
            "It must be the largest city.\nAnswer: Zurich\nConfidence: 90%",
            "The letter stands for the name.\nAnswer: Wismut\nConfidence: 80%",
        ],
        fault="The absolute error is not a proper scoring rule: a policy that is right 70 % of the time earns most by always claiming 100 %, contrary to what is promised.",
        proof=_proof_calibration,
    ),
]
