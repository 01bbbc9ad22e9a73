"""``rewardkit score data.parquet --reward reward.py:reward``: score saved completions."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rewardkit.cli import cluster, selection
from rewardkit.cli.arguments import REWARD, add_columns, count, sources_of

if TYPE_CHECKING:
    from rewardkit.replay.processes import Workers
    from rewardkit.replay.replay import Replayed

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

_TENTHS = 10


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options."""
    verb = verbs.add_parser(
        "score",
        help="score saved completions",
        description="Scores saved completions: those in a .jsonl, .json, .csv or .parquet file, in a log of inspect_ai "
        "(.eval or .json), in the tables that TRL writes with log_completions=True, or in a recorded run. Whole "
        "conversations, in a column such as messages, are split into prompt and completion. Only a few batches are in "
        "memory at a time. Schedules have their end value, as in evaluation.",
        epilog="Exit code 0: all rows were scored; 1: some have an `error`; 2: it could not run.",
    )
    verb.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="files, as paths, addresses or patterns; a trainer's output folder; or the folder of a recorded run",
    )
    verb.add_argument("--reward", metavar="REWARD", help=REWARD)
    verb.add_argument(
        "--out",
        type=cluster.place,
        metavar="FILE",
        help="write all rows with total and components/<name> to FILE: .jsonl, .csv or .parquet",
    )
    add_columns(verb)
    verb.add_argument(
        "--processes",
        type=count,
        metavar="N",
        help="the number of processes (default: one per core, or only one for little data and for rewards that wait "
        "for judges)",
    )
    verb.add_argument(
        "--batch", type=count, default=512, metavar="N", help="the number of completions in a batch (default: 512)"
    )
    verb.add_argument("--limit", type=count, metavar="N", help="score only the first N completions")
    verb.add_argument(
        "--resume", action="store_true", help="continue what an earlier command with the same --out began"
    )
    selection.add_to(verb)
    cluster.add_to(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score the data, or select from data with scores; return 0 if all rows were scored, else 1."""
    from rewardkit.core.batch.table_text import visible
    from rewardkit.replay.processes import Workers
    from rewardkit.replay.replay import Replayed
    from rewardkit.replay.selection.scored import Scored
    from rewardkit.replay.sources import saved
    from rewardkit.replay.writers import kind_of
    from rewardkit_inspect.logs import is_log, log_rows

    rule = selection.rule_of(options)
    cluster.check(options)
    if options.out is not None and options.engine != "ray":
        kind_of(options.out)  # refuses an unknown ending before anything is read
        _refuse_to_overwrite(options.data, options.out)
    sources = sources_of(options)
    log = options.data[0] if len(options.data) == 1 and is_log(options.data[0]) else None
    rows = None if log is None else partial(log_rows, log)
    if options.engine == "ray":
        return 1 if cluster.score(options, sources, rows) else 0
    faulty, by, completion = False, options.by or "total", sources.get("completion")
    with _terminable(), Workers(options.processes) as workers:
        found = saved(options.data, limit=options.limit, completion=completion, rows=rows, mapped=workers.map)
        if rule is not None and options.reward is None:
            selection.select(rule, options, Scored.of(found, sources, by=by))
        elif rule is not None:
            replayed = Replayed.of(options.reward, found, sources)
            Scored.check(replayed.columns, by=by)
            with selection.scored_beside(options.out, found) as place:
                faulty = _score(options, replayed, place, workers)
                print()
                selection.select(rule, options, Scored.after(replayed.columns, place, by=by))
        else:
            faulty = _score(options, Replayed.of(options.reward, found, sources), options.out, workers)
    if options.out is not None:
        print(f"\nWritten to {visible(str(options.out))}")
    return 1 if faulty else 0


def _score(options: argparse.Namespace, replayed: Replayed, out: Path | None, workers: Workers) -> bool:
    """Score the data and print a summary; return whether rows have errors."""
    from rewardkit.core.batch.table_text import visible
    from rewardkit.replay.engine import score_saved
    from rewardkit.replay.output import resumable

    started = time.perf_counter()
    chosen = {"--limit": options.limit, "--completion": options.completion}
    try:
        with _progress(replayed.saved.name, replayed.saved.size) as show:
            report = score_saved(
                replayed, out, workers=workers, batch=options.batch, resume=options.resume, options=chosen, tick=show
            )
    except BaseException:
        if out is not None and (rows := resumable(out)):
            print(f"{rows:,} completions are scored: add --resume to continue with the others", file=sys.stderr)
        raise
    seconds = time.perf_counter() - started
    number = workers.processes or 1
    processes = f"{number} process{'es' if number > 1 else ''}"
    print(
        visible(
            f"{report.rows:,} completions of {replayed.saved.name} scored by {options.reward} in {seconds:.1f} s "
            f"({report.rows / max(seconds, 1e-9):,.0f} a second, {processes})"
        )
    )
    print(f"\n{report.text()}")
    if replayed.sees_batches:
        print(f"\nThe reward sees whole batches, here of {options.batch:,} completions.")
    return bool(report.faulty)


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM end the command as Ctrl-C does: its processes stop, and what is finished can be resumed."""

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _refuse_to_overwrite(data: Sequence[str], out: Path) -> None:
    from rewardkit.core.errors import RewardKitError
    from rewardkit.data.addresses import expanded, is_remote

    for address in (one for each in data for one in expanded(each)):
        if not is_remote(address) and Path(address).resolve() == out.resolve():
            raise RewardKitError(f"--out {out} is the file with the data: pass another file")


@contextmanager
def _progress(name: str, size: int) -> Iterator[Callable[[int], None]]:
    """Show the progress: a bar on a terminal, otherwise a line per tenth."""
    if sys.stderr.isatty() and find_spec("rich") is not None:
        with _bar(name, size) as show:
            yield show
        return
    last = [0]

    def line(done: int) -> None:
        tenth = _TENTHS * done // size
        if tenth > last[0] and done < size:
            print(f"scoring {name}: {done:,} of {size:,}", file=sys.stderr, flush=True)
        last[0] = tenth

    yield line


@contextmanager
def _bar(name: str, size: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(name), total=size)
        yield lambda done: bar.update(task, completed=done)
