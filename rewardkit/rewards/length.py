"""Length: ``rk.length.overlong(100, 20)`` gives -0.5 to a completion with 90 tokens, halfway into the buffer.

Tokens are counted in ``completion_ids``, which includes the end-of-sequence token, as passed by TRL. Words and
characters are counted in the whole completion, including thinking, unless `extract` selects a part. A run of white
space counts as one character. Invisible characters do not count. If an extractor finds nothing, the length is 0. If it
gives up because the text is longer than 200,000 characters, the length is infinite.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, final, get_args

import numpy as np
from pydantic import AfterValidator

from rewardkit.batch.column import Column, Floats, Numbers, Rows
from rewardkit.batch.score import ABSTAINED, SCORED, Score
from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import TOLERANCE, Bounds, number as checked_number
from rewardkit.text.extraction import as_extractor, whole
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.visibility import shown as shown_text
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter, Scope
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps

__all__ = ["between", "budget", "cosine", "kimi", "overlong", "shortest_correct"]

Unit = Literal["tokens", "words", "characters"]
Count = Literal["trajectory", "answer"]


@dataclass(frozen=True)
class Length:
    """A counter for the tokens in a completion, or for the words or characters in its text."""

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
    """Return the policy's text from all turns, without text from tools and users."""
    return "\n".join(turn.text for turn in trajectory.turns)


def last_words(trajectory: Trajectory) -> str:
    """Return the visible answer; empty if the trajectory did not end with an answer."""
    return trajectory.answer


def measured_by(
    name: str, unit: Unit, extract: Extractor | Any, count: Count | None = None
) -> tuple[Length, tuple[Parameter, ...]]:
    """Return a reward's counter and the parameters that the counter reads."""
    if count is not None:
        if count not in _COUNTED:
            raise RewardDefinitionError(f"{name}: count must be one of {', '.join(_COUNTED)}, got {shorten(count)}")
        if unit == "tokens" or extract is not None:
            raise RewardDefinitionError(
                f'{name}: count={count!r} counts the words or characters in a trajectory. Pass unit="words" or '
                'unit="characters", and no extract='
            )
        return Length(unit), (Parameter("measured", "trajectory", view=_COUNTED[count]),)
    if unit not in get_args(Unit):
        raise RewardDefinitionError(f"{name}: unit must be one of {', '.join(get_args(Unit))}, got {shorten(unit)}")
    if unit == "tokens":
        if extract is not None:
            raise RewardDefinitionError(
                f'{name}: extract= finds text, not tokens. Pass unit="words" or unit="characters" with it'
            )
        return Length(unit), (Parameter("measured", "completion_ids"),)
    if extract is None:
        return Length(unit), (Parameter("measured", "completion"),)
    view = as_extractor(extract, whole())
    # The completion shows whether an extractor that returned None found nothing or gave up on a long text.
    return Length(unit), (Parameter("measured", "completion", view=view), Parameter("completion", "completion"))


_COUNTED = {"trajectory": own_words, "answer": last_words}


def short_number(value: float) -> float:
    """Return `value` as an int if it is whole: 2 instead of 2.0."""
    return int(value) if value.is_integer() else value


@dataclass(frozen=True)
class LengthBetween:
    """A score that is 1.0 between two lengths and falls to 0.0 over a margin outside them."""

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


