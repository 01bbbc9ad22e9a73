"""skyrl-gym's environments: the reward of an answer. Where an environment allows several turns, it gets one."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from programs import FUNCTIONS, FUNCTIONS_RIGHT, FUNCTIONS_WRONG, STDIN, STDIN_RIGHT, STDIN_WRONG, fenced
from subject import Subject, each
from texts import EXACT, FACTS, MATHEMATICS, MISNAMED, MISTAKEN, NAMED, RIGHT, SUMS, WRONG, hashes, said, tagged

NOT_HERE = {"a session in a Python console; the base class pays nothing": "rlm"}
"""What is left out, by reason."""

QUERIES: list[dict[str, Any]] = [
    {"prompt": "Which toys cost more than 5?", "answer": "SELECT name FROM toys WHERE price > 5"},
    {"prompt": "How many toys are red?", "answer": "SELECT COUNT(*) FROM toys WHERE color = 'red'"},
    {"prompt": "What is the mean price of each color?", "answer": "SELECT color, AVG(price) FROM toys GROUP BY color"},
]
QUERIES_WRONG = (
    "SELECT name FROM toys WHERE price < 5",
    "SELECT COUNT(*) FROM toys",
    "SELECT color, MAX(price) FROM toys GROUP BY color",
)
TOYS = (("ball", "red", 3), ("kite", "blue", 9), ("train", "red", 12), ("doll", "green", 7), ("bear", "blue", 4))


def subjects() -> Iterator[Subject]:
    gsm8k = _env("gsm8k.env", "GSM8kEnv")
    yield Subject("gsm8k", each("gsm8k", gsm8k), SUMS, hashes(RIGHT), hashes(WRONG))
    turns = _env("gsm8k.multi_turn_env", "GSM8kMultiTurnEnv", max_turns=5)
    yield Subject("gsm8k_multi_turn (first turn)", each("turns", turns), SUMS, hashes(RIGHT), hashes(WRONG))
    aime = _env("aime.env", "AIMEEnv")
    yield Subject("aime", each("aime", aime), MATHEMATICS, said(EXACT), said(MISTAKEN))
    options = SimpleNamespace(search_url="http://127.0.0.1:8000/retrieve", topk=3, timeout=30, log_requests=False)
    search = _env("search.env", "SearchEnv", options, lambda gold: {"target": gold}, max_turns=1)
    yield Subject("search", each("search", search), FACTS, tagged(NAMED), tagged(MISNAMED))
    utilities = import_module("skyrl_gym.envs.search.utils")
    part = each("subem", lambda text, gold: utilities.compute_score_subem(text, {"target": gold}))
    yield Subject("search.utils.compute_score_subem", part, FACTS, tagged(NAMED), tagged(MISNAMED))
    code = _env("searchcode.env", "SearchCodeEnv", max_turns=1)
    solved, missed = ([f"<solution>{text}</solution>" for text in hashes(values)] for values in (RIGHT, WRONG))
    yield Subject("searchcode", each("searchcode", code), SUMS, solved, missed)
    yield from _sql()
    yield from _live_code_bench()


def _sql() -> Iterator[Subject]:
    """text2sql on a database of toys, which lies where the environment looks for those of SynSQL."""
    root = Path(tempfile.mkdtemp(prefix="audit-toys-"))
    toys(root / "SynSQL-2.5M" / "databases" / "shop" / "shop.sqlite")
    sql = _env("sql.env", "SQLEnv", SimpleNamespace(db_path=str(root)), db_id="shop", data="synsql", max_turns=1)
    right, wrong = (
        [f"<think>I filter the toys.</think>\n\n<solution>{query}</solution>" for query in queries]
        for queries in ([row["answer"] for row in QUERIES], QUERIES_WRONG)
    )
    yield Subject("text2sql", each("text2sql", sql), QUERIES, right, wrong)


def toys(path: Path) -> None:
    """Write the database of toys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE toys (name TEXT, color TEXT, price INTEGER)")
        connection.executemany("INSERT INTO toys VALUES (?, ?, ?)", TOYS)


def _live_code_bench() -> Iterator[Subject]:
    import_module("pandas")  # every program imports it, in a fork of this process

    def tests(task: dict[str, Any], **more: Any) -> str:
        pairs = zip(task["inputs"], task["outputs"], strict=True)
        return json.dumps([{"input": given, "output": expected, **more} for given, expected in pairs])

    score = _env("lcb.env", "LCBEnv")
    rows = [{"prompt": task["prompt"], "answer": tests(task, testtype="stdin")} for task in STDIN]
    yield Subject("lcb (stdin)", each("lcb_stdin", score), rows, fenced(STDIN_RIGHT), fenced(STDIN_WRONG))
    rows = [
        {
            "prompt": task["prompt"],
            "answer": tests(task, testtype="functional", metadata={"func_name": task["name"]}),
        }
        for task in FUNCTIONS
    ]
    right, wrong = fenced(FUNCTIONS_RIGHT), fenced(FUNCTIONS_WRONG)
    yield Subject("lcb (functional)", each("lcb_functional", score), rows, right, wrong)


def _env(
    module: str, name: str, options: Any = None, ground_truth: Callable[[str], Any] = str, **extras: Any
) -> Callable[[str, str], float]:
    """Return the reward of one step of a new environment."""
    made = getattr(import_module(f"skyrl_gym.envs.{module}"), name)

    def score(text: str, gold: str) -> float:
        known = {"ground_truth": ground_truth(gold)}
        env = made(env_config=options, extras={"reward_spec": known, "reward_model": known, **extras})
        return float(env.step(text)["reward"])

    return score
