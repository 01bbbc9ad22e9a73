"""Five plain reward functions on ``json`` and ``jsonschema``, as most scripts write them.

They use either ``jsonschema.validate``, the most common way, or validators that are built once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema

from benchmarks.speed import rubric_components as fast
from benchmarks.speed.rubric_components import MISSING, REQUIRED
from benchmarks.speed.rubric_workload import SCHEMA

RewardFunction = Callable[..., list[float]]

_LAYOUT = re.compile(r"\s*<think>(.*?)</think>\s*<answer>(.*?)</answer>\s*", re.DOTALL)
_PREPARED = jsonschema.Draft202012Validator(SCHEMA)
_PREPARED_BY_PROPERTY = {name: jsonschema.Draft202012Validator(SCHEMA["properties"][name]) for name in REQUIRED}


def slow_functions(lengths: tuple[int, int], *, prepared: bool) -> list[RewardFunction]:
    """Return the functions with ``jsonschema.validate``, or with `prepared` validators."""

    def valid(value: Any, name: str | None) -> bool:
        if prepared:
            return bool((_PREPARED_BY_PROPERTY[name] if name else _PREPARED).is_valid(value))
        try:
            jsonschema.validate(value, SCHEMA["properties"][name] if name else SCHEMA)
        except jsonschema.ValidationError:
            return False
        return True

    def answer_value(completion: str) -> Any:
        text = fast.answer_text(completion)
        if text is None:
            return MISSING
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return MISSING

    def schema_credit(value: Any) -> float:
        if value is MISSING:
            return 0.0
        if valid(value, None):
            return 1.0
        if not isinstance(value, dict):
            return 0.0
        return sum(name in value and valid(value[name], name) for name in REQUIRED) / len(REQUIRED)

    def total_credit(value: Any, gold: str) -> float:
        return fast.relative_closeness(value.get("total"), float(gold)) if isinstance(value, dict) else 0.0

    def tags(completions: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for completion in completions:
            layout = _LAYOUT.fullmatch(completion)
            once = all(completion.count(tag) == 1 for tag in fast.TAGS_IN_ORDER)
            scores.append(float(once and layout is not None and all(body.strip() for body in layout.groups())))
        return scores

    def json_valid(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(answer_value(completion) is not MISSING) for completion in completions]

    def schema(completions: list[str], **kwargs: Any) -> list[float]:
        return [schema_credit(answer_value(completion)) for completion in completions]

    def closeness(completions: list[str], total: list[str], **kwargs: Any) -> list[float]:
        return [
            total_credit(answer_value(completion), gold) for completion, gold in zip(completions, total, strict=True)
        ]

    def length(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(lengths[0] <= len(completion) <= lengths[1]) for completion in completions]

    return [tags, json_valid, schema, closeness, length]
