"""Lengths: how long a completion is, for rewards that count tokens, words or characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rewardkit.core.batch.trajectory import Trajectory
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extraction import as_extractor, whole
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.visibility import shown as shown_text
from rewardkit.core.tree.leaf import primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

Unit = Literal["tokens", "words", "characters"]
Of = Literal["trajectory", "answer"]


@dataclass(frozen=True)
class Length:
    """Count the tokens of a completion, or the words or characters of its text."""

    unit: Unit

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float:
        """Return the length of `measured`, which an extractor may have found in `completion`."""
        if measured is None:
            return math.inf if len(completion) > MAX_CHARACTERS else 0
        if not isinstance(measured, str):
            return len(measured)
        if self.unit == "words":
            return len(shown_text(measured, marks=False).split())
        return len(" ".join(shown_text(measured).split()))


def own_words(trajectory: Trajectory) -> str:
    """Return what the policy said in all turns, without what tools and users said."""
    return "\n".join(turn.text for turn in trajectory.turns)


def last_words(trajectory: Trajectory) -> str:
    """Return the visible answer; nothing if the trajectory did not end with one."""
    return trajectory.answer


def measured_by(
    name: str, unit: Unit, extract: Extractor | Any, of: Of | None = None
) -> tuple[Length, tuple[Parameter, ...]]:
    """Return the counter and the parameters it reads."""
    if of is not None:
        if of not in _OF:
            raise RewardDefinitionError(f"{name}: of must be one of {', '.join(_OF)}, got {shorten(of)}")
        if unit == "tokens" or extract is not None:
            raise RewardDefinitionError(
                f'{name}: of={of!r} counts the words or characters of a trajectory. Pass unit="words" or '
                'unit="characters", and no extract='
            )
        return Length(unit), (Parameter("measured", "trajectory", view=_OF[of]),)
    if unit not in get_args(Unit):
        raise RewardDefinitionError(f"{name}: unit must be one of {', '.join(get_args(Unit))}, got {shorten(unit)}")
    if unit == "tokens":
        if extract is not None:
            raise RewardDefinitionError(
                f'{name}: extract= finds text, not tokens; pass unit="words" or unit="characters" with it'
            )
        return Length(unit), (Parameter("measured", "completion_ids"),)
    if extract is None:
        return Length(unit), (Parameter("measured", "completion"),)
    view = as_extractor(extract, whole())
    # The completion shows whether an extractor that returned None found nothing or gave up on a long text.
    return Length(unit), (Parameter("measured", "completion", view=view), Parameter("completion", "completion"))


_OF = {"trajectory": own_words, "answer": last_words}


def short_number(value: float) -> float:
    """Return `value` as an int if it is whole: 2 instead of 2.0."""
    return int(value) if value.is_integer() else value


def completion_length(name: str, unit: Unit) -> Reward:
    """The length as a component named by its unit, so that all rewards that measure in one unit share it."""
    measure, measured = measured_by(name, unit, None)
    return primitive(measure, f"completion_{unit}", f"completion_{unit}()", *measured, bounds=(0.0, math.inf))


def reachable(name: str, threshold: float, correct: Reward) -> float:
    """Return `threshold` as a number after checking that `correct` can reach it."""
    checked = checked_number(threshold, f"{name}: threshold")
    if checked > correct.bounds[1]:
        raise RewardDefinitionError(
            f"{name}: the highest score of {correct.name} is {correct.bounds[1]:g}, so it never reaches "
            f"threshold={checked:g}; pass a lower threshold"
        )
    return checked
