"""Compositions: sums, gates, routes, schedules, abstentions, asynchronous services."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, number_in, tagged, text_of

answer_tag = rk.extract.tag("answer")
form = rk.tags("think", "answer")
number = rk.number("answer", extract=answer_tag)

SUMS = [{"prompt": "What is 12 + 30?", "answer": "42"}, {"prompt": "What is 50 + 31?", "answer": "81"}]
SUMS_GOOD = ["<think>12 + 30</think><answer>42</answer>", "<think>50 + 31</think><answer>81</answer>"]
SUMS_BAD = ["<think>12 + 30</think><answer>40</answer>", "It is 91."]


@rk.reward(bounds=(-1.0, 0.0))
def wrong_costs(completion: str, answer: float) -> float:
    """-1.0 for anything but the right number, 0.0 for it."""
    value = number_in(answer_tag(completion))
    return 0.0 if value is not None and value == answer else -1.0


@rk.reward
def unit_named(completion: str, unit: str | None) -> float | None:
    """1.0 where the answer ends with the unit that is asked for; rows that ask for none do not take part."""
    if unit is None:
        return None
    said = (answer_tag(completion) or "").strip()
    amount, _, named = said.rpartition(" ")
    return 1.0 if named == unit and number_in(amount) is not None else 0.0


@rk.reward
async def judged_elsewhere(completion: str, answer: str) -> float:
    """Stands for a service: waits a moment, then compares."""
    await asyncio.sleep(0)
    said = answer_tag(completion)
    return 1.0 if said is not None and said.strip().casefold() == answer.strip().casefold() else 0.0


@rk.reward
def by_example(completion: str, example: Mapping[str, Any]) -> float:
    """Reads all columns: the gold number may be off by the tolerance of its row."""
    value = number_in(answer_tag(completion))
    if value is None:
        return 0.0
    return 1.0 if abs(value - float(example["answer"])) <= float(example["tolerance"]) else 0.0


def math_rows_reward(
    completions: Sequence[str | Messages], task: list[str], answer: list[str], **kwargs: Any
) -> list[float | None]:
    """TRL's multi-task form: scores the rows of its own task, None for the others."""
    scores: list[float | None] = []
    for completion, kind, gold in zip(completions, task, answer, strict=True):
        if kind != "math":
            scores.append(None)
            continue
        value = number_in(tagged(text_of(completion)))
        scores.append(1.0 if value is not None and value == float(gold) else 0.0)
    return scores


@dataclass(frozen=True)
class ToleranceReward:
    """A reward function with parameters: an object that is called as TRL calls functions."""

    tolerance: float
    weight: float = 1.0
    __name__: str = "tolerance_reward"

    def __call__(self, completions: Sequence[str | Messages], answer: list[str], **kwargs: Any) -> list[float]:
        """`weight` where the number is within the tolerance."""
        scores = []
        for completion, gold in zip(completions, answer, strict=True):
            value = number_in(tagged(text_of(completion)))
            near = value is not None and abs(value - float(gold)) <= self.tolerance
            scores.append(self.weight if near else 0.0)
        return scores


CASES = [
    Case("weighted_form_and_number", 0.2 * form + 0.8 * number, SUMS, SUMS_GOOD, SUMS_BAD),
    Case(
        "gate_that_costs",
        0.5 * form + rk.gate(when=form, then=wrong_costs, otherwise=-1.0),
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
    ),
    Case(
        "soft_gate",
        rk.gate(when=rk.tags("think", "answer", partial=True), then=number, soft=True),
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
    ),
    Case(
        "routed_tasks",
        rk.route({"math": number, "text": rk.exact("answer", ignore_case=True, extract=answer_tag)}, by="task"),
        [
            {"prompt": "What is 12 + 30?", "task": "math", "answer": "42"},
            {"prompt": "Which river flows through Vienna?", "task": "text", "answer": "Danube"},
        ],
        ["<answer>42</answer>", "<answer>danube</answer>"],
        ["<answer>40</answer>", "<answer>Rhine</answer>"],
    ),
    Case(
        "scheduled_form",
        form * rk.schedules.linear(1.0, 0.2) + number * rk.schedules.linear(0.2, 1.0),
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
    ),
    Case(
        "abstains_without_unit",
        rk.exact("answer", extract=rk.extract.tag("answer")) + 0.5 * unit_named,
        [
            {"prompt": "How far is it, in km?", "answer": "12 km", "unit": "km"},
            {"prompt": "Which river flows through Vienna?", "answer": "Danube", "unit": None},
        ],
        ["<answer>12 km</answer>", "<answer>Danube</answer>"],
        ["<answer>14 miles</answer>", "<answer>Rhine</answer>"],
    ),
    Case(
        "awaited_service",
        judged_elsewhere,
        [
            {"prompt": "Which river flows through Vienna?", "answer": "Danube"},
            {"prompt": "Through Cairo?", "answer": "Nile"},
        ],
        ["<answer>Danube</answer>", "<answer>nile</answer>"],
        ["<answer>Rhine</answer>", "Congo"],
    ),
    Case(
        "all_columns",
        by_example,
        [
            {"prompt": "How high is Mont Blanc in metres?", "answer": "4808", "tolerance": "5"},
            {"prompt": "How many days has a leap year?", "answer": 366, "tolerance": 0},
        ],
        ["<answer>4,810</answer>", "<answer>366</answer>"],
        ["<answer>4700</answer>", "<answer>365</answer>"],
    ),
    Case(
        "other_tasks_are_none",
        math_rows_reward,
        [
            {"prompt": "What is 12 + 30?", "task": "math", "answer": "42"},
            {"prompt": "What is 50 + 31?", "task": "math", "answer": "81"},
        ],
        ["<answer>42</answer>", "<think>50 + 31</think><answer>81</answer>"],
        ["<answer>40</answer>", "It is 91."],
    ),
    Case("callable_dataclass", ToleranceReward(tolerance=0.5, weight=2.0), SUMS, SUMS_GOOD, SUMS_BAD),
    Case("wrapped_plain_function", rk.from_trl(ToleranceReward(tolerance=0.5)) + 0.1 * form, SUMS, SUMS_GOOD, SUMS_BAD),
]
