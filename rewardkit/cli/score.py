"""``rewardkit score data.parquet --reward reward.py:reward``: score saved completions."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import REWARD, add_columns, count, sources_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rewardkit.scoring.columns import Columns
    from rewardkit.scoring.files import Row
    from rewardkit.scoring.processes import Workers
    from rewardkit.scoring.scored import Scored
    from rewardkit.scoring.selection import Rule
    from rewardkit.scoring.sources import Saved
    from rewardkit_adapters.ray.reports import Progress


# ``rewardkit score 's3://bucket/*.parquet' --engine ray``: score completions on a cluster.


def add_cluster_to(verb: argparse.ArgumentParser) -> None:
    """Add the cluster options."""
    group = verb.add_argument_group(
        "cluster",
        "With --engine ray, Ray Data scores the data on all cores of this machine or of a cluster. --out is then a "
        "folder for .parquet files, or a URL such as s3://bucket/scored. See docs/scale.md.",
    )
    group.add_argument(
        "--engine", choices=["processes", "ray"], default="processes", help="the engine that does the work"
    )
    group.add_argument(
        "--address",
        metavar="HOST",
        help="the address of a running Ray cluster: auto, host:6379, or ray://host:10001 (default: none)",
    )
    group.add_argument(
        "--pools",
        type=_sizes,
        metavar="NAME=N,...",
        help="the number of actors for mathematics, sandboxes, or models (default: an even share of the cores)",
    )


def path_or_address(text: str) -> Path | str:
    """Return `text` as a path, or unchanged if it is an address such as ``s3://bucket/scored``."""
    return text if "://" in text else Path(text)


def check(options: argparse.Namespace) -> None:
    """Raise an error if some options cannot be combined.

    Raises:
        RewardKitError: an option does not apply to this engine.
    """
    from rewardkit.errors import RewardKitError

    if options.engine == "processes":
        for name in ("address", "pools"):
            if getattr(options, name) is not None:
                raise RewardKitError(f"--{name} applies only to a cluster: add --engine ray")
        if isinstance(options.out, str):
            raise RewardKitError(f"--out {options.out} is a URL: add --engine ray, or pass a path")
        return
    if options.out is None:
        raise RewardKitError("--engine ray writes scores while it runs: add --out with a folder or a URL")
    if Path(options.out).suffix in (".parquet", ".jsonl", ".csv", ".json"):
        raise RewardKitError(
            f"--engine ray writes a folder of .parquet files, got --out {options.out}. Drop the file extension"
        )
    if options.processes is not None:
        raise RewardKitError("--processes applies only to this machine: drop --processes or --engine ray")
    if options.keep is not None or options.pairs is not None:
        raise RewardKitError(
            "--engine ray writes all rows. Drop --keep and --pairs, and select from its output in a second command"
        )


def score(options: argparse.Namespace, sources: dict[str, str], rows: Callable[[], Iterator[Row]] | None) -> bool:
    """Score the data on a cluster and print a summary; return whether rows have errors.

    Args:
        rows: a function that yields the data's rows if they need a special reader; otherwise, None.
    """
    from rewardkit.batch.table_text import visible
    from rewardkit_adapters.ray.command import score_data

    name, report, seconds = score_data(
        options.data,
        options.reward,
        str(options.out),
        sources=sources,
        limit=options.limit,
        batch=options.batch,
        address=options.address,
        pools=options.pools,
        resume=options.resume,
        rows=rows,
        show=_show,
    )
    rate = f"{report.rows / max(seconds, 1e-9):,.0f} a second, Ray"
    print(visible(f"{report.rows:,} completions of {name} scored by {options.reward} in {seconds:.1f} s ({rate})"))
    print(f"\n{report.text()}\n\n{report.rates()}")
    return bool(report.faulty)


def _show(progress: Progress) -> None:
    rate = progress.scored / max(progress.seconds, 1e-9)
    summary = f"{progress.rows:,} completions, {progress.parts:,} of {progress.of:,} parts"
    print(f"scoring: {summary}, {rate:,.0f} a second", file=sys.stderr, flush=True)


def _sizes(text: str) -> dict[str, int]:
    sizes = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = pair.partition("=")
        if not (name.strip() and equals):
            raise argparse.ArgumentTypeError(f"write NAME=NUMBER, as in mathematics=8, got {pair!r}")
        sizes[name.strip()] = count(number.strip())
    return sizes


# ``rewardkit score --keep best`` and ``--pairs``: training data from scored completions.


_BEST_WORST = "best-worst"


