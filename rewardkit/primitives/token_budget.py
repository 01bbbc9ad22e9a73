"""Token budget: ``rk.token_budget(correct, 1000)`` gives 0.7 to a correct completion of 2,000 tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, final, get_args

import numpy as np
from pydantic import AfterValidator

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import ABSTAINED, SCORED
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import TOLERANCE, Bounds, number as checked_number
from rewardkit.core.tree.conversion import RewardLike, reward_of
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps
from rewardkit.primitives.lengths.measures import Length, Unit, measured_by, reachable, short_number

Form = Literal["exact", "max"]


@dataclass(frozen=True)
class Excess:
    """How much longer than its budget a completion is; negative if it is shorter."""

    length: Length
    budget: float | None = None

    def __call__(self, measured: Sequence[int] | str | None, budget: float = math.nan) -> float:
        return self.length(measured) - (budget if self.budget is None else self.budget)


def _positive(budget: float) -> float:
    if not 0.0 < budget < math.inf:
        raise ValueError("a budget must be above 0 and finite")
    return budget


@final
@dataclass(frozen=True)
class TokenBudget(Reward):
    """Credit for correct completions by how well they keep to a budget; see `token_budget`."""

    correct: Reward
    excess: Reward
    form: Form
    alpha: float
    delta: float
    threshold: float
    call: str = field(compare=False)

    @cached_property
    def facts(self) -> Facts:
        bounds: Bounds = (0.0, 1.0) if self.form == "max" else (-math.inf, 1.0)
        return Facts(name="token_budget", bounds=bounds, children=(self.correct, self.excess), generic=True)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        correct, excess = children
        return replace(self, correct=correct, excess=excess)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        correct, excess = yield [(self.correct, rows), (self.excess, rows)]
        is_right = np.greater_equal(correct.values, self.threshold - TOLERANCE)  # False where NaN
        if self.form == "max":
            values = is_right * np.clip(self.delta - self.alpha * excess.values, 0.0, 1.0)
        else:
            values = is_right - self.alpha * np.abs(excess.values)
        values = np.where(np.isnan(correct.values), np.nan, values)
        column = Column.combined([(correct, True), (excess, True)], values, rows)
        column.codes[rows & np.isnan(values) & (column.codes == SCORED)] = ABSTAINED
        return column

    def __repr__(self) -> str:
        return self.call


def token_budget(
    correct: RewardLike,
    budget: float | None = None,
    *,
    column: str | None = None,
    form: Form = "exact",
    alpha: float = 0.0003,
    delta: float = 0.5,
    threshold: float = 1.0,
    unit: Unit = "tokens",
) -> Reward:
    """Reward correct completions that keep to a budget of tokens: LCPO, with which L1 was trained.

    ``rk.token_budget(correct, 1000)`` gives 1.0 to a correct completion of 1,000 tokens, 0.7 to one of 2,000 or of 0,
    and -0.3 to a wrong one of 2,000. With ``form="max"``, correct completions of 1,000 tokens get 0.5, of 2,000 get
    0.2, and wrong ones always 0.0.

    With *n* the length and *b* the budget, ``"exact"`` is correct - alpha * abs(n - b), for completions as long as the
    prompt asks (padding up to the budget is paid, too); ``"max"`` is correct * clip(alpha * (b - n) + delta, 0, 1), for
    completions of at most that length. Source: Aggarwal and Welleck 2025, L1 (arXiv:2503.04697). The prompt must say
    the budget: "Think for 1000 tokens."

    Args:
        correct: the reward that says whether the answer is correct. If it abstains or fails, so does this one.
        budget: the length to keep to, above 0, the same for all rows.
        column: a column with the budget of each row, instead of `budget`; None abstains.
        form: ``"exact"`` or ``"max"``.
        alpha: what one unit costs, above 0. Tokens are short: pass about 0.0004 for words.
        delta: only for ``"max"``: the value of a correct completion of exactly that length, above 0.0 and up to 1.0.
        threshold: the value of `correct` from which an answer counts as correct.
        unit: ``"tokens"`` (needs ``completion_ids``), ``"words"`` or ``"characters"``.

    Raises:
        RewardDefinitionError: both or neither of budget and column, a number out of range, an unknown form or unit, or
            a threshold that `correct` cannot reach.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
        CoercionError: while scoring: a cell of the column is not a positive number.
    """
    checked = reward_of(correct, "token_budget: correct")
    if (budget is None) == (column is None):
        raise RewardDefinitionError('token_budget: pass either a budget, as in (correct, 1000), or column="budget"')
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"token_budget: column must be the name of a column, got {shorten(column)}")
    if form not in get_args(Form):
        raise RewardDefinitionError(f'token_budget: form must be "exact" or "max", got {shorten(form)}')
    fixed = None if budget is None else checked_number(budget, "token_budget: budget")
    slope, middle = checked_number(alpha, "token_budget: alpha"), checked_number(delta, "token_budget: delta")
    for name, value in (("budget", fixed), ("alpha", slope), ("delta", middle)):
        if value is not None and value <= 0.0:
            raise RewardDefinitionError(f"token_budget: {name} must be above 0, got {value:g}")
    if middle > 1.0:
        raise RewardDefinitionError(f"token_budget: delta must be at most 1, got {middle:g}")
    from_here = reachable("token_budget", threshold, checked)
    call = expression(
        "token_budget",
        checked,
        *([] if fixed is None else [short_number(fixed)]),
        column=(column, None),
        form=(form, "exact"),
        alpha=(slope, 0.0003),
        delta=(middle, 0.5),
        threshold=(from_here, 1.0),
        unit=(unit, "tokens"),
    )
    return TokenBudget(checked, _excess(fixed, column, unit), form, slope, middle, from_here, call)


def _excess(fixed: float | None, column: str | None, unit: Unit) -> Reward:
    """The excess as a component."""
    length, measured = measured_by("token_budget", unit, None)
    name, bounds = f"{unit}_over_budget", (-math.inf, math.inf)
    if column is None:
        shown = f"{name}({'' if fixed is None else short_number(fixed)})"
        return primitive(Excess(length, fixed), name, shown, *measured, bounds=bounds)
    cell = Parameter("budget", column, annotation=Annotated[float, AfterValidator(_positive)])
    return primitive(Excess(length), name, f"{name}({column!r})", *measured, cell, bounds=bounds)
