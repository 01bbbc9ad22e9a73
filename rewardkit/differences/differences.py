"""The differences between two rewards on the same completions, as numbers and a report.

``compared(before, after, source).verdict`` is one sentence. ``.text()``, ``.markdown()``, and ``.html()`` show the
rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rewardkit.batch.column import Floats, Numbers, Rows
from rewardkit.batch.messages import completion_text
from rewardkit.batch.score import Outcome
from rewardkit.differences.advantages import Gradients, gradients
from rewardkit.differences.side import TOLERANCE, Side, differ
from rewardkit.errors import shorten
from rewardkit.record.cells import as_json
from rewardkit.report.document import (
    Block,
    Card,
    Cell,
    Code,
    Document,
    Facts,
    Name,
    Paragraph,
    Part,
    Quote,
    Table,
    Verdict,
)
from rewardkit.report.values import counted, excerpt, json_ready, percent, short
from rewardkit.scoring.parts import Chunk
from rewardkit.scoring.regressions import Regression
from rewardkit.scoring.report import Faults
from rewardkit.scoring.sources import Saved

# Components before and after, paired by name, or recognized under another name.


State = Literal["same", "changed", "renamed", "added", "removed"]


@dataclass(frozen=True)
class ComponentChange:
    """The change in one component, or in the total, from one reward to another.

    Attributes:
        before, after: the component's name in each reward, or None if the reward lacks it. The total is ``"total"``.
        state: the kind of change. ``"renamed"`` means that the names differ but the scores are the same.
        means: the mean score before and after, or None if nothing was scored.
        changed: the number of completions that are scored differently.
        largest_change: the largest change in a score.
        outcomes: outcome -> the number of completions with that outcome before and after, if they differ.
    """

    before: str | None
    after: str | None
    state: State
    means: tuple[float | None, float | None]
    changed: int
    largest_change: float
    outcomes: dict[str, tuple[int, int]]


def component_changes(before: Side, after: Side) -> tuple[ComponentChange, ...]:
    """Return the changes in all components in the order of the new reward, then removed components, then the total.

    Excluded components are skipped, because they have no scores to compare.
    """
    omitted = {*before.omitted, *after.omitted}
    olds, news = ([name for name in side.components if name not in omitted] for side in (before, after))
    partners = {name: name for name in news if name in olds}
    lost = [name for name in olds if name not in partners]
    fresh = [name for name in news if name not in partners]
    partners |= dict(_renamed(before, after, lost, fresh))
    matched = set(partners.values())
    pairs: list[tuple[str | None, str | None]] = [(partners.get(name), name) for name in news]
    pairs += [(name, None) for name in olds if name not in matched]
    return (*(_components_change(before, after, *pair) for pair in pairs), _of_totals(before, after))


def _renamed(before: Side, after: Side, lost: Iterable[str], fresh: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (new name, old name) for each pair of components that match only each other."""
    left, right = list(lost), list(fresh)
    for is_match in (_same_structure, _same_scores):
        candidates_by_name = {new: [old for old in left if is_match(before, after, old, new)] for new in right}
        for new, olds in candidates_by_name.items():
            if len(olds) == 1 and sum(olds[0] in candidates for candidates in candidates_by_name.values()) == 1:
                yield new, olds[0]
                left.remove(olds[0])
                right.remove(new)


def _same_structure(before: Side, after: Side, old: str, new: str) -> bool:
    structure = before.structures.get(old)
    return structure is not None and structure == after.structures.get(new)


def _same_scores(before: Side, after: Side, old: str, new: str) -> bool:
    """Return whether two components agree on all completions, but do not give all completions the same score."""
    values = before.components[old]
    scored = values[~np.isnan(values)]
    varied = len(scored) > 0 and float(scored.max() - scored.min()) > TOLERANCE
    return varied and not _different(before, after, old, new).any()


def _different(before: Side, after: Side, old: str, new: str) -> Rows:
    changed: Rows = differ(before.components[old], after.components[new]) | (before.codes[old] != after.codes[new])
    return changed


