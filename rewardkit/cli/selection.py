"""``rewardkit score --keep best`` and ``--pairs``: training data from scored completions."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import count

if TYPE_CHECKING:
    from rewardkit.replay.selection.rules import Rule
    from rewardkit.replay.selection.scored import Scored
    from rewardkit.replay.sources import Saved

_BEST_WORST = "best-worst"


def add_to(verb: argparse.ArgumentParser) -> None:
    """Add the options of the selection."""
    group = verb.add_argument_group(
        "training data",
        "What --out gets instead of all rows. DATA may be what `rewardkit score --out` wrote before: then leave out "
        "--reward. Without --out, the selection is only counted.",
    )
    kind = group.add_mutually_exclusive_group()
    kind.add_argument(
        "--keep",
        type=_keep,
        metavar="RULE",
        help="keep completions of each prompt, in the columns of TRL's SFTTrainer: best, top:K, above:X (scores of at "
        "least X), or both, as in best,above:1",
    )
    kind.add_argument(
        "--pairs",
        type=_most,
        nargs="?",
        const=_most(_BEST_WORST),
        metavar="NUMBER",
        help="pair completions of each prompt, in the columns of TRL's DPOTrainer: best-worst (default; one pair for "
        "each prompt), all, or at most NUMBER, those with the largest gap first",
    )
    group.add_argument("--by", metavar="NAME", help="the score that decides: total (default) or a component")
    group.add_argument("--gap", type=_gap, metavar="X", help="pair only scores that differ by at least X")


def rule_of(options: argparse.Namespace) -> Rule | None:
    """Return the rule that the options name; None if all rows are wanted.

    Raises:
        RewardKitError: an option has no meaning without another.
    """
    from rewardkit.core.errors import RewardKitError
    from rewardkit.replay.selection.rules import Keep, Pairs

    if options.gap is not None and options.pairs is None:
        raise RewardKitError("--gap is the least difference of a pair: add --pairs")
    if options.keep is not None:
        most, least = options.keep
        return Keep(most, least)
    if options.pairs is not None:
        return Pairs(None if options.pairs == math.inf else int(options.pairs), options.gap or 0.0)
    if options.by is not None:
        raise RewardKitError("--by names the score that selects rows: add --keep or --pairs")
    if options.reward is None:
        raise RewardKitError("nothing to score with: add --reward path/to/file.py:reward")
    return None


@contextmanager
def scored_beside(out: Path | None, found: Saved) -> Iterator[Path]:
    """Return the path for all rows with their scores, from which some are selected; the file is removed at the end.

    If only the selection fails, the scores, which may have cost days, stay, and the error says where they are.
    """
    from rewardkit.core.errors import DataError

    ending = ".jsonl" if found.schema is None else ".parquet"  # each keeps the types of the data
    if out is None:
        with TemporaryDirectory(prefix="rewardkit-") as folder:
            yield Path(folder) / f"scored{ending}"
        return
    path = out.with_name(f".{out.name}.scored{ending}")
    try:
        yield path
    except DataError as error:
        kept = out.with_name(f"{out.name}.scored{ending}")
        if not path.is_file() or kept.resolve() == Path(found.name).resolve():
            raise
        path.rename(kept)
        raise DataError(
            f"{error}\nAll scores are in {kept}. To select from them, pass that file without --reward."
        ) from None
    finally:
        with suppress(OSError):
            path.unlink()


def select(rule: Rule, options: argparse.Namespace, scored: Scored) -> None:
    """Select from completions with scores, write them to ``--out``, and say how many there are."""
    from rewardkit.replay.selection.select import select as select_rows

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
            raise argparse.ArgumentTypeError(f"write best, top:4 or above:0.8, or two of them; got {text!r}") from None
    return most, least


def _most(text: str) -> float:
    if text in (_BEST_WORST, "all"):
        return 1 if text == _BEST_WORST else math.inf
    try:
        return count(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"write {_BEST_WORST}, all or a number; got {text!r}") from None


def _gap(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number of at least 0, got {text}")
    return value
