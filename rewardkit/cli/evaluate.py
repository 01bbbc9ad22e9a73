"""``rewardkit evaluate run.yaml --checkpoint last``: what a model makes of held-out prompts."""

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
        "evaluate",
        help="generate on held-out prompts and score, before and after a training",
        description="Generates on the held-out prompts of a run and scores what comes out, with the reward of its "
        "configuration. Several checkpoints stand side by side; two of them are compared.",
        epilog="Exit code 0: all was scored; 1: some completions could not be; 2: it could not run.",
    )
    verb.add_argument("config", type=Path, metavar="RUN.YAML", help="the configuration of the run")
    verb.add_argument(
        "--checkpoint",
        nargs="+",
        action="extend",
        metavar="WHICH",
        help="last, start (the model before training), a step such as 50, or a folder (default: last)",
    )
    verb.add_argument("--split", metavar="NAME", help="of the dataset, instead of what eval says")
    verb.add_argument("--prompts", type=count, metavar="N", help="how many (default: as eval says, else 64)")
    verb.add_argument(
        "--generations",
        type=count,
        default=1,
        metavar="N",
        help="of each prompt: more than one are sampled as in training, and give pass@k (default: 1)",
    )
    verb.add_argument("--out", type=Path, metavar="FILE", help="write every completion with its total as JSON")
    verb.add_argument(
        "--set", dest="sets", action="append", default=[], metavar="NAME=VALUE", help="over what the file says"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 where all completions were scored."""
    from rewardkit_runner.configuration.reader import read
    from rewardkit_runner.evaluation.evaluate import evaluate

    return evaluate(
        read(options.config, options.sets),
        checkpoint=options.checkpoint or ["last"],
        split=options.split,
        prompts=options.prompts,
        generations=options.generations,
        out=options.out,
    )
