"""``rewardkit score 's3://bucket/*.parquet' --engine ray``: score on a cluster."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rewardkit.data.files import Row
    from rewardkit_ray.reports import Progress


def add_to(verb: argparse.ArgumentParser) -> None:
    """Add the options of the cluster."""
    group = verb.add_argument_group(
        "cluster",
        "With --engine ray, Ray Data scores the data on all cores of this machine or of a cluster, and --out is a "
        "folder of .parquet files or its address, such as s3://bucket/scored. See docs/scale.md.",
    )
    group.add_argument("--engine", choices=["processes", "ray"], default="processes", help="what runs the work")
    group.add_argument(
        "--address", metavar="HOST", help="a running Ray cluster: auto, host:6379 or ray://host:10001 (default: none)"
    )
    group.add_argument(
        "--pools",
        type=_sizes,
        metavar="NAME=N,...",
        help="the actors for mathematics, sandboxes or models (default: an even share of the cores)",
    )


def place(text: str) -> Path | str:
    """Return a path, or an address as it is."""
    return text if "://" in text else Path(text)


def check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together.

    Raises:
        RewardKitError: an option has no meaning with this engine.
    """
    from rewardkit.core.errors import RewardKitError

    if options.engine == "processes":
        for name in ("address", "pools"):
            if getattr(options, name) is not None:
                raise RewardKitError(f"--{name} is for a cluster: add --engine ray")
        if isinstance(options.out, str):
            raise RewardKitError(f"--out {options.out} is an address: add --engine ray, or pass a path")
        return
    if options.out is None:
        raise RewardKitError("--engine ray writes as it scores: add --out with a folder or its address")
    if Path(options.out).suffix in (".parquet", ".jsonl", ".csv", ".json"):
        raise RewardKitError(
            f"--engine ray writes a folder of .parquet files, got --out {options.out}. Drop the ending"
        )
    if options.processes is not None:
        raise RewardKitError("--processes is for this machine alone: drop it, or --engine ray")
    if options.keep is not None or options.pairs is not None:
        raise RewardKitError(
            "--engine ray writes all rows. Drop --keep and --pairs, and select from what it wrote in a second command"
        )


def score(options: argparse.Namespace, sources: dict[str, str], rows: Callable[[], Iterator[Row]] | None) -> bool:
    """Score the data on a cluster and print a summary; return whether rows have errors.

    Args:
        rows: yields the rows of the data, if only this function can read them.
    """
    from rewardkit.core.batch.table_text import visible
    from rewardkit_ray.command import score_data

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
    done = f"{progress.rows:,} completions, {progress.parts:,} of {progress.of:,} parts"
    print(f"scoring: {done}, {rate:,.0f} a second", file=sys.stderr, flush=True)


def _sizes(text: str) -> dict[str, int]:
    sizes = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = pair.partition("=")
        if not (name.strip() and equals):
            raise argparse.ArgumentTypeError(f"write NAME=NUMBER, as in mathematics=8; got {pair!r}")
        sizes[name.strip()] = count(number.strip())
    return sizes
