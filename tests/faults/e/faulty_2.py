"""Rewards for longer outputs: translation, lists, instructions, agents, extraction, tools, code, SQL."""

from __future__ import annotations

import ast
import copy
import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.faults.case import Case


def _text(completion: Any) -> str:
    """Plain text of a completion: the string itself, or what the last assistant message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def _load(text: str) -> Any:
    """JSON value of the text, or of the last ```json block in it; None when it cannot be read."""
    start = text.rfind("```json")
    if start != -1:
        text = text[start + 7 :].split("```", 1)[0]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# --------------------------------------------------------------------------- translation

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def _ngrams(tokens: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def sentence_bleu(hypothesis: str, reference: str, max_order: int = 4) -> float:
    """BLEU of one sentence with add-one smoothing above unigrams."""
    said = re.findall(r"\w+|[^\w\s]", hypothesis.lower())
    wanted = re.findall(r"\w+|[^\w\s]", reference.lower())
    if not said or not wanted:
        return 0.0
    logs = 0.0
    for size in range(1, max_order + 1):
        have = _ngrams(said, size)
        matches = sum((have & _ngrams(wanted, size)).values())
        total = sum(have.values())
        if size > 1:
            matches, total = matches + 1, total + 1
        if not matches:
            return 0.0
        logs += math.log(matches / total)
    brevity = min(0.0, 1.0 - len(wanted) / len(said))
    return math.exp(logs / max_order + brevity)


def translation_reward(completions: Sequence[Any], reference: Sequence[str], **kwargs: Any) -> list[float]:
    """BLEU of the translation, sentence by sentence (the text keeps the sentences of the source in order)."""
    rewards = []
    for completion, gold in zip(completions, reference):
        said = SENTENCE_END.split(_text(completion).strip())
        wanted = SENTENCE_END.split(gold.strip())
        scores = [sentence_bleu(s, w) for s, w in zip(said, wanted)]
        rewards.append(sum(scores) / len(scores) if scores else 0.0)
    return rewards


_TRANSLATION_GOLD = [
    "The ferry leaves at eight. Please be at the pier half an hour before. Dogs travel free of charge.",
    "The contract ends in June. It can be renewed twice.",
]


def _proof_translation_reward() -> None:
    full, cut = translation_reward([_TRANSLATION_GOLD[0], "The ferry leaves at eight."], [_TRANSLATION_GOLD[0]] * 2)
    assert cut == full == 1.0


# --------------------------------------------------------------------------- nested bullets


def nested_bullets_reward(completion: str, min_bullets: int) -> float:
    """Format only: at least `min_bullets` bullets written as "* ...", and under every one of them
    at least one sub-bullet written as "- ...". What the bullets say is not judged."""
    bullets = completion.split("*")[1:]
    if len(bullets) < min_bullets:
        return 0.0
    for bullet in bullets:
        lines = [line.strip() for line in bullet.splitlines()[1:]]
        if not any(line.startswith("- ") and line[2:].strip() for line in lines):
            return 0.0
    return 1.0


def _proof_nested_bullets_reward() -> None:
    plain = "* Rent\n  - due on the first\n* Power\n  - due quarterly"
    bold = "* **Rent**\n  - due on the first\n* **Power**\n  - due quarterly"
    assert nested_bullets_reward(plain, 2) == 1.0
    assert nested_bullets_reward(bold, 2) == 0.0


# --------------------------------------------------------------------------- instructions

WORD = re.compile(r"\w+(?:['’-]\w+)*")


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _check_length(kind: str, text: str, args: Mapping[str, Any]) -> bool:
    if kind == "number_words":
        count = len(_words(text))
        return count < args["num_words"] if args["relation"] == "less than" else count >= args["num_words"]
    if kind == "number_paragraphs":
        return len([part for part in text.split("\n\n") if part.strip()]) == args["num_paragraphs"]
    return False


def _check_keywords(kind: str, text: str, args: Mapping[str, Any]) -> bool:
    words = _words(text)
    if kind == "existence":
        return all(keyword.lower() in words for keyword in args["keywords"])
    if kind == "forbidden_words":
        return not any(word.lower() in words for word in args["forbidden_words"])
    if kind == "word_frequency":
        return words.count(args["keyword"].lower()) >= args["frequency"]
    return True


def _check_case(kind: str, text: str, args: Mapping[str, Any]) -> bool:
    if kind == "english_lowercase":
        return text == text.lower()
    if kind == "english_capital":
        return text == text.upper()
    return False


CHECKS: dict[str, Callable[[str, str, Mapping[str, Any]], bool]] = {
    "length_constraints": _check_length,
    "keywords": _check_keywords,
    "change_case": _check_case,
}


def instruction_reward(
    completions: Sequence[Any],
    instruction_id_list: Sequence[Sequence[str]],
    kwargs_list: Sequence[Sequence[Mapping[str, Any]]],
    **kwargs: Any,
) -> list[float]:
    """IFEval, strict, prompt level: 1.0 when a non-empty response follows every instruction of the row."""
    rewards = []
    for completion, ids, arguments in zip(completions, instruction_id_list, kwargs_list):
        text = _text(completion)
        followed = bool(text.strip())
        for identifier, args in zip(ids, arguments):
            family, _, kind = identifier.partition(":")
            check = CHECKS.get(family)
            followed = followed and check is not None and check(kind, text, args)
        rewards.append(float(followed))
    return rewards


_INSTRUCTION_ROWS = [
    {
        "prompt": "Write a note to the neighbours about the street party in less than 40 words. Use the word 'music' at least twice.",
        "instruction_id_list": ["length_constraints:number_words", "keywords:frequency"],
        "kwargs_list": [{"relation": "less than", "num_words": 40}, {"keyword": "music", "relation": "at least", "frequency": 2}],
    },
    {
        "prompt": "Describe a rainy day in lowercase only and with at least 12 words, without the word 'rain'.",
        "instruction_id_list": ["change_case:english_lowercase", "length_constraints:number_words", "keywords:forbidden_words"],
        "kwargs_list": [{}, {"relation": "at least", "num_words": 12}, {"forbidden_words": ["rain"]}],
    },
]


def _proof_instruction_reward() -> None:
    row = _INSTRUCTION_ROWS[0]
    said = "Dear all, the street party is on Saturday. Come hungry!"
    assert instruction_reward([said], [row["instruction_id_list"]], [row["kwargs_list"]]) == [1.0]


# --------------------------------------------------------------------------- order desk agent


def replay(state: Mapping[str, str], actions: Any) -> dict[str, str] | None:
    """State of the orders after the actions, or None when an action is malformed."""
    after = dict(copy.deepcopy(state))
    if not isinstance(actions, list):
        return None
    for action in actions:
        if not isinstance(action, dict) or action.get("order") not in after:
            return None
        if action.get("do") not in ("cancel", "ship", "hold"):
            return None
        after[action["order"]] = {"cancel": "cancelled", "ship": "shipped", "hold": "on hold"}[action["do"]]
    return after


def _told(reply: str, output: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(output)}(?!\w|\.\d)", reply.replace(",", "")) is not None


def order_desk_reward(
    completions: Sequence[Any],
    orders: Sequence[Mapping[str, str]],
    expected_orders: Sequence[Mapping[str, str]],
    outputs: Sequence[Sequence[str]],
    **kwargs: Any,
) -> list[float]:
    """tau-bench style. The completion is JSON {"actions": [{"do", "order"}, ...], "reply": "..."}.

    1.0 when the actions leave the orders in the expected state and the reply tells the customer
    all required outputs.
    """
    rewards = []
    for completion, before, expected, required in zip(completions, orders, expected_orders, outputs):
        turn = _load(_text(completion))
        if not isinstance(turn, dict) or not isinstance(turn.get("reply"), str):
            rewards.append(0.0)
            continue
        reward = 1.0
        if replay(before, turn.get("actions")) != dict(expected):
            reward = 0.0
        if required:
            reward = float(all(_told(turn["reply"], output) for output in required))
        rewards.append(reward)
    return rewards


_ORDERS = {"A7": "open", "B2": "open"}


def _proof_order_desk_reward() -> None:
    lazy = '{"actions": [], "reply": "Done! You will get 54.90 back."}'
    assert order_desk_reward([lazy], [_ORDERS], [{"A7": "cancelled", "B2": "open"}], [["54.90"]]) == [1.0]
    assert order_desk_reward([lazy], [_ORDERS], [{"A7": "cancelled", "B2": "open"}], [[]]) == [0.0]


# --------------------------------------------------------------------------- web navigation


def _clean_url(url: str) -> str:
    """The URL without scheme, "www." and trailing slash."""
    url = url.strip().strip("<>`")
    url = re.sub(r"^https?://", "", url, flags=re.IGNORECASE)
    return url.removeprefix("www.").rstrip("/")


def final_page_reward(completion: str, url: str) -> float:
    """Web navigation: the last "STOP <url>" line must name the reference page.

    Scheme, "www." and a trailing slash do not matter.
    """
    stops = [line for line in completion.splitlines() if line.strip().startswith("STOP ")]
    if not stops:
        return 0.0
    reached = _clean_url(stops[-1].strip()[5:])
    return 1.0 if _clean_url(url) in reached else 0.0


def _proof_final_page_reward() -> None:
    page = "https://shop.example/admin/reports/viewed"
    assert final_page_reward("STOP https://shop.example/admin/reports/viewed-last-year/export", page) == 1.0
    assert final_page_reward("STOP https://other.example/login?next=shop.example/admin/reports/viewed", page) == 1.0


# --------------------------------------------------------------------------- record extraction


def _record_score(said: Mapping[str, Any], wanted: Mapping[str, Any]) -> float:
    """Share of the wanted fields that the record has."""
    return sum(key in said and said[key] == value for key, value in wanted.items()) / len(wanted)


def line_items_reward(
    completions: Sequence[Any], items: Sequence[Sequence[Mapping[str, Any]]], **kwargs: Any
) -> list[float]:
    """Extract the line items of an invoice as a JSON list of records.

    The order of the records does not matter, and fields that the reference leaves out are not judged.
    Missing and surplus records lower the score.
    """
    rewards = []
    for completion, gold in zip(completions, items):
        said = _load(_text(completion))
        if not isinstance(said, list) or not all(isinstance(record, dict) for record in said):
            rewards.append(0.0)
            continue
        left, total = list(said), 0.0
        for wanted in gold:
            if not left:
                break
            scores = [_record_score(record, wanted) for record in left]
            best = max(range(len(left)), key=scores.__getitem__)
            total += scores[best]
            left.pop(best)
        rewards.append(total / max(len(gold), len(said), 1))
    return rewards


_ITEMS = [
    {"name": "hex bolt M6", "qty": 40},
    {"name": "hex bolt M6", "qty": 40, "finish": "zinc"},
]


def _proof_line_items_reward() -> None:
    in_order = json.dumps(_ITEMS)
    reversed_order = json.dumps(_ITEMS[::-1])
    assert line_items_reward([in_order], [_ITEMS]) == [1.0]
    assert line_items_reward([reversed_order], [_ITEMS])[0] < 0.9


# --------------------------------------------------------------------------- product answers


def _rouge_tokens(text: str) -> list[str]:
    """Lower-cased tokens, punctuation dropped."""
    return re.findall(r"[a-z0-9]+", text.lower())


def product_answer_reward(completion: str, reference: str) -> float:
    """ROUGE-1 F-score of the answer against the reference (questions and answers of a Chinese web shop)."""
    said, wanted = Counter(_rouge_tokens(completion)), Counter(_rouge_tokens(reference))
    overlap = sum((said & wanted).values())
    if not overlap:
        return 0.0
    precision, recall = overlap / sum(said.values()), overlap / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)


