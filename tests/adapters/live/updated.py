"""A training whose reward changes: ``updated.py straight|killed|resumed|ranks OUT``, the last one as one of two."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

import rewardkit as rk
from rewardkit_adapters.trl.guards import GuardCallback, GuardConfig
from tests.adapters.live.rewards import BROKEN, FOLLOWING, OTHERS
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import early, echo, generations

STEPS, SAVED, KILLED = 10, 4, 8
REWARD = early * rk.schedules.track("early", 0.0, 1.0, half_life=3) + 0.5 * echo


class At(TrainerCallback):  # type: ignore[misc]
    """Does something after some steps, once, and ends the process before another."""

    def __init__(self, after: Mapping[int, Callable[[], Any]], killed: int = -1) -> None:
        self.after = dict(after)
        self.killed = killed

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero and state.global_step in self.after:
            self.after.pop(state.global_step)()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == self.killed:
            os.kill(os.getpid(), signal.SIGKILL)


def asked(folder: Path, name: str, text: str) -> Callable[[], Any]:
    """Asks for the reward in a file that holds `text`."""

    def ask() -> None:
        path = folder / f"{name}.py"
        path.write_text(text)
        rk.update_config(folder / "run", reward=f"{path}:reward")

    return ask


def main(mode: str, out: Path) -> None:
    plan: dict[int, Callable[[], Any]] = {
        2: asked(out, "following", FOLLOWING),
        3: asked(out, "broken", BROKEN["raises"][0]),
        5: lambda: rk.update_config(out / "run", weights={"late": "linear(0.5, 1.0)"}),
        6: asked(out, "others", OTHERS),
        7: lambda: rk.update_config(out / "run", rollback=True),
    }
    functions = rk.to_trl(REWARD, record=out / "run")
    guard = GuardCallback(
        [GuardConfig(watch="early", above=-1.0, window=1, after=STEPS - 2, action="freeze")], functions
    )
    at = At({} if mode == "resumed" else plan, KILLED if mode == "killed" else -1)
    trainer = tiny.trainer(
        out,
        functions,
        callbacks=[functions.callback(), guard, at],
        max_steps=STEPS,
        learning_rate=1e-2,
        save_strategy="steps",
        save_steps=SAVED,
    )
    trainer.train(resume_from_checkpoint=str(out / f"checkpoint-{SAVED}") if mode == "resumed" else None)
    functions.flush()
    said = {
        "history": generations(trainer),
        "names": [function.__name__ for function in functions],
        "logged": trainer.reward_func_names,
        "weights": trainer.reward_weights.tolist(),
        "frozen": guard.frozen,
        "fingerprint": functions.reward.fingerprint,
    }
    (out / f"{mode}{os.environ.get('RANK', '')}.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
