"""Columns: the cells of a dataset column, coerced to the type in a reward's annotation.

``coerce_column(Coercer.of(int), ["7", None, "7"], "answer", [0, 1, 2])`` is ``[7, None, 7]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from rewardkit.core.errors import CoercionError, RewardFailure
from rewardkit.core.tree.coercion import Coercer
from rewardkit.core.tree.results import Raised, Unparsable
from rewardkit.core.tree.scalars import is_missing

_PRESENT = {str, int, bool, list, dict, tuple, type(None)}
"""Types of values that are never missing; None is already what missing values become."""

_REPEATABLE = {type(None), str, int, float}
_UNCHANGEABLE = {str, int, float, bool, Decimal}
_MOST_REMEMBERED, _LONGEST_REMEMBERED = 4_096, 500
"""How many cells of one type are remembered, and of how many characters: at most 2 MB of ASCII."""


def coerce_column(
    coercer: Coercer,
    values: Sequence[object],
    column: str,
    rows: Sequence[int],
    remedy: str = "",
    *,
    remembers: bool = False,
    raises: bool = True,
) -> list[Any]:
    """Return the cells `values` (n,) of `column`, coerced.

    None stays None for any type, so that its row can abstain. A missing value (NaN, NaT, pandas' NA) is None. Equal
    strings and numbers are read once and share the result. If no cell needs a conversion, the list is returned without
    a copy.

    Args:
        rows: (n,) the row numbers, for messages.
        remedy: how to fix the data, for messages.
        remembers: also share what is read from short texts with later calls, if it cannot be changed: gold answers
            come back with every epoch, and in every part of a file.
        raises: False returns an `Unparsable` for each cell that does not fit, and a `Raised` if an outage is the cause.

    Raises:
        CoercionError: the first cell that does not fit, with column, row, value and type.
    """
    kinds = set(map(type, values))
    if not kinds <= _PRESENT and any(map(is_missing, values)):
        values = [None if is_missing(value) else value for value in values]
        kinds = set(map(type, values))
    if coercer.passes or kinds <= coercer.untouched:
        return values if isinstance(values, list) else list(values)
    convert = partial(_remembered, coercer) if remembers else coercer
    coerced: list[Any] = []
    read: dict[object, Any] = {None: None}
    for value, row in zip(values, rows, strict=True):
        kind = type(value)
        repeatable = kind in _REPEATABLE
        # 1 == 1.0 and 0.0 == -0.0, but their results may differ.
        key = (kind, repr(value)) if kind is float else value
        if repeatable and key in read:
            coerced.append(read[key])
            continue
        try:
            result = convert(value)
        except CoercionError as error:
            remedy = remedy or (
                f"Fix the data, change the annotation of `{column}`, or parse the value yourself: "
                f"Annotated[{coercer.target}, pydantic.BeforeValidator(parse)]."
            )
            if raises:
                raise CoercionError(f"column {column!r}, row {row}: {error} {remedy}") from error.__cause__
            if isinstance(error.__cause__, RewardFailure):  # a worker died, and the next batch may read the cell
                result = Raised(error.__cause__)
            else:
                result = Unparsable(f"column {column!r}: {error} {remedy}")
        if repeatable:
            read[key] = result
        coerced.append(result)
    return coerced


def _remembered(coercer: Coercer, value: object) -> Any:
    """Return what `value` was coerced to in an earlier call, else coerce it now."""
    if type(value) is not str or len(value) > _LONGEST_REMEMBERED:
        return coercer(value)
    known = coercer.remembered
    found = known.get(value)
    if found is None:
        found = coercer(value)
        if type(found) in _UNCHANGEABLE:
            if len(known) >= _MOST_REMEMBERED:
                known.clear()
            known[value] = found
    return found
