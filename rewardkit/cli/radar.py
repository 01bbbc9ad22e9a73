"""``rewardkit radar runs/x``: print a recorded run's alerts, which show where the policy may exploit the reward."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import REWARD, write

if TYPE_CHECKING:
    from rewardkit.tree.reward import Reward

_HERE = Path("-")


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Runs the same search as the page's Suspicious tab. Prints alerts with a strength from 0 to 1, strongest "
        "first, each with completions to inspect. Then prints observations, which are just as frequent in healthy "
        "runs. Alerts are not verdicts."
    )
    verb.epilog = (
        "Exit code 0: the search finished; 1: an alert is at least as strong as --above; 2: the search could not run, "
        "or the run is too short."
    )
    verb.add_argument("folder", metavar="RUN", help="the folder of a recorded run, which may still be training")
    verb.add_argument(
        "--above",
        type=_share,
        metavar="STRENGTH",
        help="exit with code 1 if an alert is at least this strong (0.8 is rare in healthy runs)",
    )
    verb.add_argument(
        "--reward",
        metavar="REWARD",
        help="the run's reward, if the run was recorded without a radar. The reward scores a sample again, with "
        f"the gold answers to other prompts. {REWARD}. Or RUN@3, version 3 of a run (RUN@0: the reward that it "
        "started with)",
    )
    verb.add_argument(
        "--show", type=_number, default=2, metavar="N", help="show N completions for each alert (default: 2)"
    )
    verb.add_argument(
        "--json", type=Path, nargs="?", const=_HERE, metavar="FILE", help="write JSON to FILE (default: stdout)"
    )
    judge = verb.add_argument_group(
        "a second opinion",
        "A language model reads up to eight completions for each alert, one per request, and decides whether they do "
        "the task. Its verdicts are printed next to the strength, but do not change it.",
    )
    judge.add_argument(
        "--judge",
        metavar="JUDGE",
        help="the name of a model at the endpoint, such as gpt-5-mini, or your own judge "
        "(path/to/file.py:judge), which is a reward that gives the score 1 to completions that do the task",
    )
    judge.add_argument(
        "--base-url",
        metavar="URL",
        help="the endpoint, such as http://localhost:8000/v1 (default: the variable OPENAI_BASE_URL, else OpenAI)",
    )
    judge.add_argument(
        "--key", metavar="VARIABLE", help="the environment variable with the API key (default: OPENAI_API_KEY)"
    )
    judge.add_argument("--task", metavar="TEXT", help="a description of the task, if the prompts do not state it")


def run(options: argparse.Namespace) -> int:
    """Search the run; return 1 if an alert is at least as strong as --above; otherwise, 0."""
    from rewardkit.errors import RewardKitError
    from rewardkit.page.alert_report import alert_report

    with _stdout_to_stderr():  # the output of a reward is not part of the report
        judge = _judge(options)
        report = alert_report(options.folder, reward=_reward(options.reward), judge=judge)
    values = json.dumps(report.to_dict(), indent=1)
    if options.json not in (None, _HERE):
        write(options.json, values + "\n")
    print(values if options.json == _HERE else report.text(examples=options.show))
    if report.too_short:
        raise RewardKitError(report.too_short)
    return int(options.above is not None and report.strength >= options.above)


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Inside the ``with`` block, write to stderr what this process and its children print to stdout."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


def _reward(named: str | None) -> Reward | None:
    if named is None:
        return None
    from rewardkit.scoring.processes import one_reward
    from rewardkit_adapters.live.past import past_version

    past = past_version(named)
    return one_reward(named) if past is None else past.load()


def _judge(options: argparse.Namespace) -> Reward | None:
    """Return the judge for a second opinion, or None without ``--judge``.

    Raises:
        RewardKitError: an option for the judge is specified, but there is no judge that uses it.
    """
    from rewardkit.errors import RewardKitError
    from rewardkit.rewards.judges.endpoint.access import Endpoint
    from rewardkit.rewards.judges.judge import task_judge
    from rewardkit.scoring.processes import one_reward

    settings = {"base_url": options.base_url, "key": options.key, "task": options.task}
    settings = {name: value for name, value in settings.items() if value is not None}
    has_own_settings = options.judge is not None and ".py:" in options.judge
    if settings and (has_own_settings or options.judge is None):
        names = ", ".join(f"--{name.replace('_', '-')}" for name in settings)
        raise RewardKitError(
            f"{options.judge} has its own settings. Drop {names}, or set them in the judge's rk.judge(...)"
            if has_own_settings
            else f"{names}: applies only to a judge, but no judge is given. Add --judge MODEL, or drop {names}"
        )
    if options.judge is None:
        return None
    if has_own_settings:
        return one_reward(options.judge)
    task = settings.pop("task", None)
    return task_judge(Endpoint(options.judge, **settings), task=task)


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"must be greater than 0 and at most 1, got {text}")
    return value


def _number(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {value}")
    return value
