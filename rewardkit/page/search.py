"""Search for prompts by their completions: ``prompts_with(watched, Filter.parse("judge>0.9 completion:sorry"))``.

``judge>0.9`` tests a completion's scores, and ``completion:sorry`` tests its text. In a run with conversations,
``calls>3 tool:open errors>0 turns>=5 stop=pending`` tests turns and tool calls. A prompt is found if one of its
completions meets all conditions on scores and one of its completions (possibly a different one) contains the text.

A name may have several meanings: ``answer`` is often a component and also the dataset's gold-answer column. In this
case, ``<`` and ``>`` compare the component, ``=`` and ``:`` compare the column, and `split` adds a note.
``component.answer``, ``column.answer``, ``completion.length`` and ``prompt.length`` are unambiguous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rewardkit.page.filters import Column, Condition, Filter
from rewardkit.page.labels import Labels
from rewardkit.page.scores import Rows, Scores
from rewardkit.page.trials import FLIP
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import prompts_containing

TEXT = "completion"
"""The search name for a completion's text."""
LABEL = "label"
"""The search name for a completion's label."""
_COMPARED = ("prompt", "component", "completion", "column")
_MATCHED = ("prompt", "column", "component", "completion")
"""A name's meanings in order of precedence, in conditions with ``<`` or ``>`` and in conditions with ``=`` or ``:``."""
_WORDS = {
    "prompt": "a number of the prompt",
    "component": "a component",
    "completion": "a number of the completion",
    "column": "a column of the data",
}


def columns_of(scores: Scores, labels: Labels | None = None) -> dict[str, Column]:
    """Return the completions' columns that a search can use, (n,) each: numbers and texts.

    If a component and another number have the same name, the other number is ``completion.<name>``.
    """
    completion_columns = _others(scores, labels)
    hidden = {f"completion.{name}": values for name, values in completion_columns.items() if name in scores.components}
    return {**completion_columns, **scores.components, **hidden}


def _others(scores: Scores, labels: Labels | None) -> dict[str, Column]:
    return {
        **({} if labels is None else {LABEL: labels.texts}),
        **(_of_turns(scores) if scores.has_turns else {}),
        "total": scores.total,
        "advantage": scores.advantage,
        "length": scores.length,
        "step": scores.step.astype(np.float64),
        "epoch": scores.epoch,
        **scores.tried,
    }


def _of_turns(scores: Scores) -> dict[str, Column]:
    return {
        "turns": scores.turns,
        "calls": scores.calls,
        "repeated": scores.repeated,
        "errors": scores.errors,
        "broken": scores.broken,
        "stop": scores.stop.tolist(),
        "tool": scores.tools.tolist(),
    }


def plain(query: Filter, columns: Mapping[str, Column]) -> Filter:
    """Return the filter with the column names of `columns_of`: ``component.answer`` becomes ``answer``."""
    renamed = []
    query = _flagged(query, columns)
    for condition in query.conditions:
        kind, _, name = condition.name.partition(".")
        is_qualified = condition.name not in columns and kind in ("component", "completion") and name in columns
        renamed.append(replace(condition, name=name) if is_qualified else condition)
    return Filter(query.words, tuple(renamed))


@dataclass(frozen=True)
class Split:
    """A filter split into conditions on prompts and on completions, with notes about ambiguous names."""

    prompts: Filter
    completions: Filter
    notes: tuple[str, ...]


def split(
    query: Filter,
    prompt_columns: Mapping[str, Column],
    examples: Mapping[str, Column],
    scores: Scores,
    labels: Labels | None = None,
) -> Split:
    """Split a filter into conditions on prompts and on completions.

    Args:
        query: the filter as typed.
        prompt_columns: the prompts' number columns.
        examples: the dataset's columns. `Split.prompts` calls them ``column.<name>``.
        scores: the completions' scores.
        labels: the completions' labels, if the page keeps labels.
    """
    kinds = {
        "prompt": prompt_columns,
        "component": scores.components,
        "completion": {TEXT: (), **_others(scores, labels)},
    }
    kinds["column"] = examples
    prompts, completions, notes = [], [], []
    query = _flagged(query, kinds["completion"])
    for condition in query.conditions:
        kind, name, other_kinds = _meaning(condition, kinds)
        if other_kinds:
            notes.append(_note(condition, kind, other_kinds))
        if kind in ("component", "completion"):
            qualified = name if name == TEXT else f"{kind}.{name}"
            completions.append(replace(condition, name=qualified))
        elif kind == "":
            prompts.append(condition)
        else:
            prompts.append(replace(condition, name=name if kind == "prompt" else f"column.{name}"))
    return Split(Filter(query.words, tuple(prompts)), Filter((), tuple(completions)), tuple(notes))


def _flagged(query: Filter, columns: Mapping[str, Column]) -> Filter:
    """Return the filter; if there is a reward on trial, replace the word ``flip`` with ``flip=1``."""
    if FLIP not in columns or FLIP not in query.words:
        return query
    words = tuple(word for word in query.words if word != FLIP)
    return Filter(words, (*query.conditions, Condition(FLIP, "=", "1")))


def _meaning(condition: Condition, kinds: Mapping[str, Mapping[str, Column]]) -> tuple[str, str, list[str]]:
    """Return the meaning of a condition's name ("" if unknown), the name without its prefix, and other meanings."""
    prefix, _, rest = condition.name.partition(".")
    if rest in kinds.get(prefix, {}):
        return prefix, rest, []
    order = _COMPARED if condition.operator[0] in "<>" else _MATCHED
    matching_kinds = [kind for kind in order if condition.name in kinds[kind]]
    if not matching_kinds:
        return "", condition.name, []
    # Prompts and completions both have a length; the tables say which one they mean.
    other_kinds = [] if set(matching_kinds) <= {"prompt", "completion"} else matching_kinds[1:]
    return matching_kinds[0], condition.name, other_kinds


def _note(condition: Condition, kind: str, other_kinds: list[str]) -> str:
    name, rest = condition.name, f"{condition.operator}{condition.value}"
    description = " and ".join(_WORDS[option] for option in (kind, *other_kinds))
    instead = " or ".join(f"{option}.{name}{rest}" for option in other_kinds)
    return f"{name} is {description}. This searches the {kind}. To search the other one, type {instead}."


def prompts_with(watched: Watched, query: Filter) -> tuple[Rows, list[str]]:
    """Return which prompts (p,) have completions that match, and messages about conditions that cannot be applied."""
    scores = watched.scores
    numbers = tuple(clause for clause in query.conditions if clause.name != TEXT)
    columns = columns_of(scores, watched.labels)
    rows, complaints = plain(Filter((), numbers), columns).rows([""] * len(scores), columns)
    passed = np.zeros(len(scores.prompt_ids), dtype=np.bool_)
    passed[scores.prompt[rows]] = True
    for condition in query.conditions:
        if condition.name == TEXT:
            matches = np.zeros(len(passed), dtype=np.bool_)
            codes = map(scores.code_of.get, prompts_containing(watched.run, condition.value))
            matches[[code for code in codes if code is not None]] = True
            passed &= ~matches if condition.operator == "!=" else matches
    return passed, complaints
