"""``rewardkit view runs``: show recorded runs in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.batch.table_text import visible
from rewardkit.cli.access import add_token_options, has_other_users, token_of
from rewardkit.cli.arguments import REWARD
from rewardkit.workers.addresses import is_loopback

if TYPE_CHECKING:
    from rewardkit.page.trials import Trials

_PORT = 8765
"""The default port. The number is arbitrary; `page.server.serve` has the same default."""


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Shows graphs, completions side by side, logs, and suspicious patterns, even while a run is still training. "
        "The page loads nothing from outside this machine."
    )
    verb.add_argument(
        "runs",
        nargs="*",
        type=Path,
        metavar="RUNS",
        help="folders that contain runs, or single runs (default: the folder runs)",
    )
    verb.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen on (default: 127.0.0.1, this machine only). Visitors from other machines need the "
        "token that is printed",
    )
    verb.add_argument(
        "--port",
        type=int,
        default=_PORT,
        metavar="NUMBER",
        help=f"the port to listen on (default: {_PORT}, or a free one if it is in use)",
    )
    verb.add_argument(
        "--reward",
        metavar="REWARD",
        help="try this reward on the runs: its totals are shown next to the recorded ones, and completions whose "
        f"advantage flips its sign are marked. {REWARD}. Or a reward at a git revision, HEAD~1:reward.py:reward, or "
        "RUN@3 for version 3 of a run whose reward was updated. A file is reloaded when it is saved",
    )
    verb.add_argument(
        "--expensive",
        action="store_true",
        help="with --reward, also run its judges, reward models, and program tests, which are otherwise skipped",
    )
    verb.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="save the labels that you give to completions (good, bad, or exploit, with a note) in this .jsonl file, "
        "which `rewardkit check --data` and calibrate read. Without this option, the page writes nothing",
    )
    add_token_options(verb, "auto if other people use this machine or --host lets other machines connect")
    verb.add_argument("--no-browser", action="store_true", help="print the address, but do not open a browser")


def run(options: argparse.Namespace) -> int:
    """Serve the page until it is stopped; return 0."""
    from rewardkit.errors import RewardKitError
    from rewardkit.page.server import serve

    if not 0 <= options.port <= 65535:
        raise RewardKitError(f"--port must be a number from 0 (any free port) to 65535, got {options.port}")
    folders = options.runs or [Path("runs")]
    for folder in folders:
        if folder.is_file():
            raise RewardKitError(
                f"{str(folder)!r} is a file: pass the folder that contains it, as in rewardkit view {folder.parent}"
            )
        if not folder.is_dir():
            raise RewardKitError(
                f"there is no folder {str(folder)!r}. Pass the folder of your recorded runs: rewardkit view FOLDER. "
                "Record a run with rk.to_trl(reward, record='runs/name'), or try `rewardkit demo`"
            )
    shared = has_other_users()
    token = token_of(options, lambda: "auto" if shared or not is_loopback(options.host) else "none")
    serve(
        folders,
        host=options.host,
        port=options.port,
        token=token,
        browser=not options.no_browser,
        trials=_trials(options),
        labels=options.labels,
        discreet=shared,
        output=_print,
    )
    return 0


def _trials(options: argparse.Namespace) -> Trials | None:
    """Return the trials for the reward in ``--reward``, or None without the option.

    Raises:
        RewardKitError: the value is not a reward, or ``--expensive`` is used without ``--reward``.
    """
    if options.reward is None:
        if options.expensive:
            from rewardkit.errors import RewardKitError

            raise RewardKitError("--expensive needs a reward to try: add --reward, such as --reward new.py:reward")
        return None
    from rewardkit.page.trials import Trials
    from rewardkit_adapters.live.past import past_version

    return Trials(past_version(options.reward) or options.reward, expensive=options.expensive)


def _print(line: str) -> None:
    print(visible(line), flush=True)
