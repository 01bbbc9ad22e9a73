"""``rewardkit radar runs/x``: print a recorded run's alerts, which show where the policy may exploit the reward."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import REWARD, add_trust, confirm, write

if TYPE_CHECKING:
    from rewardkit.tree.binding import Binding
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
        "started with). Asks before it calls functions that do not declare pure=True",
    )
    add_trust(verb)
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
        judge, reward = _judge(options), _reward(options.reward)
        if reward is not None:
            _confirm_calls(reward, options)
        report = alert_report(options.folder, reward=reward, judge=judge)
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


def _confirm_calls(reward: Reward, options: argparse.Namespace) -> None:
    """Ask before functions that do not declare ``pure=True`` are called.

    Raises:
        RewardKitError: the answer is not yes, or there is no terminal.
    """
    from rewardkit.analyze.permuted_golds import PermutedGolds
    from rewardkit.page.alerts import DRAWS, MOST
    from rewardkit.record.run import open_run

    undeclared = PermutedGolds(reward).undeclared
    if not undeclared:
        return
    [(recorded,)] = open_run(options.folder).sql("select count(*) from scores where training").fetchall()
    functions = ", ".join(f"{name} ({_source(binding)})" for name, binding in undeclared.items())
    scored = min(recorded, MOST)
    confirm(
        f"--reward {options.reward} scores {scored:,} recorded completions up to {DRAWS + 1} times (about "
        f"{scored * (DRAWS + 1):,} calls per function). This calls functions that do not declare pure=True: "
        f"{functions}.",
        trusted=options.trust,
    )


def _source(binding: Binding) -> str:
    """Return the file and line that define a function, or its module if there is no source code."""
    function = inspect.unwrap(binding.function)
    try:
        return f"{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}"
    except (OSError, TypeError):  # an object, or a function from a recorded version
        return str(getattr(function, "__module__", None) or type(function).__module__)


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
