"""Reads from disk on demand: the texts of a few completions, and pages of the log."""

from __future__ import annotations

import itertools
import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.page.scores import Key
from rewardkit.record.names import component_and_part
from rewardkit.record.run import VERSIONS, Run

LONGEST = 100_000
"""The number of characters of a completion to show at first."""
_MESSAGES = 20_000_000
"""Longer conversations are not read: only their last message is shown."""


@dataclass(frozen=True)
class Completion:
    """A recorded completion."""

    text: str = ""
    characters: int = 0
    notes: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, float]] = field(default_factory=dict)
    messages: str | None = None
    rollout: str | None = None


def completions(run: Run, prompt_id: str, keys: Sequence[Key], longest: int = LONGEST) -> dict[Key, Completion]:
    """Return the texts and notes of some completions of a prompt."""
    if not keys:
        return {}
    columns = run.completions().columns
    others = [name for name in columns if name.startswith(("notes/", "parts/"))]
    chosen = ", ".join(
        [
            "attempt, rank, part, row",
            f"left(completion, {longest:d})",
            "length(completion)",
            *(f"case when length({name}) <= {_MESSAGES:d} then {name} end" for name in ("messages", "rollout")),
            *map(_quoted, others),
        ]
    )
    places = ", ".join("(?, ?, ?, ?)" for _ in keys)
    query = f"select {chosen} from completions where prompt_id = ? and (attempt, rank, part, row) in ({places})"
    found = {}
    for values in run.sql(query, [prompt_id, *(number for key in keys for number in key)]).fetchall():
        key, (text, characters, *said) = values[:4], values[4:8]
        rest = dict(zip(others, values[8:], strict=True))
        notes = {name[6:]: str(value) for name, value in rest.items() if name.startswith("notes/") and value}
        parts: dict[str, dict[str, float]] = {}
        for name, value in rest.items():
            if name.startswith("parts/") and value is not None:
                component, part = component_and_part(name)
                parts.setdefault(component, {})[part] = value
        found[key] = Completion(text or "", characters or 0, notes, parts, *said)
    return found


def shares_of_turns(run: Run, keys: Sequence[Key]) -> list[tuple[Key, int, str, float]]:
    """Return the shares of the turns of some completions: key, turn, component, share."""
    if not keys:
        return []
    places = ", ".join("(?, ?, ?, ?)" for _ in keys)
    query = (
        f"select attempt, rank, part, row, turn, component, share from turns "
        f"where (attempt, rank, part, row) in ({places}) and isfinite(share) order by turn, component"
    )
    rows = run.sql(query, [number for key in keys for number in key]).fetchall()
    return [(row[:4], row[4], row[5], row[6]) for row in rows]


def prompt_messages(run: Run, prompt_id: str) -> str | None:
    """Return the messages of a conversational prompt, as JSON; None for a plain text."""
    query = f"select messages from prompts where prompt_id = ? and length(messages) <= {_MESSAGES:d} limit 1"
    found = run.sql(query, [prompt_id]).fetchall()
    return found[0][0] if found else None


def beginnings(run: Run, prompt_id: str, keys: Sequence[Key], characters: int = 120) -> dict[Key, str]:
    """Return the first words of some completions of a prompt."""
    if not keys:
        return {}
    places = ", ".join("(?, ?, ?, ?)" for _ in keys)
    query = (
        f"select attempt, rank, part, row, left(completion, {characters:d}) from completions "
        f"where prompt_id = ? and (attempt, rank, part, row) in ({places})"
    )
    rows = run.sql(query, [prompt_id, *(number for key in keys for number in key)]).fetchall()
    return {row[:4]: row[4] or "" for row in rows}


def excerpts(run: Run, rows: Sequence[tuple[Key, str]], characters: int = 240) -> dict[Key, str]:
    """Return the first words of some completions of any prompts: (key, prompt_id) each."""
    if not rows:
        return {}
    parts = [key[2] for key, _ in rows]
    prompts = sorted({prompt for _, prompt in rows})
    query = (
        f"select attempt, rank, part, row, left(completion, {characters:d}) from completions "
        f"where part between ? and ? and prompt_id in ({', '.join('?' * len(prompts))}) "
        f"and (attempt, rank, part, row) in ({', '.join(['(?, ?, ?, ?)'] * len(rows))})"
    )
    keys = [number for key, _ in rows for number in key]
    found = run.sql(query, [min(parts), max(parts), *prompts, *keys]).fetchall()
    return {row[:4]: row[4] or "" for row in found}


