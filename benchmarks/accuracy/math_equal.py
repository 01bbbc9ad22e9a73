r"""Compare ``rk.math_equal`` with TRL's ``accuracy_reward``: agreement with labels, and CPU time.

There are two sets of pairs: real answers to GSM8K questions with published labels (REWARDKIT_DATA names the folder that
holds ``gsm8k/``), and `math_equal_pairs`, labeled by hand. Every completion is ``The answer is \boxed{...}.``, the form
that works best for TRL. TRL's gold answers are written in ``$...$``, because it reads ``2\sqrt{3}`` as 2 otherwise.

CPU time is that of this process and its workers (Linux only). The two take turns. The first round is not timed, so the
libraries are loaded and the gold answers have been seen before, as in training. If a pair of answer and gold answer
occurs twice in a batch, rewardkit scores it once: this affects a third of the GSM8K pairs and none of the others.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from trl.rewards import accuracy_reward

import rewardkit as rk
from benchmarks.accuracy.math_equal_pairs import PAIRS
from rewardkit.rewards.math_equal.reward import math_equal

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "gsm8k"
REWARD = math_equal("answer")


class Pair(NamedTuple):
    topic: str
    gold: str
    answer: str
    right: bool

    @property
    def completion(self) -> str:
        return f"The answer is \\boxed{{{self.answer}}}."


def by_hand() -> list[Pair]:
    return [Pair(topic, *pair) for topic, pairs in PAIRS.items() for pair in pairs]


def gsm8k() -> list[Pair]:
    lines = (DATA / "model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    after = rk.extract.after("A:")
    rows = [json.loads(line) for line in lines]
    return [
        Pair("gsm8k", after(row["reference"]) or "", after(row["completion"]) or "", row["is_correct"]) for row in rows
    ]


def ours(pairs: list[Pair]) -> list[float]:
    table = rk.score(REWARD, [pair.completion for pair in pairs], answer=[pair.gold for pair in pairs])
    scores: list[float] = table.total.tolist()
    return scores


def trls(pairs: list[Pair]) -> list[Any]:
    completions = [[{"role": "assistant", "content": pair.completion}] for pair in pairs]
    scores: list[Any] = accuracy_reward(completions, [f"${pair.gold}$" for pair in pairs])
    return scores


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its workers (the workers' from the kernel's finer count)."""
    workers = [
        worker for task in Path("/proc/self/task").iterdir() for worker in (task / "children").read_text().split()
    ]
    spent = [int(Path(f"/proc/{worker}/schedstat").read_text().split()[0]) for worker in workers]
    return time.process_time() + sum(spent) / 1e9


def timed(score: Any, pairs: list[Pair]) -> float:
    gc.collect()
    start = cpu_seconds()
    score(pairs)
    return cpu_seconds() - start


def show(name: str, pairs: list[Pair], rounds: int, *, disagreements: bool) -> None:
    scores, trl_scores = ours(pairs), trls(pairs)
    ours(pairs)  # by now, each of the workers has seen the gold answers
    labels = [float(pair.right) for pair in pairs]
    # They take turns, so that other load on the machine affects both.
    seconds = [(timed(ours, pairs), timed(trls, pairs)) for _ in range(rounds)]
    our_seconds, trl_seconds = (statistics.median(column) for column in zip(*seconds, strict=True))
    ratio = statistics.median(theirs / mine for mine, theirs in seconds)
    print(f"\n{name}: {len(pairs)} pairs")
    print(f"  {'':12}{'wrong':>8}{'false 1.0':>11}{'false 0.0':>11}{'ms per pair':>13}")
    for who, given, took in (("rewardkit", scores, our_seconds), ("TRL", trl_scores, trl_seconds)):
        too_good = sum(score == 1.0 and label == 0.0 for score, label in zip(given, labels, strict=True))
        too_bad = sum(score != 1.0 and label == 1.0 for score, label in zip(given, labels, strict=True))
        print(f"  {who:12}{too_good + too_bad:8}{too_good:11}{too_bad:11}{took / len(pairs) * 1000:13.3f}")
    print(f"  TRL takes {ratio:.1f} times the CPU time")
    if disagreements:
        for pair, mine, theirs in zip(pairs, scores, trl_scores, strict=True):
            if mine != theirs:
                label = "right" if pair.right else "wrong"
                who = "rewardkit" if mine == float(pair.right) else "TRL"
                print(f"    {who} agrees with the label: {pair.answer} for {pair.gold} is {label} ({pair.topic})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    started = time.perf_counter()
    if DATA.is_dir():
        show("GSM8K, real answers", gsm8k(), options.rounds, disagreements=True)
    show("As in MATH, labeled by hand", by_hand(), options.rounds, disagreements=True)
    plain = [pair for pair in by_hand() if pair.topic in ("integers", "fractions", "percentages", "units")]
    show("Of these: numbers", plain, options.rounds, disagreements=False)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
