"""Prompts found by what was written for them: ``prompts_with(watched, Filter.parse("judge>0.9 completion:sorry"))``.

``judge>0.9`` is about the scores of a completion, ``completion:sorry`` about its text. A prompt is found where one of
its completions has all of these scores, and where one has these words.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rewardkit.store.run import Run
from rewardkit.viewer.filters import Column, Condition, Filter
from rewardkit.viewer.scores import Floats, Integers, Rows, Scores
from rewardkit.viewer.watcher import Watched

TEXT = "completion"
"""What stands for the text of a completion in a search."""


def columns_of(scores: Scores) -> dict[str, Floats]:
    """(n,) each: the numbers of a completion that a search may name."""
    return {
        "total": scores.total,
        "advantage": scores.advantage,
        "length": scores.length,
        "step": scores.step.astype(np.float64),
        "epoch": scores.epoch,
        **scores.components,
    }


def divided(asked: Filter, own: Mapping[str, Column], scores: Mapping[str, Floats]) -> tuple[Filter, Filter]:
    """What is asked of the prompts, and what of their completions: columns that a prompt has are its own."""
    theirs = [one for one in asked.conditions if one.name not in own and (one.name == TEXT or one.name in scores)]
    kept = tuple(one for one in asked.conditions if one not in theirs)
    return Filter(asked.words, kept), Filter((), tuple(theirs))


def prompts_with(watched: Watched, asked: Filter) -> tuple[Rows, list[str]]:
    """(p,) whether a prompt has completions for which the conditions hold, and what could not be understood."""
    scores = watched.scores
    numbers = tuple(one for one in asked.conditions if one.name != TEXT)
    rows, complaints = Filter((), numbers).rows([""] * len(scores), columns_of(scores))
    passed = np.zeros(len(scores.prompt_ids), dtype=np.bool_)
    passed[scores.prompt[rows]] = True
    for condition in asked.conditions:
        if condition.name == TEXT:
            said = np.zeros(len(passed), dtype=np.bool_)
            said[_prompts_saying(watched.run, scores, condition)] = True
            passed &= ~said if condition.operator == "!=" else said
    return passed, complaints


def _prompts_saying(run: Run, scores: Scores, condition: Condition) -> Integers:
    query = "select distinct prompt_id from completions where contains(lower(completion), lower(?))"
    codes = [scores.code_of.get(prompt) for (prompt,) in run.sql(query, [condition.value]).fetchall()]
    return np.array([code for code in codes if code is not None], dtype=np.int64)
