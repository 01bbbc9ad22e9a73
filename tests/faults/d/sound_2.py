"""Rewards for extraction, retrieval, question answering and tool calls."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.faults.case import Case


def _blocks(text: str, opening: str, closing: str) -> list[str | None]:
    """All opening...closing blocks, left to right, in linear time, and None for a last one that is not closed."""
    found: list[str | None] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            found.append(None)
            break
        found.append(text[start + len(opening) : end])
        position = end + len(closing)
    return found


def _f1(hits: float, said: float, wanted: float) -> float:
    return 2.0 * hits / (said + wanted) if said + wanted else 1.0


# --- strict JSON ------------------------------------------------------------------------


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _strict_json(text: str) -> Any:
    """The parsed text. ValueError for anything that is not JSON, for repeated keys, NaN, and for absurd depth or size."""
    if len(text) > 200_000:
        raise ValueError("too long")
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("too deep") from None


def _canonical(value: Any, depth: int = 0) -> Any:
    """A hashable form in which 5 equals 5.0, but True does not equal 1, and the order of keys doesn't matter."""
    if depth > 50:
        raise ValueError("too deep")
    if isinstance(value, dict):
        return ("object", tuple(sorted((key, _canonical(item, depth + 1)) for key, item in value.items())))
    if isinstance(value, list):
        return ("array", tuple(_canonical(item, depth + 1) for item in value))
    if isinstance(value, bool) or value is None:
        return ("constant", str(value))
    if isinstance(value, (int, float)):
        return ("number", repr(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value))
    return ("string", value)


def _fenced(text: str) -> str:
    """The content of the only ``` fence, or the whole text if there is none."""
    parts = text.split("```")
    if len(parts) == 1:
        return text.strip()
    if len(parts) != 3:
        raise ValueError("more than one block")
    first_line, _, rest = parts[1].partition("\n")
    return (rest if first_line.strip().lower() in ("", "json") else parts[1]).strip()


# --- fields from documents ------------------------------------------------------------------


