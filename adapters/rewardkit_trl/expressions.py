"""Expressions: a reward as the Python code that makes it, to be pasted into a training script."""

from __future__ import annotations

import tokenize
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import pairwise

from rewardkit import schedules
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.schedule import Schedule, Weight, multiplied
from rewardkit.core.tree.algebra import summands
from rewardkit.core.tree.names import terms_of
from rewardkit.core.tree.reward import Reward
from rewardkit_trl.layout import TOTAL, Layout

_ALSO_REWARDS = {"maximum", "minimum"}


def weighted_expression(layout: Layout, held: Mapping[str, float]) -> str | None:
    """Return the reward that a trainer trains which holds the weights `held`; None if no sum of rewards is the same.

    ``"1.0 * rk.from_trl(b1) + 0.6 * rk.exact('answer')"``. The weights of the tree and of the trainer are multiplied.
    """
    scorer = Scorer(layout.scored)
    if layout.columns == "components":
        nodes = {TOTAL: scorer.reward, **dict(scorer.names.components)}
        parts: list[tuple[Weight, Reward]] = [(weight, nodes[name]) for name, weight in held.items() if weight]
        return _written(parts)
    names = {node: name for name, node in scorer.names.terms}
    parts = []
    for inner, reward in summands(scorer.reward):
        weights = {held[names[term]] for term in terms_of(reward)}
        if len(weights) > 1:
            return None
        parts += [(multiplied(weight, inner), reward) for weight in weights or {1.0}]
    return _written(parts)


def _written(parts: Sequence[tuple[Weight, Reward]]) -> str:
    return " + ".join(f"{_weight(weight)} * {pasted(repr(reward))}" for weight, reward in parts)


def _weight(weight: Weight) -> str:
    return f"({pasted(weight.text)})" if isinstance(weight, Schedule) else repr(weight)


def pasted(code: str) -> str:
    """Return `code` with the names of this library as users write them: ``exact("a")`` becomes ``rk.exact("a")``."""
    try:
        tokens = list(tokenize.generate_tokens(StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    written, end = "", 0
    before = ["", ""]
    for token, following in pairwise(tokens):
        if token.type == tokenize.NAME and following.string == "(" and before[-1] != ".":
            written += code[end : token.start[1]] + _home(token.string, before)
            end = token.start[1]
        before = [before[-1], token.string]
    return written + code[end:]


def _home(name: str, before: Sequence[str]) -> str:
    if list(before) == ["extract", "="]:
        return "rk.extract."
    return "rk.schedules." if name in schedules.__all__ and name not in _ALSO_REWARDS else "rk."
