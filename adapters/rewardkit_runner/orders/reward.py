"""What a right answer is: the order as a JSON object, and nothing else.

``send Mia 31 toys in red`` asks for ``{"name": "Mia", "qty": 31, "item": "toy", "color": "red"}``.
"""

from pydantic import BaseModel, ConfigDict, ValidationError

import rewardkit as rk


class Order(BaseModel):
    """What a customer wants. Strict: ``"31"`` is no quantity; and nothing is added."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    qty: int
    item: str
    color: str


@rk.reward
def exact(completion: str, order: Order) -> float:
    """1 for the whole order, else 0. `order` is the column of the dataset, read as the type that stands here."""
    try:
        return float(Order.model_validate_json(completion) == order)
    except ValidationError:
        return 0.0


is_json = rk.json_valid(kind="object", extract=rk.extract.whole()).named("is_json")
fields = rk.json_match("order", extract=rk.extract.whole()).named("fields")  # partial credit: a share for each field

# The gate: what is no JSON object earns nothing. Its condition earns a little itself, so that there is a way to it.
reward = 0.2 * is_json + rk.gate(when=is_json, then=0.4 * fields + 0.4 * exact)

# What `rewardkit check reward.py:reward` and test_reward.py check it on.
EXAMPLES = [
    {"prompt": "send Mia 31 toys in red\n", "order": '{"name": "Mia", "qty": 31, "item": "toy", "color": "red"}'},
    {"prompt": "Tom wants 5 blue pens\n", "order": '{"name": "Tom", "qty": 5, "item": "pen", "color": "blue"}'},
]
GOOD = [example["order"] for example in EXAMPLES]
BAD = ['{"name": "Mia", "qty": 30, "item": "toy", "color": "red"}', "Tom wants 5 blue pens"]
