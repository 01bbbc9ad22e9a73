"""Queries on a run that return rows, so that code outside `rewardkit.record` does not depend on the tables.

``texts_of(run, [(1, 0, 12, 3)])`` returns a list that contains the text of one completion.
"""

from __future__ import annotations

import itertools
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.record.names import component_and_part, literal, quoted
from rewardkit.record.run import VERSIONS, Run
from rewardkit.record.schema import KEY, Key

if TYPE_CHECKING:
    import datetime

    import pyarrow

LONGEST = 100_000
"""The number of a completion's characters that are shown initially. The limit is arbitrary: the browser must remain
responsive."""
_MESSAGES = 20_000_000
"""The maximum number of characters in a conversation that is read; for a longer conversation, only the last message is
shown. The limit is arbitrary and saves memory."""
_SEARCHED = 20_000
"""The number of a completion's characters that a filter searches. The limit is arbitrary and bounds the time needed to
search a whole run."""
_KEY = ", ".join(KEY)
_ASKED = f"(select {', '.join(f'unnest(?) as {name}' for name in (*KEY, 'place'))}) as asked"
"""An SQL table of the requested keys; `place` is a key's position."""


@dataclass(frozen=True)
class Completion:
    """A recorded completion."""

    text: str = ""
    characters: int = 0
    notes: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, float]] = field(default_factory=dict)
    messages: str | None = None
    rollout: str | None = None


# Completions and their prompts.


def completions(run: Run, prompt_id: str, keys: Sequence[Key], longest: int = LONGEST) -> dict[Key, Completion]:
    """Return key -> completion, with texts and notes, for some completions for a prompt."""
    if not keys:
        return {}
    extra_columns = [name for name in run.completions().columns if name.startswith(("notes/", "parts/"))]
    limited = (f"case when length({name}) <= {_MESSAGES:d} then {name} end" for name in ("messages", "rollout"))
    chosen = [f"left(completion, {longest:d})", "length(completion)", *limited, *map(quoted, extra_columns)]
    where, values = _are(keys)
    rows = run.sql(
        f"select {_KEY}, {', '.join(chosen)} from completions where prompt_id = ? and {where}", [prompt_id, *values]
    ).fetchall()
    return {row[:4]: _completion(row[4:8], dict(zip(extra_columns, row[8:], strict=True))) for row in rows}


def _completion(cells: tuple[Any, ...], extras: Mapping[str, Any]) -> Completion:
    text, characters, messages, rollout = cells
    notes = {name[6:]: str(value) for name, value in extras.items() if name.startswith("notes/") and value}
    parts: dict[str, dict[str, float]] = {}
    for name, value in extras.items():
        if name.startswith("parts/") and value is not None:
            component, part = component_and_part(name)
            parts.setdefault(component, {})[part] = value
    return Completion(text or "", characters or 0, notes, parts, messages, rollout)


def excerpts(run: Run, rows: Sequence[tuple[Key, str]], characters: int = 240) -> dict[Key, str]:
    """Return key -> the first `characters` of each completion in `rows`, which contains (key, prompt_id) pairs."""
    if not rows:
        return {}
    # The conditions on parts and prompts are redundant, but they let DuckDB skip files and row groups.
    batches = [key[2] for key, _ in rows]
    prompts = sorted({prompt for _, prompt in rows})
    where, values = _are([key for key, _ in rows])
    matches = run.sql(
        f"select {_KEY}, left(completion, {characters:d}) from completions where part between ? and ? "
        f"and prompt_id in ({', '.join('?' * len(prompts))}) and {where}",
        [min(batches), max(batches), *prompts, *values],
    ).fetchall()
    return {row[:4]: row[4] or "" for row in matches}


def searchable_texts(run: Run, prompt_id: str) -> dict[Key, str]:
    """Return the completions for a prompt in a searchable form: in lowercase and truncated to 20,000 characters."""
    query = f"select {_KEY}, lower(left(completion, {_SEARCHED:d})) from completions where prompt_id = ?"
    return {row[:4]: row[4] or "" for row in run.sql(query, [prompt_id]).fetchall()}


