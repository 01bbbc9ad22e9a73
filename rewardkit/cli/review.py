"""``rewardkit review --base main``: what a change does to the rewards that it touches, for pull requests and hooks."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import add_columns, add_comparison, add_limits, limits_of, seconds, sources_of, write

if TYPE_CHECKING:
    from rewardkit.differences.github import Job
    from rewardkit.differences.review import Review

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options."""
    verb = verbs.add_parser(
        "review",
        help="say what a change does to the rewards that it touches",
        description="Compares the rewards of the working tree with those of another git revision, on a sample of "
        "completions in the repository and on completions that are made for them, and checks both versions. Without "
        "REWARDS it finds the rewards that the change touches, also through the modules and data files that they use.",
        epilog="Exit code 0: nothing changes, or no more than the limits allow; 1: a limit is exceeded, or the new "
        "version breaks a law or pays a known exploit that the old one does not; 2: it could not run, or a new reward "
        "cannot be scored.",
    )
    verb.add_argument(
        "rewards", nargs="*", metavar="REWARDS", help="path/to/file.py:reward, or path/to/file.py for all in it"
    )
    verb.add_argument(
        "--base",
        default=None,
        metavar="REVISION",
        help="the git revision to compare with, from its last common commit (default: HEAD)",
    )
    verb.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        help="a .jsonl, .json, .csv or .parquet file of completions (default for math.py: math.sample.jsonl beside it)",
    )
    add_columns(verb)
    add_comparison(verb)
    verb.add_argument("--only-sample", action="store_true", help="make no completions besides the sample")
    verb.add_argument("--no-check", action="store_true", help="do not check the rewards")
    add_limits(verb)
    verb.add_argument(
        "--budget", type=seconds, default=2.0, metavar="SECONDS", help="the time to check each reward (default: 2)"
    )
    verb.add_argument(
        "--timeout",
        type=seconds,
        default=300.0,
        metavar="SECONDS",
        help="the longest that scoring with a reward may take (default: 300)",
    )
    verb.add_argument("--json", type=Path, metavar="FILE", help="write JSON to FILE")
    verb.add_argument("--markdown", type=Path, metavar="FILE", help="write a comment to FILE; empty if nothing changes")
    verb.add_argument(
        "--github",
        action="store_true",
        help="in a job of GitHub Actions: compare with the base of the pull request, and write the summary of the job",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Review the change; return 0 if nothing is over a limit."""
    from rewardkit.differences.changes import changes
    from rewardkit.differences.github import Job
    from rewardkit.differences.review import Options, reviewed
    from rewardkit.differences.review_report import dict_of, markdown_of, text_of

    job = Job.here() if options.github else None
    base = options.base or ("HEAD" if job is None else job.compared_with())
    chosen = Options(
        sample=options.sample,
        sources=sources_of(options),
        without=tuple(options.without),
        regressions=options.regressions,
        makes=not options.only_sample,
        budget=0.0 if options.no_check else options.budget,
        timeout=options.timeout,
    )
    # What a reward prints must not be taken for commands by the runner.
    with nullcontext() if job is None else _no_commands():
        review = reviewed(changes(base), options.rewards, chosen)
        exceeded = [
            f"{one.name}: {sentence}"
            for one in review.rewards
            if one.sample is not None
            for sentence in limits_of(options).exceeded(one.sample)
        ]
        print(text_of(review))
        for sentence in exceeded:
            print(f"\nover the limit: {sentence}")
    markdown = markdown_of(review)
    if options.json is not None:
        write(options.json, json.dumps({**dict_of(review), "exceeded": exceeded}, indent=1) + "\n")
    if options.markdown is not None:
        write(options.markdown, markdown)
    if job is not None:
        _hand_over(job, review, markdown)
    if any(one.state == "failed" for one in review.rewards):
        return 2
    return 1 if exceeded or any(one.broken for one in review.rewards) else 0


def _hand_over(job: Job, review: Review, markdown: str) -> None:
    """Write the summary of the job, and the outputs that its next steps read."""
    from rewardkit.differences.github import summarize

    report = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()) / "rewardkit-review.md"
    write(report, markdown)
    summarize(job, markdown or f"No reward scores differently ({len(review.rewards):,} compared).")
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"changed={'true' if markdown else 'false'}\nreport={report}\n")


@contextmanager
def _no_commands() -> Iterator[None]:
    """Make the runner of GitHub Actions ignore workflow commands such as ``::error::`` in what is printed meanwhile."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"::{token}::", flush=True)
