"""Measure what the radar of ``rk.to_trl`` costs a training.

``python benchmarks/speed/radar_cost.py`` calls the functions as a trainer does, with 512 completions for each step of a
second that mostly waits for its device. It prints the CPU time with the radar and without it, and what the radar takes
of the whole time.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

import rewardkit as rk
from rewardkit.online.radar import Radar
from rewardkit.tree.evaluation.scorer import Scorer

GENERATIONS = 8
REWARD = 0.8 * rk.number("answer") + 0.1 * rk.tags("think", "answer") + 0.1 * rk.length.between(10, 900)


class Trainer:
    """The parts of a trainer that reward functions see."""

    def __init__(self, functions: Any) -> None:
        self.reward_funcs = functions
        self.reward_func_names = [one.__name__ for one in functions]
        self.model = SimpleNamespace(training=True)
        self.num_generations = GENERATIONS
        self.logged: dict[str, float] = {}

    def log_metric(self, name: str, value: float) -> None:
        self.logged[name] = value

    def step(self, step: int, steps: int, batch: dict[str, Any]) -> float:
        """Return the CPU seconds of the reward functions."""
        state = SimpleNamespace(global_step=step, max_steps=steps)
        started = time.process_time()
        for function in self.reward_funcs:
            function(**batch, log_metric=self.log_metric, trainer_state=state)
        return time.process_time() - started


def batch_of(step: int, completions: int) -> dict[str, Any]:
    draw = np.random.default_rng(step)
    answers = [str(draw.integers(1000)) for _ in range(completions // GENERATIONS)]
    golds = [answer for answer in answers for _ in range(GENERATIONS)]
    words = ["so", "the", "sum", "of", "both", "numbers", "is", "then", "twice", "as", "large", "which", "gives"]
    texts = [
        f"<think>{' '.join(draw.choice(words, 80))}</think>\n<answer>{gold if draw.random() < 0.5 else 7}</answer>"
        for gold in golds
    ]
    prompts = [f"question {step} {row // GENERATIONS}" for row in range(completions)]
    ids = [range(100)] * completions
    return {"completions": texts, "prompts": prompts, "completion_ids": ids, "answer": golds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--completions", type=int, default=512)
    parser.add_argument("--step-seconds", type=float, default=1.0)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}")
    batches = [batch_of(step, options.completions) for step in range(options.steps)]
    trainers = {radar: Trainer(rk.to_trl(REWARD, radar=radar)) for radar in (True, False)}
    seconds: dict[bool, list[float]] = {True: [], False: []}
    looks, begun = 0, time.perf_counter()
    for step, batch in enumerate(batches):
        for radar in (True, False) if step % 2 else (False, True):
            seconds[radar].append(trainers[radar].step(step, options.steps, batch))
        looks += "radar/foreign" in trainers[True].logged
        trainers[True].logged.pop("radar/foreign", None)
        time.sleep(options.step_seconds)
    passed = time.perf_counter() - begun
    for radar, found in seconds.items():
        said = "with" if radar else "without"
        print(f"{said} the radar: {1e3 * statistics.median(found):.1f} ms of CPU per step (median)")
    more = sum(seconds[True]) - sum(seconds[False])
    print(f"the radar: {looks} looks in {options.steps} steps, {100 * more / passed:.2f} % of the time")
    _parts(batches)


def _parts(batches: list[dict[str, Any]]) -> None:
    """Print what a look and a search cost, without an allowance."""
    radar, scorer, costs = Radar(REWARD, share=1e9), Scorer(REWARD), []
    for step, held in enumerate(batches):
        batch = rk.Batch(
            held["completions"],
            prompts=held["prompts"],
            completion_ids=held["completion_ids"],
            columns={"answer": held["answer"]},
            num_generations=GENERATIONS,
        )
        table = scorer.score(batch)
        started = time.process_time()
        radar.look(batch, table, table.total, step=step)
        costs.append(time.process_time() - started)
    print(f"a look: {1e3 * statistics.median(costs[1:9]):.1f} ms; with a search at the end: {1e3 * costs[-1]:.0f} ms")


if __name__ == "__main__":
    main()