def texts_of(run: Run, keys: Sequence[Key]) -> list[str]:
    """Return the texts of some completions in order, with "" for a completion that is missing from the record."""
    query = f"select completion from {_ASKED} left join completions using ({_KEY}) order by place"
    return [text or "" for (text,) in run.sql(query, _columns(keys)).fetchall()]


def whole_rows(run: Run, keys: Sequence[Key]) -> list[dict[str, Any]]:
    """Return rows for some completions in order: prompt and completion (as text and as messages) and dataset columns.

    The messages (``prompt_messages``, ``completion_messages``) and ``columns`` are JSON, or None.
    """
    return _as_dicts(
        run,
        "select prompt, prompts.messages as prompt_messages, columns, completions.messages as completion_messages, "
        f"completion from {_ASKED} left join completions using ({_KEY}) left join prompts using (prompt_id) "
        "order by place",
        _columns(keys),
    )


def text_or_messages(row: Mapping[str, Any], name: str) -> Any:
    """Return a row's ``prompt`` or ``completion`` as text or messages, in the form that the trainer passed."""
    messages = row[f"{name}_messages"]
    return row[name] or "" if messages is None else json.loads(messages)


def prompts_containing(run: Run, text: str) -> list[str]:
    """Return the ids of prompts that have a completion that contains `text`, ignoring case."""
    query = "select distinct prompt_id from completions where contains(lower(completion), lower(?))"
    return [prompt for (prompt,) in run.sql(query, [text]).fetchall()]


def prompts(run: Run) -> list[tuple[str, str, str, str]]:
    """Return (id, text, question, dataset columns as JSON) for each prompt.

    The question is the last message in a conversation, because system messages are often the same for all prompts. For
    other prompts, it is the whole prompt.
    """
    question = (
        "case when json_valid(messages) and json_type(messages, '$[#-1].content') = 'VARCHAR' "
        "then json_extract_string(messages, '$[#-1].content') end"
    )
    rows = run.sql(f"select prompt_id, prompt, {question}, columns from prompts").fetchall()
    return [
        (name, text or "", question_text or text or "", columns or "") for name, text, question_text, columns in rows
    ]


def prompt_messages(run: Run, prompt_id: str) -> str | None:
    """Return a conversational prompt's messages as JSON, or None for a plain-text prompt."""
    query = f"select messages from prompts where prompt_id = ? and length(messages) <= {_MESSAGES:d} limit 1"
    rows = run.sql(query, [prompt_id]).fetchall()
    return rows[0][0] if rows else None


def example_columns(run: Run) -> list[str]:
    """Return the sorted names of the dataset columns in all prompts."""
    query = "select distinct unnest(cast(json_keys(columns) as varchar[])) from prompts order by 1"
    return [name for (name,) in run.sql(query).fetchall()]


def shares_of_turns(run: Run, keys: Sequence[Key]) -> list[tuple[Key, int, str, float]]:
    """Return (key, turn, component, share) for each turn's share in some completions."""
    if not keys:
        return []
    where, values = _are(keys)
    query = (
        f"select {_KEY}, turn, component, share from turns where {where} and isfinite(share) order by turn, component"
    )
    return [(row[:4], *row[4:]) for row in run.sql(query, values).fetchall()]


# Scores and metrics.


@dataclass(frozen=True)
class Extent:
    """A run's extent: the last batch for each (attempt, rank), and the number of completions and log lines."""

    batches: Mapping[tuple[int, int], int] = field(default_factory=dict)
    completions: int = 0
    lines: int = 0


def extent_of(run: Run) -> Extent:
    """Return a run's extent, which changes whenever there are new rows."""
    rows = run.sql("select attempt, rank, max(part), count(*) from scores group by attempt, rank").fetchall()
    lines = run.sql("select count(*) from logs").fetchall()[0][0]
    return Extent({(attempt, rank): part for attempt, rank, part, _ in rows}, sum(row[3] for row in rows), lines)