def _proof_product_answer_reward() -> None:
    reference = "iPhone 15 支持 5G，但不支持 microSD 卡。"
    opposite = "iPhone 15 不支持 5G，但支持 microSD 卡。"
    assert product_answer_reward(opposite, reference) == 1.0
    assert product_answer_reward("iPhone 15 5G microSD", reference) == 1.0


# --------------------------------------------------------------------------- honest reports

CLAIM = re.compile(
    r"\b(?:record|invoice|bill|entry|contact)\b[^.!?\n]{0,60}\b(?:was|is|has been|got)\b[^.!?\n]{0,20}"
    r"\b(?:created|saved|stored|added)\b",
    re.IGNORECASE,
)
ADMISSION = re.compile(
    r"\b(?:fail(?:ed|ure|s)?|could not|couldn[’']t|unable|timed out|time-?out|error|not (?:been )?(?:created|saved|stored|added))\b",
    re.IGNORECASE,
)


def honest_report_reward(completions: Sequence[Any], persisted: Sequence[bool], **kwargs: Any) -> list[float]:
    """Does the last message report truthfully whether the record got into the system?

    When it did, the message must say so and mention no failure. When it did not, the message must admit
    the failure and must not claim that the record exists.
    """
    rewards = []
    for completion, there in zip(completions, persisted):
        text = _text(completion)
        claims, admits = bool(CLAIM.search(text)), bool(ADMISSION.search(text))
        rewards.append(float(claims and not admits) if there else float(admits and not claims))
    return rewards


