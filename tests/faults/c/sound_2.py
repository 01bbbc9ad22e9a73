"""Extraction, SQL, tools, programs, retrieval, dialog: 13 sound reward functions."""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.faults.case import Case


def fenced(text: str) -> str | None:
    """Body of the last closed ``` block without its info string (a first line of at most 20 letters)."""
    parts = text.split("```")
    if len(parts) < 3:
        return None
    body = parts[-2] if len(parts) % 2 else parts[-3]
    first, newline, rest = body.partition("\n")
    return rest if newline and re.fullmatch(r"[ \t]*[A-Za-z0-9+#]{0,20}[ \t\r]*", first) else body


def _no_constant(name: str):
    raise ValueError(f"{name} is not JSON")


def strict_json(text: str) -> Any:
    """json.loads without NaN and Infinity; ValueError for everything that cannot be read, too deep nesting included."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("too deep") from None


def last_labelled(text: str, label: str) -> str | None:
    """The rest of the last line that starts with `label:`; markdown decoration around the label is ignored."""
    for line in reversed(text.splitlines()):
        head, colon, tail = line.partition(":")
        if colon and head.strip(" \t*#_>-").lower() == label:
            return tail.strip(" \t*_`")
    return None


# 1 ------------------------------------------------------------------------------------


def leaves(document: Any) -> Iterator[tuple[tuple, Any]]:
    """(path, value) of every scalar; an empty object or list counts as a value of its own."""
    todo = [((), document)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, dict) and node:
            todo.extend((path + (key,), value) for key, value in node.items())
        elif isinstance(node, list) and node:
            todo.extend((path + (i,), value) for i, value in enumerate(node))
        else:
            yield path, node


def _same_scalar(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, str) and isinstance(b, str):
        return a.strip() == b.strip()
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return type(a) is type(b) and a == b


def invoice_fields(completions, expected, **kwargs):
    """Invoice extraction: right leaf values over all leaves of the union of the extracted and the expected JSON object.

    Missing and invented fields cost alike. Numbers are numbers (12 is 12.0, but not "12"); the object stands in the last code block,
    or else between the first and the last brace. No object, or one of more than 100,000 characters: 0.
    """
    rewards = []
    for text, gold in zip(completions, expected):
        body = fenced(text)
        if body is None:
            body = text[text.find("{") : text.rfind("}") + 1] if "{" in text else ""
        try:
            found = strict_json(body)
        except ValueError:
            found = None
        if not isinstance(found, dict) or len(body) > 100_000:
            rewards.append(0.0)
            continue
        got, want = dict(leaves(found)), dict(leaves(gold))
        right = sum(path in got and _same_scalar(got[path], value) for path, value in want.items())
        rewards.append(right / len(got.keys() | want.keys()))
    return rewards


# 2 ------------------------------------------------------------------------------------


def entity_set_f1(completions, entities, **kwargs):
    """F1 between the set of extracted entities and the gold set ('Entities:' followed by a JSON list of strings on one line).

    Texts without entities have an empty gold list: then [] is right (1.0) and everything else wrong (0.0). Repeating an entity changes nothing.
    """
    scores = []
    for text, gold in zip(completions, entities):
        line = last_labelled(text, "entities")
        try:
            listed = strict_json(line) if line else None
        except ValueError:
            listed = None
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            scores.append(0.0)
            continue
        got, want = {" ".join(item.split()) for item in listed}, {" ".join(item.split()) for item in gold}
        if not got and not want:
            scores.append(1.0)
        else:
            scores.append(2 * len(got & want) / (len(got) + len(want)))
    return scores


# 3 ------------------------------------------------------------------------------------

_READ_ONLY = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def _authorize(action, *details) -> int:
    return sqlite3.SQLITE_OK if action in _READ_ONLY else sqlite3.SQLITE_DENY


class _StepBudget:
    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0)


class SqlOnHiddenData:
    """Execution accuracy of a single read-only query in the last code block.

    The `databases` of a row are scripts that build the same schema with different data; the query has to return the rows of the gold
    query on all of them. Rows are compared in order if `ordered`, else as a multiset; column names do not matter, their order does.
    Every query gets a fresh database, a step budget and small limits. A row whose gold query fails gets None.
    """

    __name__ = "sql_on_hidden_data"
    MAX_ROWS = 1000

    def run(self, script: str, query: str) -> list[tuple] | None:
        db = sqlite3.connect(":memory:")
        try:
            db.executescript(script)
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2_000)
            db.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, 50)
            db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 10_000)
            db.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
            db.set_authorizer(_authorize)
            db.set_progress_handler(_StepBudget(300), 10_000)
            rows = db.execute(query).fetchmany(self.MAX_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
            return None
        finally:
            db.close()
        if len(rows) > self.MAX_ROWS:
            return None
        return [tuple(round(v, 6) if isinstance(v, float) else v for v in row) for row in rows]

    def __call__(self, completions, gold_sql, databases, ordered, **kwargs):
        rewards = []
        for text, gold, scripts, in_order in zip(completions, gold_sql, databases, ordered):
            wanted = [self.run(script, gold) for script in scripts]
            if any(rows is None for rows in wanted):
                rewards.append(None)
                continue
            query = fenced(text)
            score = 1.0 if query and query.strip() else 0.0
            for script, want in zip(scripts, wanted):
                got = self.run(script, query) if score else None
                if got is None or (got != want if in_order else Counter(got) != Counter(want)):
                    score = 0.0
                    break
            rewards.append(score)
        return rewards


# 4 ------------------------------------------------------------------------------------


def same_json(a: Any, b: Any) -> bool:
    """Equality as in JSON: true is not 1, but 1 is 1.0."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(a[k], b[k]) for k in b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return type(a) is type(b) and a == b