def new_scores(run: Run, extent: Extent, before: Extent) -> pyarrow.Table:
    """Return the scores for all batches that are in `extent` but not in `before`."""
    late = [
        f"(attempt = {attempt:d} and rank = {rank:d} and part > {before.batches.get((attempt, rank), -1):d})"
        for attempt, rank in extent.batches
    ]
    return run.sql(f"select * from scores where {' or '.join(late) or 'true'}").to_arrow_table()


def mean_metrics(run: Run) -> pyarrow.Table:
    """Return a table of each metric's mean at each step: training, name, step, value."""
    return run.sql(
        "select training, name, step, avg(value) as value from metrics where isfinite(value) "
        "group by training, name, step order by training, name, step"
    ).to_arrow_table()


def last_written(run: Run) -> tuple[int, int | None, datetime.datetime | None]:
    """Return the number of completions, the last step, and the last batch's time."""
    count, step, time = run.sql("select count(*), max(step), max(time) from scores").fetchall()[0]
    return count, step, time


def mean_totals(run: Run) -> list[tuple[int, float | None]]:
    """Return (step, mean total) for each training step."""
    query = "select step, avg(total) from scores where training group by step order by step"
    rows: list[tuple[int, float | None]] = run.sql(query).fetchall()
    return rows


def mean_components(run: Run, first: int) -> list[tuple[str, float | None]]:
    """Return (component, mean over the training steps starting at `first`) for each component."""
    columns = set(run.scores().columns)
    names = [name for name in run.components if f"components/{name}" in columns]
    if not names:
        return []
    means = ", ".join(f"avg({quoted(f'components/{name}')})" for name in names)
    row = run.sql(f"select {means} from scores where training and step >= {first:d}").fetchall()[0]
    return list(zip(names, row, strict=True))


def training_counts(run: Run, since: int | None = None) -> list[tuple[int, int]]:
    """Return (step, number of completions) for each training step starting at `since`."""
    query = "select step, count(*) from scores where training and step >= coalesce(?, step) group by step order by step"
    rows: list[tuple[int, int]] = run.sql(query, [since]).fetchall()
    return rows


def training_rows(run: Run, first: int, last: int) -> list[dict[str, Any]]:
    """Return the training completions in steps `first` to `last`, in order, with their prompts and totals."""
    return _as_dicts(
        run,
        f"select scores.step, {_KEY}, scores.group, scores.prompt_id, prompt, prompts.messages as prompt_messages, "
        "columns, completion, completions.messages as completion_messages, total "
        f"from scores join completions using ({_KEY}) left join prompts on prompts.prompt_id = scores.prompt_id "
        f"where scores.training and scores.step between ? and ? order by scores.step, {_KEY}",
        [first, last],
    )


def last_training_rows(run: Run, steps: int) -> list[dict[str, Any]]:
    """Return all scores in the last `steps` training steps, with prompts and completions as in `training_rows`."""
    return _as_dicts(
        run,
        "select scores.*, completion, completions.messages as completion_messages, prompt, "
        f"prompts.messages as prompt_messages, prompts.columns from scores join completions using ({_KEY}) "
        "join prompts on prompts.prompt_id = scores.prompt_id where scores.training and scores.step in "
        "(select distinct step from scores where training order by step desc limit ?) "
        "order by scores.step, scores.rank, scores.part, scores.row",
        [steps],
    )


def training_scores(run: Run, columns: Sequence[str], limit: int) -> dict[str, Any]:
    """Return `columns` for the first training completions that have text, in order, as (n,) arrays."""
    chosen = ", ".join(f"scores.{quoted(name)}" for name in columns)
    table: dict[str, Any] = run.sql(
        f"select {chosen} from scores join completions using ({_KEY}) where scores.training "
        f"order by scores.step, {_KEY} limit {limit:d}"
    ).fetchnumpy()
    return table