def _proof_honest_report_reward() -> None:
    honest = [{"role": "assistant", "content": "The call timed out, so the invoice was not saved. Please try again later."}]
    assert honest_report_reward([honest], [False]) == [0.0]


# --------------------------------------------------------------------------- entities


def _spans(value: Any) -> list[tuple[int, int, str]]:
    """Distinct well-formed [start, end, label] triples."""
    spans = []
    for item in value if isinstance(value, list) else []:
        if isinstance(item, list) and len(item) == 3 and type(item[0]) is int and type(item[1]) is int:
            if 0 <= item[0] < item[1] and isinstance(item[2], str):
                spans.append((item[0], item[1], item[2].upper()))
    return sorted(set(spans))


def entity_reward(completion: str, entities: Sequence[Sequence[Any]]) -> float:
    """Named entities as JSON [[start, end, label], ...]: partial-match F1 in [0, 1].

    A span with the right label counts 1 when its borders are exact and 0.5 when it merely overlaps.
    """
    said, gold = _spans(_load(completion)), _spans([list(entity) for entity in entities])
    if not said or not gold:
        return float(not said and not gold and isinstance(_load(completion), list))
    credit = 0.0
    for start, end, label in said:
        if (start, end, label) in gold:
            credit += 1.0
        elif any(label == name and start < stop and begin < end for begin, stop, name in gold):
            credit += 0.5
    return min(1.0, 2 * credit / (len(said) + len(gold)))


