"""A careless edit: the data has no column `invoice`."""

from __future__ import annotations

import rewardkit as rk

reward = rk.json_match("invoice").named("fields")
