"""``rewardkit diff HEAD:reward.py:reward reward.py:reward --on solutions.jsonl``: compare two versions of a reward.

``rewardkit diff --base main`` compares all rewards that a change touches, for pull requests and hooks.
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.cli.arguments import REWARD, add_columns, count, names, seconds, sources_of, write
from rewardkit.errors import RewardKitError

if TYPE_CHECKING:
    from rewardkit.differences.differences import Differences, Limits
    from rewardkit.differences.review import Review

_STDOUT = Path("-")
_BUDGET = 2.0
"""The seconds per reward: the same as for `rewardkit check --fast`, because a diff focuses on the change."""
_TIMEOUT = 300.0
"""The seconds for scoring with a reward. The limit is arbitrary: a revision that does not load within five minutes
probably hangs."""
_OF_BASE = ("only_sample", "no_check", "budget", "timeout")
"""The options that apply only to a comparison with a revision."""


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Scores the same completions with two rewards, and reports the effects on training: changed totals and "
        "components, advantages that flip their sign, groups that lose their learning signal, failures, and known "
        "exploits. Differences of at most 1e-9 are ignored. With --base, compares the same rewards in another git "
        "revision and in the working tree. The completions are a sample in the repository, and completions that are "
        "generated for the rewards. Both versions are checked. Without REWARDS, finds the rewards that the change "
        "affects, including through the modules and data files that they use."
    )
    verb.epilog = (
        "Exit code 0: nothing changes, or no more than the limits allow; 1: a limit is exceeded, a known exploit works "
        "again, or the new version breaks a law that the old one keeps; 2: the comparison could not run, or a new "
        "reward fails to score."
    )
    verb.add_argument(
        "rewards",
        nargs="*",
        metavar="REWARDS",
        help=f"the old reward and the new one: {REWARD}. Or a reward at a git revision, HEAD~1:reward.py:reward, or "
        "RUN@3 for version 3 of a run whose reward was updated, or a run's folder for its recorded scores. With "
        "--base, any number of rewards: path/to/file.py:reward, or path/to/file.py for all rewards in the file",
    )
    verb.add_argument(
        "--base",
        metavar="REVISION",
        help="compare with this git revision, starting at the last common commit (HEAD: uncommitted changes)",
    )
    verb.add_argument(
        "--on",
        metavar="DATA",
        help="the completions: a file, a trainer's output folder, or the folder of a recorded run (default with "
        "--base: for math.py, math.sample.jsonl in the same folder)",
    )
    add_columns(verb)
    verb.add_argument("--limit", type=count, metavar="N", help="use only the first N completions")
    verb.add_argument(
        "--without",
        type=names,
        default=[],
        metavar="A,B",
        help="exclude these components on both sides (`expensive`: judges, reward models, and programs)",
    )
    verb.add_argument(
        "--regressions",
        type=Path,
        metavar="FILE",
        help="the known exploits, saved by `rewardkit check --regressions FILE`",
    )
    for name, event in (
        ("changed", "completions get a different total"),
        ("flips", "advantages flip their sign"),
        ("silenced", "groups newly have equal totals, which give no learning signal"),
        ("new-failures", "completions can no longer be scored"),
    ):
        verb.add_argument(
            f"--max-{name}",
            type=_limit,
            metavar="LIMIT",
            help=f"fail if more than LIMIT {event}: a number, or a percentage such as 2%%",
        )
    verb.add_argument("--show", type=int, default=10, metavar="N", help="show N completions (default: 10)")
    verb.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=_STDOUT,
        metavar="FILE",
        help="write JSON to FILE (default: stdout)",
    )
    verb.add_argument("--html", type=Path, metavar="FILE", help="write an HTML report to FILE")
    verb.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write a pull request comment to FILE, which is left empty if nothing changed",
    )
    base = verb.add_argument_group("with --base")
    base.add_argument(
        "--only-sample",
        action="store_true",
        default=None,
        help="use only the sample, and generate no further completions",
    )
    base.add_argument("--no-check", action="store_true", default=None, help="do not check the rewards")
    base.add_argument(
        "--budget", type=seconds, metavar="SECONDS", help="the time limit for checking each reward (default: 2)"
    )
    base.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="the time limit for scoring with each reward (default: 300)",
    )
    base.add_argument(
        "--github",
        action="store_true",
        help="in a GitHub Actions job: compare with the base of the pull request, and write the job summary",
    )


def run(options: argparse.Namespace) -> int:
    """Compare the rewards; return the exit code, which is 0 if the differences are within all limits."""
    if options.base is not None or options.github:
        return _against_base(options)
    base_flags = [f"--{name.replace('_', '-')}" for name in _OF_BASE if getattr(options, name) is not None]
    if base_flags:
        raise RewardKitError(f"{', '.join(base_flags)}: only for comparisons with a git revision. Add --base REVISION")
    if len(options.rewards) != 2 or options.on is None:
        raise RewardKitError(
            "pass two rewards and completions, as in rewardkit diff HEAD:reward.py:reward reward.py:reward --on "
            "solutions.jsonl. Or pass --base REVISION to compare all rewards that changed since that revision"
        )
    return _diff_rewards(options)


def _diff_rewards(options: argparse.Namespace) -> int:
    from rewardkit.differences.diff import diff
    from rewardkit.differences.process import Data
    from rewardkit_adapters.inspect.logs import is_log, log_rows
    from rewardkit_adapters.live.past import past_version

    rows: Any = partial(log_rows, os.path.abspath(options.on)) if is_log(options.on) else None
    old, new = (past_version(reward) or reward for reward in options.rewards)
    differences = diff(
        old,
        new,
        Data.at(options.on, rows=rows, sources=sources_of(options), limit=options.limit),
        without=options.without,
        regressions=options.regressions,
        examples=options.show,
    )
    exceeded = _limits(options).exceeded(differences)
    _write(differences, exceeded, options)
    return 1 if exceeded else 0


def _against_base(options: argparse.Namespace) -> int:
    from rewardkit.differences.github import Job, hand_over, no_commands
    from rewardkit.differences.review import Options, review_change
    from rewardkit.differences.revisions import changes

    job = Job.here() if options.github else None
    base = options.base or ("HEAD" if job is None else job.compared_with())
    chosen = Options(
        sample=None if options.on is None else Path(options.on),
        sources=sources_of(options),
        limit=options.limit,
        without=tuple(options.without),
        regressions=options.regressions,
        makes=not options.only_sample,
        budget=0.0 if options.no_check else options.budget or _BUDGET,
        timeout=options.timeout or _TIMEOUT,
        examples=options.show,
    )
    # The GitHub runner must not read a reward's output as workflow commands.
    with nullcontext() if job is None else no_commands():
        review = review_change(changes(base), options.rewards, chosen)
        exceeded = [
            f"{reward.name}: {sentence}"
            for reward in review.rewards
            if reward.sample is not None
            for sentence in _limits(options).exceeded(reward.sample)
        ]
        _write(review, exceeded, options)
    if job is not None:
        hand_over(job, "" if review.same else review.document.markdown(), len(review.rewards))
    if any(reward.state == "failed" for reward in review.rewards):
        return 2
    return 1 if exceeded or any(reward.broken for reward in review.rewards) else 0


def _write(result: Differences | Review, exceeded: list[str], options: argparse.Namespace) -> None:
    """Write the requested files, and print the result as text or JSON."""
    values = json.dumps({**result.to_dict(), "exceeded": exceeded}, indent=1)
    if options.html is not None:
        write(options.html, result.document.html())
    if options.markdown is not None:
        write(options.markdown, "" if result.same else result.document.markdown())
    if options.json == _STDOUT:
        print(values)
        return
    if options.json is not None:
        write(options.json, values + "\n")
    print(result.document.text())
    for sentence in exceeded:
        print(f"\nover the limit: {sentence}")


def _limits(options: argparse.Namespace) -> Limits:
    from rewardkit.differences.differences import Limits

    return Limits(options.max_changed, options.max_flips, options.max_silenced, options.max_new_failures)


def _limit(text: str) -> Any:
    from rewardkit.differences.differences import Limit

    try:
        return Limit.parsed(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
