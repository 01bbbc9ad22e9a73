"""``rewardkit diff HEAD:reward.py:reward reward.py:reward --on solutions.jsonl``: what a change of a reward changes."""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.cli.arguments import REWARD, add_columns, add_comparison, add_limits, count, limits_of, sources_of, write

if TYPE_CHECKING:
    from rewardkit.differences.differences import Differences
    from rewardkit.differences.process import Data

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

_HERE = Path("-")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options."""
    verb = verbs.add_parser(
        "diff",
        help="say what a change of a reward changes",
        description="Scores the same completions with two rewards, and says what a training would notice: changed "
        "totals and components, advantages that flip their sign, groups that fall silent, failures, known exploits. A "
        "change of at most 1e-9 is no change.",
        epilog="Exit code 0: within all limits; 1: a limit is exceeded, or a known exploit is paid again; 2: it could "
        "not run. Without limits, any difference is 0.",
    )
    verb.add_argument(
        "old",
        metavar="OLD",
        help=f"the reward before: {REWARD}; with a git revision, HEAD~1:reward.py:reward; RUN@3, version 3 of a run "
        "whose reward was updated; or the folder of a run, for the scores that it recorded",
    )
    verb.add_argument("new", metavar="NEW", help="the reward after: the same")
    verb.add_argument(
        "--on",
        required=True,
        metavar="DATA",
        help="the completions: a file, a trainer's output folder, or the folder of a recorded run",
    )
    add_columns(verb)
    verb.add_argument("--limit", type=count, metavar="N", help="use only the first N completions")
    add_comparison(verb)
    add_limits(verb)
    verb.add_argument("--show", type=int, default=10, metavar="N", help="show N completions (default: 10)")
    verb.add_argument(
        "--json", type=Path, nargs="?", const=_HERE, metavar="FILE", help="write JSON to FILE, or print it"
    )
    verb.add_argument("--html", type=Path, metavar="FILE", help="write a page to FILE")
    verb.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write a comment for a pull request to FILE; empty if nothing changes",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the rewards; return 0 if the differences are within all limits, else 1."""
    from rewardkit.differences.diff import diff
    from rewardkit_adapters.live.past import past_version

    found = diff(
        past_version(options.old) or options.old,
        past_version(options.new) or options.new,
        _data(options),
        without=options.without,
        regressions=options.regressions,
        examples=options.show,
    )
    exceeded = limits_of(options).exceeded(found)
    _write(found, exceeded, options)
    return 1 if exceeded else 0


def _data(options: argparse.Namespace) -> Data:
    from rewardkit.differences.process import Data
    from rewardkit_adapters.inspect.logs import is_log, log_rows

    rows: Any = partial(log_rows, os.path.abspath(options.on)) if is_log(options.on) else None
    return Data.at(options.on, rows=rows, sources=sources_of(options), limit=options.limit)


def _write(found: Differences, exceeded: list[str], options: argparse.Namespace) -> None:
    """Write the files, then print the text, or JSON."""
    values = json.dumps({**found.to_dict(), "exceeded": exceeded}, indent=1)
    if options.html is not None:
        write(options.html, found.html())
    if options.markdown is not None:
        write(options.markdown, "" if found.same else found.markdown())
    if options.json == _HERE:
        print(values)
        return
    if options.json is not None:
        write(options.json, values + "\n")
    print(found.text())
    for sentence in exceeded:
        print(f"\nover the limit: {sentence}")
