"""``rewardkit view runs``: the local page of recorded runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.core.batch.table_text import visible

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

_PORT = 8765


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "view",
        help="show recorded runs in the browser",
        description="Shows recorded runs in the browser, also while they are being written: graphs, completions side "
        "by side, logs, and what looks suspicious. The page asks for nothing outside this machine.",
    )
    verb.add_argument(
        "runs", nargs="*", type=Path, metavar="RUNS", help="folders with recorded runs, or runs (default: runs)"
    )
    verb.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="listen here (default: 127.0.0.1, this machine alone); other machines need the token that is printed",
    )
    verb.add_argument(
        "--port", type=int, default=_PORT, metavar="NUMBER", help=f"a free one if it is taken (default: {_PORT})"
    )
    verb.add_argument(
        "--token", metavar="TEXT", help="what visitors must know (default: made up where --host needs one)"
    )
    verb.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 when it was stopped."""
    from rewardkit.core.errors import RewardKitError
    from rewardkit.viewer.server import serve

    if options.token is not None and not options.token.strip():
        raise RewardKitError("--token is empty: leave it out, or give the text that visitors must know")
    if not 0 <= options.port <= 65535:
        raise RewardKitError(f"--port is a number from 0 (any that is free) to 65535, got {options.port}")
    folders = options.runs or [Path("runs")]
    for folder in folders:
        if folder.is_file():
            raise RewardKitError(
                f"{str(folder)!r} is a file: name the folder that it lies in, rewardkit view {folder.parent}"
            )
        if not folder.is_dir():
            raise RewardKitError(
                f"there is no folder {str(folder)!r}. Name the one that runs are recorded to: rewardkit view FOLDER. "
                "Runs are recorded by rk.to_trl(reward, record='runs/name'); `rewardkit demo` records one, too."
            )
    serve(
        folders, host=options.host, port=options.port, token=options.token, browser=not options.no_browser, told=_told
    )
    return 0


def _told(line: str) -> None:
    print(visible(line), flush=True)
