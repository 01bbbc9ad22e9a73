"""A curriculum by performance: the next stage begins when the previous one is learned.

    python cookbook/curriculum_by_performance.py
    python cookbook/curriculum_by_performance.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

The task: ``send Mia 31 toys in red`` becomes JSON. `when_reached` looks at the mean of `valid` over the last five
generation batches (of all processes, if there are several). Checkpoints save its state.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from training import ORDERS, options, table, train

import rewardkit as rk

valid = rk.json_valid(kind="object").named("valid")
ends = (0.5 * rk.contains(start="{") + 0.5 * rk.contains(end="}")).named("ends")  # the slope that leads to valid JSON
fields = rk.json_match("order").named("fields")

reward = rk.curriculum([
    rk.Stage("form", 0.5 * ends + 0.5 * valid, until=rk.schedules.when_reached(valid, level=0.9, window=5)),
    rk.Stage("content", 0.2 * valid + 0.8 * fields),
])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    every = max(1, chosen.steps // 4)
    functions = rk.to_trl(reward, record=chosen.out / "curriculum_by_performance")
    run = train(functions, ORDERS, chosen, save_strategy="steps", save_steps=every)
    table(run.over_time("stage/curriculum", "components/ends", "components/valid", "components/fields"))
    table(run.held_out("components/ends", "components/valid", "components/fields"))

    moved = [row["step"] for row in run.history if row["stage/curriculum"] > 1.0]
    print(f"the second stage began at step {moved[0]:.0f}" if moved else "the second stage never began")
    for step in range(every, chosen.steps + 1, every):
        saved = json.loads((chosen.out / f"checkpoint-{step}" / "trainer_state.json").read_text(encoding="utf-8"))
        for seen in saved["stateful_callbacks"]["rewardkit"].values():
            print(f"checkpoint {step}: reached {seen['reached']}, means {seen['recent']}")


if __name__ == "__main__":
    main()
