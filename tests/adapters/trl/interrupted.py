"""A run that is killed, or one that is resumed: ``interrupted.py straight|killed|resumed OUT``."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

import rewardkit as rk
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import early, echo, generations

STEPS, SAVED, KILLED = 12, 6, 8

REWARD = (
    rk.curriculum(
        [
            rk.Stage("early", early, until=rk.schedules.when_reached("early", level=0.35, window=4, over=4)),
            rk.Stage("echo", echo + 0.3 * early * rk.schedules.cosine(1.0, 0.0)),
        ]
    )
    + 0.2 * rk.normalize(echo, by="running", half_life=5)
    + early * rk.schedules.track("echo", 0.0, 1.0, half_life=3)
)


class Killed(TrainerCallback):  # type: ignore[misc]
    """The machine crashes in the middle of a step, some steps after the checkpoint."""

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)


def main(mode: str, out: Path) -> None:
    functions = rk.to_trl(REWARD)
    trainer = tiny.trainer(
        out,
        functions,
        callbacks=[Killed()] if mode == "killed" else None,
        max_steps=STEPS,
        learning_rate=1e-2,
        save_strategy="steps",
        save_steps=SAVED,
    )
    trainer.train(resume_from_checkpoint=str(out / f"checkpoint-{SAVED}") if mode == "resumed" else None)
    (out / f"{mode}.json").write_text(json.dumps(generations(trainer)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