def _components_change(before: Side, after: Side, old: str | None, new: str | None) -> ComponentChange:
    means = (
        None if old is None else _mean(before.components[old]),
        None if new is None else _mean(after.components[new]),
    )
    if old is None or new is None:
        return ComponentChange(old, new, "added" if old is None else "removed", means, 0, 0.0, {})
    changed = int(_different(before, after, old, new).sum())
    state: State = "changed" if changed else "same" if old == new else "renamed"
    counts = [np.bincount(codes, minlength=len(Outcome)).tolist() for codes in (before.codes[old], after.codes[new])]
    outcomes = {
        str(outcome): (was, now) for outcome, was, now in zip(Outcome, counts[0], counts[1], strict=True) if was != now
    }
    largest = _largest(before.components[old], after.components[new])
    return ComponentChange(old, new, state, means, changed, largest, outcomes)


def _of_totals(before: Side, after: Side) -> ComponentChange:
    changed = int(differ(before.total, after.total).sum())
    means = (_mean(before.total), _mean(after.total))
    largest = _largest(before.total, after.total)
    return ComponentChange("total", "total", "changed" if changed else "same", means, changed, largest, {})


def _mean(values: np.typing.NDArray[np.float64]) -> float | None:
    scored = values[~np.isnan(values)]
    return float(scored.mean()) if len(scored) else None


def _largest(before: np.typing.NDArray[np.float64], after: np.typing.NDArray[np.float64]) -> float:
    deltas = np.abs(after - before)
    return float(deltas[~np.isnan(deltas)].max(initial=0.0))


SCHEMA = 1
"""The version of `Differences.to_dict`."""
_REASONS = 20
"""The maximum number of reasons for new failures in the JSON output. Arbitrary: it keeps the file small."""
_SHOWN_EXPLOITS = 5
"""The maximum number of exploits to show in a list. Arbitrary: it keeps a report readable."""
_EXCERPT = 94
"""The maximum number of characters of a completion or exploit to show on a terminal: the rest of a 110-character
line."""
_READ = 2_048
"""The number of rows to hold in memory at once. Arbitrary."""
_CANDIDATES = 4
"""The number of rows to read per example in the report, since equal completions are shown only once. Arbitrary."""


@dataclass(frozen=True)
class Example:
    """A completion that the change affects, with texts and values to show.

    Attributes:
        row: the row number in the data, from 0.
        columns: the columns that the rewards read.
        totals, advantages: the values before and after, or None if there is no value.
        components: name -> values before and after, for components that differ on this completion.
        kind: the kind of change: ``"flip"``, ``"newly rewarded"``, ``"newly penalized"``, ``"no longer scored"``,
            ``"newly scored"``, or ``"changed"``.
    """

    row: int
    prompt: str
    completion: str
    columns: Mapping[str, str]
    totals: tuple[float | None, float | None]
    advantages: tuple[float, float] | None
    components: Mapping[str, tuple[float | None, float | None]]
    kind: str


