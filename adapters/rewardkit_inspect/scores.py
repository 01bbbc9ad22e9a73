"""Scores of inspect_ai as scores: ``Score(value="C", answer="4")`` is ``rk.Score(1.0, note="answer: '4'")``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardFailure, shorten, shorten_line
from rewardkit.core.tree.results import Abstention, Nonsense

Pick = str | int | Callable[[Any], Any] | None
"""Which number of a score's value counts: a key, an index, or a function of the value."""

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_INSTRUMENT = ("grader_failed", "scoring_failed")
"""Reasons that are not the completion's: the score could not be computed."""


def read(score: Any, pick: Pick, completion: str) -> Any:
    """Convert a score; one without a value is an abstention.

    Raises:
        RewardFailure: the score could not be computed.
        Nonsense: the value is no number, or several of which none is picked.
    """
    if score is None:
        return Abstention("the scorer returned no score")
    reason = getattr(score, "reason", None) or (getattr(score, "metadata", None) or {}).get("unscored_reason")
    note = _note(score, reason, completion)
    value = _picked(score.value, pick)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if reason in _INSTRUMENT:
            raise RewardFailure(note or str(reason))
        return Abstention(note or "unscored")
    return Score(number(value), note, _parts(score.value))


def number(value: Any) -> float:
    """Return a value as a number, as metrics of inspect_ai do: ``"C"`` and ``"yes"`` are 1.0, ``"P"`` is 0.5."""
    found = _number(value)
    if found is None:
        raise Nonsense(
            f"returned the value {shorten(value)}, which inspect_ai's metrics cannot turn into a number either",
            "Pass value=, a function that does: rk.from_inspect(scorer, value={'A': 1.0, 'B': 0.0}.get)",
        )
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        if value in _LETTERS:
            return _LETTERS[value]
        text = value.lower()
        if text in _WORDS:
            return _WORDS[text]
        try:
            found = float(text)
        except ValueError:
            return None
        return found if math.isfinite(found) else None
    return float(value) if isinstance(value, Real) else None


def _picked(value: Any, pick: Pick) -> Any:
    if callable(pick):
        return pick(value)
    if isinstance(value, Mapping):
        keys, said = list(value), "a dict with the keys"
    elif isinstance(value, (list, tuple)):
        keys, said = list(range(len(value))), "a list with the indices"
    elif pick is None:
        return value
    else:
        raise Nonsense(f"returned the value {shorten(value)}, of which value={pick!r} picks nothing", "Drop value=.")
    if pick is None and len(keys) == 1:
        pick = keys[0]
    if pick not in keys:
        raise Nonsense(
            f"returned {said} {shorten(keys)}; " + ("none is picked" if pick is None else f"{pick!r} is not there"),
            f"Pass value={keys[0]!r}, or another of them, or a function of the value." if keys else "",
        )
    return value[pick]


def _parts(value: Any) -> dict[str, float]:
    held = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    found = {str(name): _number(item) for name, item in held}
    return {name: item for name, item in found.items() if item is not None and math.isfinite(item)}


def _note(score: Any, reason: Any, completion: str) -> str:
    """Return answer, reason and explanation, without what only repeats the completion."""
    said = []
    if score.answer and score.answer.strip() != completion.strip():
        said.append(f"answer: {shorten(score.answer, 60)}")
    if reason:
        said.append(str(reason))
    if score.explanation and score.explanation.strip() != completion.strip():
        said.append(shorten_line(score.explanation))
    return "; ".join(said)
