"""Is there a case where adaptive stages or moving gates win? Settings that were tried in addition to the report.

They were tuned on seeds from 100 up, separate from the seeds of the report. ``python benchmarks/learning/learning.py
--tasks adaptive-orders --seeds 100 101 --out runs/learning-search`` runs one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import rewardkit as rk
from benchmarks.learning.arms import most_arms, order_arms
from benchmarks.learning.most import MOST, hedging, question_columns
from benchmarks.learning.orders import HOPELESS_ORDERS, fields_found, hopeless
from benchmarks.learning.reward import bare_json, exact_order
from rewardkit.schedules import linear, track, when_reached

HARSHER = replace(
    HOPELESS_ORDERS, key="harsher", title="orders, worse habits", demonstrations=partial(hopeless, worse=0.95)
)
HARD_NUMBERS = range(2, 100)
HARD_MOST = replace(
    MOST,
    key="hard-most",
    title="who has most, two digits",
    demonstrations=partial(hedging, numbers=HARD_NUMBERS),
    columns=partial(question_columns, numbers=HARD_NUMBERS),
)


@rk.reward
def fields_in_any_quotes(completion: str, order: dict[str, Any]) -> float:
    """`fields_found` with a missing step: a quantity in quotes counts, so only the exact order needs a number."""
    found = (
        re.search(rf"""['"]{field}['"]:['"]?{re.escape(str(value))}(?![A-Za-z0-9])""", completion)
        for field, value in order.items()
    )
    return sum(one is not None for one in found) / len(order)


def chosen(arms: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: arms[name] for name in names}


def adaptive_arms() -> dict[str, rk.Reward]:
    """Return more stages and gates that adapt to the form, for the orders that are never shown right."""
    content = 0.3 * fields_found + 0.4 * exact_order
    graded = 0.3 * bare_json + content
    mastered = track(bare_json, 0.4, 0.95)

    def stages(first: rk.Reward, until: Any) -> rk.Reward:
        return rk.curriculum([rk.Stage("first", first, until=until), rk.Stage("order", graded)])

    return {
        **chosen(order_arms(), "partial", "adaptive gate"),
        "adaptive, early": stages(bare_json, when_reached(bare_json, 0.6, window=3)),
        "adaptive, content first": stages(fields_found, when_reached(fields_found, 0.9, window=5)),
        "adaptive, exact later": stages(0.5 * bare_json + 0.5 * fields_found, when_reached(bare_json, 0.9, window=5)),
        "fading form": 0.3 * bare_json * (1.0 - 0.9 * mastered) + content,
        "soft gate": 0.3 * bare_json + rk.gate(bare_json, content, soft=True),
    }


def bare_gate_arms() -> dict[str, rk.Reward]:
    """Return gates whose condition earns nothing anywhere; rewardkit warns about these."""
    content = 0.5 * fields_found + 0.5 * exact_order
    return {
        "bare gate": rk.gate(bare_json, content),
        "bare moving gate": rk.gate(bare_json, content, threshold=linear(1 / 3, 1.0, end=0.5)),
        "bare adaptive gate": rk.gate(bare_json, content, threshold=1 / 3 + 2 / 3 * track(bare_json, 0.4, 0.95)),
        "bare soft gate": rk.gate(bare_json, content, soft=True),
    }


def missing_rung_arms() -> dict[str, Any]:
    return chosen(order_arms(fields_in_any_quotes), "partial", "gate", "moving gate", "time", "adaptive")


def harsher_arms() -> dict[str, Any]:
    return chosen(order_arms(), "flat", "partial", "gate", "moving gate", "adaptive")


def hard_most_arms() -> dict[str, Any]:
    return chosen(most_arms(), "binary", "flat", "partial", "gate", "moving gate", "penalty 0.3")
