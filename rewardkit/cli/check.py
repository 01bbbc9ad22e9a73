"""``rewardkit check rewards.py:closeness``: check rewards against laws, search for exploits, and report the
findings."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.cli.arguments import REWARD, add_seed, names, seconds, write

_BUDGET = 40.0
"""The seconds per reward: the same as the default for `rk.check`."""
_FAST_BUDGET = 2.0
"""The seconds per reward for a pre-commit hook, in which a full check would take too long."""

if TYPE_CHECKING:
    from rewardkit.check.reports import Report, Section
    from rewardkit.check.reward_under_test.bound_reward import BoundReward
    from rewardkit.check.run.execution import OnProgress
    from rewardkit.check.run.scratch import Scratch


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Checks rewards against laws and searches for exploits: completions that score high without doing the task. "
        "Examples of correct and incorrect completions come from EXAMPLES, GOOD, and BAD in the reward's module, or "
        "from a file. From a training script or a notebook, only the rewards are loaded: the training does not "
        "start."
    )
    verb.epilog = (
        "Exit code 0: no fault was found; 1: a law is broken, or an exploit was found; 2: the check could not run, or "
        "a reward in the module could not be checked; 3: no fault was found, but some laws did not finish, and the "
        "report shows the --budget that they need (with --fast, the code is 0)."
    )
    verb.add_argument(
        "targets",
        nargs="+",
        metavar="REWARDS",
        help=f"{REWARD}. Without a name after the colon, all candidates in the module are checked: rewards, functions "
        "with an argument named `completions` or `completion`, and lists of these",
    )
    verb.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="a .jsonl, .json, .csv, or .parquet file with one completion per row, plus its prompt, columns, and label "
        "(true means correct). With labels, the report includes a calibration. With several completions per prompt, "
        "the report estimates the learning signal",
    )
    verb.add_argument(
        "--examples",
        type=Path,
        metavar="FILE",
        help="a file in one of the same formats, with one example per row: prompt, columns, and the lists `good` and "
        "`bad` of correct and incorrect completions",
    )
    verb.add_argument("--label", default="label", metavar="COLUMN", help="the label column in --data (default: label)")
    verb.add_argument(
        "--fast",
        action="store_true",
        help="check each reward for two seconds, with the laws that find most ordinary bugs (for pre-commit hooks)",
    )
    verb.add_argument("--laws", type=names, metavar="A,B", help="check only these laws")
    verb.add_argument("--without", type=names, default=[], metavar="A,B", help="check all laws except these")
    verb.add_argument("--no-exploits", action="store_true", help="skip the known exploits and the search for new ones")
    verb.add_argument(
        "--regressions",
        type=Path,
        metavar="FILE",
        help="save new exploits to this file, and retry the saved ones",
    )
    verb.add_argument(
        "--mutants",
        action="store_true",
        help="put one ordinary bug at a time into the reward's source, and list the bugs that the correct and "
        "incorrect "
        "completions (GOOD and BAD) would reveal",
    )
    verb.add_argument(
        "--reviewer",
        metavar="MODEL",
        help="after the laws, send each reward's source, examples, and findings to this model at OPENAI_BASE_URL or "
        "OpenAI. Completions that it proposes are shown as leads if their scores agree with the model's claims. Leads "
        "do not change the exit code",
    )
    verb.add_argument(
        "--network",
        action="store_true",
        help="allow the rewards to connect to other machines. Judges and remote rewards may always do so",
    )
    verb.add_argument("--json", type=Path, metavar="FILE", help="write the report to FILE as JSON")
    verb.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as an HTML page")
    verb.add_argument(
        "--budget",
        type=seconds,
        metavar="SECONDS",
        help="the time limit for each reward (default: 40, or 2 with --fast)",
    )
    add_seed(verb)


def run(options: argparse.Namespace) -> int:
    """Check each reward.

    Return 0 if there are no faults, 1 if there are, 2 if a check could not run, 3 if laws are unfinished.
    """
    from rewardkit.check.run.scratch import scratch_beside
    from rewardkit.tree.loading import is_file, split

    sources = [split(target)[0] for target in options.targets]
    folders = [Path(source).absolute().parent for source in sources if is_file(source)]
    # A module may open a log or a database when it is imported.
    with scratch_beside(folders, network=True) as scratch:
        return _check(options, scratch)


def _check(options: argparse.Namespace, scratch: Scratch) -> int:
    from rewardkit.check.reports import json_of, page_of, text_of
    from rewardkit.check.run.targets import targets_of

    # Bind all rewards before the first check, so that a misspelled law is reported at once and not after a minute.
    all_targets = [targets_of(target, scratch.entered(), **_options(options)) for target in options.targets]
    for targets in all_targets:
        if listed := str(targets):
            print(f"{listed}\n", flush=True)
    bound = [reward for targets in all_targets for reward in targets.bound]
    left_out = [omission for targets in all_targets for omission in targets.left_out]
    sections: list[Section] = []
    reports: list[tuple[BoundReward, Report]] = []
    for number, reward in enumerate(bound):
        title = f"{reward.name} ({number + 1} of {len(bound)})" if len(bound) > 1 else reward.name
        with _progress(title, reward.options["budget"]) as on_progress:
            report = reward.report(on_progress=on_progress, reviewer=options.reviewer)
            report = replace(report, effects=report.effects + scratch.effects())
            sections.append(_section(reward, _of_list(report, reward, reports), options))
        reports.append((reward, report))
    print(text_of(sections, left_out))
    if options.mutants:
        for targets in all_targets:
            for reward in targets.bound:
                print(f"\n{_mutants_of(targets.target, reward)}", flush=True)
    for path, text in ((options.json, json_of), (options.html, page_of)):
        if path is not None:
            write(path, text(sections, left_out))
    if any(section.report.findings for section in sections):
        return 1
    if any(omission.certain for omission in left_out):
        return 2
    return 0 if options.fast or all(section.report.complete for section in sections) else 3


def _mutants_of(target: str, bound: BoundReward) -> str:
    """Return a report on the bugs in a reward's module that its correct and incorrect completions would catch."""
    import inspect

    from rewardkit.check.mutants.mutants import mutants
    from rewardkit.check.mutants.notice import noticed
    from rewardkit.errors import RewardDefinitionError
    from rewardkit.tree.loading import load_module, path_of, split
    from rewardkit.tree.scripts import loader_of

    source, name = split(target)
    path, module = path_of(source), load_module(source, name)
    function = getattr(module, bound.name, None)
    if inspect.isfunction(function) and function.__module__ != module.__name__:  # the module imports its reward
        path, module = path_of(inspect.getfile(function)), sys.modules[function.__module__]
    loader = loader_of(module)
    text = path.read_text(encoding="utf-8") if loader is None else loader.source
    bugs = mutants(text, of=bound.name, path=str(path))
    with _progress(f"{bound.name} with {len(bugs)} bugs, one at a time", math.inf) as on_progress:
        try:
            return str(noticed(bound, bugs, lambda number: on_progress(str(bugs[number]), number, len(bugs))))
        except RewardDefinitionError as error:
            return str(error)


