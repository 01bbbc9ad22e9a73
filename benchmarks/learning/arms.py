"""The rewards to compare: several compositions of the same components for each task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewardkit as rk
from benchmarks.learning.most import clean, exact_name, focus, mentions
from benchmarks.learning.orders import all_fields_found, fields_found, valid_object
from benchmarks.learning.reward import bare_json, exact_order
from rewardkit.schedules import linear, track, when_reached

PlainFunction = Callable[..., list[float]]


def order_arms(fields: rk.Reward = fields_found) -> dict[str, rk.Reward]:
    """Compose form, fields and exactness of an order; `fields` gives partial credit for the content."""
    content = 0.3 * fields + 0.4 * exact_order
    graded = 0.3 * bare_json + content
    mastered = track(bare_json, 0.4, 0.95)
    return {
        "binary": exact_order,
        "flat": 0.3 * valid_object + 0.3 * all_fields_found + 0.4 * exact_order,
        "partial": graded,
        "gate": 0.3 * bare_json + rk.gate(bare_json, content),
        "moving gate": 0.3 * bare_json + rk.gate(bare_json, content, threshold=linear(1 / 3, 1.0, end=0.5)),
        "adaptive gate": 0.3 * bare_json + rk.gate(bare_json, content, threshold=1 / 3 + 2 / 3 * mastered),
        "time": rk.curriculum([rk.Stage("form", bare_json, until=0.3), rk.Stage("order", graded)]),
        "adaptive": rk.curriculum(
            [rk.Stage("form", bare_json, until=when_reached(bare_json, 0.9, window=5)), rk.Stage("order", graded)]
        ),
    }


def plain_mentions(completions: list[str], winner: list[str], **_: Any) -> list[float]:
    """A plain TRL reward function, weight included."""
    return [0.7 * (name in text) for text, name in zip(completions, winner, strict=True)]


def plain_clean(completions: list[str], **_: Any) -> list[float]:
    return [0.3 * all(word.isalpha() for word in text.strip().split(", ")) for text in completions]


def most_arms() -> dict[str, rk.Reward | list[PlainFunction]]:
    """Compose mentioning the right name, a clean list, and few names; the last four also prevent the hack."""
    one_name = 0.15 * clean + 0.15 * focus
    naive = 0.7 * mentions + 0.3 * clean
    gated = one_name + rk.gate(focus, 0.7 * mentions)
    f1 = rk.set_match("winner", extract=rk.extract.whole(), metric="f1")
    return {
        "plain TRL": [plain_mentions, plain_clean],
        "binary": exact_name,
        "flat": naive,
        "partial": 0.7 * f1 + 0.3 * clean,
        "gate": gated,
        "moving gate": one_name + rk.gate(focus, 0.7 * mentions, threshold=linear(1 / 3, 1.0, end=0.5)),
        "time": rk.curriculum([rk.Stage("mention", naive, until=0.3), rk.Stage("precise", gated)]),
        "adaptive": rk.curriculum(
            [rk.Stage("mention", naive, until=when_reached(mentions, 0.9, window=5)), rk.Stage("precise", gated)]
        ),
        "product": rk.product(mentions, focus, clean),
        "lexicographic": rk.lexicographic(focus, clean, mentions),
        "penalty 0.3": naive + rk.penalty(focus, 0.3),
        "penalty 0.1": naive + rk.penalty(focus, 0.1),
    }