@dataclass(frozen=True)
class ExploitChange:
    """Known exploits that work: they score at least as high as a correct completion for the same prompt.

    Attributes:
        tried: the number of exploits that both rewards scored.
        newly_paid, no_longer_paid, still_paid: the exploits that work only with the new reward, only with the old one,
            or with both. Their texts are truncated.
    """

    tried: int
    newly_paid: tuple[str, ...] = ()
    no_longer_paid: tuple[str, ...] = ()
    still_paid: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether any exploit works with only one of the rewards."""
        return bool(self.newly_paid or self.no_longer_paid)


@dataclass(frozen=True)
class Differences:
    """The changes in the scores of n completions if the reward `after` replaces the reward `before`.

    Attributes:
        data: the name of the data.
        changed: (n,) whether the total differs by more than 1e-9 (NaN equals NaN).
        components: the change in each component and, last, in the total.
        gradients: the changes in advantages within groups, or None if no prompt has two completions.
        failing, recovered: (n,) whether only the new reward, or only the old reward, fails to score the completion.
        exploits: the known exploits that work with one or both of the rewards.
        examples: the completions whose scores change most, with the largest change first.
        warnings: the limits of the comparison, one sentence each.
    """

    before: Side
    after: Side
    data: str
    changed: Rows = field(repr=False)
    components: tuple[ComponentChange, ...]
    gradients: Gradients | None
    failing: Rows = field(repr=False)
    recovered: Rows = field(repr=False)
    exploits: ExploitChange
    examples: tuple[Example, ...] = ()
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.changed)

    def __str__(self) -> str:
        return self.text()

    @property
    def same(self) -> bool:
        """Whether nothing changes for training: no total, no failure, no known exploit."""
        return not (self.affected.any() or self.exploits.changes)

    @property
    def affected(self) -> Rows:
        """(n,) whether the total of a completion changes, or only one of the rewards scores it."""
        return self.changed | self.failing | self.recovered

    @property
    def changed_components(self) -> list[ComponentChange]:
        """The components that are added, removed, or changed in their scores."""
        return [change for change in self.components[:-1] if change.state not in ("same", "renamed")]

    @property
    def verdict(self) -> str:
        """The effect of the change, in one sentence."""
        if self.same:
            names = [change.after for change in self.components[:-1] if change.state == "changed"]
            inner = f"component {names[0]!r} does" if len(names) == 1 else f"{len(names)} components do"
            return f"No completion's score changes{f' (but {inner})' if names else ''}."
        *leading, last = self._changes()
        text = f"{', '.join(leading)}, and {last}" if leading else last
        return f"{text[0].upper()}{text[1:]}."

    def _changes(self) -> Iterator[str]:
        changed, advantages = int(self.changed.sum()), self.gradients
        yield f"{changed:,} of {len(self):,} completions get a different total" if changed else "no total changes"
        if changed and advantages is not None:
            if advantages.flips:
                share = percent(advantages.flips / advantages.compared)
                yield f"{advantages.flips:,} ({share}) flip the sign of their advantage"
            else:
                # Six decimals: smaller changes are rounding.
                moved = round(advantages.largest_change, 6) > 0.0
                yield "no advantage flips its sign" if moved else "no advantage changes"
            if advantages.silenced:
                yield f"{advantages.silenced:,} of {advantages.count:,} groups lose their learning signal"
        if failing := int(self.failing.sum()):
            yield f"{failing:,} can no longer be scored"
        if paid := len(self.exploits.newly_paid):
            yield f"{counted(paid, 'known exploit')} {'works' if paid == 1 else 'work'} again"

    @property
    def document(self) -> Document:
        """The report on the differences."""
        size = counted(len(self), "completion")
        if self.gradients is not None:
            size += f", {counted(self.gradients.count, 'group')}"
        sides = [("old", self.before.name), ("new", self.after.name), ("on", self.data), ("size", size)]
        verdict = Verdict(self.verdict, "held" if self.same else "unfinished")
        notes = [Paragraph(warning, "note") for warning in self.warnings]
        return Document("Reward difference", [verdict, Facts(sides), *self._parts(), *notes, *self._cards()])

    def _parts(self) -> Iterator[Block]:
        if not self.same or any(change.state != "same" for change in self.components):
            yield Part("Components", [_component_table(self.components)])
        if self.gradients is not None and self.changed.any():
            yield Part("Advantages within groups", [_gradient_table(self.gradients)])
        if failures := list(self._failures()):
            yield Part("Failures", [Code("\n".join(failures))])
        if self.exploits.tried:
            yield Part("Known exploits", [Code("\n".join(self._exploits()))])

    def _failures(self) -> Iterator[str]:
        """Yield lines about completions that only one of the rewards can score, with the reasons."""
        if recovered := int(self.recovered.sum()):
            yield f"The old reward could not score {counted(recovered, 'completion')} that the new one scores."
        if self.failing.any():
            faults = Faults()
            for row in np.flatnonzero(self.failing).tolist():
                faults.add(row, self.after.errors.get(row, "all of its components abstain"))
            failing = counted(int(self.failing.sum()), "completion")
            yield f"{failing} can no longer be scored (rows are numbered from 0):"
            yield from faults.lines()

    def _exploits(self) -> Iterator[str]:
        """Yield lines about known exploits that work with one or both of the rewards."""
        yield f"{self.exploits.tried:,} tried, {len(self.exploits.still_paid):,} work with both rewards."
        for title, completions in (
            ("Work only with the new reward", self.exploits.newly_paid),
            ("No longer work", self.exploits.no_longer_paid),
        ):
            if completions:
                yield f"{title}: {len(completions):,}"
                yield from (f"  {excerpt(completion, _EXCERPT)}" for completion in completions[:_SHOWN_EXPLOITS])

    def _cards(self) -> Iterator[Block]:
        if self.examples:
            yield Part("The largest changes", list(map(_card, self.examples)))

    def text(self) -> str:
        """Return the report as text for a terminal."""
        return self.document.text()

    def markdown(self) -> str:
        """Return the report for a pull request comment: at most 65,536 characters, with completions escaped."""
        return self.document.markdown()

    def html(self) -> str:
        """Return the report as a self-contained HTML page."""
        return self.document.html()

    @property
    def columns(self) -> dict[str, Any]:
        """A table with one row per completion, as name -> (n,): totals, advantages, flips, and components.

        ``pandas.DataFrame(differences.columns)`` converts the table to a data frame.
        """
        columns: dict[str, Any] = {"total/before": self.before.total, "total/after": self.after.total}
        if (comparison := self.gradients) is not None:
            columns |= {
                "group": comparison.groups,
                "advantage/before": comparison.before,
                "advantage/after": comparison.after,
                "flips": comparison.flipped,
            }
        for change in self.components[:-1]:
            for side, scores, name in (("before", self.before, change.before), ("after", self.after, change.after)):
                if name is not None:
                    columns[f"components/{name}/{side}"] = scores.components[name]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the (n,) arrays as JSON values, in the format of ``docs/diff.md``."""
        groups = self.gradients
        failing = np.flatnonzero(self.failing)
        return {
            "schema": SCHEMA,
            "old": self.before.name,
            "new": self.after.name,
            "data": self.data,
            "completions": len(self),
            "tolerance": TOLERANCE,
            "same": self.same,
            "verdict": self.verdict,
            "changed": int(self.changed.sum()),
            "components": json_ready(self.components[:-1]),
            "total": json_ready(self.components[-1]),
            "groups": None if groups is None else groups.to_dict(),
            "failures": {
                "before": int(failed(self.before).sum()),
                "after": int(failed(self.after).sum()),
                "new": len(failing),
                "gone": int(self.recovered.sum()),
                "reasons": [self.after.errors.get(row, "") for row in failing[:_REASONS].tolist()],
            },
            "exploits": json_ready(self.exploits),
            "unsteady": {"old": json_ready(self.before.unsteady), "new": json_ready(self.after.unsteady)},
            "examples": json_ready(self.examples),
            "warnings": list(self.warnings),
        }


