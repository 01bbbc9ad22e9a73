"""The task of the tiny model: turn an order into JSON.

``send Mia 31 toys in red`` asks for ``{"name":"Mia","qty":31,"item":"toy","color":"red"}``.

Orders are drawn with a seed. Held-out orders come from another stream and never occur in training, in any wording, so
scores on them measure skill, not memory.
"""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import asdict, dataclass
from typing import Any, Literal

NAMES = (
    *("Mia", "Tom", "Ada", "Ben", "Eva", "Leo", "Zoe", "Max"),
    *("Ida", "Jon", "Kim", "Liv", "Ned", "Oda", "Pia", "Sam"),
)
ITEMS = ("toy", "lamp", "book", "chair", "shirt", "pen", "cup", "bag")
COLORS = ("red", "blue", "green", "black", "white", "pink")
SMALLEST_QUANTITY, LARGEST_QUANTITY = 2, 99

TEMPLATES = (
    "send {name} {qty} {item}s in {color}",
    "{name} wants {qty} {color} {item}s",
    "please ship {qty} {item}s to {name}, all {color}",
    "order for {name}: {color} {item}s, {qty} pieces",
)

ORDER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "qty": {"type": "integer", "minimum": 1},
        "item": {"enum": list(ITEMS)},
        "color": {"enum": list(COLORS)},
    },
    "required": ["name", "qty", "item", "color"],
    "additionalProperties": False,
}

Split = Literal["demonstrations", "training", "held-out"]
HELD_OUT_SHARE = 0.1


@dataclass(frozen=True)
class Order:
    """An order: the gold answer of one prompt."""

    name: str
    qty: int
    item: str
    color: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


@dataclass(frozen=True)
class Example:
    """A prompt and its order."""

    prompt: str
    order: Order


def examples(count: int, *, seed: int, split: Split) -> list[Example]:
    """Draw `count` examples of a split; the same seed gives the same examples."""
    # A string as seed keeps the three streams apart, and gives the same numbers in every process.
    generator = random.Random(f"{seed}/{split}")
    drawn: list[Example] = []
    while len(drawn) < count:
        order = _draw_order(generator)
        if _is_held_out(order) == (split == "held-out"):
            words = generator.choice(TEMPLATES).format(**asdict(order))
            drawn.append(Example(prompt=f"{words}\n", order=order))
    return drawn


def as_columns(batch: list[Example]) -> dict[str, list[str]]:
    """Return dataset columns. The gold is JSON text, because Arrow rewrites columns of objects."""
    return {
        "prompt": [example.prompt for example in batch],
        "order": [example.order.to_json() for example in batch],
    }


def _draw_order(generator: random.Random) -> Order:
    return Order(
        name=generator.choice(NAMES),
        qty=generator.randint(SMALLEST_QUANTITY, LARGEST_QUANTITY),
        item=generator.choice(ITEMS),
        color=generator.choice(COLORS),
    )


def _is_held_out(order: Order) -> bool:
    """Decide by a hash of the order, so that an order is always in the same split."""
    return zlib.crc32(order.to_json().encode()) < HELD_OUT_SHARE * 2**32