def texts(run: Run, prompt_id: str) -> dict[Key, str]:
    """Return all completions of a prompt for a search: in lower case and cut to 20,000 characters."""
    query = "select attempt, rank, part, row, lower(left(completion, 20000)) from completions where prompt_id = ?"
    return {row[:4]: row[4] or "" for row in run.sql(query, [prompt_id]).fetchall()}


def columns_of(text: str) -> dict[str, str]:
    """Return the example columns of a prompt, as text."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in found.items()
    }


@dataclass(frozen=True)
class LogQuery:
    """A query of the log."""

    words: str = ""
    component: str = ""
    level: str = ""
    kind: str = ""
    steps: tuple[int, int] | None = None

    def where(self) -> tuple[str, list[Any]]:
        conditions = ["true"]
        values: list[Any] = []
        for word in self.words.casefold().split()[:20]:
            conditions.append("contains(lower(concat_ws(' ', message, detail, component, kind)), ?)")
            values.append(word)
        for column in ("component", "level", "kind"):
            value = getattr(self, column)
            if value:
                conditions.append(f"coalesce({column}, '') = ?")
                values.append("" if value == "-" else value)
        if self.steps is not None:
            conditions.append("step between ? and ?")
            values += self.steps
        return " and ".join(conditions), values


LOG_COLUMNS = (
    "attempt",
    "rank",
    "part",
    "row",
    "step",
    "epoch",
    "time",
    "component",
    "level",
    "kind",
    "message",
    "detail",
    "count",
    "seconds",
)


def log_page(run: Run, asked: LogQuery, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of lines that match, and one page of them, newest first."""
    where, values = asked.where()
    total = run.sql(f"select count(*) from logs where {where}", values).fetchall()[0][0]
    columns = ", ".join(LOG_COLUMNS)
    query = (
        f"select {columns}, batches.version from ("
        "select * replace (left(message, 2000) as message, left(detail, 20000) as detail) from logs "
        f"where {where} order by step desc, time desc, attempt desc, rank, part desc, row "
        f"limit {limit:d} offset {offset:d}) as page left join {VERSIONS} using (attempt, rank, part) "
        "order by step desc, time desc, attempt desc, rank, part desc, row"
    )
    rows = run.sql(query, values).fetchall()
    return total, [dict(zip((*LOG_COLUMNS, "version"), row, strict=True)) for row in rows]


def log_rates(run: Run) -> dict[str, dict[str, float]]:
    """Return, per component, the number of lines of each kind and level, and the seconds of the slowest call."""
    query = "select coalesce(component, ''), kind, level, sum(count), max(seconds) from logs group by all order by 1"
    found: dict[str, dict[str, float]] = {}
    for component, kind, level, count, seconds in run.sql(query).fetchall():
        one = found.setdefault(component, {"fault": 0, "slow": 0, "warning": 0, "error": 0, "lines": 0, "slowest": 0.0})
        count = float(count or 0)
        one["lines"] += count
        if kind in ("fault", "slow"):
            one[kind] += count
        elif level in ("warning", "error"):
            one[level] += count
        one["slowest"] = max(one["slowest"], seconds or 0.0)
    return found


@dataclass(frozen=True)
class Latency:
    """The seconds that the calls of a component took, to two significant digits."""

    median: float
    most: float
    slowest: float


def latencies(run: Run) -> dict[str, Latency]:
    """Return, per component, how long its calls took: the median, the 95th percentile, and the slowest."""
    query = "select component, seconds, sum(count) from durations group by all order by component, seconds"
    found: dict[str, list[tuple[float, int]]] = {}
    for component, seconds, count in run.sql(query).fetchall():
        found.setdefault(component, []).append((seconds, int(count)))
    return {component: _latency(rows) for component, rows in found.items()}


def _latency(rows: Sequence[tuple[float, int]]) -> Latency:
    """Return the quantiles of (seconds, count), in order of seconds."""
    ends = list(itertools.accumulate(count for _, count in rows))
    median, most = (rows[bisect_left(ends, share * ends[-1])][0] for share in (0.5, 0.95))
    return Latency(median, most, rows[-1][0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
