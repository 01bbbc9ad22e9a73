"""Finds prompts by their completions: ``prompts_with(watched, Filter.parse("judge>0.9 completion:sorry"))``.

``judge>0.9`` is about the scores of a completion, ``completion:sorry`` about its text. In a run with conversations,
``calls>3 tool:open errors>0 turns>=5 stop=pending`` is about its turns and tool calls. A prompt is found if one of its
completions meets all conditions on scores, and one of them (maybe another) contains the text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rewardkit.store.run import Run
from rewardkit.viewer.filters import Column, Condition, Filter
from rewardkit.viewer.scores import Integers, Rows, Scores
from rewardkit.viewer.watcher import Watched

TEXT = "completion"
"""The name of the text of a completion in a search."""


def columns_of(scores: Scores) -> dict[str, Column]:
    """Return the numbers and texts of the completions that a search can name, (n,) each."""
    return {
        **(_of_turns(scores) if scores.has_turns else {}),
        "total": scores.total,
        "advantage": scores.advantage,
        "length": scores.length,
        "step": scores.step.astype(np.float64),
        "epoch": scores.epoch,
        **scores.components,
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


def split(asked: Filter, own: Mapping[str, Column], scores: Mapping[str, Column]) -> tuple[Filter, Filter]:
    """Split a filter into conditions on prompts and on completions. The columns of prompts take precedence."""
    theirs = [one for one in asked.conditions if one.name not in own and (one.name == TEXT or one.name in scores)]
    kept = tuple(one for one in asked.conditions if one not in theirs)
    return Filter(asked.words, kept), Filter((), tuple(theirs))


def prompts_with(watched: Watched, asked: Filter) -> tuple[Rows, list[str]]:
    """Return (p,) whether a prompt has such completions, and messages about conditions that could not be applied."""
    scores = watched.scores
    numbers = tuple(one for one in asked.conditions if one.name != TEXT)
    rows, complaints = Filter((), numbers).rows([""] * len(scores), columns_of(scores))
    passed = np.zeros(len(scores.prompt_ids), dtype=np.bool_)
    passed[scores.prompt[rows]] = True
    for condition in asked.conditions:
        if condition.name == TEXT:
            matches = np.zeros(len(passed), dtype=np.bool_)
            matches[_prompts_containing(watched.run, scores, condition)] = True
            passed &= ~matches if condition.operator == "!=" else matches
    return passed, complaints


def _prompts_containing(run: Run, scores: Scores, condition: Condition) -> Integers:
    query = "select distinct prompt_id from completions where contains(lower(completion), lower(?))"
    codes = [scores.code_of.get(prompt) for (prompt,) in run.sql(query, [condition.value]).fetchall()]
    return np.array([code for code in codes if code is not None], dtype=np.int64)
