"""Count what the alert `gold` says of healthy runs whose right answers are real ones.

``python benchmarks/radar/suspicious_golds.py --solutions model_solutions.jsonl --cases cases.jsonl`` arranges
solutions of GSM8K by two models, and the answers of HardVerify-Math, as runs of 60 steps whose share of right answers
rises.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from rewardkit.alerts import Evidence, suspicious  # noqa: E402

STEPS, GROUPS, GENERATIONS, ORDERS = 60, 8, 8, 20
FIRST, LAST = 0.15, 0.9
"""The shares of right answers at the first and the last step."""
Right = Callable[[np.random.Generator, float], str]
"""Writes a right answer, at a time from 0 to 1."""


@dataclass(frozen=True)
class Problem:
    """A problem: its gold answer, right answers and wrong ones."""

    gold: str
    right: Right
    wrong: Sequence[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=Path, required=True, help="GSM8K solutions of models, as JSON lines")
    parser.add_argument("--cases", type=Path, required=True, help="HardVerify-Math, as JSON lines")
    options = parser.parse_args()
    print("| gold answers | right completions | problems | lowest | highest gold alert |\n|---|---|---|---|---|")
    for golds, answers, problems in (*_gsm8k(_lines(options.solutions)), *_hardverify(_lines(options.cases))):
        found = [strength(run(problems, seed)) for seed in range(ORDERS)]
        print(f"| {golds} | {answers} | {len(problems)} | {min(found):.2f} | {max(found):.2f} |", flush=True)


def strength(evidence: Evidence) -> float:
    return max(
        (alert.strength for alert in suspicious(evidence, observations=False) if alert.kind == "gold"), default=0.0
    )


def run(problems: Sequence[Problem], seed: int) -> Evidence:
    """Arrange the problems, in a random order, as a run with a reward that reads the column ``answer``."""
    draw = np.random.default_rng(seed)
    chosen = np.concatenate([draw.choice(len(problems), GROUPS, replace=False) for _ in range(STEPS)])
    prompts = np.repeat(chosen, GENERATIONS)
    steps = np.repeat(np.arange(STEPS), GROUPS * GENERATIONS)
    is_right = draw.random(len(steps)) < FIRST + (LAST - FIRST) * steps / STEPS
    texts = [
        problems[prompt].right(draw, step / STEPS) if right else str(draw.choice(problems[prompt].wrong))
        for prompt, step, right in zip(prompts.tolist(), steps.tolist(), is_right.tolist(), strict=True)
    ]
    scores = is_right.astype(np.float64)
    return Evidence(
        steps=steps,
        prompts=prompts,
        totals=scores,
        components={"match": scores},
        bounds={"match": (0.0, 1.0)},
        completions=texts,
        columns=[{"answer": problems[prompt].gold} for prompt in prompts.tolist()],
        reads={"match": ("answer",)},
    )


def _any(texts: Sequence[str]) -> Right:
    return lambda draw, time: str(draw.choice(texts))


def _gsm8k(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, list[Problem]]]:
    asked: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        asked.setdefault(line["prompt"], []).append(line)
    found = []
    for own in asked.values():
        right, wrong = ([one["completion"] for one in own if one["is_correct"] is what] for what in (True, False))
        if right and wrong:
            found.append((own[0]["reference"], right, wrong))
    yield "GSM8K, the whole reference solution", "solutions", [Problem(gold, _any(r), w) for gold, r, w in found]
    bare = [Problem(gold, _any([*r, _number(gold)]), w) for gold, r, w in found]
    yield "GSM8K, the whole reference solution", "solutions, and bare numbers", bare
    yield "GSM8K, the number", "solutions", [Problem(_number(gold), _any(r), w) for gold, r, w in found]


def _number(reference: str) -> str:
    return str(re.findall(r"A: (.*)", reference)[-1])


def _hardverify(cases: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, list[Problem]]]:
    found = [(case["ground_truth"], case["fn_output"], [case["tn_output"]]) for case in cases]
    yield "HardVerify-Math", "in another notation", [Problem(gold, _any([other]), w) for gold, other, w in found]
    yield "HardVerify-Math", "in both notations", [Problem(gold, _any([gold, other]), w) for gold, other, w in found]
    moving = [Problem(gold, _moving(gold, other), w) for gold, other, w in found]
    yield "HardVerify-Math", "more and more in another notation", moving


def _moving(gold: str, other: str) -> Right:
    return lambda draw, time: other if draw.random() < time else gold


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main()
