"""One reward of each way to compose rewards, over completions that say what each leaf does (see ``tests/trees.py``)."""

from __future__ import annotations

import random
from collections.abc import Callable

import rewardkit as rk
from tests.trees import LEAVES, MARKS, Rows, accuracy, forgiving, form, judge, length, rank, style

_rising = rk.schedules.linear(0.0, 1.0)
_mastered = rk.schedules.when_reached("accuracy", level=0.5, window=3)

COMPOSITIONS: dict[str, Callable[[], rk.Reward]] = {
    "sum": lambda: 0.7 * accuracy + 0.3 * style - 0.1 * length,
    "sum, scheduled": lambda: accuracy * _rising + 0.5 * style * (1 - _rising),
    "sum, nested": lambda: 2.0 * (accuracy + 0.5 * (style + judge)) + form,
    "named": lambda: (0.7 * accuracy + 0.3 * style).named("quality") + form,
    "clip": lambda: (accuracy + style).clip(0.2, 0.7),
    "mean": lambda: rk.mean({accuracy: 2.0, style: 1.0, judge: 0.5}),
    "mean, scheduled": lambda: rk.mean([(_rising, accuracy), (0.5, style)]),
    "mean, geometric": lambda: rk.mean((2.0, accuracy), (1.0, style), kind="geometric"),
    "mean, harmonic": lambda: rk.mean(accuracy, forgiving, form, kind="harmonic"),
    "product": lambda: rk.product(accuracy, style, length),
    "minimum": lambda: rk.minimum(accuracy, style),
    "maximum": lambda: rk.maximum(accuracy, judge),
    "gate": lambda: 0.2 * form + rk.gate(when=form, then=0.5 * accuracy + 0.5 * judge, threshold=0.3),
    "gate, otherwise": lambda: rk.gate(when=form, then=accuracy, otherwise=-0.5),
    "gate, scheduled": lambda: rk.gate(when=form, then=accuracy, threshold=0.2 + 0.5 * _rising),
    "gate, named": lambda: rk.gate(when=form, then=accuracy + style).named("guarded") + length,
    "gate, soft": lambda: rk.gate(when=form, then=accuracy + judge, otherwise=0.25, soft=True),
    "gate, several": lambda: rk.gate(when={form: 0.3, style: 0.5}, then=accuracy),
    "gate, shared": lambda: rk.gate(form, accuracy, threshold=0.3) + rk.gate(style, accuracy, threshold=0.3),
    "route": lambda: rk.route({"math": accuracy + form, "code": 0.5 * judge}, by="task"),
    "route, default": lambda: rk.route({"math": accuracy}, by="task", default=style) + form,
    "fallback": lambda: 0.3 * form + rk.fallback(judge, style),
    "fallback, gated": lambda: rk.gate(form, rk.fallback(judge, style), threshold=0.3),
    "lexicographic": lambda: rk.lexicographic(accuracy, style, form, levels=4),
    "penalty": lambda: accuracy + rk.penalty(style, 0.5),
    "monitor": lambda: accuracy + rk.monitor(judge),
    "rank_in_group": lambda: rk.rank_in_group(accuracy) + 0.1 * rank,
    "normalize": lambda: 0.7 * accuracy + 0.3 * _normalize()(style),
    "normalize, batch": lambda: accuracy + _normalize()(style + form, by="batch"),
    "normalize, running": lambda: accuracy + _normalize()(style, by="running"),
    "curriculum": lambda: rk.curriculum([rk.Stage("a", form, until=0.4, over=0.3), rk.Stage("b", accuracy + form)]),
    "curriculum, learned": lambda: rk.curriculum([rk.Stage("a", accuracy, until=_mastered), rk.Stage("b", style)]),
    "expensive": lambda: accuracy + judge * rk.schedules.linear(0.0, 1.0, start=0.5),
}


def _normalize() -> Callable[..., rk.Reward]:
    found: Callable[..., rk.Reward] = rk.normalize if "normalize" in rk.__all__ else rk.__getattr__("normalise")
    return found


def rows(count: int = 96, group: int = 4) -> Rows:
    """Completions in groups, drawn with a fixed seed."""
    drawn = random.Random(7)
    texts = ["".join(drawn.choice(MARKS) for _ in range(LEAVES)) for _ in range(count)]
    return Rows(tuple(texts), tuple(row // group for row in range(count)))