def compare_sides(
    before: Side,
    after: Side,
    data: Saved,
    *,
    name: str,
    groups: Numbers | None,
    sources: Mapping[str, str] | None = None,
    exploits: Sequence[Regression] = (),
    examples: int = 10,
) -> Differences:
    """Compare two sides: the scores of two rewards on the same n completions.

    Args:
        name: the name of the data.
        groups: (n,) the group of each completion, or None if there are no groups.
        sources: name in the reward -> column in the data.
        exploits: the known exploits that both sides scored.
        examples: the number of completions to show.
    """
    failed_before, failed_after = failed(before), failed(after)
    advantages = None if groups is None else gradients(before.total, after.total, groups)
    differences = Differences(
        before,
        after,
        name,
        differ(before.total, after.total),
        component_changes(before, after),
        advantages,
        failed_after & ~failed_before,
        failed_before & ~failed_after,
        _exploit_changes(before, after, exploits),
        warnings=tuple(_warnings(before, after, advantages)),
    )
    return replace(differences, examples=_examples(differences, data, sources or {}, examples))


def failed(side: Side) -> Rows:
    """Return (n,) whether each completion has no total, or an error."""
    lost = np.isnan(side.total)
    lost[list(side.errors)] = True
    return lost


def _exploit_changes(before: Side, after: Side, cases: Sequence[Regression]) -> ExploitChange:
    """Compare both rewards' scores for known exploits. A recorded run has no such scores."""
    completions: dict[tuple[bool, bool], list[str]] = {}
    for case, old, new in zip(cases, before.exploits, after.exploits, strict=False):
        if not any(map(math.isnan, (*old, *new))):
            completions.setdefault((_is_paid(*old), _is_paid(*new)), []).append(shorten(case.completion))
    paid = (tuple(completions.get(sides, ())) for sides in ((False, True), (True, False), (True, True)))
    return ExploitChange(sum(map(len, completions.values())), *paid)


