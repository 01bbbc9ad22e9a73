"""JSON: schemas, gold documents, field by field, tool calls."""

from __future__ import annotations

import json
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, document_in, text_of, visible
from tests.check.tasks import CALLS, CALLS_BAD, CALLS_GOOD

whole = rk.extract.whole()

ORDER = {
    "type": "object",
    "properties": {
        "sku": {"type": "string", "pattern": "^[a-z]-[0-9]+$"},
        "qty": {"type": "integer", "minimum": 1, "maximum": 99},
    },
    "required": ["sku", "qty"],
    "additionalProperties": False,
}


@rk.reward
def field_f1(completion: str, gold: dict[str, Any]) -> float:
    """F1 over the fields: those that are right, against those that were given and those that were wanted."""
    document = document_in(whole(completion) or "")
    if not isinstance(document, dict) or not document:
        return 0.0
    right: int = sum(type(document.get(key)) is type(value) and document[key] == value for key, value in gold.items())
    return 2 * right / (len(document) + len(gold))


def tool_call_reward(completions: list[Messages], call: list[Any], **kwargs: Any) -> list[float]:
    """1.0 where exactly the wanted call is made, in its tags; 0.3 for the right tool with other arguments."""
    scores = []
    for completion, wanted in zip(completions, call, strict=True):
        gold = json.loads(wanted) if isinstance(wanted, str) else wanted
        body, closed, rest = visible(text_of(completion)).partition("<tool_call>")[2].partition("</tool_call>")
        made = document_in(body) if closed and "<tool_call>" not in rest else None
        if not isinstance(made, dict) or made.get("name") != gold["name"]:
            scores.append(0.0)
        else:
            scores.append(1.0 if made == gold else 0.3)
    return scores


CASES = [
    Case(
        "schema_primitive",
        rk.json_schema(ORDER),
        [{"prompt": "Order three of a-7 as JSON."}, {"prompt": "Order one of b-12 as JSON."}],
        ['{"sku": "a-7", "qty": 3}', '```json\n{"sku": "b-12", "qty": 1}\n```'],
        ['{"sku": "a-7", "qty": "three"}', "One of b-12, please."],
    ),
    Case(
        "gold_document_primitive",
        rk.json_match("gold", tolerance=0.01),
        [
            {"prompt": "3 lamps at 19.90. JSON with item, total.", "gold": '{"item": "lamp", "total": 59.7}'},
            {"prompt": "2 desks at 140. JSON with item, total.", "gold": '{"item": "desk", "total": 280}'},
        ],
        ['{"item": "lamp", "total": 59.7}', '{"item": "desk", "total": 280}'],
        ['{"item": "lamp", "total": 39.8}', "280"],
    ),
    Case(
        "fields_f1",
        field_f1,
        [
            {"prompt": "Invoice A-7 over 120.50 EUR. JSON.", "gold": {"number": "A-7", "total": 120.5}},
            {"prompt": "Invoice B-12 over 15 EUR. JSON.", "gold": '{"number": "B-12", "total": 15}'},
        ],
        ['{"number": "A-7", "total": 120.5}', '{"number": "B-12", "total": 15}'],
        ['{"number": "A-7"}', '{"number": "B-12", "total": 15, "tax": 3, "paid": true}'],
    ),
    Case("one_tool_call", tool_call_reward, CALLS, CALLS_GOOD, CALLS_BAD),
]
