"""``rewardkit <verb>``: run a verb, print errors as sentences."""

from __future__ import annotations

import argparse
import os
import select
import sys
from collections.abc import Sequence
from typing import TextIO

from rewardkit import __version__
from rewardkit.batch.table_text import visible
from rewardkit.cli.check import add_to as add_check
from rewardkit.cli.demo import add_to as add_demo
from rewardkit.cli.diff import add_to as add_diff
from rewardkit.cli.evaluate import add_to as add_evaluate
from rewardkit.cli.export import add_to as add_export
from rewardkit.cli.init import add_to as add_init
from rewardkit.cli.radar import add_to as add_radar
from rewardkit.cli.review import add_to as add_review
from rewardkit.cli.score import add_to as add_score
from rewardkit.cli.serve import add_to as add_serve
from rewardkit.cli.train import add_to as add_train
from rewardkit.cli.update import add_to as add_update
from rewardkit.cli.view import add_to as add_view
from rewardkit.errors import RewardKitError

_CLOSED = 141
"""The exit code of a command that SIGPIPE ends."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    result = argparse.ArgumentParser(
        prog="rewardkit",
        description="Reward functions for reinforcement learning of language models.",
        epilog="`rewardkit VERB --help` explains a verb and its options.",
    )
    result.add_argument("--version", action="version", version=f"rewardkit {__version__}")
    verbs = result.add_subparsers(title="verbs", dest="verb", required=True, metavar="VERB")
    add_check(verbs)
    add_demo(verbs)
    add_diff(verbs)
    add_evaluate(verbs)
    add_export(verbs)
    add_init(verbs)
    add_radar(verbs)
    add_review(verbs)
    add_score(verbs)
    add_serve(verbs)
    add_train(verbs)
    add_update(verbs)
    add_view(verbs)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; return its exit code."""
    options = parser().parse_args(arguments)
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
