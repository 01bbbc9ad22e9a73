"""Train a tiny model to look into drawers, with one of three rewards, on a CPU, in about two minutes.

    python cookbook/drawers/train.py --reward naive --seed 1

It makes a model that has seen sloppy demonstrations (once per seed), trains it with `rewardkit train run.yaml`, and
prints how calls and right answers change. ``compare.py`` puts several trainings side by side.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
REWARDS = ("naive", "exact", "matched")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reward", choices=REWARDS, default="matched", help="in reward.py: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100, help="of GRPO, 64 completions each: %(default)s")
    parser.add_argument("--warm-up", type=int, default=450, help="supervised steps before GRPO: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("runs/drawers"), help="for models and runs: %(default)s")
    options = parser.parse_args(arguments)
    model = options.out / "models" / f"{options.seed}-{options.warm_up}"
    if not model.exists():
        from model import make

        make(model, seed=options.seed, steps=options.warm_up)
    run = options.out / f"{options.reward}-{options.seed}"
    sets = {
        "reward": HERE.absolute() / f"reward.py:{options.reward}",
        "model": model.absolute(),
        "seed": options.seed,
        "grpo.max_steps": options.steps,
        "grpo.per_device_train_batch_size": 64,
        "grpo.gradient_accumulation_steps": 1,
        "grpo.max_completion_length": 128,
        "grpo.chat_template_kwargs": "null",
        "grpo.learning_rate": 2e-4,
        "output": run.absolute(),
    }
    command = [sys.executable, "-m", "rewardkit.cli.main", "train", str(HERE / "run.yaml")]
    code = subprocess.call([*command, *(word for name, value in sets.items() for word in ("--set", f"{name}={value}"))])
    if code == 0:
        from compare import table

        print(f"\n{table([run])}")
    sys.exit(code)


if __name__ == "__main__":
    main()
