"""``rewardkit demo``: train a tiny language model with GRPO and compare it before and after."""

from __future__ import annotations

import argparse
from pathlib import Path

from rewardkit.cli.arguments import add_seed, count


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Trains the project that `rewardkit init` writes: a tiny language model learns to turn orders into JSON. The "
        "reward has partial credit, a gate, and a schedule. No network or GPU is needed."
    )
    verb.add_argument(
        "--steps",
        type=count,
        metavar="N",
        help="the number of GRPO optimizer steps (default: the number in the project's run.yaml)",
    )
    verb.add_argument(
        "--output",
        dest="out",
        type=Path,
        metavar="DIR",
        help="the folder for all files that the run writes (default: runs/demo, then runs/demo-2, ...)",
    )
    add_seed(verb)
    verb.add_argument(
        "--size",
        choices=("small", "medium", "large"),
        default="small",
        help="the model size (default: small). medium and large need a GPU",
    )


def run(options: argparse.Namespace) -> int:
    """Run the demo; return 0 if the held-out reward rose; otherwise, 1."""
    from rewardkit_adapters.runner.demo.run import run_demo

    return run_demo(steps=options.steps, out=options.out, seed=options.seed, size=options.size)
