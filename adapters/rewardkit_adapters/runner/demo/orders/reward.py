"""This project's reward: the model must turn an order in words into a JSON object, without any other text.

``send Mia 31 toys in red`` asks for ``{"name": "Mia", "qty": 31, "item": "toy", "color": "red"}``.
"""

from pydantic import BaseModel, ConfigDict, ValidationError

import rewardkit as rk


class Order(BaseModel):
    """An order. The types are strict: ``"31"`` is not a quantity, and extra fields are errors."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    qty: int
    item: str
    color: str


@rk.reward(pure=True)
def exact(completion: str, order: Order) -> float:
    """Return 1.0 if the whole order is correct, else 0.0. `order` is a dataset column, read as an ``Order``."""
    try:
        return float(Order.model_validate_json(completion) == order)
    except ValidationError:
        return 0.0


is_json = rk.json_valid(kind="object", extract=rk.extract.whole()).named("is_json")
fields = rk.json_match("order", extract=rk.extract.whole()).named("fields")  # partial credit: an equal share per field

# The bonus for a perfect answer grows: early in training, partial credit guides the model; later, only a complete order
# scores high.
bonus = rk.schedules.linear(0.0, 0.4, end=0.5)

# The gate: only a JSON object can score for its content. The condition itself has a small weight, so that the model
# learns to pass the gate.
reward = 0.2 * is_json + rk.gate(when=is_json, then=0.4 * fields + exact * bonus)

# `rewardkit check reward.py:reward` and test_reward.py use these.
EXAMPLES = [
    {"prompt": "send Mia 31 toys in red\n", "order": '{"name": "Mia", "qty": 31, "item": "toy", "color": "red"}'},
    {"prompt": "Tom wants 5 blue pens\n", "order": '{"name": "Tom", "qty": 5, "item": "pen", "color": "blue"}'},
]
GOOD = [example["order"] for example in EXAMPLES]
BAD = ['{"name": "Mia", "qty": 30, "item": "toy", "color": "red"}', "Tom wants 5 blue pens"]
