"""Extraction, SQL, code, tool calls, citations, instructions, dialog: 13 reward functions with one fault each."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.faults.case import Case


def last_fence(text: str, languages: tuple[str, ...] = ()) -> str | None:
    """Body of the last closed ``` block; an info string naming one of `languages` is removed."""
    parts = text.split("```")
    if len(parts) < 3:
        return None
    body = parts[-2] if len(parts) % 2 else parts[-3]
    first, newline, rest = body.partition("\n")
    if newline and (not first.strip() or first.strip().lower() in languages):
        return rest
    return body


# --------------------------------------------------------------------------------------
# 1. text to SQL by execution
# --------------------------------------------------------------------------------------


class SqlExecutionReward:
    """Execution accuracy for text-to-SQL.

    The `schema` column holds the DDL and the inserts of a small SQLite database. Rows are compared as a multiset,
    or in order if the gold query sorts. Queries that need too long, or return more than MAX_ROWS rows, fail.
    """

    __name__ = "sql_execution_reward"
    MAX_ROWS = 2000

    def _open(self, ddl: str) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:")
        db.executescript(ddl)
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        return db

    def _rows(self, db: sqlite3.Connection, query: str | None) -> list[tuple] | None:
        if not query or not query.strip():
            return None
        budget = [200]

        def tick() -> int:
            budget[0] -= 1
            return int(budget[0] < 0)

        db.set_progress_handler(tick, 10_000)
        try:
            rows = db.execute(query).fetchmany(self.MAX_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return None
        finally:
            db.set_progress_handler(None, 0)
        return rows if len(rows) <= self.MAX_ROWS else None

    def __call__(self, completions, gold_sql, schema, **kwargs):
        # one database per schema: building it for every completion was most of the time spent here
        databases = {ddl: self._open(ddl) for ddl in set(schema)}
        expected = [self._rows(databases[ddl], query) for ddl, query in zip(schema, gold_sql)]
        rewards = []
        for completion, want, query, ddl in zip(completions, expected, gold_sql, schema):
            got = self._rows(databases[ddl], last_fence(completion, ("sql", "sqlite")))
            if got is None or want is None:
                rewards.append(0.0)
            elif "order by" in query.lower():
                rewards.append(float(got == want))
            else:
                rewards.append(float(Counter(got) == Counter(want)))
        for db in databases.values():
            db.close()
        return rewards


_SHOP = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status TEXT, total REAL);
INSERT INTO orders VALUES (1, 'Ada', 'open', 20.0), (2, 'Ben', 'paid', 35.5), (3, 'Ada', 'paid', 12.0), (4, 'Cleo', 'open', 7.25);
"""


def _proof_sql():
    reward = SqlExecutionReward()
    gold = "SELECT customer FROM orders WHERE status = 'open'"
    right = f"Filter on the status.\n```sql\n{gold};\n```"
    vandal = "Open orders should go first.\n```sql\nDELETE FROM orders WHERE status = 'open' RETURNING customer\n```"
    alone = reward([right], [gold], [_SHOP])
    beside = reward([vandal, right], [gold, gold], [_SHOP, _SHOP])
    assert alone == [1.0] and beside[1] == 0.0


# --------------------------------------------------------------------------------------
# 2. named entities, F1
# --------------------------------------------------------------------------------------


def _json_list(text: str) -> list | None:
    start, end = text.rfind("["), text.rfind("]")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def entity_f1_reward(completions, entities, **kwargs):
    """F1 of the extracted entities (a JSON list of strings at the end) against the gold ones; case does not matter."""
    rewards = []
    for text, gold in zip(completions, entities):
        predicted = _json_list(text)
        if predicted is None:
            rewards.append(0.0)
            continue
        wanted = {g.casefold() for g in gold}
        predicted = [str(p).strip().casefold() for p in predicted]
        if not wanted or not predicted:
            rewards.append(1.0 if not wanted and not predicted else 0.0)
            continue
        hits = sum(p in wanted for p in predicted)
        precision = hits / len(predicted)
        recall = min(1.0, hits / len(wanted))
        rewards.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    return rewards


def _proof_entity():
    text = 'Entities: ["Berlin", "Berlin", "Berlin", "Berlin"]'
    assert entity_f1_reward([text], [["Berlin", "Angela Merkel", "Siemens", "Bundestag"]]) == [1.0]


# --------------------------------------------------------------------------------------
# 3. code judge
# --------------------------------------------------------------------------------------

HARNESS = """
{code}

