"""GDPO: each reward is normalized before the sum, so one with small differences still counts.

    python cookbook/gdpo.py
    python cookbook/gdpo.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

The task: ``send Mia 31 toys in red`` becomes JSON. `direct` has small differences: "Sure! " costs 0.006. Compare how
much of the advantage each reward causes in a plain sum and with GDPO (arXiv:2601.05242), and the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from training import ORDERS, options, table, train

import rewardkit as rk

valid = rk.json_valid(kind="object").named("valid")
fields = rk.json_match("order").named("fields")


@rk.reward(pure=True)
def direct(completion: str) -> float:
    """Score 1.0, less 0.001 for each character before the brace; 0.0 without a brace."""
    before, brace, _ = completion.partition("{")
    return max(0.0, 1.0 - 0.001 * len(before)) if brace else 0.0


reward = valid + fields + direct


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments, steps=60)
    plain = train(rk.to_trl(reward, record=chosen.out / "gdpo_plain_sum"), ORDERS, chosen)

    # Raw columns; the weights are separate.
    functions = rk.to_trl(reward, outputs="components", record=chosen.out / "gdpo")
    weights, way = functions.reward_weights, "normalize_then_sum"
    gdpo = train(functions, ORDERS, chosen, reward_weights=weights, multi_objective_aggregation=way)

    for title, run in (("plain sum", plain), ("GDPO", gdpo)):
        print(title)
        table(run.over_time(*(f"advantage_share/{name}" for name in ("valid", "fields", "direct"))))
        table(run.held_out(*(f"components/{name}" for name in ("valid", "fields", "direct"))))


if __name__ == "__main__":
    main()