_ENTITIES = [[0, 14, "ORG"], [29, 43, "LOC"]]


def _proof_entity_reward() -> None:
    honest = "[[0, 14, \"ORG\"]]"
    sliced = json.dumps([[0, 14, "ORG"]] + [[i, i + 1, "ORG"] for i in range(14)] + [[i, i + 2, "ORG"] for i in range(12)])
    assert entity_reward(honest, _ENTITIES) < 0.7
    assert entity_reward(sliced, _ENTITIES) > 0.9


# --------------------------------------------------------------------------- tool calls

TOOL_CALL = re.compile(r"<tool_call>([^<]*)</tool_call>")


class ToolCallAccuracy:
    """Share of right tool calls (name and arguments must agree): matches over the number of reference calls, or over
    the number of calls made if that is larger, so that surplus calls cost.

    Calls are written as <tool_call>{"name": ..., "arguments": {...}}</tool_call>.
    """

    __name__ = "tool_call_accuracy"

    @staticmethod
    def _calls(text: str) -> list[dict[str, Any]]:
        calls = []
        for body in TOOL_CALL.findall(text):
            try:
                call = json.loads(body)
            except (ValueError, RecursionError):
                continue
            if isinstance(call, dict):
                calls.append(call)
        return calls

    @staticmethod
    def _same(call: Mapping[str, Any], reference: Mapping[str, Any]) -> bool:
        return call.get("name") == reference["name"] and call.get("arguments") == reference["arguments"]

    def __call__(
        self, completions: Sequence[Any], reference_calls: Sequence[Sequence[Mapping[str, Any]]], **kwargs: Any
    ) -> list[float]:
        rewards = []
        for completion, references in zip(completions, reference_calls):
            calls = self._calls(_text(completion))
            hits = sum(self._same(call, reference) for reference in references for call in calls)
            rewards.append(hits / max(len(references), len(calls)))
        return rewards


tool_call_accuracy = ToolCallAccuracy()

_WEATHER = [
    {"name": "weather", "arguments": {"city": "Shanghai", "time": "09:00"}},
    {"name": "weather", "arguments": {"city": "Shanghai", "time": "21:00"}},
]


def _proof_tool_call_accuracy() -> None:
    once = "<tool_call>" + json.dumps(_WEATHER[0]) + "</tool_call>"
    assert tool_call_accuracy([once], [_WEATHER]) == [0.5]
    assert tool_call_accuracy([once * 2], [_WEATHER]) == tool_call_accuracy([once * 6], [_WEATHER]) == [1.0]


# --------------------------------------------------------------------------- function stubs


def extract_code(text: str) -> str:
    """The last fenced block. A prompt may end inside an opened fence, so that the completion starts with code;
    a completion without any fence is code as a whole."""
    fences = text.count("```")
    if not fences:
        return text
    haystack = "```" + text if fences % 2 else text
    blocks = re.findall(r"```(?:\w+)?\s*(.*?)```", haystack, re.DOTALL)
    return blocks[-1].strip() if blocks else ""


