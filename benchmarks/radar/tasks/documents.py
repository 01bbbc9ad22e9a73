"""JSON documents, and keywords of a text: ``a red cup size S`` asks for ``{"item":"cup","color":"red","size":"S"}``."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import rewardkit as rk
from benchmarks.radar.task import Row, Task

_FIELDS = {
    "item": ("cup", "bag", "pen", "hat", "toy", "map"),
    "color": ("red", "blue", "pink", "gray"),
    "size": ("S", "M", "L"),
}
_TEMPLATES = ("a {color} {item} size {size}\n", "{item} in {color}, {size}\n", "size {size}: one {color} {item}\n")
_SCHEMA = {
    "type": "object",
    "properties": {name: {"enum": list(values)} for name, values in _FIELDS.items()},
    "required": list(_FIELDS),
    "additionalProperties": False,
}


def _draw_order(random: Random) -> Row:
    fields = {name: random.choice(values) for name, values in _FIELDS.items()}
    return {"prompt": random.choice(_TEMPLATES).format(**fields), "order": _json(fields)}


def _json(fields: dict[str, str]) -> str:
    return json.dumps(fields, separators=(",", ":"))


def _right_order(random: Random, row: Row) -> str:
    return row["order"]


def _wrong_order(random: Random, row: Row) -> str:
    fields = json.loads(row["order"])
    for name in random.sample(sorted(fields), random.randint(1, 2)):
        fields[name] = random.choice(_FIELDS[name])
    return _json(fields)


def _broken_order(random: Random, row: Row) -> str:
    text = row["order"]
    return text[:-1] if random.random() < 0.5 else text.replace('":"', '":', 1)


def _same_order(random: Random, row: Row) -> str:
    return '{"item":"cup","color":"red","size":"M"}'


def _all_values(random: Random, row: Row) -> str:
    return " ".join(value for values in _FIELDS.values() for value in values)


@rk.reward
def values_anywhere(completion: str, order: dict[str, Any]) -> float:
    """Pay for each right value wherever it is."""
    words = set(completion.replace('"', " ").replace("{", " ").replace("}", " ").replace(",", " ").split())
    return sum(value in words for value in order.values()) / len(order)


@rk.reward
def _order_truth(completion: str, order: dict[str, Any]) -> float:
    try:
        found = json.loads(completion)
    except ValueError:
        return 0.0
    if not isinstance(found, dict) or set(found) != set(order):
        return 0.0
    right = [found[name] == value for name, value in order.items()]
    return float(sum(right) / len(right))


ORDERS = Task(
    name="orders",
    kind="JSON",
    draw=_draw_order,
    habits=(
        (0.30, _right_order),
        (0.35, _wrong_order),
        (0.20, _broken_order),
        (0.08, _same_order),
        (0.07, _all_values),
    ),
    truth=_order_truth,
    sound={
        "match": rk.json_match("order"),
        "schema and match": 0.3 * rk.json_schema(_SCHEMA) + 0.7 * rk.json_match("order"),
        "exact": rk.exact("order"),
        "gate": rk.gate(rk.json_valid(), rk.json_match("order")),
    },
    hackable={
        "anywhere": values_anywhere,
        "schema": 0.8 * rk.json_schema(_SCHEMA) + 0.2 * rk.length.between(30, 39, unit="characters"),
    },
)

_NOUNS = ("cup", "bag", "dog", "car", "hat", "map", "key", "bed")
_PLACES = ("Rome", "Oslo", "Lima", "Cairo")
_FILLERS = ("near", "under", "the", "a", "was", "very", "old", "in", "and", "seen")


def _draw_text(random: Random) -> Row:
    keys = [*random.sample(_NOUNS, 2), random.choice(_PLACES)]
    words = keys + [random.choice(_FILLERS) for _ in range(5)]
    random.shuffle(words)
    return {"prompt": "keys: " + " ".join(words) + "\n", "keys": ",".join(word for word in words if word in keys)}


def _right_keys(random: Random, row: Row) -> str:
    return row["keys"].replace(",", ", ")


def _some_keys(random: Random, row: Row) -> str:
    keys = row["keys"].split(",")
    kept = random.sample(keys, random.randint(1, len(keys) - 1)) + random.sample(_NOUNS, random.randint(0, 2))
    return ", ".join(dict.fromkeys(kept))


def _all_words(random: Random, row: Row) -> str:
    return ", ".join(dict.fromkeys(row["prompt"][6:].split()))


def _one_key(random: Random, row: Row) -> str:
    return row["keys"].split(",")[0]


def _items(completion: str) -> list[str]:
    return [item.strip() for item in completion.split(",") if item.strip()]


@rk.reward
def recall(completion: str, keys: str) -> float:
    """Pay for each key that is listed; nothing is lost by listing more."""
    found = set(_items(completion))
    wanted = keys.split(",")
    return sum(key in found for key in wanted) / len(wanted)


@rk.reward
def precision(completion: str, keys: str) -> float:
    """Pay for the share of listed words that are keys; nothing is lost by listing one."""
    found = _items(completion)
    return sum(item in keys.split(",") for item in found) / len(found) if found else 0.0


@rk.reward
def keys_truth(completion: str, keys: str) -> float:
    found, wanted = set(_items(completion)), set(keys.split(","))
    return len(found & wanted) / len(found | wanted) if found else 0.0


EXTRACT = Task(
    name="extract",
    kind="lists",
    draw=_draw_text,
    habits=((0.30, _right_keys), (0.45, _some_keys), (0.15, _all_words), (0.10, _one_key)),
    truth=keys_truth,
    sound={
        "f1": rk.set_match("keys", separator=","),
        "exact": rk.set_match("keys", separator=",", metric="exact"),
        "f1 and short": rk.set_match("keys", separator=",") + 0.2 * rk.length.between(5, 25, unit="characters"),
        "jaccard": keys_truth,
    },
    hackable={
        "recall": recall,
        "precision": precision,
        "recall and long": recall + 0.3 * rk.length.between(25, 60, unit="characters"),
    },
)