def between(
    low: float,
    high: float,
    *,
    unit: Unit = "tokens",
    margin: float = 0.0,
    extract: Extractor | Any = None,
    count: Count | None = None,
) -> Reward:
    """Score 1.0 if the length is from `low` to `high`. Outside this range, the score falls to 0.0 over `margin`.

    ``rk.length.between(2, 4, unit="words")`` gives 1.0 to ``It is 42.``

    Args:
        low: the shortest length that scores 1.0, at least 0.
        high: the longest length that scores 1.0, at least `low`. Pass ``math.inf`` for no limit.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.
        margin: the distance outside the range, in `unit`, at which the score reaches 0.0. With 0, any length outside
            the range scores 0.0.
        extract: finds the text whose words or characters are counted, by default the whole completion.
        count: for trajectories: ``"trajectory"`` counts the policy's text in all turns, and ``"answer"`` counts only
            its final answer. Token ids are not supported because they include tool results.

    Raises:
        RewardDefinitionError: `low` is above `high`, a number is negative, or the unit is unknown.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    top = math.inf if high == math.inf else checked_number(high, "length.between: high")
    bottom = checked_number(low, "length.between: low")
    if not 0.0 <= bottom <= top:
        raise RewardDefinitionError(
            f"length.between: low and high must satisfy 0 <= low <= high, got low {bottom:g} and high {top:g}"
        )
    slope = checked_number(margin, "length.between: margin")
    if slope < 0.0:
        raise RewardDefinitionError(f"length.between: margin must be a distance of 0 or more, got {slope:g}")
    length, measured = measured_by("length.between", unit, extract, count)
    options = {
        "unit": (unit, "tokens"),
        "margin": (short_number(slope), 0),
        "extract": (extract and measured[0].view, None),
        "count": (count, None),
    }
    call_text = expression("length.between", short_number(bottom), short_number(top), **options)
    return primitive(LengthBetween(length, bottom, top, slope), "length_between", call_text, *measured)


@dataclass(frozen=True)
class OverlongPenalty:
    """A penalty that is 0.0 up to a length and then falls to -1.0 over a buffer."""

    length: Length
    max_length: float
    buffer: float

    def __call__(self, measured: Sequence[int] | str | None, completion: str = "") -> float:
        length = self.length(measured, completion)
        free = self.max_length - self.buffer
        if length <= free:
            return 0.0
        return (free - length) / self.buffer if length <= self.max_length else -1.0


def overlong(
    max_length: int,
    buffer: int,
    *,
    unit: Unit = "tokens",
    extract: Extractor | Any = None,
    count: Count | None = None,
) -> Reward:
    """Penalize completions that are too long, from 0.0 down to -1.0: DAPO's soft overlong punishment.

    ``rk.length.overlong(100, 20)`` gives 0.0 to 80 tokens or fewer, -0.5 to 90 tokens, and -1.0 to 100 tokens or more.
    Add the penalty to other rewards.

    Source: Yu et al. 2025, DAPO (arXiv:2503.14476), equation 13. The numbers are the same as those from TRL's
    ``get_soft_overlong_punishment(max_completion_len, soft_punish_cache)``.

    Args:
        max_length: the length at which the penalty reaches -1.0, greater than 0.
        buffer: the number of units before `max_length` over which the penalty grows, between 0 and `max_length`.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.
        extract: finds the text whose words or characters are counted, by default the whole completion.
        count: for trajectories: ``"trajectory"`` counts the policy's text in all turns, and ``"answer"`` counts only
            its final answer. Token ids are not supported because they include tool results.

    Raises:
        RewardDefinitionError: the length is not positive, or `buffer` is greater than `max_length`.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    longest, ramp = (checked_number(value, "length.overlong") for value in (max_length, buffer))
    if longest <= 0.0 or not 0.0 <= ramp <= longest:
        raise RewardDefinitionError(
            "length.overlong: max_length and buffer must satisfy 0 < max_length and 0 <= buffer <= max_length, got "
            f"buffer {buffer} and max_length {max_length}"
        )
    length, measured = measured_by("length.overlong", unit, extract, count)
    options = {"unit": (unit, "tokens"), "extract": (extract and measured[0].view, None), "count": (count, None)}
    call_text = expression("length.overlong", short_number(longest), short_number(ramp), **options)
    function = OverlongPenalty(length, longest, ramp)
    return primitive(function, "length_overlong", call_text, *measured, bounds=(-1.0, 0.0))


# Formulas that combine the length with the correctness of the answer.


Groups = Callable[[Rows], Iterator[Numbers]]
"""A function that yields the positions of the selected rows, group by group."""


