"""``rewardkit check rewards.py:closeness``: holds rewards to the laws, tries to exploit them, reports what it found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewardkit.testing.execution import Told
    from rewardkit.testing.reports import Section

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "check",
        help="hold rewards to the laws and try to exploit them",
        description="Holds rewards to the laws and tries to be paid by them without doing the task. Right and wrong "
        "completions stand beside the reward as EXAMPLES, GOOD and BAD, or in a file.",
        epilog="Exit code 0: no fault was found; 1: a law is broken or an exploit was found; 2: it could not run.",
    )
    verb.add_argument(
        "targets",
        nargs="+",
        metavar="REWARDS",
        help="module:reward or path/to/file.py:reward; without a name all public rewards of the module",
    )
    verb.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help=".jsonl, .json, .csv or .parquet: prompt, columns, completion and label (true: right). Labels give a "
        "calibration, several completions per prompt an estimate of the learning signal",
    )
    verb.add_argument(
        "--examples",
        type=Path,
        metavar="FILE",
        help="the same kinds of file: prompt, columns, and lists of right and wrong completions as `good` and `bad`",
    )
    verb.add_argument("--label", default="label", metavar="COLUMN", help="of the labels in --data (default: label)")
    verb.add_argument("--laws", type=_names, metavar="A,B", help="only these laws")
    verb.add_argument("--without", type=_names, default=[], metavar="A,B", help="all laws but these")
    verb.add_argument("--no-exploits", action="store_true", help="neither known exploits nor a search for others")
    verb.add_argument(
        "--regressions",
        type=Path,
        metavar="FILE",
        help="keeps the exploits that are found, and tries those again that were found before",
    )
    verb.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    verb.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page")
    verb.add_argument("--budget", type=_positive, default=40.0, metavar="SECONDS", help="per reward (default: 40)")
    verb.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="of what is drawn (default: 0)")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 where no fault was found, 1 where there is one."""
    from rewardkit.data.reward_names import load
    from rewardkit.testing.reports import json_of, page_of, text_of

    loaded = [one for target in options.targets for one in load(target)]
    # All are bound before the first is checked: a misspelled law should not show after a minute.
    bound = [_bound(one, options) for one in loaded]
    sections = []
    for number, one in enumerate(bound):
        title = f"{one.name} ({number + 1} of {len(bound)})" if len(bound) > 1 else one.name
        with _progress(title) as told:
            sections.append(_section(one, options, told))
    print(text_of(sections))
    for path, text in ((options.json, json_of), (options.html, page_of)):
        if path is not None:
            _write(path, text(sections))
    return 0 if all(section.report.ok for section in sections) else 1


def _bound(loaded: Any, options: argparse.Namespace) -> Any:
    from rewardkit.testing.labels import bound_with

    chosen = {"budget": options.budget, "seed": options.seed}
    if options.regressions is not None:
        chosen["regressions"] = options.regressions
    return bound_with(
        loaded,
        data=options.data,
        examples=options.examples,
        label=options.label,
        options=chosen,
        laws=options.laws,
        without=options.without,
        exploits=not options.no_exploits,
    )


def _section(bound: Any, options: argparse.Namespace, told: Told) -> Section:
    from rewardkit.testing.reports import Section
    from rewardkit.testing.reports.measured import measured

    report = bound.report(told=told)
    if options.data is None:
        return Section(report)
    return measured(report, bound.reward, options.data, label=options.label, seed=options.seed)


@contextmanager
def _progress(title: str) -> Iterator[Told]:
    """Shows which law runs: a bar on a terminal, elsewhere one line per reward."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        print(f"checking {title} ...", file=sys.stderr, flush=True)
        yield lambda law, number, count: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[law]}"), TimeElapsedColumn())
    # Laws run in forked children: a thread that refreshes could hold a lock in the moment of the fork.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(escape(title), total=1, law="")

        def told(law: str, number: int, count: int) -> None:
            bar.update(task, completed=number, total=count, law=escape(law))
            bar.refresh()

        yield told


def _write(path: Path, text: str) -> None:
    from rewardkit.core.errors import RewardKitError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RewardKitError(f"{path} cannot be written: {error.strerror or error}") from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return value
