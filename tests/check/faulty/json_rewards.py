"""JSON: documents, fields, and tool calls."""

from __future__ import annotations

import json
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, document_in, text_of, unique_keys, visible
from tests.check.tasks import CALLS, CALLS_BAD, CALLS_GOOD

whole = rk.extract.whole()

TICKETS = [
    {"prompt": 'File the ticket as {"label": ...}: I was charged twice.', "label": "billing"},
    {"prompt": 'File the ticket as {"label": ...}: The app closes when I tap on it.', "label": "bug"},
]
TICKETS_GOOD = ['{"label": "billing"}', '{"label": "bug"}']
TICKETS_BAD = ['{"label": "refund"}', "This is a bug."]


@rk.reward
def ticket_label(completion: str, label: str) -> float:
    """1.0 where the document has the gold label and no other key."""
    try:
        pairs = json.loads(whole(completion) or "", object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(pairs, tuple) or {key for key, _ in pairs} != {"label"}:
        return 0.0
    return 1.0 if ("label", label) in pairs else 0.0


def ticket_reward(completions: list[str], label: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the document has the gold label."""
    scores = []
    for completion, gold in zip(completions, label, strict=True):
        try:
            document = json.loads(visible(completion), object_pairs_hook=unique_keys)
        except (ValueError, RecursionError):
            scores.append(0.0)
            continue
        scores.append(1.0 if document.get("label") == gold else 0.0)
    return scores


@rk.reward
def invoice_fields(completion: str, gold: dict[str, Any]) -> float:
    """The share of the fields that are right."""
    document = document_in(whole(completion) or "")
    if not isinstance(document, dict) or not document:
        return 0.0
    right = [key for key, value in document.items() if key in gold and gold[key] == value]
    return len(right) / len(document)


def contact_reward(completions: list[str], name: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the JSON names the right person; 0.0 without JSON."""
    scores = []
    for completion, gold in zip(completions, name, strict=True):
        try:
            document = json.loads(visible(completion), object_pairs_hook=unique_keys)
        except json.JSONDecodeError:
            scores.append(0.0)
            continue
        said = document.get("name") if isinstance(document, dict) else None
        scores.append(1.0 if isinstance(said, str) and said.strip() == gold else 0.0)
    return scores


def total_reward(completions: list[str], total: list[float], **kwargs: Any) -> list[float]:
    """Partial credit by relative error of the "total" in the document, kept between 0 and 1."""
    scores = []
    for completion, gold in zip(completions, total, strict=True):
        try:
            value = json.loads(visible(completion), object_pairs_hook=unique_keys)["total"]
            error = abs(float(value) - float(gold)) / max(1.0, abs(float(gold)))
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError):
            scores.append(0.0)
            continue
        scores.append(max(0.0, min(1.0, 1.0 - error)))
    return scores


def tool_call_reward(completions: list[Messages], call: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the one call that was asked for is made: <tool_call>{"name": ..., "arguments": {...}}</tool_call>."""
    scores = []
    for completion, gold in zip(completions, call, strict=True):
        expected = json.loads(gold)
        made = []
        for part in visible(text_of(completion)).split("<tool_call>")[1:]:
            body, closed, _ = part.partition("</tool_call>")
            made.append(document_in(body) if closed else None)
        scores.append(1.0 if any(each == expected for each in made) else 0.0)
    return scores


CASES = [
    Case(
        "any_duplicate_key_wins",
        ticket_label,
        TICKETS,
        TICKETS_GOOD,
        TICKETS_BAD,
        "Of equal keys, any may have the gold label, so a document with every label in turn is always paid.",
        "pairs of json.loads searched for one",
    ),
    Case(
        "list_in_place_of_object",
        ticket_reward,
        TICKETS,
        TICKETS_GOOD,
        TICKETS_BAD,
        "A JSON list or number has no `get`: AttributeError ends the run.",
        "json.loads(...).get(...) in extraction rewards",
    ),
    Case(
        "share_of_what_was_given",
        invoice_fields,
        [
            {
                "prompt": "Invoice A-7 of 2024-03-01 over 120.50 EUR. Give number, date, total as JSON.",
                "gold": {"number": "A-7", "date": "2024-03-01", "total": 120.5},
            },
            {
                "prompt": "Invoice B-12 of 2024-04-09 over 15 EUR. Give number, date, total as JSON.",
                "gold": {"number": "B-12", "date": "2024-04-09", "total": 15},
            },
        ],
        [
            '{"number": "A-7", "date": "2024-03-01", "total": 120.5}',
            '{"number": "B-12", "date": "2024-04-09", "total": 15}',
        ],
        [
            '{"number": "A-7", "date": "1 March", "total": "120.50 EUR"}',
            '{"number": "12", "date": "2024-09-04", "total": 15}',
        ],
        "The share is taken of the given fields, not of the gold ones: one easy field alone earns full marks.",
        "field accuracy in extraction environments",
    ),
    Case(
        "decode_error_is_not_all",
        contact_reward,
        [
            {"prompt": "Who wrote? JSON with name. 'Best, Ann Lee'", "name": "Ann Lee"},
            {"prompt": "Who wrote? JSON with name. 'Yours, Bo Chen'", "name": "Bo Chen"},
        ],
        ['{"name": "Ann Lee"}', '{"name": "Bo Chen"}'],
        ['{"name": "Ann"}', "Bo Chen wrote it."],
        "Deep nesting raises RecursionError and a number of 5,000 digits a plain ValueError; neither is caught.",
        "except json.JSONDecodeError",
    ),
    Case(
        "nan_survives_the_clamp",
        total_reward,
        [
            {"prompt": "3 lamps at 19.90. JSON with total.", "total": 59.7},
            {"prompt": "2 desks at 140. JSON with total.", "total": 280.0},
        ],
        ['{"total": 59.7}', '{"total": 280}'],
        ['{"total": 39.8}', "The total is 280."],
        "json.loads reads NaN, and min(1.0, nan) is 1.0: the total NaN earns full marks.",
        "max(0.0, min(1.0, x)) around a computed score",
    ),
    Case(
        "any_tool_call_counts",
        tool_call_reward,
        CALLS,
        CALLS_GOOD,
        CALLS_BAD,
        "One right call among any number of wrong ones is paid in full, so calling everything is best.",
        "any(...) over parsed calls in function calling rewards",
    ),
]
