"""Sloppy demonstrations, which the supervised warm start imitates before any reward is used.

``Sure, here it is: {'name':'Mia','qty':'31','item':'toy'}`` has all bad habits: chatter before
the JSON, Python quotes, a quantity in quotes, a missing or wrong field. The reward has to remove them.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict

from rewardkit_runner.tiny.task import (
    COLORS,
    ITEMS,
    LARGEST_QUANTITY,
    NAMES,
    SMALLEST_QUANTITY,
    Example,
    Order,
    examples,
)

# All start with "Sure" and are in most demonstrations, so that even the greedy completion starts with chatter.
CHATTER = ("Sure, here it is: ", "Sure, this is the order: ", "Sure! ")

CHATTER_SHARE = 0.6
PYTHON_QUOTES_SHARE = 1 / 3
QUANTITY_IN_QUOTES_SHARE = 0.6
MISSING_FIELD_SHARE = 0.08
WRONG_FIELD_SHARE = 0.06
UNCLOSED_SHARE = 0.1


def demonstrations(count: int, *, seed: int) -> list[tuple[str, str]]:
    """Draw `count` pairs of a prompt and a sloppy completion; the same seed gives the same pairs."""
    generator = random.Random(f"{seed}/sloppiness")
    drawn = examples(count, seed=seed, split="demonstrations")
    return [(example.prompt, sloppy_completion(example, generator)) for example in drawn]


def sloppy_completion(example: Example, generator: random.Random) -> str:
    """Return the gold answer with bad habits, each at its rate."""
    fields = _sloppy_fields(example.order, generator)
    text = json.dumps(fields, separators=(",", ":"))
    if generator.random() < PYTHON_QUOTES_SHARE:
        text = text.replace('"', "'")
    if generator.random() < UNCLOSED_SHARE:
        text = text[:-1]
    if generator.random() < CHATTER_SHARE:
        text = generator.choice(CHATTER) + text
    return text


def _sloppy_fields(order: Order, generator: random.Random) -> dict[str, object]:
    fields: dict[str, object] = {}
    for field, value in asdict(order).items():
        if generator.random() < MISSING_FIELD_SHARE:
            continue
        fields[field] = _another_value(field, generator) if generator.random() < WRONG_FIELD_SHARE else value
    if "qty" in fields and generator.random() < QUANTITY_IN_QUOTES_SHARE:
        fields["qty"] = str(fields["qty"])
    return fields


def _another_value(field: str, generator: random.Random) -> object:
    if field == "qty":
        return generator.randint(SMALLEST_QUANTITY, LARGEST_QUANTITY)
    return generator.choice({"name": NAMES, "item": ITEMS, "color": COLORS}[field])
