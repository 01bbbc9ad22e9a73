"""``rewardkit generate run.yaml``: write a model's completions to a file, to try rewards on them before training."""

from __future__ import annotations

import argparse
from pathlib import Path

from rewardkit.cli.arguments import add_settings, count


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Reads the same YAML file as `rewardkit train` and generates completions with the same model, prompts, and "
        "sampling settings. The reward is not called, and the file does not have to name one. Each line of the output "
        "contains a prompt, the dataset's columns, and one completion, for `rewardkit score` and `rewardkit check "
        "--data`. If the command is interrupted, run it again to continue."
    )
    verb.epilog = "Exit code 0: the file is complete; 2: the command could not run; 130: it was interrupted."
    verb.add_argument("config", type=Path, metavar="RUN.YAML", help="the run's configuration file")
    add_settings(verb)
    verb.add_argument(
        "--checkpoint",
        default="start",
        metavar="CHECKPOINT",
        help="start (the model before training, default), last, a step such as 50, or a folder",
    )
    verb.add_argument(
        "--split",
        choices=("train", "eval"),
        default="train",
        help="train: the training prompts (default); eval: the held-out prompts",
    )
    verb.add_argument(
        "--prompts",
        type=count,
        default=50,
        metavar="N",
        help="the number of prompts, sampled with the seed (default: 50)",
    )
    verb.add_argument(
        "--generations",
        type=count,
        metavar="N",
        help="the number of completions per prompt (default: num_generations in grpo, or 8)",
    )
    verb.add_argument("--greedy", action="store_true", help="use greedy decoding, with one completion per prompt")
    verb.add_argument(
        "--out",
        type=Path,
        metavar="FILE.jsonl",
        help="the output file, which must not exist (default: samples-CHECKPOINT.jsonl in the current folder)",
    )


def run(options: argparse.Namespace) -> int:
    """Generate the completions, and return 0."""
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.generate import generate

    generate(
        read(options.config, options.sets, needs_reward=False),
        checkpoint=options.checkpoint,
        split=options.split,
        prompts=options.prompts,
        generations=options.generations,
        greedy=options.greedy,
        out=options.out,
    )
    return 0
