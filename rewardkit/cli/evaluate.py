"""``rewardkit evaluate run.yaml --checkpoint last``: score a model on held-out prompts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import add_settings, count

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options."""
    verb = verbs.add_parser(
        "evaluate",
        help="score a model on held-out prompts, before and after training",
        description="Generates completions for the held-out prompts of a run and scores them with the reward of its "
        "configuration. Two checkpoints are compared; more are shown side by side.",
        epilog="Exit code 0: all completions were scored; 1: some could not be scored; 2: it could not run.",
    )
    verb.add_argument("config", type=Path, metavar="RUN.YAML", help="the configuration of the run")
    verb.add_argument(
        "--checkpoint",
        nargs="+",
        action="extend",
        metavar="WHICH",
        help="the checkpoints to evaluate: last, start (the model before training), a step such as 50, or a folder "
        "(default: last)",
    )
    verb.add_argument(
        "--split", metavar="NAME", help="the dataset split to take prompts from (default: the one in eval)"
    )
    verb.add_argument(
        "--prompts", type=count, metavar="N", help="the number of prompts (default: the number in eval, or 64)"
    )
    verb.add_argument(
        "--generations",
        type=count,
        default=1,
        metavar="N",
        help="completions per prompt; more than one are sampled as in training, and give pass@k (default: 1)",
    )
    verb.add_argument(
        "--out", type=Path, metavar="FILE", help="write all completions with their totals to FILE, as JSON"
    )
    add_settings(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate the checkpoints; return 0 if all completions were scored."""
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.evaluate import evaluate

    return evaluate(
        read(options.config, options.sets),
        checkpoint=options.checkpoint or ["last"],
        split=options.split,
        prompts=options.prompts,
        generations=options.generations,
        out=options.out,
    )
