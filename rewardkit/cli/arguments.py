"""Options and argument types that several verbs share: the same name means the same in all of them."""

from __future__ import annotations

import argparse

REWARD = "path/to/file.py:reward or module:reward"
"""How a reward is named on the command line."""


def add_settings(verb: argparse.ArgumentParser) -> None:
    """Add ``--set``, which overrides settings of a run.yaml."""
    verb.add_argument(
        "--set",
        dest="sets",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a setting of the file, as in --set grpo.max_steps=5 --set 'guards=[]'; may be repeated",
    )


def add_seed(verb: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    verb.add_argument(
        "--seed", type=int, default=0, metavar="NUMBER", help="the seed of all random choices (default: 0)"
    )


def count(text: str) -> int:
    """Return a whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def seconds(text: str) -> float:
    """Return a finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a finite number above 0, got {text}")
    return value
