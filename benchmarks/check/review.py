"""Does `rewardkit diff --base` notice changed rewards, and only those? 200 mutations and 100 refactorings.

    python benchmarks/check/review.py                   # both, a commit and a review each; takes an hour on two cores
    python benchmarks/check/review.py --mutations 20 --refactorings 10
    python benchmarks/check/review.py --out FILE        # writes each review as a line of JSON

Each change is a commit in a repository with 40 rewards and their samples, and the command that the GitHub Action runs
reviews it. A mutation is noticed if the command writes a comment. ``sample``, ``made`` and ``check`` say what alone
would have noticed it: the committed sample, the completions made for the reward, the laws.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from benchmarks.check.review_changes import Change, mutations, sound_refactorings  # noqa: E402
from benchmarks.check.review_corpus import Subject, corpus  # noqa: E402

_PATHS = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "benchmarks")]


@dataclass(frozen=True)
class Outcome:
    """One review.

    Attributes:
        reward, kind, said: the change.
        mutation: or a refactoring.
        counts: whether it changes a score of the pool.
        comment: whether a comment was written.
        sample, made, check: whether this alone shows it.
        seconds: that the command took.
        code: its exit code.
    """

    reward: str
    kind: str
    said: str
    mutation: bool
    counts: bool
    comment: bool
    sample: bool
    made: bool
    check: bool
    seconds: float
    code: int


class Repository:
    """A repository of rewards with their samples."""

    def __init__(self, folder: Path, subjects: Sequence[Subject]) -> None:
        self.folder = folder
        (folder / "rewards").mkdir(parents=True)
        for one in subjects:
            (folder / "rewards" / f"{one.stem}.py").write_text(one.source, encoding="utf-8")
            lines = "".join(json.dumps(row) + "\n" for row in one.rows)
            (folder / "rewards" / f"{one.stem}.sample.jsonl").write_text(lines, encoding="utf-8")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "rewards")

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)

    def reviewed(self, change: Change) -> Outcome:
        """Commit a change, review it, and take it back."""
        if change.renamed:
            stem = self.folder / "rewards" / change.subject.stem
            self.git("mv", f"{stem}.py", change.renamed)
            self.git("mv", f"{stem}.sample.jsonl", change.renamed.replace(".py", ".sample.jsonl"))
        for path, text in change.files.items():
            (self.folder / path).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", change.kind)
        path = change.renamed or f"rewards/{change.subject.stem}.py"
        command = [sys.executable, "-c", _COMMAND, json.dumps(_PATHS), "diff", f"{path}:{change.subject.name}"]
        files = ["--markdown", "../comment.md", "--json", "../review.json"]
        started = time.perf_counter()
        done = subprocess.run([*command, "--base", "HEAD~1", *files], cwd=self.folder, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        self.git("reset", "--hard", "--quiet", "HEAD~1")
        comment = self.folder.parent / "comment.md"
        if not comment.exists():
            raise RuntimeError(f"{change.subject.label}, {change.said}: {done.stdout}\n{done.stderr}")
        text, found = comment.read_text(encoding="utf-8"), json.loads((self.folder.parent / "review.json").read_text())
        comment.unlink()
        [one] = found["rewards"]
        if one["state"] == "same" and not one["sample"]:
            raise RuntimeError(f"{change.subject.label}, {change.said}: nothing was compared: {found}")
        return Outcome(
            change.subject.label,
            change.kind,
            change.said,
            change.kind != change.said,
            change.counts,
            bool(text),
            one["state"] == "failed" or _differs(one["sample"]),
            one["state"] == "failed" or bool(one["made"] and (one["made"]["changed"] or one["made"]["failures"])),
            bool(one["broken"]),
            round(seconds, 1),
            done.returncode,
        )


_COMMAND = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from rewardkit.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def _differs(found: Any) -> bool:
    return found is not None and (not found["same"] or any(one["state"] == "changed" for one in found["components"]))


def reviews(changes: Iterable[Change], subjects: Sequence[Subject], workers: int) -> Iterator[Outcome]:
    """Review each change, some at a time."""
    with tempfile.TemporaryDirectory() as place:
        free: SimpleQueue[Repository] = SimpleQueue()
        for number in range(workers):
            free.put(Repository(Path(place) / str(number) / "repository", subjects))

        def review(change: Change) -> Outcome:
            repository = free.get()
            try:
                return repository.reviewed(change)
            finally:
                free.put(repository)

        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(review, changes)  # draws all changes first, while the first ones are reviewed


def table(found: Sequence[Outcome]) -> str:
    """Return the figures."""
    rows = ["| changes | number | comment | by the sample alone | by made completions alone | by the check alone |"]
    rows.append("|---|--:|--:|--:|--:|--:|")
    kinds = {
        "mutations that change a score": [one for one in found if one.mutation and one.counts],
        "mutations that change none that was tried": [one for one in found if one.mutation and not one.counts],
        "refactorings": [one for one in found if not one.mutation],
    }
    for name, some in kinds.items():
        if some:
            shares = [
                f"{sum(getattr(one, what) for one in some)} ({sum(getattr(one, what) for one in some) / len(some):.1%})"
                for what in ("comment", "sample", "made", "check")
            ]
            rows.append(f"| {name} | {len(some)} | {' | '.join(shares)} |")
    seconds = sorted(one.seconds for one in found)
    rows += [
        "",
        f"{len({one.reward for one in found})} rewards; a review takes {seconds[len(seconds) // 2]:g} s (median)",
    ]
    wrong = [one for one in found if one.comment != (one.mutation and one.counts)]
    rows += [f"- {'no comment' if not one.comment else 'comment'}: {one.reward}, {one.said}" for one in wrong]
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=200, help="that change a score (default: %(default)s)")
    parser.add_argument("--refactorings", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="reviews at a time (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="write each review as a line of JSON")
    options = parser.parse_args(arguments)
    if shutil.which("git") is None:
        parser.error("git is not installed")
    subjects = corpus(options.seed)
    print(f"{len(subjects)} rewards", file=sys.stderr, flush=True)
    changes = itertools.chain(
        sound_refactorings(subjects, options.refactorings, options.seed),
        mutations(subjects, options.mutations, options.seed),
    )
    found: list[Outcome] = []
    for one in reviews(changes, subjects, options.workers):
        found.append(one)
        print(
            f"{len(found)}: {'comment' if one.comment else '-'}: {one.reward}: {one.said}", file=sys.stderr, flush=True
        )
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(vars(one)) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