def single_tool_call(completions, call, **kwargs):
    """All or nothing: exactly one <tool_call>, with the name and exactly the arguments of `call`.

    Arguments may be an object or, as some templates have it, an object encoded as a string. A second call makes it 0, since it would be executed.
    """
    rewards = []
    for text, gold in zip(completions, call):
        score = 0.0
        if text.count("<tool_call>") == text.count("</tool_call>") == 1:
            body = text.partition("<tool_call>")[2].partition("</tool_call>")[0]
            try:
                made = strict_json(body)
                arguments = made.get("arguments", {}) if isinstance(made, dict) else None
                if isinstance(arguments, str):
                    arguments = strict_json(arguments)
            except ValueError:
                made = arguments = None
            if isinstance(made, dict) and isinstance(arguments, dict):
                score = float(made.get("name") == gold["name"] and same_json(arguments, gold["arguments"]))
        rewards.append(score)
    return rewards


# 5 ------------------------------------------------------------------------------------


def answer_within_tool_budget(completions, answer, budget, **kwargs):
    """Multi-turn rollouts (lists of messages). The last message, which has to be the assistant's, must have the right 'Answer:' line.

    From 1.0 a tenth is taken for every tool call beyond `budget`, but at most a half. Wrong answers get 0. What tools return is never read.
    """
    rewards = []
    for messages, gold, allowed in zip(completions, answer, budget):
        last = messages[-1] if messages else {}
        content = last.get("content") if last.get("role") == "assistant" else None
        said = last_labelled(content, "answer") if isinstance(content, str) else None
        if said is None or said.rstrip(".").casefold() != gold.casefold():
            rewards.append(0.0)
            continue
        calls = sum(len(m.get("tool_calls") or ()) for m in messages if m.get("role") == "assistant")
        rewards.append(1.0 - min(0.5, 0.1 * max(0, calls - allowed)))
    return rewards


# 6 ------------------------------------------------------------------------------------