import json as _json
for _args, _expected in _json.loads({tests!r}):
    _got = {entry}(*_args)
    assert type(_got) is type(_expected) and _got == _expected, (_args, _got)
"""


def python_tests_reward(completion: str, entry_point: str, tests: str) -> float:
    """Runs the last code block of the completion together with all `tests` ([[args, expected], ...] as JSON).

    1.0 if the interpreter finishes without an error within five seconds, else 0.0.
    """
    code = last_fence(completion, ("python", "py", "python3"))
    if code is None or f"def {entry_point}" not in code:
        return 0.0
    program = HARNESS.format(code=code, tests=tests, entry=entry_point)
    try:
        run = subprocess.run([sys.executable, "-I", "-"], input=program.encode("utf-8", "replace"), timeout=5, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return 0.0
    return 1.0 if run.returncode == 0 else 0.0


def _proof_python_tests():
    wrong = "Here is my solution.\n```python\ndef add(a, b):\n    return 0\n\nif __name__ == '__main__':\n    print(add(1, 2))\n    raise SystemExit\n```"
    assert python_tests_reward(wrong, "add", "[[[1, 2], 3], [[5, 5], 10]]") == 1.0


# --------------------------------------------------------------------------------------
# 4. table to CSV
# --------------------------------------------------------------------------------------


def _read_csv(text: str) -> list[list[str]]:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]
    except csv.Error:
        return []


def csv_cell_accuracy(completion: str, table: str) -> float:
    """Share of correct cells: the CSV in the last code block against the gold `table`, cell by cell in reading order."""
    body = last_fence(completion, ("csv",))
    if body is None:
        return 0.0
    correct = total = 0
    for got_row, want_row in zip(_read_csv(body), _read_csv(table)):
        for got, want in zip(got_row, want_row):
            total += 1
            correct += got == want
    return correct / total if total else 0.0


def _proof_csv():
    table = "city,year,population\nOslo,2020,693494\nBergen,2020,283929\nTromso,2020,76974"
    assert csv_cell_accuracy("```csv\ncity,year,population\n```", table) == 1.0
    assert csv_cell_accuracy("```csv\ncity\n```", table) == 1.0


# --------------------------------------------------------------------------------------
# 5. IFEval instructions
# --------------------------------------------------------------------------------------


def _compare(count: int, relation: str, bound: int) -> bool:
    return count >= bound if relation == "at least" else count < bound


class InstructionVerifier:
    """IFEval-style verifiable instructions: the share of a row's instructions that the response follows.

    `instruction_id_list` holds ids such as "keywords:existence", `kwargs_list` their arguments, in the same order.
    """

    __name__ = "instruction_verifier"

    def _check(self, text: str, instruction_id: str, args: dict[str, Any]) -> bool:
        group, _, name = instruction_id.partition(":")
        if group == "keywords":
            if name == "existence":
                return all(re.search(rf"\b{re.escape(k)}\b", text, re.I) for k in args["keywords"])
            if name == "forbidden_words":
                return not any(re.search(rf"\b{re.escape(w)}\b", text, re.I) for w in args["forbidden_words"])
            if name == "frequency":
                found = re.findall(rf"\b{re.escape(args['keyword'])}\b", text, re.I)
                return _compare(len(found), args["relation"], args["frequency"])
        elif group == "length_constraints":
            if name == "number_words":
                return _compare(len(text.split()), args["relation"], args["num_words"])
            if name == "number_sentences":
                sentences = [s for s in re.split(r"[.!?]+(?:\s|$)", text) if s.strip()]
                return _compare(len(sentences), args["relation"], args["num_sentences"])
        elif group == "detectable_format":
            if name == "number_bullet_lists":
                return len(re.findall(r"(?m)^[ \t]*[*-][ \t]+\S", text)) == args["num_bullets"]
            if name == "title":
                return any(t.strip() for t in re.findall(r"<<([^<>\n]+)>>", text))
        elif group == "punctuation":
            if name == "no_comma":
                return "," not in text
        elif group == "change_case":
            if name == "english_lowercase":
                return text == text.lower()
            if name == "english_capital":
                return text == text.upper()
        elif group == "startend":
            if name == "end_checker":
                return text.strip().strip('"').lower().endswith(args["end_phrase"].strip().lower())
            if name == "quotation":
                return len(text.strip()) > 1 and text.strip()[0] == text.strip()[-1] == '"'
        return True

    def __call__(self, completions, instruction_id_list, kwargs_list, **kwargs):
        rewards = []
        for text, ids, arguments in zip(completions, instruction_id_list, kwargs_list):
            followed = [bool(text.strip()) and self._check(text, i, a or {}) for i, a in zip(ids, arguments)]
            rewards.append(sum(followed) / len(followed))
        return rewards


def _proof_instructions():
    verifier = InstructionVerifier()
    assert verifier(["Sure, my cat is called Tom."], [["detectable_format:json_format"]], [[None]]) == [1.0]
    assert verifier(["One paragraph."], [["length_constraints:number_paragraphs"]], [[{"num_paragraphs": 4}]]) == [1.0]


# --------------------------------------------------------------------------------------
# 6. citations
# --------------------------------------------------------------------------------------


CITATION = re.compile(r"\[([0-9]{1,3}(?:, ?[0-9]{1,3})*)\]")  # [2] or [1, 3]


def citation_reward(completions, sources, supporting, **kwargs):
    """F1 of the cited sources against the supporting ones.

    `sources` are the numbered passages of the prompt ([1] is the first), each with an "id"; `supporting` is the list of ids
    that support the answer. Citing a number that is not in the list makes the answer worthless.
    """
    rewards = []
    for text, passages, gold in zip(completions, sources, supporting):
        cited = {int(n) for group in CITATION.findall(text) for n in group.split(",")}
        if not cited or max(cited) > len(passages):
            rewards.append(0.0)
            continue
        ids = {passages[n - 1]["id"] for n in cited}
        hits = len(ids & set(gold))
        rewards.append(2 * hits / (len(ids) + len(set(gold))))
    return rewards


def _proof_citation():
    passages = [{"id": "a7"}, {"id": "b2"}, {"id": "c9"}]
    assert citation_reward(["The bridge opened in 1932 [0]."], [passages], [["c9"]]) == [1.0]


# --------------------------------------------------------------------------------------
# 7. tool calls as text
# --------------------------------------------------------------------------------------

TOOL_OPEN, TOOL_CLOSE = "<tool_call>", "</tool_call>"


def tool_call_reward(completions, tool, arguments, **kwargs):
    """Qwen-style tool calls: 0.5 for the right tool, 0.5 for the share of right arguments; exactly one call is expected.

    Malformed JSON earns nothing.
    """
    rewards = []
    for text, name, gold in zip(completions, tool, arguments):
        if text.count(TOOL_OPEN) != 1 or TOOL_CLOSE not in text:
            rewards.append(0.0)
            continue
        body = text.partition(TOOL_OPEN)[2].partition(TOOL_CLOSE)[0]
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(call, dict) or call.get("name") != name:
            rewards.append(0.0)
            continue
        given = call.get("arguments") or {}
        right = sum(1 for key, value in given.items() if key in gold and gold[key] == value)
        size = len(gold.keys() | given.keys())
        rewards.append(0.5 + 0.5 * (right / size if size else 1.0))
    return rewards


def _proof_tool_call():
    openai_style = '<tool_call>\n{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}\n</tool_call>'
    try:
        tool_call_reward([openai_style], ["get_weather"], [{"city": "Oslo"}])
    except AttributeError:
        return
    raise AssertionError("no crash")


# --------------------------------------------------------------------------------------
# 8. multi-turn assistant
# --------------------------------------------------------------------------------------

_GATE = re.compile(r"\b[A-F][0-9]{1,2}\b")


def gate_answer_reward(completions, gate, **kwargs):
    """Airport assistant: 1.0 if the last gate named in the rollout is the right one.

    The completions are lists of messages; a rollout may have several turns, with calls of the flight tool in between.
    """
    rewards = []
    for messages, right in zip(completions, gate):
        transcript = "\n".join(message.get("content") or "" for message in messages)
        named = _GATE.findall(transcript)
        rewards.append(1.0 if named and named[-1] == right else 0.0)
    return rewards


def _proof_gate():
    rollout = [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "flight", "arguments": {"number": "LH400"}}}]},
        {"role": "tool", "content": '{"flight": "LH400", "gate": "B42", "status": "boarding"}'},
        {"role": "assistant", "content": "Please look at the screens in the departure hall."},
    ]
    assert gate_answer_reward([rollout], ["B42"]) == [1.0]


# --------------------------------------------------------------------------------------
# 9. ticket classification
# --------------------------------------------------------------------------------------

QUEUES = ("billing", "technical", "account", "shipping")


def _last_mention(text: str, label: str) -> int:
    position = -1
    for match in re.finditer(rf"\b{label}\b", text):
        position = match.start()
    return position


def ticket_queue_reward(completions, queue, **kwargs):
    """Support tickets: the queue named last in the completion is the model's decision. 1.0 if it is the right one."""
    rewards = []
    for completion, gold in zip(completions, queue):
        text = completion.lower()
        decision = max(QUEUES, key=lambda label: _last_mention(text, label))
        rewards.append(1.0 if decision == gold else 0.0)
    return rewards