def add_selection_to(verb: argparse.ArgumentParser) -> None:
    """Add the selection options."""
    group = verb.add_argument_group(
        "training data",
        "Selects the rows to write to --out, instead of all rows. Without --reward, DATA can be the output of an "
        "earlier `rewardkit score --out`. Without --out, the selected rows are only counted.",
    )
    kind = group.add_mutually_exclusive_group()
    kind.add_argument(
        "--keep",
        type=_keep,
        metavar="RULE",
        help="for each prompt, keep these completions, in the columns of TRL's SFTTrainer: best, top:K, above:X "
        "(scores of at least X), or a combination, such as best,above:1",
    )
    kind.add_argument(
        "--pairs",
        type=_most,
        nargs="?",
        const=_most(_BEST_WORST),
        metavar="NUMBER",
        help="for each prompt, pair completions, in the columns of TRL's DPOTrainer: best-worst (default, one pair for "
        "each prompt), all, or at most NUMBER pairs, largest gaps first",
    )
    group.add_argument("--by", metavar="NAME", help="the score to select by: total (default) or a component")
    group.add_argument("--gap", type=_gap, metavar="X", help="pair only scores that differ by at least X")


def rule_of(options: argparse.Namespace) -> Rule | None:
    """Return the selection rule that the options specify; None to keep all rows.

    Raises:
        RewardKitError: an option requires another option.
    """
    from rewardkit.errors import RewardKitError

    if options.gap is not None and options.pairs is None:
        raise RewardKitError("--gap sets the minimum difference between the scores in a pair, so it needs --pairs")
    if options.keep is not None:
        from rewardkit.scoring.selection import Keep

        most, least = options.keep
        return Keep(most, least)
    if options.pairs is not None:
        from rewardkit.scoring.selection import Pairs

        return Pairs(None if options.pairs == math.inf else int(options.pairs), options.gap or 0.0)
    if options.by is not None:
        raise RewardKitError("--by names the score by which rows are selected, so it needs --keep or --pairs")
    if options.reward is None:
        raise RewardKitError("there is no reward to score with: add --reward path/to/file.py:reward")
    return None


@contextmanager
def scored_beside(out: Path | None, data: Saved) -> Iterator[Path]:
    """Yield the path to a temporary file for all rows with their scores, from which rows are then selected.

    The file is removed at the end. If only the selection fails, the file is kept, because scoring may have taken days.
    In this case, the error shows the file's path.
    """
    from rewardkit.errors import DataError

    ending = ".jsonl" if data.schema is None else ".parquet"  # the format that keeps the types of the data
    if out is None:
        with TemporaryDirectory(prefix="rewardkit-") as folder:
            yield Path(folder) / f"scored{ending}"
        return
    path = out.with_name(f".{out.name}.scored{ending}")
    try:
        yield path
    except DataError as error:
        scores_path = out.with_name(f"{out.name}.scored{ending}")
        if not path.is_file() or scores_path.resolve() == Path(data.name).resolve():
            raise
        path.rename(scores_path)
        raise DataError(
            f"{error}\nAll scores are in {scores_path}. To select from these scores, pass that file without --reward"
        ) from None
    finally:
        with suppress(OSError):
            path.unlink()


def select(rule: Rule, options: argparse.Namespace, scored: Scored) -> None:
    """Select rows from scored completions, write the rows to ``--out``, and print their number."""
    from rewardkit.scoring.selection import select as select_rows

    print(select_rows(scored, rule, options.out).text())


def _keep(text: str) -> tuple[int | None, float | None]:
    most: int | None = None
    least: float | None = None
    for part in text.split(","):
        name, _, value = part.strip().partition(":")
        try:
            if name == "best" and not value:
                most = 1
            elif name == "top":
                most = count(value)
            elif name == "above" and math.isfinite(float(value)):
                least = float(value)
            else:
                raise ValueError(part)
        except ValueError:
            raise argparse.ArgumentTypeError(f"write best, top:4, above:0.8, or two of these, got {text!r}") from None
    return most, least


def _most(text: str) -> float:
    if text in (_BEST_WORST, "all"):
        return 1 if text == _BEST_WORST else math.inf
    try:
        return count(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"write {_BEST_WORST}, all, or a number, got {text!r}") from None


def _gap(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number of at least 0, got {text}")
    return value


_TENTHS = 10
"""The number of progress lines in a log, which cannot show a progress bar. The number is arbitrary."""


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Reads completions from .jsonl, .json, .csv, or .parquet files, from an inspect_ai log (.eval or .json), from "
        "the tables that TRL writes with log_completions=True, or from a recorded run. Whole conversations, in a "
        "column such as messages, are split into a prompt and a completion. Only a few batches are in memory at a "
        "time. Schedules have their end value, as in evaluation."
    )
    verb.epilog = "Exit code 0: all rows were scored; 1: some rows have an `error`; 2: the command could not run."
    verb.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="files (paths, URLs, or patterns), a trainer's output folder, or the folder of a recorded run",
    )
    verb.add_argument("--reward", metavar="REWARD", help=REWARD)
    verb.add_argument(
        "--out",
        type=path_or_address,
        metavar="FILE",
        help="write all rows, with the columns total and components/<name>, to FILE: .jsonl, .csv, or .parquet",
    )
    add_columns(verb)
    verb.add_argument(
        "--processes",
        type=count,
        metavar="N",
        help="the number of processes (default: one per core, or just one if there are few rows or the reward waits "
        "for judges)",
    )
    verb.add_argument(
        "--batch", type=count, default=512, metavar="N", help="the number of completions in a batch (default: 512)"
    )
    verb.add_argument("--limit", type=count, metavar="N", help="score only the first N completions")
    verb.add_argument("--resume", action="store_true", help="continue an earlier command that had the same --out")
    add_selection_to(verb)
    add_cluster_to(verb)


