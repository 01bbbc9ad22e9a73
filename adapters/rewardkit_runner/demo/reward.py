"""The demo's reward: four components, a gate and a schedule.

``{"name":"Mia","qty":31,"item":"toy","color":"red"}`` for the order it stands for scores 1.0;
``Sure, here it is: {"name":"Mia"}`` stays before the gate and earns only what its last brace is worth.
"""

from __future__ import annotations

import json
from typing import Any

import rewardkit as rk
from rewardkit_runner.demo.task import ORDER_SCHEMA


def read_object(completion: str) -> dict[str, Any] | None:
    """The JSON object that the whole completion is, else None. Completions are untrusted: nothing gets out."""
    try:
        value = json.loads(completion)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def same(value: object, gold: object) -> bool:
    """Equal and of one type: ``True`` is no 1, and ``31.0`` is no 31."""
    return type(value) is type(gold) and value == gold


@rk.reward
def bare_json(completion: str) -> float:
    """A third each for opening with a brace, for closing with one, and for being a JSON object.

    The warm start hardly ever writes a valid object. The thirds are the slope that leads there.
    """
    text = completion.strip()
    marks = (text.startswith("{"), text.endswith("}"), read_object(completion) is not None)
    return sum(marks) / len(marks)


@rk.reward
def right_fields(completion: str, order: dict[str, Any]) -> float:
    """The share of the order's fields that hold the right value."""
    answer = read_object(completion) or {}
    return sum(same(answer.get(field), gold) for field, gold in order.items()) / len(order)


@rk.reward
def exact_order(completion: str, order: dict[str, Any]) -> float:
    """1 for the whole order and nothing else."""
    answer = read_object(completion)
    exact = answer is not None and answer.keys() == order.keys() and all(same(answer[key], order[key]) for key in order)
    return float(exact)


# The condition earns something by itself: a gate whose condition pays nothing has no slope that leads to it.
# The bonus comes in slowly: at first the partial credit teaches, in the end only the whole order is good enough.
reward = 0.2 * bare_json + rk.gate(
    when=bare_json,
    then=0.2 * rk.json_schema(ORDER_SCHEMA, credit="partial")
    + 0.3 * right_fields
    + 0.3 * exact_order * rk.schedules.linear(0.0, 1.0, end=0.5),
)
