"""The one reward that runs through every trainer, and the completions that it scores.

A gate, partial credit, a part that abstains, a part that fails, one that is only monitored. `rows` are real
completions where the GSM8K data is at hand, hostile ones, and made-up ones.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rewardkit as rk
from rewardkit.batch.column import Floats
from tests.hostile.texts import TEXTS

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "gsm8k"
_LONGEST = 3_000
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


@rk.reward
def concise(completion: str, answer: str) -> float | None:
    """Abstain where the answer is long; else fall with the length."""
    if len(answer) > 6:
        return None
    return 1.0 / (1.0 + len(completion) / 100.0)


@rk.reward
def checked(completion: str) -> float:
    """Fail as a judge that is down: on completions of a certain length, so that it is the same in every process."""
    if len(completion) % 29 == 3:
        raise rk.RewardFailure("the judge is down")
    return float(len(completion) % 2)


reward = rk.gate(
    when=rk.length.between(1, 2_000, unit="characters").named("readable"),
    then=0.6 * rk.number("answer", credit="linear", thousands=True) + 0.3 * concise + 0.1 * checked,
) + rk.monitor(rk.contains(none="As an AI").named("modest"))


def rows(count: int = 10_000) -> list[tuple[str, str]]:
    """Return (completion, gold answer) pairs, the same in every process."""
    made = _made()
    found = [*_real(), *((text()[:_LONGEST], "42") for text in TEXTS.values())][:count]
    while len(found) < count:
        found.append(next(made))
    return found


def expected(given: list[tuple[str, str]]) -> Floats:
    """Return (n,) the totals of ``rk.score``, NaN where a row has no score."""
    return rk.score(reward, [text for text, _ in given], answer=[gold for _, gold in given]).total


def agrees(found: float | None, total: float, *, single: bool = False) -> bool:
    """Return whether a trainer's number is that of ``rk.score``.

    Args:
        single: the trainer computes in float32.
    """
    if found is None or np.isnan(total):
        return found is None and bool(np.isnan(total))
    return bool(np.float32(found) == np.float32(total)) if single else found == total


def _real() -> Iterator[tuple[str, str]]:
    path = DATA / "model_solutions.jsonl"
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield row["completion"], row["reference"].rpartition("A: ")[2]


def _made() -> Iterator[tuple[str, str]]:
    draw = random.Random(0)
    words = ["so", "the", "total", "is", "about", "then", "we", "add", "each", "**", "-", "$", "#", "\n", "é", "数"]
    while True:
        gold = draw.choice(["42", "1,234", "-7", "3.5", "12345678"])
        text = " ".join(draw.choices(words, k=draw.randrange(60)))
        yield f"{text} {draw.choice([gold, str(draw.randrange(50)), ''])}", gold
