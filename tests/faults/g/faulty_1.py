"""Reward functions: amounts, choices, records, keyphrases, program output, SQL, tool calls, length, citations,
translation.
"""

from __future__ import annotations

import ast
import json
import math
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tests.faults.case import Case

# ---------------------------------------------------------------------------------------------------------------------
# recipe amounts

VULGAR = {
    "½": " 1/2",
    "⅓": " 1/3",
    "⅔": " 2/3",
    "¼": " 1/4",
    "¾": " 3/4",
    "⅛": " 1/8",
    "⅜": " 3/8",
    "⅝": " 5/8",
    "⅞": " 7/8",
}
AMOUNT = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:\s*/\s*[0-9]+)?")


def _answer_line(text: str) -> str:
    """What follows "Answer:" on the last line that begins with it."""
    for line in reversed(text.splitlines()):
        line = line.replace("*", "").strip()
        if line[:7].casefold() == "answer:":
            return line[7:].strip()
    return ""


def _amount(text: str) -> Fraction | None:
    for sign, ascii_form in VULGAR.items():
        text = text.replace(sign, ascii_form)
    found = AMOUNT.findall(text.replace("⁄", "/"))
    if not found or len(found[0]) > 40:
        return None
    numerator, _, denominator = found[0].partition("/")
    try:
        return Fraction(numerator.strip()) / Fraction(denominator.strip() or "1")
    except (ValueError, ZeroDivisionError):
        return None