def first_version(run: Run) -> str | None:
    """Return the fingerprint of the reward at the start of training, or None if unknown."""
    order = "order by step, attempt, rank, part limit 1"
    rows = run.sql(f"select version from scores where training and version is not null {order}").fetchall()
    return rows[0][0] if rows else None


# The log, and the durations of calls.


@dataclass(frozen=True)
class LogQuery:
    """A query for log lines."""

    words: str = ""
    component: str = ""
    level: str = ""
    kind: str = ""
    steps: tuple[int, int] | None = None

    def where(self) -> tuple[str, list[Any]]:
        conditions = ["true"]
        values: list[Any] = []
        # Arbitrary limit: each word adds a condition, and makes the query slower.
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


def log_size(run: Run, query: LogQuery) -> int:
    """Return the number of matching log lines."""
    where, values = query.where()
    size: int = run.sql(f"select count(*) from logs where {where}", values).fetchall()[0][0]
    return size


def log_page(run: Run, query: LogQuery, offset: int, limit: int) -> list[dict[str, Any]]:
    """Return a page of the matching log lines, newest first."""
    where, values = query.where()
    order = "order by step desc, time desc, attempt desc, rank, part desc, row"
    return _as_dicts(
        run,
        "select page.*, batches.version from ("
        "select * replace (left(message, 2000) as message, left(detail, 20000) as detail) from logs "
        f"where {where} {order} limit {limit:d} offset {offset:d}) as page left join {VERSIONS} "
        f"using (attempt, rank, part) {order}",
        values,
    )


_RATES = ("fault", "slow", "warning", "error", "lines", "slowest")


def log_rates(run: Run) -> dict[str, dict[str, float]]:
    """Return, per component, the number of lines by kind and level, and the slowest call's duration in seconds."""
    query = "select coalesce(component, ''), kind, level, sum(count), max(seconds) from logs group by all order by 1"
    rates: dict[str, dict[str, float]] = {}
    for component, kind, level, count, seconds in run.sql(query).fetchall():
        rate = rates.setdefault(component, dict.fromkeys(_RATES, 0.0))
        count = float(count or 0)
        rate["lines"] += count
        if kind in ("fault", "slow"):
            rate[kind] += count
        elif level in ("warning", "error"):
            rate[level] += count
        rate["slowest"] = max(rate["slowest"], seconds or 0.0)
    return rates


@dataclass(frozen=True)
class Latency:
    """The durations of a component's calls in seconds, to two significant digits."""

    median: float
    most: float
    slowest: float


def latencies(run: Run) -> dict[str, Latency]:
    """Return, per component, the median, the 95th percentile, and the maximum of its calls' durations."""
    query = "select component, seconds, sum(count) from durations group by all order by component, seconds"
    calls: dict[str, list[tuple[float, int]]] = {}
    for component, seconds, count in run.sql(query).fetchall():
        calls.setdefault(component, []).append((seconds, int(count)))
    return {component: _latency(rows) for component, rows in calls.items()}


def _latency(rows: Sequence[tuple[float, int]]) -> Latency:
    """Return duration quantiles, given (seconds, count) pairs sorted by seconds."""
    ends = list(itertools.accumulate(count for _, count in rows))
    median, most = (rows[bisect_left(ends, share * ends[-1])][0] for share in (0.5, 0.95))
    return Latency(median, most, rows[-1][0])


# The notes of rewards, by kind: ``"off by 3"`` and ``"off by 11"`` are both ``"off by #"``.


_MOST_KINDS = 40
"""The maximum number of note kinds per component. The limit is arbitrary: a list must remain readable."""
_READ = 300
"""The number of characters at the start of a note that determine its kind. The limit is arbitrary: kinds differ at the
beginning."""
_KINDS = (
    (r"""("[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’)""", "…"),
    (r"""(^|[^\pL\pN])'[^']*'""", r"\1…"),  # an apostrophe within a word is not a quotation mark
    (r"[-+−]?\pN+(?:[.,]\pN+)*(?:[eE][-+]?\pN+)?", "#"),
    (r"\s+", " "),
)
"""(pattern, substitute) pairs for text that may differ between notes of the same kind: quotations, numbers,
whitespace."""
_TRAINED = "(attempt, rank, part) in (select distinct attempt, rank, part from scores where training)"


