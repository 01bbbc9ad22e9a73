"""``rewardkit <verb>``: run a verb, print errors as sentences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rewardkit import __version__
from rewardkit.cli.check import add_to as add_check
from rewardkit.cli.demo import add_to as add_demo
from rewardkit.cli.diff import add_to as add_diff
from rewardkit.cli.evaluate import add_to as add_evaluate
from rewardkit.cli.export import add_to as add_export
from rewardkit.cli.init import add_to as add_init
from rewardkit.cli.review import add_to as add_review
from rewardkit.cli.score import add_to as add_score
from rewardkit.cli.serve import add_to as add_serve
from rewardkit.cli.train import add_to as add_train
from rewardkit.cli.update import add_to as add_update
from rewardkit.cli.view import add_to as add_view
from rewardkit.core.batch.table_text import visible
from rewardkit.core.errors import RewardKitError


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
        return int(options.run(options))
    except RewardKitError as error:
        # The error may quote names and completions with terminal escapes.
        message = "\n".join(map(visible, str(error).split("\n")))
        print(f"rewardkit {options.verb}: {message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
