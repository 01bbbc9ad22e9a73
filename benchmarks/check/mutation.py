r"""How many ordinary bugs does `check_reward` find? Mutants of sound rewards, by the kind of the bug.

    python benchmarks/check/mutation.py                 # every pool of sound rewards
    python benchmarks/check/mutation.py --pools gym     # one of them: tests, public, gym, faults
    python benchmarks/check/mutation.py --most 10       # at most ten bugs of each reward, drawn at random
    python benchmarks/check/mutation.py --out FILE      # writes each bug, and who found it, as a line of JSON

A bug counts if it turns the verdict on a labeled completion (a given one, a right one in other clothes, one with a
wrong answer): a right one is no longer paid, or a wrong one is, or the mutant hangs or dies. Whether the others are
bugs depends on what their author promised. A bug is found if the
check reports a fault that it does not report for the original. ``noticed`` is the share that the right and wrong
completions of the reward notice without any check.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from benchmarks.check.mutation_pools import POOLS, Sound  # noqa: E402
from rewardkit.check.mutants.notice import noticed  # noqa: E402
from rewardkit.check.mutants.operators import OF_REWARDS  # noqa: E402
from rewardkit.check.reward_under_test.bound_reward import bind_reward  # noqa: E402
from rewardkit.errors import RewardKitError  # noqa: E402
from rewardkit.testing import Declarations, check_reward, mutants  # noqa: E402

_OF_ITS_FILE = ("picklable",)
"""A law that a mutant breaks because no module has it, whatever its bug is."""


@dataclass(frozen=True)
class Tried:
    """One bug: who found it.

    Attributes:
        reward: its name.
        operator, line, before, after: the bug.
        fate: what the examples say of it (`rewardkit.check.mutants.notice`).
        counts: whether it turns a verdict.
        law: that found it, or "".
        shown: a completion that the bug scores otherwise.
    """

    reward: str
    operator: str
    line: int
    before: str
    after: str
    fate: str
    counts: bool
    law: str
    shown: str


@dataclass(frozen=True)
class Result:
    """All bugs of one reward, and the laws that blame it without a bug."""

    reward: str
    blamed: tuple[str, ...]
    tried: tuple[Tried, ...]


def measured(sound: Sound, most: int | None, budget: float, seed: int) -> Result:
    """Try the mutants of one reward."""
    original_of = sound.original
    original = original_of.load(sound.name)
    known = _broken(original, sound, budget)
    made = [one for one in mutants(original_of.source, of=sound.name, path=sound.path) if sound.has(one.line)]
    if most is not None and len(made) > most:
        made = sorted(random.Random(f"{seed} {sound.label}").sample(made, most), key=lambda one: one.line)
    verdicts = noticed(replace(bind_reward(original, sound.options), name=sound.name), made).verdicts
    tried = []
    for verdict in verdicts:
        one = verdict.mutant
        law = ""
        if verdict.flips:
            try:
                law = next(iter(_broken(one.load(sound.name), sound, budget, known)), "")
            except Exception as error:
                law = f"{type(error).__name__} before any law"
        shown = "" if verdict.shown is None else str(verdict.shown.completion)[:300]
        tried.append(
            Tried(sound.label, one.operator, one.line, one.before, one.after, verdict.fate, verdict.flips, law, shown)
        )
    return Result(sound.label, tuple(known), tuple(tried))


def _broken(reward: Any, sound: Sound, budget: float, without: Sequence[str] = ()) -> list[str]:
    """Return the laws that a reward breaks."""
    laws = [*without, *_OF_ITS_FILE]
    declared = Declarations(seconds_per_completion=2.0)
    report = check_reward(
        reward, **sound.options, declarations=declared, without=laws, budget=budget, fail_fast=bool(without)
    )
    return list(dict.fromkeys(finding.law for finding in report.findings))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="bugs of each reward, drawn at random; default: all")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of each check (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pools", nargs="+", choices=list(POOLS), default=list(POOLS))
    parser.add_argument("--only", nargs="+", help="names of rewards")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write each bug as a line of JSON")
    options = parser.parse_args(arguments)
    chosen = [one for pool in options.pools for one in POOLS[pool]()]
    chosen = [one for one in chosen if options.only is None or one.label in options.only]
    results: list[Result] = []
    with ProcessPoolExecutor(options.workers) as pool:
        work = partial(measured, most=options.most, budget=options.budget, seed=options.seed)
        running = {pool.submit(work, one): one for one in chosen}
        for done in as_completed(running):
            try:
                results.append(done.result())
            except RewardKitError as error:
                print(f"{running[done].label}: left out: {error}", file=sys.stderr)
                continue
            print(_line(results[-1]), file=sys.stderr, flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(asdict(one)) + "\n" for one in results[-1].tried)
    print(table(results))


def _line(result: Result) -> str:
    counted = [one for one in result.tried if one.counts]
    found = sum(bool(one.law) for one in counted)
    blamed = f"; without a bug: {', '.join(result.blamed)}" if result.blamed else ""
    return f"{result.reward}: {len(result.tried)} bugs, {len(counted)} count, {found} found{blamed}"


def table(results: Sequence[Result]) -> str:
    """Return the figures by the kind of the bug."""
    tried = [one for result in results for one in result.tried]
    rows = ["| bug | mutants | count | noticed by examples | found by the check |", "|---|--:|--:|--:|--:|"]
    for name in [*OF_REWARDS, "all"]:
        made = [one for one in tried if name in (one.operator, "all")]
        counted = [one for one in made if one.counts]
        if made:
            seen = sum(one.fate == "noticed" for one in counted)
            found = sum(bool(one.law) for one in counted)
            rows.append(
                f"| {name} | {len(made)} | {len(counted)} | {_share(seen, counted)} | {_share(found, counted)} |"
            )
    blamed = [result for result in results if result.blamed]
    laws = Counter(law for result in blamed for law in result.blamed)
    said = f"{len(results)} rewards; {len(blamed)} break a law without a bug: {dict(laws)}"
    return "\n".join([*rows, "", said])


def _share(part: int, whole: Sequence[object]) -> str:
    return f"{part} ({part / len(whole):.0%})" if whole else "-"


if __name__ == "__main__":
    main()
