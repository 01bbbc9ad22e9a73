"""Options and argument types that several verbs share, so that a name has the same meaning in all verbs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REWARD = "path/to/file.py:reward or module:reward"
"""The argument that names a reward on the command line."""


def add_trust(verb: argparse._ActionsContainer) -> None:
    """Add ``--trust``, which answers the question of `confirm` with yes."""
    verb.add_argument("--trust", action="store_true", help="call functions of yours without asking first")


def confirm(action: str, *, trusted: bool) -> None:
    """Ask at the terminal before an action that calls the user's functions.

    ::

        confirm("This calls anywhere (rewards.py:7) up to 16,000 times.", trusted=options.trust)

    Args:
        action: what will be called, how often, and from where, as sentences.
        trusted: whether ``--trust`` was passed, so that there is no question.

    Raises:
        RewardKitError: the answer is not yes, or there is no terminal.
    """
    from rewardkit.errors import RewardKitError

    if trusted:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RewardKitError(f"{action} There is no terminal to ask for permission. Pass --trust to allow it")
    print(f"{action} Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RewardKitError("nothing was called, because the answer was not yes")


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