def _is_paid(exploit: float, right: float) -> bool:
    return exploit >= right - TOLERANCE


def _warnings(before: Side, after: Side, advantages: Gradients | None) -> Iterator[str]:
    for side, name in ((before, "old"), (after, "new")):
        if (unsteady := side.unsteady) is not None:
            yield (
                f"The {name} reward is not deterministic: when scored twice, {unsteady.changed:,} of "
                f"{unsteady.tried:,} completions got different totals, which differ by up to {unsteady.largest:.3g}. "
                "Differences of that size appear without any change."
            )
    if advantages is None:
        yield (
            "No prompt has several completions, so there are no groups and no advantages to compare. Pass data with "
            "a column 'prompt' and several completions for each prompt."
        )
    if before.scheduled or after.scheduled:
        yield "Schedules have their end value, as in evaluation."
    if before.sees_batches or after.sees_batches:
        yield "A reward scores whole batches, here with 512 completions each."
    if omitted := dict.fromkeys((*before.omitted, *after.omitted)):
        yield (
            f"Excluded: {', '.join(omitted)}. They abstain on all completions, so the totals differ from those in "
            "a training run."
        )


# The tables and cards of the report.


def _component_table(components: Iterable[ComponentChange]) -> Table:
    rows: list[list[Cell]] = []
    for change in components:
        largest = short(change.largest_change) if change.largest_change > TOLERANCE else ""
        means = (short(mean, 4) for mean in change.means)
        rows.append([Name(_label(change)), *means, f"{change.changed:,}", largest])
    return Table(rows, ["", "before", "after", "changed", "largest change"])


def _label(change: ComponentChange) -> str:
    """Return a component's name with its change, as in ``length (added)`` or ``old -> new``."""
    if change.before != change.after and change.before and change.after:
        return f"{change.before} -> {change.after}"
    name = change.after or change.before or ""
    outcomes = ", ".join(f"{outcome} {was:,} -> {now:,}" for outcome, (was, now) in change.outcomes.items())
    result = change.state if change.state in ("added", "removed") else outcomes
    return f"{name} ({result})" if result else name


def _gradient_table(advantages: Gradients) -> Table:
    rows = [
        [label, f"{count:,}", percent(count / of)]
        for label, count, of in (
            ("advantages that flip their sign", advantages.flips, advantages.compared),
            ("newly rewarded (above 0)", advantages.rewarded, advantages.compared),
            ("newly penalized (below 0)", advantages.penalized, advantages.compared),
            ("groups with a different best completion", advantages.other_best, advantages.count),
            ("groups that lose their learning signal", advantages.silenced, advantages.count),
            ("groups that regain their learning signal", advantages.voiced, advantages.count),
        )
    ]
    silent = f"{advantages.silent_before:,} -> {advantages.silent_after:,}"
    rows.append(["groups without a learning signal, before and after", silent, ""])
    rows.append(["largest change of an advantage", short(advantages.largest_change), ""])
    if advantages.rank_correlation is not None:
        rows.append(["rank correlation within groups", f"{advantages.rank_correlation:.3f}", ""])
    return Table(rows)