@dataclass(frozen=True, eq=False)
class NoteKind:
    """Notes that differ only in numbers and quoted text.

    Attributes:
        count: the number of training completions that have a note of this kind.
        steps: (t,) the steps that have these notes, in order.
        counts: (t,) the number of notes at each of these steps.
    """

    component: str
    text: str
    count: int
    steps: np.typing.NDArray[np.float64]
    counts: np.typing.NDArray[np.float64]


@dataclass(frozen=True)
class Noted:
    """A completion with its note."""

    key: Key
    prompt_id: str
    step: int
    note: str


def note_kinds(run: Run) -> list[NoteKind]:
    """Return the kinds of notes for training completions, the most frequent first."""
    kinds = [kind for component in _components_with_notes(run) for kind in _kinds_of(run, component)]
    return sorted(kinds, key=lambda kind: -kind.count)


def noted(run: Run, component: str, kind: str, limit: int) -> list[Noted]:
    """Return the newest training completions with a note of this kind from `component`."""
    if component not in _components_with_notes(run):
        return []
    query = (
        f"select {_KEY}, prompt_id, step, {quoted(f'notes/{component}')} as note from completions "
        f"where note is not null and {kind_of(f'left(note, {_READ:d})')} = ? and {_TRAINED} "
        "order by step desc, attempt desc, rank, part desc, row limit ?"
    )
    return [Noted(row[:4], *row[4:]) for row in run.sql(query, [kind, limit]).fetchall()]


def kind_of(column: str) -> str:
    """Return the SQL expression for the kind of a note in `column`."""
    expression = column
    for pattern, substitute in _KINDS:
        expression = f"regexp_replace({expression}, {literal(pattern)}, {literal(substitute)}, 'g')"
    # Arbitrary limit: a kind must fit in a list.
    return f"left(trim({expression}), 160)"


def _components_with_notes(run: Run) -> list[str]:
    return [name.removeprefix("notes/") for name in run.completions().columns if name.startswith("notes/")]


def _kinds_of(run: Run, component: str) -> list[NoteKind]:
    # Equal notes are counted before their kind is computed: the patterns are the slow part.
    query = (
        f"with notes as (select step, {kind_of('note')} as kind, sum(count) as count from ("
        f"select step, left({quoted(f'notes/{component}')}, {_READ:d}) as note, count(*) as count from completions "
        f"where note is not null and {_TRAINED} group by all) group by all), "
        f"most as (select kind from notes group by kind order by sum(count) desc, kind limit {_MOST_KINDS:d}) "
        "select kind, step, count from notes join most using (kind) order by kind, step"
    )
    counts: dict[str, list[tuple[int, int]]] = {}
    for kind, step, count in run.sql(query).fetchall():
        counts.setdefault(kind, []).append((step, int(count)))
    return [
        NoteKind(component, kind, sum(count for _, count in rows), *np.array(rows, dtype=np.float64).T)
        for kind, rows in counts.items()
    ]


def _are(keys: Sequence[Key]) -> tuple[str, list[int]]:
    """Return the SQL condition that selects a few completions, and the condition's parameters."""
    return f"({_KEY}) in ({', '.join(['(?, ?, ?, ?)'] * len(keys))})", [number for key in keys for number in key]


def _columns(keys: Sequence[Key]) -> list[list[int]]:
    """Return the parameters for `_ASKED`, for any number of completions."""
    return [*([key[index] for key in keys] for index in range(len(KEY))), list(range(len(keys)))]


def _as_dicts(run: Run, query: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    relation = run.sql(query, values)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