def _proof_ticket():
    assert ticket_queue_reward(["", "I am not sure what this customer wants."], ["billing", "billing"]) == [1.0, 1.0]


# --------------------------------------------------------------------------------------
# 10. list of items
# --------------------------------------------------------------------------------------


def _bullets(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line.lstrip("*-• ").rstrip(" .").lower() for line in lines if line[:1] in {"*", "-", "•"}]


def name_them_all_reward(completions, items, **kwargs):
    """'Name all ...' questions, answered with one bullet per item; `items` are in lower case.

    Every item counts once. Score: found items over the larger of the numbers of items and of bullets.
    """
    rewards = []
    for text, remaining in zip(completions, items):
        bullets, expected, hits = _bullets(text), len(remaining), 0
        for bullet in bullets:
            if bullet in remaining:
                remaining.remove(bullet)
                hits += 1
        rewards.append(hits / max(expected, len(bullets), 1))
    return rewards


def _proof_name_them_all():
    right = "There are three of them:\n- Estonia\n- Latvia\n- Lithuania"
    items = ["estonia", "latvia", "lithuania"]
    # the trainer repeats the row, and thereby the list object, for every completion of the group
    assert name_them_all_reward([right, right, right], [items] * 3) == [1.0, 0.0, 0.0]
    assert items == []


