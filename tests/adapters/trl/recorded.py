"""Runs with a record; one of several processes: ``torchrun --nproc_per_node 2 recorded.py OUT CASE...``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import rewardkit as rk
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import counted, early, echo, generations

REWARD = early + 0.5 * counted + rk.monitor(echo)


@rk.reward
def chatty(completion: str) -> float:
    print("seen", completion)
    return 0.5


@rk.reward(scope="group")
def judging(completion: list[str]) -> list[float]:
    print("judging", len(completion))
    return [len(text) / 10 for text in completion]


CASES: dict[str, dict[str, Any]] = {
    "own": {"reward": REWARD + chatty},
    "batch": {"reward": REWARD + chatty, "options": {"scale_rewards": "batch"}},
    "gathered": {"reward": REWARD + chatty + judging, "options": {"per_device_train_batch_size": 2}},
    "cut": {"reward": REWARD + chatty, "options": {"per_device_train_batch_size": 2}},
}
"""Groups within one process, groups that the main process scores for both, and groups that are never complete."""


def main(name: str, out: Path) -> None:
    case = CASES[name]
    functions = rk.to_trl(case["reward"], record=out / "record")
    trainer = tiny.trainer(out, functions, max_steps=3, **case.get("options", {}))
    seen: dict[str, Any] = {"world": trainer.accelerator.num_processes, "completions": [], "advantages": []}
    score, prepare = trainer._calculate_rewards, trainer._generate_and_score_completions

    def scored(inputs: Any, prompts: Any, completions: Any, *others: Any) -> Any:
        seen["completions"] += completions
        seen["batch"] = len(completions)
        return score(inputs, prompts, completions, *others)

    def prepared(inputs: Any) -> Any:
        output = prepare(inputs)
        seen["advantages"] += output["advantages"].tolist()
        return output

    trainer._calculate_rewards, trainer._generate_and_score_completions = scored, prepared
    trainer.train()
    seen["history"] = generations(trainer)
    (out / f"rank{os.environ['RANK']}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        main(name, Path(sys.argv[1]) / name)
