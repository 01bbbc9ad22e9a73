"""``rewardkit <verb>``: run a verb, and print errors as readable messages.

A verb's options are in the module ``rewardkit.cli.<verb>``, which is imported when the verb is used.
"""

from __future__ import annotations

import argparse
import importlib
import os
import select
import sys
from collections.abc import Sequence
from typing import TextIO

from rewardkit import __version__
from rewardkit.batch.table_text import visible
from rewardkit.errors import RewardKitError, near_miss, shorten

VERBS = {
    "check": "Check whether a reward can be gamed, and whether correct completions score high",
    "demo": "Train a tiny language model with GRPO and compare it before and after",
    "diff": "Compare two versions of a reward, and the effects of the change on training",
    "export": "Write the files that a trainer needs to use a reward",
    "generate": "Write a model's completions for a dataset's prompts to a file, to try rewards on them",
    "init": "Start a project: a reward, its tests, data, and run.yaml",
    "radar": "Search a recorded run for signs that its reward is gamed",
    "score": "Score saved completions, and select training data from them",
    "serve": "Serve a reward over HTTP",
    "train": "Train a language model with a reward, or evaluate its checkpoints",
    "update": "Change a run's reward during training",
    "view": "View recorded runs in the browser",
}
"""Verb -> its summary in the help text."""
_CLOSED = 141
"""The exit code of a command that SIGPIPE ended: 128 + 13."""


def parser(loaded: Sequence[str] = tuple(VERBS)) -> argparse.ArgumentParser:
    """Return the command-line parser, with the options of the verbs in `loaded`."""
    result = argparse.ArgumentParser(
        prog="rewardkit",
        description="Reward functions for reinforcement learning of language models.",
        epilog="`rewardkit COMMAND --help` explains a command and its options.",
    )
    result.add_argument("--version", action="version", version=f"rewardkit {__version__}")
    verbs = result.add_subparsers(title="commands", dest="verb", required=True, metavar="COMMAND")
    for name, summary in VERBS.items():
        verb = verbs.add_parser(name, help=summary)
        if name in loaded:
            _complete(verb, name)
    return result


def _complete(verb: argparse.ArgumentParser, name: str) -> None:
    """Add a verb's options and description."""
    module = importlib.import_module(f"rewardkit.cli.{name}")
    module.add_options(verb)
    verb.description = f"{VERBS[name]}. {verb.description}"
    verb.set_defaults(run=module.run)


def _options(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; if there is an error, print the verb's usage and exit."""
    if words and words[0] in VERBS:
        verb = argparse.ArgumentParser(prog=f"rewardkit {words[0]}")
        _complete(verb, words[0])
        # Options may be before, after and between the arguments. Subparsers do not support this.
        return verb.parse_intermixed_args(words[1:], argparse.Namespace(verb=words[0]))
    verb_name = next((word for word in words if not word.startswith("-")), "")
    command = parser([verb_name])
    if verb_name and verb_name not in VERBS:
        command.error(
            f"there is no command {shorten(verb_name)}.{near_miss(verb_name, VERBS)} Commands: {', '.join(VERBS)}"
        )
    return command.parse_args(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; return its exit code."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        if not _closed(sys.stdout):
            raise
        return _CLOSED
    except RewardKitError as error:
        # The error may quote names and completions with terminal escapes.
        message = "\n".join(map(visible, str(error).split("\n")))
        print(f"rewardkit {options.verb}: {message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        # The exit code that shells report after Ctrl-C: 128 + SIGINT.
        return 130


def _closed(stream: TextIO) -> bool:
    """Return whether the reader of `stream` has closed it, as `head` does. If so, further output is dropped."""
    waiting = select.poll()
    waiting.register(stream, 0)  # errors are always reported
    if not waiting.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return True


if __name__ == "__main__":
    sys.exit(main())
