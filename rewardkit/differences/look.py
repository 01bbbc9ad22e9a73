"""A look at one side of a change: the findings of a quick check of a reward, and completions made for it.

The completions are made from the reward's own right ones (EXAMPLES and GOOD in its module) and from the sample: other
answers, broken tags, texts that policies try. They reach branches that a small sample does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.differences.process import Data
from rewardkit.differences.targets import Place
from rewardkit.errors import RewardKitError
from rewardkit.scoring.columns import asked_for
from rewardkit.scoring.samples import arranged
from rewardkit.tree.loading import Loaded, load
from rewardkit.tree.reward import Reward, walk

_EXAMPLES = 3
"""Completions are made for so many prompts of the sample. Any number: each has hundreds of completions."""
_MOST = 2_000
"""Any limit: each is scored by both revisions."""
_SECONDS = 3.0
"""Of scoring: a slow reward gets fewer completions. Any limit: a reviewer waits for both sides."""
_LONGEST = 20_000
"""The longest completion, in characters: a longer one takes time and shows no more."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """A broken law.

    Attributes:
        law: its name.
        text: the finding, as `rewardkit check` prints it.
    """

    law: str
    text: str


@dataclass(frozen=True)
class Seen:
    """The result of a look at one reward.

    Attributes:
        name: the name of its variable.
        made: rows with completions made for it.
        found: broken laws.
        held: the names of the laws that hold.
        reason: why it could not be checked, if it could not.
        part: whether another reward of the file contains it, and is reviewed in its place.
    """

    name: str
    made: tuple[Row, ...] = field(default=(), repr=False)
    found: tuple[Found, ...] = ()
    held: tuple[str, ...] = ()
    reason: str = ""
    part: bool = False

    @property
    def broken(self) -> set[str]:
        return {finding.law for finding in self.found}


@dataclass(frozen=True)
class Inspection:
    """A look at the rewards of one file, in a separate process.

    Attributes:
        name: the name of the file, for messages.
        place: its location.
        targets: ``file.py:name`` each; or ``file.py`` for all its rewards.
        sample: the committed completions; None if there are none.
        laws: the laws to check; empty: only make completions.
        budget: seconds for the check of each reward.
    """

    name: str
    place: Place
    targets: tuple[str, ...]
    sample: Data | None
    laws: tuple[str, ...] = ()
    budget: float = 2.0
    makes: bool = True

    def run(self) -> list[Seen]:
        """Load the rewards, check them, and make completions.

        Raises:
            RewardDefinitionError: the file cannot be imported, or has no such reward.
        """
        return [inspected for target in self.targets for inspected in self._all(load(target))]

    def _all(self, rewards: Sequence[Loaded]) -> list[Seen]:
        inner = {id(entry) for loaded in rewards for entry in _within(loaded.reward)}
        return [Seen(entry.name, part=True) if id(entry.reward) in inner else self._seen(entry) for entry in rewards]

    def _seen(self, loaded: Loaded) -> Seen:
        try:
            options = {name: loaded.constants[name] for name in _EXAMPLES_OF if name in loaded.constants}
            sample_options = _of_sample(loaded.reward, self.sample)
            sets = [candidate for candidate in (options, sample_options) if candidate.get("examples")] or [
                {"examples": [{}]}
            ]
            findings, held_laws = self._checked(
                loaded, {**sample_options, **loaded.constants} if sets[0] is sample_options else loaded.constants
            )
            made_rows = [row for candidate in sets for row in _made(loaded.reward, candidate)] if self.makes else []
        except RewardKitError as error:
            return Seen(loaded.name, reason=str(error))
        return Seen(loaded.name, tuple(made_rows), findings, held_laws)

    def _checked(self, loaded: Loaded, constants: Mapping[str, Any]) -> tuple[tuple[Found, ...], tuple[str, ...]]:
        from rewardkit.check.labels import bound_with

        if not self.laws:
            return (), ()
        subject = Loaded(loaded.name, loaded.reward, {**constants, "laws": None, "without": ()})
        report = bound_with(subject, options={"budget": self.budget, "components": False}, laws=self.laws).report()
        findings = tuple(Found(entry.law, str(entry)) for entry in report.findings)
        return findings, tuple(entry.law for entry in report.results if entry.outcome == "held")


def _within(reward: Any) -> Iterator[Any]:
    """Yield the parts of a composed reward, or of a list of rewards."""
    if isinstance(reward, Reward):
        yield from (node for node, _, _ in walk(reward) if node is not reward)
    elif isinstance(reward, (list, tuple)):
        for item in reward:
            yield item
            yield from _within(item)


_EXAMPLES_OF = ("examples", "good", "bad")


def _of_sample(reward: Any, sample: Data | None) -> dict[str, Any]:
    """Return the first prompts of a sample as examples: their best completions are right, their worst wrong."""
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


def _made(reward: Any, options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield rows with completions made for the examples, those of one prompt next to each other."""
    from rewardkit.check.check import subject_of
    from rewardkit.check.reward_under_test.sweep import sweep
    from rewardkit.check.reward_under_test.trials import text_of

    subject = subject_of(reward, **options)
    subject.measure()
    # A reward that takes no measurable time can afford all.
    affordable = int(_SECONDS / max(subject.cost, 1e-9))
    by_example: dict[int, list[Any]] = {}
    for trial in sweep(subject)[: min(_MOST, affordable)]:
        if len(text_of(trial.completion)) <= _LONGEST and trial.columns is None:
            by_example.setdefault(trial.example, []).append(trial.completion)
    for number, completions in sorted(by_example.items()):
        row = subject.examples[number].shown
        yield from ({**row, "completion": completion} for completion in completions)