def _leaves(value: Any) -> Iterable[tuple[tuple, Any]]:
    """(path, leaf) pairs; lists and empty objects are leaves."""
    stack: list[tuple[tuple, Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict) and item:
            stack.extend((path + (key,), child) for key, child in item.items())
        else:
            yield path, _canonical(" ".join(item.split()) if isinstance(item, str) else item)


def _field_f1(text: str, gold: dict) -> float:
    try:
        said = _strict_json(_fenced(text))
        if not isinstance(said, dict) or not said:
            return 0.0
        have, want = set(_leaves(said)), set(_leaves(gold))
    except (ValueError, OverflowError, RecursionError):
        return 0.0
    return _f1(len(have & want), len(have), len(want))


def record_f1_reward(completions, record, **kwargs) -> list[float]:
    """F1 over the (field, value) pairs of the extracted JSON object, nested fields included.

    Left-out, invented and wrong fields all cost something. Values are compared exactly, apart from runs of white
    space and 5 = 5.0. The object stands alone or in one code fence; invalid JSON or repeated keys score 0.0.
    """
    return [_field_f1(text, gold) for text, gold in zip(completions, record)]


# --- tool calls ---------------------------------------------------------------------------------


def _call_key(call: Any) -> Any:
    """A comparable form of {"name": ..., "arguments": {...}}; ValueError if it is something else."""
    if not isinstance(call, dict) or set(call) - {"name", "arguments"} or not isinstance(call.get("name"), str):
        raise ValueError("not a call")
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError("arguments")
    return call["name"], _canonical(arguments)


def tool_calls_f1(completions, calls, **kwargs) -> list[float]:
    """F1 between the <tool_call> blocks of the completion and the expected calls, as multisets (the order is free).

    Names and arguments must match exactly. Unwanted, repeated, malformed and unclosed calls lower the precision.
    Where no call is expected, a reply without calls is right (1.0). The text around the calls is not judged, but a
    blank completion scores 0.0.
    """
    rewards = []
    for completion, wanted in zip(completions, calls):
        if not completion.strip():
            rewards.append(0.0)
            continue
        expected = Counter(_call_key(call) for call in wanted)
        said: Counter = Counter()
        for number, block in enumerate(_blocks(completion, "<tool_call>", "</tool_call>")):
            try:
                said[_call_key(_strict_json((block or "").strip()))] += 1
            except (ValueError, OverflowError, RecursionError):
                said["malformed", number] += 1
        rewards.append(_f1(sum((said & expected).values()), sum(said.values()), sum(expected.values())))
    return rewards


# --- citations ---------------------------------------------------------------------------------------

_CITATION = re.compile(r"\[([0-9]{1,3}(?:[ ]?[,;–-][ ]?[0-9]{1,3}){0,40})\]")


def _cited(text: str) -> set[int]:
    numbers: set[int] = set()
    for group in _CITATION.findall(text):
        for part in re.split(r"[,;]", group):
            ends = [int(number) for number in re.split(r"[–-]", part)]
            if len(ends) == 2 and ends[0] <= ends[1] <= ends[0] + 50:
                numbers.update(range(ends[0], ends[1] + 1))
            else:
                numbers.update(ends)
    return numbers


def citations_f1(completion: str, sources: list) -> float:
    """F1 between the set of passages cited and the set of supporting passages.

    Reads [2], [1][3], [1, 3], [1; 3] and [1-3]. Only the citations are judged, not the answer's content.
    """
    said, wanted = _cited(completion), set(sources)
    return _f1(len(said & wanted), len(said), len(wanted))


# --- ranking --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NdcgRanking:
    """nDCG of the ids on the last line that begins with 'Ranking:', best first.

    Only the first mention of an id takes a rank. Ids that don't exist take a rank and gain nothing, and only as many
    ranks count as there are graded documents. No such line: 0.0.
    """

    prefix: str = "ranking:"
    __name__: str = "ndcg_ranking"

    def _ranked(self, text: str) -> list[str]:
        for line in reversed(text.splitlines()):
            plain = line.replace("*", "").strip()
            if plain.lower().startswith(self.prefix):
                return list(dict.fromkeys(re.findall(r"\bD[0-9]{1,6}\b", plain)))
        return []

    def __call__(self, completions, relevance, **kwargs) -> list[float]:
        rewards = []
        for completion, grades in zip(completions, relevance):
            ranked = self._ranked(completion)[: len(grades)]
            gained = self._dcg(grades.get(document, 0) for document in ranked)
            ideal = self._dcg(sorted(grades.values(), reverse=True))
            rewards.append(gained / ideal if ideal > 0 else 0.0)
        return rewards

    @staticmethod
    def _dcg(grades: Iterable[float]) -> float:
        return sum((2.0**grade - 1.0) / math.log2(rank + 2) for rank, grade in enumerate(grades))


ndcg_ranking = NdcgRanking()


# --- evidence ----------------------------------------------------------------------------------------------

_QUOTE = re.compile(r'quote[ *]*:[ *]*["“]([^"“”\n]{1,2000})["”]', re.IGNORECASE)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _contains(words: list[str], part: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def evidence_quote_reward(completion: str, passage: str, evidence: str) -> float:
    """How well the quote on the last line 'Quote: "..."' hits the evidence sentence: F1 over words, from 0.0 to 1.0.

    The quote must stand in the passage word for word (case and punctuation don't matter), else 0.0. Quoting one word
    of the sentence, or the whole passage around it, therefore earns little.
    """
    quotes = _QUOTE.findall(completion)
    said = _words(quotes[-1]) if quotes else []
    wanted = _words(evidence)
    if not said or not _contains(_words(passage), said):
        return 0.0
    return _f1(sum((Counter(said) & Counter(wanted)).values()), len(said), len(wanted))


# --- entities -------------------------------------------------------------------------------------------------


def _entity_counts(text: str) -> Counter | None:
    try:
        items = _strict_json(_fenced(text))
    except ValueError:
        return None
    if not isinstance(items, list) or len(items) > 500:
        return None
    counts: Counter = Counter()
    for item in items:
        if not isinstance(item, dict) or set(item) != {"text", "label"}:
            return None
        if not all(isinstance(value, str) for value in item.values()):
            return None
        counts[" ".join(item["text"].split()), item["label"]] += 1
    return counts


def entity_f1_reward(completions, entities, **kwargs) -> list[float]:
    """NER: F1 over the multiset of (text, label) in a JSON list; -0.5 when the output is not such a list.

    Texts and labels are case-sensitive. A name that occurs twice must be listed twice. An empty list is the right
    answer for a sentence without entities.
    """
    rewards = []
    for completion, gold in zip(completions, entities):
        said = _entity_counts(completion)
        wanted = Counter((item["text"], item["label"]) for item in gold)
        if said is None:
            rewards.append(-0.5)
        else:
            rewards.append(_f1(sum((said & wanted).values()), sum(said.values()), sum(wanted.values())))
    return rewards


# --- reading comprehension ---------------------------------------------------------------------------------------

_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’")


def _squad_tokens(text: str) -> list[str]:
    tokens = text.lower().translate(_PUNCTUATION).split()
    return [token for token in tokens if token not in _ARTICLES] or tokens


def span_f1_reward(completions, answers, **kwargs) -> list[float]:
    """SQuAD F1: word overlap of the last 'Answer: ...' line with the best of the accepted answers, from 0.0 to 1.0.

    Case, punctuation and articles are ignored. Extra words cost precision, so listing several candidates does not pay.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        lines = re.findall(r"answer[ *]*:([^\n]*)", completion, re.IGNORECASE)
        said = Counter(_squad_tokens(lines[-1])) if lines else Counter()
        best = 0.0
        for answer in accepted:
            wanted = Counter(_squad_tokens(answer))
            if said and wanted:
                best = max(best, _f1(sum((said & wanted).values()), sum(said.values()), sum(wanted.values())))
        rewards.append(best)
    return rewards


# --- several right options -----------------------------------------------------------------------------------------

_OPTIONS_LINE = re.compile(r"answers?[ *]*:([^\n]*)", re.IGNORECASE)


def multi_select_reward(completion: str, correct: str) -> float:
    """Choose all that apply. 1.0 for exactly the right letters, 0.0 as soon as one wrong letter is chosen.

    If some right letters are missing but none is wrong, the share found, times a half. The last line 'Answers: A, C'
    counts and must consist of letters A-H only (separated by commas, spaces or 'and').
    """
    lines = _OPTIONS_LINE.findall(completion)
    tokens = re.findall(r"\w+", lines[-1]) if lines and len(lines[-1]) <= 80 else []
    chosen = {token.upper() for token in tokens if token.lower() != "and"}
    right = set(correct.replace(",", " ").upper().split())
    if not chosen or chosen - right:
        return 0.0
    return 1.0 if chosen == right else 0.5 * len(chosen) / len(right)


# --- a rubric for support mails ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RubricItem:
    name: str
    points: float


_RUBRIC = (
    RubricItem("order number", 0.3),
    RubricItem("refund", 0.3),
    RubricItem("closing", 0.2),
    RubricItem("length", 0.2),
)
_AMOUNT = re.compile(r"\$[ ]?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(\.[0-9]{1,2})?(?![0-9]|\.[0-9])")
_ORDER = re.compile(r"#([0-9]{1,12})(?![0-9])")


def _met(item: RubricItem, mail: str, order: str, refund: float) -> bool:
    if item.name == "order number":
        return {number for number in _ORDER.findall(mail)} == {order}
    if item.name == "refund":
        amounts = {float(whole.replace(",", "") + cents) for whole, cents in _AMOUNT.findall(mail)}
        return amounts == {round(refund, 2)}
    if item.name == "closing":
        return mail.rstrip().endswith("Kind regards,\nSupport")
    return 25 <= len(mail.split()) <= 120


def support_mail_rubric(completions, order, refund, **kwargs) -> list[float]:
    """Sum of the rubric points, 0.0 to 1.0: names the order (#n) and no other (0.3), the refund ($) and no other
    amount (0.3), ends with 'Kind regards,\\nSupport' (0.2), has 25 to 120 words (0.2). Tone is judged elsewhere.
    """
    rewards = []
    for mail, number, amount in zip(completions, order, refund):
        points = sum((item.points for item in _RUBRIC if _met(item, mail, number, amount)), 0.0)
        rewards.append(round(points, 6))
    return rewards


# --- dialog state -----------------------------------------------------------------------------------------------------------


_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicates)


def _slots(text: str) -> dict[str, str] | None:
    _, marker, rest = text.rpartition("State:")
    start = rest.find("{", 0, 20)
    if not marker or start < 0:
        return None
    try:
        state, _ = _DECODER.raw_decode(rest[:5000], start)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in state.values()):
        return None
    return {slot: " ".join(str(value).casefold().split()) for slot, value in state.items()}


def joint_goal_reward(completions, state, **kwargs) -> list[float]:
    """Dialog state tracking, joint goal accuracy: 1.0 only if all slots of the JSON object after the last 'State:' are
    right, none missing or invented, else 0.0. Values are compared without regard to case and spacing (whole numbers
    may be bare), slot names exactly.
    """
    rewards = []
    for messages, gold in zip(completions, state):
        said = _slots(messages[-1].get("content") or "")
        wanted = {slot: " ".join(value.casefold().split()) for slot, value in gold.items()}
        rewards.append(1.0 if said is not None and said == wanted else 0.0)
    return rewards


def _call(name: str, **arguments) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


_PASSAGE = "The lighthouse was completed in 1874. Its lamp burned oil until 1921, when it was converted to electricity. It is open to visitors in summer."
_MAIL = "Dear Mr Osei,\n\nThank you for getting in touch about order #{}. We are sorry that the kettle arrived broken. We have refunded ${} to your card today, and you need not send anything back.\n\nKind regards,\nSupport"

CASES = [
    Case(
        "record_f1",
        record_f1_reward,
        [
            {
                "prompt": "Extract name, age and address {city, zip} as JSON: Mara Voss, 41, lives in 20095 Hamburg.",
                "record": {"name": "Mara Voss", "age": 41, "address": {"city": "Hamburg", "zip": "20095"}},
            },
            {"prompt": "Extract name, age (null if unknown) and address {city} as JSON: Li Na has moved to Xi'an.", "record": {"name": "Li Na", "age": None, "address": {"city": "Xi'an"}}},
        ],
        [
            '```json\n{"name": "Mara Voss", "age": 41, "address": {"zip": "20095", "city": "Hamburg"}}\n```',
            '{"name": "Li Na", "age": null, "address": {"city": "Xi\'an"}}',
        ],
        [
            '```json\n{"name": "Mara", "age": "41", "address": {"zip": 20095, "city": "Hamburg"}}\n```',
            '{"name": "Li Na", "age": 0, "address": "Xi\'an"}',
        ],
    ),
    Case(
        "tool_calls_f1",
        tool_calls_f1,
        [
            {
                "prompt": "Tools: get_weather(city, days), search(query). User: Weather in Rome and Paris for 3 days?",
                "calls": [{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}, {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}],
            },
            {"prompt": "Tools: get_weather(city, days), search(query). User: Thanks, that's all.", "calls": []},
        ],
        [
            "I'll look up both.\n" + _call("get_weather", days=3, city="Paris") + "\n" + _call("get_weather", city="Rome", days=3),
            "You're welcome. Have a good trip!",
        ],
        [
            "I'll look it up.\n" + _call("get_weather", city="Rome", days=5),
            "Let me check again.\n" + _call("search", query="weather"),
        ],
    ),
    Case(
        "citations_f1",
        citations_f1,
        [
            {"prompt": "Answer from passages [1]-[5], citing them: When did the bridge open, and who designed it?", "sources": [1, 3]},
            {"prompt": "Answer from passages [1]-[6], citing them: What do the reviews criticise?", "sources": [2, 3, 4]},
        ],
        [
            "The bridge opened in 1932 and was designed by John Bradfield [1, 3].",
            "They criticise the battery, the weight and the price [2-4].",
        ],
        [
            "The bridge opened in 1932 [2] and was designed by John Bradfield [5].",
            "They criticise the battery [2], the colour [5] and the name [6].",
        ],
    ),
    Case(
        "ndcg_first_mentions",
        ndcg_ranking,
        [
            {"prompt": "Rank D1-D4 for the query 'heat pump noise limits'. End with 'Ranking: ...'.", "relevance": {"D1": 0, "D2": 3, "D3": 1, "D4": 2}},
            {"prompt": "Rank D1-D3 for the query 'sourdough hydration'. End with 'Ranking: ...'.", "relevance": {"D1": 2, "D2": 0, "D3": 1}},
        ],
        [
            "D2 quotes the legal limits, D4 measures noise, D3 mentions it.\nRanking: D2 > D4 > D3 > D1",
            "D1 is about hydration, D3 touches on it.\n**Ranking:** D1, D3, D2",
        ],
        [
            "I keep the order in which they came.\nRanking: D1 > D3 > D4 > D2",
            "Yeast matters most.\n**Ranking:** D2, D3, D1",
        ],
    ),
    Case(
        "evidence_quote_f1",
        evidence_quote_reward,
        [
            {
                "prompt": f"{_PASSAGE}\nWhen did the lamp become electric? Quote the sentence that says so: Quote: \"...\"",
                "passage": _PASSAGE,
                "evidence": "Its lamp burned oil until 1921, when it was converted to electricity.",
            },
            {
                "prompt": f"{_PASSAGE}\nCan one visit it in July? Quote the sentence that says so: Quote: \"...\"",
                "passage": _PASSAGE,
                "evidence": "It is open to visitors in summer.",
            },
        ],
        [
            'The change came in 1921.\nQuote: "Its lamp burned oil until 1921, when it was converted to electricity."',
            'July is in summer, so yes.\nQuote: “It is open to visitors in summer.”',
        ],
        [
            'It was electric from the start.\nQuote: "The lighthouse was completed in 1874."',
            'Yes, visitors are welcome.\nQuote: "Visitors are welcome all year."',
        ],
    ),
    Case(
        "entity_f1_or_penalty",
        entity_f1_reward,
        [
            {
                "prompt": "List the entities as JSON [{\"text\": ..., \"label\": PER/ORG/LOC}]: Ada Byrne left Siemens for a start-up in Cork.",
                "entities": [{"text": "Ada Byrne", "label": "PER"}, {"text": "Siemens", "label": "ORG"}, {"text": "Cork", "label": "LOC"}],
            },
            {"prompt": "List the entities as JSON [{\"text\": ..., \"label\": PER/ORG/LOC}]: It rained all day.", "entities": []},
        ],
        [
            '[{"text": "Ada Byrne", "label": "PER"}, {"text": "Siemens", "label": "ORG"}, {"text": "Cork", "label": "LOC"}]',
            "[]",
        ],
        [
            '[{"text": "Ada", "label": "PER"}, {"text": "Siemens", "label": "ORG"}, {"text": "Cork", "label": "ORG"}]',
            '[{"text": "It", "label": "PER"}]',
        ],
    ),
    Case(
        "span_f1_aliases",
        span_f1_reward,
        [
            {"prompt": "Text: The treaty was signed in the Hall of Mirrors at Versailles.\nWhere was it signed? End with 'Answer: ...'.", "answers": ["the Hall of Mirrors", "Hall of Mirrors at Versailles"]},
            {"prompt": "Text: The team of Dr. Rao needed eleven months.\nHow long did they need? End with 'Answer: ...'.", "answers": ["eleven months", "11 months"]},
        ],
        [
            "The text names the room.\nAnswer: Hall of Mirrors",
            "The duration is given in months.\nAnswer: 11 months.",
        ],
        [
            "The text names the town.\nAnswer: in a palace near Paris",
            "The duration is given.\nAnswer: eleven weeks",
        ],
    ),
    Case(
        "multi_select_letters",
        multi_select_reward,
        [
            {"prompt": "Which are prime? A) 21 B) 23 C) 29 D) 33. Choose all that apply. End with 'Answers: ...'.", "correct": "B, C"},
            {"prompt": "Which are mammals? A) bat B) shark C) whale D) platypus. Choose all that apply. End with 'Answers: ...'.", "correct": "A, C, D"},
        ],
        [
            "21 and 33 are multiples of 3, while 23 and 29 have no divisors.\nAnswers: C, B",
            "All but the shark suckle their young.\n**Answers:** A, C and D",
        ],
        [
            "All odd numbers are candidates.\nAnswers: A, B, C, D",
            "The platypus lays eggs.\n**Answers:** A and C",
        ],
    ),
    Case(
        "support_mail_rubric",
        support_mail_rubric,
        [
            {"prompt": "Write a mail to Mr Osei: the kettle of order #5512 arrived broken, $34.90 were refunded. End with 'Kind regards,\\nSupport'.", "order": "5512", "refund": 34.9},
            {"prompt": "Write a mail to Mr Osei: the kettle of order #880 arrived broken, $1,020 were refunded. End with 'Kind regards,\\nSupport'.", "order": "880", "refund": 1020.0},
        ],
        [_MAIL.format("5512", "34.90"), _MAIL.format("880", "1,020.00")],
        [_MAIL.format("5521", "34.90"), "Dear Mr Osei,\n\nWe have refunded $1,200 for order #880.\n\nBye"],
    ),
    Case(
        "dialog_state_joint_goal",
        joint_goal_reward,
        [
            {
                "prompt": [{"role": "user", "content": "A table for 4 at an Italian place in the centre, please. Track the state: State: {slot: value}."}],
                "state": {"food": "italian", "area": "centre", "people": "4"},
            },
            {"prompt": [{"role": "user", "content": "I need a taxi to the station, any time after 17:30. Track the state: State: {slot: value}."}], "state": {"destination": "station", "leave_after": "17:30"}},
        ],
        [
            'Happy to help. For which day?\nState: {"food": "Italian", "area": "centre", "people": "4"}',
            'Where shall the taxi pick you up?\nState: {"leave_after": "17:30", "destination": "station"}',
        ],
        [
            'Happy to help. For which day?\nState: {"food": "Italian", "people": "4"}',
            'Where shall the taxi pick you up?\nState: {"leave_after": "17:30", "destination": "airport"}',
        ],
    ),
]
