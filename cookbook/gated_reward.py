"""A gate: the content counts only if the shape is right, and the shape must earn something by itself.

    python cookbook/gated_reward.py
    python cookbook/gated_reward.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

The task: ``send Mia 31 toys in red`` becomes JSON. After its demonstrations, the tiny model hardly ever opens the
gate. It is trained twice: with a reward only behind the gate, which causes a warning, and with a little for progress.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from training import ORDERS, options, table, train

import rewardkit as rk
from rewardkit_adapters.runner.tiny.make import ORDER_SCHEMA

marks = rk.mean([rk.contains(start="{"), rk.contains(end="}"), rk.contains(none="'")]).named("marks")
shape = rk.json_schema(ORDER_SCHEMA).named("shape")  # partial credit; the gate opens at 1.0
fields = rk.json_match("order").named("fields")

unpaid = rk.gate(when=shape, then=0.6 * fields)
paid = 0.2 * marks + 0.2 * shape + unpaid

HABIT = 0.9


def hopeless(count: int, seed: int) -> list[tuple[str, str]]:
    """Make demonstrations with four bad habits, each in 90 % of them: one in ten thousand has none."""
    chance = random.Random(seed)
    shown = []
    for row in ORDERS.rows(count, seed, "demonstrations"):
        text = row["order"]
        text = re.sub(r"\d+", r'"\g<0>"', text) if chance.random() < HABIT else text
        text = text.replace('"', "'") if chance.random() < HABIT else text
        text = text.removesuffix("}") if chance.random() < HABIT else text
        text = f"Sure! {text}" if chance.random() < HABIT else text
        shown.append((row["prompt"], text))
    return shown


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    task = replace(ORDERS, demonstrations=hopeless)
    for name, reward in (("unpaid", unpaid), ("paid", paid)):
        print(name)
        run = train(rk.to_trl(reward, record=chosen.out / f"gated_reward_{name}"), task, chosen)
        table(run.over_time("components/shape", "gates/shape_gate", "rewards/fields/mean"))
        table(run.held_out("gates/shape_gate", "rewards/fields/mean"))


if __name__ == "__main__":
    main()
