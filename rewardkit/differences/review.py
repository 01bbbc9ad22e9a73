"""Review a change: compare each affected reward before and after, on a sample and on generated completions.

``reviewed(changes("main"), ["rewards.py:reward"], Options(sample=Path("sample.jsonl")))`` compares the working tree
with the revision. If a reward's code changes but its scores do not, there is nothing to review.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rewardkit.check.run.selection import fast_laws
from rewardkit.differences.diff import Listed, difference
from rewardkit.differences.differences import Differences
from rewardkit.differences.process import Data, Job, Several, run_in_children
from rewardkit.differences.revisions import Changes, Tree, checked_out, git
from rewardkit.differences.targets import Location, Named, path_in
from rewardkit.errors import RewardKitError
from rewardkit.report.document import Block, Code, Document, Name, Paragraph, Part, Table, Verdict
from rewardkit.report.values import counted, excerpt, short
from rewardkit.scoring.columns import asked_for
from rewardkit.scoring.regressions import Regression, load as load_regressions
from rewardkit.scoring.samples import arranged
from rewardkit.tree.loading import Loaded, load, split
from rewardkit.tree.reward import Reward, walk

# Inspection of one side of a change: run a quick check of each reward, and generate completions for it.


_EXAMPLES = 3
"""The number of prompts in the sample to generate completions for. Arbitrary: each prompt gets hundreds of
completions."""
_MOST = 2_000
"""The maximum number of completions to generate. Arbitrary: both revisions score each completion."""
_SECONDS = 3.0
"""The maximum number of seconds for scoring the generated completions. A slow reward gets fewer completions.
Arbitrary: a reviewer waits for both sides."""
_LONGEST = 20_000
"""The maximum length of a generated completion, in characters. Arbitrary: a longer one takes time but shows nothing
more."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class BrokenLaw:
    """A law that a reward breaks.

    Attributes:
        law: the law's name.
        text: the finding, as `rewardkit check` prints it.
    """

    law: str
    text: str


@dataclass(frozen=True)
class InspectedReward:
    """The result of inspecting one reward.

    Attributes:
        name: the reward's variable name.
        made: rows with completions generated for the reward.
        found: the laws that the reward breaks.
        held: the names of the checked laws that hold.
        reason: why the reward could not be checked, or "" if it was checked.
        part: whether another reward in the file contains this one and is reviewed instead.
    """

    name: str
    made: tuple[Row, ...] = field(default=(), repr=False)
    found: tuple[BrokenLaw, ...] = ()
    held: tuple[str, ...] = ()
    reason: str = ""
    part: bool = False

    @property
    def broken(self) -> set[str]:
        return {finding.law for finding in self.found}


@dataclass(frozen=True)
class Inspection:
    """A task that inspects the rewards in one file, in a separate process.

    Attributes:
        name: the name of the file, for messages.
        place: the location from which the process loads the file.
        targets: ``file.py:name`` for each reward, or ``file.py`` for all rewards in the file.
        sample: the committed completions, or None if there are none.
        laws: the laws to check. If empty, completions are generated, but no laws are checked.
        budget: the number of seconds for checking each reward.
    """

    name: str
    place: Location
    targets: tuple[str, ...]
    sample: Data | None
    laws: tuple[str, ...] = ()
    budget: float = 2.0
    makes: bool = True

    def run(self) -> list[InspectedReward]:
        """Load the rewards, check them, generate completions, and return one result per reward.

        Raises:
            RewardDefinitionError: the file cannot be imported, or lacks a target.
        """
        return [inspected for target in self.targets for inspected in self._all(load(target))]

    def _all(self, rewards: Sequence[Loaded]) -> list[InspectedReward]:
        inner = {id(entry) for loaded in rewards for entry in _component_rewards(loaded.reward)}
        return [
            InspectedReward(entry.name, part=True) if id(entry.reward) in inner else self._inspect(entry)
            for entry in rewards
        ]

    def _inspect(self, loaded: Loaded) -> InspectedReward:
        try:
            options = {name: loaded.constants[name] for name in _EXAMPLES_OF if name in loaded.constants}
            sample_options = _of_sample(loaded.reward, self.sample)
            sets = [candidate for candidate in (options, sample_options) if candidate.get("examples")] or [
                {"examples": [{}]}
            ]
            findings, held_laws = self._checked(
                loaded, {**sample_options, **loaded.constants} if sets[0] is sample_options else loaded.constants
            )
            made_rows = (
                [row for candidate in sets for row in _make_rows(loaded.reward, candidate)] if self.makes else []
            )
        except RewardKitError as error:
            return InspectedReward(loaded.name, reason=str(error))
        return InspectedReward(loaded.name, tuple(made_rows), findings, held_laws)

    def _checked(self, loaded: Loaded, constants: Mapping[str, Any]) -> tuple[tuple[BrokenLaw, ...], tuple[str, ...]]:
        from rewardkit.check.labels import bound_with

        if not self.laws:
            return (), ()
        subject = Loaded(loaded.name, loaded.reward, {**constants, "laws": None, "without": ()})
        report = bound_with(subject, options={"budget": self.budget, "components": False}, laws=self.laws).report()
        findings = tuple(BrokenLaw(entry.law, str(entry)) for entry in report.findings)
        return findings, tuple(entry.law for entry in report.results if entry.outcome == "held")


