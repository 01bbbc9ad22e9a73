"""The reward at the start of the run: orders as JSON; valid JSON counts most."""

from __future__ import annotations

import rewardkit as rk

valid = rk.json_valid(kind="object").named("valid")
fields = rk.json_match("order").named("fields")

reward = 0.8 * valid + rk.gate(when=valid, then=0.2 * fields)
