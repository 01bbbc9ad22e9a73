"""Structured output: JSON, orders, sets, SQL, tool calls, citations, edits, entities and rankings."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter

from tests.faults.case import Case


def tagged(text: str, tag: str) -> list[str]:
    """The contents of all <tag>...</tag> blocks, left to right; a block starts at the opening tag nearest to its end."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, at = [], 0
    while (end := text.find(closing, at)) >= 0:
        start = text.rfind(opening, at, end)
        if start >= 0:
            found.append(text[start + len(opening) : end])
        at = end + len(closing)
    return found


def fenced(text: str, language: str) -> str | None:
    """The last closed ```language block."""
    start = text.rfind(f"```{language}\n")
    if start < 0:
        return None
    start += len(language) + 4
    end = text.find("```", start)
    return text[start:end] if end >= 0 else None


def refuse_constant(name: str):
    raise ValueError(f"{name} is not JSON")


def unique_keys(pairs: list[tuple]) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def strict_json(text: str):
    """The value of a JSON text; ValueError for NaN, repeated keys, too deep nesting and everything else that is not plain JSON."""
    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_keys)
    except RecursionError:
        raise ValueError("too deep") from None


# --- 1. JSON and nothing else ---------------------------------------------------------------------------------


def canonical(value) -> str:
    """One text for one value: key order and spacing do not matter, but types do ("3", 3, 3.0 and true all differ)."""
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        raise ValueError("too deep") from None


def strict_record_reward(completion: str, record: str) -> float:
    """The completion must be a JSON object and nothing else (no fence, no words). F1 of its fields against the record's.

    A field counts if key, type and value agree. Missing and invented fields both cost.
    """
    gold = json.loads(record)
    try:
        said = strict_json(completion)
        if not isinstance(said, dict) or not said:
            return 0.0
        hits = sum(key in gold and canonical(value) == canonical(gold[key]) for key, value in said.items())
    except ValueError:
        return 0.0
    return 2 * hits / (len(said) + len(gold))


# --- 2. Nested JSON, leaf by leaf -----------------------------------------------------------------------------

MAX_BLOCK = 20_000
EMPTY_DICT, EMPTY_LIST = ("empty", "dict"), ("empty", "list")


def leaf(value):
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, (int, float)):
        return ("number", value)
    return ("text", " ".join(value.casefold().split()))