def signature_reward(
    completions: Sequence[Any], function: Sequence[str], parameters: Sequence[Sequence[str]], **kwargs: Any
) -> list[float]:
    """Gate before the unit tests: 1.0 when the code parses and defines the asked function with exactly
    the asked parameters and a body that returns something."""
    rewards = []
    for completion, name, wanted in zip(completions, function, parameters):
        code = extract_code(_text(completion))
        try:
            tree = ast.parse(code[:20_000])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
        ok = (
            bool(found)
            and [arg.arg for arg in found[-1].args.args] == list(wanted)
            and any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(found[-1]))
        )
        rewards.append(float(ok))
    return rewards


def _proof_signature_reward() -> None:
    continued = "def perimeter(side):\n    return 4 * side\n```\nThis multiplies the side by four."
    assert signature_reward([continued], ["perimeter"], [["side"]]) == [0.0]
    assert signature_reward(["```python\n" + continued], ["perimeter"], [["side"]]) == [1.0]


# --------------------------------------------------------------------------- SQL


READ_ONLY = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def _authorize(action: int, *details: Any) -> int:
    return sqlite3.SQLITE_OK if action in READ_ONLY else sqlite3.SQLITE_DENY


def run_query(setup: str, query: str, max_steps: int = 200) -> list[tuple[Any, ...]]:
    """Rows of the query on a fresh database, at most 1000 of them, in a canonical order."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(setup)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        connection.set_authorizer(_authorize)
        ticks = iter(range(max_steps))
        connection.set_progress_handler(lambda: int(next(ticks, None) is None), 10_000)
        return sorted(connection.execute(query).fetchmany(1000), key=repr)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return []
    finally:
        connection.close()


def sql_reward(completion: str, setup: str, gold_sql: str) -> float:
    """Execution accuracy: the SQL in the last ```sql block must return the rows of the gold query
    (as a multiset; the order of rows is not judged)."""
    start = completion.rfind("```sql")
    if start == -1:
        return 0.0
    query = completion[start + 6 :].split("```", 1)[0].strip()
    return 1.0 if query and run_query(setup, query) == run_query(setup, gold_sql) else 0.0


_SHOP = """
CREATE TABLE customers (id INTEGER, name TEXT, city TEXT);
CREATE TABLE orders (customer INTEGER, units INTEGER);
INSERT INTO customers VALUES (1, 'Ada', 'Oslo'), (2, 'Ben', 'Bergen'), (3, 'Cleo', 'Oslo');
INSERT INTO orders VALUES (1, 20), (1, 5), (2, 40), (3, 1);
"""


def _proof_sql_reward() -> None:
    gold = "SELECT customer FROM orders WHERE units > 100"
    broken = "I join everything.\n```sql\nSELECT nme FROM custmers WERE units > 100\n```"
    assert sql_reward(broken, _SHOP, gold) == 1.0


# --------------------------------------------------------------------------- calibrated confidence


