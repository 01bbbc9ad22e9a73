"""The review of a change: each reward that it touches, before and after, on a sample and on completions made for it.

``reviewed(changes("main"), ["rewards.py:reward"], Options(sample=Path("sample.jsonl")))`` compares the working tree
with the revision. A reward that is only written differently has nothing to review.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rewardkit.check.run.selection import fast_laws
from rewardkit.differences.changes import may_define_rewards, reached
from rewardkit.differences.diff import Listed, difference
from rewardkit.differences.differences import Differences
from rewardkit.differences.look import Found, Inspection, Row, Seen
from rewardkit.differences.process import Data, Job, Several, done_elsewhere
from rewardkit.differences.revisions import Changes, Tree, checked_out, git
from rewardkit.differences.targets import Named, Place, path_in
from rewardkit.errors import RewardKitError
from rewardkit.report.document import Block, Code, Document, Name, Paragraph, Part, Table, Verdict
from rewardkit.report.values import counted, excerpt, short
from rewardkit.scoring.regressions import Regression, load
from rewardkit.tree.loading import split

MADE = "completions made for the reward"
_WIDTH = 100
"""The most characters of a made completion in a report. Any limit: one line of a comment."""
_FINDINGS = 3
"""Findings that a report shows in full. Any number, so that a comment stays readable."""

# Files of rewards that a change touches, before and after it.


@dataclass(frozen=True)
class File:
    """A file of rewards on both sides, relative to the top of the repository; "" on a side without it.

    Attributes:
        names: the names of the rewards; empty for all.
    """

    now: str
    before: str
    names: tuple[str, ...] = ()


def named(changes: Changes, rewards: Sequence[str]) -> Iterator[File]:
    """Yield the files of ``path.py:name`` targets, named from the working directory."""
    names: dict[str, list[str]] = {}
    for target in rewards:
        source, name = split(target)
        path = Path(source).resolve()
        if not path.is_relative_to(changes.root.resolve()):
            raise RewardKitError(f"{source} is not in the repository {changes.root}. Pass a file of this repository")
        names.setdefault(path.relative_to(changes.root.resolve()).as_posix(), []).extend([name] if name else [])
    for named, listed in names.items():
        yield File(named, changes.before(named), tuple(listed))


def touched(changes: Changes) -> Iterator[File]:
    """Yield the files affected by the change that look like modules of rewards."""
    tracked = [
        path for path in git("ls-files", "-z", folder=changes.root).split("\0") if (changes.root / path).is_file()
    ]
    for path in sorted(reached(changes.root, [*changes.files, *changes.removed], tracked)):
        if may_define_rewards(changes.root, path):
            yield File(path, changes.before(path))


# The report of a review, on each reward that a change touches, and on the change as a whole.


State = Literal["same", "changed", "added", "removed", "failed"]


@dataclass(frozen=True)
class Reviewed:
    """The effect of a change on one reward.

    Attributes:
        name: ``path.py:name`` in the working tree.
        state: ``"failed"`` if the new reward cannot be scored; ``why`` says so.
        sample: the differences on the sample; None without one.
        made: the differences on completions made for the reward.
        broken: laws that only the new reward breaks.
        still: those that both break.
        notes: the limits of the comparison.
    """

    name: str
    state: State
    why: str = ""
    sample: Differences | None = None
    made: Differences | None = None
    broken: tuple[Found, ...] = ()
    still: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.state == "removed":
            return "It is gone."
        if self.state == "added":
            return f"The reward is new, so there is nothing to compare. {self.why}".rstrip()
        if self.state == "failed":
            return self.why if self.why.startswith("Neither") else f"The new version cannot be scored. {self.why}"
        if self.why:
            return self.why
        if self.sample is not None:
            return f"{self.sample.verdict[:-1]} (the sample has {len(self.sample):,})."
        if self.made is None:
            return "Nothing was compared."
        return "No sample is committed." if self.state == "changed" else f"No sample is committed. {self.made.verdict}"

    def blocks(self) -> Iterator[Block]:
        """Yield the report's text about a changed reward."""
        if self.sample is not None and not self.sample.same:
            yield from self.sample.document.blocks
        else:
            yield Verdict(self.verdict, "broken" if self.state == "failed" else "unfinished")
        if self.made is not None:
            yield from _made_blocks(self.made)
        if self.broken:
            findings = [Code(law.text) for law in self.broken[:_FINDINGS]]
            laws = ", ".join(dict.fromkeys(law.law for law in self.broken))
            title = "Found by `rewardkit check` in the new version alone"
            yield Part(title, [Paragraph(laws), *findings])
        if self.still:
            yield Paragraph(f"Found by `rewardkit check` in both versions: {', '.join(self.still)}.")
        yield from (Paragraph(note, "note") for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "name": self.name,
            "state": self.state,
            "why": self.why,
            "sample": None if self.sample is None else self.sample.to_dict(),
            "made": None if self.made is None else _made_values(self.made),
            "broken": [{"law": law.law, "text": law.text} for law in self.broken],
            "still": list(self.still),
            "notes": list(self.notes),
        }


