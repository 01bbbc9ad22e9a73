"""Every primitive and aggregator of rewardkit keeps the laws, checked as a user would check them."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import parametrize_with_laws
from tests.hostile.rewards import REWARDS
from tests.hostile.sandboxes import skip_without_sandbox

pytestmark = pytest.mark.slow

OTHER_WRONGS = {
    "length.overlong": "long " * 70,  # in words: there is one fake token id per word
    "repetition_penalty": "a " * 30,
}
PROGRAMS = ("code_tests", "code_tests, assertions", "code_runs")
LENGTHY = ("time_linear", "memory_bounded", "search")

EXAMPLES = [{"prompt": "6*7?", "answer": "42", "task": "a"}, {"prompt": "30+51?", "answer": "81", "task": "b"}]
GOOD = ["<think>6*7</think><answer>42</answer>", "<think>30+51</think><answer>81</answer>"]
BAD = ["<think>6+7</think><answer>13</answer>", "It is many."]

form, number, exact = rk.tags("think", "answer"), rk.number("answer"), rk.exact("answer")
rising = rk.schedules.linear(0.0, 1.0)

AGGREGATORS = {
    "sum": 0.3 * form + 0.7 * number,
    "scheduled sum": 0.3 * form + 0.7 * number * rising,
    "weighted_sum": rk.weighted_sum({form: 0.3, number: 0.7}),
    "weighted_mean": rk.mean([(0.3, form), (0.7, number)]),
    "geometric_mean": rk.mean([form, number], kind="geometric"),
    "harmonic_mean": rk.mean([form, number], kind="harmonic"),
    "product": rk.product(form, number),
    "minimum": rk.minimum(form, number),
    "maximum": rk.maximum(number, exact),
    "gate": rk.gate(when=form, then=number),
    "gate, soft": rk.gate(when=rk.tags("think", "answer", partial=True), then=number, soft=True),
    "gate, scheduled": 0.1 * form + rk.gate(when=form, then=number, threshold=rising),
    "route": rk.route({"a": number, "b": exact}, by="task"),
    "fallback": rk.fallback(number, exact),
    "monitor": number + rk.monitor(form),
    "lexicographic": rk.lexicographic(form, number, levels=1),
    "penalty": number + rk.penalty(rk.contains(none="As an AI"), 0.2),
    "normalize": rk.normalize(number),
    "normalize, batch": rk.normalize(number, "batch"),
    "rank_in_group": rk.rank_in_group(number),
    "clip": (2.0 * number).clip(0.0, 1.0),
    "named": number.named("accuracy"),
    "curriculum": rk.curriculum([rk.Stage("form", form, until=0.3), rk.Stage("answer", 0.2 * form + number)]),
}


def of_a_primitive(name: str) -> dict[str, Any]:
    case = REWARDS[name]
    return {
        "reward": case.make(),
        "id": name,
        "examples": [dict(case.columns)],
        "good": [case.right],
        "bad": [OTHER_WRONGS.get(name, case.wrong)],
        "without": LENGTHY,  # benchmarks/primitives_worst.py measures how time and memory grow
        "budget": 6 if name in PROGRAMS else 30,
    }


@parametrize_with_laws([of_a_primitive(name) for name in REWARDS])
def test_a_primitive(reward: rk.Reward, law: Any) -> None:
    skip_without_sandbox(reward)
    law(reward)


@parametrize_with_laws(
    [{"reward": reward, "id": name} for name, reward in AGGREGATORS.items()],
    examples=EXAMPLES,
    good=GOOD,
    bad=BAD,
    without=LENGTHY,
)
def test_an_aggregator(reward: rk.Reward, law: Any) -> None:
    law(reward)