def _options(options: argparse.Namespace) -> dict[str, Any]:
    from rewardkit.check.run.selection import OF_EXPLOITS, fast_laws

    budget = options.budget or (_FAST_BUDGET if options.fast else _BUDGET)
    chosen = {"budget": budget, "seed": options.seed, "network": options.network}
    if options.regressions is not None:
        chosen["regressions"] = options.regressions
    return {
        "data": options.data,
        "examples": options.examples,
        "label": options.label,
        "options": chosen,
        "laws": options.laws or (fast_laws() if options.fast else None),
        "without": [*options.without, *(OF_EXPLOITS if options.no_exploits else ())],
    }


def _section(bound: BoundReward, report: Report, options: argparse.Namespace) -> Section:
    from rewardkit.check.reports import Section

    if options.data is None:
        section = Section(report)
    else:
        from rewardkit.check.reports.measured import measured

        section = measured(
            report, bound.reward, options.data, label=options.label, seed=options.seed, network=options.network
        )
    if not _has_checked_items(bound):
        return section
    remark = "Its items are checked by themselves, as candidates, and their findings are not repeated here."
    return replace(section, remarks=(*section.remarks, remark))


def _of_list(report: Report, bound: BoundReward, other_reports: Sequence[tuple[BoundReward, Report]]) -> Report:
    """Return the report on a list; if its items are also checked as candidates, omit the items' findings."""
    from rewardkit.check.reward_under_test.components import unrepeated

    if not _has_checked_items(bound):
        return report
    items = [other for candidate, other in other_reports if any(candidate.reward is item for item in bound.reward)]
    return unrepeated(report, items, "as shown for its items")


def _has_checked_items(bound: BoundReward) -> bool:
    return bound.options.get("components") is False


@contextmanager
def _progress(title: str, budget: float) -> Iterator[OnProgress]:
    """Show progress on stderr."""
    from rewardkit.check.run.status import law_progress, on_terminal, shown_status

    if not on_terminal():
        print(f"checking {title} ...", file=sys.stderr, flush=True)
    with shown_status() as show:
        yield law_progress(show, title, budget)