def _made_blocks(differences: Differences) -> Iterator[Block]:
    """Say which completions made for the reward get another total, the largest change first."""
    changed = int(differences.affected.sum())
    if not changed and differences.changed_components:
        yield Paragraph(f"Of {len(differences):,} {MADE}, none gets another total, but a component differs.")
    elif changed:
        yield Paragraph(f"Of {len(differences):,} {MADE}, {changed:,} get another total.")
        changes = (
            f"{short(old, 4)} -> {short(new, 4)}: {excerpt(example.completion, _WIDTH)}"
            for example in differences.examples
            for old, new in [example.totals]
        )
        yield Code("\n".join(changes))


def _made_values(differences: Differences) -> dict[str, Any]:
    """Return less of the comparison on completions that no model wrote: they have no groups."""
    return {
        "completions": len(differences),
        "changed": int(differences.changed.sum()),
        "failures": int(differences.failing.sum()),
        "examples": differences.to_dict()["examples"],
    }


@dataclass(frozen=True)
class Review:
    """The review of a change.

    Attributes:
        rewards: all that it touches.
        notes: other facts about it that may matter.
    """

    rewards: tuple[Reviewed, ...]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Reviewed]:
        """The rewards that there is something to say about."""
        return [reward for reward in self.rewards if reward.state != "same"]

    @property
    def same(self) -> bool:
        """Whether there is nothing to say."""
        return not self.changed

    @property
    def document(self) -> Document:
        """The report: a line for each reward, then what changed."""
        changed, same = len(self.changed), len(self.rewards) - len(self.changed)
        verdict = (
            f"{counted(changed, 'reward')} changed, {same:,} as before" if self.rewards else "No reward is touched"
        )
        blocks: list[Block] = [Verdict(f"{verdict}.", "unfinished" if changed else "held")]
        if self.rewards:
            blocks.append(Table([[Name(reward.name), reward.verdict] for reward in self.rewards], left=2))
        blocks += [Part(reward.name, list(reward.blocks())) for reward in self.changed]
        return Document("Changed rewards", [*blocks, *(Paragraph(note, "note") for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return the review as JSON values; docs/review.md describes them."""
        return {
            "schema": 1,
            "changed": len(self.changed),
            "rewards": [reward.to_dict() for reward in self.rewards],
            "notes": list(self.notes),
        }


# Both sides of a changed file of rewards, each loaded and scored in a separate process.


_AGAIN = 10
"""A law that the new reward breaks is checked on both sides, with this many times the budget."""


@dataclass(frozen=True)
class Options:
    """The settings of a review.

    Attributes:
        sample: the file of completions for all rewards; None: the file ``<reward file>.sample.jsonl`` next to each.
        sources: our name -> the column of the sample.
        limit: the number of completions of the sample that are used; None: all.
        without: components to leave out.
        regressions: a file of known exploits.
        makes: whether completions are made besides the sample.
        budget: seconds for the check of each reward; 0: none.
        timeout: seconds for one reward on all completions.
        examples: the number of changed completions that are shown.
    """

    sample: Path | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    without: tuple[str, ...] = ()
    regressions: Path | None = None
    makes: bool = True
    budget: float = 2.0
    timeout: float = 300.0
    examples: int = 5


@dataclass(frozen=True)
class Sides:
    """Both sides of one file: its places for the processes, and the completions that they score.

    Attributes:
        revision: the revision of the old file.
        places: the places of the new file, and of the old one if there is one.
        paths: the paths of the file in these places.
        cases: known exploits.
    """

    file: File
    revision: str
    places: tuple[Place, ...]
    paths: tuple[str, ...]
    sample: Data | None
    cases: tuple[Regression, ...]
    options: Options

    @classmethod
    def of(cls, file: File, tree: Tree, revision: str, options: Options) -> Sides:
        now = str(tree.root / file.now)
        here = Path.cwd()
        locations, paths = [Place(Named(now), here, (str(here), *sys.path))], [now]
        if file.before:
            paths.append(str(tree.folder / file.before))
            locations.append(Place(Named(paths[1]), tree.cwd, (str(tree.cwd), *path_in(tree))))
        cases = () if options.regressions is None else tuple(load(options.regressions))
        lossless = tuple(case for case in cases if case.lossless)
        return cls(
            file,
            revision[:10],
            tuple(locations),
            tuple(paths),
            _sample(Path(now), tree.root, options),
            lossless,
            options,
        )

    def looks(self, laws: Sequence[tuple[str, ...]], budget: float, names: Sequence[str] = ()) -> list[Any]:
        """Look at the new and at the old rewards; an error takes the place of a side that cannot be loaded.

        Args:
            laws: the laws to check in the new version, and in the old one.
            names: the names of the reward in both; by default, all.
        """
        makes = self.options.makes and not names
        each: list[tuple[str, ...]] = [(name,) for name in names] or [self.file.names] * 2
        tasks = [
            Inspection(self.file.now, location, _targets(path, named), self.sample, law_names, budget, makes)
            for location, path, named, law_names in zip(self.places, self.paths, each, laws, strict=False)
        ]
        outcomes = done_elsewhere(tasks, self.options.timeout)
        return outcomes if len(outcomes) == 2 else [*outcomes, []]

    def compared(self, before: Seen, after: Seen) -> Reviewed:
        """Score everything with both rewards."""
        name = f"{self.file.now}:{after.name}"
        notes = tuple(entry.reason for entry in (after,) if entry.reason)
        data = [entry for entry in (self.sample, _data(before, after)) if entry is not None]
        if not data:
            note = "There are no completions to compare on: commit a sample, or define EXAMPLES in the module."
            return Reviewed(name, "same", notes=(*notes, note))
        new, old = self._scored(before, after, data)
        if (
            self.sample is not None
            and len(data) > 1
            and isinstance(new, RewardKitError)
            and isinstance(old, RewardKitError)
        ):
            data = data[:1]
            new, old = self._scored(before, after, data)
            notes = (*notes, f"Compared on the sample alone, since other completions cannot be scored: {new}")
        if isinstance(new, RewardKitError):
            prefix = "Neither version can be scored. " if isinstance(old, RewardKitError) else ""
            return Reviewed(name, "failed", f"{prefix}{new}")
        if isinstance(old, RewardKitError):
            return Reviewed(name, "changed", f"The version before cannot be scored: {old}", notes=notes)
        comparisons = [
            difference(was, now, entry, self.cases, self.options.examples)
            for was, now, entry in zip(old, new, data, strict=True)
        ]
        broken, still = self._broken(before, after)
        state: State = "changed" if broken or any(map(_changes, comparisons)) else "same"
        return Reviewed(
            name,
            state,
            sample=comparisons[0] if self.sample is not None else None,
            made=comparisons[-1] if len(comparisons) > (self.sample is not None) else None,
            broken=broken,
            still=still,
            notes=notes,
        )

    def _scored(self, before: Seen, after: Seen, data: Sequence[Data]) -> list[Any]:
        """Return the scores of the new and the old reward on all data, or errors."""
        names = (f"{self.file.now}:{after.name}", f"{self.revision}:{self.file.before}:{before.name}")
        tasks = [
            Several(tuple(self._job(location, f"{path}:{inspected.name}", label, dataset) for dataset in data))
            for location, path, inspected, label in zip(self.places, self.paths, (after, before), names, strict=True)
        ]
        return done_elsewhere(tasks, self.options.timeout)

    def _job(self, location: Place, target: str, name: str, data: Data) -> Job:
        return Job(name, replace(location, source=Named(target)), data, self.options.without, self.cases)

    def _broken(self, before: Seen, after: Seen) -> tuple[tuple[Found, ...], tuple[str, ...]]:
        """Return the laws that only the new reward breaks, and the names of laws that both break."""
        if not after.found:
            return (), ()
        laws = tuple(sorted(after.broken))
        new, old = self.looks((laws, laws), _AGAIN * self.options.budget, names=(after.name, before.name))
        if not isinstance(new, list) or not isinstance(old, list):
            return (), ()
        held_laws = {law for entry in old for law in entry.held}
        broken = {law for entry in old for law in entry.broken}
        findings = [entry for inspected in new for entry in inspected.found]
        return tuple(entry for entry in findings if entry.law in held_laws), tuple(
            sorted({entry.law for entry in findings} & broken)
        )


def _targets(path: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{path}:{name}" for name in names) or (path,)


def _changes(differences: Differences) -> bool:
    return not differences.same or bool(differences.changed_components)


def _data(before: Seen, after: Seen) -> Data | None:
    """Return the completions made for either version, those of one prompt next to each other."""
    rows: dict[str, dict[str, Row]] = {}
    for row in (*before.made, *after.made):
        example = json.dumps({name: value for name, value in row.items() if name != "completion"}, default=repr)
        rows.setdefault(example, {}).setdefault(json.dumps(row["completion"], default=repr), row)
    listed = tuple(dict(row) for several in rows.values() for row in several.values())
    return Data(MADE, MADE, Listed(listed)) if listed else None


def _sample(path: Path, root: Path, options: Options) -> Data | None:
    """Return the committed completions for the rewards of a file."""
    siblings = [path.with_name(f"{path.stem}.sample{suffix}") for suffix in (".jsonl", ".json", ".csv", ".parquet")]
    candidates = (
        [options.sample] if options.sample is not None else [sibling for sibling in siblings if sibling.is_file()]
    )
    if not candidates:
        return None
    sample_path = candidates[0].resolve()
    name = sample_path.relative_to(root).as_posix() if sample_path.is_relative_to(root) else str(sample_path)
    return Data(name, str(sample_path), sources=options.sources, limit=options.limit)


_REQUIREMENTS = ("requirements", "constraints", "pyproject.toml", "poetry.lock", "uv.lock", "environment.yml")


def reviewed(changes: Changes, rewards: Sequence[str], options: Options) -> Review:
    """Review the named rewards, or those that the change touches.

    Raises:
        RewardKitError: git or a file fails, or a named reward is in no file.
    """
    files = list(named(changes, rewards) if rewards else touched(changes))
    notes = tuple(_notes(changes, options))
    removed = () if rewards else changes.removed
    if not files and not removed:
        return Review((), notes)
    with checked_out(changes.base, Path.cwd()) as tree:
        sides = [Sides.of(file, tree, changes.base, options) for file in files]
        listed = [entry for side in sides for entry in _of_file(side)]
        removals = [Reviewed(path, "removed") for path in removed if may_define_rewards(tree.folder, path)]
    return Review((*listed, *removals), notes)


def _of_file(side: Sides) -> Iterator[Reviewed]:
    """Review the rewards of one file."""
    file, options = side.file, side.options
    new, old = side.looks((fast_laws() if options.budget else (), ()), options.budget)
    if isinstance(new, RewardKitError):
        yield Reviewed(file.now, "failed", str(new))
        return
    notes: tuple[str, ...] = ()
    if isinstance(old, RewardKitError):
        notes, old = (f"The version before cannot be loaded, so nothing is compared: {old}",), []
    for before, after in _paired(old, new):
        if after is None:
            assert before is not None
            yield Reviewed(f"{file.now}:{before.name}", "removed")
        elif before is None:
            yield Reviewed(f"{file.now}:{after.name}", "added", after.reason, broken=after.found, notes=notes)
        else:
            yield side.compared(before, after)


def _paired(old: Sequence[Seen], new: Sequence[Seen]) -> Iterator[tuple[Seen | None, Seen | None]]:
    """Pair rewards by name, without the parts of others; if one is left on each side, it has another name now."""
    before, new_names = {inspected.name: inspected for inspected in old}, {inspected.name for inspected in new}
    lost = [inspected for inspected in old if inspected.name not in new_names and not inspected.part]
    fresh = [inspected for inspected in new if inspected.name not in before and not inspected.part]
    if len(lost) == len(fresh) == 1:
        before[fresh[0].name] = lost.pop()
    yield from ((before.get(inspected.name), inspected) for inspected in new if not inspected.part)
    yield from ((inspected, None) for inspected in lost)


def _notes(changes: Changes, options: Options) -> Iterator[str]:
    names = [path for path in changes.files if PurePosixPath(path).name.startswith(_REQUIREMENTS)]
    if names:
        yield (
            f"{', '.join(names)} also changed. Both versions were scored with the packages that are installed now, so "
            "the effects of other package versions do not show."
        )
    samples = [path for path in changes.files if _is_sample(changes.root / path, options)]
    if samples:
        yield f"{', '.join(samples)} also changed. Both versions were scored on its new rows."


def _is_sample(path: Path, options: Options) -> bool:
    return ".sample." in path.name or (options.sample is not None and options.sample.resolve() == path.resolve())