def _component_rewards(reward: Any) -> Iterator[Any]:
    """Yield the parts of a composed reward or of a list of rewards, at all levels."""
    if isinstance(reward, Reward):
        yield from (node for node, _, _ in walk(reward) if node is not reward)
    elif isinstance(reward, (list, tuple)):
        for item in reward:
            yield item
            yield from _component_rewards(item)


_EXAMPLES_OF = ("examples", "good", "bad")


def _of_sample(reward: Any, sample: Data | None) -> dict[str, Any]:
    """Return a sample's first prompts as examples, with the best completion of each as good and the worst as bad."""
    from rewardkit.scoring.samples import Records
    from rewardkit.tree.conversion import tree_of
    from rewardkit.tree.evaluation.scorer import Scorer

    if sample is None:
        return {}
    tree = tree_of(reward, "a reward to review")
    rows = [row for chunk in sample.open().chunks(512) for row in chunk.rows()]
    records = Records(rows, [f"row {number}" for number in range(len(rows))])
    samples = arranged(tree, records, completion=sample.sources.get("completion", "completion"))
    totals = Scorer(tree).score(samples.batch, strict=False).total
    named, takes_all = asked_for(tree)
    members_by_group: dict[int, list[int]] = {}
    for position, group in enumerate(samples.groups.tolist()):
        members_by_group.setdefault(group, []).append(position)
    examples, good, bad = [], [], []
    for members in list(members_by_group.values())[:_EXAMPLES]:
        row = rows[int(samples.rows[members[0]])]
        example = {name: value for name, value in row.items() if takes_all or name in named or name == "prompt"}
        example.pop("completion", None)
        ranked = sorted(
            members, key=lambda member: (-totals[member] if totals[member] == totals[member] else 0.0, member)
        )
        examples.append(example)
        good.append([samples.batch.completions[ranked[0]]])
        bad.append([samples.batch.completions[ranked[-1]]] if totals[ranked[-1]] < totals[ranked[0]] else [])
    return {"examples": examples, "good": good, "bad": bad}


