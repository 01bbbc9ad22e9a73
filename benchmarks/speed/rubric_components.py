"""The five components as plain functions on fast libraries, one completion at a time.

``tags("<think>2 + 2</think><answer>{}</answer>")`` is 1.0. TRL's contestant and the peers use exactly these functions,
so only the frameworks differ. The definitions are rewardkit's; the floor implements them again as one function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import jiter
import jsonschema_rs

from benchmarks.speed.rubric_workload import SCHEMA

TAG = re.compile(r"</?(?:think|answer)>")
TAGS_IN_ORDER = ["<think>", "</think>", "<answer>", "</answer>"]
_LAYOUT = re.compile(r"\s*<think>(.*)</think>\s*<answer>(.*)</answer>\s*", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)

REQUIRED: list[str] = SCHEMA["required"]
WHOLE = jsonschema_rs.validator_for(SCHEMA)
BY_PROPERTY = {name: jsonschema_rs.validator_for(SCHEMA["properties"][name]) for name in REQUIRED}


class Missing:
    """Marks that there is no JSON value; the JSON value null is something else."""


MISSING = Missing()


def answer_text(completion: str) -> str | None:
    """Return the text of the only ``<answer>``, or None if there is none or more than one."""
    answers: list[str] = _ANSWER.findall(completion)
    return answers[0] if len(answers) == 1 else None


def answer_value(completion: str) -> Any:
    """Return the JSON value in the answer, or MISSING."""
    text = answer_text(completion)
    if text is None:
        return MISSING
    try:
        return jiter.from_json(text.encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return MISSING


def tags(completion: str) -> float:
    """1 for exactly one of each tag, in order, with nothing outside them and visible text in each."""
    if TAG.findall(completion) != TAGS_IN_ORDER:
        return 0.0
    layout = _LAYOUT.fullmatch(completion)
    return float(layout is not None and bool(layout[1].strip()) and bool(layout[2].strip()))


def json_valid(completion: str) -> float:
    """1 if the answer is JSON."""
    return float(answer_value(completion) is not MISSING)


def schema(completion: str) -> float:
    """The share of the required properties that are present and valid; 1 if the whole value is valid."""
    value = answer_value(completion)
    return 0.0 if value is MISSING else schema_credit(value)


def schema_credit(value: Any) -> float:
    if WHOLE.is_valid(value):
        return 1.0
    if not isinstance(value, dict):
        return 0.0
    return required_and_valid(value) / len(REQUIRED)


def required_and_valid(value: dict[str, Any]) -> int:
    """Return the number of required properties that are present and valid."""
    return sum(name in value and BY_PROPERTY[name].is_valid(value[name]) for name in REQUIRED)


def closeness(completion: str, total: str) -> float:
    """1 at the gold total, falling linearly to 0 where the error is as large as the gold total."""
    value = answer_value(completion)
    return relative_closeness(value.get("total"), float(total)) if isinstance(value, dict) else 0.0


def relative_closeness(value: object, gold: float) -> float:
    """Return 1 - relative error; 0 if `value` is not a number."""
    if type(value) is not float and type(value) is not int:
        return 0.0
    return max(0.0, 1.0 - abs(value - gold) / abs(gold))


def length(completion: str, low: int, high: int) -> float:
    """1 if the number of characters is between `low` and `high`."""
    return float(low <= len(completion) <= high)


def components_of(completion: str, total: str, lengths: tuple[int, int]) -> Mapping[str, float]:
    """Return all five scores of one completion."""
    return {
        "tags": tags(completion),
        "json_valid": json_valid(completion),
        "schema": schema(completion),
        "closeness": closeness(completion, total),
        "length": length(completion, *lengths),
    }
