"""One call of a small training: 64 completions, five components, beside five plain functions.

``python benchmarks/speed/rubric_call.py`` prints the CPU time per completion of both, and their ratio. The components
are tags, number, length, repetition and exact. The plain functions are what an engineer writes with `re` for data
that is known to be plain; they must give the same scores before anything is timed. Each is called over and over, and
then once after each full garbage collection, when the processor has forgotten its code.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]
os.environ.setdefault("OMP_NUM_THREADS", "1")

import rewardkit as rk  # noqa: E402
from benchmarks.speed.rubric_measurement import Contestant, measure, ratio  # noqa: E402
from benchmarks.speed.rubric_trl import make_trainer  # noqa: E402
from benchmarks.speed.rubric_workload import Workload, said_thinking  # noqa: E402

PROMPTS, GENERATIONS = 8, 8
SIZES = (400, 1_200)
"""Characters of a typical completion."""
LOW, HIGH = 20, 150
"""The range of words that scores 1.0."""
ROUNDS = 101

_TAGGED = re.compile(r"\s*<think>(.*?)</think>\s*<answer>(.*?)</answer>\s*", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)

Plain = Callable[..., list[float]]


def tags(completions: list[str], **columns: Any) -> list[float]:
    """1 for <think> and <answer> in order, with text in both and nothing outside."""
    found = [_TAGGED.fullmatch(completion) for completion in completions]
    return [float(one is not None and bool(one[1].strip()) and bool(one[2].strip())) for one in found]


def _answer(completion: str) -> str | None:
    found = _ANSWER.search(completion)
    return None if found is None else found[1].strip()


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def number(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    """1 if the answer is the gold number."""
    found = [_number(_answer(completion)) for completion in completions]
    return [float(one is not None and one == float(gold)) for one, gold in zip(found, answer, strict=True)]


def length(completions: list[str], **columns: Any) -> list[float]:
    """1 for a number of words within the range."""
    return [float(LOW <= len(completion.split()) <= HIGH) for completion in completions]


def repetition(completions: list[str], **columns: Any) -> list[float]:
    """Minus the share of runs of three words that occurred before."""
    scores = []
    for completion in completions:
        words = completion.lower().split()
        runs = list(zip(words, words[1:], words[2:], strict=False))
        scores.append(len(set(runs)) / len(runs) - 1.0 if len(runs) > 1 else 0.0)
    return scores


def exact(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    """1 if the answer is the gold text."""
    return [float(_answer(completion) == gold) for completion, gold in zip(completions, answer, strict=True)]


PLAIN: Mapping[str, Plain] = {
    "tags": tags,
    "number": number,
    "length": length,
    "repetition": repetition,
    "exact": exact,
}


def make_reward() -> rk.Reward:
    """Return the sum of the same five components."""
    return (
        rk.tags("think", "answer").named("tags")
        + rk.number("answer").named("number")
        + rk.length.between(LOW, HIGH, unit="words").named("length")
        + rk.repetition_penalty(unit="words").named("repetition")
        + rk.exact("answer").named("exact")
    )


def make_workload(size: int) -> Workload:
    """Make 64 completions of about `size` characters: two thirds right, the others wrong, without tags, or cut off."""
    chance = random.Random(size)
    golds = [str(chance.randint(2, 900)) for _ in range(PROMPTS)]
    completions, answers = [], []
    for gold in golds:
        for _ in range(GENERATIONS):
            said = gold if chance.random() < 0.7 else str(chance.randint(2, 900))
            thought = said_thinking(chance, round(size * chance.uniform(0.6, 1.2)))
            text = f"<think>\n{thought}\n</think>\n<answer>{said}</answer>"
            if chance.random() < 0.1:
                text = text[: chance.randrange(20, len(text) - 20)]
            completions.append(text)
            answers.append(gold)
    prompts = [f"What is the number {gold}?" for gold in answers]
    return Workload(completions, prompts, answers, (LOW, HIGH))


def _keywords(workload: Workload, trainer: Any = None) -> dict[str, Any]:
    """Return what TRL passes to a reward function."""
    passed = {
        "completions": workload.completions,
        "prompts": workload.prompts,
        "completion_ids": workload.completion_ids(),
        "answer": workload.totals,
    }
    if trainer is not None:
        passed |= {
            "trainer_state": trainer.state,
            "log_extra": trainer._log_completion_extra,
            "log_metric": trainer._log_metric,
        }
    return passed


def contestants() -> list[Contestant]:
    """Return the plain functions and rewardkit's, each called in turn as TRL calls them."""
    functions = rk.to_trl(make_reward())
    trainer = make_trainer(functions, [1.0] * len(functions))

    def called(functions: Any) -> Callable[[dict[str, Any]], list[list[float]]]:
        return lambda keywords: [function(**keywords) for function in functions]

    def ours(keywords: dict[str, Any]) -> list[list[float]]:
        scores = [function(**keywords) for function in functions]
        trainer._pending_metrics.clear()
        return scores

    return [
        Contestant("plain", _keywords, called(list(PLAIN.values()))),
        Contestant("rewardkit", lambda workload: _keywords(workload, trainer), ours),
    ]


def check_agreement(workload: Workload) -> None:
    """Assert that both give every completion the same scores."""
    plain, ours = (one.score(one.prepare(workload)) for one in contestants())
    for name, expected, scores in zip(PLAIN, plain, ours, strict=True):
        for row, (wanted, score) in enumerate(zip(expected, scores, strict=True)):
            assert abs(wanted - score) < 1e-12, (name, row, wanted, score, workload.completions[row])


def main() -> None:
    """Measure and print."""
    for size in SIZES:
        workload = make_workload(size)
        check_agreement(workload)
        for how, collects in (("call after call", False), ("after collecting garbage", True)):
            times = measure(contestants(), workload, ROUNDS, collects=collects)
            shown = ", ".join(f"{name} {statistics.median(run):.1f} us" for name, run in times.items())
            print(f"{size:,} characters, {how}: {shown}, {ratio(times['rewardkit'], times['plain']):.2f} times")


if __name__ == "__main__":
    main()
