"""A curriculum by time: first the form, then the content, with a smooth transition.

    python cookbook/curriculum_by_time.py
    python cookbook/curriculum_by_time.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

The task: ``send Mia 31 toys in red`` becomes JSON. At first the model writes chatter, single quotes and quantities in
quotes. `until` and `over` are fractions of the training here; whole numbers would be steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from training import ORDERS, options, table, train

import rewardkit as rk

valid = rk.json_valid(kind="object").named("valid")
ends = (0.5 * rk.contains(start="{") + 0.5 * rk.contains(end="}")).named("ends")  # the slope that leads to valid JSON
fields = rk.json_match("order").named("fields")

reward = rk.curriculum([
    rk.Stage("form", 0.5 * ends + 0.5 * valid, until=0.3, over=0.2),
    rk.Stage("content", 0.2 * valid + 0.8 * fields),
])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    run = train(rk.to_trl(reward, record=chosen.out / "curriculum_by_time"), ORDERS, chosen)
    table(run.over_time("stage/curriculum", "weights/ends", "weights/valid", "weights/fields", "components/fields"))
    table(run.held_out("components/ends", "components/valid", "components/fields"))


if __name__ == "__main__":
    main()
