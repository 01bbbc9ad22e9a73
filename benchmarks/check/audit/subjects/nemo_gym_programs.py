"""NeMo Gym's servers that run programs and queries. (``nvarc`` in inductive mode is in nemo_gym_grids.py.)"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from subject import Subject
from subjects.nemo_gym_server import judged

_SUM = "a, b = map(int, input().split())\nprint(a + b)"
_PRODUCT = "a, b = map(int, input().split())\nprint(a * b)"
_LONGEST = "class Solution:\n    def longest(self, words):\n        return max(words, key=len)"
_FIRST = "class Solution:\n    def longest(self, words):\n        return words[0]"
_SCHOOLS = """
CREATE TABLE schools (name TEXT, county TEXT, students INTEGER);
INSERT INTO schools VALUES
    ('Lincoln High', 'Alameda', 1200), ('Oak School', 'Alameda', 450), ('Bay School', 'Marin', 300);
"""
_QUERIES = (
    ("Which schools are in Alameda?", "SELECT name FROM schools WHERE county = 'Alameda'"),
    ("How many students are in each county?", "SELECT county, SUM(students) FROM schools GROUP BY county"),
    ("How many schools are there?", "SELECT COUNT(*) FROM schools"),
)
_OFF = (
    "SELECT name FROM schools",
    "SELECT county, COUNT(*) FROM schools GROUP BY county",
    "SELECT COUNT(*) + 1 FROM schools",
)


def subjects() -> Iterator[Subject]:
    sums = {"inputs": ["3 4\n", "10 -2\n", "0 0\n"], "outputs": ["7\n", "8\n", "0\n"], "fn_name": None}
    words = {"inputs": ['["a", "abc", "ab"]', '["x"]'], "outputs": ['"abc"', '"x"'], "fn_name": "longest"}
    yield _program("stdio", "Read two integers and print their sum.", sums, _SUM, _PRODUCT)
    yield _program("call", "Write Solution.longest(words), the longest of the words.", words, _LONGEST, _FIRST)
    folder = Path(tempfile.mkdtemp(prefix="nemo-gym-"))
    bird, spider = folder / "dev_20240627" / "dev_databases" / "schools", folder / "sqlite"
    for place in (bird, spider):
        place.mkdir(parents=True)
        with sqlite3.connect(place / "schools.sqlite") as database:
            database.executescript(_SCHOOLS)
    rows = [
        {"prompt": question, "answer": query, "task": {"question": question, "db_id": "schools"}}
        for question, query in _QUERIES
    ]
    right, wrong = (
        [f"I join nothing.\n```sql\n{one}\n```" for one in ones] for ones in ([gold for _, gold in _QUERIES], _OFF)
    )
    yield Subject("bird_sql", judged("bird_sql", "gt_sql", bird_sql_dir=str(folder)), rows, right, wrong)
    yield Subject("spider2_lite", judged("spider2_lite", "gold_sql", spider2_lite_dir=str(folder)), rows, right, wrong)


def _program(kind: str, prompt: str, tests: dict[str, Any], good: str, bad: str) -> Subject:
    """LiveCodeBench's runner with its tests; two prompts, since one row says little."""
    config = {"num_processes": 1, "unit_test_timeout_secs": 5, "debug": False}

    def fields(answer: Any, task: Any) -> dict[str, Any]:
        return {"verifier_metadata": {"unit_tests": answer}}

    rows = [{"prompt": f"{prompt}{more}", "answer": tests} for more in ("", " Use Python.")]
    right, wrong = ([f"I compute it.\n```python\n{code}\n```"] * 2 for code in (good, bad))
    return Subject(f"code_gen ({kind})", judged("code_gen", fields, **config), rows, right, wrong)
