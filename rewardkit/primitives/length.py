"""Length: ``rk.overlong_penalty(100, 20)`` gives -0.5 to a completion of 90 tokens, half way into the buffer.

Tokens are those of ``completion_ids`` (including the end-of-sequence token, as TRL passes them). Words and characters
are counted in the whole completion, thinking included, unless `extract` selects a part. A run of white space counts as
one character; invisible characters do not count. If an extractor finds nothing, the length is 0; if it gives up because
the text is longer than 200,000 characters, the length is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.lengths.measures import Length, Of, Unit, measured_by, short_number


@dataclass(frozen=True)
class LengthBetween:
    """1.0 between two lengths, falling to 0.0 over a margin outside them."""

    length: Length
    low: float
    high: float
    margin: float

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float | Score:
        length = self.length(measured, completion)
        if length == math.inf:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        outside = max(self.low - length, length - self.high)
        if outside <= 0:
            return 1.0
        credit = max(0.0, 1.0 - outside / self.margin) if self.margin else 0.0
        return Score(credit, f"{length:,} {self.length.unit}, expected {self.low:,g} to {self.high:,g}")


def length_between(
    low: float,
    high: float,
    *,
    unit: Unit = "tokens",
    margin: float = 0.0,
    extract: Extractor | Any = None,
    of: Of | None = None,
) -> Reward:
    """Score 1.0 if the length is between `low` and `high`; outside them 0.0, or less and less over a margin.

    ``rk.length_between(2, 4, unit="words")`` gives 1.0 to ``It is 42.``

    Args:
        low: the shortest length that scores 1.0, 0 or more.
        high: the longest length that scores 1.0, `low` or more; ``math.inf`` for no limit.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        margin: the distance from `low` or `high`, in the unit, at which the score reaches 0.0.
        extract: counts the words or characters of the text it finds instead of the whole completion.
        of: for trajectories: ``"trajectory"`` counts what the policy said in all turns, ``"answer"`` its final answer.
            Token ids count what tools said, too.

    Raises:
        RewardDefinitionError: `low` above `high`, a negative number, an unknown unit.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    top = math.inf if high == math.inf else checked_number(high, "length_between: high")
    bottom = checked_number(low, "length_between: low")
    if not 0.0 <= bottom <= top:
        raise RewardDefinitionError(
            f"length_between: low and high must satisfy 0 <= low <= high, got low {bottom:g} and high {top:g}"
        )
    slope = checked_number(margin, "length_between: margin")
    if slope < 0.0:
        raise RewardDefinitionError(f"length_between: margin must be a distance of 0 or more, got {slope:g}")
    length, measured = measured_by("length_between", unit, extract, of)
    options = {
        "unit": (unit, "tokens"),
        "margin": (short_number(slope), 0),
        "extract": (extract and measured[0].view, None),
        "of": (of, None),
    }
    shown = expression("length_between", short_number(bottom), short_number(top), **options)
    return primitive(LengthBetween(length, bottom, top, slope), "length_between", shown, *measured)


@dataclass(frozen=True)
class OverlongPenalty:
    """0.0 up to a length, then falling to -1.0 over a buffer."""

    length: Length
    max_length: float
    buffer: float

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float:
        length = self.length(measured, completion)
        free = self.max_length - self.buffer
        if length <= free:
            return 0.0
        return (free - length) / self.buffer if length <= self.max_length else -1.0


def overlong_penalty(
    max_length: int,
    buffer: int,
    *,
    unit: Unit = "tokens",
    extract: Extractor | Any = None,
    of: Of | None = None,
) -> Reward:
    """Penalize completions that are too long, from 0.0 down to -1.0: DAPO's soft overlong punishment. Add it.

    ``rk.overlong_penalty(100, 20)`` gives 0.0 to up to 80 tokens, -0.5 to 90 tokens, -1.0 to 100 tokens and more.

    Source: Yu et al. 2025, DAPO (arXiv:2503.14476), equation 13; the same numbers as TRL's
    ``get_soft_overlong_punishment(max_completion_len, soft_punish_cache)``.

    Args:
        max_length: the length at which the penalty reaches -1.0; positive.
        buffer: the penalty grows over this many units before `max_length`; 0 to `max_length`.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.
        extract: counts the words or characters of the text it finds instead of the whole completion.
        of: for trajectories: ``"trajectory"`` counts what the policy said in all turns, ``"answer"`` its final answer.
            Token ids count what tools said, too.

    Raises:
        RewardDefinitionError: a length that is not positive, or a buffer above it.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    longest, ramp = (checked_number(value, "overlong_penalty") for value in (max_length, buffer))
    if longest <= 0.0 or not 0.0 <= ramp <= longest:
        raise RewardDefinitionError(
            "overlong_penalty: max_length and buffer must satisfy 0 < max_length and 0 <= buffer <= max_length, got "
            f"buffer {buffer} and max_length {max_length}"
        )
    length, measured = measured_by("overlong_penalty", unit, extract, of)
    options = {"unit": (unit, "tokens"), "extract": (extract and measured[0].view, None), "of": (of, None)}
    shown = expression("overlong_penalty", short_number(longest), short_number(ramp), **options)
    function = OverlongPenalty(length, longest, ramp)
    return primitive(function, "overlong_penalty", shown, *measured, bounds=(-1.0, 0.0))
