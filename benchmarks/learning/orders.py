"""Turn orders in words into JSON, as in ``rewardkit demo``: with its demonstrations, and with hopeless ones.

A few percent of the demo's demonstrations are right. None of the hopeless ones is, and each bad habit (chatter, Python
quotes, the quantity in quotes) is so frequent that only one completion in several thousand has none of them. A reward
for the exact order alone has nothing to start from.
"""

from __future__ import annotations

import random
import re
from typing import Any

import rewardkit as rk
from benchmarks.learning.reward import bare_json, exact_order, read_object
from benchmarks.learning.tasks import Columns, Pairs, Task
from rewardkit_adapters.runner.tiny.make import CHATTER, Split, as_columns, demonstrations, examples, sloppy_completion

WORSE_SHARE = 0.85


@rk.reward
def valid_object(completion: str) -> float:
    """1 if the whole completion is a JSON object: `bare_json` without partial credit."""
    return float(read_object(completion) is not None)


@rk.reward
def fields_found(completion: str, order: dict[str, Any]) -> float:
    """The share of the order's fields that occur with the right value: words in quotes, numbers without."""
    return sum(occurs(completion, field, value) for field, value in order.items()) / len(order)


@rk.reward
def all_fields_found(completion: str, order: dict[str, Any]) -> float:
    """1 if every field occurs with its value: `fields_found` without partial credit."""
    return float(all(occurs(completion, field, value) for field, value in order.items()))


def occurs(text: str, field: str, value: object) -> bool:
    quote = "['\"]" if isinstance(value, str) else ""
    return re.search(rf"""['"]{field}['"]:{quote}{re.escape(str(value))}(?:['",}}]|$)""", text) is not None


def sloppy(count: int, seed: int) -> Pairs:
    return demonstrations(count, seed=seed)


def hopeless(count: int, seed: int, worse: float = WORSE_SHARE) -> Pairs:
    """Return the demo's demonstrations with each bad habit added more often; none of them is right."""
    generator = random.Random(f"{seed}/hopelessness")
    pairs = []
    for example in examples(count, seed=seed, split="demonstrations"):
        gold = example.order.to_json()
        completion = gold
        while completion == gold:
            completion = _worse(sloppy_completion(example, generator), worse, generator)
        pairs.append((example.prompt, completion))
    return pairs


def _worse(completion: str, share: float, generator: random.Random) -> str:
    """Add chatter, Python quotes and a quantity in quotes, each with probability `share` if not there already."""
    if generator.random() < share and completion.startswith("{"):
        completion = generator.choice(CHATTER) + completion
    if generator.random() < share:
        completion = re.sub(r"""(qty['"]):(\d+)""", r'\1:"\2"', completion)
    if generator.random() < share:
        completion = completion.replace('"', "'")
    return completion


def order_columns(count: int, seed: int, split: Split) -> Columns:
    return as_columns(examples(count, seed=seed, split=split))


WATCHED = {"form": bare_json, "fields": fields_found}
ORDERS = Task("orders", "A. orders", sloppy, order_columns, exact_order, WATCHED)
HOPELESS_ORDERS = Task("hopeless", "B. orders, never shown right", hopeless, order_columns, exact_order, WATCHED)