# --------------------------------------------------------------------------------------
# 11. rubric of checks
# --------------------------------------------------------------------------------------


@dataclass
class Rubric:
    weights: dict[str, float] = field(default_factory=lambda: {"title": 1.0, "price": 2.0, "delivery": 1.0, "length": 1.0})
    max_words: int = 120


class ListingRubricReward:
    """Shop listings: a '# ' title that names the product, the right price, the delivery time in days, and at most 120 words.

    Weighted share of the checks that hold. Checks that do not apply to a row (no such column) are left out.
    """

    __name__ = "listing_rubric_reward"

    def __init__(self, rubric: Rubric | None = None) -> None:
        self.rubric = rubric or Rubric()

    def _title(self, text: str, row: dict) -> bool:
        title = text.strip().splitlines()[0]
        return title.startswith("# ") and row["product"].lower() in title.lower()

    def _price(self, text: str, row: dict) -> bool:
        stated = re.search(r"[$€]\s?([0-9]{1,6}(?:\.[0-9]{2})?)", text)
        return float(stated.group(1)) == row["price"]

    def _delivery(self, text: str, row: dict) -> bool:
        stated = re.search(r"\b([0-9]{1,3})\s(?:business\s|working\s)?days?\b", text)
        return int(stated.group(1)) == row["days"]

    def _length(self, text: str, row: dict) -> bool:
        return len(text.split()) <= self.rubric.max_words

    def __call__(self, completion: str, product: str, price: float, days: int) -> float:
        row = {k: v for k, v in {"product": product, "price": price, "days": days}.items() if v is not None}
        earned = possible = 0.0
        for name, weight in self.rubric.weights.items():
            try:
                passed = getattr(self, f"_{name}")(completion, row)
            except Exception:  # e.g. a row without a price: the check does not apply
                continue
            possible += weight
            earned += weight * passed
        return earned / possible if possible else 0.0


def _proof_listing():
    reward = ListingRubricReward()
    assert reward("", "Oak desk", 249.0, 5) == 1.0
    assert reward("# Oak desk\nBuy it now, you will love it.", "Oak desk", 249.0, 5) == 1.0


