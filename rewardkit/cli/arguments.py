"""Options and argument types that several verbs share, so that a name has the same meaning in all verbs."""

from __future__ import annotations

import argparse
from pathlib import Path

REWARD = "path/to/file.py:reward or module:reward"
"""The argument that names a reward on the command line."""


def add_settings(verb: argparse.ArgumentParser) -> None:
    """Add ``--set``, which overrides settings in a run.yaml."""
    verb.add_argument(
        "--set",
        dest="sets",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a setting in the file, as in --set grpo.max_steps=5 --set 'guards=[]' (may be repeated)",
    )


def add_seed(verb: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    verb.add_argument(
        "--seed", type=int, default=0, metavar="NUMBER", help="the seed for all random choices (default: 0)"
    )


def count(text: str) -> int:
    """Parse a whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def seconds(text: str) -> float:
    """Parse a finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a finite number greater than 0, got {text}")
    return value


def names(text: str) -> list[str]:
    """Parse a list of names such as ``"a,b"``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_columns(verb: argparse.ArgumentParser) -> None:
    """Add ``--columns`` and ``--completion``, which name the data columns; `sources_of` reads these options."""
    verb.add_argument(
        "--columns",
        type=_pairs,
        action="append",
        default=[],
        metavar="NAME=COLUMN,...",
        help="columns that have a different name in the data, such as answer=reference,prompt=question",
    )
    verb.add_argument("--completion", metavar="COLUMN", help="the column with the completions (default: completion)")


def sources_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the mapping from our column names to the data's names that ``--columns`` and ``--completion`` specify."""
    sources = {name: column for pairs in options.columns for name, column in pairs.items()}
    if options.completion is not None:
        sources["completion"] = options.completion
    return sources


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, column = pair.partition("=")
        if not (name.strip() and equals and column.strip()):
            raise argparse.ArgumentTypeError(f"write NAME=COLUMN, as in answer=reference, got {pair!r}")
        pairs[name.strip()] = column.strip()
    return pairs


def write(path: Path, text: str) -> None:
    """Write a report to a file.

    Raises:
        RewardKitError: the file cannot be written.
    """
    from rewardkit.errors import RewardKitError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RewardKitError(f"{path} cannot be written: {error.strerror or error}. Pass another path") from None