def leaves(value) -> dict[tuple, tuple]:
    """Path -> value of each leaf; an empty dict or list is a leaf too."""
    found, stack = {}, [((), value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict) and node:
            stack += [((*path, key), child) for key, child in node.items()]
        elif isinstance(node, list) and node:
            stack += [((*path, at), child) for at, child in enumerate(node)]
        elif isinstance(node, (dict, list)):
            found[path] = EMPTY_DICT if isinstance(node, dict) else EMPTY_LIST
        else:
            found[path] = leaf(node)
    return found


def nested_json_reward(completions, order, **kwargs):
    """Order forms as nested JSON in the last ```json block: F1 over the leaves (path and value). Case and spacing of texts and 2 against 2.0 do not matter."""
    rewards = []
    for completion, gold in zip(completions, order):
        block = fenced(completion, "json")
        try:
            said = strict_json(block) if block is not None and len(block) <= MAX_BLOCK else None
        except ValueError:
            said = None
        if not isinstance(said, dict) or not said:
            rewards.append(0.0)
            continue
        one, two = leaves(said), leaves(gold)
        hits = sum(two.get(path) == value for path, value in one.items())
        rewards.append(2 * hits / (len(one) + len(two)))
    return rewards


# --- 3. Orders ------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:*_\"'")


def order_reward(completions, answer, **kwargs):
    """'Order: a > b > c' on the last line. Kendall's tau against the gold order, no less than 0: 1.0 for the order itself, 0.0 from chance downwards.

    It must hold each item exactly once, or it scores 0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        line = completion.strip().rsplit("\n", 1)[-1].replace("*", "").strip()
        if not line.casefold().startswith("order:") or line.count(">") != len(gold) - 1:
            rewards.append(0.0)
            continue
        said = [plain(item) for item in line[6:].split(">")]
        place = {plain(item): at for at, item in enumerate(gold)}
        if set(said) != set(place) or len(said) != len(place):
            rewards.append(0.0)
            continue
        ranks = [place[item] for item in said]
        pairs = len(ranks) * (len(ranks) - 1) // 2
        agree = sum(ranks[i] < ranks[j] for i in range(len(ranks)) for j in range(i + 1, len(ranks)))
        rewards.append(max(0.0, (2 * agree - pairs) / pairs) if pairs else 1.0)
    return rewards


# --- 4. Sets --------------------------------------------------------------------------------------------------


def set_f1_reward(completion: str, answer: list[str]) -> float:
    """F1 of the set of names in the last <answer>, separated by semicolons. A name given twice counts once."""
    blocks = tagged(completion, "answer")
    said = {plain(item) for item in blocks[-1].replace("\n", ";").split(";")} - {""} if blocks else set()
    gold = {plain(item) for item in answer}
    hits = len(said & gold)
    return 2 * hits / (len(said) + len(gold)) if hits else 0.0


# --- 5. SQL ---------------------------------------------------------------------------------------------------

SQL_FUNCTIONS = {
    "count", "sum", "total", "avg", "min", "max", "group_concat", "abs", "round", "lower", "upper", "length", "substr", "substring", "trim", "ltrim", "rtrim",
    "instr", "coalesce", "ifnull", "nullif", "iif", "like", "glob", "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value", "ntile",
}  # fmt: skip
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
MAX_STEPS, MAX_ROWS = 100, 5_000  # of 10,000 instructions each


def authorize(action, first, second, database, trigger):
    """Reading and the deterministic functions above; no writing, no pragmas, no attached files."""
    if action in READING or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in SQL_FUNCTIONS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class StepBudget:
    def __init__(self, steps: int):
        self.left = steps

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def query_rows(script: str, query: str) -> list[tuple] | None:
    """The rows of a query in a database of its own, or None if it is refused, fails or takes or returns too much."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2_000)
        connection.set_authorizer(authorize)
        connection.set_progress_handler(StepBudget(MAX_STEPS), 10_000)
        rows = connection.execute(query).fetchmany(MAX_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError):
        return None
    finally:
        connection.close()
    if len(rows) > MAX_ROWS:
        return None
    return [tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row) for row in rows]


def sql_suite_reward(completions, answer, databases, **kwargs):
    """Text to SQL: the last ```sql block must return the gold rows on every one of the row's databases (same schema, other data).

    Columns in the order that was asked for; rows in order if the gold query has ORDER BY, else as a multiset.
    """
    rewards = []
    for completion, gold, scripts in zip(completions, answer, databases):
        query = fenced(completion, "sql")
        right = query is not None and 0 < len(query.strip()) <= 4_000
        for script in scripts:
            if not right:
                break
            said, wanted = query_rows(script, query), query_rows(script, gold)
            if said is None or wanted is None:
                right = False
            elif "order by" in gold.lower():
                right = said == wanted
            else:
                right = Counter(said) == Counter(wanted)
        rewards.append(1.0 if right else 0.0)
    return rewards


# --- 6. Tool calls --------------------------------------------------------------------------------------------