def _card(example: Example) -> Card:
    changes = [(name, _change(*values)) for name, values in example.components.items()]
    texts = (("prompt", example.prompt), *example.columns.items(), ("completion", example.completion))
    title = f"Row {example.row:,} ({example.kind}): total {_change(*example.totals)}"
    if example.advantages is not None:
        title += f", advantage {example.advantages[0]:+.2f} -> {example.advantages[1]:+.2f}"
    return Card(
        title, [Facts([*changes, *((name, Quote(text, line=excerpt(text, _EXCERPT))) for name, text in texts if text)])]
    )


def _change(before: float | None, after: float | None) -> str:
    return f"{short(before, 4)} -> {short(after, 4)}"


# The completions that a change affects most, with texts.


def _examples(differences: Differences, data: Saved, sources: Mapping[str, str], limit: int) -> tuple[Example, ...]:
    """Return up to `limit` completions: those with flipped advantages first, the others by the size of the change."""
    rows = _most_affected(differences)[: _CANDIDATES * limit].tolist()
    names = sorted({*differences.before.columns, *differences.after.columns})
    texts = dict(_read(data, sources, rows, names))
    examples: dict[tuple[str, str], Example] = {}
    for row in rows:
        prompt, completion, columns = texts[row]
        if len(examples) < limit:
            examples.setdefault((prompt, completion), _example(differences, row, prompt, completion, columns))
    return tuple(examples.values())


def _most_affected(differences: Differences) -> np.typing.NDArray[np.int64]:
    """Return the affected rows, the most affected first. Ties keep the order of the data."""
    changes = np.nan_to_num(np.abs(differences.after.total - differences.before.total), nan=0.0)
    affected, advantages = differences.affected, differences.gradients
    keys = [changes]
    if advantages is not None:
        moved = np.abs(advantages.after - advantages.before)
        keys += [moved, advantages.turned & affected, advantages.flipped & affected]
    order = np.lexsort([np.arange(len(changes)), *(-key.astype(np.float64) for key in keys), ~affected])
    return order[: int(affected.sum())]


def _read(
    data: Saved, sources: Mapping[str, str], rows: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[int, tuple[str, str, dict[str, str]]]]:
    row_set, start = set(rows), 0
    for chunk in data.chunks(_READ):
        for row in range(start, start + len(chunk)) if row_set else ():
            if row in row_set:
                yield row, _texts(chunk.part(row - start, row - start + 1), data, sources, names)
        start += len(chunk)


def _texts(
    row: Chunk, data: Saved, sources: Mapping[str, str], names: Sequence[str]
) -> tuple[str, str, dict[str, str]]:
    def text(name: str) -> str | None:
        source = sources.get(name, name)
        value = row.column(source)[0] if source in data.kinds else None
        return None if value is None else _text(value)

    columns = {name: cell for name in names if (cell := text(name)) is not None}
    return text("prompt") or "", text("completion") or "", columns


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return completion_text(value, 0)
    except Exception:  # neither text nor messages, for example a number, a list, an image
        return as_json(value)


def _example(differences: Differences, row: int, prompt: str, completion: str, columns: Mapping[str, str]) -> Example:
    before, after, advantages = differences.before, differences.after, differences.gradients
    return Example(
        row,
        prompt,
        completion,
        columns,
        (_value(before.total, row), _value(after.total, row)),
        None if advantages is None else (float(advantages.before[row]), float(advantages.after[row])),
        {
            change.after or change.before or "": values
            for change in differences.components[:-1]
            if (values := _values(differences, change, row)) is not None
        },
        _kind(differences, row),
    )