def _make_rows(reward: Any, options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield rows with completions generated for the examples, grouped by prompt."""
    from rewardkit.check.check import subject_of
    from rewardkit.check.reward_under_test.sweep import sweep
    from rewardkit.check.reward_under_test.trials import text_of

    subject = subject_of(reward, **options)
    subject.measure()
    # A reward that takes no measurable time can score all of them.
    affordable = int(_SECONDS / max(subject.cost, 1e-9))
    by_example: dict[int, list[Any]] = {}
    for trial in sweep(subject)[: min(_MOST, affordable)]:
        if len(text_of(trial.completion)) <= _LONGEST and trial.columns is None:
            by_example.setdefault(trial.example, []).append(trial.completion)
    for number, completions in sorted(by_example.items()):
        row = subject.examples[number].shown
        yield from ({**row, "completion": completion} for completion in completions)


# Affected files: find the files of a repository that a change affects, from the source code, without running it.


_TESTS = ("conftest.py", "setup.py")
_WORK = frozenset(("train", "main", "run", "parse_args", "from_pretrained", "load_dataset", "evaluate", "launch"))
"""Functions that are called in scripts, not in modules that define rewards."""
_COMPLETIONS = frozenset(("completion", "completions", "messages"))


def affected_files(root: Path, changed: Collection[str], files: Collection[str]) -> set[str]:
    """Return the Python files among `files` that are changed or that use a changed file, directly or indirectly.

    Args:
        root: the folder that all paths are relative to.
        changed: paths of changed or removed files.
        files: all files of the repository.
    """
    modules = {path: (root / path).read_bytes() for path in files if path.endswith(".py")}
    file_index = _Files(frozenset((*files, *changed)))
    used: dict[str, set[str]] = {}
    affected: set[str] = set()
    todo = list(changed)
    while todo:
        path = todo.pop()
        if path in affected:
            continue
        affected.add(path)
        here = PurePosixPath(path)
        is_package = here.name == "__init__.py"
        word = here.parent.name if is_package else here.stem if here.suffix == ".py" else here.name
        for user, text in modules.items():
            if is_package and user.startswith(f"{here.parent}/"):
                todo.append(user)
            elif word.encode() in text:  # only then is the file worth parsing
                if user not in used:
                    used[user] = set(file_index.used(user, _parse_file(root / user)))
                if path in used[user]:
                    todo.append(user)
    return {path for path in affected if path in modules}


def may_define_rewards(root: Path, path: str) -> bool:
    """Return whether a file looks like a module that defines rewards.

    Tests and scripts do not count, because importing them runs other code.
    """
    name = PurePosixPath(path).name
    tree = _parse_file(root / path)
    if tree is None or name in _TESTS or name.startswith("test_") or name.endswith("_test.py"):
        return False
    statements = [
        statement
        for statement in tree.body
        if not (isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test))
    ]
    if any(_is_work(name) for statement in statements for name in _called_names(statement)):
        return False
    if any(_takes_completions(statement) for statement in statements):
        return True
    return _imports_rewardkit(tree) and any(_is_composed(statement) for statement in statements)


def _called_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of the functions that a statement calls when the module is imported."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_work(name: str) -> bool:
    return name in _WORK or name.endswith("Trainer")


def _takes_completions(statement: ast.stmt) -> bool:
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs)
    return not _COMPLETIONS.isdisjoint(argument.arg for argument in arguments)


def _is_composed(statement: ast.stmt) -> bool:
    """Return whether a statement assigns a call, an operation, or a list to a variable."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, (ast.Call, ast.BinOp, ast.List))


def _imports_rewardkit(tree: ast.Module) -> bool:
    return any(
        name.partition(".")[0] == "rewardkit"
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    )


def _parse_file(path: Path) -> ast.Module | None:
    """Return a file's syntax tree, or None if the file is not Python or does not exist."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class _Files:
    """All files of a repository, including removed ones."""

    paths: frozenset[str]

    @cached_property
    def data(self) -> dict[str, list[str]]:
        """File name -> paths, for all files that are not Python."""
        paths_by_name: dict[str, list[str]] = {}
        for path in self.paths:
            if not path.endswith(".py"):
                paths_by_name.setdefault(PurePosixPath(path).name, []).append(path)
        return paths_by_name

    def used(self, path: str, tree: ast.Module | None) -> Iterator[str]:
        """Yield the files that a module imports or names in its string literals."""
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._imported(_folders(path), alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                module = node.module.split(".") if node.module else []
                folders = _folders(path) if node.level == 0 else (_import_base(path, node.level),)
                for alias in node.names:
                    yield from self._imported(folders, [*module, alias.name])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from self.data.get(node.value.replace("\\", "/").rpartition("/")[2], ())

    def _imported(self, folders: Iterable[str], names: Sequence[str]) -> Iterator[str]:
        """Yield the files of the module with a dotted name, and the files of the packages that contain it."""
        for prefix in folders:
            for name in names:
                if (file := f"{prefix}{name}.py") in self.paths:
                    yield file
                prefix = f"{prefix}{name}/"
                if (init := f"{prefix}__init__.py") in self.paths:
                    yield init


def _import_base(path: str, levels: int) -> str:
    """Return the folder from which a relative import with `levels` dots starts."""
    parts = path.split("/")[:-levels]
    return "".join(f"{part}/" for part in parts)


@lru_cache
def _folders(path: str) -> tuple[str, ...]:
    """Return the folders that may be on a module's ``sys.path``: its folder, all parents, and their ``src`` folders."""
    above = [_import_base(path, levels) for levels in range(1, path.count("/") + 2)]
    return (*above, *(f"{folder}src/" for folder in above))


MADE = "completions generated for the reward"
_WIDTH = 100
"""The maximum number of characters of a generated completion to show in a report. Arbitrary: they fit on one line of
a comment."""
_FINDINGS = 3
"""The maximum number of findings to show in full in a report. Arbitrary: it keeps a comment readable."""

# Files with rewards that a change affects, before and after the change.


@dataclass(frozen=True)
class File:
    """The paths, relative to the repository root, of a file with rewards on both sides, or "" if a side lacks it.

    Attributes:
        names: the names of the rewards to review. If empty, all rewards are reviewed.
    """

    now: str
    before: str
    names: tuple[str, ...] = ()


def files_of_targets(changes: Changes, rewards: Sequence[str]) -> Iterator[File]:
    """Yield the files of ``path.py:name`` targets. Paths are relative to the working directory."""
    names: dict[str, list[str]] = {}
    for target in rewards:
        source, name = split(target)
        path = Path(source).resolve()
        if not path.is_relative_to(changes.root.resolve()):
            raise RewardKitError(f"{source} is not in the repository {changes.root}. Pass a file from this repository")
        names.setdefault(path.relative_to(changes.root.resolve()).as_posix(), []).extend([name] if name else [])
    for named, listed in names.items():
        yield File(named, changes.before(named), tuple(listed))


def files_of_change(changes: Changes) -> Iterator[File]:
    """Yield the files that the change affects and that look like modules that define rewards."""
    tracked = [
        path for path in git("ls-files", "-z", folder=changes.root).split("\0") if (changes.root / path).is_file()
    ]
    for path in sorted(affected_files(changes.root, [*changes.files, *changes.removed], tracked)):
        if may_define_rewards(changes.root, path):
            yield File(path, changes.before(path))


# The report of a review, on each affected reward and on the change as a whole.


State = Literal["same", "changed", "added", "removed", "failed"]


@dataclass(frozen=True)
class Reviewed:
    """The effect of a change on one reward.

    Attributes:
        name: ``path.py:name`` in the working tree.
        state: the kind of change. If the new reward cannot score, it is ``"failed"``, and `why` contains the reason.
        sample: the differences on the sample, or None if there is no sample.
        made: the differences on completions generated for the reward, or None if there are no such completions.
        broken: laws that only the new reward breaks.
        still: the names of the laws that both versions break.
        notes: the limits of the comparison.
    """

    name: str
    state: State
    why: str = ""
    sample: Differences | None = None
    made: Differences | None = None
    broken: tuple[BrokenLaw, ...] = ()
    still: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The effect of the change on the reward, in one sentence."""
        if self.state == "removed":
            return "The reward was removed."
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
        """Yield the blocks of the report about this reward."""
        if self.sample is not None and not self.sample.same:
            yield from self.sample.document.blocks
        else:
            yield Verdict(self.verdict, "broken" if self.state == "failed" else "unfinished")
        if self.made is not None:
            yield from _made_blocks(self.made)
        if self.broken:
            findings = [Code(law.text) for law in self.broken[:_FINDINGS]]
            laws = ", ".join(dict.fromkeys(law.law for law in self.broken))
            title = "Found by `rewardkit check` only in the new version"
            yield Part(title, [Paragraph(laws), *findings])
        if self.still:
            yield Paragraph(f"Found by `rewardkit check` in both versions: {', '.join(self.still)}.")
        yield from (Paragraph(note, "note") for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the review of this reward as JSON values."""
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
    """Yield blocks about the generated completions whose total changes, the largest change first."""
    changed = int(differences.affected.sum())
    if not changed and differences.changed_components:
        yield Paragraph(f"Of {len(differences):,} {MADE}, none gets a different total, but a component differs.")
    elif changed:
        yield Paragraph(f"Of {len(differences):,} {MADE}, {changed:,} get a different total.")
        changes = (
            f"{short(old, 4)} -> {short(new, 4)}: {excerpt(example.completion, _WIDTH)}"
            for example in differences.examples
            for old, new in [example.totals]
        )
        yield Code("\n".join(changes))


def _made_values(differences: Differences) -> dict[str, Any]:
    """Return the comparison on generated completions, which have no groups, in a short form as JSON values."""
    return {
        "completions": len(differences),
        "changed": int(differences.changed.sum()),
        "failures": int(differences.failing.sum()),
        "examples": differences.to_dict()["examples"],
    }


@dataclass(frozen=True)
class Review:
    """The review of a change: its effect on each affected reward.

    Attributes:
        rewards: all rewards that the change affects.
        notes: other facts about the change that may matter.
    """

    rewards: tuple[Reviewed, ...]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Reviewed]:
        """The rewards that are not the same as before."""
        return [reward for reward in self.rewards if reward.state != "same"]

    @property
    def same(self) -> bool:
        """Whether all rewards are the same as before."""
        return not self.changed

    @property
    def document(self) -> Document:
        """The report: one line per reward, then the details of changed rewards."""
        changed, same = len(self.changed), len(self.rewards) - len(self.changed)
        verdict = (
            f"{counted(changed, 'reward')} changed, {same:,} as before" if self.rewards else "No reward is affected"
        )
        blocks: list[Block] = [Verdict(f"{verdict}.", "unfinished" if changed else "held")]
        if self.rewards:
            blocks.append(Table([[Name(reward.name), reward.verdict] for reward in self.rewards], left=2))
        blocks += [Part(reward.name, list(reward.blocks())) for reward in self.changed]
        return Document("Changed rewards", [*blocks, *(Paragraph(note, "note") for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return the review as JSON values. docs/review.md describes the format."""
        return {
            "schema": 1,
            "changed": len(self.changed),
            "rewards": [reward.to_dict() for reward in self.rewards],
            "notes": list(self.notes),
        }


# Both sides of a changed file, each loaded and scored in a separate process.


_AGAIN = 10
"""If the new reward breaks a law, the law is checked again on both sides, with this many times the budget.
Arbitrary."""


@dataclass(frozen=True)
class Options:
    """The settings of a review.

    Attributes:
        sample: the file of completions for all rewards, or None for ``<reward file>.sample.jsonl`` next to each reward
            file.
        sources: name in the reward -> column in the sample.
        limit: the number of completions in the sample to use, or None for all completions.
        without: components to exclude.
        regressions: a file of known exploits.
        makes: whether to generate completions in addition to the sample.
        budget: the number of seconds for checking each reward, or 0 for no check.
        timeout: the number of seconds that one reward may take to score all completions.
        examples: the number of changed completions to show.
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
    """Both sides of one file: the locations for the processes, and the completions to score.

    Attributes:
        revision: the revision of the old file, abbreviated.
        places: the locations of the new file and, if it exists, of the old file.
        paths: the path of the file at each location.
        cases: known exploits.
    """

    file: File
    revision: str
    places: tuple[Location, ...]
    paths: tuple[str, ...]
    sample: Data | None
    cases: tuple[Regression, ...]
    options: Options

    @classmethod
    def of(cls, file: File, tree: Tree, revision: str, options: Options) -> Sides:
        now = str(tree.root / file.now)
        here = Path.cwd()
        locations, paths = [Location(Named(now), here, (str(here), *sys.path))], [now]
        if file.before:
            paths.append(str(tree.folder / file.before))
            locations.append(Location(Named(paths[1]), tree.cwd, (str(tree.cwd), *path_in(tree))))
        cases = () if options.regressions is None else tuple(load_regressions(options.regressions))
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
        """Inspect the new and the old rewards. If a side cannot be loaded, return an error in its place.

        Args:
            laws: the laws to check in the new version and in the old version.
            names: the names of the reward in the new version and in the old version. The default is all rewards.
        """
        makes = self.options.makes and not names
        target_names: list[tuple[str, ...]] = [(name,) for name in names] or [self.file.names] * 2
        tasks = [
            Inspection(self.file.now, location, _targets(path, named), self.sample, law_names, budget, makes)
            for location, path, named, law_names in zip(self.places, self.paths, target_names, laws, strict=False)
        ]
        outcomes = run_in_children(tasks, self.options.timeout)
        return outcomes if len(outcomes) == 2 else [*outcomes, []]

    def compared(self, before: InspectedReward, after: InspectedReward) -> Reviewed:
        """Score all completions with both versions of a reward, and return its review."""
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
            notes = (*notes, f"Compared only on the sample, because other completions cannot be scored: {new}")
        if isinstance(new, RewardKitError):
            prefix = "Neither version can be scored. " if isinstance(old, RewardKitError) else ""
            return Reviewed(name, "failed", f"{prefix}{new}")
        if isinstance(old, RewardKitError):
            return Reviewed(name, "changed", f"The old version cannot be scored: {old}", notes=notes)
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

    def _scored(self, before: InspectedReward, after: InspectedReward, data: Sequence[Data]) -> list[Any]:
        """Return the scores of the new and the old reward on all data, with an error in place of missing scores."""
        names = (f"{self.file.now}:{after.name}", f"{self.revision}:{self.file.before}:{before.name}")
        tasks = [
            Several(tuple(self._job(location, f"{path}:{inspected.name}", label, dataset) for dataset in data))
            for location, path, inspected, label in zip(self.places, self.paths, (after, before), names, strict=True)
        ]
        return run_in_children(tasks, self.options.timeout)

    def _job(self, location: Location, target: str, name: str, data: Data) -> Job:
        return Job(name, replace(location, source=Named(target)), data, self.options.without, self.cases)

    def _broken(self, before: InspectedReward, after: InspectedReward) -> tuple[tuple[BrokenLaw, ...], tuple[str, ...]]:
        """Return the laws that only the new reward breaks, and the names of the laws that both break."""
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


def _data(before: InspectedReward, after: InspectedReward) -> Data | None:
    """Return the completions generated for either version, grouped by prompt, or None if there are none."""
    rows: dict[str, dict[str, Row]] = {}
    for row in (*before.made, *after.made):
        example = json.dumps({name: value for name, value in row.items() if name != "completion"}, default=repr)
        rows.setdefault(example, {}).setdefault(json.dumps(row["completion"], default=repr), row)
    listed = tuple(dict(row) for several in rows.values() for row in several.values())
    return Data(MADE, MADE, Listed(listed)) if listed else None


def _sample(path: Path, root: Path, options: Options) -> Data | None:
    """Return the committed completions for the rewards in a file, or None if there are none."""
    siblings = [path.with_name(f"{path.stem}.sample{suffix}") for suffix in (".jsonl", ".json", ".csv", ".parquet")]
    candidates = (
        [options.sample] if options.sample is not None else [sibling for sibling in siblings if sibling.is_file()]
    )
    if not candidates:
        return None
    sample_path = candidates[0].resolve()
    name = sample_path.relative_to(root).as_posix() if sample_path.is_relative_to(root) else str(sample_path)
    data = Data(name, str(sample_path), sources=options.sources, limit=options.limit)
    return data.fixed(data.open())


_REQUIREMENTS = ("requirements", "constraints", "pyproject.toml", "poetry.lock", "uv.lock", "environment.yml")


def review_change(changes: Changes, rewards: Sequence[str], options: Options) -> Review:
    """Review the rewards in `rewards`, or if it is empty, the rewards that the change affects.

    Raises:
        RewardKitError: git fails, a file cannot be read, or a named reward is not in the repository.
    """
    files = list(files_of_targets(changes, rewards) if rewards else files_of_change(changes))
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
    """Yield the review of each reward in one file."""
    file, options = side.file, side.options
    new, old = side.looks((fast_laws() if options.budget else (), ()), options.budget)
    if isinstance(new, RewardKitError):
        yield Reviewed(file.now, "failed", str(new))
        return
    notes: tuple[str, ...] = ()
    if isinstance(old, RewardKitError):
        notes, old = (f"The previous version cannot be loaded, so nothing is compared: {old}",), []
    for before, after in _paired(old, new):
        if after is None:
            assert before is not None
            yield Reviewed(f"{file.now}:{before.name}", "removed")
        elif before is None:
            yield Reviewed(f"{file.now}:{after.name}", "added", after.reason, broken=after.found, notes=notes)
        else:
            yield side.compared(before, after)


def _paired(
    old: Sequence[InspectedReward], new: Sequence[InspectedReward]
) -> Iterator[tuple[InspectedReward | None, InspectedReward | None]]:
    """Pair rewards by name, skipping parts of others. If one remains on each side, assume that it was renamed."""
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
            "the comparison does not show the effects of different package versions."
        )
    samples = [path for path in changes.files if _is_sample(changes.root / path, options)]
    if samples:
        yield f"{', '.join(samples)} also changed. Both versions were scored on the new rows."


def _is_sample(path: Path, options: Options) -> bool:
    return ".sample." in path.name or (options.sample is not None and options.sample.resolve() == path.resolve())
