"""``rewardkit <verb>``: run a verb, print errors as sentences."""

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
from rewardkit.errors import RewardKitError

_VERBS = (
    "check", "demo", "diff", "evaluate", "export", "init", "radar", "review", "score", "serve", "train", "update",
    "view",
)  # fmt: skip
_CLOSED = 141
"""The exit code of a command that SIGPIPE ends."""


def parser(verb: str = "") -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of one verb: then only that verb is loaded."""
    result = argparse.ArgumentParser(
        prog="rewardkit",
        description="Reward functions for reinforcement learning of language models.",
        epilog="`rewardkit VERB --help` explains a verb and its options.",
    )
    result.add_argument("--version", action="version", version=f"rewardkit {__version__}")
    verbs = result.add_subparsers(title="verbs", dest="verb", required=True, metavar="VERB")
    for name in (verb,) if verb in _VERBS else _VERBS:
        importlib.import_module(f"rewardkit.cli.{name}").add_to(verbs)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser(given[0] if given else "").parse_args(given)
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
        return 130


def _closed(stream: TextIO) -> bool:
    """Whether the reader of `stream` went away, as `head` does; what is still to be written there is dropped."""
    waiting = select.poll()
    waiting.register(stream, 0)  # errors are always reported
    if not waiting.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return True


if __name__ == "__main__":
    sys.exit(main())