class Formula(ABC):
    """A formula that computes a score from a length and from whether the answer is correct."""

    name: ClassVar[str]
    """The name of the function in ``rk.length`` that creates the formula."""

    by_group: ClassVar[bool] = False
    """True if the formula compares the lengths within a group."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """The lowest and the highest score."""

    @abstractmethod
    def __call__(self, right: Rows, lengths: Floats, groups: Groups) -> Floats:
        """Return the scores, (n,), based on whether each answer is correct, (n,), and on the lengths, (n,)."""


@final
@dataclass(frozen=True)
class LengthOfCorrect(Reward):
    """A reward based on the length and on whether the answer is correct. It abstains or fails if either input does."""

    correct: Reward
    length: Reward
    formula: Formula
    threshold: float
    call: str = field(compare=False)

    @cached_property
    def facts(self) -> NodeSpec:
        scope: Scope = "group" if self.formula.by_group else "sample"
        return NodeSpec(
            name=f"length_{self.formula.name}",
            bounds=self.formula.bounds,
            children=(self.correct, self.length),
            generic=True,
            sees=scope,
            together=scope,
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        correct, length = children
        return replace(self, correct=correct, length=length)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        correct, length = yield [(self.correct, rows), (self.length, rows)]
        judged_rows = rows & ~np.isnan(correct.values)
        right = judged_rows & np.greater_equal(correct.values, self.threshold - TOLERANCE)
        values = self.formula(right, length.values, lambda selected: evaluation.batch.members(selected & judged_rows))
        values = np.where(np.isnan(correct.values), np.nan, values)
        column = Column.combined([(correct, True), (length, True)], values, rows)
        column.codes[rows & np.isnan(values) & (column.codes == SCORED)] = ABSTAINED
        return column

    def __repr__(self) -> str:
        return self.call


def _of_correct(
    correct: RewardLike, threshold: float, unit: Unit, formula: Formula, *arguments: object, **options: Any
) -> Reward:
    """Return the reward for a formula; its ``repr`` shows `arguments` and `options`."""
    where = f"length.{formula.name}"
    checked = reward_of(correct, f"{where}: correct")
    lowest = checked_number(threshold, f"{where}: threshold")
    if lowest > checked.bounds[1]:
        raise RewardDefinitionError(
            f"{where}: the highest score of {checked.name} is {checked.bounds[1]:g}, so it never reaches "
            f"threshold={lowest:g}. Pass a lower threshold"
        )
    excess = options.pop("excess", None)
    if excess is None:  # named by the unit, so that all rewards with this unit share it
        measure, measured = measured_by(where, unit, None)
        excess = primitive(measure, f"completion_{unit}", f"completion_{unit}()", *measured, bounds=(0.0, math.inf))
    call = expression(where, checked, *arguments, **options, threshold=(lowest, 1.0), unit=(unit, "tokens"))
    return LengthOfCorrect(checked, excess, formula, lowest, call)


@final
@dataclass(frozen=True)
class Cosine(Formula):
    """A half cosine between two values for correct completions and two for incorrect ones; see `cosine`."""

    max_length: float
    right: Bounds
    wrong: Bounds
    name: ClassVar[str] = "cosine"

    @property
    def bounds(self) -> Bounds:
        ends = (*self.right, *self.wrong)
        return min(ends), max(ends)

    def __call__(self, right: Rows, lengths: Floats, groups: Groups) -> Floats:
        # Beyond the longest length the value stays constant: the cosine would rise again.
        fractions = np.minimum(lengths / self.max_length, 1.0)
        factor = np.array([0.5 * (1.0 + math.cos(fraction * math.pi)) for fraction in fractions.tolist()])
        longest, shortest = (np.where(right, self.right[end], self.wrong[end]) for end in (0, 1))
        scores: Floats = longest + (shortest - longest) * factor
        return scores


def cosine(
    correct: RewardLike,
    max_length: int,
    *,
    # The defaults of TRL's get_cosine_scaled_reward.
    right: tuple[float, float] = (0.5, 1.0),
    wrong: tuple[float, float] = (-0.5, -1.0),
    threshold: float = 1.0,
    unit: Unit = "tokens",
) -> Reward:
    """Score correct completions higher if they are shorter, and incorrect completions higher if they are longer.

    ``rk.length.cosine(rk.number("answer"), 100)`` gives 0.75 to a correct answer with 50 tokens, and -0.75 to an
    incorrect one.

    If *a* and *b* are the values for the longest and the shortest completion, and *t* = min(length / max_length, 1),
    the score is a + (b - a) * (1 + cos(pi * t)) / 2. Source: Yeo et al. 2025, Demystifying Long Chain-of-Thought
    Reasoning (arXiv:2502.03373), appendix C.1. The numbers are the same as those from TRL's
    ``get_cosine_scaled_reward`` if `correct` agrees with TRL's answer check.

    Args:
        correct: the reward that decides whether the answer is correct. If it abstains or fails, so does this reward.
        max_length: the length above which the value no longer changes, greater than 0.
        right: the values for a correct completion at `max_length` and at length 0.
        wrong: the values for an incorrect completion at `max_length` and at length 0.
        threshold: the lowest score from `correct` at which the answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.

    Raises:
        RewardDefinitionError: the length is not positive, a value is not a number, or `correct` cannot reach the
            threshold.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    longest = checked_number(max_length, "length.cosine: max_length")
    if longest <= 0.0:
        raise RewardDefinitionError(f"length.cosine: max_length must be greater than 0, got {max_length}")
    for name, pair in (("right", right), ("wrong", wrong)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise RewardDefinitionError(
                f"length.cosine: {name} must be a pair (value at max_length, value at 0), got {shorten(pair)}"
            )
    long_right, short_right, long_wrong, short_wrong = (
        checked_number(value, "length.cosine: a value") for value in (*right, *wrong)
    )
    formula = Cosine(longest, (long_right, short_right), (long_wrong, short_wrong))
    options = {"right": (formula.right, (0.5, 1.0)), "wrong": (formula.wrong, (-0.5, -1.0))}
    return _of_correct(correct, threshold, unit, formula, short_number(longest), **options)


@final
@dataclass(frozen=True)
class ShortestCorrect(Formula):
    """A score from 1 for a group's shortest correct completion to `low` for the longest; see `shortest_correct`."""

    low: float
    name: ClassVar[str] = "shortest_correct"
    by_group: ClassVar[bool] = True

    @property
    def bounds(self) -> Bounds:
        return (0.0, 1.0)

    def __call__(self, right: Rows, lengths: Floats, groups: Groups) -> Floats:
        values = np.zeros(len(right))
        for members in groups(right):
            values[members] = 1.0 - (1.0 - self.low) * _relative(lengths[members])
        return values


def _relative(lengths: Floats) -> Floats:
    """Return a group's lengths, scaled from 0 for the shortest to 1 for the longest; all 0 if they are equal."""
    shortest, longest = lengths.min(), lengths.max()
    return (lengths - shortest) / (longest - shortest) if longest > shortest else np.zeros(len(lengths))


def shortest_correct(correct: RewardLike, *, low: float = 0.5, threshold: float = 1.0, unit: Unit = "tokens") -> Reward:
    """Score a group's shortest correct completion 1.0, its longest correct completion `low`, and incorrect ones 0.0.

    If three of four completions are correct and have 20, 30, and 40 tokens, they get 1.0, 0.75, and 0.5. The incorrect
    completion gets 0.0, so brevity never raises an incorrect answer's score. Lengths are compared only within the
    group, so hard prompts can have long answers. This reward follows the length reward of Kimi k1.5 (arXiv:2501.12599,
    section 2.3.3), which also counts the lengths of incorrect completions.

    Args:
        correct: the reward that decides whether the answer is correct. If it abstains or fails, so does this reward.
        low: the value for the longest correct completion, from 0.0 to 1.0.
        threshold: the lowest score from `correct` at which the answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.

    Raises:
        RewardDefinitionError: `low` is outside 0 to 1, or `correct` cannot reach the threshold.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``, or a process received only
            part of a group and cannot gather the rest.
    """
    lowest = checked_number(low, "length.shortest_correct: low")
    if not 0.0 <= lowest <= 1.0:
        raise RewardDefinitionError(f"length.shortest_correct: low must be between 0.0 and 1.0, got {lowest:g}")
    return _of_correct(correct, threshold, unit, ShortestCorrect(lowest), low=(lowest, 0.5))


@final
@dataclass(frozen=True)
class Kimi(Formula):
    """A score from 0.5 for a group's shortest completion to -0.5 for its longest, at most 0 if it is incorrect."""

    name: ClassVar[str] = "kimi"
    by_group: ClassVar[bool] = True

    @property
    def bounds(self) -> Bounds:
        return (-0.5, 0.5)

    def __call__(self, right: Rows, lengths: Floats, groups: Groups) -> Floats:
        values = np.zeros(len(right))
        for members in groups(np.ones_like(right)):
            group = lengths[members]
            if group.max() > group.min():
                relative = 0.5 - _relative(group)
                values[members] = np.where(right[members], relative, np.minimum(0.0, relative))
        return values


def kimi(correct: RewardLike, *, threshold: float = 1.0, unit: Unit = "tokens") -> Reward:
    """Reward a group's shorter completions and penalize its longer ones: Kimi k1.5's length reward.

    If a group has completions with 20, 30, and 40 tokens, correct completions get 0.5, 0.0, and -0.5, and incorrect
    ones get 0.0, 0.0, and -0.5. An incorrect completion is never rewarded for being short. Add this reward to other
    rewards.

    With *l* = 0.5 - (length - shortest) / (longest - shortest), a correct completion gets *l*, and an incorrect one
    gets the smaller of *l* and 0. All completions get 0 if they have the same length. Source: Kimi k1.5
    (arXiv:2501.12599, section 2.3.3), which adds it to the reward for the answer with a small weight, and only after
    the first part of training.

    For one group, with ``unit="characters"`` and the same answer check, open-r1's ``len_reward`` gives the same
    numbers. However, ``len_reward`` also compares completions for different prompts if a batch has several, and it
    counts invisible characters and every space. If ``len_reward`` cannot parse the gold answer, it treats answers as
    correct, whereas `correct` abstains or raises an error.

    Args:
        correct: the reward that decides whether the answer is correct. If it abstains or fails, so does this reward,
            and the completion's length does not count.
        threshold: the lowest score from `correct` at which the answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.

    Raises:
        RewardDefinitionError: `correct` cannot reach the threshold, or the unit is unknown.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``, or a process received only
            part of a group and cannot gather the rest.
    """
    return _of_correct(correct, threshold, unit, Kimi())


Form = Literal["exact", "max"]


@dataclass(frozen=True)
class Excess:
    """The length of a completion minus its budget; negative if it is shorter."""

    length: Length
    budget: float | None = None

    def __call__(self, measured: Sequence[int] | str | None, budget: float = math.nan) -> float:
        return self.length(measured) - (budget if self.budget is None else self.budget)


def _positive(budget: float) -> float:
    if not 0.0 < budget < math.inf:
        raise ValueError("a budget must be greater than 0 and finite")
    return budget


@final
@dataclass(frozen=True)
class Budget(Formula):
    """Credit for correct completions, depending on how well they keep to a budget; see `budget`."""

    form: Form
    alpha: float
    delta: float
    name: ClassVar[str] = "budget"

    @property
    def bounds(self) -> Bounds:
        return (0.0, 1.0) if self.form == "max" else (-math.inf, 1.0)

    def __call__(self, right: Rows, lengths: Floats, groups: Groups) -> Floats:
        """Return the scores, (n,); `lengths` are relative to the budget."""
        correct = right.astype(np.float64)
        if self.form == "max":
            return correct * np.clip(self.delta - self.alpha * lengths, 0.0, 1.0)
        return correct - self.alpha * np.abs(lengths)


def budget(
    correct: RewardLike,
    budget: float | None = None,
    *,
    column: str | None = None,
    form: Form = "exact",
    # As in the paper.
    alpha: float = 0.0003,
    delta: float = 0.5,
    threshold: float = 1.0,
    unit: Unit = "tokens",
) -> Reward:
    """Reward correct completions that keep to a token budget: LCPO, the method that trained L1.

    ``rk.length.budget(correct, 1000)`` gives 1.0 to a correct completion with 1,000 tokens, 0.7 to a correct one with
    2,000 or 0 tokens, and -0.3 to an incorrect one with 2,000. With ``form="max"``, correct completions get 0.5 for
    1,000 tokens and 0.2 for 2,000, and incorrect ones always get 0.0.

    If *n* is the length and *b* the budget, ``"exact"`` is correct - alpha * abs(n - b). Use it if the length should
    match the budget (padding up to the budget also raises the score). ``"max"`` is correct * clip(alpha * (b - n) +
    delta, 0, 1). Use it if the budget is a maximum. Source: Aggarwal and Welleck 2025, L1 (arXiv:2503.04697). The
    prompt must state the budget, for example "Think for 1000 tokens."

    Args:
        correct: the reward that decides whether the answer is correct. If it abstains or fails, so does this reward.
        budget: the target or maximum length, greater than 0 and the same for all rows.
        column: the column with each row's budget, instead of `budget`. If the cell is None, the reward abstains.
        form: ``"exact"`` or ``"max"``.
        alpha: the cost per unit, greater than 0. The default is meant for tokens. For words, which are longer, pass
            about 0.0004.
        delta: only for ``"max"``: the value for a correct completion whose length equals the budget, greater than 0.0
            and at most 1.0.
        threshold: the lowest score from `correct` at which the answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"``, or ``"characters"``.

    Raises:
        RewardDefinitionError: both or neither of `budget` and `column` are given, a number is out of range, the form or
            unit is unknown, or `correct` cannot reach the threshold.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
        CoercionError: while scoring: a cell in the column is not a positive number.
    """
    if (budget is None) == (column is None):
        raise RewardDefinitionError('length.budget: pass either a budget, as in (correct, 1000), or column="budget"')
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"length.budget: column must be the name of a column, got {shorten(column)}")
    if form not in get_args(Form):
        raise RewardDefinitionError(f'token_budget: form must be "exact" or "max", got {shorten(form)}')
    fixed = None if budget is None else checked_number(budget, "length.budget: budget")
    slope, middle = checked_number(alpha, "length.budget: alpha"), checked_number(delta, "length.budget: delta")
    for name, value in (("budget", fixed), ("alpha", slope), ("delta", middle)):
        if value is not None and value <= 0.0:
            raise RewardDefinitionError(f"length.budget: {name} must be greater than 0, got {value:g}")
    if middle > 1.0:
        raise RewardDefinitionError(f"length.budget: delta must be at most 1, got {middle:g}")
    arguments = [] if fixed is None else [short_number(fixed)]
    options = {"column": (column, None), "form": (form, "exact"), "alpha": (slope, 0.0003), "delta": (middle, 0.5)}
    excess = _excess(fixed, column, unit)
    return _of_correct(correct, threshold, unit, Budget(form, slope, middle), *arguments, **options, excess=excess)


def _excess(fixed: float | None, column: str | None, unit: Unit) -> Reward:
    """Return a reward that measures the excess over the budget."""
    length, measured = measured_by("length.budget", unit, None)
    name, bounds = f"{unit}_over_budget", (-math.inf, math.inf)
    if column is None:
        call_text = f"{name}({'' if fixed is None else short_number(fixed)})"
        return primitive(Excess(length, fixed), name, call_text, *measured, bounds=bounds)
    cell = Parameter("budget", column, annotation=Annotated[float, AfterValidator(_positive)])
    return primitive(Excess(length), name, f"{name}({column!r})", *measured, cell, bounds=bounds)