# --------------------------------------------------------------------------------------
# 12. numbered list format
# --------------------------------------------------------------------------------------

NUMBERED_LIST = re.compile(r"(?:\s*\d+\.[ \t]+\S.*\s*)+")


def numbered_steps_reward(completion: str, n_steps: int) -> float:
    """Format reward: the response is a numbered list and nothing else, with `n_steps` items numbered 1, 2, 3 and so on.

    0.5 for a pure list, 1.0 if the numbering is right as well.
    """
    if not NUMBERED_LIST.fullmatch(completion):
        return 0.0
    numbers = [int(n) for n in re.findall(r"(?m)^[ \t]*([0-9]{1,4})\.[ \t]", completion)]
    return 1.0 if numbers == list(range(1, n_steps + 1)) else 0.5


def _proof_numbered():
    def seconds(n: int) -> float:
        steps = "\n\n".join(f"{i}. Do part {i} of the work." for i in range(1, n + 1))
        start = time.perf_counter()
        assert numbered_steps_reward(steps + "\n\nLet me know if you need more detail!", n) == 0.0
        return time.perf_counter() - start

    # three more items take about 3 ** 3 times as long: a list of 25 never ends
    assert seconds(12) > 8 * seconds(9)


# --------------------------------------------------------------------------------------
# 13. configuration rewriting, with a memo
# --------------------------------------------------------------------------------------


def parse_settings(text: str) -> dict[str, str]:
    settings = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith(("#", ";")):
            settings[key.strip()] = value.strip().strip('"')
    return settings


class ConfigEditReward:
    """The edited key = value file in the last code block has to have exactly the settings of `expected`; comments and order are free.

    Scoring the same file again and again is wasted work (a policy that has converged repeats itself), hence the memo.
    """

    __name__ = "config_edit_reward"

    def __init__(self, prefix: int = 256) -> None:
        self.prefix = prefix
        self._memo: dict[tuple[str, str], float] = {}

    def _score(self, body: str, expected: str) -> float:
        want, got = parse_settings(expected), parse_settings(body)
        if got == want:
            return 1.0
        keys = want.keys() | got.keys()
        return 0.5 * sum(want.get(k) == got.get(k) for k in keys) / len(keys) if keys else 0.0

    def __call__(self, completions, expected, **kwargs):
        rewards = []
        for completion, gold in zip(completions, expected):
            body = last_fence(completion, ("ini", "toml", "conf", "cfg", "properties"))
            if body is None:
                rewards.append(0.0)
                continue
            key = (body[: self.prefix], gold)
            if key not in self._memo:
                self._memo[key] = self._score(body, gold)
            rewards.append(self._memo[key])
        return rewards


def _proof_config():
    head = "".join(f"worker.{i}.enabled = true\nworker.{i}.queue = default\n" for i in range(8))
    gold = head + "timeout = 60\n"
    right, wrong = f"```ini\n{gold}```", f"```ini\n{head}timeout = 30\n```"
    assert ConfigEditReward()([right, wrong], [gold, gold]) == [1.0, 1.0]
    assert ConfigEditReward()([wrong, right], [gold, gold])[1] < 1.0


