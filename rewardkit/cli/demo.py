"""``rewardkit demo``: trains a small language model with GRPO on this machine and shows what its reward did."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import count

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "demo",
        help="train a small language model with GRPO and show what its reward did",
        description="Makes a small language model on the spot, warms it up, trains it with TRL's GRPOTrainer under a "
        "reward of four components, and compares held-out prompts before and after. Needs no network and no GPU.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    verb.add_argument("--steps", type=count, default=100, help="optimizer steps of GRPO")
    verb.add_argument("--out", type=Path, default=Path("runs/demo"), help="folder for plot, record, samples and model")
    verb.add_argument("--seed", type=int, default=0, help="of orders, weights and sampling")
    verb.add_argument("--threads", type=count, default=None, help="torch's threads; None: the cores that are idle")
    verb.add_argument("--size", choices=("small", "medium", "large"), default="small", help="of the model")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 where the held-out reward rose, 1 where it did not."""
    from rewardkit_runner.demo.run import run_demo

    return run_demo(steps=options.steps, out=options.out, seed=options.seed, threads=options.threads, size=options.size)