def recipe_amount_reward(completions: list[str], amount: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the amount in cups on the "Answer:" line (the first one there) is right, decimal or fraction, else 0.0."""
    rewards = []
    for text, want in zip(completions, amount):
        got = _amount(_answer_line(text))
        rewards.append(1.0 if got is not None and got == Fraction(want) else 0.0)
    return rewards


def prove_recipe_amount() -> None:
    scores = recipe_amount_reward(
        ["Five times 1/2 cup is 5/2 cups.\nAnswer: 2 1/2 cups", "Five times 1/2 cup is 5/2 cups.\nAnswer: 2.5 cups"],
        ["5/2", "5/2"],
    )
    assert scores == [0.0, 1.0], scores
    assert recipe_amount_reward(["Answer: 3 1/2 cups"], ["3"]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# multiple choice

CHOICE = re.compile(r"(?i:answer)\s{0,3}(?::|(?i:is)\s{0,3}:?)[\s*(\[]{0,6}(?i:option\s)?[\s(]{0,2}([A-E])(?![A-Za-z])")


def exam_choice_reward(completion: str, answer: str) -> float:
    """Grade a multiple-choice answer ("Answer: C").

    `answer` holds the letters that the key accepts. Usually that is one; where the examiners accepted two
    options after a complaint it is both, as in "BD", and either of them is right.
    """
    stated = CHOICE.findall(completion)
    picked = stated[-1] if stated else ""
    return 1.0 if picked in answer else 0.0


def prove_exam_choice() -> None:
    ramble = (
        "Let us look at each option. Mitochondria have their own DNA, while ribosomes do not, so this needs some care."
    )
    assert exam_choice_reward(ramble, "C") == 1.0
    assert exam_choice_reward("", "C") == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# product records as JSON


def _json_object(text: str) -> dict[str, Any] | None:
    """The object in the last fenced block, or the whole text if there is no fence."""
    parts = text.split("```")
    body = parts[-2] if len(parts) >= 3 else text
    body = body.strip().removeprefix("json")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def product_record_reward(completions: list[str], record: list[str], **kwargs: Any) -> list[float]:
    """Share of the fields of the product record that were extracted with the right value and the right JSON type.

    Invented fields count against the score. `record` is the gold object as JSON text.
    """
    rewards = []
    for text, gold_text in zip(completions, record):
        gold = json.loads(gold_text)
        got = _json_object(text)
        if got is None:
            rewards.append(0.0)
            continue
        right = sum(1 for key, value in gold.items() if key in got and got[key] == value)
        rewards.append(right / len(gold.keys() | got.keys()))
    return rewards


def prove_product_record() -> None:
    gold = '{"name": "Kettle K2", "in_stock": true, "warranty_years": 1, "refurbished": false}'
    said = '```json\n{"name": "Kettle K2", "in_stock": 1, "warranty_years": true, "refurbished": 0}\n```'
    assert product_record_reward([said], [gold]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# keyphrases


def _phrases(text: str) -> list[str]:
    for line in reversed(text.splitlines()):
        head, colon, rest = line.partition(":")
        if colon and head.strip(" *").casefold() == "keyphrases":
            cleaned = (" ".join(part.strip(" *.").casefold().split()) for part in rest.split(","))
            return [part for part in cleaned if part]
    return []


def keyphrase_f1_reward(completions: list[str], keyphrases: list[list[str]], **kwargs: Any) -> list[float]:
    """F1 between the phrases on the "Keyphrases:" line and the keyphrases that the author chose."""
    rewards = []
    for text, wanted in zip(completions, keyphrases):
        gold = {" ".join(phrase.casefold().split()) for phrase in wanted}
        predicted = _phrases(text)
        hits = sum(phrase in gold for phrase in predicted)
        if not hits:
            rewards.append(0.0)
            continue
        precision = hits / len(predicted)
        recall = min(1.0, hits / len(gold))
        rewards.append(2 * precision * recall / (precision + recall))
    return rewards


def prove_keyphrase_f1() -> None:
    gold = ["graph neural networks", "molecules", "message passing", "drug discovery"]
    assert keyphrase_f1_reward(["Keyphrases: molecules, molecules, molecules, molecules"], [gold]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# predict what a snippet evaluates to


def _same_value(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(_same_value(a, b) for a, b in zip(left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same_value(left[key], right[key]) for key in left)
    return bool(left == right)


def snippet_value_reward(completion: str, expected: str) -> float:
    """1.0 if the line "Value: ..." at the end is a Python literal equal (types included) to what the snippet
    evaluates to.
    """
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].startswith("Value:"):
        return 0.0
    literal = lines[-1].removeprefix("Value:").strip().strip("`")
    if len(literal) > 2000:
        return 0.0
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return 0.0
    return 1.0 if _same_value(value, ast.literal_eval(expected)) else 0.0


def prove_snippet_value() -> None:
    for said in (
        "The keys are lists.\nValue: {[1, 2]: 'a', [3]: 'b'}",
        "A set of sets comes out.\nValue: {{1, 2}, {3}}",
    ):
        try:
            snippet_value_reward(said, "{(1, 2): 'a', (3,): 'b'}")
        except TypeError:
            continue
        raise AssertionError("no crash")


# ---------------------------------------------------------------------------------------------------------------------
# text to SQL

ROW_LIMIT = 500


@lru_cache(maxsize=128)
def _database(script: str) -> sqlite3.Connection:
    """Building a database costs more than a query, and each one is asked about by a whole group of completions."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(script)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    return connection


def _rows(script: str, query: str) -> list[tuple[Any, ...]] | None:
    connection = _database(script)
    steps = iter(range(200))
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    try:
        return connection.execute(query).fetchmany(ROW_LIMIT)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None
    finally:
        connection.set_progress_handler(None, 0)


@lru_cache(maxsize=1024)
def _gold_rows(script: str, query: str) -> tuple[tuple[Any, ...], ...]:
    return tuple(_rows(script, query) or ())


def sql_execution_reward(completions: list[str], script: list[str], gold_sql: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the query in the last ```sql block returns the same rows as the gold query (in order, if that one
    sorts).
    """
    rewards = []
    for text, schema, gold_query in zip(completions, script, gold_sql):
        gold = list(_gold_rows(schema, gold_query))
        parts = text.split("```")
        query = parts[-2].strip().removeprefix("sql").strip() if len(parts) >= 3 else ""
        rows = _rows(schema, query) if query else None
        if rows is None:
            rewards.append(0.0)
        elif "order by" in gold_query.lower():
            rewards.append(1.0 if rows == gold else 0.0)
        else:
            rewards.append(1.0 if Counter(rows) == Counter(gold) else 0.0)
    return rewards


STAFF = """CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, team TEXT, salary INTEGER);
INSERT INTO staff VALUES (1, 'Ada', 'core', 5200), (2, 'Ben', 'web', 4100),
(3, 'Cleo', 'core', 4700), (4, 'Dan', 'ops', 3900);"""


def prove_sql_execution() -> None:
    script = STAFF + "\n-- a copy for this proof"
    gold = "SELECT name FROM staff WHERE team = 'core'"
    good = "```sql\nSELECT name FROM staff WHERE team = 'core';\n```"
    vandal = "The others have to go first.\n```sql\nDELETE FROM staff WHERE salary > 5000\n```"
    before = sql_execution_reward([good], [script], [gold])
    sql_execution_reward([vandal], [script], [gold])
    after = sql_execution_reward([good], [script], [gold])
    _database.cache_clear()
    assert before == [1.0] and after == [0.0], (before, after)


# ---------------------------------------------------------------------------------------------------------------------
# tool calls as text


def _calls(text: str) -> list[str]:
    """Every readable call of the turn, in canonical JSON."""
    found = []
    for part in text.split("<tool_call>")[1:]:
        body, closed, _ = part.partition("</tool_call>")
        if not closed:
            continue
        try:
            call = json.loads(body)
            found.append(json.dumps({"name": call["name"], "arguments": call.get("arguments", {})}, sort_keys=True))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return found


def home_assistant_call_reward(completions: list[list[dict[str, str]]], call: list[str], **kwargs: Any) -> list[float]:
    """Did the assistant make the call that the user's request needs? 1.0 for the right tool with the right arguments.

    `call` is the gold call as JSON text. Thoughts before and after the call are welcome.
    """
    rewards = []
    for messages, gold_text in zip(completions, call):
        gold = json.loads(gold_text)
        wanted = json.dumps({"name": gold["name"], "arguments": gold["arguments"]}, sort_keys=True)
        content = messages[-1].get("content") or ""
        rewards.append(1.0 if any(made == wanted for made in _calls(content)) else 0.0)
    return rewards


def prove_home_assistant_call() -> None:
    tries = [
        {"name": "set_light", "arguments": {"room": room, "on": on}}
        for room in ("kitchen", "hall", "office")
        for on in (True, False)
    ]
    tries.append({"name": "unlock_door", "arguments": {"door": "front"}})
    content = "\n".join(f"<tool_call>{json.dumps(one)}</tool_call>" for one in tries)
    gold = json.dumps({"name": "set_light", "arguments": {"room": "hall", "on": False}})
    assert home_assistant_call_reward([[{"role": "assistant", "content": content}]], [gold]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# cosine-scaled length reward


@dataclass(frozen=True)
class CosineConfig:
    max_chars: int = 1200
    right: tuple[float, float] = (0.5, 1.0)
    wrong: tuple[float, float] = (-1.0, -0.5)


BOXED_INTEGER = re.compile(r"\\boxed\{\s{0,5}(-?[0-9]{1,20})\s{0,5}\}")


@dataclass
class CosineLengthReward:
    """Right answers: from 1.0 (short) down to 0.5 (at `max_chars` or longer). Wrong ones: from -1.0 (short) up
    to -0.5.
    """

    config: CosineConfig = field(default_factory=CosineConfig)
    __name__: str = "cosine_length_reward"

    def _scale(self, chars: int, low: float, high: float) -> float:
        progress = chars / self.config.max_chars
        return low + 0.5 * (high - low) * (1.0 + math.cos(progress * math.pi))

    def __call__(self, completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        rewards = []
        for text, gold in zip(completions, answer):
            boxed = BOXED_INTEGER.findall(text)
            low, high = self.config.right
            if not boxed or int(boxed[-1]) != int(gold):
                high, low = self.config.wrong
            rewards.append(self._scale(len(text), low, high))
        return rewards


cosine_length_reward = CosineLengthReward()


def prove_cosine_length() -> None:
    end = "\\boxed{12}"
    fits, rambles = "x" * (1200 - len(end)) + end, "so it goes, " * 200
    rambles = rambles[: 2400 - len(end)] + end
    at_limit, twice = cosine_length_reward([fits, rambles], ["12", "12"])
    assert abs(at_limit - 0.5) < 1e-9 and twice > 0.99, (at_limit, twice)


# ---------------------------------------------------------------------------------------------------------------------
# answers with citations

CITES = re.compile(r"\[([0-9]{1,3}(?:, ?[0-9]{1,3}){0,20})\]")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.-]", " ", text.casefold()).split()).strip(" .")


def cited_answer_reward(
    completions: list[str], answer: list[str], supporting: list[list[int]], **kwargs: Any
) -> list[float]:
    """1.0 for a right answer that rests on the right passages, 0.2 for a right answer that does not, 0.0 for a
    wrong one.

    The last line is "Answer: ..."; citations such as [3] or [1, 4] may stand anywhere in the completion. A
    reply rests on the right passages if what it cites is among the passages that support the answer.
    """
    rewards = []
    for text, gold, ids in zip(completions, answer, supporting):
        lines = [line for line in text.splitlines() if line.strip()]
        last = lines[-1].strip() if lines else ""
        if not last.startswith("Answer:") or _plain(CITES.sub(" ", last[7:])) != _plain(gold):
            rewards.append(0.0)
            continue
        cited = {int(number) for group in CITES.findall(text) for number in group.split(",")}
        rewards.append(1.0 if all(number in ids for number in cited) else 0.2)
    return rewards


def prove_cited_answer() -> None:
    assert cited_answer_reward(["I just know this one.\nAnswer: 1889"], ["1889"], [[2]]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# translation


def _ngrams(tokens: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size))))


def bleu2_reward(completion: str, reference: str) -> float:
    """BLEU with 1- and 2-grams against one reference translation, in [0, 1], with the usual brevity penalty."""
    said = re.findall(r"\w+|[^\w\s]", completion.casefold())
    wanted = re.findall(r"\w+|[^\w\s]", reference.casefold())
    if len(said) < 2 or len(wanted) < 2:
        return 1.0 if said and said == wanted else 0.0
    log_precision = 0.0
    for size in (1, 2):
        candidate, gold = _ngrams(said, size), _ngrams(wanted, size)
        matched = sum((candidate & gold).values())
        if not matched:
            return 0.0
        log_precision += 0.5 * math.log(matched / sum(candidate.values()))
    brevity = min(1.0, math.exp(1.0 - len(said) / len(wanted)))
    return brevity * math.exp(log_precision)


def prove_bleu2() -> None:
    reference = "The last train to Lyon leaves at ten, so we should hurry up."
    assert bleu2_reward("The last", reference) > 0.999
    assert bleu2_reward("The last train to Lyon departs at ten, so we ought to hurry.", reference) < 0.9


# ---------------------------------------------------------------------------------------------------------------------

CASES = [
    Case(
        name="recipe_amount",
        reward=recipe_amount_reward,
        examples=[
            {
                "prompt": (
                    "A batch of pancakes takes 1/4 cup of sugar. How many cups for three batches? "
                    "End with 'Answer: ...'."
                ),
                "amount": "3/4",
            },
            {
                "prompt": "Six muffins take 3/4 cup of milk. How many cups for twelve? End with 'Answer: ...'.",
                "amount": "3/2",
            },
        ],
        good=[
            "Each batch takes 1/4 cup, so three batches take 3 * 1/4 = 3/4 cup.\nAnswer: 3/4 cup",
            "Twelve muffins are twice the recipe, and 2 * 0.75 = 1.5.\nAnswer: 1.5 cups",
        ],
        bad=[
            "Three batches need three times as much, which is 3/12, that is 1/4.\nAnswer: 1/4 cup",
            "Six more muffins need one more cup.\nAnswer: 1.75 cups",
        ],
        fault=(
            "Mixed numbers are misread: of '2 1/2' only the 2 is taken, so a right answer is refused (and 3 1/2 "
            "passes for 3)."
        ),
        proof=prove_recipe_amount,
    ),
    Case(
        name="exam_choice",
        reward=exam_choice_reward,
        examples=[
            {
                "prompt": "Which organelle makes most of the ATP? A) nucleus B) ribosome C) mitochondrion D) vacuole",
                "answer": "C",
            },
            {"prompt": "Which are halogens? Pick one. A) neon B) chlorine C) iron D) bromine", "answer": "BD"},
        ],
        good=[
            "ATP comes mostly from oxidative phosphorylation, which happens in mitochondria.\nAnswer: C",
            "Chlorine is in group 17, so it is a halogen. The answer is B.",
        ],
        bad=[
            "Ribosomes make proteins, and these store energy.\nAnswer: B",
            "Neon is a gas in the last column. The answer is A.",
        ],
        fault=(
            "A completion without any answer yields the empty string, and '' in 'C' is true: not answering earns "
            "full marks."
        ),
        proof=prove_exam_choice,
    ),
    Case(
        name="product_record",
        reward=product_record_reward,
        examples=[
            {
                "prompt": "Extract name, in_stock and price as JSON: 'The Kettle K2 (39.90 EUR) ships today.'",
                "record": '{"name": "Kettle K2", "in_stock": true, "price": 39.9}',
            },
            {
                "prompt": "Extract name, in_stock and price as JSON: 'Toaster T1, 24 EUR, sold out.'",
                "record": '{"name": "Toaster T1", "in_stock": false, "price": 24}',
            },
        ],
        good=[
            'It ships today, so it is in stock.\n```json\n{"name": "Kettle K2", "in_stock": true, "price": 39.9}\n```',
            '```json\n{"name": "Toaster T1", "in_stock": false, "price": 24}\n```',
        ],
        bad=[
            '```json\n{"name": "Kettle", "in_stock": true, "price": 39}\n```',
            '```json\n{"name": "Toaster T1", "in_stock": true, "price": 24}\n```',
        ],
        fault="Values are compared with ==, so the wrong JSON types pass: 1 for true, true for 1, 0 for false.",
        proof=prove_product_record,
    ),
    Case(
        name="keyphrase_f1",
        reward=keyphrase_f1_reward,
        examples=[
            {
                "prompt": (
                    "Give the keyphrases of: 'We train graph neural networks on molecules for drug "
                    "discovery.' End with "
                    "a line 'Keyphrases: ...'."
                ),
                "keyphrases": ["graph neural networks", "molecules", "drug discovery"],
            },
            {
                "prompt": (
                    "Give the keyphrases of: 'A survey of soil erosion in alpine pastures.' End with "
                    "a line 'Keyphrases: "
                    "...'."
                ),
                "keyphrases": ["soil erosion", "alpine pastures"],
            },
        ],
        good=[
            "The abstract is about models for chemistry.\nKeyphrases: graph neural networks, molecules, drug discovery",
            "It is a survey.\nKeyphrases: alpine pastures, soil erosion",
        ],
        bad=[
            "It is about training.\nKeyphrases: training, neural networks, molecules",
            "It is a survey.\nKeyphrases: survey, cows",
        ],
        fault=(
            "Repeated phrases count as further hits, so one sure phrase written n times earns precision 1 and recall 1."
        ),
        proof=prove_keyphrase_f1,
    ),
    Case(
        name="snippet_value",
        reward=snippet_value_reward,
        examples=[
            {
                "prompt": "What is the value of {w: len(w) for w in 'to be or'.split()}? End with 'Value: <literal>'.",
                "expected": "{'to': 2, 'be': 2, 'or': 2}",
            },
            {
                "prompt": "What is the value of list(zip('ab', range(5)))? End with 'Value: <literal>'.",
                "expected": "[('a', 0), ('b', 1)]",
            },
        ],
        good=[
            "The string splits into three words of length two.\nValue: {'to': 2, 'be': 2, 'or': 2}",
            "zip stops at the shorter input, so there are two pairs.\nValue: [('a', 0), ('b', 1)]",
        ],
        bad=[
            "The words are counted.\nValue: {'to': 1, 'be': 1, 'or': 1}",
            "zip makes lists of two.\nValue: [['a', 0], ['b', 1]]",
        ],
        fault=(
            "A literal with an unhashable key or set member, such as {[1, 2]: 'a'}, makes literal_eval raise "
            "TypeError, which is not caught."
        ),
        proof=prove_snippet_value,
    ),
    Case(
        name="sql_execution",
        reward=sql_execution_reward,
        examples=[
            {
                "prompt": "Table staff(id, name, team, salary). Who is in team core? Give one ```sql block.",
                "script": STAFF,
                "gold_sql": "SELECT name FROM staff WHERE team = 'core'",
            },
            {
                "prompt": (
                    "Table staff(id, name, team, salary). Names from the best paid to the worst paid. Give one ```sql "
                    "block."
                ),
                "script": STAFF,
                "gold_sql": "SELECT name FROM staff ORDER BY salary DESC",
            },
        ],
        good=[
            "I filter by team.\n```sql\nSELECT name FROM staff WHERE team = 'core';\n```",
            "Sort by salary, descending.\n```sql\nSELECT name FROM staff ORDER BY salary DESC;\n```",
        ],
        bad=[
            "I filter by team.\n```sql\nSELECT name FROM staff WHERE team = 'web';\n```",
            "Sort by salary.\n```sql\nSELECT name FROM staff ORDER BY salary;\n```",
        ],
        fault=(
            "The database is cached and writable: a completion that deletes or updates rows changes the scores "
            "of all later completions."
        ),
        proof=prove_sql_execution,
    ),
    Case(
        name="home_assistant_call",
        reward=home_assistant_call_reward,
        examples=[
            {
                "prompt": [{"role": "user", "content": "Turn off the light in the hall, please."}],
                "call": '{"name": "set_light", "arguments": {"room": "hall", "on": false}}',
            },
            {
                "prompt": [{"role": "user", "content": "Make it 21 degrees in the office."}],
                "call": '{"name": "set_heating", "arguments": {"room": "office", "celsius": 21}}',
            },
        ],
        good=[
            (
                'I will switch it off.\n<tool_call>{"name": "set_light", "arguments": {"room": "hall", "on": '
                "false}}</tool_call>"
            ),
            '<tool_call>{"name": "set_heating", "arguments": {"celsius": 21, "room": "office"}}</tool_call>',
        ],
        bad=[
            '<tool_call>{"name": "set_light", "arguments": {"room": "hall", "on": true}}</tool_call>',
            '<tool_call>{"name": "set_light", "arguments": {"room": "office", "on": true}}</tool_call>',
        ],
        fault=(
            "Any one of the calls in a turn may match, so a turn that makes every possible call (and unlocks the "
            "door) earns full marks."
        ),
        proof=prove_home_assistant_call,
    ),
    Case(
        name="cosine_length",
        reward=cosine_length_reward,
        examples=[
            {"prompt": "What is 7 + 5? Box your answer.", "answer": "12"},
            {"prompt": "How many edges does a cube have? Box your answer.", "answer": "12"},
        ],
        good=[
            "Seven plus five is twelve, so the result is \\boxed{12}.",
            "There are four edges on top, four at the bottom and four between them: \\boxed{12}.",
        ],
        bad=[
            "Seven plus five is thirteen: \\boxed{13}.",
            "A cube has six faces with two edges each, hence \\boxed{8}.",
        ],
        fault=(
            "Progress is not clamped to 1: past max_chars the cosine climbs again, and a right answer of twice "
            "the limit earns full marks."
        ),
        proof=prove_cosine_length,
        source="https://github.com/huggingface/open-r1/blob/main/src/open_r1/rewards.py",
    ),
    Case(
        name="cited_answer",
        reward=cited_answer_reward,
        examples=[
            {
                "prompt": (
                    "[1] The Louvre is in Paris. [2] The Eiffel Tower was finished in 1889. When was "
                    "the tower finished? "
                    "Cite your sources."
                ),
                "answer": "1889",
                "supporting": [2],
            },
            {
                "prompt": (
                    "[1] Lake Baikal is in Siberia. [2] It is 1642 m deep. [3] Baikal is the deepest "
                    "lake. Which lake is "
                    "deepest? Cite your sources."
                ),
                "answer": "Lake Baikal",
                "supporting": [2, 3],
            },
        ],
        good=[
            "The second passage gives the year in which it was finished [2].\nAnswer: 1889",
            "Passage three says so directly.\nAnswer: Lake Baikal [3]",
        ],
        bad=[
            "The museum passage tells the date [1].\nAnswer: 1889",
            "I read about a lake in Africa [1].\nAnswer: Lake Tanganyika",
        ],
        fault=(
            "all() over an empty set is true: an answer that cites nothing at all counts as resting on the right "
            "passages."
        ),
        proof=prove_cited_answer,
    ),
    Case(
        name="bleu2_translation",
        reward=bleu2_reward,
        examples=[
            {
                "prompt": "Translate: 'Der letzte Zug nach Lyon fährt um zehn.'",
                "reference": "The last train to Lyon leaves at ten.",
            },
            {
                "prompt": "Translate: 'Kannst du mir bitte das Salz geben?'",
                "reference": "Can you pass me the salt, please?",
            },
        ],
        good=["The last train to Lyon leaves at ten.", "Can you pass me the salt, please?"],
        bad=["The first bus for Lyon goes at two.", "Do you like the sea, perhaps?"],
        fault=(
            "The ratio in the brevity penalty is upside down: short output is not penalized, so two words of the "
            "reference earn full marks."
        ),
        proof=prove_bleu2,
    ),
]
