"""Queries: the SQL query in a correct completion, and its example's database, if a column creates one."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rewardkit.check.completion.parsed_completion import Span, replaced

# A fenced block of SQL, or one without a language.
_FENCE = re.compile(r"```(?:sql|sqlite)?[ \t]*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
# From "select" or "with" to the end.
_QUERY = re.compile(r"(?is)\b(?:select|with)\b.+")
# The name after CREATE TABLE, quoted or not.
_TABLE = re.compile(r"(?i)create\s+table\s+(?:if\s+not\s+exists\s+)?[\"`\[]?(\w+)")
# Arbitrary limits of a query: steps of SQLite's virtual machine, and rows. A faulty join may run forever.
_STEPS = 200_000
_MOST_ROWS = 1_000


@dataclass(frozen=True)
class Query:
    """An SQL query, its position in a completion, and the script that creates its database."""

    text: str
    span: Span
    script: str

    @property
    def source(self) -> str:
        return self.span.of(self.text).strip().rstrip(";")

    @property
    def tables(self) -> list[str]:
        """The names of the tables in the database."""
        return list(dict.fromkeys(_TABLE.findall(self.script)))

    def saying(self, query: str) -> str:
        """Return the completion with `query` in place of the correct query."""
        return replaced(self.text, [(self.span, query)])

    def wrong_queries(self) -> Iterator[str]:
        """Yield queries that return other rows than the correct query does."""
        right = self._rows(self.source)
        for query in (
            f"SELECT * FROM ({self.source}) UNION ALL SELECT * FROM ({self.source})",
            f"SELECT * FROM ({self.source}) LIMIT 1",
            f"SELECT * FROM ({self.source}) WHERE 0",
            f"SELECT *, 1 FROM ({self.source})",
            # Texts in another case, which most databases compare with their case.
            re.sub(r"'[^']*'", lambda text: text[0].swapcase(), self.source),
            re.sub(r"(?i)\band\b", "OR", self.source, count=1),
            re.sub(r"(?i)\b(?:max|sum|count)(?=\s*\()", "MIN", self.source, count=1),
            re.sub(r"[<>](?=\s*[\w'])", lambda sign: "<" if sign[0] == ">" else ">", self.source, count=1),
            # Duplicate rows: a frequent mistake.
            re.sub(r"(?i)\bdistinct\b", "", self.source, count=1),
            *(f"SELECT * FROM {table}" for table in self.tables[:2]),
            *(f"DELETE FROM {table}" for table in self.tables[:1]),
        ):
            rows = self._rows(query)
            if right is not None and rows is not None and Counter(rows) != Counter(right):
                yield query

    def _rows(self, query: str) -> list[tuple[Any, ...]] | None:
        """Return the rows of a query, or None if the query fails."""
        steps = iter(range(_STEPS // 1_000))
        try:
            with closing(sqlite3.connect(":memory:")) as database:
                database.executescript(self.script)
                database.set_progress_handler(lambda: next(steps, None) is None, 1_000)
                return database.execute(query).fetchmany(_MOST_ROWS)
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return None


def query_in(text: str, columns: Mapping[str, Any]) -> Query | None:
    """Return the query in a completion, or None if it has no query or no column creates tables."""
    script = next((value for value in columns.values() if isinstance(value, str) and _TABLE.search(value)), "")
    if not script:
        return None
    fence = next(reversed([*_FENCE.finditer(text)]), None)
    bare = _QUERY.search(text) if fence is None else None
    if fence is not None:
        return Query(text, Span(*fence.span(1)), script)
    return Query(text, Span(*bare.span()), script) if bare is not None else None
