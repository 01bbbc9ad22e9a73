"""One of two processes of a run; ``torchrun --nproc_per_node 2 ranks.py logs OUT``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import rewardkit as rk
from tests.adapters.rewardkit_trl import tiny
from tests.adapters.rewardkit_trl.test_training import Recorder, early, generations, judged


@rk.reward
def down_on_rank_1(completion: str) -> float:
    if os.environ["RANK"] == "1":
        raise rk.RewardFailure("the judge is down")
    return 0.5


def main(case: str, out: Path) -> None:
    recorder = Recorder()
    reward = judged + 0.5 * early if case == "logs" else down_on_rank_1 + early
    limits = {"max_failure_rate": 1.0} if case == "logs" else {"failure_window": 3}
    trainer = tiny.trainer(out, rk.to_trl(reward + recorder.reward(), **limits), max_steps=6)
    error = ""
    try:
        trainer.train()
    except rk.RewardFailure as failure:
        error = str(failure)
    seen = {
        "world": trainer.accelerator.num_processes,
        "error": error,
        "step": trainer.state.global_step,
        "batches": [
            {"prompts": batch["others"]["prompts"], "completions": batch["completions"]} for batch in recorder.batches
        ],
        "history": [
            {name: value for name, value in entry.items() if "time" not in name} for entry in generations(trainer)
        ],
    }
    (out / f"rank{os.environ['RANK']}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