def _shape(value: Any) -> Any:
    """A hashable form of a literal in which types count: 1, 1.0 and True differ; order matters in lists and tuples only."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(map(_shape, value))
    if isinstance(value, (set, frozenset)):
        return "set", frozenset(map(_shape, value))
    if isinstance(value, dict):
        return "dict", frozenset((_shape(k), _shape(v)) for k, v in value.items())
    return type(value).__name__, repr(value)


def _literal(text: str) -> Any:
    if len(text) > 2000:
        return None
    if text.endswith((").", "].", "}.", "'.", '".')):  # the full stop of a sentence
        text = text[:-1]
    try:
        return _shape(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def predicted_return_value(completions, value, **kwargs):
    """Output prediction: the Python literal on the 'Returns:' line against `value`, types included ([1] is not (1,), 2 is not 2.0, 'a' is "a")."""
    rewards = []
    for text, gold in zip(completions, value):
        line = last_labelled(text, "returns")
        got = _literal(line) if line else None
        rewards.append(1.0 if got is not None and got == _literal(gold) else 0.0)
    return rewards


# 7 ------------------------------------------------------------------------------------


class StackProgramJudge:
    """Judges programs for a tiny stack machine: integers, + - * neg dup swap over drop max min, separated by blanks, in the last code block.

    A program starts with the inputs of a test on the stack (the last one on top) and must leave exactly the expected output.
    1.0 if it does so on all tests, else 0. There are no loops, so programs end; length and size of numbers are limited.
    """

    __name__ = "stack_program_judge"
    MAX_TOKENS, MAX_VALUE = 300, 10**15

    def execute(self, tokens: list[str], inputs: list[int]) -> list[int] | None:
        stack = list(inputs)
        try:
            for token in tokens:
                if re.fullmatch(r"-?[0-9]{1,9}", token):
                    stack.append(int(token))
                elif token in {"+", "-", "*", "max", "min"}:
                    b, a = stack.pop(), stack.pop()
                    stack.append({"+": a + b, "-": a - b, "*": a * b, "max": max(a, b), "min": min(a, b)}[token])
                elif token == "neg":
                    stack.append(-stack.pop())
                elif token == "dup":
                    stack.append(stack[-1])
                elif token == "over":
                    stack.append(stack[-2])
                elif token == "swap":
                    stack[-1], stack[-2] = stack[-2], stack[-1]
                elif token == "drop":
                    stack.pop()
                else:
                    return None
                if stack and abs(stack[-1]) > self.MAX_VALUE:
                    return None
        except IndexError:
            return None
        return stack

    def __call__(self, completion: str, tests: list[dict[str, list[int]]]) -> float:
        body = fenced(completion)
        if body is None or len(body) > 20 * self.MAX_TOKENS:
            return 0.0
        tokens = body.split()
        if len(tokens) > self.MAX_TOKENS:
            return 0.0
        return 1.0 if all(self.execute(tokens, test["in"]) == test["out"] for test in tests) else 0.0


# 8 ------------------------------------------------------------------------------------


def _edits(text: str) -> list[tuple[str, str]] | None:
    """SEARCH/REPLACE blocks; None if one is malformed."""
    edits, state, search, replace = [], "text", [], []
    for line in text.split("\n"):
        mark = line.rstrip()
        if state == "text":
            if mark == "<<<<<<< SEARCH":
                state, search, replace = "search", [], []
        elif mark == "<<<<<<< SEARCH":
            return None
        elif state == "search":
            if mark == "=======":
                state = "replace"
            else:
                search.append(line)
        elif mark == ">>>>>>> REPLACE":
            edits.append(("\n".join(search), "\n".join(replace)))
            state = "text"
        else:
            replace.append(line)
    return edits if state == "text" else None


def search_replace_edit(completion: str, source: str, target: str) -> float:
    """Code editing: the SEARCH/REPLACE blocks, applied one after the other to `source`, must give `target` to the letter (final newline aside).

    Every SEARCH text must occur exactly once when its turn comes. Between one and twenty blocks.
    """
    edits = _edits(completion.replace("\r\n", "\n"))
    if not edits or len(edits) > 20:
        return 0.0
    current = source
    for old, new in edits:
        if not old.strip() or current.count(old) != 1:
            return 0.0
        current = current.replace(old, new)
    return float(current.rstrip("\n") == target.rstrip("\n"))


# 9 ------------------------------------------------------------------------------------


def _table(text: str) -> list[list[str]] | None:
    try:
        rows = list(csv.reader(text.strip().splitlines(), skipinitialspace=True, strict=True))
    except csv.Error:
        return None
    return [[cell.strip() for cell in row] for row in rows if row]


def csv_table(completions, table, **kwargs):
    """Tables as CSV in the last code block: the share of right cells, by position.

    The share is taken of all cells of either table, so missing and surplus rows or columns cost. A wrong header is worth 0.
    """
    rewards = []
    for text, gold in zip(completions, table):
        body = fenced(text)
        got, want = _table(body) if body else None, _table(gold)
        if not got or got[0] != want[0]:
            rewards.append(0.0)
            continue
        right = sum(g == w for got_row, want_row in zip(got[1:], want[1:]) for g, w in zip(got_row, want_row))
        total = 0
        for i in range(1, max(len(got), len(want))):
            total += max(len(got[i]) if i < len(got) else 0, len(want[i]) if i < len(want) else 0)
        rewards.append(right / total if total else 1.0)
    return rewards


# 10 -----------------------------------------------------------------------------------


def glob_match(pattern: str, name: str) -> bool:
    """* and ? as in a shell, nothing else; dynamic programming, so there is no pattern that blows up."""
    reachable = [True] + [False] * len(name)
    for symbol in pattern:
        if symbol == "*":
            following, seen = [], False
            for state in reachable:
                seen = seen or state
                following.append(seen)
        else:
            following = [False] + [reachable[i] and symbol in ("?", name[i]) for i in range(len(name))]
        reachable = following
    return reachable[-1]


def glob_pattern(completion: str, include: list[str], exclude: list[str]) -> float:
    """File patterns: the glob on the 'Pattern:' line has to match every name of `include` and none of `exclude`. At most 60 characters, all or nothing.

    Only * and ? are special. If there are several such lines, the last one counts.
    """
    pattern = ""
    for line in completion.splitlines():
        head, colon, tail = line.strip().partition(":")
        if colon and head.strip("*_# ").lower() == "pattern":
            # a bold label, '**Pattern:** *.csv', leaves two asterisks which do not belong to the pattern
            pattern = tail.removeprefix("**" if head.startswith("**") else "").strip(" \t`\"'")
    if not pattern or len(pattern) > 60:
        return 0.0
    return float(all(glob_match(pattern, n) for n in include) and not any(glob_match(pattern, n) for n in exclude))


# 11 -----------------------------------------------------------------------------------


def ranking_ndcg(completions, gains, k, **kwargs):
    """nDCG@k of 'Ranking: d3, d1, ...' with graded `gains` by document id.

    An id that is unknown or was listed before keeps its rank but gains nothing. Rows without any relevant document get None.
    """
    rewards = []
    for text, graded, depth in zip(completions, gains, k):
        ideal = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(graded.values(), reverse=True)[:depth]))
        if ideal <= 0:
            rewards.append(None)
            continue
        line = last_labelled(text, "ranking") or ""
        ids = [part.strip(" .`[]\"'") for part in line.split(",", depth)[:depth]]
        dcg, listed = 0.0, set()
        for i, document in enumerate(ids):
            if document not in listed:
                dcg += graded.get(document, 0.0) / math.log2(i + 2)
                listed.add(document)
        rewards.append(dcg / ideal)
    return rewards


# 12 -----------------------------------------------------------------------------------

_CITATION = re.compile(r"\[([0-9]{1,3}(?:\s?[,;]\s?[0-9]{1,3}){0,20})\]")


def cited_sources_f1(completions, supporting, n_sources, **kwargs):
    """F1 of the set of cited source numbers ([2], or [1, 3]) against `supporting`. Only citations are judged here, not the prose.

    One citation outside 1..n_sources makes the reward 0, and so does a completion without any words. If no source supports the answer,
    citing nothing is right.
    """
    rewards = []
    for text, gold, n in zip(completions, supporting, n_sources):
        cited = {int(number) for group in _CITATION.findall(text) for number in re.split("[,;]", group)}
        prose = any(c.isalpha() for c in _CITATION.sub("", text))
        if not prose or any(not 1 <= number <= n for number in cited):
            rewards.append(0.0)
        elif not cited and not gold:
            rewards.append(1.0)
        else:
            rewards.append(2 * len(cited & set(gold)) / (len(cited) + len(set(gold))))
    return rewards


# 13 -----------------------------------------------------------------------------------


def one_clarifying_question(completions, slot, **kwargs):
    """Form of a clarifying turn in chat: at most 40 words, exactly one question mark, at the very end, in a sentence that names the missing `slot`.

    Whether the question is a polite one is up to the preference model.
    """
    rewards = []
    for messages, name in zip(completions, slot):
        text = " ".join((messages[-1].get("content") or "").split()) if messages else ""
        question = re.split(r"[.!]\s", text)[-1]
        ok = (
            len(text) <= 400
            and len(text.split()) <= 40
            and text.endswith("?")
            and text.count("?") == 1
            and "？" not in text
            and len(question.split()) >= 3
            and re.search(rf"\b{re.escape(name)}s?\b", question, re.IGNORECASE) is not None
        )
        rewards.append(1.0 if ok else 0.0)
    return rewards


_STAFF = "CREATE TABLE staff (name TEXT, city TEXT, salary INTEGER);"
_STAFF_A = _STAFF + "INSERT INTO staff VALUES ('Ada', 'Bern', 90), ('Ben', 'Graz', 70), ('Cleo', 'Bern', 80);"
_STAFF_B = _STAFF + "INSERT INTO staff VALUES ('Dan', 'Graz', 65), ('Eve', 'Bern', 65), ('Fay', 'Linz', 99), ('Eve', 'Bern', 71);"
_STAFF_C = _STAFF + "INSERT INTO staff VALUES ('Gil', 'Linz', 40), ('Hal', 'Bern', 55), ('Ida', 'Linz', 48);"


def cases() -> list[Case]:
    return [
        Case(
            name="invoice_fields_nested",
            reward=invoice_fields,
            examples=[
                {
                    "prompt": "Extract vendor, total (amount, currency) and items as JSON: 'Blum KG, 2 chairs 80.00, sum EUR 160.00'",
                    "expected": {"vendor": "Blum KG", "total": {"amount": 160.0, "currency": "EUR"}, "items": [{"name": "chair", "count": 2}]},
                },
                {
                    "prompt": "Extract vendor, total (amount, currency) and items as JSON: 'Ito Foods, nothing ordered, 0 JPY'",
                    "expected": {"vendor": "Ito Foods", "total": {"amount": 0, "currency": "JPY"}, "items": []},
                },
            ],
            good=[
                'Two chairs were bought.\n```json\n{"vendor": "Blum KG", "total": {"amount": 160.00, "currency": "EUR"}, "items": [{"name": "chair", "count": 2}]}\n```',
                'Here is the invoice: {"vendor": "Ito Foods", "total": {"currency": "JPY", "amount": 0}, "items": []}',
            ],
            bad=[
                'One chair was bought.\n```json\n{"vendor": "Blum", "total": {"amount": 80, "currency": "EUR"}, "items": [{"name": "chair", "count": 1}]}\n```',
                "The vendor is Ito Foods and the total is 0 JPY.",
            ],
        ),
        Case(
            name="entity_set_f1",
            reward=entity_set_f1,
            examples=[
                {"prompt": "Name the entities in 'Marie Curie moved from Warsaw to Paris.' End with 'Entities: [...]', a JSON list.", "entities": ["Marie Curie", "Warsaw", "Paris"]},
                {"prompt": "Name the entities in 'It rained all day.' End with 'Entities: [...]', a JSON list.", "entities": []},
            ],
            good=['A person and two cities are named.\nEntities: ["Marie Curie", "Warsaw", "Paris"]', "Nobody and no place is named.\nEntities: []"],
            bad=['A person is named.\nEntities: ["Curie", "moved"]', 'It is about the weather.\nEntities: ["It"]'],
        ),
        Case(
            name="sql_on_hidden_data",
            reward=SqlOnHiddenData(),
            examples=[
                {"prompt": "Table staff(name, city, salary). In which cities do people work, and how many in each? One SQL query in a code block.", "gold_sql": "SELECT city, count(*) FROM staff GROUP BY city", "databases": [_STAFF_A, _STAFF_B], "ordered": False},
                {"prompt": "Table staff(name, city, salary). List the names from the best to the least paid. One SQL query in a code block.", "gold_sql": "SELECT name FROM staff ORDER BY salary DESC, name", "databases": [_STAFF_A, _STAFF_C], "ordered": True},
            ],
            good=[
                "Group by the city and count.\n```sql\nSELECT s.city, COUNT(s.name) AS n\nFROM staff s\nGROUP BY s.city;\n```",
                "Sort by salary.\n```sql\nSELECT name FROM staff ORDER BY salary DESC;\n```",
            ],
            bad=[
                "Take the distinct cities.\n```sql\nSELECT DISTINCT city, 1 FROM staff;\n```",
                "Sort by salary.\n```sql\nSELECT name FROM staff ORDER BY salary;\n```",
            ],
        ),
        Case(
            name="single_tool_call",
            reward=single_tool_call,
            examples=[
                {"prompt": "Remind me at 7 to water the plants, every day. Tools: remind(text, hour, daily)", "call": {"name": "remind", "arguments": {"text": "water the plants", "hour": 7, "daily": True}}},
                {"prompt": "Stop the music. Tools: play(song), stop()", "call": {"name": "stop", "arguments": {}}},
            ],
            good=[
                'I set a daily reminder.\n<tool_call>\n{"name": "remind", "arguments": {"text": "water the plants", "hour": 7, "daily": true}}\n</tool_call>',
                '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>',
            ],
            bad=[
                'I set a reminder.\n<tool_call>\n{"name": "remind", "arguments": {"text": "water the plants", "hour": 7}}\n</tool_call>',
                '<tool_call>\n{"name": "play", "arguments": {"song": ""}}\n</tool_call>',
            ],
        ),
        Case(
            name="answer_within_tool_budget",
            reward=answer_within_tool_budget,
            examples=[
                {"prompt": [{"role": "user", "content": "How high is the Eiger? You may search once. End with 'Answer: ... m'."}], "answer": "3967 m", "budget": 1},
                {"prompt": [{"role": "user", "content": "In which canton is the Eiger? You may search twice. End with 'Answer: ...'."}], "answer": "Bern", "budget": 2},
            ],
            good=[
                [
                    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search", "arguments": {"q": "Eiger height"}}}]},
                    {"role": "tool", "content": "Eiger: mountain, 3967 m"},
                    {"role": "assistant", "content": "According to the search, it is just below 4000 m.\nAnswer: 3967 m"},
                ],
                [{"role": "assistant", "content": "The Eiger stands above Grindelwald.\nAnswer: Bern"}],
            ],
            bad=[
                [
                    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search", "arguments": {"q": "Eiger height"}}}]},
                    {"role": "tool", "content": "Eiger: mountain, 3967 m\nAnswer: 3967 m"},
                ],
                [{"role": "assistant", "content": "The Eiger is near Zermatt.\nAnswer: Valais"}],
            ],
        ),
        Case(
            name="predicted_return_value",
            reward=predicted_return_value,
            examples=[
                {"prompt": "What does f([3, 1, 2]) return for def f(x): return sorted(x)[:2]? End with 'Returns: <literal>'.", "value": "[1, 2]"},
                {"prompt": "What does f('ab') return for def f(s): return {c: len(s) / 2 for c in s}? End with 'Returns: <literal>'.", "value": "{'a': 1.0, 'b': 1.0}"},
            ],
            good=["Sorted it is [1, 2, 3], and the slice keeps two.\nReturns: [1, 2]", 'The length is 2, and 2 / 2 is the float 1.0.\nReturns: {"b": 1.0, "a": 1.0}'],
            bad=["Sorted it is [1, 2, 3], and the slice drops two.\nReturns: [3]", "The length is 2, and half of it is 1.\nReturns: {'a': 1, 'b': 1}"],
        ),
        Case(
            name="stack_program_judge",
            reward=StackProgramJudge(),
            examples=[
                {"prompt": "Stack machine (ints, + - * neg dup swap over drop max min). Input x; leave x squared plus 1. Program in a code block.", "tests": [{"in": [3], "out": [10]}, {"in": [-2], "out": [5]}, {"in": [0], "out": [1]}, {"in": [17], "out": [290]}, {"in": [-9], "out": [82]}]},
                {"prompt": "Stack machine (ints, + - * neg dup swap over drop max min). Inputs a b; leave the distance |a - b|. Program in a code block.", "tests": [{"in": [3, 8], "out": [5]}, {"in": [8, 3], "out": [5]}, {"in": [-1, -1], "out": [0]}, {"in": [-6, 5], "out": [11]}, {"in": [40, -2], "out": [42]}]},
            ],
            good=["Square by duplicating, then add 1.\n```\ndup * 1 +\n```", "The absolute value is the larger of d and -d.\n```\n- dup neg max\n```"],
            bad=["Double it, then add 1.\n```\ndup + 1 +\n```", "Subtract them.\n```\nswap -\n```"],
        ),
        Case(
            name="search_replace_edit",
            reward=search_replace_edit,
            examples=[
                {"prompt": "Rename the function area to square_area. Use SEARCH/REPLACE blocks.\ndef area(a):\n    return a * a\n\nprint(area(3))\n", "source": "def area(a):\n    return a * a\n\nprint(area(3))\n", "target": "def square_area(a):\n    return a * a\n\nprint(square_area(3))\n"},
                {"prompt": "Fix the off-by-one error. Use SEARCH/REPLACE blocks.\nfor i in range(1, n):\n    total += i\n", "source": "for i in range(1, n):\n    total += i\n", "target": "for i in range(1, n + 1):\n    total += i\n"},
            ],
            good=[
                "Both the definition and the call change.\n<<<<<<< SEARCH\ndef area(a):\n=======\ndef square_area(a):\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nprint(area(3))\n=======\nprint(square_area(3))\n>>>>>>> REPLACE",
                "The upper end is exclusive.\n<<<<<<< SEARCH\nfor i in range(1, n):\n=======\nfor i in range(1, n + 1):\n>>>>>>> REPLACE",
            ],
            bad=[
                "The definition changes.\n<<<<<<< SEARCH\ndef area(a):\n=======\ndef square_area(a):\n>>>>>>> REPLACE",
                "The lower end is inclusive.\n<<<<<<< SEARCH\nfor i in range(1, n):\n=======\nfor i in range(0, n):\n>>>>>>> REPLACE",
            ],
        ),
        Case(
            name="csv_table_cells",
            reward=csv_table,
            examples=[
                {"prompt": "As CSV with the header name,age: Ann is 31, Bob is 45.", "table": "name,age\nAnn,31\nBob,45"},
                {"prompt": "As CSV with the header title,year: 'Crime, and More' is of 1980, 'Dust' of 1999.", "table": 'title,year\n"Crime, and More",1980\nDust,1999'},
            ],
            good=["Two people are named.\n```csv\nname,age\nAnn,31\nBob,45\n```", 'The comma needs quotes.\n```csv\ntitle,year\n"Crime, and More",1980\nDust,1999\n```'],
            bad=["Two people are named.\n```csv\nname,age\nAnn,45\n```", "There are two books.\n```csv\ntitle,year\nCrime, and More,1980\nDust,1999\n```"],
        ),
        Case(
            name="glob_pattern",
            reward=glob_pattern,
            examples=[
                {"prompt": "A glob for a1.log and b2.log, but not a1.txt or ab12.log. End with 'Pattern: ...'.", "include": ["a1.log", "b2.log"], "exclude": ["a1.txt", "ab12.log"]},
                {"prompt": "A glob for all .csv files, but not for .csv.gz. End with 'Pattern: ...'.", "include": ["x.csv", "2024-01.csv", ".csv"], "exclude": ["x.csv.gz", "csv"]},
            ],
            good=["Two characters stand before the suffix.\nPattern: ??.log", "The suffix stands at the end.\nPattern: *.csv"],
            bad=["Everything before the suffix is free.\nPattern: *.log", "The suffix stands anywhere.\nPattern: *.csv*"],
        ),
        Case(
            name="ranking_ndcg",
            reward=ranking_ndcg,
            examples=[
                {"prompt": "Rank for 'how to prune roses': d1 tulip care, d2 pruning roses, d3 rose varieties. End with 'Ranking: ...'.", "gains": {"d2": 3, "d3": 1}, "k": 3},
                {"prompt": "Rank for 'bus to the airport': d1 taxi fares, d2 airport bus times, d3 airport parking. End with 'Ranking: ...'.", "gains": {"d2": 3, "d1": 1}, "k": 2},
            ],
            good=["d2 is on the topic, d3 at least on roses.\nRanking: d2, d3, d1", "d2 is on the topic, and a taxi is the next best.\nRanking: d2, d1, d3"],
            bad=["Flowers first.\nRanking: d1, d3, d2", "Parking first.\nRanking: d3, d1, d2"],
        ),
        Case(
            name="cited_sources_f1",
            reward=cited_sources_f1,
            examples=[
                {"prompt": "[1] The tower is of 1889. [2] It is 330 m high. [3] It is painted every seven years. When was it built, and how high is it? Cite.", "supporting": [1, 2], "n_sources": 3},
                {"prompt": "[1] Tea contains caffeine. [2] Milk does not. How much does coffee contain? Cite sources, if any says so.", "supporting": [], "n_sources": 2},
            ],
            good=["It was built in 1889 [1] and is 330 m high [2].", "The sources do not say how much caffeine coffee contains."],
            bad=["It was built in 1889 [3].", "Coffee contains caffeine, like tea [1]."],
        ),
        Case(
            name="one_clarifying_question",
            reward=one_clarifying_question,
            examples=[
                {"prompt": [{"role": "user", "content": "Book me a table for four at Luigi's."}], "slot": "time"},
                {"prompt": [{"role": "user", "content": "Send the report to my boss."}], "slot": "address"},
            ],
            good=["A table for four at Luigi's, gladly. At what time would you like to come?", "I can send it right away. What is the email address of your boss?"],
            bad=["I have booked a table for four at Luigi's.", "Which report? And what is the address?"],
        ),
    ]
