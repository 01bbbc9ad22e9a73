r"""How many ordinary bugs does `check_reward` find? Mutants of sound rewards, by the kind of the bug.

    python benchmarks/mutation.py                 # the sound rewards of tests/testing and four public lists
    python benchmarks/mutation.py --most 10       # at most ten bugs of each reward, drawn at random
    python benchmarks/mutation.py --out FILE      # writes each bug, and who found it, as a line of JSON

A bug counts if it turns the verdict on a labeled completion (a given one, a right one in other clothes, one with a
wrong answer): a right one is no longer paid, or a wrong one is, or the mutant hangs or dies. Whether the others are
bugs depends on what their author promised. A bug is found if the
check reports a fault that it does not report for the original. ``noticed`` is the share that the right and wrong
completions of the reward notice without any check.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
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

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

import trl.rewards as trl_rewards  # noqa: E402

from rewardkit.core.errors import RewardKitError  # noqa: E402
from rewardkit.testing import check_reward, mutants  # noqa: E402
from rewardkit.testing.bound_reward import bound  # noqa: E402
from rewardkit.testing.mutation.mutants import Mutant  # noqa: E402
from rewardkit.testing.mutation.notice import noticed  # noqa: E402
from rewardkit.testing.mutation.operators import ALL  # noqa: E402

_OF_ITS_FILE = ("picklable",)
"""A law that a mutant breaks because no module has it, whatever its bug is."""


@dataclass(frozen=True)
class Sound:
    """A sound reward: the file and the name of its variable, and its examples."""

    path: str
    name: str
    options: dict[str, Any]

    @property
    def original(self) -> Mutant:
        """The reward without a bug, loaded as its mutants are."""
        return Mutant("none", 0, "", "", Path(self.path).read_text(encoding="utf-8"), self.path)


@dataclass(frozen=True)
class Tried:
    """One bug: who found it.

    Attributes:
        reward: its name.
        operator, line, before, after: the bug.
        fate: what the examples say of it (`rewardkit.testing.mutation.notice`).
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


def rewards() -> list[Sound]:
    """Return the sound rewards of the tests and the functions of the public lists."""
    from tests.public_rewards.lists import EVERY
    from tests.testing import bench

    found = []
    for path in sorted((Path(bench.__file__).parent / "sound").glob("*.py")):
        module = importlib.import_module(f"tests.testing.sound.{path.stem}")
        for case in module.CASES:
            name = next((name for name, value in vars(module).items() if value is case.reward), "")
            options = {"examples": case.examples, "good": case.good, "bad": case.bad}
            found += [Sound(str(path), name, options)] if name else []
    for name, options in _of_trl():
        found.append(Sound(inspect.getsourcefile(getattr(trl_rewards, name)) or "", name, options))
    for one in EVERY:
        path = Path(sys.modules[one.function.__module__].__file__ or "")
        options = {"examples": one.examples, "good": one.good, "bad": one.bad}
        found.append(Sound(str(path), one.function.__name__, options))
    return found


def _of_trl() -> list[tuple[str, dict[str, Any]]]:
    """Return TRL's own reward functions that need no factory, with examples in their form."""
    row = {"prompt": [{"role": "user", "content": "What is 6 * 7?"}], "solution": "42"}
    other = {"prompt": [{"role": "user", "content": "What is a half of a half?"}], "solution": "\\frac{1}{4}"}
    said = [f"<think>\nI count.\n</think>\nIt is $\\boxed{{{answer}}}$." for answer in ("42", "\\frac{1}{4}")]
    wrong = [f"<think>\nI count.\n</think>\nIt is $\\boxed{{{answer}}}$." for answer in ("41", "\\frac{1}{3}")]
    unformed = [text.replace("<think>", "").replace("</think>", "") for text in said]
    task = {"examples": [row, other], "good": said}
    return [("accuracy_reward", {**task, "bad": wrong}), ("think_format_reward", {**task, "bad": unformed})]


def measured(sound: Sound, most: int | None, budget: float, seed: int) -> Result:
    """Try the mutants of one reward."""
    original = sound.original.load(sound.name)
    known = _broken(original, sound, budget)
    made = mutants(sound.original.source, of=sound.name, path=sound.path)
    if most is not None and len(made) > most:
        made = sorted(random.Random(f"{seed} {sound.name}").sample(made, most), key=lambda one: one.line)
    verdicts = noticed(replace(bound(original, sound.options), name=sound.name), made).verdicts
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
            Tried(sound.name, one.operator, one.line, one.before, one.after, verdict.fate, verdict.flips, law, shown)
        )
    return Result(sound.name, tuple(known), tuple(tried))


def _broken(reward: Any, sound: Sound, budget: float, without: Sequence[str] = ()) -> list[str]:
    """Return the laws that a reward breaks."""
    laws = [*without, *_OF_ITS_FILE]
    report = check_reward(reward, **sound.options, without=laws, budget=budget, patience=2.0, fail_fast=bool(without))
    return list(dict.fromkeys(finding.law for finding in report.findings))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="bugs of each reward, drawn at random; default: all")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of each check (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="names of rewards")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write each bug as a line of JSON")
    options = parser.parse_args(arguments)
    chosen = [one for one in rewards() if options.only is None or one.name in options.only]
    results: list[Result] = []
    with ProcessPoolExecutor(options.workers) as pool:
        work = partial(measured, most=options.most, budget=options.budget, seed=options.seed)
        running = {pool.submit(work, one): one for one in chosen}
        for done in as_completed(running):
            try:
                results.append(done.result())
            except RewardKitError as error:
                print(f"{running[done].name}: left out: {error}", file=sys.stderr)
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
    for name in [*ALL, "all"]:
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