def whole_numbers(value):
    """2.0 -> 2, so that numbers compare by value; everything else as it is."""
    if isinstance(value, dict):
        return {key: whole_numbers(child) for key, child in value.items()}
    if isinstance(value, list):
        return [whole_numbers(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def call_key(call) -> str | None:
    """A comparable form of {"name": ..., "arguments": {...}}; the arguments may also be a JSON text, as in the OpenAI format."""
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments", {})
    try:
        if isinstance(arguments, str):
            arguments = strict_json(arguments)
        return canonical([call["name"], whole_numbers(arguments)])
    except (ValueError, RecursionError):
        return None


def tool_call_multiset_reward(completions, expected, **kwargs):
    """Matched calls over the larger of made and expected calls, order aside. `expected` is a JSON text, a list of calls.

    Every <tool_call> counts as made, also one that cannot be read. Nothing expected and nothing called: 1.0. The words around are not judged.
    """
    rewards = []
    for completion, text in zip(completions, expected):
        wanted = Counter(call_key(call) for call in json.loads(text))
        made: Counter = Counter()
        for block in tagged(completion, "tool_call"):
            try:
                key = call_key(strict_json(block))
            except ValueError:
                key = None
            if key is not None:
                made[key] += 1
        attempts = max(completion.count("<tool_call>"), sum(made.values()))
        total = max(attempts, sum(wanted.values()))
        rewards.append(sum((made & wanted).values()) / total if total else 1.0)
    return rewards


# --- 7. Citations ---------------------------------------------------------------------------------------------

CITATION = re.compile(r"\[([0-9]{1,3}(?: ?[,;\u2013-] ?[0-9]{1,3}){0,30})\]")


def cited_passages(text: str) -> set[int]:
    """[2], [1, 4] and [3-5] -> {1, 2, 3, 4, 5}; a range of more than twenty is no citation."""
    found: set[int] = set()
    for group in CITATION.findall(text):
        for part in re.split(r"[,;]", group):
            ends = [int(number) for number in re.findall(r"[0-9]+", part)]
            if len(ends) == 1:
                found.add(ends[0])
            elif len(ends) == 2 and 0 <= ends[1] - ends[0] <= 20:
                found.update(range(ends[0], ends[1] + 1))
    return found


def citation_f1_reward(completions, supporting, **kwargs):
    """F1 of the cited passage numbers against the supporting ones, for replies of at least eight words besides the citations.

    Only the choice of passages is judged; another reward reads the reply.
    """
    rewards = []
    for completion, gold in zip(completions, supporting):
        cited, wanted = cited_passages(completion), set(gold)
        enough = len(re.findall(r"[^\W\d_]{2,}", completion)) >= 8
        hits = len(cited & wanted)
        rewards.append(2 * hits / (len(cited) + len(wanted)) if hits and enough else 0.0)
    return rewards


# --- 8. Search and replace edits ------------------------------------------------------------------------------

HEAD, MIDDLE, TAIL = "<<<<<<< SEARCH\n", "\n=======\n", "\n>>>>>>> REPLACE"


def apply_edits(source: str, completion: str) -> str | None:
    """The file after all edits in turn; None if there is no edit, one is malformed, or its search text is not there exactly once."""
    at, edits = 0, 0
    while (start := completion.find(HEAD, at)) >= 0:
        middle = completion.find(MIDDLE, start)
        end = completion.find(TAIL, middle) if middle >= 0 else -1
        edits += 1
        if end < 0 or edits > 20:
            return None
        search = completion[start + len(HEAD) : middle]
        replacement = completion[middle + len(MIDDLE) : end] if end >= middle + len(MIDDLE) else ""
        if not search.strip() or source.count(search) != 1:
            return None
        source = source.replace(search, replacement)
        at = end + len(TAIL)
    return source if edits else None


def edit_reward(completion: str, source: str, expected: str) -> float:
    """Applies the SEARCH/REPLACE blocks to the file: 1.0 if the result is the expected file (blanks at line ends aside), else 0.0."""
    if len(completion) > 50_000:
        return 0.0
    result = apply_edits(source, completion)
    if result is None:
        return 0.0
    return 1.0 if [line.rstrip() for line in result.rstrip().split("\n")] == [line.rstrip() for line in expected.rstrip().split("\n")] else 0.0


# --- 9. Named entities ----------------------------------------------------------------------------------------


def entity_reward(completions, entities, **kwargs):
    """NER as 'TYPE: text' lines in the last <entities> block: F1 of the (type, text) pairs, the text as it is written in the sentence.

    A sentence without entities wants an empty block: 1.0 for it, 0.0 for anything in it.
    """
    rewards = []
    for completion, gold in zip(completions, entities):
        blocks = tagged(completion, "entities")
        if not blocks:
            rewards.append(0.0)
            continue
        lines = {" ".join(line.split()).removeprefix("- ") for line in blocks[-1].split("\n")} - {""}
        said = {tuple(part.strip() for part in line.partition(":")[::2]) for line in lines}
        wanted = {(entity["type"], entity["text"]) for entity in gold}
        total = len(lines) + len(wanted)
        rewards.append(2 * len(said & wanted) / total if total else 1.0)
    return rewards


# --- 10. Rankings ---------------------------------------------------------------------------------------------

CUTOFF = 5


def ranking_reward(completion: str, relevance: dict) -> float:
    """NDCG@5 of the last 'Ranking: 3, 1, 4' line. `relevance` maps passage numbers (as text) to grades, None for none.

    A passage named again is skipped, an unknown one takes a place without gain.
    """
    grades = {name: float(grade) for name, grade in relevance.items() if grade}
    best = sum(grade / math.log2(at + 2) for at, grade in enumerate(sorted(grades.values(), reverse=True)[:CUTOFF]))
    start = completion.rfind("Ranking:")
    if start < 0 or best <= 0:
        return 0.0
    line = completion[start + len("Ranking:") :].split("\n", 1)[0][:400]
    named = list(dict.fromkeys(str(int(number)) for number in re.findall(r"[0-9]{1,6}", line)))[:CUTOFF]
    gain = sum(grades.get(name, 0.0) / math.log2(at + 2) for at, name in enumerate(named))
    return gain / best


SHOP_SCHEMA = "CREATE TABLE orders (id INTEGER, customer TEXT, amount REAL, country TEXT);\n"
SHOP_ONE = SHOP_SCHEMA + "INSERT INTO orders VALUES (1,'Ada',20.5,'UK'),(2,'Ben',99.0,'US'),(3,'Ada',10.0,'UK'),(4,'Cho',7.25,'KR'),(5,'Dee',99.0,'US');"
SHOP_TWO = SHOP_SCHEMA + "INSERT INTO orders VALUES (1,'Ben',5.0,'US'),(2,'Ben',6.0,'US'),(3,'Cho',50.0,'KR'),(4,'Eli',50.0,'IL');"

GREETING_FILE = "def greet(name):\n    print('Hello ' + name)\n\n\ndef main():\n    greet('world')\n"


def cases() -> list[Case]:
    return [
        Case(
            name="strict_record",
            reward=strict_record_reward,
            examples=[
                {"prompt": "Reply with JSON only, keys name, age, member: 'Mia Lund, 34, has been a member since May.'", "record": '{"name": "Mia Lund", "age": 34, "member": true}'},
                {"prompt": "Reply with JSON only, keys name, age, member: 'Omar Haddad, 19, is not a member yet.'", "record": '{"name": "Omar Haddad", "age": 19, "member": false}'},
            ],
            good=['{"name": "Mia Lund", "age": 34, "member": true}', '{\n  "name": "Omar Haddad",\n  "member": false,\n  "age": 19\n}\n'],
            bad=['{"name": "Mia Lund", "age": "34", "member": "since May"}', 'Here is the JSON: {"name": "Omar Haddad", "age": 19, "member": false}'],
        ),
        Case(
            name="nested_order",
            reward=nested_json_reward,
            examples=[
                {
                    "prompt": "As JSON with customer{name, city} and items[{sku, qty}], in a ```json block: 'Jo Park from Busan wants 2 x K-12 and 1 x B-7.'",
                    "order": {"customer": {"name": "Jo Park", "city": "Busan"}, "items": [{"sku": "K-12", "qty": 2}, {"sku": "B-7", "qty": 1}]},
                },
                {
                    "prompt": "As JSON with customer{name, city} and items[{sku, qty}], in a ```json block: 'Ana Gil from Cali wants 5 x Z-1.'",
                    "order": {"customer": {"name": "Ana Gil", "city": "Cali"}, "items": [{"sku": "Z-1", "qty": 5}]},
                },
            ],
            good=[
                'Two items are ordered.\n```json\n{"customer": {"name": "Jo Park", "city": "Busan"}, "items": [{"sku": "K-12", "qty": 2}, {"sku": "B-7", "qty": 1}]}\n```',
                'One item is ordered.\n```json\n{"items": [{"qty": 5, "sku": "Z-1"}], "customer": {"city": "Cali", "name": "Ana Gil"}}\n```',
            ],
            bad=[
                'One item is ordered.\n```json\n{"customer": {"name": "Jo Park", "city": "Seoul"}, "items": [{"sku": "K-12", "qty": 1}]}\n```',
                'Here it is.\n```json\n{"name": "Ana Gil", "city": "Cali", "sku": "Z-1", "qty": 5}\n```',
            ],
        ),
        Case(
            name="event_order",
            reward=order_reward,
            examples=[
                {"prompt": "Order by time, earliest first: Moon landing, Fall of Troy, Waterloo, Magna Carta. Last line 'Order: a > b > ...'.", "answer": ["Fall of Troy", "Magna Carta", "Waterloo", "Moon landing"]},
                {"prompt": "Order by size, smallest first: cell, atom, organ. Last line 'Order: a > b > ...'.", "answer": ["atom", "cell", "organ"]},
            ],
            good=[
                "Troy fell in antiquity, the charter is of 1215, the battle of 1815 and the landing of 1969.\nOrder: Fall of Troy > Magna Carta > Waterloo > Moon landing",
                "A cell is made of atoms and an organ of cells.\nOrder: atom > cell > organ",
            ],
            bad=[
                "I start with the latest.\nOrder: Moon landing > Waterloo > Magna Carta > Fall of Troy",
                "I leave out what is too small to see.\nOrder: cell > organ",
            ],
        ),
        Case(
            name="name_sets",
            reward=set_f1_reward,
            examples=[
                {"prompt": "Which countries border Portugal or Ireland? In <answer>, separated by ';'.", "answer": ["Spain", "United Kingdom"]},
                {"prompt": "Which US cities have hosted the Summer Olympics? In <answer>, separated by ';'.", "answer": ["St. Louis, Missouri", "Los Angeles, California", "Atlanta, Georgia"]},
            ],
            good=[
                "Portugal borders Spain, and Ireland borders the United Kingdom.\n<answer>United Kingdom; Spain</answer>",
                "They were held in 1904, in 1932 and 1984, and in 1996.\n<answer>St. Louis, Missouri; Los Angeles, California; Atlanta, Georgia</answer>",
            ],
            bad=[
                "Both are on the Atlantic.\n<answer>France; Spain</answer>",
                "I recall the latest.\n<answer>Atlanta, Georgia; Salt Lake City, Utah</answer>",
            ],
        ),
        Case(
            name="sql_suite",
            reward=sql_suite_reward,
            examples=[
                {"prompt": "orders(id, customer, amount, country). Total amount per country (country, total), highest first, then by country. ```sql block.", "answer": "SELECT country, SUM(amount) FROM orders GROUP BY country ORDER BY SUM(amount) DESC, country", "databases": [SHOP_ONE, SHOP_TWO]},
                {"prompt": "orders(id, customer, amount, country). Which customers have more than one order? ```sql block.", "answer": "SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1", "databases": [SHOP_ONE, SHOP_TWO]},
            ],
            good=[
                "Group, sum and sort.\n```sql\nSELECT country, SUM(amount) AS total\nFROM orders\nGROUP BY country\nORDER BY total DESC, country ASC;\n```",
                "A self join finds customers with two different orders.\n```sql\nSELECT DISTINCT a.customer FROM orders a JOIN orders b ON a.customer = b.customer AND a.id < b.id\n```",
            ],
            bad=[
                "Group, sum and sort.\n```sql\nSELECT country, SUM(amount) FROM orders GROUP BY country ORDER BY country\n```",
                "I look at large orders.\n```sql\nSELECT customer FROM orders WHERE amount > 50\n```",
            ],
        ),
        Case(
            name="tool_call_multiset",
            reward=tool_call_multiset_reward,
            examples=[
                {"prompt": "Tools: convert(amount, source, target). User: What are 100 USD and 20 GBP in EUR?", "expected": '[{"name": "convert", "arguments": {"amount": 100, "source": "USD", "target": "EUR"}}, {"name": "convert", "arguments": {"amount": 20, "source": "GBP", "target": "EUR"}}]'},
                {"prompt": "Tools: convert(amount, source, target). User: Thanks, that is all!", "expected": "[]"},
            ],
            good=[
                'Two conversions are needed.\n<tool_call>\n{"name": "convert", "arguments": {"target": "EUR", "source": "USD", "amount": 100.0}}\n</tool_call>\n<tool_call>\n{"name": "convert", "arguments": {"amount": 20, "source": "GBP", "target": "EUR"}}\n</tool_call>',
                "You are welcome. Have a nice day!",
            ],
            bad=[
                'One conversion will do.\n<tool_call>\n{"name": "convert", "arguments": {"amount": 120, "source": "USD", "target": "EUR"}}\n</tool_call>',
                'Let me check again.\n<tool_call>\n{"name": "convert", "arguments": {"amount": 100, "source": "USD", "target": "EUR"}}\n</tool_call>',
            ],
        ),
        Case(
            name="citation_f1",
            reward=citation_f1_reward,
            examples=[
                {"prompt": "Answer from passages [1]-[8] with citations: Why did the bridge close?", "supporting": [2, 3, 4]},
                {"prompt": "Answer from passages [1]-[5] with citations: Who owns the harbor?", "supporting": [1, 5]},
            ],
            good=[
                "An inspection found cracks in two of the pillars, and the city closed the bridge on the same day [2-4].",
                "The harbor belongs to the city, which bought it from the railway company in 1921 [1, 5].",
            ],
            bad=[
                "The bridge was closed because there was too much traffic on it for years [6].",
                "The harbor belongs to a private company from abroad, as far as is known [2][3].",
            ],
        ),
        Case(
            name="search_replace_edits",
            reward=edit_reward,
            examples=[
                {
                    "prompt": "Let greet() end with an exclamation mark. SEARCH/REPLACE blocks, please.\n" + GREETING_FILE,
                    "source": GREETING_FILE,
                    "expected": GREETING_FILE.replace("'Hello ' + name", "'Hello ' + name + '!'"),
                },
                {
                    "prompt": "Greet 'moon' instead of 'world'. SEARCH/REPLACE blocks, please.\n" + GREETING_FILE,
                    "source": GREETING_FILE,
                    "expected": GREETING_FILE.replace("world", "moon"),
                },
            ],
            good=[
                "I append it to the text.\n<<<<<<< SEARCH\n    print('Hello ' + name)\n=======\n    print('Hello ' + name + '!')\n>>>>>>> REPLACE",
                "Only the argument changes.\n<<<<<<< SEARCH\n    greet('world')\n=======\n    greet('moon')\n>>>>>>> REPLACE\n",
            ],
            bad=[
                "I change the greeting.\n<<<<<<< SEARCH\n    print('Hello ' + name)\n=======\n    print('Hello! ' + name)\n>>>>>>> REPLACE",
                "Only the argument changes.\n<<<<<<< SEARCH\n    greet(\"world\")\n=======\n    greet(\"moon\")\n>>>>>>> REPLACE",
            ],
        ),
        Case(
            name="named_entities",
            reward=entity_reward,
            examples=[
                {"prompt": "Entities (PER, LOC, ORG) as 'TYPE: text' lines in <entities>: 'Ada Lovelace never visited Turin.'", "entities": [{"type": "PER", "text": "Ada Lovelace"}, {"type": "LOC", "text": "Turin"}]},
                {"prompt": "Entities (PER, LOC, ORG) as 'TYPE: text' lines in <entities>: 'Siemens opened an office in Lagos.'", "entities": [{"type": "ORG", "text": "Siemens"}, {"type": "LOC", "text": "Lagos"}]},
            ],
            good=[
                "There is a person and a city.\n<entities>\nPER: Ada Lovelace\nLOC: Turin\n</entities>",
                "There is a company and a city.\n<entities>\nLOC: Lagos\nORG: Siemens\n</entities>",
            ],
            bad=[
                "There is a person.\n<entities>\nPER: Ada\nPER: Lovelace\n</entities>",
                "There is a man and a city.\n<entities>\nPER: Siemens\nLOC: Nigeria\n</entities>",
            ],
        ),
        Case(
            name="passage_ranking",
            reward=ranking_reward,
            examples=[
                {"prompt": "Rank the passages 1-6 for the query 'how bees find flowers'. End with 'Ranking: ...', best first.", "relevance": {"1": None, "2": 3, "3": 1, "4": None, "5": 2, "6": None}},
                {"prompt": "Rank the passages 1-4 for the query 'origin of chess'. End with 'Ranking: ...', best first.", "relevance": {"1": None, "2": None, "3": None, "4": 1}},
            ],
            good=[
                "Passage 2 is on the dance of the bees, 5 on scent and 3 on color.\nRanking: 2, 5, 3, 1, 4, 6",
                "Only passage 4 speaks of India.\nRanking: 4, 1, 2, 3",
            ],
            bad=[
                "I go by the length.\nRanking: 1, 4, 6, 3, 5, 2",
                "I go by the numbers.\nRanking: 1, 2, 3, 4",
            ],
        ),
    ]