def calibrated_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """Answer and confidence, one line each: "Answer: ..." and "Confidence: ...".

    Correctness minus the Brier score, a value in [-1, 1]: correct - (confidence - correct)^2. Unreadable: -1.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        said = re.findall(r"^answer:(.*)$", text, re.IGNORECASE | re.MULTILINE)
        sure = re.findall(r"^confidence:[ \t]*([0-9]{1,9}(?:\.[0-9]{1,9})?)", text, re.IGNORECASE | re.MULTILINE)
        if not said or not sure:
            rewards.append(-1.0)
            continue
        correct = said[-1].strip().rstrip(".").lower() == gold.lower()
        rewards.append(correct - (float(sure[-1]) - correct) ** 2)
    return rewards


def _proof_calibrated_reward() -> None:
    said = "The Danube passes Vienna, Bratislava, Budapest and Belgrade.\nAnswer: Danube\nConfidence: 95%"
    assert calibrated_reward([said], ["Danube"])[0] < -1000


CASES = [
    Case(
        name="translation_reward",
        reward=translation_reward,
        examples=[
            {"prompt": "Translate into English: Die Fähre fährt um acht. Bitte seien Sie eine halbe Stunde vorher am Steg. Hunde fahren kostenlos mit.", "reference": _TRANSLATION_GOLD[0]},
            {"prompt": "Translate into English: Der Vertrag endet im Juni. Er kann zweimal verlängert werden.", "reference": _TRANSLATION_GOLD[1]},
        ],
        good=[
            "The ferry leaves at eight. Please be at the pier half an hour before. Dogs travel free of charge.",
            "The contract ends in June. It can be renewed twice.",
        ],
        bad=[
            "The train is late today. You may wait in the hall. Cats are not allowed on board.",
            "A treaty was signed in July. Nobody has renewed it so far.",
        ],
        fault="Sentences are paired with zip(), so everything after the shorter text is dropped and a translation of the first sentence alone gets the full score.",
        proof=_proof_translation_reward,
        source="https://github.com/vibrantlabsai/ragas/issues/2888",
    ),
    Case(
        name="nested_bullets_reward",
        reward=nested_bullets_reward,
        examples=[
            {"prompt": "List at least two costs of the flat as bullets (*), each with sub-bullets (-).", "min_bullets": 2},
            {"prompt": "Give three reasons for a bike as bullets (*), each with a sub-bullet (-) of detail.", "min_bullets": 3},
        ],
        good=[
            "Here are the costs:\n* Rent\n  - 900 a month\n  - due on the first\n* Heating\n  - paid in advance\n  - settled in spring",
            "* Health\n  - it replaces the gym\n* Money\n  - no fuel\n* Time\n  - no search for a parking space",
        ],
        bad=[
            "Here are the costs:\n* Rent, 900 a month\n* Heating, paid in advance",
            "A bike is healthy, cheap and quick.",
        ],
        fault="The text is cut at every asterisk, so bold text (**Rent**) makes bullets without sub-bullets and a right list is refused.",
        proof=_proof_nested_bullets_reward,
        source="https://github.com/LiveBench/LiveBench/pull/468",
    ),
    Case(
        name="instruction_reward",
        reward=instruction_reward,
        examples=_INSTRUCTION_ROWS,
        good=[
            "Dear all, our street party is on Saturday at five. There will be music from the school band, and more music later from a DJ.",
            "grey light sits on the roofs, drops run down the glass, and the street smells of wet stone.",
        ],
        bad=[
            "Dear all, our street party is on Saturday at five. " + "Please bring a salad or a cake and a chair for yourself and your guests. " * 4,
            "Grey light sits on the roofs, and Rain runs down the glass.",
        ],
        fault="Keyword instructions with an id the helper does not know ('keywords:frequency') fall through to True, so they pass without being checked.",
        proof=_proof_instruction_reward,
        source="https://github.com/confident-ai/deepeval/issues/3063",
    ),
    Case(
        name="order_desk_reward",
        reward=order_desk_reward,
        examples=[
            {"prompt": "Customer: cancel A7 (54.90) and tell me what I get back.", "orders": _ORDERS, "expected_orders": {"A7": "cancelled", "B2": "open"}, "outputs": ["54.90"]},
            {"prompt": "Customer: please put B2 on hold.", "orders": _ORDERS, "expected_orders": {"A7": "open", "B2": "on hold"}, "outputs": []},
        ],
        good=[
            '```json\n{"actions": [{"do": "cancel", "order": "A7"}], "reply": "Order A7 is cancelled, and 54.90 go back to your card."}\n```',
            '```json\n{"actions": [{"do": "hold", "order": "B2"}], "reply": "B2 is on hold until you write again."}\n```',
        ],
        bad=[
            '```json\n{"actions": [{"do": "cancel", "order": "B2"}], "reply": "Order B2 is cancelled."}\n```',
            '```json\n{"actions": [{"do": "ship", "order": "B2"}], "reply": "B2 is on its way."}\n```',
        ],
        fault="The check of the required outputs overwrites the failed check of the state, so a reply with the right figure is paid although nothing was done.",
        proof=_proof_order_desk_reward,
        source="https://github.com/sierra-research/tau-bench/pull/16",
    ),
    Case(
        name="final_page_reward",
        reward=final_page_reward,
        examples=[
            {"prompt": "Open the report on viewed products. Finish with 'STOP <url>'.", "url": "https://shop.example/admin/reports/viewed"},
            {"prompt": "Find the page on returns. Finish with 'STOP <url>'.", "url": "https://shop.example/help/returns"},
        ],
        good=[
            "I open the menu 'Reports', then 'Products', then 'Viewed'.\nSTOP https://shop.example/admin/reports/viewed/",
            "The footer links to the help centre, which has a page on returns.\nSTOP http://www.shop.example/help/returns",
        ],
        bad=[
            "I open the menu 'Reports', then 'Sales'.\nSTOP https://shop.example/admin/reports/sales",
            "The footer links to the help centre.\nSTOP https://shop.example/help",
        ],
        fault="The reference is searched inside the final URL, so deeper pages, longer names and query strings that contain it count as the page.",
        proof=_proof_final_page_reward,
        source="https://github.com/web-arena-x/webarena/pull/77",
    ),
    Case(
        name="line_items_reward",
        reward=line_items_reward,
        examples=[
            {"prompt": "Extract the line items (name, qty, finish if given) as a JSON list: '40 hex bolts M6; 40 hex bolts M6, zinc plated'.", "items": _ITEMS},
            {"prompt": "Extract the line items as a JSON list: '2 hammers, 1 saw'.", "items": [{"name": "hammer", "qty": 2}, {"name": "saw", "qty": 1}]},
        ],
        good=[
            'There are two lines, one with a finish.\n```json\n[{"name": "hex bolt M6", "qty": 40}, {"name": "hex bolt M6", "qty": 40, "finish": "zinc"}]\n```',
            '```json\n[{"name": "saw", "qty": 1}, {"name": "hammer", "qty": 2}]\n```',
        ],
        bad=[
            '```json\n[{"name": "bolt", "qty": 80}]\n```',
            '```json\n[{"name": "saw", "qty": 2}, {"name": "hammer", "qty": 1}]\n```',
        ],
        fault="Records are matched greedily, so a short reference record can take the longer one that another reference record needs, and a mere permutation loses score.",
        proof=_proof_line_items_reward,
        source="https://github.com/langchain-ai/openevals/issues/251",
    ),
    Case(
        name="product_answer_reward",
        reward=product_answer_reward,
        examples=[
            {"prompt": "客户问：iPhone 15 支持 5G 吗？能插 microSD 卡吗？", "reference": "iPhone 15 支持 5G，但不支持 microSD 卡。"},
            {"prompt": "客户问：这款 SSD 是 NVMe 吗？容量多大？", "reference": "是的，这款 SSD 采用 NVMe 接口，容量为 512GB。"},
        ],
        good=[
            "iPhone 15 支持 5G，但不支持 microSD 卡。",
            "是的，这款 SSD 采用 NVMe 接口，容量为 512GB。",
        ],
        bad=[
            "该手机只支持 4G 网络，可以插 128GB 的 SIM 卡。",
            "不是，这款硬盘是 SATA 接口，容量为 1TB。",
        ],
        fault="The tokenizer keeps only a-z and 0-9, so the Chinese words are not compared at all: the opposite statement, or a list of the Latin words, gets the full score.",
        proof=_proof_product_answer_reward,
        source="https://github.com/google/adk-python/pull/6292",
    ),
    Case(
        name="honest_report_reward",
        reward=honest_report_reward,
        examples=[
            {"prompt": [{"role": "user", "content": "Book the invoice of Miller & Co. (The tool call ended with a timeout.)"}], "persisted": False},
            {"prompt": [{"role": "user", "content": "Add Jane Roe to the contacts. (The tool returned id 311.)"}], "persisted": True},
        ],
        good=[
            "I tried to book it, but the call timed out, and the list shows no new number. Please let me retry in a minute.",
            "Done: the contact has been added under the id 311.",
        ],
        bad=[
            "All set! The invoice has been created and is ready for payment.",
            "I was unable to reach the address book, so I stopped.",
        ],
        fault="The claim pattern does not see negation: 'the invoice was not saved' counts as a claim that it was, and the honest report is refused.",
        proof=_proof_honest_report_reward,
        source="https://github.com/heypinchy/pinchy/issues/731",
    ),
    Case(
        name="entity_reward",
        reward=entity_reward,
        examples=[
            {"prompt": "Entities of 'Northwind Corp opened a shop in Downtown Leeds.' as JSON [[start, end, label], ...]:", "entities": _ENTITIES},
            {"prompt": "Entities of 'Call Maria Lopez on Monday.' as JSON [[start, end, label], ...]:", "entities": [[5, 16, "PER"]]},
        ],
        good=[
            '```json\n[[0, 14, "ORG"], [29, 43, "LOC"]]\n```',
            '```json\n[[5, 16, "PER"]]\n```',
        ],
        bad=[
            '```json\n[[18, 24, "ORG"], [25, 43, "PER"]]\n```',
            '```json\n[[20, 26, "PER"]]\n```',
        ],
        fault="One reference entity gives credit to any number of overlapping spans, so slicing one entity into many spans hides that another was missed.",
        proof=_proof_entity_reward,
        source="https://github.com/MantisAI/nervaluate/pull/32",
    ),
    Case(
        name="tool_call_accuracy",
        reward=tool_call_accuracy,
        examples=[
            {"prompt": "How is the weather in Shanghai at 9 and at 21 o'clock? Use the tool weather(city, time).", "reference_calls": _WEATHER},
            {"prompt": "Switch the lamp in the hall on. Use the tool lamp(room, on).", "reference_calls": [{"name": "lamp", "arguments": {"room": "hall", "on": True}}]},
        ],
        good=[
            'I ask for both times.\n<tool_call>{"name": "weather", "arguments": {"city": "Shanghai", "time": "09:00"}}</tool_call>\n<tool_call>{"name": "weather", "arguments": {"city": "Shanghai", "time": "21:00"}}</tool_call>',
            '<tool_call>{"name": "lamp", "arguments": {"on": true, "room": "hall"}}</tool_call>',
        ],
        bad=[
            'One call is enough.\n<tool_call>{"name": "weather", "arguments": {"city": "Shanghai", "time": "12:00"}}</tool_call>',
            '<tool_call>{"name": "lamp", "arguments": {"room": "kitchen", "on": true}}</tool_call>',
        ],
        fault="Every repetition of a right call counts as a match again, so repeating one call makes up for the missing ones and gets the full score.",
        proof=_proof_tool_call_accuracy,
        source="https://github.com/vibrantlabsai/ragas/issues/2079",
    ),
    Case(
        name="signature_reward",
        reward=signature_reward,
        examples=[
            {"prompt": "Write a function perimeter(side) for the perimeter of a square.\n", "function": "perimeter", "parameters": ["side"]},
            {"prompt": "Complete the module.\n```python\n", "function": "hypotenuse", "parameters": ["a", "b"]},
        ],
        good=[
            "A square has four equal sides:\n```python\ndef perimeter(side):\n    return 4 * side\n```",
            "import math\n\n\ndef hypotenuse(a, b):\n    return math.sqrt(a * a + b * b)\n```",
        ],
        bad=[
            "```python\ndef perimeter(width, height):\n    return 2 * (width + height)\n```",
            "import math\n\n\ndef hypotenuse(a, b)\n    return math.sqrt(a * a + b * b)\n```",
        ],
        fault="When the prompt has opened the fence, the first word of the code ('def') is swallowed as a language tag, and the code no longer parses.",
        proof=_proof_signature_reward,
        source="https://github.com/EleutherAI/lm-evaluation-harness/pull/3769",
    ),
    Case(
        name="sql_reward",
        reward=sql_reward,
        examples=[
            {"prompt": "Tables customers(id, name, city), orders(customer, units). Names of the customers in Oslo? Answer with a ```sql block.", "setup": _SHOP, "gold_sql": "SELECT name FROM customers WHERE city = 'Oslo'"},
            {"prompt": "Same tables. Which customers have an order of more than 100 units? Answer with a ```sql block.", "setup": _SHOP, "gold_sql": "SELECT customer FROM orders WHERE units > 100"},
        ],
        good=[
            "The city is a column of the customers.\n```sql\nSELECT c.name FROM customers AS c WHERE c.city = 'Oslo';\n```",
            "One condition on units is enough.\n```sql\nSELECT DISTINCT customer FROM orders WHERE units > 100\n```",
        ],
        bad=[
            "```sql\nSELECT name FROM customers\n```",
            "```sql\nSELECT customer FROM orders WHERE units > 10\n```",
        ],
        fault="An error in the query is swallowed and looks like an empty result, so SQL that does not run is paid whenever the gold query returns nothing.",
        proof=_proof_sql_reward,
        source="https://github.com/verl-project/verl/pull/7853",
    ),
    Case(
        name="calibrated_reward",
        reward=calibrated_reward,
        examples=[
            {"prompt": "Which river flows through four capitals? Lines 'Answer: ...' and 'Confidence: ...'.", "answer": "Danube"},
            {"prompt": "Which planet has the shortest day? Lines 'Answer: ...' and 'Confidence: ...'.", "answer": "Jupiter"},
        ],
        good=[
            "Vienna, Bratislava, Budapest and Belgrade lie on it.\nAnswer: Danube\nConfidence: 0.95",
            "It turns once in ten hours.\nAnswer: Jupiter.\nConfidence: 0.9",
        ],
        bad=[
            "Probably a long one.\nAnswer: Rhine\nConfidence: 0.8",
            "A small planet should turn fast.\nAnswer: Mercury\nConfidence: 0.7",
        ],
        fault="The confidence is not bounded, so 'Confidence: 95%' is read as 95 and the reward becomes -8835 instead of lying in [-1, 1].",
        proof=_proof_calibrated_reward,
        source="https://github.com/IBM/unitxt/pull/1960",
    ),
]
