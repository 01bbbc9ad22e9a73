"""The components of the rewards for orders: the form, and the whole order.

``{"name":"Mia","qty":31,"item":"toy","color":"red"}`` for the right order scores 1.0 in both;
``Sure, here it is: {"name":"Mia"}`` earns 1/3 for its last brace, and nothing else.
"""

from __future__ import annotations

import json
from typing import Any

import rewardkit as rk


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
def exact_order(completion: str, order: dict[str, Any]) -> float:
    """1 for the whole order and nothing else."""
    answer = read_object(completion)
    exact = answer is not None and answer.keys() == order.keys() and all(same(answer[key], order[key]) for key in order)
    return float(exact)