def run(options: argparse.Namespace) -> int:
    """Score the data, or select from scored data; return 0 if all rows were scored; otherwise, 1."""
    from rewardkit.batch.table_text import visible
    from rewardkit.scoring.columns import Columns
    from rewardkit.scoring.processes import Workers, one_reward
    from rewardkit.scoring.sources import saved
    from rewardkit.scoring.writers import kind_of

    rule = rule_of(options)
    check(options)
    if options.out is not None and options.engine != "ray":
        kind_of(options.out)  # refuses an unknown ending before anything is read
        _refuse_to_overwrite(options.data, options.out)
    sources = sources_of(options)
    rows = _log_rows(options.data)
    if options.engine == "ray":
        return 1 if score(options, sources, rows) else 0
    faulty, by, completion = False, options.by or "total", sources.get("completion")
    with _terminable(), Workers(options.processes) as workers:
        data = saved(options.data, limit=options.limit, completion=completion, rows=rows, mapped=workers.map)
        if rule is None:
            columns = Columns.of_saved(one_reward(options.reward), data, sources)
            faulty = _score(options, data, columns, options.out, workers)
        else:
            from rewardkit.scoring.scored import Scored

            if options.reward is None:
                select(rule, options, Scored.of(data, sources, by=by))
            else:
                columns = Columns.of_saved(one_reward(options.reward), data, sources)
                Scored.check(columns, by=by)
                with scored_beside(options.out, data) as scored_path:
                    faulty = _score(options, data, columns, scored_path, workers)
                    print()
                    select(rule, options, Scored.after(columns, scored_path, by=by))
    if options.out is not None:
        print(f"\nWritten to {visible(str(options.out))}")
    return 1 if faulty else 0


def _log_rows(data: Sequence[str]) -> Callable[[], Iterator[Row]] | None:
    """Return a function that yields the rows in an inspect_ai log, or None for other data."""
    if len(data) != 1 or Path(data[0]).suffix.lower() not in (".eval", ".json"):
        return None
    from rewardkit_adapters.inspect.logs import is_log, log_rows

    return partial(log_rows, data[0]) if is_log(data[0]) else None


def _score(options: argparse.Namespace, data: Saved, columns: Columns, out: Path | None, workers: Workers) -> bool:
    """Score the data and print a summary; return whether rows have errors."""
    from rewardkit.batch.table_text import visible
    from rewardkit.scoring.engine import score_saved
    from rewardkit.scoring.output import resumable

    started = time.perf_counter()
    chosen = {"--limit": options.limit, "--completion": options.completion}
    try:
        with _progress(data.name, data.size) as show:
            report = score_saved(
                options.reward,
                data,
                columns,
                out,
                workers=workers,
                batch=options.batch,
                resume=options.resume,
                options=chosen,
                tick=show,
            )
    except BaseException:
        if out is not None and (rows := resumable(out)):
            print(f"{rows:,} completions have been scored: add --resume to score the others", file=sys.stderr)
        raise
    seconds = time.perf_counter() - started
    number = workers.processes or 1
    processes = f"{number} process{'es' if number > 1 else ''}"
    print(
        visible(
            f"{report.rows:,} completions of {data.name} scored by {options.reward} in {seconds:.1f} s "
            f"({report.rows / max(seconds, 1e-9):,.0f} a second, {processes})"
        )
    )
    print(f"\n{report.text()}")
    if columns.sees_batches:
        print(f"\nThe reward sees whole batches, here of {options.batch:,} completions.")
    return bool(report.faulty)


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM end the command the same way as Ctrl-C: its processes stop, and the command can be resumed."""

    def end(number: int, frame: FrameType | None) -> None:
        # The exit code that shells report for a signal.
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
    from rewardkit.errors import RewardKitError
    from rewardkit.scoring.files import expanded, is_remote

    for address in (match for each in data for match in expanded(each)):
        if not is_remote(address) and Path(address).resolve() == out.resolve():
            raise RewardKitError(f"--out {out} is the data file: pass another file")


@contextmanager
def _progress(name: str, size: int) -> Iterator[Callable[[int], None]]:
    """Show progress with a bar on a terminal; otherwise, with one line per tenth of the rows."""
    if sys.stderr.isatty() and find_spec("rich") is not None:
        with _bar(name, size) as show:
            yield show
        return
    last = [0]

    def line(completed: int) -> None:
        tenth = _TENTHS * completed // size
        if tenth > last[0] and completed < size:
            print(f"scoring {name}: {completed:,} of {size:,}", file=sys.stderr, flush=True)
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
        yield lambda completed: bar.update(task, completed=completed)