def _values(differences: Differences, change: ComponentChange, row: int) -> tuple[float | None, float | None] | None:
    """Return a component's values before and after in one row, or None if they are the same."""
    old = None if change.before is None else differences.before.components[change.before][row : row + 1]
    new = None if change.after is None else differences.after.components[change.after][row : row + 1]
    if old is not None and new is not None and not differ(old, new)[0]:
        return None
    return (None if old is None else _value(old, 0), None if new is None else _value(new, 0))


def _value(values: Floats, row: int) -> float | None:
    return None if np.isnan(values[row]) else float(values[row])


def _kind(differences: Differences, row: int) -> str:
    if differences.failing[row]:
        return "no longer scored"
    if differences.recovered[row]:
        return "newly scored"
    advantages = differences.gradients
    if advantages is not None and advantages.flipped[row]:
        return "flip"
    if advantages is not None and advantages.turned[row]:
        if advantages.after[row] > 0 and advantages.before[row] <= 0:
            return "newly rewarded"
        if advantages.after[row] < 0 and advantages.before[row] >= 0:
            return "newly penalized"
    return "changed"


# Limits: the amount of change above which a comparison counts as failed.


@dataclass(frozen=True)
class Limit:
    """A limit, as a number or a share: ``Limit.parsed("2%").exceeded(30, 1000)`` is True, since 3% is more than 2%.

    Attributes:
        value: a number of completions or groups, or a share from 0 to 1 if `relative`.
        text: the limit as the user wrote it.
    """

    value: float
    relative: bool
    text: str

    @classmethod
    def parsed(cls, text: str) -> Limit:
        """Parse ``"2%"`` as a share and ``"20"`` as a number.

        Raises:
            ValueError: `text` is neither a share nor a whole number.
        """
        # "20" or "2%". "0.5" is rejected, because it could mean half a completion or a share.
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
        if match is None or (not match[2] and "." in match[1]):
            raise ValueError(f"write a number or a share, as in 20 or 2%, got {text!r}")
        share = match[2] == "%"
        return cls(float(match[1]) / (100.0 if share else 1.0), share, text.strip())

    def exceeded(self, count: int, of: int) -> bool:
        """Return whether `count` out of `of` is more than the limit allows."""
        # Tolerate rounding: 1 of 50 is not more than 2%.
        return (count / of if of else 0.0) > self.value + 1e-12 if self.relative else count > self.value

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Limits:
    """Limits on the changes in a comparison. None means no limit.

    Attributes:
        changed: the limit on completions whose total changes.
        flips: the limit on completions whose advantage changes sign. A share refers to the completions in groups.
        silenced: the limit on groups that lose their signal.
        failures: the limit on completions that only the new reward fails to score.
    """

    changed: Limit | None = None
    flips: Limit | None = None
    silenced: Limit | None = None
    failures: Limit | None = None

    def exceeded(self, differences: Differences) -> list[str]:
        """Return a sentence for each exceeded limit, and a sentence if known exploits work again."""
        advantages, size = differences.gradients, len(differences)
        changed, failing = int(differences.changed.sum()), int(differences.failing.sum())
        flips, compared = (0, 0) if advantages is None else (advantages.flips, advantages.compared)
        silenced, groups = (0, 0) if advantages is None else (advantages.silenced, advantages.count)
        measured = (
            (self.changed, changed, size, "completions get a different total", "--max-changed"),
            (self.flips, flips, compared, "advantages flip their sign", "--max-flips"),
            (self.silenced, silenced, groups, "groups lose their learning signal", "--max-silenced"),
            (self.failures, failing, size, "completions can no longer be scored", "--max-new-failures"),
        )
        sentences = [
            f"{count:,} of {of:,} {description}, more than {option} {limit}"
            for limit, count, of, description, option in measured
            if limit is not None and limit.exceeded(count, of)
        ]
        if paid := len(differences.exploits.newly_paid):
            sentences.append(f"{paid:,} known exploits work with the new reward, but not with the old one")
        return sentences
