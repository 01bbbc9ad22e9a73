"""``rewardkit score data.parquet --reward reward.py:reward``: score saved completions."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rewardkit.cli import cluster, selection
from rewardkit.cli.arguments import REWARD, add_columns, count, sources_of

if TYPE_CHECKING:
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
    verb.add_argument("data", metavar="DATA", help="a file, a trainer's output folder, or the folder of a recorded run")
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
    from rewardkit.replay.replay import Replayed
    from rewardkit.replay.selection.scored import Scored
    from rewardkit.replay.sources import saved
    from rewardkit.replay.writers import kind_of
    from rewardkit_inspect.logs import is_log, log_rows

    rule = selection.rule_of(options)
    cluster.check(options)
    if options.engine == "ray":
        return 1 if cluster.score(options, sources_of(options)) else 0
    if options.out is not None:
        kind_of(options.out)  # refuses an unknown ending before anything is read
        _refuse_to_overwrite(options.data, options.out)
    sources = sources_of(options)
    rows = partial(log_rows, options.data) if is_log(options.data) else None
    found = saved(options.data, limit=options.limit, completion=sources.get("completion"), rows=rows)
    faulty, by = False, options.by or "total"
    if rule is not None and options.reward is None:
        with _terminable():
            selection.select(rule, options, Scored.of(found, sources, by=by))
    elif rule is not None:
        replayed = Replayed.of(options.reward, found, sources)
        Scored.check(replayed.columns, by=by)
        with _terminable(), selection.scored_beside(options.out, found) as place:
            faulty = _score(options, replayed, place)
            print()
            selection.select(rule, options, Scored.after(replayed.columns, place, by=by))
    else:
        faulty = _score(options, Replayed.of(options.reward, found, sources), options.out)
    if options.out is not None:
        print(f"\nWritten to {visible(str(options.out))}")
    return 1 if faulty else 0


def _score(options: argparse.Namespace, replayed: Replayed, out: Path | None) -> bool:
    """Score the data and print a summary; return whether rows have errors."""
    from rewardkit.core.batch.table_text import visible
    from rewardkit.core.evaluation.scorer import Scorer
    from rewardkit.replay.replay import replay
    from rewardkit.replay.report import ReplayReport
    from rewardkit.replay.writers import written

    components = Scorer(replayed.reward).components
    keep = nullcontext(None) if out is None else written(out, replayed.saved, components)
    report, started, used = ReplayReport(), time.perf_counter(), [1]
    with _terminable(), keep as add, _progress(replayed.saved.name, replayed.saved.size) as show:
        batches = replay(replayed, processes=options.processes, batch=options.batch, told=used.append)
        for chunk, scores in batches:
            if add is not None:
                add(chunk, scores)
            report.add(scores)
            show(report.rows)
    seconds = time.perf_counter() - started
    processes = f"{used[-1]} process{'es' if used[-1] > 1 else ''}"
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
    """Make SIGTERM end the command as Ctrl-C does: its processes stop, and no partial file is left."""

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


def _refuse_to_overwrite(data: str, out: Path) -> None:
    from rewardkit.core.errors import RewardKitError

    if "://" not in data and Path(data).resolve() == out.resolve():
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