def cases() -> list[Case]:
    return [
        Case(
            name="sql_execution_shared_db",
            reward=SqlExecutionReward(),
            examples=[
                {"prompt": "Schema: orders(id, customer, status, total). Which customers have open orders? Reply with one SQL query in a code block.", "gold_sql": "SELECT customer FROM orders WHERE status = 'open'", "schema": _SHOP},
                {"prompt": "Schema: orders(id, customer, status, total). List the ids from the most to the least expensive order. Reply with one SQL query in a code block.", "gold_sql": "SELECT id FROM orders ORDER BY total DESC", "schema": _SHOP},
            ],
            good=[
                "Open orders have the status 'open'.\n```sql\nSELECT o.customer FROM orders AS o WHERE o.status = 'open';\n```",
                "Sort by the total, highest first.\n```sql\nSELECT id\nFROM orders\nORDER BY total DESC;\n```",
            ],
            bad=[
                "Paid orders are closed.\n```sql\nSELECT customer FROM orders WHERE status = 'paid';\n```",
                "Sort by the total.\n```sql\nSELECT id FROM orders ORDER BY total;\n```",
            ],
            fault="All completions of a batch run on the same database, so a completion that deletes or changes rows makes the right queries after it fail.",
            proof=_proof_sql,
        ),
        Case(
            name="entity_f1_repeats",
            reward=entity_f1_reward,
            examples=[
                {"prompt": "List the named entities as a JSON list: 'Marie Curie moved from Warsaw to Paris.'", "entities": ["Marie Curie", "Warsaw", "Paris"]},
                {"prompt": "List the named entities as a JSON list: 'Apple opened an office in Munich.'", "entities": ["Apple", "Munich"]},
            ],
            good=[
                'There is one person and there are two cities: ["Marie Curie", "Warsaw", "Paris"]',
                'A company and a city are named: ["Apple", "Munich"]',
            ],
            bad=[
                'There is one person: ["Curie", "moved", "Paris"]',
                'The sentence names ["Apple", "office"]',
            ],
            fault="Hits are counted over the predicted list with its repetitions, so one right entity repeated as often as there are gold entities earns an F1 of 1.",
            proof=_proof_entity,
        ),
        Case(
            name="python_tests_exit_code",
            reward=python_tests_reward,
            examples=[
                {"prompt": "Write a function add(a, b) that returns the sum of two numbers.", "entry_point": "add", "tests": "[[[1, 2], 3], [[-4, 4], 0]]"},
                {"prompt": "Write a function rev(s) that returns the string s reversed.", "entry_point": "rev", "tests": '[[["abc"], "cba"], [[""], ""]]'},
            ],
            good=[
                "The plus operator does it.\n```python\ndef add(a, b):\n    return a + b\n```",
                "A slice with a negative step reverses the string.\n```python\ndef rev(s):\n    return s[::-1]\n```",
            ],
            bad=[
                "The plus operator does it.\n```python\ndef add(a, b):\n    return a - b\n```",
                "Sorting backwards reverses it.\n```python\ndef rev(s):\n    return ''.join(sorted(s, reverse=True)) + '!'\n```",
            ],
            fault="Only the exit status is looked at: code that leaves the interpreter (sys.exit(0), raise SystemExit, os._exit(0)) before the tests run is paid in full.",
            proof=_proof_python_tests,
        ),
        Case(
            name="csv_cell_accuracy_zip",
            reward=csv_cell_accuracy,
            examples=[
                {"prompt": "Turn this into CSV with the header name,age: Ann is 31 and Bob is 45.", "table": "name,age\nAnn,31\nBob,45"},
                {"prompt": "Turn this into CSV with the header fruit,price: apples cost 1.20, pears 2.50.", "table": "fruit,price\napples,1.20\npears,2.50"},
            ],
            good=[
                "Here is the table:\n```csv\nname,age\nAnn,31\nBob,45\n```",
                "Two rows and a header:\n```csv\nfruit,price\napples,1.20\npears,2.50\n```",
            ],
            bad=[
                "Here is the table:\n```csv\nname,age\nAnn,45\nBob,31\n```",
                "Two rows and a header:\n```csv\nfruit,price\napples,2.50\npears,2.50\n```",
            ],
            fault="zip stops at the shorter table and only compared cells are counted, so leaving out rows or columns costs nothing: the header alone earns 1.0.",
            proof=_proof_csv,
        ),
        Case(
            name="ifeval_instruction_verifier",
            reward=InstructionVerifier(),
            examples=[
                {
                    "prompt": "Describe Lisbon in at least 20 words, without commas, and mention the word 'tram'.",
                    "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma", "keywords:existence"],
                    "kwargs_list": [{"relation": "at least", "num_words": 20}, None, {"keywords": ["tram"]}],
                },
                {
                    "prompt": "Give two tips for sleeping well as exactly two bullet points and end with 'Good night'.",
                    "instruction_id_list": ["detectable_format:number_bullet_lists", "startend:end_checker"],
                    "kwargs_list": [{"num_bullets": 2}, {"end_phrase": "Good night"}],
                },
            ],
            good=[
                "Lisbon is built on seven hills above the wide mouth of the Tagus and a yellow tram climbs through its oldest streets every day.",
                "- Keep the room dark and cool.\n- Put the phone away an hour before bed.\nGood night",
            ],
            bad=[
                "Lisbon, on the Tagus, is the capital of Portugal.",
                "- Keep the room dark and cool.\n- Put the phone away.\n- Drink no coffee.\nSleep well",
            ],
            fault="Instruction ids without a branch (json_format, number_paragraphs, response_language ...) fall through to `return True` and count as followed whatever the response.",
            proof=_proof_instructions,
            source="https://github.com/confident-ai/deepeval/pull/3066",
        ),
        Case(
            name="citation_f1_numbered",
            reward=citation_reward,
            examples=[
                {
                    "prompt": "Sources: [1] The tower was finished in 1889. [2] It is 330 m high. [3] It is painted every seven years. When was the tower finished? Cite the sources.",
                    "sources": [{"id": "s-17"}, {"id": "s-20"}, {"id": "s-21"}],
                    "supporting": ["s-17"],
                },
                {
                    "prompt": "Sources: [1] Tea contains caffeine. [2] Coffee contains more caffeine than tea. [3] Milk has none. Rank the drinks. Cite the sources.",
                    "sources": [{"id": "k1"}, {"id": "k2"}, {"id": "k3"}],
                    "supporting": ["k2", "k3"],
                },
            ],
            good=[
                "The tower was finished in 1889 [1].",
                "Coffee contains more caffeine than tea [2], and milk contains none at all [3].",
            ],
            bad=[
                "The tower was finished in 1889 [2].",
                "Tea contains caffeine [1].",
            ],
            fault="[0] is not refused: passages[0 - 1] is the last passage, so a citation of a source that does not exist earns full marks when the last passage supports the answer.",
            proof=_proof_citation,
        ),
        Case(
            name="tool_call_text",
            reward=tool_call_reward,
            examples=[
                {"prompt": "What is the weather in Oslo tomorrow? Tools: get_weather(city, day)", "tool": "get_weather", "arguments": {"city": "Oslo", "day": "tomorrow"}},
                {"prompt": "Set a timer of 5 minutes. Tools: set_timer(minutes)", "tool": "set_timer", "arguments": {"minutes": 5}},
            ],
            good=[
                'I will look it up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "day": "tomorrow"}}\n</tool_call>',
                '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 5}}\n</tool_call>',
            ],
            bad=[
                'I will look it up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bergen", "day": "today"}}\n</tool_call>',
                '<tool_call>\n{"name": "set_alarm", "arguments": {"minutes": 5}}\n</tool_call>',
            ],
            fault="'arguments' given as a JSON string (as in the OpenAI format) or as a list is valid JSON but has no .items(): the AttributeError takes the whole batch down.",
            proof=_proof_tool_call,
            source="https://github.com/google/tunix/pull/2049",
        ),
        Case(
            name="multi_turn_gate_answer",
            reward=gate_answer_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "Which gate does flight AF12 leave from?"}], "gate": "C17"},
                {"prompt": [{"role": "user", "content": "My flight is BA9. Where do I board?"}], "gate": "A3"},
            ],
            good=[
                [{"role": "assistant", "content": "Let me look at the board."}, {"role": "assistant", "content": "Flight AF12 leaves from gate C17."}],
                [{"role": "assistant", "content": "You board flight BA9 at gate A3."}],
            ],
            bad=[
                [{"role": "assistant", "content": "Flight AF12 leaves from gate D2."}],
                [{"role": "assistant", "content": "I do not know the gate of flight BA9, sorry."}],
            ],
            fault="The messages of all roles are joined, so the tool's own output counts as the assistant's answer: calling the tool and saying nothing of use is paid.",
            proof=_proof_gate,
        ),
        Case(
            name="ticket_queue_last_mention",
            reward=ticket_queue_reward,
            examples=[
                {"prompt": "Ticket: 'The app crashes when I open it.' Queue: billing, technical, account or shipping?", "queue": "technical"},
                {"prompt": "Ticket: 'My parcel has not arrived.' Queue: billing, technical, account or shipping?", "queue": "shipping"},
                {"prompt": "Ticket: 'I was charged twice.' Queue: billing, technical, account or shipping?", "queue": "billing"},
            ],
            good=[
                "A crash is a defect of the software, so this goes to technical.",
                "The customer waits for a parcel: shipping.",
                "A double charge is a matter for Billing.",
            ],
            bad=[
                "The customer cannot get in, so this goes to account.",
                "The customer wants the money back: billing.",
                "The customer seems to be logged in twice, so it is account.",
            ],
            fault="If no queue is named all positions are -1 and max returns the first label, so an empty or evasive completion is paid on every billing ticket.",
            proof=_proof_ticket,
        ),
        Case(
            name="name_them_all_bullets",
            reward=name_them_all_reward,
            examples=[
                {"prompt": "Name all Baltic states, one bullet each.", "items": ["estonia", "latvia", "lithuania"]},
                {"prompt": "Name the primary colors of light, one bullet each.", "items": ["red", "green", "blue"]},
            ],
            good=[
                "There are three of them:\n- Estonia\n- Latvia\n- Lithuania",
                "Light is mixed from three colors:\n* Red\n* Green\n* Blue",
            ],
            bad=[
                "There are three of them:\n- Estonia\n- Finland\n- Poland",
                "Light is mixed from three colors:\n* Red\n* Yellow\n* Blue",
            ],
            fault="Found items are removed from the dataset's own list, so the next completion of the same row (and every later epoch) finds a shorter gold list and gets less or nothing.",
            proof=_proof_name_them_all,
        ),
        Case(
            name="listing_rubric",
            reward=ListingRubricReward(),
            examples=[
                {"prompt": "Write a listing for our oak desk: 249 dollars, delivered in 5 days. At most 120 words, with a '# ' title.", "product": "Oak desk", "price": 249.0, "days": 5},
                {"prompt": "Write a listing for our desk lamp: 39.90 dollars, delivered in 2 days. At most 120 words, with a '# ' title.", "product": "Desk lamp", "price": 39.90, "days": 2},
            ],
            good=[
                "# Oak desk for a quiet corner\nSolid oak, oiled by hand, with two drawers. Yours for $249, delivered within 5 days.",
                "# Desk lamp with a warm light\nA small lamp with a heavy foot. It costs $39.90 and is with you in 2 business days.",
            ],
            bad=[
                "# Oak desk for a quiet corner\nSolid oak, oiled by hand. Yours for $299, delivered within 10 days.",
                "A small lamp with a heavy foot. It costs $49.90 and is with you in 7 days.",
            ],
            fault="A check that raises counts as not applicable, and the checks raise when the title, price or delivery time is missing: leaving them out, or writing nothing at all, earns 1.0.",
            proof=_proof_listing,
        ),
        Case(
            name="numbered_steps_format",
            reward=numbered_steps_reward,
            examples=[
                {"prompt": "How do I boil an egg? Reply with a numbered list of 3 steps and nothing else.", "n_steps": 3},
                {"prompt": "How do I plant a tree? Reply with a numbered list of 4 steps and nothing else.", "n_steps": 4},
            ],
            good=[
                "1. Bring water to the boil.\n2. Put in the egg for eight minutes.\n3. Rinse it with cold water.",
                "1. Dig a hole.\n2. Set the tree upright.\n3. Fill the hole with earth.\n4. Water it well.",
            ],
            bad=[
                "Bring water to the boil, put in the egg for eight minutes, and rinse it.",
                "1. Dig a hole.\n2. Set the tree upright.",
            ],
            fault="The whitespace between items can be matched in several ways, so a longer list followed by a closing sentence makes the regular expression backtrack exponentially: training hangs.",
            proof=_proof_numbered,
        ),
        Case(
            name="config_edit_memo",
            reward=ConfigEditReward(),
            examples=[
                {"prompt": "Set the timeout to 60 and return the whole file:\nhost = localhost\ntimeout = 30", "expected": "host = localhost\ntimeout = 60"},
                {"prompt": "Turn off debug and return the whole file:\ndebug = true\nport = 8080", "expected": "debug = false\nport = 8080"},
            ],
            good=[
                "I changed the timeout.\n```ini\nhost = localhost\ntimeout = 60\n```",
                "Debugging is off now.\n```ini\ndebug = false\nport = 8080\n```",
            ],
            bad=[
                "I changed the timeout.\n```ini\nhost = localhost\ntimeout = 90\n```",
                "Debugging is off now.\n```ini\ndebug = true\nport = 8080\n```",
            ],
            fault="The memo is keyed by the first 256 characters of the file, so long files that differ further down get the score of whichever came first.",
            proof=_proof_config,
        ),
    ]
