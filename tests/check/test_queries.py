"""Queries: the SQL query in a completion, and queries that give other rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from rewardkit.check.variants.queries import query_in

SHOP = """
CREATE TABLE orders (city TEXT, price INTEGER);
CREATE TABLE IF NOT EXISTS "people" (name TEXT);
INSERT INTO orders VALUES ('Rome', 3), ('Rome', 5), ('Oslo', 3);
"""


def rows(query: str) -> Counter[Any]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SHOP)
        return Counter(database.execute(query).fetchall())


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT city FROM orders", "SELECT city FROM orders"),
        ("So:\n```sql\nSELECT city\nFROM orders;\n```\nDone.", "SELECT city\nFROM orders"),
        ("```\nSELECT 1\n```\nNo:\n```SQLite\nselect 2\n```", "select 2"),
        ("It is with a as (select 1) select * from a;", "with a as (select 1) select * from a"),
    ],
)
def test_the_last_query_is_read_and_replaced(text: str, query: str) -> None:
    found = query_in(text, {"prompt": "?", "schema": SHOP, "empty": None})
    assert found is not None
    assert found.source == query
    assert found.tables == ["orders", "people"]
    assert found.saying("SELECT 7").count("SELECT 7") == 1
    assert query not in found.saying("SELECT 7")
    assert found.saying(found.span.of(text)) == text


@pytest.mark.parametrize("query", ["SELECT DISTINCT city FROM orders", "SELECT city FROM orders WHERE price > 4"])
def test_wrong_queries_give_other_rows(query: str) -> None:
    found = query_in(query, {"schema": SHOP})
    assert found is not None
    wrong = list(found.wrong_queries())
    assert len(wrong) >= 4
    assert "SELECT * FROM orders" in wrong
    assert all(rows(one) != rows(query) for one in wrong)


def test_a_query_that_is_not_changed_is_not_wrong() -> None:
    found = query_in("SELECT * FROM people", {"schema": SHOP})  # an empty table
    assert found is not None
    assert list(found.wrong_queries()) == ["SELECT * FROM orders"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nothing FROM orders",
        "SELECT 1; SELECT 2",
        "SELECT city FROM orders \ud800",
        "SELECT city FROM orders\x00",
        "SELECT CAST(x'ff' AS TEXT) FROM orders",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    ],
)
def test_a_query_that_fails_has_no_wrong_ones(query: str) -> None:
    found = query_in(query, {"schema": SHOP})
    assert found is not None
    assert list(found.wrong_queries()) == []


@pytest.mark.parametrize("columns", [{}, {"schema": None}, {"schema": "orders(city, price)"}, {"schema": ["a"]}])
def test_nothing_is_found_without_tables(columns: dict[str, Any]) -> None:
    assert query_in("SELECT city FROM orders", columns) is None


@pytest.mark.parametrize("text", ["", "I cannot.", "DELETE FROM orders"])
def test_nothing_is_found_without_a_query(text: str) -> None:
    assert query_in(text, {"schema": SHOP}) is None


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("SELECT city FROM orders WHERE price > 3 AND city = 'Rome'", "WHERE price > 3 OR city = 'Rome'"),
        ("SELECT COUNT(city) FROM orders", "SELECT MIN(city) FROM orders"),
        ("SELECT city FROM orders WHERE price > 3", "WHERE price < 3"),
        ("SELECT price FROM orders WHERE city = 'Oslo'", "WHERE city = 'oSLO'"),
    ],
)
def test_small_mistakes_in_a_query(query: str, wrong: str) -> None:
    found = query_in(query, {"schema": SHOP})
    assert found is not None
    others = list(found.wrong_queries())
    assert any(other.endswith(wrong) for other in others)
    assert all(rows(other) != rows(query) for other in others)
