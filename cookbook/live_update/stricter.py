"""Other components: an order that is right in every field gets an extra share."""

from __future__ import annotations

from typing import Any

import rewardkit as rk

valid = rk.json_valid(kind="object").named("valid")
fields = rk.json_match("order").named("fields")


@rk.reward(pure=True)
def exact(completion: str, order: dict[str, Any]) -> float:
    """Score 1.0 for the exact order and nothing else."""
    try:
        return float(rk.coerce(completion, dict[str, Any]) == order)
    except rk.errors.CoercionError:
        return 0.0


reward = 0.2 * valid + rk.gate(when=valid, then=0.4 * fields + 0.4 * exact)
