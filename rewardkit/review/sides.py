"""Both sides of a changed file of rewards, each loaded and scored in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardKitError
from rewardkit.data.regressions import Regression, load
from rewardkit.replay.differences.diff import Listed, difference
from rewardkit.replay.differences.differences import Differences
from rewardkit.replay.differences.process import Data, Job, Several, done_elsewhere
from rewardkit.replay.differences.revisions import Tree
from rewardkit.replay.differences.targets import Named, Place, path_in
from rewardkit.review.files import File
from rewardkit.review.look import Found, Look, Row, Seen
from rewardkit.review.results import Reviewed, State

MADE = "completions made for the reward"
_AGAIN = 10
"""A law that the new reward breaks is checked on both sides, with this many times the budget."""


@dataclass(frozen=True)
class Options:
    """How rewards are reviewed.

    Attributes:
        sample: the file of completions for all rewards; None: the file ``<reward file>.sample.jsonl`` beside each.
        sources: our name -> the column of the sample.
        without: components to leave out.
        regressions: a file of known exploits.
        makes: whether completions are made besides the sample.
        budget: seconds for the check of each reward; 0: none.
        timeout: seconds for one reward on all completions.
        examples: how many changed completions are shown.
    """

    sample: Path | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    regressions: Path | None = None
    makes: bool = True
    budget: float = 2.0
    timeout: float = 300.0
    examples: int = 5


@dataclass(frozen=True)
class Sides:
    """Both sides of one file: where processes find it, and what they score.

    Attributes:
        revision: of the old file.
        places: of the new file, and of the old one if there is one.
        paths: of the file in these places.
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
        places, paths = [Place(Named(now), here, (str(here), *sys.path))], [now]
        if file.before:
            paths.append(str(tree.folder / file.before))
            places.append(Place(Named(paths[1]), tree.cwd, (str(tree.cwd), *path_in(tree))))
        cases = () if options.regressions is None else tuple(load(options.regressions))
        lossless = tuple(case for case in cases if case.lossless)
        return cls(
            file, revision[:10], tuple(places), tuple(paths), _sample(Path(now), tree.root, options), lossless, options
        )

    def looks(self, laws: Sequence[tuple[str, ...]], budget: float, names: Sequence[str] = ()) -> list[Any]:
        """Look at the new and at the old rewards; an error stands for a side that cannot be loaded.

        Args:
            laws: to check in the new version, and in the old one.
            names: of the reward in both; by default, all.
        """
        makes = self.options.makes and not names
        each: list[tuple[str, ...]] = [(name,) for name in names] or [self.file.names] * 2
        tasks = [
            Look(self.file.now, place, _targets(path, named), self.sample, some, budget, makes)
            for place, path, named, some in zip(self.places, self.paths, each, laws, strict=False)
        ]
        found = done_elsewhere(tasks, self.options.timeout)
        return found if len(found) == 2 else [*found, []]

    def compared(self, before: Seen, after: Seen) -> Reviewed:
        """Score everything with both rewards."""
        name = f"{self.file.now}:{after.name}"
        notes = tuple(one.reason for one in (after,) if one.reason)
        data = [one for one in (self.sample, _data(before, after)) if one is not None]
        if not data:
            said = "There are no completions to compare on: commit a sample, or define EXAMPLES in the module."
            return Reviewed(name, "same", notes=(*notes, said))
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
            both = "Neither version can be scored. " if isinstance(old, RewardKitError) else ""
            return Reviewed(name, "failed", f"{both}{new}")
        if isinstance(old, RewardKitError):
            return Reviewed(name, "changed", f"The version before cannot be scored: {old}", notes=notes)
        found = [
            difference(was, now, one, self.cases, self.options.examples)
            for was, now, one in zip(old, new, data, strict=True)
        ]
        broken, still = self._broken(before, after)
        state: State = "changed" if broken or any(map(_changes, found)) else "same"
        return Reviewed(
            name,
            state,
            sample=found[0] if self.sample is not None else None,
            made=found[-1] if len(found) > (self.sample is not None) else None,
            broken=broken,
            still=still,
            notes=notes,
        )

    def _scored(self, before: Seen, after: Seen, data: Sequence[Data]) -> list[Any]:
        """Return the scores of the new and the old reward on all data, or errors."""
        names = (f"{self.file.now}:{after.name}", f"{self.revision}:{self.file.before}:{before.name}")
        tasks = [
            Several(tuple(self._job(place, f"{path}:{seen.name}", said, one) for one in data))
            for place, path, seen, said in zip(self.places, self.paths, (after, before), names, strict=True)
        ]
        return done_elsewhere(tasks, self.options.timeout)

    def _job(self, place: Place, target: str, name: str, data: Data) -> Job:
        return Job(name, replace(place, source=Named(target)), data, self.options.without, self.cases)

    def _broken(self, before: Seen, after: Seen) -> tuple[tuple[Found, ...], tuple[str, ...]]:
        """Return the laws that only the new reward breaks, and the names of those that both break."""
        if not after.found:
            return (), ()
        laws = tuple(sorted(after.broken))
        new, old = self.looks((laws, laws), _AGAIN * self.options.budget, names=(after.name, before.name))
        if not isinstance(new, list) or not isinstance(old, list):
            return (), ()
        held = {law for one in old for law in one.held}
        broken = {law for one in old for law in one.broken}
        found = [one for seen in new for one in seen.found]
        return tuple(one for one in found if one.law in held), tuple(sorted({one.law for one in found} & broken))


def _targets(path: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{path}:{name}" for name in names) or (path,)


def _changes(found: Differences) -> bool:
    return not found.same or any(one.state not in ("same", "renamed") for one in found.components)


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
    beside = [path.with_name(f"{path.stem}.sample{suffix}") for suffix in (".jsonl", ".json", ".csv", ".parquet")]
    places = [options.sample] if options.sample is not None else [one for one in beside if one.is_file()]
    if not places:
        return None
    place = places[0].resolve()
    name = place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)
    return Data(name, str(place), sources=options.sources)
